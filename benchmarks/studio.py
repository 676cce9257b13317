"""How long a control of the studio takes to answer, in a real Chromium.

Every control of the three pages is moved, on every shipped example, and the time runs from the
event to the frame in which the page shows the library's answer. Prints a Markdown table, with
``--controls`` of every control, and how much of the processors other programs took meanwhile. If
that is much, the times say little, and the last column more: the processor time of the studio and
of the page's own thread, one after the other. What is searched for, such as ``rb.best`` on a graph
or a plan, is listed apart: the page says that it is computing, and no other control waits for it.

    python benchmarks/studio.py [--rounds 3] [--controls] [--page Designer]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WAIT = 120_000  # milliseconds, for a machine that is busy
SEARCHED = ("best", "plan", "file")

MOVE = """async ([selector, value, waits]) => {
    const element = document.querySelector(selector);
    const root = document.documentElement;
    const answered = !waits ? Promise.resolve() : new Promise((done) => {
        const watched = waits === "answered" ? root : document.querySelector(waits);
        const options = waits === "answered"
            ? { attributes: true, attributeFilter: ["data-answered"] }
            : { childList: true, subtree: true, characterData: true };
        new MutationObserver((_, seen) => { seen.disconnect(); done(); }).observe(watched, options);
    });
    if (element.type === "radio") element.checked = false;  // so that a click always changes it
    const start = performance.now();
    if (value === null) element.click();
    else {
        element.value = value;
        element.dispatchEvent(new Event("input", { bubbles: true }));
        if (element.type !== "range") element.dispatchEvent(new Event("change", { bubbles: true }));
    }
    await answered;
    await new Promise(requestAnimationFrame);
    return performance.now() - start;
}"""

Times = dict[tuple[str, str], list[tuple[float, float]]]  # on the clock, of the processors


@contextmanager
def studio() -> Iterator[str]:
    """The address of a studio, which ends with the block."""
    command = [sys.executable, "-c", "from rainbowdp.cli import main; main()", "studio"]
    server = subprocess.Popen(  # noqa: S603  our own command
        [*command, "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    try:
        yield server.stdout.readline().split()[4]
    finally:
        server.terminate()
        server.wait()


def children() -> list[int]:
    """The processes that we started, and those that they did: the studio and the browser."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            parents[int(place.parent.name)] = int(place.read_text().rpartition(")")[2].split()[1])

    def below(number: int) -> bool:
        return number in parents and (parents[number] == os.getpid() or below(parents[number]))

    return [number for number in parents if below(number)]


def spent(threads: Iterable[Path]) -> float:
    """Milliseconds of the processors that these threads have used."""
    total = 0
    for thread in threads:
        with suppress(OSError):  # it has just ended
            total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e6


def threads_of(numbers: Iterable[int]) -> list[Path]:
    """All threads of these processes."""
    return [thread for number in numbers for thread in Path(f"/proc/{number}/task").glob("*")]


def in_turn(numbers: Iterable[int]) -> list[Path]:
    """The threads that a control waits for: those of the studio, and the page's own."""
    found = []
    for number in numbers:
        with suppress(OSError):
            command = Path(f"/proc/{number}/cmdline").read_text()
            if "--type=renderer" in command:
                found.append(Path(f"/proc/{number}/task/{number}"))
            elif command.startswith(sys.executable):
                found += threads_of([number])
    return found


def busy() -> float:
    """Milliseconds of the processors that all programs have used."""
    ticks = sum(map(int, Path("/proc/stat").read_text().split()[1:4]))
    return 1e3 * ticks / os.sysconf("SC_CLK_TCK")


class Hand:
    """Moves controls of one page and writes down how long each took."""

    def __init__(self, page: Page, title: str, times: Times) -> None:
        self.page, self.title, self.times = page, title, times
        self.processes = children()

    def move(
        self, control: str, selector: str, value: str | None = None, waits: str = "answered"
    ) -> None:
        """Set a control to ``value``, or click it, and wait for what it changes."""
        threads = in_turn(self.processes)
        before = spent(threads)
        took = self.page.evaluate(MOVE, [selector, value, waits])
        self.times[self.title, control].append((took, spent(threads) - before))

    def slide(self, control: str, selector: str, waits: str = "answered") -> None:
        """Move a slider to four places."""
        low, high = (
            int(float(self.page.get_attribute(selector, end) or 0)) for end in ("min", "max")
        )
        for part in (0.2, 0.8, 0.4, 0.6):
            place = low + part * (high - low)
            self.move(control, selector, str(round(place) if high > 1 else part), waits)


def story(hand: Hand, address: str) -> None:
    """The five screens."""
    page = hand.page
    page.goto(f"{address}story")
    page.wait_for_selector("#friends button")
    for number in (1, 4, 7):
        hand.move("a friend's vote", f"#friends button:nth-child({number})", waits="#tally")
    hand.move("next screen", "#next", waits="#where")
    for vote in ("noodles", "pizza"):
        hand.move("Zoe's vote", f'[name="zoe"][value="{vote}"]', waits="#announced")
    hand.move("next screen", "#next", waits="#where")
    hand.slide("share", "#share", waits="#verdict")
    hand.move("next screen", "#next", waits="#where")
    hand.slide("walk", "#walk", waits="#here")
    hand.move("next screen", "#next", waits="#where")
    hand.slide("ε", "#epsilon", waits="#sure")
    for number in (1, 2):
        hand.move("the table", f"#votes label:nth-child({number}) input", waits="")


def question(hand: Hand, address: str) -> None:
    """A question of one's own, of every kind."""
    page = hand.page
    page.goto(f"{address}question")
    page.wait_for_selector("html[data-answered]")
    for kind in page.eval_on_selector_all("#kind option", "(all) => all.map((o) => o.value)"):
        hand.move("kind", "#kind", kind)
        hand.move("ε, the first time", "#epsilon", "0.7")
        for epsilon in ("0.5", "2", "1", "0.7"):
            hand.move("ε", "#epsilon", epsilon)
        hand.slide("counts", "#slide-0")
        hand.move("double", "#double")
        hand.move("halve", "#halve")
        hand.move("draw 1", "#draw-1", waits="#drawn")
        hand.move("draw 20", "#draw-20", waits="#drawn")
    hand.move("kind", "#kind", "winner")
    for relation in page.eval_on_selector_all(
        "#relation option", "(all) => all.map((o) => o.value)"
    ):
        hand.move("one change", "#relation", relation)
    for ties in page.eval_on_selector_all("#ties option", "(all) => all.map((o) => o.value)"):
        hand.move("ties", "#ties", ties)
    page.click("#add")
    hand.move("plan", "#divide", waits="#plan")


def designer(hand: Hand, address: str) -> None:
    """Every example, and the graph that is edited."""
    page = hand.page
    page.goto(f"{address}designer")
    page.wait_for_selector("html[data-answered]")
    for world in page.eval_on_selector_all("#world option", "(all) => all.map((o) => o.value)"):
        hand.move("example", "#world", world)
        page.wait_for_selector('#graph[aria-busy="false"]')  # an answer may have been on its way
        page.wait_for_selector('#mechanisms label[data-name="homogeneous"] .cost[data-error]')
        hand.move("mechanism", '#mechanisms input[value="homogeneous"]')
        hand.slide("ε", "#epsilon")
        hand.slide("δ", "#delta")
        many = page.eval_on_selector("#dataset-choice", "(list) => list.length")
        for part in (0.1, 0.5, 0.9):
            hand.move("dataset", "#dataset-choice", str(int(part * many)))
        hand.move("boundary", '[name="boundary"][value="hand"]')
        hand.slide("share", "#share-0")
        hand.move("boundary", '[name="boundary"][value="best"]')
        hand.move("kind of promise", '[name="kind"][value="gaussian"]')
        hand.slide("μ", "#mu")
        hand.move("kind of promise", '[name="kind"][value="dp"]')
        for name in page.eval_on_selector_all(
            "#mechanisms input", "(all) => all.map((o) => o.value)"
        ):
            hand.move(
                "best" if name == "best" else "mechanism", f'#mechanisms input[value="{name}"]'
            )
        hand.move("mechanism", '#mechanisms input[value="homogeneous"]')
        if page.is_visible("#edit > summary"):
            edits(hand)


def edits(hand: Hand) -> None:
    """Each way to change a graph, and back."""
    page = hand.page
    page.click("#edit > summary")
    hand.move("edit: add", "#edit-add")
    hand.move("edit: counts as", "#edit-weight", "7")
    hand.move("edit: name", "#edit-name", "somewhere")
    hand.move("edit: rainbow", "#edit-rainbow li:last-child button")
    hand.move("edit: join or part", "#edit-join")
    hand.move("edit: join or part", "#edit-join")
    hand.move("edit: remove", "#edit-remove")
    for _ in range(3):
        hand.move("edit: undo", "#undo")
    hand.move("edit: redo", "#redo")
    page.click("#edit > summary")


def line(name: str, found: list[tuple[float, float]]) -> str:
    """A row of the table."""
    clock, processors = zip(*found, strict=True)
    twenty = statistics.quantiles(clock, n=20) if len(clock) > 1 else [clock[0]] * 19
    numbers = statistics.median(clock), twenty[-1], statistics.median(processors)
    return " | ".join([f"| {name}", str(len(found)), *(f"{n:.0f} ms" for n in numbers)]) + " |"


WALKS = {"Story": story, "Your question": question, "Designer": designer}


def main(rounds: int, every: bool, only: str | None) -> None:
    """Measure and print."""
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    times: Times = defaultdict(list)
    with studio() as address, sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=browser, args=ARGUMENTS)
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(WAIT)
        began, all_before, own_before = time.monotonic(), busy(), spent(threads_of(children()))
        for _ in range(rounds):
            for title in [only] if only else WALKS:
                page.goto("about:blank")
                WALKS[title](Hand(page, title, times), address)
        others = busy() - all_before - (spent(threads_of(children())) - own_before)
        passed = 1e3 * (time.monotonic() - began) * (os.cpu_count() or 1)
        chromium.close()
    print(
        f"{os.cpu_count()} processors, of which other programs took {others / passed:.0%}; "
        f"{rounds} rounds.\n"
    )
    print("| page | moves | median | 95th percentile | processor, median |")
    print("| --- | --- | --- | --- | --- |")
    for titles in [(only,)] if only else [*((title,) for title in WALKS), tuple(WALKS)]:
        own = [
            t for (page, control), t in times.items() if page in titles and control not in SEARCHED
        ]
        name = titles[0] if len(titles) == 1 else "all three"
        print(line(name, [took for found in own for took in found]))
    for (title, control), found in times.items():
        if every or control in SEARCHED:
            print(line(f"{title}: {control}", found))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--controls", action="store_true")
    parser.add_argument("--page", choices=WALKS, help="only this one")
    given = parser.parse_args()
    main(given.rounds, given.controls, given.page)

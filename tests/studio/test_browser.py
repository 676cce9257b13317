"""The studio in a real Chromium: what a person sees is what the library says."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

import rainbowdp as rb
from browsers import WAIT, browser, link, watched
from rainbowdp.display.colors import BLUE, GREEN, ORANGE
from rainbowdp.paper.objects import figure_one
from rainbowdp.studio.examples import EXAMPLES, example
from rainbowdp.studio.offers import offered

__all__ = ["browser"]

PAPER = base64.urlsafe_b64encode(b'{"world":"paper","mechanism":"homogeneous"}').decode()
TOWN = "a b\nb c\nc d\na: yes > no\nb: yes > no\nc: no > yes\nd: no > yes\n"


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    """One for all tests, as a new one takes a second or two; the page keeps nothing in it."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        shown = context.new_page()
        shown.set_default_timeout(WAIT)
        yield shown


@pytest.fixture
def page(tab: Page, studio_address: str) -> Iterator[Page]:
    """The page, loaded anew; afterwards nothing must have left loopback or broken the policy."""
    with watched(tab, studio_address):
        tab.goto(f"{studio_address}designer#{PAPER}")
        expect(tab.locator("#badge")).to_have_attribute("data-state", "proved")
        yield tab
        tab.unroute_all()
        tab.mouse.move(0, 0)
        tab.goto("about:blank")


def settled(page: Page, **wanted: Any) -> dict[str, Any]:
    """Wait until the page shows the answer to settings with these values; give the settings."""
    page.wait_for_function(
        """(wanted) => {
            const shown = JSON.parse(document.documentElement.dataset.answered ?? "{}");
            const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
            return Object.entries(wanted).every(([name, value]) => same(shown[name], value));
        }""",
        arg=wanted,
        timeout=WAIT,
    )
    shown: dict[str, Any] = json.loads(page.evaluate("document.documentElement.dataset.answered"))
    return shown


def badge(page: Page, state: str) -> str:
    expect(page.locator("#badge")).to_have_attribute("data-state", state)
    return " ".join((page.locator("#badge").text_content() or "").split())


def choose_world(page: Page, name: str) -> None:
    page.select_option("#world", name)
    settled(page, world=example(name).title)


def shown_row(page: Page) -> list[float]:
    """The probabilities in the dataset's panel, in the order shown."""
    return [
        float(cell.get_attribute("data-probability") or "nan")
        for cell in page.locator("#dataset dd[data-probability]").all()
    ]


def shown_costs(page: Page, *, slowly: bool = False) -> dict[str, float]:
    best = 'label[data-name="best"] ' if slowly else ""
    shown = page.locator(f"#mechanisms {best}.cost[data-error]").first
    expect(shown).to_be_visible(timeout=3 * WAIT)
    return {
        str(label.get_attribute("data-name")): float(
            label.locator(".cost").get_attribute("data-error") or "nan"
        )
        for label in page.locator("#mechanisms label").all()
    }


def paper_row(dataset: int, guarantee: Any, **more: Any) -> list[float]:
    graph = figure_one()
    return list(rb.optimal(graph, guarantee, **more)[graph.datasets[dataset]].values())


def click_dataset(page: Page, position: int, beside: int = 0) -> None:
    """Click where the disc of a dataset is drawn, or so many pixels to its right."""
    box = page.locator("#graph").bounding_box()
    assert box is not None
    x, y = page.evaluate(
        """(position) => {
            const node = window.studioGraph.$id(String(position)).renderedPosition();
            return [node.x, node.y];
        }""",
        position,
    )
    page.mouse.click(box["x"] + x + beside, box["y"] + y)


def test_a_first_visitor_sees_three_sentences_and_a_picture(page: Page) -> None:
    sentences = page.locator("#intro span").all_text_contents()
    assert len(sentences) == 3
    assert all(len(sentence) < 100 for sentence in sentences)
    assert badge(page, "proved").startswith("Private: proved exactly 1-DP")
    palette = [f.get_attribute("fill") for f in page.locator("#legend rect").all()]
    assert palette == [BLUE, ORANGE, GREEN]  # blue, red and green, as in figures
    assert shown_row(page) == pytest.approx(paper_row(0, rb.DP(1)), rel=1e-12)
    assert page.locator("#legend li").all_text_contents() == ["blue", "red", "green"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if place else [])
        for place, name in enumerate(EXAMPLES)
    ],
)
def test_each_example_shows_the_librarys_numbers(page: Page, name: str) -> None:
    choose_world(page, name)
    badge(page, "proved")
    world = example(name)
    lines = (page.locator("#recipe").text_content() or "").splitlines()
    assert len(lines) <= 5
    found: dict[str, Any] = {}
    exec("\n".join([*lines[:-1], lines[-1].replace("print(", "row = (")]), found)
    order = world.graph.rainbow(world.graph.datasets[world.start["dataset"]])
    assert shown_row(page) == pytest.approx([float(found["row"][a]) for a in order], rel=1e-9)
    expect(page.locator("#mechanisms label")).to_have_count(len(offered(world)))
    assert list(shown_costs(page, slowly="best" in offered(world))) == list(offered(world))


@pytest.mark.slow
def test_every_mechanism_can_be_chosen_and_costs_what_compare_says(page: Page) -> None:
    page.fill("#epsilon-text", "1.5")
    page.press("#epsilon-text", "Enter")
    settled(page, guarantee={"kind": "dp", "epsilon": "1.5", "delta": "0"})
    graph = figure_one()
    makers: dict[str, Any] = {
        "proximity": rb.proximity,
        "textbook exponential": rb.exponential,
        "textbook permute-and-flip": rb.permute_and_flip,
        "randomized response": rb.randomized_response,
        "homogeneous": rb.optimal,
    }
    compared = rb.compare(graph, rb.DP("1.5"), {"homogeneous": rb.optimal, **makers})
    for name, make in makers.items():
        page.check(f'#mechanisms input[value="{name}"]')
        settled(page, mechanism=name)
        made = make(graph, rb.DP("1.5"))
        assert shown_row(page) == pytest.approx(list(made["d1"].values()), rel=1e-12)
        badge(page, "proved" if name in ("proximity", "homogeneous") else "checked")
        page.wait_for_function(
            "([name, error]) => Math.abs(document.querySelector("
            "`label[data-name='${name}'] .cost`).dataset.error - error) < 1e-9",
            arg=[name, compared[name].mean_error],
        )
        if name != "homogeneous":
            match = f"{compared[name].epsilon_to_match:.4g}"
            about = page.locator(f'label[data-name="{name}"] .about')
            expect(about).to_contain_text(f"as good as homogeneous at ε = {match}")


@pytest.mark.slow
def test_sliders_move_the_promise(page: Page) -> None:
    page.focus("#epsilon")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    shown = settled(page, guarantee={"kind": "dp", "epsilon": "1.3", "delta": "0"})
    assert page.input_value("#epsilon-text") == "1.3"
    assert shown_row(page) == pytest.approx(paper_row(0, rb.DP("1.3")), rel=1e-12)
    page.focus("#delta")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    settled(page, guarantee={**shown["guarantee"], "delta": "0.1"})
    assert shown_row(page) == pytest.approx(paper_row(0, rb.DP("1.3", "0.1")), rel=1e-12)
    assert "(1.3, 0.1)-DP" in badge(page, "proved")
    page.check('[name="kind"][value="gaussian"]')
    page.focus("#mu")
    page.keyboard.press("ArrowLeft")
    settled(page, guarantee={"kind": "gaussian", "mu": "0.95"})
    assert shown_row(page) == pytest.approx(paper_row(0, rb.GaussianDP("0.95")), rel=1e-12)
    assert "0.95-GDP" in badge(page, "proved")


@pytest.mark.slow
def test_the_boundary_by_hand(page: Page) -> None:
    page.check('[name="boundary"][value="hand"]')
    settled(page, boundary=[0.576, 0.212, 0.212])
    badge(page, "proved")
    page.focus("#share-1")
    for _ in range(100):
        page.keyboard.press("ArrowRight")
    shown = settled(page, boundary=[0.5687, 0.222, 0.2093])
    row = shown["boundary"]
    assert sum(row) == pytest.approx(1, abs=1e-12)
    assert shown_row(page) == pytest.approx(paper_row(0, rb.DP(1), boundary=row), rel=1e-12)
    page.focus("#share-0")
    page.keyboard.press("End")
    text = badge(page, "violated")
    assert re.match(r"Not private: violated by \{\w+\} on the boundary of \(.+\) beside", text)
    expect(page.locator("#dataset")).to_contain_text("no mechanism to look at")
    expect(page.locator("#save-svg")).to_be_disabled()
    page.check('[name="boundary"][value="best"]')
    badge(page, "proved")


def test_a_click_shows_a_dataset(page: Page) -> None:
    graph = figure_one()
    mechanism = rb.optimal(graph, rb.DP(1))
    for name in ("d7", "d15", "d9"):
        position = graph.position(name)
        click_dataset(page, position)
        settled(page, dataset=position)
        assert page.input_value("#dataset-choice") == str(position)
        assert shown_row(page) == pytest.approx(list(mechanism[name].values()), rel=1e-12)
        facts = page.locator("#dataset .facts").text_content() or ""
        depth = int(graph.depth[name])
        assert ("0: on the border" if depth == 0 else f"{depth} from the border") in facts
        assert " > ".join(graph.rainbow(name)) in facts
        worst = max(
            max(mechanism[a][v] / mechanism[b][v], mechanism[b][v] / mechanism[a][v])
            for a, b in ((name, other) for other in graph.neighbors(name))
            for v in graph.answers
        )
        shown = (page.locator("#ratio").text_content() or "").split()[0]
        assert float(shown) >= float(f"{worst:.4g}") - 1e-9  # sets of answers may be worse than one
        assert float(shown) <= 2.719


@pytest.mark.slow
def test_a_tap_beside_a_disc_finds_it(page: Page) -> None:
    """A finger is wider than a junction of the map."""
    choose_world(page, "roads")
    click_dataset(page, 100, beside=10)
    settled(page, dataset=100)


@pytest.mark.slow
def test_the_printed_operator_is_called_violated(page: Page) -> None:
    page.fill("#delta-text", "0.1")
    page.press("#delta-text", "Enter")
    page.check('#mechanisms input[value="printed"]')
    text = badge(page, "violated")
    check = rb.printed_operator(figure_one(), rb.DP(1, "0.1")).check(guarantee=rb.DP(1, "0.1"))
    assert check.neighbors is not None
    more, less = check.neighbors
    assert f"{{{', '.join(check.answers)}}} at {more} beside {less}, by {check.excess:.3g}" in text
    expect(page.locator("#save-file")).to_be_disabled()


@pytest.mark.slow
def test_what_does_not_exist_says_so(page: Page) -> None:
    page.fill("#epsilon-text", "0.3")
    page.press("#epsilon-text", "Enter")
    page.check('#mechanisms input[value="proximity"]')
    assert "proximity on this graph holds from epsilon = 0.6931" in badge(page, "refused")
    page.fill("#epsilon-text", "much")
    page.press("#epsilon-text", "Enter")
    expect(page.locator("#promise-message")).to_contain_text("epsilon must be a finite number")
    expect(page.locator("#epsilon-text")).to_have_attribute("aria-invalid", "true")
    page.fill("#epsilon-text", "2")
    page.press("#epsilon-text", "Enter")
    badge(page, "proved")
    expect(page.locator("#epsilon-text")).to_have_attribute("aria-invalid", "false")


def saved(page: Page, button: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.click(button)
    place = folder / download.value.suggested_filename
    download.value.save_as(place)
    return place


@pytest.mark.slow
def test_export_and_reload(page: Page, tmp_path: Path) -> None:
    choose_world(page, "travel")
    page.check('#mechanisms input[value="homogeneous"]')
    settled(page, mechanism="homogeneous")
    badge(page, "proved")
    row = shown_row(page)
    file = saved(page, "#save-file", tmp_path)
    assert file.name == "travel-air-train-or-bus-homogeneous.json"
    mechanism = rb.load(file)
    exact = mechanism[{"air": 8, "train": 4, "bus": 0}]
    assert [float(exact[a]) for a in ("air", "train", "bus")] == pytest.approx(row, rel=1e-9)
    page.set_input_files("#file", str(file))
    settled(page, world=file.name, mechanism="file")
    assert "1-DP on tables of every size" in badge(page, "proved")
    assert page.locator("#world option:checked").text_content() == file.name
    page.select_option("#dataset-choice", label="air, depth 2")
    settled(page, dataset=2)
    assert shown_row(page) == pytest.approx(row, rel=1e-9)
    page.fill("#epsilon-text", "0.5")
    page.press("#epsilon-text", "Enter")
    badge(page, "violated")


@pytest.mark.slow
def test_the_figure_is_drawn_from_the_same_numbers(page: Page, tmp_path: Path) -> None:
    from xml.etree import ElementTree

    badge(page, "proved")
    file = saved(page, "#save-svg", tmp_path)
    tree = ElementTree.parse(file).getroot()
    svg = "{http://www.w3.org/2000/svg}"
    assert len(tree.findall(f".//{svg}line")) >= 31
    titles = [title.text for title in tree.findall(f".//{svg}g/{svg}title")]
    assert titles == [f"d{number}" for number in range(1, 19)]
    curves = tree.findall(f".//{svg}polyline")
    rows = rb.DP(1).rows(list(rb.optimal(figure_one(), rb.DP(1))["d3"].values()), range(5))
    heights = [[float(p.split(",")[1]) for p in curve.attrib["points"].split()] for curve in curves]
    for place, drawn in enumerate(heights):
        assert drawn == pytest.approx([20 + 180 * (1 - p) for p in rows[:, place]], abs=0.01)
    words = [text.text for text in tree.findall(f".//{svg}g/{svg}text")]
    assert set(titles) <= set(words)
    assert "script" not in file.read_text()
    picture = saved(page, "#save-png", tmp_path).read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 10_000


@pytest.mark.slow
def test_the_python_is_copied(page: Page) -> None:
    page.click("#copy")
    expect(page.locator("#taken")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#recipe").text_content()


@pytest.mark.slow
def test_bad_files_give_a_readable_message(page: Page, tmp_path: Path) -> None:
    for name, content, message in (
        ("bad.txt", b"a b\nb c d\n", "got 'b c d': bad.txt, line 2"),
        ("empty.txt", b"", "empty.txt is empty"),
        ("binary.bin", b"\xff\xfe\x00\x01", "binary.bin is not text in UTF-8"),
        ("half.json", b'{"format": "rainbowdp', "the mechanism file half.json is not JSON"),
        ("big.txt", b"#" * 1_100_000, "files of up to 1,048,576 bytes, got big.txt with 1,100,000"),
    ):
        (tmp_path / name).write_bytes(content)
        page.set_input_files("#file", str(tmp_path / name))
        expect(page.locator("#trouble")).to_contain_text(message)
        assert page.input_value("#world") == "paper"  # what was there is still there
        page.click("#trouble button")
        expect(page.locator("#trouble")).to_be_hidden()


@pytest.mark.slow
def test_a_list_of_edges_is_drawn(page: Page, tmp_path: Path) -> None:
    (tmp_path / "town.txt").write_text(TOWN)
    page.set_input_files("#file", str(tmp_path / "town.txt"))
    expect(page.locator("#graph-note")).to_have_text("4 datasets and 3 edges from a list.")
    settled(page, world="town.txt")
    page.check('#mechanisms input[value="homogeneous"]')
    settled(page, mechanism="homogeneous")
    a = rb.DP(1).grow(rb.DP(1).ratio / (1 + rb.DP(1).ratio), 1)
    assert shown_row(page) == pytest.approx([a, 1 - a], rel=1e-9)


@pytest.mark.slow
def test_the_keyboard_is_enough(page: Page) -> None:
    """From the top: past the skip link, into the graph, to another dataset, then a mechanism."""
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    reached = []
    for _ in range(40):
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.name"))
        page.keyboard.press("Tab")
    wanted = ["epsilon", "delta", "mechanism", "dataset-choice", "save-svg", "save-file", "copy"]
    found = [name for name in reached if name in wanted]
    assert list(dict.fromkeys(found)) == wanted
    page.focus("#graph")
    assert "solid" in page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    places = example("paper").places
    page.keyboard.press("ArrowRight")
    expect(page.locator("#dataset-choice")).not_to_have_value("0")
    shown = settled(page)
    assert places[shown["dataset"]][0] > places[0][0]
    page.keyboard.press("ArrowLeft")
    settled(page, dataset=0)
    page.focus('#mechanisms input[value="homogeneous"]')
    page.keyboard.press("ArrowDown")
    settled(page, mechanism="proximity")
    for kind in ("margin-flip", "exponential", "textbook exponential"):
        page.keyboard.press("ArrowDown")
        settled(page, mechanism=kind)
    assert page.evaluate("document.activeElement.value") == "textbook exponential"
    assert page.get_attribute("#badge", "aria-live") == "polite"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(tab: Page, studio_address: str, scheme: Any) -> None:
    tab.emulate_media(color_scheme=scheme)
    tab.goto(f"{studio_address}designer")
    background = "getComputedStyle(document.body).backgroundColor"
    own = tab.evaluate(background)
    assert (own == "rgb(20, 22, 28)") == (scheme == "dark")
    tab.click("#theme")  # light
    assert tab.evaluate(background) == "rgb(250, 250, 247)"
    tab.click("#theme")  # dark
    assert tab.evaluate(background) == "rgb(20, 22, 28)"
    tab.click("#theme")  # as the system
    assert tab.evaluate(background) == own
    tab.emulate_media(color_scheme="light")  # as it was


@pytest.mark.slow
def test_other_colors_leave_the_proof_as_it_is(page: Page) -> None:
    proved = badge(page, "proved")
    page.click("#theme")
    page.emulate_media(color_scheme="dark")
    page.emulate_media(color_scheme="light")
    page.wait_for_timeout(300)
    assert badge(page, "proved") == proved


@pytest.mark.slow
def test_a_link_pasted_over_the_address_is_opened(page: Page, studio_address: str) -> None:
    page.goto(link(studio_address, world="travel", mechanism="homogeneous"))
    settled(page, world=example("travel").title)
    page.evaluate("location.hash = 'graph'")  # the link that skips to the graph
    page.wait_for_timeout(300)
    settled(page, world=example("travel").title)


@pytest.mark.slow
def test_a_proof_dropped_for_another_tab_is_asked_for_again(page: Page) -> None:
    dropped: list[Route] = []

    def drop_once(route: Route) -> None:
        if dropped:
            route.continue_()
            return
        dropped.append(route)
        route.fulfill(status=409, json={"error": "a newer request took this one's place"})

    page.route("**/api/proof", drop_once)
    page.fill("#epsilon-text", "2")
    page.press("#epsilon-text", "Enter")
    settled(page, guarantee={"kind": "dp", "epsilon": "2", "delta": "0"})
    badge(page, "proved")
    assert dropped


@pytest.mark.slow
def test_a_phones_width_is_enough(browser: Browser, studio_address: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True)
    shown = context.new_page()
    shown.goto(f"{studio_address}designer#{PAPER}")
    expect(shown.locator("#badge")).to_have_attribute("data-state", "proved")
    for name in EXAMPLES:
        choose_world(shown, name)
        assert shown.evaluate("document.documentElement.scrollWidth") <= 360
    for selector in ("#world", "#open", "#epsilon", "#save-file"):
        box = shown.locator(selector).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
    context.close()


def test_a_page_elsewhere_gets_nothing(browser: Browser, studio_address: str) -> None:
    """A stranger's page in the same browser: its requests, frames and names are all refused."""
    port = urlsplit(studio_address).port
    context = browser.new_context()
    shown = context.new_page()

    def stranger(route: Any) -> None:
        route.fulfill(status=200, content_type="text/html", body="<h1>elsewhere</h1>")

    context.route("http://elsewhere.test/**", stranger)
    refused: list[int] = []
    context.on("response", lambda r: refused.append(r.status) if str(port) in r.url else None)
    shown.goto("http://elsewhere.test/")
    for options in ({}, {"method": "POST", "body": "{}"}, {"mode": "no-cors"}):
        outcome = shown.evaluate(
            "([address, options]) => fetch(address, options)"
            ".then(async (r) => (await r.text()).length, () => 'refused')",
            [f"{studio_address}api/examples", options],
        )
        assert outcome in ("refused", 0)  # an opaque answer has nothing to read
    assert all(status == 403 for status in refused)
    shown.set_content(f'<iframe src="{studio_address}"></iframe>')
    shown.wait_for_timeout(500)
    assert all("rainbow" not in (frame.title() or "") for frame in shown.frames[1:])
    context.close()


def test_a_name_that_was_made_to_point_here_is_refused(tab: Page, studio_address: str) -> None:
    """DNS rebinding: the browser believes the stranger's name, the server does not."""
    port = urlsplit(studio_address).port
    response = tab.goto(f"http://rebound.test:{port}/")
    assert response is not None
    assert response.status == 421
    assert "this machine" in tab.content()


@pytest.mark.slow
def test_a_stopped_studio_is_said_so(page: Page) -> None:
    page.route("**/api/**", lambda route: route.abort())
    page.fill("#epsilon-text", "2")
    page.press("#epsilon-text", "Enter")
    expect(page.locator("#badge")).to_contain_text("The studio has stopped")
    page.unroute("**/api/**")


@pytest.mark.slow
def test_while_it_waits_the_page_says_so(tab: Page, studio_address: str) -> None:
    held: list[Any] = []
    complaints: list[str] = []
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.route("**/api/world/**", lambda route: held.append(route))
    tab.goto(f"{studio_address}designer")
    expect(tab.locator("#graph")).to_have_attribute("aria-busy", "true")
    expect(tab.locator("#badge")).to_contain_text("Loading…")
    while not held:
        tab.wait_for_timeout(20)
    for control in ('[value="gaussian"]', '[value="hand"]'):  # moved too early
        tab.click(control)
    expect(tab.locator('[value="best"]')).to_be_checked()
    held[0].continue_()
    expect(tab.locator("#graph")).to_have_attribute("aria-busy", "false")
    assert complaints == []
    tab.unroute_all()


@pytest.mark.slow
def test_of_two_worlds_the_one_asked_for_last_is_shown(page: Page) -> None:
    """Though it comes first."""
    held: list[Any] = []
    page.route("**/api/world/travel", lambda route: held.append(route))
    page.select_option("#world", "travel")
    while not held:
        page.wait_for_timeout(20)
    choose_world(page, "election")
    with page.expect_response("**/api/world/travel"):
        held[0].continue_()
    page.wait_for_timeout(100)
    assert page.input_value("#world") == "election"
    assert page.locator("#graph-note").text_content() == example("election").note
    expect(page.locator("#graph")).to_have_attribute("aria-busy", "false")


@pytest.mark.slow
def test_a_moving_slider_never_piles_up_requests(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate(
        """() => {
            const dial = document.getElementById("epsilon");
            for (let step = 0; step < 40; step += 1) {
                dial.value = step;
                dial.dispatchEvent(new Event("input"));
            }
        }"""
    )
    settled(page, guarantee={"kind": "dp", "epsilon": "3", "delta": "0"})
    assert len([address for address in asked if address.endswith("/api/answer")]) <= 3

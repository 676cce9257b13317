"""Interrupt the command at random moments: is an answer ever unpaid, or a payment ever silent?

    python benchmarks/interrupts.py [RUNS]

Each run asks a question on a pseudo-terminal with a ledger and types Ctrl-C (or sends SIGTERM) at a
random moment between the start of the import and the end, every other one in the last third, where
the payment, the draw and the printing are. A third of the runs make a margin table, in a fresh
folder.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from interrupting import after, entries, judge, run
from rainbowdp.ledger import Ledger

SEED = 16
THREE = "red,green,blue"


def main(runs: int) -> None:
    dice, found, wrong = random.Random(SEED), Counter[str](), 0  # noqa: S311
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, place = folder / "votes.csv", folder / "budget.db"
        table.write_text("vote\n" + "red\ngreen\nblue\nred\n" * 50)
        Ledger.create(place, dataset="votes", epsilon=10 * runs)
        usual = {among: _usual(table, place, among, folder) for among in ("red,green", THREE)}
        print("seconds from the start of the import to the end:", usual)
        for number in range(runs):
            among = THREE if number % 3 == 0 else "red,green"
            moment = usual[among] * dice.uniform(0.67 if number % 2 else 0.0, 1.1)
            by, code = dice.choice(
                [(signal.SIGINT, 130), (signal.SIGINT, 130), (signal.SIGTERM, 143)]
            )
            os.environ["RAINBOWDP_CACHE"] = str(folder / f"kept-{number}")
            before = len(entries(place))
            ended = run(_question(table, place, among), after(moment), number=by)
            try:
                found[judge(ended, before, place, code)] += 1
            except AssertionError as error:
                wrong += 1
                print("WRONG:", error)
            print(f"\r{number + 1} of {runs}", end="", file=sys.stderr, flush=True)
    print(f"{runs} runs: {dict(found)}, {wrong} wrong")
    sys.exit(wrong > 0)


def _usual(table: Path, place: Path, among: str, folder: Path) -> float:
    """How long a run takes that nobody interrupts."""
    os.environ["RAINBOWDP_CACHE"] = str(folder / f"kept-{len(among)}")
    start = time.perf_counter()
    run(_question(table, place, among), lambda *_: False)
    return round(time.perf_counter() - start, 2)


def _question(table: Path, place: Path, among: str) -> list[str]:
    asked = ["ask", "winner", str(table), "--column", "vote", "--among", among, "--epsilon", "1"]
    return [*asked, "--ledger", str(place), "--json"]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)

"""How long a ledger takes to pay, to open, to show its balance and to be verified, by its length.

Run it as ``python benchmarks/ledger.py --entries 1 1000 100000 1000000``.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import rainbowdp as rb
from rainbowdp.ledger import Charge, Ledger

BATCH = 10_000


def main() -> None:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, nargs="+", default=[1, 1_000, 100_000])
    lengths = sorted(parser.parse_args().entries)
    print("| entries | file | pay | by the first | open | balance | last 20 | verify | history |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "budget.db"
        ledger = Ledger.create(place, dataset="benchmark", epsilon=10**9)
        for length in lengths:
            fill(ledger, length - ledger.balance().entries)
            first = Ledger.create(Path(folder) / f"{length}", dataset="benchmark", epsilon=10**9)
            print(row(ledger, first, place, length), flush=True)


def fill(ledger: Ledger, count: int) -> None:
    """Adds entries with answers, many in a transaction."""
    for start in range(0, count, BATCH):
        entries = ledger.spend_all(list(charges(ledger, min(BATCH, count - start))))
        ledger.record_all([(entry, "yes") for entry in entries])


def charges(ledger: Ledger, count: int) -> Iterator[Charge]:
    """Payments as a question makes them."""
    question = {"kind": "winner", "column": "vote", "among": ["yes", "no"], "where": "age > 65"}
    for _ in range(count):
        yield Charge(
            rb.DP("0.01"),
            question,
            ledger.unit,
            ledger.neighbors,
            source="/home/ann/data/votes.csv",
            mechanism={"kind": "exponential"},
        )


def row(ledger: Ledger, first: Ledger, place: Path, length: int) -> str:
    """One line of the table, in medians."""
    long, short = [], []
    for _ in range(41):  # by turns, so that both are disturbed by the same things
        long.append(seconds(lambda: ledger.spend_all(list(charges(ledger, 1)))))
        short.append(seconds(lambda: first.spend_all(list(charges(first, 1)))))
    pay = statistics.median(long)
    cells = [
        f"{length:,}",
        f"{place.stat().st_size / 1e6:,.1f} MB",
        shown(pay),
        f"{pay / statistics.median(short):.2f} ×",
        took(lambda: Ledger.open(place), 11),
        took(ledger.balance, 11),
        took(lambda: ledger.history(20), 5),
        took(ledger.verify, 1),
        took(lambda: sum(1 for _ in ledger.entries()), 1),
    ]
    return f"| {' | '.join(cells)} |"


def took(work: Callable[[], object], times: int) -> str:
    """The median time."""
    return shown(statistics.median(seconds(work) for _ in range(times)))


def seconds(work: Callable[[], object]) -> float:
    """How long it takes, once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def shown(time_taken: float) -> str:
    """Milliseconds, or seconds if it is long."""
    return f"{time_taken * 1000:.1f} ms" if time_taken < 2 else f"{time_taken:.1f} s"


if __name__ == "__main__":
    main()

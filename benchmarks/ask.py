"""Asking a vote of thousands of answers, and a Parquet table of 100 million rows.

The vote is timed after counting, under each guarantee: ``ask`` from counts, which makes the
mechanism, proves it, finds the row and draws. Least of nine.

For the table, makes it in a temporary folder, which is deleted afterwards, then times in turns: the
group-by that somebody would write by hand, counting alone, and a complete ``ask``, from making
the mechanism to the answer, beside DuckDB's own group-by in the same process. Best of three, files
in the cache. Prints Markdown tables.

    python benchmarks/ask.py --rows 100000000
    python benchmarks/ask.py --rows 0               # the vote alone
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

import rainbowdp as rb
from rainbowdp.questions import Question
from rainbowdp.tables import count

FILES, ROW_GROUP, REPEATS = 10, 1_000_000, 3
ANSWERS, VOTES, TURNS = (100, 1_000, 10_000), 1_000_000, 9
GUARANTEES: list[tuple[rb.DP | rb.GaussianDP, str]] = [
    (rb.DP("0.1"), "permute-and-flip"),
    (rb.DP(1), "permute-and-flip"),
    (rb.DP(10), "proximity"),
    (rb.DP(10, "1e-6"), "proximity"),
    (rb.DP(1, "1e-6"), "homogeneous"),
    (rb.DP(1, "0.2"), "homogeneous"),
    (rb.GaussianDP(1), "homogeneous"),
    (rb.GaussianDP("0.1"), "homogeneous"),
    (rb.GaussianDP("0.02"), "homogeneous"),
]
PARTIES = ["red", "green", "blue", "yellow", "white", "black", "orange", "violet"]
EDGES = [0, 10_000, 20_000, 30_000, 40_000, 50_000, 75_000, 100_000, 150_000, 250_000, 1_000_000]
BYTES_A_ROW = 20  # room enough

Work = Callable[[], object]


def make(folder: Path, rows: int) -> None:
    """Votes with a few missing and invalid ones, and incomes to the cent, in several files."""
    with duckdb.connect() as connection:
        for number in range(FILES):
            size = rows * (number + 1) // FILES - rows * number // FILES
            connection.execute("SELECT setseed(?)", [number / FILES])
            connection.execute(f"""
                COPY (
                    SELECT
                        CASE WHEN random() < 0.99 THEN
                            list_value({_quoted([*PARTIES, "invalid"])})
                                [1 + floor(9 * random() * random())::INT]
                        END AS choice,
                        round(exp(10.3 + 0.7 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())), 2)
                            AS income
                    FROM range({size})
                ) TO '{folder}/part-{number}.parquet' (ROW_GROUP_SIZE {ROW_GROUP})
            """)  # noqa: S608, E501  all of it is ours


def _quoted(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def query(sql: str) -> Work:
    """A query in a new connection, as a table is counted in a new one."""

    def run() -> object:
        with duckdb.connect() as connection:
            return connection.execute(sql).fetchall()

    return run


def contestants(question: Question, group: str, table: str) -> dict[str, Work]:
    """What is compared: first the group-by that the others are held against."""

    def ask(progress: Callable[[float], None] | None = None) -> object:
        return rb.ask(rb.best(question, rb.DP(1)), table, ledger=None, progress=progress)

    return {
        "DuckDB's group-by": query(
            f"SELECT {group} AS value, count(*) FROM '{table}' GROUP BY value"  # noqa: S608
        ),
        "`count`": lambda: count(table, question),
        "`ask`": ask,
        "`ask` with progress": lambda: ask(lambda _: None),
    }


def seconds(works: dict[str, Work]) -> dict[str, tuple[float, float]]:
    """The best of a few runs by the clock and in processor time, taking turns.

    Other people's load only ever adds to the one, and hardly to the other.
    """
    best = dict.fromkeys(works, (math.inf, math.inf))
    for _ in range(REPEATS):
        for name, work in works.items():
            clock, busy = time.perf_counter(), time.process_time()
            work()
            clock, busy = time.perf_counter() - clock, time.process_time() - busy
            best[name] = min(best[name][0], clock), min(best[name][1], busy)
    return best


def vote(answers: int, guarantee: rb.DP | rb.GaussianDP, kind: str) -> float:
    """The least processor milliseconds of asking a vote, from counts that spread evenly."""
    names = [f"answer {number}" for number in range(answers)]
    counts = {name: (place * 7919) % VOTES for place, name in enumerate(names)}
    least = math.inf
    for _ in range(TURNS):
        mechanism = rb.by_kind(rb.Winner(names), guarantee, kind)
        start = time.process_time()
        rb.ask(mechanism, counts, ledger=None)
        least = min(least, time.process_time() - start)
    return 1000 * least


def votes() -> None:
    print("| guarantee | mechanism |", *(f"{size:,} answers [ms] |" for size in ANSWERS))
    print("| --- | --- |", *("--- |" for _ in ANSWERS))
    for guarantee, kind in GUARANTEES:
        cells = [f"{vote(size, guarantee, kind):.1f} |" for size in ANSWERS]
        print(f"| {guarantee} | {kind} |", *cells, flush=True)
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask a vote and a big Parquet table.")
    parser.add_argument("--rows", type=int, default=100_000_000)
    rows = parser.parse_args().rows
    votes()
    if not rows:
        return
    if shutil.disk_usage(tempfile.gettempdir()).free < rows * BYTES_A_ROW:
        parser.error(f"{rows:,} rows need {rows * BYTES_A_ROW / 1e9:.1f} GB of free disk")
    bins = " ".join(f"WHEN income < {edge} THEN {n}" for n, edge in enumerate(EDGES))
    with tempfile.TemporaryDirectory(prefix="rainbow-ask-") as name:
        folder = Path(name)
        make(folder, rows)
        table = f"{folder}/*.parquet"
        size = sum(file.stat().st_size for file in folder.iterdir()) / 1e9
        print(
            f"{rows:,} rows in {FILES} Parquet files of {size:.2f} GB; {platform.machine()}, "
            f"{os.cpu_count()} processors, DuckDB {duckdb.__version__}. Best of {REPEATS}.\n"
        )
        print("| question | work | seconds | × DuckDB | processor seconds | × DuckDB |")
        print("| --- | --- | --- | --- | --- | --- |")
        for title, question, group in (
            ("winner of 8", rb.Winner(PARTIES, "choice"), "choice"),
            ("median of 10 bins", rb.Quantile("1/2", EDGES, "income"), f"CASE {bins} END"),
        ):
            best = seconds(contestants(question, group, table))
            base = best["DuckDB's group-by"]
            for work, both in best.items():
                cells = [f"{x:.2f} | {x / y:.2f}" for x, y in zip(both, base, strict=True)]
                print(f"| {title} | {work} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

"""Counting in a text file of 300 MB, beside DuckDB's own reading and grouping of the same file.

Makes the file in a temporary folder, which is deleted afterwards. Each work runs in a process of
its own, in turns, with the file in the cache: the best of three by the clock and in processor time,
and the most memory that the process had. Prints a Markdown table.

    python benchmarks/read.py --megabytes 300
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

import rainbowdp as rb
from rainbowdp.tables import count

TURNS, REPEATS = 2, 3
ANSWERS = ["red", "green", "blue", "yellow", "a rather long answer", "x"]
EDGES = [0, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 1_000_000]
BYTES_A_ROW = 63
QUESTIONS = {
    "winner, second column of six": (rb.Winner(ANSWERS, "choice"), "choice"),
    "winner, last column": (rb.Winner(["2024-01-03", "2024-01-04"], "day"), "day"),
    "median of 7 bins": (rb.Quantile("1/2", EDGES, "income"), "floor(income / 10000)"),
}


def make(file: Path, rows: int) -> None:
    """Six columns: numbers, texts, and a remark in quotes with commas and quotes in it."""
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        listed = ", ".join(f"'{answer}'" for answer in ANSWERS)
        connection.execute(f"""
            COPY (
                SELECT range AS id, [{listed}][1 + floor(6 * random())::INT] AS choice,
                    round(exp(10 + 2 * random()), 2) AS income,
                    'p' || floor({rows} * random() / 3)::INT AS who,
                    ['ok', 'nothing to say', 'a remark, quoted', 'the patient said "ow"',
                     'long long long long long long'][1 + floor(5 * random())::INT] AS note,
                    '2024-01-' || lpad((range % 28 + 1)::VARCHAR, 2, '0') AS day
                FROM range({rows})
            ) TO '{file}' (FORMAT csv, HEADER, FORCE_QUOTE (note))
        """)  # noqa: S608  all of it is ours


def work(name: str, title: str, file: str) -> Callable[[], object]:
    """What is timed."""
    question, group = QUESTIONS[title]
    if name == "`count`":
        return lambda: count(file, question)
    sql = f"SELECT {group} AS value, count(*) FROM read_csv('{file}') GROUP BY value"  # noqa: S608

    def query() -> object:
        with duckdb.connect() as connection:
            return connection.execute(sql).fetchall()

    return query


def measure(name: str, title: str, file: str) -> None:
    """In a process of its own: print seconds, processor seconds and bytes as JSON."""
    run, best = work(name, title, file), [float("inf"), float("inf")]
    for _ in range(REPEATS):
        clock, busy = time.perf_counter(), time.process_time()
        run()
        taken = time.perf_counter() - clock, time.process_time() - busy
        best = [min(pair) for pair in zip(best, taken, strict=True)]
    print(json.dumps([*best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3]))


def measured(name: str, title: str, file: Path) -> list[float]:
    command = [sys.executable, __file__, "--measure", name, title, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    found: list[float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Count in a big text file.")
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure)
        return
    with tempfile.TemporaryDirectory(prefix="rainbow-read-") as name:
        file = Path(name) / "big.csv"
        make(file, options.megabytes * 1_000_000 // BYTES_A_ROW)
        with file.open("rb") as plain, gzip.open(f"{file}.gz", "wb", 6) as packed:
            shutil.copyfileobj(plain, packed, 1 << 20)
        print(
            f"A CSV file of {file.stat().st_size / 1e6:.0f} MB; {platform.machine()}, "
            f"{os.cpu_count()} processors, DuckDB {duckdb.__version__}.\n"
        )
        print("| file, question | work | seconds | × | processor seconds | × | memory [MB] |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        cases = [("CSV", file, title) for title in QUESTIONS]
        cases.append(("CSV, gzip", Path(f"{file}.gz"), next(iter(QUESTIONS))))
        for kind, path, title in cases:
            names = ["DuckDB's `read_csv`", "`count`"]
            turns = [[measured(each, title, path) for each in names] for _ in range(TURNS)]
            best = [[min(x) for x in zip(*runs, strict=True)] for runs in zip(*turns, strict=True)]
            for each, (clock, busy, memory) in zip(names, best, strict=True):
                times = clock / best[0][0], busy / best[0][1]
                cells = f"{clock:.2f} | {times[0]:.2f} | {busy:.2f} | {times[1]:.2f}"
                print(f"| {kind}, {title} | {each} | {cells} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()

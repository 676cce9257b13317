"""People with many rows: what a person rule costs beside DuckDB's own window query.

The window query is what one would write by hand to keep k rows of each person; it keeps those of
the first value, which is the rule that favors an answer. Both may use as much memory and as much
of the disk, and where the window query needs more, its time is NaN; it runs anew just before each
engine, as a shared machine is not always as quick. The engines read the same Parquet file,
or a copy of it in a DuckDB file. Prints Markdown.

    python benchmarks/people.py --millions 100 --each 10 --engines Parquet "PyArrow dataset"
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import polars as pl
import pyarrow.dataset

import rainbowdp as rb
from rainbowdp.tables import count, locked

LIMIT = 5
ANSWERS = ["red", "green", "blue", "mauve"]

_TABLE = """
    COPY (SELECT cast(hash(range) % {people} AS BIGINT) * 7919 AS person,
    (['red', 'green', 'blue', 'mauve', 'other'])[cast(hash(range + 1000000007) % 5 AS INT) + 1] AS x
    FROM range({rows})) TO '{path}'
"""
_WINDOW = """
    SELECT x, count(*) FROM (SELECT x, row_number() OVER (PARTITION BY person ORDER BY x) AS place
    FROM '{path}' WHERE x IN ('red', 'green', 'blue', 'mauve')) WHERE place <= {limit} GROUP BY x
"""


def in_duckdb_file(path: Path) -> rb.SQLTable:
    file = path.with_suffix(".duckdb")
    if not file.exists():
        with duckdb.connect(file) as connection:
            connection.execute(f"CREATE TABLE t AS FROM '{path}'")
    return rb.SQLTable(str(file), "t")


ENGINES: dict[str, Callable[[Path], Any]] = {
    "Parquet": lambda path: path,
    "PyArrow dataset": pyarrow.dataset.dataset,
    "DuckDB file": in_duckdb_file,
    "Polars, lazy": pl.scan_parquet,
}


def seconds(work: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def window(path: Path, limits: Sequence[str]) -> float:
    """How long the window query takes; NaN where the limits do not suffice."""
    with duckdb.connect() as connection:
        for limit in (f"temp_directory = '{path.parent}'", *limits):
            connection.execute(f"SET {limit}")
        try:
            return seconds(connection.execute, _WINDOW.format(path=path, limit=LIMIT))
        except (duckdb.OutOfMemoryException, duckdb.IOException):
            return math.nan


def main() -> None:
    parser = argparse.ArgumentParser(description="Person rules beside DuckDB's window query.")
    parser.add_argument("--millions", type=float, default=20)
    parser.add_argument("--each", type=int, nargs="*", default=[2, 10, 100])
    parser.add_argument("--engines", nargs="*", default=["Parquet"], choices=list(ENGINES))
    parser.add_argument("--gigabytes", type=int, default=8, help="the memory of DuckDB")
    parser.add_argument("--disk", type=int, default=40, help="gigabytes for what it cannot hold")
    given = parser.parse_args()
    rows = int(given.millions * 10**6)
    limits = (
        f"memory_limit = '{given.gigabytes}GB'",
        f"max_temp_directory_size = '{given.disk}GB'",
    )
    sample = rb.Winner(ANSWERS, "x", person="person", rows_per_person=LIMIT)
    vote = rb.Winner(ANSWERS, "x", person="person", person_rule="one vote")
    print("| rows | rows a person | engine | DuckDB's window [s] | sample [s] | ratio ", end="")
    print("| one vote [s] | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    settings = (*locked._SETTINGS, *limits)
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(locked, "_SETTINGS", settings),
    ):
        for each in given.each:
            path = Path(folder) / f"{each}.parquet"
            with duckdb.connect() as connection:
                connection.execute(_TABLE.format(people=rows // each, rows=rows, path=path))
            for name in given.engines:
                table = ENGINES[name](path)
                by_hand = window(path, limits)
                taken = [seconds(count, table, question) for question in (sample, vote)]
                cells = " | ".join(f"{t:.1f} | {t / by_hand:.2f}" for t in taken)
                print(f"| {rows:,} | {each} | {name} | {by_hand:.1f} | {cells} |", flush=True)
            for file in Path(folder).glob(f"{each}.*"):
                file.unlink()


if __name__ == "__main__":
    main()

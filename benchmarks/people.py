"""People with many rows: what a person rule costs beside DuckDB's own window query.

The window query is what one would write by hand to keep k rows of each person; it keeps those of
the first value, which is the rule that favors an answer. Prints Markdown. The number of rows may be
given in millions.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

import rainbowdp as rb
from rainbowdp.tables import count

MILLIONS = 20
ROWS_EACH = (2, 10, 100)
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


def seconds(work: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def main() -> None:
    rows = int(float(sys.argv[1]) * 10**6) if len(sys.argv) > 1 else MILLIONS * 10**6
    print("| rows | rows a person | limit | DuckDB's window [s] | sample [s] | ratio ", end="")
    print("| one vote [s] | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for each in ROWS_EACH:
            path = Path(folder) / f"{each}.parquet"
            people = rows // each
            with duckdb.connect() as connection:
                connection.execute(_TABLE.format(people=people, rows=rows, path=path))
                query = _WINDOW.format(path=path, limit=LIMIT)
                by_hand = seconds(connection.execute, query)
            sample = rb.Winner(ANSWERS, "x", person="person", rows_per_person=LIMIT)
            vote = rb.Winner(ANSWERS, "x", person="person", person_rule="one vote")
            taken = [seconds(count, path, question) for question in (sample, vote)]
            cells = " | ".join(f"{t:.1f} | {t / by_hand:.2f}" for t in taken)
            print(f"| {rows:,} | {each} | {LIMIT} | {by_hand:.1f} | {cells} |", flush=True)
            path.unlink()


if __name__ == "__main__":
    main()

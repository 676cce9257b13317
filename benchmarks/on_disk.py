"""Depths and margins of a grid on disk, in bounded memory: ``python benchmarks/on_disk.py``.

A grid of side × side nodes in square regions, four answers; edges go in as a Parquet file. Reports
processor seconds and the peak memory of the process after each phase.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import duckdb

from rainbowdp.graphs.disk import graph_on_disk

PARTS = (
    "SELECT (y * {0} + x)::UINTEGER AS src, (y * {0} + x + 1)::UINTEGER AS dst "
    "FROM range({0}) AS r(y), range({0} - 1) AS c(x)",
    "SELECT (y * {0} + x)::UINTEGER, (y * {0} + x + {0})::UINTEGER "
    "FROM range({0} - 1) AS r(y), range({0}) AS c(x)",
)


def main() -> None:
    """Run the benchmark and print a line for each phase."""
    given = argparse.ArgumentParser()
    given.add_argument("--side", type=int, default=3163)
    given.add_argument("--block", type=int, default=200)
    given.add_argument("--cut", type=int, default=20)
    given.add_argument("--memory", default="500MB")
    asked = given.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "grid.parquet"
        with duckdb.connect() as connection:
            connection.execute("SET preserve_insertion_order = false")
            connection.execute(f"SET memory_limit = '{asked.memory}'")
            both = " UNION ALL ".join(PARTS).format(asked.side)
            connection.execute(f"COPY ({both}) TO '{file}'")
        clock = Clock()
        with graph_on_disk(file, memory=asked.memory, folder=folder) as graph:
            clock.says(f"{len(graph):,} nodes, {graph.edge_count:,} edges loaded")
            engine, table = graph.engine, "blocks"
            across = asked.side // asked.block + 1
            engine.run(
                f"CREATE TABLE {table} AS SELECT range::UINTEGER AS place, "  # noqa: S608  ours
                f"((range // {asked.side}) // {asked.block} * {across} "
                f"+ (range % {asked.side}) // {asked.block})::BIGINT AS value "
                f"FROM range({len(graph)})"
            )
            found = engine.depths(table)
            deepest = engine.one(f"SELECT max(level), count(*) FROM {found}")  # noqa: S608  our name
            clock.says(f"depths, at most {deepest[0]}, {deepest[1]:,} nodes")
            truth = engine.renumbered(
                table, [(n // across + n % across) % 4 for n in range(across * across)]
            )
            margins = engine.margins(truth, 4, asked.cut)
            clock.says(f"margins of 4 answers up to {asked.cut}")
            wrong = engine.wrong_margins(truth, margins, 4)
            clock.says(f"every edge checked, {wrong} wrong")


class Clock:
    """Processor seconds since the last line, and the most memory so far."""

    def __init__(self) -> None:
        self.cpu, self.wall = time.process_time(), time.perf_counter()

    def says(self, what: str) -> None:
        """Print what was done since the last line."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        cpu, wall = time.process_time(), time.perf_counter()
        print(
            f"{what}: {cpu - self.cpu:.1f} s, waited {wall - self.wall:.0f} s, {peak} MiB",
            flush=True,
        )
        self.cpu, self.wall = cpu, wall


if __name__ == "__main__":
    main()

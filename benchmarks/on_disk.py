"""Depths and margins of a grid on disk, in bounded memory: ``python benchmarks/on_disk.py``.

A grid of side × side nodes in square regions, four answers; edges go in as a Parquet file. Reports
processor seconds and the peak memory of the process after each phase.

``--roads FILE --by weights`` designs for a road graph with five sites instead, by people who live
at its nodes; ``--by lengths`` by the length of its roads. Both are invented. ``--engine memory``
does the same in memory.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np

import rainbowdp as rb
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
    given.add_argument("--roads")
    given.add_argument("--by", choices=["weights", "lengths"], default="weights")
    given.add_argument("--engine", choices=["duckdb", "memory"], default="duckdb")
    asked = given.parse_args()
    if asked.roads is not None:
        roads(asked)
        return
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


def roads(asked: argparse.Namespace) -> None:
    """Design for a road graph, from the edges to the two files, and print one line."""
    pairs = np.asarray(rb.read_graph(asked.roads).pairs).astype(np.int64)
    size, random = int(pairs.max()) + 1, np.random.default_rng(1)
    lengths, people = random.integers(20, 420, len(pairs)), random.integers(0, 200, size)
    sites = [int(place) for place in np.linspace(0, size - 1, 5)]
    by_length = asked.by == "lengths"
    promise = rb.DP("0.02") if by_length else rb.DP("0.5")
    weights = None if by_length else people
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "roads.parquet", Path(folder) / "out.json"
        with duckdb.connect() as connection:
            connection.register("given", {"u": pairs[:, 0], "v": pairs[:, 1], "length": lengths})
            connection.execute(f"COPY (FROM given) TO '{file}'")
        del pairs, lengths
        clock = Clock()
        if asked.engine == "duckdb":
            with graph_on_disk(
                file,
                columns=["u", "v"],
                weight="length",
                lengths=by_length,
                unit=10,
                memory=asked.memory,
                folder=folder,
            ) as held:
                made = rb.deploy_on_disk(held.nearest_sites(sites), promise, weights=weights)
                made.save(out)
                value = made.value
        else:
            edges = rb.read_graph(file, columns=["u", "v"], weight="length")
            edges = rb.with_lengths(edges, by_length, unit=10)
            near = rb.nearest_sites(edges, sites)
            graph = rb.RainbowGraph(edges, near.rainbows, near.names, labels=near.labels)
            deployed = rb.deploy(graph, promise, "best", weights=weights)
            deployed.save(out)
            assert deployed.choice is not None
            value = deployed.choice.value
        clock.says(f"{asked.engine}, by {asked.by}, {size:,} nodes, worth {value:.6f}")


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

"""Depth on Spark at three sizes, beside the engine in memory on the same files, in one run.

Grids cut into square regions, so that every size has the same few levels. Prints Markdown: what a
run, a level and an edge cost, and the size from which Spark pays, extrapolated from the slopes.
The words of docs/how-to/spark.md come from here. Parts are given in processor seconds, since the
machines are shared and what one waits for depends on the neighbors.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray
from pyspark.sql import SparkSession

import rainbowdp as rb
from rainbowdp import spark

EDGES = (10_000, 100_000, 1_000_000)
BLOCK = 12  # side of a region; depths to 11, at the corners of the grid
ORDER = ("a", "b")
MACHINE = 24 * 2**30  # bytes that an in-memory run may have, for the extrapolation


@dataclass(frozen=True)
class Cost:
    """Processor seconds on Spark, by part, and in memory; what one waited; the peak in memory."""

    edges: int
    prepare: float
    levels: list[float]
    finish: float
    waited: float
    memory: float
    peak: int

    @property
    def level(self) -> float:
        """What a level costs, the cuts shared out."""
        return float(np.mean(self.levels))

    @property
    def total(self) -> float:
        """The whole run on Spark."""
        return self.prepare + sum(self.levels) + self.finish


def write_grid(edges: int, folder: Path) -> int:
    """A square grid of about so many edges, with shuffled ids, as two Parquet files."""
    side = round((edges / 2) ** 0.5)
    places = np.arange(side * side)
    names = np.random.default_rng(0).permutation(side * side)
    labels = places // side // BLOCK * side + places % side // BLOCK
    cells = names.reshape(side, side)
    across = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
    down = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)
    pairs = np.concatenate([across, down])
    write(folder / "nodes.parquet", id=names, label=labels)
    write(folder / "edges.parquet", src=pairs[:, 0], dst=pairs[:, 1])
    return len(pairs)


def write(path: Path, **columns: NDArray[np.int64]) -> None:
    pa.parquet.write_table(pa.table(columns), path)


def processor(session: SparkSession) -> float:
    """The processor seconds that Spark's process has used so far."""
    handle = session.sparkContext._jvm.java.lang.ProcessHandle.current()  # type: ignore[union-attr]
    return float(handle.info().totalCpuDuration().get().toMillis()) / 1000


def on_spark(session: SparkSession, folder: Path) -> list[float]:
    """The processor's clock before, after each level, and when the result is written."""
    clock = [processor(session)]
    nodes = session.read.parquet(str(folder / "nodes.parquet"))
    edges = session.read.parquet(str(folder / "edges.parquet"))
    found = spark.depths(
        nodes, edges, progress=lambda level, size: clock.append(processor(session))
    )
    found.nodes.write.mode("overwrite").parquet(str(folder / "out"))
    return [*clock, processor(session)]


def in_memory(folder: Path) -> rb.RainbowGraph:
    nodes = pa.parquet.read_table(folder / "nodes.parquet")
    edges = pa.parquet.read_table(folder / "edges.parquet")
    labels = np.empty(len(nodes), dtype=np.int64)
    labels[nodes["id"].to_numpy()] = nodes["label"].to_numpy()
    pairs = np.stack([edges["src"].to_numpy(), edges["dst"].to_numpy()], axis=1)
    graph = rb.RainbowGraph(pairs, dict.fromkeys(np.unique(labels).tolist(), ORDER), labels=labels)
    graph.depths.max()
    return graph


def measure(session: SparkSession, edges: int) -> Cost:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = write_grid(edges, folder)
        begun = time.perf_counter()
        clock = on_spark(session, folder)
        waited = time.perf_counter() - begun
        begun = time.process_time()
        graph = in_memory(folder)
        memory = time.process_time() - begun
        tracemalloc.start()
        in_memory(folder)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        out = pa.parquet.read_table(folder / "out").to_pydict()
        assert (graph.depths[out["id"]] == out["depth"]).all()
    prepare, *levels, finish = np.diff(clock).tolist()
    return Cost(count, prepare, levels, finish, waited, memory, peak)


def main() -> None:
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    measure(session, EDGES[0])  # the first run is Java's to warm up
    costs = [measure(session, edges) for edges in EDGES]
    session.stop()

    print(
        f"{os.cpu_count()} cores, {platform.machine()}, load {os.getloadavg()[1]:.0f}; local[2], "
        "4 partitions; processor seconds, except for those waited\n"
    )
    print(
        "| edges | levels | waited | Spark | to the boundary | a level | "
        "a level, a million edges | in memory | Spark ÷ memory |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for cost in costs:
        print(
            f"| {cost.edges:,} | {len(cost.levels)} | {cost.waited:.1f} | {cost.total:.1f} | "
            f"{cost.prepare:.1f} | {cost.level:.2f} | {cost.level / cost.edges * 1e6:.2f} | "
            f"{cost.memory:.2f} | {cost.total / cost.memory:.0f}× |"
        )
    small, large = costs[1:]  # Java is warm by then, so that their difference is the edges'
    more = (large.edges - small.edges) / 1e6
    level = (large.level - small.level) / more
    around = (large.prepare + large.finish - small.prepare - small.finish) / more
    memory = (large.memory - small.memory) / more
    alone = small.level - level * small.edges / 1e6
    ratio = (around + level * len(large.levels)) / memory
    print(
        f"\nA million edges more cost {around:.1f} processor seconds around the levels and "
        f"{level:.2f} in each, which has {alone:.2f} of its own; in memory {memory:.2f} for "
        f"everything, at a peak of {large.peak / large.edges:.0f} bytes an edge."
    )
    print(
        f"\nExtrapolated: {MACHINE / 2**30:.0f} GiB hold "
        f"{MACHINE * large.edges / large.peak / 1e6:,.0f} million edges in memory. Up to there "
        f"Spark needs {ratio:.0f} cores to be as fast as one in memory."
    )


if __name__ == "__main__":
    main()

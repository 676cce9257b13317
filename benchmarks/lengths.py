"""Depth and margins by length on road-like graphs: ours beside SciPy, igraph and rustworkx.

Prints a Markdown table; that in docs/how-to/per-meter.md comes from here. The graphs are stand-ins:
grids with three in ten edges missing, nodes numbered at random within blocks as road files are, and
lengths drawn at random. A peer's graph, with a source joined to the boundary by the steps to the
middle of each border edge, is made before its clock starts; ours finds the boundary inside the
clock. Processor time of one thread for each, the best of several runs; every answer is compared.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.graphs.engines import measured_compiled as ours
from rainbowdp.graphs.engines.measured_plain import halves

Integers = NDArray[Any]
World: TypeAlias = Any  # offsets, targets, lengths, region
LEAST = 5.0  # times as fast as SciPy's dijkstra


def road_like(side: int, longest: int, sites: int, seed: int = 0) -> World:
    """Offsets, targets, lengths and regions of a stand-in for a road graph."""
    from scipy.spatial import KDTree

    rng = np.random.default_rng(seed)
    number = np.arange(side * side, dtype=np.uint32).reshape(side, side)
    beside = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in beside])
    pairs = pairs[rng.random(len(pairs)) < 0.7]
    steps = rng.integers(1, longest, len(pairs)).astype(np.uint32)
    place = np.stack(np.divmod(np.arange(side * side), side), axis=1)
    region = KDTree(rng.random((sites, 2)) * side).query(place)[1].astype(np.uint16)
    return (*ours.compress(pairs, steps, side * side), region)


def with_source(
    offsets: Integers, targets: Integers, lengths: Integers, region: Integers
) -> tuple[Integers, Integers, Integers]:
    """Rows with one node more, from which the boundary is as far as a border's middle."""
    size = len(region)
    counts: Integers = np.diff(offsets.astype(np.int64))
    origin = np.repeat(np.arange(size), counts)
    border = np.flatnonzero(region[origin] != region[targets])
    first, second = origin[border], targets[border]
    seed = np.full(size, np.iinfo(np.int64).max)
    np.minimum.at(seed, first, halves(lengths[border], region[first], region[second]))
    heads = np.flatnonzero(seed < np.iinfo(np.int64).max)
    return (
        np.append(offsets.astype(np.int64), len(targets) + len(heads)),
        np.concatenate([targets.astype(np.int64), heads]),
        np.concatenate([lengths.astype(np.int64), seed[heads]]),
    )


def scipy_search(world: World) -> Callable[[], Integers]:
    from scipy import sparse
    from scipy.sparse import csgraph

    offsets, targets, lengths = with_source(*world)
    size = len(offsets) - 1
    matrix = sparse.csr_matrix((lengths.astype(float), targets, offsets), (size, size))
    return lambda: csgraph.dijkstra(matrix, indices=[size - 1])[0, :-1]


def igraph_search(world: World) -> Callable[[], Integers]:
    import igraph

    offsets, targets, lengths = with_source(*world)
    size = len(offsets) - 1
    origin = np.repeat(np.arange(size), np.diff(offsets))
    graph = igraph.Graph(n=size, edges=np.stack([origin, targets], axis=1), directed=True)
    weights = lengths.astype(float).tolist()
    return lambda: np.array(graph.distances(source=[size - 1], weights=weights)[0][:-1])


def rustworkx_search(world: World) -> Callable[[], Integers]:
    import rustworkx

    offsets, targets, lengths = with_source(*world)
    size = len(offsets) - 1
    origin = np.repeat(np.arange(size), np.diff(offsets))
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(range(size))
    edges = zip(origin.tolist(), targets.tolist(), lengths.astype(float).tolist(), strict=True)
    graph.add_edges_from(list(edges))

    def work() -> Integers:
        found = rustworkx.dijkstra_shortest_path_lengths(graph, size - 1, float)
        steps = np.full(size - 1, np.inf)
        for node, distance in found.items():
            steps[node] = distance
        return steps

    return work


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """The least processor time."""
    found = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return min(found)


def main() -> int:
    print("| graph | ours | SciPy | igraph | rustworkx | SciPy/ours | 20 margins |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    slow = []
    for side, longest in ((500, 30), (1000, 30), (1000, 3000), (1200, 200)):
        world: Any = road_like(side, longest, 40)
        engine: Any = ours
        depth = engine.depths(*world, 40)
        took = seconds(partial(engine.depths, *world, 40, threads=1), 7)
        peers = []
        for make in (scipy_search, igraph_search, rustworkx_search):
            if make is not scipy_search and side > 500:  # their graphs take minutes to make
                peers.append(math.nan)
                continue
            search = make(world)
            found = search()
            assert (np.where(np.isinf(found), -1, found) == depth).all()
            peers.append(seconds(search, 3 if make is scipy_search else 1))
        truth = (world[3] % 20).astype(np.uint8)
        margins = partial(engine.margins, *world, truth, 20, 4000, threads=1)
        margins()
        both = seconds(margins, 1)
        shown = " | ".join("–" if math.isnan(each) else f"{each:.2f} s" for each in peers)
        ratio = peers[0] / took
        print(
            f"| {side * side:,} nodes, lengths to {longest:,} | {took:.3f} s | {shown} | "
            f"{ratio:.1f} | {both:.2f} s |",
            flush=True,
        )
        if ratio < LEAST and side >= 1000:
            slow.append(ratio)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())

"""Boundary and depth of large graphs: ours, plain C and seven libraries on the same arrays.

Prints Markdown tables; those in docs/benchmarks.md come from here. ``python benchmarks/depth.py``
measures everything; ``python benchmarks/depth.py grid road`` only these graphs. Each peer runs in
a process of its own with a time limit. Its graph, and a source joined to the boundary where it
needs one, are made before its clock starts, and its answer is compared with ours.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.graphs.engines import compiled, plain

Integers = NDArray[Any]
Search = Callable[[], Integers]

PATIENCE = 90.0  # seconds that a peer is given for one graph, making it included
REPEATS = 10


# --- graphs ------------------------------------------------------------------------------------


class World:
    """Compressed rows and a region for each node, kept as files so that peers see the same."""

    def __init__(self, offsets: Integers, targets: Integers, region: Integers) -> None:
        self.offsets, self.targets, self.region = offsets, targets, region.astype(np.uint16)
        self.regions = int(region.max()) + 1

    @property
    def bytes(self) -> int:
        """What the arrays take."""
        return self.offsets.nbytes + self.targets.nbytes + self.region.nbytes

    def save(self, folder: Path) -> None:
        """One file for each array."""
        for name in ("offsets", "targets", "region"):
            np.save(folder / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, folder: Path) -> World:
        """What was saved, in memory."""
        return cls(*(np.load(folder / f"{name}.npy") for name in ("offsets", "targets", "region")))


def grid_pairs(side: int) -> NDArray[np.uint32]:
    number = np.arange(side * side, dtype=np.uint32).reshape(side, side)
    beside = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    return np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in beside])


def nearest_site(side: int, sites: int, rng: np.random.Generator) -> Integers:
    from scipy.spatial import KDTree

    places = np.stack(np.divmod(np.arange(side * side), side), axis=1)
    return np.asarray(KDTree(rng.random((sites, 2)) * side).query(places)[1])


def grid(side: int = 3000, sites: int = 500) -> World:
    region = nearest_site(side, sites, np.random.default_rng(0))
    return World(*compiled.compress(grid_pairs(side), side * side), region)


def road(side: int = 1415, sites: int = 500) -> World:
    """A grid with three in ten edges missing and its nodes numbered at random."""
    rng = np.random.default_rng(1)
    pairs, region = grid_pairs(side), nearest_site(side, sites, rng)
    name = rng.permutation(side * side).astype(np.uint32)
    named = np.empty_like(region)
    named[name] = region
    return World(*compiled.compress(name[pairs[rng.random(len(pairs)) < 0.7]], side * side), named)


def cube(dimension: int = 20, sites: int = 5) -> World:
    rng = np.random.default_rng(2)
    corner = np.arange(1 << dimension, dtype=np.uint32)
    beside = [np.stack([corner, corner ^ np.uint32(1 << b)], axis=1) for b in range(dimension)]
    site = rng.integers(0, len(corner), sites, dtype=np.uint32)
    region = np.bitwise_count(corner[:, None] ^ site).argmin(axis=1)
    return World(*compiled.compress(np.concatenate(beside), len(corner)), region)


WORLDS: dict[str, tuple[str, Callable[[], World], float]] = {
    "grid": ("grid of 3000 × 3000, 500 regions", grid, 10),
    "road": ("road-like, 2 million nodes, random ids", road, 5),
    "cube": ("hypercube of 20 dimensions, 5 regions", cube, 5),
}


# --- peers: make what is needed, return the work that is timed -----------------------------------


def boundary(world: World) -> Integers:
    """The boundary by NumPy, as every peer needs it."""
    own = np.repeat(world.region, np.diff(world.offsets))
    elsewhere = np.concatenate([[0], np.cumsum(own != world.region[world.targets])])
    return np.flatnonzero(np.diff(elsewhere[world.offsets]))


def with_source(world: World) -> tuple[Integers, Integers]:
    """Compressed rows with one node more, joined to the boundary in one direction."""
    heads = boundary(world)
    offsets = np.append(world.offsets, len(world.targets) + len(heads)).astype(np.int64)
    return offsets, np.concatenate([world.targets, heads]).astype(np.int32)


def layers(order: Integers, starts: Integers, size: int) -> Integers:
    """Depth from a list of nodes level by level; level 0 is the source alone."""
    depth = np.full(size + 1, -1)
    depth[order] = np.repeat(np.arange(len(starts) - 1), np.diff(starts)) - 1
    return depth[:size]


def scipy_search(world: World) -> Search:
    from scipy import sparse
    from scipy.sparse import csgraph

    offsets, targets = with_source(world)
    size = len(world.region)
    ones = np.ones(len(targets), dtype=np.float64)
    matrix = sparse.csr_matrix((ones, targets, offsets), (size + 1, size + 1))

    def work() -> Integers:
        boundary(world)
        order, before = csgraph.breadth_first_order(matrix, size, directed=True)
        place = np.empty(size + 1, dtype=np.int64)
        place[order] = np.arange(len(order))
        parent = place[before[order[1:]]]  # never falls along the order: levels are stretches
        starts = [0, 1]
        while starts[-1] < len(order):
            starts.append(1 + int(np.searchsorted(parent, starts[-1])))
        return layers(order, np.array(starts), size)

    return work


def networkit_search(world: World) -> Search:
    import networkit as nk
    from scipy import sparse

    offsets, targets = with_source(world)
    size = len(world.region)
    origin = np.repeat(np.arange(size + 1), np.diff(offsets))
    ones = np.ones(len(targets))
    graph = nk.GraphFromCoo(
        sparse.coo_matrix((ones, (origin, targets)), (size + 1, size + 1)),
        n=size + 1,
        directed=True,
    )

    def work() -> Integers:
        boundary(world)
        found = nk.distance.BFS(graph, size, storePaths=False).run().getDistances(asarray=True)
        depth = np.asarray(found)[:size] - 1
        return np.where(depth > size, -1, depth)

    return work


def rustworkx_search(world: World) -> Search:
    import rustworkx as rx

    graph = rx.PyGraph(multigraph=False)
    size = len(world.region)
    graph.add_nodes_from([None] * size)
    origin = plain.sources(world.offsets)
    once = origin < world.targets
    graph.extend_from_edge_list(
        list(zip(origin[once].tolist(), world.targets[once].tolist(), strict=True))
    )

    def work() -> Integers:
        found = rx.graph_bfs_layers(graph, boundary(world).tolist())
        depth = np.full(size, -1)
        for level, nodes in enumerate(found):
            depth[np.fromiter(nodes, dtype=np.int64)] = level
        return depth

    return work


def igraph_search(world: World) -> Search:
    import igraph

    offsets, targets = with_source(world)
    size = len(world.region)
    origin = np.repeat(np.arange(size + 1), np.diff(offsets))
    graph = igraph.Graph(size + 1, np.stack([origin, targets], axis=1), directed=True)

    def work() -> Integers:
        boundary(world)
        order, starts, _ = graph.bfs(size, mode="out")
        return layers(np.array(order), np.array(starts), size)

    return work


def graphblas_search(world: World) -> Search:
    import graphblas as gb

    size = len(world.region)
    matrix = gb.Matrix.from_csr(
        world.offsets.astype(np.uint64), world.targets.astype(np.uint64), True, ncols=size
    )

    def work() -> Integers:
        heads = boundary(world)
        found = gb.Vector.from_coo(heads, 0, dtype=gb.dtypes.INT32, size=size)
        front = gb.Vector.from_coo(heads, True, size=size)
        level = 0
        while front.nvals:
            level += 1
            front(~found.S, replace=True) << gb.semiring.any_pair(front @ matrix)
            found(front.S) << level
        return np.asarray(found.to_dense(fill_value=-1))

    return work


def duckdb_search(world: World) -> Search:
    import duckdb
    import pyarrow as pa

    base = duckdb.connect()
    edges = pa.table({"a": plain.sources(world.offsets).astype(np.uint32), "b": world.targets})
    nodes = pa.table({"id": np.arange(len(world.region), dtype=np.uint32), "r": world.region})
    base.register("given_edges", edges)
    base.register("given_nodes", nodes)
    base.execute("CREATE TABLE edge AS FROM given_edges")
    base.execute("CREATE TABLE node AS FROM given_nodes")

    def work() -> Integers:
        base.execute(
            "CREATE OR REPLACE TABLE depth AS SELECT DISTINCT a AS id, 0 AS d FROM edge "
            "JOIN node x ON x.id = a JOIN node y ON y.id = b WHERE x.r <> y.r"
        )
        level, more = 0, 1
        while more:
            more = base.execute(
                "INSERT INTO depth SELECT DISTINCT b, ?::INT FROM edge SEMI JOIN "
                "(SELECT id FROM depth WHERE d = ?) f ON f.id = a ANTI JOIN depth s ON s.id = b",
                [level + 1, level],
            ).fetchall()[0][0]
            level += 1
        found = base.execute("SELECT id, d FROM depth").fetchnumpy()
        depth = np.full(len(world.region), -1)
        depth[found["id"]] = found["d"]
        return depth

    return work


def polars_search(world: World) -> Search:
    import polars as pl

    edges = pl.DataFrame({"a": plain.sources(world.offsets).astype(np.uint32), "b": world.targets})

    def work() -> Integers:
        depth = np.full(len(world.region), -1)
        heads = boundary(world)
        depth[heads] = 0
        front = pl.DataFrame({"a": heads.astype(np.uint32)})
        left, level = edges.filter(pl.col("a") != pl.col("b")), 0
        while len(front):
            level += 1
            reached = left.join(front, on="a", how="semi").get_column("b").unique().to_numpy()
            reached = reached[depth[reached] < 0]
            depth[reached] = level
            front = pl.DataFrame({"a": reached})
        return depth

    return work


PEERS: dict[str, tuple[str, Callable[[World], Search]]] = {
    "SciPy": ("scipy", scipy_search),
    "networkit": ("networkit", networkit_search),
    "rustworkx": ("rustworkx", rustworkx_search),
    "igraph": ("igraph", igraph_search),
    "python-graphblas": ("python-graphblas", graphblas_search),
    "DuckDB": ("duckdb", duckdb_search),
    "Polars": ("polars", polars_search),
}


def run_peer(name: str, folder: Path) -> None:
    """In a process of its own: print the best time, and leave the depths beside the graph."""
    work = PEERS[name][1](World.load(folder))
    times: list[float] = []
    while len(times) < REPEATS and sum(times) < 20:
        start = time.perf_counter()
        depth = work()
        times.append(time.perf_counter() - start)
    right = bool((depth == np.load(folder / "depth.npy")).all())
    print(json.dumps({"seconds": min(times), "right": right}))


def ask_peer(name: str, folder: Path) -> tuple[float | None, str]:
    """The seconds of a peer, or the reason why there are none."""
    try:
        version(PEERS[name][0])
    except PackageNotFoundError:
        return None, "not installed: pip install -e '.[bench]'"
    command = [sys.executable, __file__, "peer", name, str(folder)]
    try:
        run = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=PATIENCE, check=True
        )
    except subprocess.TimeoutExpired:
        return None, f"not done in {PATIENCE:.0f} s, making its graph included"
    except subprocess.CalledProcessError as error:
        return None, f"failed: {(error.stderr.strip().splitlines() or [error])[-1]}"
    found = json.loads(run.stdout.splitlines()[-1])
    return (found["seconds"], "") if found["right"] else (None, "WRONG ANSWER")


# --- plain C, and ours ------------------------------------------------------------------------


def plain_c(folder: Path) -> Any:
    library = folder / "depth.so"
    source = Path(__file__).with_name("depth.c")
    command = ["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True)  # noqa: S603
    return ctypes.CDLL(str(library))


def c_search(library: Any, world: World) -> Search:
    dense = len(world.targets) >= compiled.DENSE * len(world.region)
    function = library.depth_by_levels if dense else library.depth_by_regions
    arrays = [a.ctypes.data_as(ctypes.c_void_p) for a in (world.offsets, world.targets)]
    region = world.region.ctypes.data_as(ctypes.c_void_p)

    def work() -> Integers:
        steps = np.empty(len(world.region), dtype=np.uint32)
        counts = [ctypes.c_uint64(n) for n in (len(world.region), world.regions)]
        function(*arrays, region, steps.ctypes.data_as(ctypes.c_void_p), *counts)
        return steps.view(np.int32)

    return work


def ours(world: World, threads: int | None) -> Search:
    return lambda: compiled.depths(
        world.offsets, world.targets, world.region, world.regions, threads=threads
    )


def interleaved(
    works: dict[str, Search], clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """The best time of each; other people's load only ever adds."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(REPEATS):
        for name, work in works.items():
            start = clock()
            work()
            best[name] = min(best[name], clock() - start)
    return best


def compare(names: list[str]) -> None:
    for name in names:
        title, make, target = WORLDS[name]
        world = make()
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            world.save(folder)
            works = {
                "rainbowdp": ours(world, None),
                "rainbowdp, 1 thread": ours(world, 1),
                "plain C, 1 thread": c_search(plain_c(folder), world),
            }
            depth = works["rainbowdp"]()
            np.save(folder / "depth.npy", depth)
            assert all((work() == depth).all() for work in works.values())
            best = interleaved(works)
            single = [label for label in works if label.endswith("1 thread")]
            mine, other = interleaved({k: works[k] for k in single}, time.thread_time).values()
            print(
                f"**{title}**: {len(world.region):,} nodes, {len(world.targets):,} directed edges, "
                f"deepest {depth.max()}\n\n| | seconds | × ours |\n| --- | --- | --- |"
            )
            whole = best["rainbowdp"]
            for label, seconds in best.items():
                print(f"| {label} | {seconds:.3f} | {seconds / whole:.2f} |", flush=True)
            rivals = {}
            for peer in PEERS:
                found, reason = ask_peer(peer, folder)
                if found is None:
                    print(f"| {peer} | – | {reason} |", flush=True)
                else:
                    rivals[peer] = found
                    print(f"| {peer} | {found:.2f} | {found / whole:.1f} |", flush=True)
        fastest = min(rivals, key=lambda peer: rivals[peer]) if rivals else None
        if fastest is not None:
            gain = rivals[fastest] / best["rainbowdp"]
            alone = rivals[fastest] / best["rainbowdp, 1 thread"]
            print(
                f"\nFastest peer {fastest}: {gain:.1f} × our time (target {target:g}), "
                f"{alone:.1f} × with one thread; one thread takes {mine / other:.2f} × the "
                "processor time of plain C (target 1.2).\n",
                flush=True,
            )


# --- memory and growth ------------------------------------------------------------------------


def resident(field: str) -> int:
    """Bytes of this process by /proc: VmRSS now, VmHWM at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) << 10
    raise OSError(f"no {field} in /proc/self/status")


def run_memory(folder: Path) -> None:
    """In a process of its own: the peak above an interpreter whose kernels are loaded."""
    small = World(*compiled.compress(grid_pairs(9), 81), np.arange(81) // 27)
    for by in ("regions", "levels"):
        compiled.depths(small.offsets, small.targets, small.region, 3, by=by)
    before = resident("VmRSS")
    world = World.load(folder)
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    compiled.depths(world.offsets, world.targets, world.region, world.regions)
    print(json.dumps({"peak": resident("VmHWM") - before, "interpreter": before}))


def memory(names: list[str]) -> None:
    print("| graph | rows and labels [MB] | peak [MB] | ratio | interpreter, not counted [MB] |")
    print("| --- | --- | --- | --- | --- |")
    for name in names:
        world = WORLDS[name][1]()
        with tempfile.TemporaryDirectory() as scratch:
            world.save(Path(scratch))
            command = [sys.executable, __file__, "memory", scratch]
            run = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
        found = json.loads(run.stdout)
        print(
            f"| {WORLDS[name][0]} | {world.bytes / 1e6:.0f} | {found['peak'] / 1e6:.0f} | "
            f"{found['peak'] / world.bytes:.2f} | {found['interpreter'] / 1e6:.0f} |",
            flush=True,
        )
    print()


def growth() -> None:
    print(
        "| directed edges | compress [s] | boundary and depth [s] | ns for each edge | "
        "processor ns for each edge, 1 thread |\n| --- | --- | --- | --- | --- |"
    )
    compiled.compress(grid_pairs(9), 81)  # loads the kernels
    for side in (500, 1000, 2000, 4000):
        pairs = grid_pairs(side)
        start = time.perf_counter()
        rows = compiled.compress(pairs, side * side)
        built = time.perf_counter() - start
        region = nearest_site(side, side * side // 18_000, np.random.default_rng(0))
        world = World(*rows, region)
        seconds = interleaved({"ours": ours(world, None)})["ours"]
        busy = interleaved({"ours": ours(world, 1)}, time.thread_time)["ours"]
        wall, processor = (1e9 * spent / len(world.targets) for spent in (seconds, busy))
        print(
            f"| {len(world.targets):,} | {built:.2f} | {seconds:.3f} | {wall:.1f} | "
            f"{processor:.1f} |",
            flush=True,
        )
    print()


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["peer"]:
        run_peer(arguments[1], Path(arguments[2]))
    elif arguments[:1] == ["memory"]:
        run_memory(Path(arguments[1]))
    else:
        names = arguments or list(WORLDS)
        load = os.getloadavg()[0]
        print(f"{os.cpu_count()} cores, {platform.machine()}, load {load:.1f} at the start\n")
        compare(names)
        memory(names)
        growth()


if __name__ == "__main__":
    main(sys.argv[1:])

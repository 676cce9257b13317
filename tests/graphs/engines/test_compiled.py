from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

import rainbowdp as rb
from rainbowdp.graphs import engines
from rainbowdp.graphs.engines import compiled, kernels, plain
from rainbowdp.graphs.margins import margins
from reference import brute_boundary, brute_depth, compressed
from strategies import RoughGraph, rough_graphs

Integers = NDArray[Any]
MANNERS: list[tuple[Literal["regions", "levels"] | None, float]] = [
    (None, compiled.SWITCH),
    ("regions", compiled.SWITCH),
    ("levels", compiled.SWITCH),
    ("levels", 0.0),  # top down only
    ("levels", math.inf),  # bottom up only
    ("levels", 0.5),
]


def scipy_steps(offsets: Integers, targets: Integers, start: NDArray[np.bool_]) -> Integers:
    """Multi-source distances by SciPy, −1 where there is no way."""
    if not start.any():
        return np.full(len(start), -1)
    shape = (len(start), len(start))
    ones = np.ones(len(targets), dtype=np.int8)
    matrix = sparse.csr_matrix((ones, targets.astype(np.int64), offsets.astype(np.int64)), shape)
    found = csgraph.dijkstra(matrix, unweighted=True, indices=np.flatnonzero(start), min_only=True)
    return np.where(np.isinf(found), -1, found)


@pytest.mark.slow
@settings(max_examples=50)
@given(rough_graphs(), st.sampled_from([np.uint32, np.int64, np.int32, np.uint16]))
def test_edges_are_compressed_as_networkx_lists_them(
    world: RoughGraph, kind: type[np.integer[Any]]
) -> None:
    offsets, targets = compressed(world.networkx())
    size, pairs = len(world.region), world.pairs.astype(kind)
    ours = compiled.compress(pairs, size)
    for found in (
        ours,
        compiled.compress(world.pairs, size, wide=True),
        plain.compress(pairs, size),
    ):
        assert found[0].tolist() == offsets.tolist()
        assert found[1].tolist() == targets.tolist()
        assert found[0].dtype.kind == found[1].dtype.kind == "u"
    assert ours[0].itemsize == ours[1].itemsize == 4


@pytest.mark.slow
def test_long_rows_are_sorted_too() -> None:
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 300, (40_000, 2))
    found, expected = compiled.compress(np.asfortranarray(pairs), 300), plain.compress(pairs, 300)
    assert np.diff(expected[0]).max() > kernels.SHORT
    assert (found[0] == expected[0]).all()
    assert (found[1] == expected[1]).all()


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(rough_graphs(), st.booleans(), st.sampled_from(MANNERS), st.sampled_from([1, 2]))
def test_boundary_and_depth_are_those_of_everyone(
    world: RoughGraph, wide: bool, manner: Any, threads: int
) -> None:
    graph, region = world.networkx(), world.region
    offsets, targets = compiled.compress(world.pairs, len(region), wide=wide)
    on_boundary = compiled.boundary(offsets, targets, region, threads=threads)
    assert on_boundary.tolist() == brute_boundary(graph, region)
    by, switch = manner
    depth = compiled.depths(
        offsets, targets, region, world.regions, threads=threads, by=by, switch=switch
    )
    assert depth.dtype == np.int32
    assert depth.tolist() == brute_depth(graph, region)
    assert depth.tolist() == plain.depths(offsets, targets, region, world.regions).tolist()
    assert depth.tolist() == scipy_steps(offsets, targets, on_boundary).tolist()


@pytest.mark.slow
@given(rough_graphs(), st.integers(1, 50), st.booleans(), st.sampled_from([1, 2]))
def test_margins_are_cut_distances(world: RoughGraph, cut: int, wide: bool, threads: int) -> None:
    size, truth, answers = len(world.region), world.region, world.regions + 1
    offsets, targets = compiled.compress(world.pairs, size, wide=wide)
    found = compiled.margins(offsets, targets, truth, answers, cut, threads=threads)
    assert found.dtype == np.uint8
    assert (found == plain.margins(offsets, targets, truth, answers, cut)).all()
    for answer in range(answers):
        steps = scipy_steps(offsets, targets, truth == answer)
        assert found[answer].tolist() == [255 if s < 0 else min(s, cut) for s in steps]
        assert compiled.distances(offsets, targets, truth == answer).tolist() == steps.tolist()


@pytest.mark.slow
@given(rough_graphs(), st.booleans())
def test_extents_pairs_and_classes_agree(world: RoughGraph, wide: bool) -> None:
    region, regions = world.region, world.regions
    offsets, targets = compiled.compress(world.pairs, len(region), wide=wide)
    depth = plain.depths(offsets, targets, region, regions)
    members = [depth[region == number].tolist() for number in range(regions)]
    for engine in (plain, compiled):
        sizes, deepest, endless = engine.extents(region, depth, regions)
        assert sizes.tolist() == [len(m) for m in members]
        assert deepest.tolist() == [max(m, default=-1) for m in members]
        assert endless.tolist() == [m.count(-1) for m in members]
        pairs = engine.touching(offsets, targets, region, regions)
        ends = {tuple(sorted((int(region[a]), int(region[b])))) for a, b in world.networkx().edges}
        assert list(map(tuple, pairs.tolist())) == sorted(p for p in ends if p[0] != p[1])
        classes, first = engine.refine(region, depth.view(np.uint32))
        keys = list(zip(region.tolist(), depth.tolist(), strict=True))
        seen = list(dict.fromkeys(keys))
        assert classes.tolist() == [seen.index(key) for key in keys]
        assert first.tolist() == [keys.index(key) for key in seen]


@pytest.mark.slow
def test_many_pairs_and_classes_outgrow_the_first_table() -> None:
    rng = np.random.default_rng(2)
    region = np.arange(3000, dtype=np.uint16)
    offsets, targets = compiled.compress(rng.integers(0, 3000, (20_000, 2)), 3000)
    found = compiled.touching(offsets, targets, region, 3000)
    assert found.tolist() == plain.touching(offsets, targets, region, 3000).tolist()
    values = rng.integers(0, 50, 3000).astype(np.uint8)
    for ours, theirs in zip(
        compiled.refine(region % 100, values), plain.refine(region % 100, values), strict=True
    ):
        assert ours.tolist() == theirs.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("by", "switch"), MANNERS)
@pytest.mark.parametrize("kind", ["grid", "cube"])
def test_depth_in_many_pieces(kind: str, by: Any, switch: float, threads: int) -> None:
    rng = np.random.default_rng(0)
    if kind == "grid":
        number = np.arange(250 * 250).reshape(250, 250)
        beside = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
        pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in beside])
        places = np.stack(np.divmod(number.ravel(), 250), axis=1)
        sites = places[rng.integers(0, len(places), 40)]
        region = np.abs(places[:, None] - sites).sum(axis=2).argmin(axis=1)
    else:
        corner = np.arange(1 << 14)
        pairs = np.concatenate([np.stack([corner, corner ^ (1 << b)], axis=1) for b in range(14)])
        region = (np.bitwise_count(corner) > 4).astype(np.int64)
    _, region = np.unique(region, return_inverse=True)
    offsets, targets = compiled.compress(pairs, len(region))
    region = region.astype(np.uint8)
    depth = compiled.depths(
        offsets, targets, region, int(region.max()) + 1, by=by, switch=switch, threads=threads
    )
    assert (depth == scipy_steps(offsets, targets, depth == 0)).all()
    assert ((depth == 0) == plain.boundary(offsets, targets, region)).all()


def test_all_regions_end_up_in_some_piece() -> None:
    for sizes in ([1], [0, 5], [10**6, 1, 1, 1], [1] * 1000, [0, 0, 7, 0]):
        pieces = compiled._split_evenly(np.array(sizes))
        assert [n for a, b in pieces for n in range(a, b)] == list(range(len(sizes)))
    for size in (0, 1, 5000, 100_001):
        pieces = compiled._split(size)
        assert (pieces[0][0], pieces[-1][1]) == (0, size)
        assert all(b == c for (_, b), (c, _) in pairwise(pieces))


def test_only_large_graphs_load_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    assert engines.engine(engines.LARGE - 1) is plain
    assert engines.engine(engines.LARGE) is compiled
    engines._compiled.cache_clear()
    monkeypatch.setitem(sys.modules, "rainbowdp.graphs.engines.compiled", None)
    monkeypatch.delattr(engines, "compiled")
    assert engines.engine(engines.LARGE) is plain
    engines._compiled.cache_clear()


@given(rough_graphs(), st.integers(2, 4))
@pytest.mark.slow
def test_a_rainbow_graph_is_the_same_from_either_engine(world: RoughGraph, answers: int) -> None:
    orders = [tuple(np.roll(np.arange(answers), -n).tolist()) for n in range(world.regions)]
    graph = rb.RainbowGraph(world.pairs, orders, labels=world.region)
    best, near = rb.optimal(graph, rb.DP(1)), margins(graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "LARGE", 0)
        other = rb.RainbowGraph(world.pairs, orders, labels=world.region)
        assert dict(other.depth) == dict(graph.depth)
        assert other.edge_positions().tolist() == graph.edge_positions().tolist()
        assert other.touching == graph.touching
        assert [(r.size, r.deepest, r.unbounded) for r in other.regions.values()] == [
            (r.size, r.deepest, r.unbounded) for r in graph.regions.values()
        ]
        assert (margins(other) == near).all()
        same = rb.optimal(other, rb.DP(1))
        assert same.check(every_edge=True)
        assert same.table.tolist() == best.table.tolist()
        assert same.index.tolist() == best.index.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("home", ["writable", "none"])
def test_a_package_that_cannot_be_written_still_compiles(tmp_path: Path, home: str) -> None:
    source = Path(engines.__file__).parents[2]
    copy = tmp_path / "lib" / "rainbowdp"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (
        copy / "graphs" / "engines" / "__pycache__"
    ).touch()  # a file: no folder can be made here, even by root
    cache = tmp_path / "cache"
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path / "lib"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "XDG_CACHE_HOME": str(cache) if home == "writable" else "/dev/null/cache",
    }
    environment.pop("NUMBA_CACHE_DIR", None)
    script = (
        "import numpy as np\n"
        "from rainbowdp.graphs.engines import compiled\n"
        "depth, region = np.zeros(3, np.int32), np.zeros(3, np.uint8)\n"
        "print(compiled.__file__, compiled.extents(region, depth, 1)[0])"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert str(copy) in run.stdout
    assert run.stdout.endswith("[3]\n")
    assert bool(list(cache.rglob("*.nbc"))) == (home == "writable")


def test_networkx_and_brute_force_agree_on_a_known_graph() -> None:
    graph = nx.path_graph(5)
    region = np.array([0, 0, 0, 1, 1])
    assert brute_depth(graph, region) == [2, 1, 0, 0, 1]

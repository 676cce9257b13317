"""Searches in DuckDB, against the engines in memory and against others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import rainbowdp as rb
from rainbowdp.graphs.edges import Edges
from rainbowdp.graphs.engines import plain
from rainbowdp.graphs.engines.joins import Joins, joins
from reference import brute_depth
from strategies import RoughGraph, rough_graphs

FEW = settings(max_examples=40, deadline=None)


def values(engine: Joins, table: str, column: str) -> dict[int, int]:
    return dict(engine.run(f"SELECT place, {column} FROM {table}"))


def loaded(engine: Joins, pairs: NDArray[Any], size: int) -> None:
    for (name,) in engine.run("SELECT table_name FROM duckdb_tables()"):
        engine.run(f"DROP TABLE {name}")
    engine.raw(pairs.reshape(-1, 2))
    engine.load_query("FROM raw", size)


@pytest.fixture(scope="module")
def engine() -> Iterator[Joins]:
    with joins("200MB") as opened:
        yield opened


@pytest.mark.slow
@FEW
@given(world=rough_graphs())
def test_depth_and_touching_are_those_of_everyone(engine: Joins, world: RoughGraph) -> None:
    size = len(world.region)
    loaded(engine, world.pairs, size)
    region = engine.numbers(world.region)
    found = values(engine, engine.depths(region), "level")
    offsets, targets = plain.compress(world.pairs, size)
    expected = plain.depths(offsets, targets, world.region, world.regions).tolist()
    assert [found.get(place, -1) for place in range(size)] == expected
    assert expected == brute_depth(world.networkx(), world.region)
    touching = plain.touching(offsets, targets, world.region, world.regions).tolist()
    assert [list(pair) for pair in engine.touching(region)] == touching
    assert engine.one("SELECT count(*) FROM edges") == (len(targets),)


@pytest.mark.slow
@FEW
@given(world=rough_graphs(), cut=st.integers(1, 8))
def test_margins_are_cut_distances(engine: Joins, world: RoughGraph, cut: int) -> None:
    size, answers = len(world.region), world.regions + 1
    loaded(engine, world.pairs, size)
    truth = engine.numbers(world.region)
    table = engine.margins(truth, answers, cut)
    expected = plain.margins(*plain.compress(world.pairs, size), world.region, answers, cut)
    for answer in range(answers):
        found = values(engine, table, f"m{answer}")
        assert [found[place] for place in range(size)] == [
            min(margin, cut) for margin in expected[answer].tolist()
        ]
    assert engine.wrong_margins(truth, table, answers) == 0
    assert engine.wrong_zeros(truth, table, answers) == 0


@pytest.mark.slow
@FEW
@given(world=rough_graphs(), data=st.data())
def test_the_nearest_site_is_the_first_listed_of_a_tie(
    engine: Joins, world: RoughGraph, data: st.DataObject
) -> None:
    size = len(world.region)
    places = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=4, unique=True))
    loaded(engine, world.pairs, size)
    edges = rb.RainbowGraph(world.pairs, [("a",)] * size).edge_positions()
    near = rb.nearest_sites(Edges(edges, range(size)), places, unreached="first")
    table = engine.nearest(places)
    owners, steps = values(engine, table, "mark"), values(engine, table, "level")
    assert [owners.get(place, 0) for place in range(size)] == near.numbers.tolist()
    assert [steps.get(place, np.inf) for place in range(size)] == near.distances.tolist()
    graph = world.networkx()
    between = engine.between(places)
    for one, first in enumerate(places):
        reached = nx.single_source_shortest_path_length(graph, first)
        assert between[one].tolist() == [reached.get(other, np.inf) for other in places]


def many_graphs() -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Eighty small graphs side by side, sparse and dense, with loops and repeats, in one."""
    draw = np.random.default_rng(5)
    pairs, region, first = [], [], 0
    for _ in range(80):
        size = int(draw.integers(1, 12))
        ends = draw.integers(0, size, (int(draw.integers(0, 2 * size)), 2))
        path = np.stack([np.arange(size - 1), np.arange(1, size)], axis=1)
        pairs += [ends + first, path[draw.random(len(path)) < 0.8] + first]
        region.append(np.arange(size) * int(draw.integers(1, 4)) // size)
        first += size
    return np.concatenate(pairs), np.concatenate(region)


def test_many_small_graphs_at_once_are_those_of_the_plain_engine(engine: Joins) -> None:
    pairs, region = many_graphs()
    size, cut = len(region), 3
    loaded(engine, pairs, size)
    offsets, targets = plain.compress(pairs, size)
    table = engine.numbers(region)
    depth = values(engine, engine.depths(table), "level")
    assert [depth.get(place, -1) for place in range(size)] == plain.depths(
        offsets, targets, region, 3
    ).tolist()
    found = engine.margins(table, 3, cut)
    for answer, row in enumerate(plain.margins(offsets, targets, region, 3, cut)):
        ours = values(engine, found, f"m{answer}")
        assert [ours[place] for place in range(size)] == np.minimum(row, cut).tolist()
    assert engine.touching(table) == [(0, 1), (0, 2), (1, 2)]


def test_a_jump_between_neighbors_is_found(engine: Joins) -> None:
    loaded(engine, np.array([[0, 1], [1, 2]]), 3)
    truth = engine.numbers(np.array([0, 0, 1]))
    for listed, jumps, zeros in (
        ("(0, 0, 2), (1, 0, 1), (2, 1, 0)", 0, 0),
        ("(0, 0, 3), (1, 0, 1), (2, 1, 0)", 1, 0),
        ("(0, 0, 3), (1, 0, 1), (2, 2, 0)", 2, 0),
        ("(0, 0, 1), (1, 0, 0), (2, 1, 1)", 0, 2),
        ("(0, 0, 2), (1, 0, 1)", 0, 1),
    ):
        engine.run(f"CREATE OR REPLACE TABLE m AS FROM (VALUES {listed}) AS t(place, m0, m1)")
        assert engine.wrong_margins(truth, "m", 2) == jumps
        assert engine.wrong_zeros(truth, "m", 2) == zeros


def test_too_little_memory_is_one_sentence(tmp_path: Path) -> None:
    wrong = pytest.raises(rb.RainbowError, match="an amount such as '2GB', got 'lots'")
    with wrong, joins("lots", tmp_path):
        pass
    short = pytest.raises(rb.RainbowError, match="with a memory of 20MB on this graph; give it")
    with joins("20MB", tmp_path) as small, short:
        small.run("SELECT list(range) FROM range(20_000_000)")
    assert not list(tmp_path.iterdir())


INTERRUPTED = """
import sys
from pathlib import Path
import numpy as np
from rainbowdp.graphs.engines.joins import joins

line = np.arange(100_000)
with joins("200MB", sys.argv[1]) as engine:
    engine.raw(np.stack([line[:-1], line[1:]], axis=1))
    engine.load_query("FROM raw", len(line))
    print("searching", flush=True)
    engine.nearest([0])
"""


def test_an_interrupt_leaves_no_files(tmp_path: Path) -> None:
    program = [sys.executable, "-c", INTERRUPTED, str(tmp_path)]
    with subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"searching\n"
        assert list(tmp_path.iterdir())
        run.send_signal(signal.SIGINT)
        assert run.wait() != 0
    assert not list(tmp_path.iterdir())

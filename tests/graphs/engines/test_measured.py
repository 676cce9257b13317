"""Searches by length, against breadth-first search on the graph with every step drawn."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import rainbowdp as rb
from rainbowdp.graphs.engines import measured_compiled, measured_plain
from rainbowdp.graphs.engines.measured_plain import TooFar
from strategies import Measured, measured_graphs
from subdivided import places_by_bfs, subdivided

ENGINES: list[Any] = [
    measured_plain,
    pytest.param(measured_compiled, marks=pytest.mark.slow),
]


def rows(world: Measured, engine: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    found: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] = engine.compress(
        world.pairs, world.steps, world.size
    )
    return found


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=40)
@given(world=measured_graphs())
def test_edges_are_compressed_to_the_shortest_of_repeats(engine: Any, world: Measured) -> None:
    offsets, targets, lengths = rows(world, engine)
    shortest: dict[tuple[int, int], int] = {}
    for (a, b), steps in zip(world.pairs.tolist(), world.steps.tolist(), strict=True):
        for pair in ((a, b), (b, a)):
            if a != b:
                shortest[pair] = min(shortest.get(pair, steps), steps)
    found = {
        (node, int(targets[edge])): int(lengths[edge])
        for node in range(world.size)
        for edge in range(int(offsets[node]), int(offsets[node + 1]))
    }
    assert found == shortest
    assert list(found) == sorted(found)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=60)
@given(world=measured_graphs(zeros=False))
def test_depth_is_that_of_the_graph_with_every_step_drawn(engine: Any, world: Measured) -> None:
    graph, region = subdivided(world.pairs, world.steps, world.region)
    border = [a for a, b in graph.edges if region[a] != region[b]]
    border += [b for a, b in graph.edges if region[a] != region[b]]
    inside = nx.Graph([(a, b) for a, b in graph.edges if region[a] == region[b]])
    inside.add_nodes_from(graph)
    expected = places_by_bfs(inside, border, world.size)
    depths = engine.depths(*rows(world, engine), world.region, int(world.region.max()) + 1)
    assert depths.tolist() == expected


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=60)
@given(world=measured_graphs(zeros=False), cut=st.integers(1, 60))
def test_margins_are_those_of_the_graph_with_every_step_drawn(
    engine: Any, world: Measured, cut: int
) -> None:
    graph, region = subdivided(world.pairs, world.steps, world.region)
    answers = int(world.region.max()) + 1
    truth = np.array([number // 2 for number in range(answers)], dtype=np.uint8)[world.region]
    margins = engine.margins(*rows(world, engine), world.region, truth, answers, cut)
    for answer in range(answers):
        there = [node for node, number in region.items() if number // 2 == answer]
        expected = places_by_bfs(graph, there, world.size)
        none = int(np.iinfo(margins.dtype).max)
        assert margins[answer].tolist() == [none if d < 0 else min(d, cut) for d in expected]


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=40)
@given(world=measured_graphs(longest=10**6), data=st.data())
def test_distances_are_those_of_networkx(engine: Any, world: Measured, data: st.DataObject) -> None:
    start = np.array(data.draw(st.lists(st.booleans(), min_size=world.size, max_size=world.size)))
    graph = nx.Graph()
    graph.add_nodes_from(range(world.size))
    for (a, b), steps in zip(world.pairs.tolist(), world.steps.tolist(), strict=True):
        before = graph.get_edge_data(a, b, {"steps": steps})["steps"]
        graph.add_edge(a, b, steps=min(before, steps))
    marked = set(np.flatnonzero(start).tolist())
    away = nx.multi_source_dijkstra_path_length(graph, marked, weight="steps") if marked else {}
    found = engine.distances(*rows(world, engine), start)
    assert found.tolist() == [away.get(node, -1) for node in range(world.size)]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_distance_beyond_31_bits_is_noticed(engine: Any) -> None:
    pairs = np.array([[0, 1], [1, 2], [2, 3]])
    steps = np.array([1, 2_000_000_000, 2_000_000_000], dtype=np.uint32)
    graph = engine.compress(pairs, steps, 4)
    with pytest.raises(TooFar):
        engine.depths(*graph, np.array([0, 1, 1, 1], dtype=np.uint8), 2)
    with pytest.raises(TooFar):
        engine.distances(*graph, np.array([True, False, False, False]))
    far = rb.RainbowGraph(pairs, [("a", "b")] + [("b", "a")] * 3, lengths=steps)
    with pytest.raises(rb.InvalidGraph, match="steps apart; use a larger unit"):
        _ = far.depth


@pytest.mark.slow
def test_engines_agree_on_a_road_like_graph() -> None:
    rng = np.random.default_rng(0)
    side = 120
    number = np.arange(side * side).reshape(side, side)
    beside = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in beside])
    pairs = pairs[rng.random(len(pairs)) < 0.7]
    region = (np.add.outer(np.arange(side) // 30, 4 * (np.arange(side) // 30))).ravel()
    region = region.astype(np.uint8)
    for longest in (1, 3, 200, 1 << 20):
        steps = rng.integers(1, longest + 1, len(pairs)).astype(np.uint32)
        steps[:3] = longest
        ours = measured_compiled.compress(pairs, steps, side * side)
        plain = measured_plain.compress(pairs, steps, side * side)
        assert all((a == b).all() for a, b in zip(ours, plain, strict=True))
        one = measured_compiled.depths(*ours, region, 16)
        assert (one == measured_plain.depths(*plain, region, 16)).all()
        for cut in (50, 60_000):
            given_to = (*ours, region, region, 16, cut)
            assert (measured_compiled.margins(*given_to) == measured_plain.margins(*given_to)).all()

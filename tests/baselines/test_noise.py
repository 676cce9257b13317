"""Noise on a map, beside the sum over all places."""

from __future__ import annotations

import math

import networkx as nx
import pytest
from hypothesis import given

import rainbowdp as rb
from rainbowdp.baselines import noise
from strategies import graphs


@given(graphs())
def test_rows_are_the_sums_over_all_places_and_private(graph: rb.RainbowGraph) -> None:
    made = rb.noise_then_nearest(graph, rb.DP("0.7", "0.01"))
    assert made.keeps == rb.DP("0.7")
    assert made.check()
    roads = nx.Graph()
    roads.add_nodes_from(graph.datasets)
    roads.add_edges_from((a, b) for a in graph.datasets for b in graph.neighbors(a))
    for dataset in graph.datasets:
        far = nx.single_source_shortest_path_length(roads, dataset)
        weights = {other: math.exp(-0.35 * steps) for other, steps in far.items()}
        for answer, chance in made[dataset].items():
            right = [w for other, w in weights.items() if graph.rainbow(other)[0] == answer]
            assert chance == pytest.approx(sum(right) / sum(weights.values()), abs=1e-12)


def test_it_is_compared_where_its_searches_take_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    rainbows = [("a", "b")] * 6 + [("b", "a")] * 4
    graph = rb.RainbowGraph([(i, i + 1) for i in range(9)], rainbows)
    found = rb.compare(graph, rb.DP(1))
    ours, noisy = found["best"], found["noise, then nearest"]
    assert ours.mean_error < noisy.mean_error
    assert noisy.epsilon_to_match is None
    frame = found.to_frame()
    assert list(frame["name"]) == [each.name for each in found.standings]
    assert frame["mean_error"].iloc[0] == ours.mean_error
    monkeypatch.setattr(noise, "_VISITS", 100)
    assert "search for each of 10 datasets" in rb.compare(graph, rb.DP(1)).left_out[noisy.name]
    some = rb.compare(graph, rb.DP(1), [rb.noise_then_nearest], datasets=[0, 5])
    assert len(some.standings) == 1
    with pytest.raises(rb.InvalidGraph, match="with datasets="):
        rb.compare(graph, rb.DP(1), [rb.noise_then_nearest])


def test_it_is_for_graphs_and_epsilon() -> None:
    with pytest.raises(rb.InvalidGraph, match="got a question"):
        rb.noise_then_nearest(rb.Winner(["a", "b"]), rb.DP(1))  # type: ignore[arg-type]
    graph = rb.RainbowGraph([(0, 1)], [("a", "b"), ("b", "a")])
    with pytest.raises(rb.InvalidGuarantee, match="needs an"):
        rb.noise_then_nearest(graph, rb.GaussianDP(1))

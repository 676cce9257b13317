"""Mechanisms on graphs with lengths, every edge compared in fractions by code of its own."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import rainbowdp as rb
from strategies import Measured, measured_graphs
from subdivided import subdivided

RAINBOWS = [("x", "y", "z"), ("y", "z", "x"), ("z", "x", "y")]
RATIO = Fraction(6, 5)


def graph_of(world: Measured) -> rb.RainbowGraph:
    return rb.RainbowGraph(
        world.pairs,
        RAINBOWS,
        ("x", "y", "z"),
        labels=world.region.tolist(),
        lengths=world.steps,
        unit=1,
    )


def edges(graph: rb.RainbowGraph) -> Iterator[tuple[int, int, int]]:
    for (a, b), steps in zip(graph.edge_positions(), graph.edge_lengths(), strict=True):
        yield int(a), int(b), int(steps)


def keeps(exact: rb.ExactMechanism, graph: rb.RainbowGraph, ratio: Fraction) -> bool:
    """Whether every answer is at most ratio^steps times as likely at the other end."""
    for a, b, steps in edges(graph):
        for one, other in ((exact[a], exact[b]), (exact[b], exact[a])):
            if any(one[answer] > ratio**steps * other[answer] for answer in graph.answers):
                return False
    return True


@settings(max_examples=25)
@given(measured_graphs(), st.sampled_from(["homogeneous", "margin-flip", "exponential"]))
def test_every_edge_keeps_the_promise_of_its_length(world: Measured, kind: str) -> None:
    try:
        graph = graph_of(world)
    except rb.InvalidGraph:
        assume(False)  # an edge without a step between two regions
    made = rb.by_kind(graph, rb.DP.from_ratio(RATIO), kind)
    exact = made.exact()
    assert keeps(exact, graph, RATIO)
    assert made.check()
    assert made.check(every_edge=True)
    if graph.lengths is not None:
        assert exact.neighbors == "at a distance of 1"


@settings(max_examples=25)
@given(measured_graphs(zeros=False), st.sampled_from([Fraction(3, 2), Fraction(3)]))
def test_proximity_keeps_it_where_it_holds(world: Measured, ratio: Fraction) -> None:
    graph = graph_of(world)
    try:
        made = rb.proximity(graph, rb.DP.from_ratio(ratio))
        exact = made.exact()
    except (rb.InvalidGuarantee, rb.InvalidBoundary):
        assume(False)
    assert keeps(exact, graph, ratio)
    assert made.check(every_edge=True)


@settings(max_examples=25, deadline=None)
@given(measured_graphs(), st.sampled_from([Fraction(3, 2), Fraction(3)]))
def test_the_fixed_point_goes_by_length(world: Measured, ratio: Fraction) -> None:
    try:
        graph = graph_of(world)
        made = rb.fixed_point(graph, rb.DP.from_ratio(ratio))
    except (rb.InvalidGraph, rb.InvalidGuarantee):
        assume(False)
    exact = made.exact()
    assert keeps(exact, graph, ratio)
    assert made.check()
    assert made.check(every_edge=True)
    if graph.lengths is None:
        return
    assert exact.neighbors == "at a distance of 1"
    if (graph.edge_lengths() % 2 == 0).any():  # whose the middle is may differ
        return
    drawn, region = subdivided(graph.edge_positions(), graph.edge_lengths(), graph.region_numbers)
    orders = {n: each.rainbow for n, each in enumerate(graph.regions.values())}
    every = rb.RainbowGraph(drawn, orders, ("x", "y", "z"), labels=region)
    whole = rb.fixed_point(every, rb.DP.from_ratio(ratio))
    for node in graph.datasets:
        assert made[node] == pytest.approx(whole[node], abs=1e-6)


def test_a_start_by_dataset_has_no_meaning_in_the_middle_of_an_edge() -> None:
    graph = rb.RainbowGraph([(0, 1)], [("y", "n"), ("n", "y")], lengths=[4])
    assert rb.lifted(graph, rb.DP(1), 0.6)[0]["y"] > 0.8
    with pytest.raises(rb.InvalidBoundary, match="must be one number"):
        rb.lifted(graph, rb.DP(1), {0: 0.6, 1: 0.6})


def test_a_graph_of_too_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = rb.RainbowGraph([(0, 1)], [("y", "n"), ("n", "y")], lengths=[4000])
    monkeypatch.setattr(sys.modules[rb.fixed_point.__module__], "MOST_CELLS", 8000)
    with pytest.raises(rb.InvalidGraph, match="4,001 places a step apart, and at most 4,000"):
        rb.fixed_point(graph, rb.DP(1))


@settings(max_examples=30)
@given(measured_graphs(zeros=False, longest=5))
def test_the_optimum_is_that_of_the_graph_with_every_step_drawn(world: Measured) -> None:
    drawn, region = subdivided(world.pairs, world.steps, world.region)
    every = rb.RainbowGraph(drawn, RAINBOWS, ("x", "y", "z"), labels=region)
    row, promise = (Fraction(3, 5), Fraction(1, 5), Fraction(1, 5)), rb.DP.from_ratio(3)
    ours, whole = (rb.optimal(graph, promise, row) for graph in (graph_of(world), every))
    for node in range(world.size):
        assert ours[node] == pytest.approx(whole[node], rel=1e-11)


@settings(max_examples=15)
@given(measured_graphs())
def test_gaussian_privacy_adds_up_along_an_edge(world: Measured) -> None:
    try:
        graph = graph_of(world)
    except rb.InvalidGraph:
        assume(False)
    made = rb.optimal(graph, rb.GaussianDP("0.2"))
    exact = made.exact()
    assert made.check(every_edge=True)
    for a, b, steps in edges(graph):
        for size, (one, other) in itertools.product((1, 2), [(a, b), (b, a)]):
            for chosen in itertools.combinations(graph.answers, size):
                here, there = (float(sum(exact[d][v] for v in chosen)) for d in (one, other))
                assert here <= norm.cdf(norm.ppf(there) + 0.2 * steps) + 1e-12


def test_a_mechanism_that_breaks_a_length_is_named() -> None:
    graph = rb.RainbowGraph(
        [("a", "b"), ("b", "c")],
        {"a": ("y", "n"), "b": ("y", "n"), "c": ("n", "y")},
        lengths=[3, 1],
    )
    table = {"a": (0.8, 0.2), "b": (0.6, 0.4), "c": (0.5, 0.5)}
    fine = rb.Mechanism.from_table(graph, table, rb.DP.from_ratio("1.3"))
    assert fine.check()
    table["a"] = (0.83, 0.17)
    broken = rb.Mechanism.from_table(graph, table, rb.DP.from_ratio("1.3")).check()
    assert not broken
    assert broken.neighbors == ("b", "a")
    assert broken.answers == ("n",)
    assert broken.excess == pytest.approx(0.4 - 0.17 * 1.3**3)


def test_places_that_are_one_must_have_one_row() -> None:
    rainbows = {"a": ("y", "n"), "b": ("y", "n"), "c": ("n", "y")}
    graph = rb.RainbowGraph([("a", "b"), ("b", "c")], rainbows, lengths=[0.5, 2])
    table = {"a": (0.6, 0.4), "b": (0.55, 0.45), "c": (0.5, 0.5)}
    made = rb.Mechanism.from_table(graph, table, rb.DP(1))
    assert not made.check()
    with pytest.raises(rb.InvalidMechanism, match="one and the same row"):
        made.exact()
    assert rb.optimal(graph, rb.DP(1))["a"] == rb.optimal(graph, rb.DP(1))["b"]


def test_best_lists_what_goes_by_length_and_saves_it(tmp_path: object) -> None:
    pairs = np.stack([np.arange(30), np.arange(1, 31)], axis=1)
    lengths = np.linspace(3, 40, 30)
    roads = rb.with_lengths(pairs, lengths, unit=2, measure="m")
    near = rb.nearest_sites(roads, {"west": 0, "middle": 14, "east": 30})
    graph = rb.RainbowGraph(roads, near.rainbows, near.names, labels=near.labels)
    choice = rb.best(graph, rb.DP("0.1"))
    values = {each.kind: each.value or 0.0 for each in choice.candidates}
    assert values["program"] >= values["fixed-point"] - 1e-9
    assert choice.name in ("fixed-point", "lifted", "program")
    again = rb.load(choice.save(f"{tmp_path}/roads.json"))
    assert again.neighbors == "at a distance of 2 m"
    assert keeps(choice.exact(), graph, Fraction("1.1051709180756477"))  # above e^0.1


def test_depths_without_end_are_refused_for_their_rows() -> None:
    size = 1_000
    pairs = np.stack([np.arange(size), np.arange(1, size + 1)], axis=1)
    rainbows = [("y", "n")] * size + [("n", "y")]
    graph = rb.RainbowGraph(pairs, rainbows, lengths=np.full(size, 100_000))
    with pytest.raises(rb.InvalidGraph, match="use a larger unit, or a mechanism by margins"):
        rb.optimal(graph, rb.DP("0.001"))

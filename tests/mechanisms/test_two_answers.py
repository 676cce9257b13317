from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import rainbowdp as rb

TOTAL = 1 << 64


@st.composite
def worlds(draw: st.DrawFn) -> tuple[rb.RainbowGraph, dict[tuple[int, int], Fraction]]:
    """A graph of two answers with e^ε of its own on each edge."""
    size = draw(st.integers(2, 7))
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    edges = draw(
        st.lists(pairs.filter(lambda e: e[0] < e[1]), min_size=1, max_size=12, unique=True)
    )
    truth = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    ratio = st.integers(10, 40).map(lambda n: Fraction(n, 10))
    rainbows = [("yes", "no") if each else ("no", "yes") for each in truth]
    return rb.RainbowGraph(edges, rainbows), {edge: draw(ratio) for edge in edges}


def border(graph: rb.RainbowGraph) -> set[int]:
    return set(graph.boundary)


@settings(max_examples=30)
@given(worlds())
def test_every_edge_keeps_its_own_guarantee(
    world: tuple[rb.RainbowGraph, dict[tuple[int, int], Fraction]],
) -> None:
    graph, ratios = world
    promises = {edge: rb.DP.from_ratio(ratio) for edge, ratio in ratios.items()}
    found = rb.optimal_two(graph, promises)
    for (a, b), ratio in ratios.items():
        for one, other in itertools.permutations((found.exactly(a), found.exactly(b))):
            assert all(one[answer] <= ratio * other[answer] for answer in one)
        if graph.rainbow(a) != graph.rainbow(b):  # no mechanism is surer at both ends
            least = min(found.exactly(d)[graph.rainbow(d)[0]] for d in (a, b))
            assert least <= ratio / (1 + ratio)
    for place in range(len(graph)):
        row = found.exactly(place)
        assert sum(row.values()) == 1
        assert found.release(place) in row


@settings(max_examples=30)
@given(worlds(), st.data())
def test_it_is_the_optimum_of_a_linear_program(
    world: tuple[rb.RainbowGraph, dict[tuple[int, int], Fraction]], data: st.DataObject
) -> None:
    graph, ratios = world
    fixed = {d: data.draw(st.integers(1, 9)) / 10 for d in border(graph)}
    rows = {d: {graph.rainbow(d)[0]: s, graph.rainbow(d)[1]: 1 - s} for d, s in fixed.items()}
    # x_d is the chance of "yes"; both answers and directions on every edge, four rows each
    demands, size = [], len(graph)
    for (a, b), ratio in ratios.items():
        for one, other in ((a, b), (b, a)):
            row = np.zeros(size + 1)
            row[one], row[other] = 1, -float(ratio)
            demands.append(row)
            tail = np.zeros(size + 1)
            tail[one], tail[other], tail[size] = -1, float(ratio), float(ratio) - 1
            demands.append(tail)
    array = np.array(demands)
    yes = {d: s if graph.rainbow(d)[0] == "yes" else 1 - s for d, s in fixed.items()}
    bounds = [(yes[d], yes[d]) if d in yes else (0, 1) for d in range(size)]
    best = []
    for place in range(size):
        worth = np.zeros(size)
        worth[place] = -1 if graph.rainbow(place)[0] == "yes" else 1
        solved = linprog(worth, A_ub=array[:, :size], b_ub=array[:, size], bounds=bounds)
        if solved.status != 0 or solved.x is None:
            with pytest.raises(rb.InvalidBoundary, match="allows no mechanism"):
                rb.optimal_two(graph, _promises(ratios), rows)
            return
        chance = solved.x[place]
        best.append(chance if worth[place] < 0 else 1 - chance)
    try:
        found = rb.optimal_two(graph, _promises(ratios), rows)
    except rb.InvalidBoundary:
        assume(False)  # closer to the border of what is possible than a solver sees
    for place in range(size):
        assert found[place][graph.rainbow(place)[0]] == pytest.approx(best[place], abs=1e-6)


def _promises(ratios: dict[tuple[int, int], Fraction]) -> dict[Any, rb.DP]:
    return {edge: rb.DP.from_ratio(ratio) for edge, ratio in ratios.items()}


def test_guarantees_of_any_kind_on_one_road() -> None:
    rainbows = [("yes", "no")] * 4 + [("no", "yes")]
    graph = rb.RainbowGraph([(0, 1), (1, 2), (2, 3), (3, 4)], rainbows)
    kinds = [rb.GaussianDP("0.5"), rb.DP("0.3", "0.01"), rb.DP(0), rb.DP("0.7")]
    found = rb.optimal_two(graph, kinds)
    assert found[3]["yes"] == pytest.approx(rb.DP("0.7").best_guess())
    assert found[2] == found[3]  # nothing may change over an edge without a budget
    assert found[1]["yes"] == pytest.approx(rb.DP("0.3", "0.01").step(found[2]["yes"]))
    assert found[0]["yes"] == pytest.approx(rb.GaussianDP("0.5").step(found[1]["yes"]))
    assert repr(found) == "TwoAnswers(5 datasets, 4 guarantees)"
    by_length = rb.optimal_two(graph, lambda a, b: rb.DP(Fraction(a + b, 10)))
    assert by_length[3]["yes"] == pytest.approx(rb.DP("0.7").best_guess())


def test_what_does_not_fit_is_refused() -> None:
    graph = rb.RainbowGraph([(0, 1)], [("yes", "no"), ("no", "yes")])
    three = rb.RainbowGraph([(0, 1)], [("a", "b", "c"), ("b", "a", "c")])
    with pytest.raises(rb.InvalidGraph, match="two answers, got 3"):
        rb.optimal_two(three, [rb.DP(1)])
    with pytest.raises(rb.InvalidMechanism, match="1 edges but 2 guarantees"):
        rb.optimal_two(graph, [rb.DP(1)] * 2)
    with pytest.raises(rb.InvalidMechanism, match="between 0 and 1 has no guarantee"):
        rb.optimal_two(graph, {})
    with pytest.raises(rb.InvalidGuarantee, match="needs a DP"):
        rb.optimal_two(graph, [1])  # type: ignore[list-item]
    with pytest.raises(rb.InvalidBoundary, match="dataset 1 has a neighbor of the other answer"):
        rb.optimal_two(graph, [rb.DP(1)], {0: (0.5, 0.5)})

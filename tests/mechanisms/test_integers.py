"""Graph mechanisms in integers: every edge exactly close, and as good as the floats."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
import strategies
from rainbowdp.exact.steps import BITS
from rainbowdp.rules.homogeneous.rule import Homogeneous
from reference import Point

TOTAL = 1 << BITS


def assert_every_edge_is_close(
    graph: rb.RainbowGraph, exact: rb.ExactMechanism, lines: list[Point]
) -> None:
    rows = {d: exact.at(d).weights for d in graph.datasets}
    for row in rows.values():
        assert sum(row) == TOTAL
        assert all(type(w) is int and w >= 0 for w in row)
    for d in graph.datasets:
        for other in graph.neighbors(d):
            assert reference.integer_excess(rows[d], rows[other], lines) == 0, (d, other)


@given(st.data())
def test_an_optimal_mechanism_is_exactly_private_on_every_edge(data: st.DataObject) -> None:
    graph = data.draw(strategies.deep_graphs())
    guarantee, lines = data.draw(strategies.exact_promises())
    boundary = data.draw(strategies.valid_boundaries(graph, lines))
    mechanism = rb.optimal(graph, guarantee, boundary)
    exact = mechanism.exact()
    assert_every_edge_is_close(graph, exact, lines)
    size = len(graph.answers)
    for d in graph.datasets:
        order = [graph.answers.index(a) for a in graph.rainbow(d)]
        best = list(itertools.accumulate(mechanism[d].values()))
        got = list(itertools.accumulate(exact.at(d).weights[i] for i in order))
        for wanted, weight in zip(best, got, strict=True):
            slack = float(exact.mixing) * 40 + 1e-9 + (size + 1) * 8 * 2.0**-BITS
            assert weight / TOTAL >= wanted - slack


@pytest.mark.slow
@given(st.data())
@settings(max_examples=30, deadline=None)
def test_a_symmetric_boundary_is_exactly_private_after_hardly_any_mixing(
    data: st.DataObject,
) -> None:
    graph = data.draw(strategies.deep_graphs())
    guarantee, lines = data.draw(strategies.exact_promises())
    assume(any(slope != 1 or rise != 0 for slope, rise in lines))  # thirds are no floats
    exact = rb.optimal(graph, guarantee).exact()
    assert exact.mixing <= Fraction(1, 1 << 40)
    assert_every_edge_is_close(graph, exact, lines)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_table_is_exactly_private_row_by_row(data: st.DataObject) -> None:
    graph = data.draw(strategies.deep_graphs())
    ratio = data.draw(strategies.ratios()) + Fraction(1, 5)
    delta = data.draw(st.sampled_from((Fraction(0), Fraction(1, 20))))
    guarantee = rb.DP.from_ratio(ratio, delta=delta)
    floats = rb.optimal(graph, guarantee)
    table = {d: floats[d] for d in graph.datasets}
    mechanism = rb.Mechanism.from_table(graph, table, guarantee)
    exact = mechanism.exact()
    assert_every_edge_is_close(graph, exact, [(ratio, delta)])
    for d in graph.datasets:
        for answer, p in exact.at(d).probabilities.items():
            assert abs(float(p) - table[d][answer]) <= float(exact.mixing) + 1e-15


def test_a_table_that_breaks_its_guarantee_is_refused() -> None:
    graph = rb.RainbowGraph([(0, 1)], [("yes", "no"), ("no", "yes")])
    mechanism = rb.Mechanism.from_table(graph, {0: (0.9, 0.1), 1: (0.1, 0.9)}, rb.DP(1))
    with pytest.raises(rb.InvalidBoundary) as caught:
        mechanism.exact()
    reference.assert_one_sentence(caught.value, "1-DP", "2^-10")
    with pytest.raises(rb.InvalidBoundary):
        mechanism.release(0)


def test_a_mechanism_without_a_guarantee_has_no_exact_rows() -> None:
    graph = rb.RainbowGraph([(0, 1)], [("yes", "no"), ("no", "yes")])
    mechanism = rb.Mechanism.from_table(graph, {0: (0.5, 0.5), 1: (0.5, 0.5)})
    with pytest.raises(rb.RainbowError) as caught:
        mechanism.exact()
    reference.assert_one_sentence(caught.value, "from_table")


def test_components_without_boundary_answer_their_first_choice() -> None:
    graph = rb.RainbowGraph([(0, 1), (2, 3)], [("y", "n"), ("n", "y"), ("n", "y"), ("n", "y")])
    exact = rb.optimal(graph, rb.DP(1)).exact()
    assert graph.depth[3] == math.inf
    assert exact.at(3).probabilities == {"y": 0, "n": 1}
    assert exact[0]["y"] < 1
    lonely = rb.optimal(rb.RainbowGraph([(0, 1)], [("y", "n")] * 2), rb.DP(1)).exact()
    assert lonely.at(0).weights == (TOTAL, 0)
    assert lonely.release(1) == "y"


def test_a_pullback_is_proved_on_its_own_edges() -> None:
    graph = rb.RainbowGraph([(i, i + 1) for i in range(5)], [("y", "n")] * 3 + [("n", "y")] * 3)
    mechanism = rb.optimal(graph, rb.DP.from_ratio(2))
    source = rb.RainbowGraph([(0, 1), (1, 2)], [("y", "n"), ("n", "y"), ("n", "y")], ("n", "y"))
    fine = mechanism.pullback(rb.Morphism(source, graph, {0: 2, 1: 3, 2: 4})).exact()
    assert_every_edge_is_close(source, fine, [(Fraction(2), Fraction(0))])
    assert fine.at(0).probabilities["y"] > Fraction(1, 2)


def test_an_unknown_dataset_is_refused() -> None:
    graph = rb.RainbowGraph([(0, 1)], [("yes", "no"), ("no", "yes")])
    exact = rb.optimal(graph, rb.DP(1)).exact()
    for stranger in (2, -1, "yes", (0, 0)):
        with pytest.raises(rb.UnknownDataset):
            exact.release(stranger)


def test_a_shared_ladder_is_the_ladder_of_each_region() -> None:
    """Regions with one start and one depth share their rows up to the names of the answers."""
    graph = rb.RainbowGraph([(i, i + 1) for i in range(7)], [("y", "n")] * 4 + [("n", "y")] * 4)
    rule = rb.optimal(graph, rb.DP.from_ratio(3, 2)).exact().rule
    assert isinstance(rule, Homogeneous)
    first, second = rule.rows[("y", "n")], rule.rows[("n", "y")]
    assert len(first) == 4
    assert first == tuple(row[::-1] for row in second)


def test_every_two_regions_that_touch_are_held_against_each_other() -> None:
    """A pair that is left out would be private by luck alone, and no file could tell."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 5), (5, 6)]
    rainbows = [*itertools.permutations("abc")]
    graph = rb.RainbowGraph(edges, [*rainbows, rainbows[5]])
    floats = rb.optimal(graph, rb.DP(1))
    regions = floats.exact().rule
    assert isinstance(regions, Homogeneous)
    assert sorted(map(sorted, regions.touching)) == sorted(
        sorted((graph.region[a], graph.region[b])) for a, b in edges[:-1]
    )
    assert "7 pairs of rows" in floats.exact().proof.statement  # and one of two depths
    table = {d: floats[d] for d in graph.datasets}
    exact = rb.Mechanism.from_table(graph, table, rb.DP(1)).exact()
    assert isinstance(exact.rule, Homogeneous)
    number = {rows[0]: label for label, rows in exact.rule.rows.items()}
    rows = [number[exact.at(d).weights] for d in graph.datasets]
    assert {frozenset(pair) for pair in exact.rule.touching} == {
        frozenset((rows[a], rows[b])) for a, b in edges
    }

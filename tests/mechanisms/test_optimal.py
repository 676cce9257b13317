from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.aliases import Dataset
from rainbowdp.guarantees.curve import TradeOffCurve
from reference import assert_one_sentence, largest_prefix_sums, worst_by_lines
from strategies import (
    deep_graphs,
    exact_promises,
    exact_rows,
    graphs,
    guarantees,
    rows,
    valid_boundaries,
)

YES, NO = ("yes", "no"), ("no", "yes")
Line = tuple[Fraction, Fraction]


def prefix_sums(mechanism: rb.Mechanism, dataset: Dataset) -> list[float]:
    return list(itertools.accumulate(mechanism[dataset].values()))


def assert_is_the_greatest(
    graph: rb.RainbowGraph, promise: TradeOffCurve, lines: list[Line], data: st.DataObject
) -> None:
    boundary = data.draw(valid_boundaries(graph, lines))
    mechanism = rb.optimal(graph, promise, boundary)
    place = {answer: number for number, answer in enumerate(graph.answers)}
    fixed = {
        graph.position(d): [boundary[graph.region[d]][a] for a in graph.answers]
        for d in graph.boundary
    }
    for d in graph.boundary:
        wished = boundary[graph.region[d]]
        assert mechanism[d] == pytest.approx({a: float(p) for a, p in wished.items()}, rel=1e-12)
    best = largest_prefix_sums(
        [(int(a), int(b)) for a, b in graph.edge_positions()],
        [[place[a] for a in graph.rainbow(d)] for d in graph.datasets],
        fixed,
        lines,
    )
    event(f"deepest {max((r.deepest or 0 for r in graph.regions.values()), default=0)}")
    for (node, count), most in best.items():
        found = prefix_sums(mechanism, graph.datasets[node])[count - 1]
        assert found == pytest.approx(most, abs=1e-7)
    assert mechanism.check()
    assert mechanism.check(every_edge=True)
    assert mechanism.homogeneity()


@given(deep_graphs(), exact_promises(polygons=False), st.data())
def test_no_private_mechanism_does_better_on_any_prefix(
    graph: rb.RainbowGraph, world: tuple[TradeOffCurve, list[Line]], data: st.DataObject
) -> None:
    assert_is_the_greatest(graph, *world, data)


@pytest.mark.slow
@settings(max_examples=50)
@given(deep_graphs(), exact_promises(polygons=True), st.data())
def test_nor_under_any_polygon(
    graph: rb.RainbowGraph, world: tuple[TradeOffCurve, list[Line]], data: st.DataObject
) -> None:
    assert_is_the_greatest(graph, *world, data)


@pytest.mark.slow
@given(graphs(6, answers=3, labeled=True), exact_promises(), st.data())
def test_nor_with_labeled_regions_that_share_an_order(
    graph: rb.RainbowGraph, world: tuple[TradeOffCurve, list[Line]], data: st.DataObject
) -> None:
    assert_is_the_greatest(graph, *world, data)


def test_the_printed_operator_of_the_paper_is_not_what_is_released() -> None:
    # THEORY §1: p = (½,½), e^ε = 2, δ = 0.1 gave (0.85, 0.15), which is not private.
    graph = rb.RainbowGraph([(0, 1), (1, 2)], {"in": YES, "out": NO}, labels=["in", "in", "out"])
    mechanism = rb.optimal(graph, rb.DP.from_ratio(2, delta="0.1"), (0.5, 0.5))
    assert mechanism[0] == pytest.approx({"yes": 0.8, "no": 0.2})
    assert mechanism.check()


@given(graphs() | deep_graphs(9), guarantees())
def test_the_optimum_keeps_every_guarantee(
    graph: rb.RainbowGraph, guarantee: TradeOffCurve
) -> None:
    mechanism = rb.optimal(graph, guarantee)
    assert mechanism.guarantee is guarantee
    small, large = mechanism.check(), mechanism.check(every_edge=True)
    assert small.holds, str(small)
    assert large.holds, str(large)
    for d in graph.datasets:
        assert sum(mechanism[d].values()) == pytest.approx(1, abs=1e-12)
        assert list(mechanism[d]) == list(graph.rainbow(d))


@given(deep_graphs(), exact_promises(polygons=False), st.data())
def test_the_optimum_is_private_in_exact_fractions(
    graph: rb.RainbowGraph, world: tuple[TradeOffCurve, list[Line]], data: st.DataObject
) -> None:
    promise, lines = world
    mechanism = rb.optimal(graph, promise, data.draw(valid_boundaries(graph, lines)))
    for a, b in map(graph.names, graph.edge_positions()):
        pair = [[Fraction(mechanism[d][x]) for x in graph.answers] for d in (a, b)]
        assert worst_by_lines(pair[0], pair[1], lines) < 1e-11


@given(graphs() | deep_graphs(), guarantees())
def test_a_component_without_boundary_answers_its_first_choice(
    graph: rb.RainbowGraph, guarantee: TradeOffCurve
) -> None:
    mechanism = rb.optimal(graph, guarantee)
    for d in graph.datasets:
        if graph.depth[d] == math.inf:
            first, *others = mechanism[d].values()
            assert (first, set(others) - {0.0}) == (1.0, set())
            assert mechanism.rows[graph.region[d], math.inf] == mechanism[d]


@given(deep_graphs(9), guarantees())
def test_rows_by_region_and_depth(graph: rb.RainbowGraph, guarantee: TradeOffCurve) -> None:
    condition = rb.BoundaryCondition.symmetric(graph, guarantee)
    mechanism = rb.optimal(graph, guarantee, condition)
    for d in graph.datasets:
        assert mechanism.rows[graph.region[d], graph.depth[d]] == mechanism[d]
    for label, region in graph.regions.items():
        if region.deepest is None:
            continue
        expected = guarantee.rows(condition.exact_rows[label], np.arange(region.deepest + 1))
        for depth in range(region.deepest + 1):
            assert list(mechanism.rows[label, depth].values()) == expected[depth].tolist()


@pytest.mark.slow
@given(deep_graphs(), exact_promises(), st.data())
def test_deeper_is_never_worse(
    graph: rb.RainbowGraph, world: tuple[TradeOffCurve, list[Line]], data: st.DataObject
) -> None:
    promise, lines = world
    mechanism = rb.optimal(graph, promise, data.draw(valid_boundaries(graph, lines)))
    for label, region in graph.regions.items():
        for depth in range(region.deepest or 0):
            above, below = (prefix_sums(mechanism.rows, (label, t)) for t in (depth, depth + 1))
            assert all(b >= a - 1e-12 for a, b in zip(above, below, strict=True))


@pytest.mark.slow
@given(guarantees(), rows(), st.integers(0, 30))
def test_the_optimal_line_is_the_rows_of_the_guarantee(
    guarantee: TradeOffCurve, row: tuple[float, ...], length: int
) -> None:
    rainbow = tuple(range(len(row)))
    mechanism = rb.optimal_line(rainbow, length, guarantee, row)
    assert (mechanism.table == guarantee.rows(row, np.arange(length + 1))).all()
    assert len(mechanism) == length + 1
    for d in range(length + 1):
        assert list(mechanism[d].values()) == guarantee.rows(row, d).tolist()


def test_the_optimal_line_lists_answers_in_its_own_order() -> None:
    line = rb.optimal_line(("blue", "red"), 1, rb.DP.from_ratio(2), (0.25, 0.75))
    assert line[1] == {"blue": 0.5, "red": 0.5}


def test_two_labels_with_one_order_may_have_two_boundaries() -> None:
    graph = rb.RainbowGraph(
        [(0, 1), (1, 2), (2, 3)], {"l": YES, "r": YES}, labels=["l", "l", "r", "r"]
    )
    mechanism = rb.optimal(graph, rb.DP.from_ratio(2), {"l": ("1/4", "3/4"), "r": ("1/2", "1/2")})
    assert [mechanism[d]["yes"] for d in range(4)] == [0.5, 0.25, 0.5, 0.75]
    assert mechanism.rows["r", 1] == mechanism[3]
    assert mechanism.check(every_edge=True)


def test_the_two_answer_optimum_has_the_textbook_boundary() -> None:
    graph = rb.RainbowGraph([(0, 1)], [YES, NO])
    assert rb.optimal(graph, rb.DP(1))[0]["yes"] == pytest.approx(math.e / (1 + math.e))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(deep_graphs(9), exact_promises(), st.data())
def test_raising_one_probability_by_a_millionth_is_caught(
    graph: rb.RainbowGraph, world: tuple[TradeOffCurve, list[Line]], data: st.DataObject
) -> None:
    promise, lines = world
    inner = [d for d in graph.datasets if 0 < graph.depth[d] < math.inf]
    if not inner:
        return
    mechanism = rb.optimal(graph, promise, data.draw(valid_boundaries(graph, lines)))
    broken = data.draw(st.sampled_from(inner))
    table = {d: {a: Fraction(p) for a, p in mechanism[d].items()} for d in graph.datasets}
    first, *_, last = graph.rainbow(broken)
    rise = table[broken][first] / 10**6
    if rise < 1e-9 or table[broken][last] < rise:  # the first choice is certain already, or never
        return
    event("raised")
    table[broken][first] += rise
    table[broken][last] -= rise
    spoilt = rb.Mechanism.from_table(graph, table, promise)
    assert mechanism.check(every_edge=True)
    check = spoilt.check()
    assert not check
    assert check.neighbors is not None
    assert broken in check.neighbors


@pytest.mark.parametrize("guarantee", [rb.DP(1), rb.DP(1, 0.01), rb.GaussianDP(1)])
@pytest.mark.parametrize("place", [0, 1])
def test_one_spoilt_row_of_a_line_is_caught(guarantee: TradeOffCurve, place: int) -> None:
    graph = rb.RainbowGraph([(0, 1), (1, 2), (2, 3)], [YES, YES, YES, NO])
    mechanism = rb.optimal(graph, guarantee)
    table: dict[int, Any] = {d: mechanism[d] for d in range(4)}
    p = table[place]["yes"] * (1 + 1e-6)
    table[place] = {"yes": p, "no": 1 - p}
    assert mechanism.check(every_edge=True)
    assert not rb.Mechanism.from_table(graph, table).check(guarantee)


@given(deep_graphs(), exact_promises(polygons=False), st.data())
def test_it_dominates_every_private_mechanism_with_that_boundary(
    graph: rb.RainbowGraph, world: tuple[TradeOffCurve, list[Line]], data: st.DataObject
) -> None:
    promise, lines = world
    boundary = data.draw(valid_boundaries(graph, lines))
    best = rb.optimal(graph, promise, boundary)
    # One common row inside each region is private too, and a mixture of both as well.
    flat = {d: boundary[graph.region[d]] for d in graph.datasets}
    mix = data.draw(st.integers(0, 4))
    table = {
        d: {a: (mix * Fraction(best[d][a]) + (4 - mix) * flat[d][a]) / 4 for a in graph.answers}
        for d in graph.datasets
    }
    other = rb.Mechanism.from_table(graph, table)
    assert other.check(promise)
    assert rb.dominates(best, other)
    places = sorted(data.draw(exact_rows(len(graph.answers))), reverse=True)
    utility = rb.Utility(places=[float(p) for p in places])
    assert best.utility(utility) >= other.utility(utility) - 1e-12


@pytest.mark.parametrize("guarantee", [rb.DP(1), rb.DP(10), rb.GaussianDP(1), rb.GaussianDP(3)])
def test_the_check_holds_however_deep(guarantee: TradeOffCurve) -> None:
    # Far inside, probabilities fall below what a float can hold; that breaks no promise.
    length = 800
    graph = rb.RainbowGraph(
        [(i, i + 1) for i in range(length)], [("y", "n", "x")] * length + [("n", "y", "x")]
    )
    check = rb.optimal(graph, guarantee).check()
    assert check.holds, str(check)


def test_an_invalid_boundary_is_refused() -> None:
    graph = rb.RainbowGraph([(0, 1)], [YES, NO])
    with pytest.raises(rb.InvalidBoundary) as caught:
        rb.optimal(graph, rb.DP.from_ratio(2), (0.9, 0.1))
    assert_one_sentence(caught.value, "yes > no", "no > yes", "{yes}", "0.7", "log(2)-DP")


@pytest.mark.parametrize(
    ("row", "said"), [((0.5, 0.6), "1.1"), ((float("nan"), 1), "nan"), ((0.2, 0.3, 0.5), "3")]
)
def test_a_bad_row_of_a_line_is_refused(row: tuple[float, ...], said: str) -> None:
    with pytest.raises(rb.RainbowError) as caught:
        rb.optimal_line(YES, 2, rb.DP(1), row)
    assert_one_sentence(caught.value, said)


@pytest.mark.parametrize("length", [-1, -3])
def test_a_line_of_negative_length_is_refused(length: int) -> None:
    with pytest.raises(rb.RainbowError) as caught:
        rb.optimal_line(YES, length, rb.DP(1), (0.5, 0.5))
    assert_one_sentence(caught.value, length)

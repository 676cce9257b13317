from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.guarantees.curve import TradeOffCurve
from reference import assert_one_sentence, worst_by_lines
from strategies import ANSWERS, exact_promises, exact_rows, graphs, guarantees, valid_boundaries

YES, NO = ("yes", "no"), ("no", "yes")
PAIR = rb.RainbowGraph([(0, 1)], [YES, NO])


def all_touching(answers: int) -> rb.RainbowGraph:
    """One dataset for each first choice, all of them neighbors."""
    names = ANSWERS[:answers]
    orders = [(*names[i:], *names[:i]) for i in range(answers)]
    return rb.RainbowGraph(itertools.combinations(range(answers), 2), orders)


@pytest.mark.parametrize(
    "conditions",
    [
        {YES: {"yes": 0.75, "no": 0.25}, NO: {"yes": 0.25, "no": 0.75}},
        {YES: {"no": "1/4", "yes": "3/4"}, NO: (0.75, 0.25)},
        {YES: [0.75, 0.25], NO: np.array([0.75, 0.25])},
        (0.75, 0.25),
        np.array([0.75, 0.25]),
        [Fraction(3, 4), Fraction(1, 4)],
        ["0.75", "0.25"],
    ],
)
def test_every_form_of_a_condition(conditions: Any) -> None:
    condition = rb.BoundaryCondition(PAIR, conditions)
    assert condition.exact_rows == {YES: (Fraction(3, 4), Fraction(1, 4))} | {
        NO: (Fraction(3, 4), Fraction(1, 4))
    }
    assert condition[NO] == {"no": 0.75, "yes": 0.25}
    assert list(condition[NO]) == ["no", "yes"]
    again = rb.BoundaryCondition(PAIR, condition)
    assert again.exact_rows == condition.exact_rows


def test_a_missing_answer_has_probability_zero() -> None:
    condition = rb.BoundaryCondition(PAIR, {YES: {"yes": 1}, NO: {"yes": 1}})
    assert condition[NO] == {"no": 0.0, "yes": 1.0}


def test_a_condition_carried_to_another_graph_keeps_each_answers_probability() -> None:
    one = rb.RainbowGraph([(0, 1)], [YES, NO], labels=[0, 1])
    other = rb.RainbowGraph([(0, 1)], [NO, YES], labels=[0, 1])
    condition = rb.BoundaryCondition(one, {0: {"yes": 0.7, "no": 0.3}, 1: (0.6, 0.4)})
    assert rb.BoundaryCondition(other, condition)[0] == pytest.approx(condition[0])


def test_a_region_without_boundary_needs_none() -> None:
    graph = rb.RainbowGraph([(0, 1)], {"a": YES, "b": NO, "c": YES}, labels=["a", "b", "c"])
    condition = rb.BoundaryCondition(graph, {"a": (0.6, 0.4), "b": (0.6, 0.4)})
    assert set(condition.exact_rows) == {"a", "b"}


@given(exact_promises(), st.data())
def test_clashes_are_those_of_brute_force(
    world: tuple[TradeOffCurve, list[tuple[Fraction, Fraction]]], data: st.DataObject
) -> None:
    promise, lines = world
    graph = data.draw(graphs(6, data.draw(st.integers(1, 4))))
    rows = {label: data.draw(exact_rows(len(graph.answers))) for label in graph.regions}
    given_as = {label: dict(zip(graph.answers, row, strict=True)) for label, row in rows.items()}
    condition = rb.BoundaryCondition(graph, given_as)
    expected = {
        pair: worst
        for pair in graph.touching
        if (worst := worst_by_lines(rows[pair[0]], rows[pair[1]], lines)) > 0
    }
    found = {
        next(p for p in graph.touching if set(p) == {r.label for r in clash.regions}): clash
        for clash in condition.clashes(promise)
    }
    event(f"{len(expected)} clashes")
    assert set(found) == set(expected)
    for pair, clash in found.items():
        assert clash.excess == pytest.approx(float(expected[pair]), abs=1e-12)
        more, less = (region.label for region in clash.regions)
        places = [graph.answers.index(a) for a in clash.answers]
        much = sum(rows[more][a] for a in places)
        little = sum(rows[less][a] for a in places)
        allowed = min([Fraction(1)] + [slope * little + rise for slope, rise in lines])
        assert much - allowed == expected[pair]
    if expected:
        with pytest.raises(rb.InvalidBoundary) as caught:
            condition.validate(promise)
        assert_one_sentence(caught.value, f"{float(max(expected.values())):.6g}", promise)
    else:
        condition.validate(promise)


@given(exact_promises(), st.data())
def test_valid_conditions_pass(
    world: tuple[TradeOffCurve, list[tuple[Fraction, Fraction]]], data: st.DataObject
) -> None:
    promise, lines = world
    graph = data.draw(graphs(6))
    condition = rb.BoundaryCondition(graph, data.draw(valid_boundaries(graph, lines)))
    assert condition.clashes(promise) == ()


def test_the_message_names_regions_answers_and_excess() -> None:
    graph = rb.RainbowGraph([(0, 1)], {"north": YES, "south": NO}, labels=["north", "south"])
    condition = rb.BoundaryCondition(graph, (0.9, 0.1))
    with pytest.raises(rb.InvalidBoundary) as caught:
        condition.validate(rb.DP.from_ratio(2))
    assert str(caught.value) == (
        "the boundary condition breaks log(2)-DP where regions touch: {yes} is too likely "
        "in region (north) beside region (south), by 0.7"
    )


def test_the_worst_of_several_clashes_is_named_and_the_others_are_counted() -> None:
    graph = rb.RainbowGraph(
        [(0, 1), (1, 2)], {"a": YES, "b": YES, "c": YES}, labels=["a", "b", "c"]
    )
    condition = rb.BoundaryCondition(graph, {"a": (0.5, 0.5), "b": (0.1, 0.9), "c": (0.8, 0.2)})
    with pytest.raises(rb.InvalidBoundary) as caught:
        condition.validate(rb.DP.from_ratio(2))
    assert_one_sentence(caught.value, "{yes}", "region (c) beside region (b), by 0.6", "2 pairs")


def test_only_regions_that_touch_are_compared() -> None:
    graph = rb.RainbowGraph(
        [(0, 1), (1, 2)], {"a": YES, "b": YES, "c": YES}, labels=["a", "b", "c"]
    )
    far = {"a": (0.9, 0.1), "b": (0.8, 0.2), "c": (0.6, 0.4)}
    assert rb.BoundaryCondition(graph, far).clashes(rb.DP.from_ratio(2)) == ()
    closed = rb.RainbowGraph(
        [(0, 1), (1, 2), (2, 0)], {"a": YES, "b": YES, "c": YES}, labels=["a", "b", "c"]
    )
    (clash,) = rb.BoundaryCondition(closed, far).clashes(rb.DP.from_ratio(2))
    assert {region.label for region in clash.regions} == {"a", "c"}


@given(graphs(), guarantees())
def test_the_symmetric_condition_is_valid_everywhere(
    graph: rb.RainbowGraph, guarantee: TradeOffCurve
) -> None:
    assert rb.BoundaryCondition.symmetric(graph, guarantee).clashes(guarantee) == ()


@given(st.integers(2, 5), guarantees())
def test_the_symmetric_condition_is_tight(answers: int, guarantee: TradeOffCurve) -> None:
    graph = all_touching(answers)
    condition = rb.BoundaryCondition.symmetric(graph, guarantee)
    assert condition.clashes(guarantee) == ()
    first, *others = condition.exact_rows[graph.rainbow(0)]
    assert len(set(others)) == 1
    assert first >= others[0] * (1 - Fraction(1, 10**15))
    step = Fraction(1, 10**6)
    assume(others[0] > step)
    raised = (first + step, *[p - step / len(others) for p in others])
    assert rb.BoundaryCondition(graph, raised).clashes(guarantee)


@given(st.integers(2, 5), st.integers(10, 60), st.integers(0, 20))
def test_the_symmetric_condition_has_the_closed_form(
    answers: int, tenths: int, twentieth: int
) -> None:
    ratio, delta = Fraction(tenths, 10), Fraction(twentieth, 20)
    graph = all_touching(answers)
    promise = rb.DP.from_ratio(ratio.numerator, ratio.denominator, delta=delta)
    row = list(rb.BoundaryCondition.symmetric(graph, promise)[graph.rainbow(0)].values())
    b = (1 - delta) / (ratio + answers - 1)
    a = ratio * b + delta
    assert row == pytest.approx([float(a), *[float(b)] * (answers - 1)], rel=1e-14, abs=1e-300)


@pytest.mark.parametrize(
    ("conditions", "error", "said"),
    [
        ({YES: {"yes": 1, "maybe": 0}, NO: (1, 0)}, rb.InvalidDistribution, "'maybe'"),
        ({YES: (0.5, 0.5)}, rb.InvalidBoundary, "no > yes"),
        ({}, rb.InvalidBoundary, "yes > no"),
        ({"nowhere": (0.5, 0.5)}, rb.InvalidBoundary, "'nowhere'"),
        ({"yes": 0.5, "no": 0.5}, rb.InvalidBoundary, "'yes'"),
        ((0.5, 0.4), rb.InvalidDistribution, "0.9"),
        ((0.5, 0.3, 0.2), rb.InvalidDistribution, "3"),
        ((1.5, -0.5), rb.InvalidDistribution, "-0.5"),
        ((float("nan"), 1), rb.InvalidDistribution, "nan"),
        ((float("inf"), 1), rb.InvalidDistribution, "inf"),
        (("x", 1), rb.InvalidDistribution, "'x'"),
        ((True, False), rb.InvalidDistribution, "True"),
        ("ab", rb.InvalidDistribution, "'ab'"),
        (3, rb.InvalidDistribution, "3"),
        ({YES: 0.5, NO: 0.5}, rb.InvalidDistribution, "0.5"),
    ],
)
def test_bad_conditions_are_refused_in_one_sentence(
    conditions: Any, error: type[Exception], said: str
) -> None:
    for make in (rb.BoundaryCondition, lambda graph, c: rb.optimal(graph, rb.DP(1), c)):
        with pytest.raises(error) as caught:
            make(PAIR, conditions)
        assert type(caught.value) is error
        assert_one_sentence(caught.value, said)

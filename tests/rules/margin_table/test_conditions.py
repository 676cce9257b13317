"""Conditions that come in as they fail give what all of them at once give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import rainbowdp as rb
from rainbowdp.rules.margin_table import build
from rainbowdp.rules.margin_table.conditions import Conditions
from rainbowdp.rules.margin_table.problem import Problem
from rainbowdp.rules.margin_table.program import _solve, make_table, shape_for

BOTH = pytest.mark.parametrize("neighbors", ["substituted", "added or removed"])
TIES = pytest.mark.parametrize("ties", ["first listed", "any leader"])


def small_problem(answers: int, epsilon: str, neighbors: str, ties: str, delta: str) -> Problem:
    guarantee = rb.DP(epsilon, delta)
    shape = shape_for(answers, guarantee.epsilon, neighbors, ties)
    shape = replace(shape, knots=(0, 1, 2), labeled=min(2, shape.labeled))
    return Problem(shape, guarantee.ratio, float(guarantee.delta))


def all_at_once(problem: Problem) -> float:
    """The best by one program with a slack for each answer at each corner, in SciPy."""
    size, width, conditions = problem.shape.answers, problem.width, problem.conditions
    count = conditions.shape[0]
    rows = problem.row_columns
    numbers = np.repeat(np.arange(len(rows)), size)
    sums = sparse.csr_array((np.ones(rows.size), (numbers, rows.ravel())), shape=(len(rows), width))
    upper = np.where(problem.flipped == 0, 0.0, 1.0)
    if problem.delta:
        together = sparse.kron(sparse.eye_array(count // size), np.ones((1, size)))
        conditions = sparse.block_array([[conditions, -sparse.eye_array(count)], [None, together]])
        limits = np.concatenate([np.zeros(count), np.full(count // size, problem.delta)])
        sums = sparse.hstack([sums, sparse.csr_array((len(rows), count))])
    else:
        limits = np.zeros(count)
    lower = np.zeros(width)
    leaders = np.unique(rows[:, 0])
    lower[leaders] = np.maximum(0.0, problem.flipped[leaders] - 1e-10)
    more = conditions.shape[1] - width
    bounds = [*zip(lower, upper, strict=True), *[(0.0, 1.0)] * more]
    solve: Any = linprog  # its types know no sparse arrays
    cost = np.concatenate([-problem.gain, np.zeros(more)])
    found = solve(
        cost,
        A_ub=conditions.tocsc(),
        b_ub=limits,
        A_eq=sums.tocsc(),
        b_eq=np.ones(len(rows)),
        bounds=bounds,
        method="highs-ipm",
    )
    assert found.success, found.message
    return -float(found.fun)


@BOTH
@TIES
@pytest.mark.parametrize(
    ("answers", "epsilon", "delta"),
    [(3, "0.3", "0"), (3, "2", "0"), (3, "1", "0.01"), (4, "1", "0"), (4, "0.1", "0")],
)
def test_all_conditions_at_once_give_no_more(
    answers: int, epsilon: str, delta: str, neighbors: str, ties: str
) -> None:
    problem = small_problem(answers, epsilon, neighbors, ties, delta)
    values = _solve(problem, None)
    assert problem.gain @ values == pytest.approx(all_at_once(problem), abs=2e-6)
    parts = np.maximum(problem.conditions @ values, 0.0).reshape(-1, answers)
    assert parts.sum(axis=1).max() <= problem.delta + 1e-8


def test_few_conditions_are_needed() -> None:
    problem = small_problem(5, "1", "substituted", "first listed", "0")
    conditions = Conditions(problem)
    conditions.start(problem.flipped, problem.ratio)
    program = conditions.program(np.zeros(problem.width), np.ones(problem.width))
    assert program.matrix.shape[0] < conditions.singles.shape[0] / 2


def test_the_nearest_table_with_the_same_knots_is_found() -> None:
    near = build._nearest(6, rb.DP("0.37"), "substituted", "first listed")
    assert near is not None
    assert near[1] == rb.DP("0.2").ratio  # that of 0.5 is nearer, but has more labeled knots
    assert build._nearest(2, rb.DP(1), "substituted", "first listed") is None


@pytest.mark.slow
def test_a_table_for_another_epsilon_only_tells_where_to_begin() -> None:
    asked = 6, rb.DP("0.9"), "added or removed", "first listed"
    near = build._nearest(*asked)
    assert near is not None
    assert near[1] == rb.DP(1).ratio
    (warm, _), (cold, _) = make_table(*asked, None, near), make_table(*asked)
    gaps = [(0, 0, 0, 0, 0), (1, 1, 1, 1, 1), (1, 5, 9, 9, 9), (0, 9, 1, 9, 9)]
    for at in gaps:
        assert warm.right_at(at) == pytest.approx(cold.right_at(at), abs=1e-3)
    other = build._nearest(5, rb.DP("0.9"), "substituted", "any leader")
    (kept, _) = make_table(*asked, None, other)  # of other knots, so of no use
    assert kept == cold

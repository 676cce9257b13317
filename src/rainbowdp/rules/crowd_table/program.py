"""Making a crowd table: rows by iteration or by a linear program, put into integers.

Where an ε is not small and the order of the list is kept, rows are many, and found by
``iteration``. Else a linear program finds them. Its columns are the chances of the seats that
somebody has, in every crowd; its objective is the chance of the leader, averaged over votes of many
sizes. Conditions are those that ``proof`` compares; they are far more than columns. It begins with
those that tables for other ε keep most narrowly, or permute-and-flip if there are none, and the
others are added as they are violated. Where few are, rivals are given what they need instead. The
leader never has less than by permute-and-flip on the same gaps, which is affine in each coin, so a
crowd table itself.

Floats are not private. They are mixed with a little of permute-and-flip for a smaller ε, which
leaves room in the comparisons, then rounded down to integers with the rest given to the leader, and
proved; the mixing grows until the proof holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.errors import InvalidMechanism, NoTable
from rainbowdp.exact.falling import GRID
from rainbowdp.exact.rule import Progress
from rainbowdp.guarantees.dp import DP
from rainbowdp.numeric.linear_programs import LinearProgram, Solver
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.crowd_table.iteration import iterated, with_needs
from rainbowdp.rules.crowd_table.problem import Problem
from rainbowdp.rules.crowd_table.rule import CrowdTable
from rainbowdp.rules.crowd_table.shape import CrowdShape

TOTAL = 2520 << 52  # a multiple of 1, 2, …, 10, so that leaders can share evenly
_STEP = 2520
_SMALLER_TOTAL = 1 << 52  # where rows are many, and nobody shares
_MANY, _TOTAL_OF_MANY = 1_000, 2520 << 40  # rows, and their total where leaders share
EPSILONS = (0.01, 4.0)
_MOST_SOLVED = 2.0  # above, chances are too small for the solver's tolerance
_ROOM = 2.0**-15  # that ratio^moves leaves
Size: TypeAlias = tuple[int, int]  # how many gaps have rows, and how many of these are ordered
# What a linear program finds while somebody waits: one record substituted and ties to the first
# listed, where the order of the nearest matters, from an ε on; else; and any leader right, where
# there are fewer columns.
_IN_ORDER: dict[int, tuple[float, Size]] = {
    5: (0.2, (8, 3)),
    6: (0.2, (6, 3)),
    7: (0.2, (5, 2)),
    8: (0.3, (4, 2)),
}
_SOLVED: dict[int, Size] = {7: (5, 0), 8: (5, 0), 9: (4, 0), 10: (3, 0)}
_SHARED: dict[int, Size] = {7: (7, 0), 8: (7, 0), 9: (6, 0), 10: (5, 0)}
# From an ε to another leaders have enough beside each other, so that rows in order can be found by
# iteration, and may be more. For a smaller ε more gaps are worth more.
_ITERATED: tuple[tuple[float, float, dict[int, Size]], ...] = (
    (1.5, 4.0, {5: (7, 5), 6: (6, 4)}),
    (1.5, 2.0, {7: (6, 2), 8: (5, 2), 9: (4, 2), 10: (4, 2)}),
    (0.8, 1.5, {5: (10, 5), 6: (8, 4), 7: (6, 3)}),
    (0.6, 0.8, {5: (12, 4), 6: (9, 3)}),
    (0.5, 0.6, {5: (13, 4)}),
)
ANSWERS = (5, 6, 7, 8, 9, 10)
_LEAST_MIXING, _MOST_MIXING = 2.0**-16, 2.0**-4
_SMALLER = 0.875  # part of ε that is mixed in
_ROUNDS = 40
# Conditions to begin with, for each column: from permute-and-flip, and from values that are nearly
# the best, of which those that will bind are nearly all. And how many are added at most.
_FROM_AFAR, _FROM_NEAR, _LEAST_ADDED, _ADDED = 6, 12, 1, 6
_FEW = 0.1  # conditions of a column; if no more are violated the values are mended instead
_VIOLATED = 2e-6
_VIOLATED_IN_ORDER = 3e-5  # with an order the last few would take as long as all others
_LOST = 1e-5  # of the objective, by mending, at most


@dataclass(frozen=True)
class Plan:
    """How a table is made while somebody waits."""

    size: Size
    iterated: bool = False


def plans_for(answers: int, epsilon: float, neighbors: str, ties: str) -> tuple[Plan, ...]:
    """How a table is made, and how where that cannot be proved; none if there is no table."""
    if not EPSILONS[0] <= epsilon <= EPSILONS[1]:
        return ()
    substituted, shared = neighbors == Neighbors.SUBSTITUTED, ties == Ties.ANY_LEADER
    plans = []
    if substituted and not shared:
        plans += [
            Plan(sizes[answers], iterated=True)
            for least, most, sizes in _ITERATED
            if least <= epsilon <= most and answers in sizes
        ][:1]
        least, size = _IN_ORDER.get(answers, (math.inf, (0, 0)))
        if least <= epsilon <= _MOST_SOLVED:
            plans.append(Plan(size))
    sizes = _SHARED if shared else _SOLVED
    if (substituted or not shared) and epsilon <= _MOST_SOLVED and answers in sizes:
        plans.append(Plan(sizes[answers]))
    return tuple(plans)


def most_epsilon(answers: int, neighbors: str, ties: str) -> float:
    """The largest ε for which there is a table of this kind."""
    above = plans_for(answers, EPSILONS[1], neighbors, ties)
    return EPSILONS[1] if above else _MOST_SOLVED


def shape_for(answers: int, epsilon: float, neighbors: str, ties: str, size: Size) -> CrowdShape:
    """Where a table of a size has its rows."""
    moves = 2 if neighbors == Neighbors.SUBSTITUTED else 1
    ratio = math.exp(-epsilon / moves) * (1 + _ROOM)
    rounded = Fraction(math.ceil(ratio * GRID), GRID)
    return CrowdShape(answers, neighbors, ties, *size, rounded)


def make_table(
    shape: CrowdShape,
    guarantee: DP,
    progress: Progress | None = None,
    *,
    near: Mapping[float, CrowdTable] | None = None,
    iterate: bool = False,
) -> tuple[CrowdTable, Fraction]:
    """A good table of its shape, proved, and how much of permute-and-flip was mixed into it.

    It is the best of its shape, or what the iteration finds. Tables that are ``near``, by their ε,
    only tell where a linear program is to begin.
    """
    problem = Problem(shape, guarantee.ratio)
    if iterate:
        values = iterated(problem, progress)
    else:
        begin = problem.between(near, guarantee.epsilon) if near else None
        values = _solve(problem, progress, begin)
    found = _proved(problem, guarantee, values)
    if found is None:
        raise NoTable(
            f"a crowd table for {shape.answers} answers under {guarantee} needs more than a mixing "
            f"of {_MOST_MIXING:.0e} to be private"
        )
    return found


def _proved(problem: Problem, guarantee: DP, values: Floats) -> tuple[CrowdTable, Fraction] | None:
    """The table with the least mixing for which the proof holds, and that; None if none does."""
    mixing = _LEAST_MIXING
    while mixing <= _MOST_MIXING:
        table = _in_integers(problem, (1 - mixing) * values + mixing * problem.flipped(_SMALLER))
        try:
            table.keeps(guarantee)
        except InvalidMechanism:
            mixing *= 4
        else:
            return table, Fraction(mixing)
    return None


def _solve(problem: Problem, progress: Progress | None, near: Floats | None = None) -> Floats:
    """The best values, with conditions added as they are violated.

    Values that are ``near`` only tell with which conditions to begin.
    """
    from scipy import sparse

    shape, conditions, sums = problem.shape, problem.conditions, problem.sums
    flipped, count = problem.flipped(), shape.crowds.size
    lower = np.zeros(problem.width)
    leaders = np.unique(problem.leaders)
    lower[leaders] = flipped[leaders] * (1 - 1e-9)
    violated = _VIOLATED_IN_ORDER if shape.ordered else _VIOLATED
    if near is None:
        kept = _worst(conditions @ flipped, _FROM_AFAR * problem.width)
    else:
        kept = _worst(conditions @ near, _FROM_NEAR * problem.width)
    for number in range(_ROUNDS):
        if progress is not None:
            progress(f"round {number + 1}, {problem.width} columns, {len(kept)} rows")
        matrix = sparse.vstack([sums, conditions[kept]], format="csr")
        program = LinearProgram(
            matrix,
            np.concatenate([np.ones(count), np.full(len(kept), -np.inf)]),
            np.concatenate([np.ones(count), np.zeros(len(kept))]),
            lower,
            np.ones(problem.width),
        )
        solution = Solver(program).maximize(problem.gain)
        if not len(solution.values):
            raise NoTable(f"a crowd table needs an optimum, but the solver said {solution.message}")
        values = np.maximum(solution.values, 0.0)
        over = conditions @ values
        over[kept] = -np.inf
        found = np.count_nonzero(over > violated)
        if not found:
            return values
        if found < _FEW * problem.width:
            mended = with_needs(problem, values)
            lost = problem.gain @ (values - mended)
            if lost < _LOST and (conditions @ mended).max() <= violated:
                return mended
        most = min(max(int(found), _LEAST_ADDED * problem.width), _ADDED * problem.width)
        kept = np.union1d(kept, _worst(over, most))
    raise NoTable(f"a crowd table must be found within {_ROUNDS} rounds, got none")


def _worst(over: Floats, most: int) -> Integers:
    """The conditions that are over by the most."""
    if most >= len(over):
        return np.arange(len(over))
    worst: Integers = np.argpartition(-over, most)[:most]
    return worst


def _in_integers(problem: Problem, values: Floats) -> CrowdTable:
    """Rows of integers: rounded down, the rest to the leaders."""
    shape, rows = problem.shape, []
    total, step = (_SMALLER_TOTAL, 1) if shape.ordered else (TOTAL, _STEP)
    if not shape.ordered and shape.crowds.size > _MANY:
        total = _TOTAL_OF_MANY
    for taken, columns in zip(shape.crowds.taken.tolist(), problem.columns, strict=True):
        leaders = 1 + (taken[1] if shape.ties == Ties.ANY_LEADER else 0)
        row = [0] * len(taken)
        for seat in range(1 + (leaders > 1), len(taken)):
            if taken[seat]:
                row[seat] = max(1, int(values[columns[seat]] * (total // step))) * step
        rest = total - sum(many * weight for many, weight in zip(taken, row, strict=True))
        row[0] = rest // leaders
        if leaders > 1:
            row[1] = row[0]
        rows.append(tuple(row))
    return CrowdTable(shape, total, tuple(rows))

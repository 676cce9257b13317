"""Making a crowd table: rows by iteration or by a linear program, put into integers.

Where the order of the list is kept, rows are many, and found by ``iteration``. Else a linear
program finds them. Its columns are the chances of the seats that somebody has, in every
crowd; its objective is the chance of the leader, averaged over votes of many sizes. Conditions are
those that ``proof`` compares; they are far more than columns, and added as they are violated. The
leader never has less than by permute-and-flip on the same gaps, which is affine in each coin, so a
crowd table itself.

Floats are not private. They are mixed with a little of permute-and-flip for a smaller ε, which
leaves room in the comparisons, then rounded down to integers with the rest given to the leader, and
proved; the mixing grows until the proof holds.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.errors import InvalidMechanism, NoTable
from rainbowdp.exact.falling import GRID
from rainbowdp.exact.rule import Progress
from rainbowdp.guarantees.dp import DP
from rainbowdp.numeric.linear_programs import LinearProgram, Solver
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.crowd_table.iteration import iterated
from rainbowdp.rules.crowd_table.problem import Problem
from rainbowdp.rules.crowd_table.rule import CrowdTable
from rainbowdp.rules.crowd_table.shape import CrowdShape

TOTAL = 2520 << 52  # a multiple of 1, 2, …, 10, so that leaders can share evenly
_STEP = 2520
_SMALLER_TOTAL = 1 << 52  # where rows are many, and nobody shares
_MANY, _TOTAL_OF_MANY = 1_000, 2520 << 40  # rows, and their total where leaders share
EPSILONS = (0.01, 4.0)
_MOST_SOLVED = 2.0  # above, chances are too small for the solver's tolerance
# How many gaps have rows, and how many of these are ordered, by the number of answers. Without an
# order a linear program has to be solved; more gaps take minutes.
_SOLVED = {7: (5, 0), 8: (4, 0), 9: (4, 0), 10: (3, 0)}
_SHARED = {7: (5, 0), 8: (5, 0), 9: (4, 0), 10: (4, 0)}  # any leader right: fewer columns
# One record substituted, ties to the first listed, from an ε to another. For a smaller ε more gaps
# are worth more, and soon leaders have too little beside each other, which no iteration mends.
# Where few gaps are ordered, what crowds need of each other goes round through the coins, and
# settles only if these leave more room.
_ROOM, _MORE_ROOM = 2.0**-15, 2.0**-11  # that ratio^moves leaves
_ITERATED = (
    (1.5, 4.0, _ROOM, {5: (7, 5), 6: (6, 4)}),
    (1.5, 2.0, _ROOM, {7: (6, 2), 8: (5, 2), 9: (4, 2), 10: (4, 2)}),
    (0.8, 1.5, _ROOM, {5: (10, 5), 6: (8, 4), 7: (6, 3)}),
    (1.0, 1.5, _MORE_ROOM, {8: (4, 2)}),
    (0.6, 0.8, _ROOM, {5: (12, 4), 6: (9, 3)}),
    (0.5, 0.6, _ROOM, {5: (13, 4)}),
)
ANSWERS = (5, 6, 7, 8, 9, 10)
_LEAST_MIXING, _MOST_MIXING = 2.0**-16, 2.0**-4
_SMALLER = 0.875  # part of ε that is mixed in
_WIDEST = 4_000  # columns up to which a program is solved where the iteration fails
_ROUNDS, _DROPS = 40, 4
_MOST = 6  # conditions to begin with, and to add at most, for each column
_VIOLATED, _LOOSE = 2e-6, 1e-4  # what is added, and what is left out again
_VIOLATED_IN_ORDER = 3e-5  # with an order the last few would take as long as all others


def size_for(answers: int, epsilon: float, neighbors: str, ties: str) -> tuple[int, int] | None:
    """How many gaps have rows, and how many of them are ordered; None if there is no table."""
    return _plan_for(answers, epsilon, neighbors, ties)[0]


def _plan_for(
    answers: int, epsilon: float, neighbors: str, ties: str
) -> tuple[tuple[int, int] | None, float]:
    """The size of a table, None if there is none, and the room that its coins leave."""
    if not EPSILONS[0] <= epsilon <= EPSILONS[1]:
        return None, _ROOM
    if neighbors == Neighbors.SUBSTITUTED and ties == Ties.FIRST_LISTED:
        for least, most, room, sizes in _ITERATED:
            if least <= epsilon <= most and answers in sizes:
                return sizes[answers], room
    if neighbors != Neighbors.SUBSTITUTED and ties == Ties.ANY_LEADER:
        return None, _ROOM
    return _solved_size(answers, epsilon, ties), _ROOM


def _solved_size(answers: int, epsilon: float, ties: str) -> tuple[int, int] | None:
    """The size of a table that a linear program finds while somebody waits, if there is one."""
    sizes = _SHARED if ties == Ties.ANY_LEADER else _SOLVED
    return sizes.get(answers) if epsilon <= _MOST_SOLVED else None


def most_epsilon(answers: int, neighbors: str, ties: str) -> float:
    """The largest ε for which there is a table of this kind."""
    above = size_for(answers, EPSILONS[1], neighbors, ties)
    return EPSILONS[1] if above is not None else _MOST_SOLVED


def shape_for(
    answers: int,
    epsilon: float,
    neighbors: str,
    ties: str,
    size: tuple[int, int] | None = None,
) -> CrowdShape:
    """Where a table has its rows; ``size`` is how many gaps, and how many of them are ordered."""
    planned, room = _plan_for(answers, epsilon, neighbors, ties)
    if size is None:
        size = planned
    elif size != planned:
        room = _ROOM
    if size is None:
        raise NoTable(
            f"there is no crowd table of {answers} answers for epsilon = {epsilon:g}, records "
            f"{neighbors} and {ties}"
        )
    moves = 2 if neighbors == Neighbors.SUBSTITUTED else 1
    ratio = math.exp(-epsilon / moves) * (1 + room)
    rounded = Fraction(math.ceil(ratio * GRID), GRID)
    return CrowdShape(answers, neighbors, ties, *size, rounded)


def shapes_for(answers: int, epsilon: float, neighbors: str, ties: str) -> tuple[CrowdShape, ...]:
    """The shape of a table, and a smaller one that is solved for where the first is not proved."""
    first = shape_for(answers, epsilon, neighbors, ties)
    smaller = _solved_size(answers, epsilon, ties)
    if smaller is None or smaller == (first.knots, first.ordered):
        return (first,)
    return first, shape_for(answers, epsilon, neighbors, ties, size=smaller)


def make_table(
    shape: CrowdShape, guarantee: DP, progress: Progress | None = None, *, solved: bool = False
) -> tuple[CrowdTable, Fraction]:
    """A good table of its shape, proved, and how much of permute-and-flip was mixed into it.

    It is the best of its shape without an order, or if it is to be ``solved``, which takes minutes.
    """
    problem, found = Problem(shape, guarantee.ratio), None
    if shape.ordered and not solved:
        found = _proved(problem, guarantee, iterated(problem, progress))
    if found is None and (solved or not shape.ordered or problem.width <= _WIDEST):
        found = _proved(problem, guarantee, _solve(problem, progress))
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


def _solve(problem: Problem, progress: Progress | None) -> Floats:
    """The best values, with conditions added as they are violated."""
    from scipy import sparse

    shape, conditions, sums = problem.shape, problem.conditions, problem.sums
    flipped, count = problem.flipped(), shape.crowds.size
    lower = np.zeros(problem.width)
    leaders = np.unique(problem.columns[:, 0])
    lower[leaders] = flipped[leaders] * (1 - 1e-9)
    most = _MOST * problem.width
    violated = _VIOLATED_IN_ORDER if shape.ordered else _VIOLATED
    shared = shape.ties == Ties.ANY_LEADER  # where the first conditions are nearly all
    kept = np.argsort(-(conditions @ flipped))[:most]
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
        worst = np.setdiff1d(np.flatnonzero(over > violated), kept)
        if not len(worst):
            return values
        if len(worst) > most:
            worst = worst[np.argpartition(-over[worst], most)[:most]]
        if not shared and number < _DROPS:  # for ever it would go round in circles
            kept = kept[over[kept] > -_LOOSE]
        kept = np.union1d(kept, worst)
    raise NoTable(f"a crowd table must be found within {_ROUNDS} rounds, got none")


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

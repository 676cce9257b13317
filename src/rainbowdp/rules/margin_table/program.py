"""Making a margin table: the best rows at the knots by a linear program, put into integers.

Variables are the probabilities at the knots. Their objective is the probability of saying a right
answer, averaged over votes of many sizes; ``proof`` says which pairs of neighboring rows are
enough for privacy. With δ each pair has a condition for every set of answers; these are added as
they are violated. The probability of the leader is nowhere below that of permute-and-flip, which is
linear in each r^gap and so a feasible table itself; where the program gains nothing, it is taken.

The solver's floats are not private. They are mixed with the uniform row, rounded down to
integers with the rest given to the leader, and proved; the mixing grows until the proof holds.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.errors import InvalidGuarantee, InvalidMechanism, NoTable
from rainbowdp.exact.rule import Progress
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.linear_programs import LinearProgram, Solver
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.margin_table.conditions import Conditions
from rainbowdp.rules.margin_table.problem import Problem
from rainbowdp.rules.margin_table.proof import prove_table
from rainbowdp.rules.margin_table.rule import MarginTable
from rainbowdp.rules.margin_table.shape import Shape

MOST_ANSWERS = 6
EPSILONS = (0.01, 4.0)
TOTAL = 60 << 56  # a multiple of 1, 2, …, 6, so that leaders can share evenly

# How many knots there are for 2, 3, … answers, and how many of them are labeled: where a gap is
# worth much, that is for a large ε, and else. What is near a tie matters more for a large ε, and
# knots that are farther apart than a record make slow programs. Where records come and go, who
# comes first matters more than many knots do.
_LARGE_UNIT = 4.0
_LARGE_DELTA = 0.01  # from which six answers have the smaller size: sets make programs slow
_SIZES = {
    (Ties.ANY_LEADER, Neighbors.SUBSTITUTED): {
        2: ((24, 0), (24, 0)),
        3: ((20, 0), (20, 0)),
        4: ((14, 0), (11, 0)),
        5: ((10, 0), (10, 0)),
        6: ((8, 0), (7, 0)),
    },
    (Ties.ANY_LEADER, Neighbors.ADDED_OR_REMOVED): {
        2: ((24, 0), (24, 0)),
        3: ((20, 0), (20, 0)),
        4: ((14, 0), (11, 0)),
        5: ((8, 0), (8, 0)),
        6: ((6, 0), (6, 0)),
    },
    (Ties.FIRST_LISTED, Neighbors.SUBSTITUTED): {
        2: ((24, 24), (24, 24)),
        3: ((20, 20), (20, 20)),
        4: ((9, 5), (8, 2)),
        5: ((6, 2), (6, 2)),
        6: ((4, 2), (4, 1)),
    },
    (Ties.FIRST_LISTED, Neighbors.ADDED_OR_REMOVED): {
        2: ((24, 24), (24, 24)),
        3: ((20, 20), (20, 20)),
        4: ((6, 6), (6, 6)),
        5: ((4, 4), (4, 4)),
        6: ((2, 2), (2, 2)),
    },
}
_REACH = {2: 2.0, 3: 2.0, 4: 2.0}  # in units; for more answers it would cost minutes
_FARTHEST_KNOT = 7.0  # in units; beyond it there is less than a thousandth to gain
_FARTHEST = 40 * math.log(2)
_ROUNDS = 60
_GAP = 1e-5
_LITTLE, _MOST_VIOLATION = 1e-10, 1e-7  # little is what a mixing of q times this makes good
_MUCH = 1e-5
_SMALL, _MORE = 2000, 1e-9  # programs with more columns take too long to ask for as little
_FLOOR = 1e-10  # below permute-and-flip; less is no room for the solver
_WORTH = 1e-8  # what gains less than this on permute-and-flip is no better
_LEAST_MIXING, _MOST_MIXING = 2.0**-37, 2.0**-19


def has_table(answers: int, guarantee: Guarantee) -> bool:
    """Whether a margin table can be made: 2 to 6 answers, (ε,δ) with ε from 0.01 to 4."""
    return (
        2 <= answers <= MOST_ANSWERS
        and isinstance(guarantee, DP)
        and EPSILONS[0] <= guarantee.epsilon <= EPSILONS[1]
        and guarantee.delta < 1
    )


def make_table(
    answers: int,
    guarantee: DP,
    neighbors: str,
    ties: str,
    progress: Progress | None = None,
    near: tuple[MarginTable, float] | None = None,
) -> tuple[MarginTable, Fraction]:
    """The best table of its shape, proved in exact rationals, and how much was mixed into it.

    A table that is ``near``, for another e^ε, only tells where to begin.
    """
    if not has_table(answers, guarantee):
        raise InvalidGuarantee(
            f"a margin table is for 2 to {MOST_ANSWERS} answers and epsilon from "
            f"{EPSILONS[0]} to {EPSILONS[1]}, got {answers} answers and {guarantee}"
        )
    tell = progress or (lambda line: None)
    tell("writing the linear program")
    shape = shape_for(answers, guarantee.epsilon, neighbors, ties, guarantee.delta)
    problem = Problem(shape, guarantee.ratio, float(guarantee.delta))
    values = _solve(problem, progress, near)
    tell("proving the table")
    mixing = _LEAST_MIXING
    while mixing <= _MOST_MIXING:
        table = _in_integers(problem, values, mixing)
        try:
            prove_table(guarantee, table.shape, table.total, table.rows)
        except InvalidMechanism:
            mixing *= 8
        else:
            prove_table(guarantee, table.shape, table.total, table.rows, exactly=True)
            return table, Fraction(mixing)
    raise NoTable(
        f"a margin table for {answers} answers under {guarantee} needs more than a mixing of "
        f"{_MOST_MIXING:.0e} to be private: use another mechanism"
    )


def shape_for(answers: int, epsilon: float, neighbors: str, ties: str, delta: float = 0.0) -> Shape:
    """Where a table has its knots.

    The unit is the gap that costs a factor e: 2/ε records where one is substituted (which moves a
    gap by two), 1/ε where one is added or removed. Gaps count up to r^gap = 2^-40.
    """
    unit = (2 if neighbors == Neighbors.SUBSTITUTED else 1) / epsilon
    sizes = _SIZES[Ties(ties), Neighbors(neighbors)]
    small = unit > _LARGE_UNIT or (answers == MOST_ANSWERS and delta > _LARGE_DELTA)
    size, labeled = sizes[answers][small]
    size = min(size, 2 + int(_FARTHEST_KNOT * unit))
    knots = _knots(size, _REACH.get(answers, 0.0) * unit)
    farthest = max(knots[-1] + 1, math.ceil(_FARTHEST * unit))
    ratio = _just_above(math.exp(-1 / unit))
    return Shape(answers, neighbors, ties, knots, farthest, ratio, min(labeled, size))


def _knots(size: int, reach: float) -> tuple[int, ...]:
    """0, 1, 2, …; where these end before ``reach``, steps that grow at a constant rate up to it.

    Next to each other they are best: a record moves a gap from knot to knot, and every condition
    has two terms.

    >>> _knots(6, 4), _knots(6, 20)
    ((0, 1, 2, 3, 4, 5), (0, 1, 3, 6, 11, 20))
    """
    if size - 1 >= reach:
        return tuple(range(size))
    slow, fast = 1.0, reach
    while fast - slow > 1e-9:
        rate = (slow + fast) / 2
        slow, fast = (slow, rate) if (rate ** (size - 1) - 1) / (rate - 1) > reach else (rate, fast)
    knots = [0]
    for place in range(1, size):
        knots.append(max(knots[-1] + 1, round((fast**place - 1) / (fast - 1))))
    return tuple(knots)


def _just_above(value: float) -> Fraction:
    """A fraction with few digits at most 1e-11 above ``value``, which is between 0 and 1.

    Among the fractions with denominators up to some power of two the nearest, or where that is
    below, its upper neighbor a/b: of all with a·q − p·b = 1 for the nearest p/q the one with the
    largest b.
    """
    wanted, most = Fraction(value), 1 << 17
    while True:
        found = wanted.limit_denominator(most)
        if found < wanted:
            p, q = found.numerator, found.denominator
            b = most - (most + pow(p, -1, q)) % q if q > 1 else most
            found = Fraction(1 + p * b, q * b)
        if found - wanted <= Fraction(1, 10**11):
            return found
        most *= 2


def _solve(
    problem: Problem, progress: Progress | None, near: tuple[MarginTable, float] | None = None
) -> Floats:
    """The best values, by a program whose conditions are added as they fail.

    It starts with those that a table for another ε, or permute-and-flip, keeps most narrowly; they
    are nearly all that bind.
    """
    flipped = problem.flipped
    leaders = np.unique(problem.row_columns[:, 0])
    lower, upper = np.zeros(problem.width), np.ones(problem.width)
    lower[leaders] = np.maximum(0.0, flipped[leaders] - _FLOOR)
    upper[flipped == 0] = 0.0  # infinitely far behind
    conditions = Conditions(problem)
    if near is not None and problem.fits(near[0].shape):
        conditions.start(problem.values_of(near[0].rows), near[1])
    else:
        conditions.start(flipped, problem.ratio)
    little = (_LITTLE if problem.width < _SMALL else _MORE) * (problem.ratio - 1)
    for number in range(_ROUNDS):
        program = conditions.program(lower, upper)
        size = f"{problem.width} columns, {program.matrix.shape[0]} rows"
        what = f"solving round {number + 1}, {size}"
        values = _optimum(program, conditions, little, _prefixed(what, progress))
        if not conditions.add_violated(values, little):
            return values if problem.gain @ (values - flipped) >= _WORTH else flipped
    raise NoTable(f"a margin table must be found within {_ROUNDS} rounds, got none")


def _prefixed(what: str, progress: Progress | None) -> Progress | None:
    """Say ``what`` now, and again before everything that is said."""
    if progress is None:
        return None
    progress(what)
    return lambda line: progress(f"{what}, {line}")


def _optimum(
    program: LinearProgram, conditions: Conditions, little: float, progress: Progress | None
) -> Floats:
    """Values that are nearly feasible and, by the multipliers' own bound, nearly the best.

    What the solver calls them does not matter. Presolving makes large programs smaller, but takes
    some with hardly any room for infeasible. Where conditions that are not in the program fail by
    much, less will do, as another round follows.
    """
    problem = conditions.problem
    found, privacy = [], replace(program, lower=np.zeros(problem.width))  # floors have room
    for presolve, tolerance in ((True, 1e-8), (False, 1e-10), (False, 1e-7)):
        solver = Solver(program, tolerance=tolerance, presolve=presolve, progress=progress)
        solution = solver.maximize(problem.gain)
        if solution.gap < _GAP:
            violation = privacy.violation(solution.values)
            found.append((violation, solution))
            if violation < little or (
                violation < _MOST_VIOLATION and conditions.excess(solution.values) > _MUCH
            ):
                break
    violation, best = min(found, key=lambda one: one[0], default=(math.inf, solution))
    if violation > _MOST_VIOLATION:
        raise NoTable(f"a margin table needs an optimum, but the solver said {best.message}")
    return best.values


def _in_integers(problem: Problem, values: Floats, mixing: float) -> MarginTable:
    """Rows of integers: mixed with the uniform row, rounded down, the rest to the leaders."""
    size, step = problem.shape.answers, 60
    rows = []
    for columns in problem.row_columns:
        leaders = [0, *(i for i, c in enumerate(columns) if i and c == columns[0])]
        row = [0] * size
        for place, value in enumerate(values[columns]):
            if place not in leaders:
                mixed = (1 - mixing) * max(0.0, float(value)) + mixing / size
                row[place] = int(mixed * (TOTAL // step)) * step
        rest = TOTAL - sum(row)
        for place in leaders:
            row[place] = rest // len(leaders)
        rows.append(tuple(row))
    return MarginTable(problem.shape, TOTAL, tuple(rows))

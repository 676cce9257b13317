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

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.errors import InvalidGuarantee, InvalidMechanism, NoTable
from rainbowdp.exact.rule import Progress
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.coins import first_heads
from rainbowdp.numeric.linear_programs import LinearProgram, Solver
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.margin_table.proof import prove_table
from rainbowdp.rules.margin_table.rule import MarginTable
from rainbowdp.rules.margin_table.shape import Knots, Shape

MOST_ANSWERS = 6
EPSILONS = (0.01, 4.0)
TOTAL = 60 << 56  # a multiple of 1, 2, …, 6, so that leaders can share evenly

# How many knots there are for 2, 3, … answers, and how many of them are labeled: where a gap is
# worth much, that is for a large ε, and else. What is near a tie matters more for a large ε, and
# knots that are farther apart than a record make slow programs. Where records come and go, who
# comes first matters more than many knots do.
_LARGE_UNIT = 4.0
_SIZES = {
    "any leader": {
        2: ((24, 0), (24, 0)),
        3: ((20, 0), (20, 0)),
        4: ((14, 0), (11, 0)),
        5: ((8, 0), (8, 0)),
        6: ((6, 0), (6, 0)),
    },
    "substituted": {
        2: ((24, 24), (24, 24)),
        3: ((20, 20), (20, 20)),
        4: ((9, 5), (8, 2)),
        5: ((6, 2), (6, 2)),
        6: ((4, 2), (4, 1)),
    },
    "added or removed": {
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
_LEAST_MEAN, _MOST_MEAN = 4, 64  # records of an answer, and units
_TAIL = 12  # means; geometric numbers are hardly ever beyond
_ROUNDS = 60
_GAP, _TOLERANCE = 1e-5, 1e-9
_LITTLE, _MOST_VIOLATION = 1e-10, 1e-7  # little is what a mixing of q times this makes good
_FLOOR = 1e-10  # below permute-and-flip; less is no room for the solver
_WORTH = 1e-8  # what gains less than this on permute-and-flip is no better
_NEGLIGIBLE = 1e-9  # a condition with such coefficients is kept by the mixing
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
) -> tuple[MarginTable, Fraction]:
    """The best table of its shape, proved in exact rationals, and how much was mixed into it."""
    if not has_table(answers, guarantee):
        raise InvalidGuarantee(
            f"a margin table is for 2 to {MOST_ANSWERS} answers and epsilon from "
            f"{EPSILONS[0]} to {EPSILONS[1]}, got {answers} answers and {guarantee}"
        )
    shape = shape_for(answers, guarantee.epsilon, neighbors, ties)
    problem = _Problem(shape, guarantee.ratio, float(guarantee.delta))
    values = _solve(problem, progress)
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


def shape_for(answers: int, epsilon: float, neighbors: str, ties: str) -> Shape:
    """Where a table has its knots.

    The unit is the gap that costs a factor e: 2/ε records where one is substituted (which moves a
    gap by two), 1/ε where one is added or removed. Gaps count up to r^gap = 2^-40.
    """
    unit = (2 if neighbors == Neighbors.SUBSTITUTED else 1) / epsilon
    sizes = _SIZES[ties if ties == Ties.ANY_LEADER else neighbors]
    size, labeled = sizes[answers][unit > _LARGE_UNIT]
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


@dataclass(frozen=True)
class _Problem:
    """The linear program of a shape: columns are the distinct probabilities at the knots."""

    shape: Shape
    ratio: float
    delta: float

    @cached_property
    def states(self) -> list[Knots]:
        """The choices of knots that have a row."""
        return list(self.shape.states)

    @cached_property
    def row_columns(self) -> Integers:
        """For each state and position its column; equal weights share one."""
        columns = np.empty((len(self.states), self.shape.answers), dtype=np.int64)
        used = 0
        for number, knots in enumerate(self.states):
            for place in range(self.shape.answers):
                columns[number, place] = used + place
            for one, other in self.shape.same_rows(knots):
                columns[number, other] = columns[number, one]
            distinct, columns[number] = np.unique(columns[number], return_inverse=True)
            columns[number] += used
            used += len(distinct)
        return columns

    @cached_property
    def columns(self) -> Integers:
        """``row_columns`` over all choices of knots: an axis for each gap, positions last."""
        size, knots = self.shape.answers, len(self.shape.knots) + 1
        columns = np.empty((knots,) * (size - 1) + (size,), dtype=np.int64)
        for choice in itertools.product(range(knots), repeat=size - 1):
            arranged, places = self.shape.arranged(choice)
            columns[choice] = self.row_columns[self.shape.states[arranged]][list(places)]
        return columns

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.row_columns.max()) + 1

    def cells(self, gaps: Integers) -> tuple[Integers, Floats]:
        """The knot below each gap, and its share."""
        knots = np.array(self.shape.knots)
        heights = np.append(float(self.shape.ratio) ** knots, 0.0)
        cell = np.searchsorted(knots, gaps, side="right") - 1
        here = float(self.shape.ratio) ** np.minimum(gaps, self.shape.farthest)
        share = (here - heights[cell + 1]) / (heights[cell] - heights[cell + 1])
        return cell, np.where(gaps == knots[cell], 1.0, share)

    def blended(self, gaps: Integers) -> Any:
        """A sparse matrix from columns to probabilities, q rows for each row of ``gaps``."""
        from scipy import sparse

        count, places = gaps.shape
        cell, share = self.cells(gaps)
        rows, columns, shares = [], [], []
        for corner in itertools.product((0, 1), repeat=places):
            weight = np.where(np.array(corner) == 0, share, 1 - share).prod(axis=1)
            some = np.flatnonzero(weight > 0)
            found = self.columns[tuple((cell + corner)[some].T)]
            rows.append((some[:, None] * (places + 1) + np.arange(places + 1)).ravel())
            columns.append(found.ravel())
            shares.append(np.repeat(weight[some], places + 1))
        where = np.concatenate(rows), np.concatenate(columns)
        size = (count * (places + 1), self.width)
        return sparse.csr_array((np.concatenate(shares), where), shape=size)

    @cached_property
    def conditions(self) -> Any:
        """P_v − E·Q_v at each corner, its q answers together; all one way, then the other way."""
        from scipy import sparse

        here, there = [], []
        for gaps, moved, goes_to in _corners(self.shape):
            here.append(self.blended(gaps))
            order = np.arange(len(gaps))[:, None] * len(goes_to) + np.array(goes_to)
            there.append(self.blended(moved)[order.ravel()])
        p, q = sparse.vstack(here, format="csr"), sparse.vstack(there, format="csr")
        kept = self._different(p, q)
        p, q = p[kept], q[kept]
        return sparse.vstack([p - self.ratio * q, q - self.ratio * p], format="csr")

    def _different(self, p: Any, q: Any) -> Integers:
        """One of each set of corners that say the same, recognized by a random projection."""
        size = self.shape.answers
        rng = np.random.default_rng(0)
        marks = np.stack([m @ rng.random(self.width) for m in (p, q)], axis=1)
        codes = np.sort(np.round(marks @ np.array([1.0, math.pi]), 9).reshape(-1, size), axis=1)
        _, first = np.unique(codes, axis=0, return_index=True)
        return (np.sort(first)[:, None] * size + np.arange(size)).ravel()

    @cached_property
    def gain(self) -> Floats:
        """The probability of the leader, averaged over votes of many sizes.

        The records of each answer are independent and geometric, with a mean of 4, 8, 16, … up to
        far beyond the last knot; a mean counts the more, the less permute-and-flip errs there.
        """
        gain, total = np.zeros(self.width), 0.0
        mean, unit = _LEAST_MEAN, -1 / math.log(self.shape.ratio)
        while mean <= _MOST_MEAN * unit:
            one = self._leader_where_geometric(mean)
            weight = 1 / (1 - float(one @ self.flipped))
            gain, total = gain + weight * one, total + weight
            mean *= 2
        return gain / total

    def _leader_where_geometric(self, mean: int) -> Floats:
        """The probability of the leader where each answer has a geometric number of records.

        A vote of n records weighs ratio^n. If the leader has m of them, n is q·m less the gaps,
        each one of 0 … m. For a large mean some of the m are enough. (Where leaders share, a vote
        with t of them is seen from each, so this is the probability of any leader.)
        """
        ratio, gaps = mean / (1 + mean), np.arange(_TAIL * mean)
        cell, share = self.cells(gaps)
        shares = np.zeros((len(gaps), len(self.shape.knots) + 1))
        shares[gaps, cell], shares[gaps, cell + 1] = share, 1 - share
        some = slice(None, None, max(1, mean // 32))
        others = np.cumsum(shares * ratio ** -gaps[:, None], axis=0)[some]
        places = range(1, self.shape.answers)
        factors: list[Any] = [ratio ** (self.shape.answers * gaps[some]), [0]]
        for place in places:
            factors += [others, [0, place]]
        weight = np.einsum(*factors, list(places), optimize=True)
        leader = np.zeros(self.width)
        np.add.at(leader, self.columns[..., 0], weight / weight.sum())
        return leader

    @cached_property
    def flipped(self) -> Floats:
        """Permute-and-flip as a table, with the chances r^gap."""
        heights = np.array([float(self.shape.ratio) ** knot for knot in self.shape.knots] + [0.0])
        leader = np.ones((len(self.states), 1))
        rows = first_heads(np.concatenate([leader, heights[np.array(self.states)]], axis=1))
        values = np.empty(self.width)
        values[self.row_columns] = rows
        return values


def _corners(shape: Shape) -> Iterator[tuple[Integers, Integers, tuple[int, ...]]]:
    """Gaps at corners, the gaps of their neighbors, and where each position stands there."""
    size = shape.answers
    seen = set()
    for gained in _changes(size, shape.neighbors):
        # An answer that gains on the leader overtakes it from fewer than ``lead`` records behind.
        lead = [max(0, gained[i] - gained[0]) for i in range(1, size)]
        for near in itertools.product(*(range(reach + 1) for reach in lead)):
            close = [i for i in range(1, size) if near[i - 1] < lead[i - 1]]
            scores = {i: gained[i] - near[i - 1] - _delay(shape, i) for i in close}
            ahead = max(scores, key=scores.__getitem__) if scores else 0
            top = gained[ahead] - near[ahead - 1] if ahead else gained[0]
            if gained[0] == 0 and min(gained) < 0 and ahead:
                continue  # seen from the other end, whose leader loses the record
            moves, goes_to = [], [0] * size
            for i in range(size):
                late = shape.ties == "first listed" and i < ahead
                moves.append(top - gained[i] - late)
                if shape.ties == "first listed":
                    goes_to[i] = (i - ahead) % size
                else:
                    goes_to[i] = 0 if i == ahead else ahead if i == 0 else i
            ends = []
            for i in range(1, size):
                if i in close:
                    ends.append(np.array([near[i - 1]]))
                else:
                    knots = np.array([*shape.knots, shape.farthest])
                    found = np.concatenate([knots, knots - moves[i], [lead[i - 1]]])
                    ends.append(np.unique(found[found >= lead[i - 1]]))
            kinds = [(gained[i], near[i - 1], i == ahead) for i in range(1, size)]
            if shape.ties == "any leader":
                if (gained[0], tuple(sorted(kinds))) in seen:
                    continue
                seen.add((gained[0], tuple(sorted(kinds))))
            gaps = np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1).reshape(-1, size - 1)
            if shape.ties == "any leader":  # answers of one kind in rising order are enough
                for i, j in itertools.combinations(range(size - 1), 2):
                    if kinds[i] == kinds[j]:
                        gaps = gaps[gaps[:, i] <= gaps[:, j]]
            moved = np.zeros_like(gaps)
            for i in range(size):
                if i != ahead:
                    moved[:, goes_to[i] - 1] = moves[i] + (gaps[:, i - 1] if i else 0)
            yield gaps, moved, tuple(goes_to)


def _delay(shape: Shape, place: int) -> float:
    """The part of a record that an answer is behind by its place in the list."""
    return place / shape.answers if shape.ties == "first listed" else 0.0


def _changes(answers: int, neighbors: str) -> Iterator[tuple[int, ...]]:
    """Records gained by each position, for one end of every pair of neighbors."""
    places = range(answers)
    for v in places:
        yield tuple(int(i == v) for i in places)
    if neighbors == "substituted":
        for u, v in itertools.combinations(places, 2):
            yield tuple((i == v) - (i == u) for i in places)


def _solve(problem: _Problem, progress: Progress | None) -> Floats:
    """The best values: sets of answers, which δ calls for, and floors are added as they fail."""
    from scipy import sparse

    rows, conditions = problem.row_columns, problem.conditions
    numbers = np.repeat(np.arange(len(rows)), rows.shape[1])
    sums = sparse.csr_array((np.ones(rows.size), (numbers, rows.ravel())))
    matrix = sparse.vstack([sums, conditions[_telling(conditions)]], format="csr")
    leaders, flipped = np.unique(rows[:, 0]), problem.flipped
    lower, upper = np.zeros(problem.width), np.ones(problem.width)
    upper[flipped == 0] = 0.0  # infinitely far behind
    for number in range(_ROUNDS):
        more = matrix.shape[0] - len(rows)
        program = LinearProgram(
            matrix,
            np.concatenate([np.ones(len(rows)), np.full(more, -np.inf)]),
            np.concatenate([np.ones(len(rows)), np.full(more, problem.delta)]),
            lower,
            upper,
        )
        what = f"round {number + 1}, {problem.width} columns, {matrix.shape[0]} rows"
        values = _optimum(program, problem, _prefixed(what, progress))
        if problem.gain @ (values - flipped) < _WORTH:
            return flipped
        below = leaders[values[leaders] < flipped[leaders] - 2 * _FLOOR]
        wrong = _violated(problem, values)
        if not wrong.shape[0] and not len(below):
            return values
        lower[below] = flipped[below] - _FLOOR
        matrix = sparse.vstack([matrix, wrong], format="csr")
    raise NoTable(f"a margin table must be found within {_ROUNDS} rounds, got none")


def _telling(conditions: Any) -> Integers:
    """One of each set of equal rows that are not negligible, recognized by random projections."""
    marks = conditions @ np.random.default_rng(0).random((conditions.shape[1], 2))
    _, first = np.unique(np.round(marks, 9), axis=0, return_index=True)
    large = conditions.max(axis=1).toarray().ravel() > _NEGLIGIBLE
    return np.sort(first[large[first]])


def _prefixed(what: str, progress: Progress | None) -> Progress | None:
    """Say ``what`` now, and again before everything that is said."""
    if progress is None:
        return None
    progress(what)
    return lambda line: progress(f"{what}, {line}")


def _optimum(program: LinearProgram, problem: _Problem, progress: Progress | None) -> Floats:
    """Values that are nearly feasible and, by the multipliers' own bound, nearly the best.

    What the solver calls them does not matter. Presolving makes large programs smaller, but takes
    some with hardly any room for infeasible.
    """
    found = []
    for presolve, tolerance in ((True, 1e-8), (False, 1e-10), (False, 1e-7)):
        solver = Solver(program, tolerance=tolerance, presolve=presolve, progress=progress)
        solution = solver.maximize(problem.gain)
        if solution.gap < _GAP:
            found.append((program.violation(solution.values), solution))
            if found[-1][0] < _LITTLE * (problem.ratio - 1):
                break
    violation, best = min(found, key=lambda one: one[0], default=(math.inf, solution))
    if violation > _MOST_VIOLATION:
        raise NoTable(f"a margin table needs an optimum, but the solver said {best.message}")
    return best.values


def _violated(problem: _Problem, values: Floats) -> Any:
    """Where δ is given, the sets of answers that together exceed it; at most three a column."""
    from scipy import sparse

    size, conditions = problem.shape.answers, problem.conditions
    if not problem.delta:
        return conditions[:0]
    parts = np.maximum(conditions @ values, 0.0).reshape(-1, size)
    over = parts.sum(axis=1) - problem.delta
    worst = np.flatnonzero(over > _TOLERANCE)
    if len(worst) > 3 * problem.width:
        worst = worst[np.argpartition(-over[worst], 3 * problem.width)[: 3 * problem.width]]
    number, place = np.nonzero(parts[worst])
    chosen = sparse.csr_array(
        (np.ones(len(number)), (number, worst[number] * size + place)),
        shape=(len(worst), conditions.shape[0]),
    )
    return chosen @ conditions


def _in_integers(problem: _Problem, values: Floats, mixing: float) -> MarginTable:
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

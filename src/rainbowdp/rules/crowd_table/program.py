"""Making a crowd table: the best rows by a linear program, put into integers.

Columns are the chances of the leader and of one rival at each gap, in every crowd. The objective
is the chance of the leader, averaged over votes of many sizes. Conditions are those that ``proof``
compares; they are far more than columns, and added as they are violated. The leader never has less
than by permute-and-flip on the same gaps, which is affine in each coin, so a crowd table itself.

The solver's floats are not private. They are mixed with a little of permute-and-flip for a smaller
ε, which leaves room in the comparisons, then rounded down to integers with the rest given to the
leader, and proved; the mixing grows until the proof holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.errors import InvalidMechanism, NoTable
from rainbowdp.exact.falling import GRID
from rainbowdp.exact.rule import Progress
from rainbowdp.guarantees.dp import DP
from rainbowdp.numeric.coins import first_heads
from rainbowdp.numeric.linear_programs import LinearProgram, Solver
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.crowd_table.proof import Corners, cases
from rainbowdp.rules.crowd_table.rule import CrowdTable
from rainbowdp.rules.crowd_table.shape import CrowdShape

TOTAL = 2520 << 52  # a multiple of 1, 2, …, 10, so that leaders can share evenly
_STEP = 2520
EPSILONS = (0.01, 2.0)  # above, chances are too small for the solver's tolerance
_KNOTS = {7: 5, 8: 4, 9: 4, 10: 3}  # gaps with rows, by the number of answers; more take minutes
ANSWERS = tuple(_KNOTS)
_ROOM = 2.0**-15  # that ratio^moves leaves
_LEAST_MIXING, _MOST_MIXING = 2.0**-16, 2.0**-4
_SMALLER = 0.875  # part of ε that is mixed in
_LEAST_MEAN, _MOST_MEAN = 1, 64  # records of an answer, and units
_TAIL = 12  # means; geometric numbers are hardly ever beyond
_ROUNDS, _DROPS = 40, 4
_MOST = 6  # conditions to begin with, and to add at most, for each column
_VIOLATED, _LOOSE = 2e-6, 1e-4  # what is added, and what is left out again


def shape_for(
    answers: int, epsilon: float, neighbors: str, ties: str, knots: int | None = None
) -> CrowdShape:
    """Where a table has its rows."""
    moves = 2 if neighbors == Neighbors.SUBSTITUTED else 1
    ratio = math.exp(-epsilon / moves) * (1 + _ROOM)
    rounded = Fraction(math.ceil(ratio * GRID), GRID)
    return CrowdShape(answers, neighbors, ties, knots or _KNOTS[answers], rounded)


def make_table(
    shape: CrowdShape, guarantee: DP, progress: Progress | None = None
) -> tuple[CrowdTable, Fraction]:
    """The best table of its shape, proved, and how much of permute-and-flip was mixed into it."""
    problem = _Problem(shape, guarantee.ratio)
    values = _solve(problem, progress)
    mixing = _LEAST_MIXING
    while mixing <= _MOST_MIXING:
        table = _in_integers(problem, (1 - mixing) * values + mixing * problem.flipped(_SMALLER))
        try:
            table.keeps(guarantee)
        except InvalidMechanism:
            mixing *= 4
        else:
            return table, Fraction(mixing)
    raise NoTable(
        f"a crowd table for {shape.answers} answers under {guarantee} needs more than a mixing of "
        f"{_MOST_MIXING:.0e} to be private"
    )


@dataclass(frozen=True)
class _Problem:
    """The linear program of a shape."""

    shape: CrowdShape
    allowed: float

    @cached_property
    def columns(self) -> Integers:
        """For each crowd and place its column, or −1 where nobody is."""
        present = np.insert(self.shape.crowds > 0, 0, True, axis=1)
        shared = self.shape.ties == Ties.ANY_LEADER
        own = present.copy()
        own[:, 1] &= not shared
        columns = np.where(own, np.cumsum(own.ravel()).reshape(own.shape) - 1, -1)
        if shared:
            columns[:, 1] = np.where(present[:, 1], columns[:, 0], -1)
        return columns

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.columns.max()) + 1

    @cached_property
    def sums(self) -> Any:
        """What all answers have together, in each crowd."""
        from scipy import sparse

        many = np.insert(self.shape.crowds, 0, 1, axis=1)
        rows, places = np.nonzero(self.columns >= 0)
        where = rows, self.columns[rows, places]
        return sparse.csr_array((many[rows, places].astype(float), where))

    def flipped(self, part: float = 1.0) -> Floats:
        """Permute-and-flip as a table, for that part of ε."""
        heights = float(self.shape.ratio) ** (part * np.arange(self.shape.knots))
        size = self.shape.answers
        values = np.zeros(self.width)
        for crowd, columns in zip(self.shape.crowds.tolist(), self.columns, strict=True):
            chances = np.zeros((1, size))
            chances[0, 0] = 1.0
            coins = np.repeat(heights, crowd)
            chances[0, 1 : 1 + len(coins)] = coins
            row = first_heads(chances)[0]
            firsts = np.cumsum([0, *crowd])[:-1] + 1
            values[columns[0]] = row[0]
            for column, first, some in zip(columns[1:], firsts, crowd, strict=True):
                if some:
                    values[column] = row[first]
        return values

    @cached_property
    def conditions(self) -> Any:
        """P − E·Q for every pair of seats that is compared, each once, both ways."""
        from scipy import sparse

        corners = Corners(self.shape)
        means = [self._in_columns(mean, place) for mean, place in corners.means]
        size = len(corners.crowds)
        found: dict[tuple[int, int], list[Integers]] = {}
        for case in cases(self.shape):
            for here, there in corners.pairs(case):
                codes = np.unique(here.crowds * size + there.crowds)
                found.setdefault((here.place, there.place), []).append(codes)
        matrices = []
        for (mine, theirs), parts in found.items():
            one, other = np.divmod(np.unique(np.concatenate(parts)), size)
            different = (one != other) | (mine != theirs)
            p, q = means[mine][one[different]], means[theirs][other[different]]
            matrices += [p - self.allowed * q, q - self.allowed * p]
            if corners.may_stay(mine, theirs):
                p, q = p / corners.coin(mine), q / corners.coin(theirs)
                matrices += [p - self.allowed * q, q - self.allowed * p]
        return sparse.vstack(matrices, format="csr")

    def _in_columns(self, mean: Any, place: int) -> Any:
        """The matrix that takes columns to the chances of a place."""
        from scipy import sparse

        columns = self.columns[:, place]
        some = np.flatnonzero(columns >= 0)
        size = (len(columns), self.width)
        choose = sparse.csr_array((np.ones(len(some)), (some, columns[some])), shape=size)
        return (mean @ choose).tocsr()

    @cached_property
    def gain(self) -> Floats:
        """The chance of a leader, averaged over votes of many sizes.

        The records of each answer are independent and geometric, with a mean of 1, 2, 4, … up to
        far beyond the last knot; a mean counts the more, the less permute-and-flip errs there.
        """
        flipped, gain, total = self.flipped(), np.zeros(self.width), 0.0
        mean, unit = _LEAST_MEAN, -1 / math.log(self.shape.ratio)
        while mean <= _MOST_MEAN * unit:
            one = self._leader_where_geometric(mean)
            weight = 1 / (1 - float(one @ flipped))
            gain, total = gain + weight * one, total + weight
            mean *= 2
        return gain / total

    def _leader_where_geometric(self, mean: int) -> Floats:
        """The chance of a leader where each answer has a geometric number of records.

        A vote of n records weighs ratio^n. If the leader has m of them, n is q·m less the gaps,
        each one of 0 … m; so given m the gaps are independent.
        """
        size, knots = self.shape.answers, self.shape.knots
        ratio, gaps = mean / (1 + mean), np.arange(_TAIL * mean)
        coins = float(self.shape.ratio) ** np.maximum(0, gaps - knots + 1)
        shares = np.zeros((len(gaps), knots + 1))
        shares[gaps, np.minimum(gaps, knots - 1)] = coins
        shares[:, knots] = 1 - coins
        some = slice(None, None, max(1, mean // 8))
        scale = ratio ** (gaps[-1] - gaps)  # ratio^−gap without overflow
        others = np.cumsum(shares * scale[:, None], axis=0)[some]
        leaders = gaps[some]
        all_others = others.sum(axis=1)
        logs = size * leaders * math.log(ratio) + (size - 1) * np.log(all_others)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        chances = others / all_others[:, None]
        crowds = np.append(
            self.shape.crowds, size - 1 - self.shape.crowds.sum(axis=1, keepdims=True), axis=1
        )
        factorials = np.array([math.factorial(n) for n in range(size)], dtype=float)
        ways = factorials[size - 1] / factorials[crowds].prod(axis=1)
        likely = np.zeros(len(crowds))
        for weight, chance in zip(weights, chances, strict=True):
            likely += weight * ways * (chance**crowds).prod(axis=1)
        leader = np.zeros(self.width)
        np.add.at(leader, self.columns[:, 0], likely)
        return leader


def _solve(problem: _Problem, progress: Progress | None) -> Floats:
    """The best values, with conditions added as they are violated."""
    from scipy import sparse

    conditions, sums = problem.conditions, problem.sums
    flipped, count = problem.flipped(), len(problem.shape.crowds)
    lower = np.zeros(problem.width)
    leaders = np.unique(problem.columns[:, 0])
    lower[leaders] = flipped[leaders] * (1 - 1e-9)
    most = _MOST * problem.width
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
        worst = np.setdiff1d(np.flatnonzero(over > _VIOLATED), kept)
        if not len(worst):
            return values
        if len(worst) > most:
            worst = worst[np.argpartition(-over[worst], most)[:most]]
        if number < _DROPS:  # for ever it would go round in circles
            kept = kept[over[kept] > -_LOOSE]
        kept = np.union1d(kept, worst)
    raise NoTable(f"a crowd table must be found within {_ROUNDS} rounds, got none")


def _in_integers(problem: _Problem, values: Floats) -> CrowdTable:
    """Rows of integers: rounded down, the rest to the leaders."""
    shape, rows = problem.shape, []
    for crowd, columns in zip(shape.crowds.tolist(), problem.columns, strict=True):
        leaders = 1 + (crowd[0] if shape.ties == Ties.ANY_LEADER else 0)
        row = [0] * (shape.knots + 1)
        for place in range(1 + (leaders > 1), shape.knots + 1):
            if crowd[place - 1]:
                row[place] = max(1, int(values[columns[place]] * (TOTAL // _STEP))) * _STEP
        rest = TOTAL - sum(some * weight for some, weight in zip(crowd, row[1:], strict=True))
        row[0] = rest // leaders
        if leaders > 1:
            row[1] = row[0]
        rows.append(tuple(row))
    return CrowdTable(shape, TOTAL, tuple(rows))

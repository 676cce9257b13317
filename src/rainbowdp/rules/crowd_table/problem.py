"""The linear program of a crowd table: its columns, its conditions and what it maximizes.

Columns are the chances of the seats that somebody has, in every crowd. Conditions are those that
``proof`` compares.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.numeric.coins import first_heads
from rainbowdp.questions.relations import Ties
from rainbowdp.rules.crowd_table.proof import Corners, cases
from rainbowdp.rules.crowd_table.rule import CrowdTable
from rainbowdp.rules.crowd_table.shape import CrowdShape

_LEAST_MEAN, _MOST_MEAN = 1, 64  # records of an answer, and units
_LEAST, _TINY = 1e-6, 1e-300
_TAIL = 12  # means; geometric numbers are hardly ever beyond


@dataclass(frozen=True)
class Problem:
    """The linear program of a shape."""

    shape: CrowdShape
    allowed: float

    @cached_property
    def columns(self) -> Integers:
        """For each crowd and seat its column, or −1 where nobody is."""
        present = self.shape.crowds.taken > 0
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

    @property
    def leaders(self) -> Integers:
        """The column of the leader in each crowd."""
        return self.columns[:, 0]

    def rest(self, values: Floats) -> Floats:
        """What each leader has if rivals have these values and leaders share what is left."""
        rivals, sharing = values.copy(), np.ones(self.shape.crowds.size)
        rivals[self.leaders] = 0.0
        if self.shape.ties == Ties.ANY_LEADER:
            sharing += self.shape.crowds.taken[:, 1]
        rest: Floats = np.maximum(1 - self.sums @ rivals, _LEAST) / sharing
        return rest

    @cached_property
    def sums(self) -> Any:
        """What all answers have together, in each crowd."""
        from scipy import sparse

        many = self.shape.crowds.taken
        rows, seats = np.nonzero(self.columns >= 0)
        where = rows, self.columns[rows, seats]
        return sparse.csr_array((many[rows, seats].astype(float), where))

    def flipped(self, part: float = 1.0) -> Floats:
        """Permute-and-flip as a table, for that part of ε."""
        crowds, ratio = self.shape.crowds, float(self.shape.ratio)
        values = np.zeros(self.width)
        chances = np.zeros((crowds.size, self.shape.answers))
        for row, (many, gaps) in enumerate(zip(crowds.taken, crowds.gaps, strict=True)):
            coins = np.repeat(np.where(gaps < 0, 1.0, ratio ** (part * gaps)), many)
            chances[row, : len(coins)] = coins
        flipped = first_heads(chances)
        firsts = np.cumsum(crowds.taken, axis=1) - crowds.taken
        rows, seats = np.nonzero(self.columns >= 0)
        values[self.columns[rows, seats]] = flipped[rows, firsts[rows, seats]]
        return values

    def between(self, tables: Mapping[float, CrowdTable], epsilon: float) -> Floats:
        """Nearly the best values, from tables of any size for one or two ε, by their logarithms."""
        logs = np.zeros(self.width)
        for at, table in tables.items():
            part = 1.0
            for other in tables:
                if other != at:
                    part *= math.log(epsilon / other) / math.log(at / other)
            logs += part * np.log(self._values_of(table))
        values: Floats = np.exp(logs)
        values[self.leaders] = self.rest(values)
        return values

    def _values_of(self, table: CrowdTable) -> Floats:
        values = np.zeros(self.width)
        seats = zip(self.shape.crowds.taken, self.shape.crowds.gaps, self.columns, strict=True)
        for many, gaps, columns in seats:
            row = table.at_gaps(np.repeat(gaps, many).tolist()[1:])
            total = sum(row)
            chances = np.array([weight / total for weight in row])
            firsts = (np.cumsum(many) - many)[columns >= 0]
            values[columns[columns >= 0]] = chances[firsts]
        return np.maximum(values, _TINY)

    @cached_property
    def corners(self) -> Corners:
        """The corners of all cases."""
        return Corners(self.shape)

    @cached_property
    def chances(self) -> Any:
        """A sparse matrix from columns to the chances of all seats at all corners."""
        from scipy import sparse

        columns = self.columns.T.ravel()
        some = np.flatnonzero(columns >= 0)
        size = (len(columns), self.width)
        choose = sparse.csr_array((np.ones(len(some)), (some, columns[some])), shape=size)
        return (self.corners.means @ choose).tocsr()

    @cached_property
    def conditions(self) -> Any:
        """P − E·Q for every pair of seats that is compared, each once, both ways.

        In units of what P is by permute-and-flip: the solver has one tolerance for all, and small
        chances must be kept as well as large ones.
        """
        from scipy import sparse

        corners, chances = self.corners, self.chances
        count = chances.shape[0]
        found: dict[tuple[int, int], list[Integers]] = {}
        for case in cases(self.shape):
            for pair in corners.pairs(case):
                stays = pair.gaps if corners.may_stay(*pair.gaps) else (0, 0)
                found.setdefault(stays, []).append(np.unique(pair.here * count + pair.there))
        matrices = []
        for gaps, parts in found.items():
            one, other = np.divmod(np.unique(np.concatenate(parts)), count)
            different = one != other
            p, q = chances[one[different]], chances[other[different]]
            matrices += [p - self.allowed * q, q - self.allowed * p]
            if gaps != (0, 0):
                p, q = p / corners.coin(gaps[0]), q / corners.coin(gaps[1])
                matrices += [p - self.allowed * q, q - self.allowed * p]
        every = sparse.vstack(matrices, format="csr")
        units = every.maximum(0.0) @ self.flipped()
        some = units > 0
        return (sparse.diags_array(1 / units[some]) @ every[some]).tocsr()

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
        known = self.shape.crowds
        at = np.stack(
            [((known.gaps == gap) * known.taken).sum(axis=1) for gap in range(knots)], axis=1
        )
        crowds = np.append(at, size - 1 - at.sum(axis=1, keepdims=True), axis=1)
        lengths = (known.words >= 0).sum(axis=1)  # letters keep their order
        factorials = np.array([math.factorial(n) for n in range(size)], dtype=float)
        counted = np.append(known.counts, crowds[:, -1:], axis=1)
        ways = factorials[size - 1] / factorials[lengths] / factorials[counted].prod(axis=1)
        likely = np.zeros(len(crowds))
        for weight, chance in zip(weights, chances, strict=True):
            likely += weight * ways * (chance**crowds).prod(axis=1)
        leader = np.zeros(self.width)
        np.add.at(leader, self.leaders, likely)
        return leader

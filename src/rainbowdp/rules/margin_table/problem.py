"""The linear program of a shape: its columns, its conditions and what it maximizes.

Columns are the probabilities at the knots. ``proof`` says which pairs of neighboring rows are
enough for privacy; of those that say the same by a symmetry one is built.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rainbowdp.aliases import Floats, Integers, Weights
from rainbowdp.numeric.coins import first_heads
from rainbowdp.questions.relations import Ties
from rainbowdp.rules.margin_table.shape import Knots, Shape

_LEAST_MEAN, _MOST_MEAN = 4, 64  # records of an answer, and units
_TAIL = 12  # means; geometric numbers are hardly ever beyond


@dataclass(frozen=True)
class Problem:
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

    def fits(self, shape: Shape) -> bool:
        """Whether a table of that shape, for another ε, has the same columns."""
        return replace(shape, farthest=self.shape.farthest, ratio=self.shape.ratio) == self.shape

    def values_of(self, rows: tuple[Weights, ...]) -> Floats:
        """The columns of a table that fits."""
        values = np.empty(self.width)
        values[self.row_columns] = [[weight / sum(row) for weight in row] for row in rows]
        return values

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
        columns = self.columns.reshape(-1, places + 1)
        steps = (len(self.shape.knots) + 1) ** np.arange(places)[::-1]
        row, choice, weight = np.arange(count), cell @ steps, np.ones(count)
        for place, step in enumerate(steps):
            near = share[row, place]
            some = np.flatnonzero(near < 1)  # which have a part of the next knot, too
            row, choice = np.append(row, row[some]), np.append(choice, choice[some] + step)
            weight = np.append(weight * near, weight[some] * (1 - near[some]))
        where = row[:, None] * (places + 1) + np.arange(places + 1), columns[choice]
        size = (count * (places + 1), self.width)
        shares = np.repeat(weight, places + 1)
        return sparse.csr_array((shares, (where[0].ravel(), where[1].ravel())), shape=size)

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
                late = shape.ties == Ties.FIRST_LISTED and i < ahead
                moves.append(top - gained[i] - late)
                if shape.ties == Ties.FIRST_LISTED:
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
            if shape.ties == Ties.ANY_LEADER:
                if (gained[0], tuple(sorted(kinds))) in seen:
                    continue
                seen.add((gained[0], tuple(sorted(kinds))))
            gaps = _grid(shape, ends, list(zip(kinds, moves[1:], strict=True)))
            moved = np.zeros_like(gaps)
            for i in range(size):
                if i != ahead:
                    moved[:, goes_to[i] - 1] = moves[i] + (gaps[:, i - 1] if i else 0)
            yield gaps, moved, tuple(goes_to)


def _grid(
    shape: Shape, ends: list[Integers], kinds: list[tuple[tuple[int, int, bool], int]]
) -> Integers:
    """All choices of ends, in which unlabeled gaps of one kind that move alike rise."""
    gaps = np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1).reshape(-1, len(ends))
    least = (*shape.knots, shape.farthest)[shape.labeled]
    free = (gaps >= least) & (gaps + np.array([move for _, move in kinds]) >= least)
    for i, j in itertools.combinations(range(len(ends)), 2):
        if kinds[i] == kinds[j]:
            kept = (gaps[:, i] <= gaps[:, j]) | ~free[:, i] | ~free[:, j]
            gaps, free = gaps[kept], free[kept]
    return gaps


def _delay(shape: Shape, place: int) -> float:
    """The part of a record that an answer is behind by its place in the list."""
    return place / shape.answers if shape.ties == Ties.FIRST_LISTED else 0.0


def _changes(answers: int, neighbors: str) -> Iterator[tuple[int, ...]]:
    """Records gained by each position, for one end of every pair of neighbors."""
    places = range(answers)
    for v in places:
        yield tuple(int(i == v) for i in places)
    if neighbors == "substituted":
        for u, v in itertools.combinations(places, 2):
            yield tuple((i == v) - (i == u) for i in places)

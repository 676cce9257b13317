"""Proving a margin table: every pair of neighboring rows, in finitely many exact comparisons.

**What has to be compared.** Let the leader be answer 0 with a large count N, so that the others
have N − gap; for ties to the first listed the positions are the same whoever leads. Up to
exchanging the two ends a pair of neighbors is one of

* a record more for answer v;
* a record of the leader turned into one of v (any pair in which a leader loses a record);
* a record of u turned into one of v > u, the leader staying: where neither end's leader loses
  a record, the other end has the same leader, and the pair can be read from either end.

**Where.** An answer that may overtake the leader has few gaps from which it can, each of which is a
case; in each case all other gaps move by a constant. While a gap and the moved gap stay in one
cell each, both rows are linear in r^gap, so is every Σ_{v∈S} (P_v − ratio·Q_v), and over a product
of such stretches it is largest at a corner. The ends of the stretches are the gaps that
start or end at a knot or at the farthest gap, and the first gap of the case.

**How.** Rows are sums of non-negative products. In doubles they are right to a relative 2^-48
(there are fewer than 32 roundings), so what is clear by a relative 2^-40 is proved; with
``exactly`` 2^-24 is asked for. The rest is compared in integers, in which the shares of knots are
multiples of 2^-128: a row is linear in each share, so each share moves it by at most 2^-129 of the
total, and what is clear by as much is proved. What is still not clear is compared in exact
fractions.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from rainbowdp.aliases import Weights
from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.expecting import brief
from rainbowdp.guarantees.closeness import check_rows, lines_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.rules.margin_table.shape import Shape

Corner: TypeAlias = tuple[int, ...]
Number: TypeAlias = Callable[[Fraction], Any]

_MANY = 10**9  # a count with room below it for every gap that is looked at
_CLEAR, _PLAIN = 2.0**-40, 2.0**-24  # what differs by so much in doubles, relatively, is proved
_BITS = 128  # of a share
_BLOCK, _LISTED = 1 << 16, 1 << 12  # corners compared at once, in doubles and in integers
_MOST_ANSWERS, _LEAST, _MOST = 9, Fraction(1, 1 << 50), 1 << 900
_MOST_CORNERS = 1 << 20  # ours have a third of this; a file may claim anything
_remembered: dict[str, Check] = {}


def prove_table(
    guarantee: Guarantee,
    shape: Shape,
    total: int,
    stored: tuple[Weights, ...],
    *,
    exactly: bool = False,
) -> Check:
    """The rows keep (ε,δ) for votes of every size, or the pair of them that refutes it.

    What was proved before is remembered by its digest.
    """
    if not isinstance(guarantee, DP):
        raise InvalidMechanism(f"a margin table needs an (ε,δ) guarantee, got {guarantee}")
    if type(total) is not int:  # repr tells 1.0 from 1, but a comparison does not
        raise InvalidMechanism(
            f"the total of a margin table must be an integer, got {brief(total)}"
        )
    digest = hashlib.sha256(repr((lines_of(guarantee), shape, total, stored)).encode()).hexdigest()
    if digest in _remembered and not exactly:
        return _remembered[digest]
    if any(len(row) != shape.answers for row in stored):
        raise InvalidMechanism(f"a row of a margin table must have {shape.answers} weights")
    if check_rows(stored) != total:
        raise InvalidMechanism(f"the rows of a margin table must sum to {total}")
    _check_range(shape, total)
    rows = _Rows(shape, np.array(stored, dtype=object))
    rows.check_equal_gaps()
    ((ratio, delta),) = lines_of(guarantee)
    cases = list(_cases(shape))
    if sum(case.size(shape) for case in cases) > _MOST_CORNERS:
        raise InvalidMechanism(
            f"a margin table can be proved at up to {_MOST_CORNERS:,} corners, got more"
        )
    corners = 0
    for case in cases:
        corners += case.compare(rows, ratio, delta * total, _PLAIN if exactly else _CLEAR)
    statement = f"{corners} corners of a margin table with total weight {total}"
    return _remembered.setdefault(digest, Check.proved(guarantee, corners, statement))


def _check_range(shape: Shape, total: int) -> None:
    """Refuse a table for which doubles would overflow or underflow.

    A share that is not 0 is at least (1 − r)·r^farthest, so a weight at least 2^-800.
    """
    small = min(shape.ratio**shape.farthest, 1 - shape.ratio)
    if shape.answers > _MOST_ANSWERS or small < _LEAST or total > _MOST:
        raise InvalidMechanism(
            f"a margin table can be proved for up to {_MOST_ANSWERS} answers where ratio^farthest "
            "and 1 − ratio are at least 2^-50 and the total at most 2^900"
        )


@dataclass(frozen=True)
class _Rows:
    """The rows of a table at any gaps, in doubles or exactly."""

    shape: Shape
    stored: Any
    _axes: dict[Corner, Any] = field(default_factory=dict, init=False)
    _shares: dict[int, tuple[int, Fraction]] = field(default_factory=dict, init=False)

    def blend(self, gaps: Sequence[Sequence[int]]) -> Any:
        """Rows in doubles over the product of ``gaps``, answers first."""
        weights = self._floats
        for ends in gaps:  # contracting the first axis puts the new one last
            shares, rest = self._axis(tuple(ends)), weights.shape[1:]
            flat = weights.reshape(len(weights), -1)
            weights = (flat.T @ shares.T).reshape(*rest, len(shares))
        return weights

    def blend_exactly(self, corners: Any, number: Number) -> Any:
        """Rows at each of ``corners`` in such numbers, times what the shares sum to."""
        whole = number(Fraction(1))
        distinct, at = np.unique(corners, return_inverse=True)
        around = [self._around(gap) for gap in distinct.tolist()]
        at = at.reshape(corners.shape)
        lower = np.array([knot for knot, _ in around])[at]
        near = np.array([number(share) for _, share in around], dtype=object)
        parts = near[at], (whole - near)[at]
        between = np.array(near != whole, dtype=bool)[at]
        rows = np.zeros((len(corners), self.shape.answers), dtype=object)
        for ends in itertools.product((0, 1), repeat=corners.shape[1]):
            some = np.flatnonzero((between | (np.array(ends) == 0)).all(axis=1))
            if len(some):
                share = math.prod(parts[end][some, axis] for axis, end in enumerate(ends))
                rows[some] += share[:, None] * self._exact[tuple((lower + ends)[some].T)]
        return rows

    def check_equal_gaps(self) -> None:
        """Refuse rows in which answers that cannot be told apart have different weights."""
        choices, _, arranged = _choices(self.shape)
        choices = choices[(choices == arranged).all(axis=1)]
        for one, other in itertools.combinations(range(self.shape.answers), 2):
            if one:
                free = choices[:, one - 1] >= self.shape.labeled
                same = free & (choices[:, one - 1] == choices[:, other - 1])
            else:
                same = (choices[:, other - 1] == 0) & (self.shape.ties == "any leader")
            wrong = same & (self.stored[:, one] != self.stored[:, other])
            if wrong.any():
                row = tuple(self.stored[wrong][0])
                raise InvalidMechanism(f"equal gaps must have equal weights, got {row}")

    @cached_property
    def _exact(self) -> Any:
        return _spread(self.shape, self.stored)

    @cached_property
    def _floats(self) -> Any:
        return _spread(self.shape, self.stored.astype(np.float64))

    def _axis(self, gaps: Corner) -> Any:
        """For each gap the shares of all knots in doubles: those around it have some."""
        if gaps in self._axes:
            return self._axes[gaps]
        shares = np.zeros((len(gaps), len(self.shape.knots) + 1))
        for row, gap in zip(shares, gaps, strict=True):
            lower, share = self._around(gap)
            # in doubles 1 − share would not be right to a relative 2^-48 near 0
            row[lower], row[lower + 1] = float(share), float(1 - share)
        return self._axes.setdefault(gaps, shares)

    def _around(self, gap: int) -> tuple[int, Fraction]:
        """The last knot that is not beyond a gap, and its share; the next one has the rest."""
        if gap not in self._shares:
            shape = self.shape
            lower = sum(knot <= gap for knot in shape.knots) - 1
            low = shape.ratio ** shape.knots[lower]
            finite = lower + 1 < len(shape.knots)
            high = shape.ratio ** shape.knots[lower + 1] if finite else Fraction(0)
            here = shape.ratio ** min(gap, shape.farthest)
            self._shares[gap] = lower, (here - high) / (low - high)
        return self._shares[gap]


@dataclass(frozen=True)
class _Case:
    """Neighbors that differ by one kind of change, with the gaps that decide who leads.

    ``first[i]`` is the gap of position i + 1, or its least where it is ``free``; ``moved[i]`` is
    added to it. ``goes_to[i]`` is where the answer at position i stands at the other end, and
    ``old_leader`` the gap of the former leader, if there is another.
    """

    first: tuple[int, ...]
    free: tuple[bool, ...]
    moved: tuple[int, ...]
    goes_to: tuple[int, ...]
    old_leader: int

    def ends(self, shape: Shape, place: int) -> list[int]:
        """The ends of the stretches of the gap at ``place``."""
        least = self.first[place]
        if not self.free[place]:
            return [least]
        bends = (*shape.knots, shape.farthest)
        ends = {gap for bend in bends for gap in (bend, bend - self.moved[place])}
        return sorted({least, *(end for end in ends if end >= least)})

    def size(self, shape: Shape) -> int:
        """How many corners there are."""
        return math.prod(len(self.ends(shape, place)) for place in range(shape.answers - 1))

    def compare(self, rows: _Rows, ratio: Fraction, slack: Fraction, clear: float) -> int:
        """Compare all corners, in integers where doubles are not ``clear``; their number."""
        gaps = [self.ends(rows.shape, place) for place in range(rows.shape.answers - 1)]
        corners = 0
        for block in self._blocks(rows.shape, gaps):
            doubtful = self._not_clear(rows, ratio, slack, block, clear)
            for corner in self._undecided(rows, ratio, slack, doubtful):
                self._compare(rows, ratio, slack, corner)
            corners += math.prod(len(ends) for ends in block)
        return corners

    def _blocks(self, shape: Shape, gaps: list[list[int]]) -> Iterator[list[list[int]]]:
        """All corners; many of them in a block for each end of the first gap."""
        if math.prod(len(ends) for ends in gaps) <= _BLOCK:
            yield gaps
            return
        leads = [to == 0 for to in self.goes_to[1:]]
        kinds = list(zip(self.first, self.free, self.moved, leads, strict=True))
        for end in gaps[0]:
            block = [[end], *gaps[1:]]
            if shape.ties == "any leader":  # of interchangeable answers the first may be nearest
                for place, kind in enumerate(kinds):
                    if place and kind == kinds[0]:
                        block[place] = [gap for gap in gaps[place] if gap >= end]
            yield block

    def _not_clear(
        self, rows: _Rows, ratio: Fraction, slack: Fraction, gaps: Sequence[Any], clear: float
    ) -> Any:
        """The corners of a block at which doubles do not differ by a relative ``clear``."""
        here, there = self._ends(rows, gaps)
        factor, limit = float(ratio) * (1 - 3 * clear), float(slack) * (1 - clear)
        doubtful = np.zeros(here.shape[1:], dtype=bool)
        for more, less in ((here, there), (there, here)):
            if limit:
                over = more * (1 + clear) - factor * less
                doubtful |= np.maximum(over, 0.0).sum(axis=0) > limit
            else:
                doubtful |= (more > factor * less).any(axis=0)
        picked = np.argwhere(doubtful)
        return np.stack([np.array(e)[at] for e, at in zip(gaps, picked.T, strict=True)], axis=1)

    def _undecided(
        self, rows: _Rows, ratio: Fraction, slack: Fraction, corners: Any
    ) -> Iterator[Corner]:
        """The corners that shares of ``_BITS`` bits do not decide."""
        axes, total = rows.shape.answers - 1, int(rows.stored[0].sum())
        scale = 1 << _BITS * axes
        error = (ratio.numerator + ratio.denominator) * axes * total * scale
        error = (error >> _BITS + 1) + 1
        limit = math.floor(ratio.denominator * slack * scale)
        for start in range(0, len(corners), _LISTED):
            some = corners[start : start + _LISTED]
            here, there = self._listed_ends(rows, some, _in_bits)
            doubtful = np.zeros(len(some), dtype=bool)
            for more, less in ((here, there), (there, here)):
                over = ratio.denominator * more - ratio.numerator * less + error
                doubtful |= (np.maximum(over, 0).sum(axis=1) > limit).astype(bool)
            yield from map(tuple, some[doubtful].tolist())

    def _compare(self, rows: _Rows, ratio: Fraction, slack: Fraction, corner: Corner) -> None:
        """Refuse the table if at this corner one end exceeds the other, in exact fractions."""
        here, there = self._listed_ends(rows, np.array([corner]), Fraction)
        for more, less in ((here, there), (there, here)):
            excess = np.maximum(more - ratio * less, 0).sum() - slack
            if excess > 0:
                raise InvalidMechanism(
                    "neighboring rows of a margin table must be close, but at the gaps "
                    f"{corner}, moved by {self.moved}, they exceed by "
                    f"{float(excess / more.sum()):.3g}"
                )

    def _ends(self, rows: _Rows, gaps: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        """The rows at a block and those of its neighbors, answers and gaps in one order."""
        other: list[list[int]] = [[]] * len(gaps)
        for place, axis in enumerate(self._axes):
            moved = [gap + self.moved[place] for gap in gaps[place]]
            other[axis - 1] = moved if self.goes_to[place + 1] else [self.old_leader]
        there = rows.blend(other).transpose((0, *self._axes))
        return rows.blend(gaps), there[list(self.goes_to)]

    def _listed_ends(self, rows: _Rows, corners: Any, number: Number) -> tuple[Any, Any]:
        """The rows at corners and at their neighbors, answers in one order."""
        other = np.empty_like(corners)
        for place, axis in enumerate(self._axes):
            moved = corners[:, place] + self.moved[place]
            other[:, axis - 1] = moved if self.goes_to[place + 1] else self.old_leader
        there = rows.blend_exactly(other, number)
        return rows.blend_exactly(corners, number), there[:, list(self.goes_to)]

    @property
    def _axes(self) -> list[int]:
        """For each gap the axis it has at the other end; the new leader's is the old one's."""
        return [to if to else self.goes_to[0] for to in self.goes_to[1:]]


def _cases(shape: Shape) -> Iterator[_Case]:
    """Every kind of change with every choice of gaps that may decide who leads."""
    seen = set()
    for change, leader_stays in _changes(shape):
        reach = [max(0, gain - change[0]) for gain in change[1:]]
        choices = [[*((gap, False) for gap in range(far)), (far, True)] for far in reach]
        for choice in itertools.product(*choices):
            if shape.ties == "any leader":  # answers are interchangeable
                kind = (change[0], tuple(sorted(zip(change[1:], choice, strict=True))))
                if kind in seen:
                    continue
                seen.add(kind)
            case = _case(shape, change, choice)
            if not leader_stays or case.goes_to[0] == 0:
                yield case


def _changes(shape: Shape) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Records gained by each answer, the leader first; and whether the leader must stay."""
    answers = range(shape.answers)
    for v in answers:
        yield tuple(int(i == v) for i in answers), False
    if shape.neighbors == "substituted":
        for u, v in itertools.combinations(answers, 2):
            yield tuple((i == v) - (i == u) for i in answers), u > 0


def _case(shape: Shape, change: Sequence[int], choice: Sequence[tuple[int, bool]]) -> _Case:
    """What a change does, seen on one vote with those gaps, the free ones far behind."""
    behind = [gap + (1000 if free else 0) for gap, free in choice]
    before = [_MANY, *(_MANY - gap for gap in behind)]
    after = [count + gain for count, gain in zip(before, change, strict=True)]
    goes_to, gaps = _seen_from_leader(shape, after)
    moved = tuple(gaps[i] - behind[i - 1] for i in range(1, len(before)))
    first, free = zip(*choice, strict=True)
    return _Case(tuple(first), tuple(free), moved, tuple(goes_to), gaps[0])


def _seen_from_leader(shape: Shape, counts: Sequence[int]) -> tuple[list[int], list[int]]:
    """For each answer its position and its gap."""
    size = len(counts)
    if shape.ties == "first listed":
        scores = [size * count - v for v, count in enumerate(counts)]
        best = max(scores)
        behind = [best - score for score in scores]
        return [gap % size for gap in behind], [gap // size for gap in behind]
    leader = max(range(size), key=counts.__getitem__)
    swapped = [0 if v == leader else leader if v == 0 else v for v in range(size)]
    return swapped, [counts[leader] - count for count in counts]


def _choices(shape: Shape) -> tuple[Any, Any, Any]:
    """All choices of knots in order; for each where its places stand in a row, and that row's.

    A labeled knot stays. The others, which are told apart by their gaps alone, stand in rising
    order in the places that they have together.
    """
    places, knots = shape.answers - 1, len(shape.knots) + 1
    choices = np.indices((knots,) * places).reshape(places, -1).T
    labeled = choices < shape.labeled
    given = np.where(labeled, knots + np.arange(places), choices)
    sources = np.argsort(given, axis=1, kind="stable")
    targets = np.argsort(labeled, axis=1, kind="stable")
    stands, arranged = np.empty_like(choices), np.empty_like(choices)
    np.put_along_axis(stands, sources, targets, axis=1)
    np.put_along_axis(arranged, stands, choices, axis=1)
    return choices, stands, arranged


def _spread(shape: Shape, stored: Any) -> Any:
    """The rows over all choices of knots: an axis for each gap, positions last."""
    choices, stands, arranged = _choices(shape)
    sides = (len(shape.knots) + 1,) * (shape.answers - 1)
    number = np.cumsum((choices == arranged).all(axis=1)) - 1
    row = number[np.ravel_multi_index(tuple(arranged.T), sides)]
    place = np.insert(stands + 1, 0, 0, axis=1)
    return stored[row[:, None], place].reshape(*sides, shape.answers)


def _in_bits(share: Fraction) -> int:
    """A share in units of 2^-128, to the nearest."""
    return round(share * (1 << _BITS))

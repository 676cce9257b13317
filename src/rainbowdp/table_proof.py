"""Proving a margin table: every pair of neighbouring rows, in finitely many exact comparisons.

**What has to be compared.** Let the leader be answer 0 with a large count N, so that the others
have N − gap; for ties to the first listed the positions are the same whoever leads. Up to
exchanging the two ends a pair of neighbours is one of

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
(there are fewer than 32 roundings), so what is clear by a relative 2^-40 is proved. The rest, and
with ``exactly`` everything, is compared in integers, in which the shares of knots are multiples of
2^-128: a row is linear in each share, so each share moves it by at most 2^-129 of the total, and
what is clear by as much is proved. What is still not clear is compared in exact fractions.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np

from rainbowdp.errors import InvalidMechanism
from rainbowdp.guarantee import DP, Guarantee
from rainbowdp.margin_table import MarginTable
from rainbowdp.proof import Proof, check_rows, lines_of
from rainbowdp.standing import Shape

Corner: TypeAlias = tuple[int, ...]
Number: TypeAlias = Callable[[Fraction], Any]

_MANY = 10**9  # a count with room below it for every gap that is looked at
_CLEAR = 2.0**-40
_BITS = 128  # of a share
_BLOCK = 1 << 16  # corners compared at once
_remembered: dict[str, Proof] = {}


def prove_table(guarantee: Guarantee, table: MarginTable, *, exactly: bool = False) -> Proof:
    """The table keeps (ε,δ) for votes of every size, or the pair of rows that refutes it.

    What was proved before is remembered by its digest.
    """
    digest = digest_of(guarantee, table)
    if digest in _remembered and not exactly:
        return _remembered[digest]
    if not isinstance(guarantee, DP):
        raise InvalidMechanism(f"a margin table needs an (ε,δ) guarantee, got {guarantee}")
    shape = table.shape
    if any(len(row) != shape.answers for row in table.rows):
        raise InvalidMechanism(f"a row of a margin table must have {shape.answers} weights")
    if check_rows(table.rows) != table.total:
        raise InvalidMechanism(f"the rows of a margin table must sum to {table.total}")
    weights = _Weights(_spread(shape, table.rows))
    ((ratio, delta),) = lines_of(guarantee)
    corners = 0
    for case in _cases(shape):
        corners += case.compare(shape, weights, ratio, delta * table.total, exactly)
    statement = f"{corners} corners of a margin table with total weight {table.total}"
    return _remembered.setdefault(digest, Proof(guarantee, corners, statement))


def digest_of(guarantee: Guarantee, table: MarginTable) -> str:
    """SHA-256 of all that a proof depends on."""
    return hashlib.sha256(repr((lines_of(guarantee), table)).encode()).hexdigest()


@dataclass(frozen=True)
class _Weights:
    """The rows over all choices of knots, exactly and in doubles."""

    exact: Any

    @cached_property
    def floats(self) -> Any:
        return self.exact.astype(np.float64)


@dataclass(frozen=True)
class _Case:
    """Neighbours that differ by one kind of change, with the gaps that decide who leads.

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

    def compare(
        self, shape: Shape, weights: _Weights, ratio: Fraction, slack: Fraction, exactly: bool
    ) -> int:
        """Compare all corners; their number."""
        gaps = [self.ends(shape, place) for place in range(shape.answers - 1)]
        corners = 0
        for block in self._blocks(shape, gaps):
            if exactly or not self._clear(shape, weights.floats, ratio, slack, block):
                for corner in self._unclear(shape, weights.exact, ratio, slack, block):
                    self._compare(shape, weights.exact, ratio, slack, corner)
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

    def _clear(
        self, shape: Shape, floats: Any, ratio: Fraction, slack: Fraction, gaps: Sequence[Any]
    ) -> bool:
        here, there = self._ends(shape, floats, gaps, float)
        factor, limit = float(ratio) * (1 - 3 * _CLEAR), float(slack) * (1 - _CLEAR)
        for more, less in ((here, there), (there, here)):
            if limit:
                over = more * (1 + _CLEAR) - factor * less
                if (np.maximum(over, 0.0).sum(axis=-1) > limit).any():
                    return False
            elif (more > factor * less).any():
                return False
        return True

    def _unclear(
        self, shape: Shape, weights: Any, ratio: Fraction, slack: Fraction, gaps: Sequence[Any]
    ) -> Iterator[Corner]:
        """The corners that shares of ``_BITS`` bits do not decide."""
        here, there = self._ends(shape, weights, gaps, _in_bits)
        axes = shape.answers - 1
        scale = 1 << _BITS * axes
        error = (ratio.numerator + ratio.denominator) * axes * _total(weights) * scale
        error = (error >> _BITS + 1) + 1
        limit = math.floor(ratio.denominator * slack * scale)
        doubtful = np.zeros(here.shape[:-1], dtype=bool)
        for more, less in ((here, there), (there, here)):
            over = ratio.denominator * more - ratio.numerator * less + error
            doubtful |= (np.maximum(over, 0).sum(axis=-1) > limit).astype(bool)
        for corner in np.argwhere(doubtful):
            yield tuple(ends[i] for ends, i in zip(gaps, corner, strict=True))

    def _compare(
        self, shape: Shape, weights: Any, ratio: Fraction, slack: Fraction, corner: Corner
    ) -> None:
        """Refuse the table if at this corner one end exceeds the other, in exact fractions."""
        here, there = self._ends(shape, weights, [[gap] for gap in corner], Fraction)
        for more, less in ((here, there), (there, here)):
            excess = np.maximum(more - ratio * less, 0).sum() - slack
            if excess > 0:
                raise InvalidMechanism(
                    "neighbouring rows of a margin table must be close, but at the gaps "
                    f"{corner}, moved by {self.moved}, they exceed by "
                    f"{float(excess / more.sum()):.3g}"
                )

    def _ends(
        self, shape: Shape, weights: Any, gaps: Sequence[Sequence[int]], number: Number
    ) -> tuple[Any, Any]:
        """The rows at the corners and those of their neighbours, answers and gaps in one order."""
        here = _blend(weights, [_axis(shape, tuple(ends), number) for ends in gaps])
        axes: list[Any] = [None] * (shape.answers - 1)
        order = [0] * (shape.answers - 1)  # for each gap here the axis it has there
        for place, to in enumerate(self.goes_to[1:]):
            axis = to if to else self.goes_to[0]  # the new leader leaves room for the old one
            ends = [gap + self.moved[place] for gap in gaps[place]] if to else [self.old_leader]
            axes[axis - 1] = _axis(shape, tuple(ends), number)
            order[place] = axis - 1
        there = _blend(weights, axes).transpose((*order, shape.answers - 1))
        return here, there[..., list(self.goes_to)]


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
    if shape.neighbours == "substituted":
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


def _spread(shape: Shape, rows: Sequence[Sequence[int]]) -> Any:
    """The rows over all choices of knots, by position; equal gaps must have equal weights."""
    size, knots = shape.answers, range(len(shape.knots) + 1)
    weights = np.empty((len(knots),) * (size - 1) + (size,), dtype=object)
    stored = iter(rows)
    known: dict[Any, dict[Any, int]] = {}
    for choice in itertools.product(knots, repeat=size - 1):
        names: list[Any] = [  # an answer goes by its position where that counts, else by its gap
            (knot, place if knot < shape.labelled else None) for place, knot in enumerate(choice)
        ]
        if shape.ties == "any leader":
            names = ["leader" if knot == 0 else (knot, None) for knot in choice]
        free = [knot for knot in choice if knot >= shape.labelled]
        key = (tuple(n for n in names if n[1] is not None), tuple(sorted(free)))
        if free == sorted(free):
            row = next(stored)
            found = dict(zip(["leader", *names], row, strict=True))
            if [found["leader"], *(found[name] for name in names)] != list(row):
                raise InvalidMechanism(f"equal gaps must have equal weights, got {row}")
            known[key] = found
        weights[choice] = [known[key]["leader"], *(known[key][name] for name in names)]
    return weights


def _in_bits(share: Fraction) -> int:
    """A share in units of 2^-128, to the nearest."""
    return round(share * (1 << _BITS))


def _total(weights: Any) -> int:
    """What every row sums to."""
    return int(weights[(0,) * (weights.ndim - 1)].sum())


@lru_cache(maxsize=4096)
def _axis(shape: Shape, gaps: tuple[int, ...], number: Number) -> Any:
    """For each gap the shares of all knots, as such numbers: those around it have some."""
    at = [*(shape.ratio**knot for knot in shape.knots), Fraction(0)]
    whole = number(Fraction(1))
    shares = np.zeros((len(gaps), len(at)), dtype=float if number is float else object)
    for row, gap in zip(shares, gaps, strict=True):
        lower = sum(knot <= gap for knot in shape.knots) - 1
        here, low, high = shape.ratio ** min(gap, shape.farthest), at[lower], at[lower + 1]
        share = (here - high) / (low - high)
        row[lower] = number(share)
        # in doubles 1 − share would not be right to a relative 2^-48 near 0
        row[lower + 1] = number(1 - share) if number is float else whole - row[lower]
    return shares


def _blend(weights: Any, axes: Sequence[Any]) -> Any:
    """Rows over the product of the axes, times what the shares of an axis sum to."""
    for place, shares in reversed(list(enumerate(axes))):
        before, after = weights.shape[:place], weights.shape[place + 1 :]
        flat = weights.reshape(math.prod(before), weights.shape[place], -1)
        weights = (shares @ flat).reshape(*before, len(shares), *after)
    return weights

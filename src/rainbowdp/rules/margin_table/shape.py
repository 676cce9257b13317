"""Where a vote stands: how far every answer is behind the leader.

The *gap* of an answer is how many records it is behind. Two rules say who is right in a tie:

``"first listed"``  the first listed of the answers that lead. Seen from the leader, the others are
                    counted on around the list: *position* j is the answer j places after it. The
                    gap of an answer listed before the leader is one less, as a tie is enough for
                    it to lead; so the leader changes when a gap falls below 0, whoever it is.
``"any leader"``    every answer that leads. Positions are the order of the list without the
                    leader.

A margin table has rows at a few gaps, its *knots*, and one row for all datasets that differ only in
the order of gaps. Where ties go to the first listed, gaps at the first few knots (``labeled``
of them) stay with their positions, as there it matters who comes first.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias, get_args

from rainbowdp.errors import InvalidMechanism

Ties: TypeAlias = Literal["first listed", "any leader"]
TIES: tuple[Ties, ...] = get_args(Ties)
Knots: TypeAlias = tuple[int, ...]  # for each position the number of a knot

# Ours need an eighth of this; a file may claim anything, and must not keep us busy for ever.
_MOST_STATES = 1 << 17
_MOST_BITS = 1 << 18  # of ratio^gap
_PLACES = 160  # binary places of ratio^gap where bounds are enough


def standing(counts: Sequence[int], ties: Ties) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The answers by position, the leader first, and the gaps of the others.

    >>> standing([4, 7, 5], "first listed")
    ((1, 2, 0), (2, 2))
    >>> standing([4, 7, 5], "any leader")
    ((1, 0, 2), (3, 2))
    """
    most = max(counts)
    leader = counts.index(most)
    places = range(len(counts))
    if ties == "any leader":
        order = (leader, *(v for v in places if v != leader))
        return order, tuple(most - counts[v] for v in order[1:])
    order = (*places[leader:], *places[:leader])
    return order, tuple(most - counts[v] - (v < leader) for v in order[1:])


@dataclass(frozen=True)
class Shape:
    """What a margin table is about and where it has rows.

    Between knots a row is linear in ratio^gap, for each gap. The last knot is infinitely far
    behind, where ratio^gap is 0; a gap beyond ``farthest`` counts as that.
    """

    answers: int
    neighbors: str
    ties: Ties
    knots: tuple[int, ...]  # without the one at infinity
    farthest: int
    ratio: Fraction
    labeled: int

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in itertools.pairwise(self.knots))
        if not self.knots or self.knots[0] != 0 or not rising or self.farthest <= self.knots[-1]:
            raise InvalidMechanism(
                f"knots must rise from 0 to the farthest gap, got {self.knots}, {self.farthest}"
            )
        if self.answers < 2 or not 0 < self.ratio < 1:
            raise InvalidMechanism(
                f"a margin table needs 2 answers and a ratio between 0 and 1, got {self.answers} "
                f"and {self.ratio}"
            )
        states = (len(self.knots) + 1) ** (min(self.answers, 20) - 1)
        bits = self.farthest * self.ratio.denominator.bit_length()
        if states > _MOST_STATES or bits > _MOST_BITS:
            raise InvalidMechanism(
                f"a margin table must have at most {_MOST_STATES:,} states and {_MOST_BITS:,} bits "
                f"of ratio^gap, got {self.answers} answers, {len(self.knots)} knots and "
                f"{self.farthest} as the farthest gap"
            )
        if self.ties not in TIES or (self.ties == "any leader" and self.labeled):
            raise InvalidMechanism(f"ties must be one of {TIES}, got {self.ties!r}")
        if not 0 <= self.labeled <= len(self.knots) + 1:
            raise InvalidMechanism(
                f"labeled knots must be among the {len(self.knots) + 1} knots, got {self.labeled}"
            )
        if self.neighbors not in ("substituted", "added or removed"):
            raise InvalidMechanism(f"neighbors must be stated, got {self.neighbors!r}")

    @cached_property
    def states(self) -> dict[Knots, int]:
        """The number of the row for each arranged choice of knots."""
        choices: list[tuple[Knots, int]] = [((), self.labeled)]  # and the least unlabeled knot
        for _ in range(self.answers - 1):
            choices = [
                ((*knots, knot), max(least, knot))
                for knots, least in choices
                for knot in (*range(self.labeled), *range(least, len(self.knots) + 1))
            ]
        return {knots: number for number, (knots, _) in enumerate(choices)}

    def arranged(self, knots: Knots) -> tuple[Knots, tuple[int, ...]]:
        """Unlabeled knots in rising order, and for each position its place in that row."""
        free = [i for i, knot in enumerate(knots) if knot >= self.labeled]
        ordered, places = list(knots), [0, *range(1, len(knots) + 1)]
        for target, source in zip(free, sorted(free, key=knots.__getitem__), strict=True):
            ordered[target], places[source + 1] = knots[source], target + 1
        return tuple(ordered), tuple(places)

    def around(self, gap: int) -> Iterator[tuple[int, int]]:
        """The knots around a gap with their shares, in integers that sum to the same in one cell.

        For a ≤ gap ≤ b the share of a is (r^gap − r^b)/(r^a − r^b), and with r = A/B, t = gap − a
        and w = b − a that is (A^t·B^{w−t} − A^w)/(B^w − A^w); behind the last finite knot (A/B)^t.
        """
        cell, step, width = self._cell(gap)
        if step == 0:
            yield cell, 1
            return
        top, bottom = self.ratio.numerator, self.ratio.denominator
        if width is None:
            near, both = top**step, bottom**step
        else:
            near = top**step * bottom ** (width - step) - top**width
            both = bottom**width - top**width
        yield cell, near
        yield cell + 1, both - near

    def share_bounds(self, gap: int, places: int) -> tuple[int, int, int]:
        """The nearer knot, and what its share, times 2^places, is not below and not above.

        The share is (r^t − r^w)/(1 − r^w), which rises with r^t and falls with r^w.
        """
        cell, step, width = self._cell(gap)
        low, high = self._power(step)
        if width is not None:
            (least, most), one = self._power(width), 1 << _PLACES
            low = (low - most << _PLACES) // (one - most)
            high = (high - least << _PLACES) // (one - least) + 1
        return cell, low >> _PLACES - places, (high >> _PLACES - places) + 1

    def _cell(self, gap: int) -> tuple[int, int, int | None]:
        """The last knot that is not beyond a gap, how far from it, and the next knot from it."""
        cell = bisect_right(self.knots, gap) - 1
        step = min(gap, self.farthest) - self.knots[cell]
        if cell == len(self.knots) - 1:
            return cell, step, None
        return cell, step, self.knots[cell + 1] - self.knots[cell]

    @cached_property
    def _squares(self) -> list[tuple[int, int]]:
        """Bounds of r, r², r⁴, … in ``_PLACES``, up to the farthest gap."""
        low = (self.ratio.numerator << _PLACES) // self.ratio.denominator
        squares = [(low, low + 1)]
        while len(squares) < self.farthest.bit_length():
            low, high = squares[-1]
            squares.append((low * low >> _PLACES, (high * high >> _PLACES) + 1))
        return squares

    def _power(self, exponent: int) -> tuple[int, int]:
        """Bounds of r^exponent in ``_PLACES``."""
        low = high = 1 << _PLACES
        for least, most in self._squares:
            if exponent & 1:
                low, high = low * least >> _PLACES, (high * most >> _PLACES) + 1
            exponent >>= 1
        return low, high

"""What a margin table is about and where it has rows.

A margin table has rows at a few gaps, its *knots*, and one row for all datasets that differ only in
the order of gaps. Where ties go to the first listed, gaps at the first few knots (``labeled``
of them) stay with their positions, as there it matters who comes first.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from rainbowdp.errors import InvalidMechanism
from rainbowdp.questions.relations import Neighbors, Ties, one_of

Knots: TypeAlias = tuple[int, ...]  # for each position the number of a knot

# Ours need an eighth of this; a file may claim anything, and must not keep us busy for ever.
_MOST_STATES = 1 << 17
_MOST_BITS = 1 << 18  # of ratio^gap
_PLACES = 160  # binary places of ratio^gap where bounds are enough


@dataclass(frozen=True)
class Shape:
    """What a margin table is about and where it has rows.

    Between knots a row is linear in ratio^gap, for each gap. The last knot is infinitely far
    behind, where ratio^gap is 0; a gap beyond ``farthest`` counts as that.
    """

    answers: int
    neighbors: str
    ties: str
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
        ties = one_of(Ties, self.ties, "ties", InvalidMechanism)
        neighbors = one_of(Neighbors, self.neighbors, "neighbors", InvalidMechanism)
        object.__setattr__(self, "ties", ties)
        object.__setattr__(self, "neighbors", neighbors)
        if ties == Ties.ANY_LEADER and self.labeled:
            raise InvalidMechanism(
                f"where any leader is right no knot is labeled, got {self.labeled} of them"
            )
        if not 0 <= self.labeled <= len(self.knots) + 1:
            raise InvalidMechanism(
                f"labeled knots must be among the {len(self.knots) + 1} knots, got {self.labeled}"
            )

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

    def same_rows(self, knots: Knots) -> list[tuple[int, int]]:
        """Pairs of positions with equal weights at ``knots``: equal gaps, or a shared lead."""
        free = [(knot, i) for i, knot in enumerate(knots, 1) if knot >= self.labeled]
        pairs = [(i, j) for (a, i), (b, j) in itertools.pairwise(sorted(free)) if a == b]
        if self.ties == Ties.ANY_LEADER:
            pairs += [(0, i) for knot, i in free if knot == 0]
        return pairs

"""Chances in integers that fall with a distance, by a ratio at most for each step.

With the distance d the chance is ⌊(top − C)·ratio^d⌋ + C of 2^127, where C is at least
1/(1 − ratio). So a distance that is longer by one costs at most the factor 1/ratio and never gains,
which is all that proofs need (``docs/flips.md``).
"""

from __future__ import annotations

import math
import secrets
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.errors import InvalidMechanism
from rainbowdp.numeric.powers import Bounds, floor_of_power, power_tables
from rainbowdp.numeric.quantity import ball, dyadic, precision

GRID = 1 << 60  # ratios are multiples of 1/GRID
BITS = 127
TOTAL = 1 << BITS

_PLACES = 256  # binary places of powers, where these are enough
_FIRST, _REST = 31, 96  # places of a uniform number that are drawn at first, and afterwards
_DRAWN = 64  # places of the uniform number that a share is drawn by, at a time
_MANY = 12  # coins that are quicker to flip together
_LISTED = 1 << 16  # distances whose bounds are listed
_LARGEST = 1 << 62  # distance that is counted in 64 bits


@dataclass(frozen=True)
class Falling:
    """Chances that fall from ``top`` by the factor ``ratio`` a step."""

    ratio: Fraction
    top: int = TOTAL

    def __post_init__(self) -> None:
        if not 0 < self.ratio < 1 or GRID % self.ratio.denominator:
            raise InvalidMechanism(
                "a ratio of chances must be between 0 and 1 and a multiple of 2^-60, got another"
            )
        if type(self.top) is not int or not self.least <= self.top <= TOTAL:
            raise InvalidMechanism("chances must fall from at most 2^127, got more or nothing")

    @cached_property
    def least(self) -> int:
        """The chance that is never fallen short of: rounded up, 1/(1 − ratio)."""
        top, bottom = self.ratio.numerator, self.ratio.denominator
        return -(-bottom // (bottom - top))

    @cached_property
    def farthest(self) -> int:
        """A distance from which on all chances are the least, as e^−89 < 2^−127."""
        return 89 * self.least

    def at(self, distance: int) -> int:
        """The chance at ``distance``, of 2^127."""
        if distance >= self.farthest:
            return self.least
        above, places, tables = self.top - self.least, _PLACES, self._tables
        while (found := floor_of_power(tables, distance, above, places)) is None:
            places *= 2
            tables = power_tables(self.ratio, self.farthest, places)
        return found + self.least

    def in_floats(self, distances: Floats) -> Floats:
        """The chances at many distances, of 1."""
        near = self.ratio > Fraction(1, 2)  # where the difference to 1 has the digits
        rate = math.log1p(float(self.ratio - 1)) if near else math.log(self.ratio)
        floor, top = self.least / TOTAL, self.top / TOTAL
        chances: Floats = (top - floor) * np.exp(rate * distances) + floor
        return chances

    def heads(self, distances: Sequence[int] | Integers) -> list[int]:
        """Which coins show heads, one for each distance: exactly with their chances."""
        together = self._together(distances)
        if together is not None:
            return self._heads_together(together)
        return [
            number
            for number, distance in enumerate(map(int, distances))
            if secrets.randbits(BITS) < self.at(distance)
        ]

    def _heads_together(self, distances: Integers) -> list[int]:
        """The same for many coins at once.

        The first 31 places of each uniform number are compared with bounds of the chance; where
        that leaves it open the other 96 places are drawn, and the chance itself decides.
        """
        drawn = np.frombuffer(secrets.token_bytes(4 * len(distances)), dtype=np.uint32)
        low, high = self._looked_up(distances)
        heads: Integers = (drawn < high).nonzero()[0]
        sure = drawn[heads] < low[heads]
        found: list[int] = heads.tolist()
        if np.count_nonzero(sure) == len(found):
            return found
        return [
            number
            for number, clear in zip(found, sure.tolist(), strict=True)
            if clear or self._shows_heads(int(drawn[number]) >> 1, int(distances[number]))
        ]

    def _shows_heads(self, drawn: int, distance: int) -> bool:
        """Whether a coin does, whose uniform number has these first places."""
        return drawn << _REST | secrets.randbits(_REST) < self.at(distance)

    def share(self, distances: Sequence[int] | Integers) -> int:
        """Which distance is drawn, each with exactly its share of all chances."""
        drawn = secrets.randbits(_DRAWN)
        together = self._together(distances)
        if together is not None:
            found = self._share_by_bounds(together, drawn)
            if found is not None:
                return found
        ends = list(accumulate(map(self.at, map(int, distances))))
        places = _DRAWN
        while True:  # the uniform number has its first places from drawn, and grows
            least, most = drawn * ends[-1], (drawn + 1) * ends[-1]
            found = bisect_right(ends, least >> places)
            if most <= ends[found] << places:
                return found
            drawn, places = drawn << _DRAWN | secrets.randbits(_DRAWN), places + _DRAWN

    def _share_by_bounds(self, distances: Integers, drawn: int) -> int | None:
        """The same from bounds of the chances, where they are enough."""
        low, high = self._looked_up(distances)
        least, most = np.cumsum(np.maximum(low, 0)), np.cumsum(high)
        start = drawn * int(least[-1]) >> _DRAWN
        end = -(-(drawn + 1) * int(most[-1]) >> _DRAWN)
        found = int(np.searchsorted(least, end))
        within = found < len(least) and (found == 0 or most[found - 1] <= start)
        return found if within else None

    def _together(self, distances: Sequence[int] | Integers) -> Integers | None:
        """An array of them where they are many, which are quicker together, and none is too long.

        An array is taken as it is: 64 bits hold its distances.
        """
        if self.farthest >= _LARGEST:
            return None
        if isinstance(distances, np.ndarray):
            return distances
        if len(distances) < _MANY or max(distances) >= _LARGEST:
            return None
        return np.array(distances, dtype=np.int64)

    def _looked_up(self, distances: Integers) -> tuple[Integers, Integers]:
        """Twice the bounds, so that a number of 32 bits is compared by its first 31.

        From a list of them, where it is short; its last ones are for all beyond.
        """
        if self._listed is None:
            low, high = self.bounds(distances)
            return 2 * low, 2 * high
        low, high = self._listed
        return low.take(distances, mode="clip"), high.take(distances, mode="clip")

    @cached_property
    def _listed(self) -> tuple[Integers, Integers] | None:
        """Twice the bounds by distance, up to where hardly anything is left of a chance."""
        size = _FIRST * self.least + 1  # ratio^least is less than a half, so that is long enough
        if size > _LISTED:
            return None
        low, high = self.bounds(np.arange(size))
        low[-1] = -1
        return 2 * low, 2 * high

    def bounds(self, distances: Integers) -> tuple[Integers, Integers]:
        """For each distance L and H with L·2^96 ≤ chance ≤ H·2^96.

        With P = ratio^distance the chance is ⌊(top − C)·P⌋ + C, which is at least top·P − 1 and at
        most top·P + C, where 1 and C are below 2^96, one unit of a bound.
        """
        within = np.minimum(distances, self.farthest)
        low = np.full(len(within), self.top >> _REST, dtype=np.int64)
        high = np.full(len(within), -(-self.top >> _REST), dtype=np.int64)
        for place, (least, most) in enumerate(self._coarse):
            digits = within >> 8 * place & 255
            low = low * least[digits] >> _FIRST
            high = (high * most[digits] >> _FIRST) + 1
        return low - 1, high + 1

    @cached_property
    def _tables(self) -> list[list[Bounds]]:
        return power_tables(self.ratio, self.farthest, _PLACES)

    @cached_property
    def _coarse(self) -> list[tuple[Integers, Integers]]:
        """The tables of powers in 31 places, rounded outwards."""
        shift = _PLACES - _FIRST
        return [
            (
                np.array([least >> shift for least, _ in powers], dtype=np.int64),
                np.array([-(-most >> shift) for _, most in powers], dtype=np.int64),
            )
            for powers in self._tables
        ]


def ratio_for(fall: Fraction, moves: int) -> Fraction:
    """The least ratio, a multiple of 1/GRID, whose power ``moves`` is not below ``fall``."""
    with precision(256):
        root = dyadic((ball(fall) ** ball(Fraction(1, moves))).upper())
    return Fraction(math.ceil(root * GRID), GRID)

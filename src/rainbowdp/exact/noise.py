"""Noise for a count: one symmetric row of integers, whatever the count is.

A row holds the weights of 0, ±1, …, ±m, then one weight for every whole number beyond m and below
the *reach*, and the two ends, which stand for all that is farther. Where the guarantee allows that
some numbers are never drawn, the weight beyond m and the ends are 0. Otherwise, under ε or μ, every
number of the range needs a weight, and a few units for each are less than any chance worth a name.
"""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, Self

from rainbowdp.errors import InvalidMechanism
from rainbowdp.storage.integers import from_text, from_texts, to_text, to_texts

MOST_WEIGHTS = (1 << 18) + 1  # on one side, as many as are made; a file may claim anything


@dataclass(frozen=True)
class NoiseRow:
    """Symmetric noise in integers.

    Parameters
    ----------
    half
        The weights of 0, 1, …, m, and so of −1, …, −m.
    tail
        The weight of every whole number beyond m and below the reach, on either side.
    end
        The weight of the reach, on either side.
    reach
        The largest number that can be drawn.

    Raises
    ------
    InvalidMechanism
        If these are not whole numbers, or there is no room for the weights.

    Examples
    --------
    >>> row = NoiseRow((4, 2, 1), 0, 0, 9)
    >>> row.total, row.at_least(1), row.within(1)
    (10, Fraction(3, 10), Fraction(4, 5))

    """

    half: tuple[int, ...]
    tail: int
    end: int
    reach: int

    def __post_init__(self) -> None:
        numbers = (*self.half, self.tail, self.end, self.reach)
        if any(type(number) is not int or number < 0 for number in numbers):
            raise InvalidMechanism("the weights of noise must be integers from 0, got others")
        if not self.half or not self.half[0] or self.reach < len(self.half):
            raise InvalidMechanism("noise must have weights from 0 up to below its reach")

    @property
    def farthest(self) -> int:
        """m: beyond it all numbers have one weight."""
        return len(self.half) - 1

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return self.half[0] + 2 * self._side

    @cached_property
    def _ends(self) -> list[int]:
        """The sums of the weights of 1, of 1 and 2, and so on up to m."""
        return list(accumulate(self.half[1:]))

    @cached_property
    def _side(self) -> int:
        """What all numbers from 1 up have together."""
        listed = self._ends[-1] if self._ends else 0
        return listed + (self.reach - len(self.half)) * self.tail + self.end

    def weight(self, number: int) -> int:
        """The weight of one number."""
        place = abs(number)
        if place > self.farthest:
            return self.tail if place < self.reach else self.end if place == self.reach else 0
        return self.half[place]

    def beyond(self, number: int) -> int:
        """What all numbers from ``number`` up have together.

        >>> NoiseRow((4, 2, 1), 0, 0, 9).beyond(-1)
        9
        """
        if number < 1:
            return self.total - (self.beyond(1 - number))
        if number > self.reach:
            return 0
        if number > self.farthest:
            return (self.reach - number) * self.tail + self.end
        return self._side - (self._ends[number - 2] if number > 1 else 0)

    def at_least(self, number: int) -> Fraction:
        """The chance of ``number`` or more."""
        return Fraction(self.beyond(number), self.total)

    def within(self, distance: int) -> Fraction:
        """The chance of a number at most so far from 0."""
        return 1 - 2 * self.at_least(distance + 1)

    def half_width(self, confidence: Fraction) -> int:
        """The least distance from 0 within which a draw lies so surely.

        >>> NoiseRow((4, 2, 1), 0, 0, 9).half_width(Fraction(95, 100))
        2
        """
        low, high = -1, self.reach
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.within(middle) >= confidence else (middle, high)
        return high

    def draw(self) -> int:
        """One number: a uniform integer below the total, and a bisection."""
        place = secrets.randbelow(self.total) - self.half[0]
        if place < 0:
            return 0
        negative, place = divmod(place, self._side)
        found = self._at(place)
        return -found if negative else found

    def _at(self, place: int) -> int:
        """The number from 1 up whose units the one at ``place`` belongs to."""
        listed = self._ends[-1] if self._ends else 0
        if place < listed:
            return 1 + bisect_right(self._ends, place)
        place -= listed
        if place < (self.reach - len(self.half)) * self.tail:
            return len(self.half) + place // self.tail
        return self.reach

    def describe(self) -> dict[str, Any]:
        """The row, ready for JSON."""
        return {
            "half": to_texts(self.half),
            "tail": to_text(self.tail),
            "end": to_text(self.end),
            "reach": to_text(self.reach),
        }

    @classmethod
    def restore(cls, content: Mapping[str, Any]) -> Self:
        """The row that ``describe`` described."""
        rest = (from_text(content[name]) for name in ("tail", "end", "reach"))
        return cls(from_texts(content["half"], MOST_WEIGHTS), *rest)

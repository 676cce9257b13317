"""A yes or no that depends on one count, in integers: the line of a test."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from rainbowdp.errors import InvalidMechanism


@dataclass(frozen=True)
class Line:
    """How likely "yes" is for each count.

    Parameters
    ----------
    before
        The weight of "yes" for counts below ``start``.
    weights
        Its weights from ``start`` on; the last one is used for all larger counts.
    start
        The first count with a weight of its own.
    total
        What "yes" and "no" have together.

    Raises
    ------
    InvalidMechanism
        If a weight is not a whole number from 0 to ``total``.

    Examples
    --------
    >>> line = Line(0, (1, 3, 4), 10, 4)
    >>> [line.weight(count) for count in (9, 10, 11, 12, 50)]
    [0, 1, 3, 4, 4]

    """

    before: int
    weights: tuple[int, ...]
    start: int
    total: int

    def __post_init__(self) -> None:
        numbers = (self.before, self.start, self.total, *self.weights)
        whole = all(type(number) is int and number >= 0 for number in numbers)
        if not whole or not self.weights or max(self.before, *self.weights) > self.total:
            raise InvalidMechanism("a line must have integers from 0 to its total, got others")

    def weight(self, count: int) -> int:
        """The weight of "yes" for a count."""
        if count < self.start:
            return self.before
        return self.weights[min(count - self.start, len(self.weights) - 1)]

    def chance(self, count: int) -> Fraction:
        """The chance of "yes" for a count."""
        return Fraction(self.weight(count), self.total)

    def drawer(self, count: int) -> Callable[[], bool]:
        """A function that draws yes or no for a count."""
        weight = self.weight(count)
        return lambda: secrets.randbelow(self.total) < weight

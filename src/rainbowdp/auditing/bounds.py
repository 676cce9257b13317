"""A number between two floats, which is what is known of a logarithm."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from rainbowdp.numeric.quantity import ball, precision

if TYPE_CHECKING:
    from flint import arb

BITS = 192
_MOST_BITS = 1 << 13


@dataclass(frozen=True)
class Bounds:
    """A number that certainly lies between two floats.

    ``float(bounds)`` is the larger one, which is the safe side of a privacy loss.

    Attributes
    ----------
    low, high
        The number is at least ``low`` and at most ``high``; both are infinite where it is.

    Examples
    --------
    >>> found = Bounds(0.25, 0.5)
    >>> float(found), found.low, 0.3 in found
    (0.5, 0.25, True)

    """

    low: float
    high: float

    def __float__(self) -> float:
        return self.high

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int | float | Fraction) and self.low <= number <= self.high

    def __format__(self, spec: str) -> str:
        return format(self.high, spec) if spec else str(self)

    def __str__(self) -> str:
        if self.low == self.high:
            return "∞" if math.isinf(self.high) else f"{self.high:.10g}"
        short = f"{self.high:.7g}"
        close = self.high - self.low <= 1e-8 * self.high
        return short if close else f"{self.low:.7g} to {short}"

    def as_dict(self) -> dict[str, float | None]:
        """The two floats, ready for JSON; none where the number is infinite."""
        return {
            side: None if math.isinf(value) else value
            for side, value in (("at_least", self.low), ("at_most", self.high))
        }


INFINITE = Bounds(math.inf, math.inf)
ZERO = Bounds(0.0, 0.0)


def below(number: arb) -> float:
    """A float that is at most all of a ball, and at least 0."""
    nearest = float(number.lower())
    return max(0.0, math.nextafter(nearest, -math.inf))


def above(number: arb) -> float:
    """A float that is at least all of a ball."""
    return math.nextafter(float(number.upper()), math.inf)


def enclosed(number: arb) -> Bounds:
    """The floats around a ball of a number that is not negative."""
    return Bounds(below(number), max(0.0, above(number)))


def of_fraction(value: Fraction) -> Bounds:
    """The two floats next to a fraction, or the one that it is."""
    nearest = float(value)
    if nearest == value:
        return Bounds(nearest, nearest)
    if nearest < value:
        return Bounds(nearest, math.nextafter(nearest, math.inf))
    return Bounds(math.nextafter(nearest, -math.inf), nearest)


def logarithm(value: Fraction) -> Bounds:
    """The logarithm of a fraction from 1 up, and 0 below 1."""
    if value <= 1:
        return ZERO
    with precision(BITS + value.denominator.bit_length()):
        return enclosed(ball(value - 1).log1p())


def greatest(found: Iterable[Bounds]) -> Bounds:
    """The largest of several numbers."""
    low = high = 0.0
    for bounds in found:
        low, high = max(low, bounds.low), max(high, bounds.high)
    return Bounds(low, high)


def is_positive(evaluate: Callable[[], arb], bits: int = BITS) -> bool | None:
    """Whether a number is above 0, at whatever precision decides it; none where nothing does."""
    while bits <= _MOST_BITS:
        with precision(bits):
            value = evaluate()
            if value > 0:
                return True
            if value <= 0:
                return False
        bits *= 2
    return None

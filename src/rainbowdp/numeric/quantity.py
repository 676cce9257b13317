"""Numbers exactly as they were given.

A float is the binary fraction it is, a string or a ``Decimal`` the decimal it spells, a
``Fraction`` itself. Everything rigorous in the package starts from these fractions and goes
through *balls*: numbers of arbitrary precision with a proven error radius (Arb, through
python-flint).
"""

from __future__ import annotations

import math
import numbers
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rainbowdp.errors import InvalidDistribution, RainbowError
from rainbowdp.expecting import brief, expect

if TYPE_CHECKING:
    from flint import arb

Number: TypeAlias = int | float | Fraction | Decimal | str

_MOST_DIGITS = 4_300  # what Python prints, so that every number can be shown and written down
_MOST_BITS = 14_284  # of which every number has at most as many digits
_LONGEST = 2 * _MOST_DIGITS + 3  # characters of a fraction: a sign, a slash and a space more
_BALLS = threading.RLock()  # Arb has one precision for the whole process
SUM_TOLERANCE = 1e-9  # how far from one a distribution may sum; it is then normalized exactly


def exact(value: object, what: str, error: type[RainbowError]) -> Fraction:
    """The exact fraction that ``value`` denotes; ``what`` names it in the error message.

    One that Python would not print, for its thousands of digits, is refused.

    >>> exact("0.1", "epsilon", RainbowError), exact(0.5, "epsilon", RainbowError)
    (Fraction(1, 10), Fraction(1, 2))
    """
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        if isinstance(value, str):
            if len(value) > _LONGEST:
                raise OverflowError  # reading takes the square of its length
            return _printable(Fraction(value)) if "/" in value else _decimal(Decimal(value))
        if isinstance(value, numbers.Integral):
            return _printable(Fraction(int(value)))  # NumPy's would stay what they are inside
        if isinstance(value, Decimal):
            return _decimal(value)
        if isinstance(value, numbers.Rational):
            return _printable(Fraction(value))
        if isinstance(value, numbers.Real):
            return Fraction(float(value))
        raise TypeError
    except (TypeError, ValueError, OverflowError, ZeroDivisionError, InvalidOperation):
        got = brief(value) if " " in what else f"{what}={brief(value)}"
        raise error(f"{what} must be a finite number, got {got}") from None


def _decimal(value: Decimal) -> Fraction:
    if value.is_finite() and value and abs(value.adjusted()) > _MOST_DIGITS:
        raise OverflowError  # "1e999999999" would fill the memory with zeros
    return _printable(Fraction(value))


def _printable(value: Fraction) -> Fraction:
    if max(abs(value.numerator), value.denominator).bit_length() > _MOST_BITS:
        raise OverflowError
    return value


def exact_distribution(
    values: Sequence[object], answers: int | None = None
) -> tuple[Fraction, ...]:
    """Probabilities as exact fractions, divided by their exact sum.

    The sum may differ from one by rounding (1e-9) and no more: a row that was rounded to four
    digits is a mistake to report, not to repair silently.
    """
    listed = expect(values, Iterable, "a distribution", InvalidDistribution)
    row = tuple(exact(value, "a probability", InvalidDistribution) for value in listed)
    if answers is not None and len(row) != answers:
        raise InvalidDistribution(
            f"a distribution needs a probability for each of the {answers} answers, got {len(row)}"
        )
    if not row:
        raise InvalidDistribution("a distribution needs at least one probability, got none")
    if any(p < 0 for p in row):
        raise InvalidDistribution(f"probabilities must not be negative, got {plain(row)}")
    if any(p > 1 + SUM_TOLERANCE for p in row):
        raise InvalidDistribution(f"probabilities must be at most 1, got {plain(row)}")
    total = sum(row, Fraction(0))
    if abs(total - 1) > SUM_TOLERANCE:
        raise InvalidDistribution(
            f"probabilities must sum to 1, got {plain(row)}, which sums to {float(total):.10g}"
        )
    return row if total == 1 else tuple(p / total for p in row)


def plain(row: Sequence[Fraction] | np.ndarray) -> str:
    """A short form of a row for a message, in parentheses."""
    return "(" + ", ".join(map(_short, row)) + ")"


def _short(value: Fraction | float) -> str:
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return "a huge number"


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set the precision of balls to ``bits`` inside the block; other threads wait until it ends.

    Nothing that is cached may be computed for the first time inside: ``cached_property`` has a
    lock of its own (until Python 3.12), which another thread may hold while it waits for this one.
    """
    from flint import ctx

    with _BALLS, ctx.workprec(bits):
        yield


def ball(value: Fraction) -> arb:
    """The ball of the current precision around an exact fraction."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


@lru_cache(maxsize=64)
def over_root_two(value: Fraction, bits: int) -> arb:
    """The ball of so many bits around value/√2."""
    with precision(bits):
        return ball(value) / ball(Fraction(2)).sqrt()


def dyadic(number: arb) -> Fraction:
    """The exact value of a ball with radius zero, a dyadic rational."""
    mantissa, exponent = (int(part) for part in number.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def refine(
    evaluate: Callable[[], arb], bits: int = 128, good: int = 60, most: int = 1 << 14
) -> float:
    """The float nearest to what ``evaluate`` encloses, at whatever precision that takes.

    ``evaluate`` is called with the precision set and doubled until the ball is accurate to
    ``good`` bits relatively. A value that still cannot be distinguished from zero at ``most`` bits
    is taken as zero: only an exact tie of rationals stays undecided for so long.
    """
    while True:
        with precision(bits):
            value = evaluate()
            if value.rel_accuracy_bits() >= good or value.is_zero():
                return float(value)
        if bits >= most:
            return 0.0
        bits *= 2


def first_integer_above(evaluate: Callable[[], arb], bits: int = 128, most: int = 1 << 14) -> int:
    """⌊x⌋ + 1 for the number x that ``evaluate`` encloses, at whatever precision decides it.

    A ball that contains an integer at every precision up to ``most`` bits is taken as that integer.
    """
    while True:
        with precision(bits):
            value = evaluate()
            floor = value.floor().unique_fmpz()
            if floor is not None:
                return int(floor) + 1
            if bits >= most:
                return int(str((value.mid() + 0.5).floor().unique_fmpz())) + 1
        bits *= 2


def root_below(x: Fraction, bits: int) -> Fraction:
    """A rational at most √x, exact for a square of a rational: √(a/b) = √(ab)/b, rounded down.

    >>> root_below(Fraction(9, 4), 64)
    Fraction(3, 2)
    """
    places = bits + x.denominator.bit_length()
    root = math.isqrt(x.numerator * x.denominator << 2 * places)
    return Fraction(root, x.denominator << places)

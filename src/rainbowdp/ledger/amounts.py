"""Exact amounts of privacy: the grid that they lie on, and how people read them.

Sums must stay exact and short, whatever was asked before: two fractions with long denominators
have a sum with a denominator as long as both, and some thousand digits no longer fit in a row. So
every amount in a ledger is a whole number of grains of 1/GRID, what is spent rounded *up* and what
may be spent rounded *down*. All decimals of up to thirty places, all p/q with q up to 100, their
squares and halves lie on the grid, and stay what they are.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

GRID = 2 * math.lcm(*range(1, 101)) ** 2 * 10**30  # 373 bits
_DIGITS = 12  # that people are shown
_CONTEXT = Context(prec=_DIGITS)  # ours, whatever a program has set for its own decimals


def rounded_up(value: Fraction) -> Fraction:
    """The least amount on the grid that is at least ``value``.

    >>> rounded_up(Fraction("0.3")), rounded_up(Fraction(1, 7)), rounded_up(Fraction(4, 97**2))
    (Fraction(3, 10), Fraction(1, 7), Fraction(4, 9409))
    >>> 0 < rounded_up(Fraction(1, 3**8201)) < Fraction(1, 10**100)
    True
    """
    return Fraction(-((-value.numerator * GRID) // value.denominator), GRID)


def rounded_down(value: Fraction) -> Fraction:
    """The greatest amount on the grid that is at most ``value``."""
    return Fraction(value.numerator * GRID // value.denominator, GRID)


def plain(value: Fraction) -> str:
    """A fraction for people: a decimal where that is exact and short, else a short fraction.

    >>> plain(Fraction(7, 10)), plain(Fraction(1, 3)), plain(Fraction(0.1))
    ('0.7', '1/3', '≈0.1')
    """
    decimal = _decimal(value)
    if Fraction(decimal) == value:
        return _written(decimal)
    size = max(value.numerator.bit_length(), value.denominator.bit_length())
    text = f"{value}" if size < 64 else ""
    return text if 0 < len(text) <= _DIGITS else f"≈{_written(decimal)}"


def plain_root(square: Fraction) -> str:
    """The root of ``square`` for people.

    >>> plain_root(Fraction(9, 100)), plain_root(Fraction(2))
    ('0.3', '≈1.41421356237')
    """
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    if root**2 == square:
        return plain(root)
    return f"≈{_written(_decimal(square).sqrt(_CONTEXT))}"


def _written(value: Decimal) -> str:
    """Digits without an exponent, unless there are many zeros.

    >>> _written(Decimal("1e-6")), _written(Decimal("1e-9"))
    ('0.000001', '1e-9')
    """
    short = value.normalize(_CONTEXT)
    return f"{short:f}" if -7 < short.adjusted() < _DIGITS else f"{short:g}"


def _decimal(value: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))

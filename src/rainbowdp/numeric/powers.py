"""Powers of a ratio below 1 in fixed point, with bounds rounded outwards."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

Bounds: TypeAlias = tuple[int, int]  # what a number, times 2^places, is not below and not above


def power_tables(ratio: Fraction, exponents: int, places: int) -> list[list[Bounds]]:
    """Bounds on ratio^(digit·256^position), times 2^places: all 256 digits of each position."""
    whole = ratio.numerator * (1 << places) // ratio.denominator  # no rest
    step, tables = (whole, whole), list[list[Bounds]]()
    while len(tables) * 8 < exponents.bit_length():
        powers = [(1 << places, 1 << places)]
        while len(powers) < 256:
            powers.append(_times(powers[-1], step, places))
        tables.append(powers)
        step = _times(powers[-1], step, places)
    return tables


def floor_of_power(
    tables: list[list[Bounds]], exponent: int, factor: int, places: int
) -> int | None:
    """⌊factor·ratio^exponent⌋, or None if the bounds do not decide it."""
    found = factor << places, factor << places
    for powers in tables:
        if not exponent:
            break
        found = _times(found, powers[exponent & 255], places)
        exponent >>= 8
    low, high = found[0] >> places, found[1] >> places
    return low if low == high else None


def _times(one: Bounds, other: Bounds, places: int) -> Bounds:
    """The product of two bounded numbers with that many binary places, rounded outwards."""
    return one[0] * other[0] >> places, -(-one[1] * other[1] >> places)

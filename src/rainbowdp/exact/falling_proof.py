"""Checking chances that fall with a distance, as they are released.

What proofs need of chances c_0, c_1, … is that for every distance d

    c_{d+1} ≤ c_d   and   c_{d+1} ≥ ratio·c_d.

It is checked for the first few hundred distances, and around every power of two after them. That it
holds between those follows from what the chances are, ⌊(top − least)·ratio^d⌋ + least with
least·(1 − ratio) ≥ 1: it is checked too, with powers that are computed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from rainbowdp.errors import InvalidMechanism
from rainbowdp.guarantees.closeness import BITS

_NEAR = 512  # distances up to which every chance is looked at


@dataclass(frozen=True)
class Chances:
    """What a rule releases with: the chance at each distance, of ``total``."""

    ratio: Fraction
    total: int
    top: int
    farthest: int
    at: Callable[[int], int]


def must_keep(allowed: Fraction, chances: Chances, moves: int, guarantee: object) -> None:
    """Refuse chances that ``moves`` steps make fall by more than the factor ``allowed``."""
    places = BITS + 64 + math.floor(allowed).bit_length()
    low, _ = power_between(chances.ratio, moves, places)
    if low * allowed.numerator < allowed.denominator << places:
        raise InvalidMechanism(f"chances must keep {guarantee}, but they fall too fast")


def must_fall(chances: Chances) -> int:
    """Refuse chances that fall too fast, rise, or are not what they must be; their number."""
    ratio, top, least = chances.ratio, chances.top, chances.at(chances.farthest)
    if not 0 < ratio < 1 or not least <= top <= chances.total:
        raise InvalidMechanism("chances must fall from at most their total, got others")
    if least * (1 - ratio) < 1:
        raise InvalidMechanism("chances must end at 1/(1 − ratio) or above")
    places = chances.total.bit_length() + 128
    compared = 0
    for distance in _looked_at(chances.farthest):
        here, beside = chances.at(distance), chances.at(distance + 1)
        low, high = (
            (top - least) * end >> places for end in power_between(ratio, distance, places)
        )
        if not low <= here - least <= high:
            raise InvalidMechanism(f"the chance at distance {distance} is not what it must be")
        if not here * ratio <= beside <= here:
            raise InvalidMechanism(
                f"chances must fall, by the ratio at most, but not at distance {distance}"
            )
        compared += 1
    return compared


def _looked_at(farthest: int) -> Iterator[int]:
    yield from range(min(_NEAR, farthest))
    for bits in range(_NEAR.bit_length(), farthest.bit_length() + 1):
        yield from ((1 << bits) - 1, 1 << bits)
    yield from range(max(0, farthest - 2), farthest + 2)


def power_between(base: Fraction, exponent: int, places: int) -> tuple[int, int]:
    """What base^exponent, times 2^places, is not below and not above, for 0 < base < 1."""
    low = math.floor(base * (1 << places))
    high = math.ceil(base * (1 << places))
    least = most = 1 << places
    while exponent:
        if exponent & 1:
            least, most = least * low >> places, -(-most * high >> places)
        low, high, exponent = low * low >> places, -(-high * high >> places), exponent >> 1
    return least, most

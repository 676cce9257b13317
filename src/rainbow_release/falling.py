"""Chances that fall with a distance: ⌊(top − C)·ratio^d⌋ + C of 2^127, with C = ⌈1/(1 − ratio)⌉.

So a step farther never gains, and costs at most the factor 1/ratio: with x = (top − C)·ratio^d,
⌊ratio·x⌋ + C > ratio·⌊x⌋ − 1 + C ≥ ratio·(⌊x⌋ + C), as C·(1 − ratio) ≥ 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .bounds import power_between
from .errors import Refused
from .randomness import bits_at_random

BITS = 127
TOTAL = 1 << BITS
_GRID = 1 << 60


class Falling:
    """The chances of a ratio that is a multiple of 2^-60."""

    def __init__(self, ratio: Fraction, top: int = TOTAL) -> None:
        if not 0 < ratio < 1 or _GRID % ratio.denominator:
            raise Refused("a ratio must be between 0 and 1 and a multiple of 2^-60")
        self.ratio, self.top = ratio, top
        self.least = -(-ratio.denominator // (ratio.denominator - ratio.numerator))
        self.farthest = 89 * self.least  # e^−89 is below 2^−127
        if not self.least <= top <= TOTAL or self.least * (1 - ratio) < 1:
            raise Refused("chances must fall from at most 2^127")

    def at(self, distance: int) -> int:
        """The chance at a distance, of 2^127."""
        if distance >= self.farthest:
            return self.least
        above, places = self.top - self.least, 256
        while True:
            low, high = power_between(self.ratio, distance, places)
            if above * low >> places == above * high >> places:
                return (above * low >> places) + self.least
            exact = distance * 60 <= places
            if exact:  # a power of a multiple of 2^-60 has so many places
                power = self.ratio**distance
                return above * power.numerator // power.denominator + self.least
            places *= 2

    def must_keep(self, allowed: Fraction, moves: int) -> None:
        """Refuse chances that so many steps make fall by more than ``allowed``."""
        places = 320 + int(allowed).bit_length()
        low, _ = power_between(self.ratio, moves, places)
        if low * allowed.numerator < allowed.denominator << places:
            raise Refused("chances must keep the guarantee, but they fall too fast")

    def heads(self, distances: Sequence[int]) -> list[int]:
        """Which coins show heads, one for each distance."""
        return [v for v, far in enumerate(distances) if bits_at_random(BITS) < self.at(far)]


def row_of_coins(chances: Sequence[int]) -> list[int]:
    """How likely each answer is, drawn among the heads all alike: z_v·∫₀¹ Π_{i≠v} (1 − t·z_i) dt.

    In units that all rows with so many answers share.
    """
    size = len(chances)
    whole = 1
    for number in range(1, size + 1):
        whole = whole * number  # a multiple of every 1/(k + 1)
    row = []
    for v, own in enumerate(chances):
        product = [1]  # in powers of t
        for i, other in enumerate(chances):
            if i != v:
                longer = [part * TOTAL for part in product] + [0]
                for power, part in enumerate(product, 1):
                    longer[power] -= other * part
                product = longer
        row.append(own * sum(whole // (k + 1) * part for k, part in enumerate(product)))
    return row

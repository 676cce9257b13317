"""Binomial chances as integers that are never too small."""

from __future__ import annotations

import math
from fractions import Fraction

from rainbowdp.numeric.quantity import ball, dyadic, precision

BITS = 256  # a chance is in units of 2^-BITS


def binomial_above(trials: int, share: Fraction) -> list[int]:
    """The chances of 0, 1, …, ``trials`` successes in units of 2^−256, each rounded up.

    In balls: the first chance, and the ratio of each to the one before.

    >>> [round(chance / 2**256, 4) for chance in binomial_above(3, Fraction(1, 2))]
    [0.125, 0.375, 0.375, 0.125]
    """
    if share in (0, 1):
        return [1 << BITS if number == share * trials else 0 for number in range(trials + 1)]
    found = []
    with precision(BITS + 64 + 2 * trials.bit_length()):
        odds, unit = ball(share / (1 - share)), 1 << BITS
        chance = ball(1 - share) ** trials
        for number in range(trials + 1):
            found.append(math.ceil(dyadic((chance * unit).upper())))
            chance = chance * (trials - number) / (number + 1) * odds
    return found

"""Rows on a grid that floats hold exactly, and the exact check of every edge in 64-bit integers.

A row is one integer weight for each answer, with total 2^52: a float holds weight / 2^52 without
rounding, so a table of floats *is* the exact mechanism. Multiplying by e^ε is done in integers:

    times(x) = ⌊x·M / 2^s⌋   with M / 2^s ≤ e^ε and M below 2^36,

the product in two halves of 26 bits, so that nothing overflows. Rows P and Q are (ε,δ)-close if

    Σ_v max(0, P_v − times(Q_v)) ≤ ⌊δ·2^52⌋   and the same with P and Q exchanged,

since times(Q_v) ≤ e^ε·Q_v. The price of the short M is a relative 2^-35 of e^ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rainbowdp.aliases import Integers
from rainbowdp.errors import InvalidMechanism
from rainbowdp.guarantees.closeness import lines_of
from rainbowdp.guarantees.dp import DP

TOTAL = 1 << 52  # every integer up to this is a float
_HALF = 26
_LONG = 36  # bits of M


@dataclass(frozen=True)
class Bound:
    """An (ε,δ) guarantee for weights on the grid: e^ε from below as M / 2^s, and δ in units."""

    multiplier: int
    shift: int
    units: int

    @classmethod
    def of(cls, guarantee: DP) -> Bound:
        """The tightest bound of this form that is at least as strict as ``guarantee``."""
        ((ratio, delta),) = lines_of(guarantee)
        shift = _LONG - (ratio.numerator // ratio.denominator).bit_length()
        shift = max(0, shift)  # beyond e^ε = 2^36 a larger one says nothing on this grid
        multiplier = min(math.floor(ratio * (1 << shift)), (1 << _LONG) - 1)
        return cls(multiplier, shift, math.floor(delta * TOTAL))

    @property
    def ratio(self) -> float:
        """M / 2^s, which a float holds exactly."""
        return self.multiplier / (1 << self.shift)

    def times(self, weights: Integers) -> Integers:
        """⌊x·M / 2^s⌋ for each weight, at most the total."""
        enough = -(-(TOTAL << self.shift) // self.multiplier)  # from here on the total
        x = np.minimum(weights, enough)
        high, low = (x >> _HALF) * self.multiplier, (x & ((1 << _HALF) - 1)) * self.multiplier
        if self.shift >= _HALF:
            product = (high + (low >> _HALF)) >> (self.shift - _HALF)
        else:
            product = (high << (_HALF - self.shift)) + (low >> self.shift)
        raised: Integers = np.minimum(product, TOTAL)
        return raised


@dataclass(frozen=True)
class Worst:
    """The largest excess over a bound, in units, and the two rows that have it."""

    excess: int
    more: int
    less: int


def worst_edge(weights: Integers, edges: Integers, bound: Bound) -> Worst:
    """The worst of all edges; if its excess is 0 or less, every edge is proved.

    Rows must be non-negative with the common total. Cost: O(edges · answers).
    """
    if weights.dtype != np.int64:
        raise InvalidMechanism(f"weights must be whole numbers of 64 bits, got {weights.dtype}")
    totals = weights.sum(axis=1, dtype=np.float64)  # which does not wrap, and is exact up to 2^53
    if (weights < 0).any() or (totals != TOTAL).any():
        raise InvalidMechanism(
            f"every row of weights must be integers from 0 that sum to {TOTAL}, but one is not"
        )
    first, second = np.ascontiguousarray(edges.T)
    excess = np.full((2, len(edges)), -bound.units, dtype=np.int64)
    for column in weights.T:  # one answer at a time: memory for edges, not for rows
        held = np.ascontiguousarray(column)
        raised = bound.times(held)
        excess[0] += np.maximum(held[first] - raised[second], 0)
        excess[1] += np.maximum(held[second] - raised[first], 0)
    worst = Worst(-bound.units, 0, 0)
    for over, more, less in zip(excess, (first, second), (second, first), strict=True):
        place = int(over.argmax()) if len(over) else 0
        if len(over) and over[place] > worst.excess:
            worst = Worst(int(over[place]), int(more[place]), int(less[place]))
    return worst

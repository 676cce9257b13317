"""Proving coins by signed margins: for every question, whatever its margins are.

With E a lower bound on e^ε, z₁ the chance of the first coin, z_d those of the others and r the
ratio, these demands are enough (``docs/flips.md`` has the argument):

1. z_{d+1} ≤ z_d and z_{d+1} ≥ r·z_d for all d ≥ 1, and r²·E ≥ 1;
2. where the true answer changes, with k others as near as they can be, for k = 0, …, q − 2:

       ∫₀¹ (1 − t·z₁)(1 − t·r·z₁)^k dt ≤ E·z₁ · ∫₀¹ (1 − t)(1 − t·z₁)^k dt.

z₁ ≥ r is enough for the second, whatever the number of answers; else it is computed, with bounds of
all powers.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.falling_proof import Chances, must_fall, must_keep, power_between
from rainbowdp.exact.scores_proof import Distances, moves_of_margins
from rainbowdp.guarantees.closeness import lines_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee

_PLACES = 512  # binary places of powers


def prove_margin_coins(
    guarantee: Guarantee, answers: int, distances: Distances, coins: Chances
) -> Check:
    """The coins keep the guarantee; ``coins`` are those of rivals, from a distance of 1."""
    if not isinstance(guarantee, DP):
        raise InvalidMechanism(f"coins by margin need an (ε,δ) guarantee, got {guarantee}")
    moves = moves_of_margins(answers, distances)
    ((allowed, _),) = lines_of(guarantee)
    must_keep(allowed, coins, moves, guarantee)
    compared = must_fall(coins)
    first = Fraction(coins.at(0), coins.total)
    crowds = range(answers - 1)
    if first < coins.ratio and not border_holds(allowed, coins.ratio, first, crowds):
        raise InvalidMechanism(f"coins must keep {guarantee}, but a border is too steep")
    steps = f"two steps of a factor 1 − {float(1 - coins.ratio):.6g}"
    return Check.proved(
        guarantee, compared, f"a margin flip with {steps}, {compared} coins compared"
    )


def border_holds(
    allowed: Fraction, ratio: Fraction, first: Fraction, crowds: Iterable[int]
) -> bool:
    """Whether the second demand is certain, for each of these numbers of near others.

    With a = r·z₁ and M_k(a) = ∫₀¹ (1 − t·a)^k dt, 1 − t·z₁ = ((1 − t·a) − (1 − r))/r and
    z₁·(1 − t) = (1 − t·z₁) − (1 − z₁), so both sides are sums of such means.
    """
    for k in crowds:
        (low, _), (_, high) = (_mean(ratio * first, power) for power in (k, k + 1))
        here = high - (1 - ratio) * low
        (_, high), (low, _) = (_mean(first, power) for power in (k, k + 1))
        beside = low - (1 - first) * high
        if here > ratio * allowed * beside:
            return False
    return True


def _mean(a: Fraction, k: int) -> tuple[Fraction, Fraction]:
    """Bounds on ∫₀¹ (1 − t·a)^k dt = (1 − (1 − a)^(k+1)) / ((k + 1)·a)."""
    low, high = power_between(1 - a, k + 1, _PLACES)
    parts = a * ((k + 1) << _PLACES)
    return ((1 << _PLACES) - high) / parts, ((1 << _PLACES) - low) / parts

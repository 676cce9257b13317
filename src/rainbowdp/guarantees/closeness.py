"""Check in integers and fractions whether rows keep a guarantee; every proof rests on this.

Nothing here knows how the rows were made. (ε,δ) and a polygon become lines (ratio, slack) that mean

    Σ_v max(0, P_v − ratio·Q_v) ≤ slack·total,   and the same with P and Q exchanged,

which covers all sets of answers at once: the sum is attained by the set of its positive terms.
For (ε,δ) the ratio is a lower bound on e^ε from its power series, summed in integers.

A Gaussian guarantee has no lines. There the sets that matter are the answers with the largest
P_v/Q_v, as many as there are: at each of them the curve itself is bounded from below in balls.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from typing import TypeAlias

from rainbowdp.aliases import Weights
from rainbowdp.errors import InvalidMechanism
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.numeric.quantity import ball, over_root_two, precision

Lines: TypeAlias = tuple[tuple[Fraction, Fraction], ...]

BITS = 192  # of the lower bound on e^ε: finer than any builder's
FEW_BITS = 16  # beyond those of a weight, tried first


@dataclass(frozen=True)
class LinePromise:
    """Conditions (top, bottom, limit): bottom·P − top·Q sums to limit at most, both ways."""

    conditions: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class GaussianPromise:
    """P(S) ≤ Φ(Φ⁻¹(Q(S)) + μ) for every set S of answers, both ways."""

    mu: Fraction


Promise: TypeAlias = LinePromise | GaussianPromise


def promise_of(guarantee: Guarantee, total: int) -> Promise:
    """The guarantee for rows of weight ``total``, ready to be held against pairs of them."""
    if isinstance(guarantee, GaussianDP):
        return GaussianPromise(guarantee.exact_mu)
    return LinePromise(
        tuple(
            (ratio.numerator, ratio.denominator, math.floor(ratio.denominator * slack * total))
            for ratio, slack in lines_of(guarantee)
        )
    )


def lines_of(guarantee: Guarantee) -> Lines:
    """(ε,δ) or a polygon as rational pairs (ratio, slack), each on the safe side."""
    if isinstance(guarantee, DP):
        if guarantee.exact_ratio is not None:
            ratio = guarantee.exact_ratio
        else:
            assert guarantee.exact_epsilon is not None
            ratio = exp_below(guarantee.exact_epsilon)
        return ((ratio, guarantee.exact_delta),)
    if isinstance(guarantee, TradeOff):
        return _steep_lines(guarantee)
    raise InvalidMechanism(
        f"rows are held against a trade-off curve, and {guarantee} has none; use DP, GaussianDP or "
        "TradeOff"
    )


def exp_below(x: Fraction) -> Fraction:
    """A rational at most e^x for x ≥ 0: the power series of e^{x/2^k}, squared k times.

    Every term is positive and every rounding is down, so this is a lower bound.
    """
    halvings = (x.numerator // x.denominator).bit_length() + 8
    scale = 1 << (BITS + 2 * halvings)
    small = x / (1 << halvings)
    term = total = scale
    count = 0
    while term:
        count += 1
        term = term * small.numerator // (small.denominator * count)
        total += term
    for _ in range(halvings):
        total = total * total // scale
    return Fraction(total, scale)


def first_violation(promise: Promise, p: Weights, q: Weights) -> str | None:
    """Why two rows are not close, or None: both directions, all sets, exactly."""
    if isinstance(promise, GaussianPromise):
        return _above_the_curve(promise.mu, p, q)
    for more, less in ((p, q), (q, p)):
        for top, bottom, limit in promise.conditions:
            over = [bottom * a - top * b for a, b in zip(more, less, strict=True)]
            excess = sum(max(0, gain) for gain in over) if max(over, default=0) > 0 else 0
            if excess > limit:
                beyond = float(Fraction(excess - limit, bottom * sum(p)))
                return f"{more} beside {less} exceeds the guarantee by {beyond:.3g}"
    return None


def _above_the_curve(mu: Fraction, p: Weights, q: Weights) -> str | None:
    """Why P(S) ≤ φ(Q(S)) is not proved for some set S, with φ(s) = Φ(Φ⁻¹(s) + μ), or None.

    By Neyman and Pearson no set of level Q(S) has more power P(S) than the polygon through the
    points of the sets {v : P_v/Q_v ≥ x}. φ is concave, so where it is at or above the corners of
    the polygon it is above the polygon. φ(1 − φ(s)) = 1 − s turns this into Q(S) ≤ φ(P(S)), so one
    direction is both (``docs/theory.md``). Where the balls leave a corner open it is refused.
    """
    total, level, power = sum(p), 0, 0
    pairs = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    for a, b in sorted(pairs, key=cmp_to_key(_order)):
        level, power = level + b, power + a
        if power <= level:  # μ ≥ 0
            continue
        if level == 0 or not _allows(mu, level, power, total):
            grows = f"{level / total:.6g} grows to {power / total:.6g}"
            return f"{p} beside {q} exceeds the guarantee: {grows}"
    return None


def _order(one: tuple[int, int], other: tuple[int, int]) -> int:
    """Negative where the first of two pairs (a, b) has the larger a/b, infinite where b is 0."""
    return other[0] * one[1] - one[0] * other[1]


def _allows(mu: Fraction, level: int, power: int, total: int) -> bool:
    """Whether power ≤ Φ(Φ⁻¹(level) + μ) is certain, to many more places than a weight has.

    A ball says so at any precision or leaves it open; a few more bits than those of a weight mostly
    settle it, at half the cost.
    """
    places = total.bit_length()
    return any(_certain(mu, level, power, total, places + spare) for spare in (FEW_BITS, BITS))


def _certain(mu: Fraction, level: int, power: int, total: int, bits: int) -> bool:
    """Whether balls of so many bits prove it.

    Φ(z) = erfc(−z/√2)/2, so with z = Φ⁻¹(level) + μ the argument is erfc⁻¹(2·level) − μ/√2.
    """
    shift = over_root_two(mu, bits)
    with precision(bits):
        argument = ball(Fraction(2 * level, total)).erfcinv() - shift
        return bool(ball(Fraction(2 * power, total)) <= argument.erfc())


def check_rows(rows: Iterable[Weights]) -> int:
    """The common total of all rows; raises if a weight is not an integer from 0."""
    total: int | None = None
    for row in rows:
        if set(map(type, row)) - {int} or min(row, default=0) < 0:
            raise InvalidMechanism(f"weights must be integers from 0, got {row}")
        if total is None:
            total = sum(row)
        if sum(row) != total or total <= 0:
            raise InvalidMechanism(f"all rows must have the same positive total, got {row}")
    return total if total is not None else 1


def demand(promise: Promise, p: Weights, q: Weights, where: str) -> None:
    """Raise unless two rows are close; ``where`` names them in the message."""
    fault = first_violation(promise, p, q)
    if fault is not None:
        raise InvalidMechanism(f"neighboring rows must be close, but in {where} {fault}")


def _steep_lines(curve: TradeOff) -> Lines:
    lines = []
    for (x0, y0), (x1, y1) in itertools.pairwise(curve.knots):
        slope = (y0 - y1) / (x1 - x0)
        if slope >= 1:
            lines.append((slope, 1 - y0 - slope * x0))
    return tuple(lines)

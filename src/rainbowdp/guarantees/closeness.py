"""Check in integers and fractions whether rows keep a guarantee; every proof rests on this.

Nothing here knows how the rows were made. A guarantee becomes lines (ratio, slack) that mean

    Σ_v max(0, P_v − ratio·Q_v) ≤ slack·total,   and the same with P and Q exchanged,

which covers all sets of answers at once: the sum is attained by the set of its positive terms.
For (ε,δ) the ratio is a lower bound on e^ε from its power series, summed in integers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from rainbowdp.aliases import Weights
from rainbowdp.errors import InvalidMechanism
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.guarantees.gaussian import GaussianDP, lower_tail, score
from rainbowdp.guarantees.polygons import safe_curve
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.numeric.quantity import ball, precision

Lines: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
Promise: TypeAlias = tuple[tuple[int, int, int], ...]  # bottom·P − top·Q sums to limit at most

BITS = 192  # of the lower bound on e^ε: finer than any builder's


def promise_of(guarantee: Guarantee, total: int) -> Promise:
    """The guarantee as conditions on integer rows of weight ``total``."""
    return tuple(
        (ratio.numerator, ratio.denominator, math.floor(ratio.denominator * slack * total))
        for ratio, slack in lines_of(guarantee)
    )


def lines_of(guarantee: Guarantee) -> Lines:
    """The guarantee as rational pairs (ratio, slack), each on the safe side."""
    if isinstance(guarantee, DP):
        if guarantee.exact_ratio is not None:
            ratio = guarantee.exact_ratio
        else:
            assert guarantee.exact_epsilon is not None
            ratio = exp_below(guarantee.exact_epsilon)
        return ((ratio, guarantee.exact_delta),)
    if isinstance(guarantee, TradeOff):
        return _steep_lines(guarantee)
    if isinstance(guarantee, GaussianDP):
        return _gaussian_lines(guarantee)
    raise InvalidMechanism(f"a proof needs DP, GaussianDP or TradeOff, got {guarantee!r}")


def exp_below(x: Fraction) -> Fraction:
    """A rational at most e^x for x ≥ 0: the power series of e^{x/2^k}, squared k times.

    Every term is positive and every rounding is down, so this is a lower bound.
    """
    halvings = max(0, (x.numerator // x.denominator).bit_length() + 8)
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
    for more, less in ((p, q), (q, p)):
        for top, bottom, limit in promise:
            excess = sum(max(0, bottom * a - top * b) for a, b in zip(more, less, strict=True))
            if excess > limit:
                over = float(Fraction(excess - limit, bottom * sum(p)))
                return f"{more} beside {less} exceeds the guarantee by {over:.3g}"
    return None


def check_rows(rows: Iterable[Weights]) -> int:
    """The common total of all rows; raises if a weight is not an integer from 0."""
    total: int | None = None
    for row in rows:
        if any(type(weight) is not int or weight < 0 for weight in row):
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


def _gaussian_lines(guarantee: GaussianDP) -> Lines:
    """The lines of a polygon that is checked, knot by knot, to lie above the trade-off curve.

    The curve is convex, so a polygon with its knots above the curve lies above it everywhere, and
    rows that keep the polygon keep the guarantee.
    """
    curve = safe_curve(guarantee)
    for x, y in curve.knots[1:-1]:
        with precision(256):
            if not lower_tail(-(score(x) + ball(guarantee.exact_mu))) <= ball(y):
                raise InvalidMechanism(f"a knot of the polygon lies below the curve: {float(x)}")
    return _steep_lines(curve)

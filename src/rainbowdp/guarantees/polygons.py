"""Rational trade-off curves on the safe side of a guarantee.

An exact mechanism is built against a polygon with rational knots that lies nowhere below the
trade-off curve it stands for, so whatever keeps the polygon keeps the guarantee.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.expecting import brief
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.experiments import lower_hull
from rainbowdp.guarantees.gaussian import GaussianDP, lower_tail, score
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.numeric.quantity import ball, dyadic, precision

RATIO_BITS = 128  # how closely a rational approaches e^ε from below
_GAUSSIAN_KNOTS = 512
_GAUSSIAN_REACH = 12  # standard deviations; beyond them the polygon is a chord
_FEW_KNOTS, _SHORT_REACH = (
    8,
    3,
)  # the same of a polygon that a linear program has a line for each of


def safe_curve(guarantee: Guarantee) -> TradeOff:
    """A rational polygon that is at least as strict as ``guarantee``.

    >>> safe_curve(DP.from_ratio(2, 1)).knots == TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)]).knots
    True
    """
    if isinstance(guarantee, TradeOff):
        return guarantee
    if isinstance(guarantee, DP):
        return _dp_curve(ratio_below(guarantee), guarantee.exact_delta)
    if isinstance(guarantee, GaussianDP):
        return _gaussian_curve(guarantee.exact_mu)
    raise InvalidGuarantee(f"exact rows need DP, GaussianDP or TradeOff, got {brief(guarantee)}")


def coarse_curve(guarantee: GaussianDP) -> TradeOff:
    """A polygon of few sides that is at least as strict: for programs, where each side counts.

    >>> len(coarse_curve(GaussianDP(1)).knots) < 25
    True
    """
    return _gaussian_curve(guarantee.exact_mu, _FEW_KNOTS, _SHORT_REACH)


def ratio_below(guarantee: DP) -> Fraction:
    """A rational at most e^ε, within a relative 2^-126 of it."""
    if guarantee.exact_ratio is not None:
        return guarantee.exact_ratio
    with precision(RATIO_BITS + 64):
        low = dyadic(guarantee.ratio_ball().lower())
    scale = 1 << RATIO_BITS
    return max(Fraction(1), Fraction(low.numerator * scale // low.denominator, scale))


def _dp_curve(ratio: Fraction, delta: Fraction) -> TradeOff:
    if delta == 1:
        return TradeOff([(0, 0), (1, 0)])
    theta = (1 - delta) / (ratio + 1)
    ends = [(Fraction(0), 1 - delta), (1 - delta, Fraction(0)), (Fraction(1), Fraction(0))]
    return TradeOff(sorted({*ends, (theta, theta)}))


@lru_cache(maxsize=16)  # it takes a while, and each mechanism of a comparison asks for it
def _gaussian_curve(
    mu: Fraction, knots: int = _GAUSSIAN_KNOTS, reach: int = _GAUSSIAN_REACH
) -> TradeOff:
    """The lower hull of points above the curve and of their mirror images.

    A convex curve lies below every chord between points above it; and if y ≥ f(x) then
    f(y) ≤ f(f(x)) = x, so mirror images are above the curve too.
    """
    points = {(Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))}
    last = -mu / 2  # the curve crosses the diagonal at Φ(−μ/2)
    first = min(last, Fraction(0)) - reach
    for number in range(knots + 1):
        at = first + (last - first) * number / knots
        with precision(128):
            x = dyadic(lower_tail(ball(at)).upper())
            y = dyadic(lower_tail(-(score(x) + ball(mu))).upper())
        if 0 < x < 1 and 0 < y < 1:
            points |= {(x, y), (y, x)}
    return TradeOff(lower_hull(sorted(points)))

"""A total in (ε,δ), spent in ρ or μ: the largest amount that keeps it, rounded down.

*ρ.* Let all answers together keep ρ. For every order α > 1 they keep (ε,δ) if

    log δ ≥ (α − 1)(αρ − ε) − log(α − 1) + α·log(1 − 1/α)

(Canonne, Kamath and Steinke, *The discrete Gaussian for differential privacy*, NeurIPS 2020,
Proposition 12). Solved for ρ this is a bound for each α; any α will do, and the best is looked for.

*μ.* All answers together keep the curve of μ, which lies within (ε,δ) exactly if
Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) ≤ δ (Dong, Roth and Su, *Gaussian differential privacy*, 2022,
Corollary 1). The left side grows with μ.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.numeric.quantity import ball, dyadic, precision

if TYPE_CHECKING:
    from flint import arb

_BITS = 256
_PLACES = 48  # binary places of what comes out
_ORDERS = 400  # tried, from very near to 1 to very large


def rho_within(promise: DP) -> Fraction:
    """The largest ρ that is found to keep (ε,δ).

    >>> round(float(rho_within(DP(3, "1e-6"))), 4)
    0.1851
    """
    epsilon, delta = _parts(promise)
    grid = [1 + math.exp(-12 + 24 * place / _ORDERS) for place in range(_ORDERS + 1)]
    orders = [Fraction(order).limit_denominator(10**6) for order in grid]
    best = max((order for order in orders if order > 1), key=lambda a: _rho(a, epsilon, delta))
    for step in (Fraction(1, 20), Fraction(1, 200), Fraction(1, 2000)):
        near = [1 + (best - 1) * (1 + step * k) for k in range(-10, 11)]
        best = max(near, key=lambda a: _rho(a, epsilon, delta))
    with precision(_BITS):
        order, bound = ball(best), ball(delta)
        spare = bound.log() + (order - 1).log() - order * (1 - 1 / order).log()
        found = (ball(epsilon) + spare / (order - 1)) / order
        rho = _floored(dyadic(found.lower()))
    if rho <= 0:
        raise InvalidGuarantee(f"{promise} is too little to be spent in rho; use a larger budget")
    return rho


def _rho(order: Fraction, epsilon: Fraction, delta: Fraction) -> float:
    a = float(order)
    spare = math.log(delta) + math.log(a - 1) - a * math.log1p(-1 / a)
    return (float(epsilon) + spare / (a - 1)) / a


def rho_above(promise: DP) -> Fraction:
    """A rational at least the ρ of ε without a δ, ε·tanh(ε/2), by less than one part in 2^100.

    >>> round(float(rho_above(DP(1))), 4)
    0.4621
    """
    ratio = promise.exact_ratio
    with precision(_BITS):
        if ratio is not None:  # tanh(ε/2) is (e^ε − 1)/(e^ε + 1)
            return dyadic((ball(ratio - 1).log1p() * ball((ratio - 1) / (ratio + 1))).upper())
        assert promise.exact_epsilon is not None
        epsilon = ball(promise.exact_epsilon)
        return dyadic((epsilon * (epsilon / 2).tanh()).upper())


def mu_within(promise: DP) -> Fraction:
    """The largest μ that keeps (ε,δ).

    >>> round(float(mu_within(DP(3, "1e-6"))), 4)
    0.6477
    """
    epsilon, delta = _parts(promise)
    low, high = Fraction(0), Fraction(1)
    while _keeps(high, epsilon, delta):
        low, high = high, 2 * high
    unit = Fraction(1, 1 << _PLACES)
    while high - low > unit:
        middle = _floored((low + high) / 2)
        if middle <= low:
            break
        low, high = (middle, high) if _keeps(middle, epsilon, delta) else (low, middle)
    if low <= 0:
        raise InvalidGuarantee(f"{promise} is too little to be spent in mu; use a larger budget")
    return low


def _keeps(mu: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether μ certainly lies within (ε,δ)."""
    with precision(_BITS):
        half, step = ball(mu / 2), ball(epsilon / mu)
        least = _normal(half - step) - ball(epsilon).exp() * _normal(-half - step)
        return bool(least.upper() <= ball(delta).lower())


def _normal(x: arb) -> arb:
    """Φ(x)."""
    from flint import arb

    return (-x / arb(2).sqrt()).erfc() / 2


def _floored(value: Fraction) -> Fraction:
    return Fraction(math.floor(value * (1 << _PLACES)), 1 << _PLACES)


def _parts(promise: DP) -> tuple[Fraction, Fraction]:
    """ε, from below, and a δ between 0 and 1."""
    if not 0 < promise.exact_delta < 1:
        raise InvalidGuarantee(
            f"a budget in epsilon that is spent in rho or mu needs a delta above 0, got {promise}: "
            "use --delta 1e-6 or so"
        )
    if promise.exact_epsilon is not None:
        return promise.exact_epsilon, promise.exact_delta
    with precision(_BITS):
        return dyadic(promise.ratio_ball().log().lower()), promise.exact_delta

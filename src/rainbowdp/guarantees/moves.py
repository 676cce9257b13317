"""What each of several moves may cost, so that all of them together keep a guarantee.

A chain of m datasets, each the neighbor of the last, has the guarantee of its m moves together:

===========  =======================================  ============================================
(ε,δ)        m moves of (ε/m, δ') keep (ε,δ)          if δ'·(1 + e^{ε/m} + … + e^{(m−1)ε/m}) ≤ δ
μ            m moves of μ/m keep μ                    Dong, Roth, Su (2022), group privacy
ρ            m moves of ρ/m² keep ρ                   Bun, Steinke (2016), group privacy
===========  =======================================  ============================================

The first is the chain of m inequalities P(S) ≤ e^{ε/m}·P'(S) + δ', put into each other.
"""

from __future__ import annotations

from fractions import Fraction

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.expecting import brief
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.quantity import ball, dyadic, precision

_PLACES = 64  # binary places of a root
_BITS = 128


def of_one_move(guarantee: Guarantee, moves: int) -> Guarantee:
    """The guarantee of one move, so that so many of them together keep ``guarantee``.

    >>> of_one_move(DP(1), 2), of_one_move(GaussianDP(1), 2)
    (DP(epsilon=0.5), GaussianDP(mu=0.5))
    """
    if moves == 1:
        return guarantee
    if isinstance(guarantee, GaussianDP):
        return GaussianDP(guarantee.exact_mu / moves)
    if isinstance(guarantee, ZeroConcentrated):
        return ZeroConcentrated(guarantee.exact_rho / moves**2)
    if isinstance(guarantee, DP):
        return _of_one_ratio(guarantee, moves)
    raise InvalidGuarantee(
        f"one change here is {moves} moves of a record, whose price is known for (ε,δ), μ and ρ, "
        f"got {brief(guarantee, str)}: use one of these"
    )


def _of_one_ratio(guarantee: DP, moves: int) -> DP:
    if guarantee.exact_epsilon is not None:
        epsilon = guarantee.exact_epsilon / moves
        with precision(_BITS):
            terms = [dyadic((ball(epsilon * i)).exp().upper()) for i in range(moves)]
        return DP(epsilon, guarantee.exact_delta / sum(terms))
    assert guarantee.exact_ratio is not None
    root = _root_below(guarantee.exact_ratio, moves)
    return DP.from_ratio(root, delta=guarantee.exact_delta / sum(root**i for i in range(moves)))


def _root_below(ratio: Fraction, degree: int) -> Fraction:
    """The largest multiple of 2⁻⁶⁴ whose power is not above ``ratio``."""
    scale = 1 << _PLACES
    low, high = scale, int(ratio * scale) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if Fraction(middle, scale) ** degree <= ratio else (low, middle)
    return Fraction(low, scale)

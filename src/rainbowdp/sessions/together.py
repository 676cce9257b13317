"""That answers which are fixed beforehand keep a total: the proof of a plan.

It is decided from the guarantees of the answers and the total alone, however they were found.
``docs/plans.md`` has the reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.composition import composed_within, epsilon_above, epsilon_below
from rainbowdp.guarantees.composition import ranges_within as _ranges_within
from rainbowdp.guarantees.conversions import mu_within, rho_above, rho_within
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.quantity import root_below

_PLACES = 64  # binary places of a root


class Added(StrEnum):
    """How guarantees add up to a total."""

    SUMS = "sums"
    COMPOSED = "optimal composition"
    RHO = "rho"
    MU = "mu"
    RANGES = "composed ranges"


def keeps(parts: Sequence[Guarantee], added: Added, total: Guarantee) -> bool:
    """Whether answers under ``parts``, independent and fixed beforehand, keep ``total``.

    ``RANGES`` says of each part, a ρ, that its answer has a range of at most √(8ρ): it is for the
    exponential mechanism, and whoever asks must see to it.

    >>> keeps([DP(1), DP(2)], Added.SUMS, DP(3))
    True
    >>> keeps([GaussianDP(3), GaussianDP(3)], Added.MU, GaussianDP(4))
    False
    """
    try:
        return _CHECKS[added](parts, total)
    except InvalidGuarantee:  # a total that cannot be spent so
        return False


def _by_sums(parts: Sequence[Guarantee], total: Guarantee) -> bool:
    if not isinstance(total, DP) or not all(isinstance(part, DP) for part in parts):
        return False
    given = [part for part in parts if isinstance(part, DP)]
    if sum(part.exact_delta for part in given) > total.exact_delta:
        return False
    if len(given) == 1 and given[0] == total:  # whose log needs no rounding
        return True
    return sum(map(epsilon_above, given)) <= epsilon_below(total)


def _composed(parts: Sequence[Guarantee], total: Guarantee) -> bool:
    given = [part for part in parts if isinstance(part, DP)]
    return isinstance(total, DP) and len(given) == len(parts) and composed_within(given, total)


def _by_rho(parts: Sequence[Guarantee], total: Guarantee) -> bool:
    prices = [rho_of(part) for part in parts]
    if isinstance(total, ZeroConcentrated):
        return sum(prices) <= total.exact_rho
    return isinstance(total, DP) and sum(prices) <= rho_within(total)


def _by_mu(parts: Sequence[Guarantee], total: Guarantee) -> bool:
    squares = [part.exact_mu**2 for part in parts if isinstance(part, GaussianDP)]
    if len(squares) < len(parts):
        return False
    if isinstance(total, GaussianDP):
        return sum(squares) <= total.exact_mu**2
    return isinstance(total, DP) and sum(squares) <= mu_within(total) ** 2


def _by_ranges(parts: Sequence[Guarantee], total: Guarantee) -> bool:
    rhos = [part.exact_rho for part in parts if isinstance(part, ZeroConcentrated)]
    if len(rhos) < len(parts) or not isinstance(total, DP):
        return False
    return _ranges_within(range_of(max(rhos)), len(parts), total)


def rho_of(part: Guarantee) -> Fraction:
    """What an answer costs in ρ, or a little more."""
    if isinstance(part, ZeroConcentrated):
        return part.exact_rho
    if isinstance(part, GaussianDP):
        return part.exact_mu**2 / 2
    if isinstance(part, DP) and part.exact_delta == 0:
        return rho_above(part)
    raise InvalidGuarantee(f"{part} has no price in rho")


def range_of(rho: Fraction) -> Fraction:
    """√(8ρ), or a little more."""
    root = root_below(8 * rho, _PLACES)
    return root if root**2 == 8 * rho else root + Fraction(1, 1 << _PLACES)


_CHECKS = {
    Added.SUMS: _by_sums,
    Added.COMPOSED: _composed,
    Added.RHO: _by_rho,
    Added.MU: _by_mu,
    Added.RANGES: _by_ranges,
}

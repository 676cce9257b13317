"""Gaussian differential privacy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats
from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.curve import UNDERFLOW, TradeOffCurve
from rainbowdp.guarantees.growth import ACCURACY
from rainbowdp.guarantees.guarantee import checked_changes
from rainbowdp.numeric.quantity import Number, ball, dyadic, exact, over_root_two, precision, refine

if TYPE_CHECKING:
    from flint import arb

LARGEST_MU = 30  # beyond it a float cannot tell the tails that privacy compares
_FAR = 1e6  # standard deviations: nothing a float holds is left out there
_SPARE_BITS = 16  # beyond those of a weight: what rounding costs is less than a unit
Cut: TypeAlias = Fraction | float | None  # a prefix sum; None and infinity are the ends, 0 and 1


@dataclass(frozen=True, repr=False)
class GaussianDP(TradeOffCurve):
    """μ-Gaussian differential privacy: telling neighbors apart is as hard as N(0,1) from N(μ,1).

    φ(s) = Φ(Φ⁻¹(s) + μ), and t steps add up to t·μ (Dong, Roth and Su, *Gaussian differential
    privacy*, JRSS-B 2022).

    Parameters
    ----------
    mu
        The distance between the two normal distributions; a float, string, ``Decimal`` or
        ``Fraction``, taken exactly.

    Raises
    ------
    InvalidGuarantee
        If ``mu`` is out of range.

    Examples
    --------
    >>> round(GaussianDP(1).grow(0.5, 2), 6)
    0.97725

    """

    exact_mu: Fraction

    def __init__(self, mu: Number) -> None:
        value = exact(mu, "mu", InvalidGuarantee)
        if not 0 <= value <= LARGEST_MU:
            raise InvalidGuarantee(f"mu must be in [0, {LARGEST_MU}], got mu={mu}")
        object.__setattr__(self, "exact_mu", value)

    def __repr__(self) -> str:
        return f"GaussianDP(mu={self.mu:.12g})"

    def __str__(self) -> str:
        return f"{self.mu:.12g}-GDP"

    @cached_property
    def mu(self) -> float:
        """μ as the nearest float."""
        return float(self.exact_mu)

    def group(self, changes: int) -> GaussianDP:
        """kμ (Dong, Roth and Su, Theorem 2.14).

        Parameters
        ----------
        changes
            k, a whole number from 1.

        Returns
        -------
        GaussianDP
            What holds between datasets that many changes apart.

        """
        return GaussianDP(self.exact_mu * checked_changes(changes))

    @property
    def moves(self) -> bool:
        """Whether φ differs from the identity."""
        return self.exact_mu > 0

    @property
    def _lifts_zero(self) -> bool:
        return False

    def _shift(self, depth: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.fmin(np.fmax(self.mu * depth, 0.0), _FAR)  # fmax takes 0·∞ for 0

    def _advance(self, s: Floats, r: Floats, depth: Floats) -> tuple[Floats, Floats]:
        from scipy.special import ndtr, ndtri

        with np.errstate(invalid="ignore"):
            score = np.where(s < r, ndtri(s), -ndtri(r))
            there = np.where(np.isinf(score), score, score + self._shift(depth))
        return ndtr(there), ndtr(-there)

    def _rows(self, row: Sequence[Fraction], depths: Floats) -> Floats:
        sums = list(itertools.accumulate(row[:-1]))
        cuts = [None, *(s if 0 < s < 1 else (None if s == 0 else math.inf) for s in sums), math.inf]
        columns = [self._between(low, high, depths) for low, high in itertools.pairwise(cuts)]
        return np.stack(columns, axis=-1)

    def _between(self, low: Cut, high: Cut, depths: Floats) -> Floats:
        """P(low < U ≤ high) after growth; None and infinity are cuts that never move."""
        if low == high:
            return np.zeros_like(depths)
        shift = self._shift(depths)
        left, right = _score(low), _score(high)
        mirrored = left + right + 2 * shift > 0  # count from the nearer end
        near = np.where(mirrored, -left - shift, right + shift)
        far = np.where(mirrored, -right - shift, left + shift)
        mass_near, noise_near = _normal_mass(near, shift)
        mass_far, noise_far = _normal_mass(far, shift)
        value = mass_near - mass_far
        unsure = (noise_near + noise_far > ACCURACY * value) & (mass_near > 0)
        for index in np.flatnonzero(unsure):
            value[index] = self._mass(low, high, int(depths[index]))
        return value

    def _mass(self, low: Cut, high: Cut, depth: int) -> float:
        """The same at one depth, in balls."""

        def enclosed() -> arb:
            shift = ball(self.exact_mu) * depth
            return _upper_tail(low, shift) - _upper_tail(high, shift)

        return refine(enclosed, most=1 << 12)

    def _violations(
        self, p: Floats, q: Floats, rounding: float
    ) -> tuple[Floats, NDArray[np.bool_]]:
        # Neyman–Pearson: the best sets are the prefixes in the order of the likelihood ratio.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = np.where(p > 0, p / q, 0.0)
        order = np.argsort(-ratio, axis=1, kind="stable")
        power = np.take_along_axis(p, order, 1).cumsum(axis=1)[:, :-1]
        known = np.maximum(q, UNDERFLOW) if rounding else q
        level = np.minimum(np.take_along_axis(known, order, 1).cumsum(axis=1)[:, :-1], 1.0)
        allowed, _ = self._advance(level, 1.0 - level, np.ones_like(level))
        violation = power - allowed
        violation[violation <= rounding * (power + 40 * allowed)] = 0.0  # Φ near −37 costs digits
        if violation.shape[1] == 0:
            return np.zeros(len(p)), np.zeros(p.shape, dtype=np.bool_)
        best = violation.argmax(axis=1)
        sets = np.zeros(p.shape, dtype=np.bool_)
        np.put_along_axis(sets, order, np.arange(p.shape[1])[None, :] <= best[:, None], axis=1)
        return np.maximum(violation.max(axis=1), 0.0), sets


def _normal_mass(z: Floats, shift: Floats) -> tuple[Floats, Floats]:
    """Φ(z) and a bound on its error, where ``z`` was rounded after a shift."""
    from scipy.special import ndtr

    mass = ndtr(z)
    fixed = np.isinf(z)
    point = np.where(fixed, 0.0, z)
    hazard = np.where(point < 0, 1 - point, np.exp(-(np.minimum(np.abs(point), 38.0) ** 2) / 2))
    noise = mass * (hazard * (np.abs(point) + 3 * shift) + 16) * 2.0**-53
    return mass, np.where(fixed, 0.0, noise)


def _score(cut: Cut) -> float:
    """Φ⁻¹(cut) as the nearest float."""
    if cut is None:
        return -math.inf
    if isinstance(cut, float):
        return math.inf
    return refine(lambda: score(cut))


def score(cut: Fraction) -> arb:
    """Φ⁻¹(cut) as a ball of the current precision."""
    return ball(Fraction(2)).sqrt() * _score_over_root_two(cut)


def _score_over_root_two(cut: Fraction) -> arb:
    if cut <= Fraction(1, 2):
        return -ball(2 * cut).erfcinv()
    return ball(2 - 2 * cut).erfcinv()


def _upper_tail(cut: Cut, shift: arb) -> arb:
    """1 − Φ(Φ⁻¹(cut) + shift)."""
    if cut is None:
        return ball(Fraction(1))
    if isinstance(cut, float):
        return ball(Fraction(0))
    return lower_tail(-(score(cut) + shift))


def lower_tail(z: arb) -> arb:
    """Φ(z) as a ball of the current precision."""
    return (-z / ball(Fraction(2)).sqrt()).erfc() / 2


def allowed_weight(mu: Fraction, weight: int, total: int) -> int:
    """The largest weight beside ``weight``, both of ``total``: φ rounded down, never up.

    >>> allowed_weight(Fraction(1), 1, 4), allowed_weight(Fraction(0), 1, 4)
    (2, 1)
    """
    if not 0 < weight < total:
        return weight
    bits = total.bit_length() + _SPARE_BITS
    shift = over_root_two(mu, bits)
    with precision(bits):
        above = (_score_over_root_two(Fraction(weight, total)) + shift).erfc() / 2 * total
        return max(weight, total - math.ceil(dyadic(above.upper())))

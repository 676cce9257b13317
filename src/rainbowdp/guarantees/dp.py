"""(ε,δ)-differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.expecting import shortened
from rainbowdp.guarantees.curve import FloatOrArray, prefix_and_depth
from rainbowdp.guarantees.growth import SATURATED, Coefficients, Line
from rainbowdp.guarantees.guarantee import checked_changes
from rainbowdp.guarantees.piecewise import PiecewiseLinear
from rainbowdp.numeric.quantity import (
    Number,
    ball,
    dyadic,
    exact,
    first_integer_above,
    precision,
    refine,
)

if TYPE_CHECKING:
    from flint import arb

SMALLEST_EPSILON = Fraction(1, 10**100)
LARGEST_EPSILON = 700  # e^700 is the last round number that a float can hold
SMALLEST_DELTA = Fraction(1, 10**300)
_BITS = 256


@dataclass(frozen=True, repr=False)
class DP(PiecewiseLinear):
    """(ε,δ)-differential privacy: P(S) ≤ e^ε·Q(S) + δ for all sets S, in both directions.

    φ(s) = min{1, e^ε·s + δ, 1 − (1 − s − δ)/e^ε}; the two slopes meet at θ = (1 − δ)/(e^ε + 1).
    (The paper prints another operator, which breaks the promise when δ > 0; see
    ``docs/theory.md``, Erratum.)

    A float is taken as exactly the binary fraction it is; give a string, ``Decimal`` or
    ``Fraction`` for an exact decimal, and ``DP.from_ratio(6, 5)`` for e^ε = 6/5.

    Parameters
    ----------
    epsilon
        0, or a number in [1e-100, 700].
    delta
        0, or a number in [1e-300, 1].

    Raises
    ------
    InvalidGuarantee
        If ``epsilon`` or ``delta`` is out of range.

    Examples
    --------
    >>> DP(1), DP("0.1", delta=1e-6), DP.from_ratio(6, 5)
    (DP(epsilon=1), DP(epsilon=0.1, delta=1e-06), DP.from_ratio(6, 5))

    """

    exact_epsilon: Fraction | None
    exact_delta: Fraction
    exact_ratio: Fraction | None

    def __init__(self, epsilon: Number, delta: Number = 0) -> None:
        value = exact(epsilon, "epsilon", InvalidGuarantee)
        if not 0 <= value <= LARGEST_EPSILON:
            raise InvalidGuarantee(
                f"epsilon must be in [0, {LARGEST_EPSILON}], got epsilon={epsilon}"
            )
        if 0 < value < SMALLEST_EPSILON:
            raise InvalidGuarantee(
                f"epsilon must be 0 or at least 1e-100, got epsilon={epsilon}; use 0"
            )
        self._fill(value, delta, Fraction(1) if value == 0 else None)

    @classmethod
    def from_ratio(cls, numerator: Number, denominator: Number = 1, *, delta: Number = 0) -> DP:
        """The guarantee with e^ε = numerator/denominator, exactly.

        Parameters
        ----------
        numerator, denominator
            Their quotient is e^ε: 1, or from 1 + 1e-100 to e^700.
        delta
            0, or a number in [1e-300, 1].

        Returns
        -------
        DP
            The guarantee.

        Raises
        ------
        InvalidGuarantee
            If the ratio or ``delta`` is out of range.

        Examples
        --------
        >>> DP.from_ratio(3).epsilon
        1.0986122886681098

        """
        top = exact(numerator, "numerator", InvalidGuarantee)
        bottom = exact(denominator, "denominator", InvalidGuarantee)
        if bottom <= 0 or not _is_ratio(top / bottom):
            got = f"{numerator}" if denominator == 1 else f"{numerator}/{denominator}"
            raise InvalidGuarantee(
                f"the ratio e^epsilon must be 1 or in [1 + 1e-100, e^700], got {shortened(got)}"
            )
        self = object.__new__(cls)
        ratio = top / bottom
        self._fill(Fraction(0) if ratio == 1 else None, delta, ratio)
        return self

    def _fill(self, epsilon: Fraction | None, delta: Number, ratio: Fraction | None) -> None:
        exact_delta = exact(delta, "delta", InvalidGuarantee)
        if not 0 <= exact_delta <= 1:
            raise InvalidGuarantee(f"delta must be in [0, 1], got delta={delta}")
        if 0 < exact_delta < SMALLEST_DELTA:
            raise InvalidGuarantee(f"delta must be 0 or at least 1e-300, got delta={delta}; use 0")
        object.__setattr__(self, "exact_epsilon", epsilon)
        object.__setattr__(self, "exact_delta", exact_delta)
        object.__setattr__(self, "exact_ratio", ratio)

    def __repr__(self) -> str:
        delta = f"delta={float(self.delta):.12g}" if self.delta else ""
        if self.exact_ratio is not None and self.exact_ratio != 1:
            inside = f"{self.exact_ratio.numerator}, {self.exact_ratio.denominator}"
            return f"DP.from_ratio({inside}{', ' + delta if delta else ''})"
        return f"DP(epsilon={self.epsilon:.12g}{', ' + delta if delta else ''})"

    def __str__(self) -> str:
        if self.exact_ratio is not None and self.exact_ratio != 1:
            epsilon = f"log({self.exact_ratio})"
        else:
            epsilon = f"{self.epsilon:.12g}"
        return f"({epsilon}, {self.delta:.12g})-DP" if self.delta else f"{epsilon}-DP"

    def group(self, changes: int) -> DP:
        """(kε, δ·(1 + e^ε + … + e^((k−1)ε))), with δ rounded up and at most 1.

        Parameters
        ----------
        changes
            k, a whole number from 1.

        Returns
        -------
        DP
            What holds between datasets that many changes apart.

        """
        steps = checked_changes(changes)
        if steps == 1:
            return self
        delta = self._delta_of(steps) if self.exact_delta else Fraction(0)
        if self.exact_epsilon is not None:
            return DP(steps * self.exact_epsilon, delta)
        assert self.exact_ratio is not None
        return DP.from_ratio(self.exact_ratio**steps, delta=delta)

    def _delta_of(self, steps: int) -> Fraction:
        """A fraction of at least δ·(e^(kε) − 1)/(e^ε − 1), and at most 1."""
        if self.exact_ratio == 1:
            return min(Fraction(1), steps * self.exact_delta)
        if self.exact_ratio is not None:
            grown = (self.exact_ratio**steps - 1) / (self.exact_ratio - 1)
            return min(Fraction(1), grown * self.exact_delta)
        assert self.exact_epsilon is not None
        with precision(_BITS):
            epsilon = ball(self.exact_epsilon)
            added = (epsilon * steps).expm1() / epsilon.expm1() * ball(self.exact_delta)
            return min(Fraction(1), dyadic(added.upper())) if added.is_finite() else Fraction(1)

    @cached_property
    def epsilon(self) -> float:
        """ε as the nearest float."""
        if self.exact_epsilon is not None:
            return float(self.exact_epsilon)
        return refine(lambda: self.ratio_ball().log())

    @cached_property
    def delta(self) -> float:
        """δ as the nearest float."""
        return float(self.exact_delta)

    @cached_property
    def ratio(self) -> float:
        """e^ε as the nearest float."""
        return refine(self.ratio_ball)

    def ratio_ball(self) -> arb:
        """e^ε as a ball of the current precision."""
        if self.exact_ratio is not None:
            return ball(self.exact_ratio)
        assert self.exact_epsilon is not None
        return ball(self.exact_epsilon).exp()

    @property
    def threshold(self) -> float:
        """θ = (1 − δ)/(e^ε + 1), where growth turns into saturation."""
        return (1 - self.delta) / (self.ratio + 1)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """φ as lines: growth below θ, saturation above it, then certainty."""
        delta = self.exact_delta
        if delta == 1:
            return (SATURATED,)

        def flat() -> Coefficients:
            return Coefficients(ball(Fraction(1)), *map(ball, (delta, delta, 1 - delta, delta)))

        def low() -> Coefficients:
            e, d = self.ratio_ball(), ball(delta)
            return Coefficients(e, d, e - 1 + d, (1 - d) / (e + 1), (e + d) / (e + 1))

        def high() -> Coefficients:
            e, d = self.ratio_ball(), ball(delta)
            return Coefficients(1 / e, (e - 1 + d) / e, d / e, ball(1 - delta), d)

        moving = (Line(flat),) if self.exact_ratio == 1 else (Line(low), Line(high))
        return (*moving, SATURATED) if delta else moving

    def phase_change(self, s: ArrayLike) -> FloatOrArray:
        """τ: the first depth at which a prefix sum that starts at ``s`` exceeds θ.

        Parameters
        ----------
        s
            A prefix sum in [0, 1], or an array of them.

        Returns
        -------
        float or array
            The depths, decided exactly, ties included; infinite where θ is never exceeded (s = 0
            and δ = 0).

        Examples
        --------
        >>> DP.from_ratio(6, 5).phase_change([0.0005, 0.0086, 0.145, 0.4177, 1.0])
        array([38., 22.,  7.,  1.,  0.])

        """
        prefix, _, scalar = prefix_and_depth(s, 0)
        change = np.array([self._phase_change(Fraction(float(x))) for x in prefix.reshape(-1)])
        return change.item() if scalar else change.reshape(prefix.shape)

    def _phase_change(self, s: Fraction) -> float:
        delta = self.exact_delta
        if self.exact_ratio == 1:
            if s > (1 - delta) / 2:
                return 0.0
            return math.inf if delta == 0 else float(((1 - delta) / 2 - s) // delta + 1)
        if s == 0 and delta == 0:
            return math.inf

        def crossing() -> arb:
            e, d = self.ratio_ball(), ball(delta)
            start = ball(s) + d / (e - 1)
            return (((1 - d) / (e + 1) - ball(s)) / start).log1p() / e.log()

        return float(max(0, first_integer_above(crossing)))


def _is_ratio(ratio: Fraction) -> bool:
    largest = Fraction(math.exp(LARGEST_EPSILON))
    return ratio == 1 or 1 + SMALLEST_EPSILON <= ratio <= largest

"""Zero-concentrated differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from rainbowdp.display import cards
from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.guarantee import Guarantee, checked_changes
from rainbowdp.numeric.quantity import Number, exact

LARGEST_RHO = 450  # what the largest μ, 30, costs


@dataclass(frozen=True, repr=False)
class ZeroConcentrated(Guarantee):
    """ρ-zero-concentrated privacy: no Rényi divergence between neighbors exceeds αρ, both ways.

    The ρ of many answers add up, also where each question is chosen after the last answer (Bun and
    Steinke, *Concentrated differential privacy*, TCC 2016). It is not a trade-off curve: it implies
    one, but no curve implies it back. ``rb.best`` has the exponential mechanism for it, and noisy
    counts for votes.

    Parameters
    ----------
    rho
        Greater than 0; a float, string, ``Decimal`` or ``Fraction``, taken exactly.

    Raises
    ------
    InvalidGuarantee
        If ``rho`` is out of range.

    Examples
    --------
    >>> ZeroConcentrated("1/8")
    ZeroConcentrated(rho=0.125)

    """

    exact_rho: Fraction

    def __init__(self, rho: Number) -> None:
        value = exact(rho, "rho", InvalidGuarantee)
        if not 0 < value <= LARGEST_RHO:
            raise InvalidGuarantee(
                f"rho must be greater than 0 and at most {LARGEST_RHO}, got rho={rho}"
            )
        object.__setattr__(self, "exact_rho", value)

    def __repr__(self) -> str:
        return f"ZeroConcentrated(rho={self.rho:.12g})"

    def __str__(self) -> str:
        return f"{self.rho:.12g}-zCDP"

    def _repr_html_(self) -> str:
        return cards.card(self, self.in_words("one change"))

    def group(self, changes: int) -> ZeroConcentrated:
        """k²ρ (Bun and Steinke, Proposition 1.9).

        Parameters
        ----------
        changes
            k, a whole number from 1.

        Returns
        -------
        ZeroConcentrated
            What holds between datasets that many changes apart.

        """
        return ZeroConcentrated(self.exact_rho * checked_changes(changes) ** 2)

    @cached_property
    def rho(self) -> float:
        """ρ as the nearest float."""
        return float(self.exact_rho)

    def best_guess(self) -> float:
        """The largest chance to guess which of two neighboring datasets an answer came from.

        Both are taken to be equally likely before. It is e^ε/(e^ε + 1) for the ε with
        ε·tanh(ε/2) = ρ. The proof is in ``docs/how-to/choose.md``.

        Returns
        -------
        float
            Above 1/2 and below 1.

        Examples
        --------
        >>> round(ZeroConcentrated("1/2").best_guess(), 4)
        0.7395

        """
        low, high = 0.0, self.rho + 2.0  # x·tanh(x/2) > x − 1
        while low < (middle := (low + high) / 2) < high:
            enough = middle * math.tanh(middle / 2) >= self.rho
            low, high = (low, middle) if enough else (middle, high)
        return min(1 / (1 + math.exp(-high)), 1.0 - 2.0**-53)

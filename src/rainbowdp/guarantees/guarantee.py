"""What a guarantee is: a promise about any two neighboring datasets.

Most guarantees are trade-off curves (``curve.py``), which is what rows are grown and compared by.
Zero-concentrated privacy is none: it implies a curve, but no curve implies it back.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.expecting import brief
from rainbowdp.guarantees.worth import guess_in_words


def checked_changes(changes: object) -> int:
    """A whole number from 1."""
    if isinstance(changes, bool) or not isinstance(changes, numbers.Integral) or changes < 1:
        raise InvalidGuarantee(
            f"changes must be a whole number from 1, got changes={brief(changes)}"
        )
    return int(changes)


class Guarantee(ABC):
    """A promise; use ``DP``, ``GaussianDP``, ``TradeOff`` or ``ZeroConcentrated``."""

    @abstractmethod
    def best_guess(self) -> float:
        """The largest chance to guess which of two neighboring datasets an answer came from.

        Both are taken to be equally likely before.

        Returns
        -------
        float
            From 1/2, for a guarantee that lets nothing out, to 1, for one that promises nothing.

        """

    @abstractmethod
    def group(self, changes: int) -> Guarantee:
        """What holds between two datasets that are so many changes apart: group privacy.

        (ε,δ) becomes (kε, δ·(1 + e^ε + … + e^((k−1)ε))), μ becomes kμ, ρ becomes k²ρ, and a polygon
        is applied k times, which is all that it promises. Rounding, where there is any, is up.

        Parameters
        ----------
        changes
            k, a whole number from 1.

        Returns
        -------
        Guarantee
            One of the same kind.

        Raises
        ------
        InvalidGuarantee
            If ``changes`` is no such number, or nothing is promised so far apart.

        Examples
        --------
        >>> from rainbowdp import DP, GaussianDP, ZeroConcentrated
        >>> DP(1).group(3), GaussianDP("0.5").group(3), ZeroConcentrated("0.1").group(3)
        (DP(epsilon=3), GaussianDP(mu=1.5), ZeroConcentrated(rho=0.9))

        """

    def in_words(self, about: str = "one record") -> str:
        """What the guarantee is worth to whom it protects.

        Parameters
        ----------
        about
            What neighboring datasets differ in.

        Returns
        -------
        str
            How often a fifty-fifty guess about it can be right.

        Examples
        --------
        >>> from rainbowdp import DP
        >>> DP(5).in_words()
        'a fifty-fifty guess about one record can become nearly certain once the answer is out'

        """
        return guess_in_words(self.best_guess(), about)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle only the defining parameters; everything else is computed again."""
        found = fields(self)  # type: ignore[arg-type]  # each kind is a dataclass
        return {field.name: getattr(self, field.name) for field in found}

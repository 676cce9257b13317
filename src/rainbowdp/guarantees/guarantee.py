"""What a guarantee is: a promise about any two neighboring datasets.

Most guarantees are trade-off curves (``curve.py``), which is what rows are grown and compared by.
Zero-concentrated privacy is none: it implies a curve, but no curve implies it back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any

from rainbowdp.guarantees.worth import guess_in_words


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

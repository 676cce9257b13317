"""Records that weigh more or less than one: weights of a survey, prices, doses.

A weight is counted in *units* of 10⁻ᵖ, where p is how many decimal places count. Think of a record
of weight ω as ω·10ᵖ records of one unit each: then totals are counts, all margins are those of the
question about counts, and one record with a weight of at most w is up to w·10ᵖ changes of one unit.
So the margins in records are ⌈λ/(w·10ᵖ)⌉, as they are ⌈λ/k⌉ for a person with k records.

Weights are clipped to [0, w], never refused: that a table is refused for the weight of one record
would tell of that record. A record without a weight is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from rainbowdp.errors import InvalidMechanism, InvalidQuestion
from rainbowdp.expecting import brief
from rainbowdp.numeric.quantity import Number, exact

MOST_PLACES = 6
MOST_UNITS = 10**9  # of one record, so that 64 bits hold the total of any table there is


@dataclass(frozen=True, init=False)
class Weight:
    """What a record weighs: a column with the weights, clipped to [0, ``limit``].

    Margins are then in records of the largest weight. Records without a weight are not counted.

    Parameters
    ----------
    column
        The column that holds the weights: numbers.
    limit
        The largest weight that counts in full. It must not come from private data.
    places
        How many decimal places of a weight count, up to 6; it is rounded to these.

    Raises
    ------
    InvalidQuestion
        If the limit is not above 0, has more decimal places, or is too large for them.

    Examples
    --------
    >>> Weight("dose", "2.5").units
    2500

    """

    column: str
    limit: Fraction
    places: int

    def __init__(self, column: str, limit: Number, places: int = 3) -> None:
        if not isinstance(column, str) or not column:
            raise InvalidQuestion(f"a weight needs the name of a column, got {brief(column)}")
        if type(places) is not int or not 0 <= places <= MOST_PLACES:
            raise InvalidQuestion(
                f"the places of a weight must be a whole number from 0 to {MOST_PLACES}, "
                f"got places={brief(places)}"
            )
        most = exact(limit, "limit", InvalidQuestion)
        if most <= 0:
            raise InvalidQuestion(
                f"the limit of a weight must be above 0, got limit={limit}: it is the largest "
                "weight that counts in full"
            )
        units = most * 10**places
        if units.denominator != 1:
            raise InvalidQuestion(
                f"the limit of a weight must have at most {places} decimal places, got "
                f"limit={limit}: round it, or give more places"
            )
        if units > MOST_UNITS:
            raise InvalidQuestion(
                f"the limit of a weight must be at most {MOST_UNITS // 10**places:,} with {places} "
                f"decimal places, got limit={limit}: take a smaller one, or fewer places"
            )
        for name, value in (("column", column), ("limit", most), ("places", places)):
            object.__setattr__(self, name, value)

    @property
    def scale(self) -> int:
        """How many units a weight of one has."""
        return int(10**self.places)

    @property
    def units(self) -> int:
        """How many units one record has at most."""
        return int(self.limit * self.scale)

    def units_of(self, value: float | Decimal) -> int | None:
        """The units of one weight, to the nearest; none of what is no number.

        A weight with as many decimal places as count is counted exactly, even as a float: floats
        are that near to it.

        Parameters
        ----------
        value
            One weight.

        Returns
        -------
        int or None
            From 0 to the units of the limit.

        Examples
        --------
        >>> weight = Weight("dose", 10, 2)
        >>> [weight.units_of(float(dose)) for dose in ("2.57", "11", "-1", "inf", "nan")]
        [257, 1000, 0, 1000, None]

        """
        if value != value:
            return None
        if value <= 0:
            return 0
        if value >= self.limit:
            return self.units
        if isinstance(value, float):
            return int((value * float(self.scale) + 0.5) // 1)
        exactly: Fraction = Fraction(value) * self.scale
        return int((2 * exactly + 1) // 2)

    def describe(self) -> dict[str, Any]:
        """What makes the weight, ready for JSON."""
        return {"column": self.column, "limit": str(self.limit), "places": self.places}


def limit_of(question: Mapping[str, Any]) -> int:
    """By how much one change may move the counts of a described question."""
    rows, weight = question.get("rows_per_person"), question.get("weight")
    if type(rows) is not int or rows < 1:
        raise InvalidMechanism(f"rows_per_person must be a whole number from 1, got {brief(rows)}")
    try:
        return rows if weight is None else rows * Weight(**weight).units
    except TypeError:
        raise InvalidMechanism("a weight must have a column, a limit and places") from None

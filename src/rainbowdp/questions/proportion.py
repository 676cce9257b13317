"""Is the share of matching records above a given one, beyond chance?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from fractions import Fraction
from typing import Any, SupportsIndex

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import whole
from rainbowdp.numeric.quantity import Number, exact
from rainbowdp.questions.base import checked_counts
from rainbowdp.questions.ends import End, GivenEnd, described
from rainbowdp.questions.groups import Group
from rainbowdp.questions.matching import MATCHING, checked_matching
from rainbowdp.questions.relations import Neighbors, PersonRule
from rainbowdp.questions.showing import Shown
from rainbowdp.questions.threshold import Threshold

SIGNIFICANT, NOT_SIGNIFICANT = "significant", "not significant"
MOST_RECORDS = 1_000_000
ALPHA = Fraction(1, 20)
_OWN = ("above", "alpha", "records")


@dataclass(frozen=True, init=False)
class ProportionTest(Shown):
    """Do records match more often than p, beyond chance?

    The records are taken as draws from a population, and the null hypothesis is that at most a
    share p of it matches. If it holds, the answer is "significant" with a chance of at most α. The
    number of records is public, so neighbors are substituted, and a person has one record.

    Parameters
    ----------
    above
        p, above 0 and below 1, exactly as written: ``"0.6"``, ``"2/3"``.
    column
        The column with the values; None if the count is given.
    records
        How many records there are, up to a million. It is public.
    alpha
        α, the largest chance of a false alarm.
    equals
        The value of a matching record.
    minimum, maximum
        The ends of a range of matching values: numbers, or dates and times.
    neighbors
        ``"substituted"``, as the number of records is public.
    person
        The column that says whose record it is.
    rows_per_person
        1, since several records of one person are not independent draws.
    person_rule
        Which record of a person counts: a random ``"sample"`` of one, or ``"one vote"``.
    where
        A condition that a record must meet to be counted: ``"age > 65 and ward = 'X'"``.
    apply
        A function of the column's values to ask about: year, month, day, hour, lower, floor, round.

    Raises
    ------
    InvalidQuestion
        If a share does not lie between 0 and 1, or there is no rule for matching records, or more
        than one, or the number of records would be private.

    Examples
    --------
    >>> ProportionTest("0.6", "outcome", equals="recovered", records=200).alpha
    Fraction(1, 20)

    """

    above: Fraction
    column: str | None
    records: int
    alpha: Fraction
    equals: str | None
    minimum: End | None
    maximum: End | None
    neighbors: Neighbors
    person: str | None
    rows_per_person: int
    person_rule: PersonRule
    where: str | None
    apply: str | None

    def __init__(
        self,
        above: Number,
        column: str | None = None,
        *,
        records: int,
        alpha: Number = ALPHA,
        equals: str | float | date | None = None,
        minimum: GivenEnd | None = None,
        maximum: GivenEnd | None = None,
        neighbors: str = Neighbors.SUBSTITUTED,
        person: str | None = None,
        rows_per_person: int = 1,
        person_rule: str = PersonRule.SAMPLE,
        where: str | None = None,
        apply: str | None = None,
    ) -> None:
        checked_matching("a test", column, equals, minimum, maximum)
        asked = Threshold(
            1,
            column,
            equals=equals,
            minimum=minimum,
            maximum=maximum,
            neighbors=neighbors,
            person=person,
            rows_per_person=rows_per_person,
            person_rule=person_rule,
            where=where,
            apply=apply,
        )
        if asked.neighbors != Neighbors.SUBSTITUTED:
            raise InvalidQuestion(
                "a test needs a public number of records: use neighbors='substituted', or a Count"
            )
        if asked.rows_per_person != 1:
            raise InvalidQuestion(
                "a test takes records as independent draws: use rows_per_person=1, got "
                f"rows_per_person={rows_per_person}"
            )
        size = whole(records, "records", 1)
        if size > MOST_RECORDS:
            raise InvalidQuestion(f"records must be at most {MOST_RECORDS}, got records={records}")
        given = {"above": _between(above, "above"), "alpha": _between(alpha, "alpha")}
        for field in fields(self):
            name = field.name
            found = getattr(asked, name) if name not in _OWN else given.get(name, size)
            object.__setattr__(self, name, found)

    @property
    def answers(self) -> tuple[str, str]:
        """What can be said."""
        return SIGNIFICANT, NOT_SIGNIFICANT

    @property
    def groups(self) -> tuple[Group, ...]:
        """One group, ``"matching"``."""
        return self.counted().groups

    def counted(self) -> Threshold:
        """A question that counts the same records.

        Returns
        -------
        Threshold
            Whether there is any of them.

        """
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _OWN}
        return Threshold(1, **given)

    def found(self, counts: Mapping[str, SupportsIndex], /) -> int:
        """How many records match, from counts.

        Parameters
        ----------
        counts
            ``{"matching": n}``; left out, n is 0.

        Returns
        -------
        int
            The count, at most ``records``.

        """
        return min(checked_counts(counts, [MATCHING])[MATCHING], self.records)

    def describe(self) -> dict[str, Any]:
        """Everything that makes the question, ready for JSON; the same for equal questions.

        Returns
        -------
        dict
            The question's kind and parameters.

        """
        return {
            "kind": "proportion-test",
            "above": str(self.above),
            "alpha": str(self.alpha),
            "records": self.records,
            "equals": self.equals,
            "minimum": described(self.minimum),
            "maximum": described(self.maximum),
            "column": self.column,
            "apply": self.apply,
            "where": self.where,
            "neighbors": str(self.neighbors),
            "person": self.person,
            "rows_per_person": self.rows_per_person,
            "person_rule": str(self.person_rule),
        }


def _between(value: Number, what: str) -> Fraction:
    """A number above 0 and below 1."""
    share = exact(value, what, InvalidQuestion)
    if not 0 < share < 1:
        raise InvalidQuestion(
            f"{what} must lie between 0 and 1, got {what}={value}: write 60 % as 0.6"
        )
    return share

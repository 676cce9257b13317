"""How many matching records are there?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, SupportsIndex

from rainbowdp.expecting import whole
from rainbowdp.questions.base import checked_counts
from rainbowdp.questions.ends import End, GivenEnd, described
from rainbowdp.questions.groups import Group
from rainbowdp.questions.matching import MATCHING, checked_matching
from rainbowdp.questions.relations import Neighbors, PersonRule
from rainbowdp.questions.showing import Shown
from rainbowdp.questions.threshold import Threshold

MOST = 10**9


@dataclass(frozen=True, init=False)
class Count(Shown):
    """How many matching records are there?

    The answer is a whole number from 0 to ``at_most``, with noise. If a person has one record, it
    answers every threshold at once: it says whether the count is at least T as reliably as
    ``Threshold(T)`` would under the same ε, δ or μ, for any T you think of afterwards. A record
    matches as for ``Threshold``; without a column the count is given: ``{"matching": n}``.

    Parameters
    ----------
    column
        The column with the values; None if the count is given.
    equals
        The value of a matching record.
    minimum, maximum
        The ends of a range of matching values: numbers, or dates and times.
    at_most
        The largest answer. A larger count counts as this; it must not come from private data.
    neighbors
        What one change is: ``"substituted"`` or ``"added or removed"``.
    person
        The column that says whose record it is.
    rows_per_person
        How many records of one person count.
    person_rule
        Which of them: a random ``"sample"``, or ``"one vote"`` per person.
    where
        A condition that a record must meet to be counted: ``"age > 65 and ward = 'X'"``.
    apply
        A function of the column's values to ask about: year, month, day, hour, lower, floor, round.

    Raises
    ------
    InvalidQuestion
        If there is no rule for matching records, or more than one, or a number makes no sense.

    Examples
    --------
    >>> Count("age", minimum=65).found({"matching": 103})
    103

    """

    column: str | None
    equals: str | None
    minimum: End | None
    maximum: End | None
    at_most: int
    neighbors: Neighbors
    person: str | None
    rows_per_person: int
    person_rule: PersonRule
    where: str | None
    apply: str | None

    def __init__(
        self,
        column: str | None = None,
        *,
        equals: str | float | date | None = None,
        minimum: GivenEnd | None = None,
        maximum: GivenEnd | None = None,
        at_most: int = MOST,
        neighbors: str = Neighbors.SUBSTITUTED,
        person: str | None = None,
        rows_per_person: int = 1,
        person_rule: str = PersonRule.SAMPLE,
        where: str | None = None,
        apply: str | None = None,
    ) -> None:
        checked_matching("a count", column, equals, minimum, maximum)
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
        object.__setattr__(self, "at_most", whole(at_most, "at_most", 1))
        for field in fields(self):
            if field.name != "at_most":
                object.__setattr__(self, field.name, getattr(asked, field.name))

    @property
    def by(self) -> None:
        """All records are counted together."""
        return None

    @property
    def weight(self) -> None:
        """Each record counts as one."""
        return None

    @property
    def groups(self) -> tuple[Group, ...]:
        """One group, ``"matching"``."""
        return self.threshold(1).groups

    def threshold(self, at_least: int) -> Threshold:
        """The question whether there are at least this many of the same records.

        Parameters
        ----------
        at_least
            T, a whole number from 1.

        Returns
        -------
        Threshold
            The question.

        Examples
        --------
        >>> Count("age", minimum=65).threshold(100).at_least
        100

        """
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "at_most"}
        return Threshold(at_least, **given)

    def found(self, counts: Mapping[str, SupportsIndex], /) -> int:
        """The true answer, from counts.

        Parameters
        ----------
        counts
            ``{"matching": n}``; left out, n is 0.

        Returns
        -------
        int
            The count, at most ``at_most``.

        """
        return min(checked_counts(counts, [MATCHING])[MATCHING], self.at_most)

    def describe(self) -> dict[str, Any]:
        """Everything that makes the question, ready for JSON; the same for equal questions.

        Returns
        -------
        dict
            The question's kind and parameters.

        """
        return {
            "kind": "count",
            "equals": self.equals,
            "minimum": described(self.minimum),
            "maximum": described(self.maximum),
            "at_most": self.at_most,
            "column": self.column,
            "apply": self.apply,
            "where": self.where,
            "neighbors": str(self.neighbors),
            "person": self.person,
            "rows_per_person": self.rows_per_person,
            "person_rule": str(self.person_rule),
        }

    @classmethod
    def restore(cls, description: Mapping[str, Any]) -> Count:
        """The question that ``describe`` described.

        Parameters
        ----------
        description
            What ``describe`` returned.

        Returns
        -------
        Count
            The same question.

        Examples
        --------
        >>> Count.restore(Count("age", minimum=65).describe()) == Count("age", minimum=65)
        True

        """
        return cls(**{name: value for name, value in description.items() if name != "kind"})

"""Are there at least so many matching records?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import Any

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief, whole
from rainbowdp.numeric.quantity import Number, exact
from rainbowdp.questions.base import CountQuestion
from rainbowdp.questions.ends import End, GivenEnd, described
from rainbowdp.questions.functions import check_applied
from rainbowdp.questions.groups import Group
from rainbowdp.questions.matching import MATCHING, checked_matching, matching
from rainbowdp.questions.relations import Neighbors, PersonRule
from rainbowdp.questions.weights import Weight


@dataclass(frozen=True, init=False)
class Threshold(CountQuestion):
    """Is the number of matching records at least T?

    A record matches when its value equals ``equals``, or lies between ``minimum`` and ``maximum``,
    both included. Without a column the count is given: ``{"matching": n}``. Either relation changes
    n by at most one, and any n can be reached, so the margin of "no" is n − T + 1 if the answer is
    yes, and that of "yes" is T − n if it is no. For several thresholds of one count ask a ``Count``
    once: if a person has one record, it answers them all, each just as reliably.

    Parameters
    ----------
    at_least
        T, a whole number from 1; where records have weights, a total weight above 0.
    column
        The column with the values; None if the count is given.
    equals
        The value of a matching record.
    minimum, maximum
        The ends of a range of matching values: numbers, or dates and times.
    answers
        Two texts, first the one for enough records.
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
    weight
        ``rb.Weight(column, limit)``, if records weigh more or less than one.

    Raises
    ------
    InvalidQuestion
        If there is no rule for matching records, or more than one, or a number makes no sense.

    Examples
    --------
    >>> Threshold(100, "age", minimum=65).margins({"matching": 103})
    {'yes': 0, 'no': 4}

    """

    at_least: int | Fraction
    equals: str | None
    minimum: End | None
    maximum: End | None

    def __init__(
        self,
        at_least: Number,
        column: str | None = None,
        *,
        equals: str | float | date | None = None,
        minimum: GivenEnd | None = None,
        maximum: GivenEnd | None = None,
        answers: Iterable[str] = ("yes", "no"),
        neighbors: str = Neighbors.SUBSTITUTED,
        person: str | None = None,
        rows_per_person: int = 1,
        person_rule: str = PersonRule.SAMPLE,
        where: str | None = None,
        apply: str | None = None,
        weight: Weight | None = None,
    ) -> None:
        self._set_shared(
            answers, column, neighbors, person, rows_per_person, person_rule, where, apply, weight
        )
        self._set(
            at_least=_checked_total(at_least, self.weight),
            **checked_matching("a threshold", column, equals, minimum, maximum),
        )
        if len(self.answers) != 2:
            raise InvalidQuestion(
                f"a threshold has two answers, first the one for enough records, "
                f"got {brief(list(self.answers))}"
            )
        check_applied(self.apply, self.groups)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group, ``"matching"``."""
        return ((MATCHING, matching(self.equals, self.minimum, self.maximum)),)

    def _parameters(self) -> dict[str, Any]:
        return {
            "kind": "threshold",
            "answers": list(self.answers),
            "at_least": self._described_least(),
            "equals": self.equals,
            "minimum": described(self.minimum),
            "maximum": described(self.maximum),
        }

    def _described_least(self) -> int | str:
        exactly = self.weight is None and self.at_least < 1 << 53
        return int(self.at_least) if exactly else str(self.at_least)

    def _distances(self, counts: Sequence[int]) -> list[int]:
        (found,) = counts
        missing = int(self.at_least * (1 if self.weight is None else self.weight.scale)) - found
        return [max(0, missing), max(0, 1 - missing)]


def _checked_total(at_least: Number, weight: Weight | None) -> int | Fraction:
    """A number of records, or a total weight of whole units."""
    if weight is None:
        return whole(at_least, "at_least", 1)
    total = exact(at_least, "at_least", InvalidQuestion)
    if total <= 0 or (total * weight.scale).denominator != 1:
        raise InvalidQuestion(
            f"at_least must be above 0 with at most {weight.places} decimal places, got "
            f"at_least={at_least}: round it, or give the weight more places"
        )
    return total

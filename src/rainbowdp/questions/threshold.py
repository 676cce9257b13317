"""Are there at least so many matching records?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

from rainbowdp.errors import InvalidQuestion
from rainbowdp.questions.base import Between, CountQuestion, Equals, Group, whole
from rainbowdp.questions.ends import End, GivenEnd, described, end, kind_of, less, shown
from rainbowdp.questions.functions import check_applied
from rainbowdp.questions.relations import Neighbors, PersonRule

MATCHING = "matching"


@dataclass(frozen=True, init=False)
class Threshold(CountQuestion):
    """Is the number of matching records at least T?

    A record matches when its value equals ``equals``, or lies between ``minimum`` and ``maximum``,
    both included. Without a column the count is given: ``{"matching": n}``. Either relation changes
    n by at most one, and any n can be reached, so the margin of "no" is n − T + 1 where the answer
    is yes, and that of "yes" T − n where it is no.

    Parameters
    ----------
    at_least
        T, a whole number from 1.
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
        Which of them: a random ``"sample"``, or ``"one vote"`` a person.
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
    >>> Threshold(100, "age", minimum=65).margins({"matching": 103})
    {'yes': 0, 'no': 4}

    """

    at_least: int
    equals: str | None
    minimum: End | None
    maximum: End | None

    def __init__(
        self,
        at_least: int,
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
    ) -> None:
        self._set_shared(
            answers, column, neighbors, person, rows_per_person, person_rule, where, apply
        )
        self._set(
            at_least=whole(at_least, "at_least", 1),
            equals=_spelled(equals),
            minimum=None if minimum is None else end(minimum, "minimum"),
            maximum=None if maximum is None else end(maximum, "maximum"),
        )
        if len(self.answers) != 2:
            raise InvalidQuestion(
                f"a threshold has two answers, first the one for enough records, "
                f"got {list(self.answers)!r}"
            )
        given = [
            name for name in ("equals", "minimum", "maximum") if getattr(self, name) is not None
        ]
        if (column is None) != (not given):
            raise InvalidQuestion(
                "a threshold needs both a column and equals=, minimum= or maximum=, or neither "
                f"where counts are given, got column={column!r} and {', '.join(given) or 'none'}"
            )
        if "equals" in given and len(given) > 1:
            raise InvalidQuestion(
                f"equals= stands alone, got {', '.join(given)}: leave out one or the other"
            )
        kind_of(self.minimum, self.maximum)
        low, high = self.minimum, self.maximum
        if low is not None and high is not None and less(high, low):
            raise InvalidQuestion(
                f"minimum must not be above maximum, got minimum={shown(low)} and "
                f"maximum={shown(high)}"
            )
        check_applied(self.apply, self.groups)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group, ``"matching"``."""
        if self.equals is not None:
            return ((MATCHING, Equals(self.equals)),)
        return ((MATCHING, Between(self.minimum, self.maximum, closed=True)),)

    def _parameters(self) -> dict[str, Any]:
        return {
            "kind": "threshold",
            "answers": list(self.answers),
            "at_least": self.at_least,
            "equals": self.equals,
            "minimum": described(self.minimum),
            "maximum": described(self.maximum),
        }

    def _distances(self, counts: Sequence[int]) -> list[int]:
        (matching,) = counts
        missing = self.at_least - matching
        return [max(0, missing), max(0, 1 - missing)]


def _spelled(value: str | float | date | None) -> str | None:
    """The value to match as a text: ``True`` is "true", 3 is "3"."""
    if value is None:
        return None
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text:
        raise InvalidQuestion("equals must be a value to match, got equals=''")
    return text

"""Is at least such a share of the records matching ones?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import Any

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief
from rainbowdp.numeric.quantity import Number, exact
from rainbowdp.questions.base import CountQuestion
from rainbowdp.questions.ends import End, GivenEnd, described
from rainbowdp.questions.functions import check_applied
from rainbowdp.questions.groups import Group, OtherValue
from rainbowdp.questions.matching import MATCHING, checked_matching, matching
from rainbowdp.questions.relations import Neighbors, PersonRule
from rainbowdp.questions.weights import Weight

OTHERS = "others"


@dataclass(frozen=True, init=False)
class Share(CountQuestion):
    """Is the share of matching records at least p?

    The share is among the records that have a value in the column, and meet the condition ``where``
    if there is one: *did at least 60 % of the patients over 65 recover?* How many these are is as
    private as how many of them match. A record matches when its value equals ``equals``, or lies
    between ``minimum`` and ``maximum``, both included. Without a column counts are given:
    ``{"matching": m, "others": n}``. If there are no records at all, the answer is yes.

    With p = a/b the answer is yes where S = (b − a)·m − a·n ≥ 0. One change moves S by at most
    s = b where a record is substituted, and s = max(a, b − a) where it comes or goes, and such a
    step can always be taken; so the margin of "no" is ⌊S/s⌋ + 1 where the answer is yes, and that
    of "yes" ⌈−S/s⌉ where it is no (``docs/margins.md``).

    Parameters
    ----------
    at_least
        p, above 0 and below 1, exactly as written: ``"0.6"``, ``"2/3"``.
    column
        The column with the values; None if the counts are given.
    equals
        The value of a matching record.
    minimum, maximum
        The ends of a range of matching values: numbers, or dates and times.
    answers
        Two texts, first the one for a share that is large enough.
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
        If the share does not lie between 0 and 1, or there is no rule for matching records, or
        more than one.

    Examples
    --------
    >>> Share("0.6", "outcome", equals="recovered").margins({"matching": 70, "others": 30})
    {'yes': 0, 'no': 11}

    """

    at_least: Fraction
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
        share = exact(at_least, "at_least", InvalidQuestion)
        if not 0 < share < 1:
            raise InvalidQuestion(
                f"a share must lie between 0 and 1, got at_least={at_least}: write 60 % as 0.6"
            )
        if len(self.answers) != 2:
            raise InvalidQuestion(
                "a share has two answers, first the one for a share that is large enough, "
                f"got {brief(list(self.answers))}"
            )
        self._set(at_least=share, **checked_matching("a share", column, equals, minimum, maximum))
        check_applied(self.apply, self.groups)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Two groups: ``"matching"``, and ``"others"`` that have another value."""
        rule = matching(self.equals, self.minimum, self.maximum)
        return ((MATCHING, rule), (OTHERS, OtherValue()))

    def _parameters(self) -> dict[str, Any]:
        return {
            "kind": "share",
            "answers": list(self.answers),
            "at_least": str(self.at_least),
            "equals": self.equals,
            "minimum": described(self.minimum),
            "maximum": described(self.maximum),
        }

    def _distances(self, counts: Sequence[int]) -> list[int]:
        found, others = counts
        a, b = self.at_least.numerator, self.at_least.denominator
        step = b if self.neighbors == Neighbors.SUBSTITUTED else max(a, b - a)
        above = (b - a) * found - a * others
        return [0, above // step + 1] if above >= 0 else [-(above // step), 0]

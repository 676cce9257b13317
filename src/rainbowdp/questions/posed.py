"""What a ledger and a message need to know of anything that is asked."""

from __future__ import annotations

from typing import Any, Protocol

from rainbowdp.questions.groups import Group
from rainbowdp.questions.relations import Neighbors, PersonRule


class Posed(Protocol):
    """A question with finitely many answers, or one whose answer is a number."""

    @property
    def neighbors(self) -> Neighbors:
        """What one change of the dataset is."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """Which records are counted; none where a dataset is whatever the question takes."""

    @property
    def where(self) -> str | None:
        """The condition that a record must meet to be counted, as canonical text, if any."""

    @property
    def person(self) -> str | None:
        """The column that says whose record it is, if a table is to be limited by it."""

    @property
    def rows_per_person(self) -> int:
        """How many records one person may have."""

    @property
    def person_rule(self) -> PersonRule:
        """Which records of a person count, where there is a ``person`` column."""

    def describe(self) -> dict[str, Any]:
        """Everything that makes the question, ready for JSON; the same for equal questions."""

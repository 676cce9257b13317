"""One question in each of many groups of records: the winner of every district."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief
from rainbowdp.questions.base import CountQuestion
from rainbowdp.questions.by import By
from rainbowdp.questions.count import Count
from rainbowdp.questions.groups import Group
from rainbowdp.questions.posed import Posed
from rainbowdp.questions.quantile import Quantile
from rainbowdp.questions.quantiles import Quantiles
from rainbowdp.questions.relations import Neighbors, PersonRule
from rainbowdp.questions.showing import Shown
from rainbowdp.questions.weights import Weight


class Way(NamedTuple):
    """How a question is asked in one group, and how many moves one change of the table is."""

    question: CountQuestion | Count
    moves: int


@dataclass(frozen=True, init=False)
class Grouped(Shown):
    """One question, asked in each of the listed groups of records at one price for all.

    A record is in one group at most, so one record can change only little, however many groups
    there are: ``docs/how-to/groups.md`` has the price and its proof. Records of other groups, and
    records without one, are not counted.

    Parameters
    ----------
    question
        What is asked in each group.
    by
        The column that says which group a record belongs to; None if counts are given.
    groups
        The values of that column to ask about: different texts.
    public
        Whether everybody knows which group each record is in (and each person with all of their
        records), and that cannot change. A change then stays inside one group, which can halve the
        price if records are substituted, and divide it by k if a person has k records.
    apply
        A function of the column's values that says the group: year, month, day, hour, lower,
        floor, round.

    Raises
    ------
    InvalidQuestion
        If the groups are not different texts, or the question cannot be asked in groups.

    Examples
    --------
    >>> from rainbowdp import Winner
    >>> polls = Grouped(Winner(["red", "green"], "choice"), "district", ["north", "south"])
    >>> polls.by.names, polls.public
    (('north', 'south'), False)

    """

    question: CountQuestion | Count
    by: By
    public: bool

    def __init__(
        self,
        question: Posed,
        by: str | None,
        groups: Iterable[str],
        *,
        public: bool = False,
        apply: str | None = None,
    ) -> None:
        if not isinstance(question, CountQuestion | Count):
            raise InvalidQuestion(
                "groups need a question such as Winner or Quantile to be asked in each, "
                f"got {type(question).__name__}"
            )
        if (by is None) != (question.column is None):
            raise InvalidQuestion(
                "a question in groups needs both its own column and by=, or neither where counts "
                f"are given, got column={brief(question.column)} and by={brief(by)}"
            )
        if (
            isinstance(question, Quantile | Quantiles)
            and question.person_rule == PersonRule.ONE_VOTE
        ):
            raise InvalidQuestion(
                "with groups a person who has one vote has no median: use person_rule='sample'"
            )
        if not isinstance(public, bool):
            raise InvalidQuestion(f"public must be True or False, got public={brief(public)}")
        for name, value in (
            ("question", question),
            ("by", By(by, groups, apply)),
            ("public", public),
        ):
            object.__setattr__(self, name, value)

    @property
    def column(self) -> str | None:
        """The column that holds the values."""
        return self.question.column

    @property
    def apply(self) -> str | None:
        """The function of its values that is asked about, if not they themselves."""
        return self.question.apply

    @property
    def groups(self) -> tuple[Group, ...]:
        """Which records each count of a group counts."""
        return self.question.groups

    @property
    def where(self) -> str | None:
        """The condition that a record must meet to be counted."""
        return self.question.where

    @property
    def weight(self) -> Weight | None:
        """What a record weighs, if not one."""
        return self.question.weight

    @property
    def person(self) -> str | None:
        """The column that says whose record it is."""
        return self.question.person

    @property
    def rows_per_person(self) -> int:
        """How many records of one person count, in all groups together."""
        return self.question.rows_per_person

    @property
    def person_rule(self) -> PersonRule:
        """Which of them."""
        return self.question.person_rule

    @property
    def neighbors(self) -> Neighbors:
        """What one change of the table is."""
        return self.question.neighbors

    @property
    def ways(self) -> tuple[Way, ...]:
        """The ways to ask in one group, each with how many moves of it one change is at most.

        Where groups may change, a record that leaves one and enters another is two moves, each a
        record that comes or goes. Where they are public a change is one move inside one group; or
        what is substituted goes and comes, which is two, and often as good.
        """
        coming = replace(self.question, neighbors=Neighbors.ADDED_OR_REMOVED)
        twice = 1 if self.neighbors == Neighbors.ADDED_OR_REMOVED else 2
        if self.public:
            inside = Way(self.question, 1)
            return (inside,) if twice == 1 else (inside, Way(coming, 2))
        single = replace(coming, person=None, rows_per_person=1, person_rule=PersonRule.SAMPLE)
        return (Way(single, twice * self.rows_per_person),)

    def describe(self) -> dict[str, Any]:
        """Everything that makes the question, ready for JSON; the same for equal questions.

        Returns
        -------
        dict
            What describes the question that is asked in each group, and the groups.

        """
        by = {"column": self.by.column, "groups": list(self.by.names), "apply": self.by.apply}
        return {**self.question.describe(), "by": by, "groups_are_public": self.public}

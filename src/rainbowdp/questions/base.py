"""What every question says about itself, and the checks that all of them share.

A question is a rainbow graph given by a rule, never enumerated. Its datasets are histograms:
how many records fall into each of a few *groups* that the user lists. ``margins`` turns such
counts into λ, one whole number for each answer: 0 at the true answer, and elsewhere how many
records must change before that answer is the true one.

Neighbors are always stated:

``"substituted"``       one record is replaced by another; the size of the table is public
``"added or removed"``  one record comes or goes; the size of the table is private

A record that falls into no group is not counted, nor is one for which the condition ``where`` does
not hold. Under substitution a counted record may turn into an uncounted one and back, and the
margins allow for it.

Where one person has up to k records, ``rows_per_person=k`` makes the margins ⌈λ/k⌉ and "one
record" above means all records of one person: they make λ change by at most k, so ⌈λ/k⌉ by at
most one. (Think of each person as k records of which some are uncounted: replacing one person by
another is k substitutions.) With a ``person`` column the limit is kept when a table is counted, by
the ``person_rule``: a sample of k of the person's records, or one vote, where k is 1. Without such
a column the caller promises the limit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, SupportsIndex, runtime_checkable

from rainbowdp.aliases import Integers
from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief, whole
from rainbowdp.questions.by import By
from rainbowdp.questions.functions import checked_function
from rainbowdp.questions.groups import Group
from rainbowdp.questions.relations import Neighbors, PersonRule, one_of
from rainbowdp.questions.showing import Shown
from rainbowdp.questions.weights import Weight
from rainbowdp.questions.where import canonical


class Counted(Protocol):
    """What a table needs to know to be counted."""

    @property
    def column(self) -> str | None:
        """The column that holds the values, or ``None`` if counts are given."""

    @property
    def apply(self) -> str | None:
        """The function of the column's values that is asked about, if not they themselves."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """Which records each count counts; no record belongs to two of them."""

    @property
    def by(self) -> By | None:
        """The groups of records that are counted apart, if there are such."""

    @property
    def weight(self) -> Weight | None:
        """What a record weighs, if not one."""

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


@runtime_checkable
class Question(Counted, Protocol):
    """What a mechanism, a table and a ledger need to know of a question."""

    @property
    def answers(self) -> tuple[str, ...]:
        """The possible answers as the user listed them; ties go to the first listed."""

    @property
    def neighbors(self) -> Neighbors:
        """What one change of the dataset is."""

    @property
    def limit(self) -> int:
        """By how much one change may move the counts."""

    def margins(self, counts: Any, /) -> dict[str, int]:
        """λ: 0 at the true answer, else how many changes make that answer the true one."""

    def describe(self) -> dict[str, Any]:
        """Everything that makes the question, ready for JSON; the same for equal questions."""


@dataclass(frozen=True, kw_only=True)
class CountQuestion(Shown, ABC):
    """A question about counts; the fields and the checks that all of them share."""

    answers: tuple[str, ...]
    column: str | None
    apply: str | None
    where: str | None
    neighbors: Neighbors
    person: str | None
    rows_per_person: int
    person_rule: PersonRule
    weight: Weight | None

    def _set(self, **fields: object) -> None:
        """Fill in checked fields, once."""
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _set_shared(
        self,
        answers: Iterable[str],
        column: str | None,
        neighbors: str,
        person: str | None,
        rows_per_person: int,
        person_rule: str,
        where: str | None = None,
        apply: str | None = None,
        weight: Weight | None = None,
    ) -> None:
        self._set(
            answers=checked_answers(answers),
            column=checked_column(column, "column"),
            apply=checked_function(apply, column),
            where=checked_where(where, column),
            neighbors=one_of(Neighbors, neighbors, "neighbors"),
            **checked_person(person, rows_per_person, person_rule),
        )
        _check_weight(weight, self.column, self.person_rule)
        self._set(weight=weight)

    @property
    def by(self) -> None:
        """All records are counted together."""
        return None

    @property
    def limit(self) -> int:
        """By how much one change may move the counts: a person's records and their weights."""
        return self.rows_per_person * (1 if self.weight is None else self.weight.units)

    @property
    @abstractmethod
    def groups(self) -> tuple[Group, ...]:
        """Which records each count counts; no record belongs to two of them."""

    @cached_property
    def group_names(self) -> list[str]:
        """The names of the groups, in their order; not to be changed."""
        return [name for name, _ in self.groups]

    @abstractmethod
    def _distances(self, counts: Sequence[int]) -> list[int]:
        """How many records must change before each answer is true, from checked counts."""

    def _distances_together(self, counts: Sequence[int]) -> Integers | None:
        """The same in an array of 64 bits, where that is quicker; none elsewhere."""
        return None

    @abstractmethod
    def _parameters(self) -> dict[str, Any]:
        """The question's kind and what is special to it, ready for JSON."""

    def margins(self, counts: Mapping[str, SupportsIndex], /) -> dict[str, int]:
        """λ: 0 at the true answer, else how many changes make that answer the true one.

        ``counts`` holds a whole number for each group; a group that is left out has none. Where
        records have weights, these are the units of weight that each group has in total.
        """
        return self.margins_of(list(checked_counts(counts, self.group_names).values()))

    def margins_of(self, counts: Sequence[int]) -> dict[str, int]:
        """The same of a checked count for each group, in their order.

        Parameters
        ----------
        counts
            Whole numbers from 0.

        Returns
        -------
        dict of str to int
            The margin of each answer.

        """
        limit, distances = self.limit, self._distances(counts)
        if limit > 1:
            distances = [-(-distance // limit) for distance in distances]
        return dict(zip(self.answers, distances, strict=True))

    def many_margins_of(self, counts: Sequence[int]) -> Integers | None:
        """The margins of all answers in their order, in 64 bits, where that is quicker.

        Parameters
        ----------
        counts
            Whole numbers from 0, as for ``margins_of``.

        Returns
        -------
        array of int64 or None
            A new one each time; none where answers are few or counts too large.

        """
        limit, distances = self.limit, self._distances_together(counts)
        if distances is None or limit == 1:
            return distances
        margins: Integers = -(-distances // limit)
        return margins

    def describe(self) -> dict[str, Any]:
        """Everything that makes the question, ready for JSON; the same for equal questions."""
        return {
            **self._parameters(),
            "column": self.column,
            "apply": self.apply,
            "where": self.where,
            "neighbors": str(self.neighbors),
            "person": self.person,
            "rows_per_person": self.rows_per_person,
            "person_rule": str(self.person_rule),
            "weight": None if self.weight is None else self.weight.describe(),
        }


def _check_weight(weight: Weight | None, column: str | None, rule: PersonRule) -> None:
    """Refuse a weight where no table is counted, or where a person is one record."""
    if weight is None:
        return
    if not isinstance(weight, Weight):
        raise InvalidQuestion(
            f"weight must be a Weight such as Weight('dose', limit=10), got {type(weight).__name__}"
        )
    if column is None:
        raise InvalidQuestion(
            "weights need a question that names a column of a table, got one without: counts that "
            "you give have no weights"
        )
    if rule == PersonRule.ONE_VOTE:
        raise InvalidQuestion(
            "with person_rule='one vote' all people weigh the same, got weight="
            f"{brief(weight.column)}: leave it out, or use person_rule='sample'"
        )


def checked_answers(answers: Iterable[str], least: int = 2) -> tuple[str, ...]:
    """The answers as a tuple: at least two different texts, none of them empty."""
    rule = f"answers must be a list of at least {'two different texts' if least > 1 else 'a text'}"
    if isinstance(answers, str) or not isinstance(answers, Iterable):
        raise InvalidQuestion(f"{rule}, got {brief(answers)}")
    listed = tuple(answers)
    for answer in listed:
        if not isinstance(answer, str) or not answer:
            raise InvalidQuestion(f"{rule}, got {brief(answer)} among them")
    if len(listed) < least:
        raise InvalidQuestion(f"{rule}, got {brief(list(listed))}")
    seen: set[str] = set()
    for answer in listed:
        if answer in seen:
            raise InvalidQuestion(f"{rule}, got {brief(answer)} twice: list it once")
        seen.add(answer)
    return listed


def checked_column(column: str | None, what: str) -> str | None:
    """The name of a column, or ``None``."""
    if column is not None and (not isinstance(column, str) or not column):
        raise InvalidQuestion(f"{what} must be the name of a column, got {what}={brief(column)}")
    return column


def checked_where(where: str | None, column: str | None) -> str | None:
    """The canonical text of a condition on the records of a table, or ``None``."""
    if where is not None and column is None:
        raise InvalidQuestion(
            "where needs a question that names a column of a table, got one without: counts that "
            "you give are of the records that you chose"
        )
    return canonical(where)


def checked_person(person: str | None, rows_per_person: int, person_rule: str) -> dict[str, Any]:
    """The three fields that say whose record it is and which of them count.

    >>> checked_person("who", 2, "sample")
    {'person': 'who', 'rows_per_person': 2, 'person_rule': 'sample'}
    """
    column = checked_column(person, "person")
    limit = whole(rows_per_person, "rows_per_person", 1)
    rule = one_of(PersonRule, person_rule, "person_rule")
    if rule == PersonRule.ONE_VOTE and limit != 1:
        raise InvalidQuestion(
            "with person_rule='one vote' each person is one record, "
            f"got rows_per_person={limit}: leave it out, or use person_rule='sample'"
        )
    if rule == PersonRule.ONE_VOTE and column is None:
        raise InvalidQuestion(
            "person_rule='one vote' needs person=, the column that says whose record it is"
        )
    return {"person": column, "rows_per_person": limit, "person_rule": rule}


def checked_counts(counts: Mapping[str, SupportsIndex], names: Sequence[str]) -> dict[str, int]:
    """A whole number from 0 up for each of ``names``, in their order; missing ones are 0.

    >>> checked_counts({"green": 2}, ["red", "green"])
    {'red': 0, 'green': 2}
    """
    if not isinstance(counts, Mapping):
        raise InvalidQuestion(
            f"counts must map each of {_listed(names)} to a whole number, "
            f"got {type(counts).__name__}"
        )
    if type(counts) is dict and list(counts) == names:
        found: dict[str, Any] = dict(counts)
    elif counts.keys() <= set(names):
        found = {name: counts.get(name, 0) for name in names}
    else:
        raise InvalidQuestion(f"counts must be of {_listed(names)}, got another one: leave it out")
    if set(map(type, found.values())) == {int} and min(found.values()) >= 0:
        return found
    return {name: _whole_count(count, name) for name, count in found.items()}


def _whole_count(count: object, name: str) -> int:
    """A count that is not an int of Python; one that is refused is not shown."""
    try:
        return whole(count, "a count", 0)
    except InvalidQuestion:
        pass
    raise InvalidQuestion(
        f"the count of {brief(name)} must be a whole number of at least 0, got something else"
    )


def _listed(names: Sequence[str]) -> str:
    """The first few names, for a message."""
    shown = ", ".join(repr(name) for name in names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} more"

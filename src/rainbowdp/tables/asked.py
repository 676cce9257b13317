"""What a column is asked for: the groups of a question, or a test of its condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from rainbowdp.questions import Between, Equals, Group
from rainbowdp.questions.base import Counted
from rainbowdp.questions.conditions import Condition, Sort, columns
from rainbowdp.questions.ends import Kind
from rainbowdp.questions.functions import FIELDS, ROUNDED, undone
from rainbowdp.questions.groups import NoValue, OtherValue
from rainbowdp.questions.where import condition_of

_SORTS = {Kind.NUMBERS: Sort.NUMBERS, Kind.TIMES: Sort.TIMES, Kind.INSTANTS: Sort.INSTANTS}


class Asked(Protocol):
    """A column, perhaps a function of it, and groups of its values."""

    @property
    def column(self) -> str | None:
        """The column."""

    @property
    def apply(self) -> str | None:
        """The function of its values that is asked about, if not they themselves."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups."""


def condition(question: Counted) -> Condition | None:
    """The condition that a record must meet to be counted, if there is one."""
    return condition_of(question.where)


@dataclass(frozen=True)
class Several:
    """Questions whose columns are read together."""

    questions: tuple[Counted, ...]

    @property
    def column(self) -> str | None:
        """The first column that is asked about."""
        return self.questions[0].column


def wanted(question: Counted | Several) -> list[str]:
    """The columns that a question needs, each once; none without a column to count."""
    if isinstance(question, Several):
        return list(dict.fromkeys(name for each in question.questions for name in wanted(each)))
    filtered = condition(question)
    looked_at = () if filtered is None else columns(filtered)
    by, weight = question.by, question.weight
    beside = (None if by is None else by.column, None if weight is None else weight.column)
    named = (question.column, question.person, *beside, *looked_at)
    return list(dict.fromkeys(name for name in named if name is not None))


def cells(question: Counted) -> int:
    """How many numbers are counted: one for each group, in each part that is counted apart."""
    return len(question.groups) * (1 if question.by is None else len(question.by.groups))


@dataclass(frozen=True)
class Weighed:
    """The column of weights: any numbers."""

    column: str
    apply: None = None
    groups: tuple[Group, ...] = (("a weight", Between(0, None)),)


class Rest(NamedTuple):
    """The numbers of the groups of records that match nothing listed, if there are such groups."""

    other: int | None = None
    missing: int | None = None


def rest_of(question: Counted) -> Rest:
    """Where records are counted that have another value than the listed ones, or none."""
    numbers = {type(rule): number for number, (_, rule) in enumerate(question.groups)}
    return Rest(numbers.get(OtherValue), numbers.get(NoValue))


def rules(asked: Asked) -> tuple[Equals | Between, ...]:
    """The rules about values, which come before those about all others and none.

    They are about a number itself where it is asked for rounded.
    """
    listed = (rule for _, rule in asked.groups if isinstance(rule, Equals | Between))
    return tuple(undone(asked.apply, rule) for rule in listed)


def sort(asked: Asked) -> Sort:
    """What a column that declares nothing, as those of a text file, is read as.

    >>> from rainbowdp.questions import Quantile, Winner
    >>> print(sort(Winner(["1", "2"], "x")), sort(Quantile("1/2", [0, 1, 2], "x")))
    texts numbers
    """
    if asked.apply in FIELDS:
        return Sort.TIMES
    if asked.apply in ROUNDED:
        return Sort.NUMBERS
    found = rules(asked)
    if found and isinstance(found[0], Between):
        return _SORTS[found[0].kind]
    return Sort.TEXTS

"""The condition of a question: Boolean combinations of tests, each of one column.

A test looks at one value of one record. It is true, false, or, where the record has no such value,
unknown; ``not``, ``and`` and ``or`` follow three-valued logic, and only a record whose condition is
true is counted. So a condition is a function of one record, whatever the record holds.

Three kinds of tests are enough, since ``x > 5`` is the opposite of ``x <= 5``:

===========  =============================================
`OneOf`      the value is one of a list
`Below`      the value lies below an end, or at it
`Missing`    there is no value
===========  =============================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias, TypeVar

from rainbowdp.questions.ends import End
from rainbowdp.questions.groups import Between, Equals, ValueGroup

Made = TypeVar("Made")
Value: TypeAlias = str | bool | int | float  # what a column is compared with


class Sort(StrEnum):
    """What a test compares its column with."""

    TEXTS = "texts"
    TRUTHS = "truth values"
    NUMBERS = "numbers"
    TIMES = "dates or times"
    INSTANTS = "times with a time zone"
    NOTHING = "nothing"


@dataclass(frozen=True)
class _Test:
    """A test of one column, or of a function of it."""

    column: str
    apply: str | None

    @property
    def sort(self) -> Sort:
        """What the column is compared with."""
        return Sort.NOTHING

    @property
    def groups(self) -> tuple[ValueGroup, ...]:
        """The values for which the test is true, as rules like those of a question."""
        return ()


@dataclass(frozen=True)
class OneOf(_Test):
    """Whether the value is one of those listed, which are all texts, all numbers or all truths."""

    values: tuple[Value, ...]

    @property
    def sort(self) -> Sort:
        """What the column is compared with."""
        first = self.values[0]
        if isinstance(first, bool):
            return Sort.TRUTHS
        return Sort.TEXTS if isinstance(first, str) else Sort.NUMBERS

    @cached_property
    def groups(self) -> tuple[ValueGroup, ...]:
        """A rule for each value; a number is a range of its own, for texts that spell it, too."""
        return tuple((str(value), _rule(value)) for value in self.values)


@dataclass(frozen=True)
class Below(_Test):
    """Whether the value is below an end, or at it where that is ``included``."""

    end: End
    included: bool

    @property
    def sort(self) -> Sort:
        """What the column is compared with."""
        if not isinstance(self.end, datetime):
            return Sort.NUMBERS
        return Sort.TIMES if self.end.tzinfo is None else Sort.INSTANTS

    @cached_property
    def groups(self) -> tuple[ValueGroup, ...]:
        """One range, open below."""
        return (("", Between(None, self.end, closed=self.included)),)


@dataclass(frozen=True)
class Missing(_Test):
    """Whether there is no value: null, NaN, or nothing that the column's type allows."""


@dataclass(frozen=True)
class Not:
    """The opposite; unknown stays unknown."""

    part: Condition


@dataclass(frozen=True)
class All:
    """True where all parts are, false where one is."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Any:
    """True where one part is, false where all are."""

    parts: tuple[Condition, ...]


Test: TypeAlias = OneOf | Below | Missing
Condition: TypeAlias = Test | Not | All | Any


def tests(condition: Condition) -> Iterator[Test]:
    """All tests of a condition, from left to right."""
    if isinstance(condition, Not):
        yield from tests(condition.part)
    elif isinstance(condition, All | Any):
        for part in condition.parts:
            yield from tests(part)
    else:
        yield condition


def columns(condition: Condition) -> tuple[str, ...]:
    """The columns that a condition looks at, each once."""
    return tuple(dict.fromkeys(test.column for test in tests(condition)))


def folded(
    condition: Condition,
    test: Callable[[Test], Made],
    opposite: Callable[[Made], Made],
    both: Callable[[list[Made]], Made],
    either: Callable[[list[Made]], Made],
) -> Made:
    """What an engine makes of a condition, from what it makes of tests, not, and, and or."""
    if isinstance(condition, Not):
        return opposite(folded(condition.part, test, opposite, both, either))
    if isinstance(condition, All | Any):
        parts = [folded(part, test, opposite, both, either) for part in condition.parts]
        return both(parts) if isinstance(condition, All) else either(parts)
    return test(condition)


def _rule(value: Value) -> Equals | Between:
    if isinstance(value, bool):
        return Equals(str(value).lower())
    return Equals(value) if isinstance(value, str) else Between(value, value, closed=True)

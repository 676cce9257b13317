"""How the texts and numbers of a question meet the values that a column holds.

Only the type of the column decides, never what is in it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple, Protocol, TypeAlias

from rainbowdp.errors import InvalidQuestion, UnreadableTable
from rainbowdp.questions import Between, Equals, Question

_MOST_DIGITS = 40  # more than any whole number a column can hold


class Range(NamedTuple):
    """The numbers of one group: low ≤ value < high, or ≤ high where it is closed.

    Both ends are always there, so NaN lies in no range of an engine that takes it for unequal
    to everything, nor of one that puts it above infinity.
    """

    low: int | float
    high: int | float
    closed: bool
    group: int


Matches: TypeAlias = dict[Any, int] | list[Range]  # the group of each listed value, or the ranges


class Held(Protocol):
    """What a column holds."""

    @property
    def name(self) -> str:
        """What it holds, in a word."""

    def value(self, text: str) -> object:
        """The value that a text spells in such a column; ``None`` if there is none."""


@dataclass(frozen=True)
class _Text:
    name: str = "texts"

    def value(self, text: str) -> object:
        """The text itself."""
        return text


@dataclass(frozen=True)
class _Truths:
    name: str = "truth values"

    def value(self, text: str) -> object:
        """True or False, in capitals or not."""
        return {"true": True, "false": False}.get(text.lower())


@dataclass(frozen=True)
class _Dates:
    name: str = "dates"

    def value(self, text: str) -> object:
        """The day of 2024-12-31."""
        try:
            return date.fromisoformat(text)
        except ValueError:
            return None


TEXT = _Text()
TRUTHS = _Truths()
DATES = _Dates()


@dataclass(frozen=True)
class Whole:
    """Whole numbers from ``low`` to ``high``.

    >>> Whole(-128, 127).value("3.0"), Whole(-128, 127).value("3.5"), Whole(-128, 127).value("red")
    (3, None, None)
    >>> Whole(-128, 127).range(Between(0.5, 1000), 0)
    Range(low=1, high=127, closed=True, group=0)
    """

    low: int
    high: int
    name: str = "whole numbers"

    def value(self, text: str) -> object:
        """The whole number, if it is one and the column can hold it."""
        number = _decimal(text)
        if number is None or number.adjusted() > _MOST_DIGITS:
            return None
        if number != number.to_integral_value() or not self.low <= number <= self.high:
            return None
        return int(number)

    def range(self, rule: Between, group: int) -> Range | None:
        """The same whole numbers with both ends included and within the column's own."""
        low, high = self.low, self.high
        if rule.low is not None:
            low = max(low, math.ceil(rule.low))
        if rule.high is not None:
            high = min(high, math.floor(rule.high) if rule.closed else math.ceil(rule.high) - 1)
        return Range(low, high, True, group) if low <= high else None


@dataclass(frozen=True)
class Real:
    """Floats of 64 or 32 bits; a number stands for the nearest one that the column can hold.

    >>> Real(32).value("0.1"), Real(64).value("0.1"), Real(64).value("nan")
    (0.10000000149011612, 0.1, None)
    """

    bits: int
    name: str = "numbers"

    def value(self, text: str) -> object:
        """The nearest float, if it is finite."""
        number = _decimal(text)
        nearest = math.inf if number is None else self._nearest(float(number))
        return nearest if math.isfinite(nearest) else None

    def range(self, rule: Between, group: int) -> Range | None:
        """The range between the nearest floats; an open end takes in infinity."""
        low = -math.inf if rule.low is None else self._nearest(_float(rule.low))
        if rule.high is None:
            return Range(low, math.inf, True, group)
        return Range(low, self._nearest(_float(rule.high)), rule.closed, group)

    def _nearest(self, number: float) -> float:
        if self.bits == 64:
            return number
        try:
            nearest: float = struct.unpack("f", struct.pack("f", number))[0]
        except OverflowError:
            return math.copysign(math.inf, number)
        return nearest


def check_columns(question: Question, names: Sequence[str], *, public: bool = True) -> None:
    """Raise unless a table has the question's columns, once each; others may have any names.

    Names that are not ``public`` are not shown: a file without a header begins with a record.
    """
    if question.column is None:
        raise UnreadableTable(
            "counting a table needs a question that names a column, got one without"
            + (f"; the columns are {_shown(names)}" if public else "")
        )
    for name in (question.column, question.person):
        if name is None or names.count(name) == 1:
            continue
        if name in names:
            raise UnreadableTable(f"there is more than one column {name!r}: rename one of them")
        there = (
            f"the columns are {_shown(names)}"
            if public
            else "look at the first line of the file, its delimiter and its encoding"
        )
        raise UnreadableTable(f"there is no column {name!r}, {there}")


def not_countable(question: Question, type_: object) -> UnreadableTable:
    """The error for a column of another type."""
    return UnreadableTable(
        "a column to count must hold texts, numbers, truth values or dates, "
        f"got {question.column!r} of {type_}: make it text first"
    )


def numbered(question: Question, rows: Iterable[Sequence[Any]]) -> dict[str, int]:
    """Counts by name from rows of a group's number and its count."""
    counts = {name: 0 for name, _ in question.groups}
    names = list(counts)
    for number, records in rows:
        if number is not None and number == number:  # pandas says NaN for none
            counts[names[int(number)]] = int(records)
    return counts


def integers(bits: int, signed: bool = True) -> Whole:
    """Whole numbers of so many bits."""
    return Whole(-(1 << bits - 1), (1 << bits - 1) - 1) if signed else Whole(0, (1 << bits) - 1)


def matches(question: Question, held: Held) -> Matches:
    """The group of each listed value, or the groups' ranges from low to high."""
    values: dict[Any, int] = {}
    ranges: list[Range] = []
    for group, (name, rule) in enumerate(question.groups):
        if isinstance(rule, Equals):
            value = held.value(rule.value)
            if value in values:
                other = question.groups[values[value]][0]
                raise InvalidQuestion(
                    f"answers must be different values, got {other!r} and {name!r}, which are the "
                    f"same in column {question.column!r}: list one of them"
                )
            if value is not None:
                values[value] = group
        elif not isinstance(held, Whole | Real):
            raise UnreadableTable(
                f"a range needs a column of numbers, got {question.column!r} of {held.name}"
            )
        elif (found := held.range(rule, group)) is not None:
            ranges.append(found)
    return values or sorted(ranges)


def _decimal(text: str) -> Decimal | None:
    """The finite number that a text spells."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:  # a whole number beyond every float
        return math.copysign(math.inf, number)


def _shown(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"

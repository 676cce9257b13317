"""How the texts, numbers and times of a question meet the values that a column holds.

The declared type of the column decides, never what is in it, so that no record changes how another
is read. The rules, the same in every engine:

=====================  =============================================================================
texts                  exactly the same letters: case and spaces matter, and "3" is not "3.0"
truth values           "true" and "false", in capitals or not
whole numbers          any spelling of the number: "1", "1.0" and "1e0" are one; compared exactly
decimals               the same, exactly; an end of 0.1 is one tenth
floats                 the nearest float of the column's width: "0.1" is the float written 0.1
dates                  "2024-12-31"; a date is its midnight
times without a zone   "2024-12-31 23:59:59.5"; "2024-12-31" is midnight
times with a zone      instants: "2024-12-31 23:59Z" or "2024-12-31T23:59+02:00"
=====================  =============================================================================

A column of Python objects (pandas' ``object``) declares nothing, and each value is compared by its
own type. The columns of text files are texts; for a range, a text that spells a number or a time is
that. Nulls and NaN are never counted. Infinity lies in a range that is open on its side.

A range of numbers needs a column of numbers; a range of times one of dates or times, with a time
zone where the ends have one. ``matches`` refuses what no value of a column can be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from rainbowdp.errors import InvalidQuestion, UnreadableTable
from rainbowdp.expecting import brief
from rainbowdp.questions import Between, Equals
from rainbowdp.questions.base import Counted
from rainbowdp.questions.ends import Kind
from rainbowdp.questions.functions import FUNCTIONS
from rainbowdp.tables.asked import Asked, Several, cells, rules, wanted
from rainbowdp.tables.held import DATES, TEXT, Held, Range, Whole

_SHOWN = 6  # answers in a message

Matches: TypeAlias = dict[Any, int] | list[Range]  # the group of each listed value, or the ranges


def check_columns(
    question: Counted | Several, names: Sequence[str], *, public: bool = True
) -> None:
    """Raise unless a table has the question's columns, once each; others may have any names.

    Names that are not ``public`` are not shown: a file without a header begins with a record.
    """
    if question.column is None:
        raise UnreadableTable(
            "counting a table needs a question that names a column, got one without"
            + (f"; the columns are {_shown(names)}" if public else "")
        )
    for name in wanted(question):
        if names.count(name) == 1:
            continue
        if name in names:
            raise UnreadableTable(
                f"there is more than one column {brief(name)}: rename one of them"
            )
        there = (
            f"the columns are {_shown(names)}"
            if public
            else "look at the spelling, capital letters too, and at the file's first line, "
            "delimiter and encoding"
        )
        raise UnreadableTable(f"there is no column {brief(name)}, {there}{_called(name)}")


def not_countable(asked: Asked, type_: object) -> UnreadableTable:
    """The error for a column of another type."""
    return UnreadableTable(
        "a column to count must hold texts, numbers, truth values, dates or times, "
        f"got {asked.column!r} of {type_}: make it text first"
    )


def numbered(question: Counted, rows: Iterable[Sequence[Any]], factor: int = 1) -> list[int]:
    """The count of each cell from rows of a cell's number, times a factor, and its count."""
    counts = [0] * cells(question)
    for number, records in rows:
        if number is not None and number == number:  # pandas says NaN for none
            counts[int(number) // factor] = int(records)
    return counts


def counts_by_name(question: Counted, counts: Sequence[int]) -> dict[str, int]:
    """The counts by the names of their groups."""
    return {name: n for (name, _), n in zip(question.groups, counts, strict=True)}


def matches(question: Asked, held: Held, type_: object) -> Matches:
    """The group of each listed value, or the groups' ranges from low to high; none for keys.

    Raise where the type of the column, ``type_`` in the engine's own word, can hold none of them.
    """
    if not rules(question):
        _check_named(question, held, type_)
        return {}
    _check_measured(question, held)
    found = match_each(question, held)
    if isinstance(found, dict) and len(found) < len(can_match(question, held)):
        _same_value(question, held)
    if not found:
        listed = [
            repr(rule.value) if isinstance(rule, Equals) else str(rule) for rule in rules(question)
        ]
        some = ", ".join(listed[:_SHOWN]) + (", …" if len(listed) > _SHOWN else "")
        raise UnreadableTable(
            f"column {brief(question.column)} holds {held.name} ({type_}), so no record can match "
            f"{some}: ask for values such as {brief(held.example)}"
        )
    return found


def can_match(question: Asked, held: Held) -> tuple[str, ...]:
    """The names of the groups that a column of such values can have records of, by its type.

    >>> from rainbowdp.questions import Winner
    >>> from rainbowdp.tables.held import integers
    >>> can_match(Winner(["3", "4.0", "red"], "x"), integers(8))
    ('3', '4.0')
    """
    names = [name for name, _ in question.groups]
    return tuple(names[i] for i, rule in enumerate(rules(question)) if _possible(held, rule, i))


def spelled(value: Any) -> str:
    """A value as SQL engines read it, to be cast to its type.

    >>> spelled(math.inf), spelled(Decimal("1E-2"))
    ('infinity', '0.01')
    """
    if isinstance(value, float) and math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def match_each(asked: Asked, held: Held) -> Matches:
    """The group of each value that the column can hold, the first listed one where two are one."""
    values: dict[Any, int] = {}
    ranges: list[Range] = []
    for group, rule in enumerate(rules(asked)):
        if isinstance(rule, Equals):
            if (value := held.value(rule.value)) is not None:
                values.setdefault(value, group)
        elif held.measured == rule.kind and (found := held.range(rule, group)) is not None:
            ranges.append(found)
    return values or sorted(ranges, key=lambda found: (found.low != -math.inf, found.low))


def _possible(held: Held, rule: Equals | Between, group: int) -> bool:
    if isinstance(rule, Equals):
        return held.value(rule.value) is not None
    return held.measured == rule.kind and held.range(rule, group) is not None


def _check_measured(question: Asked, held: Held) -> None:
    """Raise where a range is asked for that a column of such values does not have."""
    rule = rules(question)[0]
    if not isinstance(rule, Between) or held.measured == rule.kind:
        return
    got = f"column {question.column!r} of {held.name}"
    if rule.kind == Kind.NUMBERS:
        raise UnreadableTable(f"a range of numbers needs a column of numbers, got {got}")
    if held.measured == Kind.INSTANTS:
        raise UnreadableTable(
            f"a range needs ends with a time zone for {got}: write 2024-12-31T00:00Z"
        )
    if held.measured == Kind.TIMES:
        raise UnreadableTable(
            f"a range needs ends without a time zone for {got}: write 2024-12-31T00:00"
        )
    raise UnreadableTable(f"a range of times needs a column of dates or times, got {got}")


def _check_named(question: Asked, held: Held, type_: object) -> None:
    """Raise unless the values of a column can be named, each by one text."""
    if held is not TEXT and held is not DATES and not isinstance(held, Whole):
        raise UnreadableTable(
            "keys must be texts, whole numbers or dates, "
            f"got column {brief(question.column)} of {held.name} ({type_}): make it text first"
        )


def _same_value(question: Asked, held: Held) -> None:
    """Raise for two answers that are one value in the column."""
    seen: dict[object, str] = {}
    for name, rule in question.groups:
        value = held.value(rule.value) if isinstance(rule, Equals) else None
        if value is not None and value in seen:
            raise InvalidQuestion(
                f"answers must be different values, got {brief(seen[value])} and {brief(name)}, "
                "which are "
                f"the same in column {brief(question.column)}: list one of them"
            )
        seen[value] = name


def _called(name: str) -> str:
    """A hint for whoever writes a function of a column where its name belongs."""
    function, parenthesis, rest = name.partition("(")
    if not parenthesis or function.strip().lower() not in FUNCTIONS:
        return ""
    column = rest.removesuffix(")").strip()
    return (
        f"; to ask about a function of a column name the column {column!r} and apply "
        f"{function.strip().lower()!r} to it"
    )


def _shown(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"

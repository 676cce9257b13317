"""The condition of a question as SQL, and how its tests meet what a column holds.

The declared type of a column decides what it may be compared with. In SQL a condition is written as
what is true exactly where it is true, or exactly where it is false; elsewhere that is false or
null. So only tests are ever negated, which engines can use to skip what they need not read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from rainbowdp.errors import UnreadableTable
from rainbowdp.expecting import brief
from rainbowdp.questions.conditions import (
    Below,
    Condition,
    Missing,
    OneOf,
    Sort,
    Test,
    folded,
    tests,
)
from rainbowdp.questions.ends import Kind
from rainbowdp.tables.asked import Asked
from rainbowdp.tables.fields import applied
from rainbowdp.tables.held import TEXT, TRUTHS, Held, Range
from rainbowdp.tables.query import Compared, Write
from rainbowdp.tables.values import Matches, match_each, matches

Told: TypeAlias = Callable[[bool], str]  # what is true exactly where a condition has a truth

_MEASURED = {
    Sort.NUMBERS: Kind.NUMBERS,
    Sort.TIMES: Kind.TIMES,
    Sort.INSTANTS: Kind.INSTANTS,
}


def looked_for(asked: Asked, held: Held, type_: object) -> Matches:
    """What is looked for in a column that holds such values before a function."""
    if isinstance(asked, OneOf | Below | Missing):
        return tested(asked, held, type_)
    return matches(asked, applied(asked, held, type_), type_)


def tested(test: Test, held: Held, type_: object) -> Matches:
    """The values for which a test is true in a column that holds such values before a function.

    Raise where the type of the column, ``type_`` in the engine's own word, forbids to compare.
    """
    held = applied(test, held, type_)
    if isinstance(test, Missing):
        return []
    if not _comparable(test, held):
        example = held.example if held.measured == Kind.NUMBERS or held is TRUTHS else None
        raise UnreadableTable(
            f"where compares column {brief(test.column)}, which holds {held.name} ({type_}), with "
            f"{test.sort}: compare it with values such as {example or repr(held.example)}"
        )
    return match_each(test, held)


def _comparable(test: Test, held: Held) -> bool:
    if test.sort == Sort.TRUTHS:
        return held is TRUTHS
    if test.sort != Sort.TEXTS:
        return held.measured == _MEASURED[test.sort]
    if held is TEXT:
        return True
    listed = [value for value in getattr(test, "values", ()) if isinstance(value, str)]
    times = held.measured in (Kind.TIMES, Kind.INSTANTS)
    return times and all(held.value(text) is not None for text in listed)


def in_sql(
    condition: Condition | None, read: Callable[[Test], Compared]
) -> Callable[[Write], str] | None:
    """The function that writes a condition, given how values are written; ``None`` for none."""
    if condition is None:
        return None
    compared = {test: read(test) for test in tests(condition)}  # or raise, before anything is read

    def written(write: Write) -> str:
        def tell(test: Test) -> Told:
            return partial(_test, test, compared[test], write)

        return folded(condition, tell, _opposite, partial(_joined, True), partial(_joined, False))(
            True
        )

    return written


def _opposite(part: Told) -> Told:
    return lambda truth: part(not truth)


def _joined(all_of_them: bool, parts: list[Told]) -> Told:
    """That all parts are true, or one of them; the opposite is that of one, or of all."""
    return lambda truth: (
        f"({(' AND ' if truth == all_of_them else ' OR ').join(part(truth) for part in parts)})"
    )


def _test(test: Test, compared: Compared, write: Write, truth: bool) -> str:
    """What is true exactly where a test has a truth."""
    value, found = compared.value, compared.found
    known = f"{value} IS NOT NULL" if compared.number is None else compared.number
    if isinstance(test, Missing):
        unknown = f"{value} IS NULL"
        if compared.number is not None:
            unknown = f"({unknown} OR NOT {compared.number})"
        return unknown if truth else known
    literal = partial(write, compared.cast)
    alone = list(found) if isinstance(found, dict) else [r.low for r in found if _is_one(r)]
    ranges = [] if isinstance(found, dict) else [r for r in found if not _is_one(r)]
    pieces = [_range(value, each, literal) for each in ranges]
    if alone:
        pieces.append(f"{value} IN ({', '.join(map(literal, alone))})")
    if not pieces:
        return known if not truth else "1 = 0"
    hit = f"({' OR '.join(pieces)})"
    hit = hit if truth else f"NOT {hit}"
    return hit if compared.number is None else f"({hit} AND {compared.number})"


def _is_one(found: Range) -> bool:
    return bool(found.closed and found.low == found.high)


def _range(value: str, found: Range, literal: Callable[[Any], str]) -> str:
    sides = []
    if found.low != -math.inf:
        sides.append(f"{value} >= {literal(found.low)}")
    if found.high != math.inf or not found.closed:
        sides.append(f"{value} {'<=' if found.closed else '<'} {literal(found.high)}")
    return f"({' AND '.join(sides or [f'{value} IS NOT NULL'])})"

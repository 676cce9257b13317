"""The condition of a question as SQL, and how its tests meet what a column holds.

The declared type of a column decides what it may be compared with. In SQL a test is null where a
record has no value, and the engine's own ``AND``, ``OR`` and ``NOT`` do the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rainbowdp.errors import UnreadableTable
from rainbowdp.questions.conditions import Condition, Missing, Sort, Test, folded, tests
from rainbowdp.questions.ends import Kind
from rainbowdp.tables.fields import applied
from rainbowdp.tables.held import TEXT, TRUTHS, Held, Range
from rainbowdp.tables.query import Write
from rainbowdp.tables.values import Matches, match_each

_MEASURED = {
    Sort.NUMBERS: Kind.NUMBERS,
    Sort.TIMES: Kind.TIMES,
    Sort.INSTANTS: Kind.INSTANTS,
}


@dataclass(frozen=True)
class Compared:
    """A column that a test looks at: its value in SQL, null if a record has none.

    ``cast`` is the type of values to compare with, and ``found`` those for which the test is true.
    """

    value: str
    cast: str | None
    found: Matches


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
            f"where compares column {test.column!r}, which holds {held.name} ({type_}), with "
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
        return folded(
            condition,
            lambda test: _test(test, compared[test], write),
            lambda part: f"(NOT {part})",
            lambda parts: f"({' AND '.join(parts)})",
            lambda parts: f"({' OR '.join(parts)})",
        )

    return written


def _test(test: Test, compared: Compared, write: Write) -> str:
    value, literal = compared.value, partial(write, compared.cast)
    if isinstance(test, Missing):
        return f"({value} IS NULL)"
    found = compared.found
    alone = list(found) if isinstance(found, dict) else [r.low for r in found if _is_one(r)]
    ranges = [] if isinstance(found, dict) else [r for r in found if not _is_one(r)]
    pieces = [_range(value, each, literal) for each in ranges]
    if alone:
        pieces.append(f"{value} IN ({', '.join(map(literal, alone))})")
    return f"({' OR '.join(pieces or [_always(value, '1 = 0')])})"


def _is_one(found: Range) -> bool:
    return bool(found.closed and found.low == found.high)


def _range(value: str, found: Range, literal: Callable[[Any], str]) -> str:
    sides = []
    if found.low != -math.inf:
        sides.append(f"{value} >= {literal(found.low)}")
    if found.high != math.inf or not found.closed:
        sides.append(f"{value} {'<=' if found.closed else '<'} {literal(found.high)}")
    return f"({' AND '.join(sides)})" if sides else _always(value, "1 = 1")


def _always(value: str, truth: str) -> str:
    """A truth for every record that has a value."""
    return f"CASE WHEN {value} IS NOT NULL THEN {truth} END"

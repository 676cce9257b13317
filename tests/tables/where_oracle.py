"""Conditions as plain trees: their text, and what they say of a record, sharing no code with us.

A tree is ("not", tree), ("and", [trees]), ("or", [trees]), or a test: (word, column, function,
values), where word is one of = <> < <= > >= in, not in, between, is null and is not null.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

Tree: TypeAlias = tuple[Any, ...]
Record: TypeAlias = dict[str, Any]


def text(tree: Tree) -> str:
    word = tree[0]
    if word == "not":
        return f"NOT ({text(tree[1])})"
    if word in ("and", "or"):
        return f" {word} ".join(f"({text(part)})" for part in tree[1])
    _, column, function, values = tree
    term = f'"{column}"' if function is None else f'{function}("{column}")'
    written = [_literal(value) for value in values]
    if word in ("in", "not in"):
        return f"{term} {word} ({', '.join(written)})"
    if word == "between":
        return f"{term} between {written[0]} and {written[1]}"
    return " ".join([term, word, *written])


def holds(tree: Tree, record: Record) -> bool | None:
    """True, false, or None for unknown."""
    word = tree[0]
    if word == "not":
        found = holds(tree[1], record)
        return None if found is None else not found
    if word in ("and", "or"):
        parts = [holds(part, record) for part in tree[1]]
        decisive: bool = word == "or"
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    _, column, function, values = tree
    value = _value(record.get(column), function)
    if word == "is null":
        return value is None
    if word == "is not null":
        return value is not None
    if value is None:
        return None
    ends = [_meant(end, value, record.get(column), function) for end in values]
    first = ends[0]
    if word in ("=", "in"):
        return value in ends
    if word in ("<>", "not in"):
        return value not in ends
    if word == "between":
        return bool(first <= value <= ends[1])
    return bool(
        {"<": value < first, "<=": value <= first, ">": value > first, ">=": value >= first}[word]
    )


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)


def _value(value: Any, function: str | None) -> Any:
    if value is None or (isinstance(value, float | Decimal) and value != value):
        return None
    if function is None:
        return value
    if function == "lower":
        return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in value)
    if function in ("floor", "round"):
        if isinstance(value, float) and math.isinf(value):
            return value
        return math.floor(Fraction(value) + (Fraction(1, 2) if function == "round" else 0))
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC)
    return getattr(value, function, 0)  # a date has no hour


def _meant(end: Any, value: Any, raw: Any, function: str | None) -> Any:
    """The literal as what the column holds: a date, a time, or the nearest float."""
    if isinstance(value, bool | str) or function in ("year", "month", "day", "hour"):
        return end
    if isinstance(value, datetime):
        return datetime.fromisoformat(end)
    if isinstance(value, date):
        return date.fromisoformat(end)
    if isinstance(raw, float) and function is None:
        return float(end)
    return Fraction(str(end))

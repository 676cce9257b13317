"""The ends of ranges: numbers, dates and times.

A date is its midnight. A time with a zone is an instant, kept in UTC; one without a zone is what a
clock on the wall shows. The two never compare, and neither compares with numbers.

Texts follow ISO 8601: ``2024-12-31``, ``2024-12-31T23:59``, ``2024-12-31 23:59:59.123456``, and
with a zone ``2024-12-31T23:59Z`` or ``2024-12-31T23:59+02:00``.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief
from rainbowdp.numeric.quantity import Number, exact

End: TypeAlias = int | float | datetime
GivenEnd: TypeAlias = Number | date | np.datetime64

# In the part of the syntax that Python and DuckDB share, so that both read the same texts.
_DAY = r"(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?"
_ZONE = r"(?:Z|[+-](?:0[0-9]|1[0-5])(?::?[0-5][0-9])?)"
WITHOUT_ZONE = f"{_DAY}(?:{_CLOCK})?"
WITH_ZONE = f"{_DAY}{_CLOCK}{_ZONE}"
_EITHER = re.compile(f"{WITHOUT_ZONE}|{WITH_ZONE}")
_FINER = re.compile(r"(\.[0-9]{6})0+")  # zeros past the microseconds
_TOO_FINE = re.compile(r"\.[0-9]{7}")

_LIKE_A_DAY = re.compile(r"\s*[0-9]{1,4}[-./][0-9]{1,2}[-./]")
_MOST_SHOWN = 40
_LARGEST = 10**400  # beyond every float and every column
_EXACT_IN_A_FLOAT = 1 << 53


class Kind(StrEnum):
    """What the ends of a range are."""

    NUMBERS = "numbers"
    TIMES = "dates or times"
    INSTANTS = "times with a time zone"


def moment(text: str) -> datetime | None:
    """The time that a text spells, to the microsecond; ``None`` if it spells none.

    >>> moment("2024-12-31"), moment("31.12.2024")
    (datetime.datetime(2024, 12, 31, 0, 0), None)
    """
    if _EITHER.fullmatch(text) is None:
        return None
    text = _FINER.sub(r"\1", text)
    if _TOO_FINE.search(text) is not None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return found if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):  # no such day, or beyond the years 1 to 9999
        return None


def end(value: GivenEnd, what: str) -> End:
    """An end of a range: a whole number as itself, any other as the nearest float, or a time.

    >>> end("0.5", "a bin edge"), end(10.0, "a bin edge"), end("2024-12-31", "a bin edge")
    (0.5, 10, datetime.datetime(2024, 12, 31, 0, 0))
    """
    if isinstance(value, date):  # a datetime is one too
        time = moment(value.isoformat())
    elif isinstance(value, np.datetime64):
        time = moment(str(value))
    else:
        time = moment(value.strip()) if isinstance(value, str) else None
        if time is None:
            return _number(value, what)
    if time is None:
        raise InvalidQuestion(
            f"{what} must be a time of the years 1 to 9999 in whole microseconds, "
            f"got {brief(value)}"
        )
    return time


def kind_of(*ends: End | None) -> Kind:
    """What the ends are; they must be of one kind.

    >>> str(kind_of(None, 3, 7.5))
    'numbers'
    """
    kinds = {_kind(end): end for end in ends if end is not None}
    if len(kinds) > 1:
        one, other = list(kinds.values())[:2]
        raise InvalidQuestion(
            f"the ends of ranges must be all numbers, all dates or times, or all times with a "
            f"time zone, got {shown(one)} and {shown(other)}"
        )
    return next(iter(kinds), Kind.NUMBERS)


def less(one: End, other: End) -> bool:
    """Whether an end comes before another of its kind."""
    return bool(one < other)  # type: ignore[operator]  # two of one kind


def shown(end: End) -> str:
    """An end as people read it, and as ``end`` reads it again.

    >>> shown(7), shown(datetime(2024, 12, 31)), shown(datetime(2024, 12, 31, 6, tzinfo=UTC))
    ('7', '2024-12-31', '2024-12-31 06:00Z')
    """
    if not isinstance(end, datetime):
        return str(end)
    clock = end.replace(tzinfo=None)
    if end.tzinfo is None and clock == datetime.combine(clock, datetime.min.time()):
        return clock.date().isoformat()
    finest = "auto" if clock.second or clock.microsecond else "minutes"
    return clock.isoformat(" ", finest) + ("" if end.tzinfo is None else "Z")


def described(end: End | None) -> int | str | None:
    """An end ready for JSON: a number that not every reader of JSON has exactly is text.

    >>> described(7), described(0.5), described(1e300) == str(int(1e300))
    (7, '0.5', True)
    """
    if end is None or (type(end) is int and abs(end) < _EXACT_IN_A_FLOAT):
        return end
    if isinstance(end, float) and end.is_integer():
        return str(int(end))
    return shown(end)


def _kind(end: End) -> Kind:
    if not isinstance(end, datetime):
        return Kind.NUMBERS
    return Kind.TIMES if end.tzinfo is None else Kind.INSTANTS


def _number(value: object, what: str) -> int | float:
    try:
        fraction: Fraction = exact(value, what, InvalidQuestion)
    except InvalidQuestion:
        if isinstance(value, str) and _LIKE_A_DAY.match(value) is not None:
            raise InvalidQuestion(
                f"{what} must be a date or time such as 2024-12-31 or 2024-12-31T23:59Z, "
                f"got {brief(value[:_MOST_SHOWN])}"
            ) from None
        raise
    if abs(fraction) >= _LARGEST:
        raise InvalidQuestion(f"{what} must be a number below 10^400, got a larger one")
    if fraction.denominator == 1 and (
        abs(fraction.numerator) <= _EXACT_IN_A_FLOAT or not isinstance(value, float)
    ):
        return fraction.numerator
    try:
        return float(fraction)
    except OverflowError:
        raise InvalidQuestion(f"{what} must fit a 64-bit float, got {brief(value)}") from None

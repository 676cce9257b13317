"""Read a column of Python objects, such as pandas' ``object``, value by value.

Such a column declares no type, so each value is compared by its own. Nothing that a value is or
does may change how another is read: it is neither hashed nor compared before its type is known,
and whatever it raises makes it a value that is not counted.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.questions.conditions import Below, OneOf, Sort
from rainbowdp.questions.ends import Kind
from rainbowdp.questions.functions import FIELDS, LETTERS, ROUNDED, lowered
from rainbowdp.questions.weights import Weight
from rainbowdp.tables.asked import Asked
from rainbowdp.tables.fields import HELD, field
from rainbowdp.tables.held import DECIMALS, TEXT, TICKS, TRUTHS, Held, Real, Ticks, Whole
from rainbowdp.tables.values import Matches, match_each

NONE = -1  # the number of no group
UNKNOWN = -2  # of what is no value
_ANY = Whole(-math.inf, math.inf)
_HELD: dict[str, Held] = {
    "text": TEXT,
    "truth": TRUTHS,
    "whole": _ANY,
    "real": Real(64),
    "single": Real(32),
    "decimal": DECIMALS,
    "time": Ticks(Kind.TIMES, TICKS["ns"], _ANY),
    "instant": Ticks(Kind.INSTANTS, TICKS["ns"], _ANY),
}
_NUMBERS = ("whole", "real", "single", "decimal")
_TIMES = ("time", "instant")
_SORTED = {  # what a test compares
    Sort.TEXTS: ("text", *_TIMES),
    Sort.TRUTHS: ("truth",),
    Sort.NUMBERS: _NUMBERS,
    Sort.TIMES: ("time",),
    Sort.INSTANTS: ("instant",),
}
_EPOCH = date(1970, 1, 1).toordinal()
_MICROSECOND = timedelta(microseconds=1)
_UNITS = {
    "D": 86_400 * 10**9,
    "h": 3600 * 10**9,
    "m": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 1000,
    "ns": 1,
}

Read: TypeAlias = Callable[[Any], tuple[str, Any]]  # what the value is, and itself in plain Python


def numbers_of(values: Iterable[object], asked: Asked) -> NDArray[np.int64]:
    """The number of the group of each value; ``NONE`` or ``UNKNOWN`` without one."""
    return np.fromiter(map(numbering(asked), values), dtype=np.int64)


def numbering(asked: Asked) -> Callable[[object], int]:
    """The function from a value to the number of its group, -1 for none; it never raises.

    What is no value, or not of a type that the function or the test is about, is -2.

    >>> from rainbowdp.questions import Winner
    >>> number = numbering(Winner(["1", "true", "2024-12-31"]))
    >>> [number(value) for value in ("1", 1.0, True, date(2024, 12, 31), "one", None, [])]
    [0, 0, 1, 2, -1, -2, -2]
    """
    places = {name: _placing(asked, name) for name in _kinds(asked)}

    def number(value: object) -> int:
        try:
            read = _reader(type(value))
            if read is None:
                return UNKNOWN
            name, plain = read(value)
            return places[name](plain) if name in places and plain == plain else UNKNOWN
        except Exception:  # whatever it is, it is one value that is not counted
            return UNKNOWN

    return number


def weights_of(values: Iterable[object], weight: Weight) -> NDArray[np.int64]:
    """The units of each value, ``UNKNOWN`` of what is no number; no value raises."""

    def units(value: object) -> int:
        try:
            read = _reader(type(value))
            if read is None:
                return UNKNOWN
            name, plain = read(value)
            found = weight.units_of(plain) if name in _NUMBERS else None
            return UNKNOWN if found is None else found
        except Exception:  # whatever it is, it is one value that is not counted
            return UNKNOWN

    return np.fromiter(map(units, values), dtype=np.int64)


def _reader(kind: type) -> Read | None:
    """How a value of a type is read, or one of what it is derived from."""
    if kind in _READ:
        return _READ[kind]
    return next((_READ[base] for base in kind.__mro__ if base in _READ), None)


def _kinds(asked: Asked) -> Iterable[str]:
    """The kinds of values that are asked about."""
    if asked.apply in FIELDS:
        return _TIMES
    if asked.apply in LETTERS:
        return ("text",)
    if asked.apply in ROUNDED:
        return _NUMBERS
    if isinstance(asked, OneOf | Below):
        return _SORTED[asked.sort]
    return _HELD


def _placing(asked: Asked, name: str) -> Callable[[Any], int]:
    """The function from a plain value of a kind to the number of its group."""
    held = _HELD[name]
    if asked.apply in LETTERS:
        place = placing(match_each(asked, held))
        return lambda text: place(lowered(text))
    if asked.apply in FIELDS and isinstance(held, Ticks):
        return _field_placing(asked, held)
    return placing(match_each(asked, held))


def _field_placing(asked: Asked, held: Ticks) -> Callable[[Any], int]:
    function = str(asked.apply)
    place = placing(match_each(asked, HELD[function]))

    def number(ticks: int) -> int:
        found = field(function, ticks, held)
        return UNKNOWN if found is None else place(found)

    return number


def placing(found: Matches) -> Callable[[Any], int]:
    """The function from a plain value to the number of its group, ``NONE`` if it has none."""
    if isinstance(found, dict):
        return lambda value: found.get(value, NONE)
    lows = [ends.low for ends in found]

    def place(value: Any) -> int:
        last = bisect_right(lows, value) - 1
        if last < 0:
            return NONE
        low, high, closed, group = found[last]
        return group if low <= value and (value < high or (closed and value == high)) else NONE

    return place


def _decimal(value: Decimal) -> tuple[str, Any]:
    if not value.is_finite():
        return "real", math.nan if value.is_nan() else float(value)
    return "decimal", value


def _time(value: datetime) -> tuple[str, Any]:
    """Nanoseconds since 1970, which a pandas timestamp may have."""
    clock = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second)
    clock += timedelta(days=value.toordinal() - _EPOCH, microseconds=value.microsecond)
    away = value.utcoffset()
    if away is not None:
        clock -= away
    ticks = clock // _MICROSECOND * 1000 + getattr(value, "nanosecond", 0)
    return ("time" if away is None else "instant"), ticks


def _day(value: date) -> tuple[str, Any]:
    return "time", (value.toordinal() - _EPOCH) * _UNITS["D"]


def _numpy_time(value: np.datetime64) -> tuple[str, Any]:
    if np.isnat(value):
        return "real", math.nan
    unit, count = np.datetime_data(value.dtype)
    return "time", int(value.astype(np.int64)) * count * _UNITS[unit]


_READ: dict[type, Read] = {
    str: lambda value: ("text", str.__str__(value)),
    bool: lambda value: ("truth", value),
    int: lambda value: ("whole", int.__int__(value)),
    float: lambda value: ("real", float.__float__(value)),
    Decimal: _decimal,
    datetime: _time,
    date: _day,
    np.bool_: lambda value: ("truth", bool(value)),
    np.integer: lambda value: ("whole", int(value)),
    np.float32: lambda value: ("single", float(value)),
    np.floating: lambda value: ("real", float(value)),
    np.datetime64: _numpy_time,
}

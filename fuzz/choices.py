"""Choices read from bytes: the same bytes, the same call, whoever made them.

Hypothesis, atheris and a plain generator all give bytes; what is done with them is decided here
and in ``calls`` alone, so that a finding of one is reproduced by the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

Some = TypeVar("Some")


ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, -1, 3, 10**6, 10**400, -(10**400), 2**63, 2**64, 10**5000),
    *(0.0, -0.0, 0.5, 1.0, 1.5, -1.0, 1e-320, 1e308, math.nan, math.inf, -math.inf),
    *(
        "",
        " ",
        "a",
        "b",
        "red",
        "yes",
        "0",
        "1",
        "1/2",
        "1/0",
        "-1",
        "nan",
        "inf",
        "1e999",
        "1e-999",
    ),
    *("1" * 5000, "9" * 400, "1/" + "9" * 300, "\x00", "\ud800", "é", "😀", "'\";--", "x" * 70_000),
    *(
        "substituted",
        "added or removed",
        "any leader",
        "first listed",
        "select 1",
        "x = 1",
        "(((((",
    ),
    *(b"", b"\xff\x00", Fraction(1, 3), Fraction(-1, 3), Decimal("0.1"), Decimal("NaN"), 1j),
    *(date(2024, 2, 29), datetime(1, 1, 1), datetime(9999, 12, 31, tzinfo=UTC)),
    *([], [None], [[]], (), {}, {"a": 1}, {"a": None}, {None: 1}, {"a": -1, "b": 10**30}),
    *(["a"], ["a", "a"], ["a", "b"], ["a", "b", None], [0, 1], [1, 0], [math.nan], {"a", "b"}),
    *([(0, 1)], [(0, 0)], [(0, 1, 2)], {"a": ("yes", "no")}, [("yes", "no")], range(3), range(0)),
    *(np.array([]), np.array([1.5, math.nan]), np.zeros((2, 2)), np.zeros((0, 3)), np.int64(3)),
    *(np.array(["a", "b"]), np.array([None, 1], dtype=object), np.float32(0.1), np.bool_(True)),
    *(object(), object, len, Exception("x"), iter([1, 2]), lambda *_: None),
)


class Choices:
    """Reads choices from bytes; zeros when they are used up."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def below(self, count: int) -> int:
        """A number from 0 on, below ``count``."""
        size = max(1, (count.bit_length() + 7) // 8)
        taken = self._data[self._place : self._place + size]
        self._place += size
        return int.from_bytes(taken, "little") % count

    def one(self, of: Sequence[Some]) -> Some:
        """One of several."""
        return of[self.below(len(of))]

    def chance(self, of: int) -> bool:
        """True once in ``of`` times."""
        return self.below(of) == of - 1

    def bytes(self, most: int) -> bytes:
        """Some of the bytes as they are."""
        count = self.below(most + 1)
        taken = self._data[self._place : self._place + count]
        self._place += count
        return taken

    def odd(self, given: Any) -> Any:
        """An odd value, or ``given`` with one thing in it replaced by one."""
        if isinstance(given, list | tuple) and given and not self.chance(3):
            place = self.below(len(given))
            changed = [*given[:place], self.odd(given[place]), *given[place + 1 :]]
            return type(given)(changed) if type(given) in (list, tuple) else changed
        if isinstance(given, dict) and given and not self.chance(3):
            key = self.one(list(given))
            return {**given, key: self.odd(given[key])}
        return self.one(ODD)

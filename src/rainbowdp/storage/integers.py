"""Whole numbers in files: weights stand as decimal text, because readers of JSON lose digits.

JavaScript, SQLite and many others hold a JSON number in a double, which is exact up to 2^53. So a
weight, of any size, is text in every file, and what stands as a number is within 2^53.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rainbowdp.errors import InvalidFile

LARGEST_NUMBER = (1 << 53) - 1  # that a JSON number may be, on either side of 0
MOST_DIGITS = 310  # of a weight; the largest total of any kind is 2^900


def to_text(number: int) -> str:
    """A whole number from 0 as a file has it.

    >>> to_text(1 << 64)
    '18446744073709551616'
    """
    return str(number)


def to_texts(numbers: Iterable[int]) -> list[str]:
    """Many of them."""
    return list(map(str, numbers))


def from_text(value: Any) -> int:
    """The whole number that ``to_text`` wrote, spelled in the one way there is.

    >>> from_text("18446744073709551616") == 1 << 64
    True
    """
    if type(value) is str and value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS:
        number = int(value)
        if value[0] != "0" or value == "0":
            return number
    shown = repr(value)
    shown = shown if len(shown) < 60 else f"{shown[:60]}…"
    raise InvalidFile(
        f"a weight must be the decimal digits of a whole number from 0, as text, got {shown}"
    )


def from_texts(values: Any, most: int | None = None) -> tuple[int, ...]:
    """Many of them, from a list that is not longer than ``most``."""
    if not isinstance(values, list):
        raise InvalidFile(f"weights must be a list, got {type(values).__name__}")
    if most is not None and len(values) > most:
        raise InvalidFile(f"weights must be at most {most:,} here, got {len(values):,}")
    return tuple([from_text(value) for value in values])

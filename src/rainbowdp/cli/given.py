"""Lists as people write them on a command line."""

from __future__ import annotations

import csv
from decimal import Decimal, InvalidOperation

from rainbowdp.errors import RainbowError


def listed(text: str) -> list[str]:
    """The values of ``red, "green, dark", blue``.

    >>> listed('red, "green, dark", blue')
    ['red', 'green, dark', 'blue']
    """
    return [value.strip() for value in next(csv.reader([text], skipinitialspace=True), [])]


def portion(text: str) -> str:
    """A share as a decimal or a fraction, which it may be already.

    >>> portion("60%"), portion("2/3")
    ('0.60', '2/3')
    """
    number = text.strip().removesuffix("%")
    if number == text.strip():
        return text
    try:
        return str(Decimal(number) / 100)
    except InvalidOperation:
        return text


def whole_number(text: str, option: str) -> int:
    """The whole number that an option has."""
    try:
        return int(text)
    except ValueError:
        raise RainbowError(f"{option} must be a whole number, got {text!r}.") from None


def edges(text: str) -> list[str | None]:
    """The edges of ``,10,20,``; an outer one that is left out is open.

    >>> edges(",10,20,"), edges("0, 10")
    ([None, '10', '20', None], ['0', '10'])
    """
    first, *others = [edge.strip() for edge in text.split(",")]
    return [first or None, *others[:-1], *(edge or None for edge in others[-1:])]

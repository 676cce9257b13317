"""Lists as people write them on a command line."""

from __future__ import annotations

import csv


def listed(text: str) -> list[str]:
    """The values of ``red, "green, dark", blue``.

    >>> listed('red, "green, dark", blue')
    ['red', 'green, dark', 'blue']
    """
    return [value.strip() for value in next(csv.reader([text], skipinitialspace=True), [])]


def edges(text: str) -> list[str | None]:
    """The edges of ``,10,20,``; an outer one that is left out is open.

    >>> edges(",10,20,"), edges("0, 10")
    ([None, '10', '20', None], ['0', '10'])
    """
    first, *others = [edge.strip() for edge in text.split(",")]
    return [first or None, *others[:-1], *(edge or None for edge in others[-1:])]

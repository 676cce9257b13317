"""Quoting names and strings in SQL."""

from __future__ import annotations


def quoted(text: str, quote: str) -> str:
    """``text`` between quotes: double quotes for a name, single quotes for a string.

    >>> quoted("it's", "'")
    "'it''s'"
    """
    return quote + text.replace(quote, 2 * quote) + quote

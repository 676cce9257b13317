"""Names and texts in SQL."""

from __future__ import annotations


def quoted(text: str, quote: str) -> str:
    """A name in double quotes or a text in single ones.

    >>> quoted("it's", "'")
    "'it''s'"
    """
    return quote + text.replace(quote, 2 * quote) + quote

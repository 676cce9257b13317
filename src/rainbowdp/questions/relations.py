"""Words that a question must choose: one change, who is right in a tie, a person's rows."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from rainbowdp.errors import InvalidQuestion, RainbowError
from rainbowdp.expecting import brief


class _Word(StrEnum):
    """A word of a short list; it prints and compares as the text it is."""

    def __repr__(self) -> str:
        return repr(self.value)


class Neighbors(_Word):
    """What one change of a dataset is.

    >>> Neighbors("substituted") == Neighbors.SUBSTITUTED
    True
    """

    SUBSTITUTED = "substituted"
    """One record is replaced by another; the size of the table is public."""

    ADDED_OR_REMOVED = "added or removed"
    """One record comes or goes; the size of the table is private."""


class Ties(_Word):
    """Who is right in a tie.

    >>> print(Ties.ANY_LEADER)
    any leader
    """

    FIRST_LISTED = "first listed"
    """The first listed of the answers that lead."""

    ANY_LEADER = "any leader"
    """Every answer that leads."""


class PersonRule(_Word):
    """Which records of a person count; either rule looks at that person's records alone.

    >>> PersonRule("one vote") == PersonRule.ONE_VOTE
    True
    """

    SAMPLE = "sample"
    """So many of the person's counted records, drawn at random."""

    ONE_VOTE = "one vote"
    """One record: the person's most frequent group, or the median bin of a quantile."""


Chosen = TypeVar("Chosen", bound=_Word)


def one_of(
    words: type[Chosen], value: object, what: str, error: type[RainbowError] = InvalidQuestion
) -> Chosen:
    """The word of a short list that ``value`` is; ``what`` names it in the error.

    >>> one_of(Neighbors, "substituted", "neighbors")
    'substituted'
    """
    for word in words:
        if isinstance(value, str) and value == word:
            return word
    listed = " or ".join(map(repr, words))
    raise error(f"{what} must be {listed}, got {what}={brief(value)}")

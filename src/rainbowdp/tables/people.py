"""Which records of one person count, by a rule that looks at that person's records alone.

Everything random in it comes from one key and the person's own value, never from where a record
stands or from what others have. So for any fixed key a table's counts are a sum over people of
functions of each person's records, each of at most ``most`` records: two tables that differ in one
person's records differ by at most so many. The key is drawn for each counting and does not have to
stay secret for that.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rainbowdp.errors import UnreadableTable
from rainbowdp.questions import PersonRule, Quantile, Quantiles
from rainbowdp.questions.base import Counted

Rule: TypeAlias = Literal["sample", "most frequent", "median"]

_KEY_BITS = 63  # a key is a whole number that every engine can hold
_MOST = 1 << 62  # no table has more rows


@dataclass(frozen=True)
class People:
    """The rule for a person's records: a sample of ``most``, the most frequent group, the median.

    Groups are told by their numbers, and those of a median rise.
    """

    rule: Rule
    most: int
    key: int

    @classmethod
    def of(cls, question: Counted, key: int | None = None) -> People:
        """The rule that a question has, with a new key unless one is given."""
        key = secrets.randbits(_KEY_BITS) if key is None else key % (1 << _KEY_BITS)
        if question.person_rule == PersonRule.SAMPLE:
            return cls("sample", min(question.rows_per_person, _MOST), key)
        return cls(
            "median" if isinstance(question, Quantile | Quantiles) else "most frequent", 1, key
        )


def no_identity(column: str | None, type_: object, *, floats: bool) -> UnreadableTable:
    """The error for a column that cannot tell people apart."""
    if floats:
        return UnreadableTable(
            f"floats cannot tell people apart, got the person column {column!r} of {type_}: make "
            "it text or whole numbers, which in pandas are Int64 where some are missing"
        )
    return UnreadableTable(
        "a person column must hold texts, whole numbers, decimals, dates or times, "
        f"got {column!r} of {type_}: make it text"
    )

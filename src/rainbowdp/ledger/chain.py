"""The chain: records that are only ever added, each sealed together with the seal before it.

A *seal* is the SHA-256 of a record and of the seal of the record before it, so the last seal, the
*head*, stands for everything that was ever written. Whoever keeps a head can tell later whether
the ledger still has that past: if a row was rewritten, removed or put back as an old copy had it,
the record of that number has another seal, or there is none.

Kinds of records, all in the one chain:

===========  ==========================================================================
creation     what the budget is for, and how much; always the first, and the only one
payment      one question, before its answer is drawn
answer       what was drawn for a payment
note         what somebody wants to have said, of a record or of the ledger
extension    more budget, signed off by a named person
renewal      so much budget again as is to be left, signed off by a named person
limit        what an analyst may spend from now on, of some data or in each window of time
closing      nothing more is to be spent
link         the ledger of the time before, by its head
===========  ==========================================================================
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from rainbowdp.errors import LedgerError
from rainbowdp.expecting import brief

KINDS = (
    *("creation", "payment", "answer", "note", "extension", "renewal"),
    *("limit", "closing", "link"),
)
_BEFORE_ALL = "rainbowdp ledger"  # what stands for the seal before the first record
_SHORT = 16  # hexadecimal digits that people are shown: 64 bits
_HEAD = re.compile(rf"([1-9][0-9]{{0,17}}):([0-9a-f]{{{_SHORT},64}})…?")


@dataclass(frozen=True, slots=True)
class Head:
    """One place in the chain: the number of a record, and its seal or how that begins.

    >>> head = Head.parse("42:9f3a5c7e01b2d4f6")
    >>> print(head, head.number)
    42:9f3a5c7e01b2d4f6 42
    """

    number: int
    seal: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """The head that was printed, in full or in short.

        Raises
        ------
        LedgerError
            If it is none.

        """
        found = _HEAD.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise LedgerError(
                f"A head is a number, a colon and at least {_SHORT} of its hexadecimal digits, as "
                f"in 42:9f3a5c7e01b2d4f6, got {brief(text)}."
            )
        return cls(int(found[1]), found[2])

    @property
    def short(self) -> str:
        """The number and the first sixteen digits."""
        return f"{self.number}:{self.seal[:_SHORT]}"

    def names(self, record: Record) -> bool:
        """Whether this is the head that the record made, as far as it is given."""
        return self.number == record.number and record.seal.startswith(self.seal)

    def __str__(self) -> str:
        return f"{self.number}:{self.seal}"


@dataclass(frozen=True, slots=True)
class Record:
    """One link of the chain.

    Attributes
    ----------
    number : int
        1 for the creation, and one more each time.
    time : str
        What the clock said: UTC, in ISO 8601. The order is that of the numbers.
    kind : str
        One of ``KINDS``.
    name : str or None
        The name of a payment, by which its answer is recalled.
    subject : int or None
        The record that an answer or a note is about.
    content_text : str
        What it says, as canonical JSON.
    seal : str
        The digest of all of this and of the seal before.

    """

    number: int
    time: str
    kind: str
    name: str | None
    subject: int | None
    content_text: str
    seal: str

    @property
    def content(self) -> dict[str, Any]:
        """What it says."""
        said: dict[str, Any] = json.loads(self.content_text)
        return said

    @property
    def head(self) -> Head:
        """The head of the chain when this was its last record."""
        return Head(self.number, self.seal)

    def follows(self, before: str | None) -> bool:
        """Whether it is whole, and sealed together with the seal before it."""
        return self.seal == seal(
            before, self.number, self.time, self.kind, self.name, self.subject, self.content_text
        )

    def as_dict(self) -> dict[str, Any]:
        """The record in JSON values."""
        return {
            "number": self.number,
            "time": self.time,
            "kind": self.kind,
            "name": self.name,
            "subject": self.subject,
            "content": self.content,
            "seal": self.seal,
        }


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be recorded, before it has a number and a seal."""

    kind: str
    content: Mapping[str, Any]
    name: str | None = None
    subject: int | None = None
    time: str | None = None
    """When it was, if not now."""


def sealed(draft: Draft, before: Head | None, time: str) -> Record:
    """The record that a draft becomes after the head ``before``."""
    number = 1 if before is None else before.number + 1
    text = canonical(draft.content, "record")
    moment = draft.time or time
    last = None if before is None else before.seal
    found = seal(last, number, moment, draft.kind, draft.name, draft.subject, text)
    return Record(number, moment, draft.kind, draft.name, draft.subject, text, found)


def seal(before: str | None, *cells: str | int | None) -> str:
    """The digest of a record and of the seal before it."""
    return hashlib.sha256(json.dumps([before or _BEFORE_ALL, *cells]).encode()).hexdigest()


def canonical(described: Mapping[str, Any], what: str) -> str:
    """A description as canonical JSON: equal descriptions, equal text.

    >>> canonical({"column": "choice", "among": ("red", "blue")}, "question")
    '{"among":["red","blue"],"column":"choice"}'
    """
    try:
        if not isinstance(described, Mapping):
            raise TypeError
        return json.dumps(dict(described), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise LedgerError(
            f"The {what} must be described by a mapping of JSON values, "
            f"got {type(described).__name__} {brief(described)}."
        ) from None

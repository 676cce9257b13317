"""What happened to a ledger, as somebody reads it who answers for it.

The chain has a record for every step; an *event* is what a person would call one thing: a question
with its answer and the notes about it, an extension, a limit. Each says what was left after it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from rainbowdp.ledger.balance import Balance
from rainbowdp.ledger.book import Book
from rainbowdp.ledger.chain import Head, Record
from rainbowdp.ledger.cost import KINDS, Cost
from rainbowdp.ledger.entry import Entry, entry_of
from rainbowdp.ledger.limits import whose
from rainbowdp.ledger.scan import Reading, later_answers, whole_chain
from rainbowdp.ledger.schema import RECORDS, read_record

_PIECE = 2000  # records that are read at once
_MOST_ANSWERS = 5  # that are listed where there are groups


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a ledger.

    Attributes
    ----------
    record : Record
        What the chain says of it; of an entry, the payment.
    entry : Entry or None
        The question that was paid for, if it is one.
    notes : tuple of Record
        The notes about this entry.
    kind : str
        The currency of the ledger.
    total, left : Cost
        The budget after it, and what was left.

    """

    record: Record
    entry: Entry | None
    notes: tuple[Record, ...]
    kind: str
    total: Cost
    left: Cost

    @classmethod
    def latest(cls, record: Record, balance: Balance) -> Event:
        """What was just added, which is no payment."""
        return cls(record, None, (), balance.kind, balance.total, balance.left)

    @property
    def who(self) -> str:
        """Who did it, and who signed it where that is somebody else."""
        content = self.record.content
        by, role, signer = content["by"], content.get("role"), content.get("signed_by")
        who = str(by) if role is None or role == by else f"{by} (role {role})"
        return who if signer is None or signer == by else f"{signer}, entered by {who}"

    @property
    def reason(self) -> str | None:
        """Why, where somebody signed for it."""
        reason: str | None = self.record.content.get("reason")
        return reason

    @property
    def answer_in_words(self) -> str:
        """The answer of an entry, or how often each was given where there are groups."""
        entry = self.entry
        if entry is None or entry.answer is None:
            return "(no answer: lost in a crash, or not drawn yet)"
        answer = entry.answer
        try:
            grouped = entry.question.get("by") is not None
            groups = Counter(map(str, json.loads(answer).values())) if grouped else None
        except (ValueError, AttributeError):
            groups = None
        if groups is None:
            return answer
        most = groups.most_common(_MOST_ANSWERS)
        said = [f"{what} in {count:,} group{'' if count == 1 else 's'}" for what, count in most]
        rest = groups.total() - sum(count for _, count in most)
        return ", ".join([*said, *([f"others in {rest:,}"] if rest else [])])

    def in_words(self) -> str:
        """The question that was asked, or what else was done, in a sentence."""
        if self.entry is not None:
            return self.entry.in_words
        said = self.record.content
        return _SAID[self.record.kind](self, said)

    @property
    def left_in_symbols(self) -> str:
        """What was left, with δ wherever the budget has one."""
        return self.left.in_symbols(with_delta=self.total.shown()["delta"] != "0")

    def amount(self, described: dict[str, str]) -> str:
        """An amount of a record, for people."""
        cost: Cost = KINDS[self.kind].restore(described)
        return cost.in_symbols()

    def as_dict(self) -> dict[str, Any]:
        """The event in JSON values; fractions as text."""
        notes = [
            {"time": note.time, "by": note.content["by"], "text": note.content["text"]}
            for note in self.notes
        ]
        about: dict[str, Any] = {"words": self.in_words(), "left": self.left.as_dict()}
        if self.entry is not None:
            return {**self.entry.as_dict(), **about, "notes": notes}
        return {**self.record.as_dict(), **about}


def events(reading: Reading, last: int | None = None) -> Iterator[Event]:
    """What happened, oldest first; all of it, or from the so-many-th last entry on."""
    return _all(reading) if last is None else _latest(reading, last)


def _all(reading: Reading) -> Iterator[Event]:
    total: Any = None
    left: Any = None
    notes: dict[int | None, list[Record]] | None = None
    for piece in whole_chain(reading):
        notes = _notes(reading) if notes is None else notes
        with reading() as book:
            answers, balance = _answers(book, piece), book.balance
        cost = KINDS[balance.kind]
        for record in piece:
            if not _is_own(record):
                continue
            entry = _entry(record, answers, balance)
            if entry is not None:
                left = left - entry.cost
            elif record.kind == "creation":
                total = left = cost.restore(record.content["total"])
            elif record.kind in ("extension", "renewal"):
                added = cost.restore(record.content["added"])
                total, left = total + added, left + added
            about = tuple(notes.get(record.number, ()))
            yield Event(record, entry, about, balance.kind, total, left)


def _latest(reading: Reading, count: int) -> Iterator[Event]:
    """From the so-many-th last payment on; what was left is counted back from what is left."""
    with reading() as book:
        balance = book.balance
    end = balance.head.number
    records: list[Record] = []
    payments: list[int] = []
    answers: dict[int | None, Record] = {}
    size = min(_PIECE, 3 * count + 10)  # a payment has one answer, and few other records
    while end > 0 and len(payments) < count:
        start = max(1, end - size + 1)
        with reading() as book:
            piece = book.some(start, end)
            answers |= _answers(book, piece)
        payments = [record.number for record in piece if record.kind == "payment"] + payments
        records, end = piece + records, start - 1
    first = payments[-count] if 0 < count <= len(payments) else 1
    records = [record for record in records if record.number >= first]
    notes: dict[int | None, list[Record]] = {}
    for record in records:
        if record.kind == "note":
            notes.setdefault(record.subject, []).append(record)
    total, left, cost = balance.total, balance.left, KINDS[balance.kind]
    made: list[Event] = []
    for record in reversed(records):
        if not _is_own(record):
            continue
        entry, about = _entry(record, answers, balance), tuple(notes.get(record.number, ()))
        made.append(Event(record, entry, about, balance.kind, total, left))
        if entry is not None:
            left = left + entry.cost
        elif record.kind in ("extension", "renewal"):
            added = cost.restore(record.content["added"])
            total, left = total - added, left - added
    yield from reversed(made)


def _entry(record: Record, answers: dict[int | None, Record], balance: Balance) -> Entry | None:
    if record.kind != "payment":
        return None
    return entry_of(balance, record, answers.get(record.number))


def _answers(book: Book, piece: list[Record]) -> dict[int | None, Record]:
    """The answers to a piece's payments, in the piece or after it."""
    within = {record.subject: record for record in piece if record.kind == "answer"}
    return later_answers(book, piece) | within


def _is_own(record: Record) -> bool:
    """Whether a record is an event of its own, and not told with the one that it is about."""
    return record.subject is None


def _notes(reading: Reading) -> dict[int | None, list[Record]]:
    """The notes about each payment."""
    query = select(RECORDS).where(RECORDS.c.kind == "note", RECORDS.c.subject.is_not(None))
    with reading() as book:
        rows = book.connection.execute(query.order_by(RECORDS.c.number)).mappings().all()
    found: dict[int | None, list[Record]] = {}
    for note in map(read_record, rows):
        found.setdefault(note.subject, []).append(note)
    return found


def _created(event: Event, said: dict[str, Any]) -> str:
    return f"Created the ledger with a budget of {event.amount(said['total'])}."


def _extended(event: Event, said: dict[str, Any]) -> str:
    return f"Extended the budget by {event.amount(said['added'])}."


def _renewed(event: Event, said: dict[str, Any]) -> str:
    return f"Renewed the budget, so that {event.left_in_symbols} is left."


def _limited(event: Event, said: dict[str, Any]) -> str:
    who = whose(said["analyst"], said.get("source"))
    per = "" if said.get("per") is None else f" per {said['per']}"
    if said["total"] is None:
        return f"Lifted the limit of {who}{per}."
    return f"Limited {who} to {event.amount(said['total'])}{per}, from this moment on."


def _closed(event: Event, said: dict[str, Any]) -> str:
    return "Closed the ledger."


def _linked(event: Event, said: dict[str, Any]) -> str:
    spent: Cost = KINDS[said["kind"]].restore(said["spent"])
    head = Head.parse(said["head"]).short
    return (
        f"Linked the ledger of the time before: {said['dataset']} at {said['place']}, which had "
        f"spent {spent.in_symbols()}, at head {head}."
    )


def _noted(event: Event, said: dict[str, Any]) -> str:
    about = "" if said["entry"] is None else f" about entry {said['entry']}"
    return f"Noted{about}: {said['text']}"


_SAID = {
    "creation": _created,
    "extension": _extended,
    "renewal": _renewed,
    "limit": _limited,
    "closing": _closed,
    "link": _linked,
    "note": _noted,
}

"""Going through a chain of any length: in pieces, each in a transaction of its own.

Records are only ever added, so what was there at the start is read piece by piece while others
go on paying; nobody waits for a long history to be printed. Every piece is checked to follow the
one before it, and the whole to come to the balance that was there at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TypeAlias

from sqlalchemy import select

from rainbowdp.ledger.balance import Balance, after
from rainbowdp.ledger.book import Book
from rainbowdp.ledger.chain import Record
from rainbowdp.ledger.entry import Entry, entry_of
from rainbowdp.ledger.schema import RECORDS, damaged

Reading: TypeAlias = Callable[[], AbstractContextManager[Book]]

PIECE = 2000  # records


def whole_chain(reading: Reading) -> Iterator[list[tuple[Record, Record | None]]]:
    """All records up to now in pieces, payments with their answers; checked at the end.

    Raises
    ------
    LedgerError
        Where a record is not sealed with the one before it, and at the end if the records do not
        come to the balance.

    """
    with reading() as book:
        goal, where = book.balance, book.where
    balance: Balance | None = None
    for first in range(1, goal.head.number + 1, PIECE):
        with reading() as book:
            piece = book.some(first, min(first + PIECE - 1, goal.head.number))
            found = answered_in(book, piece)
        try:
            for record in piece:
                balance = after(balance, record)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise damaged(where) from None
        yield found
    if balance != goal:
        raise damaged(where)


def last_entries(reading: Reading, count: int) -> tuple[Entry, ...]:
    """The last entries, oldest first; each is whole, and nothing is said of those before."""
    with reading() as book:
        end, balance = book.balance.head.number, book.balance
    entries: list[Entry] = []
    while end > 0 and len(entries) < count:
        first = max(1, end - PIECE + 1)
        with reading() as book:
            found = answered_in(book, book.some(first, end))
        entries = entries_in(found, balance) + entries
        end = first - 1
    return tuple(entries[-count:]) if count else ()


def entries_in(found: list[tuple[Record, Record | None]], balance: Balance) -> list[Entry]:
    """The entries among some records."""
    return [
        entry_of(balance, record, answer) for record, answer in found if record.kind == "payment"
    ]


def answered_in(book: Book, piece: list[Record]) -> list[tuple[Record, Record | None]]:
    """Each record with its answer, which may be anywhere after it."""
    answers = {record.subject: record for record in piece if record.kind == "answer"}
    within = RECORDS.c.subject.between(piece[0].number, piece[-1].number)
    later = select(RECORDS.c.number).where(
        within, RECORDS.c.kind == "answer", RECORDS.c.number > piece[-1].number
    )
    for number in book.connection.execute(later).scalars().all():
        answer = book.record(number)
        answers[answer.subject] = answer
    return [
        (record, answers.get(record.number) if record.kind == "payment" else None)
        for record in piece
    ]

"""Going through a chain of any length: in pieces, each in a transaction of its own.

Records are only ever added, so what was there at the start is read piece by piece while others
go on paying; nobody waits for a long history to be printed. Every piece is checked to follow the
one before it, and the whole to come to the balance that was there at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TypeAlias

from rainbowdp.errors import LedgerError
from rainbowdp.expecting import whole
from rainbowdp.ledger.balance import Balance, after
from rainbowdp.ledger.book import Book
from rainbowdp.ledger.chain import Record
from rainbowdp.ledger.entry import Entry, entry_of
from rainbowdp.ledger.schema import RECORDS, damaged

Reading: TypeAlias = Callable[[], AbstractContextManager[Book]]

_PIECE = 2000  # records


def whole_chain(reading: Reading) -> Iterator[list[Record]]:
    """All records up to now in pieces; checked at the end.

    Raises
    ------
    LedgerError
        Where a record is not sealed with the one before it, and at the end if the records do not
        come to the balance.

    """
    with reading() as book:
        goal, where = book.balance, book.where
    balance: Balance | None = None
    for first in range(1, goal.head.number + 1, _PIECE):
        with reading() as book:
            piece = book.some(first, min(first + _PIECE - 1, goal.head.number))
        try:
            for record in piece:
                balance = after(balance, record)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise damaged(where) from None
        yield piece
    if balance != goal:
        raise damaged(where)


def all_entries(reading: Reading) -> Iterator[Entry]:
    """All entries up to now, oldest first, with their answers; checked at the end."""
    for piece in whole_chain(reading):
        with reading() as book:
            answers, balance = later_answers(book, piece), book.balance
        yield from _entries(piece, answers, balance)


def last_entries(reading: Reading, count: int) -> tuple[Entry, ...]:
    """The last entries, oldest first; each is whole, and nothing is said of those before."""
    count = whole(count, "last", 0, error=LedgerError)
    with reading() as book:
        end, balance = book.balance.head.number, book.balance
    entries: list[Entry] = []
    size = min(_PIECE, 3 * count + 10)  # a payment has one answer, and few other records
    while end > 0 and len(entries) < count:
        first = max(1, end - size + 1)
        with reading() as book:
            piece = book.some(first, end)
            answers = later_answers(book, piece)
        entries = _entries(piece, answers, balance) + entries
        end = first - 1
    return tuple(entries[-count:]) if count else ()


def _entries(piece: list[Record], later: dict[int | None, Record], balance: Balance) -> list[Entry]:
    """The entries among some records; their answers are there too, or came later."""
    answers = later | {record.subject: record for record in piece if record.kind == "answer"}
    return [
        entry_of(balance, record, answers.get(record.number))
        for record in piece
        if record.kind == "payment"
    ]


def later_answers(book: Book, piece: list[Record]) -> dict[int | None, Record]:
    """The answers to a piece's payments that came after the piece."""
    first, last = piece[0].number, piece[-1].number
    return book.answers(RECORDS.c.subject.between(first, last), RECORDS.c.number > last)

"""Looking at a ledger: what is left, what happened, and whether its past is still what it was."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager

from rainbowdp.errors import LedgerError
from rainbowdp.ledger.balance import Balance
from rainbowdp.ledger.book import Book
from rainbowdp.ledger.chain import Head, Record
from rainbowdp.ledger.entry import Entry
from rainbowdp.ledger.events import Event, events
from rainbowdp.ledger.scan import all_entries, last_entries, whole_chain
from rainbowdp.ledger.store import Store
from rainbowdp.ledger.witness import Witness


class Reader(ABC):
    """The part of a ledger that only reads."""

    _store: Store
    _witness: Witness | None

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Book]:
        """A transaction that reads."""

    @abstractmethod
    def _forgotten(self, head: Head) -> LedgerError:
        """What is wrong where a head is not in the past."""

    def balance(self) -> Balance:
        """Look at the budget: in total, spent and left, at one moment.

        Returns
        -------
        Balance
            Exact amounts, what the budget is for, and the sources of its answers.

        """
        with self._reading() as book:
            return book.balance

    def head(self) -> Head:
        """Look at the end of the chain: the last record's number and seal.

        Returns
        -------
        Head
            Stands for all of the past; keep it elsewhere, and give it to ``verify`` later.

        """
        return self.balance().head

    def verify(self, *heads: str | Head) -> Head:
        """Check everything: every record, the balance, the witness, and that heads are in the past.

        Parameters
        ----------
        *heads
            Heads that somebody kept, as they were printed.

        Returns
        -------
        Head
            The present head, after which everything was found whole.

        Raises
        ------
        LedgerError
            If anything is damaged or rewritten, or a head is not in the past of this ledger.

        """
        kept = [head if isinstance(head, Head) else Head.parse(head) for head in heads]
        self._store.check_pages()
        if self._witness is not None:
            kept += self._witness.heads()
        wanted: dict[int, list[Head]] = {}
        for head in kept:
            wanted.setdefault(head.number, []).append(head)
        last: Record | None = None
        for piece in whole_chain(self._reading):
            for record in piece:
                last = record
                for head in wanted.pop(record.number, ()):
                    if not head.names(record):
                        raise self._forgotten(head)
        for missing in wanted.values():
            raise self._forgotten(missing[0])
        assert last is not None
        return last.head

    def history(self, last: int | None = None) -> tuple[Entry, ...]:
        """List entries, checked to be whole; all of them also to come to what is spent.

        Parameters
        ----------
        last
            Only this many, the latest.

        Returns
        -------
        tuple of Entry
            Oldest first.

        """
        if last is not None:
            return last_entries(self._reading, last)
        return tuple(self.entries())

    def entries(self) -> Iterator[Entry]:
        """Go through all entries without holding them in memory, oldest first.

        Yields
        ------
        Entry
            Each is whole; an error at the end says that they do not come to what is spent.

        """
        yield from all_entries(self._reading)

    def records(self) -> Iterator[Record]:
        """Go through the whole chain: payments and answers, notes, extensions and all else.

        Yields
        ------
        Record
            In the order of their numbers, each checked to follow the one before.

        """
        for piece in whole_chain(self._reading):
            yield from piece

    def events(self, last: int | None = None) -> Iterator[Event]:
        """Go through what happened: entries with their notes, and what else changed the budget.

        Parameters
        ----------
        last
            Only from the so-many-th last entry on.

        Yields
        ------
        Event
            Oldest first, each with what was left after it.

        """
        return events(self._reading, last)

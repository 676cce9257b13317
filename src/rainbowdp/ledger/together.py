"""What several threads want of one ledger at one time, done in one transaction.

A payment takes the ledger's lock, a sync of the disk and some round trips to its server, however
little is paid. Threads that wait for their turn are waiting for exactly that. So whoever's turn it
is waits for the lock, and then does the work of all who have come, one after the other, in one
transaction, and each of them gets what its own work came to: a value, or the error that it would
have got alone.

Nothing is told before the transaction is on disk. If it fails, nobody's work was done, and each is
told so.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from copy import copy
from typing import Any, Generic, TypeVar

from rainbowdp.errors import RainbowError
from rainbowdp.ledger.book import Book
from rainbowdp.storage.turns import Take, Task

Found = TypeVar("Found")


class Job(Task, Generic[Found]):
    """One thread's work in a transaction.

    Parameters
    ----------
    work
        Reads the book and adds to it; may raise a ``RainbowError``, and then has added nothing.
    name
        The name of an entry that it looks for, so that all are looked up at once.

    """

    def __init__(self, work: Callable[[Book], Found], name: str | None = None) -> None:
        super().__init__()
        self.name, self._work = name, work
        self._found: Found | None = None
        self._error: BaseException | None = None

    def run(self, book: Book) -> None:
        """Do the work; what it raises is its own and leaves the book as it was."""
        before = book.mark()
        try:
            self._found = self._work(book)
        except RainbowError as error:
            book.back_to(before)
            self._error = error

    def fail(self, error: BaseException) -> None:
        """The transaction never was, so that neither was what this came to."""
        self._error = copy(error)  # each is raised in a thread of its own
        self._error.__cause__ = error

    def result(self) -> Found:
        """What the work came to, or raise its error."""
        if self._error is not None:
            raise self._error
        return self._found  # type: ignore[return-value]  # it was done without an error


def perform(take: Take[Job[Any]], transaction: AbstractContextManager[Book]) -> None:
    """Do the jobs that wait once a transaction has begun; what goes wrong is told to them."""
    jobs: list[Job[Any]] | None = None
    try:
        with transaction as book:
            jobs = take()
            names = [job.name for job in jobs if job.name is not None]
            if len(names) > 1:
                book.look_for(names)
            for job in jobs:
                job.run(book)
    except BaseException as error:
        for job in take() if jobs is None else jobs:
            job.fail(error)


class Look(Task):
    """One thread's look for a name, ahead of any transaction."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.known: bool | None = None
        self.error: BaseException | None = None

    def is_new(self) -> bool:
        """Whether no record has the name, or raise why that cannot be told."""
        if self.error is not None:
            raise self.error
        return self.known is False


def look_together(take: Take[Look], known: Callable[[list[str]], set[str]]) -> None:
    """Look for all names that are wanted, by one statement."""
    looks = take()
    try:
        found = known([look.name for look in looks])
    except BaseException as error:
        for look in looks:
            look.error = copy(error)
            look.error.__cause__ = error
        return
    for look in looks:
        look.known = look.name in found

"""Recording answers that were paid for, once each, and recalling them by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from rainbowdp.errors import LedgerError
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.ledger.book import Book
from rainbowdp.ledger.chain import Draft, canonical
from rainbowdp.ledger.drawing import must_be_the_same
from rainbowdp.ledger.entry import Charge, Entry, check_name
from rainbowdp.questions.units import Unit


class Recorder(ABC):
    """The part of a ledger that keeps answers."""

    where: str
    unit: Unit
    neighbors: str

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Book]:
        """A transaction that reads."""

    @abstractmethod
    def _writing(self, otherwise: str = ...) -> AbstractContextManager[Book]:
        """A transaction that writes."""

    def record(self, entry: Entry, answer: str) -> Entry:
        """Write the answer of an entry, once; it is on disk when this returns.

        Show an answer only after it is recorded.

        Parameters
        ----------
        entry
            What ``spend`` returned.
        answer
            What was drawn. The same answer again changes nothing.

        Returns
        -------
        Entry
            The entry with its answer.

        Raises
        ------
        LedgerError
            If the entry has another answer, or is of another ledger; names no answer.

        """
        return self.record_all([(entry, answer)])[0]

    def record_all(self, answers: Iterable[tuple[Entry, str]]) -> tuple[Entry, ...]:
        """Write the answers of several entries in one transaction: all of them or none.

        Parameters
        ----------
        answers
            Entries, each with what was drawn for it.

        Returns
        -------
        tuple of Entry
            The entries with their answers.

        Raises
        ------
        LedgerError
            If an entry has another answer, or is of another ledger; names no answer.

        """
        drawn = list(answers)
        for _, answer in drawn:
            if not isinstance(answer, str):
                raise LedgerError(f"An answer must be text, got {type(answer).__name__}.")
        if not drawn:
            return ()
        with self._writing(_not_recorded([entry for entry, _ in drawn])) as book:
            known = book.entries([entry.paid.number for entry, _ in drawn])
            before = [
                self._unanswered(known.get(entry.paid.number), entry, answer)
                for entry, answer in drawn
            ]
            new = [
                Draft("answer", {"answer": answer}, subject=entry.paid.number)
                for entry, (_, answer) in zip(before, drawn, strict=True)
                if entry.answered is None
            ]
            heads = {one.subject: one.head for one in (book.add(new) if new else ())}
            return tuple(
                replace(entry, answer=answer, answered=heads.get(entry.paid.number, entry.answered))
                for entry, (_, answer) in zip(before, drawn, strict=True)
            )

    def _unanswered(self, found: Entry | None, entry: Entry, answer: str) -> Entry:
        """The entry as it is in the ledger: this one, and without another answer."""
        if found is None or _payment_of(found) != _payment_of(entry):
            raise LedgerError(
                f"Entry {entry.number} was not paid for in {self.where}. Record an answer in "
                "the ledger that paid for it."
            )
        if found.answer not in (None, answer):
            raise LedgerError(
                f"Entry {entry.number} of {self.where} has a different answer already. Recall "
                "that one, and do not show the second."
            )
        return found

    def recall(
        self,
        name: str,
        *,
        question: Mapping[str, Any],
        guarantee: Guarantee,
        source: str | None,
    ) -> Entry | None:
        """Find the entry of a name, for free.

        Which mechanism drew the answer does not matter: it answers the same question of the same
        data under the same guarantee.

        Parameters
        ----------
        name
            What the answer was named.
        question, guarantee, source
            Must be those that were paid for. Without a source nothing is recalled.

        Returns
        -------
        Entry or None
            ``None`` if the name is new. An entry whose answer is ``None`` was cut off by a crash
            before its answer was recorded, or is being answered by another process right now.

        Raises
        ------
        LedgerError
            If the name belongs to another question, guarantee or source.

        """
        charge = Charge(guarantee, question, self.unit, self.neighbors, source, None, name)
        canonical(question, "question")
        check_name(name, source)
        with self._reading() as book:
            entry = book.named(name)
        if entry is not None:
            must_be_the_same(entry, charge, self.where)
        return entry


def _payment_of(entry: Entry) -> Entry:
    return replace(entry, answer=None, answered=None)


def _not_recorded(entries: Sequence[Entry]) -> str:
    """What it means if answers could not be recorded."""
    if len(entries) == 1:
        return (
            f"Entry {entries[0].number} is paid for, and its answer was neither recorded nor shown."
        )
    numbers = f"{entries[0].number} to {entries[-1].number}"
    return f"Entries {numbers} are paid for, and their answers were neither recorded nor shown."

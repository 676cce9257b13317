"""Paying for answers: what they cost, and whether the budget and all limits have that left."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import Any

from rainbowdp.errors import LedgerError, NameTaken
from rainbowdp.expecting import brief
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.ledger.balance import Balance
from rainbowdp.ledger.book import Book
from rainbowdp.ledger.chain import Record
from rainbowdp.ledger.cost import Cost, must_fit, price
from rainbowdp.ledger.drawing import Drawer, Priced
from rainbowdp.ledger.entry import Charge, Entry, check_name, entry_of, payment
from rainbowdp.ledger.limits import must_fit_limits
from rainbowdp.ledger.software import SOFTWARE
from rainbowdp.ledger.store import Store
from rainbowdp.ledger.windows import moment
from rainbowdp.questions.units import Unit


class Payer(Drawer):
    """The part of a ledger that takes payments."""

    unit: Unit
    neighbors: str
    kind: str
    by: str
    _store: Store

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Book]:
        """A transaction that reads."""

    @abstractmethod
    def _writing(self, otherwise: str = ...) -> AbstractContextManager[Book]:
        """A transaction that writes."""

    def spend(
        self,
        guarantee: Guarantee,
        *,
        question: Mapping[str, Any],
        unit: Unit,
        neighbors: str,
        source: str | None = None,
        mechanism: Mapping[str, Any] | None = None,
        name: str | None = None,
        words: str | None = None,
    ) -> Entry:
        """Pay for one answer; the payment is on disk when this returns.

        Parameters
        ----------
        guarantee
            What the answer keeps, as ``DP``, ``GaussianDP`` or ``ZeroConcentrated``.
        question
            A description of the question in JSON values.
        unit, neighbors
            What the guarantee is about; they must be those of the ledger.
        source
            Where the data is: a path, a database and its table, or a name you give it.
        mechanism
            The kind of mechanism that draws, with its options, in JSON values.
        name
            A name to recall the answer by; needs a source.
        words
            The question as a person would say it.

        Returns
        -------
        Entry
            To be recorded with its answer.

        Raises
        ------
        BudgetExceeded
            If it costs more than is left.
        LedgerError
            If ``name`` is in the ledger already, also when another process put it there a moment
            ago: the payment bought one answer, so whoever did not pay must not draw.

        """
        charge = Charge(guarantee, question, unit, neighbors, source, mechanism, name, words)
        return self.spend_all([charge])[0]

    def spend_all(self, charges: Sequence[Charge]) -> tuple[Entry, ...]:
        """Pay for several answers in one transaction: all of them or none.

        Parameters
        ----------
        charges
            What is to be paid for.

        Returns
        -------
        tuple of Entry
            In the same order, to be recorded with their answers.

        Raises
        ------
        BudgetExceeded
            If they cost more than is left.
        LedgerError
            If a name is in the ledger already, or twice among these.

        """
        priced = self._priced(charges)
        if not priced:
            return ()
        with self._writing() as book:
            paid, now = self._pay(book, priced), book.balance
        return tuple(entry_of(now, record, None) for record in paid)

    def _priced(self, charges: Sequence[Charge]) -> list[Priced]:
        """What is to be paid, refused before anything is locked where it can be."""
        costs = [self._price(one) for one in charges]
        return [
            Priced(one, cost, payment(one, cost, 0, self.by, None, SOFTWARE))
            for one, cost in zip(charges, costs, strict=True)
        ]

    def _pay(self, book: Book, priced: Sequence[Priced]) -> list[Record]:
        """Pay for answers inside a transaction, all of them or none."""
        names = [one.charge.name for one in priced if one.charge.name is not None]
        for number, name in enumerate(names):
            if name in names[:number] or book.named(name) is not None:
                raise NameTaken(
                    f"The name {brief(name)} is already in {self.where}. Recall its answer, or "
                    "choose another name."
                )
        payments = [(one.cost, one.charge.source) for one in priced]
        role = self._must_pay(book, payments, priced[0].charge.guarantee)
        now = book.balance
        numbered = [
            replace(draft, content={**draft.content, "entry": now.entries + number, "role": role})
            for number, (_, _, draft) in enumerate(priced, 1)
        ]
        return book.add(numbered)

    def _must_pay(
        self, book: Book, payments: Sequence[tuple[Cost, str | None]], guarantee: Guarantee
    ) -> str | None:
        """Raise unless the budget and all limits have enough left for payments from their sources.

        Returns the role of the database that asks.
        """
        role = self._store.role(book.connection)
        self._must_fit(book.balance, role, moment(book.time), payments, guarantee)
        return role

    def _must_fit(
        self,
        now: Balance,
        role: str | None,
        time: datetime,
        payments: Sequence[tuple[Cost, str | None]],
        guarantee: Guarantee,
    ) -> None:
        """The same of a balance, for a role of the database, at a time."""
        _must_be_open(now, self.where)
        total = payments[0][0]
        for cost, _ in payments[1:]:
            total = total + cost
        must_fit(total, now.left, self.where, guarantee, questions=len(payments))
        who: Any = {"by": self.by, "role": role, "where": self.where, "guarantee": guarantee}
        must_fit_limits(now.limits, payments, time, **who)

    def must_fit(
        self,
        guarantee: Guarantee,
        *,
        unit: Unit,
        neighbors: str,
        source: str | None = None,
        name: str | None = None,
    ) -> None:
        """Raise what ``spend`` would raise of the budget as it is now; spend nothing.

        For refusing a question before its data is read. Only ``spend`` decides.

        Parameters
        ----------
        guarantee
            What the answer would keep.
        unit, neighbors
            What the guarantee is about.
        source, name
            As for ``spend``; whether the name is new is for ``recall`` to say.

        Raises
        ------
        BudgetExceeded
            If it costs more than is left.
        LedgerError
            If the ledger is for another unit, relation or kind of guarantee, or the name has no
            source, or the ledger is closed.

        """
        cost = self._price(Charge(guarantee, {}, unit, neighbors, source, None, name))
        with self._reading() as book:
            self._must_pay(book, [(cost, source)], guarantee)

    def price(self, guarantee: Guarantee) -> Cost:
        """What an answer under this guarantee costs here, in the currency of the budget.

        Parameters
        ----------
        guarantee
            What the answer would keep.

        Returns
        -------
        Cost
            The amounts, on the grid of the ledger.

        Raises
        ------
        LedgerError
            If the budget cannot pay for it.

        """
        return price(guarantee, self.kind, self.where)

    def _price(self, charge: Charge) -> Cost:
        unit, neighbors = charge.unit, charge.neighbors
        if not isinstance(unit, Unit):
            raise LedgerError(f"unit must be a Unit, got {type(unit).__name__}.")
        if (unit, neighbors) != (self.unit, self.neighbors):
            ours, theirs = f"{self.unit} {self.neighbors}", f"{unit} {neighbors}"
            raise LedgerError(
                f"This question protects {theirs}, but {self.where} is for {ours}, and costs of "
                f"different units cannot be added up. Ask {_as_asked(self.unit, self.neighbors)}, "
                f"or create a ledger for {theirs}."
            )
        check_name(charge.name, charge.source)
        return price(charge.guarantee, self.kind, self.where)


def _must_be_open(balance: Balance, where: str) -> None:
    if balance.closed is not None:
        raise LedgerError(
            f"{where} was closed on {balance.closed[:10]}, and nothing more can be spent there. "
            "Recall its answers by their names, or create the next ledger."
        )


def _as_asked(unit: Unit, neighbors: str) -> str:
    """How a question must be asked to have this unit and relation."""
    if unit.person is not None:
        by = f"person={unit.person!r}"
    elif unit.rows_per_person > 1:
        by = f"rows_per_person={unit.rows_per_person} and no person column"
    else:
        by = "no person column or limit of rows"
    return f"with neighbors={neighbors!r} and {by}"

"""The ledger itself: create, open, spend, record, recall."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select, update

from rainbowdp.errors import LedgerError
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.ledger.cost import Cost, Payable, budget, must_fit, price
from rainbowdp.ledger.entry import Balance, Entry, canonical, check_label, check_name
from rainbowdp.ledger.schema import (
    BUDGET,
    ENTRIES,
    VERSION,
    balance_row,
    check_sum,
    damaged,
    entry_row,
    read_balance,
    read_entry,
)
from rainbowdp.ledger.store import Store
from rainbowdp.numeric.quantity import Number
from rainbowdp.questions.relations import Neighbors, one_of
from rainbowdp.questions.units import Unit


@dataclass(frozen=True)
class Ledger:
    """The durable record of what privacy has been spent, against one budget.

    Made by ``Ledger.create`` and ``Ledger.open``. A budget is for the people of one named dataset
    and for one meaning of "one change": a unit (a record, or a person) and a neighbor relation.
    Every question must have both, because nothing else adds up.

    Guaranteed, for any number of processes and threads, killed at any moment:

    * the sum of all entries never exceeds the budget, in exact fractions;
    * an entry is on disk before ``spend`` returns, an answer before ``record`` returns;
    * a name belongs to one entry, an entry to at most one answer;
    * every failure is one ``LedgerError``, after which the ledger is as it was.

    A float is the binary fraction it is, so ten times 0.1 is more than 1; give text.

    Attributes
    ----------
    where : str
        The path as it was given, or the address without its password.
    dataset : str
        The name of the data whose people the budget protects.
    unit : Unit
        Whose data one change is.
    neighbors : str
        What one change is: ``substituted`` or ``added or removed``.
    kind : str
        ``dp`` for a budget in ε and δ, ``gaussian`` for one in μ, ``zero-concentrated`` in ρ.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger.create(f"{folder.name}/budget.db", dataset="town-2026", epsilon=1)
    >>> from rainbowdp.guarantees.dp import DP
    >>> asked = {"question": {"kind": "winner", "column": "choice"}, "source": "votes, final"}
    >>> entry = ledger.spend(
    ...     DP("0.3"), unit=Unit(), neighbors="substituted", name="first", **asked
    ... )
    >>> ledger.record(entry, "red").answer
    'red'
    >>> print(ledger.balance().left)
    epsilon 0.7, delta 0
    >>> ledger.recall("first", guarantee=DP("0.3"), **asked).answer
    'red'
    >>> folder.cleanup()

    """

    where: str
    dataset: str
    unit: Unit
    neighbors: str
    kind: str
    _store: Store = field(repr=False, compare=False)

    @classmethod
    def create(
        cls,
        place: str | Path,
        *,
        dataset: str,
        epsilon: Number | None = None,
        delta: Number = 0,
        mu: Number | None = None,
        rho: Number | None = None,
        spend_in: str | None = None,
        neighbors: str = "substituted",
        person: str | None = None,
        rows_per_person: int = 1,
        timeout: float = 10,
    ) -> Ledger:
        """Create a ledger; it appears complete or not at all.

        Parameters
        ----------
        place
            A path (SQLite; only this user may read the file), or
            ``postgresql://user@host/database``, which holds one ledger in each schema.
        dataset
            A name for the data whose people the budget protects, such as ``ward-visits-2026``.
        epsilon, delta
            The budget in ε, and in δ on top.
        mu
            The budget in μ, for Gaussian privacy, instead.
        rho
            The budget in ρ, for zero-concentrated privacy, instead. It also pays for answers under
            ``GaussianDP``, at μ²/2, and under ``DP`` without a δ, at ε·tanh(ε/2).
        spend_in
            ``"rho"`` or ``"mu"``: turns a budget in ε and δ into the largest ρ or μ that keeps it,
            once and for all, because small answers in these buy far more.
        neighbors
            What one change is: ``substituted`` or ``added or removed``.
        person
            The column that says whose row it is, if the unit is a person and not a record. Each
            question has its own limit of rows.
        rows_per_person
            Without such a column: how many rows a person has at most, as you promise. Then the
            unit is a person with that many records.
        timeout
            How many seconds to wait for a lock or a server.

        Returns
        -------
        Ledger
            The open ledger.

        Raises
        ------
        LedgerError
            If the place is taken, which leaves it as it was, or cannot be written.
        InvalidGuarantee
            If the budget is none.
        InvalidQuestion
            If the unit is none.

        """
        total = budget(epsilon, delta, mu, rho, spend_in)
        relation = one_of(Neighbors, neighbors, "neighbors", LedgerError)
        unit = Unit(person, rows_per_person)
        check_label(dataset, "dataset")
        store = Store.at(place, timeout)
        nothing = total - total
        first = Balance(dataset, unit, relation, total.kind, total, nothing, total, 0, ())
        store.create(balance_row(first))
        return cls._of(first, store)

    @classmethod
    def open(cls, place: str | Path, *, timeout: float = 10) -> Ledger:
        """Open a ledger, checked to be whole and of this version.

        Parameters
        ----------
        place
            The path or the address that it was created at.
        timeout
            How many seconds to wait for a lock or a server.

        Returns
        -------
        Ledger
            The open ledger.

        Raises
        ------
        LedgerError
            If there is none, or it is damaged, or of another version.

        """
        store = Store.at(place, timeout)
        if not store.exists():
            raise LedgerError(
                f"There is no ledger at {store.where}. Create one with: rainbow ledger create "
                f"{shlex.quote(store.where)} --dataset NAME --epsilon 3"
            )
        store.check()
        with store.read() as connection:
            version = connection.execute(select(BUDGET.c.version)).scalar()
            if version not in (None, VERSION):
                raise LedgerError(
                    f"{store.where} is a ledger of version {version}, and this release of "
                    f"rainbowdp reads version {VERSION}. Use the release that made it."
                )
            balance = _balance(connection, store.where)
        return cls._of(balance, store)

    @classmethod
    def _of(cls, balance: Balance, store: Store) -> Ledger:
        return cls(
            store.where, balance.dataset, balance.unit, balance.neighbors, balance.kind, store
        )

    def balance(self) -> Balance:
        """Look at the budget: in total, spent and left, at one moment.

        Returns
        -------
        Balance
            Exact amounts, what the budget is for, and the sources of its answers.

        """
        with self._store.read() as connection:
            return _balance(connection, self.where)

    def history(self) -> tuple[Entry, ...]:
        """List every entry, checked to be whole and to sum to what is spent.

        Returns
        -------
        tuple of Entry
            Oldest first.

        """
        with self._store.read() as connection:
            balance = _balance(connection, self.where)
            rows = connection.execute(select(ENTRIES).order_by(ENTRIES.c.number)).mappings()
            entries = tuple(read_entry(row, balance, self.where) for row in rows)
        check_sum(entries, balance, self.where)
        return entries

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
        cost = self._price(guarantee, unit, neighbors)
        assert isinstance(guarantee, Payable)
        text = canonical(question, "question")
        drawn_by = None if mechanism is None else canonical(mechanism, "mechanism")
        check_name(name, source)
        with self._store.write() as connection:
            before = _balance(connection, self.where, lock=True)
            if name is not None and self._find(connection, before, name) is not None:
                raise LedgerError(
                    f"The name {name!r} is already in {self.where}. Recall its answer, or choose "
                    "another name."
                )
            must_fit(cost, before.left, self.where, guarantee)
            after = replace(
                before,
                spent=before.spent + cost,
                left=before.left - cost,
                entries=before.entries + 1,
                sources=tuple(dict.fromkeys((*before.sources, source))),
            )
            entry = Entry(
                number=after.entries,
                time=datetime.now(UTC).isoformat(timespec="seconds"),
                name=name,
                dataset=before.dataset,
                unit=before.unit,
                neighbors=before.neighbors,
                source=source,
                question_text=text,
                mechanism_text=drawn_by,
                guarantee=guarantee,
                cost=cost,
                answer=None,
            )
            connection.execute(insert(ENTRIES), entry_row(entry))
            connection.execute(update(BUDGET), balance_row(after))
        return entry

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
            source.

        """
        cost = self._price(guarantee, unit, neighbors)
        check_name(name, source)
        must_fit(cost, self.balance().left, self.where, guarantee)

    def _price(self, guarantee: Guarantee, unit: Unit, neighbors: str) -> Cost:
        if not isinstance(unit, Unit):
            raise LedgerError(f"unit must be a Unit, got {type(unit).__name__}.")
        if (unit, neighbors) != (self.unit, self.neighbors):
            ours, theirs = f"{self.unit} {self.neighbors}", f"{unit} {neighbors}"
            raise LedgerError(
                f"This question protects {theirs}, but {self.where} is for {ours}, and costs of "
                f"different units cannot be added up. Ask {_as_asked(self.unit, self.neighbors)}, "
                f"or create a ledger for {theirs}."
            )
        return price(guarantee, self.kind, self.where)

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
        if not isinstance(answer, str):
            raise LedgerError(f"An answer must be text, got {type(answer).__name__}.")
        with self._store.write() as connection:
            balance = _balance(connection, self.where, lock=True)
            rows = connection.execute(select(ENTRIES).where(ENTRIES.c.number == entry.number))
            found = [read_entry(row, balance, self.where) for row in rows.mappings()]
            if [replace(paid, answer=None) for paid in found] != [replace(entry, answer=None)]:
                raise LedgerError(
                    f"Entry {entry.number} was not paid for in {self.where}. Record an answer in "
                    "the ledger that paid for it."
                )
            if found[0].answer not in (None, answer):
                raise LedgerError(
                    f"Entry {entry.number} of {self.where} has a different answer already. Recall "
                    "that one, and do not show the second."
                )
            answered = replace(found[0], answer=answer)
            row = entry_row(answered)
            changed = {name: row[name] for name in ("answer", "seal")}
            connection.execute(update(ENTRIES).where(ENTRIES.c.number == entry.number), changed)
        return answered

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
        text = canonical(question, "question")
        check_name(name, source)
        with self._store.read() as connection:
            entry = self._find(connection, _balance(connection, self.where), name)
        if entry is None:
            return None
        other = f"choose another name to ask {self.where} anew"
        if entry.question_text != text:
            raise LedgerError(
                f"The name {name!r} belongs to a different question. Repeat that one as it was, "
                f"or {other}."
            )
        if entry.guarantee != guarantee:
            raise LedgerError(
                f"The answer named {name!r} was drawn under {entry.guarantee}, not {guarantee}. "
                f"Ask under {entry.guarantee}, or {other}."
            )
        if entry.source != source:
            raise LedgerError(
                f"The answer named {name!r} was drawn from {entry.source!r}, not from {source!r}. "
                f"If that is the same data, give source={entry.source!r}; if not, {other}."
            )
        return entry

    def _find(self, connection: Connection, balance: Balance, name: str) -> Entry | None:
        row = connection.execute(select(ENTRIES).where(ENTRIES.c.name == name)).mappings().first()
        return None if row is None else read_entry(row, balance, self.where)


def _balance(connection: Connection, where: str, *, lock: bool = False) -> Balance:
    query = select(BUDGET).with_for_update() if lock else select(BUDGET)
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        raise damaged(where)
    return read_balance(row, where)


def _as_asked(unit: Unit, neighbors: str) -> str:
    """How a question must be asked to have this unit and relation."""
    if unit.person is not None:
        by = f"person={unit.person!r}"
    elif unit.rows_per_person > 1:
        by = f"rows_per_person={unit.rows_per_person} and no person column"
    else:
        by = "no person column or limit of rows"
    return f"with neighbors={neighbors!r} and {by}"

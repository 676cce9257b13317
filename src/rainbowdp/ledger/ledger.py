"""The ledger itself: made, opened, and its transactions; what is done in them are its parts."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rainbowdp.errors import LedgerError
from rainbowdp.ledger.balance import Balance
from rainbowdp.ledger.book import Book
from rainbowdp.ledger.budget import as_given, budget
from rainbowdp.ledger.chain import Draft, Head
from rainbowdp.ledger.drawing import Priced
from rainbowdp.ledger.entry import check_label
from rainbowdp.ledger.migrations import check_version, migrate
from rainbowdp.ledger.names import Names
from rainbowdp.ledger.officer import Officer
from rainbowdp.ledger.paying import Payer
from rainbowdp.ledger.reading import Reader
from rainbowdp.ledger.recording import Recorder
from rainbowdp.ledger.software import SOFTWARE, user
from rainbowdp.ledger.store import TIMEOUT, Store
from rainbowdp.ledger.together import Found, Job, Look, look_together, perform
from rainbowdp.ledger.trouble import NOTHING_SPENT
from rainbowdp.ledger.witness import Witness, witness_at
from rainbowdp.numeric.quantity import Number
from rainbowdp.questions.relations import Neighbors, one_of
from rainbowdp.questions.units import Unit
from rainbowdp.storage.turns import Turns


@dataclass(slots=True)
class _Memory:
    """The last head that a handle has seen: it must be in the ledger's past ever after.

    The balance and the role are for a look ahead alone; nothing is decided by them.
    """

    head: Head
    balance: Balance | None = None
    role: str | None = None

    def see(self, book: Book, role: str | None) -> None:
        """Remember what a transaction saw."""
        self.head, self.balance, self.role = book.balance.head, book.balance, role


@dataclass(frozen=True)
class Ledger(Reader, Payer, Recorder, Officer):
    """The durable record of what privacy has been spent, against one budget.

    Made by ``Ledger.create`` and ``Ledger.open``. A budget is for the people of one named dataset
    and for one meaning of "one change": a unit (a record, or a person) and a neighbor relation.
    Every question must have both, because nothing else adds up.

    Guaranteed, for any number of processes and threads, killed at any moment:

    * the sum of all entries never exceeds the budget, in exact fractions;
    * an entry is on disk before ``spend`` returns, an answer before ``record`` returns;
    * a name belongs to one entry, an entry to at most one answer;
    * records are only ever added, each sealed with the one before it, so that anyone who kept a
      head can tell whether the past is still what it was;
    * every failure is one ``LedgerError``, after which the ledger is as it was.

    A float is taken as the binary fraction it is, so ten times 0.1 is more than 1: give text.

    Attributes
    ----------
    where : str
        The path as it was given, or the address without its password.
    identity : str
        Drawn at random when the ledger was created: no other ledger has it.
    dataset : str
        The name of the data whose people the budget protects.
    unit : Unit
        Whose data one change is.
    neighbors : str
        What one change is: ``substituted`` or ``added or removed``.
    kind : str
        ``dp`` for a budget in ε and δ, ``gaussian`` for one in μ, ``zero-concentrated`` in ρ.
    by : str
        Who asks through this handle.

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
    >>> ledger.verify().number
    3
    >>> folder.cleanup()

    """

    where: str
    identity: str
    dataset: str
    unit: Unit
    neighbors: str
    kind: str
    by: str = field(compare=False)
    _store: Store = field(repr=False, compare=False)
    _memory: _Memory = field(repr=False, compare=False)
    _witness: Witness | None = field(repr=False, compare=False)
    _turns: tuple[Turns[Job[Any]], Turns[Job[Any]]] | None = field(repr=False, compare=False)
    """To read, and to write."""
    _looks: Turns[Look] | None = field(repr=False, compare=False)
    _names: Names | None = field(repr=False, compare=False)

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
        delta_apart: Number = 0,
        neighbors: str = "substituted",
        person: str | None = None,
        rows_per_person: int = 1,
        title: str | None = None,
        purpose: str | None = None,
        contact: str | None = None,
        predecessor: Ledger | None = None,
        witness: str | Path | None = None,
        by: str | None = None,
        timeout: float = TIMEOUT,
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
            The budget in ε, and in δ on top. With a budget in μ or ρ, δ is for answers that have
            one of their own.
        mu
            The budget in μ, for Gaussian privacy, instead. It also pays for answers under ``DP``.
        rho
            The budget in ρ, for zero-concentrated privacy, instead. It also pays for answers under
            ``GaussianDP``, at μ²/2, and under ``DP``, at ε·tanh(ε/2).
        spend_in
            ``"rho"`` or ``"mu"``: turns a budget in ε and δ into the largest ρ or μ that keeps it,
            once and for all, because small answers in these buy far more.
        delta_apart
            With ``spend_in``: how much of δ is kept for answers that have a δ of their own.
        neighbors
            What one change is: ``substituted`` or ``added or removed``.
        person
            The column that says whose row it is, if the unit is a person and not a record. Each
            question has its own limit of rows.
        rows_per_person
            Without such a column: how many rows a person has at most, as you promise. Then the
            unit is a person with that many records.
        title, purpose, contact
            What the ledger is called, what the answers are for, and whom to ask about it.
        predecessor
            The ledger of the time before, which is linked by its head.
        witness
            A text file, or a ``postgresql://`` address, to which every head is added and which is
            compared at every opening, by everybody.
        by
            Who asks, if not the user of the operating system: a service, for example.
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
        amounts: dict[str, Any] = {"spend_in": spend_in, "delta_apart": delta_apart}
        total = budget(epsilon, delta, mu, rho, **amounts)
        relation = one_of(Neighbors, neighbors, "neighbors", LedgerError)
        check_label(dataset, "dataset")
        words = {"title": title, "purpose": purpose, "contact": contact}
        for what, text in words.items():
            if text is not None:
                check_label(text, what)
        store, identity = Store.at(place, timeout), secrets.token_hex(16)
        watched = None if witness is None else witness_at(witness, identity, timeout)
        who = _named(by)
        content = {
            **words,
            "identity": identity,
            "dataset": dataset,
            "unit": Unit(person, rows_per_person).describe(),
            "neighbors": str(relation),
            "kind": total.kind,
            "given": as_given(epsilon, delta, mu, rho, **amounts),
            "total": total.as_dict(),
            "witness": None if watched is None else watched.place,
            "by": who,
            "software": SOFTWARE,
        }
        drafts = [Draft("creation", content)]
        if predecessor is not None:
            drafts.append(predecessor.as_link(who))
        store.create(drafts)
        return cls._opened(store, who, witness, starts=True)

    @classmethod
    def open(
        cls,
        place: str | Path,
        *,
        witness: str | Path | None = None,
        by: str | None = None,
        timeout: float = TIMEOUT,
        connections: int = 0,
    ) -> Ledger:
        """Open a ledger of this version; ``verify`` checks that all of it is whole.

        Parameters
        ----------
        place
            The path or the address that it was created at.
        witness
            Another place that remembers heads, instead of the one that was named at creation; it
            is made if it is not there.
        by
            Who asks, if not the user of the operating system: a service, for example.
        timeout
            How many seconds to wait for a lock or a server.
        connections
            How many connections to a server to keep, for a process that asks often and never
            forks; none if left out. What its threads then want at one time is done in one
            transaction.

        Returns
        -------
        Ledger
            The open ledger.

        Raises
        ------
        LedgerError
            If there is none, or it is of another version, or its last record and its balance are
            not those of one moment, or its witness has seen a past that it does not have.

        """
        who = _named(by)
        store = Store.at(place, timeout, connections)
        if not store.exists():
            raise LedgerError(
                f"There is no ledger at {store.where}. Create one with: rainbow ledger create "
                f"{shlex.quote(store.where)} --dataset NAME --epsilon 3"
            )
        store.check()
        return cls._opened(
            store, who, witness, starts=witness is not None, together=connections > 0
        )

    @classmethod
    def migrate(
        cls,
        place: str | Path,
        *,
        dataset: str | None = None,
        person: str | None = None,
        rows_per_person: int | None = None,
        by: str | None = None,
        timeout: float = TIMEOUT,
    ) -> Ledger:
        """Bring a ledger of an older version up to this one, all at once or not at all.

        Parameters
        ----------
        place
            The path or the address of the ledger.
        dataset, person, rows_per_person
            What a ledger of version 1 did not record: whose data it is about. Later versions know,
            and take nothing.
        by
            Who does it, if not the user of the operating system.
        timeout
            How many seconds to wait for a lock or a server.

        Returns
        -------
        Ledger
            The open ledger, with all of its entries and answers.

        Raises
        ------
        LedgerError
            If there is nothing to do, or the old ledger is not whole; it is then as it was.

        """
        who = _named(by)
        store = Store.at(place, timeout)
        if not store.exists():
            raise LedgerError(f"There is no ledger at {store.where}. Correct the path or address.")
        store.check()
        migrate(store, dataset=dataset, person=person, rows_per_person=rows_per_person, by=who)
        return cls._opened(store, who, None, starts=False)

    @classmethod
    def _opened(
        cls,
        store: Store,
        by: str,
        witness: str | Path | None,
        *,
        starts: bool,
        together: bool = False,
    ) -> Ledger:
        with store.read() as connection:
            check_version(connection, store.where)
            book = Book.read(connection, store.where)
            now = book.balance
            place = witness if witness is not None else now.witness
            watched = None if place is None else witness_at(place, now.identity, store.timeout)
        ledger = cls(
            where=store.where,
            identity=now.identity,
            dataset=now.dataset,
            unit=now.unit,
            neighbors=now.neighbors,
            kind=now.kind,
            by=by,
            _store=store,
            _memory=_Memory(now.head),
            _witness=watched,
            _turns=(Turns(), Turns()) if together else None,
            _looks=Turns() if together and store.path is None else None,
            _names=Names(now.head.number) if together and store.path is None else None,
        )
        if watched is not None:
            ledger._compare(watched, start=starts)
        return ledger

    def on_behalf_of(self, by: str, called: str | None = None) -> Ledger:
        """The same open ledger, through which somebody else asks.

        Parameters
        ----------
        by
            Who asks: goes into the chain with every payment.
        called
            What messages call the ledger, if they must not show where it is.

        Returns
        -------
        Ledger
            Shares its connections with this one.

        Raises
        ------
        LedgerError
            If the name is no printable text.

        """
        where = self.where if called is None else called
        store = replace(self._store, where=where)
        return replace(self, by=_named(by), where=where, _store=store)

    def disconnect(self) -> None:
        """Close the connections that are kept, if there are any; the next use opens new ones."""
        self._store.engine.dispose()

    # transactions

    def _done(self, job: Job[Found], *, writing: bool) -> Found:
        """What a job comes to, in a transaction of its own or together with others."""
        begin = self._writing if writing else self._reading
        if self._turns is None:
            perform(lambda: [job], begin())
        else:
            self._turns[writing].take(job, lambda take: perform(take, begin()))
        return job.result()

    @contextmanager
    def _reading(self) -> Iterator[Book]:
        before = self._memory.head
        with self._store.read() as connection:
            book = Book.read(connection, self.where, before)
            self._must_be_the_same(book, before)
            yield book
            role = self._store.role(connection)
        self._memory.see(book, role)

    @contextmanager
    def _writing(self, otherwise: str = NOTHING_SPENT) -> Iterator[Book]:
        before = self._memory.head
        with self._store.write(otherwise) as connection:
            book = Book.locked(connection, self.where, before, self._names)
            self._must_be_the_same(book, before)
            yield book
            role = self._store.role(connection)
            book.write()
        book.remember()
        self._memory.see(book, role)
        if book.new and self._witness is not None:
            self._witness.add(book.balance.head)

    def _seems_new(self, priced: Priced) -> bool:
        """Whether the budget as it was last seen suffices, and no record has the name."""
        seen, name = self._memory.balance, priced.charge.name
        if self._looks is None or seen is None:
            return False
        payments = [(priced.cost, priced.charge.source)]
        try:
            guarantee = priced.charge.guarantee
            self._must_fit(seen, self._memory.role, datetime.now(UTC), payments, guarantee)
        except LedgerError:  # it may be another one by now
            return False
        if name is None:
            return True
        look, since = Look(name), self._memory.head.number
        self._looks.take(look, lambda take: look_together(take, self._store.known_names))
        if not look.is_new():
            return False
        if self._names is not None:
            self._names.looked_for(name, since)
        return True

    def _must_be_the_same(self, book: Book, before: Head) -> None:
        """Refuses another ledger in the place of this one, and an older state of this one."""
        now = book.balance
        ours = (self.identity, self.dataset, self.unit, self.neighbors, self.kind)
        if (now.identity, now.dataset, now.unit, now.neighbors, now.kind) != ours:
            raise LedgerError(
                f"{self.where} is another ledger than the one that was opened. Find out who "
                "replaced it, and open it anew if that is right."
            )
        if not book.has(before):
            raise self._forgotten(before)

    def _compare(self, witness: Witness, *, start: bool) -> None:
        """Refuses a ledger whose witness has seen more than is in it; starts a new witness."""
        if start and not witness.begun():
            witness.add(self._memory.head)
            return
        last = witness.last()
        with self._reading() as book:
            if last is not None and not book.has(last):
                raise self._forgotten(last)

    def _forgotten(self, head: Head) -> LedgerError:
        return LedgerError(
            f"The head {head.short} is not in the past of {self.where}: it was rewritten, or put "
            "back to an older copy. Restore a copy that has this head, or treat the whole budget "
            "as spent."
        )


def _named(by: str | None) -> str:
    """Who asks: as given, or the user of the operating system."""
    if by is None:
        return user()
    check_label(by, "name of who asks")
    return by

"""The ledger itself: create, open, spend, record, recall."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rainbowdp.errors import LedgerError
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.ledger.balance import Balance
from rainbowdp.ledger.book import Book
from rainbowdp.ledger.budget import as_given, budget
from rainbowdp.ledger.chain import Draft, Head, Record, canonical
from rainbowdp.ledger.cost import Cost, must_fit, price
from rainbowdp.ledger.entry import Charge, Entry, check_label, check_name, entry_of, payment
from rainbowdp.ledger.events import Event, events
from rainbowdp.ledger.migrations import check_version, migrate
from rainbowdp.ledger.officer import Officer
from rainbowdp.ledger.scan import all_entries, last_entries, whole_chain
from rainbowdp.ledger.software import SOFTWARE, user
from rainbowdp.ledger.store import TIMEOUT, Store
from rainbowdp.ledger.trouble import NOTHING_SPENT
from rainbowdp.ledger.witness import Witness, witness_at
from rainbowdp.numeric.quantity import Number
from rainbowdp.questions.relations import Neighbors, one_of
from rainbowdp.questions.units import Unit


@dataclass(slots=True)
class _Memory:
    """The last head that a handle has seen: it must be in the ledger's past ever after."""

    head: Head


@dataclass(frozen=True)
class Ledger(Officer):
    """The durable record of what privacy has been spent, against one budget.

    Made by ``Ledger.create`` and ``Ledger.open``. A budget is for the people of one named dataset
    and for one meaning of "one change": a unit (a record, or a person) and a neighbor relation.
    Every question must have both, because nothing else adds up.

    Guaranteed, for any number of processes and threads, killed at any moment:

    * the sum of all entries never exceeds the budget, in exact fractions;
    * an entry is on disk before ``spend`` returns, an answer before ``record`` returns;
    * a name belongs to one entry, an entry to at most one answer;
    * records are only ever added, each sealed with the one before it, so that whoever kept a head
      can tell whether the past is still what it was;
    * every failure is one ``LedgerError``, after which the ledger is as it was.

    A float is the binary fraction it is, so ten times 0.1 is more than 1; give text.

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
    ) -> Ledger:
        """Open a ledger of this version; whether all of it is whole is for ``verify`` to say.

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
        store = Store.at(place, timeout)
        if not store.exists():
            raise LedgerError(
                f"There is no ledger at {store.where}. Create one with: rainbow ledger create "
                f"{shlex.quote(store.where)} --dataset NAME --epsilon 3"
            )
        store.check()
        return cls._opened(store, who, witness, starts=witness is not None)

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
    def _opened(cls, store: Store, by: str, witness: str | Path | None, *, starts: bool) -> Ledger:
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
        )
        if watched is not None:
            ledger._compare(watched, start=starts)
        return ledger

    # looking

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
            Only so many, the latest.

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

    # paying

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
        if not charges:
            return ()
        costs = [self._price(one) for one in charges]
        total = costs[0]
        for cost in costs[1:]:
            total = total + cost
        names = [one.name for one in charges if one.name is not None]
        # Refused before anything is locked, in the words of the question at hand.
        drafts = [
            payment(one, cost, 0, self.by, None, SOFTWARE)
            for one, cost in zip(charges, costs, strict=True)
        ]
        with self._writing() as book:
            now, role = book.balance, self._store.role(book.connection)
            _must_be_open(now, self.where)
            for number, name in enumerate(names):
                if name in names[:number] or book.named(name) is not None:
                    raise LedgerError(
                        f"The name {name!r} is already in {self.where}. Recall its answer, or "
                        "choose another name."
                    )
            options: dict[str, Any] = {"guarantee": charges[0].guarantee, "questions": len(charges)}
            must_fit(total, now.left, self.where, **options)
            for limit in now.limits_of(self.by, role):
                must_fit(total, limit.left, f"{limit.analyst} in {self.where}", **options)
            numbered = [
                replace(draft, content={**draft.content, "entry": now.entries + k, "role": role})
                for k, draft in enumerate(drafts, 1)
            ]
            return tuple(entry_of(now, record, None) for record in book.add(numbered))

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
            now, role = book.balance, self._store.role(book.connection)
        _must_be_open(now, self.where)
        must_fit(cost, now.left, self.where, guarantee)
        for limit in now.limits_of(self.by, role):
            must_fit(cost, limit.left, f"{limit.analyst} in {self.where}", guarantee)

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
        text = canonical(question, "question")
        check_name(name, source)
        with self._reading() as book:
            entry = book.named(name)
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

    # transactions

    @contextmanager
    def _reading(self) -> Iterator[Book]:
        before = self._memory.head
        with self._store.read() as connection:
            book = Book.read(connection, self.where)
            self._must_be_the_same(book, before)
            yield book
        self._memory.head = book.balance.head

    @contextmanager
    def _writing(self, otherwise: str = NOTHING_SPENT) -> Iterator[Book]:
        before = self._memory.head
        with self._store.write(otherwise) as connection:
            book = Book.read(connection, self.where, lock=True)
            self._must_be_the_same(book, before)
            yield book
        head = book.balance.head
        self._memory.head = head
        if self._witness is not None:
            self._witness.add(head)

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


def _must_be_open(balance: Balance, where: str) -> None:
    if balance.closed is not None:
        raise LedgerError(
            f"{where} was closed on {balance.closed[:10]}, and nothing more can be spent there. "
            "Recall its answers by their names, or create the next ledger."
        )


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


def _as_asked(unit: Unit, neighbors: str) -> str:
    """How a question must be asked to have this unit and relation."""
    if unit.person is not None:
        by = f"person={unit.person!r}"
    elif unit.rows_per_person > 1:
        by = f"rows_per_person={unit.rows_per_person} and no person column"
    else:
        by = "no person column or limit of rows"
    return f"with neighbors={neighbors!r} and {by}"

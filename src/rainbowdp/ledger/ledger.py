"""The ledger itself: create, open, spend, record, recall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select, update

from rainbowdp.errors import BudgetExceeded, LedgerError
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.ledger.cost import Cost, budget, price
from rainbowdp.ledger.entry import Balance, Entry, canonical, check_name
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


@dataclass(frozen=True)
class Ledger:
    """The durable record of what privacy has been spent, against one budget.

    ``place`` is a path (SQLite) or ``postgresql://user@host/database``, which holds one ledger
    in each schema. A ledger is for one neighbor relation, ``substituted`` or ``added or
    removed``, and for one kind of budget: ε with δ, or μ. ``timeout`` is how many seconds to
    wait for a lock or a server.

    Guaranteed, for any number of processes and threads, killed at any moment:

    * the sum of all entries never exceeds the budget, in exact fractions;
    * an entry is on disk before ``spend`` returns, an answer before ``record`` returns;
    * a name belongs to one entry, an entry to at most one answer;
    * every failure is one ``LedgerError``, after which the ledger is as it was.

    A float is the binary fraction it is, so ten times 0.1 is more than 1; give text.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger.create(f"{folder.name}/budget.db", epsilon=1)
    >>> question = {"question": "winner", "column": "choice", "among": ["red", "green"]}
    >>> entry = ledger.spend(
    ...     DP("0.3"), question=question, name="first", neighbors="substituted"
    ... )
    >>> ledger.record(entry, "red").answer
    'red'
    >>> print(ledger.balance().left)
    epsilon 7/10, delta 0
    >>> ledger.recall("first", question).answer
    'red'
    >>> folder.cleanup()
    """

    where: str
    kind: str
    neighbors: str
    _store: Store = field(repr=False, compare=False)

    @classmethod
    def create(
        cls,
        place: str | Path,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        mu: Number | None = None,
        neighbors: str = "substituted",
        timeout: float = 10,
    ) -> Ledger:
        """A new ledger with a budget of ``epsilon`` and ``delta``, or of ``mu``.

        It appears complete or not at all; a place that is taken is left as it was.
        """
        total = budget(epsilon, delta, mu)
        relation = one_of(Neighbors, neighbors, "neighbors", LedgerError)
        store = Store.at(place, timeout)
        nothing = total - total
        store.create(balance_row(Balance(total.kind, relation, total, nothing, total, 0)))
        return cls(store.where, total.kind, relation, store)

    @classmethod
    def open(cls, place: str | Path, *, timeout: float = 10) -> Ledger:
        """The ledger at ``place``, checked to be whole and of this version."""
        store = Store.at(place, timeout)
        if not store.exists():
            raise LedgerError(
                f"a ledger must be created before it is used, got none at {store.where}; "
                f"create it with: rainbow ledger create {store.where} --epsilon 3"
            )
        store.check()
        with store.read() as connection:
            version = connection.execute(select(BUDGET.c.version)).scalar()
            if version not in (None, VERSION):
                raise LedgerError(
                    f"a ledger must be of version {VERSION}, got version {version} at "
                    f"{store.where}; use the release of rainbowdp that made it"
                )
            balance = _balance(connection, store.where)
        return cls(store.where, balance.kind, balance.neighbors, store)

    def balance(self) -> Balance:
        """The budget in total, spent and left, at one moment."""
        with self._store.read() as connection:
            return _balance(connection, self.where)

    def history(self) -> tuple[Entry, ...]:
        """Every entry, oldest first, checked to be whole and to sum to what is spent."""
        with self._store.read() as connection:
            balance = _balance(connection, self.where)
            rows = connection.execute(select(ENTRIES).order_by(ENTRIES.c.number)).mappings()
            entries = tuple(read_entry(row, self.kind, self.where) for row in rows)
        check_sum(entries, balance, self.where)
        return entries

    def spend(
        self,
        guarantee: Guarantee,
        *,
        question: Mapping[str, Any],
        neighbors: str,
        name: str | None = None,
    ) -> Entry:
        """Pays for one answer under ``guarantee``; the payment is on disk when this returns.

        Raises ``BudgetExceeded`` where it does not fit, and ``LedgerError`` where ``name`` is in
        the ledger already, also when another process put it there a moment ago: the payment
        bought one answer, so whoever did not pay must not draw.
        """
        cost = self._price(guarantee, neighbors)
        assert isinstance(guarantee, DP | GaussianDP)
        text = canonical(question)
        if name is not None:
            check_name(name)
        with self._store.write() as connection:
            before = _balance(connection, self.where, lock=True)
            if name is not None and self._find(connection, name) is not None:
                raise LedgerError(
                    f"a name stands for one question, got name={name!r}, which is in the ledger "
                    "already; recall its answer, or choose another name"
                )
            _must_fit(cost, before.left)
            after = replace(
                before,
                spent=before.spent + cost,
                left=before.left - cost,
                entries=before.entries + 1,
            )
            now = datetime.now(UTC).isoformat(timespec="seconds")
            entry = Entry(after.entries, now, name, text, guarantee, cost, answer=None)
            connection.execute(insert(ENTRIES), entry_row(entry))
            connection.execute(update(BUDGET), balance_row(after))
        return entry

    def must_fit(self, guarantee: Guarantee, *, neighbors: str) -> None:
        """Raises what ``spend`` would raise of the budget as it is now; spends nothing.

        For refusing a question before its data is read. Only ``spend`` decides.
        """
        _must_fit(self._price(guarantee, neighbors), self.balance().left)

    def _price(self, guarantee: Guarantee, neighbors: str) -> Cost:
        if neighbors != self.neighbors:
            raise LedgerError(
                f"a question needs a ledger for its neighbors, {neighbors!r}, got a ledger made "
                f"for another neighbor relation, {self.neighbors!r}; create one for it"
            )
        return price(guarantee, self.kind)

    def record(self, entry: Entry, answer: str) -> Entry:
        """Writes the answer of an entry, once; it is on disk when this returns.

        The same answer again changes nothing. Another answer is an error that names neither:
        show an answer only after it is recorded.
        """
        if not isinstance(answer, str):
            raise LedgerError(f"an answer must be text, got {type(answer).__name__}")
        with self._store.write() as connection:
            _balance(connection, self.where, lock=True)
            rows = connection.execute(select(ENTRIES).where(ENTRIES.c.number == entry.number))
            found = [read_entry(row, self.kind, self.where) for row in rows.mappings()]
            if [replace(paid, answer=None) for paid in found] != [replace(entry, answer=None)]:
                raise LedgerError(
                    "an answer is recorded in the ledger that was paid, got an entry of another "
                    f"ledger, number {entry.number}; record it where it was spent"
                )
            if found[0].answer not in (None, answer):
                raise LedgerError(
                    f"an entry has one answer, got a second, different one for number "
                    f"{entry.number}; recall the first, and do not show the second"
                )
            answered = replace(found[0], answer=answer)
            row = entry_row(answered)
            changed = {name: row[name] for name in ("answer", "seal")}
            connection.execute(update(ENTRIES).where(ENTRIES.c.number == entry.number), changed)
        return answered

    def recall(
        self, name: str, question: Mapping[str, Any], *, guarantee: Guarantee | None = None
    ) -> Entry | None:
        """The entry of that name, for free; None if there is none.

        The question, and the guarantee where one is given, must be those that were paid for. An
        entry whose answer is None was cut off by a crash before its answer was recorded, or is
        being answered by another process right now.
        """
        text = canonical(question)
        check_name(name)
        with self._store.read() as connection:
            entry = self._find(connection, name)
        if entry is None:
            return None
        changed = "question" if entry.question_text != text else "guarantee"
        if entry.question_text != text or guarantee not in (None, entry.guarantee):
            raise LedgerError(
                f"a past answer is for the question it was drawn for, got a {changed} that "
                f"changed under the same name {name!r}; choose another name to ask it anew"
            )
        return entry

    def _find(self, connection: Connection, name: str) -> Entry | None:
        row = connection.execute(select(ENTRIES).where(ENTRIES.c.name == name)).mappings().first()
        return None if row is None else read_entry(row, self.kind, self.where)


def _balance(connection: Connection, where: str, *, lock: bool = False) -> Balance:
    query = select(BUDGET).with_for_update() if lock else select(BUDGET)
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        raise damaged(where)
    return read_balance(row, where)


def _must_fit(cost: Cost, left: Cost) -> None:
    rest = left.shown().values()
    for (name, asked), there, after in zip(
        cost.shown().items(), rest, (left - cost).parts, strict=True
    ):
        if after < 0:
            raise BudgetExceeded(
                f"a question must cost at most what is left, got {name}={asked} where {there} is "
                "left; ask with less, or recall a past answer for free"
            )

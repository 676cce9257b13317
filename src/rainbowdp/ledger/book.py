"""The ledger as one transaction sees it: the balance, checked against the chain, and its records.

The row of the balance and the last record are written together. So if one of them is older than
the other, as after a write that a disk lost, or if a record has been added that the balance does
not know, the ledger is damaged, and no transaction goes on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, Integer, insert, select, update

from rainbowdp.ledger.balance import Balance, after
from rainbowdp.ledger.chain import Draft, Head, Record, sealed
from rainbowdp.ledger.entry import Entry, entry_of
from rainbowdp.ledger.messages import sent, with_values
from rainbowdp.ledger.names import MOST_NAMES, Names
from rainbowdp.ledger.schema import (
    LEDGER,
    RECORDS,
    Row,
    balance_row,
    damaged,
    read_balance,
    read_record,
    record_row,
)
from rainbowdp.ledger.settling import write_and_settle
from rainbowdp.ledger.software import SOFTWARE
from rainbowdp.ledger.windows import moment

_BEFORE = RECORDS.alias("before")
_MOST_AT_ONCE = 500  # numbers in one query
_TYPES = ", ".join(
    f"{column.name} {'int' if isinstance(column.type, Integer) else 'text'}" for column in RECORDS.c
)
_NAMES = ", ".join(column.name for column in RECORDS.c)
_CHANGED = ", ".join(f"{column.name} = %({column.name})s" for column in LEDGER.c)
_WRITE_AT_ONCE = (
    f"WITH added AS (INSERT INTO {RECORDS.name} ({_NAMES}) SELECT {_NAMES} "  # noqa: S608
    f"FROM json_to_recordset(%(added)s::json) AS given({_TYPES})) "
    f"UPDATE {LEDGER.name} SET {_CHANGED}"
)
_LOCK = f"SELECT * FROM {LEDGER.name} FOR UPDATE"  # noqa: S608
_LAST = (  # by the index, however many there are
    f"(SELECT {_NAMES} FROM {RECORDS.name} ORDER BY number DESC LIMIT 3) "  # noqa: S608
    f"UNION SELECT {_NAMES} FROM {RECORDS.name} WHERE number = {{before}} ORDER BY number"
)
_LATER = (
    f"SELECT number, name FROM {RECORDS.name} "  # noqa: S608
    f"WHERE number > {{since}} AND name IS NOT NULL ORDER BY number LIMIT {MOST_NAMES + 1}"
)


@dataclass(slots=True)
class Book:
    """A ledger inside one transaction."""

    connection: Connection
    where: str
    balance: Balance
    time: str
    """When this is: what the clock says, and never before the last record."""
    new: list[Record] = field(default_factory=list)
    """What this transaction adds."""
    names: Names | None = None
    """What is known of names besides, if anybody keeps that."""
    _later: list[tuple[int, str]] = field(default_factory=list)
    _since: int = 0
    _written: int = 0
    _seals: dict[int, str] = field(default_factory=dict)
    _numbers: dict[str, int | None] = field(default_factory=dict)

    @classmethod
    def read(cls, connection: Connection, where: str, before: Head | None = None) -> Book:
        """The ledger of this transaction; the record of ``before`` is read with it, for ``has``."""
        row = connection.execute(select(LEDGER)).mappings().one_or_none()
        number = 0 if row is None else row["number"]
        first = number if before is None else min(before.number, number)
        wanted = (RECORDS.c.number >= number - 1) | (RECORDS.c.number == first)
        rows = connection.execute(select(RECORDS).where(wanted).order_by(RECORDS.c.number))
        return cls._of(connection, where, row, rows.mappings().fetchmany(4))

    @classmethod
    def locked(
        cls, connection: Connection, where: str, before: Head, names: Names | None = None
    ) -> Book:
        """The same, and nobody else can write until the transaction ends.

        ``names`` lets those be taken for new that need no look.
        """
        if connection.dialect.name != "postgresql":  # BEGIN IMMEDIATE has locked all of the file
            return cls.read(connection, where, before)
        since = 0 if names is None else names.known_to
        last = _LAST.format(before=int(before.number))
        later = [] if names is None else [_LATER.format(since=int(since))]
        found = sent(connection, [_LOCK, last, *later])
        book = cls._of(connection, where, found[0][0] if found[0] else None, found[1])
        book.names, book._since = names, since
        book._later = [(row["number"], row["name"]) for rows in found[2:] for row in rows]
        return book

    @classmethod
    def _of(
        cls,
        connection: Connection,
        where: str,
        row: Row | None,
        last: Sequence[Row],
    ) -> Book:
        """The book of a balance and of the last records, which must belong together."""
        if row is None:
            raise damaged(where)
        balance = read_balance(row, where)
        number = balance.head.number
        records = [read_record(one) for one in last]
        book = cls(connection, where, balance, "")
        book._seals = {record.number: record.seal for record in records}
        found = book._checked([one for one in records if one.number >= number - 1], number)
        if found.head != balance.head:
            raise damaged(where)
        book.time = _not_before(found.time)
        return book

    def has(self, head: Head) -> bool:
        """Whether this head is in the past of the ledger; full seals are looked up, not folded."""
        found = self._seals.get(head.number)
        if found is None:
            query = select(RECORDS.c.seal).where(RECORDS.c.number == head.number)
            found = self.connection.execute(query).scalar()
        return found is not None and str(found).startswith(head.seal)

    def look_for(self, names: Sequence[str]) -> None:
        """Looks up several names at once, for ``named``; those that are new for certain are not."""
        new = self._surely_new(names)
        self._numbers |= dict.fromkeys(new)
        names = [name for name in names if name not in new]
        if not names:
            return
        query = select(RECORDS.c.name, RECORDS.c.number).where(RECORDS.c.name.in_(names))
        found = {name: number for name, number in self.connection.execute(query)}  # noqa: C416
        self._numbers |= {name: found.get(name) for name in names}

    def _surely_new(self, names: Sequence[str]) -> set[str]:
        if self.names is None or len(self._later) > MOST_NAMES:
            return set()
        return self.names.new_among(names, (name for _, name in self._later), self._since)

    def named(self, name: str) -> Entry | None:
        """The entry of a name, with its answer."""
        for record in self.new:
            if record.name == name:
                return entry_of(self.balance, record, self._new_answers().get(record.number))
        if name not in self._numbers:
            self.look_for([name])
        number = self._numbers[name]
        return None if number is None else self.entry(number)

    def entry(self, number: int) -> Entry | None:
        """The entry whose payment is the record of this number, with its answer."""
        return self.entries([number]).get(number)

    def entries(self, numbers: Sequence[int]) -> dict[int, Entry]:
        """The entries whose payments are the records of these numbers, with their answers."""
        found: dict[int, Entry] = {}
        for start in range(0, len(numbers), _MOST_AT_ONCE):
            some = numbers[start : start + _MOST_AT_ONCE]
            paid = self._where(RECORDS.c.number.in_(some), RECORDS.c.kind == "payment")
            answers = self.answers(RECORDS.c.subject.in_(some)) | self._new_answers()
            for record in paid:
                answer = answers.get(record.number)
                found[record.number] = entry_of(self.balance, record, answer)
        return found

    def answered(self, names: Sequence[str]) -> set[str]:
        """Those names whose entries have an answer."""
        found: set[str] = set()
        for start in range(0, len(names), _MOST_AT_ONCE):
            some = RECORDS.c.name.in_(names[start : start + _MOST_AT_ONCE])
            paid = {record.number: record.name for record in self._where(some)}
            answers = self.answers(RECORDS.c.subject.in_(list(paid)))
            found |= {name for number, name in paid.items() if number in answers and name}
        return found

    def answers(self, *conditions: ColumnElement[bool]) -> dict[int | None, Record]:
        """Answers by the number of the record that paid for them."""
        found = self._where(RECORDS.c.kind == "answer", *conditions)
        return {record.subject: record for record in found}

    def _new_answers(self) -> dict[int | None, Record]:
        return {record.subject: record for record in self.new if record.kind == "answer"}

    def _where(self, *conditions: ColumnElement[bool]) -> list[Record]:
        """Records after the creation, each whole and sealed together with the one before it."""
        joined = RECORDS.outerjoin(_BEFORE, _BEFORE.c.number == RECORDS.c.number - 1)
        query = select(RECORDS, _BEFORE.c.seal.label("before")).select_from(joined)
        found = []
        for row in self.connection.execute(query.where(*conditions)).mappings():
            record = read_record(row)
            if row["before"] is None or not record.follows(row["before"]):
                raise damaged(self.where)
            found.append(record)
        return found

    def payment_of(self, entry: int) -> int | None:
        """The number of the record that paid for an entry; entries are numbered in their order."""
        low, high = entry + 1, self.balance.head.number  # the creation comes first
        while low <= high:
            middle = (low + high) // 2
            query = (
                select(RECORDS)
                .where(RECORDS.c.number >= middle, RECORDS.c.kind == "payment")
                .order_by(RECORDS.c.number)
                .limit(1)
            )
            row = self.connection.execute(query).mappings().one_or_none()
            found = None if row is None else read_record(row)
            if found is None or found.content["entry"] > entry:
                high = middle - 1
            elif found.content["entry"] == entry:
                return found.number
            else:
                low = found.number + 1
        return None

    def some(self, first: int, last: int) -> list[Record]:
        """The records of these numbers, each sealed with the one before it."""
        within = RECORDS.c.number.between(first - 1, last)
        rows = self.connection.execute(select(RECORDS).where(within).order_by(RECORDS.c.number))
        found = [read_record(row) for row in rows.mappings()]
        before = None if first == 1 or not found else found.pop(0)
        expected = first
        for record in found:
            seal_before = None if before is None else before.seal
            if record.number != expected or not record.follows(seal_before):
                raise damaged(self.where)
            before, expected = record, expected + 1
        if expected != last + 1:
            raise damaged(self.where)
        return found

    def mark(self) -> tuple[Balance, int]:
        """Where the book is now, for ``back_to``."""
        return self.balance, len(self.new)

    def back_to(self, mark: tuple[Balance, int]) -> None:
        """Takes back what was added since."""
        self.balance, many = mark
        del self.new[many:]

    def add(self, drafts: Sequence[Draft]) -> list[Record]:
        """Adds records to the chain, and brings the balance up to date."""
        records: list[Record] = []
        for draft in drafts:
            records.append(sealed(draft, self.balance.head, self.time))
            self.balance = after(self.balance, records[-1])
        self.new += records
        return records

    def write(self) -> None:
        """Writes what was added, all at once; the last thing that a transaction does.

        PostgreSQL commits in the same message, so that nobody waits for this process in between,
        and waits for the disk after that, so that nobody waits for it under the lock.
        """
        rows = [record_row(record) for record in self.new[self._written :]]
        if not rows:
            return
        balance = balance_row(self.balance, SOFTWARE)
        if self.connection.dialect.name == "postgresql":
            values = {"added": json.dumps(rows), **balance}
            statement = with_values(self.connection, _WRITE_AT_ONCE, values)
            write_and_settle(self.connection, statement, self.where)
        else:
            self.connection.execute(insert(RECORDS), rows)
            self.connection.execute(update(LEDGER), balance)
        self._written = len(self.new)

    def remember(self) -> None:
        """Tells whoever keeps names which there are now; the transaction is on disk."""
        if self.names is None:
            return
        if len(self._later) > MOST_NAMES:
            self.names.forget(self.balance.head.number)
            return
        added = [(one.number, one.name) for one in self.new if one.name is not None]
        self.names.add([*self._later, *added], self._since, self.balance.head.number)

    def _checked(self, found: Sequence[Record], number: int) -> Record:
        wanted = [number] if number == 1 else [number - 1, number]
        if [record.number for record in found] != wanted:
            raise damaged(self.where)
        if not found[-1].follows(None if number == 1 else found[-2].seal):
            raise damaged(self.where)
        return found[-1]


def _clock() -> datetime:
    return datetime.now(UTC)


def _not_before(last: str) -> str:
    """The time of the next record: a clock that was set back must not reopen a window."""
    now = max(_clock(), moment(last))
    return now.isoformat(timespec="seconds")


def fill(connection: Connection, drafts: Iterable[Draft]) -> Balance:
    """Writes the rows of a new ledger into empty tables: the creation, and what came with it."""
    now = _clock().isoformat(timespec="seconds")
    balance: Balance | None = None
    for draft in drafts:
        record = sealed(draft, None if balance is None else balance.head, now)
        balance = after(balance, record)
        connection.execute(insert(RECORDS), record_row(record))
    assert balance is not None
    connection.execute(insert(LEDGER), balance_row(balance, SOFTWARE))
    return balance

"""The ledger as one transaction sees it: the balance, checked against the chain, and its records.

The row of the balance and the last record are written together. So if one of them is older than
the other, as after a write that a disk lost, or if a record has been added that the balance does
not know, the ledger is damaged, and no transaction goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, insert, select, update

from rainbowdp.ledger.balance import Balance, after
from rainbowdp.ledger.chain import Draft, Head, Record, sealed
from rainbowdp.ledger.entry import Entry, entry_of
from rainbowdp.ledger.schema import (
    LEDGER,
    RECORDS,
    balance_row,
    damaged,
    read_balance,
    read_record,
    record_row,
)
from rainbowdp.ledger.software import SOFTWARE

_BEFORE = RECORDS.alias("before")
_MOST_AT_ONCE = 500  # numbers in one query


@dataclass(slots=True)
class Book:
    """A ledger inside one transaction."""

    connection: Connection
    where: str
    balance: Balance

    @classmethod
    def read(cls, connection: Connection, where: str, *, lock: bool = False) -> Book:
        """The ledger of this transaction; ``lock`` lets nobody else write until it ends."""
        query = select(LEDGER).with_for_update() if lock else select(LEDGER)
        row = connection.execute(query).mappings().one_or_none()
        if row is None:
            raise damaged(where)
        balance = read_balance(row, where)
        number = balance.head.number
        last = connection.execute(
            select(RECORDS).where(RECORDS.c.number >= number - 1).order_by(RECORDS.c.number)
        ).mappings()
        book = cls(connection, where, balance)
        found = book._checked([read_record(one) for one in last.fetchmany(3)], number)
        if found.head != balance.head:
            raise damaged(where)
        return book

    def has(self, head: Head) -> bool:
        """Whether this head is in the past of the ledger; full seals are looked up, not folded."""
        query = select(RECORDS.c.seal).where(RECORDS.c.number == head.number)
        found = self.connection.execute(query).scalar()
        return found is not None and str(found).startswith(head.seal)

    def named(self, name: str) -> Entry | None:
        """The entry of a name, with its answer."""
        query = select(RECORDS.c.number).where(RECORDS.c.name == name)
        number = self.connection.execute(query).scalar()
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
            answers = self.answers(RECORDS.c.subject.in_(some))
            for record in paid:
                answer = answers.get(record.number)
                found[record.number] = entry_of(self.balance, record, answer)
        return found

    def answers(self, *conditions: ColumnElement[bool]) -> dict[int | None, Record]:
        """Answers by the number of the record that paid for them."""
        found = self._where(RECORDS.c.kind == "answer", *conditions)
        return {record.subject: record for record in found}

    def _where(self, *conditions: ColumnElement[bool]) -> list[Record]:
        """Records, each whole and sealed together with the one before it."""
        joined = RECORDS.outerjoin(_BEFORE, _BEFORE.c.number == RECORDS.c.number - 1)
        query = select(RECORDS, _BEFORE.c.seal.label("before")).select_from(joined)
        found = []
        for row in self.connection.execute(query.where(*conditions)).mappings():
            record = read_record(row)
            if (row["before"] is None) != (record.number == 1) or not record.follows(row["before"]):
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
            at = None if found is None else found.content["entry"]
            if found is not None and at == entry:
                return found.number
            if at is None or at > entry:
                high = middle - 1
            else:
                assert found is not None
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

    def add(self, drafts: Sequence[Draft]) -> list[Record]:
        """Adds records to the chain, and brings the balance up to date."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        records: list[Record] = []
        for draft in drafts:
            records.append(sealed(draft, self.balance.head, now))
            self.balance = after(self.balance, records[-1])
        self.connection.execute(insert(RECORDS), [record_row(record) for record in records])
        self.connection.execute(update(LEDGER), balance_row(self.balance, SOFTWARE))
        return records

    def _checked(self, found: Sequence[Record], number: int) -> Record:
        wanted = [number] if number == 1 else [number - 1, number]
        if [record.number for record in found] != wanted:
            raise damaged(self.where)
        if not found[-1].follows(None if number == 1 else found[-2].seal):
            raise damaged(self.where)
        return found[-1]


def fill(connection: Connection, drafts: Iterable[Draft]) -> Balance:
    """Writes the rows of a new ledger into empty tables: the creation, and what came with it."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    balance: Balance | None = None
    for draft in drafts:
        record = sealed(draft, None if balance is None else balance.head, now)
        balance = after(balance, record)
        connection.execute(insert(RECORDS), record_row(record))
    assert balance is not None
    connection.execute(insert(LEDGER), balance_row(balance, SOFTWARE))
    return balance

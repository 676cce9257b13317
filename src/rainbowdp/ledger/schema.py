"""The two tables of a ledger.

``rainbow_records`` is the chain: rows are added and never changed, so those who ask need no right
to update or delete them. ``rainbow_ledger`` has one row: the balance that the chain comes to, and
the head. Every payment locks that row first. It carries a seal of its own, so that a damaged cell
is an error and never another balance.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from sqlalchemy import CheckConstraint, Column, Integer, MetaData, RowMapping, Table, Text

from rainbowdp.errors import Unavailable
from rainbowdp.ledger.balance import Balance, restored, stored
from rainbowdp.ledger.chain import Head, Record, canonical, seal

VERSION = 4
Row: TypeAlias = RowMapping | Mapping[str, Any]

METADATA = MetaData()

LEDGER = Table(
    "rainbow_ledger",
    METADATA,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
    Column("software", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("head", Text, nullable=False),
    Column("balance", Text, nullable=False),
    Column("seal", Text, nullable=False),
)

RECORDS = Table(
    "rainbow_records",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("time", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("name", Text, unique=True),
    Column("subject", Integer, index=True),
    Column("content", Text, nullable=False),
    Column("seal", Text, nullable=False),
)


def balance_row(balance: Balance, software: str) -> dict[str, Any]:
    """The row of ``rainbow_ledger``."""
    cells: dict[str, Any] = {
        "id": 1,
        "version": VERSION,
        "software": software,
        "number": balance.head.number,
        "head": balance.head.seal,
        "balance": canonical(stored(balance), "balance"),
    }
    return {**cells, "seal": seal(None, *cells.values())}


def read_balance(row: Row, where: str) -> Balance:
    """The balance in a row whose seal holds; ``where`` names the ledger in the error."""
    names = ("id", "version", "software", "number", "head", "balance")
    if row["seal"] != seal(None, *(row[name] for name in names)):
        raise damaged(where)
    return restored(json.loads(row["balance"]), Head(row["number"], row["head"]))


def record_row(record: Record) -> dict[str, Any]:
    """The row of ``rainbow_records``."""
    return {
        "number": record.number,
        "time": record.time,
        "kind": record.kind,
        "name": record.name,
        "subject": record.subject,
        "content": record.content_text,
        "seal": record.seal,
    }


def read_record(row: Row) -> Record:
    """The record in a row, not yet checked against the one before it."""
    return Record(
        row["number"],
        row["time"],
        row["kind"],
        row["name"],
        row["subject"],
        row["content"],
        row["seal"],
    )


def damaged(where: str) -> Unavailable:
    """The error of a ledger that cannot be trusted."""
    return Unavailable(
        f"{where} is damaged. Restore a copy made after its last question, or treat the whole "
        "budget as spent."
    )

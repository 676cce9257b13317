"""Ledgers of older versions, brought up to this one in one transaction.

=======  ==================================================================================
1        one row for the budget, one for each entry
2        and the dataset, the unit and the sources
3        and budgets in ρ
4        a chain of records that are only ever added, and the balance they come to
=======  ==================================================================================

The tables of versions 1 to 3 differ in columns that were added, so one reader serves them all.
Everything is checked by the seals and sums of that time, written anew as a chain, and the old
tables are dropped, all in one transaction: interrupted, it leaves the ledger as it was.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, inspect, select, text

from rainbowdp.errors import LedgerError
from rainbowdp.ledger.book import fill
from rainbowdp.ledger.chain import Draft
from rainbowdp.ledger.cost import KINDS, Cost
from rainbowdp.ledger.entry import check_label
from rainbowdp.ledger.schema import LEDGER, METADATA, VERSION, damaged
from rainbowdp.ledger.software import SOFTWARE
from rainbowdp.ledger.store import Store
from rainbowdp.ledger.trouble import sentence
from rainbowdp.questions.units import Unit

OLD = (1, 2, 3)
_UNCHANGED = "Nothing was changed."


def check_version(connection: Connection, where: str) -> None:
    """Refuses what is no ledger, and a ledger of another version, with what it needs."""
    found, software = _version(connection, where)
    if found == VERSION:
        return
    if found in OLD:
        raise LedgerError(
            f"{where} is a ledger of version {found}, and this release of rainbowdp reads version "
            f"{VERSION}. Bring it up to that with: rainbow ledger migrate"
        )
    raise LedgerError(
        f"{where} is a ledger of version {found}, written by {software}, and this release, "
        f"{SOFTWARE}, reads version {VERSION}. Install {software} or later."
    )


def migrate(
    store: Store,
    *,
    dataset: str | None,
    person: str | None,
    rows_per_person: int | None,
    by: str,
) -> None:
    """Brings an older ledger up to this version, all at once or not at all."""
    with store.write(_UNCHANGED) as connection:
        version, _ = _version(connection, store.where)
        if version == VERSION:
            raise LedgerError(f"{store.where} is of version {VERSION} already. Open it as it is.")
        if version not in OLD:
            check_version(connection, store.where)
        budget, entries = _read(connection, store.where)
        if version == 1:
            purpose = _asked_purpose(store.where, dataset, person, rows_per_person)
        elif (dataset, person, rows_per_person) != (None, None, None):
            raise LedgerError(
                f"{store.where} is a ledger of version {version} and knows its dataset and unit. "
                "Leave them out."
            )
        else:
            purpose = {"dataset": budget["dataset"], "unit": json.loads(budget["unit"])}
        METADATA.create_all(connection, checkfirst=False)
        fill(connection, _drafts(version, budget, entries, purpose, by))
        for table in ("rainbow_entries", "rainbow_budget"):
            connection.execute(text(f"DROP TABLE {table}"))


def _version(connection: Connection, where: str) -> tuple[int, str]:
    """The version of the ledger, and the release that wrote it last."""
    tables = inspect(connection)
    if tables.has_table(LEDGER.name):
        row = connection.execute(select(LEDGER.c.version, LEDGER.c.software)).one_or_none()
        if row is None:
            raise damaged(where)
        return row.version, row.software
    if tables.has_table("rainbow_budget"):
        found = connection.execute(text("SELECT version FROM rainbow_budget")).scalar()
        if found is None:
            raise damaged(where)
        return int(found), "an early release of rainbowdp"
    raise sentence("foreign", where)


def _read(connection: Connection, where: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The rows of an old ledger, each whole and all there."""
    budgets = connection.execute(text("SELECT * FROM rainbow_budget")).mappings().all()
    rows = connection.execute(text("SELECT * FROM rainbow_entries ORDER BY number")).mappings()
    entries = [dict(row) for row in rows]
    if len(budgets) != 1:
        raise damaged(where)
    budget = dict(budgets[0])
    for row in (budget, *entries):
        cells = {name: cell for name, cell in row.items() if name != "seal"}
        if row["seal"] != hashlib.sha256(ascii(sorted(cells.items())).encode()).hexdigest():
            raise damaged(where)
    kind = budget["kind"]
    spent = _cost(budget, "spent_", kind)
    for entry in entries:
        spent = spent - _cost(entry, "", kind)
    numbers = [entry["number"] for entry in entries]
    if any(spent.parts) or numbers != [*range(1, budget["entries"] + 1)]:
        raise damaged(where)
    return budget, entries


def _cost(row: Mapping[str, Any], prefix: str, kind: str) -> Cost:
    names = KINDS[kind].names()
    return KINDS[kind].restore({name: row.get(prefix + name) or "0" for name in names})


def _asked_purpose(
    where: str, dataset: str | None, person: str | None, rows_per_person: int | None
) -> dict[str, Any]:
    if dataset is None:
        raise LedgerError(
            f"{where} is a ledger of version 1, which did not say whose data it is about. Name the "
            "dataset, as in --dataset ward-visits-2026, and --person or --rows-per-person if one "
            "change was not one record."
        )
    check_label(dataset, "dataset")
    unit = Unit(person, 1 if rows_per_person is None else rows_per_person)
    return {"dataset": dataset, "unit": unit.describe()}


def _drafts(
    version: int,
    budget: Mapping[str, Any],
    entries: list[dict[str, Any]],
    purpose: Mapping[str, Any],
    by: str,
) -> Iterator[Draft]:
    """The records that an old ledger becomes."""
    kind = budget["kind"]
    total = _cost(budget, "total_", kind)
    yield Draft(
        "creation",
        {
            **purpose,
            "identity": secrets.token_hex(16),
            "title": None,
            "purpose": None,
            "contact": None,
            "neighbors": budget.get("neighbors") or budget.get("neighbours"),
            "kind": kind,
            "given": {name: part for name, part in total.as_dict().items() if part != "0"},
            "total": total.as_dict(),
            "witness": None,
            "by": by,
            "software": SOFTWARE,
            "migrated_from": version,
        },
    )
    last = 1
    for entry in entries:
        mechanism = entry.get("mechanism")
        content = {
            "entry": entry["number"],
            "source": entry.get("source"),
            "question": json.loads(entry["question"]),
            "words": None,
            "mechanism": None if mechanism is None else json.loads(mechanism),
            "guarantee": {"kind": kind, **json.loads(entry["guarantee"])},  # at first without
            "cost": _cost(entry, "", kind).rounded_up().as_dict(),
            "by": None,
            "role": None,
            "software": None,
        }
        last += 1
        paid = last
        yield Draft("payment", content, name=entry["name"], time=entry["time"])
        if entry["answer"] is not None:
            last += 1
            answer = {"answer": json.loads(entry["answer"])}
            yield Draft("answer", answer, subject=paid, time=entry["time"])

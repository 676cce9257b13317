"""The two tables of a ledger, and how values are laid into their rows.

``rainbow_budget`` has one row: what the budget is for, the total, the running sums, how many
entries there are and from which sources; it is the row every payment locks. ``rainbow_entries``
has one row a question. Fractions are text.

Every row carries a *seal*, a digest of its other cells, so that a damaged cell is an error and
never another budget. It is no protection against an owner who rewrites the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from sqlalchemy import CheckConstraint, Column, Integer, MetaData, RowMapping, Table, Text

from rainbowdp.errors import LedgerError
from rainbowdp.guarantees.descriptions import describe_guarantee, restore_guarantee
from rainbowdp.ledger.cost import KINDS, Cost, Payable
from rainbowdp.ledger.entry import Balance, Entry
from rainbowdp.questions.units import Unit

VERSION = 3
PARTS = tuple(name for kind in KINDS.values() for name in kind.names())

METADATA = MetaData()

BUDGET = Table(
    "rainbow_budget",
    METADATA,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("neighbors", Text, nullable=False),
    Column("kind", Text, nullable=False),
    *(Column(f"total_{name}", Text) for name in PARTS),
    *(Column(f"spent_{name}", Text) for name in PARTS),
    Column("entries", Integer, nullable=False),
    Column("sources", Text, nullable=False),
    Column("seal", Text, nullable=False),
)

ENTRIES = Table(
    "rainbow_entries",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("time", Text, nullable=False),
    Column("name", Text, unique=True),
    Column("source", Text),
    Column("question", Text, nullable=False),
    Column("mechanism", Text),
    Column("guarantee", Text, nullable=False),
    *(Column(name, Text) for name in PARTS),
    Column("answer", Text),
    Column("seal", Text, nullable=False),
)


def balance_row(balance: Balance) -> dict[str, Any]:
    """The row of ``rainbow_budget``."""
    return _sealed(
        {
            "id": 1,
            "version": VERSION,
            "dataset": balance.dataset,
            "unit": json.dumps(balance.unit.describe()),
            "neighbors": str(balance.neighbors),
            "kind": balance.kind,
            **_cells("total_", balance.total),
            **_cells("spent_", balance.spent),
            "entries": balance.entries,
            "sources": json.dumps(balance.sources),
        }
    )


def read_balance(row: RowMapping, where: str) -> Balance:
    """The balance in a row whose seal holds; ``where`` names the ledger in the error."""
    _check(row, where)
    total, spent = (_cost(row, prefix, row["kind"]) for prefix in ("total_", "spent_"))
    return Balance(
        dataset=row["dataset"],
        unit=Unit.restore(json.loads(row["unit"])),
        neighbors=row["neighbors"],
        kind=row["kind"],
        total=total,
        spent=spent,
        left=total - spent,
        entries=row["entries"],
        sources=tuple(json.loads(row["sources"])),
    )


def entry_row(entry: Entry) -> dict[str, Any]:
    """The row of ``rainbow_entries``."""
    return _sealed(
        {
            "number": entry.number,
            "time": entry.time,
            "name": entry.name,
            "source": entry.source,
            "question": entry.question_text,
            "mechanism": entry.mechanism_text,
            "guarantee": _guarantee_text(entry.guarantee),
            **_cells("", entry.cost),
            "answer": None if entry.answer is None else json.dumps(entry.answer),
        }
    )


def read_entry(row: RowMapping, balance: Balance, where: str) -> Entry:
    """The entry in a row whose seal holds, of the ledger with this balance."""
    _check(row, where)
    guarantee = restore_guarantee(json.loads(row["guarantee"]))
    assert isinstance(guarantee, Payable)
    return Entry(
        number=row["number"],
        time=row["time"],
        name=row["name"],
        dataset=balance.dataset,
        unit=balance.unit,
        neighbors=balance.neighbors,
        source=row["source"],
        question_text=row["question"],
        mechanism_text=row["mechanism"],
        guarantee=guarantee,
        cost=_cost(row, "", balance.kind),
        answer=None if row["answer"] is None else json.loads(row["answer"]),
    )


def check_sum(entries: Iterable[Entry], balance: Balance, where: str) -> None:
    """The entries are all there: numbered without a gap, of those sources and that cost."""
    spent, count = balance.total - balance.total, 0
    sources: dict[str | None, None] = {}
    for count, entry in enumerate(entries, 1):
        spent += entry.cost
        sources[entry.source] = None
        if entry.number != count:
            raise damaged(where)
    if (spent, count, tuple(sources)) != (balance.spent, balance.entries, balance.sources):
        raise damaged(where)


def damaged(where: str) -> LedgerError:
    """The error of a ledger that cannot be trusted."""
    return LedgerError(
        f"{where} is damaged. Restore a copy made after its last question, or treat the whole "
        "budget as spent."
    )


def _guarantee_text(guarantee: Payable) -> str:
    try:
        return json.dumps(describe_guarantee(guarantee))
    except ValueError:  # Python prints numbers of 4300 digits at most
        raise LedgerError(
            "A ledger keeps guarantees of up to 4300 digits, and this one is longer. Give epsilon, "
            "delta, mu and rho as short decimals."
        ) from None


def _cells(prefix: str, cost: Cost) -> dict[str, str | None]:
    amounts = cost.as_dict()
    return {prefix + name: amounts.get(name) for name in PARTS}


def _cost(row: RowMapping, prefix: str, kind: str) -> Cost:
    cost = KINDS[kind]
    return cost(*(Fraction(row[prefix + name]) for name in cost.names()))


def _sealed(cells: dict[str, Any]) -> dict[str, Any]:
    return {**cells, "seal": _seal(cells)}


def _seal(cells: dict[str, Any]) -> str:
    return hashlib.sha256(ascii(sorted(cells.items())).encode()).hexdigest()


def _check(row: RowMapping, where: str) -> None:
    if row["seal"] != _seal({str(name): row[name] for name in row if name != "seal"}):
        raise damaged(where)

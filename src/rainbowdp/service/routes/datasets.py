"""What there is to ask about, what is left, and what was asked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query

from rainbowdp.ledger import Balance, Entry, Ledger
from rainbowdp.questions.restoring import KINDS
from rainbowdp.service.datasets import Dataset
from rainbowdp.service.people.roles import Role
from rainbowdp.service.routes.shared import (
    OF_A_DATASET,
    WITH_TOKEN,
    Anybody,
    ExactRoute,
    Running,
    problems,
)
from rainbowdp.service.schema import (
    BalanceReply,
    DatasetReply,
    DatasetsReply,
    HeadReply,
    HistoryReply,
    Me,
)
from rainbowdp.service.telling import told_entry

router = APIRouter(prefix="/v1", route_class=ExactRoute)
_MOST_ENTRIES = 1000
Last = Annotated[int, Query(ge=1, le=_MOST_ENTRIES, description="How many, the latest.")]


@router.get("/me", tags=["people"], responses=problems(*WITH_TOKEN))
async def me(person: Anybody) -> Me:
    """Whose token it is."""
    expires = None if person.expires is None else person.expires.isoformat()
    return Me(name=person.name, roles=sorted(person.roles), expires=expires)


@router.get("/datasets", tags=["datasets"], responses=problems(*WITH_TOKEN))
async def datasets(service: Running, person: Anybody) -> DatasetsReply:
    """All datasets, and what may be asked of each."""
    return DatasetsReply(datasets=[_told(one) for one in service.datasets.values()])


@router.get("/datasets/{dataset}", tags=["datasets"], responses=problems(*OF_A_DATASET))
async def dataset(dataset: str, service: Running, person: Anybody) -> DatasetReply:
    """What may be asked of one dataset."""
    return _told(service.dataset(dataset))


@router.get("/datasets/{dataset}/balance", tags=["ledger"], responses=problems(*OF_A_DATASET))
async def balance(dataset: str, service: Running, person: Anybody) -> BalanceReply:
    """The budget: in total, spent and left, and what the asker may spend of it."""
    found = service.dataset(dataset)
    now = await service.work(found.ledger_for(person).balance)
    return BalanceReply(**_balance(now, person.name, found.source))


@router.get("/datasets/{dataset}/head", tags=["ledger"], responses=problems(*OF_A_DATASET))
async def head(dataset: str, service: Running, person: Anybody) -> HeadReply:
    """The end of the ledger's chain: keep it, and the past cannot be rewritten unseen."""
    found = await service.work(service.dataset(dataset).ledger_for(person).head)
    return HeadReply(head=str(found), number=found.number)


@router.get("/datasets/{dataset}/history", tags=["ledger"], responses=problems(*OF_A_DATASET))
async def history(
    dataset: str, service: Running, person: Anybody, last: Last = 100
) -> HistoryReply:
    """Entries, oldest first: all of them for auditors and curators, else the asker's own."""
    ledger = service.dataset(dataset).ledger_for(person)
    every = person.is_any(Role.AUDITOR, Role.CURATOR)

    def look() -> list[Entry]:
        return list(ledger.history(last=last)) if every else _own(ledger, person.name, last)

    return HistoryReply(entries=[told_entry(one) for one in await service.work(look)])


def _own(ledger: Ledger, name: str, last: int) -> list[Entry]:
    """The latest entries of one person, looked for from the end."""
    size = last
    while True:
        found = ledger.history(last=size)
        own = [entry for entry in found if entry.by == name]
        if len(own) >= last or len(found) < size:
            return own[-last:]
        size *= 4


def _told(dataset: Dataset) -> DatasetReply:
    said, ledger = dataset.settings, dataset.ledger
    return DatasetReply(
        name=dataset.name,
        title=said.title,
        description=said.description,
        unit=ledger.unit.describe(),
        neighbors=str(ledger.neighbors),
        currency=ledger.kind,
        approval=said.approval,
        kinds=list(said.kinds or KINDS),
        columns={name: column.model_dump(mode="json") for name, column in said.columns.items()},  # type: ignore[misc]
    )


def _balance(found: Balance, name: str, source: str) -> dict[str, Any]:
    limits = [limit.at(datetime.now(UTC)) for limit in found.limits_of(name, source=source)]
    return {
        "currency": found.kind,
        "total": found.total.as_dict(),
        "spent": found.spent.as_dict(),
        "left": found.left.as_dict(),
        "entries": found.entries,
        "answers": found.answers,
        "closed": found.closed,
        "yours": [
            {
                "total": limit.total.as_dict(),
                "spent": limit.spent.as_dict(),
                "left": limit.left.as_dict(),
                "per": limit.per,
                "until": limit.until(),
                "shared": limit.analyst is None,
            }
            for limit in limits
        ],
    }

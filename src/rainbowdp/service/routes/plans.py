"""Plans: what many questions would get, before any is paid."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from rainbowdp.service.planning import planned
from rainbowdp.service.problems import Code
from rainbowdp.service.routes.shared import (
    OF_A_QUESTION,
    AskerOrCurator,
    ExactRoute,
    Running,
    problems,
)
from rainbowdp.service.schema import Plan, PlanReply

router = APIRouter(prefix="/v1/datasets/{dataset}", route_class=ExactRoute, tags=["asking"])


@router.post("/plan", responses=problems(*OF_A_QUESTION, Code.BUDGET_EXCEEDED))
async def plan(dataset: str, wanted: Plan, service: Running, person: AskerOrCurator) -> PlanReply:
    """Divide a total, or what is left, among questions; nothing is read or spent."""
    found = service.dataset(dataset)

    def look() -> dict[str, Any]:
        made = planned(service, found, wanted)
        ledger = found.ledger_for(person)
        cost, left = ledger.price(made.guarantee), ledger.balance().left
        return {**made.as_dict(), "cost": cost.as_dict(), "left": left.as_dict()}

    return PlanReply(**await service.work(look))

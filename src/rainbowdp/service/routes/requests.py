"""Questions that wait for a curator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query

from rainbowdp.service.approvals import APPROVED, Request
from rainbowdp.service.asking import answer_name
from rainbowdp.service.people.roles import Person, Role
from rainbowdp.service.people.schema import Decision, RequestReply, RequestsReply
from rainbowdp.service.problems import Code
from rainbowdp.service.routes.shared import (
    WITH_TOKEN,
    AskerOrCurator,
    Curator,
    ExactRoute,
    Running,
    problems,
)
from rainbowdp.service.state import Service

router = APIRouter(prefix="/v1/requests", route_class=ExactRoute, tags=["approval"])
_DECIDING = (
    *(*WITH_TOKEN, Code.FORBIDDEN, Code.INVALID_REQUEST),
    *(Code.UNKNOWN_REQUEST, Code.CONFLICT, Code.LEDGER_REFUSED),
)
Numbered = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="The id of a request.")]
Status = Annotated[
    Literal["waiting", "approved", "refused"] | None, Query(description="Only those.")
]


@router.get("", responses=problems(*WITH_TOKEN, Code.FORBIDDEN, Code.INVALID_REQUEST))
async def requests(
    service: Running, person: AskerOrCurator, status: Status = None
) -> RequestsReply:
    """Requests, oldest first: all of them for curators, else the asker's own."""
    whose = None if person.is_any(Role.CURATOR) else person.name

    def look() -> list[RequestReply]:
        found = service.approvals.listed(person=whose, status=status)
        answered = _answered(service, found)
        return [RequestReply(**one.as_dict(), answered=one.id in answered) for one in found]

    return RequestsReply(requests=await service.work(look))


def _answered(service: Service, requests: Sequence[Request]) -> set[str]:
    """The ids of those that have an answer, as the ledgers say."""
    found: set[str] = set()
    for name, dataset in service.datasets.items():
        names = {
            answer_name(one.person, one.key): one.id
            for one in requests
            if one.dataset == name and one.status == APPROVED
        }
        found |= {names[known] for known in dataset.ledger.answered(list(names))}
    return found


@router.post("/{request}/approve", responses=problems(*_DECIDING))
async def approve(
    request: Numbered, decision: Decision, service: Running, person: Curator
) -> RequestReply:
    """Approve a question: its asker may ask it once, with the same key. Signed in the ledger."""
    return await _decided(request, decision, service, person, approve=True)


@router.post("/{request}/refuse", responses=problems(*_DECIDING))
async def refuse(
    request: Numbered, decision: Decision, service: Running, person: Curator
) -> RequestReply:
    """Refuse a question, with a reason that its asker reads. Signed in the ledger."""
    return await _decided(request, decision, service, person, approve=False)


async def _decided(
    number: str, decision: Decision, service: Service, person: Person, *, approve: bool
) -> RequestReply:
    def work() -> Request:
        waiting = service.approvals.find(number)
        ledger = service.dataset(waiting.dataset).ledger_for(person)
        return service.approvals.decide(
            number,
            approve=approve,
            by=person.name,
            reason=decision.reason,
            note=lambda text: ledger.note(text, signed_by=person.name),
        )

    return RequestReply(**(await service.work(work)).as_dict())

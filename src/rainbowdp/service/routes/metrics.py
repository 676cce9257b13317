"""Numbers for Prometheus."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import PlainTextResponse
from fastapi.security import HTTPAuthorizationCredentials

from rainbowdp.service.metrics import CONTENT_TYPE
from rainbowdp.service.people.roles import Role
from rainbowdp.service.problems import Code
from rainbowdp.service.routes.shared import WITH_TOKEN, Running, admitted, bearer, problems

router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses=problems(*WITH_TOKEN, Code.FORBIDDEN),
)
async def metrics(
    request: Request,
    service: Running,
    given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
) -> PlainTextResponse:
    """Requests, how long they took, and what is left of each budget; never data."""

    def look() -> bytes:
        if not service.settings.open_metrics:
            admitted(request, service, given, Role.AUDITOR, Role.CURATOR)
        found: bytes = request.app.state.metrics.text()
        return found

    return PlainTextResponse(await service.work(look), media_type=CONTENT_TYPE)

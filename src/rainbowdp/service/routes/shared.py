"""What routes share: who asks, what may go wrong, and numbers of JSON as they were written."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from rainbowdp.service.people.roles import Person, Role, Unauthenticated
from rainbowdp.service.problems import KINDS, MEDIA_TYPE, Code, Problem
from rainbowdp.service.state import Service

_NEEDED = "A token is needed: send it as Authorization: Bearer rb_…."
bearer = HTTPBearer(auto_error=False, description="A token, or one of OpenID Connect.")


async def service_of(request: Request) -> Service:
    """The running service."""
    service: Service = request.app.state.service
    return service


Running = Annotated[Service, Depends(service_of)]


def admitted(
    request: Request,
    service: Service,
    given: HTTPAuthorizationCredentials | None,
    *roles: Role,
) -> Person:
    """Who sent the request, if that person may ask so often, and has one of these roles."""
    if given is None:
        raise Unauthenticated(_NEEDED)
    address = "a socket" if request.client is None else request.client.host
    with service.sign_ins.watched(address, given.credentials):
        person = service.directory.person(given.credentials)
    request.state.person = person.name
    service.rates.take(person.name)
    if roles and not person.is_any(*roles):
        listed = " or ".join(roles)
        raise Problem(Code.FORBIDDEN, f"This is for {listed}. Ask the curator for that role.")
    return person


def asker(*roles: Role) -> Any:
    """A dependency: who sent the request; of any role if none is named."""

    def found(
        request: Request,
        service: Running,
        given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    ) -> Person:
        return admitted(request, service, given, *roles)

    return Depends(found)


Anybody = Annotated[Person, asker()]
Asker = Annotated[Person, asker(Role.ANALYST)]
Curator = Annotated[Person, asker(Role.CURATOR)]
AskerOrCurator = Annotated[Person, asker(Role.ANALYST, Role.CURATOR)]


def problems(*codes: Code) -> dict[int | str, dict[str, Any]]:
    """What a route may refuse, for OpenAPI."""
    by_status: dict[int, list[Code]] = {}
    for code in codes:
        by_status.setdefault(KINDS[code].status, []).append(code)
    return {
        status: {
            "description": ", ".join(some),
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemReply"}}},
        }
        for status, some in sorted(by_status.items())
    }


EVERYWHERE = (Code.MALFORMED, Code.TOO_LARGE, Code.TOO_SLOW, Code.STOPPING, Code.NOT_READY)
WITH_TOKEN = (*EVERYWHERE, Code.UNAUTHENTICATED, Code.EXPIRED, Code.TOO_MANY, Code.BUSY)
OF_A_DATASET = (*WITH_TOKEN, Code.UNKNOWN_DATASET, Code.INVALID_REQUEST)
OF_A_QUESTION = (
    *OF_A_DATASET,
    Code.FORBIDDEN,
    Code.INVALID_QUESTION,
    Code.INVALID_GUARANTEE,
    Code.NOT_ALLOWED_KIND,
    Code.NOT_ALLOWED_COLUMN,
    Code.NOT_ALLOWED_VALUE,
    Code.NOT_ALLOWED_UNIT,
    Code.LEDGER_REFUSED,
)


class _ExactRequest(Request):
    """A request whose numbers are not rounded when they are read."""

    async def json(self) -> Any:
        return exactly_read(await self.body())


def exactly_read(body: bytes) -> Any:
    """JSON whose numbers are not rounded."""
    try:
        return json.loads(body, parse_float=_decimal, parse_constant=_refused)
    except (ValueError, RecursionError):
        pass
    raise Problem(Code.MALFORMED, "The request is not JSON. Send an object in UTF-8.")


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None


def _refused(text: str) -> Any:
    raise ValueError(text)


class ExactRoute(APIRoute):
    """A route that reads numbers exactly as they are written."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        """What answers a request."""
        handle = super().get_route_handler()

        async def exactly(request: Request) -> Any:
            return await handle(_ExactRequest(request.scope, request.receive))

        return exactly

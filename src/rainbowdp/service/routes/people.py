"""People and their tokens, for curators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from rainbowdp.service.people.roles import Role
from rainbowdp.service.people.schema import (
    NewPerson,
    NewToken,
    NewTokenReply,
    PeopleReply,
    PersonReply,
    TokenReply,
)
from rainbowdp.service.problems import Code
from rainbowdp.service.routes.shared import WITH_TOKEN, Curator, ExactRoute, Running, problems

router = APIRouter(prefix="/v1", route_class=ExactRoute, tags=["people"])
_CURATING = (*WITH_TOKEN, Code.FORBIDDEN, Code.INVALID_REQUEST)
# No database keeps a NUL.
Named = Annotated[
    str, Path(min_length=1, max_length=900, pattern=r"^[^\x00]+$", description="The person.")
]
Numbered = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="The id of a token.")]


@router.get("/people", responses=problems(*_CURATING))
async def people(service: Running, person: Curator) -> PeopleReply:
    """Everybody in the store, with the ids of their tokens; people of OpenID are the issuer's."""
    found = await service.work(service.people.members)
    return PeopleReply(people=[PersonReply(**one.as_dict()) for one in found])


@router.post("/people", status_code=201, responses=problems(*_CURATING))
async def add(new: NewPerson, service: Running, person: Curator) -> PersonReply:
    """Add a person, or give one who is there these roles instead; at once, also for old tokens."""
    roles = map(Role, new.roles)
    found = await service.work(lambda: service.people.add(new.name, roles, by=person.name))
    return PersonReply(**found.as_dict())


@router.delete("/people/{name}", responses=problems(*_CURATING, Code.UNKNOWN_PERSON))
async def remove(name: Named, service: Running, person: Curator) -> PersonReply:
    """Remove a person: every token of this name is refused from now on."""
    found = await service.work(lambda: service.people.remove(name, by=person.name))
    return PersonReply(**found.as_dict())


@router.post(
    "/people/{name}/tokens",
    status_code=201,
    responses=problems(*_CURATING, Code.UNKNOWN_PERSON),
)
async def token(name: Named, new: NewToken, service: Running, person: Curator) -> NewTokenReply:
    """Make a token for a person. It is in this reply and nowhere else: only a hash is kept."""
    made = await service.work(lambda: service.people.token(name, by=person.name, days=new.days))
    return NewTokenReply(**made.as_dict())


@router.delete("/tokens/{token}", responses=problems(*_CURATING, Code.UNKNOWN_TOKEN))
async def revoke(token: Numbered, service: Running, person: Curator) -> TokenReply:
    """Revoke a token: it is refused by every process from the next request on."""
    return TokenReply(**(await service.work(lambda: service.people.revoke(token))).as_dict())

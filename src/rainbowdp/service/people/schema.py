"""Requests and replies about people, tokens and approvals, as OpenAPI says them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True)


class NewPerson(_Request):
    """Somebody who may use the service; other roles replace those of somebody who is there."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
    roles: Annotated[list[Literal["curator", "analyst", "auditor"]], Field(min_length=1)]


class NewToken(_Request):
    """A token that is to be made."""

    days: Annotated[int, Field(ge=1, le=366, strict=True)] = 90


class Decision(_Request):
    """Why a question is approved or refused; a refusal needs it."""

    reason: Annotated[str, Field(max_length=1000)] | None = None


class RequestReply(_Reply):
    """A question that waits for a curator, or was decided on."""

    request: str
    dataset: str
    person: str
    key: str
    asked: str
    question: dict[str, Any]
    guarantee: dict[str, Any]
    plan: Annotated[
        dict[str, Any] | None,
        Field(description="How a plan was asked for; to be asked with the key again."),
    ] = None
    words: str
    price: str
    certainty: str | None
    status: Literal["waiting", "approved", "refused"]
    decided: str | None
    decided_by: str | None
    reason: str | None
    answered: Annotated[bool, Field(description="Whether the ledger has its answer.")] = False


class RequestsReply(_Reply):
    """Requests, oldest first."""

    requests: list[RequestReply]


class TokenReply(_Reply):
    """What is known of a token; the token itself is not."""

    id: str
    made: str
    made_by: str
    expires: str
    revoked: str | None


class PersonReply(_Reply):
    """A person with the tokens of this person."""

    name: str
    roles: list[str]
    added: str
    added_by: str
    removed: str | None
    tokens: list[TokenReply]


class PeopleReply(_Reply):
    """Everybody in the store."""

    people: list[PersonReply]


class NewTokenReply(_Reply):
    """A token, which is shown this once."""

    person: str
    id: str
    expires: str
    token: str

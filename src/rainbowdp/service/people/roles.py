"""A person, what a person may do, and who knows people by their tokens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from rainbowdp.errors import RainbowError


class Role(StrEnum):
    """What a person may do; one may have several roles."""

    CURATOR = "curator"
    """Keeps the data: adds people, sets limits, approves questions, sees all entries."""

    ANALYST = "analyst"
    """Asks questions, and sees the answers to those."""

    AUDITOR = "auditor"
    """Sees all entries and the head of the ledger, and asks nothing."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who sent a request.

    Attributes
    ----------
    name : str
        Goes into the ledger with everything that this person does.
    roles : frozenset of Role
        What the person may do.
    expires : datetime or None
        When the token stops working.
    token : str or None
        The public part of the token, by which it is revoked.

    """

    name: str
    roles: frozenset[Role]
    expires: datetime | None = None
    token: str | None = None

    def is_any(self, *roles: Role) -> bool:
        """Whether the person has one of these roles."""
        return not self.roles.isdisjoint(roles)


class Unauthenticated(RainbowError):
    """The token is none of ours, or was revoked."""


class Expired(Unauthenticated):
    """The token was ours, and its time is over."""


class Directory(Protocol):
    """Knows people by their tokens."""

    def person(self, bearer: str) -> Person:
        """Whose token it is; raises ``Unauthenticated`` or ``Expired``."""

    def ready(self) -> None:
        """Raises a ``RainbowError`` unless people can be looked up now."""

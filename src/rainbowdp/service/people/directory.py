"""The people of a service: who they are, what they may do, and whose token a request carries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import RowMapping, func, insert, select, update

from rainbowdp.service.people.openid import OpenId
from rainbowdp.service.people.roles import Directory, Expired, Person, Role, Unauthenticated
from rainbowdp.service.people.store import PEOPLE, TOKENS, Store
from rainbowdp.service.people.tokens import PREFIX, Token, Verifier, id_of
from rainbowdp.service.problems import Code, NotDone
from rainbowdp.storage.turns import Take, Task, Turns

if TYPE_CHECKING:
    from rainbowdp.service.config import Settings

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)
_OPENID_NAME = re.compile(r"[A-Za-z0-9._~%@|:+-]{1,600}@[A-Za-z0-9.:-]{1,255}", re.ASCII)
DAYS = 90  # that a token works, unless told otherwise
MOST_DAYS = 366
_UNKNOWN = "This token is not known here, or was revoked. Ask the curator for a new one."
_EXPIRED = "This token has expired. Ask the curator for a new one."


@dataclass(frozen=True, slots=True)
class Member:
    """A person of the store, and the tokens of this person; none of them can be used again."""

    name: str
    roles: frozenset[Role]
    added: str
    added_by: str
    removed: str | None
    tokens: tuple[KeptToken, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """In JSON values."""
        return {
            "name": self.name,
            "roles": sorted(self.roles),
            "added": self.added,
            "added_by": self.added_by,
            "removed": self.removed,
            "tokens": [token.as_dict() for token in self.tokens],
        }


@dataclass(frozen=True, slots=True)
class KeptToken:
    """What is known of a token besides its hash."""

    id: str
    made: str
    made_by: str
    expires: str
    revoked: str | None

    def as_dict(self) -> dict[str, Any]:
        """In JSON values."""
        return {
            "id": self.id,
            "made": self.made,
            "made_by": self.made_by,
            "expires": self.expires,
            "revoked": self.revoked,
        }


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token as its owner sees it, once."""

    person: str
    id: str
    expires: str
    token: str = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """In JSON values, with the secret."""
        return {
            "person": self.person,
            "id": self.id,
            "expires": self.expires,
            "token": self.token,
        }


def _clock() -> datetime:
    return datetime.now(UTC)


class _Wanted(Task):
    """A token that one request looks up; those of one moment are looked up at once."""

    def __init__(self, number: str) -> None:
        super().__init__()
        self.id = number
        self.row: RowMapping | None = None
        self.error: BaseException | None = None

    def found(self) -> RowMapping | None:
        """Its row, or raise why it cannot be looked up."""
        if self.error is not None:
            raise copy(self.error) from self.error
        return self.row


_TOKENS = select(TOKENS, PEOPLE.c.roles, PEOPLE.c.removed).select_from(
    TOKENS.join(PEOPLE, PEOPLE.c.name == TOKENS.c.person)
)


@dataclass(frozen=True)
class People:
    """The people in a store, and those whom an OpenID issuer knows."""

    store: Store
    openid: OpenId | None = None
    clock: Callable[[], datetime] = _clock
    _verifier: Verifier = field(default_factory=Verifier, repr=False)
    _turns: Turns[_Wanted] = field(default_factory=Turns, repr=False)

    # who asks

    def person(self, bearer: str) -> Person:
        """Whose token it is.

        Raises
        ------
        Unauthenticated
            If nobody's: unknown, forged, revoked, or of somebody who was removed.
        Expired
            If its time is over.

        """
        if bearer.startswith(PREFIX):
            return self._of_token(bearer)
        if self.openid is None:
            raise Unauthenticated(_UNKNOWN)
        person = self.openid.person(bearer)
        rows = self.store.look(select(PEOPLE.c.removed).where(PEOPLE.c.name == person.name))
        if any(row["removed"] is not None for row in rows):
            raise Unauthenticated("You were removed from this service. Ask the curator.")
        return person

    def _of_token(self, bearer: str) -> Person:
        number = id_of(bearer)
        if number is None:
            raise Unauthenticated(_UNKNOWN)
        wanted = _Wanted(number)
        self._turns.take(wanted, self._looked_up)
        row = wanted.found()
        # The secret first: whoever has only the public part learns nothing of the token.
        if row is None or not self._verifier.matches(bearer, row["hash"]):
            raise Unauthenticated(_UNKNOWN)
        if row["revoked"] is not None or row["removed"] is not None:
            raise Unauthenticated(_UNKNOWN)
        expires = datetime.fromisoformat(row["expires"])
        if self.clock() >= expires:
            raise Expired(_EXPIRED)
        return Person(row["person"], _roles(row["roles"]), expires, number)

    def _looked_up(self, take: Take[_Wanted]) -> None:
        """Look up all tokens that are wanted now, at once."""
        wanted = take()
        try:
            rows = self.store.look(_TOKENS.where(TOKENS.c.id.in_([one.id for one in wanted])))
        except BaseException as error:
            for one in wanted:
                one.error = error
            return
        by_id = {row["id"]: row for row in rows}
        for one in wanted:
            one.row = by_id.get(one.id)

    def ready(self) -> None:
        """Raises ``Unavailable`` unless people can be looked up now."""
        self.store.look(select(func.count()).select_from(PEOPLE))

    # who may ask

    def add(self, name: str, roles: Iterable[Role], *, by: str) -> Member:
        """Add a person, or give one who is there these roles instead.

        Somebody of OpenID who was removed is let in again; the issuer says with which roles.

        Raises
        ------
        NotDone
            If the name is none, or no role is named.

        """
        wanted = frozenset(roles)
        if _OPENID_NAME.fullmatch(name):
            with self.store.write() as connection:
                this = update(PEOPLE).where(PEOPLE.c.name == name)
                connection.execute(this, {"removed": None})
            return self.member(name)
        if not _NAME.fullmatch(name):
            raise NotDone(
                Code.INVALID_REQUEST,
                "A name has up to 64 small letters, digits, '.', '_' and '-', and begins with a "
                "letter or digit, since it goes into the ledger and into addresses.",
            )
        if not wanted:
            raise NotDone(
                Code.INVALID_REQUEST, "Name a role for this person: analyst, auditor or curator."
            )
        said = {"roles": " ".join(sorted(wanted)), "removed": None}
        with self.store.write() as connection:
            known = connection.execute(select(PEOPLE).where(PEOPLE.c.name == name)).first()
            if known is None:
                added = {"name": name, "added": self._now(), "added_by": by}
                connection.execute(insert(PEOPLE), {**said, **added})
            else:
                connection.execute(update(PEOPLE).where(PEOPLE.c.name == name), said)
        return self.member(name)

    def remove(self, name: str, *, by: str) -> Member:
        """Remove a person: no token of this name is accepted from now on, nor one of OpenID."""
        with self.store.write() as connection:
            changed = connection.execute(
                update(PEOPLE).where(PEOPLE.c.name == name), {"removed": self._now()}
            ).rowcount
            if not changed:
                if not _OPENID_NAME.fullmatch(name):
                    raise _no_person(name)
                known = {"roles": "", "added": self._now(), "added_by": by}
                connection.execute(insert(PEOPLE), {**known, "name": name, "removed": self._now()})
            mine = (TOKENS.c.person == name) & TOKENS.c.revoked.is_(None)
            connection.execute(update(TOKENS).where(mine), {"revoked": self._now()})
        return self.member(name)

    def token(self, name: str, *, by: str, days: int = DAYS) -> NewToken:
        """Make a token for a person; its text is in what is returned, and nowhere else.

        Raises
        ------
        NotDone
            If there is no such person, or the token would work for too long.

        """
        self.check_days(days)
        made, new = self.clock(), Token.new()
        expires = (made + timedelta(days=days)).isoformat(timespec="seconds")
        row = {"id": new.id, "person": name, "hash": new.hashed(), "made_by": by}
        row |= {"made": made.isoformat(timespec="seconds"), "expires": expires}
        there = select(PEOPLE.c.name).where(PEOPLE.c.name == name, PEOPLE.c.removed.is_(None))
        with self.store.write() as connection:
            if connection.execute(there.where(PEOPLE.c.roles != "")).first() is None:
                raise _no_person(name)
            connection.execute(insert(TOKENS), row)
        return NewToken(name, new.id, expires, new.text)

    @staticmethod
    def check_days(days: int) -> None:
        """Refuse a token that would work for too long, or not at all."""
        if not 1 <= days <= MOST_DAYS:
            raise NotDone(
                Code.INVALID_REQUEST, f"A token works for 1 to {MOST_DAYS} days, got {days}."
            )

    def revoke(self, number: str) -> KeptToken:
        """Revoke a token by its public part; it is refused everywhere from the next request on."""
        number = id_of(number) or number  # the whole token, if somebody gives it
        with self.store.write() as connection:
            this = TOKENS.c.id == number
            connection.execute(
                update(TOKENS).where(this, TOKENS.c.revoked.is_(None)), {"revoked": self._now()}
            )
            row = connection.execute(select(TOKENS).where(this)).mappings().one_or_none()
        if row is None:
            raise NotDone(
                Code.UNKNOWN_TOKEN,
                "There is no token of this id: it is the part between rb_ and the secret. See the "
                "list of people.",
            )
        return _token(row)

    def member(self, name: str) -> Member:
        """A person with the tokens of this person."""
        for member in self.members(name):
            return member
        raise _no_person(name)

    def members(self, name: str | None = None) -> tuple[Member, ...]:
        """All people, or the one of a name, also those who were removed."""
        people, tokens = select(PEOPLE).order_by(PEOPLE.c.name), select(TOKENS)
        if name is not None:
            people = people.where(PEOPLE.c.name == name)
            tokens = tokens.where(TOKENS.c.person == name)
        found = self.store.look(people)
        kept: dict[str, list[KeptToken]] = {}
        for row in self.store.look(tokens.order_by(TOKENS.c.made)):
            kept.setdefault(row["person"], []).append(_token(row))
        return tuple(
            Member(
                row["name"],
                _roles(row["roles"]),
                row["added"],
                row["added_by"],
                row["removed"],
                tuple(kept.get(row["name"], ())),
            )
            for row in found
        )

    def _now(self) -> str:
        return self.clock().isoformat(timespec="seconds")


def directory_of(settings: Settings) -> Directory:
    """The directory that the settings name."""
    return people_of(settings)


def people_behind(directory: Directory, settings: Settings) -> People:
    """The people whom curators add and remove: the directory itself, or those of the store."""
    return directory if isinstance(directory, People) else people_of(settings)


def people_of(settings: Settings) -> People:
    """The people whom the settings name: those in the store, and those of the issuer."""
    store = Store.at(settings.placed(settings.store), settings.threads + 1)
    openid = None if settings.openid is None else OpenId.of(settings.openid)
    return People(store, openid)


def _roles(text: str) -> frozenset[Role]:
    return frozenset(map(Role, text.split()))


def _token(row: RowMapping) -> KeptToken:
    return KeptToken(row["id"], row["made"], row["made_by"], row["expires"], row["revoked"])


def _no_person(name: str) -> NotDone:
    return NotDone(
        Code.UNKNOWN_PERSON,
        f"There is nobody of the name {name[:80]!r} here. Add the person first, or correct the "
        "name.",
    )

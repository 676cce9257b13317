"""A thousand tokens of every kind that must not be accepted."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select

from openid_forgeries import forgeries as of_openid
from openid_issuer import AUDIENCE, Issuer
from rainbowdp.service.people.directory import People
from rainbowdp.service.people.openid import OpenId, OpenIdSettings
from rainbowdp.service.people.roles import Role
from rainbowdp.service.people.store import TOKENS, Store
from rainbowdp.service.people.tokens import Token

NOON = datetime(2026, 11, 17, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


def with_openid(place: str, found: Issuer, clock: Any = None) -> People:
    said: Any = {
        "issuer": found.address,
        "audience": AUDIENCE,
        "roles": {"statisticians": "analyst"},
    }
    options = {} if clock is None else {"clock": clock}
    return People(Store.at(place), OpenId.of(OpenIdSettings(**said)), **options)


def forgeries(people: People, found: Issuer, clock: Clock, tmp_path: Path) -> list[str]:
    """A thousand tokens of every kind that must not be accepted."""
    people.add("ann", [Role.ANALYST], by="root")
    honest = people.token("ann", by="root")
    people.person(honest.token)
    prefix, number, secret = honest.token.split("_")
    other = People(Store.at(str(tmp_path / "other.db")))
    other.add("ann", [Role.ANALYST], by="root")
    with people.store.reading.begin() as connection:
        hashed = str(connection.execute(select(TOKENS.c.hash)).scalar())
    revoked = people.token("ann", by="root")
    people.person(revoked.token)
    people.revoke(revoked.id)
    people.add("gone", [Role.CURATOR], by="root")
    gone = people.token("gone", by="root")
    people.person(gone.token)
    people.remove("gone", by="root")
    clock.now -= timedelta(days=3)
    old = people.token("ann", by="root", days=1)
    people.person(old.token)
    clock.now += timedelta(days=3)
    made = [
        *(honest.token[:cut] for cut in range(len(honest.token))),
        *(other.token("ann", by="root").token for _ in range(2)),
        *(f"{prefix}_{number}_{secrets.token_hex(32)}" for _ in range(20)),
        *(f"{prefix}_{secrets.token_hex(8)}_{secret}" for _ in range(250)),
        *(Token.new().text for _ in range(450)),
        *[revoked.token, gone.token, old.token] * 10,
        *(f"{honest.token}{more}" for more in ("0", " ", "\n", "_", "\0", ".", "=")),
        *(f"{before}{honest.token}" for before in (" ", "\t", "Bearer ", "\0")),
        honest.token.upper(),
        honest.token.replace("rb_", "RB_"),
        honest.token.replace("_", "-"),
        f"{prefix}_{number.upper()}_{secret}",
        f"{prefix}_{number}_{secret.upper()}" if secret.upper() != secret else "",
        f"{prefix}_{number}_{secret[::-1]}",
        f"{prefix}_{number}_{hashed}",
        f"{prefix}_{number}_{hashed[-43:]}",
        f"{prefix}_{number}_{'٠' * 64}",
        f"{prefix}_' OR 1=1 --_{secret}",
        hashed,
        number,
        secret,
        "null",
        "None",
    ]
    claims: list[dict[str, Any]] = [
        {"iss": "https://login.example.org"},
        {"aud": "another"},
        {"exp": 1},
        {"nbf": 2**33},
        {"sub": None},
        {"roles": ["none of ours"]},
    ]
    made += [found.token(**wrong) for wrong in claims for _ in range(5)]
    made += of_openid(found)
    whole = found.token()
    made += [whole[:-cut] for cut in range(4, 300, 3)]
    return made

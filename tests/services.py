"""A service for the tests: a small dataset, a ledger, and people with tokens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.testclient import TestClient

from rainbowdp.ledger import Ledger
from rainbowdp.service.app import create_app
from rainbowdp.service.config import Settings, settings_of
from rainbowdp.service.people.roles import Expired, Person, Role, Unauthenticated

TOKENS = {"ann": "token-ann", "bob": "token-bob", "carl": "token-carl", "dora": "token-dora"}
ROLES = {
    "ann": {Role.ANALYST},
    "bob": {Role.ANALYST},
    "carl": {Role.CURATOR},
    "dora": {Role.AUDITOR},
}
ROWS = [
    ("flu", "north", 5, 61),
    ("flu", "south", 12, 30),
    ("cold", "north", 31, 45),
    ("flu", "south", 8, 71),
    ("fracture", "north", 55, 12),
]
COLUMNS: dict[str, Any] = {
    "diagnosis": {
        "title": "What they came with",
        "answers": ["flu", "cold", "fracture"],
        "other": True,
        "filter": "listed",
        "keys": True,
        "apply": ["lower"],
    },
    "district": {"groups": ["north", "south"], "answers": ["north", "south"], "filter": "any"},
    "wait": {"bins": [0, 10, 20, 40, 60], "filter": "listed", "weight": 10},
}
WINNER = {"kind": "winner", "answers": ["flu", "cold", "fracture"], "column": "diagnosis"}
EPSILON = {"epsilon": "0.5"}


class InMemory:
    """A directory of people that is a dictionary."""

    def __init__(self) -> None:
        self.people = {
            TOKENS[name]: Person(name, frozenset(roles)) for name, roles in ROLES.items()
        }
        self.expired = {"token-old"}

    def person(self, bearer: str) -> Person:
        if bearer in self.expired:
            raise Expired("This token has expired. Ask the curator for a new one.")
        found = self.people.get(bearer)
        if found is None:
            raise Unauthenticated("This token is not known here. Ask the curator for one.")
        return found

    def ready(self) -> None:
        return None

    def add(self, name: str, *roles: Role, expires: datetime | None = None) -> str:
        """Somebody new, by a token."""
        token = f"token-{name}-{datetime.now(UTC).timestamp()}"
        self.people[token] = Person(name, frozenset(roles), expires)
        return token


def write_data(folder: Path, copies: int = 40) -> Path:
    """A table of visits."""
    file = folder / "visits.csv"
    lines = [",".join(map(str, row)) for row in ROWS] * copies
    file.write_text("\n".join(["diagnosis,district,wait,age", *lines]) + "\n")
    return file


def make_settings(folder: Path, ledger: str | None = None, **changed: Any) -> Settings:
    """Settings with one dataset, whose data and ledger are made in a folder."""
    write_data(folder)
    place = ledger or str(folder / "visits.db")
    budget = changed.pop("budget", {"epsilon": "100"})
    of_the_dataset = changed.pop("dataset", {})
    Ledger.create(place, dataset="visits", by="carl", **budget)
    said = {
        "store": str(folder / "people.db"),
        "dataset": {
            "visits": {
                "title": "Visits",
                "data": "visits.csv",
                "ledger": place,
                "columns": COLUMNS,
                **of_the_dataset,
            }
        },
        **changed,
    }
    return settings_of(said, folder / "service.toml")


def make_app(folder: Path, **changed: Any) -> FastAPI:
    """The application, with people in memory."""
    return create_app(make_settings(folder, **changed), InMemory())


def headers(name: str, key: str | None = None) -> dict[str, str]:
    """What a request of somebody has."""
    found = {"Authorization": f"Bearer {TOKENS[name]}"}
    return found if key is None else {**found, "Idempotency-Key": key}


@contextmanager
def client(folder: Path, **changed: Any) -> Iterator[TestClient]:
    """A client of a service that runs in this process."""
    with TestClient(make_app(folder, **changed), raise_server_exceptions=False) as found:
        yield found

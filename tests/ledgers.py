"""Fresh places for ledgers in either database, and what is done with a ledger."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from postgres import connect, fresh_schema
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.ledger import Entry, Ledger

QUESTION = {"question": "winner", "column": "choice", "among": ["red", "green"]}
SUBSTITUTED = "substituted"
DATASET = "town-2026"
SOURCE = "votes, final count"


@pytest.fixture(params=["sqlite", "postgresql"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Fresh places for ledgers, in either database."""
    if request.param == "postgresql":
        url: str = request.getfixturevalue("postgres_url")
        return lambda: fresh_schema(url)
    numbers = iter(range(10**6))
    return lambda: str(tmp_path / f"budget {next(numbers)}?.db")


@pytest.fixture
def place(places: Callable[[], str]) -> str:
    """One fresh place."""
    return places()


def new_ledger(place: str | Path, **options: Any) -> Ledger:
    """A ledger for some dataset, and for one record unless the options say otherwise."""
    return Ledger.create(place, dataset=DATASET, **options)


def spend(ledger: Ledger, guarantee: Guarantee, name: str | None = None) -> Entry:
    """One payment from a source that may be recalled."""
    return ledger.spend(
        guarantee,
        question=QUESTION,
        unit=ledger.unit,
        neighbors=ledger.neighbors,
        source=SOURCE,
        name=name,
    )


def says(*parts: str) -> str:
    """A pattern for a message that starts, goes on and ends with these parts."""
    return "^" + ".*".join(re.escape(part) for part in parts) + "$"


def execute(place: str, statement: str) -> None:
    """One statement past the ledger, straight into its database."""
    if "://" in place:
        with connect(place) as connection:
            connection.execute(statement.encode())
    else:
        with sqlite3.connect(place) as database:
            database.execute(statement)
        database.close()

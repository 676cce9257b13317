"""Where a ledger is: made once, whole and durable, and never mistaken for something else."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import rainbowdp as rb
from ledgers import execute, says, spend
from postgres import connect, fresh_schema
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import DPCost, Ledger


def test_a_ledger_that_is_not_there(places: Callable[[], str]) -> None:
    place = places()
    with pytest.raises(
        LedgerError,
        match=says(
            "a ledger must be created before it is used, got none at ",
            "; create it with: rainbow ledger create ",
            " --epsilon 3",
        ),
    ):
        Ledger.open(place)
    Ledger.create(place, epsilon=1)


def test_a_ledger_is_created_once(place: str) -> None:
    ledger = Ledger.create(place, epsilon=1)
    spend(ledger, rb.DP("0.5"))
    with pytest.raises(
        LedgerError,
        match=says(
            "a ledger is created once, got a place that is taken, ",
            "; open it, or choose another place",
        ),
    ):
        Ledger.create(place, epsilon=5)
    assert ledger.balance().spent == DPCost(Fraction(1, 2), Fraction(0))


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("", "a ledger's place must be a path or an address, got ''"),
        ("a\0b", "a ledger's place must be a path or an address, got 'a\\x00b'"),
        (
            "mysql://me:secret@host/money",
            "a ledger's place must be a path or postgresql://user@host/database, got one that "
            "starts with mysql",
        ),
        (
            "postgresql://me:secret@host:port/money",
            "a ledger's place must be a path or postgresql://user@host/database, got one that "
            "starts with postgresql with an address that cannot be read",
        ),
    ],
)
def test_a_place_that_is_none(place: str, message: str) -> None:
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.open(place)
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.create(place, epsilon=1)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_timeout_is_a_number_of_seconds(tmp_path: Path, timeout: float) -> None:
    message = f"timeout must be a number of seconds in (0, 86400], got timeout={timeout}"
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.create(tmp_path / "budget.db", epsilon=1, timeout=timeout)


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    place = tmp_path / "none" / "budget.db"
    message = f"a ledger's folder must exist, got '{place}'; make the folder first"
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.create(place, epsilon=1)
    (tmp_path / "file").touch()
    with pytest.raises(LedgerError, match="got 'Not a directory' for"):
        Ledger.create(tmp_path / "file" / "budget.db", epsilon=1)


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    message = (
        "a ledger must be a file this user can open in a writable folder, got 'unable to open "
        f"database file' for '{tmp_path}'; correct the path or its permissions"
    )
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.open(tmp_path)


def foreign(where: object) -> str:
    return says(
        f"a ledger must be made by rainbowdp, got something else at {where}; correct the place, "
        "or create a ledger at a new one"
    )


@pytest.mark.parametrize("content", [b"", b"epsilon,delta\n", b"x" * 10_000])
def test_a_file_of_another_kind(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "budget.db"
    place.write_bytes(content)
    with pytest.raises(LedgerError, match=foreign(f"'{place}'")):
        Ledger.open(place)
    with pytest.raises(LedgerError, match="got a place that is taken"):
        Ledger.create(place, epsilon=1)
    assert place.read_bytes() == content


def test_a_database_of_another_kind(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    execute(str(place), "CREATE TABLE money (amount)")
    with pytest.raises(LedgerError, match=foreign(f"'{place}'")):
        Ledger.open(place)


def test_a_table_of_the_same_name(place: str) -> None:
    execute(place, "CREATE TABLE rainbow_budget (amount INTEGER)")
    with pytest.raises(LedgerError, match="got something else at"):
        Ledger.open(place)


def test_a_ledger_of_another_version(place: str) -> None:
    ledger = Ledger.create(place, epsilon=1)
    execute(place, "UPDATE rainbow_budget SET version = 2")
    message = (
        f"a ledger must be of version 1, got version 2 at {ledger.where}; use the release of "
        "rainbowdp that made it"
    )
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.open(place)


def test_a_sqlite_ledger_is_one_file_with_full_durability(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "budget.db", epsilon=1)
    spend(ledger, rb.DP(1))
    assert [path.name for path in tmp_path.iterdir()] == ["budget.db"]
    with ledger._store.write() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 3
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "delete"


def test_postgresql_commits_are_durable_whatever_the_default(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    Ledger.create(place, epsilon=1)
    careless = Ledger.open(place + "%20-csynchronous_commit%3Doff")
    with careless._store.write() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "on"


def test_nothing_is_stored_but_what_the_schema_says(place: str) -> None:
    ledger = Ledger.create(place, epsilon=1)
    ledger.record(spend(ledger, rb.DP(1), "name"), "red")
    query = "SELECT * FROM rainbow_entries"
    if "://" in place:
        with connect(place) as connection:
            columns = [column.name for column in connection.execute(query).description or ()]
    else:
        database = sqlite3.connect(place)
        columns = [column[0] for column in database.execute(query).description]
        database.close()
    assert columns == [
        *("number", "time", "name", "question", "guarantee"),
        *("epsilon", "delta", "mu_squared", "answer", "seal"),
    ]

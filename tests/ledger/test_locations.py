"""Where a ledger is: made once, whole and durable, and never mistaken for something else."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import rainbowdp as rb
from ledgers import execute, new_ledger, says, spend
from postgres import connect, fresh_schema
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import DPCost, Ledger


def test_a_ledger_that_is_not_there(places: Callable[[], str]) -> None:
    place = places()
    with pytest.raises(
        LedgerError,
        match=says(
            "There is no ledger at ",
            ". Create one with: rainbow ledger create ",
            " --dataset NAME --epsilon 3",
        ),
    ):
        Ledger.open(place)
    new_ledger(place, epsilon=1)


def test_a_ledger_is_created_once(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)
    spend(ledger, rb.DP("0.5"))
    with pytest.raises(
        LedgerError,
        match=says(
            f"{ledger.where} already exists and was left as it was. Open it, or create the ledger "
            "somewhere else."
        ),
    ):
        new_ledger(place, epsilon=5)
    assert ledger.balance().spent == DPCost(Fraction(1, 2), Fraction(0))


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("", "The place of a ledger must be a path or an address, got ''."),
        ("a\0b", "The place of a ledger must be a path or an address, got 'a\\x00b'."),
        (
            "mysql://me:secret@host/money",
            "A ledger cannot be kept at mysql://. Give the path of a file or "
            "postgresql://user@host/database.",
        ),
        (
            "postgresql://me:secret@host:port/money",
            "The postgresql:// address of the ledger is malformed. Give the path of a file or "
            "postgresql://user@host/database.",
        ),
    ],
)
def test_a_place_that_is_none(place: str, message: str) -> None:
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.open(place)
    with pytest.raises(LedgerError, match=says(message)):
        new_ledger(place, epsilon=1)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_timeout_is_a_number_of_seconds(tmp_path: Path, timeout: float) -> None:
    message = f"timeout must be a number of seconds between 0 and 86400, got timeout={timeout}."
    with pytest.raises(LedgerError, match=says(message)):
        new_ledger(tmp_path / "budget.db", epsilon=1, timeout=timeout)


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    place = tmp_path / "none" / "budget.db"
    message = f"There is no folder for {place}. Make the folder first."
    with pytest.raises(LedgerError, match=says(message)):
        new_ledger(place, epsilon=1)
    (tmp_path / "file").touch()
    with pytest.raises(LedgerError, match=r"cannot be opened: Not a directory\. Correct the path"):
        new_ledger(tmp_path / "file" / "budget.db", epsilon=1)


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    message = (
        f"{tmp_path} cannot be opened: unable to open database file. Correct the path, or make "
        "the file and its folder accessible to this user."
    )
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.open(tmp_path)


def foreign(where: object) -> str:
    return says(
        f"{where} is not a rainbowdp ledger. Correct the path or address, or create a ledger at a "
        "new one."
    )


@pytest.mark.parametrize("content", [b"", b"epsilon,delta\n", b"x" * 10_000])
def test_a_file_of_another_kind(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "budget.db"
    place.write_bytes(content)
    with pytest.raises(LedgerError, match=foreign(place)):
        Ledger.open(place)
    with pytest.raises(LedgerError, match="already exists and was left as it was"):
        new_ledger(place, epsilon=1)
    assert place.read_bytes() == content


def test_a_database_of_another_kind(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    execute(str(place), "CREATE TABLE money (amount)")
    with pytest.raises(LedgerError, match=foreign(place)):
        Ledger.open(place)


def test_a_table_of_the_same_name(place: str) -> None:
    execute(place, "CREATE TABLE rainbow_ledger (amount INTEGER)")
    with pytest.raises(LedgerError, match="is not a rainbowdp ledger"):
        Ledger.open(place)


def test_a_ledger_of_a_newer_version_is_refused_with_what_it_needs(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)
    execute(place, "UPDATE rainbow_ledger SET version = 5, software = 'rainbowdp 9.1'")
    message = (
        f"{ledger.where} is a ledger of version 5, written by rainbowdp 9.1, and this release, "
        f"rainbowdp {rb.__version__}, reads version 4. Install rainbowdp 9.1 or later."
    )
    for refused in (Ledger.open, Ledger.migrate):
        with pytest.raises(LedgerError, match=says(message)):
            refused(place)


@pytest.mark.parametrize("umask", [0o022, 0o000, 0o077])
def test_a_ledger_file_is_private(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
        spend(ledger, rb.DP(1))
    finally:
        os.umask(before)
    assert (tmp_path / "budget.db").stat().st_mode & 0o777 == 0o600


def test_a_message_names_a_ledger_as_it_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ledger = new_ledger("my budget.db", epsilon=1)
    assert ledger.where == "my budget.db"
    monkeypatch.chdir(tmp_path.parent)
    assert ledger.balance().entries == 0  # it is still where it was
    with pytest.raises(LedgerError, match=r"ledger create 'my budget\.db' --dataset"):
        Ledger.open("my budget.db")


def test_a_sqlite_ledger_is_one_file_with_full_durability(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    spend(ledger, rb.DP(1))
    assert [path.name for path in tmp_path.iterdir()] == ["budget.db"]
    with ledger._store.write() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 3
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "delete"


def test_postgresql_commits_are_durable_whatever_the_default(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    new_ledger(place, epsilon=1)
    careless = Ledger.open(place + "%20-csynchronous_commit%3Doff")
    with careless._store.write() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "on"


def test_nothing_is_stored_but_what_the_schema_says(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)
    ledger.record(spend(ledger, rb.DP(1), "name"), "red")
    query = "SELECT * FROM rainbow_records"
    if "://" in place:
        with connect(place) as connection:
            columns = [column.name for column in connection.execute(query).description or ()]
    else:
        database = sqlite3.connect(place)
        columns = [column[0] for column in database.execute(query).description]
        database.close()
    assert columns == ["number", "time", "kind", "name", "subject", "content", "seal"]

"""Locks and servers of other people: what a ledger says, and that nothing is spent."""

from __future__ import annotations

import re
import sqlite3
import sys
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy.exc import SQLAlchemyError

import rainbowdp as rb
from ledgers import new_ledger, says, spend
from postgres import connect, fresh_schema
from rainbowdp.errors import LedgerError, MissingExtra
from rainbowdp.ledger import Ledger


def test_a_sqlite_lock_held_by_someone_else(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = new_ledger(place, epsilon=1, timeout=0.2)
    other = sqlite3.connect(place, isolation_level=None)
    message = (
        f"{place} is locked by another process and was not free within 0.2 s. Try again, or allow "
        "a longer timeout. Nothing was spent."
    )
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match=says(message)):
        spend(ledger, rb.DP(1))
    assert ledger.balance().entries == 0
    other.execute("ROLLBACK")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerError, match=says(message.removesuffix(" Nothing was spent."))):
        ledger.balance()
    other.close()
    spend(ledger, rb.DP(1))


def test_a_reader_that_had_to_wait_still_sees_one_moment(tmp_path: Path) -> None:
    """Its transaction must have survived the first refusal."""
    place = tmp_path / "budget.db"
    ledger = new_ledger(place, epsilon=1)
    other = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    free = threading.Timer(0.1, lambda: other.execute("ROLLBACK"))
    free.start()
    with ledger._reading() as book:
        driver = book.connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        assert driver.in_transaction
    free.join()
    other.close()


def test_an_answer_that_cannot_be_recorded_is_told_as_paid(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = new_ledger(place, epsilon=1, timeout=0.2)
    first, second = spend(ledger, rb.DP("0.1")), spend(ledger, rb.DP("0.1"))
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    locked = (
        f"{place} is locked by another process and was not free within 0.2 s. Try again, or allow "
        "a longer timeout. "
    )
    one = "Entry 1 is paid for, and its answer was neither recorded nor shown."
    with pytest.raises(LedgerError, match=says(locked + one)):
        ledger.record(first, "red")
    both = "Entries 1 to 2 are paid for, and their answers were neither recorded nor shown."
    with pytest.raises(LedgerError, match=says(locked + both)):
        ledger.record_all([(first, "red"), (second, "red")])
    with pytest.raises(LedgerError, match=says(f"{locked}Nothing was changed.")):
        ledger.note("hello")
    other.close()
    assert ledger.record(first, "red").answer == "red"


@pytest.mark.slow
@pytest.mark.parametrize("table", ["rainbow_ledger", "rainbow_records"])
def test_no_read_of_postgresql_waits_longer_than_it_may(postgres_url: str, table: str) -> None:
    place = fresh_schema(postgres_url)
    ledger = new_ledger(place, epsilon=1, timeout=0.2)
    message = f"{ledger.where} is locked by another process and was not free within 0.2 s. "
    with connect(place) as other, other.transaction():
        other.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE".encode())
        for work in (
            ledger.balance,
            ledger.history,
            ledger.verify,
            lambda: Ledger.open(place, timeout=0.2),
            lambda: spend(ledger, rb.DP(1)),
        ):
            with pytest.raises(LedgerError, match=re.escape(message)):
                work()
    spend(ledger, rb.DP(1))


def test_a_password_is_never_shown(postgres_url: str) -> None:
    for place in (
        "postgresql://me:secret@127.0.0.1:1/money",
        "postgresql://me@127.0.0.1:1/money?password=secret&sslpassword=secret",
    ):
        for refused in (Ledger.open, Ledger.migrate):
            with pytest.raises(LedgerError) as caught:
                refused(place)
            assert "secret" not in str(caught.value)
            assert "***" in str(caught.value)
    ledger = new_ledger(fresh_schema(postgres_url) + "&password=secret", epsilon=1)
    assert "secret" not in repr(ledger)


def test_a_postgresql_lock_held_by_someone_else(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    ledger = new_ledger(place, epsilon=1, timeout=0.2)
    message = (
        f"{ledger.where} is locked by another process and was not free within 0.2 s. Try again, or "
        "allow a longer timeout. Nothing was spent."
    )
    with connect(place) as other:
        with other.transaction():
            other.execute("SELECT * FROM rainbow_ledger FOR UPDATE")
            with pytest.raises(LedgerError, match=says(message)):
                spend(ledger, rb.DP(1))
        assert ledger.balance().entries == 0
    spend(ledger, rb.DP(1))


def test_a_server_that_goes_away(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    ledger = new_ledger(place, epsilon=1)
    failures: list[Exception] = []

    def ask() -> None:
        try:
            spend(ledger, rb.DP(1))
        except LedgerError as error:
            failures.append(error)

    stop = b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with connect(place) as other, connect(place) as master, other.transaction():
        other.execute("SELECT * FROM rainbow_ledger FOR UPDATE")
        asking = threading.Thread(target=ask)
        asking.start()
        while asking.is_alive() and not master.execute(stop).fetchall():
            time.sleep(0.01)
        asking.join()
    assert re.match(
        says(
            f"The connection to {ledger.where} was lost: terminating connection",
            ". The question may have been paid for: look at the history before you ask again.",
        ),
        str(failures[0]),
    )
    assert ledger.balance().entries == 0


def test_a_server_that_cannot_be_reached() -> None:
    place = "postgres://me:secret@127.0.0.1:1/money"
    with pytest.raises(
        LedgerError,
        match=says(
            "The server of postgres://me:***@127.0.0.1:1/money cannot be reached: connection "
            "failed",
            ". Start the server, or correct the address.",
        ),
    ):
        Ledger.open(place)
    with pytest.raises(LedgerError, match=r"The server of .* cannot be reached: "):
        new_ledger(place, epsilon=1)


def test_a_database_that_is_not_there(postgres_url: str) -> None:
    message = 'database "nowhere" does not exist'
    with pytest.raises(LedgerError, match=message):
        Ledger.open(postgres_url.removesuffix("postgres") + "nowhere")


def test_a_server_that_is_read_only(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    ledger = new_ledger(place, epsilon=1)
    closed = Ledger.open(place + "%20-cdefault_transaction_read_only%3Don")
    message = (
        f"{closed.where} is read-only. Make it and its folder writable for this user. Nothing was "
        "spent."
    )
    with pytest.raises(LedgerError, match=says(message)):
        spend(closed, rb.DP(1))
    assert closed.balance() == ledger.balance()


def test_every_spelling_of_an_address(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    new_ledger(place, epsilon=1)
    for scheme in ("postgresql", "postgres"):
        assert Ledger.open(place.replace("postgresql+psycopg", scheme)).kind == "dp"


def test_a_missing_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match="this needs psycopg: pip install 'rainbowdp\\[postgre"):
        Ledger.open("postgresql://me@host/money")


def test_errors_of_the_database_stay_behind_ours(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    place.write_text("not a ledger, and long enough to be looked at\n" * 100)
    with pytest.raises(LedgerError) as caught:
        Ledger.open(place)
    assert isinstance(caught.value.__cause__, SQLAlchemyError)
    assert not isinstance(caught.value, SQLAlchemyError)

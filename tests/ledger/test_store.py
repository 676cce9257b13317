"""How a database is reached: with which words, for how long, and what is told if it is not."""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import NullPool, QueuePool, event
from sqlalchemy.exc import DBAPIError

import rainbowdp as rb
from ledgers import execute, new_ledger, says, spend
from postgres import fresh_schema
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import Ledger, store
from rainbowdp.ledger.store import Store

# places and times


@pytest.mark.parametrize(
    ("place", "got"),
    [
        *((7, "int"), (None, "NoneType"), (b"budget.db", "bytes")),
        *(("", "''"), ("a\0b", r"'a\x00b'"), ("\ud800", r"'\ud800'"), ("a\udfff", r"'a\udfff'")),
    ],
)
def test_what_is_no_place(place: Any, got: str) -> None:
    message = f"The place of a ledger must be a path or an address, got {got}."
    with pytest.raises(LedgerError, match=says(message)):
        Store.at(place, 1)


def test_an_address_that_is_of_no_server_of_ours() -> None:
    with pytest.raises(LedgerError, match=r"^A ledger cannot be kept at mysql://\. Give the path"):
        Store.at("mysql://me:secret@host/money", 1)
    with pytest.raises(LedgerError, match=r"^The postgresql:// address of the ledger is malformed"):
        Store.at("postgresql://me:secret@host:port/money", 1)


@pytest.mark.parametrize("timeout", [0.001, 1, 86_400])
def test_every_time_up_to_a_day_may_be_waited(tmp_path: Path, timeout: float) -> None:
    assert Store.at(tmp_path / "budget.db", timeout).timeout == timeout


def test_nothing_waits_longer_than_a_day(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="between 0 and 86400"):
        Store.at(tmp_path / "budget.db", 86_401)


@pytest.mark.parametrize(
    ("given", "timeout", "waits"),
    [
        ("", 2.0005, {"connect_timeout": "3", "tcp_user_timeout": "2001"}),
        ("", 7, {"connect_timeout": "7", "tcp_user_timeout": "7000"}),
        ("?connect_timeout=9", 2, {"connect_timeout": "9", "tcp_user_timeout": "2000"}),
        ("?tcp_user_timeout=9", 2, {"connect_timeout": "2", "tcp_user_timeout": "9"}),
    ],
)
def test_a_server_is_waited_for_as_long_as_it_was_said(
    given: str, timeout: float, waits: dict[str, str]
) -> None:
    found = Store.at(f"postgresql://me@host/money{given}", timeout)
    assert dict(found.engine.url.query) == waits
    assert found.engine.url.drivername == "postgresql+psycopg"


def test_no_more_connections_are_kept_than_it_was_said() -> None:
    pool = Store.at("postgresql://me@host/money", 3, connections=2).engine.pool
    assert isinstance(pool, QueuePool)
    assert (pool.size(), pool._max_overflow, pool._timeout) == (2, 0, 3)


def test_a_statement_on_a_server_waits_as_long_as_it_was_said(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    new_ledger(place, epsilon=1)
    found = Store.at(place, 2.0005)
    for begun in (found.read, found.write):
        with begun() as connection:
            for setting, wait in (("lock_timeout", 2001), ("statement_timeout", 3001)):
                said = connection.exec_driver_sql(f"SHOW {setting}").scalar_one()
                assert said == f"{wait}ms"
    with found._begun(None) as connection:
        assert connection.exec_driver_sql("SHOW lock_timeout").scalar_one() == "0"


# the lock of a file


class Time:
    """A clock that goes on only while somebody sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self.sleep)
        monkeypatch.setattr(random, "uniform", lambda least, most: (least + most) / 2)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += 1


def failing(code: int, times: int) -> Callable[[], None]:
    """Fails so many times with this code of SQLite."""
    left = [None] * times

    def action() -> None:
        if left:
            left.pop()
            error = sqlite3.OperationalError("told")
            error.sqlite_errorcode = code
            raise error

    return action


@pytest.mark.parametrize("code", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_SNAPSHOT])
def test_a_lock_is_waited_for_until_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    clock = Time(monkeypatch)
    store._patiently(failing(code, 0), 5)
    assert clock.slept == []
    store._patiently(failing(code, 5), 5)
    assert clock.slept == [sum(store._PAUSE) / 2] * 5
    with pytest.raises(sqlite3.OperationalError):
        store._patiently(failing(code, 6), 5)
    assert len(clock.slept) == 10


@pytest.mark.parametrize(
    "code", [sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, 4, 0x105 & ~5]
)
def test_what_is_no_lock_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    clock = Time(monkeypatch)
    with pytest.raises(sqlite3.OperationalError):
        store._patiently(failing(code, 1), 5)
    assert clock.slept == []


def test_whoever_pays_waits_for_whoever_still_reads(tmp_path: Path) -> None:
    """At the end of a transaction, where SQLite lets no new readers in."""
    place = tmp_path / "budget.db"
    ledger = new_ledger(place, epsilon=1)
    reader = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM rainbow_ledger").fetchall()
    done = threading.Timer(0.1, lambda: reader.execute("ROLLBACK"))
    done.start()
    spend(ledger, rb.DP(1))
    done.join()
    reader.close()
    assert ledger.balance().entries == 1


def test_a_file_is_kept_in_one_piece_though_somebody_set_it_otherwise(tmp_path: Path) -> None:
    """A write-ahead log would be a second file, without which a copy has lost payments."""
    place = tmp_path / "budget.db"
    ledger = new_ledger(place, epsilon=1)
    other = sqlite3.connect(place)
    assert other.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    other.close()
    spend(ledger, rb.DP("0.1"))
    assert [path.name for path in tmp_path.iterdir()] == ["budget.db"]
    assert place.read_bytes()[18:20] == b"\1\1"  # what says so in the file


# what goes wrong


@pytest.mark.parametrize("times", [1, 2])
def test_a_connection_that_was_cut_off_is_replaced_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    spend(ledger, rb.DP("0.1"), "a")
    begun, left = Store._begun, [None] * times
    cause = sqlite3.OperationalError("cut")
    cause.sqlite_errorname = "SQLITE_IOERR"

    def cut(self: Store, writing: bool | None) -> Any:
        if left:
            left.pop()
            raise DBAPIError("", None, cause, connection_invalidated=True)
        return begun(self, writing)

    monkeypatch.setattr(Store, "_begun", cut)
    if times == 1:
        assert ledger._store.known_names(["a", "b"]) == {"a"}
    else:
        with pytest.raises(LedgerError, match="could not be read or written: cut"):
            ledger._store.known_names(["a", "b"])


class Connected:
    """A connection that fails so, or begins."""

    def __init__(self, error: BaseException | None) -> None:
        self.error, self.info, self.open = error, dict[str, Any](), True

    def begin(self) -> None:
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        self.open = False


def begun(errors: list[BaseException | None], pool: object) -> tuple[Any, list[Connected]]:
    """What comes of beginning where the connections fail so, and the connections."""
    made: list[Connected] = []

    def connect() -> Connected:
        made.append(Connected(errors[len(made)]))
        return made[-1]

    engine: Any = SimpleNamespace(pool=pool, connect=connect)
    try:
        return Store("here", 1, engine, None)._begun(True), made
    except BaseException as error:
        return error, made


def test_a_kept_connection_is_replaced_once_and_only_if_it_was_cut() -> None:
    nothing: Any = None
    kept, alone = object(), NullPool(nothing)
    cut, refused = (
        DBAPIError("", None, sqlite3.OperationalError(), connection_invalidated=invalidated)
        for invalidated in (True, False)
    )
    interrupt = KeyboardInterrupt()
    cases: list[tuple[list[BaseException | None], object, Any]] = [
        ([None], kept, 0),
        ([None], alone, 0),
        ([cut, None], kept, 1),
        ([cut, cut, None], kept, cut),
        ([cut, refused, None], kept, refused),
        ([cut, None], alone, cut),
        ([refused, None], kept, refused),
        ([interrupt, None], kept, interrupt),
    ]
    for errors, pool, outcome in cases:
        found, made = begun(errors, pool)
        assert found is (made[outcome] if isinstance(outcome, int) else outcome)
        assert [one.open for one in made] == [one is found for one in made]
        assert all(one.info == {"rainbow_writing": True} for one in made)


def test_names_that_cannot_be_looked_for_are_told_in_our_words(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    execute(ledger.where, "DROP TABLE rainbow_records")
    with pytest.raises(LedgerError, match=says(f"{ledger.where} is not a rainbowdp ledger. ", "")):
        ledger._store.known_names(["a"])


def written_and_failed(ledger: Ledger) -> None:
    with ledger._writing() as book:
        book.add([ledger._signed("note", {"text": "hello", "entry": None})])
        book.write()
        raise ZeroDivisionError


def test_errors_that_are_not_the_databases_are_left_as_they_are(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    with pytest.raises(ZeroDivisionError):
        written_and_failed(ledger)
    assert ledger.head().number == 1
    with pytest.raises(LedgerError, match="is damaged"), ledger._reading():
        b"\xff".decode()  # as where SQLite gives text that is none


def test_a_new_ledger_is_on_disk_under_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[Path, list[str]]] = []

    def sync(folder: Path) -> None:
        synced.append((folder, [path.name for path in folder.iterdir()]))

    monkeypatch.setattr(store, "sync_folder", sync)
    new_ledger(tmp_path / "budget.db", epsilon=1)
    [(folder, names)] = synced
    assert folder == tmp_path
    assert "budget.db" in names


def test_a_table_on_a_server_that_is_in_the_way_is_not_written_to(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    columns = ("number int", *(f"{name} text" for name in ("time", "kind", "name", "content")))
    execute(place, f"CREATE TABLE rainbow_records ({', '.join(columns)}, subject int, seal text)")
    with pytest.raises(LedgerError, match="already exists and was left as it was"):
        new_ledger(place, epsilon=1)


# on a server


def test_a_transaction_on_a_server_that_wrote_is_ended_once(postgres_url: str) -> None:
    """Its end is in the message that writes."""
    ledger = new_ledger(fresh_schema(postgres_url), epsilon=1)
    sent: list[str] = []

    def note(*given: Any) -> None:
        sent.append(given[2])

    event.listen(ledger._store.engine, "before_cursor_execute", note)
    ledger.note("hello")
    assert sum("; COMMIT" in statements for statements in sent) == 1
    assert sent[0].startswith("BEGIN ISOLATION LEVEL READ COMMITTED; ")
    ledger.balance()
    assert sum("; COMMIT" in statements for statements in sent) == 2


def test_a_transaction_on_a_server_that_fails_is_taken_back(postgres_url: str) -> None:
    ledger = new_ledger(fresh_schema(postgres_url), epsilon=1)
    with pytest.raises(ZeroDivisionError), ledger._writing():
        raise ZeroDivisionError
    with pytest.raises(UnicodeDecodeError), ledger._writing():
        b"\xff".decode()  # of whoever works with the ledger: a server's text is always text
    assert ledger.head().number == 1
    assert spend(ledger, rb.DP("0.1"), "a").number == 1


def test_a_file_that_was_swapped_is_told(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = new_ledger(place, epsilon=1)
    copy = new_ledger(tmp_path / "copy.db", epsilon=1)
    for begun in (ledger._store.read, ledger._store.write):
        with pytest.raises(LedgerError, match="was replaced by another file"), begun():
            Path(copy.where).replace(place)
        copy = new_ledger(tmp_path / "copy.db", epsilon=1)

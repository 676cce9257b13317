"""The way for any database counts what the ways for some count, and says what is missing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import rainbowdp as rb
from matching import COLUMNS
from postgres import connect, fresh_schema
from rainbowdp.questions import limited
from rainbowdp.tables import any_database, count
from rainbowdp.tables.any_database import _rows, work_there
from rainbowdp.tables.named import NamedTable
from rainbowdp.tables.prepared import counted
from rainbowdp.tables.values import counts_by_name

ON = rb.Winner(["on", "off"], "x")


def generally(url: str, table: str, question: Any) -> dict[str, int]:
    """The counts by the way for any database."""
    address = sa.make_url(url)
    found = work_there(address, NamedTable(table), question, lambda made: counted(made, None))
    return counts_by_name(question, found)


@pytest.mark.parametrize("name", list(COLUMNS))
def test_it_counts_what_the_way_for_postgresql_counts(name: str, postgres_url: str) -> None:
    column, url = COLUMNS[name], fresh_schema(postgres_url)
    with connect(url) as connection:
        connection.execute(f"CREATE TABLE t (x {column.postgres}, who int)".encode())
        for value in column.values:
            connection.execute("INSERT INTO t VALUES (%s, 1)", (value,))
    for question in (column.questions[0], column.questions[-1]):
        found = count(rb.SQLTable(url, "t"), question)
        assert any(found.values())
        assert generally(url, "t", question) == found
    assert generally(url, "t", limited(question, 9, "who")) == found


def test_dates_that_the_driver_cannot_represent_are_alone(postgres_url: str) -> None:
    url = fresh_schema(postgres_url)
    with connect(url) as connection:
        connection.execute("CREATE TABLE t (x date)")
        for value in ("infinity", "2024-02-29", "4000-01-01 BC", "2024-02-29", "-infinity"):
            connection.execute("INSERT INTO t VALUES (%s)", (value,))
    assert generally(url, "t", rb.Threshold(1, "x", equals="2024-02-29")) == {"matching": 2}


def test_it_counts_what_the_way_for_sqlite_counts(tmp_path: Path) -> None:
    types = "i INTEGER, r REAL, t TEXT, d DATE, b BOOLEAN, c NUMERIC(9, 2), who VARCHAR(9)"
    rows: list[tuple[Any, ...]] = [
        (1, 1.5, "a", "2024-12-31", 1, 2.5, "p"),
        (2, 3, "A", "2025-01-01", 0, 3, "p"),
        (2**53 + 1, 1e400, "a ", "2025-1-1", 7, 0.1, "P"),
        ("x", "x", b"a", b"2024-12-31", "true", "x", b"p"),
        (None,) * 7,
    ]
    path = tmp_path / "t.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE t ({types})")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    connection.close()
    questions: list[Any] = [
        rb.Winner(["1", str(2**53 + 1)], "i"),
        rb.Quantile("1/2", [0, 2, 9], "i"),
        rb.Quantile("1/2", [0, 2, 9], "r"),
        rb.Winner(["1.5", "3"], "r"),
        rb.Winner(["a", "A"], "t"),
        rb.Winner(["2024-12-31", "2025-01-01"], "d"),
        rb.Quantile("1/2", ["2024-01-01", "2025-01-01", None], "d"),
        rb.Winner(["true", "false"], "b"),
        rb.Winner(["2.5", "0.1"], "c"),
        rb.Quantile("1/2", [0, 3, 9], "c"),
    ]
    url = f"sqlite:///{path}"
    for question in questions:
        found = count(rb.SQLTable(url, "t"), question)
        assert sum(found.values()) >= 2
        assert generally(url, "t", question) == found, question
    assert generally(url, "t", limited(questions[4], 9, "who")) == {"a": 1, "A": 1}


@pytest.mark.parametrize(
    ("url", "package"),
    [
        ("oracle", "oracledb"),
        ("mssql", "pyodbc"),
        ("mysql+mysqldb", "mysqlclient"),
        ("mysql+mysqlconnector", "mysql-connector-python"),
        ("trino", "'trino[sqlalchemy]'"),
        ("snowflake", "snowflake-sqlalchemy"),
    ],
)
def test_a_missing_driver_is_named(url: str, package: str) -> None:
    with pytest.raises(rb.MissingExtra) as caught:
        count(rb.SQLTable(f"{url}://ann:hunter2@db.example/town", "t"), ON)
    assert str(caught.value) == f"this needs {package}: pip install {package}"


def test_addresses_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for url, part in (
        ("nosql://ann:hunter2@db.example/town", "no SQLAlchemy dialect is installed for nosql://"),
        ("mysql://ann:hun@ter2@db.example/town", "write an @ in a password as %40"),
        ("mysql://ann:hunter2@127.0.0.1:1/town", "mysql at 127.0.0.1/town cannot be reached"),
    ):
        with pytest.raises(rb.UnreadableTable) as caught:
            count(rb.SQLTable(url, "t"), ON)
        assert part in str(caught.value)
        assert "ter2" not in str(caught.value)
    monkeypatch.setattr(any_database, "_DRIVERS", {"sqlite": "aiosqlite"})
    monkeypatch.setattr(sa, "create_engine", lambda *_, **__: _Asynchronous)
    with pytest.raises(rb.UnreadableTable, match="is asynchronous: name one that is not"):
        generally("sqlite://", "t", ON)


class _Asynchronous:
    class dialect:  # noqa: N801
        is_async = True


class _Errors:
    class Error(Exception):
        pass

    class DataError(Error):
        pass


class _Cursor:
    """A cursor that gives rows and raises errors, and then perhaps the last error for ever."""

    def __init__(self, given: list[Any], stuck: bool = False) -> None:
        self._given, self._stuck = given, stuck

    def fetchone(self) -> Any:
        if not self._given:
            return None
        stays = self._stuck and len(self._given) == 1
        found = self._given[0] if stays else self._given.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


def taken(cursor: _Cursor) -> Iterator[Any]:
    return _rows(cursor, _Errors)


def test_rows_that_a_driver_cannot_read_are_left_out_one_by_one() -> None:
    bad: list[Any] = [ValueError("Ann"), _Errors.DataError("Ann")]
    assert list(taken(_Cursor([(1,), *bad, (2,), *bad]))) == [(1,), None, None, (2,), None, None]


def test_a_lost_connection_is_an_error() -> None:
    with pytest.raises(_Errors.Error):
        list(taken(_Cursor([(1,), _Errors.Error("gone")])))


def test_a_driver_that_does_not_go_on_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(any_database, "_HOPELESS", 9)
    with pytest.raises(ValueError, match="Ann"):
        list(taken(_Cursor([(1,), ValueError("Ann")], stuck=True)))

"""A condition leaves the same records in every engine as in plain Python."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings

from mariadb import fresh_database, run
from postgres import connect, fresh_schema
from rainbowdp.questions import Winner
from rainbowdp.tables import SQLTable, any_database
from rainbowdp.tables.named import NamedTable
from rainbowdp.tables.prepared import Prepared
from rainbowdp.tables.prepared import counted as counted_in
from rainbowdp.tables.values import counts_by_name

from .where_oracle import Record, Tree, text
from .where_tables import (
    FIELD_VALUES,
    FUNCTIONS,
    IDS,
    IN_PROCESS,
    IN_SQLITE,
    LITERALS,
    ROWS,
    SCHEMA,
    TYPED,
    Files,
    counted,
    expected,
    trees,
)


def check(engines: dict[str, Any], names: list[str], tree: Tree) -> None:
    want, where = expected(tree), text(tree)
    for name in names:
        assert counted(engines[name], where) == want, (name, where)


relaxed = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], print_blob=False
)
few = settings(relaxed, max_examples=6)
many = settings(relaxed, max_examples=60)


@few
@given(trees(TYPED))
def test_typed_engines(engines: dict[str, Any], tree: Tree) -> None:
    check(engines, IN_PROCESS, tree)


@pytest.mark.slow
@many
@given(trees(TYPED))
def test_typed_engines_often(engines: dict[str, Any], tree: Tree) -> None:
    check(engines, IN_PROCESS, tree)


@few
@given(trees(IN_SQLITE))
def test_sqlite(engines: dict[str, Any], tree: Tree) -> None:
    check(engines, ["sqlite"], tree)


@pytest.mark.slow
@many
@given(trees(IN_SQLITE))
def test_sqlite_often(engines: dict[str, Any], tree: Tree) -> None:
    check(engines, ["sqlite"], tree)


def in_text(tree: Tree) -> Tree | None:
    """The same tree for a text file; None where that would be another question."""
    if tree[0] == "not":
        part = in_text(tree[1])
        return None if part is None else ("not", part)
    if tree[0] in ("and", "or"):
        parts = [in_text(part) for part in tree[1]]
        return None if None in parts else (tree[0], parts)
    word, column, function, _ = tree
    dated = column in ("day", "time", "instant") and function is None
    if column == "flag" or (dated and word not in ("<", "<=", ">", ">=", "between")):
        return None
    if "null" in word and column not in ("choice", "day"):
        return None
    return tree


def as_texts(row: Record) -> Record:
    """What a text file holds of a record: whole numbers and decimals are floats there."""
    numbers = {
        name: None if row[name] is None else float(row[name]) for name in ("whole", "real", "price")
    }
    return row | numbers


def check_texts(engines: dict[str, Any], tree: Tree) -> None:
    same = in_text(tree)
    if same is None:
        return
    want = expected(same, [as_texts(row) for row in ROWS])
    for name in ("csv", "json_lines"):
        assert counted(engines[name], text(same)) == want, (name, text(same))


TEXTUAL = [name for name in TYPED if name != "flag"]


@settings(few, max_examples=12)
@given(trees(TEXTUAL))
def test_text_files(engines: dict[str, Any], tree: Tree) -> None:
    check_texts(engines, tree)


@pytest.mark.slow
@many
@given(trees(TEXTUAL))
def test_text_files_often(engines: dict[str, Any], tree: Tree) -> None:
    check_texts(engines, tree)


# --- Servers ------------------------------------------------------------------------------------

WORDS = ["=", "<>", "in", "not in", "<", "<=", ">", ">=", "between", "is null", "is not null"]


def every_test(columns: list[str]) -> list[Tree]:
    """Every word with every column and function."""
    found: list[Tree] = []
    for column in columns:
        for function in [None, *FUNCTIONS.get(column, [])]:
            literals = FIELD_VALUES.get(str(function), LITERALS[column])
            ordered = column not in ("choice", "flag")
            for place, word in enumerate(WORDS):
                if ordered or word not in ("<", "<=", ">", ">=", "between"):
                    size = (
                        0 if "null" in word else {"in": 2, "not in": 2, "between": 2}.get(word, 1)
                    )
                    values = [literals[(place + i) % len(literals)] for i in range(size)]
                    found.append((word, column, function, values))
    return found


def joined(columns: list[str], every: int) -> list[Tree]:
    """Some tests, and the opposite of one's being true while the next one is false."""
    alone = every_test(columns)[::every]
    pairs = pairwise(alone)
    return [*alone, *(("not", ("and", [one, ("not", other)])) for one, other in pairs)]


def postgres_table(url: str, rows: list[Record]) -> SQLTable:
    address = fresh_schema(url)
    with connect(address) as connection:
        connection.execute(
            "CREATE TABLE t (id text, choice varchar, whole int8, real float8, "
            "price numeric(10, 2), flag bool, day date, time timestamp, instant timestamptz)"
        )
        columns = ", ".join(SCHEMA.names)
        with connection.cursor().copy(f"COPY t ({columns}) FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row([row[name] for name in SCHEMA.names])
    return SQLTable(address, "t")


@pytest.mark.slow
def test_postgres(postgres_url: str) -> None:
    table = postgres_table(postgres_url, ROWS)
    for tree in joined(TYPED, 7):
        assert counted(table, text(tree)) == expected(tree), text(tree)


def test_odd_values_of_postgres_are_alone(postgres_url: str) -> None:
    table = postgres_table(postgres_url, ROWS[:5])
    with connect(table.url) as connection:
        connection.execute(
            "INSERT INTO t VALUES ('r5', 'x', 1, 'NaN', 'NaN', NULL, 'infinity', 'infinity', "
            "'-infinity'), ('r6', 'x', 1, 'infinity', 0, NULL, '4713-01-01 BC', '294276-12-31', "
            "'4713-01-01 BC'), ('r7', 'x', 1, '-infinity', 0, NULL, '5874897-12-31', "
            "'0044-03-15 BC', '294276-12-31 12:00+00')"
        )
    for field, least in (("year", 0), ("month", 0), ("day", 0), ("hour", -1)):
        for column in ("day", "time", "instant"):
            where = f"{field}({column}) > {least} or {field}({column}) <= {least}"
            known = {row["id"] for row in ROWS[:5] if row[column] is not None}
            assert counted(table, where) == known
            missing = {"r5", "r6", "r7"} | {row["id"] for row in ROWS[:5] if row[column] is None}
            assert counted(table, f"{field}({column}) is null") == missing
    assert "r5" not in counted(table, "real > 0 or real <= 0 or price > 0 or price <= 0")
    assert counted(table, "real > 1e300") == {"r6"}
    assert {"r5", "r6", "r7"} & counted(table, "day >= '2024-01-01'") == {"r5", "r7"}


def in_mariadb(row: Record) -> Record:
    """What MariaDB can hold of a record: neither NaN nor infinity, and no times before 1970."""
    real = row["real"]
    finite = real is not None and math.isfinite(real)
    return row | {"real": real if finite else None}


@pytest.mark.slow
def test_mariadb(mariadb_url: str) -> None:
    rows = [in_mariadb(row) for row in ROWS]
    address = fresh_database(mariadb_url)
    run(
        address,
        "CREATE TABLE t (id VARCHAR(9), choice VARCHAR(9) COLLATE utf8mb4_general_ci, "
        "whole BIGINT, `real` DOUBLE, price DECIMAL(10, 2), day DATE, time DATETIME(6))",
    )
    names = ["id", "choice", "whole", "real", "price", "day", "time"]
    values = ", ".join(f"({', '.join(_mariadb(row[name]) for name in names)})" for row in rows)
    run(address, f"INSERT INTO t VALUES {values}")
    for tree in joined(names[1:], 13):
        assert counted(SQLTable(address, "t"), text(tree)) == expected(tree, rows), text(tree)


def _mariadb(value: Any) -> str:
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int | Decimal) else _quoted(value)


def _quoted(value: Any) -> str:
    return "'" + (repr(value) if isinstance(value, float) else str(value)).replace("'", "''") + "'"


def test_any_database(files: Files) -> None:
    """Through the driver of SQLite, as a database that does not count itself."""
    table = files.sqlite(ROWS)
    url = sa.make_url(table.url)

    def work(prepared: Prepared) -> dict[str, int]:
        return counts_by_name(prepared.question, counted_in(prepared, 0))

    def there(where: str) -> set[str]:
        asked = Winner(IDS, "id", where=where)
        found = any_database.work_there(url, NamedTable("t"), asked, work)
        return {name for name, records in found.items() if records}

    for tree in joined(IN_SQLITE, 7):
        assert there(text(tree)) == expected(tree), text(tree)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("zone", "columns", "every"),
    [("UTC", TYPED, 14), ("America/New_York", ["day", "time", "instant"], 10)],
)
def test_spark(spark: Any, files: Files, zone: str, columns: list[str], every: int) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    frame = session.read.parquet(str(files.parquet(ROWS)))
    for tree in joined(columns, every):
        assert counted(frame, text(tree)) == expected(tree), text(tree)
    assert counted(
        frame.selectExpr("id", "collate(choice, 'UTF8_LCASE') AS choice"), "choice = 'red'"
    ) == (expected(("=", "choice", None, ["red"])))

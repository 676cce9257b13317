"""How a value that a driver gives is read, by the reflected type of its column alone."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from importlib import import_module
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql

from rainbowdp.tables.any_database import _plain
from rainbowdp.tables.declared import declared
from rainbowdp.tables.held import DECIMALS, TEXT, TRUTHS, Real

mssql: Any = import_module("sqlalchemy.dialects.mssql")  # whose types have no annotations
oracle: Any = import_module("sqlalchemy.dialects.oracle")
EAST = timezone(timedelta(hours=5, minutes=30))
ODD: list[Any] = [None, [1], object(), b"\xff", timedelta(1), time(1), math.nan, Decimal("sNaN")]


@pytest.mark.parametrize(
    ("type_", "dialect", "held"),
    [
        (sa.Boolean(), "trino", TRUTHS),
        (mssql.BIT(), "mssql", TRUTHS),
        (mysql.FLOAT(), "mysql", Real(32)),
        (mysql.DOUBLE(), "mysql", Real(64)),
        (sa.REAL(), "sqlite", Real(64)),
        (sa.REAL(), "trino", Real(32)),
        (mssql.REAL(), "mssql", Real(32)),
        (oracle.BINARY_FLOAT(), "oracle", Real(32)),
        (oracle.FLOAT(), "oracle", Real(64)),
        (oracle.NUMBER(), "oracle", DECIMALS),
        (mysql.DECIMAL(65, 30), "mariadb", DECIMALS),
        (mysql.ENUM("a"), "mysql", TEXT),
        (mysql.SET("a"), "mysql", TEXT),
        (mysql.LONGTEXT(), "mysql", TEXT),
        (mssql.NTEXT(), "mssql", TEXT),
        (oracle.NCLOB(), "oracle", TEXT),
        (mssql.UNIQUEIDENTIFIER(), "mssql", TEXT),
    ],
)
def test_what_a_type_holds(type_: Any, dialect: str, held: Any) -> None:
    found = declared(type_, dialect)
    assert found is not None
    assert found.held == held
    assert found.identifies is not isinstance(held, Real)
    for value in ODD:
        assert _plain(found.read, value) is None


def test_what_a_type_is_called() -> None:
    for type_, name in (
        (mysql.TINYINT(1), "whole numbers"),
        (mysql.BIGINT(unsigned=True), "whole numbers"),
        (mysql.YEAR(), "whole numbers"),
        (sa.Date(), "dates"),
        (oracle.DATE(), "times without a time zone"),
        (mssql.DATETIME2(), "times without a time zone"),
        (mssql.DATETIMEOFFSET(), "times with a time zone"),
        (sa.TIMESTAMP(timezone=True), "times with a time zone"),
    ):
        found = declared(type_, "any")
        assert found is not None
        assert found.held is not None
        assert found.held.name == name


@pytest.mark.parametrize(
    "type_",
    [
        sa.JSON(),
        sa.Time(),
        sa.Interval(),
        sa.ARRAY(sa.Integer),
        sa.types.NullType(),
        mysql.BIT(1),
        mssql.SQL_VARIANT(),
        mssql.MONEY(),
        oracle.ROWID(),
        postgresql.INET(),
        postgresql.HSTORE(),
    ],
)
def test_types_that_hold_nothing_to_count(type_: Any) -> None:
    assert declared(type_, "any") is None


def test_bytes_tell_people_apart_and_are_not_counted() -> None:
    for type_ in (sa.LargeBinary(), mysql.MEDIUMBLOB(), mysql.VARBINARY(9), mssql.ROWVERSION()):
        found = declared(type_, "any")
        assert found is not None
        assert found.held is None
        assert found.identifies
        assert found.read(memoryview(b"\0a")) == found.read(bytearray(b"\0a")) == b"\0a"
        assert found.read("a") is None


@pytest.mark.parametrize(
    ("type_", "given", "plain"),
    [
        (sa.Boolean(), 1, True),
        (sa.Boolean(), False, False),
        (sa.Boolean(), 2, None),
        (sa.Boolean(), "true", None),
        (sa.Integer(), 2**70, 2**70),
        (sa.Integer(), True, None),
        (sa.Integer(), 1.0, None),
        (sa.Integer(), "1", None),
        (sa.Double(), -0.0, 0.0),
        (sa.Double(), 3, 3.0),
        (sa.Double(), 10**400, None),
        (sa.Double(), math.inf, math.inf),
        (sa.Double(), True, None),
        (mysql.FLOAT(), 0.1, 0.10000000149011612),
        (sa.Numeric(), Decimal("1E+400"), Decimal("1E+400")),
        (sa.Numeric(), 10**400, Decimal(10**400)),
        (sa.Numeric(), 0.1, Decimal("0.1")),
        (sa.Numeric(), Decimal("-Infinity"), -math.inf),
        (sa.Numeric(), Decimal("NaN"), None),
        (sa.Numeric(), False, None),
        (sa.Text(), "a ", "a "),
        (sa.Text(), "\ud800", None),
        (sa.Text(), b"a", None),
        (sa.CHAR(3), "a  ", "a"),
        (sa.CHAR(3), 7, None),
        (sa.NCHAR(3), " a\t ", " a\t"),
        (sa.Uuid(), UUID(int=10), str(UUID(int=10))),
        (sa.Uuid(), "A", "A"),
        (sa.Date(), date(1970, 1, 2), 1),
        (sa.Date(), "1969-12-31", -1),
        (sa.Date(), "19691231", None),
        (sa.Date(), "0000-00-00", None),
        (sa.Date(), datetime(1970, 1, 2), None),
        (sa.DateTime(), datetime(1970, 1, 1, 0, 0, 0, 1), 1),
        (sa.DateTime(), datetime(1970, 1, 1, tzinfo=UTC), None),
        (sa.DateTime(), date(1970, 1, 1), None),
        (sa.DateTime(), "1970-01-01", None),
        (sa.DateTime(timezone=True), datetime(1970, 1, 1, 5, 30, tzinfo=EAST), 0),
        (sa.DateTime(timezone=True), datetime(1, 1, 1, tzinfo=EAST), -62_135_616_600_000_000),
        (sa.DateTime(timezone=True), datetime(1970, 1, 1), None),
    ],
)
def test_what_a_value_is(type_: Any, given: Any, plain: Any) -> None:
    found = declared(type_, "mysql")
    assert found is not None
    assert _plain(found.read, given) == plain

"""Matching by the declared type, in every engine, against an oracle that reads value by value."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from matching import (
    COLUMNS,
    INSTANTS,
    MAKERS,
    WEEKS,
    Column,
    arrow,
    check,
    expected,
    unit,
)
from postgres import connect, fresh_schema
from rainbowdp.questions import Between, Custom, Quantile, Threshold, Winner
from rainbowdp.questions.ends import Kind
from rainbowdp.tables import SQLTable, count
from rainbowdp.tables.held import DATES, TEXT, TRUTHS, Fixed, Real, Times, integers
from rainbowdp.tables.values import can_match


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_every_engine_matches_as_the_oracle(make: Callable[[Column], Any], name: str) -> None:
    check(make(COLUMNS[name]), COLUMNS[name])


@pytest.mark.parametrize("name", COLUMNS)
def test_parquet_matches_as_the_oracle(name: str, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(arrow(COLUMNS[name]), tmp_path / "x.parquet")
    check(tmp_path / "x.parquet", COLUMNS[name])


@pytest.mark.parametrize("name", COLUMNS)
def test_postgresql_matches_as_the_oracle(name: str, postgres_url: str) -> None:
    column, url = COLUMNS[name], fresh_schema(postgres_url)
    with connect(url) as connection:
        connection.execute(f"CREATE TABLE t (x {column.postgres})")
        connection.cursor().executemany(
            "INSERT INTO t VALUES (%s)", [[value] for value in column.values]
        )
    check(SQLTable(url, "t"), column)


@pytest.mark.slow
def test_spark_matches_as_the_oracle(spark: Any, tmp_path: Path) -> None:
    """Whatever zone the session is in."""
    session = spark.newSession()
    for zone in ("America/St_Johns", "UTC"):
        session.conf.set("spark.sql.session.timeZone", zone)
        for name in COLUMNS:
            path = tmp_path / f"{name} {zone[:3]}.parquet"
            pyarrow.parquet.write_table(arrow(COLUMNS[name]), path)
            check(session.read.parquet(str(path)), COLUMNS[name])
    for there, name in ((None, "times"), (UTC, "instants")):
        for extreme in (-(2**63), 2**63 - 1):
            ticks = pa.array([extreme, 0, 0], pa.int64()).view(pa.timestamp("us", there and "UTC"))
            path = tmp_path / f"{name} {extreme}.parquet"
            pyarrow.parquet.write_table(pa.table({"x": ticks}), path)
            question = COLUMNS[name].questions[0]
            before = expected([datetime(1970, 1, 1, tzinfo=there)] * 2, question)
            assert unit(before, count(session.read.parquet(str(path)), question))


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_times_of_every_unit(unit: str, zone: str | None) -> None:
    column = COLUMNS["times" if zone is None else "instants"]
    coarse = [None if v is None else v.replace(microsecond=0) for v in column.values]
    values = column.values if unit in ("us", "ns") else coarse
    table = pa.table({"x": pa.array(values, pa.timestamp(unit, zone))})
    frames: list[Any] = [
        table,
        duckdb.from_arrow(table),
        table.to_pandas(),
        table.to_pandas(types_mapper=pd.ArrowDtype),
    ]
    if unit != "s":  # which Polars turns into another
        frames.append(pl.from_arrow(table))
    for frame in frames:
        for question in column.questions:
            assert count(frame, question) == expected(values, question), (type(frame), question)


def test_infinite_times_lie_in_open_ranges(postgres_url: str) -> None:
    times = "('infinity'), ('-infinity'), ('2024-05-01'), ('2024-01-01'), (NULL)"
    questions = {
        Quantile("1/2", WEEKS, "x"): [2, 2],
        Quantile("1/2", WEEKS, "x", closed_ends=True): [1, 1],
        Threshold(1, "x", minimum="2024-01-01"): [3],
        Threshold(1, "x", maximum="2024-01-01"): [2],
    }
    url, connection = fresh_schema(postgres_url), duckdb.connect()
    with connect(url) as there:
        for type_ in ("timestamp", "date"):
            for database in (there, connection):
                database.execute(f"CREATE TABLE {type_}s (x {type_})")
                database.execute(f"INSERT INTO {type_}s VALUES {times}")
        there.commit()
        for type_ in ("timestamp", "date"):
            for table in (SQLTable(url, f"{type_}s"), connection.table(f"{type_}s")):
                for question, counts in questions.items():
                    assert list(count(table, question).values()) == counts, (type_, question)


def test_texts_of_a_file_that_spell_times(tmp_path: Path) -> None:
    local = [
        "2024-01-01", " 2024-01-01 ", "2024-01-01T00:00", "2024-01-01 00:00:00.000000",
        "2023-12-31T23:59:59.999999999", "2024-02-29", "2024-03-31T23:59:59.9", "0001-01-01",
    ]  # fmt: skip
    instants = ["2024-01-01T00:00Z", "2024-01-01 05:29+05:30", "2024-03-31T23:59:59-0100"]
    others = [
        "2023-02-29", "2024-1-1", "01.02.2024", "20240101", "2024", "infinity", "epoch", "now", "",
        "2024-01-01T24:00", "2024-01-01T00:00:60", "0000-01-01", "10000-01-01", "2024-01-01x",
        "2024-01-01T", "2024-01-01Z", "2024-01-01T00:00+16:00", "2024-01-01 00:00 UTC",
        "２０２４-01-01", "2024-01-01T00:00:00.", "NaT", "red",
    ]  # fmt: skip
    pyarrow.csv.write_csv(pa.table({"x": local + instants + others}), tmp_path / "t.csv")
    path = tmp_path / "t.csv"
    assert list(count(path, Quantile("1/2", WEEKS, "x")).values()) == [8, 0]
    edges = [None, "2024-01-01", "2024-04-01", None]
    assert list(count(path, Quantile("1/2", edges, "x")).values()) == [2, 6, 0]
    bins = Quantile("1/2", INSTANTS, "x", closed_ends=True)
    assert list(count(path, bins).values()) == [2, 0]
    assert count(path, Threshold(1, "x", maximum="2024-01-01T00:00Z")) == {"matching": 2}
    assert count(path, Winner(["2024-01-01", "2024-01-01T00:00"], "x")) == {
        "2024-01-01": 1,
        "2024-01-01T00:00": 1,
    }


def test_edges_beyond_the_years_of_a_column_count_all() -> None:
    """Nanoseconds in 64 bits reach from 1677 to 2262."""
    table = pa.table(
        {"x": pa.array([datetime(1700, 1, 1), datetime(2200, 1, 1)], pa.timestamp("ns"))}
    )
    frames = [table, duckdb.from_arrow(table), pl.from_arrow(table), table.to_pandas()]
    bins = Quantile("1/2", ["1000-01-01", "1500-01-01", "2100-01-01", "2500-01-01", None], "x")
    for frame in [*frames, table.to_pandas(types_mapper=pd.ArrowDtype)]:
        assert list(count(frame, bins).values()) == [0, 1, 1, 0]
        assert count(frame, Threshold(1, "x", minimum="1500-01-01")) == {"matching": 2}
        assert count(frame, Threshold(1, "x", maximum="2500-01-01")) == {"matching": 2}


@pytest.mark.parametrize(
    "number", ["1e400", "-1e400", "1e-400", "-1e-400", "NaN", "Infinity", "-Infinity"]
)
def test_one_numeric_that_no_float_can_hold_changes_no_other(
    number: str, postgres_url: str
) -> None:
    url = fresh_schema(postgres_url)
    with connect(url) as connection:
        connection.execute("CREATE TABLE t (x numeric)")
        connection.execute("INSERT INTO t VALUES (1), (1), (2), (0.1)")
        connection.execute("INSERT INTO t VALUES (CAST(%s AS numeric))", [number])
    place = {"1e400": 2, "Infinity": 2, "1e-400": 1, "NaN": None}.get(number, 0)
    counts = [n + (i == place) for i, n in enumerate([0, 1, 3])]
    bins = [None, 0, "0.2", None]
    assert list(count(SQLTable(url, "t"), Quantile("1/2", bins, "x")).values()) == counts
    answers = Winner(["1.0", "0.1", number.lower()], "x")
    exact = 1 if number[-1].isdigit() else 0
    assert list(count(SQLTable(url, "t"), answers).values()) == [2, 1, exact]


def test_one_null_in_a_category_changes_no_other() -> None:
    numbers = pd.Series([1] * 6 + [2] * 4, dtype="category")
    question = Winner(["1", "2.0"], "x")
    bins = Quantile("1/2", [0, 2, 3], "x")
    for null in (None, math.nan, pd.NA):
        changed = numbers.copy()
        changed[0] = null
        for series, counts in ((numbers, [6, 4]), (changed, [5, 4])):
            assert list(count(pd.DataFrame({"x": series}), question).values()) == counts
            assert list(count(pd.DataFrame({"x": series}), bins).values()) == counts
    floats = pd.DataFrame({"x": pd.Series([0.5, 0.5, None], dtype="category")})
    assert list(count(floats, Winner(["0.5", "1"], "x")).values()) == [2, 0]
    with pytest.raises(Exception, match="so no record can match 'red', 'green'"):
        count(pd.DataFrame({"x": numbers}), Winner(["red", "green"], "x"))


def test_whole_numbers_that_pandas_made_floats_compare_as_floats() -> None:
    """With a null pandas keeps them as floats; what they were cannot be seen."""
    big = 2**53
    table = pd.DataFrame({"x": pd.Series([big, big + 1, big + 2, None])})
    assert table["x"].dtype == np.float64
    assert list(count(table, Quantile("1/2", [0, big, big + 2, None], "x")).values()) == [0, 2, 1]
    exact = table.astype({"x": "Int64"})
    assert list(count(exact, Winner([str(big), str(big + 2)], "x")).values()) == [2, 1]


def test_what_can_match_a_type() -> None:
    answers = Winner(["1", "1.50", "TRUE", "2024-01-01", "2024-01-01T06:00Z", "red"], "x")
    can: dict[Any, tuple[str, ...]] = {
        TEXT: answers.answers,
        TRUTHS: ("TRUE",),
        integers(8): ("1",),
        Fixed(4, 1): ("1", "1.50"),
        Fixed(4, 0): ("1",),
        Real(64): ("1", "1.50"),
        DATES: ("2024-01-01",),
        Times(Kind.TIMES): ("2024-01-01",),
        Times(Kind.INSTANTS): ("2024-01-01T06:00Z",),
    }
    for held, names in can.items():
        assert can_match(answers, held) == names, held
    bins = Quantile("1/2", [None, 0, 1000, None], "x")
    assert can_match(bins, integers(8)) == ("< 0", "[0, 1000)")
    assert can_match(bins, TEXT) == can_match(bins, DATES) == ()
    assert can_match(Quantile("1/2", WEEKS, "x"), DATES) == ("< 2024-04-01", "≥ 2024-04-01")
    hours = Quantile("1/2", ["2024-01-01", "2024-01-01T06:00", "2024-01-01T12:00", None], "x")
    assert can_match(hours, DATES) == ("< 2024-01-01 06:00", "≥ 2024-01-01 12:00")


def test_ranges_of_a_custom_question_in_any_order() -> None:
    groups = [("late", Between("2024-07-01", None)), ("early", Between(None, "2024-01-01"))]

    def margins(counts: Any) -> dict[str, int]:
        return {"late": int(counts["late"] == 0), "early": int(counts["late"] > 0)}

    question = Custom(
        ["late", "early"], margins, neighbors="substituted", name="own", column="x", groups=groups
    )
    for make in MAKERS:
        found = count(make(COLUMNS["days"]), question)
        assert found == expected(COLUMNS["days"].values, question) == {"late": 1, "early": 3}

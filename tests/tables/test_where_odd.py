"""One odd record is alone under a condition; what a condition is for, and what is refused."""

from __future__ import annotations

import math
import re
import sqlite3
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rainbowdp.errors import InvalidQuestion, UnreadableTable
from rainbowdp.questions import PersonRule, Quantile, Threshold, Winner
from rainbowdp.tables import count, look

from .where_oracle import Tree, holds, text
from .where_tables import (
    IN_PROCESS,
    ROWS,
    VALUES,
    Files,
    counted,
    expected,
    pandas_objects,
)

# --- One odd record -----------------------------------------------------------------------------


class Awkward:
    """An object that fails at whatever is done to it."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError

    def __bool__(self) -> bool:
        raise RuntimeError


class AwkwardZone(tzinfo):
    """A time zone that fails."""

    def utcoffset(self, _: datetime | None) -> timedelta:
        raise RuntimeError

    dst = utcoffset

    def tzname(self, _: datetime | None) -> str:
        raise RuntimeError


ODD_OBJECTS = [
    datetime(2024, 1, 1, tzinfo=AwkwardZone()),
    *(Awkward(), [], {}, object(), b"red", "\ud800", "a\0b", "", float("nan"), 1e400, 10**400),
    *(-(10**400), Decimal("sNaN"), Decimal("1e999999"), Decimal("-Infinity"), pd.NaT, pd.NA),
    *(complex(1, 2), True, datetime.max, datetime.min, date.max, date.min, timedelta(1)),
    datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=15))),
    datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-15))),
]
SHORT = ROWS[:12]
IDS = [row["id"] for row in SHORT]
MIXED: list[Tree] = [
    ("or", [("=", "choice", None, ["red"]), ("is null", "whole", None, [])]),
    ("not", ("or", [("=", "choice", "lower", ["red"]), (">", "real", None, [2.5])])),
    ("or", [("<=", "whole", "round", [2]), ("not in", "price", None, [2.5, 3])]),
    ("or", [("=", "day", "month", [12]), ("<", "time", "year", [2000])]),
    ("or", [(">", "instant", None, ["2024-02-29T00:30+00:00"]), ("=", "flag", None, [True])]),
    ("or", [("<>", "instant", "hour", [23]), (">=", "day", None, ["2024-12-31"])]),
]


def check_added(odd: list[Any]) -> None:
    others = [f"odd {place}" for place in range(len(odd))]
    rows = [{"id": i} | dict.fromkeys(VALUES, o) for i, o in zip(others, odd, strict=True)]
    frame = pd.concat([pandas_objects(rows), pandas_objects(SHORT)], ignore_index=True)
    for tree in MIXED:
        assert counted(frame, text(tree), IDS) == expected(tree, SHORT), (text(tree), odd)


def test_odd_objects_are_alone() -> None:
    check_added(ODD_OBJECTS)


@pytest.mark.slow
def test_each_odd_object_is_alone() -> None:
    for odd in ODD_OBJECTS:
        check_added([odd])


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_times_out_of_range_are_alone(unit: str, zone: str | None) -> None:
    far = [2 - 2**63, -(2**62), 2**62, 2**63 - 2]  # those beyond are infinite in DuckDB
    near = {"s": 10**9, "ms": 10**12, "us": 10**15, "ns": 10**18}[unit]  # September 2001
    ticks = pa.array([near, None, *far], pa.int64()).cast(pa.timestamp(unit, zone))
    table = pa.table({"id": [f"r{i}" for i in range(6)], "t": ticks})
    frames = [table, table.to_pandas(types_mapper=pd.ArrowDtype)]
    if unit != "s":  # which Polars does not have
        frames += [pl.DataFrame(table), pl.DataFrame(table).lazy()]
    if zone is None:
        stamps = ticks.to_numpy(zero_copy_only=False)
        frames.append(pd.DataFrame({"id": table["id"].to_pylist(), "t": pd.Series(stamps)}))
    inside = {"ns": {"r0", "r2", "r3", "r4", "r5"}}.get(unit, {"r0"})
    ids = table["id"].to_pylist()
    for frame in frames:
        for field in ("year", "month", "day", "hour"):
            assert counted(frame, f"{field}(t) >= 0", ids) == inside, type(frame)
        assert counted(frame, "month(t) is null", ids) == set(ids) - inside, type(frame)
        where = "year(t) = 2001 and month(t) = 9 and day(t) = 9 and hour(t) = 1"
        assert counted(frame, where, ids) == {"r0"}
        end = "2100-01-01" if zone is None else "2100-01-01T00:00Z"
        assert counted(frame, f"not t < '{end}'", ids) <= {"r4", "r5"}


LINES = [b"r0,red,1,2024-02-29", b"r1,RED,2.5,2024-12-31", b"r2,,abc,x"]
ODD_LINES = [
    *(b"r9,\xff\xfe,\xff,\xff", b"r9,a\0b,1e400,9999-99-99", b'r9,"open', b"r9", b"", b","),
    *(b"r9,red,nan,0000-00-00", b"r9,red,-inf,2024-13-01T25:00", b"r9,red," + b"9" * 400),
    b"r9,red,1e-999999999,10000-01-01T00:00Z",
    b"r9,red,0x10,9999-12-31T23:59-15:00",
]


ON_LINES = {
    "choice = 'red' or number > 2": {"r0", "r1"},
    "lower(choice) = 'red' and month(day) in (2, 12)": {"r0", "r1"},
    "not number <= 1": {"r1"},
    "number is null": set(),
    "choice is null": {"r2"},
    "year(day) is null and round(number) is null": {"r2"},
    "day >= '2024-03-01'": {"r1"},
}


def check_lines(path: Path, odd: list[bytes]) -> None:
    for lines in ([*LINES, *odd], [*odd, *LINES]):
        path.write_bytes(b"\n".join([b"id,choice,number,day", *lines]) + b"\n")
        for where, found in ON_LINES.items():
            assert counted(path, where, ["r0", "r1", "r2"]) == found, (where, odd)


def test_odd_lines_are_alone(tmp_path: Path) -> None:
    check_lines(tmp_path / "t.csv", ODD_LINES)


@pytest.mark.slow
def test_each_odd_line_is_alone(tmp_path: Path) -> None:
    for odd in ODD_LINES:
        check_lines(tmp_path / "t.csv", [odd])


def test_sqlite_values_of_other_types_are_alone(files: Files) -> None:
    table = files.sqlite(SHORT)
    odd = ["x", b"\xff", 1e308, 2**63 - 1, "2024-02-30", "0000-01-01", 2, -1, "9" * 400, None]
    for value in odd:
        with sqlite3.connect(table.url.removeprefix("sqlite:///")) as connection:
            connection.execute("INSERT INTO t VALUES ('r59', ?1, ?1, ?1, ?1, ?1)", (value,))
        for each in MIXED[:2]:
            assert counted(table, text(each), IDS) == expected(each, SHORT)
        where = "flag = true or flag = false or year(day) > 0 or not lower(choice) = 'a'"
        tree: Tree = ("or", [("is not null", name, None, []) for name in ("flag", "day", "choice")])
        assert counted(table, where, IDS) == expected(tree, SHORT)


def test_sqlite_values_beyond_a_type_are_unknown(files: Files) -> None:
    table = files.sqlite([])
    with sqlite3.connect(table.url.removeprefix("sqlite:///")) as connection:
        connection.execute("INSERT INTO t (id, flag, day) VALUES ('r0', 2, '0000-01-01')")
        connection.execute("INSERT INTO t (id, flag, day) VALUES ('r1', 1, '0001-01-01')")
    ids = ["r0", "r1"]
    assert counted(table, "flag = true or not flag = true", ids) == {"r1"}
    assert counted(table, "flag is null", ids) == {"r0"}
    assert counted(table, "year(day) >= 0 or not year(day) >= 0", ids) == {"r1"}
    assert counted(table, "month(day) is null", ids) == {"r0"}


@pytest.mark.slow
def test_nan_is_no_value_and_infinity_is(engines: dict[str, Any]) -> None:
    above: Tree = (">", "real", None, [2.5])
    trees: list[Tree] = [above, ("not", above), ("not", ("=", "real", "floor", [3]))]
    trees += [("is null", "real", None, []), ("not", ("is null", "real", None, []))]
    for name in (*IN_PROCESS, "sqlite"):
        for tree in trees:
            assert counted(engines[name], text(tree), IDS) == expected(tree, SHORT), (name, tree)


def test_a_column_of_no_values_is_unknown() -> None:
    nothing = pa.table({"id": ["r0", "r1"], "x": pa.nulls(2)})
    for frame in (nothing, pl.from_arrow(nothing), nothing.to_pandas(types_mapper=pd.ArrowDtype)):
        assert counted(frame, "not x = 'a'") == set()
        assert counted(frame, "x is null") == {"r0", "r1"}


def test_collations_do_not_matter() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (id VARCHAR, x VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO t VALUES ('r0', 'red'), ('r1', 'RED')")
    assert counted(connection.sql("FROM t"), "x = 'red'") == {"r0"}
    assert counted(connection.sql("FROM t"), "x <> 'red'") == {"r1"}


@pytest.mark.parametrize("kind", ["str", "string", "category", "string[pyarrow]", object])
def test_pandas_texts_of_every_type(kind: Any) -> None:
    frame = pd.DataFrame({"id": ["r0", "r1", "r2"], "x": pd.Series(["A", "b", None], dtype=kind)})
    assert counted(frame, "lower(x) = 'a'") == {"r0"}
    assert counted(frame, "x <> 'A'") == {"r1"}
    assert counted(frame, "lower(x) is null") == {"r2"}


# --- Questions ----------------------------------------------------------------------------------


def test_people_are_limited_after_the_condition() -> None:
    rows = {"who": ["a"] * 5 + ["b"], "x": ["red"] * 4 + ["green", "red"], "n": [0, 0, 0, 0, 1, 1]}
    question = Winner(["red", "green"], "x", person="who", where="n = 1")
    frames: list[Any] = [pd.DataFrame(rows), pl.DataFrame(rows), pa.table(rows)]
    for frame in frames:
        assert count(frame, question) == {"red": 1, "green": 1}
        assert count(frame, replace(question, person_rule=PersonRule.ONE_VOTE)) == {
            "red": 1,
            "green": 1,
        }


@pytest.mark.slow
def test_a_function_of_the_column(engines: dict[str, Any]) -> None:
    days = [row["day"] for row in ROWS if row["day"] is not None]
    reals = [r["real"] for r in ROWS if r["real"] is not None and math.isfinite(r["real"])]
    texts = [r["choice"] for r in ROWS if r["choice"] is not None]
    for name in [*IN_PROCESS, "sqlite", "csv", "json_lines"]:
        month = count(engines[name], Winner(["2", "12"], "day", apply="month"))
        assert month == {
            "2": sum(d.month == 2 for d in days),
            "12": sum(d.month == 12 for d in days),
        }
        year = count(engines[name], Quantile("1/2", [1000, 2024, 3000], "day", apply="year"))
        assert list(year.values()) == [
            sum(d.year < 2024 for d in days),
            sum(d.year >= 2024 for d in days),
        ]
        lower = count(engines[name], Winner(["red", "it's"], "choice", apply="lower"))
        assert lower == {"red": sum(t.lower() == "red" for t in texts), "it's": texts.count("it's")}
        for function, half in (("floor", 0), ("round", 0.5)):
            whole = [math.floor(Fraction(x) + Fraction(half)) for x in reals]
            if name in ("csv", "json_lines"):  # as floats
                found = count(
                    engines[name], Threshold(1, "real", minimum=2, maximum=3, apply=function)
                )
                assert found == {"matching": sum(2 <= x <= 3 for x in whole)}
            found = count(engines[name], Winner(["-2", "3"], "real", apply=function))
            assert found == {"-2": whole.count(-2), "3": whole.count(3)}, (name, function)


def test_looking_honors_the_condition(engines: dict[str, Any]) -> None:
    tree: Tree = ("or", [("=", "flag", None, [True]), (">", "whole", None, [2])])
    left = [row for row in ROWS if holds(tree, row) is True]
    for name in (*IN_PROCESS, "sqlite"):
        seen = look(engines[name], Winner(["red", "RED"], "choice", where=text(tree)))
        assert (seen.rows, seen.left_out) == (len(ROWS), len(ROWS) - len(left)), name
        assert seen.matched["red"] == sum(row["choice"] == "red" for row in left)
        assert seen.missing == sum(row["choice"] is None for row in left)
    assert look(engines["arrow"], Winner(["red", "RED"], "choice")).left_out == 0


# --- Refused ------------------------------------------------------------------------------------

REFUSED = {
    "nobody = 1": "no column 'nobody'",
    "choice = 3": "holds texts",
    "whole = 'three'": "compare it with values such as 3",
    "whole = '3'": "compare it with values such as 3",
    "flag = 'true'": "compare it with values such as true",
    "whole = true": "compare it with values such as 3",
    "day = 3": "compare it with values such as '2024-12-31'",
    "day = 'soon'": "compare it with values such as '2024-12-31'",
    "whole < '2024-12-31'": "with dates or times",
    "time < '2024-12-31T00:00Z'": "times without a time zone",
    "instant < '2024-12-31'": "times with a time zone",
    "month(whole) = 3": "month needs a column of dates or times",
    "lower(whole) = 'a'": "lower needs a column of texts",
    "round(choice) = 3": "round needs a column of numbers",
    "floor(day) is null": "floor needs a column of numbers",
}


@pytest.mark.parametrize("where", REFUSED)
def test_refused_by_the_type_of_a_column(engines: dict[str, Any], where: str) -> None:
    for name in IN_PROCESS:
        if name == "pandas objects" or (name == "pandas" and ("day" in where)):
            continue  # objects declare nothing
        with pytest.raises(UnreadableTable, match=re.escape(REFUSED[where])):
            counted(engines[name], where)


def test_refused_of_text_files(engines: dict[str, Any]) -> None:
    for where in ("flag = true", "nobody = 1"):
        with pytest.raises(UnreadableTable):
            counted(engines["csv"], where)


def test_counts_have_no_records_to_choose() -> None:
    with pytest.raises(InvalidQuestion, match="where needs a question that names a column"):
        Winner(["a", "b"], where="x = 1")

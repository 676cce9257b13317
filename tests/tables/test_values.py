"""Matching by the declared type, in every engine, against an oracle that reads value by value.

The oracle shares no code with the package: it is Python's own comparisons on Python's own values.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postgres import connect, fresh_schema
from rainbowdp.questions import Between, Custom, Quantile, Question, Threshold, Winner
from rainbowdp.questions.ends import Kind
from rainbowdp.tables import SQLTable, count
from rainbowdp.tables.held import DATES, TEXT, TRUTHS, Fixed, Held, Real, Times, integers
from rainbowdp.tables.values import can_match

Values: TypeAlias = list[Any]
EAST = timezone(timedelta(hours=5, minutes=30))
BERLIN = ZoneInfo("Europe/Berlin")


# The oracle: what a text spells for a value of a type, and where a value lies.


def spelled(text: str, like: object) -> object:
    """The value of the same type as ``like`` that a text spells, or None."""
    try:
        if isinstance(like, str):
            return text
        if isinstance(like, bool):
            return {"true": True, "false": False}.get(text.lower())
        if isinstance(like, float):
            return None if math.isinf(float(text)) else float(text)
        if isinstance(like, int | Decimal):
            return Fraction(text)
        found = datetime.fromisoformat(text)
        if isinstance(like, datetime):
            return found if (found.tzinfo is None) == (like.tzinfo is None) else None
        return found.date() if found == datetime.combine(found, datetime.min.time()) else None
    except ValueError:
        return None


def lies(value: Any, low: Any, high: Any, closed: bool) -> bool:
    """Whether a value lies between two ends; the wrong kinds never do."""
    if isinstance(value, str | bool):
        return False
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, datetime.min.time())
    try:
        above = low is None or value >= low
        return bool(above and (high is None or value < high or (closed and value == high)))
    except TypeError:
        return False


def expected(values: Sequence[Any], question: Question) -> dict[str, int]:
    counts = dict.fromkeys([name for name, _ in question.groups], 0)
    for value in values:
        for name, rule in question.groups:
            if value is None or value != value:
                continue
            if isinstance(rule, Between):
                low, high = (
                    Fraction(str(end))
                    if isinstance(end, float) and not isinstance(value, float)
                    else end
                    for end in (rule.low, rule.high)
                )
                found = lies(value, low, high, rule.closed)
            else:
                wanted = spelled(rule.value, value)
                found = wanted is not None and value == wanted
            if found:
                counts[name] += 1
                break
    return counts


# Columns: Arrow's type, values of it, and questions.


@dataclass(frozen=True)
class Column:
    type_: pa.DataType
    values: Values
    questions: list[Any]
    postgres: str


def ns(*fields: int) -> datetime:
    return datetime(*fields)  # type: ignore[arg-type]


LOCAL = [
    datetime(2024, 1, 1),
    datetime(2024, 1, 1, 0, 0, 0, 1),
    datetime(2023, 12, 31, 23, 59, 59, 999_999),
    datetime(2024, 4, 1, 12, 30),
    datetime(1969, 12, 31, 23, 59, 59, 999_999),
    datetime(1901, 1, 1),
    datetime(2200, 1, 1),
]
THERE = [time.replace(tzinfo=UTC) for time in LOCAL]
DAYS = [date(2024, 1, 1), date(2023, 12, 31), date(2024, 4, 1), date(1, 1, 1), date(9999, 12, 31)]
WEEKS = ["2024-01-01", "2024-04-01", "2024-07-01"]
INSTANTS = ["2024-01-01T00:00Z", "2024-04-01T14:30+02:00", "2024-07-01T00:00Z"]

COLUMNS = {
    "times": Column(
        pa.timestamp("us"),
        [*LOCAL, *LOCAL[:3], None],
        [
            Quantile("1/2", WEEKS, "x"),
            Quantile("1/2", WEEKS, "x", closed_ends=True),
            Quantile("1/2", ["1200-01-01", "1970-01-01", "2024-01-01T00:00:00.000001", None], "x"),
            Threshold(1, "x", minimum="2024-01-01"),
            Threshold(1, "x", minimum="1500-01-01", maximum=datetime(2024, 1, 1)),
            Threshold(1, "x", maximum="9999-12-31T23:59:59.999999"),
            Winner(["2024-01-01", "2024-04-01T12:30", "2024-04-01", "noon"], "x"),
        ],
        "timestamp",
    ),
    "instants": Column(
        pa.timestamp("us", "Asia/Kolkata"),
        [*THERE, *THERE[:3], None],
        [
            Quantile("1/2", INSTANTS, "x"),
            Quantile("1/2", INSTANTS, "x", closed_ends=True),
            Threshold(1, "x", minimum=datetime(2024, 1, 1, 5, 30, tzinfo=EAST)),
            Winner(["2024-01-01T05:30+05:30", "2024-04-01 12:30Z", "2024-04-01"], "x"),
        ],
        "timestamptz",
    ),
    "days": Column(
        pa.date32(),
        [*DAYS, *DAYS[:2], None],
        [
            Quantile("1/2", WEEKS, "x"),
            Quantile("1/2", WEEKS, "x", closed_ends=True),
            Quantile("1/2", [None, "2023-12-31T12:00", "2024-01-01T00:00:00.5", None], "x"),
            Threshold(1, "x", minimum="2024-01-01", maximum="2024-04-01"),
            Winner(["2024-01-01", "2024-01-02", "2023-12-31T00:00", "2024-04-01 12:00"], "x"),
        ],
        "date",
    ),
    "decimals": Column(
        pa.decimal128(38, 10),
        [
            *map(Decimal, ("0.1", "0.1000000001", "-0.1", "2.5", "2.5", "9007199254740993")),
            Decimal("9007199254740992"),
            Decimal(10) ** 27,
            None,
        ],
        [
            Quantile("1/2", [0, "0.1", 2.5, 2**53 + 1, None], "x"),
            Quantile("1/2", ["-0.1", "0.1", "2.5"], "x", closed_ends=True),
            Threshold(1, "x", maximum=0.1),
            Threshold(1, "x", maximum=10**40),
            Winner(["0.10", "1e-1000", "2.5", "9007199254740993", "1e27", "x"], "x"),
        ],
        "numeric",
    ),
    "singles": Column(
        pa.float32(),
        [struct.unpack("f", struct.pack("f", x))[0] for x in (0.5, 2.5, 2.5, -7, math.inf)]
        + [math.nan, None],
        [Quantile("1/2", [0, 0.5, 2.5], "x"), Winner(["2.5", "-7.0", "5e-1"], "x")],
        "real",
    ),
    "whole": Column(
        pa.int64(),
        [0, 1, 1, 2**53, 2**53 + 1, -(2**63), 2**63 - 1, None],
        [
            Quantile("1/2", [0, 1, 2**53 + 1], "x"),
            Quantile("1/2", [0, 1, 2**53 + 1], "x", closed_ends=True),
            Winner(["1e0", "0.0", str(2**53 + 1), "1.5", "one"], "x"),
        ],
        "bigint",
    ),
    "truths": Column(
        pa.bool_(), [True, True, False, None], [Winner(["TRUE", "False", "1"], "x")], "boolean"
    ),
    "texts": Column(
        pa.string(),
        ["1", "1.0", "True", "true", " true", "2024-01-01", "", "é", None],
        [Winner(["1", "1.0", "true", "2024-01-01", "é", "e\u0301"], "x")],
        "text",
    ),
}


def arrow(column: Column) -> pa.Table:
    return pa.table({"x": pa.array(column.values, column.type_)})


PANDAS: dict[str, Any] = {
    "times": "datetime64[us]",
    "instants": "datetime64[us, Europe/Berlin]",
    "days": object,
    "decimals": object,
    "singles": "Float32",
    "whole": "Int64",
    "truths": "boolean",
    "texts": "string",
}


def as_pandas(column: Column) -> Any:
    (dtype,) = (PANDAS[name] for name, one in COLUMNS.items() if one is column)
    return pd.DataFrame({"x": pd.Series(column.values, dtype=dtype)})


def as_pandas_arrow(column: Column) -> Any:
    return arrow(column).to_pandas(types_mapper=pd.ArrowDtype)


def as_pandas_objects(column: Column) -> Any:
    return pd.DataFrame({"x": pd.Series(column.values, dtype=object)})


def as_pandas_category(column: Column) -> Any:
    return pd.DataFrame({"x": as_pandas_objects(column)["x"].astype("category")})


def as_polars(column: Column) -> Any:
    return pl.from_arrow(arrow(column))


def as_relation(column: Column) -> Any:
    connection = duckdb.connect()
    connection.register("rows", arrow(column))
    connection.execute("CREATE TABLE kept AS FROM rows")
    return connection.sql("FROM kept")


MAKERS = [
    arrow,
    as_pandas_arrow,
    as_pandas,
    as_pandas_objects,
    as_pandas_category,
    as_polars,
    as_relation,
]


def check(table: Any, column: Column, values: Values | None = None) -> None:
    for question in column.questions:
        found = expected(column.values if values is None else values, question)
        assert any(found.values()), question
        assert count(table, question) == found, question


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
    for place, name in ((None, "times"), ("UTC", "instants")):
        for extreme in (-(2**63), 2**63 - 1):
            ticks = pa.array([extreme, 0, 0], pa.int64()).view(pa.timestamp("us", place))
            path = tmp_path / f"{name} {extreme}.parquet"
            pyarrow.parquet.write_table(pa.table({"x": ticks}), path)
            question = COLUMNS[name].questions[0]
            before = expected([datetime(1970, 1, 1, tzinfo=UTC if place else None)] * 2, question)
            assert unit(before, count(session.read.parquet(str(path)), question))


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


# One record replaced by any other changes the counts by its own group alone.


class Evil:
    """Raises at whatever is asked of it."""

    def _no(self, *_: object) -> Any:
        raise RuntimeError("patient 7")

    __eq__ = __hash__ = __str__ = __repr__ = __bool__ = __len__ = __iter__ = _no
    __lt__ = __gt__ = __le__ = __ge__ = __float__ = __int__ = __index__ = __array__ = _no
    __class__ = property(_no)


class EqualTypes(type):
    """Every class of it passes for text."""

    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return hash(str)


class Passing(metaclass=EqualTypes):
    pass


class Shouting(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("patient 7")

    def __hash__(self) -> int:
        raise RuntimeError("patient 7")


ODD: Values = [
    None, pd.NA, pd.NaT, math.nan, math.inf, -math.inf, [], [1], {}, {1}, (1, "red"), b"red", 1j,
    Decimal("sNaN"), Decimal("NaN"), Decimal("-Infinity"), Decimal("1e999999"),
    Decimal("1e-999999"), 10**5000, -(10**400), "\ud800", "red\x00", Evil(), Passing(),
    Shouting("red"), Evil, object(), np.float32(1), np.int8(1), np.datetime64("NaT"),
    np.datetime64("2024-01-01", "Y"), np.array([1, 2]), np.array("red"), np.str_("red"),
    np.bytes_(b"red"), np.bool_(True), True, 1, 1.0, "1", "red", Decimal(1), Fraction(1),
    date(2024, 1, 1), datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=EAST),
    datetime.max.replace(tzinfo=EAST), pd.Timestamp("2024-01-01", tz="UTC"), pd.Timestamp(1),
    pd.Timedelta(1), pd.Interval(0, 1), pd.Period("2024"), pd.DataFrame({"x": [1]}),
    pd.Series([1]), lambda: 0, print,
]  # fmt: skip
LISTED = Winner(["red", "1", "true", "2024-01-01", "2024-01-01T00:00Z"], "x")
OBJECT_QUESTIONS: list[Any] = [
    LISTED,
    Quantile("1/2", [0, 1, "1.5", 2**60, None], "x"),
    Quantile("1/2", WEEKS, "x"),
    Quantile("1/2", INSTANTS, "x"),
    Threshold(1, "x", equals="red"),
]


def unit(before: dict[str, int], after: dict[str, int]) -> bool:
    """Whether at most one count has risen, by one."""
    steps = [after[name] - before[name] for name in before]
    return set(steps) <= {0, 1} and sum(steps) <= 1


def objects(values: Values) -> Any:
    column = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        column[place] = value
    return pd.DataFrame({"x": pd.Series(column, dtype=object)})


@pytest.mark.parametrize("place", range(len(ODD)), ids=lambda place: type(ODD[place]).__name__)
def test_one_odd_object_changes_no_other(place: int) -> None:
    plain: Values = ["red", 1, 1.0, True, date(2024, 5, 1), datetime(2024, 1, 1), Decimal("0.5")]
    plain += [
        datetime(2024, 5, 1, tzinfo=UTC),
        None,
        math.nan,
        "blue",
        np.float64(7),
        np.int64(2**61),
    ]
    for question in OBJECT_QUESTIONS:
        before = count(objects(plain), question)
        assert before == expected(plain, question)
        own = count(objects([ODD[place]]), question)
        assert unit(dict.fromkeys(before, 0), own)
        for values in ([ODD[place], *plain], [*plain[:4], ODD[place], *plain[4:]]):
            after = count(objects(values), question)
            assert after == {name: n + own[name] for name, n in before.items()}, question


SIMPLE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.decimals(), st.datetimes(), st.dates(),
    st.datetimes(timezones=st.just(UTC)), st.sampled_from(["red", "1", "1.0", "true"]), st.text(),
)  # fmt: skip


@settings(max_examples=40)
@given(st.lists(SIMPLE, max_size=8), SIMPLE, st.integers(-len(ODD), len(ODD) - 1), st.data())
def test_any_object_changes_no_other(
    values: Values, simple: object, odd: int, data: st.DataObject
) -> None:
    other = simple if odd < 0 else ODD[odd]  # by its place, since Hypothesis shows what it draws
    place = data.draw(st.integers(0, len(values)))
    question = data.draw(st.sampled_from(OBJECT_QUESTIONS))
    before = expected([v for v in values if not _signals(v)], question)
    assert count(objects(values), question) == before
    own = count(objects([other]), question)
    after = count(objects([*values[:place], other, *values[place:]]), question)
    assert after == {name: n + own[name] for name, n in before.items()}


def _signals(value: object) -> bool:
    return isinstance(value, Decimal) and value.is_snan()  # which raises when compared


@dataclass(frozen=True)
class Wide:
    """A type, any value of it as Arrow's number or itself, the extreme ones, and questions."""

    type_: pa.DataType
    values: st.SearchStrategy[Any]
    extremes: Values
    questions: list[Any]


def ticks(bits: int, now: int) -> tuple[st.SearchStrategy[int], Values]:
    least, most = -(1 << bits - 1), (1 << bits - 1) - 1
    return st.one_of(st.integers(least, most), st.just(now)), [
        least,
        least + 1,
        most,
        most - 1,
        now,
    ]


WIDE = {
    f"timestamp {unit} {zone}": Wide(
        pa.timestamp(unit, zone),
        *ticks(64, 1_704_067_200),
        COLUMNS["times" if zone is None else "instants"].questions,
    )
    for unit in ("s", "ms", "us", "ns")
    for zone in (None, "Europe/Berlin")
} | {
    "date": Wide(pa.date32(), *ticks(32, 19_723), COLUMNS["days"].questions),
    "whole": Wide(pa.int64(), *ticks(64, 1), COLUMNS["whole"].questions),
    "decimal": Wide(
        pa.decimal128(38, 10),
        st.integers(1 - 10**38, 10**38 - 1).map(lambda units: Decimal(f"{units}E-10")),
        [
            Decimal("9" * 28 + "." + "9" * 10),
            Decimal(f"-{'9' * 28}"),
            Decimal("1E-10"),
            Decimal("0.1"),
        ],
        COLUMNS["decimals"].questions,
    ),
    "float": Wide(
        pa.float64(),
        st.floats(),
        [math.nan, math.inf, -math.inf, 5e-324, -0.0, 1.7e308],
        [Quantile("1/2", [0, 0.1, 3], "x"), Winner(["0", "1"], "x")],
    ),
    "text": Wide(
        pa.string(),
        st.text(st.characters(codec="utf-8"), max_size=5),
        ["\x00", "\ufeff", "true\x00", "\U0010ffff"],
        COLUMNS["texts"].questions,
    ),
}


def typed(values: Values, type_: pa.DataType) -> list[Callable[[], Any]]:
    """Tables of every engine in which the values are of the type."""
    raw = pa.int32() if type_ == pa.date32() else pa.int64()
    if pa.types.is_temporal(type_):
        table = pa.table({"x": pa.array(values, raw).view(type_)})
    else:
        table = pa.table({"x": pa.array(values, type_)})
    frames: list[Callable[[], Any]] = [
        lambda: table,
        lambda: table.to_pandas(types_mapper=pd.ArrowDtype),
    ]
    if type_ not in (pa.timestamp("s", "Europe/Berlin"), pa.timestamp("ms", "Europe/Berlin")):
        frames.append(lambda: duckdb.from_arrow(table))  # which has no types of its own for these
    if not (pa.types.is_timestamp(type_) and type_.unit == "s"):
        frames.append(lambda: pl.from_arrow(table))
    if pa.types.is_timestamp(type_):
        local = pd.Series(np.array([-(2**63) if v is None else v for v in values], dtype=np.int64))
        naive = local.astype(f"datetime64[{type_.unit}]")
        zoned = naive if type_.tz is None else naive.dt.tz_localize("UTC").dt.tz_convert(type_.tz)
        frames.append(lambda: pd.DataFrame({"x": zoned}))
    elif not pa.types.is_date(type_):
        frames.append(table.to_pandas)
    return frames


def changes_no_other(name: str, engine: int, rest: Values, value: object, question: Any) -> None:
    """That a value more adds its own counts to those of the rest."""
    if name in ("float", "whole"):  # with a null pandas would have another type
        rest = [known for known in rest if known is not None]
    type_ = WIDE[name].type_
    before, own, after = (
        count(tables[engine % len(tables)](), question)
        for tables in (typed(values, type_) for values in (rest, [value], [*rest, value]))
    )
    assert unit(dict.fromkeys(own, 0), own), question
    assert after == {key: n + own[key] for key, n in before.items()}, question


@pytest.mark.parametrize("name", WIDE)
def test_one_extreme_value_of_a_type_changes_no_other(name: str) -> None:
    wide = WIDE[name]
    rest = [wide.extremes[-1]] * 2 if name in ("float", "whole") else [wide.extremes[-1], None]
    for engine, make in enumerate(typed(rest, wide.type_)):
        question = wide.questions[engine % len(wide.questions)]
        before = count(make(), question)
        for extreme in wide.extremes:
            after = count(typed([*rest, extreme], wide.type_)[engine](), question)
            assert unit(before, after), (engine, extreme, question)


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.parametrize("name", WIDE)
@given(data=st.data())
def test_one_value_of_a_type_changes_no_other(name: str, data: st.DataObject) -> None:
    some = WIDE[name].values
    rest = data.draw(st.lists(st.one_of(some, st.none()), max_size=6))
    question = data.draw(st.sampled_from(WIDE[name].questions))
    changes_no_other(name, data.draw(st.integers(0, 4)), rest, data.draw(some), question)


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
    can: dict[Held, tuple[str, ...]] = {
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

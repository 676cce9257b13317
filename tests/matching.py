"""What matches by the stated rules, value by value in plain Python, and columns to try it on.

The oracle shares no code with the package: it is Python's own comparisons on Python's own values.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from rainbowdp.questions import Between, Equals, Quantile, Question, Threshold, Winner
from rainbowdp.tables import count

Values: TypeAlias = list[Any]
EAST = timezone(timedelta(hours=5, minutes=30))


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
            if value is None or value != value or not isinstance(rule, Between | Equals):
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
            Threshold(1, "x", minimum="2023-12-31T12:00"),
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


def unit(before: dict[str, int], after: dict[str, int]) -> bool:
    """Whether at most one count has risen, by one."""
    steps = [after[name] - before[name] for name in before]
    return set(steps) <= {0, 1} and sum(steps) <= 1

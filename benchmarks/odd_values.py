"""Columns of all kinds: values that a question asks for, values that are odd, and the questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

import rainbowdp as rb
from rainbowdp.questions import Question

Ask: TypeAlias = Callable[..., Question]


class Kind(NamedTuple):
    """A column: its type, values that questions ask for, others, questions, and people."""

    type_: Any
    usual: Sequence[Any]
    odd: Sequence[Any]
    asked: Sequence[Ask]
    people: Sequence[Any] = (2**53, 2**53 + 1, 2**62 + 1, -5)


# --- What is asked ------------------------------------------------------------------------------

WORDS = ["red", "blue", "Köln"]
NUMBERS = [0, 1, 2.5, 2**53]
LONG = "x" * 5000


def winner(*answers: str, **options: Any) -> Ask:
    return lambda **people: rb.Winner(answers, "x", **options, **people)


def quantile(*bins: Any, **options: Any) -> Ask:
    return lambda **people: rb.Quantile("1/2", bins, "x", **options, **people)


def share(**options: Any) -> Ask:
    return lambda **people: rb.Share("3/5", "x", **options, **people)


def threshold(**options: Any) -> Ask:
    return lambda **people: rb.Threshold(2, "x", **options, **people)


REST = {"other": "else", "missing": "none"}
TEXTS = [
    winner(*WORDS),
    threshold(equals="red"),
    winner(*WORDS, **REST),
    winner("red", where="x <> 'blue' or x is null", **REST),
    winner("red", "blue", apply="lower", where="not lower(x) in ('x', 'köln')"),
    share(equals="red", where="x is not null"),
]
TRUTHS = [
    winner("true", "false"),
    threshold(equals="true"),
    winner("true", **REST),
    winner("true", where="x = true or x is null", **REST),
    share(equals="true", where="not x = false or x = false"),
]
OF_NUMBERS = [
    winner("0", "1", "2", str(2**53)),
    quantile(0, 1, 2.5, 2**53, None),
    quantile(None, -1, 1, 2**53 + 1),
    threshold(minimum=1),
    threshold(maximum=2**53),
    winner("0", "1", **REST),
    winner("0", "2", where="not x between 1 and 9007199254740993 or x is null", **REST),
    quantile(0, 1, 2.5, None, where="floor(x) <> 1 and x < 9007199254740993"),
    quantile(None, 0, 2, None, apply="round", where="round(x) >= -1 or x in (0, 2.5)"),
    share(minimum=1, where="x > -1"),
]
DAYS = [
    winner("2024-02-29", "1970-01-01", "0001-01-01"),
    quantile("1970-01-01", "2024-02-29", "2024-03-01"),
    quantile(None, "1969-12-31", "2024-02-29", None),
    threshold(minimum="2024-02-29"),
    winner("2024-02-29", where="x > '1969-12-31' or x is null", **REST),
    winner("1", "2", apply="month", where="not year(x) = 2024", **REST),
    share(minimum="2024-02-29", where="day(x) >= 1"),
]
MOMENTS = [
    winner("2024-02-29T00:00:00", "1970-01-01T00:00", "2262-01-01T12:00"),
    quantile(None, "1970-01-01", "2024-02-29T12:00", None),
    threshold(maximum="2024-02-29"),
    winner("2024-02-29", where="x > '1969-12-31T23:59:59' or x is null", **REST),
    winner("0", "12", apply="hour", where="not year(x) = 1970", **REST),
    share(maximum="2024-02-29", where="month(x) <> 3"),
]
INSTANTS = [
    winner("2024-02-29T00:00Z", "1970-01-01T01:00+01:00"),
    quantile(None, "1970-01-01T00:00Z", "2024-02-29T12:00+05:30", None),
    threshold(minimum="2024-02-29T00:00Z"),
    winner("2024-02-29T00:00Z", where="x > '1969-12-31T23:59:59Z' or x is null", **REST),
    winner("0", "12", apply="hour", where="not year(x) = 1970", **REST),
    share(minimum="2024-02-29T00:00Z", where="month(x) <> 3"),
]

ODD_TEXTS = [
    None,
    "",
    " red",
    "RED",
    "red ",
    "red\0",
    "\0",
    "1",
    "é",
    "e\u0301",
    "😀",
    LONG,
    "'\"`%;--",
]
WHOLE = [0, 1, 2, 2**53, 2**53 + 1, 2**53 - 1, -1]
REALS = [0.0, 1.0, 2.5, 2.0**53, -1.0]
ODD_REALS = [None, math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7e308, 0.1, -1e-300, 2.0**63]
DECIMALS = [Decimal(text) for text in ("0", "1.00", "2.5", "9007199254740993", "-1")]


def ticks(*times: Any, unit: int = 10**6) -> list[int]:
    """Times as whole numbers since 1970."""
    epoch = datetime(1970, 1, 1)
    return [int(Fraction((time - epoch).total_seconds()) * unit) for time in times]


TIMES = [
    datetime(2024, 2, 29),
    datetime(1970, 1, 1),
    datetime(2024, 2, 29, 12),
    datetime(1969, 12, 31),
]
FAR = [None, 2**63 - 1, -(2**63) + 1, 1, -1]  # beyond every calendar
PLACES = ["a", "A", "a ", "é"]


def moments(unit: str, zone: str | None) -> Kind:
    rate = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}[unit]
    return Kind(
        pa.timestamp(unit, zone), ticks(*TIMES, unit=rate), FAR, INSTANTS if zone else MOMENTS
    )


COMMON = [
    Kind(pa.string(), WORDS, ODD_TEXTS, TEXTS),
    Kind(pa.string(), WORDS, ODD_TEXTS, TEXTS, PLACES),
    Kind(pa.int64(), WHOLE, [None, 2**63 - 1, -(2**63)], OF_NUMBERS),
    Kind(pa.int8(), [0, 1, 2], [None, -128, 127], OF_NUMBERS[:2]),
    Kind(pa.float64(), REALS, ODD_REALS, OF_NUMBERS),
    Kind(pa.float32(), REALS, [*ODD_REALS[:6], 3e38], OF_NUMBERS),
    Kind(pa.bool_(), [True, False], [None], TRUTHS),
    Kind(pa.decimal128(38, 10), DECIMALS, [None, Decimal(10) ** 27, Decimal("-1e-10")], OF_NUMBERS),
    Kind(pa.date32(), [19782, 0, -719162, -1], [None, 2**31 - 1, -(2**31) + 1], DAYS),
    moments("us", None),
    moments("us", "Asia/Kolkata"),
]
UNSIGNED = Kind(pa.uint64(), WHOLE[:6], [None, 2**64 - 1, 2**63], OF_NUMBERS)
ARROW = [
    *COMMON,
    UNSIGNED,
    Kind(pa.large_string(), WORDS, ODD_TEXTS, TEXTS),
    Kind(pa.dictionary(pa.int32(), pa.string()), WORDS, ODD_TEXTS, TEXTS, PLACES),
    Kind(pa.null(), [None], [None], TEXTS),
    *(moments(unit, zone) for unit in ("s", "ms", "ns") for zone in (None, "UTC")),
]
COARSE = [pa.timestamp(unit, "UTC") for unit in ("s", "ms")]
IN_DUCKDB = [kind for kind in ARROW if kind.type_ not in COARSE]  # which it has no type for
HALVES = Kind(pa.float16(), [0.0, 1.0, 2.5], ODD_REALS[:5], OF_NUMBERS[:2])
IN_POLARS = [
    kind for kind in ARROW if kind.type_ not in (pa.timestamp("s"), pa.timestamp("s", "UTC"))
]


class Odd:
    """An object that raises an error whatever is done with it."""

    def _raise(self, *_: object) -> Any:
        raise ValueError("odd")

    __eq__ = __lt__ = __le__ = __float__ = __str__ = __repr__ = _raise
    __hash__ = None  # type: ignore[assignment]


OBJECTS = [
    *(
        None,
        Odd(),
        [1],
        {},
        b"\xff",
        "red",
        1,
        True,
        1.0,
        Decimal("sNaN"),
        Decimal("1e400"),
        10**400,
    ),
    *(
        2**63,
        "\ud800",
        math.nan,
        -0.0,
        pd.NaT,
        pd.NA,
        np.float32(1),
        np.int8(1),
        np.datetime64("NaT"),
    ),
    *(
        date(1, 1, 1),
        datetime(9999, 12, 31, tzinfo=UTC),
        pd.Timestamp("2024-02-29"),
        Fraction(1),
        "1",
    ),
]
IN_OBJECTS = [
    Kind(object, WORDS, [*OBJECTS, *ODD_TEXTS], TEXTS, [*PLACES, 2**53, 1, True, 2**53 + 1, 1.5]),
    Kind(object, WHOLE, OBJECTS, OF_NUMBERS, [*PLACES, 1, "1"]),
    Kind(object, TIMES, OBJECTS, MOMENTS),
]
CATEGORIES = [
    Kind("category", WORDS, ODD_TEXTS, TEXTS, PLACES),
    Kind("category", WHOLE, [None], OF_NUMBERS),
]
IN_FILES = [
    Kind(str, WORDS, [*ODD_TEXTS, "red\r", ",", "\t", "\\", "\ufeff"], TEXTS, PLACES),
    Kind(
        str,
        ["0", "1", "2.5", str(2**53), "-1"],
        ["", "1e400", "nan", "inf", "-Infinity", "0x1", "1_0", " 1 ", "1e", "१", LONG, str(2**64)],
        OF_NUMBERS[1:],
        PLACES,
    ),
    Kind(
        str,
        ["2024-02-29", "1970-01-01", "1969-12-31 23:59:59.999999"],
        [
            "2024-02-30",
            "0000-01-01",
            "infinity",
            "294248-01-01",
            "2024-02-29T00:00Z",
            "12:00",
            "epoch",
        ],
        MOMENTS[1:],
        [str(2**53), str(2**53 + 1), "01", "1"],
    ),
]
ANY_STORAGE = [
    None,
    b"\xff",
    b"red",
    "red",
    "1",
    "",
    1,
    0,
    2.5,
    math.inf,
    -0.0,
    2**63 - 1,
    "a\0",
    "\0",
]
IN_SQLITE = [
    Kind("TEXT", WORDS, [*ANY_STORAGE, *ODD_TEXTS], TEXTS, [*PLACES, b"a", 7, 2**53, 2**53 + 1]),
    Kind("VARCHAR(9)", WORDS, ODD_TEXTS, TEXTS, PLACES),
    Kind("INTEGER", WHOLE, ANY_STORAGE, OF_NUMBERS),
    Kind("REAL", REALS, ANY_STORAGE, OF_NUMBERS),
    Kind("NUMERIC(9, 2)", REALS, ANY_STORAGE, OF_NUMBERS),
    Kind("BOOLEAN", [1, 0], ANY_STORAGE, TRUTHS),
    Kind(
        "DATE", ["2024-02-29", "1970-01-01"], [*ANY_STORAGE, "2024-02-30", "now", "2024-2-29"], DAYS
    ),
]
IN_POSTGRES = [
    Kind("text", WORDS, [text for text in ODD_TEXTS if "\0" not in (text or "")], TEXTS),
    Kind("varchar(9)", WORDS, [None, "", "RED", "red "], TEXTS, PLACES),
    Kind("char(9)", WORDS, [None, "", "RED", "red "], TEXTS, PLACES),
    Kind("int8", WHOLE, [None, 2**63 - 1, -(2**63)], OF_NUMBERS),
    Kind("int2", [0, 1, 2], [None, 32767, -32768], OF_NUMBERS[:2]),
    Kind("float8", REALS, ODD_REALS, OF_NUMBERS),
    Kind("float4", REALS, ODD_REALS[:5], OF_NUMBERS),
    Kind(
        "numeric", DECIMALS, [None, "NaN", "Infinity", "-Infinity", "1e400", "-1e-400"], OF_NUMBERS
    ),
    Kind("bool", [True, False], [None], TRUTHS),
    Kind(
        "date",
        ["2024-02-29", "1970-01-01"],
        [None, "infinity", "-infinity", "4713-01-01 BC", "5874897-12-31"],
        DAYS,
    ),
    Kind(
        "timestamp",
        TIMES,
        [None, "infinity", "-infinity", "4713-01-01 BC", "294276-12-31"],
        MOMENTS,
    ),
    Kind(
        "timestamptz",
        ["2024-02-29T00:00Z", "1970-01-01T00:00Z"],
        [None, "infinity", "-infinity", "4713-01-01 BC"],
        INSTANTS,
    ),
]
IN_MARIADB = [
    Kind("TEXT", WORDS, ODD_TEXTS, TEXTS),
    Kind(
        "VARCHAR(9) COLLATE utf8mb4_general_ci",
        WORDS,
        [None, "", "RED", "red ", "e\u0301"],
        TEXTS,
        PLACES,
    ),
    Kind("CHAR(9) CHARACTER SET latin1", WORDS, [None, "", "RED", "red "], TEXTS, PLACES),
    Kind(
        "VARCHAR(9) CHARACTER SET ucs2",
        WORDS,
        [None, "", "a", b"\xd8\x00", b"\xdc\x00"],
        TEXTS,
        PLACES,
    ),
    Kind("ENUM('red', 'blue', 'Köln')", WORDS, [None, "", "other"], TEXTS),
    Kind("BIGINT", WHOLE, [None, 2**63 - 1, -(2**63)], OF_NUMBERS),
    Kind("BIGINT UNSIGNED", WHOLE[:6], [None, 2**64 - 1, 2**63], OF_NUMBERS),
    Kind("DECIMAL(65, 30)", DECIMALS, [None, "9" * 35, "-1e-30"], OF_NUMBERS),
    Kind("DOUBLE", REALS, [None, -0.0, 5e-324, 1.7e308, 0.1], OF_NUMBERS),
    Kind("FLOAT", REALS, [None, -0.0, 3e38, 0.1], OF_NUMBERS),
    Kind(
        "DATE", ["2024-02-29", "1970-01-01"], [None, "0000-00-00", "2024-00-00", "9999-12-31"], DAYS
    ),
    Kind("DATETIME(6)", TIMES, [None, "0000-00-00", "2024-00-00 12:00", "9999-12-31"], MOMENTS),
]

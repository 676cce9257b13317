"""One record replaced by any other changes the counts by its own group alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

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

from matching import (
    COLUMNS,
    EAST,
    INSTANTS,
    WEEKS,
    Values,
    expected,
    unit,
)
from rainbowdp.questions import Quantile, Threshold, Winner
from rainbowdp.tables import count


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


def objects(values: Values) -> Any:
    column = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        column[place] = value
    return pd.DataFrame({"x": pd.Series(column, dtype=object)})


PLAIN: Values = [
    "red", 1, 1.0, True, date(2024, 5, 1), datetime(2024, 1, 1), Decimal("0.5"),
    datetime(2024, 5, 1, tzinfo=UTC), None, math.nan, "blue", np.float64(7), np.int64(2**61),
]  # fmt: skip


@pytest.mark.parametrize("question", OBJECT_QUESTIONS, ids=lambda question: type(question).__name__)
def test_plain_objects_count_as_the_oracle(question: Any) -> None:
    assert count(objects(PLAIN), question) == expected(PLAIN, question)


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(place, id=type(odd).__name__, marks=[pytest.mark.slow] if place % 3 else [])
        for place, odd in enumerate(ODD)
    ],
)
def test_one_odd_object_changes_no_other(place: int) -> None:
    for question in OBJECT_QUESTIONS:
        before = expected(PLAIN, question)
        own = count(objects([ODD[place]]), question)
        assert unit(dict.fromkeys(before, 0), own)
        at = place % 2 * 4  # first, or in the middle
        after = count(objects([*PLAIN[:at], ODD[place], *PLAIN[at:]]), question)
        assert after == {name: n + own[name] for name, n in before.items()}, question


SIMPLE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.decimals(), st.datetimes(), st.dates(),
    st.datetimes(timezones=st.just(UTC)), st.sampled_from(["red", "1", "1.0", "true"]), st.text(),
)  # fmt: skip


@pytest.mark.slow
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


# Milliseconds are read as seconds are, microseconds much as nanoseconds.
TYPES = [
    pytest.param(name, marks=[pytest.mark.slow] if " ms " in name or " us " in name else [])
    for name in WIDE
]


@pytest.mark.slow
@pytest.mark.parametrize("name", TYPES)
def test_one_extreme_value_of_a_type_changes_no_other(name: str) -> None:
    wide = WIDE[name]
    rest = [wide.extremes[-1]] * 2 if name in ("float", "whole") else [wide.extremes[-1], None]
    for engine, make in enumerate(typed(rest, wide.type_)):
        question = wide.questions[engine % len(wide.questions)]
        before = count(make(), question)
        for extreme in wide.extremes:
            after = count(typed([*rest, extreme], wide.type_)[engine](), question)
            assert unit(before, after), (engine, extreme, question)


@pytest.mark.slow
@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.parametrize("name", TYPES)
@given(data=st.data())
def test_one_value_of_a_type_changes_no_other(name: str, data: st.DataObject) -> None:
    some = WIDE[name].values
    rest = data.draw(st.lists(st.one_of(some, st.none()), max_size=6))
    question = data.draw(st.sampled_from(WIDE[name].questions))
    changes_no_other(name, data.draw(st.integers(0, 4)), rest, data.draw(some), question)

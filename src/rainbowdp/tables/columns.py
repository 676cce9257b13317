"""What a column of a data frame holds, by its declared type, and the column made comparable.

Times and days become whole numbers, which all engines compare alike. What Narwhals tells of a
pandas column of objects depends on what is in it, so pandas' own types are asked first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.questions.conditions import Below, Missing, OneOf
from rainbowdp.questions.ends import Kind
from rainbowdp.questions.functions import CAPITALS, FIELDS, LETTERS, SMALL
from rainbowdp.questions.groups import NoValue, OtherValue
from rainbowdp.tables.asked import Asked
from rainbowdp.tables.fields import FIRST_DAY, HOURS, LAST_DAY, dated, fields, ticks_a_day
from rainbowdp.tables.filters import looked_for
from rainbowdp.tables.held import (
    DAILY,
    TEXT,
    TICKS,
    TRUTHS,
    Fixed,
    Held,
    Real,
    Ticks,
    Whole,
    integers,
)
from rainbowdp.tables.objects import UNKNOWN, numbers_of
from rainbowdp.tables.values import Matches, not_countable

if TYPE_CHECKING:
    import narwhals as nw

Frame: TypeAlias = "nw.LazyFrame[Any]"

_TICKING = Whole(1 - (1 << 63), (1 << 63) - 1)  # NumPy's "not a time" is the number below
_NOT_A_TIME = -(1 << 63)
_BY_BYTES = "UTF8_BINARY"  # Spark's name for it
# The fields of a Spark time without a zone, since its number would be taken by the session's zone.
_SPARK_TICKS = {
    "date": "CAST(unix_date({0}) AS bigint)",
    "timestamp": "unix_micros({0})",
    "timestamp_ntz": (  # null on the very first day, which begins before the first number
        "try_add(try_multiply(unix_date(CAST({0} AS date)), 86400000000L), hour({0}) * "
        "3600000000L + minute({0}) * 60000000L "
        "+ CAST(extract(SECOND FROM {0}) * 1000000 AS bigint))"
    ),
}


def comparable(frame: Frame, asked: Asked, name: str = "value") -> tuple[Matches, Frame]:
    """What to look for in the column ``name``, and the frame with it made comparable.

    Of a column of the type of no values nothing is to be looked for. What is no value to a test is
    null, or NaN.
    """
    made = None
    if frame.implementation.is_pandas_like():
        dtype: Any = frame.to_native()[name].dtype
        found = _pandas_numbers(frame, dtype, asked, name)
        if found is not None:
            return found
        made = _pandas(frame, dtype, asked, name)
    if made is None:
        dtype = frame.collect_schema()[name]
        if _is_null_type(frame, name):
            return {}, frame
        made = _held(frame, dtype, asked, name)
    held, frame = made
    return looked_for(asked, held, dtype), _applied(frame, held, asked, name)


def _applied(frame: Frame, held: Held, asked: Asked, name: str) -> Frame:
    """The frame with what a function makes of its column; no value makes it fail."""
    function = asked.apply
    if function in LETTERS:
        return _lowered(frame, name)
    if function not in FIELDS or not isinstance(held, Ticks):
        return frame
    if frame.implementation.is_pandas_like():
        return _with(frame, name, fields(function, _whole(_series(frame, name)), held))
    if frame.implementation.is_spark_like():
        return _in_spark(frame, _spark_field(function, ticks_a_day(held)), name)
    return frame.with_columns(_field(function, held, name).alias(name))


def _field(function: str, held: Ticks, name: str) -> nw.Expr:
    """A field of the ticks in a column; others than those of the years 1 to 9999 are left out."""
    import narwhals as nw

    (first, last), a_day, ticks = dated(held), ticks_a_day(held), nw.col(name).cast(nw.Int64())
    inside = nw.when((ticks >= first) & (ticks <= last)).then(ticks)
    if function == "hour":
        return inside % a_day // max(1, a_day // HOURS)
    day = (inside // a_day).cast(nw.Int32()).cast(nw.Date()).dt
    return {"year": day.year, "month": day.month, "day": day.day}[function]()


def _spark_field(function: str, a_day: int) -> str:
    """The same in Spark's SQL, where no step overflows for any number of 64 bits."""
    day = f"(`{{0}}` div {a_day}L - CASE WHEN `{{0}}` % {a_day}L < 0 THEN 1 ELSE 0 END)"
    field = f"{function}(date_from_unix_date(CAST({day} AS int)))"
    if function == "hour":
        field = f"pmod(`{{0}}`, {a_day}L) div {max(1, a_day // HOURS)}L"
    return f"CASE WHEN {day} BETWEEN {FIRST_DAY} AND {LAST_DAY} THEN {field} END"


def _lowered(frame: Frame, name: str) -> Frame:
    if frame.implementation.is_pandas_like():
        return _with(
            frame, name, _series(frame, name).str.translate(str.maketrans(CAPITALS, SMALL))
        )
    if frame.implementation.is_spark_like():
        return _in_spark(frame, f"translate(`{{0}}`, '{CAPITALS}', '{SMALL}')", name)
    import polars as pl

    native = frame.to_native()
    return _frame(native.with_columns(pl.col(name).str.replace_many(list(CAPITALS), list(SMALL))))


def _in_spark(frame: Frame, sql: str, name: str) -> Frame:
    """The frame with a column computed by Spark's SQL."""
    native = frame.to_native()
    others = [f"`{other}`" for other in native.columns if other != name]
    return _frame(native.selectExpr(*others, f"{sql.format(name)} AS `{name}`"))


def _held(frame: Frame, dtype: nw.dtypes.DType, asked: Asked, name: str) -> tuple[Held, Frame]:
    import narwhals as nw

    value = nw.col(name)

    if dtype.is_integer() and dtype != nw.UInt128:
        word = str(dtype)
        return integers(int(word.lstrip("UInt")), signed=word.startswith("I")), frame
    if isinstance(dtype, nw.Boolean):
        return TRUTHS, frame
    if isinstance(dtype, nw.String):
        return TEXT, _by_bytes(frame, name)
    if isinstance(dtype, nw.Categorical | nw.Enum):
        return TEXT, frame.with_columns(value.cast(nw.String()))
    if isinstance(dtype, nw.Decimal):
        return Fixed(dtype.precision, dtype.scale), frame
    if dtype.is_float() or dtype == nw.UInt128:  # Polars takes no number of that size
        bits = 64 if dtype == nw.UInt128 else int(str(dtype).removeprefix("Float"))
        return Real(bits), frame.with_columns(value.cast(nw.Float64()))
    if isinstance(dtype, nw.Date):
        return Ticks(Kind.TIMES, DAILY, _TICKING), _ticking(frame, None, name)
    if isinstance(dtype, nw.Datetime):
        return _ticks(dtype.time_unit, dtype.time_zone), _ticking(frame, dtype.time_unit, name)
    raise not_countable(asked, dtype)


def _by_bytes(frame: Frame, name: str) -> Frame:
    """The frame with a column of texts that are equal by their bytes; Spark knows other ways."""
    if not frame.implementation.is_spark_like():
        return frame
    known = getattr(frame.to_native().schema[name].dataType, "collation", _BY_BYTES)
    if known == _BY_BYTES:
        return frame
    return _in_spark(frame, f"collate(`{{0}}`, '{_BY_BYTES}')", name)


def _ticks(unit: str, zone: object) -> Ticks:
    return Ticks(Kind.TIMES if zone is None else Kind.INSTANTS, TICKS[unit], _TICKING)


def _ticking(frame: Frame, unit: Any, name: str) -> Frame:
    """The frame with its days, or its times of a unit, as numbers."""
    import narwhals as nw

    if frame.implementation.is_spark_like():
        kind = frame.to_native().schema[name].dataType.typeName()
        return _in_spark(frame, _SPARK_TICKS[kind], name)
    value = nw.col(name)
    number = value.cast(nw.Int32()) if unit is None else value.dt.timestamp(unit)
    return frame.with_columns(number.alias(name))


def _is_null_type(frame: Frame, name: str) -> bool:
    """Whether the type of the column is that of no values."""
    import narwhals as nw

    if frame.collect_schema()[name] != nw.Unknown:
        return False
    native = frame.to_native()
    if frame.implementation.is_spark_like():
        return bool(native.schema[name].dataType.typeName() == "void")
    if frame.implementation.is_pandas_like():
        return str(native[name].dtype) == "null[pyarrow]"
    return str(native.collect_schema()[name]) == "Null"


def _pandas_numbers(
    frame: Frame, dtype: Any, asked: Asked, name: str
) -> tuple[Matches, Frame] | None:
    """The numbers of the groups of objects and categories, which are read value by value."""
    import pandas as pd

    objects = isinstance(dtype, np.dtype) and dtype.kind == "O"
    if objects:
        numbers = numbers_of(_series(frame, name).to_numpy(), asked)
    elif isinstance(dtype, pd.CategoricalDtype):
        comparable(_frame(pd.DataFrame({"value": dtype.categories[:0]})), asked)  # or raise
        each = [*numbers_of(dtype.categories.to_numpy(), asked), UNKNOWN]
        numbers = np.array(each, dtype=np.int64)[_series(frame, name).cat.codes.to_numpy()]
    elif isinstance(dtype, pd.ArrowDtype) and _is_dictionary(dtype):
        plain = _series(frame, name).astype(pd.ArrowDtype(dtype.pyarrow_dtype.value_type))
        return comparable(_with(frame, name, plain), asked, name)
    else:
        return None
    groups: Matches = {number: number for number in range(len(asked.groups))}
    if _tells_missing(asked):
        return groups, _with(frame, name, pd.arrays.IntegerArray(numbers, numbers == UNKNOWN))
    return groups, _with(frame, name, numbers)


def _tells_missing(asked: Asked) -> bool:
    """Whether it matters which values are none."""
    rested = any(isinstance(rule, OtherValue | NoValue) for _, rule in asked.groups)
    return rested or isinstance(asked, OneOf | Below | Missing)


def _is_dictionary(dtype: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_dictionary(dtype.pyarrow_dtype))


def _pandas(frame: Frame, dtype: Any, asked: Asked, name: str) -> tuple[Held, Frame] | None:
    """Times of types of pandas that Narwhals does not know, or not exactly; else ``None``."""
    import pandas as pd

    if isinstance(dtype, pd.ArrowDtype):
        return _arrow(frame, dtype.pyarrow_dtype, name)
    if isinstance(dtype, np.dtype | pd.DatetimeTZDtype) and dtype.kind == "M":
        held = _ticks(np.datetime_data(dtype.base)[0], getattr(dtype, "tz", None))
        ticks = _series(frame, name).array.asi8
        if _tells_missing(asked):
            ticks = pd.arrays.IntegerArray(ticks, ticks == _NOT_A_TIME)
        return held, _with(frame, name, ticks)
    return None


def _arrow(frame: Frame, arrow: Any, name: str) -> tuple[Held, Frame] | None:
    """The same for Arrow's types in pandas."""
    import pandas as pd
    import pyarrow as pa

    if pa.types.is_date32(arrow):
        held, whole = Ticks(Kind.TIMES, DAILY, _TICKING), pa.int32()
    elif pa.types.is_date64(arrow):
        held, whole = _ticks("ms", None), pa.int64()
    elif pa.types.is_timestamp(arrow):
        held, whole = _ticks(arrow.unit, arrow.tz), pa.int64()
    else:
        return None
    return held, _with(frame, name, _series(frame, name).astype(pd.ArrowDtype(whole)))


def _whole(ticks: Any) -> NDArray[np.int64]:
    """Ticks of any of pandas' types, "not a time" where there is none."""
    missing = ticks.isna().to_numpy()
    found = np.full(len(ticks), _NOT_A_TIME, dtype=np.int64)
    found[~missing] = ticks[~missing].to_numpy(dtype=np.int64)
    return found


def _series(frame: Frame, name: str) -> Any:
    return frame.collect().to_pandas()[name]


def _with(frame: Frame, name: str, values: Any) -> Frame:
    """The frame with other values in a column."""
    return _frame(frame.collect().to_pandas().assign(**{name: values}))


def _frame(native: Any) -> Frame:
    import narwhals as nw

    made: Frame = nw.from_native(native).lazy()
    return made

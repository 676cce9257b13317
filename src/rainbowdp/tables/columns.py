"""What a column of a data frame holds, by its declared type, and the column made comparable.

Times and days become whole numbers, which all engines compare alike. What Narwhals tells of a
pandas column of objects depends on what is in it, so pandas' own types are asked first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rainbowdp.questions import Question
from rainbowdp.questions.ends import Kind
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
from rainbowdp.tables.objects import NONE, numbers_of
from rainbowdp.tables.values import Matches, matches, not_countable

if TYPE_CHECKING:
    import narwhals as nw

Frame: TypeAlias = "nw.LazyFrame[Any]"

_TICKING = Whole(1 - (1 << 63), (1 << 63) - 1)  # NumPy's "not a time" is the number below
# The fields of a Spark time without a zone, since its number would be taken by the session's zone.
_SPARK_TICKS = {
    "date": "CAST(unix_date(value) AS bigint)",
    "timestamp": "unix_micros(value)",
    "timestamp_ntz": (  # null on the very first day, which begins before the first number
        "try_add(try_multiply(unix_date(CAST(value AS date)), 86400000000L), hour(value) * "
        "3600000000L + minute(value) * 60000000L "
        "+ CAST(extract(SECOND FROM value) * 1000000 AS bigint))"
    ),
}


def comparable(frame: Frame, question: Question) -> tuple[Matches, Frame]:
    """What to look for in the column ``value``, and the frame with it made comparable.

    Of a column of the type of no values nothing is to be looked for.
    """
    if frame.implementation.is_pandas_like():
        made = _pandas(frame, question)
        if made is not None:
            return made
    dtype = frame.collect_schema()["value"]
    if _is_null_type(frame):
        return {}, frame
    held, frame = _held(frame, dtype, question)
    return matches(question, held, dtype), frame


def _held(frame: Frame, dtype: nw.dtypes.DType, question: Question) -> tuple[Held, Frame]:
    import narwhals as nw

    if dtype.is_integer() and dtype != nw.UInt128:
        name = str(dtype)
        return integers(int(name.lstrip("UInt")), signed=name.startswith("I")), frame
    if isinstance(dtype, nw.Boolean):
        return TRUTHS, frame
    if isinstance(dtype, nw.String):
        return TEXT, frame
    if isinstance(dtype, nw.Categorical | nw.Enum):
        return TEXT, frame.with_columns(nw.col("value").cast(nw.String()))
    if isinstance(dtype, nw.Decimal):
        return Fixed(dtype.precision, dtype.scale), frame
    if dtype.is_float() or dtype == nw.UInt128:  # Polars takes no number of that size
        bits = 64 if dtype == nw.UInt128 else int(str(dtype).removeprefix("Float"))
        return Real(bits), frame.with_columns(nw.col("value").cast(nw.Float64()))
    if isinstance(dtype, nw.Date):
        return Ticks(Kind.TIMES, DAILY, _TICKING), _ticking(frame, None)
    if isinstance(dtype, nw.Datetime):
        return _ticks(dtype.time_unit, dtype.time_zone), _ticking(frame, dtype.time_unit)
    raise not_countable(question, dtype)


def _ticks(unit: str, zone: object) -> Ticks:
    return Ticks(Kind.TIMES if zone is None else Kind.INSTANTS, TICKS[unit], _TICKING)


def _ticking(frame: Frame, unit: Any) -> Frame:
    """The frame with its days, or its times of a unit, as numbers."""
    import narwhals as nw

    if frame.implementation.is_spark_like():
        native = frame.to_native()
        ticks = _SPARK_TICKS[native.schema["value"].dataType.typeName()]
        others = [f"`{name}`" for name in native.columns if name != "value"]
        return _frame(native.selectExpr(*others, f"{ticks} AS value"))
    value = nw.col("value")
    number = value.cast(nw.Int32()) if unit is None else value.dt.timestamp(unit)
    return frame.with_columns(number.alias("value"))


def _is_null_type(frame: Frame) -> bool:
    """Whether the type of the column is that of no values."""
    import narwhals as nw

    if frame.collect_schema()["value"] != nw.Unknown:
        return False
    native = frame.to_native()
    if frame.implementation.is_spark_like():
        return bool(native.schema["value"].dataType.typeName() == "void")
    if frame.implementation.is_pandas_like():
        return str(native["value"].dtype) == "null[pyarrow]"
    return str(native.collect_schema()["value"]) == "Null"


def _pandas(frame: Frame, question: Question) -> tuple[Matches, Frame] | None:
    """The same for types of pandas that Narwhals does not know, or not exactly; else ``None``."""
    import pandas as pd

    dtype: Any = frame.to_native()["value"].dtype
    objects = isinstance(dtype, np.dtype) and dtype.kind == "O"
    if objects or isinstance(dtype, pd.CategoricalDtype):
        if objects:
            numbers = numbers_of(_series(frame).to_numpy(), question)
        else:
            comparable(_frame(pd.DataFrame({"value": dtype.categories[:0]})), question)  # or raise
            each = [*numbers_of(dtype.categories.to_numpy(), question), NONE]
            numbers = np.array(each, dtype=np.int64)[_series(frame).cat.codes.to_numpy()]
        groups: Matches = {number: number for number in range(len(question.groups))}
        return groups, _with(frame, numbers)
    if isinstance(dtype, pd.ArrowDtype):
        return _arrow(frame, dtype, question)
    if isinstance(dtype, np.dtype | pd.DatetimeTZDtype) and dtype.kind == "M":
        held = _ticks(np.datetime_data(dtype.base)[0], getattr(dtype, "tz", None))
        return matches(question, held, dtype), _with(frame, _series(frame).array.asi8)
    return None


def _arrow(frame: Frame, dtype: Any, question: Question) -> tuple[Matches, Frame] | None:
    """The same for Arrow's types in pandas."""
    import pandas as pd
    import pyarrow as pa

    arrow = dtype.pyarrow_dtype
    if pa.types.is_dictionary(arrow):
        plain = _series(frame).astype(pd.ArrowDtype(arrow.value_type))
        return comparable(_with(frame, plain), question)
    if pa.types.is_date32(arrow):
        held, whole = Ticks(Kind.TIMES, DAILY, _TICKING), pa.int32()
    elif pa.types.is_date64(arrow):
        held, whole = _ticks("ms", None), pa.int64()
    elif pa.types.is_timestamp(arrow):
        held, whole = _ticks(arrow.unit, arrow.tz), pa.int64()
    else:
        return None
    numbers = _series(frame).astype(pd.ArrowDtype(whole))
    return matches(question, held, dtype), _with(frame, numbers)


def _series(frame: Frame) -> Any:
    return frame.collect().to_pandas()["value"]


def _with(frame: Frame, values: Any) -> Frame:
    """The frame with other values in its column."""
    return _frame(frame.collect().to_pandas().assign(value=values))


def _frame(native: Any) -> Frame:
    import narwhals as nw

    made: Frame = nw.from_native(native).lazy()
    return made

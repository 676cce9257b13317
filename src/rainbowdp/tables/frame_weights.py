"""The weights of a data frame's rows in whole units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rainbowdp.questions.weights import Weight
from rainbowdp.tables.asked import Weighed
from rainbowdp.tables.columns import comparable
from rainbowdp.tables.frame_filters import known
from rainbowdp.tables.objects import weights_of
from rainbowdp.tables.query import in_units

if TYPE_CHECKING:
    import narwhals as nw

Frame: TypeAlias = "nw.LazyFrame[Any]"

_NAME = "units"
_LARGE = ("Int64", "UInt64", "Int128", "UInt128")


def weighed(frame: Frame, weight: Weight) -> Frame:
    """The rows that have a weight in the column ``units``, which holds whole units then."""
    import narwhals as nw

    if frame.implementation.is_pandas_like():
        native = frame.to_native()
        if _is_read_one_by_one(native[_NAME].dtype, weight):
            found = weights_of(native[_NAME].to_numpy(dtype=object), weight)
            return _frame(native.assign(units=found)[found >= 0])
    numbers, frame = comparable(frame, Weighed(weight.column), _NAME)
    if not numbers:  # the type of no values
        return frame.filter(~nw.col(_NAME).is_null()).with_columns(units=nw.lit(0, nw.Int64()))
    frame = frame.filter(known(frame, _NAME))
    if frame.implementation.is_spark_like():
        sql = in_units(f"CAST({_NAME} AS double)", weight, "CAST(floor({0}) AS bigint)")
        native = frame.to_native()
        others = [f"`{name}`" for name in native.columns if name != _NAME]
        return _frame(native.selectExpr(*others, f"CAST({sql} AS bigint) AS {_NAME}"))
    value = nw.col(_NAME)
    if str(frame.collect_schema()[_NAME]) in _LARGE:  # some have no float, and casting might fail
        value = value.clip(0, math.ceil(weight.limit))
    value = value.cast(nw.Float64())
    nearest = (value * float(weight.scale) + 0.5).floor()
    clipped = nw.when(value <= 0).then(nw.lit(0.0)).otherwise(nearest)
    most, limit = nw.lit(float(weight.units)), float(weight.limit)
    units = nw.when(value >= limit).then(most).otherwise(clipped)
    return frame.with_columns(units=units.cast(nw.Int64()))


def _is_read_one_by_one(dtype: Any, weight: Weight) -> bool:
    """Whether a pandas column holds objects, or categories, which must be numbers."""
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        empty = _frame(pd.DataFrame({_NAME: dtype.categories[:0]}))
        comparable(empty, Weighed(weight.column), _NAME)  # or raise
        return True
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _frame(native: Any) -> Frame:
    import narwhals as nw

    made: Frame = nw.from_native(native).lazy()
    return made

"""Count in one column of pandas or Polars, or in what ``value_counts()`` made of one."""

from __future__ import annotations

from typing import Any

from rainbowdp.errors import UnreadableTable
from rainbowdp.expecting import brief
from rainbowdp.questions.base import Counted
from rainbowdp.tables.frames import count_frame
from rainbowdp.tables.values import check_columns

_STANDING = "how many"


def is_series(table: Any) -> bool:
    """Whether a table is a Series of pandas or Polars."""
    library = type(table).__module__.partition(".")[0]
    return library in ("pandas", "polars") and type(table).__name__ == "Series"


def count_series(series: Any, question: Counted, key: int | None) -> list[int]:
    """Counts for a column that has the name that the question asks for.

    A pandas Series whose *index* has that name holds counts, one whole number for each value.
    """
    name, index = series.name, getattr(series, "index", None)
    if name != question.column and getattr(index, "name", None) == question.column:
        return _count_counts(series, question)
    return count_frame(frame_of(series, question), question, key)


def frame_of(series: Any, question: Counted) -> Any:
    """A column as a frame of its own."""
    if not isinstance(series.name, str) or not series.name:
        raise UnreadableTable(
            "a Series must have a name, that of the question's column, got none: "
            f"use .rename({brief(question.column)})"
        )
    check_columns(question, [series.name])
    return series.to_frame()


def _count_counts(series: Any, question: Counted) -> list[int]:
    """Counts for values and how often each of them is there."""
    import pandas as pd

    check_columns(question, [str(series.index.name)])
    dtype = series.dtype
    whole = pd.api.types.is_integer_dtype(dtype)
    if not whole or series.isna().any() or (series < 0).any():
        raise UnreadableTable(
            f"value counts must be whole numbers from 0, got a Series of {dtype} with others"
            if whole
            else f"value counts must be whole numbers, got a Series of {dtype}"
        )
    values = series.index.to_series(index=range(len(series)), name=question.column)
    frame = values.to_frame().assign(**{_STANDING: series.to_numpy("int64")})
    return count_frame(frame, question, standing=_STANDING)

"""The rows of a data frame that meet the condition of a question.

Three-valued logic as two masks without nulls, of the rows for which a condition is true and of
those for which it is false: engines differ in what a comparison with a null or NaN gives.
"""

from __future__ import annotations

import math
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from rainbowdp.questions.base import Counted
from rainbowdp.questions.conditions import Condition, Missing, Test, folded, tests
from rainbowdp.tables.asked import condition
from rainbowdp.tables.columns import comparable
from rainbowdp.tables.values import Matches

if TYPE_CHECKING:
    import narwhals as nw

Frame: TypeAlias = "nw.LazyFrame[Any]"


class _Masks(NamedTuple):
    """Where a condition is true, and where it is false."""

    true: Any
    false: Any


def met(frame: Frame, question: Counted, columns: dict[str, nw.Expr]) -> Frame:
    """Some columns of the rows that meet the condition of a question, under names of ours."""
    filtered = condition(question)
    if filtered is None:
        return frame.select(**columns)
    if frame.implementation.is_pandas_like():
        return _in_pandas(frame, filtered, columns)
    import narwhals as nw

    names = {test: f"test{place}" for place, test in enumerate(dict.fromkeys(tests(filtered)))}
    frame = frame.select(**columns, **{name: nw.col(test.column) for test, name in names.items()})
    masks: dict[Test, _Masks] = {}
    for test, name in names.items():
        found, frame = comparable(frame, test, name)
        masks[test] = _masks(nw.col(name), test, found, known(frame, name))
    return frame.filter(_joined(filtered, masks).true).select(*columns)


def _in_pandas(frame: Frame, filtered: Condition, columns: dict[str, nw.Expr]) -> Frame:
    """The same with masks of NumPy, since pandas has several types of truth values."""
    import narwhals as nw

    masks: dict[Test, _Masks] = {}
    for test in tests(filtered):
        found, alone = comparable(frame.select(value=nw.col(test.column)), test)
        true, false = _masks(nw.col("value"), test, found, known(alone, "value"))
        made = alone.select(true=true, false=false).collect().to_native()
        masks[test] = _Masks(
            *(made[name].to_numpy(dtype=bool, na_value=False) for name in ("true", "false"))
        )
    native = frame.select(**columns).to_native()
    kept: Frame = nw.from_native(native[np.asarray(_joined(filtered, masks).true)]).lazy()
    return kept


def _joined(filtered: Condition, masks: dict[Test, _Masks]) -> _Masks:
    return folded(
        filtered,
        masks.__getitem__,
        lambda part: _Masks(part.false, part.true),
        lambda parts: _Masks(
            reduce(and_, (part.true for part in parts)), reduce(or_, (part.false for part in parts))
        ),
        lambda parts: _Masks(
            reduce(or_, (part.true for part in parts)), reduce(and_, (part.false for part in parts))
        ),
    )


def _masks(value: nw.Expr, test: Test, found: Matches, has_one: nw.Expr) -> _Masks:
    """The masks of one test of a column that is comparable."""
    if isinstance(test, Missing):
        return _Masks(~has_one, has_one)
    if not found:
        return _Masks(has_one & ~has_one, has_one)
    if isinstance(found, dict):
        hit = value.is_in(list(found))
    else:
        hit = reduce(
            or_,
            ((value >= r.low) & (value <= r.high if r.closed else value < r.high) for r in found),
        )
    return _Masks(has_one & hit, has_one & ~hit)


def known(frame: Frame, name: str) -> nw.Expr:
    """Whether there is a value in a column that is comparable; NaN is none."""
    import narwhals as nw

    value = nw.col(name)
    if not frame.collect_schema()[name].is_float():
        return ~value.is_null()
    return ~value.is_null() & (value >= -math.inf) & (value <= math.inf)

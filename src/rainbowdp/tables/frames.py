"""Count in a data frame, pandas, Polars or PySpark, through Narwhals.

The frame's own engine does the counting, in one lazy query; what comes back is one number for
each group. The query is that of ``query.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rainbowdp.errors import UnreadableTable
from rainbowdp.questions import Question
from rainbowdp.tables.columns import comparable
from rainbowdp.tables.held import Range
from rainbowdp.tables.values import check_columns, check_different, numbered

if TYPE_CHECKING:
    import narwhals as nw


def count_frame(native: Any, question: Question) -> dict[str, int]:
    """Counts for a data frame of a library that Narwhals knows."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(native).lazy()
        # Narwhals would look into pandas' objects for their types, and one of them may raise.
        declared = frame.implementation.is_pandas_like() or frame.implementation.is_spark_like()
        names = native.columns if declared else frame.collect_schema().names()
    except TypeError:
        raise UnreadableTable(
            "a table must be a data frame, a path, an SQLTable or counts, "
            f"got {type(native).__name__}"
        ) from None
    except DuplicateError:
        check_different([str(name) for name in native.columns])
        raise
    check_columns(question, list(names))
    return _count(frame, question)


def _count(frame: nw.LazyFrame[Any], question: Question) -> dict[str, int]:
    """Counts for a lazy frame that has the question's columns."""
    import narwhals as nw

    assert question.column is not None
    columns = {"value": nw.col(question.column)}
    if question.person is not None:
        columns["person"] = nw.col(question.person)
    found, frame = comparable(frame.select(**columns), question)
    if not found:
        return numbered(question, [])
    value, person = nw.col("value"), [name for name in columns if name == "person"]
    if person:
        frame = frame.filter(_known(frame, "person"))
    if isinstance(found, dict):
        zeros = [-0.0] if any(known == 0.0 and isinstance(known, float) for known in found) else []
        frame = frame.filter(value.is_in([*found, *zeros]))
        frame = frame.group_by("value", *person).agg(records=nw.len())
        frame = frame.select(*person, "records", number=_listed(value, found))
    else:
        frame = frame.select(*person, number=_place(value, found))
        frame = frame.filter(~nw.col("number").is_null())
        frame = frame.group_by("number", *person).agg(records=nw.len())
    if person:
        frame = _limited(frame, question.rows_per_person)
    total = frame.group_by("number").agg(records=nw.col("records").sum())
    return numbered(question, _rows(total.select("number", "records")))


def _rows(frame: nw.LazyFrame[Any]) -> Iterable[Sequence[Any]]:
    """Run the query and bring its few rows here."""
    if frame.implementation.is_spark_like():
        rows: Iterable[Sequence[Any]] = frame.to_native().collect()
        return rows
    return frame.collect().rows()


def _known(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """That a column has a value: no null, no NaN."""
    import narwhals as nw

    column = nw.col(name)
    if frame.collect_schema()[name].is_float():
        return ~column.is_null() & ~column.is_nan()
    return ~column.is_null()


def _listed(value: nw.Expr, found: Mapping[Any, int]) -> nw.Expr:
    """The number of the group of a listed value."""
    import narwhals as nw

    return nw.coalesce(
        *(nw.when(value == known).then(nw.lit(group)) for known, group in found.items())
    )


def _place(value: nw.Expr, ranges: Sequence[Range]) -> nw.Expr:
    """The group of a number among rising ranges, by bisection: log q comparisons a row."""
    import narwhals as nw

    if len(ranges) == 1:
        low, high, closed, group = ranges[0]
        below_high = value <= high if closed else value < high
        return nw.when((value >= low) & below_high).then(nw.lit(group))
    middle = len(ranges) // 2
    below, above = _place(value, ranges[:middle]), _place(value, ranges[middle:])
    return nw.when(value < ranges[middle].low).then(below).otherwise(above)


def _limited(frame: nw.LazyFrame[Any], limit: int) -> nw.LazyFrame[Any]:
    """At most ``limit`` records of each person, those of the first listed groups first."""
    import narwhals as nw

    upto = nw.col("upto")
    before = upto - nw.col("records")
    return (
        frame.with_columns(upto=nw.col("records").cum_sum().over("person", order_by="number"))
        .filter(before < limit)
        .select("number", records=nw.when(upto > limit).then(limit - before).otherwise("records"))
    )

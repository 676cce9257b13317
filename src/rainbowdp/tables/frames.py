"""Count in a data frame, pandas, Polars or PySpark, through Narwhals.

The frame's own engine does the counting, in one lazy query; what comes back is one number for
each group. Where people are told apart, the engine counts the records of each person and group;
Spark goes on with the SQL of ``query.py``, and for the others NumPy keeps what the rule keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rainbowdp.errors import UnreadableTable
from rainbowdp.questions import Question
from rainbowdp.tables.columns import comparable
from rainbowdp.tables.frame_people import identified
from rainbowdp.tables.held import Range
from rainbowdp.tables.people import People
from rainbowdp.tables.values import check_columns, numbered

if TYPE_CHECKING:
    import narwhals as nw


def count_frame(
    native: Any, question: Question, key: int | None = None, *, weight: str | None = None
) -> dict[str, int]:
    """Counts for a data frame of a library that Narwhals knows.

    A column ``weight`` says for how many records a row stands.
    """
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(native).lazy()
        names = frame.collect_schema().names()
    except TypeError:
        raise UnreadableTable(
            "a table must be a data frame, a path, an SQLTable or counts, "
            f"got {type(native).__name__}"
        ) from None
    except DuplicateError:  # of columns that nobody asked for, perhaps
        names = list(native.columns)
        check_columns(question, names)
        wanted = [name for name in (question.column, question.person) if name is not None]
        frame = nw.from_native(native[list(dict.fromkeys(wanted))]).lazy()
    check_columns(question, native.columns if frame.implementation.is_spark_like() else names)
    return _count(frame, question, key, weight)


def _count(
    frame: nw.LazyFrame[Any], question: Question, key: int | None, weight: str | None
) -> dict[str, int]:
    """Counts for a lazy frame that has the question's columns."""
    import narwhals as nw

    assert question.column is not None
    columns = {"value": nw.col(question.column)}
    if question.person is not None:
        columns["person"] = nw.col(question.person)
    if weight is not None:
        columns["weight"] = nw.col(weight)
    frame = frame.select(**columns)
    who = None if question.person is None else identified(frame, question.person)
    found, frame = comparable(frame if who is None else who.frame, question)
    if not found:
        return numbered(question, [])
    value, person = nw.col("value"), [name for name in columns if name == "person"]
    records = nw.len() if weight is None else nw.col("weight").sum()
    if isinstance(found, dict):
        zeros = [-0.0] if any(known == 0.0 and isinstance(known, float) for known in found) else []
        frame = frame.filter(value.is_in([*found, *zeros]))
        frame = frame.group_by("value", *person).agg(records=records)
        frame = frame.select(*person, "records", number=_listed(value, found))
        if person:  # zeros of two signs are one value
            frame = frame.group_by("number", *person).agg(records=nw.col("records").sum())
    else:
        others = [name for name in columns if name != "value"]
        frame = frame.select(*others, number=_place(value, found))
        frame = frame.filter(~nw.col("number").is_null())
        frame = frame.group_by("number", *person).agg(records=records)
    if who is not None:
        return numbered(question, who.kept(frame, People.of(question, key)))
    total = frame.group_by("number").agg(records=nw.col("records").sum())
    return numbered(question, _rows(total.select("number", "records")))


def _rows(frame: nw.LazyFrame[Any]) -> Iterable[Sequence[Any]]:
    """Run the query and bring its few rows here."""
    if frame.implementation.is_spark_like():
        rows: Iterable[Sequence[Any]] = frame.to_native().collect()
        return rows
    return frame.collect().rows()


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

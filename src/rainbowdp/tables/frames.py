"""Count in a data frame, pandas, Polars or PySpark, through Narwhals.

The frame's own engine does the counting, in one lazy query; what comes back is one number for
each group. Where people are told apart, the engine counts the records of each person and group;
Spark goes on with the SQL of ``query.py``, and for the others NumPy keeps what the rule keeps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rainbowdp.errors import UnreadableTable
from rainbowdp.questions.base import Counted
from rainbowdp.tables.asked import Rest, rest_of, wanted
from rainbowdp.tables.columns import comparable
from rainbowdp.tables.frame_filters import known, met
from rainbowdp.tables.frame_people import identified
from rainbowdp.tables.frame_weights import weighed
from rainbowdp.tables.held import Range
from rainbowdp.tables.looking import MOST_VALUES, Look, made
from rainbowdp.tables.people import People
from rainbowdp.tables.values import Matches, check_columns, numbered

if TYPE_CHECKING:
    import narwhals as nw


def count_frame(
    native: Any, question: Counted, key: int | None = None, *, standing: str | None = None
) -> list[int]:
    """Counts for a data frame of a library that Narwhals knows.

    A column ``standing`` says for how many records a row stands.
    """
    return _count(_frame(native, question), question, key, standing)


def look_at_frame(native: Any, question: Counted) -> Look:
    """Look at a data frame of a library that Narwhals knows."""
    import narwhals as nw

    frame = _frame(native, question)
    if frame.implementation.is_pandas_like():  # where Narwhals would look into objects
        dtype = frame.to_native()[question.column].dtype
    else:
        dtype = frame.collect_schema()[str(question.column)]
    person = question.person
    ((whole,),) = _rows(frame.select(a=nw.len()))
    frame = _with_texts(met(frame, question, _columns(question)))
    rows, present = _rows(frame.select(a=nw.len(), b=(~nw.col("shown").is_null()).sum()))[0]
    seen, each = _numbered(frame, question)
    number, shown = nw.col("number"), nw.col("shown")
    others = each.filter(number.is_null() & ~shown.is_null()).group_by("shown")
    listed = others.agg(records=nw.len()).sort("records", "shown", descending=[True, False])
    people = None
    if person is not None:
        mine = identified(frame, person).frame
        _, mine = _numbered(mine, question)
        each_of = mine.filter(~number.is_null()).group_by("person").agg(records=nw.len())
        people = _rows(each_of.group_by("records").agg(people=nw.len()))
    matched = each.filter(~number.is_null()).group_by("number").agg(records=nw.len())
    return made(
        question,
        dtype,
        rows=int(whole),
        kept=int(rows),
        present=int(present),
        matched=_rows(matched) if seen else [],
        others=_rows(listed.head(MOST_VALUES)),
        people=people,
    )


def as_arrow(native: Any, question: Counted) -> Any:
    """The columns that a question needs of a pandas or Polars frame, as an Arrow table."""
    frame = _frame(native, question)
    if frame.implementation.is_pandas() or frame.implementation.is_polars():
        return frame.select(*wanted(question)).collect().to_arrow()
    raise UnreadableTable(
        "keys can be named in files, databases and pandas, Polars, PyArrow and DuckDB frames, "
        f"got one of {frame.implementation.value}: write it to a Parquet file"
    )


def _columns(question: Counted) -> dict[str, nw.Expr]:
    """The question's columns, by the names that they have here."""
    import narwhals as nw

    columns = {"value": nw.col(str(question.column))}
    if question.by is not None:
        columns["part"] = nw.col(str(question.by.column))
    if question.weight is not None:
        columns["units"] = nw.col(question.weight.column)
    if question.person is not None:
        columns["person"] = nw.col(question.person)
    return columns


def _with_texts(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """The frame with a column ``shown``: its values as text, null where there is none."""
    import narwhals as nw

    if not frame.implementation.is_pandas_like():
        return frame.with_columns(shown=nw.col("value").cast(nw.String()))
    native = frame.collect().to_pandas()
    texts = [_text(value) for value in native["value"]]
    made: nw.LazyFrame[Any] = nw.from_native(native.assign(shown=texts)).lazy()
    return made


def _text(value: object) -> str | None:
    """A value as text; one that cannot be shown is only named by its type."""
    import pandas as pd

    try:
        missing = pd.isna(value)
        return None if missing is True or (missing == True) is True else str(value)  # noqa: E712
    except Exception:  # whatever an object of somebody else's raises
        return f"a {type(value).__name__}"


def _numbered(frame: nw.LazyFrame[Any], question: Counted) -> tuple[bool, nw.LazyFrame[Any]]:
    """Whether anything can match, and the frame with the number of each row's group."""
    import narwhals as nw

    found, frame = comparable(frame, question)
    if not found and rest_of(question).missing is None:
        return False, frame.with_columns(number=nw.lit(None, nw.Int64()))
    return True, frame.with_columns(number=_number(frame, found, rest_of(question)))


def _frame(native: Any, question: Counted) -> nw.LazyFrame[Any]:
    """The data frame, which has the question's columns."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    frame: nw.LazyFrame[Any]
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
    except DuplicateError:  # of columns that nobody asked for, perhaps
        names = list(native.columns)
        check_columns(question, names)
        frame = nw.from_native(native[wanted(question)]).lazy()
    check_columns(question, list(names))
    return frame


def _count(
    frame: nw.LazyFrame[Any], question: Counted, key: int | None, standing: str | None
) -> list[int]:
    """Counts for a lazy frame that has the question's columns."""
    import narwhals as nw

    columns, weight = _columns(question), question.weight
    if standing is not None:
        columns["units"] = nw.col(standing)
    frame = met(frame, question, columns)
    if weight is not None:
        frame = weighed(frame, weight)
    who = None if question.person is None else identified(frame, question.person)
    found, frame = comparable(frame if who is None else who.frame, question)
    parts: Matches | None = None
    if question.by is not None:
        parts, frame = comparable(frame, question.by, "part")
    rest = rest_of(question)
    if (not found and rest.missing is None) or parts == {}:
        return numbered(question, [])
    beside: list[str] = [name for name in ("part", "person") if name in columns]
    summed = "units" in columns and who is None
    if weight is not None and who is not None:  # rows of a person that weigh alike are alike
        beside.append("units")
    records = nw.col("units").sum() if summed else nw.len()
    number, zeros = nw.col("number"), False
    if isinstance(parts, dict):
        frame = frame.filter(nw.col("part").is_in(_with_zeros(parts)))
        zeros = _has_zero(parts)
    if isinstance(found, dict) and rest == Rest():
        frame = frame.filter(nw.col("value").is_in(_with_zeros(found)))
        frame = frame.group_by("value", *beside).agg(records=records)
        number, zeros = _listed(nw.col("value"), found), zeros or _has_zero(found)
    else:
        others = [name for name in columns if name != "value"]
        frame = frame.select(*others, number=_number(frame, found, rest))
        frame = frame.filter(~number.is_null())
        frame = frame.group_by("number", *beside).agg(records=records)
    if isinstance(parts, dict):
        place = _listed(nw.col("part"), parts).cast(nw.Int64())
        number = place * len(question.groups) + number
    if weight is not None and who is not None:
        number = number.cast(nw.Int64()) * (weight.units + 1) + nw.col("units")
    person = [name for name in beside if name == "person"]
    frame = frame.select(*person, "records", number=number)
    if person and zeros:  # zeros of two signs are one value
        frame = frame.group_by("number", *person).agg(records=nw.col("records").sum())
    if who is not None:
        most = None if weight is None else weight.units
        rows = who.kept(frame, People.of(question, key), most)
        return numbered(question, rows, 1 if most is None else most + 1)
    total = frame.group_by("number").agg(records=nw.col("records").sum())
    return numbered(question, _rows(total.select("number", "records")))


def _with_zeros(found: Mapping[Any, int]) -> list[Any]:
    """The listed values, and of zero both signs."""
    return [*found, -0.0] if _has_zero(found) else list(found)


def _has_zero(found: Mapping[Any, int]) -> bool:
    return any(value == 0.0 and isinstance(value, float) for value in found)


def _rows(frame: nw.LazyFrame[Any]) -> Sequence[Sequence[Any]]:
    """Run the query and bring its few rows here."""
    if frame.implementation.is_spark_like():
        rows: Sequence[Sequence[Any]] = frame.to_native().collect()
        return rows
    return frame.collect().rows()


def _number(frame: nw.LazyFrame[Any], found: Matches, rest: Rest) -> nw.Expr:
    """The number of the group of each value, null if it has none."""
    import narwhals as nw

    value = nw.col("value")
    if not found:  # the type of no values
        return nw.lit(rest.missing)
    place = _listed(value, found) if isinstance(found, dict) else _place(value, found)
    if rest == Rest():
        return place
    if rest.other is not None:
        place = nw.coalesce(place, nw.lit(rest.other))
    number = nw.when(known(frame, "value")).then(place)
    return number if rest.missing is None else number.otherwise(nw.lit(rest.missing))


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

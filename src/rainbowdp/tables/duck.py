"""Count with DuckDB: Arrow tables, DuckDB's own relations, and what files are read into.

Out of core and on all processors. This speaks SQL rather than Narwhals, which is slower here,
has no windows for Arrow, and beside NumPy makes DuckDB complain of leaks when Python ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rainbowdp.questions import Between, Question
from rainbowdp.questions.ends import WITH_ZONE, WITHOUT_ZONE, Kind
from rainbowdp.storage.sql import quoted
from rainbowdp.tables.held import DATES, TEXT, TRUTHS, Fixed, Held, Real, Times, integers
from rainbowdp.tables.query import Source, counting
from rainbowdp.tables.values import check_columns, matches, not_countable, numbered, spelled

if TYPE_CHECKING:
    import duckdb

Rows: TypeAlias = Sequence[tuple[Any, ...]]
Run: TypeAlias = Callable[[str], Rows]

_LOOKED_AT = 4_000  # rows whose different values decide between two queries
_FEW = 3_980  # more, and nearly every row has a value of its own
_POLL = 0.1  # seconds between two looks at the progress
_INTEGERS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_FLOATS = ("FLOAT", "DOUBLE")
_WITH_ZONE = "TIMESTAMP WITH TIME ZONE"
_NANOSECONDS = {"TIMESTAMP_NS": Kind.TIMES, "TIMESTAMPTZ_NS": Kind.INSTANTS}
_COARSE = {"s": 1_000_000, "ms": 1000}  # microseconds
_FIRST = datetime(1677, 9, 21, 0, 12, 43, 145_225)  # of 64 bits of nanoseconds
_LAST = datetime(2262, 4, 11, 23, 47, 16, 854_775)
_VIEW = "rainbowdp_counted"
# Not isnan: DuckDB takes it for false by Parquet statistics, which leave NaN out (issue 25521).
_NUMBER = "(isfinite({0}) OR isinf({0}))"


def count_relation(relation: duckdb.DuckDBPyRelation, question: Question) -> dict[str, int]:
    """Counts for a relation, on its own connection."""
    check_columns(question, relation.columns)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))

    def run(sql: str) -> Rows:
        found = relation.query(_VIEW, sql)
        return [] if found is None else found.fetchall()

    return count_in(_VIEW, types, question, run)


def count_arrow(table: Any, question: Question) -> dict[str, int]:
    """Counts for a PyArrow table, where it is in memory."""
    import duckdb

    check_columns(question, table.column_names)
    with duckdb.connect(":memory:") as connection:
        connection.register(_VIEW, _in_microseconds(table, question))
        described = connection.execute(f"DESCRIBE FROM {_VIEW}").fetchall()
        types = {name: type_ for name, type_, *_ in described}
        return count_in(_VIEW, types, question, plainly(connection))


def _in_microseconds(table: Any, question: Question) -> Any:
    """The table with its coarser times with a zone in microseconds, null where too far away.

    DuckDB would turn them into these itself, and fail at one that is too far away.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    type_ = table.schema.field(question.column).type
    if not pa.types.is_timestamp(type_) or type_.tz is None or type_.unit not in _COARSE:
        return table
    rate = _COARSE[type_.unit]
    ticks, most = table.column(question.column).cast(pa.int64()), (1 << 63) // rate - 1
    near = pc.and_(pc.greater_equal(ticks, -most), pc.less_equal(ticks, most))
    finer = pc.multiply(pc.if_else(near, ticks, None), rate).cast(pa.timestamp("us", type_.tz))
    place = table.schema.get_field_index(question.column)
    return table.set_column(place, question.column, finer)


def count_in(
    table: str,
    types: Mapping[str, str],
    question: Question,
    run: Run,
    *,
    look: Run | None = None,
    texts: bool = False,
    ours: bool = False,
) -> dict[str, int]:
    """Counts for a table given as SQL.

    ``look`` runs a first, short query that chooses the quicker way; ``texts`` says that the
    table is a text file, where a range reads texts as numbers; ``ours`` that the connection is
    our own, where no statistics mislead about NaN.
    """
    check_columns(question, list(types), public=not texts)
    assert question.column is not None
    column = quoted(question.column, '"')
    read = _spelled(question) if texts else None
    read = _read(types[question.column], question) if read is None else read
    if read is None:
        return numbered(question, [])
    found = matches(question, read.held, "text file" if texts else types[question.column])
    source = Source(
        table,
        read.sql.format(column),
        _NUMBER if isinstance(read.held, Real) and not ours else None,
        None if question.person is None else quoted(question.person, '"'),
        _NUMBER if question.person is not None and types[question.person] in _FLOATS else None,
    )
    few = look is not None and question.person is None and len(found) > 1 and _has_few(source, look)
    literal = partial(_literal, read.type_)
    return numbered(question, run(counting(source, found, question.rows_per_person, literal, few)))


class _Read(NamedTuple):
    """What a column holds, how to read it, and the type of values to compare with."""

    held: Held
    sql: str = "{}"
    type_: str | None = None


def _spelled(question: Question) -> _Read | None:
    """How a range reads a column of a text file; a text that spells no such thing is null.

    ``trim`` keeps DuckDB from reading the file as numbers, failing at a text.
    """
    rule = question.groups[0][1]
    if not isinstance(rule, Between):
        return None
    if rule.kind == Kind.NUMBERS:
        return _Read(Real(64), "TRY_CAST(trim({}) AS DOUBLE)", "DOUBLE")
    texts, type_ = (
        (WITH_ZONE, _WITH_ZONE) if rule.kind == Kind.INSTANTS else (WITHOUT_ZONE, "TIMESTAMP")
    )
    pattern = quoted(texts, "'").replace("{", "{{").replace("}", "}}")
    text, test = "trim({0})", f"regexp_full_match(trim({{0}}), {pattern})"
    return _Read(Times(rule.kind), f"CASE WHEN {test} THEN TRY_CAST({text} AS {type_}) END", type_)


def _read(type_: str, question: Question) -> _Read | None:
    """How to read a column of a type; ``None`` if it is the type of no values."""
    if (bits := _INTEGERS.get(type_.removeprefix("U"))) is not None:
        return _Read(integers(bits, signed=not type_.startswith("U")), type_=type_)
    if type_.startswith("DECIMAL("):
        digits, scale = map(int, type_.removeprefix("DECIMAL(").removesuffix(")").split(","))
        return _Read(Fixed(digits, scale), type_=type_)
    if type_ in _FLOATS:
        return _Read(Real(64 if type_ == "DOUBLE" else 32), "CAST({} AS DOUBLE)", "DOUBLE")
    if type_ == "BOOLEAN":
        return _Read(TRUTHS)
    if type_ == "DATE":
        return _Read(DATES, type_=type_)
    if type_ in ("TIMESTAMP", _WITH_ZONE):
        return _Read(Times(Kind.TIMES if type_ == "TIMESTAMP" else Kind.INSTANTS), type_=type_)
    if type_ in ("TIMESTAMP_S", "TIMESTAMP_MS"):  # some are too far away for microseconds
        return _Read(Times(Kind.TIMES), "TRY_CAST({} AS TIMESTAMP)", "TIMESTAMP")
    if type_ in _NANOSECONDS:
        return _Read(Times(_NANOSECONDS[type_], _FIRST, _LAST), type_=type_)
    if type_ == "VARCHAR":
        return _Read(TEXT)
    if type_ == "UUID" or type_.startswith("ENUM"):
        return _Read(TEXT, "CAST({} AS VARCHAR)")
    if type_ == '"NULL"':
        return None
    raise not_countable(question, type_)


def _literal(type_: str | None, value: Any) -> str:
    """A value in DuckDB's SQL, of the type to compare with if it does not say it itself."""
    if isinstance(value, str):
        return quoted(value, "'")
    if type_ is None:
        return str(value)  # True and False
    return f"CAST('{spelled(value)}' AS {type_})"


def _has_few(source: Source, run: Run) -> bool:
    """Whether the first rows do not each have a value of their own."""
    first = f"{source.rows()} LIMIT {_LOOKED_AT}"
    ((different,),) = run(f"SELECT count(DISTINCT value) FROM ({first}) AS first")  # noqa: S608
    return bool(different <= _FEW)


def plainly(connection: duckdb.DuckDBPyConnection) -> Run:
    """Run a query and bring its rows here."""
    return lambda sql: connection.execute(sql).fetchall()


def watched(connection: duckdb.DuckDBPyConnection, progress: Callable[[float], None]) -> Run:
    """Run a query in another thread and say how far it is, from 0 to 1."""
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
    run_plainly = plainly(connection)

    def run(sql: str) -> Rows:
        with ThreadPoolExecutor(1) as pool:
            rows = pool.submit(run_plainly, sql)
            try:
                while not rows.done():
                    progress(min(1.0, max(0.0, connection.query_progress() / 100)))
                    wait([rows], _POLL)
            except BaseException:
                connection.interrupt()
                raise
        found = rows.result()
        progress(1.0)
        return found

    return run

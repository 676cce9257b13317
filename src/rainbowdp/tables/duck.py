"""Work with DuckDB: Arrow tables, DuckDB's own relations, and what files are read into.

Out of core and on all processors. This speaks SQL rather than Narwhals, which is slower here,
has no windows for Arrow, and beside NumPy makes DuckDB complain of leaks when Python ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rainbowdp.errors import UnreadableTable
from rainbowdp.questions import Between, Question
from rainbowdp.questions.ends import WITH_ZONE, WITHOUT_ZONE, Kind
from rainbowdp.storage.sql import quoted
from rainbowdp.tables.held import DATES, TEXT, TRUTHS, Fixed, Held, Real, Times, integers
from rainbowdp.tables.locked import locked_connection, private_folder
from rainbowdp.tables.people import no_identity
from rainbowdp.tables.prepared import Found, Prepared, Work
from rainbowdp.tables.query import Dialect, Source
from rainbowdp.tables.values import Matches, check_columns, matches, not_countable, spelled

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


DIALECT = Dialect(  # the outer hash mixes what the inner one joins by an exclusive or
    hashed=lambda key, terms: f"hash(hash({key}, {terms}))",
    spread=lambda table: (
        f"SELECT person, number, unnest(range(records)) AS i FROM {table} AS many"  # noqa: S608
    ),
)
_IDENTITIES = ("BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID", "BLOB")


def in_relation(relation: duckdb.DuckDBPyRelation, question: Question, work: Work[Found]) -> Found:
    """Do the work in a relation, on its own connection."""
    check_names(question, relation.columns)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))

    def run(sql: str) -> Rows:
        found = relation.query(_VIEW, sql)
        return [] if found is None else found.fetchall()

    return in_duckdb(_VIEW, types, question, run, work)


def in_arrow(table: Any, question: Question, work: Work[Found]) -> Found:
    """Do the work in a PyArrow table, where it is in memory, or a dataset, where its files are."""
    names = table.schema.names
    check_columns(question, names)
    if hasattr(table, "select"):  # DuckDB renames columns of one name, perhaps to a wanted one
        wanted = {names.index(name) for name in (question.column, question.person) if name}
        table = _in_microseconds(table.select(sorted(wanted)), question)
    with private_folder() as folder, locked_connection(folder) as connection:
        connection.register(_VIEW, table)
        described = connection.execute(f"DESCRIBE FROM {_VIEW}").fetchall()
        types = {name: type_ for name, type_, *_ in described}
        return in_duckdb(_VIEW, types, question, plainly(connection), work)


def check_names(question: Question, names: Sequence[str]) -> None:
    """Raise unless DuckDB finds the question's columns under their own names.

    It does not tell capitals apart, and renames all but the first of several columns of one
    name, ``x`` to ``x_1``, perhaps the name of a column that is there.
    """
    check_columns(question, names)
    folded = [name.casefold() for name in names]
    repeated = tuple({name for name in folded if folded.count(name) > 1})
    for name in (question.column, question.person):
        if name is not None and repeated and name.casefold().startswith(repeated):
            raise UnreadableTable(
                f"DuckDB cannot tell column {name!r} from others whose names are the same or "
                "differ in capitals: rename them"
            )


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


def in_duckdb(
    table: str,
    types: Mapping[str, str],
    question: Question,
    run: Run,
    work: Work[Found],
    *,
    look: Run | None = None,
    texts: bool = False,
    ours: bool = False,
) -> Found:
    """Do the work in a table given as SQL.

    ``look`` runs a first, short query that chooses the quicker way; ``texts`` says that the
    table is a text file, where a range reads texts as numbers; ``ours`` that the connection is
    our own, where no statistics mislead about NaN.
    """
    check_columns(question, list(types), public=not texts)
    assert question.column is not None
    column, declared = quoted(question.column, '"'), types[question.column]
    person = None if question.person is None else _person(question.person, types[question.person])
    read = _spelled(question) if texts else None
    read = _read(declared, question) if read is None else read
    type_ = "text file" if texts else declared
    source = Source(
        table,
        column if read is None else read.sql.format(column),
        f"CAST({column} AS VARCHAR)",
        _NUMBER if read is not None and isinstance(read.held, Real) and not ours else None,
        person,
    )
    found: Matches = {} if read is None else matches(question, read.held, type_)
    literal = partial(_literal, None if read is None else read.type_)
    return work(
        Prepared(
            question,
            type_,
            source,
            found,
            DIALECT,
            lambda make: run(make(literal)),
            lambda: look is not None and len(found) > 1 and _has_few(source, look),
        )
    )


def _person(name: str, type_: str) -> str:
    """A column that tells people apart, as SQL in which only the same value is equal."""
    column, plain = quoted(name, '"'), type_.partition("(")[0]
    if plain in _FLOATS:
        raise no_identity(name, type_, floats=True)
    if type_ == "VARCHAR":
        return f"encode({column})"  # bytes, since texts may have a collation
    if plain == "ENUM":  # whose numbers may come from the order of the rows
        return f"encode(CAST({column} AS VARCHAR))"
    if plain.removeprefix("U") in (*_INTEGERS, "HUGEINT"):
        return column
    if plain in (*_IDENTITIES, "DECIMAL") or plain.startswith("TIMESTAMP_"):
        return column
    if type_ == '"NULL"':
        return f"CAST({column} AS VARCHAR)"
    raise no_identity(name, type_, floats=False)


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


def watched(
    connection: duckdb.DuckDBPyConnection,
    progress: Callable[[float], None],
    share: Callable[[], float] | None = None,
) -> Run:
    """Run a query in another thread and say how far it is, from 0 to 1, by DuckDB or ``share``."""
    run_plainly = plainly(connection)

    def so_far() -> float:
        return connection.query_progress() / 100 if share is None else share()

    def run(sql: str) -> Rows:
        with ThreadPoolExecutor(1) as pool:
            rows = pool.submit(run_plainly, sql)
            try:
                while not rows.done():
                    progress(min(1.0, max(0.0, so_far())))
                    wait([rows], _POLL)
            except BaseException:
                connection.interrupt()
                raise
        found = rows.result()
        progress(1.0)
        return found

    return run

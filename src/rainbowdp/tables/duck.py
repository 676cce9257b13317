"""Work with DuckDB: Arrow tables, DuckDB's own relations, and what files are read into.

Out of core and on all processors. This speaks SQL rather than Narwhals, which is slower here,
has no windows for Arrow, and beside NumPy makes DuckDB complain of leaks when Python ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rainbowdp.errors import UnreadableTable
from rainbowdp.expecting import brief
from rainbowdp.questions.base import Counted
from rainbowdp.questions.conditions import Sort
from rainbowdp.questions.ends import WITH_ZONE, WITHOUT_ZONE, Kind
from rainbowdp.questions.functions import CAPITALS, FIELDS, LETTERS, SMALL
from rainbowdp.questions.weights import Weight
from rainbowdp.storage.sql import quoted
from rainbowdp.tables.asked import Asked, Rest, Weighed, condition, rest_of, sort, wanted
from rainbowdp.tables.fields import DAY_IN_MICROSECONDS, FIRST_DAY, LAST_DAY, applied
from rainbowdp.tables.filters import in_sql, looked_for
from rainbowdp.tables.held import DATES, TEXT, TRUTHS, Fixed, Held, Real, Times, integers
from rainbowdp.tables.locked import locked_connection, private_folder
from rainbowdp.tables.people import no_identity
from rainbowdp.tables.prepared import Found, Prepared, Work
from rainbowdp.tables.query import Compared, Dialect, Source, in_units
from rainbowdp.tables.values import Matches, check_columns, matches, not_countable, spelled

if TYPE_CHECKING:
    import duckdb

Rows: TypeAlias = Sequence[tuple[Any, ...]]
Run: TypeAlias = Callable[[str], Rows]
Spelling: TypeAlias = Callable[[str], str]  # from a column's SQL to that of texts with a point

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
_BYTES = "BLOB"
# ``lower`` knows letters beyond A to Z; where there are none it is many times quicker.
_LOWER = (
    "CASE WHEN strlen({0}) = length({0}) THEN lower({0}) "
    f"ELSE translate({{0}}, '{CAPITALS}', '{SMALL}') END"
)
# Not isnan: DuckDB takes it for false by Parquet statistics, which leave NaN out (issue 25521).
_NUMBER = "(isfinite({0}) OR isinf({0}))"


DIALECT = Dialect(  # the outer hash mixes what the inner one joins by an exclusive or
    hashed=lambda key, terms: f"hash(hash({key}, {terms}))",
    spread=lambda table: (
        f"SELECT person, number, unnest(range(records)) AS i FROM {table} AS many"  # noqa: S608
    ),
)
_IDENTITIES = ("BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID", "BLOB")


def in_relation(relation: duckdb.DuckDBPyRelation, question: Counted, work: Work[Found]) -> Found:
    """Do the work in a relation, on its own connection."""
    check_names(question, relation.columns)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))

    def run(sql: str) -> Rows:
        found = relation.query(_VIEW, sql)
        return [] if found is None else found.fetchall()

    return in_duckdb(_VIEW, types, question, run, work, collated=True)


def in_arrow(table: Any, question: Counted, work: Work[Found]) -> Found:
    """Do the work in a PyArrow table, where it is in memory, or a dataset, where its files are."""
    names = table.schema.names
    check_columns(question, names)
    if hasattr(table, "select"):  # DuckDB renames columns of one name, perhaps to a wanted one
        named = wanted(question)
        table = table.select(sorted(map(names.index, named)))
        for name in named:
            table = _in_utf8(_in_microseconds(table, name), name)
    with private_folder() as folder, locked_connection(folder) as connection:
        connection.register(_VIEW, table)
        described = connection.execute(f"DESCRIBE FROM {_VIEW}").fetchall()
        types = {name: type_ for name, type_, *_ in described}
        # Always, not where something fails: how one text counts must not depend on another.
        source = _VIEW if hasattr(table, "select") else _decodable(types)
        return in_duckdb(source, types, question, plainly(connection), work)


def _decodable(types: Mapping[str, str]) -> str:
    """The view to be selected from, with its bytes in hexadecimal for a text that is no UTF-8."""
    columns = []
    for name, type_ in types.items():
        column = quoted(name, '"')
        text = f"coalesce(TRY(decode(encode({column}))), hex(encode({column})))"
        columns.append(f"{text if type_ == 'VARCHAR' else column} AS {column}")
    return f"(SELECT {', '.join(columns)} FROM {_VIEW}) AS decodable"  # noqa: S608  quoted


def check_names(question: Counted, names: Sequence[str]) -> None:
    """Raise unless DuckDB finds the question's columns under their own names.

    It does not tell capitals apart, and renames all but the first of several columns of one
    name, ``x`` to ``x_1``, perhaps the name of a column that is there.
    """
    check_columns(question, names)
    folded = [name.casefold() for name in names]
    repeated = tuple({name for name in folded if folded.count(name) > 1})
    for name in wanted(question):
        if repeated and name.casefold().startswith(repeated):
            raise UnreadableTable(
                f"DuckDB cannot tell column {brief(name)} from others whose names are the same or "
                "differ in capitals: rename them"
            )


def _in_utf8(table: Any, column: str) -> Any:
    """The table with bytes of a text column that are no UTF-8 replaced.

    Arrow does not look at them unless it is asked to, and DuckDB fails at one of them.
    """
    import pyarrow as pa

    texts = table.column(column)
    kinds = pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view
    if not any(is_kind(texts.type) for is_kind in kinds):
        return table
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        held = texts.cast(pa.large_binary()).to_pylist()
        mended = [None if value is None else value.decode(errors="replace") for value in held]
        place = table.schema.get_field_index(column)
        return table.set_column(place, column, pa.array(mended, pa.large_string()))
    return table


def _in_microseconds(table: Any, column: str) -> Any:
    """The table with coarser times with a zone of a column in microseconds, null if too far away.

    DuckDB would turn them into these itself, and fail at one that is too far away.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    type_ = table.schema.field(column).type
    if not pa.types.is_timestamp(type_) or type_.tz is None or type_.unit not in _COARSE:
        return table
    rate = _COARSE[type_.unit]
    ticks, most = table.column(column).cast(pa.int64()), (1 << 63) // rate - 1
    near = pc.and_(pc.greater_equal(ticks, -most), pc.less_equal(ticks, most))
    finer = pc.multiply(pc.if_else(near, ticks, None), rate).cast(pa.timestamp("us", type_.tz))
    return table.set_column(table.schema.get_field_index(column), column, finer)


def in_duckdb(
    table: str,
    types: Mapping[str, str],
    question: Counted,
    run: Run,
    work: Work[Found],
    *,
    look: Run | None = None,
    spelling: Spelling | None = None,
    ours: bool = False,
    collated: bool = False,
) -> Found:
    """Do the work in a table given as SQL.

    ``look`` runs a first, short query that chooses the quicker way; ``spelling`` says that the
    table is a text file, and turns a column's texts into ones that spell numbers with a point;
    ``ours`` says that the connection is our own, where no statistics mislead about NaN, so that it
    lies in no range, and ``collated`` that texts of the table may have a collation.
    """
    texts = spelling is not None
    check_columns(question, list(types), public=not texts)
    assert question.column is not None
    column, declared = quoted(question.column, '"'), types[question.column]
    person = None if question.person is None else _person(question.person, types[question.person])
    type_ = "text file" if texts else declared
    read = _reading(question, declared, spelling)
    rest = rest_of(question)
    may_be_nan = read is not None and isinstance(read.held, Real) and (not ours or rest != Rest())
    spelled_out = spelling is not None and read is not None and isinstance(read.held, Real)

    def compared(asked: Asked) -> Compared:
        return _compared(asked, types[str(asked.column)], spelling, ours, collated)

    source = Source(
        table,
        column if read is None else read.sql.format(column),
        f"CAST({spelling(column) if spelling and spelled_out else column} AS VARCHAR)",
        _NUMBER if may_be_nan else None,
        person,
        None if read is None else read.type_,
        in_sql(condition(question), compared),
        None if question.by is None else compared(question.by),
        len(question.groups),
        None if question.weight is None else _units(question.weight, types, spelling),
        1 if question.weight is None else question.weight.units,
    )
    found: Matches = {}
    if read is not None:
        found = matches(question, applied(question, read.held, type_), type_)
    return work(
        Prepared(
            question,
            type_,
            source,
            found,
            DIALECT,
            lambda make: run(make(_literal)),
            rest,
            lambda: look is not None and len(found) > 1 and _has_few(source, look),
        )
    )


def _units(weight: Weight, types: Mapping[str, str], spelling: Spelling | None) -> str:
    """The weight of a row in whole units; NaN, which is larger than any number here, is none."""
    asked, declared = Weighed(weight.column), types[weight.column]
    read = _reading(asked, declared, spelling)
    if read is None:
        return "CAST(NULL AS BIGINT)"
    looked_for(asked, read.held, declared if spelling is None else "text file")  # or raise
    value = f"CAST({read.sql.format(quoted(weight.column, chr(34)))} AS DOUBLE)"
    limit = _literal("DOUBLE", float(weight.limit))
    units = in_units(value, weight, "CAST(floor({0}) AS BIGINT)", limit)
    return f"CASE WHEN {_NUMBER.format(value)} THEN {units} END"


def _compared(
    asked: Asked, declared: str, spelling: Spelling | None, ours: bool, collated: bool
) -> Compared:
    """What a column is compared with; NaN, which is larger than any number here, is no value."""
    column, read = quoted(str(asked.column), '"'), _reading(asked, declared, spelling)
    if read is None:
        return Compared("CAST(NULL AS VARCHAR)", None, {})
    found = looked_for(asked, read.held, declared if spelling is None else "text file")
    value = read.sql.format(column)
    if isinstance(read.held, Real):
        largest = f"{{0}} <= {_literal('DOUBLE', math.inf)}"
        return Compared(value, read.type_, found, (largest if ours else _NUMBER).format(value))
    if collated and declared == "VARCHAR":  # where other texts may be equal
        return Compared(f"encode({value})", _BYTES, found)
    return Compared(value, read.type_, found)


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
    """What a column holds, how to read it, and the type of values to compare with.

    The reading is that of the function which is asked about; ``held`` is what it is applied to.
    """

    held: Held
    sql: str = "{0}"
    type_: str | None = None


def _reading(asked: Asked, declared: str, spelling: Spelling | None) -> _Read | None:
    """How to read a column; ``None`` if it is the type of no values."""
    read = _read(declared, asked) if spelling is None else _spelled(asked, spelling)
    if read is None or asked.apply is None:
        return read
    applied(asked, read.held, declared if spelling is None else "text file")  # or raise
    if asked.apply in LETTERS:
        return read._replace(sql=_LOWER.format(read.sql))
    if asked.apply not in FIELDS:
        return read
    time = read.sql
    if read.held.measured == Kind.INSTANTS:
        time = _in_utc(time if declared == _WITH_ZONE else f"TRY_CAST({time} AS {_WITH_ZONE})")
    years = f"year({time}) BETWEEN 1 AND 9999"
    return _Read(read.held, f"CASE WHEN {years} THEN {asked.apply}({time}) END", "BIGINT")


def _in_utc(instant: str) -> str:
    """The time in UTC at an instant of the years 1 to 9999, whatever the session's zone is."""
    ticks, (first, last) = f"epoch_us({instant})", (FIRST_DAY, LAST_DAY + 1)
    first, last = first * DAY_IN_MICROSECONDS, last * DAY_IN_MICROSECONDS - 1
    return f"CASE WHEN {ticks} BETWEEN {first} AND {last} THEN make_timestamp({ticks}) END"


def _spelled(asked: Asked, spelling: Spelling) -> _Read:
    """How a column of a text file is read; a text that does not spell what is asked for is null.

    ``trim`` keeps DuckDB from reading the file as numbers, failing at a text.
    """
    kind = sort(asked)
    if kind == Sort.TEXTS:
        return _Read(TEXT)
    if kind == Sort.NUMBERS:
        return _Read(Real(64), f"TRY_CAST(trim({spelling('{0}')}) AS DOUBLE)", "DOUBLE")
    without, within = (
        f"CASE WHEN regexp_full_match(trim({{0}}), {_pattern(texts)}) "
        f"THEN TRY_CAST(trim({{0}}) AS {type_}) END"
        for texts, type_ in ((WITHOUT_ZONE, "TIMESTAMP"), (WITH_ZONE, _WITH_ZONE))
    )
    if asked.apply in FIELDS:  # of times of either kind
        return _Read(Times(Kind.TIMES), f"coalesce({without}, {_in_utc(within)})", "TIMESTAMP")
    if kind == Sort.INSTANTS:
        return _Read(Times(Kind.INSTANTS), within, _WITH_ZONE)
    return _Read(Times(Kind.TIMES), without, "TIMESTAMP")


def _pattern(texts: str) -> str:
    return quoted(texts, "'").replace("{", "{{").replace("}", "}}")


def _read(type_: str, asked: Asked) -> _Read | None:
    """How to read a column of a type; ``None`` if it is the type of no values."""
    if (bits := _INTEGERS.get(type_.removeprefix("U"))) is not None:
        return _Read(integers(bits, signed=not type_.startswith("U")), type_=type_)
    if type_.startswith("DECIMAL("):
        digits, scale = map(int, type_.removeprefix("DECIMAL(").removesuffix(")").split(","))
        return _Read(Fixed(digits, scale), type_=type_)
    if type_ in _FLOATS:
        return _Read(Real(64 if type_ == "DOUBLE" else 32), "CAST({0} AS DOUBLE)", "DOUBLE")
    if type_ == "BOOLEAN":
        return _Read(TRUTHS)
    if type_ == "DATE":
        return _Read(DATES, type_=type_)
    if type_ in ("TIMESTAMP", _WITH_ZONE):
        return _Read(Times(Kind.TIMES if type_ == "TIMESTAMP" else Kind.INSTANTS), type_=type_)
    if type_ in ("TIMESTAMP_S", "TIMESTAMP_MS"):  # some are too far away for microseconds
        return _Read(Times(Kind.TIMES), "TRY_CAST({0} AS TIMESTAMP)", "TIMESTAMP")
    if type_ in _NANOSECONDS:
        return _Read(Times(_NANOSECONDS[type_], _FIRST, _LAST), type_=type_)
    if type_ == "VARCHAR":
        return _Read(TEXT)
    if type_ == "UUID" or type_.startswith("ENUM"):
        return _Read(TEXT, "CAST({0} AS VARCHAR)")
    if type_ == '"NULL"':
        return None
    raise not_countable(asked, type_)


def _literal(type_: str | None, value: Any) -> str:
    """A value in DuckDB's SQL, of the type to compare with if it does not say it itself."""
    if isinstance(value, str):
        text = quoted(value, "'")
        return f"encode({text})" if type_ == _BYTES else text
    if type_ is None:
        return str(value)  # True and False
    return f"CAST('{spelled(value)}' AS {type_})"


def _has_few(source: Source, run: Run) -> bool:
    """Whether the first rows do not each have a value of their own."""
    first = f"{source.rows(_literal)} LIMIT {_LOOKED_AT}"
    keys = "value" if source.part is None else "(value, part)"
    ((different,),) = run(f"SELECT count(DISTINCT {keys}) FROM ({first}) AS first")  # noqa: S608
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

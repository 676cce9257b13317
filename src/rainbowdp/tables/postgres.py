"""Work in a table of a PostgreSQL database.

A process that asks often keeps its connections, and what the columns of a table are. Then a count
is one statement, in which PostgreSQL also says what the columns are while it counts; if they are
others than those that the statement was written for, nothing of it counts, and it is written anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rainbowdp.errors import MissingExtra, UnreadableTable
from rainbowdp.expecting import brief
from rainbowdp.questions.base import Counted
from rainbowdp.questions.ends import Kind
from rainbowdp.questions.functions import CAPITALS, FIELDS, LETTERS, SMALL
from rainbowdp.questions.weights import Weight
from rainbowdp.storage.sql import quoted
from rainbowdp.tables.asked import Asked, Weighed, condition, rest_of
from rainbowdp.tables.fields import applied
from rainbowdp.tables.filters import in_sql, looked_for
from rainbowdp.tables.held import DATES, DECIMALS, TEXT, TRUTHS, Held, Real, Times, integers
from rainbowdp.tables.named import NamedTable, shielded
from rainbowdp.tables.people import no_identity
from rainbowdp.tables.prepared import Found, Prepared, Rows, Work
from rainbowdp.tables.query import Compared, Dialect, Source, Write, in_units
from rainbowdp.tables.values import check_columns, matches, not_countable, spelled

if TYPE_CHECKING:
    import sqlalchemy as sa

_REALS = ("float4", "float8", "numeric")
_NUMBER = "{} <> 'NaN'"
_TEXTS = ("text", "varchar", "bpchar", "name", "citext", "uuid", "enum")
_IDENTITIES = (
    *("int2", "int4", "int8", "oid", "bool", "date", "time", "timestamp", "timestamptz", "bytea"),
    *_TEXTS,
)
_COLUMNS = """
    SELECT attname, CASE WHEN t.typtype = 'e' THEN 'enum' ELSE coalesce(b.typname, t.typname) END,
        atttypid
    FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
    LEFT JOIN pg_type b ON b.oid = t.typbasetype
    WHERE attrelid = to_regclass(:name) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
_WHILE_COUNTING = """
    SELECT told, asked.* FROM (
        SELECT string_agg(attname || ':' || atttypid, ';' ORDER BY attnum) AS told
        FROM pg_attribute
        WHERE attrelid = to_regclass(%(table_that_is_asked)s) AND attnum > 0 AND NOT attisdropped
    ) AS columns LEFT JOIN (SELECT true AS here, * FROM ({query}) AS asked) AS asked ON true
"""
_MOST_TABLES = 1000
_TRIES = 5  # for a table whose columns change all the time

_DIALECT = Dialect(
    hashed=lambda key, terms: f"hashtextextended(concat_ws(':', {terms}), {key})",
    spread=lambda table: (
        f"SELECT person, number, generate_series(1, records) AS i FROM {table} AS many"  # noqa: S608
    ),
    remainder="%%",
    each=8,  # beyond that grouping is as fast
)
_SECONDS = 20  # to wait for a server that does not answer


def work_there(
    url: sa.URL, table: NamedTable, question: Counted, work: Work[Found], connections: int = 0
) -> Found:
    """Do the work in a table, which is only read.

    Up to so many ``connections`` are kept for the next time.
    """
    import sqlalchemy as sa

    place = f"{url.host}/{url.database}"
    if connections:
        return shielded(
            lambda: _work_kept(_kept(url, connections), (url, table), question, place, work),
            sa.exc.SQLAlchemyError,
            lambda error: UnreadableTable(
                f"the table {table!r} in PostgreSQL at {place} cannot be read{_why(error)}"
            ),
        )
    engine = _engine(url, poolclass=sa.NullPool)
    try:
        connection = shielded(
            lambda: engine.connect().execution_options(postgresql_readonly=True),
            sa.exc.SQLAlchemyError,
            lambda error: _unreachable(place, error),
        )
        with connection:
            return shielded(
                lambda: _work(
                    connection, table, question, _columns(connection, table, place), work
                ),
                sa.exc.SQLAlchemyError,
                lambda error: UnreadableTable(
                    f"the table {table!r} in PostgreSQL at {place} cannot be read{_why(error)}"
                ),
            )
    finally:
        engine.dispose()


@dataclass(frozen=True)
class _Columns:
    """The types of a table's columns by name, and how PostgreSQL tells them from others."""

    types: dict[str, str]
    told: str


class _Altered(Exception):
    """The columns of a table are not those that a statement was written for."""


_SEEN: OrderedDict[tuple[sa.URL, NamedTable], _Columns] = OrderedDict()


def _work_kept(
    engine: sa.Engine,
    where: tuple[sa.URL, NamedTable],
    question: Counted,
    place: str,
    work: Work[Found],
) -> Found:
    """Do the work over a kept connection, each statement by itself and read-only.

    A connection that was cut off meanwhile only shows when it is used. Then the pool throws away
    all that are as old, and the work is done again over a new one.
    """
    import sqlalchemy as sa

    cut = False
    for _ in range(_TRIES):
        seen = _SEEN.get(where)
        reached = shielded(
            engine.connect, sa.exc.SQLAlchemyError, lambda error: _unreachable(place, error)
        )
        try:
            with reached as connection:
                columns = seen or _columns(connection, where[1], place)
                _SEEN[where] = columns
                if len(_SEEN) > _MOST_TABLES:
                    _SEEN.popitem(last=False)
                return _work(connection, where[1], question, columns, work, kept=True)
        except _Altered:
            _SEEN.pop(where, None)
        except UnreadableTable:
            _SEEN.pop(where, None)
            if seen is None:
                raise
        except sa.exc.DBAPIError as error:
            _SEEN.pop(where, None)
            if error.connection_invalidated and not cut:
                cut = True
            elif seen is None:
                raise
    raise UnreadableTable(
        f"the columns of the table {brief(where[1])} change while they are counted"
    )


@lru_cache(maxsize=64)
def _kept(url: sa.URL, connections: int) -> sa.Engine:
    """Connections that stay open, and that can only read."""
    import sqlalchemy as sa

    engine = _engine(url, pool_size=connections, isolation_level="AUTOCOMMIT")

    @sa.event.listens_for(engine, "connect")
    def only_read(connection: Any, _: object) -> None:
        connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
        if not connection.autocommit:
            connection.commit()

    return engine


def _engine(url: sa.URL, **pool: Any) -> sa.Engine:
    import sqlalchemy as sa

    waiting = {} if "connect_timeout" in url.query else {"connect_timeout": _SECONDS}
    try:
        address = url.set(drivername="postgresql+psycopg")
        return sa.create_engine(address, connect_args=waiting, **pool)
    except ModuleNotFoundError as error:
        raise MissingExtra("psycopg", "postgres") from error


def _unreachable(place: str, error: Exception) -> UnreadableTable:
    return UnreadableTable(f"PostgreSQL at {place} cannot be reached{_why(error)}")


def _why(error: Exception) -> str:
    """What a code of PostgreSQL means, never its message, which may show rows or a password."""
    code = getattr(getattr(error, "orig", None), "sqlstate", None)
    if code is None:  # while connecting there are only words
        refusals = ("authentication failed", "no password supplied", "does not exist")
        if any(words in str(error) for words in refusals):
            return ": it does not take this user, password and database"
        return ": is the server there, and does it take connections?"
    reasons = {
        "42501": ": this user may not select from it",
        "57014": ": a time limit or somebody stopped the query",
        "25006": ": it would have to write, and counting only reads",
    }
    return reasons.get(code, f" (its error code is {code})")


def _columns(connection: sa.Connection, name: NamedTable, place: str) -> _Columns:
    import sqlalchemy as sa

    rows = connection.execute(sa.text(_COLUMNS).bindparams(name=name.quoted())).fetchall()
    if not rows:
        raise UnreadableTable(f"there is no table {brief(name)} in PostgreSQL at {place}")
    types = {column: type_ for column, type_, _ in rows}
    return _Columns(types, ";".join(f"{column}:{number}" for column, _, number in rows))


def _work(
    connection: sa.Connection,
    name: NamedTable,
    question: Counted,
    columns: _Columns,
    work: Work[Found],
    *,
    kept: bool = False,
) -> Found:
    types = columns.types
    check_columns(question, list(types))
    assert question.column is not None
    type_ = types[question.column]
    held, value, cast = _read(question, type_)
    found = matches(question, applied(question, held, type_), type_)

    def compared(asked: Asked) -> Compared:
        return _compared(asked, types[str(asked.column)])

    rows = Source(
        name.quoted().replace("%", "%%"),
        value,
        f"CAST({_name(question.column)} AS text)",
        _NUMBER if type_ in _REALS else None,
        None if question.person is None else _person(question.person, types[question.person]),
        cast,
        in_sql(condition(question), compared),
        None if question.by is None else compared(question.by),
        len(question.groups),
        None if question.weight is None else _units(question.weight, types[question.weight.column]),
        1 if question.weight is None else question.weight.units,
    )

    def run(make: Callable[[Write], str]) -> Rows:
        values: dict[str, Any] = {}

        def bound(cast: str | None, value: Any) -> str:
            name = f"v{len(values)}"
            values[name] = value if cast is None else spelled(value)
            return f"%({name})s" if cast is None else f"CAST(%({name})s AS {cast})"

        query = make(bound)
        if not kept:
            return connection.exec_driver_sql(query, values).fetchall()
        values["table_that_is_asked"] = name.quoted()
        query = _WHILE_COUNTING.format(query=query)
        rows = connection.exec_driver_sql(query, values).fetchall()
        if rows[0][0] != columns.told:
            raise _Altered
        return [row[2:] for row in rows if row[1]]

    return work(Prepared(question, type_, rows, found, _DIALECT, run, rest_of(question)))


def _units(weight: Weight, type_: str) -> str:
    """The weight of a row in whole units, a numeric one exactly; NaN is none."""
    asked = Weighed(weight.column)
    held, value, _ = _read(asked, type_)
    looked_for(asked, held, type_)  # or raise
    units = in_units(value, weight, "CAST(floor({0}) AS bigint)")
    return f"CASE WHEN {_NUMBER.format(value)} THEN {units} END" if type_ in _REALS else units


def _compared(asked: Asked, type_: str) -> Compared:
    """What a column is compared with; NaN, which is larger than any number here, is no value."""
    held, value, cast = _read(asked, type_)
    number = f"({_NUMBER.format(value)})" if type_ in _REALS else None
    return Compared(value, cast, looked_for(asked, held, type_), number)


def _read(asked: Asked, type_: str) -> tuple[Held, str, str | None]:
    """What a column holds, the SQL of its value or of the function asked about, and the cast."""
    held, value, cast = _held(type_, asked)
    value = value.format(_name(str(asked.column)))
    applied(asked, held, type_)  # or raise
    if asked.apply in LETTERS:
        return held, f"translate({value}, '{CAPITALS}', '{SMALL}')", cast
    if asked.apply not in FIELDS:
        return held, value, cast
    if type_ == "timestamptz":
        value = f"({value} AT TIME ZONE 'UTC')"
    # A date has no hour here, and some dates are no timestamps.
    field = f"CAST(extract({asked.apply} FROM {value}) AS bigint)"
    if type_ == "date" and asked.apply == "hour":
        field = "CAST(0 AS bigint)"
    years = f"{value} >= '0001-01-01' AND {value} < '10000-01-01'"
    return held, f"CASE WHEN {years} THEN {field} END", None


def _person(name: str, type_: str) -> str:
    """A column that tells people apart, as SQL in which only the same value is equal.

    Texts by their bytes, since citext and collations take different ones for equal; a numeric
    without the zeros at its end, since two rows of one person may be written differently.
    """
    column = _name(name)
    if type_ in ("float4", "float8"):
        raise no_identity(name, type_, floats=True)
    if type_ == "numeric":
        column = f"CASE WHEN {column} <> 'NaN' THEN trim_scale({column}) END"
    elif type_ not in _IDENTITIES:
        raise no_identity(name, type_, floats=False)
    return f'CAST({column} AS text) COLLATE "C"'


def _name(name: str) -> str:
    """A quoted name in a statement in which % begins a bound value."""
    return quoted(name, '"').replace("%", "%%")


def _held(type_: str, asked: Asked) -> tuple[Held, str, str | None]:
    """What a column of a type holds, how to read it, and the type of values to compare with."""
    if type_ in ("int2", "int4", "int8"):
        return integers(8 * int(type_.removeprefix("int"))), "{}", None
    if type_ in ("float4", "float8"):
        return Real(32 if type_ == "float4" else 64), "CAST({} AS double precision)", None
    if type_ == "numeric":  # some have no float, and casting one of these would fail
        return DECIMALS, "{}", type_
    if type_ == "bool":
        return TRUTHS, "{}", None
    if type_ == "date":
        return DATES, "{}", type_
    if type_ in ("timestamp", "timestamptz"):
        return Times(Kind.TIMES if type_ == "timestamp" else Kind.INSTANTS), "{}", type_
    if type_ in _TEXTS:
        return TEXT, 'CAST({} AS text) COLLATE "C"', None  # equal means the same letters
    raise not_countable(asked, type_)

"""Count in a table of a PostgreSQL database: one query, run there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rainbowdp.errors import MissingExtra, UnreadableTable
from rainbowdp.questions import Question
from rainbowdp.questions.ends import Kind
from rainbowdp.storage.sql import quoted
from rainbowdp.tables.held import DATES, DECIMALS, TEXT, TRUTHS, Held, Real, Times, integers
from rainbowdp.tables.query import Source, counting
from rainbowdp.tables.values import check_columns, matches, not_countable, numbered, spelled

if TYPE_CHECKING:
    import sqlalchemy as sa

_REALS = ("float4", "float8", "numeric")
_NUMBER = "{} <> 'NaN'"
_COLUMNS = """
    SELECT attname, CASE WHEN t.typtype = 'e' THEN 'enum' ELSE coalesce(b.typname, t.typname) END
    FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
    LEFT JOIN pg_type b ON b.oid = t.typbasetype
    WHERE attrelid = to_regclass(:name) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""


@dataclass(frozen=True)
class SQLTable:
    """A table or view of a PostgreSQL database.

    >>> SQLTable("postgresql://ann:secret@db.example/town", "votes")
    SQLTable(table='votes', schema=None)
    """

    url: str = field(repr=False)  # it may hold a password
    table: str
    schema: str | None = None


def count_sql(source: SQLTable, question: Question) -> dict[str, int]:
    """Counts for a table, taken in a read-only transaction."""
    import sqlalchemy as sa

    engine = _engine(source)
    place = f"{engine.url.host}/{engine.url.database}"
    try:
        connection = engine.connect().execution_options(postgresql_readonly=True)
    except sa.exc.OperationalError as error:
        why = str(error.orig).strip().splitlines()[-1]
        raise UnreadableTable(f"PostgreSQL at {place} cannot be reached: {why}") from None
    try:
        with connection:
            return _count(connection, source, question, place)
    except sa.exc.DBAPIError:  # its message may show rows, so it goes no further
        raise UnreadableTable(
            f"the table {source.table!r} in PostgreSQL at {place} cannot be read: "
            "may this user select from it?"
        ) from None
    finally:
        engine.dispose()


def _engine(source: SQLTable) -> sa.Engine:
    import sqlalchemy as sa

    scheme, found, _ = source.url.partition("://")
    if not found or scheme.partition("+")[0] not in ("postgresql", "postgres"):
        got = f"{scheme}://" if found else "something else"  # never all of it: passwords
        raise UnreadableTable(f"the url of an SQLTable must begin with postgresql://, got {got}")
    try:
        url = sa.make_url(source.url).set(drivername="postgresql+psycopg")
        return sa.create_engine(url, poolclass=sa.NullPool)
    except (sa.exc.ArgumentError, ValueError):
        raise UnreadableTable(
            "the url of an SQLTable must be postgresql://user:password@host:port/database, "
            "got something else"
        ) from None
    except ModuleNotFoundError as error:
        raise MissingExtra("psycopg", "postgres") from error


def _count(
    connection: sa.Connection, source: SQLTable, question: Question, place: str
) -> dict[str, int]:
    import sqlalchemy as sa

    names = [_name(part) for part in (source.schema, source.table) if part is not None]
    table = ".".join(names)
    described = sa.text(_COLUMNS).bindparams(name=table.replace("%%", "%"))
    types: dict[str, str] = {name: type_ for name, type_ in connection.execute(described)}  # noqa: C416
    if not types:
        raise UnreadableTable(f"there is no table {source.table!r} in PostgreSQL at {place}")
    check_columns(question, list(types))
    assert question.column is not None
    type_ = types[question.column]
    held, compared, cast = _held(type_, question)
    found = matches(question, held, type_)
    rows = Source(
        table,
        compared.format(_name(question.column)),
        _NUMBER if type_ in _REALS else None,
        None if question.person is None else _name(question.person),
        _NUMBER if question.person is not None and types[question.person] in _REALS else None,
    )
    values: dict[str, Any] = {}

    def bound(value: Any) -> str:
        name = f"v{len(values)}"
        values[name] = value if cast is None else spelled(value)
        return f"%({name})s" if cast is None else f"CAST(%({name})s AS {cast})"

    query = counting(rows, found, question.rows_per_person, bound)
    return numbered(question, connection.exec_driver_sql(query, values))


def _name(name: str) -> str:
    """A quoted name in a statement in which % begins a bound value."""
    return quoted(name, '"').replace("%", "%%")


def _held(type_: str, question: Question) -> tuple[Held, str, str | None]:
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
    if type_ in ("text", "varchar", "bpchar", "name", "citext", "uuid", "enum"):
        return TEXT, 'CAST({} AS text) COLLATE "C"', None  # equal means the same letters
    raise not_countable(question, type_)

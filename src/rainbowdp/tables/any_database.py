"""Work in a table of any database that SQLAlchemy can reach.

The columns that the question needs, and no others, come here row by row. Each value is read by the
declared type of its column and compared here, never by the server's collation, and the records
that remain are counted by DuckDB. So a server needs to know nothing but a plain SELECT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rainbowdp.errors import MissingExtra, UnreadableTable
from rainbowdp.expecting import brief
from rainbowdp.questions.base import Counted
from rainbowdp.questions.conditions import Condition, Missing, Test, folded
from rainbowdp.questions.functions import FIELDS, LETTERS, lowered
from rainbowdp.questions.weights import Weight
from rainbowdp.tables.arrow_stream import TextStream, batches_of
from rainbowdp.tables.asked import Asked, Rest, Weighed, cells, condition, rest_of, rules
from rainbowdp.tables.declared import MYSQL, Declared, Read, declared
from rainbowdp.tables.duck import DIALECT, plainly
from rainbowdp.tables.fields import field
from rainbowdp.tables.filters import looked_for
from rainbowdp.tables.held import Ticks
from rainbowdp.tables.identities import spelled
from rainbowdp.tables.locked import locked_connection, private_folder
from rainbowdp.tables.looking import looked
from rainbowdp.tables.named import NamedTable, shielded
from rainbowdp.tables.objects import NONE, UNKNOWN, placing
from rainbowdp.tables.people import no_identity
from rainbowdp.tables.prepared import Found, Prepared, Work
from rainbowdp.tables.query import Source
from rainbowdp.tables.values import Matches, check_columns, not_countable

if TYPE_CHECKING:
    import duckdb
    import sqlalchemy as sa

Number: TypeAlias = Callable[[Sequence[Any]], int]  # from a row to the number of its group
Weigh: TypeAlias = Callable[[Sequence[Any]], int | None]  # from a row to its units
Truth: TypeAlias = Callable[[Sequence[Any]], bool | None]  # of a row

_HOPELESS = 1 << 20  # rows on end at which a driver fails: it does not go on at all
_KEPT, _BATCHED = "rainbowdp_kept", "rainbowdp_batch"
_READ_ONLY = {
    **dict.fromkeys(MYSQL, "SET SESSION TRANSACTION READ ONLY"),
    "oracle": "SET TRANSACTION READ ONLY",
}
_DRIVERS = dict.fromkeys(MYSQL, "pymysql")  # where an address names none
_PACKAGES = {  # what to install, by the name of a missing module or dialect
    "MySQLdb": "mysqlclient",
    "mysql": "mysql-connector-python",
    "databricks": "databricks-sqlalchemy",
    "snowflake": "snowflake-sqlalchemy",
    "bigquery": "sqlalchemy-bigquery",
    "redshift": "sqlalchemy-redshift",
    "cockroachdb": "sqlalchemy-cockroachdb",
    "clickhouse": "clickhouse-sqlalchemy",
    "trino": "'trino[sqlalchemy]'",
}


class Row(NamedTuple):
    """What is kept of a record: the number of its cell, its value as text, whose it is.

    ``meets`` is there if the record meets the question's condition, and ``units`` is its weight.
    """

    number: bytes | None
    shown: bytes | None
    person: bytes | None
    meets: bytes | None = b"1"
    units: bytes | None = b"1"


def work_there(url: sa.URL, table: NamedTable, question: Counted, work: Work[Found]) -> Found:
    """Do the work in a table or view, which is only read."""
    import sqlalchemy as sa

    place = f"{url.get_backend_name()} at {url.host or 'this machine'}/{url.database or ''}"
    engine = _engine(url)
    failures = (sa.exc.SQLAlchemyError, _errors(engine).Error)
    try:
        connection = shielded(
            engine.connect,
            Exception,  # a driver may raise anything here, and no row has been seen
            lambda error: UnreadableTable(
                f"{place} cannot be reached{_code(error)}: "
                "check that it runs, and the user, the password and the database of the url"
            ),
        )
        with connection:
            return shielded(
                lambda: _work(connection, table, question, place, work),
                failures,
                lambda error: UnreadableTable(
                    f"the table {table!r} in {place} cannot be read{_code(error)}: "
                    "check that this user may select from it"
                ),
            )
    finally:
        engine.dispose()


def _engine(url: sa.URL) -> sa.Engine:
    import sqlalchemy as sa

    if url.drivername in _DRIVERS:
        url = url.set(drivername=f"{url.drivername}+{_DRIVERS[url.drivername]}")
    try:
        engine = sa.create_engine(url, poolclass=sa.NullPool)
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        raise MissingExtra(_PACKAGES.get(missing, missing)) from None
    except sa.exc.NoSuchModuleError:
        dialect = url.get_backend_name()
        if dialect in _PACKAGES:
            raise MissingExtra(_PACKAGES[dialect]) from None
        raise UnreadableTable(
            f"no SQLAlchemy dialect is installed for {url.drivername}://: check the spelling, "
            "install its package, or export the table to a Parquet file"
        ) from None
    if engine.dialect.is_async:
        raise UnreadableTable(
            f"the driver of {url.drivername}:// is asynchronous: name one that is not, "
            "as mysql+pymysql:// does"
        )
    return engine


def _errors(engine: sa.Engine) -> Any:
    """The driver's module, which has its errors."""
    return engine.dialect.loaded_dbapi


def _code(error: Exception) -> str:
    """The number of an error, never its message, which may show rows or a password."""
    found = getattr(getattr(error, "orig", error), "args", ())
    return f" (its error code is {found[0]})" if found and isinstance(found[0], int) else ""


def _work(
    connection: sa.Connection, name: NamedTable, question: Counted, place: str, work: Work[Found]
) -> Found:
    dialect = connection.dialect.name
    if dialect in _READ_ONLY:
        connection.exec_driver_sql(_READ_ONLY[dialect])
        if dialect in MYSQL:
            connection.rollback()  # it holds from the next transaction on
    types = _types(connection, name, place)
    check_columns(question, list(types))
    assert question.column is not None
    needed: dict[str, Declared] = {}

    def place_of(asked: Asked) -> int:
        """Where the column that is asked about is in a row."""
        name = str(asked.column)
        needed.setdefault(name, _declared(asked, types[name], dialect))
        return list(needed).index(name)

    def numbering(asked: Asked) -> Callable[[Sequence[Any]], int]:
        """The function from a row to the number of the group of one of its columns."""
        place, column = place_of(asked), needed[str(asked.column)]
        assert column.held is not None
        number = _numbering(asked, column, looked_for(asked, column.held, column.name))
        return lambda row: number(row[place])

    rest, filtered = rest_of(question), condition(question)
    number = _resting(numbering(question), rest)
    if question.by is not None:
        number = _in_cells(number, numbering(question.by), len(question.groups))
    meets = None if filtered is None else _meeting(filtered, numbering)
    weigh = None
    if question.weight is not None:
        numbering(asked := Weighed(question.weight.column))  # or raise
        weigh = _weighing(question.weight, place_of(asked), needed[question.weight.column].read)
    whose = None
    if question.person is not None:
        person = _person(question.person, types[question.person], dialect)
        needed.setdefault(question.person, person)
        whose = list(needed).index(question.person), person.read
    alone = meets is None and whose is None and question.by is None and weigh is None
    showing = work is looked or not rules(question)
    column, missing = needed[question.column], rest.missing if alone else None
    key = None if rules(question) else _asked_for(question, column)
    record = _recording(number, meets, whose, weigh, missing, showing, key)
    with private_folder() as folder, locked_connection(folder) as kept:
        kept.execute(
            f"CREATE TEMP TABLE {_KEPT} "
            "(number INTEGER, shown VARCHAR, person VARCHAR, meets VARCHAR, units INTEGER)"
        )
        _take(connection, name, needed, lambda rows: _keep(kept, filter(None, map(record, rows))))
        source = Source(
            _KEPT,
            "number",
            "shown",
            None,
            None if whose is None else "person",
            None,
            None if meets is None else lambda _: "(meets IS NOT NULL)",
            units=None if weigh is None else "units",
            spelled="shown",
            most=1 if question.weight is None else question.weight.units,
        )
        groups = {number: number for number in range(cells(question))}
        run = plainly(kept)
        return work(
            Prepared(
                question,
                column.name,
                source,
                groups,
                DIALECT,
                lambda make: run(make(lambda _, value: str(value))),
                Rest(),  # every row that counts has its number
            )
        )


def _declared(asked: Asked, type_: sa.types.TypeEngine[Any], dialect: str) -> Declared:
    """What a column that is asked about holds."""
    found = declared(type_, dialect)
    if found is None or found.held is None:
        raise not_countable(asked, _word(type_))
    return found


def _asked_for(asked: Asked, column: Declared) -> Callable[[Any], Any]:
    """The function from what a driver gives to the plain value that is asked about, if any."""
    function, held = asked.apply, column.held

    def plain(given: Any) -> Any:
        found = _plain(column.read, given)
        if found is not None and function in LETTERS:
            return lowered(found)
        if found is not None and function in FIELDS and isinstance(held, Ticks):
            return field(function, found, held)
        return found

    return plain


def _numbering(asked: Asked, column: Declared, found: Matches) -> Callable[[Any], int]:
    """The function from what a driver gives to the number of its group, or what it is without."""
    place, plain_of = placing(found), _asked_for(asked, column)

    def number(given: Any) -> int:
        plain = plain_of(given)
        return UNKNOWN if plain is None else place(plain)

    return number


def _resting(number: Number, rest: Rest) -> Number:
    """The same, with the groups of all that match nothing listed."""
    places = {
        NONE: NONE if rest.other is None else rest.other,
        UNKNOWN: UNKNOWN if rest.missing is None else rest.missing,
    }

    def rested(row: Sequence[Any]) -> int:
        found = number(row)
        return places.get(found, found)

    return rested


def _in_cells(number: Number, part: Number, size: int) -> Number:
    """The number of the cell of a row, from those of its group and its part."""

    def cell(row: Sequence[Any]) -> int:
        own, place = number(row), part(row)
        return place * size + own if own >= 0 and place >= 0 else NONE

    return cell


def _weighing(weight: Weight, place: int, read: Read) -> Weigh:
    """The function from a row to the units of its weight."""

    def units(row: Sequence[Any]) -> int | None:
        plain = _plain(read, row[place])
        return None if plain is None else weight.units_of(plain)

    return units


def _meeting(filtered: Condition, numbering: Callable[[Asked], Number]) -> Truth:
    """The function from a row to whether it meets a condition; ``None`` if that is unknown."""

    def testing(test: Test) -> Truth:
        number = numbering(test)

        def truth(row: Sequence[Any]) -> bool | None:
            found = number(row)
            if isinstance(test, Missing):
                return found == UNKNOWN
            return None if found == UNKNOWN else found != NONE

        return truth

    return folded(filtered, testing, _opposite, partial(_joined, False), partial(_joined, True))


def _opposite(part: Truth) -> Truth:
    def truth(row: Sequence[Any]) -> bool | None:
        found = part(row)
        return None if found is None else not found

    return truth


def _joined(decides: bool, parts: list[Truth]) -> Truth:
    """What one part decides, or else no part leaves unknown."""

    def truth(row: Sequence[Any]) -> bool | None:
        found = [part(row) for part in parts]
        if decides in found:
            return decides
        return None if None in found else not decides

    return truth


def _types(
    connection: sa.Connection, name: NamedTable, place: str
) -> dict[str, sa.types.TypeEngine[Any]]:
    """The declared types of the columns."""
    import sqlalchemy as sa

    columns = shielded(
        lambda: sa.inspect(connection).get_columns(name.table, schema=name.schema),
        sa.exc.NoSuchTableError,
        lambda _: UnreadableTable(f"there is no table {name!r} in {place}"),
    )
    if not columns:
        raise UnreadableTable(f"there is no table {brief(name)} in {place}")
    return {str(column["name"]): column["type"] for column in columns}


def _word(type_: sa.types.TypeEngine[Any]) -> str:
    """A type in a message."""
    name = str(type_.__visit_name__).upper()
    return "a type that SQLAlchemy does not know" if name == "NULL" else name


def _person(name: str, type_: sa.types.TypeEngine[Any], dialect: str) -> Declared:
    """How a column that tells people apart is read."""
    person = declared(type_, dialect)
    if person is None or not person.identifies:
        raise no_identity(name, _word(type_), floats=person is not None)
    return person


# --- Reading ------------------------------------------------------------------------------------


def _take(
    connection: sa.Connection,
    name: NamedTable,
    wanted: dict[str, Declared],
    use: Callable[[Iterator[Sequence[Any] | None]], None],
) -> None:
    """Give the rows of some columns to ``use``, ``None`` for one that the driver cannot read.

    SQLAlchemy gives up the whole result at such a row, so the rows are taken from the driver's own
    cursor, before SQLAlchemy looks at it.
    """
    import sqlalchemy as sa

    errors = _errors(connection.engine)

    def taken(_: Any, cursor: Any, *__: Any) -> None:
        use(_rows(cursor, errors))

    columns: list[sa.ColumnElement[Any]] = []
    for column, type_ in wanted.items():
        # The text protocol of MySQL rounds floats of 32 bits to six digits.
        widened = type_.is_single and connection.dialect.name in MYSQL
        columns.append(sa.cast(sa.column(column), sa.Double()) if widened else sa.column(column))
    query = sa.select(*columns).select_from(sa.table(name.table, schema=name.schema))
    sa.event.listen(connection, "after_cursor_execute", taken)
    connection.execute(query, execution_options={"stream_results": True}).close()


def _rows(cursor: Any, errors: Any) -> Iterator[Sequence[Any] | None]:
    """The rows of a cursor; an error that is about the connection, not about a row, is raised."""
    failed = 0
    while True:
        try:
            row = cursor.fetchone()
        except Exception as error:
            failed += 1
            lost = isinstance(error, errors.Error) and not isinstance(error, errors.DataError)
            if lost or failed > _HOPELESS:
                raise
            yield None
            continue
        if row is None:
            return
        failed = 0
        yield row


def _recording(
    number_of: Number,
    meets: Truth | None,
    whose: tuple[int, Read] | None,
    weigh: Weigh | None,
    missing: int | None,
    showing: bool,
    key: Callable[[Any], Any] | None,
) -> Callable[[Sequence[Any] | None], Row | None]:
    """The function from a row to what is kept of it; ``None`` if it does not count.

    Only who looks at a table, or names its values, needs ``showing`` these, and the rows that do
    not count. ``missing`` is the number of a row that has no value in any column, if it counts, and
    ``key`` makes the key of what a driver gives, where keys are named.
    """

    def record(row: Sequence[Any] | None) -> Row | None:
        if row is None:  # it has no value in any column
            rested = None if missing is None else b"%d" % missing
            kept = showing or rested is not None
            return Row(rested, None, None, None if meets else b"1") if kept else None
        left_out = meets is not None and meets(row) is not True
        if left_out:
            return Row(None, None, None, None) if showing else None
        number = number_of(row)
        person = None if whose is None else _identity(_plain(whose[1], row[whose[0]]))
        units = 1 if weigh is None else weigh(row)
        if showing:
            seen = row[0] if key is None else key(row[0])
            shown = None if seen is None else str(seen).encode("utf-8", "replace")
        elif number < 0 or units is None or (whose is not None and person is None):
            return None
        else:
            shown = None
        return Row(
            None if number < 0 else b"%d" % number, shown, person, b"1", b"%d" % (units or 0)
        )

    return record


def _plain(read: Read, value: Any) -> Any:
    try:
        return read(value)
    except Exception:  # whatever it is, it is one value that is not counted
        return None


def _identity(plain: Any) -> bytes | None:
    """A person's value as a text of its own."""
    return plain.hex().encode() if isinstance(plain, bytes) else spelled(plain)


def _keep(connection: duckdb.DuckDBPyConnection, rows: Iterable[Row]) -> None:
    """Hand the rows to DuckDB, which puts on disk what memory cannot hold."""
    for batch in batches_of(rows):
        with closing(TextStream(Row._fields, partial(iter, [batch]))) as stream:
            connection.register(_BATCHED, stream)
            connection.execute(
                f"INSERT INTO {_KEPT} SELECT CAST(number AS INTEGER), shown, person, meets, "  # noqa: S608
                f"CAST(units AS INTEGER) FROM {_BATCHED}"
            )
            connection.unregister(_BATCHED)

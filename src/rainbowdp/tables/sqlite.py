"""Work in a table of an SQLite database.

A column of SQLite holds values of any type, whatever it was declared. The declared type decides how
all of them are read, and a value of another type is not counted: it neither stops the counting nor
changes how others are read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rainbowdp.errors import UnreadableTable
from rainbowdp.expecting import brief
from rainbowdp.questions.base import Counted
from rainbowdp.questions.conditions import Sort
from rainbowdp.questions.functions import FIELDS, LETTERS
from rainbowdp.questions.weights import Weight
from rainbowdp.storage.sql import quoted
from rainbowdp.tables.asked import Asked, Weighed, condition, rest_of, sort
from rainbowdp.tables.fields import applied
from rainbowdp.tables.filters import in_sql, looked_for
from rainbowdp.tables.held import DATES, TEXT, TRUTHS, Held, Real, integers
from rainbowdp.tables.named import NamedTable, shielded
from rainbowdp.tables.people import no_identity
from rainbowdp.tables.prepared import Found, Prepared, Rows, Work
from rainbowdp.tables.query import Compared, Dialect, Source, Write, in_units
from rainbowdp.tables.values import check_columns, matches, not_countable

if TYPE_CHECKING:
    import sqlalchemy as sa

_DIALECT = Dialect(
    hashed=lambda key, terms: f"rainbowdp_hash({key}, {terms})",
    spread=lambda table: (
        "SELECT person, number, i FROM (WITH RECURSIVE spread(person, number, i) AS "  # noqa: S608
        f"(SELECT person, number, records FROM {table} AS many UNION ALL "
        "SELECT person, number, i - 1 FROM spread WHERE i > 1) SELECT * FROM spread) AS spreads"
    ),
)
# Each storage class becomes one of its own, so that no two values of different types are equal.
_PERSON = (
    "CASE typeof({0}) WHEN 'integer' THEN {0} WHEN 'text' THEN CAST({0} AS BLOB) "
    "WHEN 'blob' THEN hex({0}) WHEN 'real' THEN printf('r%!.17g', {0}) END"
)
_NUMBERS = "CASE WHEN typeof({0}) IN ('integer', 'real') THEN CAST({0} AS REAL) END"
_FIELDS = {  # of a day as text
    "year": "CAST(substr({0}, 1, 4) AS INTEGER)",
    "month": "CAST(substr({0}, 6, 2) AS INTEGER)",
    "day": "CAST(substr({0}, 9, 2) AS INTEGER)",
    "hour": "0",
}
_DAY = "day"
_SECONDS = 20.0  # to wait for somebody who is writing


def work_there(url: sa.URL, table: NamedTable, question: Counted, work: Work[Found]) -> Found:
    """Do the work in a table or view of the file."""
    file = url.database or ""
    if not Path(file).is_file():
        raise UnreadableTable(f"there is no file {file}")

    def there() -> Found:
        address = f"{Path(file).resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, timeout=_SECONDS, uri=True)) as connection:
            connection.execute("PRAGMA query_only = true")
            connection.create_function("rainbowdp_hash", -1, _hashed, deterministic=True)
            connection.create_function("rainbowdp_text", 1, _text, deterministic=True)
            connection.text_factory = _shown
            return _work(connection, table, question, file, work)

    return shielded(
        there,
        sqlite3.Error,
        lambda error: UnreadableTable(
            f"the table {table!r} in {file} cannot be read as SQLite: "
            + ("is somebody writing to it?" if _is_busy(error) else "is it damaged?")
        ),
    )


def _is_busy(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _hashed(key: int, *terms: int | str | bytes) -> int:
    """A whole number of 64 bits with a sign."""
    digest = blake2b(repr(terms).encode(), digest_size=8, key=key.to_bytes(8, "little")).digest()
    return int.from_bytes(digest, "little", signed=True)


def _text(value: bytes | None) -> str | None:
    """A text, or none where its bytes are no UTF-8, which SQLite keeps as they are."""
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def _shown(value: bytes) -> str:
    return value.decode(errors="replace")


def _work(
    connection: sqlite3.Connection,
    table: NamedTable,
    question: Counted,
    file: str,
    work: Work[Found],
) -> Found:
    known = {name for _, name, _ in connection.execute("PRAGMA database_list")}
    if table.schema is not None and table.schema not in known:
        raise UnreadableTable(f"there is no table {brief(table)} in {file}")
    # table_xinfo knows columns that are computed, too
    inside = () if table.schema is None else (table.schema,)
    described = connection.execute(
        f"SELECT name, type FROM pragma_table_xinfo(?{', ?' * len(inside)})",  # noqa: S608
        (table.table, *inside),
    )
    types: dict[str, str] = dict(described.fetchall())
    if not types:
        raise UnreadableTable(f"there is no table {brief(table)} in {file}")
    check_columns(question, list(types))
    assert question.column is not None
    type_ = _word(types[question.column])
    held, value = _read(question, types[question.column])
    found = matches(question, applied(question, held, type_), type_)

    def compared(asked: Asked) -> Compared:
        return _compared(asked, types[str(asked.column)])

    source = Source(
        table.quoted(),
        value,
        f"CAST({_name(question.column)} AS TEXT)",
        None,
        None if question.person is None else _person(question.person, types[question.person]),
        _cast(question, held),
        in_sql(condition(question), compared),
        None if question.by is None else compared(question.by),
        len(question.groups),
        None if question.weight is None else _units(question.weight, types[question.weight.column]),
        1 if question.weight is None else question.weight.units,
        f"rainbowdp_text(CAST(CAST({value} AS TEXT) AS BLOB))",
    )

    def run(make: Callable[[Write], str]) -> Rows:
        values: list[Any] = []

        def bound(type_: str | None, value: Any) -> str:
            values.append(_spelled_day(value) if type_ == _DAY else value)
            return f"?{len(values)}"

        query = make(bound)
        return connection.execute(query, values).fetchall()

    return work(Prepared(question, type_, source, found, _DIALECT, run, rest_of(question)))


def _units(weight: Weight, declared: str) -> str:
    """The weight of a row in whole units."""
    asked = Weighed(weight.column)
    held, value = _read(asked, declared)
    looked_for(asked, held, _word(declared))  # or raise
    return in_units(value, weight, "CAST({0} AS INTEGER)")


def _compared(asked: Asked, declared: str) -> Compared:
    held, value = _read(asked, declared)
    return Compared(value, _cast(asked, held), looked_for(asked, held, _word(declared)))


def _read(asked: Asked, declared: str) -> tuple[Held, str]:
    """What a column holds, and the SQL of its value, or of the function that is asked about."""
    held, value = _held(declared, asked)
    value = value.format(_name(str(asked.column)))
    applied(asked, held, _word(declared))  # or raise
    if asked.apply in LETTERS:
        return held, f"lower({value})"  # of A to Z alone
    if asked.apply not in FIELDS:
        return held, value
    field = _FIELDS[asked.apply].format(value)
    return held, f"CASE WHEN {value} >= '0001-01-01' THEN {field} END"


def _cast(asked: Asked, held: Held) -> str | None:
    """How values to compare with are written."""
    return _DAY if held is DATES and asked.apply is None else None


def _word(declared: str) -> str:
    return declared or "of no declared type"


def _name(name: str) -> str:
    return quoted(name, '"')


def _spelled_day(value: date | float) -> str:
    """A day as text, which sorts as days do, or a text before or after all days."""
    if isinstance(value, date):
        return value.isoformat()
    return "" if value < 0 else "~"


def _person(name: str, declared: str) -> str:
    """A column that tells people apart, as SQL in which only the same value is equal."""
    if _affinity(declared) == "REAL":
        raise no_identity(name, declared, floats=True)
    return _PERSON.format(_name(name))


def _held(declared: str, asked: Asked) -> tuple[Held, str]:
    """What a column of a declared type holds, and how to compare it."""
    kind, affinity = declared.upper().partition("(")[0].strip(), _affinity(declared)
    if kind in ("BOOL", "BOOLEAN"):
        return TRUTHS, "CASE WHEN typeof({0}) = 'integer' AND {0} IN (0, 1) THEN {0} END"
    if kind == "DATE":
        return DATES, "CASE WHEN typeof({0}) = 'text' AND date({0}) = {0} THEN {0} END"
    if kind in ("DATETIME", "TIMESTAMP"):  # numbers or texts of several forms
        raise not_countable(asked, declared)
    if affinity == "INTEGER":
        return integers(64), "CASE WHEN typeof({0}) = 'integer' THEN {0} END"
    if affinity == "TEXT":
        return TEXT, "CASE WHEN typeof({0}) = 'text' THEN {0} END"
    if affinity != "BLOB" or sort(asked) != Sort.TEXTS:
        return Real(64), _NUMBERS
    return TEXT, "CASE WHEN typeof({0}) <> 'blob' THEN CAST({0} AS TEXT) END"  # of no type


def _affinity(declared: str) -> str:
    """SQLite's own rules for what a declared type prefers to hold."""
    type_ = declared.upper()
    if "INT" in type_:
        return "INTEGER"
    if any(part in type_ for part in ("CHAR", "CLOB", "TEXT")):
        return "TEXT"
    if not type_ or "BLOB" in type_:
        return "BLOB"
    return "REAL" if any(part in type_ for part in ("REAL", "FLOA", "DOUB")) else "NUMERIC"

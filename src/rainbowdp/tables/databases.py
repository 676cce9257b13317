"""Work in a table of a database, which is only read.

PostgreSQL, SQLite and DuckDB count themselves; out of every other database the needed columns come
here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rainbowdp.errors import UnreadableTable
from rainbowdp.questions.base import Counted
from rainbowdp.tables import any_database, duck_file, postgres, sqlite
from rainbowdp.tables.named import NamedTable
from rainbowdp.tables.prepared import Found, Work

if TYPE_CHECKING:
    import sqlalchemy as sa

_KINDS: dict[str, Any] = {
    "postgresql": postgres,
    "postgres": postgres,
    "sqlite": sqlite,
    "duckdb": duck_file,
}
_FIRST_BYTES = 16
_SQLITE_BEGINS = b"SQLite format 3\0"


@dataclass(frozen=True)
class SQLTable:
    """A table or view of a database.

    PostgreSQL, SQLite and DuckDB do the counting themselves. From any other database that
    SQLAlchemy has a dialect and a driver for, the columns that a question needs are read and
    counted here.

    Parameters
    ----------
    url
        Where the database is: ``postgresql://user:password@host/database``,
        ``sqlite:///town.db``, ``duckdb:///town.duckdb``, or the path of an SQLite or DuckDB file;
        for another database SQLAlchemy's address: ``mysql+pymysql://user:password@host/database``.
    table
        The name of the table or view.
    schema
        The schema it is in, if it is not found without one.
    connections
        How many connections to PostgreSQL to keep for the next questions, for a process that asks
        often and does not fork; none, unless told otherwise.

    Examples
    --------
    >>> SQLTable("postgresql://ann:secret@db.example/town", "votes")
    SQLTable(table='votes', schema=None)

    """

    url: str = field(repr=False)  # it may hold a password
    table: str
    schema: str | None = None
    connections: int = field(default=0, repr=False, compare=False)


def in_database(source: SQLTable, question: Counted, work: Work[Found]) -> Found:
    """Do the work in a table of a database."""
    url = _address(source.url)
    kind = url.drivername.partition("+")[0]
    if kind in ("sqlite", "duckdb") and (not url.database or url.host):
        raise UnreadableTable(
            f"the url of an SQLTable must name a file, as {kind}:///town.db does, got none: after "
            "three slashes comes a relative path, after four an absolute one"
        )
    name = NamedTable(source.table, source.schema)
    there = _KINDS.get(kind, any_database)
    kept = {"connections": source.connections} if there is postgres else {}
    found: Found = there.work_there(url, name, question, work, **kept)
    return found


def _address(text: str) -> sa.URL:
    """The address in its parts, or that of a file. A message never shows all of it: passwords."""
    import sqlalchemy as sa

    if "://" not in text:
        return sa.URL.create(_kind_of_file(Path(text)), database=text)
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        url = None
    if url is None or "@" in (url.host or ""):  # outside, so that an error is not shown with ours
        raise UnreadableTable(
            "the url of an SQLTable must be postgresql://user:password@host:port/database, "
            "sqlite:///file, duckdb:///file or another address of SQLAlchemy's, got something "
            "else: write an @ in a password as %40"
        )
    return url


def _kind_of_file(path: Path) -> str:
    """SQLite or DuckDB, by how a file begins."""
    try:
        with path.open("rb") as file:
            begins = file.read(_FIRST_BYTES)
    except OSError:
        begins = None
    if begins is None:
        raise UnreadableTable(
            "the url of an SQLTable must be an address, as postgresql://user@host/database or "
            "sqlite:///file are, or the path of a database file, got something else"
        )
    if begins == _SQLITE_BEGINS:
        return "sqlite"
    if begins[8:12] == b"DUCK":
        return "duckdb"
    raise UnreadableTable(f"{path} is neither an SQLite nor a DuckDB database")

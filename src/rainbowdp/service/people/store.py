"""Where people, their tokens and their requests are: a SQLite file or a PostgreSQL database.

Nothing of it is in a ledger, and nothing of a ledger is in it. It holds no token, only hashes of
them. Every request looks its token up here, so that what one process revokes, all processes refuse
from the next request on.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    Index,
    Integer,
    MetaData,
    NullPool,
    RowMapping,
    Select,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    event,
    insert,
    select,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from rainbowdp.errors import InvalidFile, MissingExtra, Unavailable

VERSION = 1
_WAIT = 20.0  # seconds for a lock or a server
_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")

METADATA = MetaData()

STORE = Table("rainbow_store", METADATA, Column("version", Integer, primary_key=True))

PEOPLE = Table(
    "rainbow_people",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("roles", Text, nullable=False),
    Column("added", Text, nullable=False),
    Column("added_by", Text, nullable=False),
    Column("removed", Text),
)

TOKENS = Table(
    "rainbow_tokens",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("made", Text, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("expires", Text, nullable=False),
    Column("revoked", Text),
    Index("rainbow_tokens_of", "person"),
)

REQUESTS = Table(
    "rainbow_requests",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("dataset", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("asked", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("words", Text, nullable=False),
    Column("price", Text, nullable=False),
    Column("certainty", Text),
    Column("status", Text, nullable=False),
    Column("decided", Text),
    Column("decided_by", Text),
    Column("reason", Text),
    UniqueConstraint("dataset", "person", "key", name="rainbow_requests_once"),
)


@dataclass(frozen=True, slots=True)
class Store:
    """The database of a service; ``where`` names it in messages, without a password."""

    where: str
    engine: Engine
    """Writes, which is rare: over a new connection each time."""
    reading: Engine
    """Reads, over connections to PostgreSQL that are kept, without a BEGIN and a COMMIT."""

    @classmethod
    def at(cls, place: str, connections: int = 0) -> Self:
        """The store at a path or a ``postgresql://`` address, made if it is not there.

        Of a server up to so many ``connections`` are kept, until ``close``.
        """
        if "://" in place:
            url = _address(place)
            looking = _postgresql(url, connections).execution_options(isolation_level="AUTOCOMMIT")
            store = cls(url.render_as_string(), _postgresql(url, 0), looking)
        else:
            path = Path(place).absolute()
            if not path.parent.is_dir():
                raise InvalidFile(f"There is no folder for {place}. Make the folder first.")
            _private(path)
            engine = _sqlite(path)
            store = cls(place, engine, engine.execution_options(writing=False))
        store._prepare()
        return store

    def look(self, query: Select[Any]) -> Sequence[RowMapping]:
        """The rows of one query, as they are now.

        A kept connection may have been cut off meanwhile, which is only told when it is used; the
        query is then sent again, over a new one.
        """
        try:
            return self._looked(query)
        except Unavailable as error:
            cause = error.__cause__
            if not (isinstance(cause, DBAPIError) and cause.connection_invalidated):
                raise
        return self._looked(query)

    def _looked(self, query: Select[Any]) -> Sequence[RowMapping]:
        with self._transaction(writing=False) as connection:
            return connection.execute(query).mappings().all()

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is on disk when the block ends, or never was if it raises."""
        with self._transaction(writing=True) as connection:
            yield connection

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[Connection]:
        try:
            with (self.engine if writing else self.reading).begin() as connection:
                yield connection
        except IntegrityError:  # two did the same at once: for the caller to tell
            raise
        except (DBAPIError, sqlite3.Error, PoolTimeout) as error:
            raise Unavailable(
                f"The people and tokens in {self.where} cannot be looked up now. Look after its "
                "disk or server, and try again."
            ) from error

    def close(self) -> None:
        """Close the connections that are kept."""
        self.engine.dispose()
        self.reading.dispose()

    def _prepare(self) -> None:
        """Makes the tables where there are none, and refuses those of another version."""
        try:
            with self.write() as connection:
                METADATA.create_all(connection)
                found = connection.execute(select(STORE.c.version)).scalar()
                if found is None:
                    connection.execute(insert(STORE), {"version": VERSION})
        except IntegrityError:  # another process made them a moment ago
            found = self.look(select(STORE.c.version))[0]["version"]
        if found not in (None, VERSION):
            raise InvalidFile(
                f"{self.where} is a store of version {found}, and this release of rainbowdp reads "
                f"version {VERSION}. Install the release that wrote it, or a later one."
            )


def _address(place: str) -> URL:
    wanted = "Give the path of a file or postgresql://user@host/database."
    scheme = place.partition("://")[0]
    if scheme not in _SCHEMES:
        raise InvalidFile(f"A store cannot be kept at {scheme}://. {wanted}")
    try:
        return make_url(place).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError):  # its message may show a password
        raise InvalidFile(f"The {scheme}:// address of the store is malformed. {wanted}") from None


def _private(path: Path) -> None:
    """Makes an empty file that only this user may read, unless one is there."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise InvalidFile(f"{path.name} cannot be made: {error.strerror}.") from error


def _sqlite(path: Path) -> Engine:
    address = f"{path.as_uri()}?mode=rw"

    def connect() -> sqlite3.Connection:
        # isolation_level=None: this module says BEGIN, not the driver
        connection = sqlite3.connect(
            address, uri=True, timeout=_WAIT, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = EXTRA")
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("writing", True)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _postgresql(url: URL, connections: int) -> Engine:
    pool: dict[str, Any] = {"poolclass": NullPool}
    if connections:
        pool = {"pool_size": connections, "max_overflow": 0, "pool_timeout": _WAIT}
    # What is revoked stays so after a crash, whatever the server's default.
    options = "-c statement_timeout=20000 -c synchronous_commit=on"
    arguments = {"connect_timeout": int(_WAIT), "options": options}
    if "options" in url.query:
        arguments["options"] = f"{url.query['options']} {arguments['options']}"
    try:
        return create_engine(url, connect_args=arguments, **pool)
    except ImportError as error:
        raise MissingExtra("psycopg", "postgres") from error

"""Where a ledger lives: a SQLite file or a PostgreSQL database, with the same promises.

* **Durable**: what a write transaction did is on disk when its block ends. SQLite keeps a
  rollback journal (``journal_mode = DELETE``), not a write-ahead log, so that at rest the ledger
  is one file that can be copied, and that needs no shared memory to be read; it syncs with
  ``synchronous = EXTRA``, because ``FULL`` does not sync the folder after the journal is removed
  and a power cut could then undo a payment that had been reported. In PostgreSQL, whatever the
  server's default, what a transaction wrote *or saw* is settled when its block ends
  (``settling.py``).
* **One at a time**: write transactions exclude each other from their first statement: SQLite by
  ``BEGIN IMMEDIATE``, PostgreSQL by the lock on the balance's row that every writer takes first.
* **Whole**: a read transaction sees one moment. A ledger being created appears under its name
  complete or not at all.
* **In one place**: a file is used under one name, on a file system whose locks work, and is the
  same file when a transaction ends as when it began (``files.py``).

Every operation has its own connection, so a ledger may be used by several threads and survives
``fork``; a service, which does not fork, keeps those to PostgreSQL. The file is opened by SQLite
alone: closing it elsewhere would drop SQLite's locks.

A process that waits for SQLite's lock asks again after a random time of up to 20 ms, however long
it has waited: SQLite's own handler asks the less often the longer it has waited, and starves.
"""

from __future__ import annotations

import math
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, inspect, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from rainbowdp.errors import LedgerError, MissingExtra
from rainbowdp.expecting import brief
from rainbowdp.ledger.book import fill
from rainbowdp.ledger.chain import Draft
from rainbowdp.ledger.files import check_place, same_file, seen
from rainbowdp.ledger.schema import LEDGER, METADATA, RECORDS
from rainbowdp.ledger.settling import SYNCHRONOUS, end_of_look, in_block
from rainbowdp.ledger.trouble import NOTHING_SPENT, explain, explain_file, sentence
from rainbowdp.storage.whole_file import sync_folder

TIMEOUT = 60.0  # seconds to wait for a lock, unless told otherwise
_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
_LONGEST = 86_400  # seconds to wait for a lock
_SECRETS = ("password", "sslpassword")
_ROLE, _WRITING = "rainbow_role", "rainbow_writing"  # what is noted of a connection
_PAUSE = (0.001, 0.02)  # seconds between two tries for SQLite's lock


@dataclass(frozen=True, slots=True)
class Store:
    """A database that holds, or is to hold, one ledger.

    ``where`` names it in messages: the path as it was given, or the address without its password.
    """

    where: str
    timeout: float
    engine: Engine
    path: Path | None

    @classmethod
    def at(cls, place: str | Path, timeout: float, connections: int = 0) -> Self:
        """The database at a path or at a ``postgresql://`` address; nothing is opened yet.

        Of a server up to so many ``connections`` are kept for the next transactions, which then
        must be of the same process. A file is opened anew each time.
        """
        if not 0 < timeout <= _LONGEST:
            raise LedgerError(
                f"timeout must be a number of seconds between 0 and {_LONGEST}, "
                f"got timeout={timeout}."
            )
        located = _locate(place)
        if isinstance(located, URL):
            return cls(_shown(located), timeout, _postgresql(located, timeout, connections), None)
        path = located.absolute()
        return cls(str(located), timeout, _sqlite(path, timeout), path)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one moment and changes nothing.

        What it saw is on disk when the block ends.
        """
        with self._transaction("") as connection:
            yield connection

    @contextmanager
    def write(self, otherwise: str = NOTHING_SPENT) -> Iterator[Connection]:
        """A transaction that is on disk when the block ends, or never was if it raises.

        ``otherwise`` says in a message what it means that it never was.
        """
        with self._transaction(otherwise) as connection:
            yield connection

    @contextmanager
    def _transaction(self, otherwise: str) -> Iterator[Connection]:
        """A transaction, for writing if there is anything to say of its failure."""
        opened = None if self.path is None else seen(self.path, self.where)
        try:
            with self._begun(bool(otherwise)) as connection:
                yield connection
                if self.path is None and in_block(connection):
                    end_of_look(connection)
                connection.commit()
        except (DBAPIError, sqlite3.Error) as error:
            raise explain(error, self.where, self.timeout, otherwise) from error
        except UnicodeDecodeError as error:
            if self.path is None:
                raise
            raise sentence("damaged", self.where) from error
        if self.path is not None and not same_file(self.path, opened):
            raise sentence("swapped", self.where)

    def _begun(self, writing: bool | None) -> Connection:
        """A connection with a transaction; a kept one that was cut off meanwhile is replaced.

        With neither reading nor writing each statement is by itself.
        """
        kept = not isinstance(self.engine.pool, NullPool)
        while True:
            connection = self.engine.connect()
            try:
                connection.info[_WRITING] = writing
                connection.begin()
            except BaseException as error:
                connection.close()
                if not (kept and isinstance(error, DBAPIError) and error.connection_invalidated):
                    raise
                kept = False  # the pool has thrown away all that are as old
            else:
                return connection

    def known_names(self, names: Sequence[str]) -> set[str]:
        """Those names that are in the ledger, by one statement that is no transaction of its own.

        For a look ahead: what is written in the same moment may be seen, or not.
        """
        query = select(RECORDS.c.name).where(RECORDS.c.name.in_(names))
        kept = True
        while True:
            try:
                with self._begun(None) as connection:
                    return set(connection.execute(query).scalars())
            except DBAPIError as error:
                if not (kept and error.connection_invalidated):
                    raise explain(error, self.where, self.timeout) from error
                kept = False  # the pool has thrown away all that are as old

    def exists(self) -> bool:
        """Whether anything is there: a file, or tables of a ledger of any version."""
        if self.path is not None:
            return os.path.lexists(self.path)
        with self.read() as connection:
            return any(
                inspect(connection).has_table(name) for name in (LEDGER.name, "rainbow_budget")
            )

    def check(self) -> None:
        """Refuses a file that is mounted, or on a file system whose locks do not work."""
        if self.path is not None:
            check_place(self.path, self.where)

    def check_pages(self) -> None:
        """Refuses a file that SQLite finds damaged; reads all of it."""
        if self.path is None:
            return
        with self.read() as connection:
            found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one()
        if found != "ok":
            raise sentence("damaged", self.where)

    def role(self, connection: Connection) -> str | None:
        """The role of the database that this connection has logged in as."""
        if self.path is not None:
            return None
        if _ROLE not in connection.info:  # nothing here logs in anew
            found = connection.exec_driver_sql("SELECT session_user").scalar_one()
            connection.info[_ROLE] = str(found)
        role: str = connection.info[_ROLE]
        return role

    def create(self, drafts: Iterable[Draft]) -> None:
        """Makes the tables and their first rows, all at once; refuses a place that is taken."""
        if self.exists():
            raise sentence("taken", self.where)
        if self.path is None:
            self._fill(drafts)
            return
        try:
            check_place(self.path, self.where)
            with tempfile.TemporaryDirectory(dir=self.path.parent, prefix=".rainbow-") as folder:
                draft = Path(folder) / "ledger"
                draft.touch(mode=0o600)  # questions and answers are the owner's to publish
                engine = _sqlite(draft, self.timeout)
                Store(self.where, self.timeout, engine, draft)._fill(drafts)
                self.path.hardlink_to(draft)  # atomic, and never over another file
                sync_folder(self.path.parent)
        except OSError as error:
            raise explain_file(error, self.where) from error

    def _fill(self, drafts: Iterable[Draft]) -> None:
        with self.write("Nothing was created.") as connection:
            METADATA.create_all(connection, checkfirst=False)
            fill(connection, drafts)


def _locate(place: str | Path) -> Path | URL:
    if not isinstance(place, str | os.PathLike):
        raise LedgerError(
            f"The place of a ledger must be a path or an address, got {type(place).__name__}."
        )
    text = str(place)
    scheme, separator, _ = text.partition("://")
    if not separator:
        if not text or "\0" in text or not _is_text(text):
            raise LedgerError(
                f"The place of a ledger must be a path or an address, got {brief(text)}."
            )
        return Path(text)
    wanted = "Give the path of a file or postgresql://user@host/database."
    if scheme not in _SCHEMES:
        raise LedgerError(f"A ledger cannot be kept at {scheme}://. {wanted}")
    try:
        return make_url(text)
    except (ArgumentError, ValueError):  # its message may show a password
        raise LedgerError(f"The {scheme}:// address of the ledger is malformed. {wanted}") from None


def _is_text(text: str) -> bool:
    """Whether a file may have this name: half a character cannot be encoded."""
    try:
        os.fsencode(text)
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _shown(url: URL) -> str:
    """An address without its password, wherever that stands."""
    hidden = {name: "***" for name in _SECRETS if name in url.query}
    shown = url.update_query_dict(hidden).render_as_string()
    return shown.replace("%2A%2A%2A", "***")


def _sqlite(path: Path, timeout: float) -> Engine:
    address = f"{path.as_uri()}?mode=rw"

    def connect() -> sqlite3.Connection:
        # isolation_level=None: this module says BEGIN, not the driver
        connection = sqlite3.connect(address, uri=True, timeout=timeout, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("PRAGMA synchronous = EXTRA")
        except sqlite3.Error:
            connection.close()
            raise
        except UnicodeDecodeError:  # SQLite quotes damaged bytes in its message
            connection.close()
            raise sqlite3.DatabaseError("what it holds cannot be decoded") from None
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # Straight to the driver: SQLAlchemy would roll back what fails, and end the transaction.
        run = connection.connection.cursor().execute
        run("PRAGMA busy_timeout = 0")
        if connection.info[_WRITING]:
            _patiently(lambda: run("BEGIN IMMEDIATE"), timeout)
        else:
            run("BEGIN")
            _patiently(lambda: run("SELECT count(*) FROM sqlite_master"), timeout)
        # for the end of a transaction, which waits for those who read and lets no new ones in
        run(f"PRAGMA busy_timeout = {math.ceil(timeout * 1000)}")

    return engine


def _patiently(action: Callable[[], object], timeout: float) -> None:
    """Repeats what fails because of a lock, until the time is over."""
    end = time.monotonic() + timeout
    while True:
        try:
            action()
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() >= end:
                raise
        else:
            return
        time.sleep(random.uniform(*_PAUSE))  # noqa: S311


def _postgresql(url: URL, timeout: float, connections: int) -> Engine:
    url = url.set(drivername="postgresql+psycopg")
    waits = {"connect_timeout": math.ceil(timeout), "tcp_user_timeout": math.ceil(timeout * 1000)}
    missing = {name: str(wait) for name, wait in waits.items() if name not in url.query}
    pool: dict[str, Any] = {"poolclass": NullPool}
    if connections:
        pool = {"pool_size": connections, "max_overflow": 0, "pool_timeout": timeout}
    address = url.update_query_dict(missing)
    try:  # AUTOCOMMIT: this module says BEGIN, not the driver
        engine = create_engine(address, isolation_level="AUTOCOMMIT", **pool)
    except ImportError as error:
        raise MissingExtra("psycopg", "postgres") from error

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.info[_WRITING]
        if writing is None:
            return
        level = "READ COMMITTED" if writing else "REPEATABLE READ, READ ONLY"
        wait = math.ceil(timeout * 1000)
        settings = [  # sent at once: each round trip is a good part of a transaction
            f"BEGIN ISOLATION LEVEL {level}",
            f"SET LOCAL lock_timeout = {wait}",
            f"SET LOCAL statement_timeout = {wait + 1000}",
            SYNCHRONOUS,
        ]
        connection.exec_driver_sql("; ".join(settings))

    return engine

"""Where a ledger lives: a SQLite file or a PostgreSQL database, with the same promises.

* **Durable**: what a write transaction did is on disk when its block ends. SQLite keeps a
  rollback journal (``journal_mode = DELETE``), not a write-ahead log, so that at rest the ledger
  is one file that can be copied, and that needs no shared memory to be read; it syncs with
  ``synchronous = EXTRA``, because ``FULL`` does not sync the folder after the journal is removed
  and a power cut could then undo a payment that had been reported. PostgreSQL commits with
  ``synchronous_commit`` on, whatever the server's default.
* **One at a time**: write transactions exclude each other from their first statement: SQLite by
  ``BEGIN IMMEDIATE``, PostgreSQL by the lock on the budget's row that every writer takes first.
* **Whole**: a read transaction sees one moment. A ledger being created appears under its name
  complete or not at all.

Every operation has its own connection, so a ledger may be used by several threads and survives
``fork``. The file is opened by SQLite alone: closing it elsewhere would drop SQLite's locks.
"""

from __future__ import annotations

import math
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, insert, inspect
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from rainbowdp.errors import LedgerError, MissingExtra
from rainbowdp.ledger.schema import BUDGET, METADATA, damaged
from rainbowdp.ledger.trouble import explain, explain_file, sentence
from rainbowdp.storage.whole_file import sync_folder

_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
_LONGEST = 86_400  # seconds to wait for a lock


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
    def at(cls, place: str | Path, timeout: float) -> Self:
        """The database at a path or at a ``postgresql://`` address; nothing is opened yet."""
        if not 0 < timeout <= _LONGEST:
            raise LedgerError(
                f"timeout must be a number of seconds between 0 and {_LONGEST}, "
                f"got timeout={timeout}."
            )
        located = _locate(place)
        if isinstance(located, URL):  # rendered without its password
            return cls(located.render_as_string(), timeout, _postgresql(located, timeout), None)
        path = located.absolute()
        return cls(str(located), timeout, _sqlite(path, timeout, mode="rw"), path)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one moment and changes nothing."""
        with self._transaction(writing=False) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is on disk when the block ends, or never was if it raises."""
        with self._transaction(writing=True) as connection:
            yield connection

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[Connection]:
        try:
            with self.engine.execution_options(writing=writing).begin() as connection:
                yield connection
        except DBAPIError as error:
            raise explain(error, self.where, self.timeout) from error

    def exists(self) -> bool:
        """Whether anything is there: a file, or a budget's table."""
        if self.path is not None:
            return os.path.lexists(self.path)
        with self.read() as connection:
            return inspect(connection).has_table(BUDGET.name)

    def check(self) -> None:
        """Refuses a file that SQLite finds damaged, and what is no ledger."""
        with self.read() as connection:
            if self.path is not None:
                found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one()
                if found != "ok":
                    raise damaged(self.where)
            if not inspect(connection).has_table(BUDGET.name):
                raise sentence("foreign", self.where)

    def create(self, budget: Mapping[str, Any]) -> None:
        """Makes the tables and the budget's row, all at once; refuses a place that is taken."""
        if self.exists():
            raise sentence("taken", self.where)
        if self.path is None:
            self._fill(budget)
            return
        try:
            with tempfile.TemporaryDirectory(dir=self.path.parent, prefix=".rainbow-") as folder:
                draft = Path(folder) / "ledger"
                draft.touch(mode=0o600)  # questions and answers are the owner's to publish
                engine = _sqlite(draft, self.timeout, mode="rw")
                Store(self.where, self.timeout, engine, draft)._fill(budget)
                self.path.hardlink_to(draft)  # atomic, and never over another file
                sync_folder(self.path.parent)
        except OSError as error:
            raise explain_file(error, self.where) from error

    def _fill(self, budget: Mapping[str, Any]) -> None:
        with self.write() as connection:
            METADATA.create_all(connection, checkfirst=False)
            connection.execute(insert(BUDGET), dict(budget))


def _locate(place: str | Path) -> Path | URL:
    text = os.fspath(place)
    scheme, separator, _ = text.partition("://")
    if not separator:
        if not text or "\0" in text:
            raise LedgerError(f"The place of a ledger must be a path or an address, got {text!r}.")
        return Path(text)
    wanted = "Give the path of a file or postgresql://user@host/database."
    if scheme not in _SCHEMES:
        raise LedgerError(f"A ledger cannot be kept at {scheme}://. {wanted}")
    try:
        return make_url(text)
    except (ArgumentError, ValueError):  # its message may show a password
        raise LedgerError(f"The {scheme}:// address of the ledger is malformed. {wanted}") from None


def _sqlite(path: Path, timeout: float, *, mode: str) -> Engine:
    address = f"{path.as_uri()}?mode={mode}"

    def connect() -> sqlite3.Connection:
        # isolation_level=None: this module says BEGIN, not the driver
        connection = sqlite3.connect(address, uri=True, timeout=timeout, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("PRAGMA synchronous = EXTRA")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options()["writing"]
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _postgresql(url: URL, timeout: float) -> Engine:
    url = url.set(drivername="postgresql+psycopg")
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": str(math.ceil(timeout))})
    try:
        engine = create_engine(url, poolclass=NullPool)
    except ImportError as error:
        raise MissingExtra("psycopg", "postgres") from error

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if not connection.get_execution_options()["writing"]:
            statement = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
            connection.exec_driver_sql(statement)
            return
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {math.ceil(timeout * 1000)}")
        connection.exec_driver_sql(
            "SELECT set_config('synchronous_commit', 'on', true) "
            "WHERE current_setting('synchronous_commit') = 'off'"
        )

    return engine

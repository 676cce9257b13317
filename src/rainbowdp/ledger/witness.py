"""A witness: a second place that remembers the heads of a ledger.

After each write the new head is added to a text file, one line each, or to a table in another
database. When the ledger is opened, the last head in the witness must be in its past. A ledger that
was put back to an old copy, or rewritten, is then refused, unless somebody put back the witness
too: keep it on another disk, or where those who ask may add and not remove.

A head is added after the ledger's transaction has ended, so a crash in between leaves the witness
one behind, which is no contradiction.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sqlalchemy import Column, Integer, MetaData, Table, Text, insert, inspect, select

from rainbowdp.errors import LedgerError
from rainbowdp.expecting import brief
from rainbowdp.ledger.chain import Head
from rainbowdp.ledger.store import Store

_TAIL = 65_536  # bytes at the end of a file that are looked at when a ledger is opened
_CUT = re.compile(r"[0-9]*(:[0-9a-f]{0,63})?")  # a line that a crash cut short

_METADATA = MetaData()
_HEADS = Table(
    "rainbow_heads",
    _METADATA,
    Column("identity", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("seal", Text, nullable=False),
)


class Witness(Protocol):
    """A place that remembers heads."""

    @property
    def place(self) -> str:
        """Where it is, without a password."""

    def begun(self) -> bool:
        """Whether anything was ever added."""

    def add(self, head: Head) -> None:
        """Adds a head; it is on disk when this returns."""

    def last(self) -> Head | None:
        """The highest of the last heads."""

    def heads(self) -> Iterator[Head]:
        """All heads."""


def witness_at(place: str | Path, identity: str, timeout: float) -> Witness:
    """The witness at a path or a ``postgresql://`` address, for the ledger of this identity."""
    text = os.fspath(place)
    if "://" in text:
        return TableWitness(Store.at(text, timeout), identity)
    return FileWitness(str(Path(text).absolute()))


@dataclass(frozen=True, slots=True)
class FileWitness:
    """A text file with one head on each line."""

    place: str

    def begun(self) -> bool:
        """Whether there is a file."""
        return os.path.lexists(self.place)

    def add(self, head: Head) -> None:
        """Adds a line, and a line break before it if the last line was cut short."""
        try:
            file = os.open(self.place, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                size = os.fstat(file).st_size
                whole = size == 0 or os.pread(file, 1, size - 1) == b"\n"
                line = ("" if whole else "\n") + f"{head}\n"
                if os.write(file, line.encode()) < len(line):
                    raise OSError(0, "the disk is full")
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as error:
            raise self._trouble("written", error) from error

    def last(self) -> Head | None:
        """The highest head at the end of the file, where lines may be out of order."""
        return max(self._lines(_TAIL), key=lambda head: head.number, default=None)

    def heads(self) -> Iterator[Head]:
        """Every line."""
        return self._lines(None)

    def _lines(self, tail: int | None) -> Iterator[Head]:
        try:
            with Path(self.place).open("rb") as file:
                if tail is not None and os.fstat(file.fileno()).st_size > tail:
                    file.seek(-tail, os.SEEK_END)
                    file.readline()  # the rest of some line
                for line in file:
                    text = line.decode("ascii", "replace").strip()
                    if not _CUT.fullmatch(text):
                        yield self._head(text)
        except OSError as error:
            raise self._trouble("read", error) from error

    def _head(self, text: str) -> Head:
        try:
            return Head.parse(text)
        except LedgerError:
            raise LedgerError(
                f"A line of the witness {self.place} is no head: {brief(text[:40])}. Restore the "
                "witness, or remove that line if you know how it came there."
            ) from None

    def _trouble(self, what: str, error: OSError) -> LedgerError:
        return LedgerError(
            f"The witness {self.place} cannot be {what}: {error.strerror or error}. Make it "
            "accessible to this user, or name another witness."
        )


@dataclass(frozen=True, slots=True)
class TableWitness:
    """A table of heads in a PostgreSQL database, which may serve several ledgers."""

    store: Store
    identity: str

    @property
    def place(self) -> str:
        """The address without its password."""
        return self.store.where

    def begun(self) -> bool:
        """Whether there is a row for this ledger."""
        with self.store.read() as connection:
            if not inspect(connection).has_table(_HEADS.name):
                return False
            ours = select(_HEADS.c.number).where(_HEADS.c.identity == self.identity).limit(1)
            return connection.execute(ours).scalar() is not None

    def add(self, head: Head) -> None:
        """Adds a row; the table is made if it is not there."""
        with self.store.write("The head was not witnessed.") as connection:
            if not inspect(connection).has_table(_HEADS.name):
                _METADATA.create_all(connection)
            row = {"identity": self.identity, "number": head.number, "seal": head.seal}
            connection.execute(insert(_HEADS), row)

    def last(self) -> Head | None:
        """The row of the highest number."""
        return next(self._rows(descending=True), None)

    def heads(self) -> Iterator[Head]:
        """Every row."""
        return self._rows(descending=False)

    def _rows(self, *, descending: bool) -> Iterator[Head]:
        order = _HEADS.c.number.desc() if descending else _HEADS.c.number
        query = select(_HEADS.c.number, _HEADS.c.seal).where(_HEADS.c.identity == self.identity)
        with self.store.read() as connection:
            if not inspect(connection).has_table(_HEADS.name):
                raise LedgerError(
                    f"There is no witness at {self.place}. Correct the address, or name another "
                    "witness."
                )
            query = query.order_by(order)
            rows = connection.execute(query.limit(1) if descending else query).all()
        return iter([Head(number, seal) for number, seal in rows])

"""Tables that take seconds to make: shipped, or made once for each shape, then at hand at once.

A table depends on what is asked and on the guarantee, never on data. Some come with the package, in
an archive; the others are kept in the user's cache folder. A table is proved again wherever it is
taken from. A file that is damaged, of another version, about something else or not private is said
so and made again; a folder that cannot be written only costs the time to make a table anew.

Whoever makes a table holds a lock beside its place, and others who need the same one wait for it.
The lock is the operating system's and ends with the process that holds it, however that ends; where
there are no locks everyone makes the table.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any, Generic, TypeVar

from rainbowdp.display.progress import announced, timed
from rainbowdp.errors import InvalidFile, RainbowError
from rainbowdp.exact.rule import Progress, Rule
from rainbowdp.numeric.quantity import exact
from rainbowdp.storage.documents import parse_document, read_text, write_document

FOLDER = "RAINBOWDP_CACHE"  # the variable that names another folder
ARCHIVE = "tables.zip"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # so that the same tables make the same archive

Table = TypeVar("Table", bound=Rule)


@dataclass(frozen=True)
class Shelf(Generic[Table]):
    """Where tables of one kind are kept.

    Parameters
    ----------
    name
        What they are called, such as ``crowd table``.
    version
        Of the way they are made and proved.
    package
        The package with their archive.

    What is wanted is a dictionary that names, among others, the number of ``answers``.

    """

    name: str
    version: int
    package: str
    _held: dict[str, tuple[Table, Fraction]] = field(default_factory=dict, repr=False)

    def fetch(
        self,
        wanted: Mapping[str, Any],
        make: Callable[[Progress], tuple[Table, Fraction]],
        proved: Callable[[Mapping[str, Any]], Table],
        progress: Progress | None = None,
        *,
        take_shipped: bool = True,
    ) -> tuple[Table, Fraction]:
        """The table that is ``wanted`` and its mixing: from memory, as shipped, from disk, or made.

        ``proved`` makes a table of a file's content and proves it, or raises. While one is made a
        terminal shows what is being done and for how long, unless ``progress`` is given.
        """
        path = self.place(wanted)
        if path.stem in self._held:
            return self._held[path.stem]
        found = self._shipped(path, wanted, proved) if take_shipped else None
        if found is None:
            found = self._from_disk(path, wanted, proved)
        if found is None:
            with self._alone(path.with_suffix(".lock")):  # meanwhile somebody else may have made it
                found = self._from_disk(path, wanted, proved, _say)
                if found is None:
                    with timed(f"Making a {self.name} for {wanted['answers']} answers") as stage:
                        found = make(progress or (lambda line: stage(line.split(",")[0])))
                    self._to_disk(path, wanted, *found)
        self._held[path.stem] = found
        return found

    def place(self, wanted: Mapping[str, Any]) -> Path:
        """Where the table is kept that is ``wanted``."""
        text = json.dumps({"kind": self.name, **wanted}, sort_keys=True)
        return cache_folder() / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"

    def ship(self, wanted: Iterable[Mapping[str, Any]], archive: Path) -> None:
        """Write the archive of tables that are kept on disk."""
        with zipfile.ZipFile(archive, "w") as file:
            for path in sorted(self.place(one) for one in wanted):
                entry = zipfile.ZipInfo(path.name, _LONG_AGO)
                file.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)

    def _shipped(
        self, path: Path, wanted: Mapping[str, Any], proved: Callable[[Mapping[str, Any]], Table]
    ) -> tuple[Table, Fraction] | None:
        text = self._shipped_text(path.name)
        return None if text is None else self._proved(text, path, wanted, proved, _say)

    def shipped(self, wanted: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """What the archive says of the table that is ``wanted``, not proved; none if not in it."""
        path = self.place(wanted)
        text = self._shipped_text(path.name)
        return None if text is None else parse_document(text, path, self._format, self.version)

    def _shipped_text(self, name: str) -> str | None:
        archive = files(self.package) / ARCHIVE
        if not archive.is_file():
            return None
        with archive.open("rb") as file, zipfile.ZipFile(file) as tables:
            return tables.read(name).decode() if name in tables.namelist() else None

    def _from_disk(
        self,
        path: Path,
        wanted: Mapping[str, Any],
        proved: Callable[[Mapping[str, Any]], Table],
        say: Progress | None = None,
    ) -> tuple[Table, Fraction] | None:
        if not path.exists():
            return None
        try:
            text = read_text(path)
        except InvalidFile as error:
            self._of_no_use(error, say)
            return None
        return self._proved(text, path, wanted, proved, say)

    def _proved(
        self,
        text: str,
        path: Path,
        wanted: Mapping[str, Any],
        proved: Callable[[Mapping[str, Any]], Table],
        say: Progress | None,
    ) -> tuple[Table, Fraction] | None:
        try:
            content = parse_document(text, path, self._format, self.version)
            if content["wanted"] != wanted:
                raise InvalidFile(f"a kept table must be for {wanted}, got {content['wanted']}")
            return proved(content), exact(content["mixing"], "mixing", InvalidFile)
        except (RainbowError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            self._of_no_use(error, say)
            return None

    def _of_no_use(self, error: Exception, say: Progress | None) -> None:
        if say is not None:
            say(f"A {self.name} is made again, as the kept one is of no use: {error}")

    def _to_disk(
        self, path: Path, wanted: Mapping[str, Any], table: Table, mixing: Fraction
    ) -> None:
        content = {
            "format": self._format,
            "version": self.version,
            "wanted": wanted,
            "mixing": str(mixing),
            **table.describe(),
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_document(content, path)
        except (OSError, InvalidFile) as error:
            _say(f"A {self.name} is not kept for next time: {error}")

    @property
    def _format(self) -> str:
        return f"rainbowdp {self.name}"

    @contextmanager
    def _alone(self, path: Path) -> Iterator[None]:
        """Hold the lock at ``path`` inside, once whoever has it now is done, where that works."""
        try:
            import fcntl

            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = path.open("ab")
        except (ImportError, OSError):
            yield
            return
        with file:
            with suppress(OSError):  # a file system without locks
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    waiting = f"Waiting for another process that is making the {self.name}."
                    with announced(waiting):
                        fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                # Whoever waits has this file open and finds the table; later ones make a new one.
                with suppress(OSError):
                    path.unlink()


def cache_folder() -> Path:
    """Where tables are kept: ``$RAINBOWDP_CACHE``, else the user's cache folder."""
    if FOLDER in os.environ:
        return Path(os.environ[FOLDER])
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "rainbowdp"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rainbowdp"


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)  # noqa: T201  for who waits at a terminal

"""Read columns of numbers and names from text and Parquet files, through DuckDB.

Edge lists (``LISTS``) are text without a line of names: tabs, spaces or commas between the fields,
comments after # or %, as SNAP and others publish them. DuckDB reads files out of core and on all
processors. What it refuses is read again, slowly, to say which line is at fault. Names of columns
and files enter a query only through ``quoted``, which is why the linter's warning about queries
(S608) is off on these lines.
"""

from __future__ import annotations

import csv
import glob
import gzip
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rainbowdp.errors import InvalidGraph
from rainbowdp.expecting import brief
from rainbowdp.storage.short_lines import short_lines
from rainbowdp.storage.sql import quoted

if TYPE_CHECKING:
    import duckdb

Found = TypeVar("Found")

SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
LISTS = (".txt", ".txt.gz", ".edges", ".edges.gz", ".edgelist", ".edgelist.gz")
_FLOATS = ("FLOAT", "DOUBLE")
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
# The cast alone would take 1.5 for 2, and 1_000 or 0x1F for numbers.
_SPELLED = r"CASE WHEN regexp_full_match({0}, '\s*[0-9]+\s*') THEN TRY_CAST({0} AS {1}) END"
_COUNT = "rainbowdp_row"
_LONGEST = 1 << 20  # characters of a line
_SPELLED_BACK = 15  # digits that a float spells back as they were written
_RULE = "nodes must be whole numbers from 0"


@dataclass(frozen=True)
class ColumnFile:
    """A CSV or TSV file, an edge list, a Parquet file, a glob or a folder of Parquet files."""

    path: str | PathLike[str]

    @cached_property
    def separator(self) -> str | None:
        """The character between the fields of a text file; None for Parquet."""
        if self._is_list:
            line = next((line for _, line in self._bare_lines()), "")
            return next((mark for mark in "\t, " if mark in line), " ")
        name = str(self.path).lower()
        return next((mark for ending, mark in SEPARATORS.items() if name.endswith(ending)), None)

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns: those in the first line, or 1, 2, … if it holds data."""
        if self.separator is None:
            return list(self._types)
        names = self._first_line
        if self._bare:
            return [str(number) for number in range(1, len(names) + 1)]
        if len(set(names)) != len(names):
            raise InvalidGraph(f"columns must have different names, got {names} in {self.path}")
        return names

    def whole_numbers(self, names: Sequence[str]) -> NDArray[Any]:
        """The named columns, row after row, as one array of the smallest type that holds them."""
        self._must_be_whole(names)
        for width in ("UINTEGER", "UBIGINT"):
            parts = ", ".join(self._whole(name, width) for name in names)
            query = f"SELECT unnest([{parts}]) AS value FROM {self._table}"  # noqa: S608  quoted
            found = self._arrays(query)
            if found is not None and not np.ma.is_masked(found["value"]):
                return np.asarray(found["value"])
        raise self._fault(names)

    def selected(self, names: Mapping[str, str], *, whole: bool, length: str | None = None) -> str:
        """A query for the named columns under other names; null where one does not hold an id.

        Ids are whole numbers from 0, or texts. A column of lengths is called ``length``, and has
        null where it holds no number.
        """
        if whole:
            self._must_be_whole(list(names))
        parts = [
            f"{self._whole(name, 'UBIGINT') if whole else f'trim({_column(name)})'} AS {alias}"
            for name, alias in names.items()
        ]
        if length is not None:
            parts.append(f"TRY_CAST({_column(length)} AS DOUBLE) AS length")
        return f"SELECT {', '.join(parts)} FROM {self._table}"  # noqa: S608  quoted

    def row_count(self) -> int:
        """The number of rows: by the metadata where it is Parquet."""
        rows = self._rows(f"SELECT count(*) FROM {self._table}")  # noqa: S608  quoted
        if rows is None:
            raise self._unreadable()
        return int(rows[0][0])

    def fault(self, names: Sequence[str], *, whole: bool) -> InvalidGraph:
        """What is wrong with columns of ids, and where."""
        return self._fault(names) if whole else self._faulty_text(names)

    def are_numbers(self, names: Sequence[str]) -> bool:
        """Whether the first row has whole numbers in the named columns, so that all must."""
        if self.separator is None:
            return any(self._types[name] != "VARCHAR" for name in names)
        _, first = next(islice(self._lines(), 0 if self._bare else 1, None), (0, []))
        if len(first) != len(self.columns):
            return True
        return all(first[self.columns.index(name)].strip().lstrip("-").isdigit() for name in names)

    def texts(self, names: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
        """Two or more columns of names, row after row, as positions in the sorted list of names."""
        listed = ", ".join(f"trim({_column(name)})" for name in names)
        every = f"SELECT unnest([{listed}]) AS name FROM {self._table}"  # noqa: S608  quoted
        found = self._rows(f"SELECT DISTINCT name FROM ({every}) ORDER BY name")  # noqa: S608
        known = "" if found is None else [name for (name,) in found]
        if found is None or not all(known):
            raise self._faulty_text(names)
        places = self._arrays(
            f"SELECT number FROM (SELECT name, row_number() OVER () AS place FROM ({every})) "  # noqa: S608
            "JOIN (SELECT name, row_number() OVER (ORDER BY name) - 1 AS number FROM "
            f"(SELECT DISTINCT name FROM ({every}))) USING (name) ORDER BY place"
        )
        if places is None:
            raise self._unreadable()
        return np.asarray(places["number"], dtype=np.int64), list(known)

    def lengths(self, name: str) -> tuple[NDArray[np.float64], bool | None]:
        """A column of lengths, finite and not negative, and whether they are decimals as written.

        A text of up to fifteen digits is the shortest spelling of its nearest float, by which it
        is found again; where one has more, None says that floats are but near it.
        """
        column = _column(name)
        cast = f"TRY_CAST({column} AS DOUBLE)"
        found = self._arrays(f"SELECT {cast} AS value FROM {self._table}")  # noqa: S608  quoted
        lengths = np.ma.filled(found["value"], np.nan) if found is not None else np.array([np.nan])
        wrong = ~(np.isfinite(lengths) & (lengths >= 0))
        if wrong.any() or found is None:
            raise self._faulty_length(name, int(np.flatnonzero(wrong)[0]))
        return np.asarray(lengths, dtype=np.float64), self.spelled_back(name)

    def spelled_back(self, name: str) -> bool | None:
        """Whether a column has decimals that floats spell back; None where one is too long.

        Whole numbers, decimals and texts of a Parquet file are spelled as well as those of a text
        file: the nearest float of a long one may be above it.
        """
        if self.separator is None and self._types[name] in _FLOATS:
            return False
        digits = f"length(regexp_replace(CAST({_column(name)} AS VARCHAR), '[^0-9]', '', 'g'))"
        longest = self._rows(f"SELECT max({digits}) FROM {self._table}")  # noqa: S608
        return True if longest and (longest[0][0] or 0) <= _SPELLED_BACK else None

    def _faulty_length(self, name: str, row: int) -> InvalidGraph:
        """What is wrong with a column of lengths, and where."""
        if self.separator is not None:
            place = self.columns.index(name)
            for line, record in islice(self._lines(), 0 if self._bare else 1, None):
                if len(record) != len(self.columns):
                    return self._other_length(record, f"in {self.path}, line {line}")
                said = record[place].strip()
                if not _is_length(said):
                    return InvalidGraph(
                        f"a length must be a finite number from 0, got {said or 'nothing'} in "
                        f"{self.path}, line {line}"
                    )
        return InvalidGraph(
            f"a length must be a finite number from 0, got another in column {name!r} of "
            f"{self.path}, {self.where(row)}"
        )

    def coded(
        self, key: str, name: str, *, whole: bool = True
    ) -> tuple[NDArray[Any], NDArray[Any], list[Any]]:
        """A column of whole numbers or texts, and beside each the index of its name in a list.

        Rows without a name are left out, and rows are in no particular order.
        """
        keys, table = f"trim(CAST({_column(key)} AS VARCHAR))", self._table
        if whole:
            self._must_be_whole([key])
            keys = self._whole(key, "UBIGINT")
        rows = f"SELECT {keys} AS key, {_column(name)} AS name FROM {table}"  # noqa: S608
        known = f"SELECT DISTINCT {_column(name)} AS name FROM {table}"  # noqa: S608
        names = self._rows(f"SELECT name FROM ({known}) WHERE name IS NOT NULL ORDER BY name")  # noqa: S608
        found = self._arrays(
            f"SELECT key, number FROM ({rows}) JOIN (SELECT name, "  # noqa: S608
            f"CAST(row_number() OVER (ORDER BY name) - 1 AS UINTEGER) AS number FROM ({known}) "
            "WHERE name IS NOT NULL) USING (name)"
        )
        if names is None or found is None or np.ma.is_masked(found["key"]):
            raise self._fault([key]) if whole else self._faulty_text([key])
        return np.asarray(found["key"]), np.asarray(found["number"]), [name for (name,) in names]

    def records(self) -> list[list[Any]]:
        """Every row of a small table, including the first line of a text file."""
        if self.separator is not None:
            return [record for _, record in self._lines()]
        rows = self._rows(f"FROM {self._table}")
        if rows is None:
            raise self._unreadable()
        return [list(row) for row in rows]

    def where(self, row: int) -> str:
        """How to find a row, counted from 0: its line in a text file."""
        if self.separator is None:
            return f"row {row + 1}"
        line, _ = next(islice(self._lines(), row + (not self._bare), None))
        return f"line {line}"

    @property
    def _is_list(self) -> bool:
        return str(self.path).lower().endswith(LISTS)

    @property
    def _bare(self) -> bool:
        """Whether the first line already holds data: of an edge list, or if it is a number."""
        return self._is_list or self._first_line[0].strip().lstrip("-").isdigit()

    @cached_property
    def _first_line(self) -> list[str]:
        _, names = next(self._lines(), (0, []))
        if not names:
            raise InvalidGraph(f"{self.path} has no columns")
        return names

    @cached_property
    def _types(self) -> dict[str, str]:
        rows = self._rows(f"DESCRIBE FROM {self._table}")
        if rows is None:
            raise self._unreadable()
        return {name: type_ for name, type_, *_ in rows}

    @property
    def _table(self) -> str:
        """The file in SQL; every column of a text file is text."""
        if self.separator is None:
            listed = ", ".join(_text(glob.escape(file)) for file in self._files())
            return f"read_parquet([{listed}])"
        typed = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in self.columns)
        style = "quote = '\"', escape = '\"'"
        if self._is_list:
            style = f"quote = '', escape = '', comment = {_text(self._comment)}"
        return (
            f"read_csv({_text(glob.escape(str(self.path)))}, auto_detect = false, "
            f"header = {str(not self._bare).lower()}, delim = {_text(self.separator)}, "
            f"{style}, columns = {{{typed}}})"
        )

    def _files(self) -> list[str]:
        path = str(self.path)
        if Path(path).is_file():
            return [path]
        pattern = f"{glob.escape(path)}/*.parquet" if Path(path).is_dir() else path
        files = sorted(glob.glob(pattern))  # noqa: PTH207
        if not files:
            raise InvalidGraph(f"cannot read the graph file {path}: no such file")
        return files

    def _whole(self, name: str, width: str) -> str:
        """A column as whole numbers from 0, null where it holds anything else."""
        spell = "TRY_CAST({0} AS {1})" if self.separator is None else _SPELLED
        return spell.format(_column(name), width)

    def _must_be_whole(self, names: Sequence[str]) -> None:
        for name in names if self.separator is None else ():
            if self._types[name].removeprefix("U") not in _INTEGERS:
                raise InvalidGraph(
                    f"nodes must be whole numbers, got column {brief(name)} of type "
                    f"{self._types[name]} in {self.path}"
                )

    def _arrays(self, sql: str) -> dict[str, NDArray[Any]] | None:
        return self._run(sql, lambda result: result.fetchnumpy())

    def _rows(self, sql: str) -> list[tuple[Any, ...]] | None:
        return self._run(sql, lambda result: result.fetchall())

    def _run(self, sql: str, fetch: Callable[[duckdb.DuckDBPyConnection], Found]) -> Found | None:
        """The result of a query, or None if the file cannot be read."""
        import duckdb

        with duckdb.connect(":memory:") as connection:
            connection.execute("SET enable_progress_bar = false")  # it would go to standard output
            try:
                return fetch(connection.execute(sql))
            except duckdb.Error:
                return None

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """The records of a text file that are not blank, each with its line."""
        if self._is_list:
            yield from ((at, line.split(self.separator)) for at, line in self._bare_lines())
            return
        with self._opened() as lines:
            reader = csv.reader(short_lines(lines, _LONGEST), delimiter=self.separator or ",")
            for record in reader:
                if record:
                    yield reader.line_num, record

    def _bare_lines(self) -> Iterator[tuple[int, str]]:
        """The lines of an edge list without blanks and comments."""
        with self._opened() as lines:
            for number, line in enumerate(short_lines(lines, _LONGEST), 1):
                said = line.rstrip("\r\n")
                if said.strip() and not said.startswith(("#", "%")):
                    yield number, said

    @cached_property
    def _comment(self) -> str:
        with self._opened() as lines:
            return "%" if lines.read(1) == "%" else "#"

    @contextmanager
    def _opened(self) -> Iterator[IO[str]]:
        opener: Any = gzip.open if str(self.path).lower().endswith(".gz") else open
        try:
            with opener(self.path, "rt", encoding="utf-8-sig", newline="") as lines:
                yield lines
        except (OSError, EOFError, ValueError, zlib.error, csv.Error) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise InvalidGraph(
                f"cannot read the graph file {self.path} to its end: {why}"
            ) from None

    def _fault(self, names: Sequence[str]) -> InvalidGraph:
        """What is wrong with columns that are not all whole numbers from 0, and where."""
        return self._faulty_row(names) if self.separator is None else self._faulty_line(names)

    def _faulty_row(self, names: Sequence[str]) -> InvalidGraph:
        odd = " OR ".join(f"{self._whole(name, 'UBIGINT')} IS NULL" for name in names)
        listed = ", ".join(map(_column, names))
        counted = f"SELECT *, row_number() OVER () AS {_COUNT} FROM {self._table}"  # noqa: S608
        rows = self._rows(f"SELECT {listed}, {_COUNT} FROM ({counted}) WHERE {odd} LIMIT 1")  # noqa: S608
        if not rows:
            return self._unreadable()
        *values, number = rows[0]
        shown = ", ".join("nothing" if value is None else str(value) for value in values)
        return InvalidGraph(f"{_RULE}, got {shown} in {self.path}, row {number}")

    def _faulty_line(self, names: Sequence[str]) -> InvalidGraph:
        places = [self.columns.index(name) for name in names]
        for line, record in islice(self._lines(), 0 if self._bare else 1, None):
            where = f"in {self.path}, line {line}"
            if len(record) != len(self.columns):
                return self._other_length(record, where)
            for text in (record[place].strip() for place in places):
                if not (text.isascii() and text.isdigit() and len(text) < 20):
                    return InvalidGraph(f"{_RULE}, got {text or 'nothing'} {where}")
        return self._unreadable()

    def _faulty_text(self, names: Sequence[str]) -> InvalidGraph:
        """What is wrong with columns of names: a line of another length, or a name left out."""
        if self.separator is None:
            return InvalidGraph(f"nodes must have names, but some are missing in {self.path}")
        places = [self.columns.index(name) for name in names]
        for line, record in islice(self._lines(), 0 if self._bare else 1, None):
            where = f"in {self.path}, line {line}"
            if len(record) != len(self.columns):
                return self._other_length(record, where)
            if not all(record[place].strip() for place in places):
                return InvalidGraph(f"nodes must have names, got none {where}")
        return self._unreadable()

    def _other_length(self, record: Sequence[str], where: str) -> InvalidGraph:
        return InvalidGraph(
            f"a line must have {len(self.columns)} fields as the first one has, "
            f"got {len(record)} {where}"
        )

    def _unreadable(self) -> InvalidGraph:
        kind = "Parquet" if self.separator is None else "a table of text with one kind of line end"
        return InvalidGraph(
            f"cannot read the graph file {self.path} to its end: it is not {kind}; was it cut off?"
        )


def _column(name: str) -> str:
    return quoted(name, '"')


def _text(text: str) -> str:
    return quoted(text, "'")


def _is_length(said: str) -> bool:
    try:
        return 0 <= float(said) < float("inf")
    except ValueError:
        return False

"""Count in files: text files line by line, Parquet by DuckDB itself; out of core either way."""

from __future__ import annotations

import glob
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import BinaryIO, TypeAlias

from rainbowdp.errors import UnreadableTable
from rainbowdp.questions.base import Counted
from rainbowdp.storage.sql import quoted
from rainbowdp.tables.arrow_stream import TextStream
from rainbowdp.tables.asked import Several, wanted
from rainbowdp.tables.duck import Run, Spelling, check_names, in_duckdb, plainly, watched
from rainbowdp.tables.locked import locked_connection, private_folder
from rainbowdp.tables.paths import PARQUET, STANDARD_INPUT, named_files, one_format
from rainbowdp.tables.prepared import Found, Prepared, Work, counted
from rainbowdp.tables.text_files import TextFile
from rainbowdp.tables.text_reader import LINES, Sizes, TextReader
from rainbowdp.tables.values import counts_by_name

Progress: TypeAlias = Callable[[float], None]

_READ = "rainbowdp_read"  # the name of what was read for several questions


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file whose name does not tell that it is one; ``"-"`` is standard input."""

    path: str | Path


def must_exist(table: object) -> None:
    """Raise unless the files that a table is read from are there."""
    path = table.path if isinstance(table, TextFile | ParquetFile) else table
    if isinstance(path, str | Path) and (path is table or str(path) != STANDARD_INPUT):
        files = named_files(path)
        if path is table:
            one_format(files)


def in_files(
    source: str | Path | TextFile | ParquetFile,
    question: Counted,
    work: Work[Found],
    progress: Progress | None = None,
    sizes: Sizes = Sizes(),  # noqa: B008  frozen
) -> Found:
    """Do the work in one file, or in all files of a glob taken as one table."""
    with private_folder() as folder:
        given, files = _found(source, folder)
        if isinstance(given, ParquetFile):
            return _in_parquet(given, files, question, work, progress, folder)
        return _in_texts(given, files, question, work, progress, folder, sizes)


def _found(
    source: str | Path | TextFile | ParquetFile, folder: Path
) -> tuple[TextFile | ParquetFile, list[Path]]:
    """What the files are, and where; what can be read only once is kept in ``folder``."""
    path = source.path if isinstance(source, TextFile | ParquetFile) else source
    if path is not source and str(path) == STANDARD_INPUT:
        files = [_kept(sys.stdin.buffer, folder / "standard input")]
    else:
        files = named_files(path)
    if isinstance(source, str | Path):
        format_ = one_format(files)
        source = ParquetFile(path) if format_ == PARQUET else TextFile(path, format=format_)
    return source, [file if file.is_file() else _piped(file, folder) for file in files]


def count_files(
    source: str | Path | TextFile | ParquetFile,
    question: Counted,
    progress: Progress | None = None,
    sizes: Sizes = Sizes(),  # noqa: B008  frozen
    key: int | None = None,
) -> dict[str, int]:
    """Counts for one file, or all files of a glob taken as one table."""

    def work(prepared: Prepared) -> list[int]:
        return counted(prepared, key)

    return counts_by_name(question, in_files(source, question, work, progress, sizes))


def _kept(stream: BinaryIO, file: Path) -> Path:
    """What can be read only once, in a file of our own: a query may need it more often."""
    with file.open("wb") as kept:
        shutil.copyfileobj(stream, kept)
    return file


def _piped(pipe: Path, folder: Path) -> Path:
    """What comes through a named pipe."""
    with pipe.open("rb") as stream:
        return _kept(stream, folder / pipe.name)


# --- Parquet ------------------------------------------------------------------------------------


def _in_parquet(
    source: ParquetFile,
    files: Sequence[Path],
    question: Counted,
    work: Work[Found],
    progress: Progress | None,
    folder: Path,
) -> Found:
    import duckdb

    patterns, table = _parquet_table(files)
    with locked_connection(folder, [*files, *patterns]) as connection:
        try:
            look = plainly(connection)
            for pattern in patterns:
                check_names(question, _parquet_names(pattern, look))
            columns = {name: type_ for name, type_, *_ in look(f"DESCRIBE FROM {table}")}
            run = look if progress is None else watched(connection, progress)
            return in_duckdb(table, columns, question, run, work, look=look, ours=True)
        except duckdb.Error:  # its message may show rows, so it goes no further
            raise _no_parquet(source) from None


def _parquet_table(files: Sequence[Path]) -> tuple[list[str], str]:
    """The files as DuckDB names them, and the SQL of the table that they make."""
    patterns = [glob.escape(str(file)) for file in files]  # DuckDB takes every path for a glob
    listed = ", ".join(quoted(pattern, "'") for pattern in patterns)
    # A folder named like a column would overrule it, and columns of other names would be filled.
    # And one text that is no UTF-8 would refuse the whole table.
    options = "hive_partitioning = false, union_by_name = false, utf8_validation = 'replace'"
    return patterns, f"read_parquet([{listed}], {options})"


def _no_parquet(source: ParquetFile) -> UnreadableTable:
    return UnreadableTable(
        f"{source.path} cannot be read as Parquet: "
        "is it what its name says, with the same columns in every file?"
    )


def _parquet_names(pattern: str, look: Run) -> list[str]:
    """The names of a file's columns as they are in it, those of nested ones left out."""
    file = quoted(pattern, "'")
    nodes = iter(look(f"SELECT name, num_children FROM parquet_schema({file})"))  # noqa: S608
    _, columns = next(nodes)

    def skip(children: int | None) -> None:
        for _ in range(children or 0):
            skip(next(nodes)[1])

    names = []
    for _ in range(columns or 0):
        name, children = next(nodes)
        names.append(name)
        skip(children)
    return names


# --- Text files ---------------------------------------------------------------------------------


def _in_texts(
    source: TextFile,
    files: Sequence[Path],
    question: Counted,
    work: Work[Found],
    progress: Progress | None,
    folder: Path,
    sizes: Sizes,
) -> Found:
    import duckdb

    reader = TextReader(source, files, question, sizes)
    stream = TextStream(reader.columns, reader.batches)
    with closing(stream), locked_connection(folder) as connection:
        connection.register(LINES, stream)
        run: Run = plainly(connection)
        if progress is not None:
            run = watched(connection, progress, reader.share)
        types = dict.fromkeys(reader.wanted, "VARCHAR")
        try:
            return in_duckdb(
                reader.table, types, question, run, work, spelling=reader.spelling, ours=True
            )
        except duckdb.Error:  # its message may show rows, so it goes no further
            if stream.failure is not None:
                raise stream.failure from None
            raise _gave_up(source) from None
        finally:
            connection.unregister(LINES)


def _gave_up(source: TextFile) -> UnreadableTable:
    return UnreadableTable(
        f"{source.path} cannot be counted: DuckDB gave up, "
        "perhaps for lack of memory or of space for temporary files"
    )


# --- Several questions --------------------------------------------------------------------------


@dataclass(frozen=True)
class ReadTable:
    """The columns that several questions need, read from files into DuckDB."""

    run: Run
    types: Mapping[str, str]
    spelling: Spelling | None

    def done(self, question: Counted, work: Work[Found]) -> Found:
        """Do the work of one of the questions."""
        look = self.run if self.spelling is None else None
        return in_duckdb(
            _READ,
            self.types,
            question,
            self.run,
            work,
            look=look,
            spelling=self.spelling,
            ours=True,
        )


@contextmanager
def files_read_once(
    source: str | Path | TextFile | ParquetFile,
    questions: Sequence[Counted],
    progress: Progress | None = None,
    sizes: Sizes = Sizes(),  # noqa: B008  frozen
) -> Iterator[ReadTable]:
    """The columns that the questions need, read in one scan; what memory cannot hold is spilled."""
    with private_folder() as folder:
        given, files = _found(source, folder)
        asked = Several(tuple(questions))
        reading = (
            _read_parquet(given, files, asked, progress, folder)
            if isinstance(given, ParquetFile)
            else _read_texts(given, files, asked, progress, folder, sizes)
        )
        with reading as table:
            yield table


@contextmanager
def _read_parquet(
    source: ParquetFile,
    files: Sequence[Path],
    questions: Several,
    progress: Progress | None,
    folder: Path,
) -> Iterator[ReadTable]:
    import duckdb

    patterns, table = _parquet_table(files)
    with locked_connection(folder, [*files, *patterns]) as connection:
        try:
            look = plainly(connection)
            for pattern, question in product(patterns, questions.questions):
                check_names(question, _parquet_names(pattern, look))
            run = look if progress is None else watched(connection, progress)
            run(_copied(wanted(questions), table))
            types = {name: type_ for name, type_, *_ in look(f"DESCRIBE FROM {_READ}")}
        except duckdb.Error:  # its message may show rows, so it goes no further
            raise _no_parquet(source) from None
        yield ReadTable(look, types, None)


@contextmanager
def _read_texts(
    source: TextFile,
    files: Sequence[Path],
    questions: Several,
    progress: Progress | None,
    folder: Path,
    sizes: Sizes,
) -> Iterator[ReadTable]:
    import duckdb

    reader = TextReader(source, files, questions, sizes)
    stream = TextStream(reader.columns, reader.batches)
    with closing(stream), locked_connection(folder) as connection:
        connection.register(LINES, stream)
        run = plainly(connection)
        try:
            reading = run if progress is None else watched(connection, progress, reader.share)
            reading(_copied(reader.wanted, reader.table))
        except duckdb.Error:  # its message may show rows, so it goes no further
            if stream.failure is not None:
                raise stream.failure from None
            raise _gave_up(source) from None
        finally:
            connection.unregister(LINES)
        yield ReadTable(run, dict.fromkeys(reader.wanted, "VARCHAR"), reader.spelling)


def _copied(columns: Sequence[str], table: str) -> str:
    """SQL that reads columns of a table into one of our own."""
    named = ", ".join(quoted(name, '"') for name in columns)
    return f"CREATE TEMP TABLE {_READ} AS SELECT {named} FROM {table}"  # noqa: S608  quoted

"""Count in files: which files a path names, what they are, and how they are read.

DuckDB reads them, out of core.
"""

from __future__ import annotations

import csv
import glob
import gzip
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rainbowdp.errors import UnreadableTable
from rainbowdp.questions import Question
from rainbowdp.storage.sql import quoted
from rainbowdp.tables.duck import count_in, plainly, watched

if TYPE_CHECKING:
    import duckdb

_KINDS = {".csv": "CSV", ".csv.gz": "CSV", ".tsv": "TSV", ".tsv.gz": "TSV", ".parquet": "Parquet"}
_DELIMITERS = {"CSV": ",", "TSV": "\t"}
# Without those statistics no comparison is decided early, and NaN, larger than any number, is in
# no range by itself. Only for a connection of our own.
_NO_STATISTICS = "SET disabled_optimizers = 'statistics_propagation'"


def count_files(
    path: str | Path,
    question: Question,
    progress: Callable[[float], None] | None,
    key: int | None = None,
) -> dict[str, int]:
    """Counts for one file, or all files of a glob taken as one table."""
    import duckdb

    files = _files(str(path))
    kind = _kind(files)
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET parquet_metadata_cache = true")  # it is read three times
        connection.execute(_NO_STATISTICS)
        try:
            columns = _columns(connection, files, kind)
            look = plainly(connection)
            run = look if progress is None else watched(connection, progress)
            table, texts = _table(files, kind, columns), kind != "Parquet"
            return count_in(
                table, columns, question, run, look=look, texts=texts, ours=True, key=key
            )
        except duckdb.Error:  # its message may show rows, so it goes no further
            raise UnreadableTable(
                f"{path} cannot be read as {kind}: "
                "is it what its name says, with the same columns in every file?"
            ) from None


def _files(path: str) -> list[str]:
    """The files that a path or a glob stands for."""
    if Path(path).is_dir():
        raise UnreadableTable(f"{path} is a folder: name its files, such as {path}/*.parquet")
    files = [path] if Path(path).is_file() else sorted(glob.glob(path, recursive=True))  # noqa: PTH207
    if not files:
        raise UnreadableTable(f"there is no file {path}")
    return files


def _kind(files: Sequence[str]) -> str:
    """What the files are by their names."""
    kinds = {_suffix(file): file for file in files}
    if len(kinds) > 1:
        one, other, *_ = kinds.values()
        raise UnreadableTable(f"the files of a table must be of one kind, got {one} and {other}")
    return next(iter(kinds))


def _suffix(file: str) -> str:
    for suffix, kind in _KINDS.items():
        if file.lower().endswith(suffix):
            return kind
    raise UnreadableTable(f"the name of a file must end in {', '.join(_KINDS)}, got {file}")


def _table(files: Sequence[str], kind: str, columns: Mapping[str, str]) -> str:
    """The files as one table; every column of a text file is text.

    Nothing about a text file is guessed from its rows: a guess that one record can change would
    change the counts of all others. Quotes are double, a row that is too long or too short is
    read as far as it goes. One thread, since several have to guess where a record begins.
    """
    listed = ", ".join(quoted(glob.escape(file), "'") for file in files)
    if kind == "Parquet":
        return f"read_parquet([{listed}])"
    names = ", ".join(f"{quoted(name, chr(39))}: 'VARCHAR'" for name in columns)
    return (
        f"read_csv([{listed}], auto_detect = false, header = true, skip = 0, comment = '', "
        f"delim = {quoted(_DELIMITERS[kind], chr(39))}, quote = '\"', escape = '\"', "
        f"columns = {{{names}}}, null_padding = true, strict_mode = false, ignore_errors = true, "
        "parallel = false)"
    )


def _columns(
    connection: duckdb.DuckDBPyConnection, files: Sequence[str], kind: str
) -> dict[str, str]:
    """The names of the columns and their types."""
    if kind == "Parquet":
        described = connection.execute(f"DESCRIBE FROM {_table(files, kind, {})}").fetchall()
        return {name: type_ for name, type_, *_ in described}
    headers = {tuple(_header(file, kind)) for file in files}
    if len(headers) > 1:
        raise UnreadableTable("the files of a table must have one header, got different ones")
    (names,) = headers
    if len(set(names)) != len(names):
        raise UnreadableTable(
            "the columns of a table must have different names, got one twice in its first line"
        )
    return dict.fromkeys(names, "VARCHAR")


def _header(file: str, kind: str) -> list[str]:
    """The first line of a text file: the names of its columns."""
    opener = gzip.open if file.lower().endswith(".gz") else open
    try:
        with opener(file, "rt", encoding="utf-8-sig", newline="") as lines:
            names = next(csv.reader(lines, delimiter=_DELIMITERS[kind]), [])
    except (OSError, EOFError, ValueError, csv.Error):
        names = []
    if not names:
        raise UnreadableTable(
            f"a {kind} file must begin with a line of column names in UTF-8, got none in {file}"
        )
    return names

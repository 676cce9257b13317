"""The TABLE of a command, and the options that say how to read it."""

from __future__ import annotations

import csv
from typing import Annotated, Any, TypeAlias

import typer

from rainbowdp.cli.project import FILE, Project
from rainbowdp.errors import RainbowError, UnreadableTable
from rainbowdp.tables import ParquetFile, SQLTable, TextFile, must_exist
from rainbowdp.tables.paths import FORMATS, PARQUET, STANDARD_INPUT

Table: TypeAlias = str | SQLTable | TextFile | ParquetFile

READING = "How a text file is read"
_TAB = ("\\t", "tab")  # as people write it in a shell

Delimiter = Annotated[
    str | None,
    typer.Option(
        help="What is between fields: ';' or tab. Detected from the header line if not given.",
        rich_help_panel=READING,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="utf-8, latin-1, cp1252 or another. Detected from the header line if not given.",
        rich_help_panel=READING,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        help="The decimal sign, '.' or ','. Either of them in a file with semicolons.",
        rich_help_panel=READING,
    ),
]
Header = Annotated[
    str | None,
    typer.Option(
        help="The names of all columns, id,vote,age, if the file does not begin with them.",
        rich_help_panel=READING,
    ),
]
Trusted = Annotated[
    bool,
    typer.Option(
        "--trusted",
        help="You promise that the file is well formed; then fields in quotes may span lines.",
        rich_help_panel=READING,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help=f"What the file is, if its name does not tell: {', '.join(FORMATS)}.",
        metavar="|".join(FORMATS),
        rich_help_panel=READING,
    ),
]
Where = Annotated[
    str | None,
    typer.Option(
        help="Count only rows for which this holds: age > 65 and ward = 'X'.",
        metavar="CONDITION",
    ),
]
SqlTable = Annotated[str | None, typer.Option("--table", help="The table in the database.")]

TABLE_HELP = (
    "A CSV, TSV, JSON lines or Parquet file or glob, - for standard input, "
    "or a database: postgresql://user@host/database."
)


def table_from(
    table: str,
    sql_table: str | None,
    *,
    delimiter: str | None,
    encoding: str | None,
    decimal: str | None,
    header: str | None,
    trusted: bool,
    format_: str | None,
) -> Table:
    """The table that the options describe; files must be there."""
    names = None if header is None else [name.strip() for name in next(csv.reader([header]), [])]
    options = {
        "delimiter": "\t" if delimiter in _TAB else delimiter,
        "encoding": encoding,
        "decimal": decimal,
        "header": names,
        "trusted": trusted or None,
        "format": format_,
    }
    given = {name: value for name, value in options.items() if value is not None}
    if sql_table is not None or "://" in table:
        if sql_table is None:
            raise RainbowError("A database needs --table, the name of the table in it.")
        if given:
            raise RainbowError(f"--{next(iter(given))} is for text files, got a database.")
        return SQLTable(table, sql_table)
    source: Table = table
    if format_ == PARQUET:
        if len(given) > 1:
            option = next(name for name in given if name != "format")
            raise RainbowError(f"--{option} is for text files, got --format {PARQUET}.")
        source = ParquetFile(table)
    elif format_ is not None and format_ not in FORMATS:
        raise RainbowError(f"--format must be one of {', '.join(FORMATS)}, got {format_!r}.")
    elif given or table == STANDARD_INPUT:
        source = _text_file(table, given)
    must_exist(source)
    return source


def data_of(settings: Project, table: str | None, sql_table: str | None, **reading: Any) -> Table:
    """The table that was given, or that of the project, read as the project says."""
    if table is not None:
        return table_from(table, sql_table, **reading)
    found = settings.get("data")
    if found is None:
        raise RainbowError(
            f"Which table? Give it after the question, or name it in {FILE}: data = 'votes.csv'."
        )
    for name in ("delimiter", "encoding", "decimal"):
        reading[name] = settings.get(name, reading[name])
    reading["format_"] = settings.get("format", reading["format_"])
    return table_from(found, settings.get("table", sql_table), **reading)


def _text_file(path: str, options: dict[str, Any]) -> TextFile:
    """The file with these options; options that clash are a matter of the command, not the file."""
    try:
        return TextFile(path, **options)
    except UnreadableTable as error:
        wrong = str(error)
    raise RainbowError(wrong)

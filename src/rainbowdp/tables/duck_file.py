"""Work in a table of a DuckDB database file, opened for reading by DuckDB itself."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from rainbowdp.errors import UnreadableTable
from rainbowdp.questions.base import Counted
from rainbowdp.tables.duck import check_names, in_duckdb, plainly
from rainbowdp.tables.locked import locked_connection, private_folder
from rainbowdp.tables.named import NamedTable, shielded
from rainbowdp.tables.prepared import Found, Work

if TYPE_CHECKING:
    import duckdb
    import sqlalchemy as sa


def work_there(url: sa.URL, table: NamedTable, question: Counted, work: Work[Found]) -> Found:
    """Do the work in a table or view of the file."""
    import duckdb

    file = url.database or ""
    if not Path(file).is_file():
        raise UnreadableTable(f"there is no file {file}")
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder())
        connection = shielded(
            lambda: stack.enter_context(locked_connection(folder, database=file)),
            duckdb.Error,
            lambda _: UnreadableTable(
                f"{file} cannot be opened as a DuckDB database: "
                "is it one, and is no other program writing to it?"
            ),
        )
        return shielded(
            lambda: _work(connection, table, question, file, work),
            duckdb.Error,
            lambda _: UnreadableTable(
                f"the table {table!r} in {file} cannot be read: is it a view of other files?"
            ),
        )


def _work(
    connection: duckdb.DuckDBPyConnection,
    table: NamedTable,
    question: Counted,
    file: str,
    work: Work[Found],
) -> Found:
    import duckdb

    described = shielded(
        lambda: connection.execute(f"DESCRIBE FROM {table.quoted()}").fetchall(),
        duckdb.CatalogException,
        lambda _: UnreadableTable(f"there is no table {table!r} in {file}"),
    )
    types = {name: type_ for name, type_, *_ in described}
    check_names(question, list(types))
    run = plainly(connection)
    return in_duckdb(table.quoted(), types, question, run, work, ours=True, collated=True)

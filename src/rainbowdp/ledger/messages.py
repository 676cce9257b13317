"""Several statements to PostgreSQL in one message, answered by one.

While a payment holds the ledger's lock, everybody else who pays waits, and most of that time is not
work but messages: each way there and back, a processor has to come round to the server and then to
this process. So what is sent under the lock is sent at once.

One message runs its statements in their order, each on what was committed before it began, and
stops at the first that fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

Rows = list[dict[str, Any]]


def sent(connection: Connection, statements: Sequence[str]) -> list[Rows]:
    """The rows of each statement; if the first one has none, those of the others are not kept."""
    driver = driver_of(connection)
    before, driver.prepare_threshold = driver.prepare_threshold, None  # no text comes twice
    try:
        result = connection.exec_driver_sql(
            "; ".join(statements), execution_options={"no_parameters": True}
        )
        cursor, found = result.cursor, []
        while cursor is not None:
            found.append(_rows(cursor))
            if not cursor.nextset():
                break
        result.close()
    finally:
        driver.prepare_threshold = before
    return found


def with_values(connection: Connection, statement: str, values: Mapping[str, Any]) -> str:
    """A statement with its values written into it, quoted by the driver for this connection."""
    from psycopg import ClientCursor

    return ClientCursor(driver_of(connection)).mogrify(statement, values)


def driver_of(connection: Connection) -> Any:
    """The driver's own connection."""
    return connection.connection.driver_connection


def _rows(cursor: Any) -> Rows:
    if cursor.description is None:
        return []
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

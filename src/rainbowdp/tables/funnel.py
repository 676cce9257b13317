"""The one way out of a table for errors: nothing that a table holds goes with them.

Engines put the values they stumble over into their messages, and Python keeps the first error with
the one that is raised in its place. So an engine's error is replaced by a sentence of ours, raised
when the first one is forgotten, and our own errors leave without what they were raised for.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, TypeVar

from rainbowdp.errors import RainbowError, UnreadableTable
from rainbowdp.tables.quiet import quiet

Found = TypeVar("Found")

_LIBRARIES = {"pandas": "pandas", "polars": "Polars", "pyspark": "Spark", "duckdb": "DuckDB"}


def shielded(work: Callable[[], Found], table: Any, column: str | None) -> Found:
    """What ``work`` makes of ``table``, and no word of what the table holds if it fails.

    >>> def work():
    ...     raise KeyError("Ann, 12 Mill Lane")
    >>> shielded(work, {"red": 1}, "choice")
    Traceback (most recent call last):
        ...
    rainbowdp.errors.UnreadableTable: The table cannot be read: column 'choice' raised KeyError. ...
    """
    trouble: BaseException
    try:
        with quiet(table):
            return work()
    except (RainbowError, KeyboardInterrupt, SystemExit) as error:
        trouble = error
    except BaseException as error:  # a panic in Polars is not an Exception
        trouble = KeyboardInterrupt() if _is_interrupt(error) else _unreadable(error, table, column)
    _forget(trouble)
    raise trouble


def _forget(error: BaseException) -> None:
    """Cut an error off from what came before it, and from the frames that hold the data."""
    error.__cause__ = error.__context__ = error.__traceback__ = None
    if hasattr(error, "__notes__"):
        del error.__notes__


def _is_interrupt(error: BaseException) -> bool:
    """DuckDB raises errors of its own for Ctrl-C."""
    name, text = type(error).__name__, str(error) if type(error) is RuntimeError else ""
    return name == "InterruptException" or text == "Query interrupted"


def _unreadable(error: BaseException, table: Any, column: str | None) -> UnreadableTable:
    what = "reading it" if column is None else f"column {column!r}"
    engine = _LIBRARIES.get(_library(table), "its own program")
    return UnreadableTable(
        f"{_named(table)} cannot be read: {what} raised {type(error).__name__}. The rest of "
        "that message is left out, because it may show private values. To see it, compute the "
        f"column in {engine}."
    )


def _named(table: Any) -> str:
    """What a table is called in a message."""
    if isinstance(table, str | PathLike) and "://" not in str(table):  # which may hold a password
        return f"The table {table}"
    name = _LIBRARIES.get(_library(table))
    return "The table" if name is None else f"The {name} table"


def _library(table: Any) -> str:
    return type(table).__module__.partition(".")[0].lstrip("_")

"""Where data is, as text for the ledger: a recalled answer must be of the same source.

A source names a place, not a content. Two files of one name in two folders are two sources; a file
that was written anew is the same one, and a recalled answer says when it was drawn. Options that
say how to read a text file are part of its source: with other column names it is other data.

=====================  ========================================================================
a file or a glob       its absolute path, symbolic links resolved
a table in a database  host, port, database, schema and table; never a user or a password
anything else          none, unless the caller declares one: a frame, counts, standard input
=====================  ========================================================================
"""

from __future__ import annotations

import os
from dataclasses import fields
from os import PathLike
from pathlib import Path

from rainbowdp.aliases import Dataset
from rainbowdp.tables import ParquetFile, SQLTable, TextFile

_FILES = ("sqlite", "duckdb")  # databases that are a file
_SAME = {"postgres": "postgresql", "mariadb": "mysql"}  # two names of one server
_PORTS = {"postgresql": "5432", "mysql": "3306", "mssql": "1433", "oracle": "1521"}


def source_of(table: Dataset, declared: str | None = None) -> str | None:
    """The source of a table, or what the caller ``declared`` it to be.

    >>> source_of(SQLTable("postgresql://ann:secret@db.example/town", "votes", "public"))
    'postgresql://db.example:5432/town/public.votes'
    >>> source_of({"red": 3}), source_of({"red": 3}, "votes, final count")
    (None, 'votes, final count')
    """
    if declared is not None:
        return declared
    if isinstance(table, SQLTable):
        return _database(table.url, table.schema, table.table)
    if isinstance(table, TextFile):
        path = _file(os.fspath(table.path))
        return None if path is None else path + _printable(_reading(table))
    if isinstance(table, ParquetFile):
        return _file(os.fspath(table.path))
    if isinstance(table, str) and "://" in table:
        return _database(table, None, None)
    return _file(os.fspath(table)) if isinstance(table, str | PathLike) else None


def _file(path: str) -> str | None:
    """The resolved path of a file or a glob; a stream, such as a pipe, is never the same again."""
    given = Path(path)
    try:
        stream = path == "-" or (given.exists() and not given.is_file() and not given.is_dir())
        return None if stream else _printable(os.path.realpath(path))
    except (OSError, ValueError):  # a path that no file can have: reading it will say so
        return _printable(path)


def _reading(file: TextFile) -> str:
    """How a file is to be read, where the caller says so: other column names are other data."""
    given = {
        option.name: getattr(file, option.name)
        for option in fields(file)
        if option.name != "path" and getattr(file, option.name) != option.default
    }
    said = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return f" ({said})" if said else ""


def _database(address: str, schema: str | None, table: str | None) -> str | None:
    """A database without its user and password, and the table in it."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    name = ".".join(part for part in (schema, table) if part is not None)
    if "://" not in address:  # the path of a database file
        return _in_file(address, name)
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):  # reading it will say so
        return None
    backend = url.get_backend_name()
    kind = _SAME.get(backend, backend)
    if kind in _FILES:
        in_memory = url.database in (None, "", ":memory:")
        return None if in_memory else _in_file(str(url.database), name)
    postgres = kind == "postgresql"
    host = url.host or (_text(url.query.get("host")) or "localhost" if postgres else "")
    database = url.database or (url.username if postgres else "") or ""
    named = database or (schema if kind == "mysql" else None)
    if "@" in host or not (postgres or (host and named)):
        return None  # part of a password, or what the driver alone understands
    port = url.port or _text(url.query.get("port")) or _PORTS.get(kind, "")
    place = f"{kind}://{host.lower()}:{port}/{database}/{name}"
    if not postgres:
        return _printable(place)
    options = _text(url.query.get("options"))
    chosen = schema is None and options is not None  # a search path in them chooses the schema
    return _printable(f"{place}?{options}" if chosen else place)


def _in_file(path: str, name: str) -> str | None:
    """A table in a database that is a file."""
    file = _file(path)
    return None if file is None else _printable(f"{file}/{name}")


def _text(value: str | tuple[str, ...] | None) -> str | None:
    return ",".join(value) if isinstance(value, tuple) else value


def _printable(text: str) -> str:
    """Text that every database and terminal takes: other characters are written as escapes."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)

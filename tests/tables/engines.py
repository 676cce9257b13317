"""The same few columns as a table of every engine: who (whole numbers), name, x (texts), n."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet

from postgres import connect, fresh_schema
from rainbowdp.tables import SQLTable

Row: TypeAlias = tuple[int | None, str | None, str | None, int | None]
Make: TypeAlias = Callable[[list[Row]], Any]

SCHEMA = pa.schema({"who": pa.int64(), "name": pa.string(), "x": pa.string(), "n": pa.int64()})
_NUMBERS = itertools.count()


def arrow(rows: list[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], SCHEMA)


def relation(rows: list[Row]) -> Any:
    connection = duckdb.connect()
    connection.register("rows", arrow(rows))
    connection.execute("CREATE TABLE kept AS FROM rows")
    return connection.sql("FROM kept")


def pandas(rows: list[Row]) -> Any:
    types = dict.fromkeys(SCHEMA.names, "str") | {"who": "Int64", "n": "Int64"}
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    return pd.DataFrame(
        {name: pd.array(list(c), t) for (name, t), c in zip(types.items(), columns, strict=True)}
    )


def pandas_objects(rows: list[Row]) -> Any:
    columns = dict(zip(SCHEMA.names, zip(*rows, strict=True), strict=True)) if rows else {}
    frame = {
        name: pd.Series(list(columns.get(name, ())), dtype=object) for name in ("who", "name", "x")
    }
    return pd.DataFrame(frame | {"n": pd.Series(list(columns.get("n", ())), dtype="Int64")})


def polars(rows: list[Row]) -> Any:
    return pl.from_arrow(arrow(rows))


def polars_lazy(rows: list[Row]) -> Any:
    return polars(rows).lazy().with_columns(pl.col("name").cast(pl.Categorical))


class Files:
    """Makers of files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, suffix: str) -> Path:
        return self.folder / f"{next(_NUMBERS)}.{suffix}"

    def csv(self, rows: list[Row]) -> Any:
        path = self._path("csv")
        pyarrow.csv.write_csv(arrow(rows), path)
        return path

    def parquet(self, rows: list[Row]) -> Any:
        path = self._path("parquet")
        pyarrow.parquet.write_table(arrow(rows), path)
        return path

    def dataset(self, rows: list[Row]) -> Any:
        return pyarrow.dataset.dataset(self.parquet(rows))

    def sqlite(self, rows: list[Row]) -> Any:
        path = self._path("db")
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE t (who INTEGER, name TEXT, x VARCHAR(9), n INTEGER)")
            connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
        connection.close()
        return SQLTable(f"sqlite:///{path}", "t")

    def duckdb(self, rows: list[Row]) -> Any:
        path = self._path("duckdb")
        with duckdb.connect(path) as connection:
            connection.register("rows", arrow(rows))
            connection.execute("CREATE SCHEMA town")
            connection.execute("CREATE TABLE town.t AS FROM rows")
        return SQLTable(f"duckdb:///{path}", "t", "town")


class Postgres:
    """A maker of tables in a schema of a server."""

    def __init__(self, url: str) -> None:
        self.url = fresh_schema(url)

    def __call__(self, rows: list[Row]) -> Any:
        name = f"t{next(_NUMBERS)}"
        with connect(self.url) as connection:
            connection.execute(
                f"CREATE TABLE {name} (who int8, name text, x text, n int4)".encode()
            )
            with connection.cursor().copy(f"COPY {name} FROM STDIN".encode()) as copy:
                for row in rows:
                    copy.write_row(row)
        return SQLTable(self.url, name)

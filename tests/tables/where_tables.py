"""Tables of odd values in every engine, and conditions on them."""

from __future__ import annotations

import csv
import gzip
import json
import math
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
from hypothesis import strategies as st

from rainbowdp.questions import Winner
from rainbowdp.tables import SQLTable, count

from .where_oracle import Record, Tree, holds

NAN, INF = math.nan, math.inf
BIG = 2**53 + 1
SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "choice": pa.string(),
        "whole": pa.int64(),
        "real": pa.float64(),
        "price": pa.decimal128(10, 2),
        "flag": pa.bool_(),
        "day": pa.date32(),
        "time": pa.timestamp("us"),
        "instant": pa.timestamp("us", "UTC"),
    }
)
VALUES: dict[str, list[Any]] = {
    "choice": [
        "red",
        "Red",
        "RED",
        "it's",
        "ÄRA",
        "ära",
        "Ära",
        " red",
        "3",
        "İ",
        "ß",
        'a "b"',
        None,
    ],
    "whole": [-3, 0, 1, 2, 3, 10, BIG, BIG - 1, 2**63 - 1, -(2**63), None],
    "real": [-0.0, 0.1, 2.5, -2.5, 3.0, 2.4999999999999996, 1e300, -1e300, NAN, INF, -INF, None],
    "price": [Decimal(x) for x in ("0.10", "2.50", "-2.50", "3.00", "99999999.99")] + [None],
    "flag": [True, False, None],
    "day": [date(1, 1, 1), date(2024, 2, 29), date(2024, 12, 31), date(9999, 12, 31), None],
    "time": [
        datetime(1, 1, 1),
        datetime(1969, 12, 31, 23, 59, 59, 999999),
        datetime(2024, 2, 29, 12, 30),
        datetime(2024, 12, 31, 23, 59, 59),
        datetime(9999, 12, 31, 23, 59, 59, 999999),
        None,
    ],
    "instant": [
        datetime(1969, 12, 31, 23, tzinfo=UTC),
        datetime(2024, 2, 29, 0, 30, tzinfo=UTC),
        datetime(2024, 12, 31, 23, 59, 59, tzinfo=UTC),
        None,
    ],
}
LITERALS: dict[str, list[Any]] = {
    "choice": ["red", "RED", "it's", "3", "ära", "--", "Nobody"],
    "whole": [-3, 0, 2, 2.5, 3, BIG, BIG - 1, 2**63, 1e300],
    "real": [-2.5, 0, 0.1, 2.5, 3, BIG, "1e300"],
    "price": [-2.5, "0.10", 2.5, 3, 0.125, BIG],
    "flag": [True, False],
    "day": ["0001-01-01", "2024-02-29", "2024-12-31", "9999-12-31"],
    "time": ["2024-02-29T12:30", "2024-12-31", "1969-12-31 23:59:59.999999"],
    "instant": ["2024-02-29T00:30+00:00", "2024-12-31 23:59:59+00:00"],
}
LITERALS = {
    name: [float(v) if isinstance(v, str) and name in ("real", "price") else v for v in values]
    for name, values in LITERALS.items()
}
FUNCTIONS = {
    "choice": ["lower"],
    "whole": ["floor", "round"],
    "real": ["floor", "round"],
    "price": ["floor", "round"],
    "day": ["year", "month", "day", "hour"],
    "time": ["year", "month", "day", "hour"],
    "instant": ["year", "month", "day", "hour"],
}
FIELD_VALUES: dict[str, list[Any]] = {
    "year": [1, 1969, 2024, 9999],
    "month": [1, 2, 12],
    "day": [1, 29, 31],
    "hour": [0, 12, 23],
    "floor": [-3, -2.5, 0, 2, 3],
    "round": [-3, -2, 0, 2.5, 3],
}


def records(size: int) -> list[Record]:
    """Every value of a column meets many of each other."""
    return [
        {"id": f"r{i}", **{n: v[(i * step + i // 13) % len(v)] for n, v, step in STEPS}}
        for i in range(size)
    ]


STEPS = [(name, values, 2 * place + 1) for place, (name, values) in enumerate(VALUES.items())]
ROWS = records(40)
IDS = [row["id"] for row in ROWS]


@st.composite
def leaves(draw: st.DrawFn, columns: list[str]) -> Tree:
    column = draw(st.sampled_from(columns))
    function = draw(st.sampled_from([None, None, *FUNCTIONS.get(column, [])]))
    literals = st.sampled_from(FIELD_VALUES.get(str(function), LITERALS[column]))
    words = ["=", "<>", "in", "not in", "is null", "is not null"]
    if column not in ("choice", "flag"):
        words += ["<", "<=", ">", ">=", "between"]
    word = draw(st.sampled_from(words))
    if "null" in word:
        return word, column, function, []
    many = {"in": 3, "not in": 3, "between": 2}.get(word, 1)
    return word, column, function, draw(st.lists(literals, min_size=many, max_size=many))


def trees(columns: list[str]) -> st.SearchStrategy[Tree]:
    return st.recursive(
        leaves(columns),
        lambda parts: st.one_of(
            parts.map(lambda part: ("not", part)),
            st.tuples(st.sampled_from(["and", "or"]), st.lists(parts, min_size=2, max_size=3)),
        ),
        max_leaves=5,
    )


# --- Engines ------------------------------------------------------------------------------------


def arrow(rows: list[Record]) -> pa.Table:
    return pa.Table.from_pylist(rows, SCHEMA)


def relation(rows: list[Record]) -> Any:
    connection = duckdb.connect()
    connection.register("rows", arrow(rows))
    connection.execute("CREATE TABLE kept AS FROM rows")
    return connection.sql("FROM kept")


def pandas_objects(rows: list[Record]) -> Any:
    return pd.DataFrame({n: pd.Series([r[n] for r in rows], dtype=object) for n in SCHEMA.names})


def pandas_plain(rows: list[Record]) -> Any:
    types = {"whole": "Int64", "real": "float64", "flag": "boolean", "choice": "str", "id": "str"}
    frame = pandas_objects(rows).astype(types)
    for name, zone in (("time", None), ("instant", "UTC")):
        values = pa.array([r[name] for r in rows], pa.timestamp("us", zone))
        frame[name] = values.to_pandas()
    return frame


class Files:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made = 0

    def path(self, suffix: str) -> Path:
        self.made += 1
        return self.folder / f"{self.made}.{suffix}"

    def parquet(self, rows: list[Record]) -> Any:
        path = self.path("parquet")
        pyarrow.parquet.write_table(arrow(rows), path)
        return path

    def duckdb(self, rows: list[Record]) -> Any:
        path = self.path("duckdb")
        with duckdb.connect(path) as connection:
            connection.register("rows", arrow(rows))
            connection.execute("CREATE TABLE t AS FROM rows")
        return SQLTable(f"duckdb:///{path}", "t")

    def sqlite(self, rows: list[Record]) -> Any:
        path = self.path("db")
        with sqlite3.connect(path) as connection:
            connection.execute(
                "CREATE TABLE t (id TEXT, choice VARCHAR(9), whole INTEGER, real REAL, "
                "flag BOOLEAN, day DATE)"
            )
            names = ("id", "choice", "whole", "real", "flag", "day")
            for row in rows:
                values = [row[name] for name in names]
                values[-1] = None if values[-1] is None else values[-1].isoformat()
                connection.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", values)
        connection.close()
        return SQLTable(f"sqlite:///{path}", "t")

    def csv(self, rows: list[Record]) -> Any:
        path = self.path("csv.gz")
        with gzip.open(path, "wt", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(SCHEMA.names)
            writer.writerows([_spelled(row[name]) for name in SCHEMA.names] for row in rows)
        return path

    def json_lines(self, rows: list[Record]) -> Any:
        path = self.path("jsonl")
        lines = [json.dumps({n: _spelled(row[n]) for n in SCHEMA.names}) for row in rows]
        path.write_text("\n".join(lines) + "\n")
        return path


def _spelled(value: Any) -> str:
    return "" if value is None else str(value)


TYPED = list(VALUES)
IN_SQLITE = ["choice", "whole", "real", "flag", "day"]
MAKERS: dict[str, Callable[[list[Record]], Any]] = {
    "arrow": arrow,
    "relation": relation,
    "pandas": pandas_plain,
    "pandas of arrow": lambda rows: arrow(rows).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas objects": pandas_objects,
    "polars": lambda rows: pl.DataFrame(arrow(rows)),
    "polars lazy": lambda rows: pl.DataFrame(arrow(rows)).lazy(),
}
OF_FILES = ["parquet", "duckdb", "sqlite", "csv", "json_lines"]


IN_PROCESS = [*MAKERS, "parquet", "duckdb"]


@contextmanager
def made_files() -> Iterator[Files]:
    with tempfile.TemporaryDirectory() as folder:
        yield Files(Path(folder))


def made_engines(files: Files) -> dict[str, Any]:
    made = {name: make(ROWS) for name, make in MAKERS.items()}
    return made | {name: getattr(files, name)(ROWS) for name in OF_FILES}


def counted(table: Any, where: str, ids: Sequence[str] = IDS) -> set[str]:
    """The records that are counted."""
    found = count(table, Winner(ids, "id", where=where))
    return {name for name, records in found.items() if records}


def expected(tree: Tree, rows: list[Record] = ROWS) -> set[str]:
    return {row["id"] for row in rows if holds(tree, row) is True}

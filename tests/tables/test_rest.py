"""Other values and missing ones as groups of their own, where a column declares little."""

from __future__ import annotations

import math
import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

import rainbowdp as rb
from postgres import connect, fresh_schema
from rainbowdp.tables import count
from rainbowdp.tables.any_database import work_there
from rainbowdp.tables.named import NamedTable
from rainbowdp.tables.prepared import counted
from rainbowdp.tables.values import counts_by_name


class Odd:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]  # no set of values may hold it


def frame(values: list[Any], dtype: Any = object) -> Any:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return pd.DataFrame({"x": pd.Series(column, dtype=object).astype(dtype)})


REST: dict[str, Any] = {"other": "else", "missing": "none"}
NOON = datetime(2024, 2, 29, 12)
COLUMNS: list[tuple[Any, Any, dict[str, int]]] = [
    (
        frame(["red", "Red", "", None, math.nan, Odd(), 7, pd.NaT, pd.NA]),
        rb.Winner(["red"], "x", **REST),
        {"red": 1, "else": 3, "none": 5},
    ),
    (
        frame([1, 2.5, -1, True, "1", None, math.inf, Odd()]),
        rb.Share("1/2", "x", minimum=1),
        {"matching": 3, "others": 3},
    ),
    (
        frame(["red", "blue", None, "red"], "category"),
        rb.Winner(["red"], "x", **REST),
        {"red": 2, "else": 1, "none": 1},
    ),
    (
        frame([NOON, None, datetime(1970, 1, 1)], "datetime64[ns]"),
        rb.Winner(["2024-02-29T12:00"], "x", **REST),
        {"2024-02-29T12:00": 1, "else": 1, "none": 1},
    ),
    (
        frame([NOON, None, datetime(1970, 1, 1)], "datetime64[us]"),
        rb.Winner(["2"], "x", apply="month", **REST),
        {"2": 1, "else": 1, "none": 1},
    ),
]


@pytest.mark.parametrize(("table", "question", "found"), COLUMNS, ids=range(len(COLUMNS)))
def test_pandas_tells_other_values_from_none(
    table: Any, question: Any, found: dict[str, int]
) -> None:
    assert count(table, question) == found


def generally(url: str, question: Any) -> dict[str, int]:
    address = sa.make_url(url)
    found = work_there(address, NamedTable("t"), question, lambda made: counted(made, None))
    return counts_by_name(question, found)


def test_any_database_tells_other_values_from_none(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE t (x TEXT, who TEXT)")
        rows = [("red", "a"), ("Red", "a"), ("", "b"), (None, "b"), (None, None), (b"\xff", "c")]
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    connection.close()
    url = f"sqlite:///{tmp_path / 't.db'}"
    vote = rb.Winner(["red"], "x", **REST)
    assert generally(url, vote) == {"red": 1, "else": 2, "none": 3}
    assert generally(url, vote) == count(rb.SQLTable(url, "t"), vote)
    assert generally(url, rb.Share("1/2", "x", equals="red")) == {"matching": 1, "others": 2}
    people = rb.Winner(["red"], "x", person="who", rows_per_person=9, **REST)
    assert generally(url, people) == {"red": 1, "else": 2, "none": 2}
    some = rb.Winner(["red"], "x", where="x <> 'Red' or x is null", **REST)
    assert generally(url, some) == {"red": 1, "else": 1, "none": 3}


def test_a_row_that_the_driver_cannot_read_is_missing(postgres_url: str) -> None:
    url = fresh_schema(postgres_url)
    with connect(url) as connection:
        connection.execute("CREATE TABLE t (x date)")
        for value in ("infinity", "2024-02-29", None, "2020-01-01"):
            connection.execute("INSERT INTO t VALUES (%s)", (value,))
    vote = rb.Winner(["2024-02-29"], "x", **REST)
    assert generally(url, vote) == {"2024-02-29": 1, "else": 1, "none": 2}

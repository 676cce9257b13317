"""One text that is no UTF-8 is one record like any other, and refuses no table."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import rainbowdp as rb
from rainbowdp.tables import count, count_names

RECORDS = [(b"red", b"ann"), (b"red", b"bob"), (b"blue", b"b\xee"), (b"r\xee\x64", b"cy")]
ODD = (b"\xee\x80" * 9, b"\xff\xfe")


def texts(values: list[bytes], kind: pa.DataType) -> pa.Array:
    """Texts as they are, which nobody looks at."""
    ends = np.cumsum([0, *map(len, values)])
    whole = pa.py_buffer(ends.astype(np.int64 if kind == pa.large_string() else np.int32))
    return pa.Array.from_buffers(kind, len(values), [None, whole, pa.py_buffer(b"".join(values))])


def arrow(records: list[tuple[bytes, bytes]], folder: Path) -> pa.Table:
    dishes, people = (list(column) for column in zip(*records, strict=True))
    return pa.table({"dish": texts(dishes, pa.string()), "who": texts(people, pa.large_string())})


def parquet(records: list[tuple[bytes, bytes]], folder: Path) -> Path:
    pq.write_table(arrow(records, folder), folder / f"{len(records)}.parquet")
    return folder / f"{len(records)}.parquet"


def dataset(records: list[tuple[bytes, bytes]], folder: Path) -> Any:
    return ds.dataset(parquet(records, folder))


def sqlite(records: list[tuple[bytes, bytes]], folder: Path) -> rb.SQLTable:
    file = folder / f"{len(records)}.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE dinner (dish TEXT, who TEXT)")
        given = "INSERT INTO dinner VALUES (CAST(? AS TEXT), CAST(? AS TEXT))"
        connection.executemany(given, records)
        connection.commit()
    return rb.SQLTable(f"sqlite:///{file}", "dinner")


QUESTIONS = [
    rb.Winner(["red", "blue"], "dish"),
    rb.Winner(["red", "blue"], "dish", apply="lower"),
    rb.Winner(["red", "blue"], "dish", where="lower(who) <> 'bob'"),
    rb.Winner(["red", "blue"], "dish", person="who"),
    rb.Winner(["red", "blue"], "dish", person="who", person_rule="one vote"),
]


@pytest.mark.parametrize("kept", [arrow, parquet, dataset, sqlite])
def test_it_changes_no_other(kept: Callable[..., Any], tmp_path: Path) -> None:
    before, after = kept(RECORDS, tmp_path), kept([*RECORDS, ODD], tmp_path)
    for question in QUESTIONS:
        counts = count(before, question)
        assert counts == {"red": 2 - (question.where is not None), "blue": 1}
        assert count(after, question) == counts
    for person in (None, "who"):
        keys = rb.Keys("dish", person=person)
        named, more = count_names(before, keys), count_names(after, keys)
        assert named["red"] == 2
        assert named["blue"] == 1
        assert {name: more[name] for name in named} == named
        assert sum(more.values()) - sum(named.values()) in (0, 1)
    assert rb.look(after, QUESTIONS[0]).matched == {"red": 2, "blue": 1}

"""Tables that cannot be counted: one sentence each, and never a row of them."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from postgres import connect, fresh_schema
from rainbowdp.errors import InvalidQuestion, MissingExtra, UnreadableTable
from rainbowdp.questions import Custom, Quantile, Threshold, Winner
from rainbowdp.tables import SQLTable, count

QUESTION = Winner(["1", "2"], "x")
SECRET = "Ann, 12 Mill Lane"


def refused(table: Any, question: Any = QUESTION) -> str:
    with pytest.raises(UnreadableTable) as caught:
        count(table, question)
    message = str(caught.value)
    assert "\n" not in message
    assert "Mill Lane" not in message
    return message


@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, lambda d: duckdb.from_arrow(pa.table(d))],
)
def test_a_missing_column_is_named_beside_those_there_are(make: Callable[..., Any]) -> None:
    table = make({"X": [1], "y": [2]})
    assert refused(table) == "there is no column 'x', the columns are 'X', 'y'"
    message = refused(table, Winner(["1", "2"], "y", person="who"))
    assert message == "there is no column 'who', the columns are 'X', 'y'"
    message = refused(table, Winner(["1", "2"]))
    assert message == (
        "counting a table needs a question that names a column, got one without; "
        "the columns are 'X', 'y'"
    )


def repeated(tmp_path: Path) -> list[Any]:
    """Tables with the columns x, x and y, and one row of 1, 2 and 3."""
    (tmp_path / "t.csv").write_text("x,x,y\n1,2,3\n")
    return [
        pd.DataFrame([[1, 2, 3]], columns=["x", "x", "y"]),
        pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["x", "x", "y"]),
        duckdb.sql("SELECT 1 AS x, 2 AS x, 3 AS y"),
        tmp_path / "t.csv",
    ]


def test_a_wanted_column_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    for table in repeated(tmp_path):
        for question in (QUESTION, Winner(["1", "2"], "y", person="x")):
            message = refused(table, question)
            assert message == "there is more than one column 'x': rename one of them"


def test_other_columns_may_have_one_name(tmp_path: Path) -> None:
    for table in repeated(tmp_path):
        assert count(table, Winner(["3", "4"], "y")) == {"3": 1, "4": 0}
    (tmp_path / "i.csv").write_text(",y,,\n0,3,,\n1,4,,\n")
    assert count(tmp_path / "i.csv", Winner(["3", "4"], "y")) == {"3": 1, "4": 1}


def test_a_column_that_duckdb_renames_is_never_taken_for_another(tmp_path: Path) -> None:
    """It calls the second of two columns x by x_1, whether or not there is one, and knows no
    capitals.
    """
    names = ["x", "x", "x_1", "Z", "z"]
    table = pa.table([pa.array([value]) for value in "abcde"], names=names)
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    relation = duckdb.sql("SELECT 'a' AS x, 'b' AS x, 'c' AS x_1, 'd' AS Z, 'e' AS z")
    for name, value in (("x_1", "c"), ("Z", "d"), ("z", "e")):
        question = Winner([value, "a", "none"], name)
        assert count(table, question)[value] == 1
        for other in (tmp_path / "t.parquet", relation):
            assert refused(other, question) == (
                f"DuckDB cannot tell column {name!r} from others whose names are the same or "
                "differ in capitals: rename them"
            )
    (tmp_path / "t.csv").write_text("Z,z\na,b\n")
    assert count(tmp_path / "t.csv", Winner(["a", "b"], "z")) == {"a": 0, "b": 1}
    assert refused(tmp_path / "t.csv", Winner(["a", "b"], "z", person="Z")) == (
        "the columns 'z' and 'Z' must differ in more than capitals: rename one of them"
    )


def test_a_column_of_another_type_is_refused() -> None:
    long = pl.DataFrame({"x": [timedelta(days=1)]})
    for table in (long, long.to_arrow(), long.to_pandas(), pd.DataFrame({"x": [1j]})):
        message = refused(table)
        assert message.startswith(
            "a column to count must hold texts, numbers, truth values, dates or times, got 'x' of "
        )
        assert message.endswith(": make it text first")


def test_a_question_that_no_value_can_match_is_refused_by_type(tmp_path: Path) -> None:
    """With records or without, and whatever they are."""
    colors = Winner(["red", "green"], "x")
    names = {pd.DataFrame: "Int64", pl.DataFrame: "Int64", pa.table: "BIGINT"}
    for make, name in names.items():
        for numbers in ([1, 2], []):
            table = make({"x": pa.array(numbers, pa.int64()).to_numpy()})
            assert refused(table, colors) == (
                f"column 'x' holds whole numbers ({name}), so no record can match 'red', 'green': "
                "ask for values such as '3'"
            )
    many = Winner([f"{i} apples" for i in range(9)], "x")
    assert "'5 apples', …: ask" in refused(pa.table({"x": [True]}), many)
    assert refused(pa.table({"x": [1]}), Threshold(1, "x", equals="a")) == (
        "column 'x' holds whole numbers (BIGINT), so no record can match 'a': "
        "ask for values such as '3'"
    )
    assert "no record can match ≥ 9223372036854775808" in refused(
        pa.table({"x": [1]}), Threshold(1, "x", minimum=2**63)
    )
    assert refused(pl.DataFrame({"x": [date(2024, 1, 1)]}), colors) == (
        "column 'x' holds dates (Date), so no record can match 'red', 'green': "
        "ask for values such as '2024-12-31'"
    )
    some = Winner(["red", "3"], "x")
    assert count(pa.table({"x": [3, 3, 4]}), some) == {"red": 0, "3": 2}
    (tmp_path / "t.csv").write_text("x\n3\n")
    assert count(tmp_path / "t.csv", colors) == {"red": 0, "green": 0}  # a text may be anything


def test_times_with_and_without_a_zone_do_not_mix() -> None:
    there = datetime(2024, 1, 1, tzinfo=UTC)
    with_zone, without = pa.table({"x": [there]}), pa.table({"x": [there.replace(tzinfo=None)]})
    local, instants = ["2024-01-01", "2024-01-02"], ["2024-01-01T00:00Z", "2024-01-02T00:00Z"]
    for make in (lambda t: t, pl.from_arrow, lambda t: t.to_pandas()):
        assert refused(make(with_zone), Threshold(1, "x", minimum=local[0])) == (
            "a range needs ends with a time zone for column 'x' of times with a time zone: "
            "write 2024-12-31T00:00Z"
        )
        assert refused(make(without), Threshold(1, "x", minimum=instants[0])) == (
            "a range needs ends without a time zone for column 'x' of times without a time zone: "
            "write 2024-12-31T00:00"
        )
        assert "no record can match" in refused(make(with_zone), Winner(local, "x"))
        assert "no record can match" in refused(make(without), Winner(instants, "x"))
        assert refused(make(without), Threshold(1, "x", minimum=3)).startswith(
            "a range of numbers needs a column of numbers, got column 'x' of times"
        )


def test_a_range_needs_numbers() -> None:
    question = Quantile("1/2", [0, 1, 2], "x")
    tables = {"texts": ["1"], "truth values": [True]}
    for held, values in tables.items():
        for make in (pd.DataFrame, pl.DataFrame, pa.table):
            assert refused(make({"x": values}), question) == (
                f"a range of numbers needs a column of numbers, got column 'x' of {held}"
            )


def test_answers_that_are_one_value_in_the_column_are_refused() -> None:
    with pytest.raises(InvalidQuestion) as caught:
        count(pa.table({"x": [3]}), Winner(["3", "4", "3.0"], "x"))
    assert str(caught.value) == (
        "answers must be different values, got '3' and '3.0', which are the same in column 'x': "
        "list one of them"
    )


def test_a_question_without_groups_counts_nothing() -> None:
    question = Custom(["a", "b"], lambda _: {}, neighbors="substituted", name="own")
    with pytest.raises(InvalidQuestion, match="counting needs a question with groups"):
        count({}, question)


def test_what_is_no_table_is_refused() -> None:
    assert refused([1, 2]) == (
        "a table must be a data frame, a path, an SQLTable or counts, got list"
    )
    assert refused(None).endswith("got NoneType")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert refused(tmp_path / "a.csv") == f"there is no file {tmp_path}/a.csv"
    assert refused(f"{tmp_path}/*.parquet") == f"there is no file {tmp_path}/*.parquet"
    assert refused(tmp_path) == (
        f"{tmp_path} is a folder: name its files, such as {tmp_path}/*.parquet"
    )


def test_files_of_other_kinds(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_text("x")
    assert refused(tmp_path / "a.xlsx") == (
        f"the name of {tmp_path}/a.xlsx does not tell what it is; for a text file use "
        "rb.TextFile(path) or --format csv, tsv or jsonl, or let the name end in "
        ".csv, .tsv, .jsonl, .ndjson, .parquet (text files also with .gz)"
    )
    (tmp_path / "b.csv").write_text("x\n1\n")
    (tmp_path / "b.tsv").write_text("x\n1\n")
    assert refused(f"{tmp_path}/b.*") == (
        f"the files of a table must be of one kind, got {tmp_path}/b.csv and {tmp_path}/b.tsv"
    )


def test_files_that_are_not_what_their_name_says(tmp_path: Path) -> None:
    text = f'x,y\n1,"{SECRET}"\n'.encode()
    pyarrow.parquet.write_table(
        pa.table({"x": [1, 2], "y": [SECRET] * 2}), tmp_path / "real.parquet"
    )
    binary = (tmp_path / "real.parquet").read_bytes()
    packed = gzip.compress(text * 1000)
    parquet = "cannot be read as Parquet: is it what its name says, with the same columns in"
    damaged = "is damaged: its compressed data ends early or does not unpack"
    header = "must begin with a line of column names, and does not"
    wrong = {
        "a.parquet": (text, parquet),
        "b.parquet": (binary[: len(binary) // 2], parquet),
        "c.parquet": (b"", parquet),
        "d.csv.gz": (text, damaged),
        "e.csv.gz": (packed[:-20], damaged),
        "f.csv.gz": (packed[:-6] + b"xx" + packed[-4:], damaged),
        "g.csv.gz": (packed + b"more", damaged),
        "h.csv": (b"", header),
        "i.csv": (b"\n1\n", header),
        "j.csv": (text.decode().encode("utf-16"), "if it is in UTF-16, convert it to UTF-8"),
        "k.csv": (text.decode().encode("utf-16-le"), "if it is in UTF-16, convert it to UTF-8"),
    }
    for name, (content, why) in wrong.items():
        (tmp_path / name).write_bytes(content)
        message = refused(tmp_path / name)
        assert message.startswith(f"{tmp_path / name} ")
        assert why in message
    for name, content in {"l.csv": binary, "m.csv": f"y,z\n{SECRET},2\n".encode()}.items():
        (tmp_path / name).write_bytes(content)
        refused(tmp_path / name)


def test_files_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read everything
    assert refused(tmp_path / "a.csv") == (
        f"{tmp_path}/a.csv cannot be read: you have no permission to read it"
    )


def test_files_with_other_columns(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pa.table({"x": [1]}), tmp_path / "1.parquet")
    pyarrow.parquet.write_table(pa.table({"z": [1]}), tmp_path / "2.parquet")
    assert refused(f"{tmp_path}/*.parquet") == "there is no column 'x', the columns are 'z'"
    (tmp_path / "1.csv").write_text("x,y\n1,2\n")
    (tmp_path / "2.csv").write_text("x,z\n1,2\n")
    assert "must have one header and one decimal sign" in refused(f"{tmp_path}/*.csv")


def test_postgresql_refuses_in_one_sentence(postgres_url: str) -> None:
    url = fresh_schema(postgres_url)
    with connect(url) as connection:
        connection.execute("CREATE TABLE t (x text, y integer, z timestamp, p point)")
    place = url.partition("@")[2].partition("?")[0].replace(":", " ").split(" ")[0]
    assert refused(SQLTable(url, "t"), Winner(["1", "2"], "X")) == (
        "there is no column 'X', the columns are 'x', 'y', 'z', 'p'"
    )
    assert refused(SQLTable(url, "none")) == (
        f"there is no table 'none' in PostgreSQL at {place}/postgres"
    )
    assert "got 'p' of point" in refused(SQLTable(url, "t"), Winner(["1", "2"], "p"))
    assert refused(SQLTable(url, "t"), Winner(["red", "green"], "y")) == (
        "column 'y' holds whole numbers (int4), so no record can match 'red', 'green': "
        "ask for values such as '3'"
    )
    assert refused(SQLTable(url, "t"), Threshold(1, "y", minimum="2024-01-01")) == (
        "a range of times needs a column of dates or times, got column 'y' of whole numbers"
    )
    assert refused(SQLTable(url, "t"), Threshold(1, "x", minimum=1)) == (
        "a range of numbers needs a column of numbers, got column 'x' of texts"
    )
    gone = "postgresql://ann:secret@127.0.0.1:1/town"
    message = refused(SQLTable(gone, "t"))
    assert message.startswith("PostgreSQL at 127.0.0.1/town cannot be reached: ")
    assert "secret" not in message + repr(SQLTable(gone, "t"))


def test_a_missing_driver_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"pip install 'rainbowdp\[postgres\]'"):
        count(SQLTable("postgresql://localhost/x", "t"), QUESTION)


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, rainbowdp.tables; "
        "heavy = {'duckdb', 'narwhals', 'pandas', 'polars', 'pyarrow', 'pyspark', 'sqlalchemy'}; "
        "sys.exit(', '.join(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == ""


def test_counting_a_file_leaves_nothing_on_the_error_stream(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n1\n")
    code = (
        "from rainbowdp.questions import Winner; from rainbowdp.tables import count; "
        f"count({str(tmp_path / 't.csv')!r}, Winner(['1', '2'], 'x'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

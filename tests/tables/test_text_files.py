"""Files as they are published, and options that do not go together."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from rainbowdp.errors import UnreadableTable
from rainbowdp.questions import Quantile, Winner
from rainbowdp.tables import ParquetFile, TextFile, count, must_exist

WINNER = Winner(["red", "Köln"], "choice")
BINS = Quantile("1/2", [0, 2, 5], "n")
FRAME = pd.DataFrame({"choice": ["red", "Köln", "red"], "n": [1.5, 2.5, 4.0]})


def counted(table: Any, question: Any = WINNER) -> list[int]:
    return list(count(table, question).values())


def test_what_pandas_writes(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    for index in (True, False):
        for end in ("\n", "\r\n"):
            FRAME.to_csv(file, index=index, lineterminator=end)
            assert counted(file) == [2, 1]
            assert counted(file, BINS) == [1, 2]


@pytest.mark.slow
def test_semicolons_decimal_commas_and_latin_1(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    for encoding in ("latin-1", "cp1252", "utf-8", "utf-8-sig"):
        frame = FRAME.assign(größe=1)
        frame.to_csv(file, sep=";", decimal=",", encoding=encoding)
        assert counted(file) == [2, 1]
        assert counted(file, BINS) == [1, 2]
        frame.to_csv(file, sep=";", encoding=encoding)  # semicolons and points
        assert counted(file, BINS) == [1, 2]
        assert counted(TextFile(file, decimal="."), BINS) == [1, 2]
        assert counted(TextFile(file, decimal=","), BINS) == [0, 0]
    FRAME.to_csv(file, sep=";", decimal=",", encoding="latin-1")  # a header of plain ASCII
    assert counted(file) == [2, 0]
    assert counted(TextFile(file, encoding="latin-1")) == [2, 1]
    assert counted(TextFile(file, decimal="."), BINS) == [0, 0]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_told_from_the_header_alone(tmp_path: Path, delimiter: str) -> None:
    file = tmp_path / "t.csv"
    header = f'n{delimiter}choice{delimiter}"a,;b|,;|,;|"'
    other = next(sign for sign in ",;|\t" if sign != delimiter)
    rows = [f"1{delimiter}red{delimiter}", f"1{delimiter}Köln{delimiter}", other * 9, other * 9]
    file.write_text("\n".join([header, *rows]), encoding="utf-8")
    assert counted(file) == [1, 1]


def test_a_byte_order_mark_is_one_at_the_start_only(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    mark = b"\xef\xbb\xbf"
    file.write_bytes(mark + b"choice,n\nred,1\n" + mark + b"red,1\nred,1\n")
    assert counted(file) == [2, 0]
    file.write_bytes(mark + b"red,1\n" + mark + b"red,1\nred,1\n")
    assert counted(TextFile(file, header=["choice", "n"])) == [2, 0]
    file.write_bytes(b"re")
    assert counted(TextFile(file, header=["choice"])) == [0, 0]
    lines = tmp_path / "t.jsonl"
    lines.write_bytes(mark + b'{"choice": "red"}\n' + mark + b'{"choice": "red"}\n')
    assert counted(lines) == [1, 0]


def test_a_file_without_a_header_tells_nothing_by_its_first_line(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    for first in ("red,1", "a;b;c;d", "\udcff;;;;", '"', ""):
        content = f"{first}\nred,1\n1;Köln,1\nred,3\n"
        file.write_bytes(content.encode("utf-8", errors="surrogateescape"))
        assert counted(TextFile(file, header=["choice", "n"])) == [2 + (first == "red,1"), 0]
    file.write_bytes(b"")
    assert counted(TextFile(file, header=["choice", "n"])) == [0, 0]


def test_json_lines_are_texts_and_numbers_alike(tmp_path: Path) -> None:
    content = (
        b'{"choice": "red", "n": 1.5}\n{"choice": "K\xc3\xb6ln", "n": "2.5"}\n'
        b'{"choice": "red", "n": [3]}\n{"choice": {"red": 1}, "n": 4}\n\n[1]\n{"choice"\n"red"\n'
    )
    (tmp_path / "a.jsonl").write_bytes(content)
    (tmp_path / "b.ndjson").write_bytes(content.replace(b"\n", b"\r\n"))
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(content))
    for name in ("a.jsonl", "b.ndjson", "c.jsonl.gz"):
        assert counted(tmp_path / name) == [2, 1]
        assert counted(tmp_path / name, BINS) == [1, 2]
        assert counted(tmp_path / name, Winner(["red", "Köln"], "choice", person="n")) == [2, 1]
    (tmp_path / "d.jsonl").write_bytes(b'{"a/b~c\'\\"": "red"}')
    assert counted(tmp_path / "d.jsonl", Winner(["red", "blue"], "a/b~c'\"")) == [1, 0]


def test_fields_span_lines_only_where_the_owner_says_so(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    content = '"no\nte",choice\n"a\n1,red",red\nb,red\n"x",Köln\n\udcff,red\nc\n'
    file.write_bytes(content.encode("utf-8", errors="surrogateescape"))
    assert counted(TextFile(file, trusted=True)) == [3, 1]
    plain = Winner(["red", "Köln"], "note")
    file.write_text('choice,note\n"a\nred,x\n",red\n')
    assert counted(file) == [1, 0]
    assert counted(TextFile(file, trusted=True), plain) == [1, 0]
    assert counted(TextFile(file, trusted=True)) == [0, 0]
    file.write_bytes(f"note;choice\n{'x' * 200_000};Köln\n".encode("latin-1"))
    assert counted(TextFile(file, trusted=True, encoding="latin-1")) == [0, 1]


def test_a_trusted_line_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rainbowdp.tables.text_reader.LONGEST", 1000)
    file = tmp_path / "t.csv.gz"
    file.write_bytes(gzip.compress(b"choice,n\nred," + b"1," * 1000))
    with pytest.raises(UnreadableTable, match="line 2 is longer than 1,000"):
        counted(TextFile(file, trusted=True))


def test_a_name_that_does_not_tell(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "t.txt", sep="|")
    assert counted(TextFile(tmp_path / "t.txt")) == [2, 1]
    FRAME.to_json(tmp_path / "t.log", orient="records", lines=True, force_ascii=False)
    assert counted(TextFile(tmp_path / "t.log", format="jsonl")) == [2, 1]
    pyarrow.parquet.write_table(pa.Table.from_pandas(FRAME), tmp_path / "t.pq")
    assert counted(ParquetFile(tmp_path / "t.pq")) == [2, 1]


def test_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def piped(content: bytes, table: Any) -> list[int]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return counted(table)

    assert piped(FRAME.to_csv().encode(), TextFile("-")) == [2, 1]
    assert piped(b'{"choice": "red"}', TextFile("-", format="jsonl")) == [1, 0]
    pyarrow.parquet.write_table(pa.Table.from_pandas(FRAME), tmp_path / "t.parquet")
    assert piped((tmp_path / "t.parquet").read_bytes(), ParquetFile("-")) == [2, 1]


def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "t.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=[FRAME.to_csv()])
    writer.start()
    assert counted(pipe) == [2, 1]
    writer.join()


def test_a_glob_is_what_its_files_are(tmp_path: Path) -> None:
    for i in range(2):
        (tmp_path / f"{i}.jsonl").write_text('{"choice": "red"}\n')
    assert counted(f"{tmp_path}/*") == [2, 0]


def test_a_path_is_looked_for_before_anything_else(tmp_path: Path) -> None:
    for missing in (tmp_path / "a.csv", TextFile(tmp_path / "a.csv"), ParquetFile(tmp_path / "a")):
        with pytest.raises(UnreadableTable, match="there is no file"):
            must_exist(missing)
    (tmp_path / "a.xyz").touch()
    with pytest.raises(UnreadableTable, match="does not tell what it is"):
        must_exist(tmp_path / "a.xyz")
    for there in (TextFile(tmp_path / "a.xyz"), TextFile("-"), {"red": 1}, FRAME):
        must_exist(there)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"delimiter": ""}, "delimiter must be one ASCII character"),
        ({"delimiter": ",,"}, "delimiter must be one ASCII character"),
        ({"delimiter": "§"}, "delimiter must be one ASCII character"),
        ({"delimiter": '"'}, "delimiter must be one ASCII character"),
        ({"delimiter": "\n"}, "delimiter must be one ASCII character"),
        ({"delimiter": ",", "decimal": ","}, "a comma cannot be both"),
        ({"decimal": ";"}, "decimal must be '.' or ',', got ';'"),
        ({"encoding": "klingon"}, "there is no encoding 'klingon'"),
        ({"encoding": "utf-16"}, "got 'utf-16': convert the file to UTF-8"),
        ({"encoding": "shift_jis"}, "got 'shift_jis': convert the file to UTF-8"),
        ({"encoding": "cp037"}, "got 'cp037': convert the file to UTF-8"),
        ({"encoding": "rot13"}, "got 'rot13': convert the file to UTF-8"),
        ({"header": False}, "header must be True or a list of all the columns' names"),
        ({"header": []}, "header must be True or a list of all the columns' names"),
        ({"header": "a,b"}, "header must be True or a list of all the columns' names"),
        ({"header": [1]}, "header must be True or a list of all the columns' names"),
        ({"format": "xlsx"}, "format must be one of csv, tsv, jsonl, got 'xlsx'"),
        ({"format": "tsv", "delimiter": ";"}, "a TSV file has tabs between its fields"),
        ({"format": "jsonl", "delimiter": ";"}, "JSON lines have no delimiter"),
        ({"format": "jsonl", "decimal": ","}, "JSON lines have no decimal"),
        ({"format": "jsonl", "trusted": True}, "JSON lines have no trusted"),
        ({"format": "jsonl", "header": ["a"]}, "JSON lines have no header"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UnreadableTable) as caught:
        TextFile("t.txt", **options)
    assert said in str(caught.value)


def test_a_path_that_is_none() -> None:
    with pytest.raises(UnreadableTable, match="path must be a text or a Path, got 3"):
        TextFile(3)  # type: ignore[arg-type]
    with pytest.raises(UnreadableTable, match="is a Parquet file by its name"):
        TextFile("t.parquet")

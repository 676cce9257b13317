"""The options that say how a table is read."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner, Result

from rainbowdp.cli import app

SURE = ["--epsilon", "60", "--no-ledger", "--column", "choice", "--among", "red,blue"]


def run(table: object, *options: str, given: bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["ask", "winner", str(table), *SURE, *options], input=given)


def answer(table: object, *options: str, given: bytes | None = None) -> str:
    result = run(table, *options, given=given)
    assert result.exit_code == 0, result.output
    return result.output.splitlines()[0].split()[1]


def refusal(table: object, *options: str, code: int = 2) -> str:
    result = run(table, *options)
    assert result.exit_code == code
    assert len(result.output.splitlines()) == 1
    return result.output


def rows(delimiter: str = ",", choice: str = "blue") -> str:
    return "".join(f"{i}{delimiter}{choice}{delimiter}1\n" for i in range(40))


def test_each_option_reaches_the_reader(tmp_path: Path) -> None:
    file = tmp_path / "t.txt"
    file.write_text("id\tchoice\tn\n" + rows("\t"))
    for options in (["--format", "csv"], ["--format", "tsv"], ["--delimiter", "\\t"]):
        assert answer(file, *options) == "blue"
    file.write_text("id#choice#n\n" + rows("#"))
    assert answer(file, "--delimiter", "#") == "blue"
    file.write_text(rows("#"))
    assert answer(file, "--delimiter", "#", "--header", 'id, choice, "n, or so"') == "blue"
    file.write_text('"a\nb",choice\n' + rows(choice="red") + "".join(['"x\ny",blue\n'] * 90))
    assert answer(file, "--trusted") == "blue"
    file.write_bytes(("id,choice,n\n" + rows(choice="röt")).encode("latin-1"))
    found = run(file, "--encoding", "latin-1", "--among", "röt,blue").output
    assert "röt" in found.splitlines()[0]
    file.write_text("id|choice|n\n" + "1|blue|1,5\n" * 40)
    bins = ["--column", "n", "--bins", "0,1,2,3", "--epsilon", "60", "--no-ledger"]
    words = ["ask", "quantile", str(file), *bins, "--delimiter", "|", "--decimal", ","]
    assert "[1, 2)" in CliRunner().invoke(app, words).output.splitlines()[0]


def test_standard_input_and_names_that_do_not_tell(tmp_path: Path) -> None:
    text = ("id,choice,n\n" + rows()).encode()
    assert answer("-", given=text) == "blue"
    assert answer("-", "--format", "jsonl", given=b'{"choice": "blue"}\n' * 40) == "blue"
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({"choice": ["blue"] * 40}), buffer)
    assert answer("-", "--format", "parquet", given=buffer.getvalue()) == "blue"
    (tmp_path / "t.data").write_bytes(buffer.getvalue())
    assert answer(tmp_path / "t.data", "--format", "parquet") == "blue"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "xlsx"], "--format must be one of csv, tsv, jsonl, parquet, got 'xlsx'"),
        (["--format", "parquet", "--delimiter", ";"], "--delimiter is for text files"),
        (["--table", "t", "--encoding", "latin-1"], "--encoding is for text files"),
        (["--format", "jsonl", "--trusted"], "JSON lines have no trusted"),
        (["--delimiter", ",", "--decimal", ","], "a comma cannot be both"),
        (["--encoding", "utf-16"], "convert the file to UTF-8"),
    ],
)
def test_options_that_clash(tmp_path: Path, options: list[str], said: str) -> None:
    (tmp_path / "t.csv").write_text("choice\nred\n")
    assert said in refusal(tmp_path / "t.csv", *options)


def test_a_missing_file_is_reported_before_a_mechanism_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a mechanism was made")

    monkeypatch.setattr("rainbowdp.cli.ask.best", never)
    assert refusal(tmp_path / "a.csv", code=3) == f"rainbow: there is no file {tmp_path}/a.csv\n"
    assert "--table" in refusal("postgresql://localhost/x")

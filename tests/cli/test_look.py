"""``rainbow look``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rainbowdp.cli import app
from rainbowdp.cli.look import PRIVATE


@pytest.fixture
def votes(tmp_path: Path) -> str:
    file = tmp_path / "votes.csv"
    file.write_text("who,vote,age\nann,red,20\nbob,Red,31\nbob,green,31\n,green,\neve,,70\n")
    return str(file)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["look", *arguments])
    return result.exit_code, result.output


def test_what_a_curator_reads(votes: str) -> None:
    code, printed = run(votes, "--column", "vote", "--among", "red,green", "--person", "who")
    assert code == 0
    assert printed.splitlines() == [
        PRIVATE,
        "",
        "column                    vote (text file)",
        "rows                      5",
        "  red                     1",
        "  green                   2",
        "no value                  1",
        "no match                  1",
        "  capital letters differ  1",
        "such as                   'Red' (1)",
        "people                    2 with matching rows, 1 to 1 each, median 1; "
        "0 have more than the limit of 1",
    ]


def test_bins_ranges_one_answer_and_json(votes: str) -> None:
    code, printed = run(votes, "--column", "age", "--bins", "0,30,60", "--json")
    assert code == 0
    found = json.loads(printed)
    assert found["private"] is True
    assert found["matched"] == {"< 30": 1, "≥ 30": 3}
    code, printed = run(votes, "--column", "age", "--minimum", "65", "--json")
    assert json.loads(printed)["matched"] == {"matching": 1}
    code, printed = run(votes, "--column", "vote", "--among", "green", "--json")
    assert json.loads(printed)["matched"] == {"matching": 2}
    code, printed = run(votes, "--column", "age", "--bins", "25,30,60", "--closed-ends", "--json")
    assert json.loads(printed)["unmatched"] == {"outside all ranges": 2}


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--column", "vote"], 2, "Say what to look for"),
        (["--column", "vote", "--among", "a,b", "--bins", "1,2,3"], 2, "only one of these"),
        (["--column", "nope", "--among", "a,b"], 3, "there is no column 'nope'"),
    ],
)
def test_bad_input(votes: str, options: list[str], code: int, words: str) -> None:
    ended, printed = run(votes, *options)
    assert (ended, words in printed) == (code, True), printed


def test_a_file_that_is_not_there() -> None:
    code, printed = run("nowhere.csv", "--column", "x", "--among", "a,b")
    assert (code, "nowhere.csv" in printed) == (3, True)


def test_a_condition_says_how_many_rows_it_leaves_out(votes: str) -> None:
    asked = (votes, "--column", "vote", "--among", "red,green", "--where", "age between 20 and 31")
    code, printed = run(*asked)
    assert code == 0
    assert "rows                      5\n  left out                2 by where\n" in printed
    assert json.loads(run(*asked, "--json")[1])["left_out"] == 2
    code, printed = run(votes, "--column", "age", "--among", "20,31", "--apply", "round", "--json")
    assert json.loads(printed)["matched"] == {"20": 1, "31": 2}

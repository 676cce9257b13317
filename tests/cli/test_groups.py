"""Groups and weights on the command line, and what they get that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rainbowdp.cli import app

ROWS = [("north", "red", 1.5), ("south", "green", 0.5), ("east", "red", 2)]


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    lines = ["district,choice,weight"]
    lines += [f"{d},{c},{w}" for d, c, w in ROWS for _ in range(200)]
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [*map(str, words)])


def asked(votes: Path, *words: object, kind: str = "winner") -> Any:
    about = ("--among", "red,green") if kind == "winner" else ()
    common = ("--column", "choice", "--epsilon", "2", "--no-ledger")
    return run("ask", kind, votes, *about, *common, *words)


BY = ("--by", "district", "--groups", "north,south")


def test_every_group_has_its_answer(votes: Path) -> None:
    found = asked(votes, *BY)
    assert found.exit_code == 0
    assert found.output.splitlines()[:3] == ["group  answer", "north  red", "south  green"]
    assert "each group  1-DP: a change moves up to 2 rows" in found.output


def test_json_of_groups(votes: Path) -> None:
    found = json.loads(asked(votes, *BY, "--groups-are-public", "--json").stdout)
    assert found["answer"] == {"north": "red", "south": "green"}
    assert found["question"]["groups_are_public"] is True
    assert found["question"]["by"]["groups"] == ["north", "south"]
    assert "one change is" in found["proof"]


def test_explain_groups(votes: Path) -> None:
    shown = asked(votes, *BY, "--explain").output
    assert "guarantee   2-DP, one record substituted" in shown
    assert "each group  1-DP" in shown
    found = json.loads(asked(votes, *BY, "--explain", "--json").stdout)
    assert found["guarantee"]["epsilon"] == "2"
    assert found["question"]["by"]["column"] == "district"


def test_one_entry_and_one_recall(votes: Path, tmp_path: Path) -> None:
    book = tmp_path / "b.db"
    run("ledger", "create", book, "--dataset", "d", "--epsilon", "3")
    words = ["--column", "choice", "--among", "red,green", "--epsilon", "2", *BY]
    paid = ("--ledger", book, "--name", "x")
    first = run("ask", "winner", votes, *words, *paid, "--json")
    again = run("ask", "winner", votes, *words, *paid, "--json")
    assert json.loads(first.stdout)["answer"] == json.loads(again.stdout)["answer"]
    assert json.loads(again.stdout)["recalled"] is True
    history = run("ledger", "history", book).output
    assert " by " in history
    assert "red in 1" in history.replace("\n", " ") or "red" in history
    assert len(json.loads(run("ledger", "history", book, "--json").stdout)) == 1


def test_weights(votes: Path) -> None:
    weight = ("--weight", "weight", "--weight-limit", "2")
    assert "answer     red" in asked(votes, *weight).output
    total = ("--equals", "red", "--at-least", "300.5")
    assert "answer     yes" in asked(votes, *weight, *total, kind="threshold").output
    share = ("--equals", "red", "--at-least", "70%")
    assert "answer     yes" in asked(votes, *weight, *share, kind="share").output
    found = json.loads(asked(votes, *weight, "--json").stdout)
    assert found["question"]["weight"] == {"column": "weight", "limit": "2", "places": 3}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--by", "district"), "Give --by, the column that tells groups apart, together with"),
        (("--groups", "north"), "Give --by"),
        (("--groups-are-public",), "Give --by"),
        (("--by", "district", "--groups", "north,north"), "got 'north' twice: list it once"),
        (("--by", "place", "--groups", "north"), "there is no column 'place'"),
        (("--weight", "weight"), "Give --weight, the column of weights, together with"),
        (("--weight-limit", "3"), "Give --weight, the column of weights, together with"),
        (("--weight", "weight", "--weight-limit", "0"), "must be above 0, got limit=0"),
        (("--weight", "weight", "--weight-limit", "-3"), "must be above 0, got limit=-3"),
        (("--weight", "weight", "--weight-limit", "heavy"), "limit must be a finite number"),
        (("--weight", "mass", "--weight-limit", "3"), "there is no column 'mass'"),
    ],
)
def test_one_sentence_for_what_is_wrong(votes: Path, words: Any, message: str) -> None:
    found = asked(votes, *words)
    assert found.exit_code != 0
    assert message in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1

"""Keys, and counts in groups, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rainbowdp.cli import app


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    lines = ["patient,diagnosis,ward"]
    lines += [f"p{i},{('flu', 'cold')[i % 2]},north" for i in range(400)]
    path = tmp_path / "visits.csv"
    path.write_text("\n".join([*lines, "p401,unheard of,south"]) + "\n")
    return path


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [*map(str, words)])


def test_keys_of_enough_people_are_named(visits: Path) -> None:
    words = ("--column", "diagnosis", "--person", "patient", "--epsilon", "1", "--delta", "1e-9")
    shown = run("ask", "keys", visits, *words, "--no-ledger").output
    assert "answer     cold, flu" in shown
    assert "unheard" not in shown
    assert "up to 1 key each" in shown
    found = json.loads(run("ask", "keys", visits, *words, "--no-ledger", "--json").stdout)
    assert found["answer"] == ["cold", "flu"]
    explained = run("ask", "keys", visits, *words, "--explain").output
    assert "how many people a key needs to be named so surely" in explained
    assert json.loads(run("ask", "keys", visits, *words, "--explain", "--json").stdout)["people"]


def test_a_count_in_every_group(visits: Path) -> None:
    words = ("--column", "diagnosis", "--equals", "flu", "--by", "ward", "--groups", "north,south")
    found = json.loads(
        run("ask", "count", visits, *words, "--epsilon", "9", "--no-ledger", "--json").stdout
    )
    assert abs(found["answer"]["north"] - 200) < 20
    assert abs(found["answer"]["south"]) < 20
    shown = run("ask", "count", visits, *words, "--epsilon", "9", "--explain").output
    assert "each group  4.5-DP" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("keys", "--epsilon", "1"), "use a δ above 0"),
        (("keys", "--mu", "1"), "use (ε,δ)-privacy with δ > 0"),
        (
            ("keys", "--epsilon", "1", "--delta", "1e-6", "--rows-per-person", "2"),
            "Keys are limited by --keys-per-person",
        ),
        (
            ("keys", "--epsilon", "1", "--delta", "1e-6", "--by", "ward", "--groups", "north"),
            "groups need a question such as Winner",
        ),
        (
            ("count", "--equals", "flu", "--epsilon", "1", "--weight", "w", "--weight-limit", "2"),
            "This question counts rows or people",
        ),
        (
            ("keys", "--epsilon", "1", "--delta", "1e-6", "--mechanism", "homogeneous"),
            "There is one mechanism for this question",
        ),
    ],
)
def test_one_sentence_for_what_is_wrong(visits: Path, words: Any, message: str) -> None:
    kind, *options = words
    found = run("ask", kind, visits, "--column", "diagnosis", *options, "--no-ledger")
    assert found.exit_code != 0
    assert message in found.stderr

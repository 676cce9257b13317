"""``rainbow audit``, from the shell's side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import rainbowdp as rb
from rainbowdp.cli import app

POLL = json.dumps(rb.Winner(["a", "b"]).describe())
LAW = """
import random

def rows(counts):
    first = counts["a"] > counts["b"]
    return {"a": "3/4", "b": "1/4"} if first else {"a": "1/5", "b": "4/5"}

def draw(counts):
    return "a" if random.random() < (0.75 if counts["a"] > counts["b"] else 0.2) else "b"
"""


def run(*words: Any, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["audit", *map(str, words)])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def law(tmp_path: Path) -> Path:
    file = tmp_path / "law.py"
    file.write_text(LAW)
    return file


def test_a_mechanism_file_and_its_promise(tmp_path: Path) -> None:
    path = rb.best(rb.Winner(["a", "b"]), rb.DP(1)).save(tmp_path / "m.json")
    assert "1-DP holds" in run(path, "--records", 5)
    found = json.loads(run(path, "--epsilon", "0.9", "--json", code=9))
    assert found["verdict"] == "broken"
    assert "0.4-zCDP is broken" in run(path, "--rho", "0.4", code=9)
    assert "1.3-GDP holds" in run(path, "--mu", "1.3")


def test_a_function_by_its_law_and_by_draws(law: Path) -> None:
    assert "ε           1.321756" in run(f"{law}:rows", "--question", POLL)
    assert "1-DP is broken" in run(f"{law}:rows", "--question", POLL, "--epsilon", 1, code=9)
    drawn = run(
        f"{law}:draw", "--question", POLL, "--epsilon", 1, "--draws", 4000, "--records", 1, code=9
    )
    assert "refuted with confidence 99 %" in drawn
    fine = run(f"{law}:draw", "--question", POLL, "--epsilon", 2, "--draws", 200, "--records", 1)
    assert "not refuted" in fine
    script = run(f"{law}:rows", "--question", POLL, "--epsilon", 1, "--snippet", code=9)
    exec(script, {})


def test_a_question_from_a_file_and_pairs_at_random(law: Path, tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text(POLL)
    text = run(f"{law}:rows", "--question", tmp_path / "q.json", "--tries", 200, "--seed", 1)
    assert "200 pairs of neighboring histograms, drawn at random, exactly, but not all" in text


def test_rows_on_a_graph(tmp_path: Path) -> None:
    rows, edges = tmp_path / "rows.csv", tmp_path / "edges.csv"
    rows.write_text("dataset,answer,probability\n1,a,0.5\n1,b,0.5\n2,a,0.25\n2,b,0.75\n")
    edges.write_text("1,2\n")
    assert json.loads(run(rows, "--edges", edges, "--json"))["ratio"] == "2"


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["none.json"], "cannot read none.json", 3),
        (["none.py:f", "--question", POLL], "cannot read none.py", 3),
        (["law.py:f", "--question", POLL], "no function 'f'", 3),
        (["law.txt:f"], "file.py:name", 2),
        (["law.py:rows"], "a question, a graph or pairs", 2),
        (["law.py:rows", "--question", "{"], "must be JSON", 2),
        (["law.py:rows", "--question", '{"kind": "keys", "column": "x"}'], "finitely many", 2),
        (["law.py:rows", "--question", POLL, "--delta", "0.1"], "--epsilon", 2),
        (["law.py:rows", "--question", POLL, "--epsilon", "1", "--mu", "1"], "either", 2),
        (["law.py:rows", "--question", POLL, "--edges", "e.csv"], "Leave out one", 2),
        (["law.py:rows", "--question", POLL, "--records", "-1"], "records", 2),
    ],
)
def test_bad_input_ends_in_one_sentence(
    words: list[str], said: str, code: int, law: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(law.parent)
    text = run(*words, code=code)
    assert said in text
    assert text.count("\n") == 1

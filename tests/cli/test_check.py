"""``rainbow check``: what was proved, and of what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import rainbowdp as rb
from mechanism_files import TOTAL, contents, made, write
from rainbowdp.cli import app


def shown(path: Path, *options: str) -> str:
    result = CliRunner().invoke(app, ["check", str(path), *options])
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_the_question_and_whose_change_it_is_are_printed(tmp_path: Path) -> None:
    three = rb.Winner(["a", "b"], "choice", rows_per_person=3)
    path = rb.best(three, rb.DP(1)).save(tmp_path / "m.json")
    text = shown(path)
    assert "1-DP, one person with at most 3 records (as you promise) substituted" in text
    assert "winner: column 'choice', ties 'first listed'" in text
    assert "homogeneous" in text
    assert "for tables of every size" in text
    found = json.loads(CliRunner().invoke(app, ["check", str(path), "--json"]).output)
    assert found["unit"] == "one person with at most 3 records (as you promise)"
    assert found["scope"].startswith("for tables of every size, one person with at most 3 records")
    assert found["question"]["rows_per_person"] == 3


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_more_rows_a_person_show(rows: int, tmp_path: Path) -> None:
    content = contents("homogeneous")
    content["question"]["rows_per_person"] = rows
    text = shown(write(content, tmp_path / "m.json"))
    assert ("one record substituted" in text) == (rows == 1)
    assert (f"at most {rows} records" in text) == (rows > 1)


def test_a_graph_says_what_only_the_graph_can_tell(tmp_path: Path) -> None:
    text = shown(made("graph").save(tmp_path / "m.json"))
    assert "two datasets joined by an edge" in text
    assert "none: this is the file of a graph" in text
    assert "1 listed pair of touching regions" in text
    assert "not proved whether these are all, which only the graph can tell" in text
    found = CliRunner().invoke(app, ["check", str(tmp_path / "m.json"), "--json"]).output
    assert json.loads(found)["not_proved"] == "only the graph can tell whether these are all"


def test_regions_that_are_said_to_touch_no_other_are_pointed_out(tmp_path: Path) -> None:
    """Each is proved by itself, which is true and of no use if two of them touch."""
    content = contents("graph")
    content["touching"] = []
    result = CliRunner().invoke(app, ["check", str(write(content, tmp_path / "m.json"))])
    assert result.exit_code == 0
    assert "no two of its 2 regions touch" in " ".join(result.output.split())
    fine = CliRunner().invoke(app, ["check", str(made("graph").save(tmp_path / "n.json"))])
    assert "regions touch" not in fine.output


def test_a_custom_question_says_that_its_function_is_not_there(tmp_path: Path) -> None:
    text = shown(made("custom").save(tmp_path / "m.json"))
    assert "custom: groups [], name 'sign'" in text
    assert "if the function named 'sign', which no file holds" in text


@pytest.mark.parametrize("neighbors", ["substituted", "added or removed"])
def test_a_forged_promise_about_tables_is_refused(neighbors: Any, tmp_path: Path) -> None:
    """Rows that always say the truth, at ε = 0.001, about nothing at all."""
    content = contents("boundary")
    for number, region in enumerate(content["regions"]):
        region["rows"] = [[TOTAL if v == number else 0 for v in range(3)]]
    content |= {"touching": [], "question": None, "neighbors": neighbors}
    content["guarantee"] = {"kind": "dp", "epsilon": "1/1000", "delta": "0"}
    result = CliRunner().invoke(app, ["check", str(write(content, tmp_path / "m.json"))])
    assert result.exit_code != 0
    assert "proved" not in result.output


def test_a_file_of_single_rows_says_what_has_such_a_file(tmp_path: Path) -> None:
    pairs = [(i, i + 1) for i in range(8)]
    labels = ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    rainbows = {"a": tuple("abc"), "b": tuple("bca"), "c": tuple("cab")}
    graph = rb.RainbowGraph(pairs, rainbows, labels=labels)
    kept = rb.deploy(graph, rb.DP(1), "fixed-point").save(tmp_path / "m.json")
    assert "regions of a single row each: the file of a fixed point" in shown(kept)
    ladders = rb.deploy(graph, rb.DP(1), "homogeneous").save(tmp_path / "n.json")
    assert "single row" not in shown(ladders)

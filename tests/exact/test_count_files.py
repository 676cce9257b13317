"""The file of a count: proved again when it is loaded, and refused if anything was changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import rainbowdp as rb
from rainbowdp.cli import app
from rainbowdp.errors import InvalidFile
from rainbowdp.storage.documents import checksum

Content = dict[str, Any]


@pytest.mark.parametrize(
    ("guarantee", "rows"),
    [(rb.DP(1), 1), (rb.DP(1, "1e-6"), 3), (rb.GaussianDP(1), 2), (rb.ZeroConcentrated("0.1"), 1)],
    ids=str,
)
def test_a_file_keeps_it(tmp_path: Path, guarantee: Any, rows: int) -> None:
    question = rb.Count("age", minimum=65, where="ward = 'X'", rows_per_person=rows)
    mechanism = rb.best(question, guarantee)
    found = rb.load_count(mechanism.save(tmp_path / "count.json"))
    assert found == mechanism.exact()
    assert found.proof == mechanism.proof
    assert type(found.ready({"matching": 7})()) is int


def more_weight(content: Content) -> None:
    content["noise"]["half"][0] = str(2 * int(content["noise"]["half"][0]))


def no_tail(content: Content) -> None:
    content["noise"]["tail"] = 0


def more_rows(content: Content) -> None:
    content["question"]["rows_per_person"] = 2


def larger_counts(content: Content) -> None:
    content["question"]["at_most"] = 10**10


def less_epsilon(content: Content) -> None:
    content["guarantee"]["epsilon"] = "9/10"


def a_float(content: Content) -> None:
    content["noise"]["half"][3] = float(content["noise"]["half"][3])


def a_word_more(content: Content) -> None:
    content["note"] = "safe"


def a_word_in_the_noise(content: Content) -> None:
    content["noise"]["note"] = "safe"


def another_kind(content: Content) -> None:
    content["question"]["kind"] = "threshold"


def no_noise(content: Content) -> None:
    del content["noise"]


@pytest.mark.parametrize(
    "forge",
    [
        more_weight,
        no_tail,
        more_rows,
        larger_counts,
        less_epsilon,
        a_float,
        a_word_more,
        a_word_in_the_noise,
        another_kind,
        no_noise,
    ],
)
def test_a_forged_file_is_refused(tmp_path: Path, forge: Callable[[Content], None]) -> None:
    """With a right checksum, so that only the proof can tell."""
    path = rb.best(rb.Count(), rb.DP(1)).save(tmp_path / "count.json")
    content = json.loads(path.read_text())
    del content["checksum"]
    forge(content)
    path.write_text(json.dumps({**content, "checksum": checksum(content)}))
    with pytest.raises(InvalidFile, match="mechanism file"):
        rb.load_count(path)
    result = CliRunner().invoke(app, ["check", str(path)])
    assert result.exit_code == 3


def test_files_of_two_kinds_are_told_apart(tmp_path: Path) -> None:
    count = rb.best(rb.Count(at_most=500), rb.DP(1)).save(tmp_path / "count.json")
    poll = rb.best(rb.Winner(["a", "b"]), rb.DP(1)).save(tmp_path / "poll.json")
    with pytest.raises(InvalidFile, match="not a mechanism file"):
        rb.load(count)
    with pytest.raises(InvalidFile, match="not a mechanism file"):
        rb.load_count(poll)
    shown = CliRunner().invoke(app, ["check", str(count)]).output
    assert "whole numbers from 0 to 500" in shown
    assert "proved     exactly, noise of total weight" in shown
    told = json.loads(CliRunner().invoke(app, ["check", str(count), "--json"]).output)
    assert told["mechanism"] == "canonical-noise"
    assert "homogeneous" in CliRunner().invoke(app, ["check", str(poll)]).output

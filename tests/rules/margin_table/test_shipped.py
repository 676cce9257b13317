"""The tables that come with the package: all there, proved, and what making them gives."""

from __future__ import annotations

import itertools
import zipfile
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
from rainbowdp.exact.keeping import ARCHIVE, Shelf
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.margin_table import build
from rainbowdp.rules.margin_table.build import SHELF, SHIPPED, fetch_table, wanted
from rainbowdp.rules.margin_table.program import make_table
from rainbowdp.rules.margin_table.shipping import ship
from rainbowdp.storage.documents import checksummed

SHAPES = list(itertools.product((3, 4, 5, 6), SHIPPED, Neighbors, Ties))


def asked_for(answers: int, epsilon: str, neighbors: str, ties: str) -> dict[str, Any]:
    return wanted(answers, rb.DP(epsilon), neighbors, ties)


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no table can be made."""
    monkeypatch.setenv("RAINBOWDP_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(build, "SHELF", replace(SHELF, _held={}))

    def make(*_: Any) -> None:
        raise AssertionError("a table is made")

    monkeypatch.setattr(build, "make_table", make)
    return tmp_path


@pytest.mark.parametrize(
    ("answers", "epsilon", "neighbors", "ties"),
    [pytest.param(*shape, marks=[pytest.mark.slow] if shape[0] > 4 else []) for shape in SHAPES],
)
def test_it_is_there_and_proved(
    alone: Path, answers: int, epsilon: str, neighbors: str, ties: str
) -> None:
    table, mixing = fetch_table(answers, rb.DP(epsilon), neighbors, ties)
    assert table.prove(rb.DP(epsilon), tuple("abcdef"[:answers]), None)
    assert 0 <= mixing < 1e-3
    assert not (alone / "kept").exists()


def test_nothing_else_is_there() -> None:
    with zipfile.ZipFile(str(files("rainbowdp.rules.margin_table") / ARCHIVE)) as archive:
        names = archive.namelist()
    assert sorted(names) == sorted(SHELF.place(asked_for(*shape)).name for shape in SHAPES)
    assert SHELF.shipped(asked_for(3, "0.7", "substituted", "first listed")) is None


@pytest.mark.parametrize("ties", list(Ties))
def test_making_it_gives_the_same_chances(ties: str, alone: Path) -> None:
    """But for what another version of the solver may do in the last places."""
    here, _ = fetch_table(3, rb.DP(1), "substituted", ties)
    made, _ = make_table(3, rb.DP(1), "substituted", ties)
    assert made.shape == here.shape
    for gaps in itertools.product((0, 1, 2, 5, 9), repeat=2):
        assert made.right_at(gaps) == pytest.approx(here.right_at(gaps), abs=1e-4)


def test_one_that_is_not_private_is_not_taken(
    alone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: Any = (3, rb.DP(1), "substituted", "first listed")
    content = dict(SHELF.shipped(wanted(*asked)) or {})
    first, second, *rest = content["rows"][0]
    content["rows"][0] = [str(int(first) + int(second)), "0", *rest]
    monkeypatch.setattr(Shelf, "_shipped_text", lambda *_: checksummed(content))
    with pytest.raises(AssertionError, match="a table is made"):
        fetch_table(*asked)
    assert "is of no use" in capsys.readouterr().err


@pytest.mark.slow
def test_the_archive_is_made_of_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAINBOWDP_CACHE", str(tmp_path / "kept"))
    (tmp_path / "kept").mkdir()
    for shape in SHAPES:
        path = SHELF.place(asked_for(*shape))
        path.write_text(str(SHELF._shipped_text(path.name)))
    monkeypatch.setattr(build, "SHELF", replace(SHELF, _held={}))
    ship(tmp_path / "made.zip")
    with (
        zipfile.ZipFile(tmp_path / "made.zip") as made,
        zipfile.ZipFile(str(files("rainbowdp.rules.margin_table") / ARCHIVE)) as there,
    ):
        assert [(i.filename, i.CRC) for i in made.infolist()] == [
            (i.filename, i.CRC) for i in there.infolist()
        ]

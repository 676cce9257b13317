"""The tables that come with the package: all there, proved, and what making them gives."""

from __future__ import annotations

import itertools
import json
import zipfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.margin_table import cache
from rainbowdp.rules.margin_table.program import make_table
from rainbowdp.rules.margin_table.shipped import ANSWERS, ARCHIVE, EPSILONS, shipped
from rainbowdp.rules.margin_table.shipping import ship
from rainbowdp.storage.documents import checksummed

SHAPES = list(itertools.product(ANSWERS, EPSILONS, Neighbors, Ties))


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no table can be made."""
    monkeypatch.setenv("RAINBOWDP_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(cache, "_kept", {})

    def make(*_: Any) -> None:
        raise AssertionError("a table is made")

    monkeypatch.setattr(cache, "make_table", make)
    return tmp_path


@pytest.mark.parametrize(
    ("answers", "epsilon", "neighbors", "ties"),
    [pytest.param(*shape, marks=[pytest.mark.slow] if shape[0] > 4 else []) for shape in SHAPES],
)
def test_it_is_there_and_proved(
    alone: Path, answers: int, epsilon: str, neighbors: str, ties: str
) -> None:
    table, mixing = cache.fetch_table(answers, rb.DP(epsilon), neighbors, ties)
    assert table.prove(rb.DP(epsilon), tuple("abcdef"[:answers]), None)
    assert 0 <= mixing < 1e-3
    assert not (alone / "kept").exists()


def test_nothing_else_is_there() -> None:
    with zipfile.ZipFile(str(files("rainbowdp.rules.margin_table") / ARCHIVE)) as archive:
        names = archive.namelist()
    wanted = [cache.kept_at(n, rb.DP(e), r, t).name for n, e, r, t in SHAPES]
    assert sorted(names) == sorted(wanted)
    assert shipped("another.json") is None


@pytest.mark.parametrize("ties", list(Ties))
def test_making_it_gives_the_same_chances(ties: str, alone: Path) -> None:
    """But for what another version of the solver may do in the last places."""
    here, _ = cache.fetch_table(3, rb.DP(1), "substituted", ties)
    made, _ = make_table(3, rb.DP(1), "substituted", ties)
    assert made.shape == here.shape
    for gaps in itertools.product((0, 1, 2, 5, 9), repeat=2):
        assert made.right_at(gaps) == pytest.approx(here.right_at(gaps), abs=1e-4)


def test_one_that_is_not_private_is_not_taken(
    alone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: Any = (3, rb.DP(1), "substituted", "first listed")
    content = json.loads(str(shipped(cache.kept_at(*asked).name)))
    del content["checksum"]
    first, second, *rest = content["rows"][0]
    content["rows"][0] = [first + second, 0, *rest]
    monkeypatch.setattr(cache, "shipped", lambda _: checksummed(content))
    with pytest.raises(AssertionError, match="a table is made"):
        cache.fetch_table(*asked)
    assert "is of no use" in capsys.readouterr().err


@pytest.mark.slow
def test_the_archive_is_made_of_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAINBOWDP_CACHE", str(tmp_path / "kept"))
    (tmp_path / "kept").mkdir()
    for shape in SHAPES:
        path = cache.kept_at(shape[0], rb.DP(shape[1]), *shape[2:])
        path.write_text(str(shipped(path.name)))
    monkeypatch.setattr(cache, "_kept", {})
    ship(tmp_path / "made.zip")
    with (
        zipfile.ZipFile(tmp_path / "made.zip") as made,
        zipfile.ZipFile(str(files("rainbowdp.rules.margin_table") / ARCHIVE)) as there,
    ):
        assert [(i.filename, i.CRC) for i in made.infolist()] == [
            (i.filename, i.CRC) for i in there.infolist()
        ]

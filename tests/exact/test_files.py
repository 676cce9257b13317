"""Mechanism files: what is saved comes back, and a save is whole or nothing."""

from __future__ import annotations

import errno
import json
import os
import stat
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
import reference
from mechanism_files import (
    KINDS,
    THREE,
    chain,
    made,
)
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.rules.files import load
from rainbowdp.rules.homogeneous.rule import Homogeneous
from rainbowdp.storage.documents import checksum


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_comes_back(kind: str, tmp_path: Path) -> None:
    mechanism = made(kind)
    path = tmp_path / "mechanism.json"
    assert mechanism.save(path) == path
    back = load(path)
    assert back == mechanism
    scope = back.proof.scope  # of a graph's file alone: with the graph nothing is left open
    assert back.proof == replace(mechanism.proof, scope=scope)
    assert scope
    assert back.rule == mechanism.rule
    assert type(back.rule) is type(mechanism.rule)
    assert (back.answers, back.neighbors) == (mechanism.answers, mechanism.neighbors)
    assert back.describe() == mechanism.describe()
    back.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.json", "mechanism.json"]


def test_a_question_is_asked_out_of_its_file(tmp_path: Path) -> None:
    for guarantee in (rb.DP("0.5"), rb.DP(1)):
        mechanism = rb.best(THREE, guarantee)
        mechanism.save(str(tmp_path / "m.json"))
        back = load(tmp_path / "m.json")
        for counts in reference.histograms(3, 6):
            table = dict(zip("abc", counts, strict=True))
            assert back.at(table) == mechanism.exact().at(table)


def test_a_graph_is_asked_by_region_and_depth(tmp_path: Path) -> None:
    graph = chain("left", ("right", 1))
    mechanism = rb.optimal(graph, rb.DP(1))
    mechanism.save(str(tmp_path / "m.json"))
    back = load(tmp_path / "m.json")
    for d in graph.datasets:
        assert back.at((graph.region[d], graph.depth[d])) == mechanism.exact().at(d)


def test_a_file_is_readable_json_with_a_checksum(tmp_path: Path) -> None:
    made("proximity").save(tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text(encoding="utf-8")
    content = json.loads(text)
    assert text.endswith("}\n")
    assert content["format"] == "rainbowdp mechanism"
    assert content["version"] == 1
    assert content["guarantee"] == {"kind": "dp", "ratio": "3", "delta": "1/1000"}
    assert content["neighbors"] == "substituted"
    assert all(weight == str(int(weight)) for weight in content["steps"])
    claimed = content.pop("checksum")
    assert checksum(content) == claimed
    assert checksum(dict(reversed(content.items()))) == claimed


# saving


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(rb.InvalidFile) as caught:
        made("graph").save(tmp_path / "none" / "m.json")
    reference.assert_one_sentence(caught.value, "none", "No such file")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "m.json").mkdir()
    with pytest.raises(rb.InvalidFile):
        made("graph").save(tmp_path / "m.json")
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


STOPS = [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), MemoryError()]


@pytest.mark.parametrize("error", STOPS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_save_that_is_cut_off_leaves_all_as_it_was(
    error: BaseException, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made("graph").save(tmp_path / "m.json")
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise error

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(Path, "replace", fail)
        monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(rb.InvalidFile if isinstance(error, OSError) else type(error)):
        made("proximity").save(path)
    with pytest.raises(rb.InvalidFile if isinstance(error, OSError) else type(error)):
        made("proximity").save(tmp_path / "new.json")
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def test_a_full_disk_leaves_all_as_it_was(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk: the write itself fails."""
    import resource
    import signal

    path = made("table").save(tmp_path / "m.json")
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    larger = made("homogeneous")
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(rb.InvalidFile):
            larger.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def test_a_saved_file_replaces_the_old_one_whole(tmp_path: Path) -> None:
    path = made("homogeneous").save(tmp_path / "m.json")
    made("table").save(path)
    assert load(path) == made("table")


def test_a_file_is_as_readable_as_any_other(tmp_path: Path) -> None:
    """Not only for its maker: a mechanism file is there to be read."""
    plain = tmp_path / "plain"
    plain.write_text("")
    path = made("table").save(tmp_path / "m.json")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.mark.parametrize("label", [None, 1.5, True, frozenset({1}), ("a", None), b"a", "\ud800"])
def test_a_name_that_a_file_cannot_hold_is_refused(label: Any, tmp_path: Path) -> None:
    rule = Homogeneous({label: ((1, 1),)}, {}, ())
    with pytest.raises(rb.InvalidFile):
        ExactMechanism(rb.DP(1), ("yes", "no"), rule).save(tmp_path / "m.json")
    named = ExactMechanism(rb.DP(1), (label, "no"), Homogeneous({"r": ((1, 1),)}, {}, ()))
    with pytest.raises(rb.InvalidFile):
        named.save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


def test_mixing_is_kept(tmp_path: Path) -> None:
    plain = made("table")
    mixed = ExactMechanism(plain.guarantee, plain.answers, plain.rule, mixing=Fraction(1, 1 << 52))
    assert load(mixed.save(tmp_path / "m.json")).mixing == Fraction(1, 1 << 52)

"""Kept tables: made once, never trusted when damaged, nowhere but in their folder."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rainbowdp as rb
from kinds import prove
from rainbowdp.exact.keeping import Shelf, cache_folder
from rainbowdp.rules.margin_table import build as table_store
from rainbowdp.rules.margin_table import proof as table_proof
from rainbowdp.rules.margin_table.build import SHELF, fetch_table
from rainbowdp.rules.margin_table.rule import MarginTable
from rainbowdp.storage.documents import write_document

ASKED: Any = (2, rb.DP(1), "substituted", "any leader")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for tables."""
    monkeypatch.setenv("RAINBOWDP_CACHE", str(tmp_path / "kept"))
    forget(monkeypatch)
    return tmp_path / "kept"


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if in a new process."""
    monkeypatch.setattr(table_store, "SHELF", replace(SHELF, _held={}))
    monkeypatch.setattr(table_proof, "_remembered", {})


def no_table(*_: object) -> Any:
    raise AssertionError("a table was made")


def only_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def test_a_table_is_made_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = fetch_table(*ASKED)
    assert only_file(folder).suffix == ".json"
    monkeypatch.setattr(table_store, "make_table", no_table)
    assert fetch_table(*ASKED) is made
    forget(monkeypatch)
    again = fetch_table(*ASKED)
    assert again == made
    assert again is not made
    others: list[Any] = [
        (3, rb.DP("1.0001"), *ASKED[2:]),
        (2, rb.DP("1.0001"), *ASKED[2:]),
        (2, rb.DP(1, "1e-9"), *ASKED[2:]),
        (*ASKED[:2], "added or removed", ASKED[3]),
        (*ASKED[:3], "first listed"),
    ]
    for other in others:
        with pytest.raises(AssertionError, match="was made"):
            fetch_table(*other)


def test_what_was_proved_is_kept_with_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = fetch_table(*ASKED)
    proof = prove(ASKED[1], table)
    forget(monkeypatch)
    again, _ = fetch_table(*ASKED)
    assert prove(ASKED[1], again) == proof
    assert prove(ASKED[1], again, exactly=True) == proof


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def changed(**fields: Any) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        content = json.loads(path.read_text())
        content.pop("checksum")
        path.unlink()
        write_document(content | fields, path)

    return change


def another(path: Path) -> None:
    """The file of another question under this name."""
    fetch_table(2, rb.DP(1), "added or removed", "any leader")
    (other,) = set(path.parent.iterdir()) - {path}
    other.rename(path)


def of_other_knots(path: Path) -> None:
    content = json.loads(path.read_text())
    shape = content["shape"] | {"farthest": content["shape"]["farthest"] + 1}
    changed(shape=shape)(path)


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "one bit": flipped,
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "empty": lambda path: path.write_text(""),
    "not JSON": lambda path: path.write_text("hello\n"),
    "not text": lambda path: path.write_bytes(b"\xff\xfe\x00"),
    "not an object": lambda path: path.write_text("[1]"),
    "nested": lambda path: path.write_text("[" * 100_000),
    "another version": changed(version=SHELF.version + 1),
    "another format": changed(format="rainbowdp mechanism"),
    "another question": another,
    "other knots": of_other_knots,
    "no rows": changed(rows=[]),
    "rows of nothing": changed(rows=None),
    "a shape of nothing": changed(shape=None),
    "no mixing": changed(mixing="a lot"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_table_is_said_so_and_made_again(
    damage: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = fetch_table(*ASKED)
    path = only_file(folder)
    whole = path.read_bytes()
    DAMAGES[damage](path)
    forget(monkeypatch)
    capsys.readouterr()
    assert fetch_table(*ASKED) == made
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("A margin table is made again")
    assert err.count("\n") == 1
    assert path.read_bytes() == whole
    forget(monkeypatch)
    monkeypatch.setattr(table_store, "make_table", no_table)
    assert fetch_table(*ASKED) == made
    assert capsys.readouterr() == ("", "")


def test_a_table_for_something_else_is_not_taken(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Even one that passes every proof, as a table for a smaller ε would."""
    shelf: Shelf[Any] = Shelf("toy", 1, "rainbowdp")

    def fetch(shelf: Shelf[Any], wanted: str) -> str:
        made = SimpleNamespace(describe=lambda: {"made for": wanted}, name=wanted)
        table, _ = shelf.fetch(
            {"answers": 2, "for": wanted},
            lambda _: (made, Fraction(0)),
            lambda content: SimpleNamespace(name=content["made for"]),
        )
        name: str = table.name
        return name

    assert fetch(shelf, "this") == "this"
    kept = shelf.place({"answers": 2, "for": "this"})
    assert fetch(replace(shelf, _held={}), "this") == "this"
    kept.rename(shelf.place({"answers": 2, "for": "that"}))
    capsys.readouterr()
    assert fetch(replace(shelf, _held={}), "that") == "that"
    assert "must be for {'answers': 2, 'for': 'that'}" in capsys.readouterr().err


def test_rows_that_break_the_guarantee_are_not_released(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if somebody made the checksum fit."""
    fetch_table(*ASKED)
    path = only_file(folder)
    content = json.loads(path.read_text())
    total = content["total"]
    half = str(int(total) // 2)
    changed(rows=[[half, half], *([total, "0"] for _ in content["rows"][1:])])(path)
    forget(monkeypatch)
    table, _ = fetch_table(*ASKED)
    assert prove(ASKED[1], table, exactly=True)


@pytest.mark.parametrize("kind", ["a file", "a folder in its place", "not writable"])
def test_a_folder_that_cannot_be_used_costs_only_time(
    kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = fetch_table(*ASKED)
    path = only_file(folder)
    path.unlink()
    forget(monkeypatch)
    if kind == "a file":
        folder.rmdir()
        folder.write_text("")
    elif kind == "a folder in its place":
        path.mkdir()
    else:
        monkeypatch.setenv("RAINBOWDP_CACHE", "/proc/rainbowdp")  # where not even root may write
    assert fetch_table(*ASKED) == made
    _, err = capsys.readouterr()
    assert "A margin table is not kept for next time" in err
    for line in err.splitlines():
        assert line.startswith("A margin table is ")


@pytest.mark.slow
def test_two_processes_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import rainbowdp as rb; from rainbowdp.rules.margin_table.build import fetch_table\n"
        "print(hash(fetch_table(2, rb.DP(1), 'substituted', 'any leader')[0].rows))"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = {process.communicate()[0] for process in started}
    assert [process.returncode for process in started] == [0, 0]
    assert said == {f"{hash(fetch_table(*ASKED)[0].rows)}\n"}
    assert only_file(folder)


MAKERS = """
import os, sys
import rainbowdp as rb
from rainbowdp.rules.margin_table import build
make = build.make_table
def noted(*arguments):
    with open(os.environ["NOTES"], "a") as notes:
        notes.write("made\\n")
    return make(*arguments)
build.make_table = noted
print(hash(build.fetch_table(3, rb.DP("2.1"), "added or removed", "any leader")[0].rows))
"""


@pytest.mark.slow
def test_of_four_processes_one_makes_the_table_and_the_others_wait(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))
    started = [
        subprocess.Popen([sys.executable, "-c", MAKERS], stdout=subprocess.PIPE) for _ in range(4)
    ]
    said = {process.communicate()[0] for process in started}
    assert [process.returncode for process in started] == [0] * 4
    assert len(said) == 1
    assert (tmp_path / "notes").read_text() == "made\n"
    assert only_file(folder).suffix == ".json"


@pytest.mark.slow
def test_a_lock_ends_with_the_process_that_held_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = fetch_table(*ASKED)
    path = only_file(folder)
    path.unlink()
    lock = path.with_suffix(".lock")
    holder = subprocess.Popen(
        [sys.executable, "-c", f"""
import fcntl, time
file = open({str(lock)!r}, "ab")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""],
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    code = (
        "import rainbowdp as rb; from rainbowdp.rules.margin_table.build import fetch_table\n"
        "fetch_table(2, rb.DP(1), 'substituted', 'any leader')"
    )
    waiting = subprocess.Popen([sys.executable, "-c", code])
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.wait(3)
    assert not path.exists()
    holder.kill()
    holder.communicate()
    assert waiting.wait(60) == 0
    forget(monkeypatch)
    monkeypatch.setattr(table_store, "make_table", no_table)
    assert fetch_table(*ASKED) == made
    assert not lock.exists()


def test_without_locks_everyone_makes_the_table(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert fetch_table(*ASKED)
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
    forget(monkeypatch)
    only_file(folder).unlink()
    assert fetch_table(*ASKED)
    assert only_file(folder).suffix == ".json"


def test_nothing_is_written_elsewhere(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    fetch_table(*ASKED)
    assert list(home.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir() if path != home] == ["kept"]
    assert only_file(folder).stat().st_mode & 0o077 in (0, 0o044)


def test_where_tables_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RAINBOWDP_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if os.name != "nt":
        assert cache_folder() == tmp_path / "rainbowdp"
        monkeypatch.setenv("XDG_CACHE_HOME", "")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert cache_folder() == tmp_path / ".cache" / "rainbowdp"


def test_a_mechanism_takes_its_table_from_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = rb.Winner(["a", "b"], ties="any leader")
    table, mixing = fetch_table(*ASKED)
    monkeypatch.setattr(table_store, "make_table", no_table)
    exact = rb.best(question, rb.DP(1)).exact()
    assert isinstance(exact.rule, MarginTable)
    assert (exact.rule, exact.mixing) == (table, mixing)

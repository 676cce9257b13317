"""One file, one name, one ledger: what could be overspent is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
from ledgers import new_ledger, says, spend
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import Ledger, files


def test_a_second_name_is_refused_by_every_handle(tmp_path: Path) -> None:
    place, other = tmp_path / "budget.db", tmp_path / "other.db"
    ledger = new_ledger(place, epsilon=1)
    entry = spend(ledger, rb.DP("0.1"))
    other.hardlink_to(place)
    for name in (place, other):
        message = says(
            f"{name} has a second name, a hard link, and a ledger under two names can be "
            "overspent. Remove the other name, or make a copy and use only that."
        )
        with pytest.raises(LedgerError, match=message):
            Ledger.open(name)
    for work in (
        ledger.balance,
        lambda: spend(ledger, rb.DP(1)),
        lambda: ledger.record(entry, "r"),
    ):
        with pytest.raises(LedgerError, match="has a second name"):
            work()
    other.unlink()
    assert ledger.record(entry, "red").answer == "red"


def test_a_creation_that_was_killed_between_its_two_names_is_finished(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    new_ledger(place, epsilon=1)
    draft = tmp_path / ".rainbow-abc" / "ledger"
    draft.parent.mkdir()
    draft.hardlink_to(place)
    ledger = Ledger.open(place)
    assert [path.name for path in tmp_path.iterdir()] == ["budget.db"]
    spend(ledger, rb.DP(1))


def test_a_draft_is_removed_by_whoever_comes_first_and_no_other_file_is(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    new_ledger(place, epsilon=1)
    others = [tmp_path / f".rainbow-{name}" / "ledger" for name in "ac"]
    for other in others:  # of ledgers that others are making
        other.parent.mkdir()
        other.touch()
    draft = tmp_path / ".rainbow-b" / "ledger"
    draft.parent.mkdir()
    draft.hardlink_to(place)
    found = place.stat()
    assert files.seen(place, "here") == (found.st_dev, found.st_ino)
    assert {path.name for path in tmp_path.iterdir()} == {"budget.db", ".rainbow-a", ".rainbow-c"}
    assert all(other.exists() for other in others)
    assert files.seen(tmp_path / "none", "here") is None
    for other in others:
        other.unlink()
        other.parent.rmdir()
    draft.parent.mkdir()
    draft.hardlink_to(place)
    files.finish_creation(place)
    assert {path.name for path in tmp_path.iterdir()} == {"budget.db"}


def test_a_creation_whose_draft_somebody_else_removed_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By opening the ledger as soon as it has its name."""
    link = Path.hardlink_to

    def linked(path: Path, target: Path) -> None:
        link(path, target)
        files.finish_creation(path)

    monkeypatch.setattr(Path, "hardlink_to", linked)
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    assert [path.name for path in tmp_path.iterdir()] == ["budget.db"]
    assert ledger.verify().number == 1


@contextmanager
def mounted(source: Path, target: Path) -> Iterator[bool]:
    """A file under a second name by a bind mount; False where this user may not."""
    target.touch()
    command = ["mount", "--bind", str(source), str(target)]
    done = os.geteuid() == 0 and subprocess.run(command, check=False).returncode == 0
    try:
        yield done
    finally:
        if done:
            subprocess.run(["umount", str(target)], check=True)


def test_a_file_that_is_mounted_by_itself_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, target = tmp_path / "budget.db", tmp_path / "mounted here.db"
    new_ledger(place, epsilon=1)
    with mounted(place, target) as done:
        if not done:
            shutil.copy(place, target)
            monkeypatch.setattr(files, "_mounts", lambda: {str(target)})
        message = says(
            f"{target} is a file that is mounted by itself, and a ledger under two names can be "
            "overspent. Mount the folder that holds it instead."
        )
        with pytest.raises(LedgerError, match=message):
            Ledger.open(target)
    assert Ledger.open(place).balance().entries == 0


def test_mounts_are_read_as_linux_writes_them() -> None:
    if Path("/proc/self/mountinfo").exists():
        assert "/" in files._mounts()
        assert "/proc" in files._mounts()


def test_where_nothing_is_told_of_mounts_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", unsupported)
    assert files._mounts() == set()


def granted(*_: Any) -> int:
    return 0


def unsupported(*_: Any, **__: Any) -> int:
    raise OSError(38, "Function not implemented")


def opened() -> int:
    """How many files this process has open."""
    return len([*Path("/dev/fd").iterdir()])


def test_locks_work_here_and_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = opened()
    assert files.locks_work(tmp_path) is True
    assert files.locks_work(tmp_path / "none") is True  # SQLite says why nobody can pay there
    with monkeypatch.context() as patch:
        for answer in (granted, unsupported):
            patch.setattr("fcntl.fcntl", answer)
            assert files.locks_work(tmp_path) is False
    monkeypatch.delattr("fcntl.F_OFD_SETLK")
    assert files.locks_work(tmp_path) is True
    assert list(tmp_path.iterdir()) == []
    assert opened() == before


@pytest.mark.parametrize("answer", [granted, unsupported])
def test_a_file_system_without_working_locks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    place = tmp_path / "budget.db"
    new_ledger(place, epsilon=1)
    monkeypatch.setattr("fcntl.fcntl", answer)
    for refused in (Ledger.open, lambda place: new_ledger(f"{place}.2", epsilon=1)):
        with pytest.raises(LedgerError, match="is on a file system that grants one lock to two"):
            refused(place)
    assert [path.name for path in tmp_path.iterdir()] == ["budget.db"]


def test_a_file_that_is_replaced_during_a_transaction(tmp_path: Path) -> None:
    place, copy = tmp_path / "budget.db", tmp_path / "copy.db"
    ledger = new_ledger(place, epsilon=1)
    shutil.copy(place, copy)
    message = says(
        f"{place} was replaced by another file while it was in use. Find out which file is the "
        "ledger, and look at its history before you ask again."
    )
    with pytest.raises(LedgerError, match=message), ledger._writing():
        copy.replace(place)
    with pytest.raises(LedgerError, match=message), ledger._reading():
        place.unlink()


def test_a_journal_is_as_private_as_the_ledger(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = new_ledger(place, epsilon=1)
    before = os.umask(0)
    try:
        with ledger._writing() as book:
            book.add([ledger._signed("note", {"text": "hello", "entry": None})])
            book.write()
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == {"budget.db": 0o600, "budget.db-journal": 0o600}

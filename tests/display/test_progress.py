from __future__ import annotations

import io
import time

import pytest

from rainbowdp.display import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("quiet", "said"), [(0.01, "compiling\n"), (60.0, "")])
def test_long_work_is_announced_on_a_terminal(
    quiet: float, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "QUIET_FOR", quiet)
    progress.say_once.cache_clear()
    with progress.announced("compiling"):
        deadline = time.monotonic() + 10
        while said and not terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert terminal.getvalue() == said


def test_nothing_is_said_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "QUIET_FOR", 0.0)
    with progress.announced("compiling"):
        time.sleep(0.05)
    assert list(progress.track(range(3), 3, "margins")) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("quiet", [0.0, 60.0])
def test_a_bar_shows_once_items_take_long(quiet: float, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "QUIET_FOR", quiet)
    assert list(progress.track(iter(range(3)), 3, "margins")) == [0, 1, 2]
    assert ("margins" in terminal.getvalue()) == (quiet == 0)


def test_timed_work_says_what_it_is_at_and_for_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "QUIET_FOR", 0.01)
    with progress.timed("Making it") as stage:
        stage("round 2")
        deadline = time.monotonic() + 10
        while "round 2" not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "Making it: round 2" in terminal.getvalue()
    assert "0:00:0" in terminal.getvalue()


def test_timed_work_that_is_quick_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress.timed("Making it") as stage:
        stage("round 1")
    assert "Making it" not in terminal.getvalue()


def test_timed_work_says_nothing_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.timed("Making it") as stage:
        stage("round 1")
    assert capsys.readouterr() == ("", "")

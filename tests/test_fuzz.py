"""Odd things given to every public callable, reader and command: only our own errors escape."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FUZZ = Path(__file__).parent.parent / "fuzz"
sys.path.append(str(FUZZ))

from calls import TARGETS  # noqa: E402  found by the line above
from run import finding  # noqa: E402


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.binary(min_size=24, max_size=24))
def test_only_our_own_errors_escape(name: str, data: bytes) -> None:
    assert finding(name, data) is None


def test_what_escapes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object) -> None:
        raise ZeroDivisionError("planted")

    def hangs(*given: object) -> None:
        while True:
            pass

    monkeypatch.setitem(TARGETS, "planted", fails)
    assert str(finding("planted", b"")).startswith("ZeroDivisionError at test_fuzz.py")
    monkeypatch.setattr("run.LIMIT", 0.1)
    monkeypatch.setitem(TARGETS, "planted", hangs)
    assert finding("planted", b"") == "more than 0.1 s"


@pytest.mark.slow
def test_a_minute_of_fuzzing() -> None:
    words = [sys.executable, str(FUZZ / "run.py"), "--calls", "15000"]
    words += ["--seed", "1"] if "CI" in os.environ else []  # a landing must not depend on luck
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout

"""The examples run on what is shipped."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


ALONE = [
    path for path in sorted(EXAMPLES.glob("*.py")) if path.stem != "spark_depth"
]  # spark-submit


@pytest.mark.parametrize("path", ALONE, ids=lambda path: path.stem)
def test_an_example_runs(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [str(path)])
    monkeypatch.setenv("COLUMNS", "200")
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_the_attacker_never_learns_more_than_the_guarantee_allows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = EXAMPLES / "nearest_hospital.py"
    monkeypatch.setattr(sys, "argv", [str(path), "--epsilon", "1/3", "--hospitals", "3"])
    monkeypatch.setenv("COLUMNS", "200")
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    lines = printed.partition("roads apart")[2].splitlines()
    shares = [[float(word[:-1]) for word in line.split() if word.endswith("%")] for line in lines]
    found = [share for share in shares if len(share) == 3]
    assert len(found) == 5
    assert all(50 <= learned <= bound < 100 for learned, bound, _ in found)

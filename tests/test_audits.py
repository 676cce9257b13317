"""The table of ``docs/audit.md`` is what the installed libraries do."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / "audits.py"))


def lines(script: dict[str, Any], findings: Any) -> list[str]:
    made: str = script["table"](list(findings))
    return made.splitlines()


def test_what_is_found_exactly_is_on_the_page(script: dict[str, Any]) -> None:
    page = (FOLDER / "audit.md").read_text().splitlines()
    for line in lines(script, script["laws"]()):
        assert line in page


@pytest.mark.slow
def test_what_is_drawn_is_on_the_page(script: dict[str, Any]) -> None:
    page = (FOLDER / "audit.md").read_text().splitlines()
    for line in lines(script, script["draws"]()):
        assert line in page


def test_the_page_is_written_between_its_marks(script: dict[str, Any]) -> None:
    page = (FOLDER / "audit.md").read_text()
    finding = script["Finding"]("a", "b", "c", "d", "e", "broken")
    made = script["written"](page, [finding])
    assert "| a | b | c | d | e | **broken** |" in made
    before, after = page.split(script["START"])[0], page.split(script["END"])[1]
    assert made.startswith(before)
    assert made.endswith(after)
    assert script["written"](made, [finding]) == made

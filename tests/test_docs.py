"""Every code block of the README and the docs does what it says."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rainbowdp.cli import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN_ELSEWHERE = {"sh"}  # the two make targets; CI runs them


def session(code: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output printed below it."""
    for part in code.split("\n$ " if code.startswith("$ ") else "$ "):
        command, _, output = part.removeprefix("$ ").partition("\n")
        yield command, output.strip("\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run(
    page: Path,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    parser = doctest.DocTestParser()
    for number, (language, code) in enumerate(BLOCK.findall(page.read_text())):
        where = f"{page.name}, block {number}"
        known = {"python", "pycon", "console"} | RUN_ELSEWHERE
        assert language in known, f"{where}: unknown {language!r}"
        if language == "python":
            exec(compile(code, where, "exec"), names)
        elif language == "pycon":
            test = parser.get_doctest(code, names, where, str(page), 0)
            result = runner.run(test, clear_globs=False)
            names.update(test.globs)
            assert result.failed == 0, capsys.readouterr().out
        elif language == "console":
            for command, shown in session(code):
                program, *arguments = shlex.split(command)
                assert program == "rainbow", where
                printed = CliRunner().invoke(app, arguments).output
                assert printed.strip("\n") == shown, f"{where}: {command}"


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not target.startswith("https://"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"

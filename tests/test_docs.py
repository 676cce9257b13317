"""Every code block of the README and the docs does what it says."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import rainbowdp as rb
from postgres import fresh_schema
from rainbowdp.cli import app
from spark_session import work_in

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN_ELSEWHERE = {"sh", "toml"}  # make targets, which CI runs, other programs, and files
SERVER = re.compile(r"postgresql://\w+@db\.example\.org/\w+")  # a page's name for a real one
CHECKOUT = "/home/ann/rainbowdp"  # a page's name for this folder


def session(code: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output printed below it."""
    for part in code.split("\n$ " if code.startswith("$ ") else "$ "):
        command, _, output = part.removeprefix("$ ").partition("\n")
        yield command, output.strip("\n")


def printed(command: str, server: str | None) -> str:
    """What a command prints; where a page speaks of a server it runs against ``server``."""
    named = SERVER.search(command)
    if named:
        assert server is not None
        command = command.replace(named[0], server)
    program, *arguments = shlex.split(command)
    assert program == "rainbow"
    output = CliRunner().invoke(app, arguments).output.strip("\n")
    output = output.replace(str(ROOT.resolve()), CHECKOUT)
    return output.replace(server, named[0]) if named and server else output


def timeless(output: str) -> str:
    """The same for every moment at which an answer was drawn."""
    moments = re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\d UTC", "then", output)
    return re.sub(r"\b\d+:[0-9a-f]{16,64}\b", "head", moments)


def as_case(page: Path) -> Any:
    long = page.name == "when.md" or "pyspark" in page.read_text()
    slow = [pytest.mark.slow] if long else []
    return pytest.param(page, id=page.name, marks=slow)


@pytest.mark.parametrize("page", [as_case(page) for page in PAGES])
def test_code_blocks_run(
    page: Path,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    parser = doctest.DocTestParser()
    blocks = BLOCK.findall(page.read_text())
    server = None
    if any(language == "console" and SERVER.search(code) for language, code in blocks):
        server = fresh_schema(request.getfixturevalue("postgres_url"))
    if any(language == "python" and "pyspark" in code for language, code in blocks):
        work_in(request.getfixturevalue("spark"), tmp_path)
    for number, (language, code) in enumerate(blocks):
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
                found = timeless(printed(command, server))
                assert found == timeless(shown), f"{where}: {command}"


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not target.startswith("https://"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_reference_lists_every_public_name_once() -> None:
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    listed = re.findall(r"^\.\. auto\w+:: rainbowdp\.(\w+)$", pages, re.MULTILINE)
    assert sorted(listed) == sorted(rb.__all__)


def test_the_paper_page_names_what_exists() -> None:
    page = (ROOT / "docs" / "researcher.md").read_text()
    for name in re.findall(r"`rb\.(\w+)`", page):
        assert name in rb.__all__
    assert {"optimal", "printed_operator"} <= set(re.findall(r"`rb\.(\w+)`", page))


def test_pages_and_examples_import_public_names_only() -> None:
    modules = {"opendp", "paper", "plots", "spark"}
    texts = {page: "".join(code for _, code in BLOCK.findall(page.read_text())) for page in PAGES}
    texts |= {file: file.read_text() for file in (ROOT / "examples").glob("*.py")}
    for file, text in texts.items():
        for module, names in re.findall(r"from (rainbowdp[\w.]*) import ([\w, ]+)", text):
            _, _, room = module.partition(".")
            assert room in modules | {""}, f"{file.name}: {module}"
            listed = set(importlib.import_module(module).__all__) | (set() if room else modules)
            assert {name.strip() for name in names.split(",")} <= listed, f"{file.name}: {names}"
        assert "import rainbowdp." not in text, file.name

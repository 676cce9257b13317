"""Every code block of the README and the docs does what it says.

With RAINBOW_RETELL=1 in the environment a page whose commands print something else than it shows is
written anew, for you to read: ``RAINBOW_RETELL=1 pytest tests/test_docs.py -k ask.md``.
"""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import os
import re
import runpy
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import rainbowdp as rb
from postgres import fresh_schema
from rainbowdp.cli import app
from service_server import listening
from services import TOKENS, make_app
from spark_session import work_in

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN_ELSEWHERE = {"sh", "toml"}  # make targets, which CI runs, other programs, and files
SERVER = re.compile(r"postgresql://\w+@db\.example\.org/\w+")  # a page's name for a real one
SERVICE = "https://answers.example.org"  # likewise, for a service on this machine
PROGRAMS = {"bash": ["bash", "-euo", "pipefail", "-c"], "r": ["Rscript", "-e"]}
CHECKOUT = "/home/ann/rainbowdp"  # a page's name for this folder
RETELL = os.environ.get("RAINBOW_RETELL") == "1"
LONG = {
    *("when.md", "big-graph.md", "map-goals.md", "choose.md", "gallery.md", "plans.md"),
    *("per-meter.md", "rankings.md", "counts.md", "format.md", "officer.md", "team-ledger.md"),
}
PEERS = re.compile(r"^(?:import|from) (tmlt|pydp)\b", re.MULTILINE)  # which we do not install


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


def ran(language: str, code: str, printed: str | None) -> str | None:
    """What another program prints is what the block below shows of it, line by line."""
    program, *options = PROGRAMS[language]
    found = shutil.which(program)
    assert found is not None, f"{program} is missing: make programs installs it"
    run = subprocess.run([found, *options, code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr + run.stdout
    lines = [line.rstrip() for line in run.stdout.splitlines()]
    return None if printed is None or set(printed.splitlines()) <= set(lines) else run.stdout


def is_missing(code: str) -> bool:
    """Whether a block is for a library that is not ours to install, and is not there."""
    found = PEERS.search(code)
    return found is not None and importlib.util.find_spec(found[1]) is None


def retell(page: Path, command: str, shown: str, found: str) -> None:
    """Write what a command prints now into its page, in the place of what is there."""
    text = page.read_text()
    old = f"$ {command}\n{shown}".rstrip("\n")
    assert text.count(old) == 1, f"{page.name} has this block not once: {command}"
    page.write_text(text.replace(old, f"$ {command}\n{found}".rstrip("\n")))


def timeless(output: str) -> str:
    """The same for every moment at which an answer was drawn."""
    moments = re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\d UTC", "then", output)
    return re.sub(r"\b\d+:[0-9a-f]{16,64}\b", "head", moments)


@pytest.fixture
def service_of_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The service that pages ask."""
    with listening(make_app(tmp_path_factory.mktemp("service"))) as address:
        yield address


def as_case(page: Path) -> Any:
    long = page.name in LONG or "pyspark" in page.read_text()
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
    address = None
    if any(SERVICE in code for _, code in blocks):
        address = request.getfixturevalue("service_of_pages")
        (tmp_path / "token").write_text(TOKENS["ann"])
    for number, (language, shown_code) in enumerate(blocks):
        where = f"{page.name}, block {number}"
        known = {"python", "pycon", "console", "text"} | RUN_ELSEWHERE | set(PROGRAMS)
        assert language in known, f"{where}: unknown {language!r}"
        code = shown_code if address is None else shown_code.replace(SERVICE, address)
        if language in PROGRAMS:
            following = blocks[number + 1] if number + 1 < len(blocks) else ("", "")
            printed_below = following[1].strip("\n") if following[0] == "text" else None
            assert ran(language, code, printed_below) is None, where
        elif language == "python" and is_missing(code):
            continue
        elif language == "python":
            exec(compile(code, where, "exec"), names)
        elif language == "pycon":
            test = parser.get_doctest(code, names, where, str(page), 0)
            result = runner.run(test, clear_globs=False)
            names.update(test.globs)
            assert result.failed == 0, capsys.readouterr().out
        elif language == "console":
            for command, shown in session(code):
                found = printed(command, server)
                if RETELL and timeless(found) != timeless(shown):
                    told = (command, shown, found)
                    retell(page, *(text.replace(address or SERVICE, SERVICE) for text in told))
                else:
                    assert timeless(found) == timeless(shown), f"{where}: {command}"


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


def heading_anchors(page: Path) -> set[str]:
    """What GitHub and MyST call the headings of a page, outside its code."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = (re.sub(r"[`*$]|\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in titles)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in plain}


def test_links_to_headings_lead_somewhere() -> None:
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([\w./-]*)#([^)]+)\)", page.read_text()):
            other = page.parent / target if target else page
            assert anchor in heading_anchors(other), f"{page.name} links to {target}#{anchor}"


def test_the_readme_is_short_and_so_are_its_lines() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 150
    assert max(map(len, lines)) <= 230


def test_the_command_line_reference_has_every_command_and_option() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "command_line.py"))
    text = script["page"]()
    for words, command in script["commands"]():
        assert re.search(rf"^##+ {words}$", text, re.MULTILINE), words
        for param in command.params:
            if param.param_type_name == "option" and not param.hidden:
                assert f"`{param.opts[0]}" in text, f"{words} {param.opts[0]}"
    assert "--mechanism KIND" in text
    assert "`RAINBOW_LEDGER`" in text


def test_every_picture_of_the_gallery_is_drawn_by_its_code() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text()
    blocks = [code for language, code in BLOCK.findall(page) if language == "python"]
    names = [re.findall(r'"([\w-]+\.svg)"\)', code) for code in blocks]
    assert all(len(found) == 1 for found in names)
    assert len({found[0] for found in names}) == len(blocks) == page.count("\n## ")

"""The page about people does what it says, against a service that listens."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rainbowdp.cli import app
from rainbowdp.service.app import create_app
from rainbowdp.service.approvals import Approvals
from rainbowdp.service.config import read_settings
from rainbowdp.service.people.directory import people_of
from service_server import listening

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "people.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SERVICE, REQUEST, TOKEN = "https://answers.example.org", "9f3a5c7e01b2d4f6", "1c5d7e9fa0b2c4d6"


def timeless(text: str) -> str:
    """The same for every moment, and for every window of a limit; spaces may differ."""
    moments = re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\d UTC", "then", text)
    return " ".join(re.sub(r"\b[0-9a-f]{16}\b", "id", moments).split())


def printed(script: str) -> str:
    """What a block prints: commands of ours run here, all others in a shell."""
    lines, shell, found = script.splitlines(), "", ""
    for line in lines:
        if not line.startswith("rainbow "):
            shell += f"{line}\n"
            continue
        result = CliRunner().invoke(app, shlex.split(line)[1:])
        assert result.exit_code == 0, f"{line}\n{result.output}"
        found += result.output
    run = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", shell], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, f"{shell}\n{run.stdout}{run.stderr}"
    return timeless(found + run.stdout)


@pytest.mark.slow
def test_the_page_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    blocks = BLOCK.findall(PAGE.read_text())
    settings, openid = (code for language, code in blocks if language == "toml")
    file, both = tmp_path / "service.toml", tmp_path / "both.toml"
    file.write_text(settings)
    head, _, tail = settings.partition("\n\n")
    both.write_text(f"{head}\n\n{openid}\n{tail}")
    assert read_settings(both).openid is not None

    def run(script: str) -> None:
        shown = printed(script)
        for line in script.splitlines():
            if line.startswith("# "):
                assert timeless(line.removeprefix("# ")) in shown, f"{line}\n{shown}"

    first, *scripts = (code for language, code in blocks if language == "sh")
    run(first)
    people = people_of(read_settings(file))
    with listening(create_app(read_settings(file))) as address:
        for script in scripts:
            waiting = Approvals(people.store).listed(status="waiting")
            number = waiting[0].id if waiting else REQUEST
            spare = people.token("ann", by="root").id
            there = {REQUEST: number, TOKEN: spare, SERVICE: address}
            for name, real in there.items():
                script = script.replace(name, real)
            run(script)

"""The page of the service says what there is: routes, codes and settings."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from rainbowdp.ledger import Ledger
from rainbowdp.service.config import Column, DatasetSettings, Settings, read_settings
from rainbowdp.service.problems import KINDS
from services import make_app

PAGE = Path(__file__).parents[2] / "docs" / "service.md"
TEXT = PAGE.read_text()


def part(title: str) -> str:
    """What stands under a heading."""
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_route_is_in_the_table(tmp_path: Path) -> None:
    documented = set(re.findall(r"^\| `([A-Z]+ /[^`]*)`", part("HTTP"), re.MULTILINE))
    paths = make_app(tmp_path).openapi()["paths"]
    found = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert documented == {one.replace("{name:path}", "{name}") for one in found}


def test_every_code_is_in_the_table() -> None:
    rows = re.findall(r"^\| (\d{3}) \| (.*) \|$", part("HTTP"), re.MULTILINE)
    documented = {
        code: int(status) for status, codes in rows for code in re.findall(r"`(\w+)`", codes)
    }
    assert documented == {str(code): kind.status for code, kind in KINDS.items()}


@pytest.mark.parametrize(
    ("model", "where"), [(Settings, 0), (DatasetSettings, 1), (Column, 2)], ids=lambda one: str(one)
)
def test_every_setting_is_in_a_table(model: Any, where: int) -> None:
    table = part("service.toml").split("| key | default | what |")[where + 1]
    first = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    documented = [key for cell in first for key in re.findall(r"`(\w+)`", cell)]
    fields = [field.alias or name for name, field in model.model_fields.items()]
    assert sorted(documented) == sorted(fields)


def test_defaults_are_as_documented() -> None:
    table = part("service.toml").split("| key | default | what |")[1]
    said = dict(re.findall(r"^\| `(\w+)` \| `(.*?)` \|", table, re.MULTILINE))
    given = tomllib.loads("\n".join(f"{key} = {value}" for key, value in said.items()))
    column = {"data": "x", "ledger": "y", "columns": {}}
    told = Settings.model_validate({**given, "dataset": {"x": column}})
    assert told == Settings.model_validate({"dataset": {"x": column}})


def test_the_settings_of_the_page_are_those_of_a_service(tmp_path: Path) -> None:
    (settings,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    file = tmp_path / "service.toml"
    file.write_text(settings)
    found = read_settings(file)
    assert list(found.dataset["visits"].columns) == ["diagnosis", "district", "wait"]
    Ledger.create(tmp_path / "visits.db", dataset="visits", person="patient", epsilon=3)


@pytest.mark.slow
def test_the_first_ten_minutes(tmp_path: Path) -> None:
    """Every command of the first part, in a shell, on a port that is free."""
    blocks = re.findall(r"```(sh|toml)\n(.*?)```", part("Ten minutes"), re.DOTALL)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    script, settings = [], ""
    for language, code in blocks:
        code = code.replace("8080", port)
        if language == "toml":
            settings = code
            script.append("cp ../given.toml service.toml")
        else:
            script += [line for line in code.splitlines() if not line.startswith("pip ")]
    waiting = f"until curl -sf http://127.0.0.1:{port}/ready > ready; do sleep 0.2; done"
    script.insert(next(n for n, line in enumerate(script) if line.endswith("&")) + 1, waiting)
    (tmp_path / "given.toml").write_text(settings)
    folder = tmp_path / "start"
    folder.mkdir()
    stop = "trap 'kill $(jobs -p)' EXIT"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", "\n".join([stop, *script])],
        cwd=folder,
        env={**os.environ, "PATH": path, "no_proxy": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    reply = json.loads(done.stdout[done.stdout.index('{"answer"') :])
    assert reply["answer"] in ("flu", "cold")
    assert reply["entry"]["by"] == "ann"
    assert reply["entry"]["unit"] == {"kind": "person", "column": "patient"}

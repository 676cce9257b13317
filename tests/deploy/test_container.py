"""The container file, as far as it can be run where there is no engine for containers.

Its ``pip`` lines are run in an empty environment over exactly the files that it copies. The base
image, the user that it adds, and volumes are for ``make container``, which takes minutes.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTAINER = ROOT / "deploy" / "Containerfile"


def instructions() -> list[tuple[str, str]]:
    """The instructions, in order."""
    lines = CONTAINER.read_text().replace("\\\n", " ").splitlines()
    return [
        (line.split(maxsplit=1)[0], line.split(maxsplit=1)[1])
        for line in lines
        if line.strip() and not line.startswith("#")
    ]


def test_what_is_copied_is_there_and_the_service_is_not_root() -> None:
    found = instructions()
    copied = [word for kind, rest in found if kind == "COPY" for word in rest.split()[:-1]]
    assert all((ROOT / name).exists() for name in copied if not name.startswith(("-", "/")))
    kinds = [kind for kind, _ in found]
    assert dict(found)["USER"] == "rainbow"
    assert kinds.index("USER") < kinds.index("ENTRYPOINT")
    private = ("toml", "data", "csv", "db")  # the configuration and the data are mounted
    assert not [name for name in copied if name.endswith(private) and name != "pyproject.toml"]


@pytest.mark.slow
def test_its_pip_lines_and_its_entry_point_work(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "rainbow"
    found = instructions()
    for kind, rest in found:
        *names, into = rest.split()
        if kind == "COPY" and not names[0].startswith("--"):
            place = Path(into.replace("/source", str(source)))
            for name in names:
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, place, ignore=shutil.ignore_patterns("*.pyc"))
                else:
                    place.mkdir(parents=True, exist_ok=True)
                    shutil.copy(ROOT / name, place)
        if kind == "RUN" and "/opt/rainbow" in rest:
            words = shlex.split(rest.replace("/opt/rainbow", str(target)))
            words = [word.replace("/source", str(source)) for word in words]
            program = sys.executable if words[0] == "python" else words[0]
            quick = {**os.environ, "PIP_NO_COMPILE": "1"}  # only a little of it is imported here
            subprocess.run([program, *words[1:]], check=True, cwd=tmp_path, env=quick)
    program, *arguments = json.loads(dict(found)["ENTRYPOINT"])
    program = program.replace("/opt/rainbow", str(target))
    help_text = subprocess.run(
        [program, *arguments, "--help"],
        check=True,
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
    ).stdout
    assert "service.toml" in help_text

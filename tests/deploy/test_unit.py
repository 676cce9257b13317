"""The unit file is one that systemd understands, and leaves the service little to do harm with."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

UNIT = Path(__file__).parents[2] / "deploy" / "rainbow.service"
PROGRAM = "/opt/rainbow/bin/rainbow"


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit, with a program that is on this machine."""
    text = UNIT.read_text()
    assert text.count(PROGRAM) == 1
    there = tmp_path / UNIT.name
    there.write_text(text.replace(PROGRAM, shutil.which("true") or ""))
    return there


def analyzed(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    found = shutil.which("systemd-analyze")
    if found is None:
        pytest.fail("systemd-analyze is missing: make programs installs it")
    return subprocess.run([found, *arguments], capture_output=True, text=True)


def test_systemd_finds_nothing_wrong(unit: Path) -> None:
    done = analyzed("verify", unit)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_mistake_would_be_found(unit: Path) -> None:
    unit.write_text(unit.read_text().replace("NoNewPrivileges=yes", "NoNewPrivilege=yes"))
    assert "NoNewPrivilege" in analyzed("verify", unit).stderr


def test_it_is_hardened(unit: Path) -> None:
    done = analyzed("security", "--offline=true", "--threshold=20", "--no-pager", unit)
    assert done.returncode == 0, done.stdout  # exposure of at most 2.0 on systemd's scale to 10
    unit.write_text(
        unit.read_text().replace("ProtectSystem=strict\n", "").replace("SystemCall", "X")
    )
    assert analyzed("security", "--offline=true", "--threshold=20", unit).returncode != 0

"""Data flows one way, and each rule about imports fails when it is broken."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rainbowdp

ROOT = Path(__file__).parent.parent
SOURCE = Path(rainbowdp.__file__).parent


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """The contracts of ``pyproject.toml`` over the package in ``folder``."""
    script = (
        f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        "from importlinter.cli import lint_imports\n"
        f"sys.exit(lint_imports(config_filename={str(ROOT / 'pyproject.toml')!r}, no_cache=True))"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    kept = shutil.ignore_patterns("__pycache__", "static")
    shutil.copytree(SOURCE, tmp_path / "rainbowdp", ignore=kept)
    return tmp_path


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("guarantees/dp.py", "import rainbowdp.graphs.graph", "rooms"),
        ("newcomer.py", "", "rooms"),
        (
            "rules/proximity/proof.py",
            "import rainbowdp.rules.proximity.build",
            "inside a family: build, then rule, then proof",
        ),
        (
            "rules/ordered_bins/proof.py",
            "import rainbowdp.numeric.linear_programs",
            "no proof knows a solver",
        ),
        (
            "rules/homogeneous/rule.py",
            "import rainbowdp.rules.proximity.rule",
            "families do not know each other",
        ),
    ],
)
def test_a_broken_rule_is_found(copied: Path, module: str, line: str, contract: str) -> None:
    file = copied / "rainbowdp" / module
    text = file.read_text() if file.exists() else '"""A module without a room."""\n'
    file.write_text(f"{text}\n\ndef lazily() -> None:\n    {line or 'pass'}\n")
    found = lint(copied)
    assert found.returncode == 1
    assert f"{contract} BROKEN" in found.stdout


def test_the_package_keeps_them_all() -> None:
    found = lint(SOURCE.parent)
    assert found.returncode == 0, found.stdout
    assert "0 broken" in found.stdout


def test_few_modules_stand_at_the_root() -> None:
    assert len(list(SOURCE.glob("*.py"))) <= 10


def test_nobody_outside_a_family_asks_for_a_kind_of_rule() -> None:
    rules = {"Homogeneous", "MarginTable", "OrderedBins", "PermuteAndFlip", "Proximity"}
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                asked = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
                assert not asked & rules, f"{file}: line {node.lineno}"

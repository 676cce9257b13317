"""A light install: the reader runs where nothing else is, from its folder and from the command."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rainbow_release
from golden_files import FOLDER, FORGED
from rainbow_release.__main__ import main

# -I and -S: no environment, no site-packages; what is not in the standard library is not there
ALONE = [sys.executable, "-I", "-S", "-c"]


def test_nothing_but_the_standard_library_is_imported(tmp_path: Path) -> None:
    """Copied to an empty folder, as somebody would vendor it."""
    source = Path(rainbow_release.__file__).parent
    shutil.copytree(source, tmp_path / "rainbow_release", ignore=shutil.ignore_patterns("*.pyc"))
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import rainbow_release
assert rainbow_release.__file__.startswith({str(tmp_path)!r})
for name in {[path.name for path in sorted(FOLDER.glob("*.json"))]!r}:
    if name != "expected.json":
        rainbow_release.load({str(FOLDER)!r} + "/" + name)
poll = rainbow_release.load({str(FOLDER / "margin-table.json")!r})
assert poll.release({{"red": 900, "green": 1}}) == "red"
known = set(sys.stdlib_module_names) | {{"rainbow_release", "__main__"}}
foreign = {{name.partition(".")[0] for name in sys.modules}} - known
assert not foreign, foreign
print("alone")
"""
    told = subprocess.run([*ALONE, code], capture_output=True, text=True, check=False)
    assert told.stdout == "alone\n", told.stderr


def test_importing_it_imports_little() -> None:
    """What takes long to import waits until a file is read or an answer drawn."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(rainbow_release.__file__).parents[1])!r}); "
        "import rainbow_release; "
        "print({'json', 'secrets', 'random', 'hashlib', 'typing', 'dataclasses', 'inspect'}"
        " & set(sys.modules))"
    )
    told = subprocess.run([*ALONE, code], capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"


def test_the_command_proves_and_draws(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(FOLDER / "proximity-winner.json")]) == 0
    assert "proved: proximity, 8 weights by margin" in capsys.readouterr().out
    assert main([str(FOLDER / "proximity-winner.json"), "--counts", "red=99,green=7"]) == 0
    assert capsys.readouterr().out in ("red\n", "green\n", "blue\n")
    assert main([str(FOLDER / "margin-flip-graph.json"), "--margins", "x=0,y=99,z=99"]) == 0
    assert capsys.readouterr().out == "x\n"
    assert main([str(FOLDER / "homogeneous-graph.json"), "--region", "x", "--depth", "2"]) == 0
    assert capsys.readouterr().out in ("x\n", "y\n", "z\n")
    assert (
        main([str(FOLDER / "homogeneous-graph-gaussian.json"), "--region", "1", "--depth", "2"])
        == 0
    )
    assert capsys.readouterr().out in ("yes\n", "no\n")
    assert main([str(FOLDER / "count.json"), "--counts", "matching=500"]) == 0
    assert abs(int(capsys.readouterr().out) - 500) < 60


@pytest.mark.parametrize(
    ("option", "begins"),
    [("--javascript", "// Release"), ("--sql", "-- Draw"), ("--schema", "{\n")],
)
def test_the_command_prints_the_others(
    option: str, begins: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([option]) == 0
    assert capsys.readouterr().out.startswith(begins)


@pytest.mark.parametrize(
    "arguments",
    [
        [str(FORGED / "proximity-winner-stronger.json")],
        [str(FOLDER / "none.json")],
        [str(FOLDER / "proximity-winner.json"), "--counts", "red=x"],
        [str(FOLDER / "proximity-winner.json"), "--counts"],
        [str(FOLDER / "proximity-winner.json"), "--seed", "1"],
        [str(FOLDER / "proximity-winner.json"), "--counts", "red=1,red=2"],
        [str(FOLDER / "count.json"), "--margins", "a=1"],
    ],
)
def test_the_command_refuses(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("refused: ")

"""What would be published: wheel and sdist, whole, and at work in empty environments."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SMOKE = """
import rainbowdp as rb
poll = rb.best(rb.Winner(["red", "green", "blue"], "choice"), rb.DP(1))
assert poll.release({"red": 9000, "green": 7, "blue": 2}) == "red"
graph = rb.RainbowGraph([(0, 1), (1, 2)], [("y", "n"), ("y", "n"), ("n", "y")])
ladder = rb.optimal(graph, rb.DP(1))
assert ladder.check(every_edge=True) and ladder.exact().proof
assert rb.program(ladder.graph, rb.DP(1)).mechanism.check(every_edge=True)
ladder.exact().save("mechanism.json")
assert rb.load("mechanism.json").proof
"""


def oldest() -> list[str]:
    """The least version of each dependency that the project claims to work with."""
    found = []
    for wanted in PROJECT["dependencies"]:
        name, least = re.fullmatch(r"([\w-]+)>=([\d.]+)", wanted).groups()  # type: ignore[union-attr]
        while least.count(".") < 1:
            least += ".0"
        found.append(f"{name}=={least}.*")
    return found


def run(*words: Any, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of what git tracks."""
    folder = tmp_path_factory.mktemp("built")
    source = folder / "source"
    run("git", "clone", "--quiet", "--no-hardlinks", ROOT, source, cwd=folder)
    run(sys.executable, "-m", "build", "--outdir", folder, source, cwd=folder)
    return folder


@pytest.mark.slow
def test_the_wheel_has_what_it_needs_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = run("git", "ls-files", "src", cwd=ROOT).splitlines()
    packaged = {name.removeprefix("src/") for name in tracked}
    assert packaged <= names
    assert all(".dist-info/" in name for name in names - packaged)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


@pytest.mark.slow
def test_the_sdist_has_what_the_wheel_was_built_from(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "src/rainbowdp/__init__.py"} <= names


def others() -> list[str]:
    """The other Pythons that we claim to work with and that this machine has."""
    found = []
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for name in ("python3.12", "python3.13"):
        for python in (name, *kept.glob(f"{name.removeprefix('python')}.*/bin/{name}")):
            try:
                subprocess.run([python, "-c", "import venv"], check=True, capture_output=True)
            except (OSError, subprocess.CalledProcessError):
                continue
            found.append(str(python))
            break
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("python", "versions"),
    [
        (sys.executable, "oldest"),
        (sys.executable, "newest"),
        *((each, "newest") for each in others()),
    ],
    ids=lambda each: Path(each).name,
)
def test_the_wheel_works_in_an_empty_environment(
    built: Path, tmp_path: Path, python: str, versions: str
) -> None:
    (wheel,) = built.glob("*.whl")
    run(python, "-m", "venv", tmp_path / "empty", cwd=tmp_path)
    bin_ = tmp_path / "empty" / "bin"
    pinned = oldest() if versions == "oldest" else []
    run(bin_ / "pip", "install", "--quiet", "--no-compile", wheel, *pinned, cwd=tmp_path)
    (package,) = (tmp_path / "empty").glob("lib/*/site-packages/rainbowdp")
    strict = ("-W", "error::SyntaxWarning")
    run(bin_ / "python", *strict, "-m", "compileall", "-qq", package, cwd=tmp_path)
    run(bin_ / "python", "-c", SMOKE, cwd=tmp_path)
    table = ROOT / "examples" / "data" / "election.csv"
    asked = ("ask", "winner", table, "--column", "vote", "--among", "Clinton,Dole")
    said = run(bin_ / "rainbow", *asked, "--epsilon", "20", "--no-ledger", cwd=tmp_path)
    assert "Clinton" in said
    run(
        bin_ / "rainbow",
        "ledger",
        "create",
        "b.db",
        "--dataset",
        "d",
        "--epsilon",
        "3",
        cwd=tmp_path,
    )
    said = run(bin_ / "rainbow", *asked, "--epsilon", "1", "--ledger", "b.db", cwd=tmp_path)
    assert "left" in said


def test_every_version_on_a_page_is_the_packages() -> None:
    from rainbowdp import __version__

    assert f"version: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_project_says_what_it_is() -> None:
    assert PROJECT["urls"]["Paper"] == "https://arxiv.org/abs/2309.05871"
    assert {f"Programming Language :: Python :: 3.{n}" for n in (11, 12, 13)} <= set(
        PROJECT["classifiers"]
    )

"""``make`` sets up what it needs, or says in one sentence that it cannot; CI runs the same."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "tests" / "install_programs"


def run(path: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """The script on a machine that has nothing but what is in ``path``."""
    shell = shutil.which("sh")
    assert shell
    return subprocess.run(
        [shell, str(SCRIPT), *names], env={"PATH": str(path)}, capture_output=True, text=True
    )


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    for name in ("env", "id", "true"):
        found = shutil.which(name)
        assert found
        (tmp_path / name).symlink_to(found)
    command(tmp_path, "sudo", 'shift; exec "$@"')
    return tmp_path


def command(folder: Path, name: str, does: str) -> None:
    file = folder / name
    file.write_text(f"#!{shutil.which('sh')}\n{does}\n")
    file.chmod(0o755)


def refused(done: subprocess.CompletedProcess[str]) -> bool:
    *before, last = done.stderr.splitlines()
    told = last.startswith("The tests and the proofs need programs") and last.endswith(" coq).")
    return done.returncode == 1 and not done.stdout and not before and told


MARIADB = ("mariadbd", "mariadb-install-db", "my_print_defaults")
COQ = ("coqc", "coqchk")
ASKING = ("curl", "Rscript")
DEPLOYING = ("nginx", "systemd-analyze")
R = "r-base-core r-cran-curl r-cran-jsonlite"


def has(folder: Path, *programs: str) -> None:
    for program in programs:  # R is asked whether it has its packages
        command(folder, program, "exit 0" if program == "Rscript" else "exit 7")


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
def test_programs_that_are_there_are_taken(machine: Path, name: str) -> None:
    has(machine, name, "node", *MARIADB, *ASKING, *DEPLOYING, *COQ)
    command(machine, "apt-get", "exit 8")
    done = run(machine)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_where_nothing_can_be_installed_one_sentence_says_so(machine: Path) -> None:
    assert refused(run(machine))


def test_where_nothing_may_be_installed_too(machine: Path) -> None:
    command(machine, "apt-get", "exit 0")
    (machine / "id").unlink()
    command(machine, "id", "echo 1000")
    command(machine, "sudo", "exit 1")
    assert refused(run(machine))


def test_where_the_installation_fails_too(machine: Path) -> None:
    command(machine, "apt-get", '[ "$1" = update ]')
    assert refused(run(machine))


@pytest.mark.parametrize(
    ("there", "packages"),
    [
        (
            ("nginx",),
            f"chromium nodejs mariadb-server-core mariadb-client-core curl {R} systemd coq",
        ),
        (
            ("chromium", "node", "mariadbd", *ASKING, *DEPLOYING, *COQ),
            "mariadb-server-core mariadb-client-core",
        ),
        (("node", *MARIADB, *ASKING, *DEPLOYING, "coqc"), "chromium coq"),
        (("chromium", *MARIADB, "curl", "nginx", *COQ), f"nodejs {R} systemd"),
    ],
)
def test_debians_packages_are_installed(
    machine: Path, there: tuple[str, ...], packages: str
) -> None:
    has(machine, *there)
    command(machine, "apt-get", f'echo "$@" >> {machine}/asked')
    done = run(machine)
    assert (done.returncode, done.stderr) == (0, "")
    asked = (machine / "asked").read_text().splitlines()
    assert asked[0].startswith("update")
    assert asked[1].startswith("install")
    assert asked[1].endswith(f"--no-install-recommends {packages}")


def test_programs_that_are_not_named_are_left_alone(machine: Path) -> None:
    command(machine, "apt-get", f'echo "$@" >> {machine}/asked')
    done = run(machine, "coq")
    assert (done.returncode, done.stderr) == (0, "")
    asked = (machine / "asked").read_text().splitlines()
    assert asked[1].endswith("--no-install-recommends coq")


def test_what_tests_look_for_is_installed() -> None:
    files = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    looked_for = {
        name
        for path in files
        for name in re.findall(r"shutil\.which\(\"([\w-]+)\"", path.read_text())
    }
    asked = re.findall(r"\bhas ([a-zA-Z -]+)", SCRIPT.read_text())
    elsewhere = {"initdb", "true"}  # of a wheel; everywhere
    assert "node" in looked_for
    assert looked_for - elsewhere <= {name for names in asked for name in names.split()}


def test_ci_runs_the_commands_of_the_readme_and_the_checks() -> None:
    pages = [(ROOT / name).read_text() for name in ("README.md", "docs/install.md")]
    told, again = (re.findall(r"^make (\w+)", page, re.MULTILINE) for page in pages)
    assert again == told
    run_by_ci = re.findall(r"^(?:make|tested) (.+)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert sorted(run_by_ci) == sorted([*told, "check", "docs", "paper", "slow"])
    assert run_by_ci[-1] == "test"  # whose count is the last line
    assert told == ["demo", "test"]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(run_by_ci) <= set(targets)


def test_what_make_test_leaves_out_make_slow_runs() -> None:
    chosen = re.findall(r"pytest .*-m (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert chosen == ["'not slow'", "slow"]

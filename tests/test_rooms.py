"""Data flows one way, and each rule about imports fails when it is broken."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import rainbowdp
from rainbowdp.comparison import OTHERS
from rainbowdp.rules import FAMILIES

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


def test_contributors_are_told_the_rooms_in_their_order() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    rooms = next(c for c in contracts["contracts"] if c["name"] == "rooms")
    told = (ROOT / "CONTRIBUTING.md").read_text()
    listed = re.search(r"From the leaves down:(.*?)\n## ", told, re.DOTALL)
    assert listed
    layers = [re.findall(r"`(\w+)`", row) for row in re.findall(r"^\| (`.*?) \|", listed[1], re.M)]
    assert layers == [re.findall(r"\w+", layer) for layer in rooms["layers"]]


def test_few_modules_stand_at_the_root() -> None:
    assert len(list(SOURCE.glob("*.py"))) <= 10


@cache
def modules() -> dict[str, ast.Module]:
    """The modules of the package by name."""
    found = {}
    for file in SOURCE.rglob("*.py"):
        *parts, last = file.relative_to(SOURCE.parent).with_suffix("").parts
        name = ".".join(parts if last == "__init__" else [*parts, last])
        found[name] = ast.parse(file.read_text())
    return found


def imported(tree: ast.AST) -> Iterator[str]:
    """All that a module imports, wherever the line stands: in functions and for types too."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in modules() else str(node.module) for name in inner]
        yield from (name for name in names if name in modules())


@cache
def imports() -> dict[str, frozenset[str]]:
    return {name: frozenset(imported(tree)) for name, tree in modules().items()}


def test_no_import_closes_a_circle() -> None:
    assert list(TopologicalSorter(imports()).static_order())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("rainbowdp.exact.rows", "from rainbowdp.exact import mechanism"),
        ("rainbowdp.questions.base", "import rainbowdp.questions.winner"),
        ("rainbowdp.questions.winner", "from rainbowdp.questions import Threshold"),
    ],
)
def test_a_circle_of_lazy_imports_is_found(module: str, line: str) -> None:
    more = imported(ast.parse(f"def lazily():\n    {line}"))
    graph = imports() | {module: imports()[module].union(more)}
    with pytest.raises(CycleError):
        TopologicalSorter(graph).prepare()


def test_every_family_is_a_folder_with_the_same_files() -> None:
    folders = {file.parent.name for file in (SOURCE / "rules").glob("*/__init__.py")}
    assert folders == {family.kind.replace("-", "_") for family in FAMILIES}
    for folder in folders:
        names = {file.stem for file in (SOURCE / "rules" / folder).glob("*.py")}
        assert {"rule", "proof", "build"} <= names


def asked_kinds(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Every name that ``isinstance``, ``issubclass``, ``type(…) is`` or a ``case`` asks for."""
    for node in ast.walk(tree):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            asked = list(node.args[1:2]) if called in ("isinstance", "issubclass") else []
        elif isinstance(node, ast.Compare) and "type(" in ast.unparse(node):
            asked = [node]
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        for part in asked:
            for name in ast.walk(part):
                if isinstance(name, ast.Name | ast.Attribute):
                    yield getattr(name, "id", getattr(name, "attr", "")), part.lineno


def test_nobody_outside_a_family_asks_for_a_kind_of_rule() -> None:
    kinds = {known.__name__ for family in FAMILIES for known in (family.rule, type(family))}
    assert "Homogeneous" in kinds
    folders = tuple(type(family).__module__.removesuffix("build") for family in FAMILIES)
    for module, tree in modules().items():
        if not module.startswith(folders):
            for name, line in asked_kinds(tree):
                assert name not in kinds, f"{module}: line {line}"


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(a, b.Homogeneous | C)",
        "type(a) is Homogeneous",
        "match a:\n  case Homogeneous(): pass",
    ],
)
def test_a_question_for_a_kind_is_found(code: str) -> None:
    assert "Homogeneous" in {name for name, _ in asked_kinds(ast.parse(code))}


def test_the_page_of_the_studio_spells_no_kind() -> None:
    static = SOURCE / "studio" / "static"
    files = [file for ending in ("js", "html", "css") for file in static.glob(f"*.{ending}")]
    assert len(files) > 10
    names = {family.kind for family in FAMILIES} | set(OTHERS) | {"printed"}
    spelled = re.compile("|".join(f"[\"'`]{name}[\"'`]" for name in names))
    for file in files:
        assert not spelled.search(file.read_text()), file.name


COIN_PROOF = '''"""Proving coins."""

from rainbowdp.exact.check import Check


def prove_coin(guarantee):
    """All rows are one."""
    return Check.proved(guarantee, 0, "rows that are all alike")
'''
COIN_RULE = '''"""A coin."""

from dataclasses import dataclass

import numpy as np

from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.rule import Rule
from rainbowdp.rules.coin.proof import prove_coin


@dataclass(frozen=True)
class Coin(Rule):
    """Says every answer alike, whatever the data."""

    kind = "coin"
    size: int

    def must_fit(self, answers, neighbors, question):
        if len(answers) != self.size:
            raise InvalidMechanism("a coin must have a side for each answer")

    def prove(self, guarantee, answers, question):
        return prove_coin(guarantee)

    def key(self, question, counted):
        return None

    def weights(self, key, answers):
        return (1,) * self.size

    def rows_at(self, question, counts, margins):
        return np.full((len(counts), self.size), 1 / self.size)

    def chances(self, question, margin):
        return 1 / self.size, 1 / self.size

    def far(self, question, short):
        return 1 - 1 / self.size

    def describe(self):
        return {"size": self.size}

    @classmethod
    def restore(cls, content):
        return cls(content["size"])
'''
COIN_BUILD = '''"""Making a coin."""

from dataclasses import dataclass
from fractions import Fraction

from rainbowdp.exact.rule import Family
from rainbowdp.rules.coin.rule import Coin


@dataclass(frozen=True)
class CoinFamily(Family):
    """Says every answer alike."""

    kind, title, summary, rule = "coin", "Coin", "blind", Coin

    def suits(self, question):
        return True

    def unfit(self, question, guarantee):
        return None

    def build(self, question, guarantee, progress=None):
        return Coin(len(question.answers)), Fraction(0)
'''
COIN_USED = """
import json, sys
from pathlib import Path

from typer.testing import CliRunner

import rainbowdp as rb
from rainbowdp.cli import app
from rainbowdp.studio import answers, examples, offers, settings

assert Path(rb.__file__).is_relative_to(Path(sys.argv[1])), rb.__file__
question = rb.Winner(["red", "green", "blue"])
mechanism = rb.by_kind(question, rb.DP(1), "coin")
assert set(mechanism[{"red": 5}].values()) == {1 / 3}
assert mechanism.check() and mechanism.release({"red": 9}) in question.answers
assert rb.load(mechanism.save("coin.json")).name == "coin"
ledger = rb.Ledger.create("budget.db", dataset="votes", epsilon=9)
assert rb.ask(mechanism, {"red": 9}, ledger=ledger).answer in question.answers
assert abs(rb.compare(question, rb.DP(1), records=6)["coin"].mean_error - 2 / 3) < 1e-9

Path("votes.csv").write_text("vote\\nred\\ngreen\\n")
run = lambda *arguments: CliRunner().invoke(app, list(arguments))
asked = run(
    "ask", "winner", "votes.csv", "--column", "vote", "--among", "red,green", "--epsilon", "1",
    "--ledger", "budget.db", "--mechanism", "coin", "--json",
)
assert asked.exit_code == 0, asked.output
assert json.loads(asked.output)["mechanism"] == "coin"
assert run("check", "coin.json").exit_code == 0
assert "coin" in run("compare", "winner", "--records", "4", "--epsilon", "1").output

world = examples.example("travel")
assert offers.offered(world)["coin"].releasable
asked = {"mechanism": "coin", "guarantee": {"kind": "dp", "epsilon": "1", "delta": "0"}}
chosen = settings.read_settings(world, {**asked, "dataset": 0})
assert answers.prove(world, chosen)["state"] == "proved"
assert "rb.by_kind(world" in answers.answer(world, chosen)["recipe"]
"""


@pytest.mark.slow
def test_a_kind_is_a_folder_and_a_line(copied: Path) -> None:
    """A new kind is saved, loaded, asked, compared, checked and shown; nothing else is touched."""
    package = copied / "rainbowdp"
    coin = package / "rules" / "coin"
    coin.mkdir()
    texts = {"proof": COIN_PROOF, "rule": COIN_RULE, "build": COIN_BUILD}
    for name, text in {"__init__": '"""A coin."""\n', **texts}.items():
        (coin / f"{name}.py").write_text(text)
    listed = package / "rules" / "__init__.py"
    lines = listed.read_text().splitlines()
    last = max(place for place, line in enumerate(lines) if line.startswith("from rainbowdp.rules"))
    lines.insert(last + 1, "from rainbowdp.rules.coin.build import CoinFamily")
    end = lines.index(")", lines.index("FAMILIES: tuple[Family, ...] = ("))
    lines.insert(end, "    CoinFamily(),")
    listed.write_text("\n".join(lines) + "\n")
    used = subprocess.run(
        [sys.executable, "-c", COIN_USED, str(copied)],
        cwd=copied,
        env={**os.environ, "PYTHONPATH": str(copied), "RAINBOWDP_CACHE": str(copied / "cache")},
        capture_output=True,
        text=True,
    )
    assert used.returncode == 0, used.stderr
    assert lint(copied).returncode == 0

    proof = coin / "proof.py"  # and the contracts hold for it
    proof.write_text(f"{proof.read_text()}\n\nimport rainbowdp.rules.coin.build\n")
    found = lint(copied)
    assert "inside a family: build, then rule, then proof BROKEN" in found.stdout

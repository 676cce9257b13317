"""Change the package in small ways, one at a time, and see whether a test fails.

``make mutants`` tries every module of ``IN_ORDER`` until its seconds are over, and goes on where it
stopped: outcomes are kept in ``mutants/_kept``. A survivor that is not argued to be equivalent in
``survivors`` is a failure, and so is an entry there that is out of date.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import hashlib
import importlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT / "src"), str(ROOT / "tests")]
os.environ["CI"] = "true"  # the same examples every time
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads do not survive a fork

import pytest  # noqa: E402  found by the lines above

from changes import Change, changes  # noqa: E402
from listed import Name, judge, read_listed, sampled, table  # noqa: E402
from trying import (  # noqa: E402
    Ordered,
    Outcome,
    Planted,
    Recorded,
    Trial,
    functions_of,
    put_in,
)

KEPT = HERE / "_kept"
RECORDS = KEPT / "records.jsonl"
PACKAGE = ROOT / "src" / "rainbowdp"
# What privacy hangs on first, with the tests that are run against it; {} is the family's folder.
IN_ORDER = {
    "guarantees/closeness.py": (
        "tests/exact/test_proof.py",
        "tests/guarantees/test_dp.py",
        "tests/guarantees/test_trade_off.py",
        "tests/rules/homogeneous",
    ),
    "exact/line_proof.py": ("tests/exact/test_line.py",),
    "exact/falling_proof.py": ("tests/exact/test_falling.py",),
    "exact/noise_proof.py": ("tests/exact/test_noise.py",),
    "exact/scores_proof.py": (
        "tests/exact/test_scores.py",
        "tests/rules/permute_and_flip",
        "tests/rules/exponential",
        "tests/rules/margin_flip",
    ),
    "rules/proximity/*.py": ("tests/exact/test_proof.py", "tests/rules/proximity"),
    "rules/margin_table/proof.py": ("tests/rules/margin_table/test_proof.py",),
    "rules/ordered_bins/proof.py": ("tests/rules/ordered_bins/test_proof.py",),
    "rules/*/proof.py": ("tests/rules/{}",),
    "rules/*/rule.py": ("tests/rules/{}", "tests/rules/test_contract.py"),
    "exact/votes.py": (
        "tests/exact/test_votes.py",
        "tests/exact/test_scores.py",
        "tests/rules/permute_and_flip",
    ),
    "exact/keeping.py": ("tests/exact/test_keeping.py",),
    "exact/check.py": ("tests/exact",),
    "exact/mechanism.py": ("tests/exact",),
    "exact/*.py": ("tests/exact", "tests/rules/test_contract.py"),
    "mechanisms/integers.py": ("tests/mechanisms/test_integers.py",),
    "mechanisms/lifted/grid.py": ("tests/mechanisms/lifted/test_grid.py",),
    "mechanisms/lifted/rows.py": ("tests/mechanisms/lifted",),
    "mechanisms/lifted/merging.py": ("tests/mechanisms/lifted/test_merging.py",),
    "tables/sampling.py": ("tests/tables/test_people.py",),
    "tables/people.py": ("tests/tables/test_people.py",),
    "questions/winner.py": ("tests/questions", "src/rainbowdp/questions/winner.py"),
    "questions/*.py": ("tests/questions", "src/rainbowdp/questions"),
    "tables/*.py": ("tests/tables",),
    "ledger/paying.py": ("tests/ledger",),
    "ledger/limits.py": ("tests/ledger",),
    "ledger/*.py": ("tests/ledger",),
}
# Starting a server for every change would take days.
LEFT_OUT = (
    *("-m", "not slow"),
    *("-k", "not (postgres or mariadb or spark or killed or crash or processes or interrupt)"),
)
# Nobody reads why a test fails.
WORDS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=native", "--assert=plain")


@dataclass(frozen=True)
class Module:
    """A module that is changed."""

    file: Path

    @property
    def name(self) -> str:
        """Its place in the package, as in ``IN_ORDER``."""
        return str(self.file.relative_to(PACKAGE))

    @property
    def room(self) -> str:
        """The room that it and its tests are in."""
        return self.file.relative_to(PACKAGE).parts[0]

    @property
    def tests(self) -> tuple[str, ...]:
        """Where its tests are."""
        for pattern, tests in IN_ORDER.items():
            if fnmatch.fnmatch(self.name, pattern):
                folders = tuple(test.format(self.file.parent.name) for test in tests)
                return tuple(folder for folder in folders if (ROOT / folder).exists())
        return (f"tests/{self.room}",)

    @property
    def imported(self) -> str:
        """Its name for ``import``."""
        parts = self.file.relative_to(PACKAGE.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax."""
        return ast.parse(self.file.read_text())

    @cached_property
    def digest(self) -> str:
        """What its outcomes depend on: its code without comments."""
        unchanged = ast.parse(self.file.read_text())  # the tree has each change in its turn
        return hashlib.sha256(ast.dump(unchanged).encode()).hexdigest()[:16]

    @cached_property
    def tests_digest(self) -> str:
        """What its survivors depend on: its tests."""
        found = [ROOT / test for test in self.tests]
        files = (file for one in found for file in ([one] if one.is_file() else one.rglob("*.py")))
        content = b"".join(file.read_bytes() for file in sorted(files))
        return hashlib.sha256(content).hexdigest()[:16]


def modules(patterns: Sequence[str]) -> list[Module]:
    """The modules of some patterns, in order."""
    found: dict[Path, None] = {}
    for pattern in patterns:
        found |= dict.fromkeys(sorted(PACKAGE.glob(pattern)))
    return [Module(file) for file in found]


def records() -> dict[str, Recorded]:
    """What is known of tests: those that pass, and all functions that they ever entered."""
    found: dict[str, Recorded] = {}
    for line in RECORDS.read_text().splitlines() if RECORDS.exists() else ():
        one = json.loads(line)
        before = found.pop(one["test"], None)
        if not one["failed"]:
            entered = frozenset((str(ROOT / file), name) for file, name in one["entered"])
            entered |= before.entered if before else frozenset()
            found[one["test"]] = Recorded(one["seconds"], entered)
    return found


def record(trial: Trial, chosen: Sequence[Module], items: Sequence[pytest.Item]) -> None:
    """Run the tests for which it is not known what they enter of these modules."""
    done: set[tuple[str, str]] = set()
    if RECORDS.exists():
        for line in RECORDS.read_text().splitlines():
            one = json.loads(line)
            done |= {(one["test"], module) for module in one["of"]}
    missing = [
        item
        for item in items
        if any(
            (item.nodeid, module.name) not in done and item.nodeid.startswith(module.tests)
            for module in chosen
        )
    ]
    if missing:
        print(f"{len(missing)} tests are run once to see what they enter", flush=True)
        KEPT.mkdir(exist_ok=True)
        trees = {str(module.file): module.tree for module in chosen}
        trial.record(trees, missing, RECORDS, [module.name for module in chosen])


class Selection:
    """Which tests are run for a change, in which order."""

    def __init__(self, recorded: dict[str, Recorded], seconds: float, outcomes: Outcomes) -> None:
        self._recorded, self._seconds = recorded, seconds
        self._killers: Counter[tuple[str, str]] = Counter()  # by function or module, and test
        for name, one in outcomes.kept.items():
            self.killed(name, one["outcome"]["test"])

    def of(self, module: Module, change: Change, there: Sequence[str]) -> list[str]:
        """The tests for a change, by how often they killed others near it and how quick they are.

        They take no more than the seconds, or are one.
        """
        file = str(module.file)
        entering = [
            test
            for test in there
            if test in self._recorded
            and test.startswith(module.tests)
            and any(
                where == file
                and (not change.inside or f"{name}.".startswith(f"{change.function}."))
                for where, name in self._recorded[test].entered
            )
        ]

        def worth(test: str) -> float:
            near = self._killers[f"{module.name} {change.function}", test]
            its_own = 0.5 if f"/test_{module.file.stem}.py" in test else 0.02
            kills = its_own + self._killers[module.name, test] + 4 * near
            return kills / (0.03 + self._recorded[test].seconds)

        chosen: list[str] = []
        spent = 0.0
        for test in sorted(entering, key=worth, reverse=True):
            spent += self._recorded[test].seconds
            if chosen and spent > self._seconds:
                break
            chosen.append(test)
        return chosen

    def limit(self, test: str) -> float:
        """The processor seconds after which a test hangs."""
        return 4 + 6 * self._recorded[test].seconds

    def killed(self, name: Name, test: str) -> None:
        """Count a test that noticed a change."""
        self._killers[name.module, test] += 1
        self._killers[f"{name.module} {name.function}", test] += 1


class Outcomes:
    """The outcomes, kept in a file after each."""

    def __init__(self) -> None:
        self._file = KEPT / "outcomes.jsonl"
        self.kept: dict[Name, dict[str, Any]] = {}
        if self._file.exists():
            for line in self._file.read_text().splitlines():
                one = json.loads(line)
                self.kept[Name(*one["name"])] = one

    def of(self, module: Module, name: Name) -> Outcome | None:
        """The outcome of a change, unless its module changed, or it survived older tests."""
        one = self.kept.get(name)
        if one is None or one["module"] != module.digest:
            return None
        outcome = Outcome(**one["outcome"])
        if outcome.state in ("killed", "hung") or one["tests"] == module.tests_digest:
            return outcome
        return None

    def add(self, module: Module, name: Name, outcome: Outcome) -> None:
        """Keep one more."""
        one = {
            "name": [name.module, name.function, name.text],
            "module": module.digest,
            "tests": module.tests_digest,
            "outcome": asdict(outcome),
        }
        self.kept[name] = one
        KEPT.mkdir(exist_ok=True)
        with self._file.open("a") as file:
            file.write(json.dumps(one) + "\n")


def named(module: Module) -> Iterator[tuple[Name, Change]]:
    """The changes of a module; its tree has each of them in its turn."""
    for change in changes(module.tree):
        yield Name(module.name, change.function, change.text), change


def fresh(module: Module, name: Name, tests: Sequence[str], limits: Sequence[float]) -> Outcome:
    """The outcome in a new process in which the module is imported changed."""
    limited = dict(zip(tests, limits, strict=True))
    asked = {"file": str(module.file), "name": asdict(name), "limits": limited}
    words = [sys.executable, str(HERE / "mutants.py"), "--fresh"]
    try:
        done = subprocess.run(
            words, input=json.dumps(asked), capture_output=True, text=True, timeout=1200, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        return Outcome("hung", "", len(tests))
    if done.returncode < 0:
        return Outcome("hung", "", len(tests))
    last = done.stdout.strip().splitlines()[-1:]
    if last and last[0] == "passed":
        return Outcome("survived", "", len(tests))
    return Outcome("killed", last[0] if last else "at import", len(tests))


def in_a_fresh_process() -> int:
    """What the new process does: it plants the change and runs the tests."""
    asked = json.load(sys.stdin)
    module = Module(Path(asked["file"]))
    wanted = Name(**asked["name"])
    for name, _ in named(module):
        if name == wanted:
            code = compile(module.tree, str(module.file), "exec")
            sys.meta_path.insert(0, Planted(module.imported, str(module.file), code))
            break
    else:
        raise ValueError(f"there is no {wanted}")
    plugin = Ordered(asked["limits"])
    code_of_run = pytest.main([*WORDS, "-x", *asked["limits"]], plugins=[plugin])
    print("passed" if code_of_run == 0 else plugin.failed or f"exit {code_of_run}")
    return 0


def try_all(
    chosen: Sequence[Module],
    outcomes: Outcomes,
    wanted: Collection[Name],
    seconds: float,
    each: float,
    quick: bool,
) -> None:
    """Try the changes that are wanted and have no outcome yet, until the seconds are over.

    The tests of each change take at most ``each`` seconds of the processor or are one; ``quick`` is
    to start no fresh process: neither for survivors nor for what is decided at import.
    """
    end = time.monotonic() + seconds
    for module in chosen:
        importlib.import_module(module.imported)

    def does(trial: Trial) -> None:
        items = {item.nodeid: item for item in trial.session.items}
        record(trial, chosen, trial.session.items)
        selection = Selection(records(), each, outcomes)
        for module in chosen:
            functions = functions_of([str(module.file)])
            for name, change in named(module):
                if name not in wanted or outcomes.of(module, name) is not None:
                    continue
                if quick and not change.inside:
                    continue
                if time.monotonic() > end:
                    return
                tests = selection.of(module, change, list(items))
                outcome = Outcome("untested")
                limits = [selection.limit(test) for test in tests]
                if tests and change.inside:
                    put = put_in(module.tree, str(module.file), change.function, functions)
                    outcome = trial.run(put, [items[test] for test in tests], limits)
                if tests and not quick and outcome.state in ("untested", "survived"):
                    outcome = fresh(module, name, tests, limits)
                if outcome.test in items:
                    selection.killed(name, outcome.test)
                outcomes.add(module, name, outcome)
                if outcome.state not in ("killed", "hung"):
                    told = f"{outcome.state} {outcome.tests} tests"
                    print(f"{told}: {name.module} {name.function}\n    {name.text}", flush=True)

    tests = dict.fromkeys(test for module in chosen for test in module.tests)
    pytest.main([*WORDS, *LEFT_OUT, *tests], plugins=[Trial(does)])


def report(chosen: Sequence[Module], outcomes: Outcomes) -> int:
    """Write and print what came of it; one if a survivor is not argued for."""
    states: dict[Name, str] = {}
    exist: list[Name] = []
    done: set[str] = set()
    for module in chosen:
        names = [name for name, _ in named(module)]
        found = {name: outcomes.of(module, name) for name in names}
        exist += names
        states |= {name: one.state if one else "not tried" for name, one in found.items()}
        if all(one is not None for one in found.values()):
            done.add(module.name)
    listed = read_listed(HERE / "survivors")
    tried = {name: state for name, state in states.items() if state != "not tried"}
    verdict = judge(tried, listed, exist, done)
    print(table(tried, listed))
    print(f"\n{len(states) - len(tried):,} changes are not tried yet.")
    for title, names_of in (
        ("survive, and nobody has argued why", verdict.unlisted),
        ("are listed in survivors, but there is no such change", verdict.gone),
        ("are listed in survivors, but a test fails", verdict.killed),
    ):
        if names_of:
            print(f"\n{len(names_of)} {title}:")
            for name in names_of:
                print(f"  {name.module} {name.function}\n      {name.text}")
    told = [{**asdict(name), "state": state} for name, state in states.items()]
    KEPT.mkdir(exist_ok=True)
    (KEPT / "report.json").write_text(json.dumps(told, indent=1))
    return 0 if verdict.holds else 1


def main() -> int:
    """Run; one if a survivor is not argued for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", nargs="*", help="below src/rainbowdp, with wildcards")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--each", type=float, default=20, help="seconds for the tests of a change")
    parser.add_argument("--sample", type=int, help="so many changes of each module, at random")
    parser.add_argument("--seed", type=int, default=0, help="which ones these are")
    parser.add_argument("--quick", action="store_true", help="start no fresh process")
    parser.add_argument("--report", action="store_true", help="try nothing")
    parser.add_argument("--fresh", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.chdir(ROOT)
    if options.fresh:
        return in_a_fresh_process()
    chosen = modules(options.modules or list(IN_ORDER))
    outcomes = Outcomes()
    if not options.report:
        exist = [[name for name, _ in named(module)] for module in chosen]
        wanted = {name for names in exist for name in sampled(names, options.sample, options.seed)}
        try_all(chosen, outcomes, wanted, options.seconds, options.each, options.quick)
    return report(chosen, outcomes)


if __name__ == "__main__":
    sys.exit(main())

"""Running tests against one change at a time, in a process of its own.

The tests are collected once. For each change a child is forked, the code of the changed function is
put in the place of the old one, and the tests that enter the function run until one of them fails.
The tree on disk is never written to. What a child cannot see in this way, because it happened when
a module was imported or the tests were collected, is tried in a fresh process (``Planted``).
"""

from __future__ import annotations

import ast
import builtins
import copy
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

_WALL = 20  # times as long by the clock as by the processor: the machine may be busy
_MEMORY = 4 << 30
_HUNG = signal.SIGPROF
_NOTE = "__entered__"
_BROKEN = "broken: "

Place = tuple[str, str, int]  # file, qualified name, first line


@dataclass(frozen=True)
class Recorded:
    """A test: the processor time that it took, and the functions that it entered."""

    seconds: float
    entered: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Outcome:
    """What became of a change: ``killed`` by a test, ``hung``, ``survived`` or ``untested``."""

    state: str
    test: str = ""
    tests: int = 0
    seconds: float = 0.0  # of the processor


def quick_hypothesis() -> None:
    """The same examples every time, no shrinking, and nothing written down."""
    from hypothesis import Phase, settings  # not before pytest, which rewrites its plugins

    settings.register_profile(
        "mutants",
        derandomize=True,
        deadline=None,
        max_examples=25,
        database=None,
        phases=(Phase.explicit, Phase.generate),
    )
    settings.load_profile("mutants")


def _noting(tree: ast.Module, file: str) -> ast.Module:
    """The module with a note at the beginning of each function."""
    noting = copy.deepcopy(tree)

    def visit(node: ast.AST, name: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = name
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = f"{name}.{child.name}" if name else child.name
                if not isinstance(child, ast.ClassDef):
                    note = ast.parse(f"{_NOTE}({file!r}, {inner!r})").body[0]
                    place = 1 if ast.get_docstring(child) is not None else 0
                    child.body.insert(place, ast.copy_location(note, child.body[0]))
            visit(child, inner)

    visit(noting, "")
    return ast.fix_missing_locations(noting)


@dataclass(eq=False)
class Trial:
    """A plugin that calls ``does`` with itself instead of running the tests."""

    does: Callable[[Trial], None]
    session: pytest.Session = field(init=False)
    failed: str = field(init=False, default="")

    def pytest_sessionstart(self) -> None:
        """Hypothesis without shrinking."""
        quick_hypothesis()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that fails."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try changes, each in a child."""
        self.session = session
        self.does(self)
        return True

    def run(
        self, change: Callable[[], None], items: Sequence[pytest.Item], limits: Sequence[float]
    ) -> Outcome:
        """The outcome of tests, each with a limit of processor seconds, in a child that changes."""
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.close(read)
            self._run_in_child(change, items, limits, write)
        os.close(write)
        return _outcome(child, read, _WALL * sum(limits) + 60, len(items))

    def record(
        self,
        trees: Mapping[str, ast.Module],
        items: Sequence[pytest.Item],
        file: Path,
        of: Sequence[str],
    ) -> None:
        """Run tests without any change, in a child, and write which functions each enters.

        ``trees`` are the modules whose functions are noted, by file. A test that fails is left out.
        """
        child = os.fork()
        if not child:
            self._record_in_child(trees, items, file, of)
        if os.waitpid(child, 0)[1]:
            raise RuntimeError("the tests could not be run as they are, without any change")

    def _record_in_child(
        self,
        trees: Mapping[str, ast.Module],
        items: Sequence[pytest.Item],
        file: Path,
        of: Sequence[str],
    ) -> None:
        """Never returns."""
        try:
            self._note(trees, items, file, of)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _note(
        self,
        trees: Mapping[str, ast.Module],
        items: Sequence[pytest.Item],
        file: Path,
        of: Sequence[str],
    ) -> None:
        """Write what each test enters, and how long it takes."""
        entered: set[tuple[str, str]] = set()
        vars(builtins)[_NOTE] = lambda *place: entered.add(place)
        functions = functions_of(trees)
        for path, tree in trees.items():
            put_in(_noting(tree, path), path, "", functions)()
        for item in items:  # each alone, as what one test keeps would be quick for the next
            child = os.fork()
            if child:
                if os.waitpid(child, 0)[1]:
                    raise RuntimeError(f"{item.nodeid} could not be run without any change")
                continue
            entered.clear()
            started, self.failed = time.process_time(), ""
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            seconds = round(time.process_time() - started, 3)
            one = {"test": item.nodeid, "seconds": seconds, "failed": bool(self.failed)}
            with file.open("a") as notes:
                notes.write(json.dumps(one | {"of": list(of), "entered": sorted(entered)}) + "\n")
            os._exit(0)

    def _run_in_child(
        self,
        change: Callable[[], None],
        items: Sequence[pytest.Item],
        limits: Sequence[float],
        write: int,
    ) -> None:
        """Never returns."""
        os.setpgid(0, 0)  # so that all it starts can be ended
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, hard))
        signal.signal(_HUNG, signal.SIG_DFL)  # ends the process, even inside one long operation
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        reporter = self.session.config.pluginmanager.get_plugin("terminalreporter")
        self.session.config.pluginmanager.unregister(reporter)  # it kept the old standard output
        try:
            change()
            following: list[pytest.Item | None] = [*items[1:], None]
            for item, then, limit in zip(items, following, limits, strict=True):
                signal.setitimer(signal.ITIMER_PROF, limit)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=then)
                if self.failed:
                    os.write(write, self.failed.encode())
                    break
            signal.setitimer(signal.ITIMER_PROF, 60)
            self.session.config.hook.pytest_sessionfinish(session=self.session, exitstatus=0)
        except BaseException as error:  # ours, or the runner's: of the change nothing is known
            os.write(write, f"{_BROKEN}{error!r:.400}".encode())
        os._exit(0)


def _outcome(child: int, read: int, seconds: float, tests: int) -> Outcome:
    """Wait for a child, and end it and all that it started if it takes too long."""
    end = time.monotonic() + seconds
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done or time.monotonic() > end:
            break
        time.sleep(0.005)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not done:
        os.waitpid(child, 0)
    took = round(used.ru_utime + used.ru_stime, 3)
    with os.fdopen(read, "rb") as told:
        failed = told.read(4000).decode(errors="replace")
    if _BROKEN in failed:
        raise RuntimeError(f"the tests could not be run: {failed}")
    if failed:
        return Outcome("killed", failed, tests, took)
    if not done or os.WIFSIGNALED(status):
        return Outcome("hung", "", tests, took)
    return Outcome("survived", "", tests, took)


def functions_of(files: Iterable[str]) -> dict[Place, list[FunctionType]]:
    """Every function that exists, by where its source is."""
    wanted, found = set(files), dict[Place, list[FunctionType]]()
    gc.unfreeze()  # what was frozen, as our tests are once they are collected, is not listed
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename in wanted:
            found.setdefault(_place(thing.__code__), []).append(thing)
    return found


def _place(code: CodeType) -> Place:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def put_in(
    tree: ast.Module, file: str, qualified: str, functions: dict[Place, list[FunctionType]]
) -> Callable[[], None]:
    """What puts the code of a function, of all inside it and of all around it in place.

    An inner function is made anew, from the code of the one around it, whenever that is called.
    Without a name it is all functions.
    """
    changed = {
        _place(code): code
        for code in _codes(compile(tree, file, "exec"))
        if _within(code.co_qualname, qualified)
    }

    def put() -> None:
        for place, code in changed.items():
            for function in functions.get(place, ()):
                function.__code__ = code

    return put


def _within(qualname: str, function: str) -> bool:
    plain = f"{qualname.replace('.<locals>', '')}."
    return not function or plain.startswith(f"{function}.") or f"{function}.".startswith(plain)


@dataclass(eq=False)
class Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """An import hook that gives one module changed code."""

    module: str
    file: str
    code: CodeType

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module's place, with this as its loader."""
        if name != self.module:
            return None
        package = [str(Path(self.file).parent)] if self.file.endswith("__init__.py") else None
        spec = importlib.machinery.ModuleSpec(
            name, self, origin=self.file, is_package=bool(package)
        )
        spec.submodule_search_locations = package
        spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed code."""
        exec(self.code, module.__dict__)  # noqa: S102  our own source, changed


@dataclass(eq=False)
class Ordered:
    """A plugin of a fresh run: Hypothesis as above, the first failure, a limit for each test."""

    limits: dict[str, float]
    failed: str = ""

    def pytest_sessionstart(self) -> None:
        """Hypothesis without shrinking."""
        quick_hypothesis()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """End the process if the test takes too long."""
        signal.setitimer(signal.ITIMER_PROF, self.limits.get(item.nodeid, 30))
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the first test that fails."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

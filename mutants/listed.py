"""The survivors that are argued to be equivalent, in ``survivors``, and what came of a run."""

from __future__ import annotations

import hashlib
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, order=True)
class Name:
    """What a change is called, without line numbers: module, function, and the text of both."""

    module: str
    function: str
    text: str


def sampled(names: Sequence[Name], size: int | None, seed: int) -> list[Name]:
    """So many of them at random, or all; a larger sample has all of a smaller one."""

    def place(name: Name) -> bytes:
        return hashlib.sha256(f"{seed} {name}".encode()).digest()

    return sorted(names, key=place)[:size]


def read_listed(folder: Path) -> dict[Name, str]:
    """Why each change that is listed in the files of a folder, one a room, makes no difference."""
    listed: dict[Name, str] = {}
    files = sorted(folder.glob("*.toml"))
    for entry in (one for file in files for one in tomllib.loads(file.read_text())["survivor"]):
        for text in entry["changes"]:
            name = Name(entry["module"], entry["function"], text)
            if name in listed or not entry["why"].strip():
                raise ValueError(f"{name} is listed twice or without an argument")
            listed[name] = entry["why"]
    return listed


@dataclass(frozen=True)
class Verdict:
    """The survivors that nobody has argued for, and the entries that are out of date."""

    unlisted: tuple[Name, ...]
    gone: tuple[Name, ...]  # no such change exists any more
    killed: tuple[Name, ...]  # a test fails now

    @property
    def holds(self) -> bool:
        """Whether every survivor is listed, and every entry is a survivor."""
        return not (self.unlisted or self.gone or self.killed)


def judge(
    states: Mapping[Name, str], listed: Mapping[Name, str], exist: Iterable[Name], done: set[str]
) -> Verdict:
    """Hold the outcomes of all changes against the list, for the modules that were done."""
    existing = set(exist)
    live = {name for name, state in states.items() if state in ("survived", "untested")}
    ours = {name for name in listed if name.module in done}
    return Verdict(
        tuple(sorted(live - set(listed))),
        tuple(sorted(ours - existing)),
        tuple(sorted(name for name in ours & existing if states.get(name) in ("killed", "hung"))),
    )


def table(states: Mapping[Name, str], listed: Mapping[Name, str]) -> str:
    """The outcomes by module."""
    counts: dict[str, Counter[str]] = {}
    for name, state in states.items():
        if state == "survived" and name in listed:
            state = "equivalent"
        counts.setdefault(name.module, Counter())[state] += 1
    heads = ("killed", "hung", "equivalent", "survived", "untested")
    width = max((len(module) for module in counts), default=6)
    lines = [f"{'module':{width}}  {'changes':>10}" + "".join(f"{head:>12}" for head in heads)]
    for module, found in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        numbers = "".join(f"{found[head]:>12}" for head in heads)
        lines.append(f"{module:{width}}  {found.total():>10}{numbers}")
    return "\n".join(lines)

"""Every public constructor, function, reader and command, called with something odd.

A target takes choices and a folder, and calls. It may raise a ``RainbowError`` and nothing else.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

import rainbowdp as rb
from choices import ODD, Choices
from files import (
    EDGES,
    GRAPHML,
    LINES,
    PACKED,
    ROADS,
    VOTES,
    damaged,
    mechanism,
    parquet,
    saved,
)
from rainbowdp.cli import app

Target: TypeAlias = Callable[[Choices, Path], None]
Call: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

COUNTS = {"red": 5, "green": 3, "blue": 1}


@cache
def graph() -> rb.RainbowGraph:
    """Four datasets in a row."""
    orders = {"a": ("yes", "no"), "b": ("yes", "no"), "c": ("no", "yes"), "d": ("no", "yes")}
    return rb.RainbowGraph([("a", "b"), ("b", "c"), ("c", "d")], orders)


@cache
def winner() -> Any:
    """A vote."""
    return rb.Winner(["red", "green", "blue"], "choice")


@cache
def best() -> Any:
    """The best mechanism of the vote."""
    return rb.best(winner(), rb.DP(1))


@cache
def optimal() -> Any:
    """A mechanism on the graph."""
    return rb.optimal(graph(), rb.DP(1))


def frame() -> pd.DataFrame:
    """A table of votes."""
    return pd.DataFrame({"choice": ["red", "green", None, "red"], "age": [1.0, 2, 3, np.nan]})


def margins(count: int) -> Mapping[str, int]:
    """How far yes and no are from true."""
    return {"yes": max(0, 1 - count), "no": max(0, count)}


def calls() -> dict[str, Callable[[], Call]]:
    """By name: what is called, and arguments with which it works."""
    made: dict[str, Callable[[], Call]] = {}

    def add(title: str, target: Callable[..., Any], /, *given: Any, **named: Any) -> None:
        def call() -> Call:
            return target, tuple(_made(each) for each in given), _all_made(named)

        made[title] = call

    people: dict[str, Any] = {
        "neighbors": "substituted",
        "person": None,
        "rows_per_person": 1,
        "person_rule": "sample",
        "where": "age > 3",
        "apply": None,
    }
    add("DP", rb.DP, 1, 0)
    add("DP.from_ratio", rb.DP.from_ratio, 3, 2, delta="0.1")
    add("GaussianDP", rb.GaussianDP, 1)
    add("ZeroConcentrated", rb.ZeroConcentrated, "1/8")
    add("TradeOff", rb.TradeOff, [(0, 1), ("1/3", "1/3"), (1, 0)])
    for guarantee in (rb.DP(1, "1e-3"), rb.GaussianDP(1)):
        name = type(guarantee).__name__
        add(f"{name}.step", guarantee.step, [0.2, 0.5, 1.0])
        add(f"{name}.grow", guarantee.grow, [0.2, 0.5, 1.0], 3)
        add(f"{name}.excess", guarantee.excess, (0.5, 0.5), (0.4, 0.6))
    add("Winner", rb.Winner, ["red", "green"], "x", ties="first listed", other=None,
        missing=None, weight=None, **people)  # fmt: skip
    add("Threshold", rb.Threshold, 5, "x", equals=None, minimum=65, maximum=None,
        answers=("yes", "no"), **people)  # fmt: skip
    add("Share", rb.Share, "1/2", "x", equals="red", minimum=None, maximum=None, **people)
    add("Quantile", rb.Quantile, "1/2", [0, 1, 2.5, None], "x", closed_ends=False, **people)
    add("Quantiles", rb.Quantiles, ["1/4", "1/2"], [0, 1, 2.5], "x", **people)
    add("Ranking", rb.Ranking, ["a", "b", "c"], "x", first=2, in_order=True, **people)
    add("Count", rb.Count, "x", equals="red", minimum=None, at_most=100, **people)
    add("ProportionTest", rb.ProportionTest, "1/2", "x", records=20, alpha="0.05",
        equals="red", **people)  # fmt: skip
    add("Keys", rb.Keys, "x", keys_per_person=2, neighbors="added or removed", person="who",
        where="age > 3")  # fmt: skip
    add("Custom", rb.Custom, ["yes", "no"], lambda: margins, neighbors="added or removed",
        name="sign")  # fmt: skip
    add("Grouped", rb.Grouped, winner, "district", ["north", "south"], public=False)
    add("Weight", rb.Weight, "dose", 10, 3)
    add("RainbowGraph", rb.RainbowGraph, [("a", "b"), ("b", "c")],
        {"a": ("yes", "no"), "b": ("yes", "no"), "c": ("no", "yes")}, ("yes", "no"))  # fmt: skip
    add("RainbowGraph, labels", rb.RainbowGraph, [(0, 1), (1, 2)],
        {"l": ("yes", "no"), "r": ("no", "yes")}, ("yes", "no"), labels=list("llr"))  # fmt: skip
    add("Edges", rb.Edges, [(0, 1), (1, 2)], None, None)
    add("Morphism", rb.Morphism, graph, graph, {"a": "a", "b": "b", "c": "c", "d": "d"})
    add("boundary_morphism", rb.boundary_morphism, graph)
    add("BoundaryCondition", rb.BoundaryCondition, graph,
        {("yes", "no"): (0.7, 0.3), ("no", "yes"): (0.7, 0.3)})  # fmt: skip
    add("nearest_sites", rb.nearest_sites, [(0, 1), (1, 2), (2, 3)], [0, 3])
    add("optimal", rb.optimal, graph, rb.DP(1), None)
    add("optimal, question", rb.optimal, winner, rb.DP(1), ["0.4", "0.3", "0.3"])
    add("optimal_line", rb.optimal_line, ("yes", "no"), 5, rb.DP(1), ["0.6", "0.4"])
    add("proximity", rb.proximity, graph, rb.DP(1))
    add("lifted", rb.lifted, graph, rb.DP(1), None)
    add("fixed_point", rb.fixed_point, graph, rb.DP(1), None, rounds=20, tolerance=1e-6)
    add("program", rb.program, graph, rb.DP(1), utility=None, weights=None)
    add("design", rb.design, graph, rb.DP(1), utility=None, weights=None, levels=5)
    add("optimum", rb.optimum, graph, rb.DP(1), None)
    add("best", rb.best, winner, rb.DP(1), records=20)
    add("best, graph", rb.best, graph, rb.DP(1), utility=None, weights=None)
    add("by_kind", rb.by_kind, winner, rb.DP(1), "permute-and-flip")
    add("by_kind, graph", rb.by_kind, graph, rb.DP(1), "exponential")
    add("compare", rb.compare, graph, rb.DP(1), None)
    add("plan", rb.plan, lambda: [winner()], rb.DP(1), delta="1e-6", currency=None)
    add("Target", rb.Target, winner, "votes", weight=1, sure="0.9", margin=5)
    add("refute", lambda question, seed: rb.refute(question, tries=5, seed=seed), winner, 1)
    add("dominates", rb.dominates, optimal, optimal)
    add("relate", rb.relate, optimal, optimal, "dominance")
    add("deploy", rb.deploy, graph, rb.DP(1), "homogeneous")
    add("look", rb.look, frame, winner)
    add("ask", rb.ask, best, frame, ledger=None, name=None)
    add("ask, counts", rb.ask, best, COUNTS, ledger=None, name=None)
    add("Charge", rb.Charge, rb.DP(1), {"question": "x"}, "a record", "substituted")
    add("SQLTable", rb.SQLTable, "sqlite:///x.db", "votes", None)
    for maker in ("exponential", "permute_and_flip", "randomized_response", "inverse_sensitivity",
                  "report_noisy_max", "pooled_permute_and_flip", "smooth_noisy_max",
                  "propose_test_release", "joint_exponential"):  # fmt: skip
        add(maker, getattr(rb, maker), winner, rb.DP(1))
    for name, source in (("question", best), ("graph", optimal)):
        place: Any = COUNTS if name == "question" else "a"
        add(f"{name}[…]", source().__getitem__, place)
        add(f"{name}.release", source().release, place)
    add("mechanism.utility", optimal().utility, rb.Utility(places=[1.0, 0.0]))
    add("Mechanism.from_table", rb.Mechanism.from_table, graph,
        {"a": (0.6, 0.4), "b": (0.5, 0.5), "c": (0.5, 0.5), "d": (0.4, 0.6)}, rb.DP(1))  # fmt: skip
    return made


def _made(value: Any) -> Any:
    return value() if callable(value) and getattr(value, "__module__", "") == __name__ else value


def _all_made(named: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _made(value) for name, value in named.items()}


CALLS = calls()


def called(name: str) -> Target:
    """The call with one or two of its arguments replaced."""

    def target(choices: Choices, folder: Path) -> None:
        function, given, named = CALLS[name]()
        arguments: dict[Any, Any] = {**dict(enumerate(given)), **named}
        for _ in range(1 + choices.below(2)):
            key = choices.one(list(arguments))
            arguments[key] = choices.odd(arguments[key])
        places = [arguments[number] for number in range(len(given))]
        function(*places, **{key: arguments[key] for key in named})

    return target


# --- Readers --------------------------------------------------------------------------------------

TABLES = {".csv": VOTES, ".tsv": VOTES.replace(b",", b"\t"), ".jsonl": LINES, ".parquet": parquet()}
GRAPHS = {
    ".gr": ROADS,
    ".txt": EDGES,
    ".csv": b"from,to,weight\na,b,1\nb,c,2\n",
    ".graphml": GRAPHML,
    ".npy": saved(np.array([[0, 1], [1, 2]])),
    ".parquet": parquet(),
}
SIDES = {".csv": b"node,label\n0,l\n1,r\n", ".npy": saved(np.array([0, 1, 1])), ".txt": b"l\nr\n"}


def _file(choices: Choices, folder: Path, kinds: Mapping[str, bytes]) -> Path:
    ending = choices.one(sorted(kinds))
    packed = choices.one(sorted(PACKED)) if ending not in (".parquet", ".npy") else ""
    data = PACKED[packed](damaged(choices, kinds[ending]))
    if packed and choices.chance(2):
        data = damaged(choices, data)
    file = folder / f"file{ending}{packed}"
    file.write_bytes(data)
    return file


def read_table(choices: Choices, folder: Path) -> None:
    """A table file, counted by a question."""
    question = choices.one(
        (
            winner(),
            rb.Quantile("1/2", [0, 2, 5], "age"),
            rb.Winner(["red"], "choice", person="who", other="else"),
            rb.Threshold(1, "age", minimum=3, where="choice = 'red'"),
        )
    )
    rb.look(_file(choices, folder, TABLES), question)


def read_text_file(choices: Choices, folder: Path) -> None:
    """A text file with options of its own."""
    options: dict[str, Any] = {"delimiter": ",", "encoding": "utf-8", "decimal": ".",
                               "header": True, "trusted": False, "format": "csv"}  # fmt: skip
    name = choices.one(sorted(options))
    options[name] = choices.odd(options[name])
    rb.look(rb.TextFile(_file(choices, folder, TABLES), **options), winner())


def read_graph(choices: Choices, folder: Path) -> None:
    """A graph file."""
    options: dict[str, Any] = {}
    if choices.chance(3):
        options[choices.one(("columns", "weight", "nodes"))] = choices.one(ODD)
    rb.read_graph(_file(choices, folder, GRAPHS), **options)


def read_sides(choices: Choices, folder: Path) -> None:
    """Labels or rainbows of nodes."""
    edges = rb.Edges(np.array([[0, 1], [1, 2]]))
    file = _file(choices, folder, SIDES)
    if choices.chance(2):
        rb.read_labels(file, edges)
    else:
        rb.read_rainbows(file, ["l", "r"])


def read_mechanism(choices: Choices, folder: Path) -> None:
    """A mechanism file."""
    file = mechanism(choices, folder)
    if choices.chance(8):
        rb.load_count(file)
    else:
        rb.load(file)


def open_ledger(choices: Choices, folder: Path) -> None:
    """A ledger whose file was damaged, or that is asked odd things."""
    place = folder / "budget.db"
    ledger = rb.Ledger.create(str(place), dataset="d", epsilon=3)
    if choices.chance(2):
        place.write_bytes(damaged(choices, place.read_bytes()))
        rb.Ledger.open(str(place)).balance()
        return
    asked: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
        (ledger.history, (3,)),
        (ledger.verify, ("1:abc",)),
        (ledger.note, ("words",)),
        (ledger.price, (rb.DP(1),)),
        (rb.Ledger.open, (str(place),)),
    )
    function, given = choices.one(asked)
    function(*(choices.odd(each) for each in given))


# --- Commands -------------------------------------------------------------------------------------

_ASKED = """
ask winner votes.csv --column choice --among red,green --epsilon 1 --no-ledger
ask winner votes.csv --column choice --among red,green --mu 1 --explain
ask share votes.csv --column choice --equals red --at-least 1/2 --epsilon 1 --no-ledger
ask threshold votes.csv --column age --minimum 3 --at-least 2 --epsilon 1 --no-ledger
ask quantile votes.csv --column age --bins 0,2,5 --q 1/2 --rho 1 --no-ledger
ask count votes.csv --column choice --equals red --epsilon 1 --no-ledger --json
look winner votes.csv --column choice --among red,green
compare winner --answers 3 --records 6 --epsilon 1
check votes.csv
design roads.gr --sites 1,3 --epsilon 1 -o out.json
ledger create new.db --dataset d --epsilon 3
ledger balance budget.db
ledger history budget.db --json
plan plan.toml
schema
"""
COMMANDS = tuple(tuple(line.split()) for line in _ASKED.strip().splitlines())
_MORE = (
    "--json --explain --epsilon --delta -1 700 1e-12 --mechanism x,y,z --where --by --groups "
    "--records --help -o /dev/null / out.json/x ../.. --ledger budget.db --rho --mu"
)
_WORDS = (
    *(each for each in ODD if isinstance(each, str) and "\0" not in each),
    *_MORE.split(),
)


def command(choices: Choices, folder: Path) -> None:
    """A command with one or two of its words replaced, left out or added."""
    words = list(choices.one(COMMANDS))
    for _ in range(1 + choices.below(2)):
        place = 1 + choices.below(len(words))
        how = choices.below(3)
        if how == 0 and place < len(words):
            words[place] = choices.one(_WORDS)
        elif how == 1 and place < len(words):
            del words[place]
        else:
            words.insert(place, choices.one(_WORDS))
    if words and words[0] in ("studio", "serve"):
        return
    (folder / "votes.csv").write_bytes(VOTES)
    (folder / "roads.gr").write_bytes(ROADS)
    (folder / "plan.toml").write_text('epsilon = 1\n[[question]]\nkind = "winner"\n')
    rb.Ledger.create(str(folder / "budget.db"), dataset="d", epsilon=3)
    before = Path.cwd()
    said = io.StringIO()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(said):
            app(words)
    except SystemExit:
        pass
    finally:
        os.chdir(before)
    told = said.getvalue() + out.getvalue()
    if "Traceback" in told or "Something went wrong that should not" in told:
        raise AssertionError(f"rainbow {words!r}: {told[-500:]}")


TARGETS: dict[str, Target] = {
    **{name: called(name) for name in CALLS},
    "read: table": read_table,
    "read: text file": read_text_file,
    "read: graph": read_graph,
    "read: labels and rainbows": read_sides,
    "read: mechanism file": read_mechanism,
    "ledger": open_ledger,
    "command": command,
}

"""One mechanism of every kind that a file can hold, and files changed by hand."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import rainbowdp as rb
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.exact.steps import BITS
from rainbowdp.storage.documents import checksum

TOTAL = 1 << BITS
WEIGHTS = {"rows", "ladder", "total", "steps", "most", "half", "tail", "end", "reach"}
Content = dict[str, Any]
THREE = rb.Winner(["a", "b", "c"], "choice")


def chain(*labels: Any) -> rb.RainbowGraph:
    """Six datasets in a row, the first three in one region and the others in another."""
    orders = {labels[0]: ("yes", "no"), labels[1]: ("no", "yes")}
    marks = [labels[0]] * 3 + [labels[1]] * 3
    return rb.RainbowGraph([(i, i + 1) for i in range(5)], orders, ("yes", "no"), labels=marks)


def numbered() -> ExactMechanism:
    graph = rb.RainbowGraph([(0, 1), (2, 3)], [(1, 2, 3), (3, 2, 1), (2, 1, 3), (2, 1, 3)])
    return rb.optimal(graph, rb.DP("0.4")).exact()


def tabled() -> ExactMechanism:
    graph = rb.RainbowGraph([(0, 1)], [("yes", "no"), ("no", "yes")])
    return rb.Mechanism.from_table(graph, {0: (0.6, 0.4), 1: (0.3, 0.7)}, rb.DP(1)).exact()


def custom() -> ExactMechanism:
    question = rb.Custom(
        ["x", "y"],
        lambda n: {"x": max(0, n), "y": max(0, 1 - n)},
        neighbors="added or removed",
        name="sign",
    )
    return rb.best(question, rb.DP(1)).exact()


POLYGON = rb.TradeOff([(0, 1), ("1/10", "6/10"), ("1/3", "1/3"), ("6/10", "1/10"), (1, 0)])
_MAKERS: dict[str, Callable[[], ExactMechanism]] = {
    "graph": lambda: rb.optimal(chain("left", "right"), rb.DP(1, "1e-6")).exact(),
    "graph, tuples": lambda: rb.optimal(chain(("l", 1), ("r", ("x", 2))), rb.DP(1)).exact(),
    "graph, numbers": lambda: rb.optimal(chain(10, 20), rb.DP.from_ratio(3, 2)).exact(),
    "graph, rainbows and a lonely part": numbered,
    "table": tabled,
    "gaussian": lambda: rb.optimal(chain("left", "right"), rb.GaussianDP("0.8")).exact(),
    "polygon": lambda: rb.optimal(chain("left", "right"), POLYGON).exact(),
    "homogeneous": lambda: rb.optimal(THREE, rb.DP("0.5")).exact(),
    "boundary": lambda: rb.optimal(THREE, rb.DP(1), ["0.4", "0.3", "0.3"]).exact(),
    "proximity": lambda: rb.proximity(THREE, rb.DP.from_ratio(3, delta="1/1000")).exact(),
    "margin table": lambda: rb.best(THREE, rb.DP(1)).exact(),
    "margin table, any leader": lambda: rb.best(
        rb.Winner(["a", "b"], ties="any leader", neighbors="added or removed"), rb.DP(1, "1e-3")
    ).exact(),
    "coins": lambda: rb.best(
        rb.Winner(["a", "b", "c"], "c", person="who", rows_per_person=2), rb.DP("0.5")
    ).exact(),
    "coins, any leader": lambda: rb.best(
        rb.Winner(list("abcdefg"), ties="any leader", neighbors="added or removed"), rb.DP(1)
    ).exact(),
    "threshold": lambda: rb.best(rb.Threshold(5, "age", minimum=65), rb.DP(1)).exact(),
    "quantile": lambda: rb.best(rb.Quantile("0.9", [0, 0.5, 2, 3.25]), rb.DP(2)).exact(),
    "zero-concentrated": lambda: rb.best(THREE, rb.ZeroConcentrated("1/8")).exact(),
    "unicode": lambda: rb.best(rb.Winner(["grün", "赤", 'a "b" \\']), rb.DP(1)).exact(),
    "custom": custom,
    "one person, many records": lambda: rb.best(
        rb.Winner(["a", "b"], "c", person="who", rows_per_person=3), rb.DP(1)
    ).exact(),
}


@cache
def made(kind: str) -> ExactMechanism:
    """A mechanism of this kind, proved once in a run."""
    return _MAKERS[kind]()


KINDS = tuple(_MAKERS)


def contents(kind: str) -> Content:
    """What the file of this kind says, with weights as numbers, to be changed."""
    found: Content = as_numbers(made(kind).describe())
    return found


def as_numbers(content: Any, weighs: bool = False) -> Any:
    """A copy in which weights are numbers."""
    if isinstance(content, dict):
        return {key: as_numbers(part, _weighs(key, part)) for key, part in content.items()}
    if isinstance(content, list):
        return [as_numbers(part, weighs) for part in content]
    return int(content) if weighs and isinstance(content, str) else content


def _weighs(key: str, part: Any) -> bool:
    """Scores have rows, too: how many a person may have."""
    return key in WEIGHTS and (key != "rows" or isinstance(part, list))


def as_texts(content: Any, weighs: bool = False) -> Any:
    """A copy in which weights are texts, as in a file."""
    if isinstance(content, dict):
        return {key: as_texts(part, _weighs(key, part)) for key, part in content.items()}
    if isinstance(content, list):
        return [as_texts(part, weighs) for part in content]
    return str(content) if weighs and type(content) is int else content


def write(content: Content, path: Path, *, sealed: bool = True) -> Path:
    """The content as a file, with a checksum that fits unless told otherwise."""
    content = as_texts(content)
    if sealed:
        content.pop("checksum", None)
        content["checksum"] = checksum(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from leaves(part, (*path, number))
    else:
        yield path, value


def changed(content: Content, path: tuple[Any, ...], value: Any) -> Content:
    content = copy.deepcopy(content)
    place: Any = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return content

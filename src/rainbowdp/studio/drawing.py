r"""A graph as people write and draw it: datasets with rainbows, weights and places, and edges.

In text it is one thing a line: ``a b`` joins two datasets, ``a: red > green`` says what a dataset
prefers, ``a = 120`` how much it counts, ``a @ 0.5 -1`` where it is drawn, and ``#`` begins a
remark.

>>> text = "a b\nb c\na: yes > no\nb: yes > no\nc: no > yes\na = 30\n"
>>> drawing = read_drawing(text, "town.txt")
>>> drawing.graph()
RainbowGraph(3 datasets, 2 edges, 2 regions, 2 answers)
>>> drawing.counts()
array([30.,  1.,  1.])
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rainbowdp.aliases import Floats, Rainbow
from rainbowdp.errors import InvalidGraph, InvalidRainbow, RainbowError
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.rainbows import as_rainbow

MOST_DATASETS = 400
MOST_EDGES = 2000
MOST_ANSWERS = 8
LONGEST_NAME = 80  # characters
MOST_WEIGHT = 1e12
FARTHEST = 100.0  # from the middle of the picture
_ODD = re.compile(r"[\s:>,#=@]+")
_GOLDEN = math.pi * (3 - math.sqrt(5))


@dataclass(frozen=True)
class Drawing:
    """What a graph's page holds, by the names of its datasets.

    ``weights`` and ``places`` may leave datasets out: these count 1, and are put beside their
    neighbors.
    """

    rainbows: Mapping[str, Rainbow]
    edges: tuple[tuple[str, str], ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    places: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The datasets, in the order of the page."""
        return tuple(self.rainbows)

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers, in the order of the first rainbow."""
        return tuple(map(str, next(iter(self.rainbows.values()))))

    def graph(self) -> RainbowGraph:
        """The rainbow graph."""
        return self._graph

    @cached_property
    def _graph(self) -> RainbowGraph:
        return RainbowGraph(list(self.edges), dict(self.rainbows))

    def counts(self) -> Floats | None:
        """What each dataset counts, in the order of the graph; none if all count alike."""
        if not self.weights:
            return None
        return np.array([self.weights.get(name, 1.0) for name in self.graph().datasets])

    def text(self) -> str:
        """The lines that ``read_drawing`` reads."""
        lines = [f"{name}: {' > '.join(map(str, order))}" for name, order in self.rainbows.items()]
        lines += [f"{name} = {weight:.12g}" for name, weight in self.weights.items()]
        lines += [f"{name} @ {x:.4g} {y:.4g}" for name, (x, y) in self.places.items()]
        lines += [f"{a} {b}" for a, b in self.edges]
        return "\n".join([*lines, ""])


def drawn(graph: RainbowGraph, places: Floats, weights: Floats | None = None) -> Drawing | None:
    """The drawing of a graph; none if its regions or names cannot be told in lines of text."""
    orders = {tuple(map(_word, region.rainbow)) for region in graph.regions.values()}
    names = [_word(dataset) for dataset in graph.datasets]
    if len(orders) != len(graph.regions) or len(set(names)) != len(names):
        return None
    regions = [tuple(map(_word, region.rainbow)) for region in graph.regions.values()]
    return Drawing(
        {name: regions[at] for name, at in zip(names, graph.region_numbers, strict=True)},
        tuple((names[a], names[b]) for a, b in graph.edge_positions().tolist()),
        {} if weights is None else dict(zip(names, weights.tolist(), strict=True)),
        {name: (float(x), float(y)) for name, (x, y) in zip(names, places, strict=True)},
    )


def read_drawing(text: str, source: str) -> Drawing:
    """The drawing in lines of text; a message names ``source`` and the line."""
    edges: dict[tuple[str, str], int] = {}
    rainbows: dict[str, Rainbow] = {}
    weights: dict[str, float] = {}
    places: dict[str, tuple[float, float]] = {}
    said_at: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        said = line.partition("#")[0].strip()
        if not said:
            continue
        where = f"{source}, line {number}"
        words = said.replace(",", " ").split()
        if ":" in said:
            _read_rainbow(said, rainbows, where)
        elif len(words) == 3 and words[1] == "=":
            weights[words[0]] = weight_of(words[2], where)
            said_at.setdefault(words[0], number)
        elif len(words) == 4 and words[1] == "@":
            places[words[0]] = _place_of(words[2:], where)
            said_at.setdefault(words[0], number)
        elif len(words) == 2:
            edges.setdefault((words[0], words[1]), number)
        else:
            raise InvalidGraph(
                "a line must be an edge 'a b', a rainbow 'a: red > green', a weight 'a = 120' or a "
                f"place 'a @ 0.5 -1', got {said!r}: {where}"
            )
        check_small(len(edges), MOST_EDGES, "edges", source)
        check_small(len(rainbows), MOST_DATASETS, "datasets", source)
    named = [(end, number) for pair, number in edges.items() for end in pair]
    for name, number in [*named, *said_at.items()]:
        if name not in rainbows:
            raise InvalidGraph(
                f"dataset {name!r} has no rainbow; add a line such as '{name}: red > green': "
                f"{source}, line {number}"
            )
    if not rainbows:
        raise InvalidGraph(f"{source} has no rainbows; add lines such as 'a: red > green'")
    check_small(len(next(iter(rainbows.values()))), MOST_ANSWERS, "answers", source)
    if weights and not any(weights.get(name, 1.0) for name in rainbows):
        raise RainbowError(f"the weights in {source} are all 0; let one dataset count more")
    return Drawing(rainbows, tuple(edges), weights, places)


def beside(graph: RainbowGraph, places: Mapping[str, tuple[float, float]]) -> Floats:
    """A place for every dataset: its own, or one beside its neighbors that have one."""
    known = {graph.position(name): place for name, place in places.items()}
    found = np.zeros((len(graph), 2))
    for position, name in enumerate(graph.datasets):
        if position in known:
            found[position] = known[position]
            continue
        near = [known[at] for at in map(graph.position, graph.neighbors(name)) if at in known]
        angle = position * _GOLDEN
        away = np.array([math.cos(angle), math.sin(angle)])
        found[position] = np.mean(near, axis=0) + 0.3 * away if near else 1.2 * away
        known[position] = (float(found[position, 0]), float(found[position, 1]))
    return found


def weight_of(text: str, where: str) -> float:
    """What a dataset counts, from its text."""
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 <= weight <= MOST_WEIGHT:
        raise RainbowError(
            f"a weight must be a number from 0 to {MOST_WEIGHT:.0e}, got {text[:40]!r}: {where}"
        )
    return weight


def _place_of(words: list[str], where: str) -> tuple[float, float]:
    try:
        x, y = map(float, words)
    except ValueError:
        x = y = math.nan
    if not (abs(x) <= FARTHEST and abs(y) <= FARTHEST):
        raise InvalidGraph(
            f"a place must be two numbers from -{FARTHEST:g} to {FARTHEST:g}, got "
            f"{' '.join(words)[:40]!r}: {where}"
        )
    return x, y


def _read_rainbow(said: str, rainbows: dict[str, Rainbow], where: str) -> None:
    name, order = (part.strip() for part in said.split(":", 1))
    if name in rainbows:
        raise InvalidGraph(f"dataset {name!r} has a rainbow already: {where}")
    try:
        rainbows[name] = as_rainbow([part.strip() for part in order.split(">")])
    except InvalidRainbow as error:
        raise InvalidRainbow(f"{error}: {where}") from None
    _check_names([name, *rainbows[name]], where)
    first = next(iter(rainbows.values()))
    if set(rainbows[name]) != set(first):
        raise InvalidRainbow(
            f"every rainbow must list the same answers, {' > '.join(sorted(first))}, "
            f"got {order!r}: {where}"
        )


def _check_names(names: Iterable[str], where: str) -> None:
    for name in names:
        if not 0 < len(name) <= LONGEST_NAME:
            shown = repr(name) if len(name) <= LONGEST_NAME else f"{len(name):,} of them"
            raise InvalidGraph(
                f"a name must have 1 to {LONGEST_NAME} characters, got {shown}: {where}"
            )


def check_small(size: int, most: int, what: str, source: str) -> None:
    """Refuse what is too large to be drawn."""
    if size > most:
        raise RainbowError(f"the studio draws up to {most} {what}, got {size} in {source}")


def _word(name: object) -> str:
    """A name that a line of text can hold."""
    return _ODD.sub("_", str(name)) or "_"

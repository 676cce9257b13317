"""What the page draws: a rainbow graph, a place for each dataset, and where it came from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from rainbowdp.aliases import Answer, Floats, Integers, Rainbow
from rainbowdp.display.colors import colors
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.exact.rule import Outline
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.layout import layout
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.questions import Question, with_margins
from rainbowdp.questions.groups import Between
from rainbowdp.questions.histograms import histograms, up_to
from rainbowdp.studio.drawing import Drawing, drawn

DEEPEST_SHOWN = 24  # depths of a region, or records of a table, that are drawn of a mechanism file
_HISTOGRAMS = 130  # that are drawn of a mechanism file


@dataclass(frozen=True, eq=False)
class World:
    """A graph with its picture.

    ``setup`` are the lines of Python that make the library's own graph or question ``world``. A
    question has ``counts``, the histogram behind each dataset; a mechanism file is ``file``, from
    the file called ``source``. ``mechanisms`` names those worth showing, if not all are;
    ``noun`` is what a dataset is called, and ``signs`` are words to write beside datasets.
    ``weights`` say how much each dataset counts in a mean; without them all count alike.
    """

    name: str
    title: str
    note: str
    graph: RainbowGraph
    places: Floats
    setup: tuple[str, ...] = ()
    question: Question | None = None
    counts: Integers | None = None
    file: ExactMechanism | None = None
    source: str = ""
    mechanisms: tuple[str, ...] | None = None
    noun: str = ""
    signs: Mapping[int, str] = field(default_factory=dict)
    start: Mapping[str, Any] = field(default_factory=dict)
    weights: Floats | None = None

    def show(self, position: int) -> str:
        """The name of the dataset at ``position`` for people."""
        if self.counts is not None and self.question is not None:
            counted = zip(self.counts[position].tolist(), self.question.groups, strict=True)
            return ", ".join(
                f"{count} {'in ' if isinstance(values, Between) else ''}{name}"
                for count, (name, values) in counted
            )
        dataset = self.graph.datasets[position]
        if self.file is not None:
            region, depth = dataset
            return f"{self.region_names[region]}, depth {'∞' if depth == math.inf else depth}"
        return f"{self.noun} {dataset}".strip()

    def key(self, position: int) -> Any:
        """What the library calls the dataset at ``position``: of a question, its counts."""
        if self.counts is not None and self.question is not None:
            names = [name for name, _ in self.question.groups]
            return dict(zip(names, self.counts[position].tolist(), strict=True))
        return self.graph.datasets[position]

    def key_in_file(self, position: int) -> Any:
        """The key by which the loaded file finds the row of the dataset at ``position``."""
        assert self.file is not None
        if self.counts is not None:
            assert self.file.locate is not None
            return self.file.locate(self.key(position))
        label, depth = self.graph.datasets[position]
        return self.file.rule.key_at_depth(label, depth, self.file.answers)

    @property
    def weighted(self) -> tuple[RainbowGraph, Floats | None]:
        """The graph, and what each dataset counts."""
        return self.graph, self.weights

    @cached_property
    def region_names(self) -> dict[Any, str]:
        """What the page calls each region."""
        return {label: region.name for label, region in self.graph.regions.items()}

    @cached_property
    def drawing(self) -> Drawing | None:
        """The graph as people edit it; none of a question, a file, or what text cannot tell."""
        if self.question is not None or self.file is not None:
            return None
        return drawn(self.graph, self.places, self.weights)

    def as_dict(self) -> dict[str, Any]:
        """All that does not change when a control is moved."""
        graph = self.graph
        place = {answer: number for number, answer in enumerate(graph.answers)}
        return {
            "name": self.name,
            "title": self.title,
            "note": self.note,
            "answers": [str(answer) for answer in graph.answers],
            "colors": list(colors(graph.answers).values()),
            "regions": [
                {
                    "name": region.name,
                    "rainbow": [place[answer] for answer in region.rainbow],
                    "deepest": region.deepest,
                    "size": region.size,
                }
                for region in graph.regions.values()
            ],
            "datasets": [
                {
                    "name": self.show(position),
                    "sign": self.signs.get(position),
                    "region": int(graph.region_numbers[position]),
                    "depth": None if math.isinf(depth) else int(depth),
                    "x": round(float(x), 4),
                    "y": round(float(y), 4),
                    "weight": None if self.weights is None else float(self.weights[position]),
                }
                for position, (depth, (x, y)) in enumerate(
                    zip(graph.depths, self.places, strict=True)
                )
            ],
            "edges": graph.edge_positions().tolist(),
            "kind": "file" if self.file else "question" if self.question else "graph",
            "start": dict(self.start),
            "text": None if self.drawing is None else self.drawing.text(),
        }


def of_question(
    name: str,
    title: str,
    note: str,
    question: Question,
    records: int,
    setup: Sequence[str],
    start: Mapping[str, Any],
) -> World:
    """A question drawn as all tables of ``records`` records; nobody's table is behind it."""
    counts = _tables(question, records)
    pairs = _neighbors(question, counts)
    names = [group for group, _ in question.groups]
    truths = [_truth(question.margins(dict(zip(names, row, strict=True)))) for row in counts]
    rainbows = {answer: first_of(answer, question.answers) for answer in question.answers}
    graph = RainbowGraph(pairs, rainbows, question.answers, labels=truths)
    if len(names) == 3 and len(np.unique(counts.sum(axis=1))) == 1:
        places = _on_triangle(counts)
    elif len(pairs) == len(counts) - 1:
        places = on_arc(len(counts))
    else:
        places = spread(graph)
    return World(name, title, note, graph, places, tuple(setup), question, counts, start=start)


def of_file(name: str, title: str, note: str, mechanism: ExactMechanism, source: str) -> World:
    """A mechanism file drawn as what its rows are for: lines of depths, or small tables."""
    start = {
        "mechanism": "file",
        "guarantee": describe_guarantee(mechanism.guarantee),
        "dataset": 0,
    }
    outline = mechanism.rule.outline(mechanism.answers)
    if outline is not None:
        graph, places = _boundary_graph(outline, mechanism.answers)
        setup = opened(source)
        return World(
            name, title, note, graph, places, setup, file=mechanism, source=source, start=start
        )
    assert mechanism.question is not None  # a rule without an outline cannot be made without one
    question = with_margins(mechanism.question)
    records = 1
    while records < DEEPEST_SHOWN and len(_tables(question, records + 1)) <= _HISTOGRAMS:
        records += 1
    up_to_them = "up to " if question.neighbors == "added or removed" else ""
    note += f" Drawn for tables of {up_to_them}{records} records."
    setup = opened(source, "question")
    world = of_question(name, title, note, question, records, setup, start)
    return replace(world, file=mechanism, source=source)


def _boundary_graph(outline: Outline, answers: tuple[Answer, ...]) -> tuple[RainbowGraph, Floats]:
    """A line of depths for each region, heads joined where regions touch."""
    lines = {
        label: (rainbow, min(length, DEEPEST_SHOWN))
        for label, (rainbow, length) in outline.lines.items()
    }
    names: dict[tuple[Any, float], Any] = {}
    edges = [((a, 0), (b, 0)) for a, b in outline.touching]
    places = []
    rainbows = {label: order for label, (order, _) in lines.items()}
    for number, (label, (_, length)) in enumerate(lines.items()):
        angle = 2 * math.pi * number / max(len(lines), 2) + math.pi
        for depth in range(length):
            names[label, depth] = label
            reach = 0.25 + 0.75 * depth / max(DEEPEST_SHOWN - 1, 1)
            places.append((reach * math.cos(angle), 0.7 * reach * math.sin(angle)))
        edges += [((label, depth), (label, depth + 1)) for depth in range(length - 1)]
    for number, (label, answer) in enumerate(outline.certain.items()):
        rainbows.setdefault(label, first_of(answer, answers))
        names[label, math.inf] = label
        places.append((-1 + 0.1 * number, 0.9))
    graph = RainbowGraph(edges, rainbows, answers, labels=names)
    short = max((length for _, length in lines.values()), default=0) < 3
    return graph, spread(graph) if short else np.array(places)


def opened(source: str, part: str = "graph") -> tuple[str, ...]:
    """The lines of Python that open the file called ``source``, for its graph or question."""
    line = f"world = open_world({source!r}).{part}"
    if part == "weighted":
        line = f"world, weights = open_world({source!r}).weighted"
    return ("from rainbowdp.studio.loading import open_world", line)


def first_of(answer: Answer, answers: Sequence[Answer]) -> Rainbow:
    """``answer`` first, the others as they are listed."""
    return (answer, *(other for other in answers if other != answer))


def on_arc(count: int) -> Floats:
    """Places along the arc of a rainbow, from left to right."""
    angle = np.linspace(math.pi * 0.94, math.pi * 0.06, count)
    return np.stack([np.cos(angle), -0.8 * np.sin(angle)], axis=1)


def winding(count: int, columns: int) -> Floats:
    """Places along a path that goes to and fro, ``columns`` to a row."""
    row, column = np.divmod(np.arange(count), columns)
    across = np.where(row % 2, columns - 1 - column, column)
    return np.stack([across - (columns - 1) / 2, 1.4 * row], axis=1) / columns * 2


def spread(graph: RainbowGraph) -> Floats:
    """The layout of a graph from −1 to 1, on a page whose y goes down."""
    places = layout(graph) * [1, -1]
    places -= (places.max(axis=0) + places.min(axis=0)) / 2
    scaled: Floats = places / max(np.abs(places).max(), 1e-9)
    return scaled


def _truth(margins: Mapping[Answer, int]) -> Answer:
    return next(answer for answer, margin in margins.items() if margin == 0)


def _tables(question: Question, records: int) -> Integers:
    """All histograms of so many records, or where a record may come or go, of up to so many."""
    every = up_to if question.neighbors == "added or removed" else histograms
    return every(question, records)


def _neighbors(question: Question, counts: Integers) -> Integers:
    """The pairs of histograms that the records of one person join."""
    change = counts[:, None] - counts
    gained, lost = np.maximum(change, 0).sum(axis=2), np.maximum(-change, 0).sum(axis=2)
    near = np.maximum(gained, lost) <= question.limit
    if question.neighbors == "added or removed":
        near &= np.minimum(gained, lost) == 0
    return np.argwhere(np.triu(near, 1))


def _on_triangle(counts: Integers) -> Floats:
    """A triangle with all records of one kind at each corner."""
    corners = np.array([[0.0, -1.0], [-1.0, 0.75], [1.0, 0.75]])
    places: Floats = counts @ corners / counts.sum(axis=1, keepdims=True)
    return places

"""The fixed point of a graph whose datasets are merged into classes: few rows for many datasets.

Datasets with the same margins, as far as a *cut*, are one class; two classes are neighbors where
two of their datasets are. A mechanism that is private on the graph of classes is private on the
graph (a pullback), and whatever the classes are, every edge is checked in integers. Distances to
where an answer is true are kept up to the cut: a margin below it is the same on the graph of
classes, so only what is farther away than the cut costs anything, some e^{−ε·cut} for each answer
next door.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.errors import InvalidGraph
from rainbowdp.graphs.edges import Edges
from rainbowdp.graphs.engines import engine
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.truth import first_choices, true_answers
from rainbowdp.guarantees.dp import DP
from rainbowdp.mechanisms.lifted.lifted import fixed_point
from rainbowdp.mechanisms.lifted.rows import Lifted

_BLOCK = 1 << 14  # datasets whose margins are looked at at a time
_ENOUGH = 14  # ε times a cut beyond which nothing is gained: e^−14 is below 10^−6


@dataclass(frozen=True)
class Classes:
    """The class of each dataset, and the cut up to which margins tell classes apart."""

    index: NDArray[Any]
    count: int
    cut: int


def classes_within(graph: RainbowGraph, margins: NDArray[Any], guarantee: DP, most: int) -> Classes:
    """The finest classes by cut margins of which there are at most ``most``.

    ``margins`` are those of ``whole_margins``; an answer that is not in reach stays so.
    """
    low, high = 0, math.ceil(_ENOUGH / guarantee.epsilon) + 1
    high = min(high, int(np.iinfo(margins.dtype).max) - 1, len(graph))
    if _count(margins, high) <= most:
        low = high
    while high - low > 1:
        middle = (low + high) // 2
        if _count(margins, middle) <= most:
            low = middle
        else:
            high = middle
    if low < 1:
        raise InvalidGraph(
            f"its datasets have more than {most:,} distinct margins even where those of 1 and more "
            "are not told apart; use fewer answers"
        )
    index, first = _classes(graph, margins, low)
    return Classes(index, len(first), low)


def fixed_point_of_classes(
    graph: RainbowGraph, guarantee: DP, classes: Classes, **options: Any
) -> Lifted:
    """``fixed_point`` on the graph of ``classes``, as a mechanism on ``graph``."""
    small = fixed_point(merged(graph, classes), guarantee, **options)
    return Lifted(
        graph,
        small.weights,
        guarantee,
        index=small.index[classes.index],
        rounds=small.rounds,
        change=small.change,
        relieved=small.relieved,
        name=small.name,
    )


def merged(graph: RainbowGraph, classes: Classes) -> RainbowGraph:
    """The graph of classes: what is true at a class is what is true at its datasets."""
    orders = [region.rainbow for region in graph.regions.values()]
    rainbows = dict(zip(first_choices(graph).tolist(), orders, strict=True))
    truth = np.zeros(classes.count, dtype=np.int64)
    truth[classes.index] = true_answers(graph)
    pairs = graph.joined(classes.index, classes.count)
    edges = Edges(pairs, range(classes.count))
    return RainbowGraph(edges, rainbows, graph.answers, labels=truth)


def _count(margins: NDArray[Any], cut: int) -> int:
    """How many rows of cut margins there are, by a random linear form modulo 2^64."""
    form = np.random.default_rng(0).integers(0, 1 << 63, margins.shape[1], dtype=np.uint64)
    found = np.empty(len(margins), dtype=np.uint64)
    for start in range(0, len(margins), _BLOCK):
        block = _cut(margins[start : start + _BLOCK], cut)
        found[start : start + _BLOCK] = block.astype(np.uint64) @ form
    return len(np.unique(found))


def _cut(margins: NDArray[Any], cut: int) -> NDArray[Any]:
    """Margins up to ``cut``, and one more where there is no way."""
    beyond = np.iinfo(margins.dtype).max
    return np.where(margins == beyond, cut + 1, np.minimum(margins, cut))


def _classes(
    graph: RainbowGraph, margins: NDArray[Any], cut: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The class of each dataset, told apart column by column, and the first dataset of each."""
    chosen = engine(len(graph) + graph.edge_count, len(graph.answers))
    classes, first = np.zeros(len(graph), dtype=np.uint32), np.zeros(1, dtype=np.int64)
    for column in margins.T:
        if len(first) < len(graph):
            classes, first = chosen.refine(classes, _cut(column, cut))
    return classes, first

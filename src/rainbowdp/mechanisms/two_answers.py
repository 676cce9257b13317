"""Two answers, and a guarantee of its own on each edge: the optimum, searched in integers.

Of two answers a row is one number, the weight of the dataset's own answer. A neighbor over an edge
with the curve φ allows it at most φ of the neighbor's, so at most the least that composed curves
make of a fixed weight on any path. φ is monotone and φ(s) ≥ s: the weights are final in rising
order, as distances are in Dijkstra's search, and together they are private, because each is at most
what each neighbor allows (``docs/lengths.md``, which also proves what the default boundary has).
"""

from __future__ import annotations

import heapq
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from rainbowdp.aliases import Answer, Dataset
from rainbowdp.errors import InvalidBoundary, InvalidGraph, InvalidMechanism
from rainbowdp.exact.steps import BITS, on_grid, reach_of, symmetric_pair
from rainbowdp.expecting import brief
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.rainbows import in_order
from rainbowdp.guarantees.closeness import first_violation, promise_of
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of

OnEdges: TypeAlias = (
    "Mapping[tuple[Dataset, Dataset], TradeOffCurve] | Sequence[TradeOffCurve] "
    "| Callable[[Dataset, Dataset], TradeOffCurve]"
)
_TOTAL = 1 << BITS


@dataclass(frozen=True, eq=False)
class TwoAnswers:
    """A mechanism of two answers whose guarantee differs from edge to edge.

    Made by ``rb.optimal_two``, which proves every edge in integers.

    Attributes
    ----------
    graph
        The rainbow graph.
    guarantees
        What each edge promises, in the order of ``graph.edge_positions()``.
    weights
        The weight of each dataset's first choice, out of a total of 2⁶⁴.

    """

    graph: RainbowGraph
    guarantees: tuple[TradeOffCurve, ...]
    weights: tuple[int, ...]

    def __repr__(self) -> str:
        return f"TwoAnswers({len(self.graph)} datasets, {len(set(self.guarantees))} guarantees)"

    def exactly(self, dataset: Dataset) -> dict[Answer, Fraction]:
        """{answer: exact probability} at ``dataset``, its first choice first.

        Parameters
        ----------
        dataset
            A node of the graph.

        Returns
        -------
        dict
            The two probabilities.

        """
        weight = self.weights[self.graph.position(dataset)]
        first, second = self.graph.rainbow(dataset)
        return {first: Fraction(weight, _TOTAL), second: Fraction(_TOTAL - weight, _TOTAL)}

    def __getitem__(self, dataset: Dataset) -> dict[Answer, float]:
        """{answer: probability} at ``dataset``, its first choice first."""
        return {answer: float(p) for answer, p in self.exactly(dataset).items()}

    def release(self, dataset: Dataset) -> Answer:
        """Draw one answer from exact integers. This is what goes out.

        Parameters
        ----------
        dataset
            A node of the graph.

        Returns
        -------
        Answer
            One answer, from the operating system's randomness.

        """
        weight = self.weights[self.graph.position(dataset)]
        first, second = self.graph.rainbow(dataset)
        return first if secrets.randbelow(_TOTAL) < weight else second


def optimal_two(
    graph: RainbowGraph, guarantees: OnEdges, boundary: Mapping[Dataset, Any] | None = None
) -> TwoAnswers:
    """The optimum for two answers where each edge has a guarantee of its own.

    Such as (ε·length)-DP on roads of any lengths, in which case nothing is rounded to a unit.

    Parameters
    ----------
    graph
        A rainbow graph with two answers.
    guarantees
        {(a, b): guarantee}, a function of two neighbors, or one for each of
        ``graph.edge_positions()``.
    boundary
        {dataset: distribution} for every dataset with a neighbor of the other answer. By default
        each edge between two answers holds its ends to the row that is symmetric under its own
        guarantee; no mechanism has a better least certainty over the two ends of such an edge.

    Returns
    -------
    TwoAnswers
        The greatest mechanism with that boundary, proved in integers on every edge.

    Raises
    ------
    InvalidGraph
        If the graph has not two answers, or its edges have lengths of their own.
    InvalidBoundary
        If the given rows break the guarantee of an edge or a path.
    InvalidMechanism
        If an edge has no guarantee.

    Examples
    --------
    >>> from rainbowdp import DP
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("yes", "no"), ("yes", "no"), ("no", "yes")])
    >>> found = optimal_two(graph, {(0, 1): DP.from_ratio(2), (1, 2): DP.from_ratio(3)})
    >>> found[0]["yes"], found[1]["yes"]
    (0.875, 0.75)

    """
    if len(graph.answers) != 2:
        raise InvalidGraph(f"optimal_two needs a graph of two answers, got {len(graph.answers)}")
    graph.refuse_lengths("optimal_two, to which guarantees give each edge its own measure,")
    ends = graph.edge_positions()
    curves = _of_edges(graph, ends, guarantees)
    number: dict[TradeOffCurve, int] = {}
    kinds = [number.setdefault(curve, len(number)) for curve in curves]
    first = np.array([region.rainbow[0] == graph.answers[0] for region in graph.regions.values()])
    truth = first[graph.region_numbers]
    search = _Search(len(graph), ends, kinds, list(number), truth)
    start = search.symmetric() if boundary is None else _given(graph, search, boundary)
    weights = search.run(start, fixed=boundary is not None)
    search.prove(graph, weights, boundary is not None)
    return TwoAnswers(graph, tuple(curves), tuple(weights))


def _of_edges(graph: RainbowGraph, ends: Any, guarantees: OnEdges) -> list[TradeOffCurve]:
    what = "the guarantee of an edge"
    if isinstance(guarantees, Sequence):
        if len(guarantees) != len(ends):
            raise InvalidMechanism(
                f"there are {len(ends)} edges but {len(guarantees)} guarantees; give each one"
            )
        return [curve_of(each, what) for each in guarantees]
    found = []
    for first, second in (graph.names(pair) for pair in ends):
        if isinstance(guarantees, Mapping):
            each = guarantees.get((first, second), guarantees.get((second, first)))
        else:
            each = guarantees(first, second)
        if each is None:
            raise InvalidMechanism(
                f"the edge between {brief(first)} and {brief(second)} has no guarantee"
            )
        found.append(curve_of(each, what))
    return found


class _Search:
    """Edges by position, each with the number of its curve."""

    def __init__(
        self, size: int, ends: Any, kinds: list[int], curves: list[TradeOffCurve], truth: Any
    ) -> None:
        self.curves, self.truth = curves, truth.tolist()
        self.edges = [(int(a), int(b), kind) for (a, b), kind in zip(ends, kinds, strict=True)]
        self.ways: list[list[tuple[int, int]]] = [[] for _ in range(size)]
        for a, b, kind in self.edges:
            self.ways[a].append((b, kind))
            self.ways[b].append((a, kind))
        self.reach = [cache(reach_of(curve, _TOTAL)) for curve in curves]

    def border(self) -> list[tuple[int, int, int]]:
        """The edges between the two answers."""
        return [edge for edge in self.edges if self.truth[edge[0]] != self.truth[edge[1]]]

    def symmetric(self) -> dict[int, int]:
        """At each end of a border the least weight that is symmetric on one of its edges."""
        most = [symmetric_pair(curve, 2, _TOTAL)[0] for curve in self.curves]
        found: dict[int, int] = {}
        for a, b, kind in self.border():
            for end in (a, b):
                found[end] = min(found.get(end, _TOTAL), most[kind])
        return found

    def run(self, start: dict[int, int], *, fixed: bool) -> list[int]:
        """The least weight that a path makes of a start's; a fixed start stays as it is."""
        weights = [_TOTAL] * len(self.ways)
        queue = [(weight, place) for place, weight in start.items()]
        for place, weight in start.items():
            weights[place] = weight
        heapq.heapify(queue)
        while queue:
            weight, place = heapq.heappop(queue)
            if weight > weights[place]:
                continue
            for other, kind in self.ways[place]:
                if self.truth[other] != self.truth[place] or (fixed and other in start):
                    continue
                allowed = self.reach[kind](weight)
                if allowed < weights[other]:
                    weights[other] = allowed
                    heapq.heappush(queue, (allowed, other))
        return weights

    def prove(self, graph: RainbowGraph, weights: list[int], given: bool) -> None:
        """Compare the rows on every edge in integers, both directions and all sets."""
        promises = [promise_of(curve, _TOTAL) for curve in self.curves]
        rows = [
            (weight, _TOTAL - weight) if truth else (_TOTAL - weight, weight)
            for weight, truth in zip(weights, self.truth, strict=True)
        ]
        for a, b, kind in self.edges:
            if first_violation(promises[kind], rows[a], rows[b]) is not None:
                one, other = graph.names(np.array([a, b]))
                error = InvalidBoundary if given else InvalidMechanism
                raise error(
                    f"the rows break {self.curves[kind]} between {brief(one)} and "
                    f"{brief(other)}; the given "
                    "boundary allows no mechanism"
                )


def _given(graph: RainbowGraph, search: _Search, boundary: Mapping[Dataset, Any]) -> dict[int, int]:
    found = {}
    for dataset, row in boundary.items():
        place = graph.position(dataset)
        weights = on_grid(in_order(row, graph.rainbow(dataset)), _TOTAL)
        found[place] = weights[0]
    for a, b, _ in search.border():
        for end in (a, b):
            if end not in found:
                raise InvalidBoundary(
                    f"dataset {brief(graph.datasets[end])} has a neighbor of the other answer, "
                    "so it "
                    "needs a distribution; give it one"
                )
    return found

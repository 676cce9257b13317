"""The nearest of given sites: regions of a map, and what each of them prefers.

A site is a node. Every node belongs to the region of its nearest site, and a tie goes to the site
listed first. The rainbow of a region is its own site first, then the others by their distance from
it. A node that no site reaches is infinitely far from all of them: it is refused, or it is a tie
and goes to the first, as you choose.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Floats, Rainbow
from rainbowdp.errors import InvalidGraph, Unreached
from rainbowdp.expecting import brief, expect, hashable
from rainbowdp.graphs.edges import Edges, Ids, place_of, placed
from rainbowdp.graphs.engines import engine
from rainbowdp.graphs.lengths import measured, merged_weights

_UNCLAIMED = np.uint32(0xFFFFFFFF)


@dataclass(frozen=True, eq=False)
class NearestSites:
    """The nearest site of each node; made by ``rb.nearest_sites``.

    Attributes
    ----------
    names
        The names of the sites.
    numbers
        For each node the index of its nearest site in ``names``.
    distances
        For each node the distance to that site, infinite if it reaches none.
    rainbows
        For each site the order of all sites by their distance from it.

    """

    names: tuple[Answer, ...]
    numbers: NDArray[np.uint32]
    distances: Floats
    rainbows: dict[Answer, Rainbow]

    def __repr__(self) -> str:
        return f"NearestSites({len(self.names)} sites, {len(self.numbers)} nodes)"

    @property
    def labels(self) -> NDArray[Any]:
        """The name of each node's site: what ``RainbowGraph`` takes as labels."""
        whole = all(type(name) is int for name in self.names)
        named = np.empty(len(self.names), dtype=np.int64 if whole else object)
        named[:] = self.names
        return named[self.numbers]

    @property
    def unreached(self) -> int:
        """The number of nodes that no site reaches."""
        return int(np.isinf(self.distances).sum())


def nearest_sites(
    edges: Any,
    sites: Sequence[Dataset] | Mapping[Answer, Dataset],
    *,
    weighted: bool | None = None,
    unreached: Literal["refuse", "first"] = "refuse",
    progress: Callable[[float], None] | None = None,
) -> NearestSites:
    """Label every node by its nearest site, and give every site its rainbow.

    Cost: one search of the graph, and one more for each site.

    Parameters
    ----------
    edges
        The edges in any form that ``RainbowGraph`` takes.
    sites
        Nodes, or names with their nodes: ``{"Bellevue": 17, "Mount Sinai": 5000}``.
    weighted
        Whether to add up the weights of edges, which a file or a SciPy matrix may have, or to count
        edges. You must say which if edges have weights, unless ``rb.with_lengths`` already did:
        then lengths add up, and the two ends of an edge that is shorter than the unit are one
        place.
    unreached
        What becomes of nodes that no site reaches: ``"refuse"`` raises an error, ``"first"`` gives
        them to the first site.
    progress
        Called with numbers from 0 to 1.

    Returns
    -------
    NearestSites
        Labels, names and rainbows for ``RainbowGraph``.

    Raises
    ------
    InvalidGraph
        If a site is not a node, is listed twice, or weights are asked for and missing; or if no
        site reaches some nodes, unless ``unreached="first"``.

    Examples
    --------
    >>> from rainbowdp import RainbowGraph
    >>> roads = [(0, 1), (1, 2), (2, 3), (3, 4)]
    >>> near = nearest_sites(roads, {"north": 0, "south": 4})
    >>> near.labels.tolist()
    ['north', 'north', 'north', 'south', 'south']
    >>> RainbowGraph(roads, near.rainbows, near.names, labels=near.labels)
    RainbowGraph(5 datasets, 4 edges, 2 regions, 2 answers)

    """
    graph = placed(edges if weighted is not None else measured(edges, None, None))
    expect(sites, Iterable, "nearest_sites", InvalidGraph)
    if unreached not in ("refuse", "first"):
        raise InvalidGraph(f"unreached must be 'refuse' or 'first', got {brief(unreached)}")
    nodes = list(sites.values()) if isinstance(sites, Mapping) else list(sites)
    names = tuple(sites) if isinstance(sites, Mapping) else tuple(nodes)
    places = _places_of(graph, nodes)
    by_length = graph.steps is not None if weighted is None else weighted
    roads = _Roads(graph, by_length, len(places) + 1)
    distances = roads.distances(places)
    if unreached == "refuse":
        _must_be_reached(graph, distances)
    numbers = roads.claims(distances, places)
    between = np.empty((len(places), len(places)))
    for number, place in enumerate(places):
        between[number] = roads.distances([place])[places]
        if progress is not None:
            progress((number + 1) / len(places))
    np.fill_diagonal(between, -1.0)  # the own site comes before another at no distance
    order = np.argsort(between, axis=1, kind="stable")
    rainbows = {
        name: tuple(names[other] for other in row) for name, row in zip(names, order, strict=True)
    }
    return NearestSites(names, numbers, distances, rainbows)


def _places_of(graph: Edges, nodes: Sequence[Dataset]) -> list[int]:
    if not nodes:
        raise InvalidGraph("nearest_sites needs at least one site, got none")
    names = graph.names
    assert names is not None
    if isinstance(names, range | Ids):
        found = [place_of(names, int(n)) if _is_whole(n) else None for n in nodes]
    else:
        where = {name: place for place, name in enumerate(names)}
        found = [where.get(node) if hashable(node) else None for node in nodes]
    places = [place for place in found if place is not None]
    if len(places) < len(nodes):
        stray = nodes[found.index(None)]
        raise InvalidGraph(f"the site {brief(stray)} is not a node of the graph")
    if len(set(places)) < len(places):
        twice = next(node for node in nodes if nodes.count(node) > 1)
        raise InvalidGraph(f"the sites list the node {brief(twice)} twice; list it once")
    return places


def _must_be_reached(graph: Edges, distances: Floats) -> None:
    beyond = np.flatnonzero(np.isinf(distances))
    if len(beyond):
        assert graph.names is not None
        raise Unreached(len(beyond), brief(graph.names[int(beyond[0])]))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _checked_lengths(weights: NDArray[Any] | None) -> Floats:
    if weights is None:
        raise InvalidGraph(
            "weighted=True needs edges with weights, and these have none; read them from a file "
            "with weight=, or give a SciPy matrix"
        )
    if weights.dtype.kind not in "iuf" or not (np.isfinite(weights) & (weights >= 0)).all():
        raise InvalidGraph("the weights of edges must be finite numbers from 0, but some are not")
    return weights.astype(np.float64)


class _Roads:
    """Edges in both directions, in compressed rows; those with lengths are kept side by side.

    Where edges are counted, distances come from the engine that serves so many ``searches``.
    """

    def __init__(self, graph: Edges, weighted: bool, searches: int) -> None:
        from scipy import sparse

        assert graph.names is not None
        pairs, size = np.asarray(graph.pairs), len(graph.names)
        self.size, self.engine = size, None if weighted else engine(size + len(pairs), searches)
        if self.engine is not None:
            self.compressed = self.engine.compress(pairs, size)
            return
        ends = np.concatenate([pairs[:, 0], pairs[:, 1]])
        count = len(ends)
        # Sorted by counting, with the edge's number as the column, so that nothing is added up.
        incidence = sparse.csr_array(
            (np.ones(count, dtype=np.bool_), (ends, np.arange(count))), shape=(size, count)
        )
        opposite = np.concatenate([pairs[:, 1], pairs[:, 0]])[incidence.indices]
        merged = graph.weights if graph.steps is None else merged_weights(graph)
        lengths = np.tile(_checked_lengths(merged), 2)[incidence.indices]
        targets = opposite.astype(incidence.indices.dtype)
        self.matrix = sparse.csr_array((lengths, targets, incidence.indptr), shape=(size, size))

    def distances(self, places: Sequence[int]) -> Floats:
        """The distance from each node to the nearest of ``places``, infinite if it reaches none."""
        from scipy.sparse.csgraph import dijkstra

        if self.engine is None:
            found: Floats = dijkstra(self.matrix, indices=list(places), min_only=True)
            return found
        start = np.zeros(self.size, dtype=np.bool_)
        start[list(places)] = True
        steps = self.engine.distances(*self.compressed, start)
        return np.where(steps < 0, np.inf, steps)

    def claims(self, distances: Floats, places: Sequence[int]) -> NDArray[np.uint32]:
        """For each node the first of ``places`` that is as near as any."""
        owner = np.full(len(distances), _UNCLAIMED)
        if self.engine is None:
            self._claim_by_length(owner, distances, places)
        else:
            self._claim_by_steps(owner, distances, places)
        owner[owner == _UNCLAIMED] = 0  # infinitely far from all: a tie
        return owner

    def _claim_by_steps(
        self, owner: NDArray[np.uint32], distances: Floats, places: Sequence[int]
    ) -> None:
        """Level by level: what is nearest to a node is so to a neighbor that is one step nearer."""
        offsets, targets = self.compressed
        steps = np.where(np.isinf(distances), -1, distances).astype(np.int32)
        owner[list(places)] = np.arange(len(places))
        order = np.argsort(steps, kind="stable")
        farthest = int(steps.max())
        bounds = np.searchsorted(steps[order], np.arange(1, farthest + 2))
        for level, (start, end) in enumerate(itertools.pairwise(bounds.tolist()), 1):
            nodes = order[start:end]
            first = offsets[nodes].astype(np.int64)
            counts = offsets[nodes + 1].astype(np.int64) - first
            ends = np.cumsum(counts)
            begins = ends - counts
            near = targets[np.arange(ends[-1]) + np.repeat(first - begins, counts)]
            claims = np.where(steps[near] == level - 1, owner[near], _UNCLAIMED)
            owner[nodes] = np.minimum.reduceat(claims, begins)

    def _claim_by_length(
        self, owner: NDArray[np.uint32], distances: Floats, places: Sequence[int]
    ) -> None:
        """Place by place, over tight edges.

        An edge u → v is *tight* when it is the end of a shortest way to v. Whichever place reaches
        v over tight edges is nearest to it, so each place in turn claims what it reaches. A node
        claimed earlier closes no way: whichever place passes it has lost the nodes behind it too.
        """
        starts, targets, lengths = self.matrix.indptr, self.matrix.indices, self.matrix.data
        tight = np.repeat(distances, np.diff(starts)) + lengths == distances[targets]
        tight &= np.isfinite(distances[targets])
        offsets = np.append(0, np.cumsum(tight))[starts]
        targets = targets[tight]
        for number, place in enumerate(places):
            front = np.array([place] if owner[place] == _UNCLAIMED else [], dtype=np.int64)
            while front.size:
                owner[front] = number
                counts = offsets[front + 1] - offsets[front]
                ends = np.cumsum(counts)
                inside = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
                reached = targets[np.repeat(offsets[front], counts) + inside]
                front = np.unique(reached[owner[reached] == _UNCLAIMED]).astype(np.int64)

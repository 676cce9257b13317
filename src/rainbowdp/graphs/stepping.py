"""A graph with lengths as its single steps: every edge a chain of places, one step apart.

What keeps a promise on each step of a chain keeps n times it between the ends of n steps, so
whatever counts edges goes by length on this graph. The places of an edge belong to the nearer end,
the middle one to the first; the ends of an edge without a step are one place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.errors import InvalidGraph
from rainbowdp.graphs.edges import Edges
from rainbowdp.graphs.graph import RainbowGraph


def single_steps(graph: RainbowGraph, most: int) -> tuple[RainbowGraph, NDArray[np.int64]]:
    """The graph of single steps, with at most ``most`` places, and the place of each dataset."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    size, pairs, steps = len(graph), graph.edge_positions(), graph.edge_lengths()
    short = pairs[steps == 0]
    joined = sparse.coo_array((np.ones(len(short)), (short[:, 0], short[:, 1])), shape=(size, size))
    count, found = connected_components(joined, directed=False)
    place: NDArray[np.int64] = found.astype(np.int64)
    ends = place[pairs]
    kept = (steps > 0) & (ends[:, 0] != ends[:, 1])
    ends, steps = ends[kept], steps[kept]
    total = int(count) + int((steps - 1).sum())
    if total > most:
        raise InvalidGraph(
            f"the edges of this graph have {total:,} places a step apart, and at most {most:,} are "
            "looked at one by one; use a longer unit, or homogeneous, proximity, margin-flip or "
            "exponential"
        )
    region = np.zeros(total, dtype=np.int64)
    region[place] = graph.region_numbers
    links = _chains(ends, steps, int(count), region)
    rainbows = {number: each.rainbow for number, each in enumerate(graph.regions.values())}
    edges = Edges(links, range(total))
    return RainbowGraph(edges, rainbows, graph.answers, labels=region), place


def _chains(
    ends: NDArray[np.int64], steps: NDArray[Any], first: int, region: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The links of all chains, whose inner places are numbered from ``first``; fills ``region``."""
    starts = np.cumsum(steps + 1) - (steps + 1)
    edge = np.repeat(np.arange(len(steps)), steps + 1)
    along = np.arange(len(edge)) - starts[edge]
    before = np.cumsum(steps - 1) - (steps - 1)
    places = first + before[edge] + along - 1
    at_start, at_end = along == 0, along == steps[edge]
    places[at_start] = ends[:, 0]
    places[at_end] = ends[:, 1]
    inner = ~(at_start | at_end)
    nearer = np.where(2 * along <= steps[edge], 0, 1)
    region[places[inner]] = region[ends[edge[inner], nearer[inner]]]
    links: NDArray[np.int64] = np.stack([places[:-1], places[1:]], axis=1)[~at_end[:-1]]
    return links

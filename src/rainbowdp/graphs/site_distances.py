"""How far every node is from every site: what a named site costs whoever stands there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset
from rainbowdp.errors import InvalidGraph
from rainbowdp.expecting import brief
from rainbowdp.graphs.edges import placed
from rainbowdp.graphs.engines import engine
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.sites import _places_of, _Roads


def site_distances(
    graph: Any,
    sites: Sequence[Dataset] | Mapping[Answer, Dataset],
    *,
    weighted: bool = False,
) -> NDArray[np.float32]:
    """The distance from each node to each site, a row for each node.

    The negative of this is a utility for ``rb.best``: every step of the way to the named site then
    counts as a loss. Cost: one search for each site, and 4 bytes for each node and site.

    Parameters
    ----------
    graph
        A rainbow graph whose answers are the sites, or edges in any form that it takes.
    sites
        Nodes, or names with their nodes, as in ``rb.nearest_sites``. For a rainbow graph columns
        are in the order of its answers, and every answer needs a site.
    weighted
        Add up the weights of edges instead of counting edges; for edges only.

    Returns
    -------
    array of float32
        The distances, infinite where there is no way.

    Raises
    ------
    InvalidGraph
        If a site is not a node, or an answer has no site.

    Examples
    --------
    >>> roads = [(0, 1), (1, 2), (2, 3), (3, 4)]
    >>> site_distances(roads, [0, 4])[1].tolist()
    [1.0, 3.0]

    """
    if not isinstance(graph, RainbowGraph):
        edges = placed(graph)
        nodes = list(sites.values()) if isinstance(sites, Mapping) else list(sites)
        places = _places_of(edges, nodes)
        roads = _Roads(edges, weighted, len(places))
        found = np.empty((roads.size, len(places)), dtype=np.float32)
        for number, place in enumerate(places):
            found[:, number] = roads.distances([place])
        return found
    if weighted:
        raise InvalidGraph("weighted=True needs edges with weights, got a rainbow graph")
    named = sites if isinstance(sites, Mapping) else {site: site for site in sites}
    missing = next((answer for answer in graph.answers if answer not in named), None)
    if missing is not None:
        raise InvalidGraph(f"every answer must have a site, but {brief(missing)} has none")
    chosen = [graph.position(named[answer]) for answer in graph.answers]
    offsets, targets = graph.compressed
    searched = engine(len(graph) + graph.edge_count, len(chosen))
    found = np.empty((len(graph), len(chosen)), dtype=np.float32)
    for number, place in enumerate(chosen):
        start = np.zeros(len(graph), dtype=np.bool_)
        start[place] = True
        steps = searched.distances(offsets, targets, start)
        found[:, number] = np.where(steps < 0, np.inf, steps)
    return found

"""The oracle of lengths: every edge drawn as its single steps, with places between."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import networkx as nx


def subdivided(pairs: Any, steps: Any, region: Any) -> tuple[nx.Graph, dict[Hashable, int]]:
    """A node for every place, and its region: an edge's places belong to the nearer end.

    The middle place of an edge goes to the region with the lower number. Lengths are from 1.
    """
    graph = nx.Graph()
    places: dict[Hashable, int] = {node: int(number) for node, number in enumerate(region)}
    graph.add_nodes_from(places)
    for number, ((a, b), length) in enumerate(zip(pairs.tolist(), steps.tolist(), strict=True)):
        if a == b:
            continue
        way: list[Hashable] = [a, *((number, step) for step in range(1, length)), b]
        nx.add_path(graph, way)
        for step in range(1, length):
            ends = [(step, places[a]), (length - step, places[b])]
            places[number, step] = min(ends)[1]
    return graph, places


def places_by_bfs(graph: nx.Graph, sources: Iterable[Hashable], size: int) -> list[int]:
    """Steps from each of the first ``size`` nodes to the nearest source, −1 if there is no way."""
    found: Mapping[Hashable, int] = {}
    marked = set(sources)
    if marked:
        found = nx.multi_source_dijkstra_path_length(graph, marked, weight=None)
    return [int(found.get(node, -1)) for node in range(size)]

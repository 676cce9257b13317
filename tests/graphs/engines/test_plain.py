from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given, settings

from rainbowdp.graphs.engines import plain
from reference import brute_boundary, brute_depth, compressed
from strategies import colored_graphs


@settings(max_examples=50)
@given(colored_graphs())
def test_boundary_depth_and_touching_are_those_of_networkx(
    world: tuple[nx.Graph, list[int]],
) -> None:
    graph, region = world[0], np.array(world[1], dtype=np.int64)
    offsets, targets = compressed(graph)
    on_boundary = plain.boundary(offsets, targets, region)
    assert on_boundary.tolist() == brute_boundary(graph, region)
    depth = plain.distances(offsets, targets, on_boundary)
    assert depth.tolist() == brute_depth(graph, region)
    pairs = plain.touching(offsets, targets, region, int(region.max()) + 1)
    brute = {tuple(sorted((int(region[a]), int(region[b])))) for a, b in graph.edges}
    assert list(map(tuple, pairs.tolist())) == sorted(pair for pair in brute if pair[0] != pair[1])


def test_sources_are_the_first_ends() -> None:
    assert plain.sources(np.array([0, 2, 2, 3])).tolist() == [0, 0, 2]


def test_a_long_line_is_as_deep_as_it_is_long() -> None:
    line = nx.path_graph(1000)
    offsets, targets = compressed(line)
    region = (np.arange(1000) == 0).astype(np.int64)
    on_boundary = plain.boundary(offsets, targets, region)
    depth = plain.distances(offsets, targets, on_boundary)
    assert depth.tolist() == [0, *range(999)]

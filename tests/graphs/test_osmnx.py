"""Streets in the shape in which OSMnx has them, which is not installed here itself."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

import rainbowdp as rb

STREETS = [  # from, to, length, whether it is a one-way street
    (42421728, 42432736, 86.263, False),
    (42432736, 42421737, 78.911, True),
    (42421737, 42421731, 262.478, False),
    (42421731, 42421728, 79.08, True),
    (42421728, 42421737, 301.5, True),
]


def streets() -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph(crs="epsg:4326", simplified=True)
    for place, node in enumerate(sorted({end for street in STREETS for end in street[:2]})):
        graph.add_node(node, x=-73.97 + place / 1000, y=40.8, street_count=3)
    for number, (one, other, length, one_way) in enumerate(STREETS):
        graph.add_edge(one, other, osmid=[number, 7], oneway=one_way, length=length)
        if not one_way:
            graph.add_edge(other, one, osmid=number, oneway=False, length=length, reversed=True)
    return graph


def steps(edges: rb.Edges) -> dict[frozenset[int], int]:
    assert edges.names is not None
    assert edges.steps is not None
    found: dict[frozenset[int], int] = {}
    for (a, b), length in zip(edges.pairs, edges.steps, strict=True):
        ends = frozenset(int(str(edges.names[end])) for end in (a, b))
        found[ends] = min(found.get(ends, 10**9), int(length))
    return found


def test_a_street_network_goes_in_by_length_once_one_way_streets_are_spoken_of() -> None:
    roads = rb.with_lengths(streets(), "length", unit=10, measure="m", mutual=True)
    assert steps(roads) == {frozenset(s[:2]): int(s[2] // 10) for s in STREETS}
    near = rb.nearest_sites(roads, {"north": 42421728, "south": 42421731})
    graph = rb.RainbowGraph(roads, near.rainbows, near.names, labels=near.labels)
    assert rb.best(graph, rb.DP("0.02")).check()
    with pytest.raises(rb.InvalidGraph, match="none leads back"):
        rb.with_lengths(streets(), "length")


def test_and_so_does_its_graphml(tmp_path: Path) -> None:
    written = streets()
    for *_, about in written.edges(data=True):  # OSMnx writes every attribute as text
        about.update({key: str(value) for key, value in about.items()})
    nx.write_graphml(written, tmp_path / "streets.graphml")
    read = rb.read_graph(tmp_path / "streets.graphml", weight="length")
    in_file = rb.with_lengths(read, unit=10)
    given = rb.with_lengths(streets(), "length", unit=10, mutual=True)
    assert steps(in_file) == steps(given)

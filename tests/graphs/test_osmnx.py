"""Streets as OSMnx makes them of a small OpenStreetMap file, without the network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import osmnx
import pytest

import rainbowdp as rb

PLACES = {1: (40.8, -73.97), 2: (40.8, -73.969), 3: (40.801, -73.969), 4: (40.801, -73.97)}
WAYS = [([1, 2], "no"), ([2, 3], "yes"), ([3, 4], "no"), ([4, 1], "yes"), ([1, 3], "yes")]


@pytest.fixture
def town(tmp_path: Path) -> Path:
    lines = ["<osm version='0.6'>"]
    lines += [f"<node id='{n}' lat='{lat}' lon='{lon}'/>" for n, (lat, lon) in PLACES.items()]
    for number, (refs, one_way) in enumerate(WAYS, 1):
        inside = "".join(f"<nd ref='{ref}'/>" for ref in refs)
        tags = f"<tag k='highway' v='residential'/><tag k='oneway' v='{one_way}'/>"
        lines.append(f"<way id='{number}'>{inside}{tags}</way>")
    path = tmp_path / "town.osm"
    path.write_text("\n".join([*lines, "</osm>"]))
    return path


def steps(edges: rb.Edges) -> dict[frozenset[int], int]:
    assert edges.names is not None
    assert edges.steps is not None
    found: dict[frozenset[int], int] = {}
    for (a, b), length in zip(edges.pairs, edges.steps, strict=True):
        ends = frozenset(int(str(edges.names[end])) for end in (a, b))
        found[ends] = min(found.get(ends, 10**9), int(length))
    return found


def test_a_street_network_goes_in_by_length_once_one_way_streets_are_spoken_of(town: Path) -> None:
    streets: Any = osmnx.graph_from_xml(town, simplify=False)
    roads = rb.with_lengths(streets, "length", unit=10, measure="m", mutual=True)
    ends = [frozenset(way) for way, _ in WAYS]
    lengths = [
        min(streets.edges[e]["length"] for e in streets.edges if {*e[:2]} == w) for w in ends
    ]
    assert steps(roads) == {w: int(length // 10) for w, length in zip(ends, lengths, strict=True)}
    near = rb.nearest_sites(roads, {"north": 1, "south": 3})
    graph = rb.RainbowGraph(roads, near.rainbows, near.names, labels=near.labels)
    assert rb.best(graph, rb.DP("0.02")).check()
    with pytest.raises(rb.InvalidGraph, match="none leads back"):
        rb.with_lengths(streets, "length")


def test_its_graphml_and_the_file_itself_have_the_same_streets(town: Path) -> None:
    streets: Any = osmnx.graph_from_xml(town, simplify=False)
    osmnx.save_graphml(streets, town.with_suffix(".graphml"))
    read = rb.read_graph(town.with_suffix(".graphml"), weight="length")
    expected = steps(rb.with_lengths(streets, "length", unit=1, mutual=True))
    assert steps(rb.with_lengths(read, unit=1)) == expected
    assert steps(rb.with_lengths(rb.read_graph(town), unit=1)) == expected

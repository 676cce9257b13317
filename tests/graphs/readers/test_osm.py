"""Streets of OpenStreetMap files, against a plain reading of their XML and haversines."""

from __future__ import annotations

import gzip
import itertools
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import osmium
import pytest
from hypothesis import given
from hypothesis import strategies as st
from osmium.osm.mutable import Node, Way
from typer.testing import CliRunner

import rainbowdp as rb
from rainbowdp.cli import app
from rainbowdp.graphs.readers.osm import NOT_DRIVEN
from reference import assert_one_sentence

NODES = {17: (10.0, 50.0), 3: (10.004, 50.001), 12_000_000_001: (10.001, 50.003), 8: (10.1, 50.2)}
SERVED = ("residential", "service", "motorway_link", "unclassified")


@st.composite
def towns(draw: st.DrawFn) -> tuple[dict[int, tuple[float, float]], list[tuple[list[int], Any]]]:
    """Places, and ways of several kinds over some of them, with repetitions."""
    degrees = st.integers(-900_000_000, 900_000_000).map(lambda part: part / 10_000_000)
    ids = st.integers(1, 1 << 36)
    nodes = draw(st.dictionaries(ids, st.tuples(degrees, degrees), min_size=2, max_size=8))
    kinds = st.sampled_from([*SERVED, "footway", "steps", "proposed", None])
    tags = st.tuples(kinds, st.booleans()).map(
        lambda kind: (
            {"name": "x"}
            | ({} if kind[0] is None else {"highway": kind[0]})
            | ({"area": "yes"} if kind[1] and kind[0] == "service" else {"oneway": "yes"})
        )
    )
    refs = st.lists(st.sampled_from(sorted(nodes)), min_size=1, max_size=6)
    return nodes, draw(st.lists(st.tuples(refs, tags), max_size=6))


def write(path: Path, nodes: dict[int, tuple[float, float]], ways: list[Any]) -> Path:
    with osmium.SimpleWriter(str(path), overwrite=True) as writer:
        for node, place in nodes.items():
            writer.add_node(Node(id=node, version=1, location=place))
        for number, (refs, tags) in enumerate(ways, 1):
            writer.add_way(Way(id=number, version=1, nodes=refs, tags=tags))
    return path


def haversine(one: tuple[float, float], other: tuple[float, float]) -> float:
    (x, y), (a, b) = (tuple(math.radians(part) for part in place) for place in (one, other))
    square = math.sin((b - y) / 2) ** 2 + math.cos(y) * math.cos(b) * math.sin((a - x) / 2) ** 2
    return 2 * 6_371_008.8 * math.asin(math.sqrt(min(1.0, square)))


def plainly(path: Path) -> list[tuple[int, int, float]]:
    """The edges and their lengths, by hand."""
    tree = ElementTree.parse(path)
    places = {
        int(node.attrib["id"]): (float(node.attrib["lon"]), float(node.attrib["lat"]))
        for node in tree.iter("node")
    }
    found = []
    for way in tree.iter("way"):
        tags = {tag.attrib["k"]: tag.attrib["v"] for tag in way.iter("tag")}
        if tags.get("highway", "no") in NOT_DRIVEN or tags.get("area") == "yes":
            continue
        refs = [int(nd.attrib["ref"]) for nd in way.iter("nd")]
        for a, b in itertools.pairwise(refs):
            if a != b:
                found.append((a, b, haversine(places[a], places[b])))
    return found


@given(town=towns())
def test_streets_are_those_of_the_xml(tmp_path_factory: pytest.TempPathFactory, town: Any) -> None:
    folder = tmp_path_factory.mktemp("osm", numbered=True)
    text = write(folder / "town.osm", *town)
    packed = write(folder / "town.osm.pbf", *town)
    (folder / "town.osm.gz").write_bytes(gzip.compress(text.read_bytes()))
    expected = plainly(text)
    for path in (text, packed, folder / "town.osm.gz"):
        if not expected:
            with pytest.raises(rb.InvalidGraph) as refused:
                rb.read_graph(path)
            assert_one_sentence(refused.value, path, "has no street")
            continue
        edges = rb.read_graph(path)
        assert edges.names is not None
        assert edges.weights is not None
        assert edges.written
        ends = [tuple(edges.names[end] for end in pair) for pair in np.asarray(edges.pairs)]
        assert ends == [(a, b) for a, b, _ in expected]
        for length, (*_, meters) in zip(edges.weights.tolist(), expected, strict=True):
            assert Fraction(str(length)) * 1000 % 1 == 0  # whole millimeters
            assert meters - 0.001 - 1e-6 <= length <= meters + 1e-6


def one_street(path: Path) -> Path:
    return write(path, NODES, [([17, 3, 12_000_000_001, 8], {"highway": "tertiary"})])


def test_from_a_town_to_its_mechanism(tmp_path: Path) -> None:
    town = str(one_street(tmp_path / "town.osm.pbf"))
    out = tmp_path / "out.json"
    asked = ["design", town, "--epsilon-per-km", "1", "-o", str(out)]
    sites = "Ash=50.0001/10.0002,Birch=8"
    result = CliRunner().invoke(app, [*asked, "--sites", sites])
    assert result.exit_code == 0, result.output
    again = CliRunner().invoke(
        app, [*asked[:-1], str(tmp_path / "x.json"), "--sites", "Ash=17,Birch=8"]
    )
    assert again.exit_code == 0
    assert out.read_bytes() == (tmp_path / "x.json").read_bytes()
    for wrong, said in [
        ("Ash=10/50", "km from the nearest street of"),
        ("Ash=50.1/x", "LATITUDE/LONGITUDE in degrees, got '50.1/x'"),
        ("Ash=50/nan", "got '50/nan'"),
    ]:
        refused = CliRunner().invoke(app, [*asked, "--sites", wrong])
        assert refused.exit_code == 2
        assert said in " ".join(refused.output.split())
    plain = CliRunner().invoke(
        app, ["design", town, "--sites", "17,8", "--epsilon", "1", "-o", "x"]
    )
    assert "has lengths, and --epsilon and --mu count edges" in " ".join(plain.output.split())


DAMAGED: list[tuple[str, bytes, str]] = [
    ("cut.osm.pbf", b"", "unexpected EOF"),
    ("text.osm.pbf", b"hello, world", "cannot read the OpenStreetMap file"),
    ("page.osm", b"<html></html>", "top-level element"),
    ("empty.osm", b"", "no element found"),
    ("words.osm.bz2", b"words", "bzip2 error"),
    ("none.osm", b"-", "No such file"),
    ("far.osm", b"<osm version='0.6'><node id='1' lat='x' lon='3'/></osm>", "coordinate: 'x'"),
    (
        "half.osm",
        b"<osm version='0.6'><node id='1' lat='1' lon='3'/><way id='5'><nd ref='1'/><nd ref='2'/>"
        b"<tag k='highway' v='road'/></way></osm>",
        "does not say where node 2 of way 5 is",
    ),
    (
        "new.osm",
        b"<osm version='0.6'><way id='5'><nd ref='-1'/><tag k='highway' v='road'/></way></osm>",
        "has the node -1, and ids of OpenStreetMap are above 0",
    ),
    (
        "long.osm",
        b"<osm version='0.6'><node id='9223372036854775808' lat='1' lon='3'/></osm>",
        "cannot read the OpenStreetMap file",
    ),
]


@pytest.mark.parametrize(("name", "content", "said"), DAMAGED)
def test_a_damaged_file_is_one_sentence(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    path = tmp_path / name
    if name == "cut.osm.pbf":
        content = one_street(tmp_path / "town.osm.pbf").read_bytes()[:-9]
    if name != "none.osm":
        path.write_bytes(content)
    with pytest.raises(rb.InvalidGraph) as refused:
        rb.read_graph(path)
    assert_one_sentence(refused.value, path, said)
    with pytest.raises(rb.InvalidGraph, match="leave out columns, weight and nodes"):
        rb.read_graph(path, weight="length")


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "osmium", None)
    with pytest.raises(rb.MissingExtra, match=r"pip install 'rainbowdp\[osm\]'"):
        rb.read_graph("town.osm")

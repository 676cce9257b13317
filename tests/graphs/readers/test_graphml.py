from __future__ import annotations

import gzip
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from reference import assert_one_sentence

names = st.text('abc &<é"', min_size=1, max_size=3)
HEAD = '<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'


@given(st.dictionaries(st.tuples(names, names), st.floats(0, 1e6), max_size=8))
def test_what_networkx_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, roads: dict[tuple[str, str], float]
) -> None:
    graph = nx.Graph()
    for (a, b), length in roads.items():
        graph.add_edge(a, b, metres=length)
    path = tmp_path_factory.mktemp("graph") / "roads.graphml"
    nx.write_graphml(graph, path)
    edges = rb.read_graph(path, weight="metres" if roads else None)
    assert edges.names == list(graph.nodes)
    found = [(edges.names[a], edges.names[b]) for a, b in np.asarray(edges.pairs).tolist()]
    assert found == list(graph.edges)
    if roads:
        assert edges.weights is not None
        assert edges.weights.tolist() == [float(s) for *_, s in graph.edges(data="metres")]


def test_compressed_and_without_lengths(tmp_path: Path) -> None:
    graph = nx.path_graph(["x", "y", "z"])
    nx.set_edge_attributes(graph, 2, "weight")
    path = tmp_path / "roads.graphml.gz"
    path.write_bytes(gzip.compress("\n".join(nx.generate_graphml(graph)).encode()))
    edges = rb.read_graph(path)
    assert (edges.names, edges.weights) == (["x", "y", "z"], None)


def test_lengths_of_whole_and_broken_numbers_go_together(tmp_path: Path) -> None:
    graph = nx.Graph()
    graph.add_edge("x", "y", weight=2)
    graph.add_edge("y", "z", weight=0.5)
    nx.write_graphml(graph, tmp_path / "roads.graphml")
    edges = rb.read_graph(tmp_path / "roads.graphml", weight="weight")
    assert edges.weights is not None
    assert edges.weights.tolist() == [2.0, 0.5]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<graph><node id='a'/>", "is not GraphML: no element found, line 4"),
        ("</graphml>", "no graph"),
        ("<graph><node/></graph></graphml>", "a node without id, line 3"),
        ("<graph><node id='a'/><node id='a'/></graph></graphml>", "the node 'a' twice, line 3"),
        ("<graph>\n<edge source='a'/></graph></graphml>", "an edge without target, line 4"),
        (
            "<graph><node id='a'/>\n<edge source='a' target='b'/></graph></graphml>",
            "unknown node 'b', line 4",
        ),
        ("<graph/><graph/></graphml>", "more than one graph"),
        ("<graph><hyperedge/></graph></graphml>", "a hyperedge"),
    ],
)
def test_a_file_that_is_no_graph_is_refused_with_its_line(
    tmp_path: Path, body: str, said: str
) -> None:
    path = tmp_path / "roads.graphml"
    path.write_text(HEAD + body + "\n")
    with pytest.raises(rb.InvalidGraph) as error:
        rb.read_graph(path)
    assert_one_sentence(error.value)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [("", "got none"), ("<data key='d'>-1</data>", "got '-1'"), ("<data key='d'>x</data>", "'x'")],
)
def test_a_length_that_is_none_is_refused(tmp_path: Path, data: str, said: str) -> None:
    path = tmp_path / "roads.graphml"
    key = "<key id='d' for='edge' attr.name='length'/>"
    edge = f"<edge source='a' target='b'>{data}</edge>"
    path.write_text(f"{HEAD}{key}<graph><node id='a'/><node id='b'/>\n{edge}</graph></graphml>")
    with pytest.raises(rb.InvalidGraph, match=said) as error:
        rb.read_graph(path, weight="length")
    assert "line 4" in str(error.value)
    with pytest.raises(rb.InvalidGraph, match="no attribute 'width'"):
        rb.read_graph(path, weight="width")


def test_entities_are_refused_before_they_grow(tmp_path: Path) -> None:
    path = tmp_path / "bomb.graphml"
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha"}">' for n in range(12))
    path.write_text(f'<?xml version="1.0"?><!DOCTYPE g [{entities}]><graphml>&e11;</graphml>')
    with pytest.raises(rb.InvalidGraph, match="a document type"):
        rb.read_graph(path)


@pytest.mark.parametrize("option", [{"columns": ["a", "b"]}, {"nodes": 3}])
def test_options_of_other_files_are_refused(tmp_path: Path, option: dict[str, object]) -> None:
    with pytest.raises(rb.InvalidGraph, match="leave out columns and nodes"):
        rb.read_graph(tmp_path / "x.graphml", **option)  # type: ignore[arg-type]


def test_a_length_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.graphml.gz"
    start = (
        '<graphml><key id="w" for="edge" attr.name="w"/><graph><node id="a"/>'
        '<edge source="a" target="a"><data key="w">'
    )
    path.write_bytes(gzip.compress((start + "1" * 100_000).encode()))
    with pytest.raises(rb.InvalidGraph, match="at most 1,000 characters") as caught:
        rb.read_graph(path, weight="w")
    assert_one_sentence(caught.value, path)

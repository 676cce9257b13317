from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

import rainbowdp as rb
from rainbowdp.graphs.edges import Edges
from reference import assert_one_sentence

NODES = "node,label\n3,south\n1,north\n2,north\n"


@pytest.fixture
def edges(tmp_path: Path) -> Edges:
    path = tmp_path / "edges.csv"
    path.write_text("1,2\n2,3\n")
    return rb.read_graph(path)


def test_labels_and_rainbows_make_a_graph(tmp_path: Path, edges: Edges) -> None:
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "rainbows.csv").write_text("label,1st,2nd\nnorth,N,S\nsouth,S,N\nwest,S,N\n")
    labels = rb.read_labels(tmp_path / "nodes.csv", edges)
    assert labels.tolist() == ["north", "north", "south"]
    rainbows = rb.read_rainbows(tmp_path / "rainbows.csv", ["north", "south"])
    graph = rb.RainbowGraph(edges, rainbows, labels=labels)
    assert graph.region[3] == "south"
    assert graph.rainbow(3) == ("S", "N")


def test_labels_from_parquet_and_from_an_array(tmp_path: Path, edges: Edges) -> None:
    path = tmp_path / "nodes.parquet"
    duckdb.execute(
        "COPY (SELECT * FROM (VALUES (2, 'x', 8), (3, 'y', 7), (1, 'z', 8)) AS t(node, n, label)) "
        f"TO '{path}' (FORMAT parquet)"
    )
    assert rb.read_labels(path, edges).tolist() == [8, 8, 7]
    np.save(tmp_path / "labels.npy", np.array([8, 8, 7]))
    assert rb.read_labels(tmp_path / "labels.npy", edges).tolist() == [8, 8, 7]
    (tmp_path / "rainbows.tsv").write_text("8\tN\tS\n7\tS\tN\n")
    found = rb.read_rainbows(tmp_path / "rainbows.tsv", [7, 8])
    assert found == {7: ("S", "N"), 8: ("N", "S")}


def test_labels_of_nodes_with_gaps(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("10,500000\n500000,70\n")
    (tmp_path / "nodes.csv").write_text("70,c\n10,a\n500000,b\n")
    edges = rb.read_graph(tmp_path / "edges.csv")
    assert rb.read_labels(tmp_path / "nodes.csv", edges).tolist() == ["a", "c", "b"]
    (tmp_path / "nodes.csv").write_text("70,c\n10,a\n500000,b\n71,d\n")
    with pytest.raises(rb.InvalidGraph, match="has a label for node 71"):
        rb.read_labels(tmp_path / "nodes.csv", edges)


BAD = [
    ("node,label\n1,north\n3,south\n", "{file} has no label for node 2;"),
    ("node,label\n1,north\n", "{file} has no label for node 2 and 1 more"),
    ("node,label\n1,north\n2,\n3,south\n", "{file} has no label for node 2;"),
    ("node,label\n", "{file} has no label for node 1 and 2 more"),
    (NODES + "4,north\n", "has a label for node 4"),
    (NODES + "0,north\n", "has a label for node 0"),
    (NODES + "2,south\n", "has two labels for node 2"),
    ("node,label\n1,north\nx,north\n", "got x in {file}, line 3"),
    ("node,kind,size\n1,north,2\n", "has the columns node, kind, size;"),
    ("1\n2\n", "two columns"),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_bad_labels_are_refused(tmp_path: Path, edges: Edges, text: str, said: str) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text(text)
    with pytest.raises(rb.InvalidGraph) as refused:
        rb.read_labels(path, edges)
    assert_one_sentence(refused.value, said.format(file=path), path)


def test_bad_arrays_and_graphs_are_refused(tmp_path: Path, edges: Edges) -> None:
    np.save(tmp_path / "labels.npy", np.array([1, 2]))
    with pytest.raises(rb.InvalidGraph, match=r"each of the 3 nodes, got int64 of shape \(2,\)"):
        rb.read_labels(tmp_path / "labels.npy", edges)
    with pytest.raises(rb.InvalidGraph, match="graph from a file"):
        rb.read_labels(tmp_path / "labels.npy", Edges([("a", "b")]))


def test_a_label_without_a_rainbow(tmp_path: Path) -> None:
    path = tmp_path / "rainbows.csv"
    path.write_text("north,N,S\n")
    with pytest.raises(rb.InvalidGraph) as refused:
        rb.read_rainbows(path, ["north", "south"])
    assert_one_sentence(refused.value, "no rainbow for label 'south'", path)
    path.write_text("north,N,S\nnorth,S,N\n")
    with pytest.raises(rb.InvalidRainbow) as twice:
        rb.read_rainbows(path, ["north"])
    assert_one_sentence(twice.value, "two rainbows for label 'north'", path)

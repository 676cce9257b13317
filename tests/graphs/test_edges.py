from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest
import rustworkx as rx
from scipy import sparse

import rainbowdp as rb
from rainbowdp.graphs.edges import read_edges
from reference import assert_one_sentence

# A path 0-1-2-3-4 and the lone dataset 5: yes, yes, yes, no, no and yes again. Region "yes" has
# one component with a boundary and one without.
EDGES = [(0, 1), (1, 2), (2, 3), (3, 4)]
BACK = [(b, a) for a, b in EDGES]
YES, NO = ("yes", "no"), ("no", "yes")
ORDERS = [YES, YES, YES, NO, NO, YES]
DEPTHS = [2, 1, 0, 0, 1, math.inf]
LETTERS = "abcdef"

Name = Callable[[int], Hashable]


def same(name: int) -> Hashable:
    return name


def letter(name: int) -> Hashable:
    return LETTERS[name]


def matrix() -> Any:
    first, second = np.array(EDGES).T
    return sparse.coo_matrix((np.ones(len(EDGES)), (first, second)), shape=(6, 6))


def with_a_stored_zero() -> Any:
    # A stored zero is no edge; read as one it would put dataset 5 on the boundary.
    return sparse.coo_array(
        (np.array([1, 1, 1, 1, 0]), (np.array([0, 1, 2, 3, 5]), np.array([1, 2, 3, 4, 4]))),
        shape=(6, 6),
    )


def networkx_graph(kind: Any, name: Name) -> Any:
    graph = kind()
    graph.add_nodes_from(name(i) for i in range(6))
    graph.add_edges_from((name(b), name(a)) for a, b in EDGES)
    return graph


def igraph_graph(named: bool) -> Any:
    graph = igraph.Graph(n=6, edges=EDGES)
    if named:
        graph.vs["name"] = list(LETTERS)
    return graph


def rustworkx_graph(kind: Any) -> Any:
    graph = kind()
    graph.add_nodes_from(list(LETTERS))
    graph.add_edges_from_no_data(EDGES)
    return graph


def rustworkx_with_a_hole(named: bool) -> tuple[Any, Name]:
    graph = rx.PyGraph()
    payloads = ["a", "b", "gone", "c", "d", "e", "f"]
    graph.add_nodes_from(payloads if named else [None] * 7)
    place = [0, 1, 3, 4, 5, 6]
    graph.add_edges_from_no_data([(place[a], place[b]) for a, b in EDGES])
    graph.add_edges_from_no_data([(2, 6), (2, 0)])
    graph.remove_node(2)
    return graph, letter if named else place.__getitem__


FORMS: dict[str, tuple[Any, Name]] = {
    "pairs of integers": (EDGES, same),
    "pairs of strings": ([(LETTERS[a], LETTERS[b]) for a, b in EDGES], letter),
    "pairs of tuples": ([((a, "x"), (b, "x")) for a, b in EDGES], lambda i: (i, "x")),
    "pairs backwards": ([(b, a) for a, b in EDGES], same),
    "pairs as lists": ([[a, b] for a, b in EDGES], same),
    "loops and repeats": ([*EDGES, (5, 5), (3, 3), (1, 0), (0, 1), (3, 2)], same),
    "int32": (np.array(EDGES, dtype=np.int32), same),
    "uint32": (np.array(EDGES, dtype=np.uint32), same),
    "int64": (np.array(EDGES, dtype=np.int64), same),
    "uint8": (np.array(EDGES, dtype=np.uint8), same),
    "int64 backwards in memory": (np.array(EDGES)[::-1, ::-1], same),
    "string array": (np.array([[LETTERS[a], LETTERS[b]] for a, b in EDGES]), letter),
    "object array": (np.array([[LETTERS[a], LETTERS[b]] for a, b in EDGES], dtype=object), letter),
    "csr matrix": (matrix().tocsr(), same),
    "coo matrix": (matrix(), same),
    "csc array": (sparse.csc_array(matrix()), same),
    "csr array": (sparse.csr_array(matrix()), same),
    "coo array": (sparse.coo_array(matrix()), same),
    "symmetric csr": ((matrix() + matrix().T).tocsr(), same),
    "stored zero": (with_a_stored_zero(), same),
    "networkx Graph": (networkx_graph(nx.Graph, same), same),
    "networkx DiGraph": (networkx_graph(nx.Graph, same).to_directed(), same),
    "networkx MultiGraph": (networkx_graph(nx.MultiGraph, letter), letter),
    "networkx Graph, strings": (networkx_graph(nx.Graph, letter), letter),
    "networkx DiGraph, strings": (networkx_graph(nx.Graph, letter).to_directed(), letter),
    "igraph without names": (igraph_graph(False), same),
    "igraph with names": (igraph_graph(True), letter),
    "igraph directed": (igraph.Graph(n=6, edges=EDGES + BACK, directed=True), same),
    "rustworkx": (rustworkx_graph(rx.PyGraph), letter),
    "rustworkx directed": (rustworkx_graph(rx.PyGraph).to_directed(), letter),
    "rustworkx with a hole": rustworkx_with_a_hole(True),
    "rustworkx with a hole, no payloads": rustworkx_with_a_hole(False),
}


def assert_is_the_graph(graph: rb.RainbowGraph, name: Name, yes: Hashable, no: Hashable) -> None:
    assert len(graph) == 6
    assert set(graph.datasets) == {name(i) for i in range(6)}
    assert graph.edge_count == 4
    assert {i: graph.depth[name(i)] for i in range(6)} == dict(enumerate(DEPTHS))
    assert [graph.rainbow(name(i)) for i in range(6)] == ORDERS
    assert [graph.region[name(i)] for i in range(6)] == [yes, yes, yes, no, no, yes]
    assert [set(pair) for pair in graph.touching] == [{yes, no}]
    assert set(graph.boundary) == {name(2), name(3)}
    assert set(graph.interior) == {name(i) for i in (0, 1, 4, 5)}
    for i in range(6):
        near = {b for a, b in EDGES if a == i} | {a for a, b in EDGES if b == i}
        assert set(graph.neighbors(name(i))) == {name(j) for j in near}
    assert graph.regions[yes].unbounded == 1
    assert graph.regions[yes].deepest == 2
    assert set(graph.regions[no].datasets) == {name(3), name(4)}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_edges_gives_the_same_graph(form: str) -> None:
    edges, name = FORMS[form]
    graph = rb.RainbowGraph(edges, {name(i): order for i, order in enumerate(ORDERS)})
    assert_is_the_graph(graph, name, YES, NO)


ONE_WAY: dict[str, tuple[Any, Name]] = {
    "networkx": (networkx_graph(nx.DiGraph, same), same),
    "networkx, names": (networkx_graph(nx.MultiDiGraph, letter), letter),
    "igraph": (igraph.Graph(n=6, edges=EDGES + BACK[1:], directed=True), same),
    "rustworkx": (rustworkx_graph(rx.PyDiGraph), letter),
    "csr": ((matrix() + matrix().T - sparse.csr_array(([1], ([1], [0])), (6, 6))).tocsr(), same),
}


@pytest.mark.parametrize("form", ONE_WAY)
def test_directions_are_refused_until_they_are_said_to_be_mutual(form: str) -> None:
    edges, name = ONE_WAY[form]
    rainbows = {name(i): order for i, order in enumerate(ORDERS)}
    one, other = sorted([repr(name(0)), repr(name(1))])
    either = f"from {one} to {other}|from {other} to {one}"
    with pytest.raises(rb.InvalidGraph, match=f"({either}) and none leads back.*mutual=True"):
        rb.RainbowGraph(edges, rainbows)
    with pytest.raises(rb.InvalidGraph, match="none leads back"):
        rb.nearest_sites(edges, [name(0), name(4)])
    graph = rb.RainbowGraph(rb.with_lengths(edges, False, mutual=True), rainbows)
    assert_is_the_graph(graph, name, YES, NO)


@pytest.mark.parametrize("form", FORMS)
def test_the_order_of_the_rainbow_mapping_does_not_matter(form: str) -> None:
    edges, name = FORMS[form]
    mapping = {name(i): ORDERS[i] for i in (3, 5, 0, 2, 4, 1)}
    assert_is_the_graph(rb.RainbowGraph(edges, mapping, YES), name, YES, NO)


@pytest.mark.parametrize(
    "form",
    [form for form, (_, name) in FORMS.items() if name is same or not form.startswith("pairs")],
)
def test_rainbows_as_a_sequence(form: str) -> None:
    edges, name = FORMS[form]
    if name is letter and isinstance(edges, np.ndarray):
        name = same  # bare names carry no order, so a sequence is for 0, 1, 2, …
        edges = [(LETTERS.index(a), LETTERS.index(b)) for a, b in edges]
    assert_is_the_graph(rb.RainbowGraph(edges, ORDERS), name, YES, NO)


@pytest.mark.parametrize("form", FORMS)
def test_labels_in_every_form(form: str) -> None:
    edges, name = FORMS[form]
    labels = {name(i): "north" if order == YES else "south" for i, order in enumerate(ORDERS)}
    graph = rb.RainbowGraph(edges, {"north": YES, "south": NO}, labels=labels)
    assert_is_the_graph(graph, name, "north", "south")


@pytest.mark.parametrize(
    "edges", [[], np.empty((0, 2), dtype=np.int64), np.array([]), sparse.csr_array((3, 3))]
)
def test_no_edges_at_all(edges: Any) -> None:
    graph = rb.RainbowGraph(edges, [YES, NO, YES])
    assert graph.edge_count == 0
    assert graph.touching == ()
    assert set(graph.depth.values()) == {math.inf}


@pytest.mark.parametrize("order", [(3, 5, 0, 2, 4, 1), (5, 4, 3, 2, 1, 0)])
def test_nodes_in_any_order(order: tuple[int, ...]) -> None:
    edges = nx.Graph()
    edges.add_nodes_from(LETTERS[i] for i in order)
    edges.add_edges_from((LETTERS[a], LETTERS[b]) for a, b in EDGES)
    by_name = {LETTERS[i]: rainbow for i, rainbow in enumerate(ORDERS)}
    assert_is_the_graph(rb.RainbowGraph(edges, by_name), letter, YES, NO)
    # A sequence follows the order of the graph's own nodes.
    assert_is_the_graph(rb.RainbowGraph(edges, [ORDERS[i] for i in order]), letter, YES, NO)


def test_pairs_may_come_from_a_generator() -> None:
    graph = rb.RainbowGraph((pair for pair in EDGES), ORDERS)
    assert_is_the_graph(graph, same, YES, NO)


def test_a_dataset_of_the_mapping_without_edges_is_isolated() -> None:
    graph = rb.RainbowGraph(nx.Graph([("a", "b")]), {"a": YES, "b": NO, "c": NO})
    assert graph.neighbors("c") == ()
    assert graph.depth["c"] == math.inf


def test_rustworkx_nodes_with_equal_payloads_go_by_index() -> None:
    edges = rx.PyGraph()
    edges.add_nodes_from(["x", "x", "y"])
    edges.add_edge(0, 2, None)
    assert list(rb.RainbowGraph(edges, [YES, YES, NO]).datasets) == [0, 1, 2]


def test_igraph_vertices_with_one_name_are_refused() -> None:
    # Otherwise graph.position finds one of them and mechanism["a"] answers for the wrong one.
    edges = igraph.Graph([(0, 1), (1, 2)])
    edges.vs["name"] = ["a", "b", "a"]
    with pytest.raises(rb.InvalidGraph) as error:
        rb.RainbowGraph(edges, [YES, NO, NO])
    assert_one_sentence(error.value, "'a'")


def test_a_subclass_of_a_networkx_graph_is_a_networkx_graph() -> None:
    class Mine(nx.Graph):  # type: ignore[misc]
        pass

    assert rb.RainbowGraph(Mine([(0, 1)]), [YES, NO]).edge_count == 1


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ([(0, 1), (0, 1, 2)], "(0, 1, 2)"),
        ([(0,)], "(0,)"),
        (["01"], "'01'"),
        ([3], "3"),
        ("ab", "'ab'"),
        (7, "7"),
        (None, "None"),
        (np.array([0, 1]), "(2,)"),
        (np.array([[0, 1, 2]]), "(1, 3)"),
        (sparse.csr_array((2, 3)), "(2, 3)"),
        (sparse.coo_matrix((3, 2)), "(3, 2)"),
        ([(0, 2)], "2"),
        ([(0, -1)], "-1"),
        (np.array([[0, 2]]), "2"),
        (np.array([[-1, 0]], dtype=np.int32), "-1"),
        ([(0, "nope")], "'nope'"),
        (np.array([["nope", "nope"]]), "'nope'"),
        ([([0], [1])], "[0]"),
        (nx.Graph([(0, 1), (1, 2)]), "3"),
        (sparse.eye_array(3), "3"),
    ],
)
def test_edges_that_are_none_are_named(edges: Any, said: str) -> None:
    with pytest.raises(rb.InvalidGraph) as error:
        rb.RainbowGraph(edges, [YES, NO])
    assert_one_sentence(error.value, said)


@pytest.mark.parametrize(
    "edges", [[("a", "b"), ("b", "zoo")], nx.Graph([("a", "b"), ("b", "zoo")])]
)
def test_a_dataset_without_a_rainbow_is_named(edges: Any) -> None:
    with pytest.raises(rb.InvalidGraph) as error:
        rb.RainbowGraph(edges, {"a": YES, "b": NO})
    assert_one_sentence(error.value, "'zoo'", "rainbow")


def test_lengths_come_from_the_weights_of_other_libraries() -> None:
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=2.5)
    graph.add_edge("b", "c", weight=1)
    other = igraph.Graph(edges=[(0, 1), (1, 2)], edge_attrs={"weight": [2.5, 1]})
    rust = rx.PyGraph()
    rust.add_nodes_from(["a", "b", "c"])
    rust.add_edges_from([(0, 1, 2.5), (1, 2, 1)])
    for given_graph in (graph, other, rust):
        weights = read_edges(given_graph).weights
        assert weights is not None
        assert weights.tolist() == [2.5, 1.0]
        first, last = (0, 2) if given_graph is other else ("a", "c")
        near = rb.nearest_sites(given_graph, [first, last], weighted=True)
        assert near.numbers.tolist() == [0, 1, 1]
    assert read_edges(nx.path_graph(3)).weights is None
    graph.add_edge("c", "d")
    with pytest.raises(rb.InvalidGraph, match="all edges have a number as their weight or none"):
        read_edges(graph)

from __future__ import annotations

from fractions import Fraction
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest
import rustworkx as rx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import rainbowdp as rb
from rainbowdp.graphs.edges import Edges
from rainbowdp.graphs.lengths import whole_steps
from rainbowdp.graphs.margins import margins
from strategies import Measured, measured_graphs

TWO = {"a": ("yes", "no"), "b": ("yes", "no"), "c": ("no", "yes")}
ROADS = [("a", "b"), ("b", "c")]


def matrix_of(lengths: list[float]) -> Any:
    """A path of three nodes as an adjacency matrix."""
    return sparse.coo_matrix(
        (np.array(lengths), (np.array([0, 1]), np.array([1, 2]))), shape=(3, 3)
    )


@settings(max_examples=80)
@given(
    lengths=st.lists(st.one_of(st.floats(0, 1e6), st.integers(0, 10**6)), min_size=1, max_size=5),
    unit=st.fractions(Fraction(1, 1000), 1000, max_denominator=1000),
)
def test_lengths_are_divided_exactly(lengths: list[float], unit: Fraction) -> None:
    edges = Edges(np.zeros((len(lengths), 2), dtype=np.int64), range(1))
    given_lengths = np.array(lengths)
    found = whole_steps(edges, given_lengths, unit, False)
    assert found.tolist() == [Fraction(each) // unit for each in given_lengths.tolist()]


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=8), st.sampled_from(["0.1", "0.001"]))
def test_decimals_of_a_file_are_what_they_spell(numbers: list[int], unit: str) -> None:
    written = [Fraction(n, 1000) for n in numbers]
    floats = np.array([float(each) for each in written])
    edges = Edges(np.zeros((len(numbers), 2), dtype=np.int64), range(1))
    found = whole_steps(edges, floats, Fraction(unit), True)
    assert found.tolist() == [each // Fraction(unit) for each in written]


def test_a_float_is_the_binary_fraction_it_is_and_a_text_the_decimal() -> None:
    assert rb.with_lengths([(0, 1)], [0.3], unit="0.1").steps.tolist() == [2]  # type: ignore[union-attr]
    assert rb.with_lengths([(0, 1)], ["0.3"], unit="0.1").steps.tolist() == [3]  # type: ignore[union-attr]


def test_lengths_in_every_form_make_one_graph() -> None:
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=30, length=45.5)
    graph.add_edge(1, 2, weight=25, length=12)
    other = igraph.Graph(edges=[(0, 1), (1, 2)], edge_attrs={"weight": [30, 25]})
    third = rx.PyGraph()
    third.add_nodes_from([0, 1, 2])
    third.add_edges_from([(0, 1, 30), (1, 2, 25)])
    matrix = matrix_of([30, 25])
    rainbows = [("y", "n"), ("y", "n"), ("n", "y")]
    pairs = [(0, 1), (1, 2)]
    by_pair = {(1, 0): 30, (1, 2): 25}
    forms: list[tuple[Any, Any]] = [
        (graph, True),
        (other, True),
        (third, True),
        (matrix, True),
        (pairs, [30, 25]),
        (np.array(pairs), np.array([30.0, 25.0])),
        (pairs, by_pair),
    ]
    for edges, lengths in forms:
        made = rb.RainbowGraph(edges, rainbows, lengths=lengths, unit=10)
        assert made.edge_lengths().tolist() == [3, 2]
        assert (made.unit, made.apart) == (Fraction(10), "at a distance of 10")
    named = rb.RainbowGraph(graph, dict(enumerate(rainbows)), lengths="length", unit=10)
    assert named.edge_lengths().tolist() == [4, 1]


def test_weights_are_never_dropped_in_silence() -> None:
    matrix = matrix_of([2.0, 3.0])
    rainbows = [("y", "n"), ("y", "n"), ("n", "y")]
    with pytest.raises(rb.InvalidGraph, match="lengths=True goes by them, lengths=False counts"):
        rb.RainbowGraph(matrix, rainbows)
    with pytest.raises(rb.InvalidGraph, match="lengths=True goes by them"):
        rb.nearest_sites(matrix, [0, 2])
    assert rb.RainbowGraph(matrix, rainbows, lengths=False).lengths is None
    ones = rb.RainbowGraph(matrix.astype(bool), rainbows)  # an adjacency matrix
    assert (ones.lengths, ones.unit) == (None, None)
    counted = rb.with_lengths(matrix, False)
    assert counted.weights is None


def test_a_shorter_way_between_the_same_two_counts() -> None:
    graph = nx.MultiDiGraph()
    graph.add_edge("a", "b", weight=70)
    graph.add_edge("b", "a", weight=50)
    graph.add_edge("b", "c", weight=20)
    graph.add_edge("b", "c", weight=90)
    made = rb.RainbowGraph(rb.with_lengths(graph, unit=10, mutual=True), TWO)
    assert made.edge_lengths().tolist() == [5, 2]


BAD: list[tuple[Any, str]] = [
    ([30, -1], "finite number from 0, got -1 between 'b' and 'c'"),
    ([30, float("nan")], "a length must be a finite number, got nan"),
    (np.array([30, np.nan]), "finite number from 0, got nan between 'b' and 'c'"),
    (np.array([30, np.inf]), "finite number from 0, got inf between 'b' and 'c'"),
    ([30, 1e300], "at most 2,000,000,000 units of 1"),
    ([30], "there are 2 edges but 1 lengths"),
    ({("a", "b"): 30}, "the edge between 'b' and 'c' has no length"),
    (True, "these edges have none"),
    (7, "lengths must be a number for each edge"),
]


@pytest.mark.parametrize(("lengths", "message"), BAD)
def test_bad_lengths_are_refused_with_their_edge(lengths: Any, message: str) -> None:
    with pytest.raises(rb.InvalidGraph, match=message):
        rb.RainbowGraph(ROADS, TWO, lengths=lengths)


def test_a_missing_length_is_refused() -> None:
    graph = nx.Graph([("a", "b"), ("b", "c")])
    graph["a"]["b"]["weight"] = 3
    with pytest.raises(rb.InvalidGraph, match="all edges have a number as their weight or none"):
        rb.RainbowGraph(graph, TWO, lengths=True)


@pytest.mark.parametrize("unit", [0, -1, "0"])
def test_a_unit_is_a_length_above_0(unit: Any) -> None:
    with pytest.raises(rb.InvalidGraph, match="unit must be a length above 0"):
        rb.RainbowGraph(ROADS, TWO, lengths=[1, 2], unit=unit)


def test_an_edge_shorter_than_the_unit_makes_its_ends_one_place() -> None:
    graph = rb.RainbowGraph(ROADS, TWO, lengths=[9, 35], unit=10)
    assert dict(graph.depth) == {"a": 1, "b": 1, "c": 1}
    assert margins(graph).tolist() == [[0, 2], [0, 2], [2, 0]]
    with pytest.raises(rb.InvalidGraph, match="between 'b' and 'c' is shorter than the unit"):
        rb.RainbowGraph(ROADS, TWO, lengths=[35, 9], unit=10)


def test_sites_are_nearest_by_length_and_merged_places_have_one() -> None:
    roads = rb.with_lengths([(0, 1), (1, 2), (2, 3)], [100, 4, 101], unit=10)
    near = rb.nearest_sites(roads, [0, 3])
    assert near.labels.tolist() == [0, 0, 0, 3]  # 1 and 2 are one place, nearer to 0
    assert near.distances.tolist() == [0, 100, 100, 0]
    graph = rb.RainbowGraph(roads, near.rainbows, near.names, labels=near.labels)
    assert graph.edge_lengths().tolist() == [10, 0, 10]


def test_the_border_is_in_the_middle_of_an_edge() -> None:
    even = rb.RainbowGraph(ROADS, TWO, lengths=[3, 4])
    assert dict(even.depth) == {"a": 5, "b": 2, "c": 1}  # the middle place is the first region's
    odd = rb.RainbowGraph(ROADS, TWO, lengths=[3, 5])
    assert dict(odd.depth) == {"a": 5, "b": 2, "c": 2}
    assert even.boundary == ("b", "c")
    assert even.interior == ("a",)
    region = even.regions[("yes", "no")]
    assert (region.boundary, region.interior, region.deepest) == (("b",), ("a",), 5)


@settings(max_examples=60)
@given(measured_graphs(zeros=False))
def test_the_boundary_morphism_stretches_no_edge(world: Measured) -> None:
    rainbows = [("x", "y", "z"), ("y", "z", "x"), ("z", "x", "y")]
    graph = rb.RainbowGraph(
        world.pairs, rainbows, labels=world.region.tolist(), lengths=world.steps
    )
    morphism = rb.boundary_morphism(graph)
    again = rb.Morphism.from_positions(graph, morphism.target, morphism.positions)
    assert again.preserves_rainbows


def test_a_map_that_stretches_an_edge_is_no_morphism() -> None:
    source = rb.RainbowGraph(ROADS, TWO, lengths=[2, 3])
    line = rb.RainbowGraph.line(("yes", "no"), 5)
    assert rb.Morphism(source, line, {"a": 0, "b": 2, "c": 5})["c"] == 5
    with pytest.raises(rb.NotAMorphism, match="'a' and 'b' to 0 and 3, which are farther apart"):
        rb.Morphism(source, line, {"a": 0, "b": 3, "c": 5})


def test_what_cannot_go_by_length_says_so() -> None:
    graph = rb.RainbowGraph(ROADS, TWO, lengths=[2, 3])
    with pytest.raises(rb.InvalidGraph, match=r"this graph have lengths; use rb\.program"):
        rb.optimum(graph, rb.DP(1), (0.7, 0.3))
    with pytest.raises(rb.InvalidGraph, match="counts edges"):
        rb.optimal_two(graph, lambda a, b: rb.DP(1))

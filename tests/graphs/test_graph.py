from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

import rainbowdp as rb
from rainbowdp.graphs import engines
from reference import assert_one_sentence
from strategies import colored_graphs, deep_graphs, graphs

YES, NO = ("yes", "no"), ("no", "yes")


@given(colored_graphs())
def test_the_graph_agrees_with_its_own_edges(world: tuple[Any, list[int]]) -> None:
    edges, marks = world
    orders = {mark: (f"{mark}", "other") for mark in marks}
    answers = tuple(sorted({str(mark) for mark in marks} | {"other"}))
    full = {mark: (*order, *(set(answers) - set(order))) for mark, order in orders.items()}
    graph = rb.RainbowGraph(edges, full, answers, labels=marks)
    assert graph.answers == answers
    assert graph.edge_count == edges.number_of_edges()
    assert {frozenset(map(int, pair)) for pair in graph.edge_positions()} == set(
        map(frozenset, edges.edges)
    )
    border = {a for a in edges if any(marks[a] != marks[b] for b in edges[a])}
    assert set(graph.boundary) == border
    assert set(graph.interior) == set(edges) - border
    touching = {frozenset((marks[a], marks[b])) for a, b in edges.edges if marks[a] != marks[b]}
    assert set(map(frozenset, graph.touching)) == touching
    assert len(graph.touching) == len(touching)
    for label, region in graph.regions.items():
        members = [a for a in edges if marks[a] == label]
        assert list(region.datasets) == members
        assert region.size == len(members)
        assert set(region.boundary) == border & set(members)
        assert set(region.interior) == set(members) - border
        finite = [graph.depth[a] for a in members if graph.depth[a] < math.inf]
        assert region.deepest == max(finite, default=None)
        assert region.unbounded == len(members) - len(finite)
        assert region.rainbow == full[label]


def test_two_labels_that_share_a_rainbow_are_two_regions() -> None:
    graph = rb.RainbowGraph(
        [(0, 1), (1, 2), (2, 3)], {"a": YES, "b": YES}, labels=["a", "a", "b", "b"]
    )
    assert graph.touching == (("a", "b"),)
    assert graph.boundary == (1, 2)
    assert list(graph.depth.values()) == [1, 0, 0, 1]
    assert graph.rainbow(0) == graph.rainbow(3) == YES
    # By rainbow alone the four are one region without a boundary.
    one = rb.RainbowGraph([(0, 1), (1, 2), (2, 3)], [YES] * 4)
    assert one.touching == ()
    assert set(one.depth.values()) == {math.inf}


@pytest.mark.parametrize("labels", [[2, 2, 7], np.array([2, 2, 7]), {0: 2, 1: 2, 2: 7}])
def test_labels_as_list_array_and_mapping(labels: Any) -> None:
    graph = rb.RainbowGraph([(0, 1), (1, 2)], {2: YES, 7: NO}, labels=labels)
    assert [graph.region[d] for d in range(3)] == [2, 2, 7]
    assert [graph.rainbow(d) for d in range(3)] == [YES, YES, NO]
    assert list(graph.depths) == [1, 0, 0]


@pytest.mark.parametrize("labels", [[7, 2, 2], np.array([7, 2, 2])])
def test_regions_come_in_the_order_of_first_appearance(labels: Any) -> None:
    graph = rb.RainbowGraph([(0, 1), (1, 2)], {2: YES, 7: NO}, labels=labels)
    assert list(graph.regions) == [7, 2]
    assert graph.answers == NO


def test_a_region_with_a_bounded_and_an_unbounded_component() -> None:
    graph = rb.RainbowGraph([(0, 1), (1, 2), (3, 4)], [YES, YES, NO, YES, YES])
    assert dict(graph.depth) == {0: 1, 1: 0, 2: 0, 3: math.inf, 4: math.inf}
    region = graph.regions[YES]
    assert (region.size, region.deepest, region.unbounded) == (4, 1, 2)
    assert graph.regions[NO].unbounded == 0


def test_isolated_datasets_have_infinite_depth() -> None:
    graph = rb.RainbowGraph([], [YES, NO])
    assert dict(graph.depth) == {0: math.inf, 1: math.inf}
    assert graph.boundary == ()
    assert graph.interior == (0, 1)
    assert graph.regions[YES].deepest is None


def test_one_dataset_is_a_graph() -> None:
    graph = rb.RainbowGraph([(0, 0)], [("only",)])
    assert (len(graph), graph.edge_count, graph.answers) == (1, 0, ("only",))


def test_answers_fix_the_listing_and_default_to_the_first_rainbow() -> None:
    assert rb.RainbowGraph([(0, 1)], [YES, NO]).answers == YES
    assert rb.RainbowGraph([(0, 1)], [YES, NO], answers=["no", "yes"]).answers == NO


def test_the_line_is_a_path_of_one_rainbow() -> None:
    graph = rb.RainbowGraph.line(YES, 3)
    assert list(graph.datasets) == [0, 1, 2, 3]
    assert [graph.neighbors(d) for d in range(4)] == [(1,), (0, 2), (1, 3), (2,)]
    assert list(graph.regions) == [YES]
    assert len(rb.RainbowGraph.line(YES, 0)) == 1
    assert len(rb.RainbowGraph.line(YES, 10**6)) == 10**6 + 1  # no rainbow for each
    with pytest.raises(rb.InvalidGraph, match="length"):
        rb.RainbowGraph.line(YES, 10**6 + 1)


def test_membership_and_positions() -> None:
    numbered = rb.RainbowGraph([(0, 1)], [YES, NO])
    assert 1 in numbered
    assert np.int64(1) in numbered
    for stranger in (2, -1, "0", True, 0.5, None):
        assert stranger not in numbered
    named = rb.RainbowGraph([("a", "b")], {"b": YES, "a": NO})
    assert [named.position(name) for name in ("b", "a")] == [0, 1]
    assert "c" not in named


@given(graphs() | deep_graphs())
def test_the_boundary_graph_of_the_boundary_graph_is_the_same(graph: rb.RainbowGraph) -> None:
    once = graph.boundary_graph()
    twice = once.boundary_graph()
    assert list(once.datasets) == list(twice.datasets)
    assert {frozenset(once.names(pair)) for pair in once.edge_positions()} == {
        frozenset(twice.names(pair)) for pair in twice.edge_positions()
    }
    assert [once.rainbow(d) for d in once.datasets] == [twice.rainbow(d) for d in twice.datasets]
    assert once.touching == graph.touching
    assert once.answers == graph.answers


@given(graphs() | deep_graphs())
def test_the_boundary_graph_is_what_the_paper_defines(graph: rb.RainbowGraph) -> None:
    small = graph.boundary_graph()
    assert set(small.datasets) == {(graph.region[d], graph.depth[d]) for d in graph.datasets}
    expected = {frozenset(((a, 0), (b, 0))) for a, b in graph.touching}
    for label, region in graph.regions.items():
        expected |= {frozenset(((label, t), (label, t + 1))) for t in range(region.deepest or 0)}
    assert {frozenset(small.names(pair)) for pair in small.edge_positions()} == expected
    for name in small.datasets:
        label, depth = name
        assert small.depth[name] == depth
        assert small.region[name] == label
        assert small.rainbow(name) == graph.regions[label].rainbow
        if depth == math.inf:
            assert small.neighbors(name) == ()


def test_endless_components_become_one_dataset() -> None:
    graph = rb.RainbowGraph([(0, 1), (2, 3)], [YES, NO, YES, YES, YES])
    assert list(graph.boundary_graph().datasets) == [(YES, 0), (YES, math.inf), (NO, 0)]


GRAPH = ([(0, 1)], [YES, NO])


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"edges": [], "rainbows": []}, rb.InvalidGraph, "none"),
        ({"edges": [], "rainbows": {}}, rb.InvalidGraph, "none"),
        ({"edges": [(0, 1)], "rainbows": "ab"}, rb.InvalidGraph, "'ab'"),
        ({"edges": [(0, 1)], "rainbows": None}, rb.InvalidGraph, "None"),
        ({"edges": [(0, 1)], "rainbows": 5}, rb.InvalidGraph, "5"),
        ({"edges": [], "rainbows": ["yn", "ny"]}, rb.InvalidRainbow, "'yn'"),
        ({"edges": [], "rainbows": {0: "yn"}}, rb.InvalidRainbow, "'yn'"),
        ({"edges": [], "rainbows": [3]}, rb.InvalidRainbow, "3"),
        ({"edges": [], "rainbows": [()]}, rb.InvalidRainbow, "got none"),
        ({"edges": [], "rainbows": [YES, ("yes", "yes")]}, rb.InvalidRainbow, "'yes'"),
        ({"edges": [], "rainbows": [YES, ("yes",)]}, rb.InvalidRainbow, "'no'"),
        ({"edges": [], "rainbows": [YES, (*YES, "maybe")]}, rb.InvalidRainbow, "'maybe'"),
        ({"edges": [], "rainbows": [YES, ("yes", "maybe")]}, rb.InvalidRainbow, "'no'"),
        ({"edges": [], "rainbows": [YES], "answers": ("yes",)}, rb.InvalidRainbow, "'no'"),
        ({"edges": [], "rainbows": [([1], [2])]}, rb.InvalidRainbow, "[1]"),
        ({"edges": [], "rainbows": {"x": YES}, "labels": ["z"]}, rb.InvalidGraph, "'z'"),
        ({"edges": [], "rainbows": [YES], "labels": [1]}, rb.InvalidGraph, "1"),
        ({"edges": [], "rainbows": [YES, NO], "labels": [0, -1]}, rb.InvalidGraph, "-1"),
        ({"edges": [], "rainbows": {"x": "yn"}, "labels": ["x"]}, rb.InvalidRainbow, "'yn'"),
        ({"edges": [], "rainbows": {"x": YES}, "labels": [["x"]]}, rb.InvalidGraph, "['x']"),
        ({"edges": [], "rainbows": {"x": YES}, "labels": "x"}, rb.InvalidGraph, "'x'"),
        ({"edges": [(0, 2)], "rainbows": {"x": YES}, "labels": ["x", "x"]}, rb.InvalidGraph, "2"),
    ],
)
def test_bad_graphs_are_refused_in_one_sentence(
    arguments: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as caught:
        rb.RainbowGraph(**arguments)
    assert type(caught.value) is error
    assert_one_sentence(caught.value, said)


@pytest.mark.parametrize("name", ["nope", 2, -1, None, ["unhashable"]])
@pytest.mark.parametrize("kind", ["numbers", "names"])
def test_unknown_datasets_are_named(name: Any, kind: str) -> None:
    graph = (
        rb.RainbowGraph(*GRAPH)
        if kind == "numbers"
        else rb.RainbowGraph([("a", "b")], {"a": YES, "b": NO})
    )
    for ask in (graph.position, graph.neighbors, graph.rainbow, graph.depth.__getitem__):
        with pytest.raises(rb.UnknownDataset) as caught:
            ask(name)
        assert_one_sentence(caught.value, repr(name))


@pytest.mark.parametrize("large", [0, 1 << 20])
@pytest.mark.parametrize(
    ("edges", "said"),
    [
        (np.array([[0, 1], [1, 3]], dtype=np.uint32), "3"),
        (np.array([[0, 1], [-7, 2]]), "-7"),
        (np.array([[0, 2**32 + 1]]), str(2**32 + 1)),
        (np.array([[0, 2**64 - 1]], dtype=np.uint64), str(2**64 - 1)),
    ],
)
def test_ids_out_of_the_array_are_named(
    edges: NDArray[Any], said: str, large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "LARGE", large)
    with pytest.raises(rb.InvalidGraph) as caught:
        rb.RainbowGraph(edges, [YES, NO], labels=np.array([0, 0, 1]))
    assert_one_sentence(caught.value, said)


@pytest.mark.slow
@pytest.mark.parametrize("large", [0, 1 << 20])
@pytest.mark.parametrize("regions", [1, 255, 256, 257, 65_537])
def test_region_numbers_take_as_few_bytes_as_they_can(
    regions: int, large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "LARGE", large)
    nodes = np.arange(regions - 1, dtype=np.uint32)
    marks = np.arange(10, 10 + regions)
    rainbows = dict.fromkeys(marks.tolist(), YES)
    graph = rb.RainbowGraph(np.stack([nodes, nodes + 1], axis=1), rainbows, labels=marks)
    assert graph.region_numbers.itemsize == (1 if regions <= 256 else 2 if regions <= 65_536 else 4)
    assert graph.region_numbers.tolist() == list(range(regions))
    assert graph.touching == tuple((10 + n, 11 + n) for n in range(regions - 1))


@pytest.mark.parametrize("spread", [1, 10**12, -(10**12)])
def test_numbers_as_labels_keep_their_order_of_appearance(spread: int) -> None:
    marks = np.random.default_rng(3).integers(-50, 50, 3000) * spread
    rainbows = {int(mark): YES for mark in marks}
    graph = rb.RainbowGraph([], rainbows, labels=marks)
    assert list(graph.regions) == list(dict.fromkeys(marks.tolist()))
    assert [graph.region[d] for d in graph.datasets] == marks.tolist()


def test_labels_of_many_blocks_are_numbered_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rainbowdp.graphs.given._BLOCK", 7)
    test_numbers_as_labels_keep_their_order_of_appearance(1)


def test_compressed_rows_are_sorted_read_only_and_narrow() -> None:
    graph = rb.RainbowGraph(np.array([[2, 0], [0, 1], [1, 0], [2, 2]]), [YES, NO, NO])
    offsets, targets = graph.compressed
    assert (offsets.tolist(), targets.tolist()) == ([0, 2, 3, 4], [1, 2, 0, 0])
    assert offsets.dtype == targets.dtype == np.uint32
    with pytest.raises(ValueError, match="read-only"):
        targets[0] = 5
    assert graph.edge_count == 2


@given(graphs())
def test_joined_numbers_and_the_edge_between_them(graph: rb.RainbowGraph) -> None:
    numbers = np.arange(len(graph)) % 3
    pairs = graph.joined(numbers, 3)
    ends = {tuple(sorted(numbers[edge].tolist())) for edge in graph.edge_positions()}
    assert list(map(tuple, pairs.tolist())) == sorted(p for p in ends if p[0] != p[1])
    for one, other in pairs:
        a, b = graph.edge_between(numbers == one, numbers == other)
        assert (numbers[a], numbers[b]) == (one, other)
        assert graph.datasets[b] in graph.neighbors(graph.datasets[a])
    with pytest.raises(rb.InvalidGraph, match="no edge joins"):
        graph.edge_between(numbers < 3, numbers > 3)


def test_depth_as_whole_numbers() -> None:
    graph = rb.RainbowGraph([(0, 1), (1, 2), (3, 4)], [YES, YES, NO, YES, YES])
    assert graph.depth_numbers.dtype == np.int32
    assert graph.depth_numbers.tolist() == [1, 0, 0, -1, -1]
    assert graph.depths.tolist() == [1, 0, 0, math.inf, math.inf]


def test_a_label_that_is_no_place_in_a_list_of_rainbows() -> None:
    labels = [Decimal("NaN"), Decimal("NaN")]
    with pytest.raises(rb.InvalidGraph, match="has no rainbow"):
        rb.RainbowGraph([(0, 1)], [("a", "b")], labels=labels)


@pytest.mark.parametrize("odd", [["a"], ("a", ["b"]), {"a": 1}])
def test_what_cannot_be_hashed_is_no_dataset(odd: Any) -> None:
    graph = rb.RainbowGraph([("a", "b")], {"a": ("x", "y"), "b": ("y", "x")})
    assert odd not in graph
    with pytest.raises(rb.RainbowError):
        graph.position(odd)

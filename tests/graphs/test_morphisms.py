from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from reference import assert_one_sentence, worst_set
from strategies import deep_graphs, exact_rows, graphs, morphisms

YES, NO = ("yes", "no"), ("no", "yes")


def joined(graph: rb.RainbowGraph, a: int, b: int) -> bool:
    return a == b or b in graph.neighbors(a)


@settings(max_examples=50)
@given(morphisms())
def test_morphisms_are_told_from_tears(
    world: tuple[rb.RainbowGraph, rb.RainbowGraph, dict[int, int]],
) -> None:
    source, target, image = world
    edges = [(int(a), int(b)) for a, b in source.edge_positions()]
    torn = [(a, b) for a, b in edges if not joined(target, image[a], image[b])]
    event("torn" if torn else "whole")
    if torn:
        with pytest.raises(rb.NotAMorphism) as caught:
            rb.Morphism(source, target, image)
        assert_one_sentence(caught.value)
        found = re.search(r"neighbors (\d+) and (\d+) to (\d+) and (\d+)", str(caught.value))
        assert found is not None
        a, b, left, right = map(int, found.groups())
        assert (a, b) in torn or (b, a) in torn
        assert (left, right) == (image[a], image[b])
        return
    for given_as in (image, image.__getitem__):
        morphism = rb.Morphism(source, target, given_as)
        assert {d: morphism[d] for d in image} == image
        changed: list[int | None] = [
            d for d in image if source.rainbow(d) != target.rainbow(image[d])
        ]
        assert morphism.preserves_rainbows == (not changed)
        assert morphism.recolored() in (changed or [None])


@given(morphisms(), st.data())
def test_a_pullback_is_as_private_as_what_it_pulls_back(
    world: tuple[rb.RainbowGraph, rb.RainbowGraph, dict[int, int]],
    data: st.DataObject,
) -> None:
    source, target, image = world
    try:
        morphism = rb.Morphism(source, target, image)
    except rb.NotAMorphism:
        return
    answers = len(target.answers)
    rows = {d: data.draw(exact_rows(answers)) for d in target.datasets}
    mechanism = rb.Mechanism.from_table(target, rows)
    pulled = mechanism.pullback(morphism)
    for d in range(len(source)):
        assert pulled[d] == {a: mechanism[image[d]][a] for a in source.rainbow(d)}
        assert list(pulled[d]) == list(source.rainbow(d))
    worst_there = Fraction(0)
    for a, b in map(target.names, target.edge_positions()):
        worst_there = max(worst_there, worst_set(rows[a], rows[b], Fraction(2), Fraction(0)))
    promise = rb.DP.from_ratio(2)
    if worst_there == 0:
        assert pulled.check(promise)
        assert pulled.check(promise, every_edge=True)
    assert pulled.check(promise, every_edge=True).excess <= worst_there + 1e-12


def test_a_pullback_keeps_each_answer_where_graphs_list_answers_differently() -> None:
    source = rb.RainbowGraph([(0, 1)], [YES, NO])
    target = rb.RainbowGraph([(0, 1)], [YES, NO], answers=NO)
    mechanism = rb.Mechanism.from_table(target, {0: {"yes": 0.75, "no": 0.25}, 1: (0.5, 0.5)})
    pulled = mechanism.pullback(rb.Morphism(source, target, {0: 0, 1: 1}))
    assert pulled[0] == {"yes": 0.75, "no": 0.25}


def test_a_pullback_to_other_answers_is_refused() -> None:
    source = rb.RainbowGraph([(0, 1)], [("left", "right")] * 2)
    target = rb.RainbowGraph([(0, 1)], [YES, NO])
    mechanism = rb.Mechanism.from_table(target, {0: (0.75, 0.25), 1: (0.5, 0.5)})
    with pytest.raises(rb.RainbowError) as caught:
        mechanism.pullback(rb.Morphism(source, target, {0: 0, 1: 1}))
    assert_one_sentence(caught.value)


def test_the_check_of_a_pullback_never_blames_an_innocent_edge() -> None:
    # The broken edge 1 ~ 2 of the target has no preimage: nothing in the source is broken.
    source = rb.RainbowGraph([("a", "b")], {"a": YES, "b": YES})
    target = rb.RainbowGraph([(0, 1), (1, 2)], [YES, YES, NO])
    mechanism = rb.Mechanism.from_table(
        target, {0: (0.5, 0.5), 1: (0.6, 0.4), 2: (0.0, 1.0)}, rb.DP(1)
    )
    pulled = mechanism.pullback(rb.Morphism(source, target, {"a": 0, "b": 1}))
    assert pulled.check(every_edge=True)
    check = pulled.check()
    assert check.neighbors not in (("a", "b"), ("b", "a"))


@given(graphs() | deep_graphs())
def test_the_boundary_morphism_is_one_and_keeps_rainbows(graph: rb.RainbowGraph) -> None:
    morphism = rb.boundary_morphism(graph)
    assert morphism.source is graph
    for d in graph.datasets:
        assert morphism[d] == (graph.region[d], graph.depth[d])
        assert graph.rainbow(d) == morphism.target.rainbow(morphism[d])
    assert morphism.preserves_rainbows
    assert morphism.recolored() is None
    # Once more through the public door, which checks every edge against the target's.
    rb.Morphism(graph, morphism.target, lambda d: (graph.region[d], graph.depth[d]))
    for pair in graph.edge_positions():
        a, b = (morphism[d] for d in graph.names(pair))
        assert a == b or b in morphism.target.neighbors(a)


def test_an_endless_component_goes_to_its_own_dataset() -> None:
    graph = rb.RainbowGraph([("a", "b"), ("c", "d")], {"a": YES, "b": NO, "c": YES, "d": YES})
    morphism = rb.boundary_morphism(graph)
    assert [morphism[d] for d in "abcd"] == [(YES, 0), (NO, 0), (YES, math.inf), (YES, math.inf)]


def test_collapsing_everything_is_a_morphism_that_recolors() -> None:
    source = rb.RainbowGraph([("a", "b")], {"a": YES, "b": NO})
    point = rb.RainbowGraph([], {"p": YES})
    morphism = rb.Morphism(source, point, lambda _: "p")
    assert not morphism.preserves_rainbows
    assert morphism.recolored() == "b"


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int16, np.int32, np.uint64])
def test_positions_may_have_any_integer_type(kind: type[np.integer]) -> None:
    # 16·30 + 17 does not fit a byte; a wrapped code would let a tear pass or refuse an edge.
    whole = rb.RainbowGraph([(16, 17)], [YES] * 30)
    positions = np.arange(30, dtype=kind)
    assert rb.Morphism.from_positions(whole, whole, positions)[17] == 17
    code = (16 * 30 + 17) % 256
    other = rb.RainbowGraph([(code // 30, code % 30)], [YES] * 30)
    with pytest.raises(rb.NotAMorphism):
        rb.Morphism.from_positions(whole, other, positions)


@pytest.mark.parametrize("positions", [[0, 1, 7], [0, 1, -1], [0, 1], [0, 1, 1, 1]])
def test_positions_outside_the_target_are_refused(positions: list[int]) -> None:
    source = rb.RainbowGraph([(0, 1)], [YES] * 3)
    target = rb.RainbowGraph([(0, 1)], [YES] * 2)
    with pytest.raises(rb.RainbowError) as caught:
        rb.Morphism.from_positions(source, target, np.array(positions))
    assert_one_sentence(caught.value)


def test_a_dataset_without_an_image_is_named() -> None:
    graph = rb.RainbowGraph([("a", "b")], {"a": YES, "b": NO})
    with pytest.raises(rb.NotAMorphism) as caught:
        rb.Morphism(graph, graph, {"a": "a"})
    assert_one_sentence(caught.value, "'b'")


def test_an_image_outside_the_target_is_named() -> None:
    graph = rb.RainbowGraph([("a", "b")], {"a": YES, "b": NO})
    with pytest.raises(rb.UnknownDataset) as caught:
        rb.Morphism(graph, graph, {"a": "a", "b": "nope"})
    assert_one_sentence(caught.value, "'nope'")


def test_a_pullback_along_a_stranger_is_refused() -> None:
    graph = rb.RainbowGraph([("a", "b")], {"a": YES, "b": NO})
    other = rb.RainbowGraph([("a", "b")], {"a": YES, "b": NO})
    mechanism = rb.Mechanism.from_table(graph, {"a": (0.5, 0.5), "b": (0.5, 0.5)})
    with pytest.raises(rb.InvalidMechanism) as caught:
        mechanism.pullback(rb.Morphism(other, other, lambda d: d))
    assert_one_sentence(caught.value, "2 datasets")

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.graphs.margins import whole_margins
from rainbowdp.mechanisms.lifted.merging import (
    classes_within,
    fixed_point_of_classes,
    merged,
)
from rainbowdp.mechanisms.lifted.rows import Lifted
from strategies import deep_graphs, graphs


def lattice(side: int, sites: list[int]) -> rb.RainbowGraph:
    at = np.arange(side * side).reshape(side, side)
    ends = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:])]
    pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in ends])
    near = rb.nearest_sites(pairs, sites)
    return rb.RainbowGraph(pairs, near.rainbows, near.names, labels=near.labels)


@given(graph=st.one_of(graphs(answers=3), deep_graphs()), most=st.integers(3, 40))
def test_margins_below_the_cut_are_those_of_the_classes(graph: rb.RainbowGraph, most: int) -> None:
    margins = whole_margins(graph)
    try:
        classes = classes_within(graph, margins, rb.DP("0.5"), most)
    except rb.InvalidGraph:
        beyond = margins == np.iinfo(margins.dtype).max
        assert len(np.unique(np.where(beyond, 2, np.minimum(margins, 1)), axis=0)) > most
        return
    assert classes.count <= most
    small = merged(graph, classes)
    held = whole_margins(small)[classes.index].astype(np.int64)
    whole = margins.astype(np.int64)
    assert (np.minimum(held, classes.cut) == np.minimum(whole, classes.cut)).all()


def test_more_rows_cost_less_and_enough_cost_nothing() -> None:
    graph, promise = lattice(30, [31, 130, 480, 870]), rb.DP("0.6")
    margins = whole_margins(graph)
    whole = rb.fixed_point(graph, promise)
    errors = []
    for most in (30, 90, 300, 900):
        classes = classes_within(graph, margins, promise, most)
        made = fixed_point_of_classes(graph, promise, classes)
        assert made.check(every_edge=True)
        assert len(made.table) <= classes.count <= most
        errors.append(1 - made.utility() / len(graph))
    assert errors == sorted(errors, reverse=True)
    least = 1 - whole.utility() / len(graph)
    assert errors[0] > 1.05 * least
    assert errors[-1] == pytest.approx(least, rel=0.02)


def test_rows_that_are_given_to_others_are_refused() -> None:
    graph, promise = lattice(8, [0, 63]), rb.DP("0.6")
    made = rb.fixed_point(graph, promise)
    Lifted(graph, made.weights, promise, index=made.index)
    wrong = np.array(made.index)
    wrong[0] = made.index[63]  # what is said at the other end of the map
    with pytest.raises(rb.InvalidMechanism, match="on every edge"):
        Lifted(graph, made.weights, promise, index=wrong)


def test_too_many_answers_for_so_few_rows() -> None:
    graph = lattice(8, [0, 7, 30, 56, 63])
    with pytest.raises(rb.InvalidGraph, match="more than 4 distinct margins"):
        classes_within(graph, whole_margins(graph), rb.DP(1), 4)

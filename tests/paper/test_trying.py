"""What researchers try things with: exact rows of the right operator, and random graphs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp import paper
from strategies import exact_rows, ratios


@given(exact_rows(3), ratios(), st.sampled_from(["0", "1/100", "1/3"]), st.integers(1, 5))
def test_exact_rows_are_those_of_the_floats_and_keep_the_promise(
    row: tuple[Fraction, ...], ratio: Fraction, delta: str, depth: int
) -> None:
    ratio = max(ratio, 1 / ratio)
    rows = paper.exact_rows(row, ratio, delta, depth=depth)
    promise = rb.DP.from_ratio(ratio, delta=delta)
    floats = promise.rows(row, list(range(depth + 1)))
    for found, wanted in zip(rows, floats, strict=True):
        assert sum(found) == 1
        assert [float(p) for p in found] == pytest.approx(wanted.tolist(), rel=1e-11, abs=1e-300)
    table = {place: dict(enumerate(found)) for place, found in enumerate(rows)}
    audited = rb.audit(table, claim=promise, pairs=[(t, t + 1) for t in range(depth)])
    assert audited.verdict == "holds"


def test_the_printed_step_is_refuted_exactly() -> None:
    half, two, tenth = Fraction(1, 2), Fraction(2), Fraction(1, 10)
    printed = paper.printed_step(half, two, tenth)
    table: dict[Any, Any] = {0: (half, half), 1: (printed, 1 - printed)}
    rows = {node: dict(enumerate(row)) for node, row in table.items()}
    promise = rb.DP.from_ratio(2, delta="0.1")
    assert rb.audit(rows, claim=promise, pairs=[(0, 1)]).verdict == "broken"
    assert paper.exact_step(half, 2, tenth) == Fraction(4, 5)


@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 10**6))
def test_random_graphs_are_connected_and_repeatable(size: int, answers: int, seed: int) -> None:
    names = tuple("abcd"[:answers])
    centers = min(size, answers)
    graph = paper.random_rainbow_graph(size, names, regions=centers, seed=seed)
    again = paper.random_rainbow_graph(size, names, regions=centers, seed=seed)
    edges = graph.edge_positions().tolist()
    assert edges == again.edge_positions().tolist()
    assert [graph.rainbow(d) for d in range(size)] == [again.rainbow(d) for d in range(size)]
    assert len(graph) == size
    assert 1 <= len(graph.regions) <= centers
    drawn = nx.Graph(edges)
    drawn.add_nodes_from(range(size))
    assert nx.is_connected(drawn)


def test_an_optimum_on_a_random_graph_keeps_its_promise() -> None:
    graph = paper.random_rainbow_graph(200, ("a", "b", "c"), extra=20, seed=7)
    assert rb.audit(rb.optimal(graph, rb.DP(1))).verdict == "holds"


@pytest.mark.parametrize(
    "call",
    [
        lambda: paper.random_rainbow_graph(0, "ab"),
        lambda: paper.random_rainbow_graph(5, ()),
        lambda: paper.random_rainbow_graph(2, "abc"),
        lambda: paper.exact_step(2, 2),
        lambda: paper.exact_step("1/2", "1/2"),
        lambda: paper.exact_step("x", 2),
        lambda: paper.exact_rows([1], 2, depth=0),
        lambda: paper.exact_rows(["1/2"], 2, depth=1),
    ],
)
def test_bad_numbers_get_one_sentence(call: Any) -> None:
    with pytest.raises(rb.RainbowError) as caught:
        call()
    assert "\n" not in str(caught.value)

"""Margin flip, exponential and proximity on graphs, against brute force that shares no code."""

from __future__ import annotations

import itertools
import math
from collections import deque
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.graphs.margins import whole_margins
from rainbowdp.mechanisms.by_margins import ByMargins, margin_flip_on_graph
from rainbowdp.mechanisms.kinds import ON_GRAPHS
from reference import assert_one_sentence
from strategies import graphs

KINDS = ["margin-flip", "exponential"]


def steps_between(graph: rb.RainbowGraph, start: Any) -> dict[Any, int]:
    """Breadth first in plain Python."""
    found, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        for other in graph.neighbors(here):
            if other not in found:
                found[other] = found[here] + 1
                queue.append(other)
    return found


def margins_by_hand(graph: rb.RainbowGraph) -> dict[Any, dict[Any, float]]:
    away = {d: steps_between(graph, d) for d in graph.datasets}
    return {
        d: {
            answer: min(
                (away[d][e] for e in away[d] if graph.rainbow(e)[0] == answer), default=math.inf
            )
            for answer in graph.answers
        }
        for d in graph.datasets
    }


def flipped(margins: dict[Any, float], first: Fraction, ratio: float) -> dict[Any, float]:
    """The law of a margin flip over all patterns of heads."""
    rivals = {v: m for v, m in margins.items() if m > 0}
    true = next(v for v, m in margins.items() if m == 0)
    depth = min(rivals.values())
    chance = {
        v: 0.0 if math.isinf(m) else float(first) * ratio ** (m + depth - 2)
        for v, m in rivals.items()
    }
    law = dict.fromkeys(margins, 0.0)
    for heads in itertools.product([False, True], repeat=len(rivals)):
        p = math.prod(
            chance[v] if up else 1 - chance[v] for v, up in zip(rivals, heads, strict=True)
        )
        shown = [true, *(v for v, up in zip(rivals, heads, strict=True) if up)]
        for v in shown:
            law[v] += p / len(shown)
    return law


@settings(max_examples=40)
@given(graphs(answers=3), st.sampled_from(["0.05", "0.3", "1", "2.5"]))
def test_the_rows_are_those_of_coins_by_breadth_first_search(
    graph: rb.RainbowGraph, epsilon: str
) -> None:
    made = rb.by_kind(graph, rb.DP(epsilon), "margin-flip")
    assert isinstance(made, ByMargins)
    rule: Any = made.rule
    first = Fraction(rule.first, 1 << 127)
    for dataset, margins in margins_by_hand(graph).items():
        law = flipped(margins, first, float(rule.ratio))
        for answer, p in made[dataset].items():
            assert p == pytest.approx(law[answer], abs=1e-12)


@pytest.mark.slow
@settings(max_examples=40)
@given(graphs(answers=3), st.sampled_from(["0.05", "0.3", "1", "2.5"]), st.sampled_from(KINDS))
def test_every_edge_keeps_the_guarantee_on_every_set_in_exact_rows(
    graph: rb.RainbowGraph, epsilon: str, kind: str
) -> None:
    exact = rb.by_kind(graph, rb.DP(epsilon), kind).exact()
    most = Fraction(math.exp(float(epsilon))) * (1 + Fraction(1, 10**14))
    rows = {d: exact[d] for d in graph.datasets}
    for a in graph.datasets:
        for b in graph.neighbors(a):
            for size in range(1, len(graph.answers)):
                for chosen in itertools.combinations(graph.answers, size):
                    assert sum(rows[a][v] for v in chosen) <= most * sum(rows[b][v] for v in chosen)


@pytest.mark.slow
@settings(max_examples=60)
@given(graphs(answers=4), st.floats(0.3, 1.6))
def test_proximity_below_its_general_condition_is_private_in_exact_rows(
    graph: rb.RainbowGraph, epsilon: float
) -> None:
    try:
        made = rb.proximity(graph, rb.DP(epsilon))
    except rb.InvalidGuarantee:
        margins = margins_by_hand(graph).values()
        crowd = max(sum(math.exp(-epsilon * m) for m in row.values() if m > 0) for row in margins)
        assert crowd > 1
        return
    exact = made.exact()
    most = Fraction(math.exp(epsilon)) * (1 + Fraction(1, 10**14))
    for a in graph.datasets:
        for b in graph.neighbors(a):
            for answer, p in exact[a].items():
                assert p <= most * exact[b][answer]


@pytest.mark.slow
@given(graphs(answers=3), st.sampled_from(KINDS))
def test_floats_are_the_exact_rows_and_files_keep_them(graph: rb.RainbowGraph, kind: str) -> None:
    made = rb.by_kind(graph, rb.DP("0.7"), kind)
    assert isinstance(made, ByMargins)
    assert np.allclose(made.rows_at(np.arange(len(graph))), made.table[made.index], atol=1e-14)
    loaded = rb.load_text(made.exact().as_text()) if hasattr(rb, "load_text") else made.exact()
    for dataset in graph.datasets:
        row = {answer: float(p) for answer, p in loaded[dataset].items()}
        assert row == pytest.approx(made[dataset], abs=1e-12)
    assert made.check().exact
    assert made.check(every_edge=True)


def test_margins_that_jump_are_refused() -> None:
    graph = rb.RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    whole = whole_margins(graph).copy()
    whole[0, 1] = 3
    with pytest.raises(rb.InvalidMechanism) as refused:
        margin_flip_on_graph(graph, rb.DP(1), whole)
    assert_one_sentence(refused.value, "'b'", "at most 1 between neighbors")
    whole[0, 1], whole[2, 0] = 2, 0
    with pytest.raises(rb.InvalidMechanism):
        margin_flip_on_graph(graph, rb.DP(1), whole)


def test_what_they_need() -> None:
    graph = rb.RainbowGraph([(0, 1)], [("a", "b"), ("b", "a")])
    with pytest.raises(rb.InvalidGuarantee, match=r"\(ε,δ\) guarantee"):
        rb.by_kind(graph, rb.GaussianDP(1), "margin-flip")
    with pytest.raises(rb.InvalidGuarantee, match="larger epsilon"):
        rb.by_kind(graph, rb.DP(0, "0.1"), "margin-flip")
    with pytest.raises(rb.InvalidQuestion, match=", ".join(ON_GRAPHS)):
        rb.by_kind(graph, rb.DP(1), "ordered-bins")
    alone = rb.RainbowGraph([(0, 1)], [("a",), ("a",)])
    with pytest.raises(rb.InvalidGuarantee, match="at least 2 answers"):
        rb.by_kind(alone, rb.DP(1), "exponential")
    gauss = rb.by_kind(graph, rb.GaussianDP(1), "exponential")
    assert gauss.check().exact

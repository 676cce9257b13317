from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.graphs.margins import margin_bytes, margins, whole_margins
from rainbowdp.mechanisms.proximity import cut_margin, proximity_on_graph
from rainbowdp.rules.proximity.build import proximity_weights
from reference import assert_one_sentence
from strategies import graphs


def histograms(records: int, answers: int) -> rb.RainbowGraph:
    """All histograms, joined by one record substituted; ties to the first listed."""
    names = [h for h in itertools.product(range(records + 1), repeat=answers) if sum(h) == records]
    known = set(names)
    edges = []
    for h in names:
        for a, b in itertools.permutations(range(answers), 2):
            other = list(h)
            other[a] -= 1
            other[b] += 1
            if tuple(other) in known:
                edges.append((h, tuple(other)))
    rainbows = {}
    for h in names:
        winner = h.index(max(h))
        rainbows[h] = (winner, *(a for a in range(answers) if a != winner))
    return rb.RainbowGraph(edges, rainbows, tuple(range(answers)))


@given(graphs())
def test_margins_are_distances_to_the_nearest_dataset_with_that_first_choice(
    graph: rb.RainbowGraph,
) -> None:
    plain = nx.Graph(graph.edge_positions().tolist())
    plain.add_nodes_from(range(len(graph)))
    found = margins(graph)
    for number, answer in enumerate(graph.answers):
        homes = [d for d in graph.datasets if graph.rainbow(d)[0] == answer]
        away = nx.multi_source_dijkstra_path_length(plain, homes) if homes else {}
        assert found[:, number].tolist() == [away.get(d, math.inf) for d in graph.datasets]


@pytest.mark.parametrize("delta", [0, "0.001", "0.1"])
def test_a_question_and_its_graph_give_the_same_mechanism(delta: str) -> None:
    graph, promise = histograms(9, 3), rb.DP(1, delta)
    on_graph = rb.proximity(graph, promise)
    asked = rb.proximity(rb.Winner(["0", "1", "2"]), promise)
    for h in graph.datasets:
        counts = {str(a): n for a, n in enumerate(h)}
        for answer, p in asked[counts].items():
            assert on_graph[h][int(answer)] == pytest.approx(p, rel=1e-9, abs=1e-15)
    assert on_graph.check(every_edge=True)
    assert on_graph.exact().mixing <= 2**-40


@pytest.mark.slow
@settings(max_examples=50)
@given(graphs(answers=3), st.floats(0.05, 3), st.sampled_from([0, 1e-6, 0.01, 0.2]))
def test_what_is_not_refused_is_private(
    graph: rb.RainbowGraph, epsilon: float, delta: float
) -> None:
    promise = rb.DP(epsilon, delta)
    if delta == 0:
        rivals = np.where(margins(graph) == 0, math.inf, margins(graph))
        fits = bool((np.exp(-epsilon * rivals).sum(axis=1) <= 1).all())
    else:
        present = {graph.rainbow(d)[0] for d in graph.datasets}
        fits = len(present) - 1 <= math.exp(epsilon)
    if fits:
        assert rb.proximity(graph, promise).check(every_edge=True)
    elif delta == 0:
        with pytest.raises(rb.InvalidGuarantee, match="holds from epsilon"):
            rb.proximity(graph, promise)


def test_the_refusal_says_from_which_epsilon_it_holds() -> None:
    graph = histograms(6, 4)
    with pytest.raises(rb.InvalidGuarantee, match=r"holds from epsilon = (\d\.\d+)") as caught:
        rb.proximity(graph, rb.DP("0.3"))
    least = float(str(caught.value).split("epsilon = ")[1].split(",")[0])
    assert rb.proximity(graph, rb.DP(least + 1e-3)).check(every_edge=True)
    with pytest.raises(rb.InvalidGuarantee):
        rb.proximity(graph, rb.DP(least - 1e-3))


def test_an_answer_that_nobody_wants_is_never_given() -> None:
    graph = rb.RainbowGraph([(0, 1)], [("a", "b", "c"), ("b", "a", "c")])
    row = rb.proximity(graph, rb.DP(1))[0]
    assert row["c"] == 0
    assert np.isclose(row["a"], math.e / (1 + math.e))


@pytest.mark.parametrize("guarantee", [rb.DP(0, "0.1"), rb.GaussianDP(1)])
def test_other_guarantees_are_refused(guarantee: rb.DP | rb.GaussianDP) -> None:
    with pytest.raises(rb.InvalidGuarantee, match="proximity needs"):
        rb.proximity(histograms(2, 2), guarantee)


@given(graphs(), st.integers(1, 6))
def test_cut_margins_are_margins_up_to_the_cut(graph: rb.RainbowGraph, cut: int) -> None:
    whole, found = whole_margins(graph, cut), margins(graph)
    far = np.iinfo(whole.dtype).max
    assert whole.dtype == np.uint8
    assert (whole == np.where(np.isinf(found), far, np.minimum(found, cut))).all()
    assert margin_bytes(graph, cut) >= whole.nbytes


@pytest.mark.parametrize("epsilon", [0.7, 1, 3])
@pytest.mark.parametrize("delta", [0, "1e-9", "0.01"])
def test_the_cut_is_where_exact_weights_stop_falling(epsilon: float, delta: str) -> None:
    promise = rb.DP(epsilon, delta)
    steps = proximity_weights(3 if epsilon >= 0.7 else 2, promise).steps
    cut = cut_margin(3, promise)
    assert len(steps) - 1 <= cut <= len(steps) + 3
    assert all(abs(a - steps[-1]) <= 1 for a in steps[cut - 1 :])


@pytest.mark.parametrize("epsilon", [0.05, 2.0])
def test_a_long_line_is_private_and_as_sharp_with_its_margins_cut(epsilon: float) -> None:
    size = 3000
    nodes = np.arange(size - 1)
    labels = (np.arange(size) >= size // 2).astype(np.int64)
    graph = rb.RainbowGraph(
        np.stack([nodes, nodes + 1], axis=1), [("y", "n"), ("n", "y")], labels=labels
    )
    made = rb.proximity(graph, rb.DP(epsilon))
    assert made.check(every_edge=True)
    cut = cut_margin(2, rb.DP(epsilon))
    assert len(made.table) == 2 * min(cut, size // 2)
    assert made[0]["n"] == pytest.approx(0, abs=2**-59 if cut < size // 2 else 1)


def test_margins_beyond_the_limit_are_refused_with_the_bytes_they_need() -> None:
    graph = histograms(9, 3)
    needed = margin_bytes(graph, 40)
    assert needed == len(graph) * (3 + 16)
    assert whole_margins(graph, 40, limit=needed).shape == (len(graph), 3)
    with pytest.raises(rb.RainbowError) as caught:
        whole_margins(graph, 40, limit=needed - 1)
    assert_one_sentence(caught.value, f"{needed:,} bytes")
    with pytest.raises(rb.RainbowError) as caught:
        proximity_on_graph(graph, rb.DP(1), limit=needed - 1)
    assert_one_sentence(caught.value, "bytes")
    with pytest.raises(rb.RainbowError) as caught:
        whole_margins(graph, 0)
    assert_one_sentence(caught.value, "cut=0")

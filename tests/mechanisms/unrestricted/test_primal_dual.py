from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rainbowdp as rb
from rainbowdp.mechanisms.best_on_graphs import best_on_graph
from rainbowdp.mechanisms.unrestricted import primal_dual as module
from rainbowdp.mechanisms.unrestricted.primal_dual import primal_dual
from rainbowdp.mechanisms.worths import worths_of
from reference import assert_one_sentence


def streets(side: int, sites: int, seed: int = 0) -> rb.RainbowGraph:
    """A square of streets with gaps; nodes know the nearest of some random sites."""
    random = np.random.default_rng(seed)
    number = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate(
        [
            np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1),
            np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1),
        ]
    )
    pairs = pairs[random.random(len(pairs)) < 0.9]
    chosen = random.choice(np.unique(pairs), sites, replace=False).tolist()
    near = rb.nearest_sites(pairs, chosen)
    return rb.RainbowGraph(pairs, near.rainbows, near.names, labels=near.labels)


def least_ratio_kept(mechanism: Any, graph: rb.RainbowGraph) -> Fraction:
    """The largest ratio of two chances on an edge, in fractions: no code of ours but the rows."""
    pairs = [(graph.datasets[int(a)], graph.datasets[int(b)]) for a, b in graph.edge_positions()]
    rows = {name: mechanism.at(name).probabilities for pair in pairs for name in pair}
    return max(
        Fraction(rows[x][v]) / Fraction(rows[y][v])
        for a, b in pairs
        for x, y in ((a, b), (b, a))
        for v in graph.answers
    )


@pytest.mark.parametrize("epsilon", ["0.2", "0.5", "1"])
def test_it_is_private_on_every_edge_and_near_the_program(epsilon: str) -> None:
    graph = streets(9, 5)
    worth = worths_of(graph).dense()
    found = primal_dual(graph, rb.DP(epsilon), worth, 1 << 20)
    best = rb.program(graph, rb.DP(epsilon), progress=lambda line: None)
    value = float((found.mechanism.rows_at(np.arange(len(graph))) * worth).sum())
    assert value <= best.bound + 1e-6
    assert found.bound >= best.objective - 1e-6
    lost = len(graph) - best.objective
    assert len(graph) - value <= 1.04 * lost
    assert found.mechanism.check(every_edge=True)
    ratio = least_ratio_kept(found.mechanism, graph)
    assert ratio <= Fraction(np.exp(float(epsilon))) * (1 + Fraction(1, 10**15))
    assert ratio > Fraction(np.exp(0.9 * float(epsilon)))  # and what is promised is used


def test_a_goal_and_weights_are_followed() -> None:
    graph = streets(7, 4, seed=3)
    random = np.random.default_rng(1)
    utility = -random.random((len(graph), 4)) * 30
    weights = random.random(len(graph)) * 100
    named = best_on_graph(graph, rb.DP("0.3"), utility, weights, kinds=["primal-dual"])
    best = rb.program(
        graph, rb.DP("0.3"), utility=utility, weights=weights, progress=lambda _: None
    )
    most = float((utility.max(axis=1) * weights).sum())
    lost, least = most - named.value * weights.sum(), most - best.objective
    assert least - 1e-6 <= lost <= 1.04 * least
    assert named.check()


def test_lengths_go_by_single_steps() -> None:
    pairs = np.stack([np.arange(12), np.arange(1, 13)], axis=1)
    roads = rb.with_lengths(pairs, [2, 1, 0, 3, 1, 2, 1, 1, 4, 1, 2, 1])
    near = rb.nearest_sites(roads, {"west": 0, "middle": 6, "east": 12})
    graph = rb.RainbowGraph(roads, near.rainbows, near.names, labels=near.labels)
    named = best_on_graph(graph, rb.DP("0.2"), kinds=["primal-dual"])
    assert named.mechanism.check(every_edge=True)
    assert named.mechanism[2] == named.mechanism[3]  # no step between them


def test_what_is_not_private_is_never_a_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    def certain(rows: Any, *_: object) -> Any:
        weights = np.zeros(rows.shape, dtype=np.int64)
        weights[np.arange(len(rows)), rows.argmax(axis=1)] = 1 << 52
        return weights

    monkeypatch.setattr(module, "_private", certain)
    monkeypatch.setattr(module, "_ROUNDS", (20, 20))
    graph = streets(6, 4)
    with pytest.raises(rb.InvalidMechanism) as refused:
        primal_dual(graph, rb.DP("0.1"), worths_of(graph).dense(), 1 << 20)
    assert_one_sentence(refused.value, "kept 0.1-DP on every edge", "use margin-flip")


def test_one_answer_and_no_edges() -> None:
    one = rb.RainbowGraph([(0, 1)], [("a",), ("a",)])
    with pytest.raises(rb.InvalidGuarantee, match="at least 2 answers"):
        best_on_graph(one, rb.DP(1), kinds=["primal-dual"])
    apart = rb.RainbowGraph([], {0: ("a", "b"), 1: ("b", "a")})
    assert best_on_graph(apart, rb.DP(1), kinds=["primal-dual"]).value == pytest.approx(1, abs=1e-6)


def test_what_it_is_not_for() -> None:
    graph = streets(4, 3)
    with pytest.raises(rb.InvalidGuarantee, match="needs a pure ε"):
        best_on_graph(graph, rb.DP(1, "1e-6"), kinds=["primal-dual"])
    with pytest.raises(rb.InvalidGuarantee, match="needs a pure ε above 0"):
        primal_dual(graph, rb.DP(0), worths_of(graph).dense(), 100)
    notes = {each.kind: each.note for each in rb.best(graph, rb.DP("0.1")).candidates}
    assert notes["primal-dual"] == "not made where the program, its better, is"


@pytest.mark.parametrize("epsilon", ["40", "60"])
def test_the_bound_is_never_above_the_best_answer_everywhere(epsilon: str) -> None:
    graph = streets(5, 3)
    worth = worths_of(graph).dense()
    assert primal_dual(graph, rb.DP(epsilon), worth, 1 << 20).bound <= len(graph)
    [candidate] = best_on_graph(graph, rb.DP(epsilon), kinds=["primal-dual"]).candidates
    told = float(candidate.note.split(" saves more than ")[1].split("%")[0])
    assert told <= 100

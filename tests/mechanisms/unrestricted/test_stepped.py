"""Linear programs on graphs with lengths, beside programs written here from the definition."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import rainbowdp as rb
from rainbowdp.mechanisms.best_on_graphs import best_on_graph
from reference import assert_one_sentence
from strategies import Measured, measured_graphs

RAINBOWS = [("x", "y", "z"), ("y", "z", "x"), ("z", "x", "y")]
ROADS = {("a", "b"): 2, ("b", "c"): 3, ("c", "d"): 1, ("d", "a"): 2}
TRUTH = {"a": "x", "b": "x", "c": "y", "d": "z"}


def town(roads: dict[tuple[str, str], int] = ROADS) -> rb.RainbowGraph:
    rainbows = {d: next(r for r in RAINBOWS if r[0] == v) for d, v in TRUTH.items()}
    return rb.RainbowGraph(list(roads), rainbows, lengths=list(roads.values()))


def most(edges: list[tuple[int, int, float]], truth: list[int | None], answers: int) -> float:
    """The largest Σ p_d(truth) where neighbors a, b keep p_a(v) ≤ ratio·p_b(v), both ways."""
    size = len(truth) * answers
    rows = []
    for a, b, ratio in edges:
        for one, other in ((a, b), (b, a)):
            for v in range(answers):
                row = np.zeros(size)
                row[one * answers + v] += 1
                row[other * answers + v] -= ratio
                rows.append(row)
    sums = np.kron(np.eye(len(truth)), np.ones(answers))
    cost = np.zeros(size)
    for d, right in enumerate(truth):
        if right is not None:
            cost[d * answers + right] = -1
    demands = np.array(rows).reshape(-1, size)
    found = linprog(cost, demands, np.zeros(len(rows)), sums, np.ones(len(truth)))
    return -float(found.fun)  # type: ignore[arg-type]  # there is one


def by_hand(graph: rb.RainbowGraph, epsilon: float) -> tuple[float, float]:
    """What can be had on single steps, and where only the ends of edges are promised anything."""
    numbers = list(range(len(graph)))
    truth: list[int | None] = [graph.answers.index(graph.rainbow(d)[0]) for d in graph.datasets]
    steps: list[tuple[int, int, float]] = []
    whole = []
    for (a, b), n in zip(
        graph.edge_positions().tolist(), graph.edge_lengths().tolist(), strict=True
    ):
        whole.append((a, b, math.exp(n * epsilon)))
        if n == 0:
            steps.append((a, b, 1.0))
            continue
        inner = list(range(len(truth), len(truth) + n - 1))
        truth += [None] * len(inner)
        chain = [a, *inner, b]
        steps += [(x, y, math.exp(epsilon)) for x, y in itertools.pairwise(chain)]
    short = truth[: len(numbers)]
    return most(steps, truth, len(graph.answers)), most(whole, short, len(graph.answers))


@pytest.mark.parametrize("epsilon", ["0.1", "0.4", "1"])
def test_it_is_the_best_on_single_steps(epsilon: str) -> None:
    graph = town()
    found = rb.program(graph, rb.DP(epsilon), progress=lambda line: None)
    steps, whole = by_hand(graph, float(epsilon))
    assert found.optimal
    assert found.objective == pytest.approx(steps, abs=1e-6)
    assert found.objective <= whole + 1e-6
    assert found.check()
    exact = found.exact()
    assert exact.neighbors == graph.apart
    assert float(found.exact_objective) == pytest.approx(steps, abs=1e-5)
    for (a, b), n in ROADS.items():
        for v in graph.answers:
            allowed = Fraction(math.exp(n * float(epsilon))) * (1 + Fraction(1, 10**12))
            assert exact[a][v] <= allowed * exact[b][v]
            assert exact[b][v] <= allowed * exact[a][v]
    assert found.mechanism.exact().proof.exact
    assert found.mechanism.release("a") in graph.answers


@settings(max_examples=8, deadline=None)
@given(measured_graphs(), st.sampled_from(["0.2", "0.7"]))
def test_random_maps(world: Measured, epsilon: str) -> None:
    assume(int(world.steps.sum()) <= 60)
    try:
        graph = rb.RainbowGraph(
            world.pairs,
            RAINBOWS,
            ("x", "y", "z"),
            labels=world.region.tolist(),
            lengths=world.steps,
        )
    except rb.InvalidGraph:
        assume(False)  # an edge without a step between two regions
    found = rb.program(graph, rb.DP(epsilon), progress=lambda line: None)
    assert found.objective == pytest.approx(by_hand(graph, float(epsilon))[0], abs=1e-5)
    assert found.check()


def test_an_edge_of_two_steps_is_two_edges() -> None:
    long = rb.RainbowGraph([(0, 1)], [("x", "y"), ("y", "x")], lengths=[2])
    found = rb.program(long, rb.DP.from_ratio(2), progress=lambda line: None)
    # if the place between has 1/2 of each, its neighbors have at most 1 − 1/4; 4/5 without it
    assert found.objective == pytest.approx(1.5, abs=1e-6)
    gaussian = rb.program(long, rb.GaussianDP("0.5"), progress=lambda line: None)
    assert gaussian.check()
    assert gaussian.check(rb.GaussianDP("0.5"))


def test_fixed_rows_and_delta() -> None:
    graph, row = town(), (0.5, 0.3, 0.2)
    found = rb.program(graph, rb.DP("0.3", "0.01"), boundary={"a": row}, progress=lambda _: None)
    assert [found["a"][v] for v in graph.answers] == pytest.approx(row, abs=1e-6)
    assert found.check()
    with pytest.raises(rb.InvalidBoundary) as refused:
        rb.program(graph, rb.DP("0.3"), boundary=row)
    assert_one_sentence(refused.value, "{dataset: row}", "middle of an edge")
    one = town({**ROADS, ("a", "b"): 0})
    with pytest.raises(rb.InvalidBoundary) as refused:
        rb.program(one, rb.DP("0.3"), boundary={"a": row, "b": (0.4, 0.4, 0.2)})
    assert_one_sentence(refused.value, "'b' is less than one unit", "one place")


def test_best_has_it() -> None:
    named = best_on_graph(town(), rb.DP("0.1"), kinds=["program"])
    assert named.name == "program"
    assert named.exact().proof.exact
    with pytest.raises(rb.InvalidGraph, match=r"use rb\.program"):
        rb.optimum(town(), rb.DP(1), {"a": (0.5, 0.3, 0.2)})

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.mechanisms import best_homogeneous, best_on_graphs
from rainbowdp.mechanisms.best_on_graphs import KINDS, best_on_graph
from reference import assert_one_sentence
from strategies import graphs

RING = rb.RainbowGraph(
    [(i, (i + 1) % 12) for i in range(12)],
    [[tuple("abc"), tuple("bca"), tuple("cab")][i // 4] for i in range(12)],
)


def first_chance(mechanism: Any, graph: rb.RainbowGraph) -> float:
    return math.fsum(mechanism[d][graph.rainbow(d)[0]] for d in graph.datasets) / len(graph)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(graphs(answers=3), st.sampled_from(["0.1", "0.5", "1.5"]))
def test_nothing_is_better_and_the_program_bounds_it(graph: rb.RainbowGraph, epsilon: str) -> None:
    promise = rb.DP(epsilon)
    choice = rb.best(graph, promise)
    assert {each.kind for each in choice.candidates} == set(KINDS)
    assert choice.value == pytest.approx(first_chance(choice, graph), abs=1e-9)
    assert choice.check()
    others: list[Any] = [
        rb.by_kind(graph, promise, kind) for kind in ("margin-flip", "exponential")
    ]
    others += [rb.exponential(graph, promise), rb.permute_and_flip(graph, promise)]
    for other in others:
        assert first_chance(other, graph) <= choice.value + 1e-7
    bound = rb.program(graph, promise).bound / len(graph)
    assert choice.value <= bound + 1e-6
    without = best_on_graph(graph, promise, kinds=[kind for kind in KINDS if kind != "program"])
    assert without.value <= bound + 1e-6


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(graphs(answers=3, most=10), st.data())
def test_a_utility_and_weights_mean_the_same_everywhere(
    graph: rb.RainbowGraph, data: st.DataObject
) -> None:
    numbers = st.integers(-5, 5)
    matrix = {w: {v: data.draw(numbers) for v in graph.answers} for w in graph.answers}
    counts = {d: data.draw(st.integers(1, 4)) for d in graph.datasets}
    choice = rb.best(graph, rb.DP("0.8"), utility=matrix, weights=counts)
    by_hand = math.fsum(
        counts[d] * p * matrix[graph.rainbow(d)[0]][v]
        for d in graph.datasets
        for v, p in choice[d].items()
    )
    assert choice.value * sum(counts.values()) == pytest.approx(by_hand, abs=1e-6)
    mechanism = choice.mechanism
    assert mechanism.utility(matrix, weights=counts) == pytest.approx(by_hand, abs=1e-6)
    table = np.array(
        [[matrix[graph.rainbow(d)[0]][v] for v in graph.answers] for d in graph.datasets]
    )
    if len(graph) != len(graph.answers):
        array = np.array([counts[d] for d in graph.datasets])
        assert mechanism.utility(table, weights=array) == pytest.approx(by_hand, abs=1e-6)
    program = rb.program(graph, rb.DP("0.8"), utility=matrix, weights=counts)
    assert program.objective >= by_hand - 1e-5
    assert by_hand <= program.bound + 1e-5


def test_the_goal_decides() -> None:
    far = {w: {v: float(-abs(ord(w) - ord(v))) for v in "abc"} for w in "abc"}
    choice = rb.best(RING, rb.DP("0.3"), utility=far)
    assert choice.goal == "worth by first choice and answer"
    assert choice.value <= 0
    assert choice.claim in str(choice)
    heavy = np.ones(12)
    heavy[:4] = 1000
    weighed = rb.best(RING, rb.DP("0.3"), weights=heavy)
    assert weighed.goal.endswith("datasets by their weights")
    assert weighed.value >= rb.best(RING, rb.DP("0.3")).value


def test_a_large_graph_has_no_program_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best_on_graphs, "_DEMANDS", 10)
    monkeypatch.setattr(best_on_graphs, "_MORE_DEMANDS", 20)
    for module in (best_on_graphs, best_homogeneous):
        monkeypatch.setattr(module, "_CELLS", 10)
    monkeypatch.setattr(best_homogeneous, "_COLUMNS", 10)
    monkeypatch.setattr(best_on_graphs, "_FAR_FROM", 1.0)
    assert rb.best(RING, rb.DP("0.1")).name == "primal-dual"
    monkeypatch.setattr(best_on_graphs, "_PRICED_CELLS", 10)
    choice = rb.best(RING, rb.DP("0.1"))
    notes = {each.kind: each.note for each in choice.candidates if each.value is None}
    assert "72 rows" in notes["program"]
    assert "too many answers are near one dataset" in notes["fixed-point"]
    assert "36 datasets times answers; more than 10 are looked" in notes["primal-dual"]
    assert choice.name == "margin-flip"
    plain = next(each for each in choice.candidates if each.kind == "homogeneous")
    assert plain.note == "its boundary symmetric"
    assert rb.best(RING, rb.DP(3)).value > choice.value


@pytest.mark.parametrize("guarantee", [rb.GaussianDP(1), rb.DP(1, "0.01"), rb.DP(0, "0.1")])
def test_every_guarantee_has_something(guarantee: Any) -> None:
    choice = rb.best(RING, guarantee)
    assert choice.check()
    assert choice.exact().proof.exact
    assert choice.release(0) in RING.answers


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"utility": np.ones((2, 3))}, "(12, 3)"),
        ({"utility": {"a": {"a": 1}}}, "none for 'b'"),
        ({"utility": {"x": {}}}, "unknown 'x'"),
        ({"utility": {v: {"a": 0, "b": "much", "c": 0} for v in "abc"}}, "numbers"),
        ({"utility": np.full((12, 3), np.nan)}, "finite"),
        ({"weights": np.ones(3)}, "12 datasets"),
        ({"weights": -np.ones(12)}, "from 0"),
        ({"weights": {0: 1}}, "none at 1"),
    ],
)
def test_a_goal_that_makes_no_sense_is_one_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(rb.RainbowError) as refused:
        rb.best(RING, rb.DP(1), **given)
    assert_one_sentence(refused.value, said)


def test_a_square_array_is_read_in_no_way_that_could_be_another() -> None:
    graph = rb.RainbowGraph([(0, 1)], [("a", "b"), ("b", "a")])
    with pytest.raises(rb.RainbowError) as refused:
        rb.best(graph, rb.DP(1), utility=np.eye(2))
    assert_one_sentence(refused.value, "could be by dataset or by first choice")


def test_questions_have_no_utility_and_graphs_no_records() -> None:
    with pytest.raises(rb.InvalidQuestion, match="for graphs"):
        rb.best(rb.Winner(["a", "b"]), rb.DP(1), utility=np.eye(2))  # type: ignore[call-overload]
    with pytest.raises(rb.InvalidQuestion, match="for questions"):
        rb.best(RING, rb.DP(1), records=3)  # type: ignore[call-overload]
    with pytest.raises(rb.InvalidGuarantee):
        rb.best(RING, 1.0)  # type: ignore[call-overload]


def test_design_refuses_places_that_are_not_there() -> None:
    label = next(iter(RING.regions))
    assert rb.design(RING, rb.DP(1), weights={(label, 0): 1.0}).optimal
    for wrong in ((label, 9), ("x", 0), "x"):
        with pytest.raises(rb.RainbowError, match="that the graph has"):
            rb.design(RING, rb.DP(1), weights={wrong: 1.0})


def test_rows_cannot_be_written_over() -> None:
    for made in (rb.optimal(RING, rb.DP(1)), rb.fixed_point(RING, rb.DP(1))):
        with pytest.raises(ValueError, match="read-only"):
            made.table[0, 0] = 1.0


def test_where_nothing_can_be_told_apart_one_answer_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(best_homogeneous, "_COLUMNS", 1)  # too large a graph for a program
    labels = ["a"] * 30 + ["b"] + ["c"]
    rainbows = {"a": tuple("abc"), "b": tuple("bca"), "c": tuple("cab")}
    graph = rb.RainbowGraph([(i, i + 1) for i in range(31)], rainbows, labels=labels)
    far = {
        "a": {"a": 0, "b": -9, "c": -9},
        "b": {"a": -1, "b": 0, "c": -9},
        "c": {"a": -1, "b": -9, "c": 0},
    }
    kinds = [kind for kind in KINDS if kind != "program"]
    choice = best_on_graph(graph, rb.DP("0.001"), far, kinds=kinds)
    assert choice.name == "homogeneous"
    assert choice.candidates[0].note == "its boundary says a everywhere"
    assert choice.value == pytest.approx(-2 / 32)
    assert choice.exact().proof.exact
    assert choice.release(31) == "a"


def test_a_bound_by_length_is_one_of_mechanisms_that_keep_every_step() -> None:
    roads = rb.with_lengths([(0, 1)], [2], unit=1)
    graph = rb.RainbowGraph(roads, [("a", "b"), ("b", "a")])
    promise = rb.DP.from_ratio(2)
    rows = {0: {"a": 0.8, "b": 0.2}, 1: {"a": 0.2, "b": 0.8}}
    more = rb.Mechanism.from_table(graph, rows, promise)
    assert more.check(every_edge=True)  # at the ends, but no row fits between them
    [candidate] = best_on_graph(graph, promise, kinds=["program"]).candidates
    assert candidate.value == pytest.approx(0.75)
    assert candidate.note == "no mechanism that keeps the promise on every step has more than 0.75"
    assert "for any mechanism that keeps the promise on every step" in str(
        rb.program(graph, promise, progress=lambda line: None)
    )


def test_a_bound_in_six_digits_is_not_below_what_is_there() -> None:
    edges = np.array([(node, node + 1) for node in range(9)])
    orders = {0: tuple("abc"), 1: tuple("bca"), 2: tuple("cab")}
    graph = rb.RainbowGraph(edges, orders, labels=np.arange(10) % 3)
    found = best_on_graph(graph, rb.DP(15))
    note = next(each.note for each in found.candidates if each.kind == "program")
    assert float(note.rpartition(" ")[2]) >= found.value

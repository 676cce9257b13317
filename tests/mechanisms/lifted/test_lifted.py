"""Lifted proximity and its fixed point: the lemma, the figures, the check, the refusals."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.baselines import permute_and_flip
from rainbowdp.mechanisms.lifted import rows as kept_rows
from rainbowdp.mechanisms.lifted.grid import TOTAL, Bound, worst_edge
from rainbowdp.mechanisms.lifted.lifted import fixed_point, lifted
from rainbowdp.mechanisms.lifted.rows import Lifted
from rainbowdp.questions.histograms import histograms
from strategies import deep_graphs, graphs

Maker = Callable[..., Lifted]
module: Any = sys.modules[lifted.__module__]  # rb.lifted is the function


def plurality(answers: int, records: int) -> rb.RainbowGraph:
    """All histograms, joined by one record substituted; ties to the first listed."""
    counts = [tuple(row) for row in histograms(winner(answers), records).tolist()]
    edges = []
    for row in counts:
        for i, j in itertools.permutations(range(answers), 2):
            if row[i]:
                moved = list(row)
                moved[i], moved[j] = moved[i] - 1, moved[j] + 1
                edges.append((row, tuple(moved)))
    labels = {row: row.index(max(row)) for row in counts}
    orders = [(a, *(b for b in range(answers) if b != a)) for a in range(answers)]
    return rb.RainbowGraph(edges, orders, tuple(range(answers)), labels=labels)


def winner(answers: int) -> rb.Winner:
    return rb.Winner(list("abcdef"[:answers]))


def error(mechanism: rb.Mechanism) -> float:
    """The mean error in percent."""
    rows = [mechanism[d] for d in mechanism.graph.datasets]
    return 100 - 100 * math.fsum(next(iter(row.values())) for row in rows) / len(rows)


def flipped(graph: rb.RainbowGraph, promise: rb.DP) -> rb.Mechanism:
    """Permute-and-flip by counts, as a mechanism on the graph."""
    rows = permute_and_flip(winner(len(graph.answers)), promise).rows(np.array(graph.datasets))
    return rb.Mechanism(graph, rows, np.arange(len(graph)), promise)


CASES = [
    # answers, records, ε, (a) as it starts, (a) from permute-and-flip, (b)
    (3, 20, "0.3", None, "28.4", "27.7"),
    (3, 20, "1", "8.28", "9.7", "8.05"),
    (4, 12, "0.3", None, None, "48.6"),
    (4, 12, "1", "20.5", "22.1", "18.8"),
    (4, 12, "1.5", "11.1", "14.2", "10.7"),
    (6, 6, "2", "19.3", "26.6", "18.4"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("answers", "records", "epsilon", "usual", "from_flip", "fixed"), CASES)
def test_the_mean_errors_on_plurality_graphs(
    answers: int, records: int, epsilon: str, usual: str | None, from_flip: str | None, fixed: str
) -> None:
    graph, promise = plurality(answers, records), rb.DP(epsilon)
    for start, expected in ((None, usual), (flipped(graph, promise), from_flip)):
        if expected is None:
            with pytest.raises(rb.InvalidGuarantee, match="use fixed_point"):
                lifted(graph, promise, start)
        else:
            digits = len(expected.partition(".")[2])
            assert f"{error(lifted(graph, promise, start)):.{digits}f}" == expected
    best = fixed_point(graph, promise)
    assert f"{error(best):.{len(fixed.partition('.')[2])}f}" == fixed
    assert best.relieved == 0
    assert best.check(every_edge=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "records", "epsilon", "above"),
    [(3, 12, "0.3", 0.012), (3, 12, "1", 1e-6), (4, 8, "1.5", 1e-6), (4, 8, "0.1", 0.012)],
)
def test_the_fixed_point_is_near_the_best_of_all_mechanisms(
    answers: int, records: int, epsilon: str, above: float
) -> None:
    graph, promise = plurality(answers, records), rb.DP(epsilon)
    least = 100 - 100 * rb.program(graph, promise).bound / len(graph)
    found = error(fixed_point(graph, promise))
    assert least - 1e-5 <= found <= least * (1 + above) + 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "records", "epsilon", "expected", "least"),
    [(4, 12, "0.1", 65.4, 65.2), (5, 8, "0.1", 74.4, 73.5), (6, 6, "0.1", 79.7, 76.9)],
)
def test_where_the_fixed_point_is_not_private_it_is_relieved(
    answers: int, records: int, epsilon: str, expected: float, least: float
) -> None:
    graph, promise = plurality(answers, records), rb.DP(epsilon)
    mechanism = fixed_point(graph, promise)
    assert mechanism.relieved > 0
    assert mechanism.check(every_edge=True)
    assert round(error(mechanism), 1) == expected > least  # of all mechanisms, by program
    assert error(mechanism) < error(rb.optimal(graph, promise)) - 1


def by_definition(
    graph: rb.RainbowGraph, ratio: float, start: dict[int, float]
) -> tuple[np.ndarray, list[int], set[int]]:
    """R by one shortest-path search for each source, the true answers, and the border."""
    plain = nx.Graph(graph.edge_positions().tolist())
    plain.add_nodes_from(range(len(graph)))
    truth = [graph.answers.index(graph.rainbow(d)[0]) for d in graph.datasets]
    border = {a for a in plain if any(truth[a] != truth[b] for b in plain[a])}
    found = np.zeros((len(graph), len(graph.answers)))
    for b in border:
        outside = plain.subgraph([d for d in plain if d == b or truth[d] != truth[b]])
        for d, steps in nx.single_source_shortest_path_length(outside, b).items():
            if d != b:
                value = start[b] * ratio**-steps
                found[d, truth[b]] = max(found[d, truth[b]], value)
    return found, truth, border


@given(deep_graphs(most=9, kinds=4), st.floats(0.05, 3), st.randoms(use_true_random=False))
def test_the_lemma(graph: rb.RainbowGraph, epsilon: float, random: Any) -> None:
    """Rows are those of the definition, and private where the lemma says so."""
    promise = rb.DP(epsilon)
    start = {place: random.uniform(0.2, 1) for place in range(len(graph))}
    reached, truth, border = by_definition(graph, promise.ratio, start)
    pieces = nx.Graph(graph.edge_positions().tolist())
    pieces.add_nodes_from(range(len(graph)))
    for piece in nx.connected_components(pieces):
        covers = [1 / (start[b] + reached[b].sum()) for b in border & piece]
        reached[list(piece)] *= max(covers, default=1)
    crowd = reached.sum(axis=1).max()
    most = promise.ratio / (1 + promise.ratio)
    names = {graph.datasets[place]: value for place, value in start.items()}
    try:
        mechanism = lifted(graph, promise, names)
    except rb.InvalidGuarantee:
        assert crowd > most - 1e-9
        return
    rows = mechanism.table[mechanism.index]
    reached[np.arange(len(graph)), truth] = 1 - reached.sum(axis=1)
    assert np.abs(rows - reached).max() < 1e-9


@given(
    st.one_of(graphs(most=9), deep_graphs(most=9, kinds=4)),
    st.one_of(st.floats(0.02, 4), st.just(0.0)),
    st.sampled_from(["0", "0", "1e-12", "1e-3", "0.1", "1"]),
    st.sampled_from([lifted, fixed_point]),
)
def test_what_is_returned_is_private_and_exact(
    graph: rb.RainbowGraph, epsilon: float, delta: str, maker: Maker
) -> None:
    assume(epsilon > 0 or delta != "0")
    try:
        mechanism = maker(graph, rb.DP(epsilon, delta))
    except rb.InvalidGuarantee:
        return
    assert mechanism.check(every_edge=True)
    exact = mechanism.exact()
    assert exact.mixing == 0  # the floats are the integers
    for dataset in graph.datasets:
        row = mechanism.at(dataset)
        assert row.probabilities == exact.at(dataset).probabilities
        assert sum(row.weights) == TOTAL
        assert mechanism.release(dataset) in graph.answers


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_the_condition_of_the_lemma_with_delta(epsilon: float) -> None:
    """With δ > 0 nothing is refused where the losers have at most E/(1+E)."""
    rng = np.random.default_rng(1)
    kept = 0
    for _ in range(40):
        size = 14
        edges = [(a, b) for a, b in itertools.combinations(range(size), 2) if rng.random() < 0.08]
        marks = rng.integers(0, 3, size)
        orders = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
        graph = rb.RainbowGraph(edges, [orders[mark] for mark in marks], (0, 1, 2))
        promise = rb.DP(epsilon, "0.1")
        world = module._world(graph, promise, "nothing")
        values = world.start(None)
        rows = world.weights(np.ceil(values * world.covering(values)))
        losing = (TOTAL - rows[np.arange(size), world.truth]).max() / TOTAL
        if losing <= promise.ratio / (1 + promise.ratio):
            kept += 1
            assert world.worst(rows).excess <= 0
    assert kept > 5


@pytest.mark.parametrize("delta", [0, "0.001", "0.1"])
@pytest.mark.parametrize("maker", [lifted, fixed_point])
def test_two_answers_have_the_optimum(maker: Maker, delta: str) -> None:
    graph, promise = plurality(2, 15), rb.DP("0.7", delta)
    found, best = maker(graph, promise), rb.optimal(graph, promise)
    for dataset in graph.datasets:
        for answer, p in best[dataset].items():
            assert found[dataset][answer] == pytest.approx(p, abs=1e-9)


def test_regions_that_share_a_first_choice_have_no_border_between_them() -> None:
    edges = [(n, n + 1) for n in range(8)]
    same = {"x": ("a", "b", "c"), "y": ("a", "c", "b"), "z": ("b", "a", "c")}
    labels = ["x"] * 3 + ["y"] * 3 + ["z"] * 3
    cut = fixed_point(rb.RainbowGraph(edges, same, labels=labels), rb.DP(1))
    whole = fixed_point(
        rb.RainbowGraph(edges, [same["x" if n < 6 else "z"] for n in range(9)]), rb.DP(1)
    )
    assert [cut[n]["a"] for n in range(9)] == [whole[n]["a"] for n in range(9)]
    assert cut[2]["a"] > 0.98  # next to y, four steps from z
    assert cut[0]["c"] == 0  # nobody's first choice


def test_a_component_without_border_is_answered_with_certainty() -> None:
    graph = rb.RainbowGraph([(0, 1), (2, 3)], [("a", "b"), ("b", "a"), ("a", "b"), ("a", "b")])
    for maker in (lifted, fixed_point):
        assert maker(graph, rb.DP(1))[3] == {"a": 1.0, "b": 0.0}
    alone = rb.RainbowGraph([], [("a", "b")])
    assert fixed_point(alone, rb.DP(1))[0] == {"a": 1.0, "b": 0.0}


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.01", "1", "5"])
def test_far_away_the_weight_stays_at_a_floor(epsilon: str) -> None:
    length = 3000
    edges = np.stack([np.arange(length - 1), np.arange(1, length)], axis=1)
    graph = rb.RainbowGraph(edges, [("a", "b")] * (length - 1) + [("b", "a")])
    mechanism = fixed_point(graph, rb.DP(epsilon))
    weights = mechanism.weights[mechanism.index, 1]
    assert (np.diff(weights[:-1]) >= 0).all()
    assert 1 <= weights[0] <= 2 + 1 / float(epsilon) or epsilon == "0.01"
    assert mechanism.check(every_edge=True)
    floor = weights[:-1] == weights[0]
    assert epsilon == "0.01" or floor.sum() > 1000


def test_with_delta_far_answers_are_not_given_at_all() -> None:
    edges = np.stack([np.arange(99), np.arange(1, 100)], axis=1)
    graph = rb.RainbowGraph(edges, [("a", "b")] * 99 + [("b", "a")])
    mechanism = fixed_point(graph, rb.DP(1, "1e-6"))
    assert mechanism[0] == {"a": 1.0, "b": 0.0}
    assert mechanism.check(every_edge=True)


@pytest.mark.parametrize("maker", [lifted, fixed_point])
def test_a_wrong_mechanism_is_refused(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = plurality(3, 8)

    def twice(self: Any) -> tuple[float, float]:
        return 0.0, self.bound.ratio**-2  # too fast: leaks

    monkeypatch.setattr(module._World, "_step", property(twice))
    with pytest.raises(rb.InvalidGuarantee, match=r"too often at \(.*\) beside \(.*\), by 0\.\d+"):
        maker(graph, rb.DP(1))


def test_a_millionth_too_much_at_one_dataset_is_found() -> None:
    graph, promise = plurality(3, 8), rb.DP(1)
    mechanism = fixed_point(graph, promise)
    rows = mechanism.weights[mechanism.index]
    edges, bound = graph.edge_positions(), Bound.of(promise)
    assert worst_edge(rows, edges, bound).excess <= 0
    place = graph.position((3, 3, 2))  # on the border: its true answer is as likely as may be
    rows[place] += np.array([2, -1, -1]) * (TOTAL // 10**6)
    worst = worst_edge(rows, edges, bound)
    assert worst.excess > 0
    assert place in (worst.more, worst.less)
    with pytest.raises(rb.InvalidMechanism, match="on every edge"):
        Lifted(graph, rows, promise)
    with pytest.raises(ValueError, match="read-only"):
        mechanism.weights[0, 0] += 1


def test_starts() -> None:
    graph, promise = plurality(3, 6), rb.DP(1)
    one = lifted(graph, promise, 0.7)
    assert error(one) == pytest.approx(error(lifted(graph, promise, 0.35)))
    border = dict.fromkeys(graph.datasets, 0.7)
    assert (lifted(graph, promise, border).table == one.table).all()
    again = lifted(graph, promise, fixed_point(graph, promise))
    assert error(again) == pytest.approx(error(fixed_point(graph, promise)), abs=1e-6)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (0.0, "above 0 at every border dataset, got 0.0 at"),
        (math.nan, "above 0 at every border dataset, got nan at"),
        (1.5, "above 0 at every border dataset, got 1.5 at"),
        ({}, "on the whole border, got none at"),
    ],
)
def test_a_start_that_is_none_is_refused(start: Any, message: str) -> None:
    with pytest.raises(rb.InvalidBoundary, match=message):
        lifted(plurality(3, 4), rb.DP(1), start)


def test_a_mechanism_of_another_graph_is_no_start() -> None:
    other = fixed_point(plurality(3, 4), rb.DP(1))
    with pytest.raises(rb.InvalidBoundary, match="on this graph"):
        lifted(plurality(3, 4), rb.DP(1), other)


@pytest.mark.parametrize("maker", [lifted, fixed_point])
def test_refusals(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = plurality(3, 4)
    with pytest.raises(rb.InvalidGuarantee, match="lifted proximity needs an"):
        maker(graph, rb.GaussianDP(1))
    with pytest.raises(rb.InvalidGuarantee, match="epsilon from 1e-10 or a delta"):
        maker(graph, rb.DP(0))
    with pytest.raises(rb.InvalidGraph, match="needs a rainbow graph, got Winner"):
        maker(winner(3), rb.DP(1))
    monkeypatch.setattr(module, "MOST_CELLS", 44)
    with pytest.raises(rb.InvalidGraph, match=r"at most 44 weights.*15 datasets and 3 answers"):
        maker(graph, rb.DP(1))


def test_progress_and_the_same_result_twice() -> None:
    graph, lines = plurality(3, 8), list[str]()
    first = fixed_point(graph, rb.DP(1), progress=lines.append)
    second = fixed_point(graph, rb.DP(1))
    assert len(lines) == first.rounds > 5
    assert lines[0].startswith("round 1, change ")
    assert first.change <= 1e-9
    assert (first.weights == second.weights).all()
    assert (first.index == second.index).all()
    short = fixed_point(graph, rb.DP(1), rounds=3)
    assert short.rounds == 3
    assert short.change > 1e-9
    assert short.check(every_edge=True)


def test_rows_are_told_apart_even_where_the_linear_form_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = np.array([[3, 1], [1, 3], [3, 1], [2, 2]])
    for form in ([5, 7], [1, 1]):

        class Fixed:
            def integers(self, *_: int, form: list[int] = form) -> np.ndarray:
                return np.array(form)

        monkeypatch.setattr(np.random, "default_rng", lambda _: Fixed())
        found, index = kept_rows._distinct(rows)
        assert (found[index] == rows).all()
        assert len(found) == 3


@pytest.mark.slow
def test_a_map_of_forty_thousand_places() -> None:
    side, rng = 200, np.random.default_rng(3)
    centers = rng.uniform(0, side, (12, 2))
    places = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1)
    away = ((places.reshape(-1, 1, 2) - centers) ** 2).sum(axis=2)
    number = np.arange(side * side).reshape(side, side)
    across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    down = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    orders = [(a, *(b for b in range(12) if b != a)) for a in range(12)]
    graph = rb.RainbowGraph(
        np.concatenate([across, down]), orders, tuple(range(12)), labels=away.argmin(axis=1)
    )
    mechanism = fixed_point(graph, rb.DP(1))
    assert mechanism.proof.pairs == 2 * side * (side - 1)
    assert mechanism.relieved == 0
    assert mechanism.check(every_edge=True)


@pytest.mark.parametrize("index", [[0, -1], [0, 2], [0], [0.0, 1.0]])
def test_an_index_that_is_none_is_refused(index: list[float]) -> None:
    graph = rb.RainbowGraph([(0, 1)], [("a", "b"), ("b", "a")])
    rows = np.array([[TOTAL // 2, TOTAL // 2], [TOTAL // 2, TOTAL // 2]])
    with pytest.raises(rb.InvalidMechanism, match="must have one of the 2 rows"):
        rb.Lifted(graph, rows, rb.DP(1), index=np.array(index))
    with pytest.raises(rb.InvalidMechanism, match="must have one of the 1 rows"):
        rb.Lifted(graph, rows[:1], rb.DP(1))

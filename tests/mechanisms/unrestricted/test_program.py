"""The unrestricted optimum: against an independent program, by its certificate, and exactly."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import rainbowdp as rb
import reference
import strategies
from rainbowdp import paper
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.mechanisms.unrestricted.envelope import envelope, fixed_rows
from rainbowdp.mechanisms.unrestricted.existence import optimum
from rainbowdp.mechanisms.unrestricted.polytope import Polytope
from rainbowdp.mechanisms.unrestricted.program import exact_rows, program

Point = tuple[Fraction, Fraction]


def best_utility(
    graph: rb.RainbowGraph,
    lines: Sequence[Point],
    worth: Mapping[tuple[object, object], float],
    fixed: Mapping[object, Mapping[object, float]] | None = None,
    totals: Sequence[tuple[Mapping[tuple[object, object], float], float]] = (),
) -> float | None:
    """The largest Σ worth·p over all private mechanisms, edge by edge and set by set.

    No slacks and no choice of steep lines: P(S) ≤ slope·Q(S) + rise for every set S of answers,
    every line and both directions. None where there is no mechanism.
    """
    names = [(d, v) for d in graph.datasets for v in graph.answers]
    column = {name: number for number, name in enumerate(names)}
    above, most = [], []
    for d in graph.datasets:
        for e in graph.neighbors(d):
            for chosen in reference.every_set(len(graph.answers)):
                for slope, rise in lines:
                    row = np.zeros(len(names))
                    for v in chosen:
                        row[column[d, graph.answers[v]]] += 1.0
                        row[column[e, graph.answers[v]]] -= float(slope)
                    above.append(row)
                    most.append(float(rise))
    for other, least in totals:
        above.append(np.array([-other[name] for name in names]))
        most.append(-least)
    whole = np.array([[1.0 if name[0] == d else 0.0 for name in names] for d in graph.datasets])
    limits = [(0.0, 1.0)] * len(names)
    for dataset, given_row in (fixed or {}).items():
        for answer, p in given_row.items():
            limits[column[dataset, answer]] = (float(p), float(p))
    found = linprog(
        -np.array([worth[name] for name in names]),
        A_ub=np.array(above) if above else None,
        b_ub=np.array(most) if most else None,
        A_eq=whole,
        b_eq=np.ones(len(whole)),
        bounds=limits,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return -float(found.fun) if found.success and found.fun is not None else None


def worths(graph: rb.RainbowGraph, places: Sequence[float]) -> dict[tuple[object, object], float]:
    return {
        (d, answer): worth
        for d in graph.datasets
        for answer, worth in zip(graph.rainbow(d), places, strict=True)
    }


def falling(size: int) -> st.SearchStrategy[tuple[float, ...]]:
    steps = st.lists(st.integers(0, 5), min_size=size, max_size=size)
    return steps.map(lambda s: tuple(float(x) for x in itertools.accumulate(s, initial=-3))[:0:-1])


@settings(max_examples=40, deadline=None)
@given(st.data(), strategies.exact_promises())
def test_equals_the_independent_program(
    data: st.DataObject, promise: tuple[TradeOffCurve, list[Point]]
) -> None:
    guarantee, lines = promise
    graph = data.draw(strategies.graphs(5))
    places = data.draw(falling(len(graph.answers)))
    best = program(graph, guarantee, utility=rb.Utility(places=places))
    wanted = best_utility(graph, lines, worths(graph, places))
    assert wanted is not None
    assert best.optimal
    assert best.gap <= 1e-7
    assert best.objective == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert best.bound >= wanted - 1e-7
    assert best.mechanism.check(every_edge=True)
    assert best.mechanism.utility(rb.Utility(places=places)) == pytest.approx(best.objective)


@settings(max_examples=25, deadline=None)
@given(st.data(), strategies.exact_promises())
def test_exact_rows_are_private_to_the_last_unit(
    data: st.DataObject, promise: tuple[TradeOffCurve, list[Point]]
) -> None:
    guarantee, lines = promise
    graph = data.draw(strategies.graphs(5))
    best = program(graph, guarantee)
    exact = best.exact()
    for a, b in graph.edge_positions():
        one, other = (exact.at(graph.datasets[int(place)]).weights for place in (a, b))
        assert reference.integer_excess(one, other, lines) == 0
    total = sum((exact[d][graph.rainbow(d)[0]] for d in graph.datasets), Fraction(0))
    assert best.exact_objective == total
    assert best.repair_cost == pytest.approx(best.bound - float(total), abs=1e-9)
    assert -1e-12 <= best.repair_cost <= 1e-6 * len(graph)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.data(), strategies.exact_promises())
def test_homogeneous_boundaries_give_the_paper_s_optimum(
    data: st.DataObject, promise: tuple[TradeOffCurve, list[Point]]
) -> None:
    guarantee, lines = promise
    graph = data.draw(strategies.deep_graphs(6))
    condition = data.draw(strategies.valid_boundaries(graph, lines))
    if not graph.boundary:
        condition = {}
    grown = rb.optimal(graph, guarantee, condition)
    found = program(graph, guarantee, boundary=rb.BoundaryCondition(graph, condition))
    assert found.optimal
    first = rb.Utility(places=(1.0, *[0.0] * (len(graph.answers) - 1)))
    assert found.objective == pytest.approx(grown.utility(first), abs=1e-7)


@settings(max_examples=25, deadline=None)
@given(st.data(), strategies.exact_promises())
def test_fixed_rows_are_kept_or_refused(
    data: st.DataObject, promise: tuple[TradeOffCurve, list[Point]]
) -> None:
    guarantee, lines = promise
    graph = data.draw(strategies.graphs(5, answers=3))
    chosen = data.draw(st.sets(st.sampled_from(list(graph.datasets)), max_size=2))
    rows = {
        d: dict(zip(graph.answers, data.draw(strategies.exact_rows(3)), strict=True))
        for d in chosen
    }
    floats = {d: {v: float(p) for v, p in row.items()} for d, row in rows.items()}
    wanted = best_utility(graph, lines, worths(graph, (1.0, 0.0, 0.0)), floats)
    if wanted is None:
        with pytest.raises(rb.InvalidBoundary, match="fixed rows must leave room"):
            program(graph, guarantee, boundary=rows)
        return
    best = program(graph, guarantee, boundary=rows)
    assert best.optimal
    assert best.objective == pytest.approx(wanted, abs=1e-6)
    for d, row in floats.items():
        assert best.mechanism[d] == pytest.approx(row, abs=2 * best.mixing + 1e-15)


@settings(max_examples=20, deadline=None)
@given(strategies.graphs(4, answers=3), strategies.exact_promises())
def test_lexicographic_goes_prefix_by_prefix(
    graph: rb.RainbowGraph, promise: tuple[TradeOffCurve, list[Point]]
) -> None:
    guarantee, lines = promise
    best = program(graph, guarantee, lexicographic=True)
    one, two = (worths(graph, places) for places in ((1.0, 0.0, 0.0), (1.0, 1.0, 0.0)))
    first = best_utility(graph, lines, one)
    assert first is not None
    second = best_utility(graph, lines, two, totals=[(one, first - 1e-9)])
    assert second is not None
    assert best.optimal
    assert [stage.value for stage in best.stages] == pytest.approx([first, second], abs=2e-6)
    assert best.mechanism.check(every_edge=True)


def test_duality_certificate() -> None:
    graph, guarantee = paper.figure_one(), rb.DP(1, 0.01)
    polytope = Polytope.of(graph, guarantee, fixed_rows(graph, None))
    best = program(graph, guarantee)
    rng = np.random.default_rng(0)
    # whatever the prices, the bound holds for the best mechanism; a wrong sign could not
    for size in (0.0, 0.01, 0.3, 1.0):
        prices = size * rng.random((1, len(polytope.edges), 3))
        assert polytope.bound(best.worth, prices) >= best.objective - 1e-9
    assert best.bound - best.objective <= 1e-7 * best.bound


def test_the_bound_by_hand() -> None:
    """One free dataset beside (0.2, 0.8): the price 1 on p(first) ≤ 2·0.2 + 0.1 proves 0.5."""
    graph = rb.RainbowGraph([(0, 1)], [("a", "b"), ("a", "b")])
    fixed = fixed_rows(graph, {1: (Fraction(1, 5), Fraction(4, 5))})
    for delta in (0, Fraction(1, 10)):
        polytope = Polytope.of(graph, rb.DP.from_ratio(2, delta=delta), fixed)
        prices = np.zeros((1, 2, 2))
        prices[0, polytope.edges.tolist().index([0, 1]), 0] = 1.0
        worth = np.array([[1.0, 0.0], [0.0, 0.0]])
        assert polytope.bound(worth, prices) == pytest.approx(0.4 + float(delta))
        assert polytope.bound(worth, 0 * prices) == 1.0


def test_large_programs_stay_inside_and_are_still_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["rainbowdp.mechanisms.unrestricted.program"], "SMALL", 0)
    for guarantee in (rb.DP(1), rb.DP("0.5", "0.01"), rb.DP(5)):
        best = program(paper.figure_one(), guarantee)
        assert best.optimal
        assert best.mechanism.check(every_edge=True)
        assert 0 <= best.repair_cost < 1e-5


def test_two_answers_without_boundary_are_the_symmetric_optimum() -> None:
    line = rb.RainbowGraph(
        [(i, i + 1) for i in range(5)], [("y", "n")] * 3 + [("n", "y")] * 3, ("y", "n")
    )
    for guarantee in (rb.DP(1), rb.DP(1, 0.1), rb.GaussianDP(1)):
        plain = rb.optimal(line, guarantee).utility(rb.Utility(places=(1, 0)))
        close = 1e-7 if not isinstance(guarantee, rb.GaussianDP) else 1e-3  # a safe polygon
        assert program(line, guarantee).objective == pytest.approx(plain, abs=close)


def test_worth_by_dataset() -> None:
    graph = paper.figure_one()
    first = {d: graph.rainbow(d)[0] for d in graph.datasets}
    by_worth = rb.Utility(lambda d, answer: float(answer == first[d]))
    guarantee = rb.DP("0.5")
    assert program(graph, guarantee, utility=by_worth).objective == pytest.approx(
        program(graph, guarantee).objective
    )


def test_no_privacy_loss_allowed_at_all() -> None:
    graph = rb.RainbowGraph([(0, 1), (1, 2), (3, 4)], [("a", "b")] * 2 + [("b", "a")] * 3)
    best = program(graph, rb.DP(0))
    assert best.objective == pytest.approx(4.0)
    assert best.mechanism[0] == best.mechanism[2] == {"a": 1.0, "b": 0.0}
    assert best.exact().mixing == 0
    with pytest.raises(rb.InvalidBoundary, match=r"2 steps from"):
        program(graph, rb.DP(0), boundary={0: (1, 0), 2: (0.5, 0.5)})


@pytest.mark.parametrize("guarantee", [rb.DP(40), rb.DP(600), rb.DP(0, 1), rb.DP("1e-9")])
def test_extreme_guarantees_stay_honest(guarantee: TradeOffCurve) -> None:
    best = program(paper.figure_one(), guarantee)
    assert best.mechanism.check(every_edge=True)
    assert best.objective <= best.bound + 1e-9
    assert best.optimal
    assert best.exact().proof.pairs >= 0


def test_fixed_rows_that_contradict_are_named() -> None:
    path = rb.RainbowGraph([("a", "b"), ("b", "c")], dict.fromkeys("abc", (1, 2, 3)))
    with pytest.raises(rb.InvalidBoundary) as caught:
        program(
            path, rb.DP.from_ratio(2, 1), boundary={"a": (0.9, 0.05, 0.05), "c": (0.1, 0.8, 0.1)}
        )
    reference.assert_one_sentence(caught.value, "'a'", "'c'", "2 steps", "log(2)-DP")
    with pytest.raises(rb.InvalidBoundary, match="1 step from"):
        program(path, rb.DP(1), boundary={"a": (1, 0, 0), "b": (0, 1, 0)})
    with pytest.raises(rb.UnknownDataset):
        program(path, rb.DP(1), boundary={"z": (1, 0, 0)})
    with pytest.raises(rb.InvalidDistribution):
        program(path, rb.DP(1), boundary={"a": (1, 0.5, 0)})


def test_contradictions_only_a_pair_of_answers_shows() -> None:
    path = rb.RainbowGraph([("a", "b"), ("b", "c")], dict.fromkeys("abc", (1, 2, 3, 4)))
    rows = {"a": (0.45, 0.45, 0.05, 0.05), "c": (0.05, 0.05, 0.45, 0.45)}
    with pytest.raises(rb.InvalidBoundary, match=r"\{1, 2\} is too likely at 'a', 2 steps"):
        program(path, rb.DP(0, "0.35"), boundary=rows)
    assert program(path, rb.DP(0, "0.4"), boundary=rows).optimal
    beside = {"a": rows["a"], "b": (0.25, 0.25, 0.25, 0.25)}
    with pytest.raises(rb.InvalidBoundary, match=r"\{1, 2\} is too likely at 'a', 1 step"):
        program(path, rb.DP(0, "0.35"), boundary=beside)
    with pytest.raises(rb.InvalidBoundary, match=r"\{1, 2\} is too likely at 'a', 1 step"):
        optimum(path, rb.DP(0, "0.35"), beside)


def test_no_pair_alone_is_guilty() -> None:
    star = rb.RainbowGraph([(0, 1), (0, 2), (0, 3)], [(1, 2, 3)] * 4)
    rows = {k: [0.51 if v == k - 1 else 0.245 for v in range(3)] for k in (1, 2, 3)}
    promise = rb.DP.from_ratio(3, 2)  # each answer needs 0.34 of the one in the middle
    for left_out in rows:
        pair = {k: row for k, row in rows.items() if k != left_out}
        assert program(star, promise, boundary=pair).optimal
    with pytest.raises(rb.InvalidBoundary, match="though every two of them can be reconciled"):
        program(star, promise, boundary=rows)


def test_bad_utilities() -> None:
    graph = paper.example_one()
    for worst in (float("inf"), float("nan")):
        with pytest.raises(rb.RainbowError, match="worths must be finite"):
            program(graph, rb.DP(1), utility=rb.Utility(places=(worst, 0, 0)))
    with pytest.raises(rb.RainbowError, match="sum to a finite total"):
        program(graph, rb.DP(1), utility=rb.Utility(places=(1.7e308, 0, -1.7e308)))
    with pytest.raises(rb.RainbowError, match="within a factor of 1e\\+09"):
        program(graph, rb.DP(1), utility=rb.Utility(places=(1e300, 1, 0)))
    with pytest.raises(rb.RainbowError, match="leave one out"):
        program(graph, rb.DP(1), utility=rb.Utility(places=(1, 0, 0)), lexicographic=True)
    large, small = (
        program(graph, rb.DP(1), utility=rb.Utility(places=(x, 0, 0))) for x in (1e300, 1.0)
    )
    assert large.optimal
    assert large.objective == pytest.approx(1e300 * small.objective)
    flat = program(graph, rb.DP(1), utility=rb.Utility(places=(2, 2, 2)))
    assert flat.gap == 0.0
    assert flat.objective == pytest.approx(10.0)


def test_a_solver_that_stops_early_says_how_far_it_may_be() -> None:
    rng = np.random.default_rng(0)
    orders = [tuple(row) for row in rng.permuted(np.tile(np.arange(4), (400, 1)), axis=1)]
    graph = rb.RainbowGraph(rng.integers(0, 400, (3000, 2)), orders, range(4))
    best = program(graph, rb.DP(1), time_limit=0.02)
    assert not best.optimal
    assert "not proved optimal" in str(best)
    assert best.objective <= best.bound <= 400
    assert best.mechanism.check(every_edge=True)
    with pytest.raises(rb.RainbowError, match="stopped before it had a mechanism"):
        program(graph, rb.DP(1), boundary={0: (0.25,) * 4}, time_limit=0.02)


def test_progress_is_called() -> None:
    told: list[str] = []
    program(paper.figure_one(), rb.DP(1, 0.01), progress=told.append)
    assert any(line.startswith("iteration") for line in told)


def test_repair_refuses_what_is_not_private() -> None:
    graph = rb.RainbowGraph([(0, 1)], [("a", "b"), ("b", "a")])
    loud = rb.Mechanism.from_table(graph, {0: (1, 0), 1: (0, 1)}, rb.DP(1))
    with pytest.raises(rb.InvalidMechanism, match="needs more"):
        exact_rows(loud)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.data(), strategies.exact_promises())
def test_envelope_is_the_least_over_all_fixed_rows(
    data: st.DataObject, promise: tuple[TradeOffCurve, list[Point]]
) -> None:
    guarantee, _ = promise
    graph = data.draw(strategies.graphs(8, answers=3))
    chosen = data.draw(st.sets(st.sampled_from(list(graph.datasets)), min_size=1))
    rows = {d: data.draw(strategies.exact_rows(3)) for d in chosen}
    columns = data.draw(st.sampled_from([(0,), (2,), (0, 2)]))
    found = envelope(graph, guarantee, fixed_rows(graph, rows), columns)
    for d in graph.datasets:
        steps = {d: 0}
        todo = [d]
        for here in todo:
            for there in graph.neighbors(here):
                if there not in steps:
                    steps[there] = steps[here] + 1
                    todo.append(there)
        limits = [
            guarantee.grow(float(sum(rows[b][v] for v in columns)), steps[b])
            for b in chosen
            if b in steps
        ]
        assert found.most[graph.position(d)] == pytest.approx(min([1.0, *limits]), abs=1e-12)

"""Does an optimum exist: the paper's example, two answers, and random cases by linear programs."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
import strategies
from rainbowdp import paper
from rainbowdp.graphs.rainbows import Order
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.mechanisms.unrestricted.certificates import Certificate
from rainbowdp.mechanisms.unrestricted.existence import optimum
from rainbowdp.mechanisms.unrestricted.program import program

Point = tuple[Fraction, Fraction]
ENDS = {"d1": (0.2, 0.1, 0.7), "d4": (0.4, 0.1, 0.5)}
HALF = rb.DP.from_ratio(2, 1)


def example(open_fifth: bool = False) -> Certificate:
    rows = ENDS if open_fifth else {**ENDS, "d5": (0.2, 0.1, 0.7)}
    found = optimum(paper.example_one(), HALF, rows)
    assert not found
    assert found.certificate is not None
    return found.certificate


@pytest.mark.parametrize("open_fifth", [False, True])
def test_example_one_has_no_optimum(open_fifth: bool) -> None:
    certificate = example(open_fifth)
    assert certificate.check()
    assert len(certificate.mechanisms) == 2
    assert set(certificate.edge) == {"d2", "d3"}
    assert certificate.join["d2"] == pytest.approx({1: 0.4, 2: 0.2, 3: 0.4})
    assert certificate.join["d3"] == pytest.approx({1: 0.7, 2: 0.05, 3: 0.25})
    assert certificate.answers == (2,)
    assert certificate.excess == pytest.approx(0.1)
    text = str(certificate)
    assert "no mechanism dominates all others" in text
    assert "{2} is too likely at 'd2' beside 'd3', by 0.1" in text


def test_a_certificate_that_was_tampered_with_fails() -> None:
    good = example()
    one, two = good.mechanisms
    loud = {d: dict(one[d]) for d in one}
    loud["d2"] = {1: 1.0, 2: 0.0, 3: 0.0}
    moved = {d: dict(one[d]) for d in one}
    moved["d5"] = {1: 0.2 + 1e-9, 2: 0.1, 3: 0.7 - 1e-9}
    graph = good.graph
    bad = [
        (dataclasses.replace(good, mechanisms=(one,)), "breaks nothing"),
        (dataclasses.replace(good, mechanisms=(one, one)), "breaks nothing"),
        (
            dataclasses.replace(good, mechanisms=(rb.Mechanism.from_table(graph, loud, HALF), two)),
            "not private",
        ),
        (
            dataclasses.replace(
                good, mechanisms=(rb.Mechanism.from_table(graph, moved, HALF), two)
            ),
            "fixed rows",
        ),
        (dataclasses.replace(good, edge=("d2", "d4")), "not neighbors"),
        (dataclasses.replace(good, edge=("d2", "d1")), "breaks nothing"),
        (dataclasses.replace(good, limits=good.limits[1:]), "nothing limits"),
        (
            dataclasses.replace(
                good,
                limits=tuple(dataclasses.replace(x, prices=0 * x.prices) for x in good.limits),
            ),
            "breaks nothing",
        ),
        (
            dataclasses.replace(
                good,
                limits=tuple(dataclasses.replace(x, prices=x.prices - 1) for x in good.limits),
            ),
            "breaks nothing",
        ),
    ]
    for certificate, reason in bad:
        verdict = certificate.check()
        assert not verdict
        assert reason in str(verdict)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.data(), strategies.exact_promises())
def test_two_answers_always_have_one_and_it_is_the_program_s(
    data: st.DataObject, promise: tuple[TradeOffCurve, list[Point]]
) -> None:
    guarantee, lines = promise
    graph = data.draw(strategies.graphs(6, answers=2))
    rows = {d: data.draw(strategies.exact_rows(2)) for d in graph.boundary}
    orders = [[graph.answers.index(a) for a in graph.rainbow(d)] for d in graph.datasets]
    edges = [(int(a), int(b)) for a, b in graph.edge_positions()]
    fixed = {graph.position(d): row for d, row in rows.items()}
    try:
        found = optimum(graph, guarantee, rows)
    except rb.InvalidBoundary:
        with pytest.raises(rb.InvalidBoundary):
            program(graph, guarantee, boundary=rows)
        return
    assert found
    assert found.closed_form
    assert found.mechanism is not None
    wanted = reference.largest_prefix_sums(edges, orders, fixed, lines)
    for (place, count), most in wanted.items():
        row = list(found.mechanism[graph.datasets[place]].values())
        assert sum(row[:count]) == pytest.approx(most, abs=1e-8)


def test_two_answers_with_an_open_border_may_have_none() -> None:
    graph = rb.RainbowGraph([(0, 1)], [("y", "n"), ("n", "y")])
    found = optimum(graph, rb.DP(1), {})
    assert not found
    assert found.certificate is not None
    assert found.certificate.check()


def agree(
    graph: rb.RainbowGraph,
    guarantee: TradeOffCurve,
    lines: list[Point],
    rows: dict[object, tuple[Fraction, ...]],
    by: Order = "dominance",
) -> str:
    """``optimum`` says what an independent program says; which of the ways it went."""
    size = len(graph.answers)
    orders = [[graph.answers.index(a) for a in graph.rainbow(d)] for d in graph.datasets]
    edges = [(int(a), int(b)) for a, b in graph.edge_positions()]
    fixed = {graph.position(d): row for d, row in rows.items()}
    for a, b in edges:  # the reference never looks at two fixed rows beside each other
        if a in fixed and b in fixed and reference.worst_by_lines(fixed[a], fixed[b], lines):
            with pytest.raises(rb.InvalidBoundary):
                optimum(graph, guarantee, rows)
            return "refused"
    try:
        in_turn = by == "lexicographic"
        wanted = reference.largest_prefix_sums(edges, orders, fixed, lines, in_turn=in_turn)
    except AssertionError:
        with pytest.raises(rb.InvalidBoundary):
            optimum(graph, guarantee, rows)
        return "refused"
    table = np.zeros((len(graph), size))
    for place, order in enumerate(orders):
        sums = [0.0, *(wanted.get((place, k), 0.0) for k in range(1, size)), 1.0]
        table[place, order] = np.maximum(np.diff(sums), 0.0)
        if place in fixed:
            table[place] = [float(p) for p in fixed[place]]
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    excess = guarantee.excesses(table[pairs[:, 0]], table[pairs[:, 1]]).max(initial=0.0)
    if 1e-9 < excess < 1e-6:
        return "too close"
    found = optimum(graph, guarantee, rows, order=by)
    assert bool(found) == (excess < 1e-8)
    assert found.order == by
    if found.mechanism is None:
        assert found.certificate is not None
        assert found.certificate.order == by
        assert found.certificate.check()
        assert 1 <= len(found.certificate.mechanisms) <= 2 * (size - 1)
        return "none"
    assert found.mechanism.check(every_edge=True)
    for (place, count), most in wanted.items():
        row = list(found.mechanism[graph.datasets[place]].values())
        assert sum(row[:count]) == pytest.approx(most, abs=1e-7)
    return "closed form" if found.closed_form else "by programs"


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.data(), strategies.exact_promises())
def test_any_rows_against_the_maxima_of_an_independent_program(
    data: st.DataObject, promise: tuple[TradeOffCurve, list[Point]]
) -> None:
    guarantee, lines = promise
    graph = data.draw(strategies.deep_graphs(5))
    size = len(graph.answers)
    common = data.draw(strategies.exact_rows(size, zeros=False))
    rows: dict[object, tuple[Fraction, ...]] = {}
    for d in graph.boundary:
        own = data.draw(strategies.exact_rows(size))
        share = Fraction(data.draw(st.integers(0, 4)), 8)
        rows[d] = tuple((1 - share) * a + share * b for a, b in zip(common, own, strict=True))
    agree(graph, guarantee, lines, rows)


@pytest.mark.slow
def test_cases_like_the_paper_s_go_every_way() -> None:
    rng = np.random.default_rng(0)
    graph, ways = paper.example_one(), set[str]()
    for _ in range(60):
        weights = rng.integers(1, 12, (2, 3)).tolist()
        rows: dict[object, tuple[Fraction, ...]] = {
            d: tuple(Fraction(x, sum(row)) for x in row)
            for d, row in zip(("d1", "d4"), weights, strict=True)
        }
        ratio = Fraction(int(rng.integers(15, 30)), 10)
        delta = Fraction(int(rng.integers(0, 3)), 50)
        lines = [(ratio, delta), (1 / ratio, 1 - (1 - delta) / ratio)]
        ways.add(agree(graph, rb.DP.from_ratio(ratio, delta=delta), lines, rows))
    assert ways >= {"refused", "none", "closed form", "by programs"}


def test_lexicographic_order_against_an_independent_chain_of_programs() -> None:
    rng = np.random.default_rng(4)
    graph, ways = paper.example_one(), set[str]()
    for number in range(12):
        weights = rng.integers(1, 12, (2, 3)).tolist()
        rows: dict[object, tuple[Fraction, ...]] = {
            d: tuple(Fraction(x, sum(row)) for x in row)
            for d, row in zip(("d1", "d4"), weights, strict=True)
        }
        ratio, delta = Fraction(15 + number, 10), Fraction(number % 3, 50)
        lines = [(ratio, delta), (1 / ratio, 1 - (1 - delta) / ratio)]
        promise = rb.DP.from_ratio(ratio, delta=delta)
        ways.add(agree(graph, promise, lines, rows, "lexicographic"))
    assert ways >= {"none", "closed form"}


def test_a_proof_about_lexicographic_order_that_was_tampered_with_fails() -> None:
    rows = {**ENDS, "d5": (0.2, 0.1, 0.7)}
    found = optimum(paper.example_one(), HALF, rows, order="lexicographic")
    good = found.certificate
    assert good is not None
    assert good.check()
    assert "is first in lexicographic order" in str(good)
    last = good.limits[-1]
    free = dataclasses.replace(last, earlier=tuple(-1.0 for _ in last.earlier))
    bad = [
        dataclasses.replace(good, mechanisms=good.mechanisms[:1]),
        dataclasses.replace(good, mechanisms=good.mechanisms[::-1]),
        dataclasses.replace(good, limits=good.limits[:-1]),
        dataclasses.replace(good, limits=(*good.limits[:-1], free)),
        dataclasses.replace(good, order="dominance"),
    ]
    for certificate in bad:
        assert not certificate.check()
    with pytest.raises(rb.RainbowError, match="order must be"):
        optimum(paper.example_one(), HALF, rows, order="alphabetic")  # type: ignore[arg-type]


def test_homogeneous_boundaries_are_decided_in_closed_form() -> None:
    graph = paper.figure_one()
    for guarantee in (rb.DP(1), rb.DP("0.1", "0.01"), rb.GaussianDP(1)):
        condition = rb.BoundaryCondition.symmetric(graph, guarantee)
        found = optimum(graph, guarantee, condition)
        assert found.closed_form
        assert found.mechanism is not None
        plain = rb.optimal(graph, guarantee, condition)
        for d in graph.datasets:
            assert found.mechanism[d] == pytest.approx(plain[d], rel=1e-9)


@pytest.mark.slow
def test_two_answers_at_graph_scale() -> None:
    side = 300
    places = np.arange(side * side).reshape(side, side)
    edges = np.concatenate(
        [
            np.stack([places[:, :-1].ravel(), places[:, 1:].ravel()], axis=1),
            np.stack([places[:-1].ravel(), places[1:].ravel()], axis=1),
        ]
    )
    left = np.arange(side * side) % side < side // 2
    graph = rb.RainbowGraph(edges, (("y", "n"), ("n", "y")), labels=(~left).astype(np.int64))
    rng = np.random.default_rng(0)
    shares = 0.5 + rng.uniform(-0.01, 0.01, len(graph.boundary))
    rows = {d: (x, 1 - x) for d, x in zip(graph.boundary, shares, strict=True)}
    found = optimum(graph, rb.DP("0.1"), rows)
    assert found.closed_form
    assert found.mechanism is not None
    assert found.mechanism.check(every_edge=True)


@pytest.mark.parametrize("guarantee", [rb.DP("0.1"), rb.DP("0.3", "1e-9"), rb.GaussianDP("0.1")])
@pytest.mark.slow
def test_two_answers_so_deep_that_one_float_is_all_of_it(guarantee: TradeOffCurve) -> None:
    side = 3000  # from depth 370 on the first choice is 1.0 in floats, the other not 0
    left = np.arange(2 * side) < side
    graph = rb.RainbowGraph(
        np.stack([np.arange(2 * side - 1), np.arange(1, 2 * side)], axis=1),
        (("y", "n"), ("n", "y")),
        labels=(~left).astype(np.int64),
    )
    rows = {side - 1: (0.51, 0.49), side: (0.49, 0.51), 5: (0.9999, 0.0001)}
    found = optimum(graph, guarantee, rows)
    assert found.closed_form
    assert found.mechanism is not None
    assert 0 < found.mechanism[side - 300]["n"] < 1e-12 or guarantee == rb.DP("0.3", "1e-9")
    assert found.mechanism[0]["y"] < 1 - 1e-6  # the row at 5 binds here, whatever is far away


def test_the_paper_s_open_question_with_four_answers() -> None:
    """A lexicographic optimum without a dominance optimum: one free dataset, four answers.

    The rows around d fix P(1, 2) and P(1, 3) at ½, so d has (a, ½−a, ½−a, a) with a in
    [0.05, 0.45]: a larger a is better for the first prefix and worse for the third.
    """
    high, low = Fraction(9, 20), Fraction(1, 20)
    around = {
        "b1": (high, high, low, low),
        "b2": (low, low, high, high),
        "b3": (high, low, high, low),
        "b4": (low, high, low, high),
    }
    outside = {name.replace("b", "c"): row for name, row in around.items()}
    edges = [("d", b) for b in around] + [(b, b.replace("b", "c")) for b in around]
    rainbows = {"d": (1, 2, 3, 4)} | dict.fromkeys(around, (1, 2, 3, 4))
    graph = rb.RainbowGraph(edges, rainbows | dict.fromkeys(outside, (1, 2, 4, 3)))
    promise = rb.DP(0, "0.4")
    found = optimum(graph, promise, around | outside)
    assert found.certificate is not None
    assert found.certificate.check()
    assert len(found.certificate.mechanisms) == 2
    # with one free dataset a lexicographic optimum is the lexicographic maximum there
    best = program(graph, promise, boundary=around | outside, lexicographic=True)
    assert best.optimal
    assert list(best.mechanism["d"].values()) == pytest.approx([0.45, 0.05, 0.05, 0.45], abs=1e-6)
    first = optimum(graph, promise, around | outside, order="lexicographic")
    assert first.mechanism is not None
    assert not first.closed_form
    assert str(first).startswith("one mechanism is first in lexicographic order")
    assert list(first.mechanism["d"].values()) == pytest.approx([0.45, 0.05, 0.05, 0.45], abs=1e-8)


def test_bad_input() -> None:
    graph = paper.example_one()
    with pytest.raises(rb.InvalidBoundary, match="is too likely at 'd4', 2 steps from 'd1'"):
        optimum(graph, HALF, {"d1": (0.9, 0.05, 0.05), "d4": (0.1, 0.1, 0.8)})
    with pytest.raises(rb.UnknownDataset):
        optimum(graph, HALF, {"d9": (1, 0, 0)})
    border = rb.RainbowGraph([(0, 1)], [("y", "n"), ("n", "y")])
    with pytest.raises(rb.InvalidGuarantee, match="piecewise-linear"):
        optimum(border, rb.GaussianDP(1), {})

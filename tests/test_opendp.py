"""The OpenDP bridge, with the real library: honest maps, listed answers, one shared budget."""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import rainbowdp as rb
from kinds import homogeneous
from rainbowdp.guarantees.closeness import exp_below
from rainbowdp.opendp import to_opendp
from rainbowdp.questions import limited

dp.enable_features("contrib", "honest-but-curious")

bridge: Any = to_opendp  # the methods of an OpenDP measurement have no types
compose: Any = dp.c.make_composition

COLORS = ["red", "green", "blue"]
BINS = [0, 10, 20, 50]
TEXTS = dp.vector_domain(dp.atom_domain(T=str))
NUMBERS = dp.vector_domain(dp.atom_domain(T=float))
COUNTS = dp.vector_domain(dp.atom_domain(T="i64"))


def winner(neighbors: Any = "added or removed") -> rb.Winner:
    return rb.Winner(COLORS, neighbors=neighbors)


def counting() -> Any:
    """OpenDP's own count of texts with Laplace noise: 0.5 for one record."""
    return (TEXTS, dp.symmetric_distance()) >> dp.t.then_count() >> dp.m.then_laplace(scale=2.0)


# The map


def test_pure_epsilon_is_exact_where_a_float_is() -> None:
    measurement = bridge(rb.best(winner(), rb.DP(1)))
    assert [measurement.map(d) for d in (0, 1, 2, 10**6)] == [0.0, 1.0, 2.0, 1e6]
    assert measurement.output_measure == dp.max_divergence()


@pytest.mark.parametrize("epsilon", ["0.1", "1/3", "7/10", "1e-3"])
def test_epsilon_rounds_up_and_no_further(epsilon: str) -> None:
    measurement = bridge(homogeneous(winner(), rb.DP(epsilon, 1e-9)))
    for steps in (1, 2, 3, 7, 1000):
        found, wanted = measurement.map(steps)[0], steps * Fraction(epsilon)
        assert Fraction(found) >= wanted
        assert Fraction(math.nextafter(found, 0)) < wanted


@pytest.mark.parametrize("steps", [1, 2, 5, 40])
def test_epsilon_of_a_ratio_rounds_up(steps: int) -> None:
    found = bridge(rb.best(winner(), rb.DP.from_ratio(3))).map(steps)
    assert exp_below(Fraction(found)) >= 3**steps
    assert found == pytest.approx(steps * math.log(3), rel=1e-15)


@pytest.mark.parametrize("steps", [1, 2, 3, 10])
def test_delta_grows_by_the_group_formula(steps: int) -> None:
    delta = Fraction("1e-9")
    of_ratio = bridge(homogeneous(winner(), rb.DP.from_ratio(3, 2, delta=delta)))
    wanted = delta * sum(Fraction(3, 2) ** i for i in range(steps))
    found = of_ratio.map(steps)[1]
    assert wanted <= Fraction(found) <= wanted * (1 + Fraction(1, 10**15))
    of_epsilon = bridge(homogeneous(winner(), rb.DP("0.5", delta))).map(steps)[1]
    wanted = delta * sum(exp_below(Fraction(i, 2)) for i in range(steps))
    assert wanted <= Fraction(of_epsilon) <= wanted * (1 + Fraction(1, 10**15))


def test_delta_at_the_ends() -> None:
    assert bridge(homogeneous(winner(), rb.DP(0, "0.25"))).map(3) == (0.0, 0.75)
    assert bridge(homogeneous(winner(), rb.DP(0, "0.25"))).map(9) == (0.0, 1.0)
    tiny = bridge(homogeneous(winner(), rb.DP(1, 1e-6)))
    assert tiny.map(0) == (0.0, 0.0)
    assert tiny.map(2**60) == (2.0**60, 1.0)


def test_gaussian_is_zero_concentrated() -> None:
    measurement = bridge(homogeneous(winner(), rb.GaussianDP("0.1")))
    assert measurement.output_measure == dp.zero_concentrated_divergence()
    for steps in (1, 2, 3):
        found, wanted = Fraction(measurement.map(steps)), Fraction(steps, 10) ** 2 / 2
        assert wanted <= found <= wanted * (1 + Fraction(1, 10**15))


@pytest.mark.parametrize(
    ("neighbors", "metric", "units"),
    [
        ("added or removed", dp.symmetric_distance(), 1),
        ("added or removed", dp.insert_delete_distance(), 1),
        ("added or removed", dp.change_one_distance(), 2),
        ("added or removed", dp.hamming_distance(), 2),
        ("substituted", dp.symmetric_distance(), 1),
        ("substituted", dp.change_one_distance(), 1),
        ("substituted", dp.hamming_distance(), 1),
    ],
)
def test_a_unit_of_each_metric(neighbors: Any, metric: Any, units: int) -> None:
    measurement = bridge(rb.best(winner(neighbors), rb.DP(1)), (TEXTS, metric))
    assert [measurement.map(d) for d in (0, 1, 3)] == [0, units, 3 * units]


def test_several_rows_a_person() -> None:
    measurement = bridge(rb.best(limited(winner(), 3), rb.DP(1)))
    assert [measurement.map(d) for d in range(8)] == [0, 1, 1, 1, 2, 2, 2, 3]


QUESTIONS = [
    winner("added or removed"),
    winner("substituted"),
    limited(winner("added or removed"), 3),
    limited(winner("substituted"), 2),
    rb.Threshold(5, neighbors="added or removed"),
    rb.Threshold(5, neighbors="substituted"),
    rb.Quantile("1/3", BINS, neighbors="added or removed"),
    rb.Quantile("1/3", BINS, neighbors="substituted"),
    limited(rb.Quantile("1/2", BINS, neighbors="substituted"), 2),
]
GUARANTEES = [rb.DP(1), rb.DP("0.2"), rb.DP(1, "1e-3"), rb.DP.from_ratio(5, 4)]


@cache
def measured(question: Any, guarantee: rb.DP) -> tuple[Any, Any]:
    mechanism = rb.best(question, guarantee)
    return mechanism, bridge(mechanism)


def excess(measurement: Any, mechanism: Any, one: list[int], other: list[int], d_in: int) -> Any:
    """By how much two exact rows break what the map says of d_in, from fractions."""
    loss = measurement.map(d_in)
    epsilon, delta = loss if isinstance(loss, tuple) else (loss, 0.0)
    ratio = exp_below(Fraction(epsilon))
    names = [name for name, _ in mechanism.question.groups]
    p, q = (mechanism.exact()[dict(zip(names, x, strict=True))] for x in (one, other))
    worst = max(sum(max(Fraction(0), a[v] - ratio * b[v]) for v in a) for a, b in ((p, q), (q, p)))
    return worst - Fraction(delta)


@given(st.data())
def test_the_map_holds_between_any_counts(data: st.DataObject) -> None:
    question, guarantee = (
        data.draw(st.sampled_from(QUESTIONS)),
        data.draw(st.sampled_from(GUARANTEES)),
    )
    mechanism, measurement = measured(question, guarantee)
    size = len(mechanism.question.groups)
    one = data.draw(st.lists(st.integers(0, 12), min_size=size, max_size=size))
    moves = data.draw(st.lists(st.integers(-3, 3), min_size=size, max_size=size))
    other = [max(0, n + move) for n, move in zip(one, moves, strict=True)]
    d_in = sum(abs(a - b) for a, b in zip(one, other, strict=True))
    assert excess(measurement, mechanism, one, other, d_in) <= 0


def test_an_l1_distance_of_two_is_two_substitutions_at_worst() -> None:
    mechanism = rb.best(rb.Threshold(5, neighbors="substituted"), rb.DP(1))
    measurement = bridge(mechanism)
    assert excess(measurement, mechanism, [4], [6], 2) <= 0
    assert excess(measurement, mechanism, [4], [6], 1) > 0


# The function


def test_answers_are_listed_ones() -> None:
    measurement = bridge(rb.best(winner(), rb.DP(1)))
    assert {measurement([2, 2, 2]) for _ in range(500)} == set(COLORS)


def test_counts_below_zero_are_zero() -> None:
    measurement = bridge(rb.best(winner(), rb.DP(50)))
    assert measurement([-1000, 900, -5]) == "green"
    assert measurement([10**18, 0, 0]) == "red"


@pytest.mark.parametrize("records", [False, True])
def test_draws_follow_the_exact_row(records: bool) -> None:
    mechanism = rb.best(winner(), rb.DP(1))
    counts = {"red": 4, "green": 3, "blue": 2}
    space = (TEXTS, dp.symmetric_distance()) if records else None
    data: list[Any] = list(Counter(counts).elements()) if records else list(counts.values())
    measurement = bridge(mechanism, space)
    draws = 2_000  # the draws themselves have tests of their own; here only the way counts
    seen = Counter(measurement(data) for _ in range(draws))
    row = mechanism.exact()[counts]
    assert set(seen) <= set(row)
    statistic = sum((seen[v] - draws * float(p)) ** 2 / (draws * float(p)) for v, p in row.items())
    assert statistic < chi2.isf(1e-10, len(row) - 1)


def test_records_are_counted_as_in_a_table() -> None:
    closed = rb.Quantile("1/2", BINS, neighbors="substituted", closed_ends=True)
    quantile = rb.best(closed, rb.DP(80))
    measurement = bridge(quantile, (NUMBERS, dp.change_one_distance()))
    assert measurement([0.0] * 5 + [10.0] * 30 + [49.9] * 4 + [math.nan, 50.1, -1.0] * 99) == (
        "[10, 20)"
    )
    old = rb.Threshold(20, "age", minimum=65, maximum=80, neighbors="substituted")
    whole = dp.vector_domain(dp.atom_domain(T=int))
    ages = bridge(rb.best(old, rb.DP(80)), (whole, dp.change_one_distance()))
    assert ages([65] * 10 + [80] * 20 + [64, 81] * 50) == "yes"
    assert ages([65] * 10 + [64, 81] * 50) == "no"
    texts = bridge(rb.best(winner(), rb.DP(80)), (TEXTS, dp.symmetric_distance()))
    assert texts(["blue"] * 20 + ["mauve"] * 90 + ["red"]) == "blue"


def test_a_loaded_file_is_the_same_measurement(tmp_path: Path) -> None:
    mechanism = rb.best(winner(), rb.DP(80))
    mechanism.save(str(tmp_path / "poll.json"))
    measurement = bridge(rb.load(str(tmp_path / "poll.json")))
    assert measurement([0, 99, 0]) == "green"
    assert measurement.map(1) == 80
    assert bridge(mechanism.exact())([0, 0, 99]) == "blue"


def test_a_custom_question_with_groups() -> None:
    def parity(counts: Any) -> dict[str, int]:
        odd = counts["big"] % 2
        return {"even": odd, "odd": 1 - odd}

    question = rb.Custom(
        ["even", "odd"],
        parity,
        neighbors="added or removed",
        name="parity",
        groups=[("big", rb.questions.Between(100, None))],
    )
    measurement = bridge(rb.best(question, rb.DP(80)))
    assert measurement([7]) == "odd"
    with pytest.raises(rb.InvalidQuestion, match="is not in its description"):
        bridge(rb.best(question, rb.DP(1)).exact())


# Composition


def test_composes_with_a_laplace_count() -> None:
    ours = bridge(rb.best(winner(), rb.DP(1)), (TEXTS, dp.symmetric_distance()))
    both = compose([ours, counting()])
    assert both.map(1) == 1.5
    assert both.map(2) == 3.0
    color, size = both(["red"] * 40)
    assert color in COLORS
    assert abs(size - 40) < 200


def test_composes_with_delta() -> None:
    ours = bridge(rb.best(winner(), rb.DP(1, 1e-6)), (TEXTS, dp.symmetric_distance()))
    both = compose([ours, dp.c.make_approximate(counting())])
    assert both.map(1) == (1.5, 1e-6)


def test_composes_with_a_gaussian_count() -> None:
    ours = bridge(homogeneous(winner(), rb.GaussianDP(1)), (TEXTS, dp.symmetric_distance()))
    theirs = (TEXTS, dp.symmetric_distance()) >> dp.t.then_count() >> dp.m.then_gaussian(1.0)
    assert compose([ours, theirs]).map(1) == pytest.approx(1.0)


def test_a_context_pays_for_it_and_stops() -> None:
    ours = bridge(rb.best(winner(), rb.DP(1)), (TEXTS, dp.symmetric_distance()))
    context = dp.Context.compositor(
        data=["red"] * 40 + ["green"] * 3,
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=2.0),
        split_evenly_over=2,
        domain=TEXTS,
    )
    assert context(ours) in COLORS
    assert context.query().count().laplace().release() > -1000
    with pytest.raises(dp.OpenDPException, match="out of queries"):
        context(ours)


def test_a_context_refuses_what_is_too_dear() -> None:
    context = dp.Context.compositor(
        data=["red"] * 9,
        privacy_unit=dp.unit_of(contributions=2),
        privacy_loss=dp.loss_of(epsilon=1.5),
        split_evenly_over=1,
        domain=TEXTS,
    )
    ours = bridge(rb.best(winner(), rb.DP(1)), (TEXTS, dp.symmetric_distance()))
    with pytest.raises(dp.OpenDPException, match="insufficient budget"):
        context(ours)


def test_chains_after_opendps_own_counting() -> None:
    counted = (TEXTS, dp.symmetric_distance()) >> dp.t.then_count_by_categories(
        categories=COLORS, MO=dp.L1Distance["i64"], TOA="i64", null_category=False
    )
    chained = counted >> bridge(rb.best(winner(), rb.DP(50)))
    assert chained(["blue"] * 30 + ["mauve"] * 90) == "blue"
    assert chained.map(1) == 50


def test_groups_cost_the_square_under_zero_concentrated_privacy() -> None:
    measurement = bridge(rb.best(winner(), rb.ZeroConcentrated("1/10")))
    for steps in (1, 2, 7):
        cost = Fraction(measurement.map(steps))
        assert Fraction(steps**2, 10) <= cost <= Fraction(steps**2, 10) * (1 + Fraction(1, 10**15))


# Bad input


def test_wrong_counts() -> None:
    measurement = bridge(rb.best(winner(), rb.DP(1)))
    with pytest.raises(dp.OpenDPException, match="counts must be 3 numbers"):
        measurement([1, 2])
    with pytest.raises(dp.OpenDPException, match="null_category=False"):
        measurement([1, 2, 3, 4])
    with pytest.raises(TypeError):
        measurement(["red"])
    with pytest.raises(dp.OpenDPException, match="d_in must be a whole number from 0"):
        measurement.map(-1)


@pytest.mark.parametrize(
    "space",
    [
        (COUNTS, dp.l2_distance(T="i64")),
        (COUNTS, dp.symmetric_distance()),
        (NUMBERS, dp.l1_distance(T=float)),
        (NUMBERS, dp.symmetric_distance()),
        (TEXTS, dp.l1_distance(T="i64")),
        (TEXTS, dp.discrete_distance()),
        (dp.atom_domain(T=int), dp.absolute_distance(T=int)),
        (dp.vector_domain(dp.atom_domain(T=bool)), dp.symmetric_distance()),
    ],
    ids=str,
)
def test_wrong_spaces(space: Any) -> None:
    with pytest.raises(rb.InvalidQuestion, match="an input space must be a vector of"):
        bridge(rb.best(winner(), rb.DP(1)), space)


def test_ranges_need_numbers() -> None:
    quantile = rb.best(rb.Quantile("1/2", BINS), rb.DP(1))
    with pytest.raises(rb.InvalidQuestion, match="a vector of numbers"):
        bridge(quantile, (TEXTS, dp.change_one_distance()))
    days = rb.best(rb.Quantile("1/2", ["2024-01-01", "2024-01-02", "2024-01-03"]), rb.DP(1))
    for space in (TEXTS, NUMBERS):
        with pytest.raises(rb.InvalidQuestion, match="an input space must be a vector of"):
            bridge(days, (space, dp.change_one_distance()))


def test_wrong_mechanisms() -> None:
    graph = rb.RainbowGraph([(0, 1)], [("yes", "no"), ("no", "yes")])
    of_graph: Any = rb.optimal(graph, rb.DP(1))
    for mechanism in (of_graph, of_graph.exact(), None):
        with pytest.raises(rb.InvalidMechanism, match="that answers a question"):
            bridge(mechanism)
    curve = rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)])
    with pytest.raises(rb.InvalidMechanism, match="a measure for DP, GaussianDP and Zero"):
        bridge(homogeneous(winner(), curve))
    loose = rb.Custom(
        ["a", "b"], lambda _: {"a": 0, "b": 1}, neighbors="substituted", name="no groups"
    )
    with pytest.raises(rb.InvalidQuestion, match="a question with groups"):
        bridge(rb.best(loose, rb.DP(1)))


def test_a_mechanism_of_another_question() -> None:
    exact = homogeneous(winner(), rb.DP(1)).exact()
    others = [
        replace(exact, answers=tuple(reversed(exact.answers))),
        replace(exact, locate=None),
    ]
    for other in others:
        with pytest.raises(rb.InvalidMechanism, match="answers, borders and neighbors"):
            bridge(other)


def test_without_opendp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(rb.MissingExtra, match=r"pip install 'rainbowdp\[opendp\]'"):
        bridge(rb.best(winner(), rb.DP(1)))


def test_without_features() -> None:
    dp.disable_features("honest-but-curious")
    try:
        with pytest.raises(dp.OpenDPException, match="enable_features"):
            bridge(rb.best(winner(), rb.DP(1)))
    finally:
        dp.enable_features("honest-but-curious")

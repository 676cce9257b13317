"""The exact curve of pairs of rows, against brute force over all sets of answers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import mpmath as mp
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.auditing.curve import Curve, Row, allowed
from reference import every_set, exp_between, gaussian_close, normal_score, number
from strategies import exact_pairs, exact_rows, ratios, trade_offs

HALF = Fraction(1, 2)


@st.composite
def families(draw: st.DrawFn) -> list[Row]:
    size = draw(st.integers(2, 4))
    return draw(st.lists(exact_rows(size), min_size=2, max_size=4, unique=True))


def over_all(rows: Sequence[Row]) -> Curve:
    return Curve.over(rows, itertools.combinations(range(len(rows)), 2))


def points(rows: Sequence[Row]) -> list[tuple[Fraction, Fraction]]:
    """(Q(S), P(S)) for all ordered pairs and all sets."""
    return [
        (sum((q[v] for v in chosen), Fraction(0)), sum((p[v] for v in chosen), Fraction(0)))
        for p, q in itertools.permutations(rows, 2)
        for chosen in every_set(len(p))
    ]


@given(families(), ratios())
def test_delta_is_the_largest_over_all_sets(rows: list[Row], ratio: Fraction) -> None:
    ratio = max(ratio, 1 / ratio)
    assert over_all(rows).delta(ratio) == max(y - ratio * x for x, y in points(rows))


@given(families(), st.fractions(0, 1, max_denominator=50))
def test_the_least_ratio_is_enough_and_no_smaller_one_is(rows: list[Row], delta: Fraction) -> None:
    found = over_all(rows).least_ratio(delta)
    every = points(rows)
    if found is None:
        assert any(x == 0 and y > delta for x, y in every)
        return
    assert all(y <= found * x + delta for x, y in every)
    if found > 1:
        smaller = found - Fraction(1, 10**12)
        assert any(y > smaller * x + delta for x, y in every)


@given(families())
def test_the_curve_as_a_guarantee_is_the_least_that_covers_all_sets(rows: list[Row]) -> None:
    curve = over_all(rows)
    promise = curve.as_guarantee()
    every = points(rows)
    assert all(y <= allowed(promise, x) for x, y in every)
    assert all((c.level, c.power) in {*every, (Fraction(1), Fraction(1))} for c in curve.corners)
    assert curve.keeps(promise, Fraction(0))


@given(families())
def test_a_corner_is_what_its_rows_and_answers_say(rows: list[Row]) -> None:
    for corner in over_all(rows).corners:
        if corner.answers:
            more, less = (rows[place] for place in corner.rows)
            assert corner.power == sum(more[v] for v in corner.answers)
            assert corner.level == sum(less[v] for v in corner.answers)


@given(families())
@settings(max_examples=10)
def test_mu_is_the_largest_distance_of_scores(rows: list[Row]) -> None:
    found = over_all(rows).mu
    every = [(x, y) for x, y in points(rows) if x < y]
    if any(x == 0 or y == 1 for x, y in every):
        assert found.low == math.inf
        return
    with mp.workdps(40):
        scores = (normal_score(y, 30) - normal_score(x, 30) for x, y in every)
        truth = max(scores, default=mp.mpf(0))
        assert mp.mpf(found.low) <= truth <= mp.mpf(found.high)
        assert found.high - found.low <= 1e-14 * max(1.0, found.high)


@given(exact_pairs(), st.fractions(0, 3, max_denominator=20), st.sampled_from(["0", "1/20", "1/3"]))
def test_a_claim_of_epsilon_and_delta(pair: tuple[Row, Row], epsilon: Fraction, delta: str) -> None:
    p, q = pair
    low, high = exp_between(epsilon)
    slack = Fraction(delta)
    every = points([p, q])
    kept = all(y <= low * x + slack for x, y in every)
    assert kept == all(y <= high * x + slack for x, y in every)  # the oracle can tell
    found = over_all([p, q]) if p != q else Curve.over([p], [])
    assert found.keeps(rb.DP(epsilon, delta), Fraction(0)) is kept


@given(exact_pairs(), st.fractions("1/20", 3, max_denominator=20))
def test_a_claim_of_mu(pair: tuple[Row, Row], mu: Fraction) -> None:
    p, q = pair
    unit = math.lcm(*(x.denominator for x in p + q))
    weights = [tuple(int(x * unit) for x in row) for row in pair]
    found = over_all([p, q]) if p != q else Curve.over([p], [])
    assert found.keeps(rb.GaussianDP(mu), Fraction(0)) is gaussian_close(weights[0], weights[1], mu)


@given(exact_pairs(), trade_offs())
def test_a_claim_of_a_polygon(pair: tuple[Row, Row], curve: rb.TradeOff) -> None:
    p, q = pair
    kept = all(y <= allowed(curve, x) for x, y in points([p, q]))
    found = over_all([p, q]) if p != q else Curve.over([p], [])
    assert found.keeps(curve, Fraction(0)) is kept


def test_ratios_that_floats_cannot_tell_apart_are_told_apart() -> None:
    tiny = Fraction(1, 10**30)
    p = (HALF, HALF * (1 - tiny), HALF * tiny)
    q = (HALF - tiny, HALF, tiny)
    found = over_all([p, q])
    assert found.ratio == max(a / b for a, b in [*zip(p, q, strict=True), *zip(q, p, strict=True)])
    p = (Fraction(1, 3) + tiny, Fraction(1, 3) - tiny, Fraction(1, 3))
    q = (Fraction(1, 6), Fraction(1, 6), Fraction(2, 3))
    assert over_all([p, q]).ratio == 2 * (1 + 3 * tiny)  # one set of one answer, not of two
    assert over_all([p, q]).keeps(rb.DP.from_ratio(2), Fraction(0)) is False
    assert over_all([p, q]).keeps(rb.DP.from_ratio(2), Fraction(1, 10**9)) is True


def test_probabilities_that_no_float_holds() -> None:
    tiny = Fraction(1, 10**400)
    found = over_all([(tiny, 1 - tiny), (2 * tiny, 1 - 2 * tiny)])
    assert found.ratio == 2
    assert 0 < found.mu.low <= found.mu.high < 0.1


def test_an_answer_that_comes_from_one_row_only_has_no_epsilon() -> None:
    found = over_all([(HALF, HALF, Fraction(0)), (HALF, Fraction(0), HALF)])
    assert found.ratio is None
    assert found.epsilon().low == math.inf
    assert found.epsilon(HALF).high == 0.0
    assert found.delta(Fraction(10**9)) == HALF
    assert found.as_guarantee() == rb.TradeOff([(0, HALF), (HALF, 0), (1, 0)])


def test_equal_rows_keep_everything() -> None:
    found = Curve.over([(HALF, HALF)], [])
    assert found.ratio == 1
    assert found.delta(Fraction(1)) == 0
    assert found.mu.high == 0.0
    assert found.as_guarantee() == rb.TradeOff([(0, 1), (1, 0)])
    assert found.keeps(rb.DP(0), Fraction(0))


@given(exact_pairs(), st.sampled_from([0.05, 0.3, 1.0]))
def test_dp_accounting_agrees(pair: tuple[Row, Row], epsilon: float) -> None:
    p, q = pair
    if p == q:
        return
    lower, upper = ({v: math.log(x) for v, x in enumerate(row) if x} for row in pair)
    fine = 1e-4
    theirs = max(
        pld.from_two_probability_mass_functions(
            a, b, value_discretization_interval=fine, symmetric=False
        ).get_delta_for_epsilon(epsilon)
        for a, b in ((lower, upper), (upper, lower))
    )
    low, high = exp_between(Fraction(epsilon))
    ours = over_all([p, q])
    assert float(ours.delta(high)) <= theirs + 1e-12  # theirs is on the safe side
    assert theirs <= float(ours.delta(low / Fraction(math.exp(2 * fine)))) + 1e-9


@pytest.mark.parametrize("claim", [rb.DP(1), rb.DP(1, "0.01"), rb.GaussianDP("0.5"), None])
def test_the_worst_corner_is_one_that_breaks_the_claim(claim: rb.DP | rb.GaussianDP | None) -> None:
    rows = [(Fraction(9, 10), Fraction(1, 10)), (HALF, HALF), (Fraction(1, 20), Fraction(19, 20))]
    curve = over_all(rows)
    corner = curve.worst(claim)
    alone = Curve.over([rows[corner.rows[0]], rows[corner.rows[1]]], [(0, 1)])
    if claim is None:
        assert corner.power / corner.level == curve.ratio == 18
    else:
        assert curve.keeps(claim, Fraction(0)) is False
        assert alone.keeps(claim, Fraction(0)) is False


def test_the_worst_corner_of_mu_is_the_largest_shift() -> None:
    rows = [
        (Fraction(1, 1000), Fraction(999, 1000)),
        (Fraction(1, 100), Fraction(99, 100)),
        (HALF,) * 2,
    ]
    curve = Curve.over(rows, [(0, 1), (1, 2)])
    corner = curve.worst(rb.GaussianDP(1))
    with mp.workdps(30):
        shift = normal_score(corner.power, 20) - normal_score(corner.level, 20)
        assert abs(shift - number(Fraction(curve.mu.high))) < 1e-10

"""Gaussian differential privacy."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
import strategies
from rainbowdp.guarantees.curve import Excess, TradeOffCurve

Pair = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]


def excess(guarantee: TradeOffCurve, p: Any, q: Any) -> Excess:
    """``excess`` of exact fractions, which numpy's types do not name."""
    return guarantee.excess(p, q)


def fractions(row: tuple[float, ...]) -> list[Fraction]:
    return [Fraction(p) for p in row]


MUS = st.one_of(st.floats(1e-6, 3), st.sampled_from([0.0, 1e-9, 0.5, 1.0, 10.0]))
DEPTHS = st.one_of(st.integers(0, 5), st.integers(0, 60))


@given(MUS, strategies.rows(), DEPTHS)
@settings(max_examples=25, deadline=None)  # 450 digits take a while
@pytest.mark.slow
def test_every_probability_is_right_relatively(
    mu: float, row: tuple[float, ...], depth: int
) -> None:
    found = rb.GaussianDP(mu).rows(row, depth)
    wanted = reference.gaussian_row(fractions(row), Fraction(mu), depth)
    reference.assert_same_probabilities(found, wanted)


@pytest.mark.parametrize(
    ("mu", "row", "depths"),
    [
        pytest.param(
            *(1.0, (1e-300, 0.5, 1e-300, 0.5), [0, 1, 5, 37, 38, 60, 73]), marks=pytest.mark.slow
        ),
        (1.0, (0.5, 1e-300, 1e-20, 0.5), [0, 1, 10, 30]),
        (0.25, (1e-20, 1e-20, 1.0, 1e-20, 1e-20), [0, 1, 8, 100]),
        (1e-6, (0.25, 1e-200, 0.75), [1, 10**6]),
        (3.0, (0.0, 0.5, 0.0, 0.5, 0.0), [0, 1, 2, 12]),
        # differences that have lost some of their digits in floats, not all
        (0.75, (0.3, 1e-4, 1e-6, 1e-9, 1e-12, 0.6998989989990), [0, 1, 2, 3, 5, 10]),
        pytest.param(1e-3, (1e-300, 1.0), [1, 10**3, 37000], marks=pytest.mark.slow),
    ],
)
def test_hard_rows(mu: float, row: tuple[float, ...], depths: list[int]) -> None:
    for depth, found in zip(depths, rb.GaussianDP(mu).rows(row, depths), strict=True):
        wanted = reference.gaussian_row(fractions(row), Fraction(mu), depth)
        reference.assert_same_probabilities(found, wanted)


def test_an_exact_mu_counts_exactly() -> None:
    row = (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    for mu in ("0.1", Fraction(1, 7)):
        found = rb.GaussianDP(mu).rows(row, 20)
        reference.assert_same_probabilities(found, reference.gaussian_row(row, Fraction(mu), 20))


@pytest.mark.parametrize("row", [(1.0,), (1.0, 0.0), (0.0, 1.0), (0.0, 1.0, 0.0)])
def test_a_sure_answer_stays_sure(row: tuple[float, ...]) -> None:
    found = rb.GaussianDP(1).rows(row, [0, 1, 100, 10**6, math.inf])
    assert found.tolist() == [list(row)] * 5


@pytest.mark.parametrize("mu", [1e-305, 1e-3, 1, 30])
def test_rows_far_away(mu: float) -> None:
    found = rb.GaussianDP(mu).rows((0.0, 0.25, 0.75), [0, math.inf])
    assert found == pytest.approx(np.array([[0, 0.25, 0.75], [0, 1, 0]]), rel=1e-12, abs=0)
    assert rb.GaussianDP(mu).grow([0, 0.25, 1], math.inf).tolist() == [0, 1, 1]


def test_rows_at_a_depth_no_integer_type_holds() -> None:
    assert rb.GaussianDP(1).rows((0.5, 0.5), 1e200).tolist() == [1.0, 0.0]
    assert rb.GaussianDP(30).grow(0.5, 1e300) == 1.0


@pytest.mark.slow
@given(MUS, strategies.prefix_sums(), DEPTHS)
@settings(max_examples=50)
def test_grow_is_a_shift_of_the_score(mu: float, s: float, depth: int) -> None:
    guarantee = rb.GaussianDP(mu)
    wanted = reference.gaussian_step(Fraction(s), Fraction(mu) * depth, 340)
    # a score near −37 that is wrong in its last digit moves Φ by some 1e-13
    assert guarantee.grow(s, depth) == pytest.approx(float(wanted), rel=1e-12, abs=1e-320)
    least = guarantee.ungrow(s, depth)
    with mp.workdps(340):
        back = reference.gaussian_step(1 - Fraction(s), Fraction(mu) * depth, 340)
        assert least == pytest.approx(float(1 - back), abs=1e-14)


@given(st.floats(0, 0.9), st.floats(0, 1))
@settings(max_examples=50, deadline=None)
def test_a_step_is_symmetric(s: float, mu: float) -> None:
    guarantee = rb.GaussianDP(mu)
    # f = 1 − φ is its own inverse
    assert 1 - guarantee.step(1 - guarantee.step(s)) == pytest.approx(s, abs=1e-12)


def gaussian_worst(pair: Pair, mu: Fraction) -> float:
    """max over all sets and both directions of P(S) − Φ(Φ⁻¹(Q(S)) + μ), in many digits."""
    worst = mp.mpf(0)
    with mp.workdps(40):
        for p, q in (pair, pair[::-1]):
            for chosen in reference.every_set(len(p)):
                power = reference.number(sum((p[i] for i in chosen), Fraction(0)))
                level = sum((q[i] for i in chosen), Fraction(0))
                worst = max(worst, power - reference.gaussian_step(level, mu))
    return float(worst)


@given(strategies.exact_pairs(), st.sampled_from([0.0, 0.125, 0.5, 1.0, 2.0]))
def test_excess_is_the_worst_of_all_sets(pair: Pair, mu: float) -> None:
    guarantee = rb.GaussianDP(mu)
    found, wanted = excess(guarantee, *pair), gaussian_worst(pair, Fraction(mu))
    assert float(found) == pytest.approx(wanted, rel=1e-9, abs=1e-10)
    if found:
        much, little = pair if found.first else pair[::-1]
        power = float(sum(much[i] for i in found.answers))
        level = sum((little[i] for i in found.answers), Fraction(0))
        there = power - float(reference.gaussian_step(level, Fraction(mu)))
        assert there == pytest.approx(wanted, abs=1e-10)
    rows = [np.array([[float(x) for x in row]]) for row in pair]
    assert guarantee.excesses(rows[0], rows[1]).tolist() == [float(found)]


@given(st.integers(2, 4).flatmap(strategies.exact_rows), st.sampled_from([0.25, 1.0, 2.0]))
@settings(max_examples=40, deadline=None)
def test_the_next_row_is_close_and_one_step_more_is_not(
    row: tuple[Fraction, ...], mu: float
) -> None:
    guarantee = rb.GaussianDP(mu)
    assert not excess(guarantee, row, guarantee.rows(row, 1))
    further = guarantee.rows(row, 2)
    if max(abs(further - [float(p) for p in row])) > 1e-3:
        assert excess(guarantee, row, further) > 1e-9


def test_tiny_violations_are_found_at_both_ends() -> None:
    guarantee = rb.GaussianDP(0.125)
    p, q = (1e-300, 0.25, 0.75), (1e-303, 0.25, 0.75)
    assert guarantee.excess(p, q) > 0.5e-300
    assert guarantee.excess(p[::-1], q[::-1]) > 0.5e-300
    assert guarantee.excess(q, p).answers == (0,)
    assert not rb.GaussianDP(1).excess(p, q)  # φ(1e-303) is above 1e-290


def test_a_single_answer_is_always_close() -> None:
    assert not rb.GaussianDP(1).excess((1.0,), (1.0,))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: rb.GaussianDP(-1), ["mu=-1", "[0, 30]"]),
        (lambda: rb.GaussianDP(-1e-300), ["mu=-1e-300"]),
        (lambda: rb.GaussianDP(math.nan), ["mu=nan"]),
        (lambda: rb.GaussianDP(math.inf), ["mu=inf"]),
        (lambda: rb.GaussianDP(True), ["mu=True"]),
        (lambda: rb.GaussianDP("abc"), ["mu='abc'"]),
        (lambda: rb.GaussianDP("1e400"), ["mu=1e400"]),  # no float holds it
    ],
)
def test_bad_mu_is_refused(make: Callable[[], object], said: list[str]) -> None:
    with pytest.raises(rb.InvalidGuarantee) as caught:
        make()
    reference.assert_one_sentence(caught.value, *said)


def test_a_gaussian_guarantee_prints_itself() -> None:
    assert repr(rb.GaussianDP("0.1")) == "GaussianDP(mu=0.1)"
    assert str(rb.GaussianDP(2)) == "2-GDP"
    assert rb.GaussianDP("0.5") == rb.GaussianDP(0.5)
    assert rb.GaussianDP("0.1") != rb.GaussianDP(0.1)

"""Answers that are fixed beforehand keep what they are said to keep together, and hardly more."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import mpmath
import pytest
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import example, given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.guarantees.composition import (
    composed_within,
    largest_range,
    losses_above,
    ranges_within,
)

TENTHS = st.integers(1, 30).map(lambda number: Fraction(number, 10))
ODD = st.fractions(min_value=Fraction(1, 50), max_value=2, max_denominator=97)


def coins(pairs: Sequence[tuple[mpmath.mpf, mpmath.mpf]], epsilon: Fraction) -> mpmath.mpf:
    """The δ of coins with these two losses each, over all their outcomes."""
    found = mpmath.mpf(0)
    for outcome in itertools.product((0, 1), repeat=len(pairs)):
        p = q = mpmath.mpf(1)
        for side, (high, low) in zip(outcome, pairs, strict=True):
            under_q = (1 - mpmath.exp(low)) / (mpmath.exp(high) - mpmath.exp(low))
            p *= under_q * mpmath.exp(high) if side else (1 - under_q) * mpmath.exp(low)
            q *= under_q if side else 1 - under_q
        found += max(mpmath.mpf(0), p - mpmath.exp(number(epsilon)) * q)
    return found


def number(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def of_pure(epsilons: Sequence[Fraction], epsilon: Fraction) -> mpmath.mpf:
    return coins([(number(each), -number(each)) for each in epsilons], epsilon)


@given(st.lists(TENTHS, min_size=1, max_size=7), TENTHS)
@example([Fraction(1)] * 6, Fraction(2))
def test_pure_epsilons_leave_the_delta_of_all_their_coins(
    epsilons: list[Fraction], epsilon: Fraction
) -> None:
    with mpmath.workdps(40):
        true = of_pure(epsilons, epsilon)
        found = number(losses_above(epsilons, epsilon))
        assert true <= found * (1 + mpmath.mpf(10) ** -35) + mpmath.mpf(10) ** -38
        assert found <= true * (1 + mpmath.mpf(10) ** -20) + mpmath.mpf(10) ** -30


@pytest.mark.slow
@given(st.lists(ODD, min_size=2, max_size=6), TENTHS)
def test_epsilons_without_a_common_unit_are_rounded_up(
    epsilons: list[Fraction], epsilon: Fraction
) -> None:
    with mpmath.workdps(40):
        true = of_pure(epsilons, epsilon)
        found = number(losses_above(epsilons, epsilon))
        assert true <= found + mpmath.mpf(10) ** -30
        more = sum(epsilons, Fraction(0)) / 20_000
        above = of_pure([each + more for each in epsilons], epsilon)
        assert found <= above + mpmath.mpf(10) ** -30


@pytest.mark.parametrize(("epsilon", "times"), [("0.1", 30), ("0.5", 7), ("0.05", 200)])
def test_pure_epsilons_are_dp_accountings(epsilon: str, times: int) -> None:
    ratio = math.exp(float(epsilon))
    one = pld.from_randomized_response(2 / (ratio + 1), 2, value_discretization_interval=1e-5)
    together = one.self_compose(times)
    for total in (1.0, 2.0, 3.0):
        theirs = together.get_delta_for_epsilon(total)
        found = float(losses_above([Fraction(epsilon)] * times, Fraction(total)))
        assert found == pytest.approx(theirs, rel=0.03, abs=1e-11)
        assert found <= theirs * (1 + 1e-6) + 1e-12  # theirs is pessimistic


@pytest.mark.parametrize("delta", ["1e-7", "1e-3"])
def test_deltas_are_composed_too(delta: str) -> None:
    part = common.DifferentialPrivacyParameters(0.25, float(delta))
    together = pld.from_privacy_parameters(part, value_discretization_interval=1e-4).self_compose(8)
    theirs = together.get_delta_for_epsilon(1.5)
    parts = [rb.DP("0.25", delta)] * 8
    assert not composed_within(parts, rb.DP("1.5", theirs * 0.98))
    assert composed_within(parts, rb.DP("1.5", theirs * 1.001))


def test_sums_are_always_enough_and_a_delta_that_is_too_small_never() -> None:
    assert composed_within([rb.DP(1, "1e-6")] * 2, rb.DP(2, "2e-6"))
    assert not composed_within([rb.DP(1, "1e-6")] * 2, rb.DP(700, "1e-6"))
    assert composed_within([rb.DP.from_ratio(2)] * 2, rb.DP.from_ratio(5))
    assert not composed_within([rb.DP.from_ratio(2)] * 2, rb.DP.from_ratio(3))


@given(
    st.integers(1, 5),
    st.fractions(min_value=Fraction(1, 10), max_value=2, max_denominator=20),
    st.fractions(min_value=Fraction(1, 10), max_value=3, max_denominator=20),
    st.data(),
)
def test_no_coins_of_a_range_leave_more(
    answers: int, width: Fraction, epsilon: Fraction, data: st.DataObject
) -> None:
    """Whatever the losses of each answer are, they leave at most the δ that is claimed."""
    if answers * width <= epsilon:
        assert ranges_within(width, answers, rb.DP(epsilon))
        return
    share = st.fractions(min_value=0, max_value=1, max_denominator=50)
    highs = [data.draw(share) * width for _ in range(answers)]
    with mpmath.workdps(40):
        pairs = [(number(t), number(t - width)) for t in highs if 0 < t < width]
        left = coins(pairs, epsilon)
        if left > mpmath.mpf(10) ** -20:
            less = Fraction(str(mpmath.nstr(left * (1 - mpmath.mpf(10) ** -12), 30)))
            assert not ranges_within(width, answers, rb.DP(epsilon, less))


def alike(high: Fraction, width: Fraction, answers: int, epsilon: Fraction) -> mpmath.mpf:
    """The δ of so many coins with the losses ``high`` and ``high`` − ``width``."""
    up, down = mpmath.exp(number(high)), mpmath.exp(number(high - width))
    q = (1 - down) / (up - down)
    found = mpmath.mpf(0)
    for many in range(answers + 1):
        under_q = mpmath.binomial(answers, many) * q**many * (1 - q) ** (answers - many)
        ratio = up**many * down ** (answers - many)
        found += under_q * max(mpmath.mpf(0), ratio - mpmath.exp(number(epsilon)))
    return found


@pytest.mark.parametrize(
    ("width", "answers", "epsilon"),
    [("1", 3, "1.2"), ("0.4", 12, "0.7"), pytest.param("0.2", 40, "0.9", marks=pytest.mark.slow)],
)
def test_the_worst_coins_are_found(width: str, answers: int, epsilon: str) -> None:
    """The claimed δ is that of the worst of many equal coins, and hardly more."""
    whole, total = Fraction(width), Fraction(epsilon)
    with mpmath.workdps(30):
        steps = [whole * step / 200 for step in range(1, 200)]
        worst = max(alike(high, whole, answers, total) for high in steps)
        near = Fraction(str(mpmath.nstr(worst, 20)))
    assert not ranges_within(whole, answers, rb.DP(total, near * Fraction(9999, 10000)))
    assert ranges_within(whole, answers, rb.DP(total, near * Fraction(1001, 1000)))


@pytest.mark.parametrize("answers", [1, 2, 5, 30, 100])
def test_the_largest_range_is_kept_and_a_larger_one_is_not(answers: int) -> None:
    total = rb.DP(3, "1e-6")
    width = largest_range(answers, total)
    assert ranges_within(width, answers, total)
    assert not ranges_within(width * Fraction(1_000_01, 1_000_00), answers, total)
    assert width * answers >= 3


@pytest.mark.slow
@pytest.mark.parametrize("answers", [3, 20])
def test_exponential_mechanisms_as_released_keep_the_total(answers: int) -> None:
    """The rows of neighboring votes, composed by dp-accounting, leave at most δ, both ways."""
    total = rb.DP(1, "1e-4")
    width = largest_range(answers, total)
    vote = rb.Winner(["a", "b", "c"], ties="any leader")
    mechanism = rb.best(vote, rb.ZeroConcentrated(width**2 / 8))
    assert mechanism.name == "exponential"
    for one, other in (((5, 5, 5), (6, 4, 5)), ((9, 8, 0), (8, 9, 0)), ((20, 2, 2), (19, 3, 2))):
        rows = [mechanism[dict(zip("abc", counts, strict=True))] for counts in (one, other)]
        for p, q in (rows, rows[::-1]):
            logs = [{name: math.log(chance) for name, chance in row.items()} for row in (p, q)]
            loss = pld.from_two_probability_mass_functions(
                logs[0], logs[1], value_discretization_interval=1e-5, symmetric=False
            )
            assert loss.self_compose(answers).get_delta_for_epsilon(1.0) <= 1e-4 * (1 + 1e-3)


def test_without_delta_ranges_add_up() -> None:
    assert largest_range(4, rb.DP(2)) == Fraction(1, 2)
    assert ranges_within(Fraction(1, 2), 4, rb.DP(2))
    assert not ranges_within(Fraction(51, 100), 4, rb.DP(2))

"""Rational curves: nowhere below the guarantee they stand for, symmetric and convex."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
import strategies
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.polygons import ratio_below, safe_curve
from reference import Point

TINY = ("1e-100", "1e-60", "1e-58", "1e-57", "1e-40", "1e-39", "1e-38", "1e-20")


def assert_a_trade_off(knots: Sequence[Point]) -> None:
    """From the left edge to (1, 0), falling, convex, its own mirror image, below 1 − x."""
    assert knots[0][0] == 0
    assert knots[-1] == (Fraction(1), Fraction(0))
    slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in itertools.pairwise(knots)]
    assert all(a < b for a, b in itertools.pairwise(slopes))
    assert all(slope <= 0 for slope in slopes)
    assert all(0 <= y <= 1 - x for x, y in knots)
    mirrored = sorted((y, x) for x, y in knots if knots[0][1] == 1 or (x, y) != knots[-1])
    assert mirrored == [k for k in knots if knots[0][1] == 1 or k != knots[-1]]


def dp_floor(x: Fraction, guarantee: rb.DP) -> mp.mpf:
    """The trade-off curve of (ε,δ) at the current precision."""
    ratio = (
        reference.number(guarantee.exact_ratio)
        if guarantee.exact_ratio is not None
        else mp.exp(reference.number(guarantee.exact_epsilon or 0))
    )
    rest = 1 - reference.number(guarantee.exact_delta)
    level = reference.number(x)
    return max(mp.mpf(0), rest - ratio * level, (rest - level) / ratio)


def gaussian_floor(x: Fraction, mu: Fraction) -> mp.mpf:
    """The trade-off curve of μ-Gaussian privacy, relatively right at the current precision."""
    return mp.erfc((reference.normal_score(x, 60) + reference.number(mu)) / mp.sqrt(2)) / 2


@given(strategies.epsilons(1e-90, 700.0))
@settings(max_examples=50)
@example(700.0)
@example(1e-100)
def test_the_ratio_is_at_most_e_to_the_epsilon_and_close(epsilon: float) -> None:
    guarantee = rb.DP(epsilon)
    ratio = ratio_below(guarantee)
    with mp.workdps(100):
        truth = mp.exp(reference.number(Fraction(epsilon)))
        assert reference.number(ratio) <= truth
        assert 1 - reference.number(ratio) / truth <= mp.mpf(2) ** -120


@given(strategies.ratios())
def test_an_exact_ratio_stays_as_it_is(ratio: Fraction) -> None:
    assert ratio_below(rb.DP.from_ratio(ratio)) == ratio


@pytest.mark.parametrize("epsilon", TINY)
@pytest.mark.parametrize("delta", ["0", "1e-300", "0.1"])
def test_a_ratio_is_never_below_one_however_small_epsilon_is(epsilon: str, delta: str) -> None:
    guarantee = rb.DP(epsilon, delta)
    assert ratio_below(guarantee) >= 1
    assert_a_trade_off(safe_curve(guarantee).knots)


@given(strategies.dps(), st.lists(st.fractions(0, 1), max_size=6))
def test_the_curve_of_dp_is_nowhere_below_it_and_close(
    guarantee: rb.DP, levels: list[Fraction]
) -> None:
    knots = safe_curve(guarantee).knots
    assert_a_trade_off(knots)
    with mp.workdps(400):
        for x in [*levels, *(x for x, _ in knots)]:
            polygon = 1 - reference.polygon(knots, x)
            above = reference.number(polygon) - dp_floor(x, guarantee)
            assert above >= -(mp.mpf(10) ** -390)
            assert above <= mp.mpf(2) ** -120


@given(strategies.trade_offs())
def test_a_trade_off_is_its_own_curve(curve: rb.TradeOff) -> None:
    assert safe_curve(curve) == curve
    assert_a_trade_off(curve.knots)


@pytest.mark.slow
@pytest.mark.parametrize("mu", ["0", "1e-9", "0.01", "0.5", "1", "2.5", "30"])
def test_the_curve_of_a_gaussian_is_nowhere_below_it_and_close(mu: str) -> None:
    knots = safe_curve(rb.GaussianDP(mu)).knots
    assert_a_trade_off(knots)
    shift = Fraction(mu)
    inner = knots[1:-1]
    with mp.workdps(60):
        for x, y in inner[:: max(1, len(inner) // 60)]:
            assert reference.number(y) >= gaussian_floor(x, shift)
        for (x0, y0), (x1, y1) in itertools.pairwise(inner[:: max(1, len(inner) // 10)]):
            # a chord over many knots is above the polygon, the polygon above the curve
            middle = (x0 + x1) / 2
            polygon = 1 - reference.polygon(knots, middle)
            assert polygon <= (y0 + y1) / 2
            assert 0 <= reference.number(polygon) - gaussian_floor(middle, shift) < 1e-3


def test_a_gaussian_knot_is_as_close_as_its_digits() -> None:
    with mp.workdps(60):
        for x, y in safe_curve(rb.GaussianDP(1)).knots[1:-1:97]:
            truth = gaussian_floor(x, Fraction(1))
            if x < y:  # the mirror images have their digits in x
                assert 0 <= reference.number(y) - truth <= mp.mpf(2) ** -100 * truth


def test_a_guarantee_of_an_unknown_kind_is_refused() -> None:
    class Other(rb.GaussianDP):
        """Known, by its base."""

    assert safe_curve(Other(1)) == safe_curve(rb.GaussianDP(1))
    stranger: Any = object.__new__(Guarantee.__mro__[-1])
    with pytest.raises(rb.InvalidGuarantee) as caught:
        safe_curve(stranger)
    reference.assert_one_sentence(caught.value, "DP, GaussianDP or TradeOff")

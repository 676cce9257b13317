"""Proximity: the closed form in integers."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
import reference
from rainbowdp.exact.steps import LONGEST
from rainbowdp.rules.proximity.build import proximity_holds, proximity_weights

TOTAL = 1 << 64


@given(st.integers(2, 8), st.integers(1, 40), st.sampled_from(("0", "1e-9", "0.01", "0.3")))
def test_the_weights_are_the_closed_form_rounded_up(answers: int, more: int, delta: str) -> None:
    epsilon = Fraction(more, 10)
    guarantee = rb.DP(epsilon, delta)
    if not proximity_holds(answers, guarantee):
        with mp.workdps(30):
            assert mp.exp(reference.number(epsilon)) <= (answers - 1) * (1 + mp.mpf(2) ** -39)
        return
    margins = proximity_weights(answers, guarantee)
    with mp.workdps(120):
        e = mp.exp(reference.number(epsilon))
        d = reference.number(Fraction(delta))
        y, own = (1 - d) / (1 + e), d / (answers - 1)
        rho = own / (e - 1)
        for t, weight in enumerate(margins.steps[:60], start=1):
            closed = TOTAL * max(mp.mpf(0), (y + rho) * e ** -(t - 1) - rho)
            # each step rounds up, and the next one divides what was added by e
            assert closed - mp.mpf(10) ** -9 <= weight <= closed + 1 + 1 / (1 - 1 / e)


@pytest.mark.parametrize("answers", [2, 3, 4, 10, 1000])
def test_it_holds_from_the_number_of_losers_on(answers: int) -> None:
    losers = answers - 1
    for delta in (0, "0.1"):
        assert not proximity_holds(answers, rb.DP.from_ratio(losers, delta=delta))
        above = losers + Fraction(1, 1 << 30)
        assert proximity_holds(answers, rb.DP.from_ratio(above, delta=delta))
        if losers > 1:
            below = losers - Fraction(1, 1 << 30)
            assert not proximity_holds(answers, rb.DP.from_ratio(below, delta=delta))


def test_it_holds_for_dp_alone() -> None:
    assert not proximity_holds(2, rb.GaussianDP(9))
    assert not proximity_holds(2, rb.TradeOff([(0, 1), ("1/9", "1/9"), (1, 0)]))


def test_the_reasons_there_are_none() -> None:
    with pytest.raises(rb.InvalidGuarantee) as caught:
        proximity_weights(2, rb.GaussianDP(1))
    reference.assert_one_sentence(caught.value, "1-GDP")
    with pytest.raises(rb.InvalidGuarantee) as caught:
        proximity_weights(1, rb.DP(1))
    reference.assert_one_sentence(caught.value, "at least 2 answers", "got 1")
    with pytest.raises(rb.InvalidGuarantee) as caught:
        proximity_weights(4, rb.DP(1))
    reference.assert_one_sentence(caught.value, "epsilon = 1.0986", "1-DP")


def test_the_weights_fall_and_end() -> None:
    for guarantee in (rb.DP(1), rb.DP(1, "1e-6"), rb.DP("0.001"), rb.DP(700), rb.DP(1, 1)):
        steps = proximity_weights(2, guarantee).steps
        assert all(a > b for a, b in itertools.pairwise(steps))
        assert 1 <= len(steps) <= LONGEST
        assert all(type(weight) is int and weight >= 0 for weight in steps)
    assert proximity_weights(3, rb.DP(1, "1e-6")).steps[-1] == 0
    assert proximity_weights(3, rb.DP(1)).steps[-1] == 1
    assert len(proximity_weights(2, rb.DP("1e-6")).steps) == LONGEST

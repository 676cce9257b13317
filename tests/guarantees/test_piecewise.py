"""Guarantees made of lines: the worst set of two rows, against all sets and an accountant."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
import strategies
from rainbowdp.guarantees.curve import Excess, TradeOffCurve

Pair = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
SMALL_DELTAS = st.integers(0, 20).map(lambda n: Fraction(n, 20))


def excess(guarantee: TradeOffCurve, p: Any, q: Any) -> Excess:
    """``excess`` of exact fractions, which numpy's types do not name."""
    return guarantee.excess(p, q)


def floats(row: tuple[Fraction, ...]) -> list[float]:
    return [float(p) for p in row]


@given(strategies.exact_pairs(), strategies.ratios(), SMALL_DELTAS)
@settings(max_examples=100, deadline=None)
def test_excess_is_the_worst_of_all_sets(pair: Pair, ratio: Fraction, delta: Fraction) -> None:
    p, q = pair
    guarantee = rb.DP.from_ratio(ratio, delta=delta)
    found, wanted = excess(guarantee, p, q), reference.worst_set(p, q, ratio, delta)
    assert float(found) == pytest.approx(float(wanted), rel=1e-11)
    assert bool(found) == (wanted > 0)
    if found:  # the set and the direction attain it
        much, little = (p, q) if found.first else (q, p)
        gap = sum(much[i] - ratio * little[i] for i in found.answers) - delta
        assert gap == wanted
    else:
        assert found.answers == ()
    many = guarantee.excesses(np.array([floats(p)]), np.array([floats(q)]))
    assert many.tolist() == [float(found)]


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.tuples(strategies.exact_rows(n), strategies.exact_rows(n))
    ),
    st.floats(1e-100, 2),
)
@settings(max_examples=25, deadline=None)
def test_excess_agrees_with_dp_accounting(pair: Pair, epsilon: float) -> None:
    # The accountant rounds privacy losses to multiples of the interval, up or down, so it gives
    # a lower and an upper bound to the hockey-stick divergence.
    interval = 1e-4

    def divergence(lower: list[float], upper: list[float], pessimistic: bool) -> float:
        log_lower, log_upper = (
            {i: math.log(x) for i, x in enumerate(row) if x > 0} for row in (lower, upper)
        )
        loss = pld.from_two_probability_mass_functions(
            log_lower,
            log_upper,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=interval,
            symmetric=False,
        )
        return float(loss.get_delta_for_epsilon(epsilon))

    p, q = map(floats, pair)
    least, most = (
        max(divergence(p, q, pessimistic), divergence(q, p, pessimistic))
        for pessimistic in (False, True)
    )
    assert most - least < 3 * interval
    found = rb.DP(epsilon).excess(p, q)
    assert least - 1e-9 <= found <= most + 1e-9
    assert max(0.0, least - 0.1) - 1e-9 <= rb.DP(epsilon, "0.1").excess(p, q)
    assert rb.DP(epsilon, "0.1").excess(p, q) <= max(0.0, most - 0.1) + 1e-9


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_rounding_elsewhere_does_not_hide_a_tiny_violation(order: tuple[int, ...]) -> None:
    # 0.6000000000000001 > 2·0.3 by rounding only; 1e-300 > 2·1e-303 for real.
    pair = (0.6000000000000001, 1e-300, 0.3999999999999999), (0.3, 1e-303, 0.7)
    p, q = ([row[i] for i in order] for row in pair)
    found = rb.DP.from_ratio(2).excess(p, q)
    assert found > 0
    assert order.index(1) in found.answers
    assert rb.DP.from_ratio(2).excess(q, p) > 0
    assert rb.DP.from_ratio(2).excesses(np.array([p]), np.array([q]))[0] > 0


def test_rounding_is_overlooked_unless_asked_for() -> None:
    guarantee = rb.DP.from_ratio(2)
    p, q = (0.5 + 2**-52, 0.5 - 2**-52), (0.25, 0.75)
    assert not guarantee.excess(p, q)
    strict = guarantee.excess(p, q, rounding=0)
    assert float(strict) == 2**-52
    assert strict.answers == (0,)
    assert not guarantee.excess((0.5, 0.5), q, rounding=0)
    assert guarantee.excess((0.5 + 1e-11, 0.5 - 1e-11), q) == pytest.approx(1e-11, rel=1e-4)
    assert guarantee.excesses(np.array([p]), np.array([q]), rounding=0).tolist() == [2**-52]

"""Rows on the grid: the product in halves, and the check of edges, against plain fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.mechanisms.lifted.grid import TOTAL, Bound, worst_edge

EPSILONS = st.one_of(st.floats(1e-9, 60), st.floats(0.01, 4), st.sampled_from([0.0, 1.0, 25.0]))
WEIGHTS = st.one_of(st.integers(0, TOTAL), st.integers(0, 60).map(lambda k: min(1 << k, TOTAL)))


@settings(max_examples=100, deadline=None)
@given(EPSILONS, st.lists(WEIGHTS, min_size=1, max_size=5))
def test_times_is_the_product_rounded_down(epsilon: float, weights: list[int]) -> None:
    bound = Bound.of(rb.DP(epsilon))
    ratio = Fraction(bound.multiplier, 1 << bound.shift)
    assert Fraction(bound.ratio) == ratio
    with mpmath.workdps(80):
        true = mpmath.exp(mpmath.mpf(epsilon))
        assert mpmath.mpf(ratio.numerator) / ratio.denominator <= true
        close = min(Fraction(2**35), Fraction(int(true * 2**80), 2**80))
        assert ratio >= close * (1 - Fraction(1, 2**35))
    found = bound.times(np.array(weights, dtype=np.int64)).tolist()
    assert found == [min(TOTAL, weight * ratio // 1) for weight in weights]


def rows(draw: st.DrawFn) -> list[int]:
    cuts = sorted(draw(st.lists(WEIGHTS, min_size=2, max_size=2)))
    return [cuts[0], cuts[1] - cuts[0], TOTAL - cuts[1]]


@st.composite
def tables(draw: st.DrawFn) -> list[list[int]]:
    """Three rows of three weights, some of them close to each other."""
    first = rows(draw)
    near = [first[0] - min(first[0], draw(st.integers(0, TOTAL // 8))), first[1], 0]
    near[2] = TOTAL - near[0] - near[1]
    return [first, near, rows(draw)]


@settings(max_examples=50)
@given(tables(), st.floats(0.01, 3), st.sampled_from([0, "1e-9", "0.01", "0.3"]))
def test_what_passes_is_private_for_every_set_of_answers(
    table: list[list[int]], epsilon: float, delta: str
) -> None:
    promise = rb.DP(epsilon, delta)
    edges = np.array([[0, 1], [1, 2]])
    worst = worst_edge(np.array(table), edges, Bound.of(promise))
    with mpmath.workdps(60):
        ratio = mpmath.exp(mpmath.mpf(epsilon))
        most = max(
            sum(table[a][v] for v in chosen) - ratio * sum(table[b][v] for v in chosen)
            for a, b in ((0, 1), (1, 0), (1, 2), (2, 1))
            for size in (1, 2)
            for chosen in itertools.combinations(range(3), size)
        )
        excess = (
            most
            - mpmath.mpf(promise.exact_delta.numerator) / (promise.exact_delta.denominator) * TOTAL
        )
        assert worst.excess > 0 or excess <= 0
        # Not much is refused that is private: a few units and the short multiplier.
        assert worst.excess <= 0 or excess > -(8 + 3 * ratio * TOTAL * 2.0**-35)


def test_an_excess_of_a_millionth_is_found_where_it_is() -> None:
    bound = Bound.of(rb.DP.from_ratio(3))
    low = TOTAL // 4
    table = np.array([[TOTAL - low, low], [low, TOTAL - low], [TOTAL - low, low]])
    edges = np.array([[0, 1], [1, 2]])
    assert worst_edge(table, edges, bound).excess == 0
    table[2] += [TOTAL // 10**6, -(TOTAL // 10**6)]
    worst = worst_edge(table, edges, bound)
    assert (worst.more, worst.less) == (1, 2)
    assert worst.excess == 3 * (TOTAL // 10**6)


@pytest.mark.parametrize("row", [[-1, TOTAL + 1], [0, TOTAL - 1]])
def test_rows_that_are_no_rows_are_refused(row: list[int]) -> None:
    with pytest.raises(rb.InvalidMechanism, match="integers from 0 that sum to"):
        worst_edge(np.array([row]), np.empty((0, 2), dtype=np.int64), Bound.of(rb.DP(1)))


def test_totals_do_not_wrap() -> None:
    edges = np.array([[0, 1]])
    quarter = 1 << 62
    wrapped = [quarter, quarter, quarter, quarter + TOTAL]  # 2^64 + 2^52
    table = np.array([wrapped, [TOTAL, 0, 0, 0]])
    with pytest.raises(rb.InvalidMechanism, match="integers from 0 that sum to"):
        worst_edge(table, edges, Bound.of(rb.DP(1)))
    many = np.zeros((2, 4097), dtype=np.int64)  # the same of weights that are each a total
    many[0], many[1, 0] = TOTAL, TOTAL
    with pytest.raises(rb.InvalidMechanism, match="integers from 0 that sum to"):
        worst_edge(many, edges, Bound.of(rb.DP(1)))


@pytest.mark.parametrize("kind", [np.uint64, np.float64, np.int32, ">i8"])
def test_weights_of_another_type_are_refused(kind: Any) -> None:
    table = np.array([[1, 0], [1, 0]]).astype(kind)
    with pytest.raises(rb.InvalidMechanism, match="whole numbers of 64 bits"):
        worst_edge(table, np.array([[0, 1]]), Bound.of(rb.DP(1)))

"""Guarantees drawn as polygons."""

from __future__ import annotations

import itertools
import math
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
Knots = list[tuple[Fraction, Fraction]]

# four lines, and a clip: f(0) = 9/10
BENT = rb.TradeOff(
    [(0, "9/10"), ("1/10", "1/2"), ("1/4", "1/4"), ("1/2", "1/10"), ("9/10", 0), (1, 0)]
)


def excess(guarantee: TradeOffCurve, p: Any, q: Any) -> Excess:
    """``excess`` of exact fractions, which numpy's types do not name."""
    return guarantee.excess(p, q)


def iterated(knots: tuple[tuple[Fraction, Fraction], ...], s: Fraction, depth: int) -> Fraction:
    for _ in range(depth):
        s = reference.polygon(knots, s)
    return s


def best_row(guarantee: rb.TradeOff, row: tuple[Fraction, ...], depth: int) -> tuple[Fraction, ...]:
    sums = (iterated(guarantee.knots, s, depth) for s in itertools.accumulate(row))
    return tuple(b - a for a, b in itertools.pairwise([Fraction(0), *sums]))


def curve_of(ratio: Fraction, delta: Fraction) -> Knots:
    """The trade-off curve of (ε,δ), its turning point on the diagonal."""
    turn = (1 - delta) / (ratio + 1)
    knots = [(Fraction(0), 1 - delta), (turn, turn), (1 - delta, Fraction(0))]
    return knots if delta == 0 else [*knots, (Fraction(1), Fraction(0))]


@given(
    strategies.trade_offs(),
    st.integers(1, 5).flatmap(strategies.exact_rows),
    st.integers(0, 6),
)
@settings(max_examples=50)
def test_rows_equal_exact_iteration(
    guarantee: rb.TradeOff, row: tuple[Fraction, ...], depth: int
) -> None:
    with mp.workdps(60):
        wanted = [reference.number(p) for p in best_row(guarantee, row, depth)]
    reference.assert_same_probabilities(guarantee.rows(row, depth), wanted)


@pytest.mark.parametrize("guarantee", [BENT, rb.TradeOff([(0, 0), (1, 0)])])
@pytest.mark.parametrize(
    "row",
    [
        (
            Fraction(0),
            Fraction(1, 10**300),
            Fraction(1, 10),
            Fraction(9, 10) - Fraction(1, 10**300),
        ),
        (Fraction(1, 4), Fraction(1, 10**250), Fraction(3, 4) - Fraction(1, 10**250)),
        (Fraction(1), Fraction(0)),
        (Fraction(0), Fraction(1)),
        (Fraction(1),),
    ],
)
def test_rows_with_tiny_entries(guarantee: rb.TradeOff, row: tuple[Fraction, ...]) -> None:
    for depth in range(8):
        with mp.workdps(400):
            wanted = [reference.number(p) for p in best_row(guarantee, row, depth)]
        reference.assert_same_probabilities(guarantee.rows(row, depth), wanted)


@given(strategies.trade_offs(), strategies.prefix_sums(), st.integers(0, 6))
@settings(max_examples=50)
def test_grow_and_ungrow_equal_exact_iteration(
    guarantee: rb.TradeOff, s: float, depth: int
) -> None:
    wanted = iterated(guarantee.knots, Fraction(s), depth)
    assert guarantee.grow(s, depth) == pytest.approx(float(wanted), rel=1e-12, abs=1e-320)
    least = Fraction(guarantee.ungrow(s, depth))
    slack = Fraction(1, 10**12)
    assert iterated(guarantee.knots, min(Fraction(1), least + slack), depth) >= s
    if least > slack:
        assert iterated(guarantee.knots, least - slack, depth) < s


@given(
    strategies.ratios(),
    st.integers(0, 19).map(lambda n: Fraction(n, 20)),
    strategies.rows(),
    strategies.depths(),
)
def test_the_curve_of_a_promise_is_that_promise(
    ratio: Fraction, delta: Fraction, row: tuple[float, ...], depth: int
) -> None:
    promise = rb.DP.from_ratio(ratio.numerator, ratio.denominator, delta=delta)
    drawn = rb.TradeOff(curve_of(ratio, delta))
    depths = [depth, depth + 1, math.inf]
    assert drawn.rows(row, depths) == pytest.approx(promise.rows(row, depths), rel=2e-12, abs=0)
    s = np.linspace(0, 1, 17)
    assert drawn.grow(s, depth) == pytest.approx(promise.grow(s, depth), rel=1e-12)
    backwards = row[::-1]
    assert drawn.excess(row, backwards) == pytest.approx(
        float(promise.excess(row, backwards)), rel=1e-11, abs=1e-320
    )


def test_tiny_rows_far_away_agree_with_the_promise() -> None:
    promise, drawn = rb.DP.from_ratio(2), rb.TradeOff(curve_of(Fraction(2), Fraction(0)))
    row, depths = (1e-300, 0.25, 1e-300, 0.75), [0, 1, 2, 900, 996, 997, 998, 999, 1000]
    assert drawn.rows(row, depths) == pytest.approx(promise.rows(row, depths), rel=2e-12, abs=0)


@given(strategies.exact_pairs(), strategies.trade_offs())
def test_excess_is_the_worst_of_all_sets(pair: Pair, guarantee: rb.TradeOff) -> None:
    def violation(p: tuple[Fraction, ...], q: tuple[Fraction, ...], chosen: Any) -> Fraction:
        power = sum((p[i] for i in chosen), Fraction(0))
        level = sum((q[i] for i in chosen), Fraction(0))
        return power - reference.polygon(guarantee.knots, level)

    sets = reference.every_set(len(pair[0]))
    wanted = max(Fraction(0), *(violation(p, q, s) for p, q in (pair, pair[::-1]) for s in sets))
    found = excess(guarantee, *pair)
    assert float(found) == pytest.approx(float(wanted), rel=1e-11)
    assert bool(found) == (wanted > 0)
    if found:
        much, little = pair if found.first else pair[::-1]
        assert violation(much, little, found.answers) == wanted
    rows = [np.array([[float(x) for x in row]]) for row in pair]
    assert guarantee.excesses(rows[0], rows[1]).tolist() == [float(found)]


@given(strategies.trade_offs(), st.integers(2, 4).flatmap(strategies.exact_rows))
def test_the_next_row_is_close(guarantee: rb.TradeOff, row: tuple[Fraction, ...]) -> None:
    assert not excess(guarantee, row, guarantee.rows(row, 1))
    assert not excess(guarantee, row, best_row(guarantee, row, 1))


def test_saturation() -> None:
    assert BENT.step([0, 0.05, 0.875, 0.9, 0.95, 1]) == pytest.approx(
        [0.1, 0.3, 0.99375, 1, 1, 1], rel=1e-14
    )
    assert BENT.grow(0, [0, 1, 2, 100, math.inf]) == pytest.approx([0, 0.1, 0.5, 1, 1], rel=1e-14)
    # Nothing at all reaches 0.05 in one step, for 0 grows to 0.1 already.
    assert BENT.ungrow([0, 0.05, 0.1, 0.5, 1], 1) == pytest.approx([0, 0, 0, 0.1, 0.9], abs=1e-15)
    assert BENT.rows((0, 1), [1, math.inf]) == pytest.approx(
        np.array([[0.1, 0.9], [1, 0]]), rel=1e-14, abs=0
    )


def test_collinear_knots_are_no_vertices() -> None:
    plain = rb.TradeOff([(0, 1), (1, 0)])
    assert rb.TradeOff([(0, 1), ("1/4", "3/4"), ("1/2", "1/2"), (1, 0)]) == plain
    assert len(plain.knots) == 2
    assert len(plain.lines) == 1


def test_a_curve_prints_itself() -> None:
    guarantee = rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)])
    assert repr(guarantee) == "TradeOff([(0, 1), (1/3, 1/3), (1, 0)])"
    assert str(guarantee) == "trade-off curve with 3 knots"


@pytest.mark.parametrize(
    ("knots", "said"),
    [
        ([], ["no knots"]),
        ([(0, 1)], ["(0, 1) … (0, 1)", "(1, 0)"]),
        ([(0.125, 1), (1, 0)], ["x = 0", "(0.125, 1)"]),
        ([(0, 1), (0.5, 0.5)], ["(1, 0)", "(0.5, 0.5)"]),
        ([(0, 1), (1, 0.25)], ["(1, 0.25)"]),
        ([(0, 1.5), (1, 0)], ["[0, 1]", "(0, 1.5)"]),
        ([(0, -0.5), (1, 0)], ["[0, 1]", "(0, -0.5)"]),
        (
            [(0, 1), (0.5, 0.25), (0.25, 0.125), (1, 0)],
            ["rising", "(0.5, 0.25) then (0.25, 0.125)"],
        ),
        ([(0, 1), (0.25, 0.25), (0.25, 0.125), (1, 0)], ["rising", "(0.25, 0.25) then (0.25, 0.1"]),
        ([(0, 1), (0.25, 0.25), (0.5, 0.5), (1, 0)], ["falling", "(0.25, 0.25) then (0.5, 0.5)"]),
        ([(0, 1), (0.25, 0.875), (1, 0)], ["convex", "(0.25, 0.875)"]),
        ([(0, 1), (0.25, 0.125), (1, 0)], ["mirror image", "(0.25, 0.125)"]),
        ([(0, 0.875), (1, 0)], ["mirror image", "(0, 0.875)"]),
        ([(0, 1), (0.5, 0), (1, 0)], ["mirror image", "(0.5, 0)"]),
        ([(0, math.nan), (1, 0)], ["nan"]),
        ([(0, 1), (math.inf, 0)], ["inf"]),
        ([(0, "one"), (1, 0)], ["'one'"]),
        ([(0, True), (1, 0)], ["True"]),
        ([(0, 1, 2)], ["pairs", "(0, 1, 2)"]),
        ([0, 1], ["pairs", "[0, 1]"]),
        (5, ["pairs", "5"]),
    ],
)
def test_what_is_no_trade_off_curve_is_refused(knots: Any, said: list[str]) -> None:
    with pytest.raises(rb.InvalidGuarantee) as caught:
        rb.TradeOff(knots)
    reference.assert_one_sentence(caught.value, *said)


def test_rounded_knots_that_break_convexity_are_told_about_fractions() -> None:
    # On the line from (0, 1) to (1, 0) up to rounding: 0.1 and 0.9 in floats miss it.
    with pytest.raises(rb.InvalidGuarantee, match=r"exact fractions|mirror image"):
        rb.TradeOff([(0, 1), (0.1, 0.9), (0.9, 0.1), (1, 0)])
    assert len(rb.TradeOff([(0, 1), ("0.1", "0.9"), ("0.9", "0.1"), (1, 0)]).knots) == 2

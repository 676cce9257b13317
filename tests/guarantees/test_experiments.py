"""Curves from functions, both ways, composed and mixed: against tests found by brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import rainbowdp as rb
from rainbowdp.guarantees.experiments import height

Pair = list[tuple[Fraction, Fraction]]


@st.composite
def curves(draw: st.DrawFn) -> rb.TradeOff:
    """Any symmetric polygon: that of a few outcomes and their mirror images."""
    some = st.tuples(st.integers(0, 6), st.integers(0, 6))
    weights = draw(st.lists(some, min_size=1, max_size=2))
    both = [*weights, *((q, p) for p, q in weights)]
    total = sum(p for p, _ in both)
    if total == 0:
        return rb.TradeOff([(0, 1), (1, 0)])
    return curve_of([(Fraction(p, total), Fraction(q, total)) for p, q in both])


def curve_of(pair: Pair) -> rb.TradeOff:
    return rb.TradeOff(hull(pair))


def hull(pair: Pair) -> list[tuple[Fraction, Fraction]]:
    """The lower boundary of all tests, each set of outcomes tried: no sorting by ratio."""
    points = set()
    for chosen in product((0, 1), repeat=len(pair)):
        alarm = sum((p for c, (p, _) in zip(chosen, pair, strict=True) if c), Fraction(0))
        miss = sum((q for c, (_, q) in zip(chosen, pair, strict=True) if not c), Fraction(0))
        points.add((alarm, miss))
    best: dict[Fraction, Fraction] = {}
    for x, y in points:
        best[x] = min(y, best.get(x, y))
    at, kept = Fraction(0), [(Fraction(0), best[Fraction(0)])]
    while at < 1:  # on to where it falls most steeply, and of those the farthest
        level = best[at]
        at = min((x for x in best if x > at), key=lambda x: ((best[x] - level) / (x - at), -x))
        kept.append((at, best[at]))
    return kept


def outcomes(curve: rb.TradeOff) -> Pair:
    found = [(Fraction(0), 1 - curve.knots[0][1])]
    knots = curve.knots
    found += [(b[0] - a[0], a[1] - b[1]) for a, b in pairwise(knots)]
    return [pair for pair in found if any(pair)]


@settings(max_examples=25, deadline=None)
@given(curves(), curves())
def test_a_composition_is_what_the_best_test_of_both_can_do(
    first: rb.TradeOff, second: rb.TradeOff
) -> None:
    both = [(p * r, q * s) for p, q in outcomes(first) for r, s in outcomes(second)]
    if len(both) <= 9:
        assert rb.TradeOff.composed([first, second]) == curve_of(both)
    assert rb.TradeOff.composed([first]) == first


@settings(max_examples=25, deadline=None)
@given(curves(), curves(), st.fractions(0, 1))
def test_a_mixture_is_what_the_best_test_of_either_can_do(
    first: rb.TradeOff, second: rb.TradeOff, weight: Fraction
) -> None:
    pair = [(weight * p, weight * q) for p, q in outcomes(first)]
    pair += [((1 - weight) * p, (1 - weight) * q) for p, q in outcomes(second)]
    mixed = rb.TradeOff.mixed([(weight, first), (1 - weight, second)])
    assert mixed == curve_of([each for each in pair if any(each)])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=4))
def test_both_ways_is_the_larger_of_a_curve_and_its_inverse(weights: Any) -> None:
    totals = [sum(each[side] for each in weights) for side in (0, 1)]
    if 0 in totals:
        return
    points = hull([(Fraction(p, totals[0]), Fraction(q, totals[1])) for p, q in weights])
    found = rb.TradeOff.both_ways(points)
    zero = next(x for x, y in points if y == 0)
    for number in range(41):
        x = Fraction(number, 40)
        inverse = min((a for a in below(points, x)), default=zero)
        assert height(found.knots, x) == max(height(points, x), inverse)


def below(points: Any, level: Fraction) -> list[Fraction]:
    """Where the curve is at most ``level``: the ends and crossings of its edges."""
    found = [x for x, y in points if y <= level]
    for (x0, y0), (x1, y1) in pairwise(points):
        if y0 > level > y1:
            found.append(x0 + (x1 - x0) * (y0 - level) / (y0 - y1))
    return found


def test_a_function_in_balls_or_floats_is_bounded_from_above() -> None:
    def in_balls(x: Fraction) -> arb:
        return (1 - arb(x.numerator) / x.denominator) ** 2

    def in_floats(x: Fraction) -> float:
        return float(norm.cdf(norm.ppf(1 - float(x)) - 1))

    places = np.linspace(0.001, 0.999, 2000)
    squared = rb.TradeOff.from_function(in_balls, knots=64)
    over = np.maximum((1 - places) ** 2, 1 - np.sqrt(places))
    assert (heights(squared, places) >= over).all()
    assert (heights(squared, places) - over).max() < 1e-2
    gauss = rb.TradeOff.from_function(in_floats, knots=128, error=1e-12)
    exact = norm.cdf(norm.ppf(1 - places) - 1)
    assert (heights(gauss, places) >= exact).all()
    assert (heights(gauss, places) - exact).max() < 1e-2
    graph = rb.RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    made = rb.optimal(graph, gauss).exact()
    assert rb.optimal(graph, rb.GaussianDP(1)).check(rb.GaussianDP(1))
    for one, other in ((0, 1), (1, 2)):
        rows = [[float(p) for p in made[node].values()] for node in (one, other)]
        names = [list(made[node]) for node in (one, other)]
        row = [rows[1][names[1].index(answer)] for answer in names[0]]
        assert rb.GaussianDP(1).excess(rows[0], row) <= 0


def heights(curve: rb.TradeOff, places: Any) -> Any:
    x, y = np.array(curve.knots, dtype=np.float64).T
    return np.interp(places, x, y)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: 1 - x**2, r"must be convex with f\(1\) = 0, but is not near x = "),
        (lambda x: 0.5, "answers with floats; say by error= how far"),
        (lambda x: Fraction(3, 2) - x, r"must be a chance, from 0 to 1, got 1.5 at x = 0"),
        (lambda x: "lots", r"f\(x\) must be a finite number"),
        (lambda x: max(Fraction(1, 2), 1 - x), "must be convex"),
    ],
)
def test_what_is_no_curve_is_refused(function: Any, message: str) -> None:
    with pytest.raises(rb.InvalidGuarantee, match=message):
        rb.TradeOff.from_function(function)


def test_combinations_that_make_no_sense_are_refused() -> None:
    half = rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)])
    with pytest.raises(rb.InvalidGuarantee, match="at least one curve, got none"):
        rb.TradeOff.composed([])
    with pytest.raises(rb.InvalidGuarantee, match="only polygons can be combined, got DP"):
        rb.TradeOff.composed([half, rb.DP(1)])  # type: ignore[list-item]
    with pytest.raises(rb.InvalidGuarantee, match="add up to 1, exactly"):
        rb.TradeOff.mixed([(0.1, half), (0.9, half)])
    wide = rb.TradeOff.from_function(lambda x: (1 - x) ** 2, knots=600)
    with pytest.raises(rb.InvalidGuarantee, match="more than the limit of 20,000; use curves"):
        rb.TradeOff.composed([wide, wide])

"""Rényi divergences and ρ, against mpmath at hundreds of orders."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rainbowdp.auditing import renyi
from rainbowdp.auditing.curve import Row
from rainbowdp.auditing.renyi import Divergences
from reference import number
from reference import renyi as by_definition
from strategies import exact_rows

GRID = [mp.mpf(1) + mp.mpf(2) ** (mp.mpf(k) / 2) for k in range(-40, 20, 2)]


@st.composite
def families(draw: st.DrawFn) -> list[Row]:
    size = draw(st.integers(2, 4))
    few = st.lists(exact_rows(size, zeros=False), min_size=2, max_size=4, unique=True)
    return draw(few)


def over_all(rows: Sequence[Row]) -> Divergences:
    return Divergences(rows, list(itertools.combinations(range(len(rows)), 2)))


def in_digits(rows: Sequence[Row]) -> list[list[mp.mpf]]:
    return [[number(p) for p in row] for row in rows]


@given(families(), st.sampled_from(["1", "1.5", "2", "7", "40"]))
def test_the_divergence_of_an_order(rows: list[Row], order: str) -> None:
    found = over_all(rows).of_order(Fraction(order)).bounds
    with mp.workdps(40):
        if order == "1":
            truth = max(
                mp.fsum(a * mp.log(a / b) for a, b in zip(p, q, strict=True))
                for p, q in itertools.permutations(in_digits(rows), 2)
            )
        else:
            truth = max(
                by_definition(p, q, mp.mpf(order))
                for p, q in itertools.permutations(in_digits(rows), 2)
            )
        assert mp.mpf(found.low) <= truth <= mp.mpf(found.high)
        assert found.high - found.low <= 1e-14 * max(1.0, found.high)


@given(families())
@settings(max_examples=8)
def test_rho_lies_above_every_order_and_is_attained(rows: list[Row]) -> None:
    found = over_all(rows).rho()
    bounds = found.bounds
    assert bounds.high <= bounds.low * (1 + 2 * renyi.CLOSE)
    with mp.workdps(40):
        every = in_digits(rows)
        for p, q in itertools.permutations(every, 2):
            assert all(by_definition(p, q, a) / a <= mp.mpf(bounds.high) for a in GRID)
        assert found.rows is not None
        p, q = (every[place] for place in found.rows)
        order = mp.mpf(max(found.order, 1 + 1e-15))
        with mp.workdps(60):
            assert by_definition(p, q, order) / order >= mp.mpf(bounds.low) * (1 - mp.mpf("1e-9"))


@pytest.mark.parametrize("ratio", ["1.01", "2", "20", "1e6"])
def test_randomized_response_costs_what_theory_says(ratio: str) -> None:
    e = Fraction(ratio)
    rows = [(e / (1 + e), 1 / (1 + e)), (1 / (1 + e), e / (1 + e))]
    found = over_all(rows).rho()
    with mp.workdps(40):
        epsilon = mp.log(number(e))
        truth = epsilon * mp.tanh(epsilon / 2)
        assert mp.mpf(found.bounds.low) <= truth <= mp.mpf(found.bounds.high)
    assert found.order == 1.0


def test_a_supremum_inside_is_found() -> None:
    rows = [(Fraction(999, 1000), Fraction(1, 1000)), (Fraction(9999, 10000), Fraction(1, 10000))]
    found = over_all(rows).rho()
    assert 2 < found.order < 20
    with mp.workdps(40):
        p, q = in_digits(rows)
        best = max(
            by_definition(*pair, 1 + x) / (1 + x)
            for pair in ((p, q), (q, p))
            for x in mp.linspace(mp.mpf("0.01"), 20, 400)
        )
    assert found.bounds.low >= best * (1 - 1e-4)
    assert mp.mpf(found.bounds.high) >= best


def test_against_a_number_the_search_stops_when_it_knows() -> None:
    rows = [(Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))]
    every = over_all(rows)
    truth = every.rho().bounds
    for spare in (Fraction(1, 10**3), Fraction(1, 10**8), Fraction(1, 10**12)):
        middle = Fraction(truth.low)
        above, below = middle * (1 + spare), middle * (1 - spare)
        assert every.rho(against=below).bounds.low > below
        assert every.rho(against=above).bounds.high <= above


def test_rows_of_different_support_have_no_rho() -> None:
    rows = [(Fraction(1, 2), Fraction(1, 2)), (Fraction(1), Fraction(0))]
    found = over_all(rows)
    assert found.rho().bounds.low == math.inf
    assert found.rho().rows == (0, 1)
    assert Divergences(rows, [(1, 0)]).of_order(Fraction(2)).rows == (0, 1)


def test_an_answer_that_never_comes_changes_nothing() -> None:
    rows = [(Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))]
    more = [(a, Fraction(0), b) for a, b in rows]
    assert over_all(more).rho().bounds == over_all(rows).rho().bounds


def test_probabilities_that_no_float_holds() -> None:
    tiny = Fraction(1, 10**400)
    rows = [(tiny, 1 - tiny), (2 * tiny, 1 - 2 * tiny)]
    found = over_all(rows)
    assert 0 <= found.of_order(Fraction(2)).bounds.low < 1e-300
    assert found.rho().bounds.high < 1e-2


@given(families())
@settings(max_examples=5)
def test_floats_pass_over_no_pair_that_matters(rows: list[Row]) -> None:
    every = over_all(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(renyi, "_FEW", 0)
        screened = over_all(rows).rho().bounds
    assert screened.high >= every.rho().bounds.low
    assert screened.low <= every.rho().bounds.high
    alone = [
        Divergences(rows, [pair]).rho().bounds
        for pair in itertools.combinations(range(len(rows)), 2)
    ]
    for bounds in (screened, every.rho().bounds):
        assert bounds.high >= max(one.low for one in alone)
    logs = np.array([[math.log(p) for p in row] for row in rows])
    grid = np.concatenate([[0.0], 2.0 ** np.arange(-6.0, 11.0)])
    lows, highs = renyi._rhos(logs, every.pairs, grid)
    for place, pair in enumerate(every.pairs):
        with mp.workdps(30):
            p, q = (in_digits(rows)[end] for end in pair)
            near = mp.fsum(a * mp.log(a / b) for a, b in zip(p, q, strict=True))
            best = max(near, *(by_definition(p, q, a) / a for a in GRID))
        assert lows[place] <= best * (1 + 0.1) + 1e-12  # a coarse oracle
        assert best <= highs[place] + 1e-12


def test_equal_rows_are_no_pairs() -> None:
    assert Divergences([(Fraction(1),)], []).rho().bounds.high == 0.0
    assert Divergences([(Fraction(1),)], []).of_order(Fraction(2)).bounds.high == 0.0

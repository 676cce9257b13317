"""Zero-concentrated privacy as a promise: its numbers, its guess, and who refuses it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
import reference
from rainbowdp.deployment import deploy
from rainbowdp.guarantees.closeness import lines_of, promise_of
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.descriptions import describe_guarantee, restore_guarantee
from rainbowdp.guarantees.polygons import safe_curve
from rainbowdp.plots import growth, trade_off, worst_pair
from rainbowdp.studio.loading import read_world

PROMISE = rb.ZeroConcentrated("1/8")
GRAPH = rb.RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])


@given(st.fractions(Fraction(1, 10**6), 450))
def test_it_is_described_and_restored_exactly(rho: Fraction) -> None:
    promise = rb.ZeroConcentrated(rho)
    assert promise.exact_rho == rho
    assert restore_guarantee(describe_guarantee(promise)) == promise
    assert pickle.loads(pickle.dumps(promise)) == promise
    assert promise.rho == float(rho)


def test_numbers_are_taken_as_they_are_written() -> None:
    assert rb.ZeroConcentrated("0.1").exact_rho == Fraction(1, 10)
    assert rb.ZeroConcentrated(0.1).exact_rho == Fraction(0.1)
    assert describe_guarantee(PROMISE) == {"kind": "zero-concentrated", "rho": "1/8"}
    assert (str(PROMISE), repr(PROMISE)) == ("0.125-zCDP", "ZeroConcentrated(rho=0.125)")


@pytest.mark.parametrize("rho", [0, -1, "-1/8", 451, "nan", "inf", None, "x", True])
def test_what_is_no_rho_is_refused(rho: Any) -> None:
    with pytest.raises(rb.InvalidGuarantee) as caught:
        rb.ZeroConcentrated(rho)
    reference.assert_one_sentence(caught.value, "rho must be")


@pytest.mark.parametrize(
    "description",
    [
        {"kind": "zero-concentrated"},
        {"kind": "zero-concentrated", "rho": "1/8", "delta": "0"},
        {"kind": "zero-concentrated", "mu": "1/8"},
        {"kind": "gaussian", "rho": "1/8"},
    ],
)
def test_a_description_of_two_minds_is_refused(description: dict[str, str]) -> None:
    with pytest.raises(rb.InvalidGuarantee, match="zero-concentrated"):
        restore_guarantee(description)


@given(st.floats(1e-6, 10))
def test_two_neighbors_exist_between_which_the_guess_is_as_good(rho: float) -> None:
    """Randomized response is ρ-zCDP at the guess, and is not a little above it."""
    chance = rb.ZeroConcentrated(rho).best_guess()
    assert 0.5 < chance < 1
    with mp.workdps(60):

        def price(guess: mp.mpf) -> mp.mpf:
            pair = (guess, 1 - guess), (1 - guess, guess)
            return max(reference.renyi(*pair, mp.mpf(a)) / mp.mpf(a) for a in reference.ORDERS)

        assert price(mp.mpf(chance)) <= mp.mpf(rho) * (1 + mp.mpf(10) ** -9)
        assert price(mp.mpf(chance) + (1 - mp.mpf(chance)) / 100) > mp.mpf(rho)


@given(
    st.lists(st.integers(1, 50), min_size=2, max_size=5).flatmap(
        lambda row: st.tuples(st.just(row), st.permutations(row))
    )
)
def test_no_test_guesses_better_than_what_both_divergences_allow(
    rows: tuple[list[int], list[int]],
) -> None:
    p, q = ([Fraction(weight, sum(row)) for weight in row] for row in rows)
    with mp.workdps(60):
        exact = [[reference.number(x) for x in row] for row in (p, q)]
        near = mp.mpf("1.0000001")  # of order 1, where both are least
        larger = max(reference.renyi(a, b, near) for a, b in permutations(exact))
    if larger > mp.mpf("1e-9"):
        success = (1 + sum(max(a - b, Fraction(0)) for a, b in zip(p, q, strict=True))) / 2
        assert float(success) <= rb.ZeroConcentrated(float(larger)).best_guess() + 1e-6


def test_it_is_compared_by_the_kinds_that_keep_it() -> None:
    compared = rb.compare(rb.Winner(["a", "b", "c"]), PROMISE, records=6)
    kinds = [standing.mechanism for standing in compared.standings]
    assert sorted(kinds) == ["exponential", "noisy-counts"]
    assert "homogeneous" in compared.left_out


def test_it_is_no_curve() -> None:
    assert not isinstance(PROMISE, TradeOffCurve)
    assert not hasattr(PROMISE, "excess")
    assert not hasattr(PROMISE, "step")


def studio_file(promise: Any) -> object:
    mechanism = rb.best(rb.Winner(["a", "b"]), promise)
    return read_world(mechanism.exact().as_text().encode(), "mechanism.json")


def growing(promise: Any) -> object:
    return growth(promise, (0.5, 0.5), 3)


DOORS: dict[str, Callable[[Any], object]] = {
    "optimal": lambda promise: rb.optimal(GRAPH, promise),
    "optimal, boundary": lambda promise: rb.optimal(GRAPH, promise, (0.6, 0.4)),
    "optimal, question": lambda promise: rb.optimal(rb.Threshold(3), promise),
    "proximity": lambda promise: rb.proximity(GRAPH, promise),
    "design": lambda promise: rb.design(GRAPH, promise),
    "program": lambda promise: rb.program(GRAPH, promise),
    "optimum": lambda promise: rb.optimum(GRAPH, promise, (0.6, 0.4)),
    "symmetric": lambda promise: rb.BoundaryCondition.symmetric(GRAPH, promise),
    "validate": lambda promise: rb.BoundaryCondition(GRAPH, (0.6, 0.4)).validate(promise),
    "from_table": lambda promise: rb.Mechanism.from_table(
        GRAPH, dict.fromkeys(range(3), (0.5, 0.5)), promise
    ),
    "check": lambda promise: rb.optimal(GRAPH, rb.DP(1)).check(promise),
    "lifted": lambda promise: rb.lifted(GRAPH, promise),
    "randomized response": lambda promise: rb.randomized_response(GRAPH, promise),
    "baseline's check": lambda promise: rb.exponential(rb.Threshold(3), rb.DP(1)).check(
        promise, records=3
    ),
    "continuous": lambda promise: rb.Continuous(promise, cdf=lambda x: x, quantile=lambda u: u),
    "studio, a file": studio_file,
    "deploy": lambda promise: deploy(GRAPH, promise),
    "growth": growing,
    "trade_off": trade_off,
    "worst_pair": lambda promise: worst_pair(rb.optimal(GRAPH, rb.DP(1)), promise),
    "safe_curve": safe_curve,
    "lines_of": lines_of,
    "promise_of": lambda promise: promise_of(promise, 8),
}


@pytest.mark.parametrize("door", DOORS)
def test_what_goes_by_a_curve_refuses_it(door: str) -> None:
    with pytest.raises(rb.RainbowError) as caught:
        DOORS[door](PROMISE)
    reference.assert_one_sentence(caught.value)

"""Costs as they are shown, kept and compared with what is left."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from ledgers import says
from rainbowdp.errors import BudgetExceeded, LedgerError
from rainbowdp.ledger import Cost, DPCost, GaussianCost, ZeroConcentratedCost
from rainbowdp.ledger.cost import KINDS, must_fit, price, restore_cost

MILLIONTH = Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("cost", "words", "symbols", "with_delta"),
    [
        (DPCost(Fraction(1), Fraction(0)), "epsilon 1, delta 0", "ε 1", "ε 1, δ 0"),
        (DPCost(Fraction(0), Fraction(0)), "epsilon 0, delta 0", "ε 0", "ε 0, δ 0"),
        (
            DPCost(Fraction(1), MILLIONTH),
            *("epsilon 1, delta 0.000001", "ε 1, δ 0.000001", "ε 1, δ 0.000001"),
        ),
        (GaussianCost(Fraction(4)), "mu 2", "μ 2", "μ 2, δ 0"),
        (GaussianCost(Fraction(0)), "mu 0", "μ 0", "μ 0, δ 0"),
        (
            GaussianCost(Fraction(4), MILLIONTH),
            *("mu 2, delta 0.000001", "μ 2, δ 0.000001", "μ 2, δ 0.000001"),
        ),
        (ZeroConcentratedCost(Fraction(0)), "rho 0", "ρ 0", "ρ 0, δ 0"),
    ],
)
def test_a_cost_in_words_and_symbols(cost: Cost, words: str, symbols: str, with_delta: str) -> None:
    assert str(cost) == words
    assert cost.in_symbols() == symbols
    assert cost.in_symbols(with_delta=True) == with_delta


@pytest.mark.parametrize(
    ("left", "total", "said"),
    [
        (DPCost(Fraction(2), Fraction(0)), DPCost(Fraction(3), Fraction(0)), "2 of 3 ε left"),
        (DPCost(Fraction(0), Fraction(0)), DPCost(Fraction(3), Fraction(0)), "0 of 3 ε left"),
        (
            DPCost(Fraction(2), Fraction(0)),
            DPCost(Fraction(3), MILLIONTH),
            "2 of 3 ε, 0 of 0.000001 δ left",
        ),
        (GaussianCost(Fraction(1)), GaussianCost(Fraction(4)), "1 of 2 μ left"),
        (GaussianCost(Fraction(0)), GaussianCost(Fraction(0)), "nothing left"),
    ],
)
def test_what_is_left_out_of_a_total(left: Any, total: Any, said: str) -> None:
    assert left.out_of(total) == said


@given(st.sampled_from(sorted(KINDS)), st.fractions(0, 9), st.fractions(0, 1))
def test_a_cost_is_restored_by_the_names_of_its_parts(
    kind: str, amount: Fraction, delta: Fraction
) -> None:
    cost = KINDS[kind](amount, delta)
    assert restore_cost(cost.as_dict()) == cost
    assert type(restore_cost(cost.as_dict())) is type(cost)


def test_a_cost_of_no_kind_is_refused() -> None:
    with pytest.raises(LedgerError, match=says("No budget has the parts sigma, delta.")):
        restore_cost({"sigma": "1", "delta": "0"})


def test_a_guarantee_that_no_ledger_adds_up_is_refused() -> None:
    message = "A ledger cannot add up TradeOff guarantees. Ask under DP, GaussianDP or"
    for kind in KINDS:
        with pytest.raises(LedgerError, match=message):
            price(rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)]), kind, "budget.db")


AMOUNTS = st.fractions(0, 3, max_denominator=4)


@given(st.tuples(AMOUNTS, AMOUNTS), st.tuples(AMOUNTS, AMOUNTS))
def test_what_fits_is_at_most_what_is_left_in_every_part(
    asked: tuple[Fraction, Fraction], left: tuple[Fraction, Fraction]
) -> None:
    if asked[0] <= left[0] and asked[1] <= left[1]:
        must_fit(DPCost(*asked), DPCost(*left), "budget.db")
    else:
        with pytest.raises(BudgetExceeded):
            must_fit(DPCost(*asked), DPCost(*left), "budget.db")


@pytest.mark.parametrize(
    ("asked", "left", "said"),
    [
        (
            ("2", "1/2"),
            ("1", "0"),
            "ε = 2, but budget.db has ε = 1 left. Use a smaller epsilon, or",
        ),
        (
            ("1", "1/2"),
            ("1", "0"),
            "δ = 0.5, but budget.db has δ = 0 left. Ask without delta, have",
        ),
        (
            ("1", "1/2"),
            ("1", "1/4"),
            "δ = 0.5, but budget.db has δ = 0.25 left. Use a smaller delta, or",
        ),
        (
            ("0", "1/2"),
            ("0", "1/4"),
            "δ = 0.5, but budget.db has δ = 0.25 left. Use a smaller delta, or",
        ),
        (
            ("1", "0"),
            ("0", "0"),
            "ε = 1, but budget.db has ε = 0 left. Have the ledger's owner add some, or",
        ),
        (
            ("1", "0"),
            ("0", "1/4"),
            "ε = 1, but budget.db has ε = 0 left. Use a smaller epsilon, or",
        ),
    ],
)
def test_what_does_not_fit_is_told_with_a_remedy(
    asked: tuple[str, str], left: tuple[str, str], said: str
) -> None:
    cost, there = (DPCost(*map(Fraction, parts)) for parts in (asked, left))
    end = " repeat an earlier question by its name for free."
    with pytest.raises(BudgetExceeded, match=says(f"This question costs {said}", end)):
        must_fit(cost, there, "budget.db", rb.DP(1))


@pytest.mark.parametrize("ratio", ["1.000001", "2", "1e9"])
def test_the_price_of_a_ratio_is_never_below_its_logarithm(ratio: str) -> None:
    cost = DPCost.of(rb.DP.from_ratio(ratio, delta=MILLIONTH))
    with mpmath.workdps(100):
        over = mpmath.mpf(cost.epsilon.numerator) / cost.epsilon.denominator
        over -= mpmath.log(mpmath.mpf(ratio))
    assert 0 < over < 1e-30
    assert cost.delta == MILLIONTH


def test_every_kind_has_its_own_prices() -> None:
    with pytest.raises(NotImplementedError):
        Cost.of(rb.DP(1))

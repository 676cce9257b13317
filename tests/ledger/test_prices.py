"""What answers cost in each currency, against mpmath and dp-accounting."""

from __future__ import annotations

import math
import tempfile
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import mpmath as mp
import pytest
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as losses
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
from ledgers import new_ledger, spend
from rainbowdp.ledger import Cost, DPCost, GaussianCost, ZeroConcentratedCost
from rainbowdp.ledger.amounts import GRID, rounded_down, rounded_up
from rainbowdp.ledger.budget import budget
from rainbowdp.ledger.cost import KINDS, price


def mu_squared(guarantee: Any) -> Fraction:
    cost = price(guarantee, "gaussian", "")
    assert isinstance(cost, GaussianCost)
    return cost.mu_squared


# the grid


@given(st.fractions(0, 10**6))
def test_amounts_are_rounded_to_the_safe_side_by_less_than_a_grain(value: Fraction) -> None:
    up, down = rounded_up(value), rounded_down(value)
    assert down <= value <= up
    assert up - down in (0, Fraction(1, GRID))
    assert (up * GRID).denominator == (down * GRID).denominator == 1


@given(st.integers(0, 10**9), st.integers(1, 100), st.integers(0, 30))
def test_small_parts_and_decimals_are_on_the_grid(above: int, below: int, places: int) -> None:
    for value in (
        Fraction(above, below),
        Fraction(above, below) ** 2 / 2,
        Fraction(above, 10**places),
    ):
        assert rounded_up(value) == value


# the price of epsilon in mu


@example(Fraction(1, 10**30))
@example(Fraction(3, 2))
@given(st.fractions(Fraction(1, 10**9), 700))
@settings(deadline=None)
def test_epsilon_costs_the_least_mu_rounded_up(epsilon: Fraction) -> None:
    with mp.workdps(400):
        x = 1 / (1 + mp.e ** reference.number(epsilon))
        least = 8 * mp.erfinv(1 - 2 * x) ** 2
        over = reference.number(mu_squared(rb.DP(epsilon))) - least
        assert 0 <= over <= least * mp.mpf(2) ** -80


@given(st.fractions("1.000001", 10**6, max_denominator=10**6))
@settings(deadline=None)
def test_a_ratio_costs_the_same(ratio: Fraction) -> None:
    with mp.workdps(60):
        x = 1 / (1 + reference.number(ratio))
        least = 8 * mp.erfinv(1 - 2 * x) ** 2
        over = reference.number(mu_squared(rb.DP.from_ratio(ratio))) - least
        assert 0 <= over <= least * mp.mpf(2) ** -80


@pytest.mark.parametrize("epsilon", ["1/1000", "0.1", "1", "5"])
def test_the_curve_of_mu_is_below_that_of_epsilon_and_touches_it(epsilon: str) -> None:
    """Nowhere above it; a little less μ is above it in the corner."""
    with mp.workdps(60):
        e = mp.e ** reference.number(Fraction(epsilon))
        mu = mp.sqrt(reference.number(mu_squared(rb.DP(epsilon))))

        def gaussian(alpha: mp.mpf, m: mp.mpf) -> mp.mpf:
            return mp.ncdf(mp.sqrt(2) * mp.erfinv(1 - 2 * alpha) - m)

        corner = 1 / (1 + e)
        for place in range(1, 20):
            alpha = mp.mpf(place) / 20
            for near in (alpha, corner * alpha, 1 - corner * alpha):
                line = max(1 - e * near, (1 - near) / e, mp.mpf(0))
                assert gaussian(near, mu) <= line + mp.mpf(10) ** -50
        assert gaussian(corner, mu * (1 - mp.mpf(10) ** -12)) > corner


def test_what_is_nothing_costs_nothing_everywhere() -> None:
    for kind in KINDS:
        assert not any(price(rb.DP(0), kind, "").parts)
    assert mu_squared(rb.DP.from_ratio(1)) == 0


# which prices there are


PROMISES: dict[str, Any] = {
    "pure": rb.DP("0.1"),
    "approximate": rb.DP("0.1", "1e-9"),
    "gaussian": rb.GaussianDP("0.1"),
    "concentrated": rb.ZeroConcentrated("0.1"),
}
PRICED = {
    "dp": {"pure", "approximate"},
    "gaussian": {"pure", "approximate", "gaussian"},
    "zero-concentrated": {"pure", "approximate", "gaussian", "concentrated"},
}


@pytest.mark.parametrize(("kind", "promise"), list(product(PRICED, PROMISES)))
def test_every_promise_has_a_price_where_it_implies_one(kind: str, promise: str) -> None:
    if promise in PRICED[kind]:
        cost = price(PROMISES[promise], kind, "")
        assert cost.kind == kind
        assert (cost.parts[1] > 0) == (promise == "approximate")
        assert cost.parts[0] > 0
    else:
        with pytest.raises(rb.LedgerError, match="cannot pay for"):
            price(PROMISES[promise], kind, "")


# budgets, against dp-accounting's privacy loss distributions


def curve(guarantee: Any) -> Any:
    """The privacy loss distribution of the worst answer under a guarantee, rounded up."""
    grid = {"value_discretization_interval": 1e-3}
    if isinstance(guarantee, rb.DP):
        promise = common.DifferentialPrivacyParameters(guarantee.epsilon, guarantee.delta)
        return losses.from_privacy_parameters(promise, **grid)
    return losses.from_gaussian_mechanism(1 / guarantee.mu, **grid)


SESSIONS = [
    ("rho", [rb.DP("0.1", "1e-8")]),
    ("mu", [rb.DP("0.1", "1e-8")]),
    ("mu", [rb.DP("0.05", "1e-9"), rb.GaussianDP("0.1"), rb.DP("0.2")]),
    ("rho", [rb.DP("0.05", "1e-9"), rb.GaussianDP("0.1"), rb.DP("0.2")]),
    ("rho", [rb.DP("0.5")]),
]


@pytest.mark.parametrize(("currency", "asked"), SESSIONS)
def test_all_that_a_converted_budget_pays_for_keeps_the_total(
    currency: str, asked: list[Any]
) -> None:
    """As many answers as fit, composed by another library, at the ε and δ of the budget."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = new_ledger(
            f"{folder}/budget.db", epsilon=3, delta="1e-6", delta_apart="5e-7", spend_in=currency
        )
        left, counts = ledger.balance().left, [0] * len(asked)
    costs = [price(guarantee, ledger.kind, "") for guarantee in asked]
    progress = True
    while progress:
        progress = False
        for number, cost in enumerate(costs):
            if all(part >= 0 for part in (left - cost).parts):
                left, progress = left - cost, True
                counts[number] += 1
    assert all(counts)
    together = None
    for guarantee, count in zip(asked, counts, strict=True):
        composed = curve(guarantee).self_compose(count)
        together = composed if together is None else together.compose(composed)
    assert together is not None
    assert together.get_delta_for_epsilon(3) <= 1e-6


def test_in_mu_dp_accounting_finds_little_left_over() -> None:
    """Gaussian answers use a μ budget up: the bound is met to a few percent."""
    total = budget(3, "1e-6", spend_in="mu")
    count = math.floor(total.parts[0] / mu_squared(rb.GaussianDP("0.01")))
    found = curve(rb.GaussianDP("0.01")).self_compose(count).get_delta_for_epsilon(3)
    assert 0.95e-6 < found < 1.05e-6  # its grid rounds up


@pytest.mark.parametrize(
    ("options", "total"),
    [
        ({"rho": 1, "delta": "1e-6"}, ZeroConcentratedCost(Fraction(1), Fraction(1, 10**6))),
        ({"mu": 2, "delta": "1e-6"}, GaussianCost(Fraction(4), Fraction(1, 10**6))),
        ({"epsilon": 2, "delta": "1e-6"}, DPCost(Fraction(2), Fraction(1, 10**6))),
    ],
)
def test_a_delta_is_kept_apart_and_adds_up(
    tmp_path: Path, options: dict[str, Any], total: Cost
) -> None:
    ledger = new_ledger(tmp_path / "budget.db", **options)
    assert ledger.balance().total == total
    for _ in range(4):
        spend(ledger, rb.DP("0.01", "25e-8"))
    assert ledger.balance().left.parts[1] == 0
    with pytest.raises(rb.BudgetExceeded, match=r"has δ = 0 left\. Ask without delta"):
        spend(ledger, rb.DP("0.01", "1e-9"))
    spend(ledger, rb.DP("0.01"))

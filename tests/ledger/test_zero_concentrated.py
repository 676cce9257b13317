"""A budget in ρ: what it pays for, at which price, and what it refuses."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import mpmath as mp
import pytest
from dp_accounting import NeighboringRelation, dp_event
from dp_accounting.rdp import rdp_privacy_accountant as rdp
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
from kinds import permute_and_flip
from ledgers import SOURCE, new_ledger, places, says, spend  # noqa: F401
from rainbowdp.ledger import Ledger, ZeroConcentratedCost
from rainbowdp.ledger.cost import price

RHO = ZeroConcentratedCost.of
WHERE = "budget.db"


def rho_of(guarantee: Any) -> Fraction:
    cost = price(guarantee, "zero-concentrated", WHERE)
    assert isinstance(cost, ZeroConcentratedCost)
    return cost.rho


def test_a_budget_in_rho_is_spent_and_read_again(places: Callable[[], str]) -> None:  # noqa: F811
    place = places()
    ledger = new_ledger(place, rho="1/2")
    spend(ledger, rb.ZeroConcentrated("1/8"), "first")
    spend(ledger, rb.GaussianDP("1/2"))
    again = Ledger.open(place)
    assert again.kind == "zero-concentrated"
    assert again.balance().left == ZeroConcentratedCost(Fraction(1, 4))
    assert str(again.balance().spent) == "rho 0.25"
    first, second = again.history()
    assert first.guarantee == rb.ZeroConcentrated("1/8")
    assert second.guarantee == rb.GaussianDP("1/2")
    assert first.as_dict()["guarantee"] == {"kind": "zero-concentrated", "rho": "1/8"}
    assert first.as_dict()["cost"] == {"rho": "1/8", "delta": "0"}
    assert again.balance().as_dict()["total"] == {"rho": "1/2", "delta": "0"}


PAID = st.one_of(
    st.builds(rb.ZeroConcentrated, st.fractions("1/50", 1, max_denominator=50)),
    st.builds(rb.GaussianDP, st.fractions(0, 1, max_denominator=20)),
    st.builds(rb.DP, st.fractions(0, 1, max_denominator=20)),
    st.builds(rb.DP.from_ratio, st.fractions(1, 3, max_denominator=20)),
)


@settings(max_examples=12, deadline=None)
@given(total=st.fractions("1/9", 2, max_denominator=9), asked=st.lists(PAID, max_size=8))
def test_prices_add_up_exactly_and_never_past_the_budget(total: Fraction, asked: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = new_ledger(f"{folder}/budget.db", rho=total)
        spent, paid = Fraction(0), []
        for guarantee in asked:
            if spent + rho_of(guarantee) <= total:
                spend(ledger, guarantee)
                spent += rho_of(guarantee)
                paid.append(guarantee)
            else:
                with pytest.raises(rb.BudgetExceeded, match="This question costs ρ = "):
                    spend(ledger, guarantee)
        assert ledger.balance().spent == ZeroConcentratedCost(spent)
        assert [entry.guarantee for entry in ledger.history()] == paid


# prices


@given(st.fractions(0, 30))
def test_gaussian_privacy_costs_half_its_square(mu: Fraction) -> None:
    assert 0 <= rho_of(rb.GaussianDP(mu)) - mu * mu / 2 < Fraction(1, 10**100)


@given(st.fractions(Fraction(1, 10**9), 700))
@settings(deadline=None)
def test_epsilon_costs_what_randomized_response_does_rounded_up(epsilon: Fraction) -> None:
    """From above, and to a hundred bits."""
    found = rho_of(rb.DP(epsilon))
    with mp.workdps(80):
        e = reference.number(epsilon)
        wanted = e * (1 - mp.e**-e) / (1 + mp.e**-e)
        assert 0 <= reference.number(found) - wanted <= wanted * mp.mpf(2) ** -100


@given(st.fractions(1, 10**6, max_denominator=10**6))
def test_a_ratio_costs_the_same(ratio: Fraction) -> None:
    found = rho_of(rb.DP.from_ratio(ratio))
    with mp.workdps(80):
        r = reference.number(ratio)
        wanted = mp.log(r) * (r - 1) / (r + 1)
        assert 0 <= reference.number(found) - wanted <= wanted * mp.mpf(2) ** -100


@pytest.mark.parametrize("epsilon", ["1/1000", "0.3", "1", "4", "20"])
def test_randomized_response_is_within_the_price_at_every_order_and_needs_it(epsilon: str) -> None:
    rho = rho_of(rb.DP(epsilon))
    with mp.workdps(60):
        r = mp.e ** reference.number(Fraction(epsilon))
        pair = (r / (1 + r), 1 / (1 + r)), (1 / (1 + r), r / (1 + r))
        for order in reference.ORDERS:
            a = mp.mpf(order)
            assert reference.renyi(*pair, a) <= a * reference.number(rho)
        near = mp.mpf("1.00000001")
        assert reference.renyi(*pair, near) > reference.number(rho) * (1 - mp.mpf("1e-6"))


@pytest.mark.parametrize("epsilon", ["1/2", "2"])
def test_any_rows_under_epsilon_are_within_the_price(epsilon: str) -> None:
    """Permute-and-flip, which is not range-bounded: every pair of small votes, both ways."""
    promise = rb.DP(epsilon)
    exact = permute_and_flip(rb.Winner(["a", "b", "c"]), promise).exact()
    rho = rho_of(promise)
    assert rho > Fraction(epsilon) ** 2 / 8  # it is not priced by a range
    for counts in reference.histograms(3, 3):
        p = exact.at(dict(zip("abc", counts, strict=True))).weights
        for other in reference.one_substituted(counts):
            q = exact.at(dict(zip("abc", other, strict=True))).weights
            assert reference.concentrated_close(p, q, rho)


@pytest.mark.parametrize("mu", ["1/4", "1"])
def test_the_price_of_mu_is_dp_accountings(mu: str) -> None:
    """The Gaussian mechanism of noise 1/μ has D_α = αμ²/2."""
    accountant = rdp.RdpAccountant(orders=[2.0, 8.0, 64.0])
    accountant.compose(dp_event.GaussianDpEvent(1 / float(Fraction(mu))))
    for order, found in zip(accountant._orders, accountant._rdp, strict=True):
        assert found == pytest.approx(order * float(rho_of(rb.GaussianDP(mu))))


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_the_price_of_epsilon_is_within_dp_accountings(epsilon: str) -> None:
    """It has randomized response too; the sum of ten is within ten times the price."""
    value = float(Fraction(epsilon))
    noise = 2 / (1 + math.exp(value))  # the chance that the answer is replaced by a random one
    accountant = rdp.RdpAccountant([1.01, 2.0, 8.0, 64.0], NeighboringRelation.REPLACE_ONE)
    accountant.compose(dp_event.RandomizedResponseDpEvent(noise, 2), 10)
    most = 10 * float(rho_of(rb.DP(epsilon)))
    shares = [
        found / (order * most)
        for order, found in zip(accountant._orders, accountant._rdp, strict=True)
    ]
    assert max(shares) <= 1 + 1e-9
    assert max(shares) > 0.98


def test_the_exponential_mechanism_is_cheaper_under_rho_than_under_epsilon() -> None:
    """Four times, for small budgets: under ε the ledger knows no range."""
    assert rho_of(rb.DP("0.1")) > Fraction(39, 10) * rho_of(rb.ZeroConcentrated("1/800"))


def test_what_costs_nothing() -> None:
    assert rho_of(rb.DP(0)) == rho_of(rb.DP.from_ratio(1)) == rho_of(rb.GaussianDP(0)) == 0


# refusals


def test_a_delta_is_refused_where_none_is_kept_apart(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = new_ledger(place, rho=1)
    message = (
        f"This question costs δ = 1e-9, but {place} has δ = 0 left. Ask without delta, have "
        "the ledger's owner add some, or repeat an earlier question by its name for free."
    )
    for refused in (spend, fits):
        with pytest.raises(rb.LedgerError, match=says(message)):
            refused(ledger, rb.DP("0.1", "1e-9"))
    with pytest.raises(rb.LedgerError, match="cannot add up TradeOff"):
        spend(ledger, rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)]))
    assert ledger.balance().entries == 0


def fits(ledger: Ledger, guarantee: Any) -> None:
    ledger.must_fit(guarantee, unit=ledger.unit, neighbors=ledger.neighbors, source=SOURCE)


@pytest.mark.parametrize(("one", "other"), list(permutations(["epsilon", "mu", "rho"], 2)))
def test_what_pays_for_others(tmp_path: Path, one: str, other: str) -> None:
    ledger = new_ledger(tmp_path / "budget.db", **{one: 1})
    promises: dict[str, Any] = {
        "epsilon": rb.DP("1/9"),
        "mu": rb.GaussianDP("1/9"),
        "rho": rb.ZeroConcentrated("1/9"),
    }
    if one == "rho" or (one, other) == ("mu", "epsilon"):
        spend(ledger, promises[other])
        return
    with pytest.raises(rb.LedgerError, match="cannot pay for"):
        spend(ledger, promises[other])


@pytest.mark.parametrize(
    ("promise", "name"),
    [(rb.DP(2), "epsilon"), (rb.GaussianDP(2), "mu"), (rb.ZeroConcentrated(2), "rho")],
)
def test_the_remedy_names_what_was_asked_in(tmp_path: Path, promise: Any, name: str) -> None:
    ledger = new_ledger(tmp_path / "budget.db", rho="1/10")
    for refused in (spend, fits):
        with pytest.raises(rb.BudgetExceeded, match=f"ρ = 0.1 left. Use a smaller {name}, or"):
            refused(ledger, promise)


def test_an_answer_under_rho_is_paid_for_and_recalled(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", rho="1/4")
    mechanism = rb.best(rb.Winner(["red", "green", "blue"]), rb.ZeroConcentrated("1/8"))
    options: dict[str, Any] = {"ledger": ledger, "name": "poll", "source": SOURCE}
    release = rb.ask(mechanism, {"red": 900, "green": 7, "blue": 1}, **options)
    assert release.answer == "red"
    assert release.entry is not None
    assert release.entry.cost == ZeroConcentratedCost(Fraction(1, 8))
    assert release.proves is not None
    assert rb.ask(mechanism, {"red": 900, "green": 7, "blue": 1}, **options).recalled
    other = rb.best(rb.Winner(["red", "green", "blue"]), rb.ZeroConcentrated("1/9"))
    with pytest.raises(rb.LedgerError, match=r"was drawn under 0\.125-zCDP"):
        rb.ask(other, {"red": 900}, **options)
    assert ledger.balance().left == ZeroConcentratedCost(Fraction(1, 8))

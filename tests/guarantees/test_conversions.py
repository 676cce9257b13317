"""A total in (ε,δ) that is spent in ρ or μ is kept, and nearly all of it is used."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import pld_privacy_accountant as pld
from dp_accounting.rdp import rdp_privacy_accountant as rdp

import rainbowdp as rb
from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.conversions import mu_within, rho_within

PROMISES = [("3", "1e-6"), ("0.1", "1e-9"), ("1", "0.01"), ("10", "1e-5"), ("0.5", "0.3")]
ORDERS = [1 + 10 ** (k / 40) for k in range(-160, 161)]


def delta_of_rho(rho: float, epsilon: float) -> float:
    """The least δ over many orders, by the formula in 50 digits."""
    with mpmath.workdps(50):
        return min(
            float(
                mpmath.exp((a - 1) * (a * mpmath.mpf(rho) - epsilon))
                / (a - 1)
                * (1 - 1 / mpmath.mpf(a)) ** a
            )
            for a in ORDERS
        )


@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_rho_keeps_the_promise_and_a_little_more_does_not(epsilon: str, delta: str) -> None:
    rho = float(rho_within(rb.DP(epsilon, delta)))
    assert delta_of_rho(rho, float(epsilon)) <= float(delta) * 1.01  # the grid is coarse
    assert delta_of_rho(rho * 1.01, float(epsilon)) > float(delta)


@pytest.mark.parametrize(("epsilon", "delta"), PROMISES[:4])
def test_rho_is_dp_accountings(epsilon: str, delta: str) -> None:
    rho = float(rho_within(rb.DP(epsilon, delta)))
    accountant = rdp.RdpAccountant(ORDERS)
    accountant.compose(dp_event.GaussianDpEvent(1 / math.sqrt(2 * rho)))
    assert accountant.get_epsilon(float(delta)) == pytest.approx(float(epsilon), rel=0.01)


@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_mu_keeps_the_promise_exactly(epsilon: str, delta: str) -> None:
    mu = mu_within(rb.DP(epsilon, delta))

    def least(value: Fraction) -> mpmath.mpf:
        m, e = mpmath.mpf(value.numerator) / value.denominator, mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)

    with mpmath.workdps(60):
        assert least(mu) <= mpmath.mpf(delta) < least(mu + Fraction(1, 2**47))


def test_mu_is_dp_accountings() -> None:
    mu = float(mu_within(rb.DP(3, "1e-6")))
    accountant = pld.PLDAccountant()
    accountant.compose(dp_event.GaussianDpEvent(1 / mu))
    assert accountant.get_delta(3) == pytest.approx(1e-6, rel=0.01)


def test_a_ratio_is_taken_from_below() -> None:
    exactly = rho_within(rb.DP.from_ratio(20, delta="1e-6"))
    assert exactly <= rho_within(rb.DP(math.log(20) + 1e-12, "1e-6"))
    assert float(exactly) == pytest.approx(float(rho_within(rb.DP(math.log(20), "1e-6"))))


def test_no_delta_no_conversion() -> None:
    for convert in (rho_within, mu_within):
        with pytest.raises(InvalidGuarantee, match="needs a delta above 0"):
            convert(rb.DP(1))


def test_a_ledger_is_created_in_rho_or_mu(tmp_path: Path) -> None:
    promise = rb.DP(3, "1e-6")
    book = rb.Ledger.create(tmp_path / "r.db", dataset="d", epsilon=3, delta="1e-6", spend_in="rho")
    tiny = Fraction(1, 10**28)  # a ledger rounds down to its grid
    rho, apart = book.balance().total.parts
    assert 0 <= rho_within(promise) - rho < tiny
    assert apart == 0
    book = rb.Ledger.create(tmp_path / "m.db", dataset="d", epsilon=3, delta="1e-6", spend_in="mu")
    squared, apart = book.balance().total.parts
    assert 0 <= mu_within(promise) ** 2 - squared < tiny
    assert apart == 0
    for wrong, message in (("pounds", "must be 'mu' or 'rho'"), ("rho", "needs a delta above 0")):
        with pytest.raises(InvalidGuarantee, match=message):
            rb.Ledger.create(
                tmp_path / "x.db",
                dataset="d",
                epsilon=3,
                delta=0 if wrong == "rho" else "1e-6",
                spend_in=wrong,
            )
    with pytest.raises(InvalidGuarantee, match="is for a budget in epsilon and delta"):
        rb.Ledger.create(tmp_path / "x.db", dataset="d", rho=1, spend_in="rho")


def test_thirty_votes_are_surer_than_by_adding_up_epsilon() -> None:
    """THEORY 10: a total of (3, 1e-6) over thirty votes of four answers."""
    promise = rb.DP(3, "1e-6")
    vote = rb.Winner(["a", "b", "c", "d"])
    counts = {"a": 24, "b": 14, "c": 12, "d": 10}
    plain = rb.best(vote, rb.DP(Fraction(3, 30)))
    spent = rb.best(vote, rb.ZeroConcentrated(rho_within(promise) / 30))
    assert spent[counts]["a"] > plain[counts]["a"] + 0.05

"""A ledger as the budget of real OpenDP and diffprivlib measurements: the same sums as theirs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import opendp.prelude as dp
import pytest
from diffprivlib import BudgetAccountant, tools

import rainbowdp as rb
from ledgers import new_ledger
from rainbowdp.ledger import Charge, Entry, Ledger

INCOMES = [31.0, 28.5, 44.0, 39.0] * 50


def pay(ledger: Ledger, guarantee: rb.Guarantee, library: str) -> Entry:
    return ledger.spend(
        guarantee,
        question={"library": library},
        unit=ledger.unit,
        neighbors=ledger.neighbors,
    )


@pytest.fixture
def space() -> tuple[dp.Domain, dp.Metric]:
    dp.enable_features("contrib")
    return dp.vector_domain(dp.atom_domain(bounds=(0.0, 100.0))), dp.symmetric_distance()


def test_opendps_own_composition_costs_what_the_ledger_adds_up(
    tmp_path: Path, space: tuple[dp.Domain, dp.Metric]
) -> None:
    ledger = new_ledger(tmp_path / "budget.db", rho=1, neighbors="added or removed")
    measurements: list[Any] = [
        space >> dp.t.then_sum() >> dp.m.then_gaussian(scale)  # type: ignore[no-untyped-call]
        for scale in (400.0, 250.0)
    ]
    for measurement in measurements:
        entry = pay(ledger, rb.ZeroConcentrated(measurement.map(1)), "OpenDP")
        ledger.record(entry, str(measurement(INCOMES)))
    composed: Any = dp.c.make_composition(measurements)
    theirs = composed.map(1)
    ours = ledger.balance().spent.parts[0]
    each = [Fraction(measurement.map(1)) for measurement in measurements]
    assert 0 <= ours - each[0] - each[1] < Fraction("1e-100")
    assert theirs == pytest.approx(float(ours), rel=1e-9)
    assert ledger.balance().answers == 2


def test_a_pure_measurement_of_opendp_is_dearer_by_itself_than_in_rho(
    tmp_path: Path, space: tuple[dp.Domain, dp.Metric]
) -> None:
    count = space >> dp.t.then_count() >> dp.m.then_laplace(scale=10.0)
    assert count.map(1) == pytest.approx(0.1)
    ledger = new_ledger(tmp_path / "budget.db", rho="0.005", neighbors="added or removed")
    pay(ledger, rb.DP(count.map(1)), "OpenDP")
    with pytest.raises(rb.BudgetExceeded):
        pay(ledger, rb.DP(count.map(1)), "OpenDP")


def test_diffprivlibs_accountant_has_the_same_total(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    accountant = BudgetAccountant(epsilon=1)
    for epsilon in ("0.25", "0.5"):
        entry = pay(ledger, rb.DP(epsilon), "diffprivlib")
        mean = tools.mean(INCOMES, epsilon=float(epsilon), bounds=(0, 100), accountant=accountant)
        ledger.record(entry, str(mean))
    assert accountant.total() == (0.75, 0)
    assert ledger.balance().spent.parts == (Fraction(3, 4), Fraction(0))
    with pytest.raises(rb.BudgetExceeded):
        pay(ledger, rb.DP("0.5"), "diffprivlib")


def test_answers_of_several_libraries_are_paid_for_together(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    charges = [
        Charge(rb.DP("0.3"), {"library": name}, ledger.unit, ledger.neighbors)
        for name in ("OpenDP", "diffprivlib", "ours")
    ]
    assert len(ledger.spend_all(charges)) == 3
    with pytest.raises(rb.BudgetExceeded, match="These 3 questions cost ε = "):
        ledger.spend_all(charges)

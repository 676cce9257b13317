"""Paying for several answers at once: each name once, and the sum of all prices."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
from ledgers import QUESTION, SOURCE, new_ledger, says, spend
from rainbowdp.errors import BudgetExceeded, LedgerError, NameTaken
from rainbowdp.ledger import Charge, DPCost, Ledger
from rainbowdp.questions import Unit


def charges(*names: str | None, epsilon: str = "0.1") -> list[Charge]:
    unit = Unit()
    return [
        Charge(rb.DP(epsilon), QUESTION, unit, "substituted", SOURCE, name=name) for name in names
    ]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """With a budget of ε = 1."""
    return new_ledger(tmp_path / "budget.db", epsilon=1)


@pytest.mark.parametrize("place", range(3))
def test_a_name_of_an_earlier_entry_is_refused_wherever_it_stands(
    ledger: Ledger, place: int
) -> None:
    spend(ledger, rb.DP("0.1"), "used")
    names = ["a", "b", "c"]
    names[place] = "used"
    with pytest.raises(NameTaken, match="The name 'used' is already in "):
        ledger.spend_all(charges(*names))
    assert ledger.balance().entries == 1


@pytest.mark.parametrize("names", [("a", "a"), ("a", "b", "a"), ("b", "a", "a"), ("a", None, "a")])
def test_a_name_is_refused_where_it_stands_twice(
    ledger: Ledger, names: tuple[str | None, ...]
) -> None:
    with pytest.raises(NameTaken, match="The name 'a' is already in "):
        ledger.spend_all(charges(*names))
    assert ledger.balance().entries == 0


def test_answers_without_a_name_are_never_the_same(ledger: Ledger) -> None:
    entries = ledger.spend_all(charges(None, "a", None))
    assert [entry.name for entry in entries] == [None, "a", None]
    assert [entry.number for entry in entries] == [1, 2, 3]
    assert ledger.spend_all([]) == ()


@pytest.mark.parametrize("place", range(3))
def test_each_price_is_in_the_sum(ledger: Ledger, place: int) -> None:
    prices = ["0.1", "0.1", "0.1"]
    prices[place] = "0.9"
    with pytest.raises(BudgetExceeded, match=r"These 3 questions cost ε = 1\.1, but "):
        ledger.spend_all([charges(None, epsilon=price)[0] for price in prices])
    prices[place] = "0.8"
    ledger.spend_all([charges(None, epsilon=price)[0] for price in prices])
    assert ledger.balance().left == DPCost(Fraction(0), Fraction(0))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"unit": "record"}, "unit must be a Unit, got str."),
        ({"name": "\n"}, "The name must be printable text, got '\\n'."),
        ({"source": "\n"}, "The source must be printable text, got '\\n'."),
        ({"name": "a", "source": None}, "The name 'a' needs a source: "),
        ({"neighbors": "added or removed"}, "This question protects one record added or removed"),
        ({"unit": Unit(person="who")}, "This question protects one person"),
    ],
)
def test_what_can_never_be_paid_is_refused_before_data_is_read(
    ledger: Ledger, wrong: dict[str, Any], message: str
) -> None:
    asked: dict[str, Any] = {"unit": Unit(), "neighbors": "substituted", "source": SOURCE, **wrong}
    with pytest.raises(LedgerError, match=says(message, "")):
        ledger.must_fit(rb.DP("0.1"), **asked)


def test_the_remedy_names_the_promise_of_two_rows(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "two.db", epsilon=1, rows_per_person=2)
    with pytest.raises(LedgerError, match="and rows_per_person=2 and no person column, or create"):
        ledger.must_fit(rb.DP("0.1"), unit=Unit(), neighbors="substituted")

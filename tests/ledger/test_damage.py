"""A ledger that was altered: an error, never another balance."""

from __future__ import annotations

from pathlib import Path

import pytest

import rainbowdp as rb
from ledgers import execute, says, spend
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import Ledger


def broken(ledger: Ledger) -> str:
    return says(
        f"a ledger must be whole, got damage in {ledger.where}; restore a copy made after its "
        "last question, or count the whole budget as spent"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rainbow_budget SET total_epsilon = '30'",
        "UPDATE rainbow_budget SET spent_epsilon = '0'",
        "UPDATE rainbow_budget SET neighbors = 'added or removed'",
        "UPDATE rainbow_budget SET entries = 0",
        "DELETE FROM rainbow_budget",
    ],
)
def test_a_budget_that_was_altered(place: str, statement: str) -> None:
    ledger = Ledger.create(place, epsilon=3)
    spend(ledger, rb.DP(1))
    execute(place, statement)
    with pytest.raises(LedgerError, match=broken(ledger)):
        spend(ledger, rb.DP(1))
    with pytest.raises(LedgerError, match=broken(ledger)):
        Ledger.open(place)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rainbow_entries SET answer = '\"green\"' WHERE number = 1",
        "UPDATE rainbow_entries SET epsilon = '1/2' WHERE number = 2",
        "DELETE FROM rainbow_entries WHERE number = 2",
        "DELETE FROM rainbow_entries WHERE number = 1",
    ],
)
def test_entries_that_were_altered(place: str, statement: str) -> None:
    ledger = Ledger.create(place, epsilon=3)
    ledger.record(spend(ledger, rb.DP(1)), "red")
    spend(ledger, rb.DP(0))
    execute(place, statement)
    with pytest.raises(LedgerError, match=broken(ledger)):
        ledger.history()


def test_any_damaged_bytes_are_an_error_or_harmless(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = Ledger.create(place, epsilon=100)
    for number in range(30):
        ledger.record(spend(ledger, rb.DP(1), f"name {number}"), "red")
    whole, truth = place.read_bytes(), (ledger.balance(), ledger.history())
    said = []
    for start in range(0, len(whole), 512):
        place.write_bytes(whole[:start] + b"\xa5" * 64 + whole[start + 64 :])
        try:
            opened = Ledger.open(place)
            assert (opened.balance(), opened.history()) == truth
        except LedgerError as error:
            said.append(str(error))
    assert len(said) > len(whole) / 512 / 4
    assert all("got damage in" in line or "got something else" in line for line in said)


def test_a_file_that_was_cut_short(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = Ledger.create(place, epsilon=1)
    whole = place.read_bytes()
    for length in (len(whole) // 2, len(whole) - 4096):
        place.write_bytes(whole[:length])
        with pytest.raises(LedgerError, match=broken(ledger)):
            Ledger.open(place)

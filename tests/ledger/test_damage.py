"""A ledger that was altered: an error, never another balance."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

import rainbowdp as rb
from ledgers import QUESTION, execute, new_ledger, says, spend
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import Ledger
from rainbowdp.ledger.schema import LEDGER, balance_row


def broken(ledger: Ledger) -> str:
    return says(
        f"{ledger.where} is damaged. Restore a copy made after its last question, or treat the "
        "whole budget as spent."
    )


@pytest.mark.parametrize(
    "statement",
    [
        """UPDATE rainbow_ledger SET balance = REPLACE(balance, '"3"', '"30"')""",
        "UPDATE rainbow_ledger SET balance = REPLACE(balance, 'substituted', 'added or removed')",
        "UPDATE rainbow_ledger SET balance = REPLACE(balance, 'town', 'city')",
        "UPDATE rainbow_ledger SET number = 1",
        "UPDATE rainbow_ledger SET head = 'f'",
        "UPDATE rainbow_ledger SET software = 'rainbowdp 9'",
        "DELETE FROM rainbow_ledger",
        "DELETE FROM rainbow_records WHERE number = 2",
        "DELETE FROM rainbow_records",
        "UPDATE rainbow_records SET time = '2020-01-01' WHERE number = 2",
        "INSERT INTO rainbow_records SELECT 3, time, kind, name, subject, content, seal "
        "FROM rainbow_records WHERE number = 2",
    ],
)
def test_a_budget_that_was_altered(place: str, statement: str) -> None:
    ledger = new_ledger(place, epsilon=3)
    spend(ledger, rb.DP(1))
    execute(place, statement)
    with pytest.raises(LedgerError, match=broken(ledger)):
        spend(ledger, rb.DP(1))
    with pytest.raises(LedgerError, match=broken(ledger)):
        Ledger.open(place)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rainbow_records SET content = REPLACE(content, 'red', 'green') WHERE number = 3",
        """UPDATE rainbow_records SET content = REPLACE(content, '"1"', '"2"') WHERE number = 2""",
        "UPDATE rainbow_records SET content = REPLACE(content, 'final', 'first') WHERE number = 2",
        "UPDATE rainbow_records SET name = 'poll' WHERE number = 2",
        "UPDATE rainbow_records SET subject = NULL WHERE number = 3",
        "UPDATE rainbow_records SET kind = 'note' WHERE number = 3",
        "DELETE FROM rainbow_records WHERE number = 4",
        "DELETE FROM rainbow_records WHERE number = 3",
        "DELETE FROM rainbow_records WHERE number = 1",
    ],
)
def test_entries_that_were_altered(place: str, statement: str) -> None:
    ledger = new_ledger(place, epsilon=3)
    ledger.record(spend(ledger, rb.DP(1)), "red")
    spend(ledger, rb.DP(0))
    execute(place, statement)
    with pytest.raises(LedgerError, match=broken(ledger)):
        ledger.history()


def test_sources_that_are_not_those_of_the_entries(place: str) -> None:
    """Rows that are each whole, but do not belong together."""
    ledger = new_ledger(place, epsilon=3)
    spend(ledger, rb.DP(1))
    row = balance_row(replace(ledger.balance(), sources=("votes, first count",)), "rainbowdp")
    with ledger._store.write() as connection:
        connection.execute(update(LEDGER), row)
    assert ledger.balance().sources == ("votes, first count",)
    with pytest.raises(LedgerError, match=broken(ledger)):
        ledger.history()


def test_a_name_of_another_source_is_not_recalled_by_damage(place: str) -> None:
    ledger = new_ledger(place, epsilon=3)
    ledger.record(spend(ledger, rb.DP(1), "poll"), "red")
    execute(
        place,
        "UPDATE rainbow_records SET content = REPLACE(content, 'final', 'first') WHERE number = 2",
    )
    with pytest.raises(LedgerError, match=broken(ledger)):
        ledger.recall("poll", question=QUESTION, guarantee=rb.DP(1), source="votes, first count")


@pytest.mark.slow
def test_any_damaged_bytes_are_an_error_or_harmless(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = new_ledger(place, epsilon=100)
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
    assert all(" is damaged. " in line or " is not a rainbowdp ledger. " in line for line in said)


def test_a_file_that_was_cut_short(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = new_ledger(place, epsilon=1)
    whole = place.read_bytes()
    for length in (len(whole) // 2, len(whole) - 4096):
        place.write_bytes(whole[:length])
        with pytest.raises(LedgerError, match=broken(ledger)):
            Ledger.open(place)


def test_a_schema_that_cannot_be_decoded(tmp_path: Path) -> None:
    """SQLite quotes it in its message, which Python then cannot decode."""
    place = tmp_path / "budget.db"
    new_ledger(place, epsilon=1)
    whole = place.read_bytes()
    first = whole.index(b"rainbow_records")
    for start in range(first - 20, first + 400, 7):
        place.write_bytes(whole[:start] + b"\xee" + whole[start + 1 :])
        with suppress(LedgerError):
            assert Ledger.open(place).balance().entries == 0

"""A chain is the same however it is cut into pieces."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import rainbowdp as rb
from ledgers import execute, new_ledger, spend
from rainbowdp.errors import LedgerError
from rainbowdp.ledger.chain import Draft, sealed


@pytest.mark.parametrize("piece", [1, 2, 3, 4, 9, 13, 14, 2000])
def test_pieces_make_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=3)
    entries = [spend(ledger, rb.DP("0.1")) for _ in range(5)]
    for number in (3, 0, 4):
        entries[number] = ledger.record(entries[number], f"answer {number}")
    ledger.note("about 1", about=1)
    ledger.note("about 4", about=4)
    entries.append(ledger.record(spend(ledger, rb.DP("0.1")), "last"))
    ledger.note("about all")
    assert ledger.head().number == 14
    monkeypatch.setattr("rainbowdp.ledger.scan._PIECE", piece)
    assert ledger.history() == tuple(entries)
    assert [record.number for record in ledger.records()] == [*range(1, 15)]
    assert ledger.verify() == ledger.head()
    assert ledger.history(0) == ()
    for last in range(1, 9):
        assert ledger.history(last) == tuple(entries[-last:])


def test_a_missing_record_is_noticed_by_whoever_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rainbowdp.ledger.scan._PIECE", 2)
    ledger = new_ledger(tmp_path / "budget.db", epsilon=3)
    for _ in range(5):
        spend(ledger, rb.DP("0.1"))
    execute(ledger.where, "DELETE FROM rainbow_records WHERE number = 3")
    assert len(ledger.history(2)) == 2
    for last in (3, 4, 5, None):
        with pytest.raises(LedgerError, match="is damaged"):
            ledger.history(last)


@pytest.mark.parametrize("piece", [1, 2, 3, 2000])
def test_a_record_of_an_unknown_kind_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    """Though its seal is right, and the balance the one without it."""
    monkeypatch.setattr("rainbowdp.ledger.scan._PIECE", piece)
    ledger = new_ledger(tmp_path / "budget.db", epsilon=3)
    with ledger._writing() as book:
        gift = sealed(Draft("gift", {"by": "ann"}), book.balance.head, book.time)
        book.new.append(gift)
        book.balance = replace(book.balance, head=gift.head)
        book.write()
    ledger.note("seen")
    for look in (ledger.verify, ledger.history):
        with pytest.raises(LedgerError, match="is damaged"):
            look()

"""A witness remembers heads in another place, and is asked whenever a ledger is opened."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import rainbowdp as rb
from ledgers import new_ledger, spend
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import Ledger


@pytest.fixture(params=["file", "table"])
def witness(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A fresh place for heads."""
    if request.param == "table":
        from postgres import fresh_schema

        return fresh_schema(request.getfixturevalue("postgres_url"))
    return str(tmp_path / "heads.txt")


def test_every_head_is_added(place: str, witness: str) -> None:
    ledger = new_ledger(place, epsilon=3, witness=witness)
    entry = spend(ledger, rb.DP(1))
    ledger.record(entry, "red")
    again = Ledger.open(place)
    spend(again, rb.DP(1))
    assert again._witness is not None
    assert [head.number for head in again._witness.heads()] == [1, 2, 3, 4]
    assert again._witness.last() == again.head() == again.verify()


def test_an_old_copy_is_refused(tmp_path: Path, witness: str) -> None:
    place = tmp_path / "budget.db"
    ledger = new_ledger(place, epsilon=3, witness=witness)
    shutil.copy(place, tmp_path / "copy")
    head = spend(ledger, rb.DP(1)).head
    shutil.copy(tmp_path / "copy", place)
    with pytest.raises(LedgerError, match=f"The head {head.short} is not in the past of "):
        Ledger.open(place)
    assert Ledger.open(place, witness=tmp_path / "another.txt").balance().entries == 0


def test_a_witness_may_be_named_for_one_handle(tmp_path: Path) -> None:
    place, heads = tmp_path / "budget.db", tmp_path / "heads.txt"
    new_ledger(place, epsilon=3)
    spend(Ledger.open(place, witness=heads), rb.DP(1))
    spend(Ledger.open(place), rb.DP(1))  # not seen
    spend(Ledger.open(place, witness=heads), rb.DP(1))
    assert [line.partition(":")[0] for line in heads.read_text().splitlines()] == ["1", "2", "4"]
    assert heads.stat().st_mode & 0o777 == 0o600
    Ledger.open(place, witness=heads).verify()


def test_a_witness_of_the_creation_must_be_there(place: str, tmp_path: Path) -> None:
    heads = tmp_path / "heads.txt"
    new_ledger(place, epsilon=3, witness=heads)
    heads.unlink()
    message = rf"The witness {heads} cannot be read: No such file or directory\. Make it accessible"
    with pytest.raises(LedgerError, match=message):
        Ledger.open(place)


def test_a_rewritten_line_is_found(tmp_path: Path) -> None:
    place, heads = tmp_path / "budget.db", tmp_path / "heads.txt"
    ledger = new_ledger(place, epsilon=3, witness=heads)
    spend(ledger, rb.DP(1))
    first, second = heads.read_text().splitlines()
    heads.write_text(f"1:{'0' * 64}\n{second}\n")
    with pytest.raises(LedgerError, match="The head 1:0000000000000000 is not in the past"):
        Ledger.open(place).verify()
    heads.write_text(f"{first}\nabout me\n")
    with pytest.raises(LedgerError, match=r"A line of the witness .* is no head: 'about me'"):
        Ledger.open(place)


def test_a_line_that_was_cut_short_is_passed_over(tmp_path: Path) -> None:
    place, heads = tmp_path / "budget.db", tmp_path / "heads.txt"
    ledger = new_ledger(place, epsilon=3, witness=heads)
    spend(ledger, rb.DP(1))
    whole = heads.read_text()
    for cut in (1, 2, 3, 40):
        heads.write_text(whole[:-cut])
        spend(Ledger.open(place), rb.DP("0.1"))
        assert heads.read_text().endswith(f"{ledger.head()}\n")
        ledger.verify()


def test_a_head_is_added_once(tmp_path: Path, witness: str) -> None:
    """Also where a transaction that might write had nothing to write."""
    ledger = new_ledger(tmp_path / "budget.db", epsilon=3, witness=witness)
    entry = ledger.record(spend(ledger, rb.DP(1)), "red")
    assert ledger.record(entry, "red") == entry
    assert ledger._witness is not None
    assert [head.number for head in ledger._witness.heads()] == [1, 2, 3]


def test_a_witness_of_long_ago_is_enough_to_open(tmp_path: Path) -> None:
    place, heads = tmp_path / "budget.db", tmp_path / "heads.txt"
    ledger = new_ledger(place, epsilon=3, witness=heads)
    first = heads.read_text()
    for _ in range(5):
        spend(ledger, rb.DP("0.1"))
    for text in (first, ""):  # the second has seen nothing
        heads.write_text(text)
        assert Ledger.open(place).balance().entries == 5
    heads.write_text(f"1:{'0' * 64}\n")
    with pytest.raises(LedgerError, match="The head 1:0000000000000000 is not in the past"):
        Ledger.open(place)


def test_a_witness_that_cannot_be_written_is_told_after_the_payment(
    places: Callable[[], str], tmp_path: Path
) -> None:
    heads = tmp_path / "heads.txt"
    ledger = new_ledger(places(), epsilon=3, witness=heads)
    heads.unlink()
    heads.mkdir()
    with pytest.raises(LedgerError, match=r"The witness .* cannot be written: Is a directory"):
        spend(ledger, rb.DP(1))
    assert ledger.balance().entries == 1  # it stands, and nothing was drawn


def test_a_long_witness_is_read_at_its_end(tmp_path: Path) -> None:
    place, heads = tmp_path / "budget.db", tmp_path / "heads.txt"
    ledger = new_ledger(place, epsilon=3, witness=heads)
    line = heads.read_text()
    heads.write_text(line * 2000)
    head = spend(ledger, rb.DP(1)).head
    assert heads.stat().st_size > 65_536
    assert Ledger.open(place).head() == head

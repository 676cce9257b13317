"""Whoever looks takes no lock, and whoever verifies looks at everything."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

import rainbowdp as rb
from ledgers import QUESTION, SOURCE, new_ledger, spend
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import Charge, Head, Ledger
from rainbowdp.questions import Unit

CHARGE = Charge(rb.DP("0.1"), QUESTION, Unit(), "substituted", SOURCE, None, "new")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """With a budget of ε = 1 and one answer; it waits for nobody."""
    found = new_ledger(tmp_path / "budget.db", epsilon=1, timeout=0.05)
    found.record(spend(found, rb.DP("0.1"), "poll"), "red")
    return found


def test_whoever_looks_does_not_wait_for_whoever_writes(ledger: Ledger) -> None:
    looks: list[Callable[[], object]] = [
        *(ledger.balance, ledger.history, ledger.verify),
        lambda: ledger.find(CHARGE),
        lambda: ledger.named("poll"),
        lambda: ledger.answered(["poll"]),
        lambda: ledger.must_fit(rb.DP("0.1"), unit=Unit(), neighbors="substituted"),
        lambda: Ledger.open(ledger.where),
    ]
    writer = sqlite3.connect(ledger.where, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    for look in looks:
        look()
    with pytest.raises(LedgerError, match="is locked by another process"):
        ledger.draw(CHARGE, lambda: "red")
    writer.close()


@pytest.mark.parametrize("name", ["\ud800", "a\0b", "two\nlines", ""])
def test_what_can_be_no_name_has_no_answer(ledger: Ledger, name: str) -> None:
    assert ledger.named(name) is None


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("wrong", ["2:" + "0" * 64, "9:" + "a" * 16, "999:" + "a" * 16])
def test_each_head_is_looked_for(ledger: Ledger, place: int, wrong: str) -> None:
    heads = [str(record.head) for record in list(ledger.records())[:2]]
    heads.insert(place, wrong)
    with pytest.raises(LedgerError, match=f"The head {Head.parse(wrong).short} is not in the past"):
        ledger.verify(*heads)


def test_of_several_heads_beyond_the_end_one_is_enough(ledger: Ledger) -> None:
    for heads in (["8:" + "a" * 16, "9:" + "a" * 16], ["8:" + "a" * 16] * 2):
        with pytest.raises(LedgerError, match="The head 8:a"):
            ledger.verify(*heads)


def test_pages_that_no_query_reads_are_looked_at(tmp_path: Path) -> None:
    """An index that lost an entry: what is read is whole, and a name would be taken for new."""
    place = tmp_path / "budget.db"
    ledger = new_ledger(place, epsilon=1)
    spend(ledger, rb.DP("0.1"), "poll")
    database = sqlite3.connect(place)
    [(page,)] = database.execute(
        "SELECT rootpage FROM sqlite_master WHERE name LIKE 'sqlite_autoindex_rainbow_records%'"
    ).fetchall()
    [(size,)] = database.execute("PRAGMA page_size").fetchall()
    database.close()
    content = bytearray(place.read_bytes())
    start = content.index(b"poll", (page - 1) * size)
    assert start < page * size
    content[start : start + 4] = b"pond"
    place.write_bytes(content)
    with pytest.raises(LedgerError, match="is damaged"):
        ledger.verify()

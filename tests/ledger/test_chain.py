"""The chain remembers: whoever kept a head notices what was rewritten, removed or put back."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert, update

import rainbowdp as rb
from ledgers import SOURCE, execute, new_ledger, says, spend
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import Charge, DPCost, Head, Ledger
from rainbowdp.ledger.balance import Balance, after
from rainbowdp.ledger.chain import Draft, canonical, sealed
from rainbowdp.ledger.cost import price
from rainbowdp.ledger.schema import LEDGER, RECORDS, balance_row, record_row
from rainbowdp.questions import Unit


def used(place: str, **options: Any) -> Ledger:
    """A ledger with one answer of each of three."""
    ledger = new_ledger(place, epsilon=3, **options)
    for number in range(3):
        ledger.record(spend(ledger, rb.DP("0.1"), f"poll {number}"), "red")
    return ledger


def forgotten(ledger: Ledger, head: Head) -> str:
    return says(
        f"The head {head.short} is not in the past of {ledger.where}: it was rewritten, or put "
        "back to an older copy. Restore a copy that has this head, or treat the whole budget as "
        "spent."
    )


def test_seals_chain_up_as_documented(tmp_path: Path) -> None:
    """Read without a line of ours."""
    place = tmp_path / "budget.db"
    ledger = used(str(place))
    database = sqlite3.connect(place)
    before = "rainbowdp ledger"
    columns = "number, time, kind, name, subject, content, seal"
    for row in database.execute(f"SELECT {columns} FROM rainbow_records ORDER BY number"):
        before = hashlib.sha256(json.dumps([before, *row[:-1]]).encode()).hexdigest()
        assert row[-1] == before
    database.close()
    assert str(ledger.head()) == f"7:{before}"


def test_a_head_is_kept_in_the_past_forever(place: str) -> None:
    ledger = new_ledger(place, epsilon=3)
    heads = [ledger.head()]
    for _ in range(4):
        heads.append(spend(ledger, rb.DP("0.1")).head)
    assert [head.number for head in heads] == [1, 2, 3, 4, 5]
    assert ledger.verify(*heads) == heads[-1]
    assert ledger.verify(*(head.short for head in heads)) == heads[-1]
    assert Ledger.open(place).verify(str(heads[2])) == heads[-1]


def test_an_answer_carries_the_head_that_has_it(place: str) -> None:
    ledger = new_ledger(place, epsilon=3)
    entry = spend(ledger, rb.DP(1), "poll")
    answered = ledger.record(entry, "red")
    assert (entry.head.number, answered.head.number) == (2, 3)
    assert ledger.head() == answered.head
    assert ledger.record(entry, "red").head == answered.head
    assert ledger.head() == answered.head


@pytest.mark.slow
@pytest.mark.parametrize("head", ["9:" + "a" * 16, "7:" + "0" * 64, "2:" + "0" * 16])
def test_a_head_that_does_not_match(place: str, head: str) -> None:
    ledger = used(place)
    before = list(ledger.records())
    with pytest.raises(LedgerError, match=forgotten(ledger, Head.parse(head))):
        ledger.verify(head)
    assert list(ledger.records()) == before


def test_a_head_names_one_record_of_the_chain(tmp_path: Path) -> None:
    ledger = used(str(tmp_path / "budget.db"))
    second, third, *_ = list(ledger.records())[1:]
    assert second.head.names(second)
    assert Head.parse(second.head.short).names(second)
    assert not second.head.names(third)
    assert not Head(second.number, third.seal).names(second)
    assert not Head(third.number, second.seal).names(second)


@pytest.mark.parametrize(
    "described",
    [[("column", "choice")], {"column"}, "choice", None, {"at": float("nan")}, {"of": object()}],
)
def test_what_is_no_description(described: Any) -> None:
    message = "The question must be described by a mapping of JSON values, got "
    with pytest.raises(LedgerError, match=message + type(described).__name__):
        canonical(described, "question")


def test_a_record_is_of_the_time_that_its_draft_says() -> None:
    draft = Draft("note", {"text": "hello"})
    first = sealed(draft, None, "2026-11-18")
    old = sealed(replace(draft, time="2020-01-01"), first.head, "2026-11-18")
    assert (first.number, first.time) == (1, "2026-11-18")
    assert (old.number, old.time) == (2, "2020-01-01")
    assert first.follows(None)
    assert old.follows(first.seal)
    assert not old.follows(None)


def test_equal_descriptions_are_equal_text() -> None:
    assert canonical({"b": 1, "a": {"d": (2,), "c": None}}, "question") == (
        '{"a":{"c":null,"d":[2]},"b":1}'
    )


@pytest.mark.parametrize("text", ["", "7", "7:", "7:abc", "0:" + "a" * 16, "x:" + "a" * 16, 7])
def test_what_is_no_head(tmp_path: Path, text: Any) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    with pytest.raises(LedgerError, match="A head is a number, a colon and at least 16 of its"):
        ledger.verify(text)


def rewritten(ledger: Ledger, change: dict[int, dict[str, Any]]) -> None:
    """Forges a past: every record is sealed anew, with changed content for some."""
    balance: Balance | None = None
    forged = []
    for record in list(ledger.records()):
        content = {**record.content, **change.get(record.number, {})}
        draft = Draft(record.kind, content, record.name, record.subject, record.time)
        made = sealed(draft, None if balance is None else balance.head, record.time)
        balance = after(balance, made)
        forged.append(record_row(made))
    assert balance is not None
    with ledger._store.write() as connection:
        connection.execute(RECORDS.delete())
        connection.execute(insert(RECORDS), forged)
        connection.execute(update(LEDGER), balance_row(balance, "rainbowdp"))


def test_a_forged_past_is_noticed_by_whoever_kept_a_head(place: str) -> None:
    """The forger keeps every seal and sum in order, so that nothing else can tell."""
    ledger = used(place)
    head = ledger.head()
    rewritten(ledger, {3: {"answer": "green"}})
    forged = Ledger.open(place)
    assert forged.history()[0].answer == "green"
    assert forged.verify() != head
    with pytest.raises(LedgerError, match=forgotten(ledger, head)):
        forged.verify(head)
    with pytest.raises(LedgerError, match=forgotten(ledger, head)):
        ledger.balance()  # the handle that was open has kept one, too


def test_an_old_copy_is_noticed_by_an_open_handle_and_by_a_kept_head(tmp_path: Path) -> None:
    place, copy = tmp_path / "budget.db", tmp_path / "copy"
    ledger = used(str(place))
    shutil.copy(place, copy)
    head = spend(ledger, rb.DP(1)).head  # it has looked at nothing since
    place.write_bytes(copy.read_bytes())
    for work in (ledger.balance, lambda: spend(ledger, rb.DP(1)), ledger.history):
        with pytest.raises(LedgerError, match=forgotten(ledger, head)):
            work()
    restored = Ledger.open(place)
    restored.verify()
    with pytest.raises(LedgerError, match=forgotten(ledger, head)):
        restored.verify(head.short)


def test_a_handle_that_only_looked_notices_an_old_copy_too(tmp_path: Path) -> None:
    place, copy = tmp_path / "budget.db", tmp_path / "copy"
    ledger = used(str(place))
    looking = Ledger.open(place)
    shutil.copy(place, copy)
    spend(ledger, rb.DP(1))
    head = looking.head()
    place.write_bytes(copy.read_bytes())
    with pytest.raises(LedgerError, match=forgotten(ledger, head)):
        looking.balance()


@pytest.mark.parametrize("other", [{"epsilon": 3}, {"rho": 1}, {"epsilon": 3, "person": "voter"}])
def test_another_ledger_in_the_same_place_is_noticed(tmp_path: Path, other: Any) -> None:
    place = tmp_path / "budget.db"
    ledger = used(str(place))
    entry = spend(ledger, rb.DP("0.1"))
    new_ledger(tmp_path / "other.db", **other)
    (tmp_path / "other.db").replace(place)
    message = says(
        f"{place} is another ledger than the one that was opened. Find out who replaced it, and "
        "open it anew if that is right."
    )
    for work in (
        ledger.balance,
        lambda: spend(ledger, rb.DP("0.1")),
        lambda: ledger.record(entry, "red"),
    ):
        with pytest.raises(LedgerError, match=message):
            work()


def test_a_balance_from_before_the_last_record_is_damage(place: str) -> None:
    """As after a write that a disk lost: the row of the balance is whole, and old."""
    ledger = used(place)
    old = ledger.balance()
    spend(ledger, rb.DP(1))
    with ledger._store.write() as connection:
        connection.execute(update(LEDGER), balance_row(old, "rainbowdp"))
    with pytest.raises(LedgerError, match="is damaged"):
        ledger.balance()
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger.open(place)


@pytest.mark.parametrize("number", range(1, 8))
def test_every_record_counts_in_verify(place: str, number: int) -> None:
    ledger = used(place)
    execute(place, f"UPDATE rainbow_records SET time = '2020-01-01' WHERE number = {number}")
    with pytest.raises(LedgerError, match="is damaged"):
        ledger.verify()


# several answers in one transaction


def charges(count: int, epsilon: str = "0.1") -> list[Charge]:
    question, unit = {"kind": "winner"}, Unit()
    return [
        Charge(rb.DP(epsilon), question, unit, "substituted", SOURCE, name=f"poll {number}")
        for number in range(count)
    ]


def test_several_answers_are_paid_for_together(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)
    entries = ledger.spend_all(charges(5))
    assert [entry.number for entry in entries] == [1, 2, 3, 4, 5]
    answered = ledger.record_all([(entry, f"answer {entry.number}") for entry in entries])
    assert ledger.history() == answered
    assert ledger.balance().answers == 5
    assert ledger.record_all([(entry, entry.answer or "") for entry in answered]) == answered
    ledger.verify(*(entry.head for entry in answered))
    assert ledger.spend_all([]) == ()
    assert ledger.record_all([]) == ()


def test_all_are_paid_for_or_none(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)
    message = says(
        f"These 11 questions cost ε = 1.1, but {ledger.where} has ε = 1 left. Use a smaller "
        "epsilon, or repeat an earlier question by its name for free."
    )
    with pytest.raises(rb.BudgetExceeded, match=message):
        ledger.spend_all(charges(11))
    with pytest.raises(LedgerError, match="The name 'poll 0' is already in "):
        ledger.spend_all([*charges(2), *charges(1)])
    assert ledger.balance().entries == 0
    spend(ledger, rb.DP("0.1"), "poll 3")
    with pytest.raises(LedgerError, match="The name 'poll 3' is already in "):
        ledger.spend_all(charges(4))
    assert ledger.balance().entries == 1


def test_all_answers_are_recorded_or_none(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)
    first, second = ledger.spend_all(charges(2))
    ledger.record(second, "red")
    with pytest.raises(LedgerError, match="has a different answer already"):
        ledger.record_all([(first, "green"), (second, "green")])
    assert [entry.answer for entry in ledger.history()] == [None, "red"]


# long chains


def test_the_last_entries_are_the_last_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rainbowdp.ledger.scan._PIECE", 7)
    ledger = new_ledger(tmp_path / "budget.db", epsilon=100)
    entries = [spend(ledger, rb.DP("0.1")) for _ in range(20)]
    for entry in entries[::3]:  # answers come late and out of order
        ledger.record(entry, "red")
    everything = ledger.history()
    assert len(everything) == 20
    assert [entry.answer for entry in everything] == [
        "red" if number % 3 == 0 else None for number in range(20)
    ]
    for last in (0, 1, 5, 19, 20, 50):
        assert ledger.history(last) == (everything[-last:] if last else ())
    assert tuple(ledger.entries()) == everything
    assert [record.number for record in ledger.records()] == [*range(1, 29)]


def test_sources_are_kept_by_name_up_to_a_hundred(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=100)
    unit, asked = ledger.unit, {"kind": "winner"}
    ledger.spend_all(
        [
            Charge(rb.DP("0.1"), asked, unit, "substituted", source=f"file {number % 120}")
            for number in range(130)
        ]
    )
    balance = ledger.balance()
    assert balance.sources == tuple(f"file {number}" for number in range(100))
    assert balance.other_sources == 20
    ledger.verify()


# amounts on the grid


def test_a_long_fraction_does_not_block_later_questions(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)
    spend(ledger, rb.DP(Fraction(3**8201 // 10, 3**8201)))
    spend(ledger, rb.DP("0.1"))
    spend(ledger, rb.DP("0.8"))
    left = ledger.balance().left.parts[0]
    assert 0 <= left < Fraction("1e-100")


@settings(max_examples=30, deadline=None)
@given(parts=st.integers(1, 100), digits=st.integers(0, 30))
def test_short_decimals_and_small_parts_cost_exactly_what_they_are(parts: int, digits: int) -> None:
    share = Fraction(3, parts * 10**digits)
    cost = price(rb.DP(share), "dp", "")
    assert isinstance(cost, DPCost)
    assert cost.epsilon == share

"""The balance is a fold over the chain: what each kind of record changes, and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from html import unescape
from pathlib import Path

import pytest

import rainbowdp as rb
from ledgers import QUESTION, new_ledger, spend
from rainbowdp.ledger import Charge, DPCost, Ledger
from rainbowdp.ledger.balance import Balance, after
from rainbowdp.questions import Unit

SIGNED = {"signed_by": "A. Officer", "reason": "the end"}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """With a budget of ε = 1 and one answer."""
    found = new_ledger(tmp_path / "budget.db", epsilon=1, title="Town votes")
    found.record(spend(found, rb.DP("0.1")), "red")
    return found


def test_each_record_changes_what_it_says(ledger: Ledger) -> None:
    ledger.note("seen", about=1)
    creation, payment, answer, note = ledger.records()
    created = after(None, creation)
    assert (created.entries, created.answers, created.other_sources) == (0, 0, 0)
    assert created.spent == DPCost(Fraction(0), Fraction(0))
    paid = after(created, payment)
    assert (paid.entries, paid.answers, paid.left.parts[0]) == (1, 0, Fraction(9, 10))
    answered = after(paid, answer)
    assert answered == replace(paid, answers=1, head=answer.head)
    assert after(answered, note) == replace(answered, head=note.head) == ledger.balance()


def test_a_chain_begins_with_its_creation_and_has_no_other(ledger: Ledger) -> None:
    creation, payment, answer = ledger.records()
    for first in (payment, answer, replace(creation, kind="payment"), replace(creation, kind="x")):
        with pytest.raises(ValueError, match="not created yet"):
            after(None, first)
    for wrong in (creation, replace(payment, kind="gift")):
        with pytest.raises(ValueError, match=f"no kind '{wrong.kind}' here"):
            after(ledger.balance(), wrong)


def test_a_source_beyond_the_first_hundred_is_counted(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=9)
    charge = Charge(rb.DP("0.01"), QUESTION, Unit(), "substituted")
    sources = [f"file {number}" for number in (*range(102), 0, 99, 100)]
    ledger.spend_all([replace(charge, source=source) for source in sources])
    balance = ledger.balance()
    assert balance.sources == tuple(f"file {number}" for number in range(100))
    assert balance.other_sources == 3


def test_nothing_is_left_of_a_closed_ledger(ledger: Ledger) -> None:
    cost = ledger.price(rb.DP("0.2"))
    assert ledger.balance().answers_left(cost) == 4
    ledger.close(**SIGNED)
    assert ledger.balance().answers_left(cost) == 0
    assert ledger.balance().answers_left(cost - cost) == 0


def test_what_costs_nothing_is_never_used_up_under_limits_either(ledger: Ledger) -> None:
    ledger.limit("ann", epsilon="0.1", signed_by="A. Officer")
    ledger.limit(per="day", epsilon="0.1", signed_by="A. Officer")
    free = ledger.price(rb.DP(0))
    assert ledger.balance().answers_left(free, by="ann") is None


def facts(balance: Balance) -> str:
    """The words of the card."""
    return unescape(" | ".join(re.findall(r">([^<>]+)<", balance._repr_html_())))


def test_a_card_says_all_that_a_balance_is(ledger: Ledger) -> None:
    head = ledger.head().short
    assert facts(ledger.balance()) == (
        "Balance: Town votes | dataset | town-2026 | protects | one record, substituted | left | "
        "ε 0.9, δ 0 | spent | ε 0.1, δ 0, by 1 question | total | ε 1, δ 0 | head | " + head
    )
    spend(ledger, rb.DP("0.2"))
    ledger.limit("ann", epsilon="0.5", signed_by="A. Officer")
    ledger.close(**SIGNED)
    balance = ledger.balance()
    assert balance.closed is not None
    assert facts(balance) == (
        "Balance: Town votes | dataset | town-2026 | protects | one record, substituted | left | "
        "ε 0.7, δ 0 | spent | ε 0.3, δ 0, by 2 questions | total | ε 1, δ 0 | limit of ann | "
        "epsilon 0.5, delta 0; spent epsilon 0, delta 0, left epsilon 0.5, delta 0 | closed | "
        f"{balance.closed[:10]} | head | {balance.head.short}"
    )
    assert "by 0 questions" in facts(new_ledger(Path(ledger.where + ".2"), mu=1).balance())

"""Entries as cards and as JSON."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
from ledgers import QUESTION, SOURCE, new_ledger
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import Charge, Entry, Ledger
from rainbowdp.ledger.entry import payment
from rainbowdp.questions import Unit

LONG = "x" * 300


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """With a budget of ε = 1."""
    return new_ledger(tmp_path / "budget.db", epsilon=1, by="ann")


def asked(ledger: Ledger, **options: Any) -> Entry:
    return ledger.spend(
        rb.DP("0.25"), question=QUESTION, unit=ledger.unit, neighbors="substituted", **options
    )


def facts(entry: Entry) -> list[str]:
    """The words of the card."""
    return unescape("|".join(re.findall(r">([^<>]+)<", entry._repr_html_()))).split("|")


def test_a_card_says_all_that_an_entry_is(ledger: Ledger) -> None:
    entry = asked(ledger, words=LONG)
    time = f"{entry.time[:16].replace('T', ' ')} UTC, by ann"
    common = [*("cost", "ε 0.25", "guarantee", "0.25-DP, one record substituted", "asked", time)]
    first = ["Entry 1 of town-2026", LONG, "answer"]
    assert facts(entry) == [*first, "none yet", *common, "head", entry.paid.short]
    named = asked(ledger, words=LONG + "y", name="poll", source=SOURCE)
    named = ledger.record(named, "red")
    assert named.answered is not None
    assert facts(named) == [
        *("Entry 2 of town-2026", LONG[:-1] + "…", "answer", "red", *common),
        *("name", "poll", "source", SOURCE, "head", named.answered.short),
    ]


def test_a_guarantee_that_no_text_can_hold_is_refused(ledger: Ledger) -> None:
    long = rb.DP.from_ratio(2 + Fraction(1, 2**14_000), 1 - Fraction(1, 3**8_000))
    message = "A ledger keeps guarantees of up to 4300 digits, and this one is longer. Give epsilon"
    with pytest.raises(LedgerError, match=message):
        payment(Charge(long, {}, Unit(), "substituted"), ledger.balance().spent, 1, "a", None, None)


def test_an_entry_of_a_mechanism_is_restored(ledger: Ledger) -> None:
    entry = asked(ledger, mechanism={"kind": "exponential", "among": [1, 2]})
    assert Entry.restore(json.loads(json.dumps(entry.as_dict()))) == entry
    answered = ledger.record(entry, "red")
    assert Entry.restore(json.loads(json.dumps(answered.as_dict()))) == answered

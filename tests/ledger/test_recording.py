"""Answers are recorded as text, and recalled by descriptions alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
from ledgers import SOURCE, new_ledger, says, spend
from rainbowdp.errors import LedgerError


@pytest.mark.parametrize("place", range(3))
def test_answers_are_text_or_none_is_recorded(tmp_path: Path, place: int) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    entries = [spend(ledger, rb.DP("0.1")) for _ in range(3)]
    answers: list[Any] = ["red"] * 3
    answers[place] = 3
    with pytest.raises(LedgerError, match=says("An answer must be text, got int.")):
        ledger.record_all(zip(entries, answers, strict=True))
    assert ledger.balance().answers == 0


def test_what_is_no_question_is_not_recalled_as_a_new_one(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    question: Any = ["winner"]
    with pytest.raises(LedgerError, match="The question must be described by a mapping of JSON"):
        ledger.recall("new", question=question, guarantee=rb.DP(1), source=SOURCE)

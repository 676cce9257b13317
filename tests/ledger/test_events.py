"""What happened to a ledger: every event once, with what was left after it."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from ledgers import new_ledger, spend
from officers import eventful
from rainbowdp.ledger import Cost, DPCost, Event, Ledger
from rainbowdp.ledger.chain import Record


def test_an_event_is_said_with_who_and_why(tmp_path: Path) -> None:
    found = list(eventful(tmp_path).events())
    head = found[1].record.content["head"].split(":")[1][:16]
    assert [(event.who, event.in_words()) for event in found] == [
        ("dpo", "Created the ledger with a budget of ε 6.9, δ 0.000001."),
        (
            "dpo",
            f"Linked the ledger of the time before: town-2025 at {tmp_path / 'old.db'}, which had "
            f"spent ε 0, at head 1:{head}.",
        ),
        ("ann", "Which of red and green is most frequent in column choice, where age > 65?"),
        (
            "ben",
            "Which of red and green is most frequent in column choice, where age > 65, for each "
            "of north, south and east in column district?",
        ),
        ("A. Officer, entered by dpo", "Extended the budget by ε 1.25, δ 1e-7."),
        ("ann", "mean: bounds 0 and 100, column age"),
        ("A. Officer, entered by dpo", "Limited ben to ε 1.25, δ 1e-7, from this moment on."),
        ("ben", "Which of red and green is most frequent in column choice, where age > 65?"),
        ("dpo", "Noted: Audited, no findings."),
        ("A. Officer, entered by dpo", "Renewed the budget, so that ε 1.25, δ 1e-7 is left."),
        ("A. Officer, entered by dpo", "Closed the ledger."),
    ]
    assert [event.reason for event in found if event.reason] == [
        "The second wave of the survey",
        "The data of 2027",
        "The survey is over",
    ]
    assert [note.content["text"] for note in found[2].notes][1:] == ["Published in May."]
    assert found[3].answer_in_words == "red in 2 groups, green in 1 group"
    assert found[7].answer_in_words == "(no answer: lost in a crash, or not drawn yet)"


def said_by(**content: Any) -> Event:
    """An event of which a record says so much."""
    cost = DPCost(Fraction(1), Fraction(0))
    record = Record(2, "2026-11-18", "note", None, None, json.dumps(content), "")
    return Event(record, None, (), "dp", cost, cost)


@pytest.mark.parametrize(
    ("content", "who"),
    [
        ({"by": "ann"}, "ann"),
        ({"by": "ann", "role": None}, "ann"),
        ({"by": "ann", "role": "ann"}, "ann"),
        ({"by": "ann", "role": "readers"}, "ann (role readers)"),
        ({"by": None, "role": None}, "None"),
        ({"by": "ann", "signed_by": "ann"}, "ann"),
        ({"by": "ann", "signed_by": "dpo"}, "dpo, entered by ann"),
        ({"by": "ann", "role": "r", "signed_by": "dpo"}, "dpo, entered by ann (role r)"),
    ],
)
def test_who_did_it(content: dict[str, Any], who: str) -> None:
    assert said_by(**content).who == who


def test_what_is_no_question_has_no_answer() -> None:
    assert said_by(by="ann").answer_in_words.startswith("(no answer: ")


@pytest.mark.parametrize(
    ("total", "left", "said"),
    [
        (DPCost(Fraction(1), Fraction(0)), DPCost(Fraction(1), Fraction(0)), "ε 1"),
        (DPCost(Fraction(1), Fraction(1, 2)), DPCost(Fraction(1), Fraction(0)), "ε 1, δ 0"),
        (DPCost(Fraction(0), Fraction(1, 2)), DPCost(Fraction(0), Fraction(0)), "ε 0, δ 0"),
        (DPCost(Fraction(1), Fraction(1)), DPCost(Fraction(1), Fraction(0)), "ε 1, δ 0"),
    ],
)
def test_a_delta_is_told_wherever_there_was_one(total: Cost, left: Cost, said: str) -> None:
    assert replace(said_by(by="ann"), total=total, left=left).left_in_symbols == said


def test_an_event_in_json(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1, by="ann")
    entry = ledger.record(spend(ledger, rb.DP("0.25")), "red")
    notes = [ledger.note(text, about=1) for text in ("one", "two")]
    creation, asked = ledger.events()
    left = {"epsilon": "3/4", "delta": "0"}
    assert asked.as_dict() == {
        **entry.as_dict(),
        "words": entry.in_words,
        "left": left,
        "notes": [
            {"time": note.time, "by": "ann", "text": text}
            for note, text in zip(notes, ("one", "two"), strict=True)
        ],
    }
    assert creation.as_dict() == {
        **creation.record.as_dict(),
        "words": "Created the ledger with a budget of ε 1.",
        "left": {"epsilon": "1", "delta": "0"},
    }


STEPS = st.lists(
    st.sampled_from(["pay", "pay and answer", "note", "general note", "extend", "renew", "limit"]),
    max_size=25,
)


def _do(ledger: Ledger, step: str, number: int) -> int:
    """One step; how many entries there are after it."""
    who: dict[str, Any] = {"signed_by": "A. Officer"}
    if step.startswith("pay"):
        entry = spend(ledger, rb.DP(Fraction(1, 100 + number)))
        if step != "pay":
            ledger.record(entry, "red")
        return number + 1
    if step == "note" and number:
        ledger.note("looked at", about=number)
    elif step == "general note":
        ledger.note("looked at")
    elif step == "extend":
        ledger.extend(epsilon="1/7", **who, reason="more")
    elif step == "renew":
        ledger.renew(epsilon="1/2", **who, reason="again")
    elif step == "limit":
        ledger.limit("ann", epsilon=1, **who)
    return number


MANY = [
    *("note", "pay and answer", "pay", "note", "pay and answer", "extend", "pay", "general note"),
    *("limit", "pay and answer", "note", "renew", "pay and answer", "pay", "note"),
]


@pytest.mark.parametrize("piece", [1, 2, 3, 8, 19, 20, 2000])
@pytest.mark.parametrize("last_steps", [[], ["extend"]])
def test_the_latest_events_are_the_end_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, last_steps: list[str]
) -> None:
    monkeypatch.setattr("rainbowdp.ledger.events._PIECE", piece)
    monkeypatch.setattr("rainbowdp.ledger.scan._PIECE", piece)
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    entries = 0
    for step in MANY + last_steps:
        entries = _do(ledger, step, entries)
    assert ledger.head().number == 19 + len(last_steps)
    every = list(ledger.events())
    asked = [number for number, event in enumerate(every) if event.entry is not None]
    assert len(asked) == entries == 7
    total, left = Fraction(0), Fraction(0)
    for event in every:
        said = event.record.content
        added = Fraction((said.get("added") or said.get("total") or {"epsilon": 0})["epsilon"])
        added = Fraction(0) if event.record.kind == "limit" else added
        total, left = total + added, left + added
        left -= Fraction(said.get("cost", {"epsilon": 0})["epsilon"])
        assert (event.total.parts[0], event.left.parts[0]) == (total, left)
    assert [len(event.notes) for event in every if event.entry is not None] == [0, 1, 0, 0, 1, 0, 1]
    assert list(ledger.events(0)) == []
    for last in range(1, entries + 1):
        assert list(ledger.events(last)) == every[asked[-last] :]
    for last in (entries + 1, 100):
        assert list(ledger.events(last)) == every


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(steps=STEPS, piece=st.integers(1, 9))
def test_the_latest_events_are_the_last_of_all_and_lefts_are_sums(
    steps: list[str], piece: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("rainbowdp.ledger.events._PIECE", piece)
        patch.setattr("rainbowdp.ledger.scan._PIECE", piece)
        ledger = new_ledger(f"{folder}/budget.db", epsilon=1)
        entries = 0
        for step in steps:
            entries = _do(ledger, step, entries)
        every = list(ledger.events())
        total, spent = Fraction(1), Fraction(0)
        for event in every:  # the sums again, from the records alone
            content = event.record.content
            spent += Fraction(content.get("cost", {}).get("epsilon", 0))
            total += Fraction(content.get("added", {}).get("epsilon", 0))
            assert (event.total.parts[0], event.left.parts[0]) == (total, total - spent)
        asked = [event for event in every if event.entry is not None]
        assert tuple(event.entry for event in asked) == ledger.history()
        notes = [note for event in every for note in event.notes]
        told = {event.record.number for event in every} | {note.number for note in notes}
        answers = {event.entry.answered for event in asked if event.entry is not None}
        seen = len(told) + len([answer for answer in answers if answer is not None])
        assert seen == ledger.head().number
        for last in range(entries + 2):
            latest = list(ledger.events(last))
            assert latest == every[len(every) - len(latest) :]
            paid = sum(event.entry is not None for event in latest)
            assert paid == min(last, entries)
            assert latest == every or last == 0 or latest[0].entry is not None

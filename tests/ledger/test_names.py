"""Names that need no look under the lock are new, whatever else was written meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import event

import rainbowdp as rb
from ledgers import QUESTION, SOURCE, new_ledger, spend
from postgres import fresh_schema
from rainbowdp.errors import NameTaken
from rainbowdp.ledger import Charge, Ledger
from rainbowdp.ledger import names as module
from rainbowdp.ledger.names import Names
from rainbowdp.ledger.settling import LATER, SETTLE, SYNCHRONOUS
from rainbowdp.questions import Unit

CHARGE = Charge(rb.DP("0.001"), QUESTION, Unit(), "substituted", SOURCE, {"kind": "x"})


def named(name: str) -> Charge:
    return replace(CHARGE, name=name)


@pytest.fixture
def ledger(postgres_url: str) -> Iterator[Ledger]:
    """A ledger of a service."""
    place = fresh_schema(postgres_url)
    new_ledger(place, epsilon=1)
    found = Ledger.open(place, connections=2)
    found.balance()
    yield found
    found.disconnect()


def statements(ledger: Ledger, act: Any) -> list[str]:
    """What a server is sent meanwhile."""
    seen: list[str] = []

    def note(*given: Any) -> None:
        seen.append(given[2])

    event.listen(ledger._store.engine, "before_cursor_execute", note)
    try:
        act()
    finally:
        event.remove(ledger._store.engine, "before_cursor_execute", note)
    return seen


def test_a_payment_sends_two_messages_under_the_lock(ledger: Ledger) -> None:
    ledger.draw(named("before"), lambda: "red")
    assert ledger.find(named("a")) is None
    begin, lock, write = statements(ledger, lambda: ledger.draw(named("a"), lambda: "red"))
    assert begin.startswith("BEGIN")
    assert "FOR UPDATE" in lock
    assert write.startswith(LATER)
    assert write.endswith(f"COMMIT; {SYNCHRONOUS}; {SETTLE}")
    assert [entry.name for entry in ledger.history()] == ["before", "a"]
    ledger.verify()


def never() -> str:
    raise AssertionError("nothing is drawn twice")


@pytest.mark.parametrize("answered", [True, False])
def test_a_name_that_another_process_used_after_the_look_is_found(
    ledger: Ledger, postgres_url: str, answered: bool
) -> None:
    other = Ledger.open(ledger._store.engine.url.render_as_string(hide_password=False))
    assert ledger.find(named("a")) is None
    if answered:
        theirs = other.draw(named("a"), lambda: "theirs").entry
        assert ledger.draw(named("a"), never).entry == theirs
    else:
        spend(other, rb.DP("0.001"), "a")
        assert ledger.draw(named("a"), lambda: "ours").entry.number == 1
    assert ledger.balance().entries == 1
    ledger.verify()


def test_a_name_that_was_looked_for_before_our_own_payment_is_found(ledger: Ledger) -> None:
    assert ledger.find(named("a")) is None
    ledger.draw(named("a"), lambda: "red")
    assert ledger.draw(named("a"), never).recalled
    with pytest.raises(NameTaken):
        ledger.draw(replace(named("a"), guarantee=rb.DP("0.002")), never)


def test_more_names_than_are_kept_are_looked_for(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_NAMES", 2)
    other = Ledger.open(ledger._store.engine.url.render_as_string(hide_password=False))
    assert ledger.find(named("a")) is None
    theirs = other.draw(named("a"), lambda: "theirs").entry
    for number in range(4):
        ledger.find(named(f"own {number}"))
        ledger.draw(named(f"own {number}"), lambda: "red")
    assert ledger.draw(named("a"), never).entry == theirs
    ledger.verify()


STEPS = st.lists(
    st.tuples(st.sampled_from(["look", "other", "pay", "many"]), st.sampled_from("abcd")),
    max_size=40,
)


@example([("look", "a"), ("other", "a"), ("many", "a"), ("pay", "a")])
@given(STEPS)
def test_nothing_is_called_new_that_has_a_record(steps: list[tuple[str, str]]) -> None:
    """Against a list of all records, which shares nothing with what is kept."""
    records: list[str] = ["creation"]
    names, seen = Names(len(records)), len(records)
    for step, name in steps:
        taken = set(records)
        if step == "look" and name not in taken:
            names.looked_for(name, seen)
        elif step == "other" and name not in taken:
            records.append(name)
        elif step == "many":
            names.forget(len(records))
            seen = len(records)
        elif step == "pay":
            since = names.known_to
            later = list(enumerate(records, 1))[since:]
            new = names.new_among([name], [one for _, one in later], since)
            assert new.isdisjoint(taken)
            if name not in taken:
                records.append(name)
                later.append((len(records), name))
            names.add(later, since, len(records))
            seen = len(records)

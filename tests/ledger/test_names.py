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
from postgres import connect, fresh_schema
from rainbowdp.errors import BudgetExceeded, NameTaken
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


def test_of_looks_the_latest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_NAMES", 2)
    names = Names(1)
    for name in ("a", "b"):
        names.looked_for(name, 1)
    assert names.new_among("abc", [], 1) == {"a", "b"}
    for name in ("a", "c"):
        names.looked_for(name, 1)
    assert names.new_among("abc", [], 1) == {"a", "c"}


@pytest.mark.parametrize("number", [0, 1, 2])
def test_of_a_name_that_nobody_looked_for_nothing_is_said(number: int) -> None:
    names = Names(number)
    assert names.new_among("a", [], number) == set()
    names.looked_for("a", number - 1)
    assert names.new_among("a", [], number) == set()
    names.looked_for("a", number)
    assert names.new_among("a", [], number) == {"a"}
    assert names.new_among("a", ["a"], number) == set()
    assert names.new_among("a", [], number + 1) == set()


def test_names_are_added_where_nothing_is_missing_and_no_more_are_kept_than_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_NAMES", 2)
    names = Names(1)
    names.looked_for("a", 1)
    names.looked_for("z", 1)
    names.add([(9, "a")], 8, 9)  # of another moment
    assert names.known_to == 1
    assert names.new_among("az", [], 1) == {"a", "z"}
    names.add([(2, "a"), (3, "b")], 1, 3)
    assert names.known_to == 3
    assert set(names._looks) == {"z"}
    names.looked_for("a", 1)  # as by a thread that had looked before
    assert names.new_among("az", [], 3) == {"z"}
    names.add([(4, "c")], 3, 5)
    assert names._names == {"b", "c"}
    assert [name for _, name in names._order] == ["b", "c"]
    assert names.new_among("az", [], 5) == set()  # they were looked for before record 2
    names.forget(7)
    assert names.known_to == 7
    assert not names._names
    assert not names._order


def test_a_look_ahead_sends_one_statement_or_none(ledger: Ledger) -> None:
    assert len(statements(ledger, lambda: ledger.find(named("a")))) == 1
    drawn = ledger.draw(named("a"), lambda: "red").entry
    assert ledger._names is not None
    assert ledger._names.known_to == drawn.head.number  # and so its names are not read again
    assert statements(ledger, lambda: ledger.find(CHARGE)) == []


def test_a_look_ahead_finds_what_is_there_and_refuses_what_does_not_fit(ledger: Ledger) -> None:
    drawn = ledger.draw(named("a"), lambda: "red")
    found = ledger.find(named("a"))
    assert found is not None
    assert found.entry == drawn.entry
    with pytest.raises(NameTaken):
        ledger.find(replace(named("a"), source="other votes"))
    for name in ("b", None):
        with pytest.raises(BudgetExceeded):
            ledger.find(replace(CHARGE, guarantee=rb.DP(2), name=name))
        with pytest.raises(BudgetExceeded):
            ledger.find(replace(CHARGE, guarantee=rb.DP("0.001", "1e-9"), name=name))


def test_a_look_ahead_is_possible_before_anything_was_seen(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    new_ledger(place, epsilon=1)
    ledger = Ledger.open(place, connections=1)
    assert ledger.find(named("a")) is None
    ledger.disconnect()


def test_a_look_ahead_outlives_a_server_that_cut_its_connections(
    ledger: Ledger, postgres_url: str
) -> None:
    with connect(postgres_url) as other:
        other.execute(
            b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            b"AND query NOT LIKE '%autovacuum%' AND backend_type = 'client backend'"
        )
    assert ledger.find(named("a")) is None


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

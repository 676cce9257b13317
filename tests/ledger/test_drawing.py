"""One answer for one name: paid, drawn and recorded in one transaction."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from threading import Barrier
from typing import Any

import pytest

import rainbowdp as rb
from ledgers import QUESTION, SOURCE, new_ledger, spend
from rainbowdp.errors import BudgetExceeded, LedgerError, NameTaken, Unavailable
from rainbowdp.ledger import Charge, Ledger, book
from rainbowdp.questions import Unit

CHARGE = Charge(rb.DP("0.3"), QUESTION, Unit(), "substituted", SOURCE, {"kind": "x"}, "first")


def test_a_payment_and_its_answer_are_one_transaction(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)
    assert ledger.find(CHARGE) is None
    drawn = ledger.draw(CHARGE, lambda: "red")
    assert (drawn.entry.answer, drawn.recalled, drawn.entry.number) == ("red", False, 1)
    assert drawn.balance == ledger.balance()
    assert drawn.balance.left.parts[0] == Fraction("0.7")
    assert ledger.history() == (drawn.entry,)
    assert ledger.verify() == drawn.entry.head


def test_a_name_has_one_answer(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)
    first = ledger.draw(CHARGE, lambda: "red")

    def never() -> str:
        raise AssertionError("nothing is drawn twice")

    again = ledger.draw(CHARGE, never)
    assert (again.entry, again.recalled) == (first.entry, True)
    assert ledger.find(CHARGE) == again
    assert ledger.named("first") == again
    assert ledger.named("second") is None
    assert ledger.balance().entries == 1


def test_which_of_many_names_have_an_answer(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "_MOST_AT_ONCE", 2)
    ledger = new_ledger(place, epsilon=1)
    for name in ("a", "b", "c"):
        ledger.draw(replace(CHARGE, name=name), lambda: "red")
    spend(ledger, rb.DP("0.1"), "cut off")
    assert ledger.answered([]) == set()
    assert ledger.answered(["c", "x", "cut off", "a", "y"]) == {"a", "c"}
    assert ledger.answered(["y", "x", "cut off", "a", "c"]) == {"a", "c"}


def test_what_was_paid_for_and_never_answered_is_answered_for_free(place: str) -> None:
    ledger = new_ledger(place, epsilon="0.3")
    interrupted = spend(ledger, rb.DP("0.3"), "first")
    assert ledger.named("first") is None
    assert ledger.find(CHARGE) is None  # though nothing is left
    drawn = ledger.draw(CHARGE, lambda: "green")
    assert drawn.entry == replace(interrupted, answer="green", answered=drawn.entry.answered)
    assert not drawn.recalled
    assert ledger.balance().entries == ledger.balance().answers == 1
    assert ledger.balance().left.parts[0] == 0
    with pytest.raises(LedgerError, match="a different answer already"):
        ledger.record(interrupted, "red")  # whoever was cut off comes too late
    ledger.verify()


@pytest.mark.parametrize(
    "other",
    [
        {"question": {**QUESTION, "column": "other"}},
        {"guarantee": rb.DP("0.2")},
        {"source": "other votes"},
    ],
)
def test_a_name_belongs_to_one_question(place: str, other: dict[str, Any]) -> None:
    ledger = new_ledger(place, epsilon=1)
    ledger.draw(CHARGE, lambda: "red")
    for act in (ledger.find, lambda charge: ledger.draw(charge, lambda: "green")):
        with pytest.raises(NameTaken, match="'first'"):
            act(replace(CHARGE, **other))


def test_what_does_not_fit_is_refused_before_it_is_drawn(place: str) -> None:
    ledger = new_ledger(place, epsilon="0.2")

    def never() -> str:
        raise AssertionError("nothing is drawn")

    with pytest.raises(BudgetExceeded):
        ledger.find(CHARGE)
    with pytest.raises(BudgetExceeded):
        ledger.draw(CHARGE, never)
    person = replace(CHARGE, unit=Unit(person="who"))
    with pytest.raises(LedgerError, match="protects one person"):
        ledger.draw(person, lambda: "red")
    ledger.close(signed_by="Ann", reason="the end")
    with pytest.raises(LedgerError, match="closed"):
        ledger.find(replace(CHARGE, guarantee=rb.DP("0.1")))


def test_a_draw_that_fails_costs_nothing(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)

    def fails() -> str:
        raise MemoryError

    with pytest.raises(MemoryError):
        ledger.draw(CHARGE, fails)
    assert ledger.balance().entries == 0
    assert ledger.draw(CHARGE, lambda: "red").entry.number == 1


@pytest.mark.parametrize("interrupted", [False, True])
def test_of_many_who_ask_at_once_one_draws(place: str, interrupted: bool) -> None:
    creator = new_ledger(place, epsilon=1)
    if interrupted:
        spend(creator, rb.DP("0.3"), "first")
    many = 12
    start, drawn = Barrier(many), []
    shared = Ledger.open(place, connections=4)

    def ask(number: int) -> str | None:
        ledger = shared if number % 2 else Ledger.open(place)

        def answer() -> str:
            drawn.append(number)
            return f"answer {number}"

        start.wait()
        return ledger.draw(CHARGE, answer).entry.answer

    with ThreadPoolExecutor(many) as pool:
        answers = list(pool.map(ask, range(many)))
    shared.disconnect()
    assert len(drawn) == 1
    assert answers == [f"answer {drawn[0]}"] * many
    assert creator.balance().entries == creator.balance().answers == 1
    creator.verify()


def test_somebody_else_asks_through_the_same_ledger(place: str) -> None:
    ledger = new_ledger(place, epsilon=1, by="service")
    hers = ledger.on_behalf_of("ann", "the ledger of visits")
    entry = hers.draw(CHARGE, lambda: "red").entry
    assert entry.by == "ann"
    with pytest.raises(BudgetExceeded) as caught:
        hers.draw(replace(CHARGE, guarantee=rb.DP(2), name=None), lambda: "red")
    assert "the ledger of visits has" in str(caught.value)
    assert place not in str(caught.value)
    with pytest.raises(LedgerError, match="name of who asks"):
        ledger.on_behalf_of("ann\n")


def test_connections_that_are_kept_outlive_a_server_that_cut_them(postgres_url: str) -> None:
    from postgres import connect, fresh_schema

    place = fresh_schema(postgres_url)
    new_ledger(place, epsilon=1)
    ledger = Ledger.open(place, connections=2)
    ledger.balance()
    with connect(postgres_url) as other:
        other.execute(
            b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            b"AND query NOT LIKE '%autovacuum%' AND backend_type = 'client backend'"
        )
    assert ledger.draw(CHARGE, lambda: "red").entry.answer == "red"
    ledger.disconnect()


def test_a_ledger_out_of_reach_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="cannot be reached"):
        Ledger.open("postgresql://nobody@127.0.0.1:9/nothing", timeout=2)

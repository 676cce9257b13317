"""Threads that want something of one ledger at one time get it in one transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import pytest

import rainbowdp as rb
from ledgers import QUESTION, SOURCE, new_ledger, spend
from rainbowdp.errors import BudgetExceeded, NameTaken, RainbowError, Unavailable
from rainbowdp.ledger import Charge, Drawn, Ledger
from rainbowdp.ledger.book import Book
from rainbowdp.ledger.together import Job
from rainbowdp.questions import Unit


def charge(name: str | None, epsilon: str = "0.1", **changed: Any) -> Charge:
    asked = {**QUESTION, **changed}
    return Charge(rb.DP(epsilon), asked, Unit(), "substituted", SOURCE, {"kind": "x"}, name)


@pytest.fixture
def ledger(place: str) -> Iterator[Ledger]:
    """A ledger of a service, with a budget of ε = 1."""
    new_ledger(place, epsilon=1)
    found = Ledger.open(place, connections=4)
    yield found
    found._store.engine.dispose()


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many records each transaction writes."""
    sizes: list[int] = []
    write = Book.write

    def noted(book: Book) -> None:
        sizes.append(len(book.new))
        write(book)

    with monkeypatch.context() as patch:
        patch.setattr(Book, "write", noted)
        yield sizes


def at_once(ledger: Ledger, works: list[Callable[[], Drawn]]) -> list[Drawn | RainbowError]:
    """What works come to that all wait for their turn at one moment, in this order."""
    assert ledger._turns is not None
    turns = ledger._turns[True]

    def tried(work: Callable[[], Drawn]) -> Drawn | RainbowError:
        try:
            return work()
        except RainbowError as error:
            return error

    with ThreadPoolExecutor(len(works)) as pool:
        turns._led = True  # somebody is at work
        begun = []
        for number, work in enumerate(works, 1):
            begun.append(pool.submit(tried, work))
            while len(turns._waiting) < number:
                time.sleep(0.001)
        turns._pass_on(Job(lambda book: None), [])
        return [one.result() for one in begun]


def test_all_who_wait_are_paid_in_one_transaction(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = [ledger.on_behalf_of(name) for name in ("ann", "bob", "cleo")]
    with counted(monkeypatch) as sizes:
        drawn = at_once(
            ledger,
            [lambda one=one: one.draw(charge(one.by), lambda: "red") for one in people],  # type: ignore[misc]
        )
    assert sizes == [6]
    assert [one.entry.by for one in drawn if isinstance(one, Drawn)] == ["ann", "bob", "cleo"]
    entries = ledger.history()
    assert [entry.number for entry in entries] == [1, 2, 3]
    assert [one.entry for one in drawn if isinstance(one, Drawn)] == list(entries)
    assert ledger.balance().left.parts[0] == Fraction("0.7")
    ledger.verify(*(entry.head for entry in entries))


def test_one_that_is_refused_leaves_the_others_as_they_are(ledger: Ledger) -> None:
    def broken() -> str:
        raise RainbowError("it cannot be drawn")

    found = at_once(
        ledger,
        [
            lambda: ledger.draw(charge("a", "0.5"), lambda: "red"),
            lambda: ledger.draw(charge("b", "0.6"), lambda: "red"),
            lambda: ledger.draw(charge("c", "0.2"), broken),
            lambda: ledger.draw(charge("a", column="other"), lambda: "red"),
            lambda: ledger.draw(charge("d", "0.5"), lambda: "green"),
            lambda: ledger.draw(charge("e"), lambda: "green"),
        ],
    )
    assert [type(one) for one in found] == [
        *(Drawn, BudgetExceeded, RainbowError, NameTaken, Drawn, BudgetExceeded)
    ]
    assert [entry.name for entry in ledger.history()] == ["a", "d"]
    balance = ledger.balance()
    assert balance.spent == balance.total
    ledger.verify()


@pytest.mark.parametrize("paid_before", [False, True])
def test_one_name_has_one_answer_however_many_wait(ledger: Ledger, paid_before: bool) -> None:
    if paid_before:  # and cut off before it was answered
        spend(ledger, rb.DP("0.1"), "same")
    answers = iter(["red", "green", "blue"])
    found = at_once(ledger, [lambda: ledger.draw(charge("same"), lambda: next(answers))] * 3)
    assert [one.entry.answer for one in found if isinstance(one, Drawn)] == ["red"] * 3
    assert [one.recalled for one in found if isinstance(one, Drawn)] == [False, True, True]
    assert next(answers) == "green"
    [entry] = ledger.history()
    assert entry.answer == "red"
    assert ledger.balance().spent.parts[0] == Fraction("0.1")


def test_if_the_transaction_fails_nobody_was_answered(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(book: Book) -> None:
        raise Unavailable("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(Book, "write", lost)
        found = at_once(
            ledger,
            [lambda name=name: ledger.draw(charge(name), lambda: "red") for name in "ab"],  # type: ignore[misc]
        )
    assert [type(one) for one in found] == [Unavailable, Unavailable]
    assert found[0] is not found[1]
    assert ledger.history() == ()
    assert ledger.draw(charge("a"), lambda: "green").entry.answer == "green"

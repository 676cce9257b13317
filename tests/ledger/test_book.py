"""A ledger inside one transaction: what is read, found and put together belongs to one chain."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

import rainbowdp as rb
from ledgers import QUESTION, SOURCE, execute, new_ledger, spend
from postgres import fresh_schema
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import Head, Ledger
from rainbowdp.ledger import book as module
from rainbowdp.ledger.book import Book
from rainbowdp.ledger.chain import Draft, seal
from rainbowdp.ledger.names import MOST_NAMES, Names
from rainbowdp.ledger.schema import LEDGER, balance_row


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """With a budget of ε = 3 and three answers, so that its head is 7."""
    found = new_ledger(tmp_path / "budget.db", epsilon=3)
    for number in range(3):
        found.record(spend(found, rb.DP("0.1"), f"poll {number}"), "red")
    return found


def test_a_record_that_the_balance_does_not_know_is_damage_for_an_old_handle(
    ledger: Ledger, tmp_path: Path
) -> None:
    """One that has to look further back for the head that it knows."""
    old = Ledger.open(ledger.where)
    for _ in range(3):
        ledger.note("seen")
    execute(
        ledger.where,
        "INSERT INTO rainbow_records SELECT 11, time, kind, name, subject, content, seal "
        "FROM rainbow_records WHERE number = 10",
    )
    for look in (old.balance, lambda: spend(old, rb.DP("0.1")), lambda: Ledger.open(ledger.where)):
        with pytest.raises(LedgerError, match="is damaged"):
            look()


def test_a_balance_of_another_head_is_damage(ledger: Ledger) -> None:
    """Whole and of the right number, as one of another chain."""
    other = replace(ledger.balance(), head=Head(7, "f" * 64))
    with ledger._store.write() as connection:
        connection.execute(update(LEDGER), balance_row(other, "rainbowdp"))
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger.open(ledger.where)


def test_every_head_of_the_past_is_there_and_no_other(ledger: Ledger) -> None:
    heads = [record.head for record in ledger.records()]
    for before in heads:
        with ledger._store.read() as connection:
            book = Book.read(connection, ledger.where, before)
            assert all(book.has(head) for head in heads)
            assert all(book.has(Head(head.number, head.seal[:16])) for head in heads)
            assert not any(book.has(Head(one.number, other.seal)) for one, other in pairwise(heads))
            assert not book.has(Head(8, heads[-1].seal))


def test_a_payment_that_follows_nothing_is_damage(tmp_path: Path) -> None:
    """Though it is sealed as the first record of a chain would be."""
    ledger = new_ledger(tmp_path / "budget.db", epsilon=3)
    spend(ledger, rb.DP("0.1"), "a")
    spend(ledger, rb.DP("0.1"), "b")
    ledger.note("seen")
    database = sqlite3.connect(ledger.where)
    columns = "number, time, kind, name, subject, content"
    cells = database.execute(f"SELECT {columns} FROM rainbow_records WHERE number = 2").fetchone()
    database.execute("UPDATE rainbow_records SET seal = ? WHERE number = 2", [seal(None, *cells)])
    database.execute("DELETE FROM rainbow_records WHERE number = 1")
    database.commit()
    database.close()
    assert ledger.balance().entries == 2  # which looks at the last records alone
    looks: list[Callable[[], object]] = [
        lambda: ledger.named("a"),
        lambda: ledger.answered(["a"]),
        ledger.verify,
    ]
    for look in looks:
        with pytest.raises(LedgerError, match="is damaged"):
            look()


@pytest.mark.parametrize("missing", range(1, 8))
def test_some_records_are_all_of_them(ledger: Ledger, missing: int) -> None:
    with ledger._reading() as book:
        whole = book.some(1, 7)
    assert [record.number for record in whole] == [*range(1, 8)]
    with ledger._reading() as book, pytest.raises(LedgerError, match="is damaged"):
        book.some(9, 9)
    with ledger._store.write() as connection:
        book = Book.read(connection, ledger.where)
        connection.exec_driver_sql(f"DELETE FROM rainbow_records WHERE number = {missing}")
        for first in range(1, 8):
            for last in range(first, 8):
                if first - 1 <= missing <= last:
                    with pytest.raises(LedgerError, match="is damaged"):
                        book.some(first, last)
                else:
                    assert book.some(first, last) == whole[first - 1 : last]


KINDS = ["note", "pay", "pay", "answer", "note", "note", "note", "pay", "note", "pay", "pay", "pay"]


def test_the_payment_of_an_entry_is_found_wherever_it_stands(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=3)
    payments: list[int] = []
    for kind in KINDS:
        if kind == "note":
            ledger.note("seen")
        elif kind == "answer":
            ledger.record(ledger.history()[-1], "red")
        else:
            payments.append(spend(ledger, rb.DP("0.1")).paid.number)
        with ledger._reading() as book:
            found = [book.payment_of(entry) for entry in range(-1, len(payments) + 2)]
        assert found == [None, None, *payments, None]


def test_an_entry_of_the_same_transaction_is_found_with_its_answer(ledger: Ledger) -> None:
    with ledger._writing() as book:
        priced = ledger._priced([charge("a"), charge("b")])
        first, second = ledger._pay(book, priced)
        unanswered = [book.named(name) for name in ("a", "b")]
        book.add([Draft("answer", {"answer": "blue"}, subject=second.number)])
        found = [book.named(name) for name in ("poll 1", "a", "b", "c")]
    assert [one and one.answer for one in unanswered] == [None, None]
    assert [one and one.paid for one in unanswered] == [first.head, second.head]
    assert [None if one is None else (one.paid.number, one.answer) for one in found] == [
        (4, "red"),
        (first.number, None),
        (second.number, "blue"),
        None,
    ]
    assert ledger.answered(["a", "b"]) == {"b"}


def test_an_answer_of_this_transaction_to_an_older_payment_is_found(ledger: Ledger) -> None:
    """Whoever asks next in it must not draw a second one."""
    older = [spend(ledger, rb.DP("0.1"), name) for name in ("a", "b", "c")]
    with ledger._writing() as book:
        for entry, answer in zip(older, ("red", "green"), strict=False):
            book.add([Draft("answer", {"answer": answer}, subject=entry.paid.number)])
        found = [book.named(name) for name in ("a", "b", "c")]
    assert [one and one.answer for one in found] == ["red", "green", None]


def charge(name: str) -> Any:
    from rainbowdp.ledger import Charge
    from rainbowdp.questions import Unit

    return Charge(rb.DP("0.1"), QUESTION, Unit(), "substituted", SOURCE, name=name)


# names that need no look


def bare(ledger: Ledger, names: Names | None, later: list[tuple[int, str]], since: int) -> Book:
    """A book without a database, as one that has read these later names under the lock."""
    connection: Any = None
    return Book(connection, "", ledger.balance(), "", names=names, _later=later, _since=since)


def test_a_name_is_surely_new_where_all_later_ones_are_known(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_NAMES", 2)
    names = Names(5)
    for name in ("a", "x", "y"):
        names.looked_for(name, 5)
    asked = ["a", "b", "x", "y"]
    later = [(6, "x"), (7, "y")]
    assert bare(ledger, names, later, 5)._surely_new(asked) == {"a"}
    assert bare(ledger, names, [], 5)._surely_new(asked) == {"a", "x", "y"}
    assert bare(ledger, names, [*later, (8, "z")], 5)._surely_new(asked) == set()
    assert bare(ledger, names, later, 4)._surely_new(asked) == set()
    assert bare(ledger, None, later, 5)._surely_new(asked) == set()


@pytest.mark.parametrize("last", [6, 7])
def test_what_a_transaction_learned_of_names_is_remembered(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, last: int
) -> None:
    """Whether it ended with a payment or with its answer."""
    monkeypatch.setattr(module, "MOST_NAMES", 2)
    records = list(ledger.records())
    names = Names(1)
    for name in ("poll 0", "poll 1", "poll 2", "a"):
        names.looked_for(name, 1)
    book = bare(ledger, names, [(2, "poll 0")], 1)
    book.new = records[3:last]
    book.remember()
    assert names.known_to == 7
    asked = ["poll 0", "poll 1", "poll 2", "a"]
    for name in asked:
        names.looked_for(name, 1)
    assert names.new_among(asked, [], 7) == {"a"}


def test_more_names_than_are_kept_are_forgotten(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_NAMES", 2)
    names = Names(1)
    names.looked_for("a", 1)
    book = bare(ledger, names, [(2, "poll 0"), (4, "poll 1"), (6, "poll 2")], 1)
    book.remember()
    assert names.known_to == 7
    assert names.new_among(["a"], [], 7) == set()
    names.looked_for("a", 7)
    assert names.new_among(["a"], [], 7) == {"a"}


# on a server, in one message


@pytest.fixture
def served(postgres_url: str) -> Ledger:
    """The same ledger on a server."""
    found = new_ledger(fresh_schema(postgres_url), epsilon=3)
    for number in range(3):
        found.record(spend(found, rb.DP("0.1"), f"poll {number}"), "red")
    return found


@pytest.mark.parametrize("known", [None, 1, 2, 6, 7])
@pytest.mark.parametrize("before", [1, 3, 6, 7])
def test_what_is_read_under_the_lock(served: Ledger, known: int | None, before: int) -> None:
    records = list(served.records())
    names = None if known is None else Names(known)
    with served._store.write() as connection:
        book = Book.locked(connection, served.where, records[before - 1].head, names)
        assert book.balance == served.balance()
        assert book.has(records[before - 1].head)
        assert not book.has(Head(before, "f" * 64))
        assert book.time >= records[-1].time
        assert book.names is names
        if known is not None:
            later = [(2, "poll 0"), (4, "poll 1"), (6, "poll 2")]
            assert book._later == [one for one in later if one[0] > known]
            assert book._since == known
        else:
            assert book._later == []
        found = [book.named(name) for name in ("poll 2", "new")]
        assert [one and one.answer for one in found] == ["red", None]


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM rainbow_ledger",
        "DELETE FROM rainbow_records",
        "DELETE FROM rainbow_records WHERE number = 6",
        "DELETE FROM rainbow_records WHERE number = 7",
        "UPDATE rainbow_records SET time = '2020-01-01' WHERE number = 7",
        "INSERT INTO rainbow_records SELECT 8, time, kind, name, subject, content, seal "
        "FROM rainbow_records WHERE number = 7",
    ],
)
def test_damage_is_noticed_under_the_lock(served: Ledger, statement: str) -> None:
    execute(served._store.engine.url.render_as_string(hide_password=False), statement)
    with pytest.raises(LedgerError, match="is damaged"):
        spend(served, rb.DP("0.1"))


def test_more_later_names_than_are_kept_are_not_relied_on(
    served: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of them was not read, and a name that has an answer might be among it."""
    later = module._LATER.replace(f"LIMIT {MOST_NAMES + 1}", "LIMIT 2")
    assert later != module._LATER
    monkeypatch.setattr(module, "_LATER", later)
    monkeypatch.setattr(module, "MOST_NAMES", 1)
    names = Names(1)
    names.looked_for("poll 2", 1)  # by a thread that looked before it was there
    with served._store.write() as connection:
        book = Book.locked(connection, served.where, served.head(), names)
        assert book._surely_new(["poll 2"]) == set()
        entry = book.named("poll 2")
        assert entry is not None
        assert entry.answer == "red"
        book.remember()
    assert names.known_to == 7
    assert names.new_among(["poll 2"], [], 7) == set()

"""The ledger: accounting, entries, and what it says when something is wrong."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import SQLAlchemyError

import rainbowdp as rb
from postgres import connect, fresh_schema
from rainbowdp.errors import BudgetExceeded, LedgerError, MissingExtra
from rainbowdp.guarantee import Guarantee
from rainbowdp.ledger import Balance, DPCost, Entry, GaussianCost, Ledger
from rainbowdp.ledger.cost import describe, restore

QUESTION = {"question": "winner", "column": "choice", "among": ["red", "green"]}
SUBSTITUTED = "substituted"


@pytest.fixture(params=["sqlite", "postgresql"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Fresh places for ledgers, in either database."""
    if request.param == "postgresql":
        url: str = request.getfixturevalue("postgres_url")
        return lambda: fresh_schema(url)
    numbers = iter(range(10**6))
    return lambda: str(tmp_path / f"budget {next(numbers)}?.db")


@pytest.fixture
def place(places: Callable[[], str]) -> str:
    """One fresh place."""
    return places()


def spend(ledger: Ledger, guarantee: Guarantee, name: str | None = None) -> Entry:
    return ledger.spend(guarantee, question=QUESTION, name=name, neighbours=ledger.neighbours)


def says(*parts: str) -> str:
    """A pattern for a message that starts, goes on and ends with these parts."""
    return "^" + ".*".join(re.escape(part) for part in parts) + "$"


def execute(place: str, statement: str) -> None:
    """One statement past the ledger, straight into its database."""
    if "://" in place:
        with connect(place) as connection:
            connection.execute(statement.encode())
    else:
        with sqlite3.connect(place) as database:
            database.execute(statement)
        database.close()


# accounting


def test_a_ledger_from_first_to_last(place: str) -> None:
    ledger = Ledger.create(place, epsilon="1", delta="1e-5", neighbours="added or removed")
    guarantee = rb.DP("0.3", delta="1e-6")
    entry = ledger.spend(guarantee, question=QUESTION, name="first", neighbours="added or removed")
    assert entry == Entry(
        number=1,
        time=entry.time,
        name="first",
        question_text='{"among":["red","green"],"column":"choice","question":"winner"}',
        guarantee=guarantee,
        cost=DPCost(Fraction(3, 10), Fraction(1, 10**6)),
        answer=None,
    )
    assert entry.question == QUESTION
    moment = datetime.fromisoformat(entry.time)
    assert moment.utcoffset() == timedelta(0)

    again = Ledger.open(place)
    assert again == ledger
    assert again.recall("first", QUESTION) == entry
    answered = again.record(entry, "red")
    assert answered.answer == "red"
    assert ledger.record(entry, "red") == answered
    assert ledger.recall("first", QUESTION, guarantee=guarantee) == answered
    assert ledger.recall("second", QUESTION) is None
    assert ledger.history() == (answered,)
    assert ledger.balance() == Balance(
        kind="dp",
        neighbours="added or removed",
        total=DPCost(Fraction(1), Fraction(1, 10**5)),
        spent=DPCost(Fraction(3, 10), Fraction(1, 10**6)),
        left=DPCost(Fraction(7, 10), Fraction(9, 10**6)),
        entries=1,
    )


def test_a_balance_and_an_entry_are_json(place: str) -> None:
    ledger = Ledger.create(place, mu=2)
    entry = ledger.record(spend(ledger, rb.GaussianDP("0.5")), "grün\0")
    assert json.loads(json.dumps(ledger.balance().as_dict())) == {
        "kind": "gaussian",
        "neighbours": "substituted",
        "total": {"mu_squared": "4"},
        "spent": {"mu_squared": "1/4"},
        "left": {"mu_squared": "15/4"},
        "entries": 1,
    }
    assert json.loads(json.dumps(ledger.history()[0].as_dict())) == {
        "number": 1,
        "time": entry.time,
        "name": None,
        "question": QUESTION,
        "guarantee": {"mu": "1/2"},
        "cost": {"mu_squared": "1/4"},
        "answer": "grün\0",
    }


def test_values_are_frozen(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a.db", epsilon=1)
    entry = spend(ledger, rb.DP(1))
    entry.question["column"] = "other"
    assert entry.question == QUESTION
    for value, name in ((ledger, "kind"), (entry, "answer"), (ledger.balance(), "left")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, None)


def test_ten_tenths_are_one_and_ten_floats_are_more(places: Callable[[], str]) -> None:
    decimal = Ledger.create(places(), epsilon=1)
    for _ in range(10):
        spend(decimal, rb.DP("0.1"))
    assert decimal.balance().left == DPCost(Fraction(0), Fraction(0))
    binary = Ledger.create(places(), epsilon=1)
    for _ in range(9):
        spend(binary, rb.DP(0.1))
    with pytest.raises(BudgetExceeded, match=re.escape("got epsilon=0.1 where 0.1 is left")):
        spend(binary, rb.DP(0.1))


def test_what_does_not_fit_is_refused_and_changes_nothing(place: str) -> None:
    ledger = Ledger.create(place, epsilon=3, delta="0.001")
    spend(ledger, rb.DP(2))
    before = ledger.balance(), ledger.history()
    with pytest.raises(
        BudgetExceeded,
        match=says(
            "a question must cost at most what is left, got epsilon=3/2 where 1 is left; "
            "ask with less, or recall a past answer for free"
        ),
    ):
        spend(ledger, rb.DP("1.5"))
    with pytest.raises(BudgetExceeded, match="got delta=1/500 where 1/1000 is left"):
        spend(ledger, rb.DP(1, delta="0.002"))
    assert (ledger.balance(), ledger.history()) == before
    spend(ledger, rb.DP(1, delta="0.001"))
    spend(ledger, rb.DP(0))


def test_gaussian_budgets_add_squares(place: str) -> None:
    ledger = Ledger.create(place, mu="0.5")
    spend(ledger, rb.GaussianDP("0.3"))
    assert str(ledger.balance().left) == "mu 0.4"
    spend(ledger, rb.GaussianDP("0.4"))
    assert ledger.balance().left == GaussianCost(Fraction(0))
    with pytest.raises(BudgetExceeded, match=re.escape("got mu=0.001 where 0 is left")):
        spend(ledger, rb.GaussianDP("0.001"))


@given(
    st.fractions(min_value=1, max_value=10**6, max_denominator=10**9).filter(lambda r: r > 1)
    | st.integers(1, 330).map(lambda k: 1 + Fraction(1, 2**k))
    | st.just(Fraction(10) ** 300)
)
def test_a_ratio_costs_a_tight_upper_bound_of_its_logarithm(ratio: Fraction) -> None:
    cost = DPCost.of(rb.DP.from_ratio(ratio)).epsilon
    with mpmath.workdps(400):
        above = mpmath.mpf(ratio.numerator) / ratio.denominator
        logarithm = mpmath.log(above)
        over = mpmath.mpf(cost.numerator) / cost.denominator / logarithm - 1
    assert 0 <= over < 2.0**-100


GUARANTEES = st.builds(
    rb.DP, st.fractions(0, 4, max_denominator=40), st.fractions(0, "1/9", max_denominator=99)
) | st.builds(rb.DP.from_ratio, st.fractions(1, 9, max_denominator=9))


@given(GUARANTEES | st.builds(rb.GaussianDP, st.fractions(0, 9)))
def test_a_guarantee_is_restored_as_it_was(guarantee: Guarantee) -> None:
    assert restore(describe(guarantee)) == guarantee


@settings(max_examples=25, deadline=None)
@given(
    total=st.tuples(st.fractions("1/40", 6, max_denominator=40), st.fractions(0, "1/4")),
    asked=st.lists(st.tuples(GUARANTEES, st.sampled_from([None, "a", "b", "c"])), max_size=10),
)
def test_spending_is_a_sum_of_fractions(
    postgres_url: str,
    total: tuple[Fraction, Fraction],
    asked: list[tuple[rb.DP, str | None]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for place in (f"{folder}/budget.db", fresh_schema(postgres_url)):
            ledger = Ledger.create(place, epsilon=total[0], delta=total[1])
            epsilon, delta = Fraction(0), Fraction(0)
            entries: list[tuple[rb.DP, str | None]] = []
            for guarantee, name in asked:
                price = guarantee.exact_epsilon
                if price is None:
                    price = DPCost.of(guarantee).epsilon
                fits = epsilon + price <= total[0] and delta + guarantee.exact_delta <= total[1]
                known = name is not None and any(name == used for _, used in entries)
                try:
                    spend(ledger, guarantee, name)
                except BudgetExceeded:
                    assert not fits
                    assert not known
                except LedgerError:
                    assert known
                else:
                    assert fits
                    assert not known
                    epsilon, delta = epsilon + price, delta + guarantee.exact_delta
                    entries.append((guarantee, name))
            assert ledger.balance().spent == DPCost(epsilon, delta)
            assert ledger.balance().left == DPCost(total[0] - epsilon, total[1] - delta)
            assert [(entry.guarantee, entry.name) for entry in ledger.history()] == entries
            assert [entry.number for entry in ledger.history()] == [*range(1, len(entries) + 1)]


@settings(max_examples=15, deadline=None)
@given(
    total=st.fractions("1/9", 3, max_denominator=9),
    asked=st.lists(st.fractions(0, 2, max_denominator=20), max_size=10),
)
def test_gaussian_spending_is_a_sum_of_squares(total: Fraction, asked: list[Fraction]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.create(f"{folder}/budget.db", mu=total)
        squares = Fraction(0)
        for mu in asked:
            if squares + mu * mu <= total * total:
                spend(ledger, rb.GaussianDP(mu))
                squares += mu * mu
            else:
                with pytest.raises(BudgetExceeded):
                    spend(ledger, rb.GaussianDP(mu))
        assert ledger.balance().spent == GaussianCost(squares)


# what a ledger refuses to enter


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0}, "a budget's epsilon must be greater than 0, got epsilon=0"),
        ({"epsilon": -1}, "a budget's epsilon must be greater than 0, got epsilon=-1"),
        ({"epsilon": "nan"}, "epsilon must be a finite number, got epsilon='nan'"),
        ({"epsilon": float("inf")}, "epsilon must be a finite number, got epsilon=inf"),
        ({"epsilon": 1, "delta": 1.5}, "delta must be in [0, 1], got delta=1.5"),
        ({"epsilon": 1, "delta": -1}, "delta must be in [0, 1], got delta=-1"),
        ({"mu": 0}, "a budget's mu must be greater than 0, got mu=0"),
        (
            {"epsilon": 1, "mu": 1},
            "a budget is an epsilon with a delta, or a mu alone, got epsilon=1, delta=0, mu=1",
        ),
        (
            {},
            "a budget is an epsilon with a delta, or a mu alone, got epsilon=None, delta=0, "
            "mu=None",
        ),
    ],
)
def test_a_budget_that_is_none(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(rb.InvalidGuarantee, match=says(message)):
        Ledger.create(tmp_path / "budget.db", **options)
    assert list(tmp_path.iterdir()) == []


def test_neighbours_are_one_of_two(tmp_path: Path) -> None:
    message = "neighbours must be one of substituted | added or removed, got neighbours='edited'"
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.create(tmp_path / "budget.db", epsilon=1, neighbours="edited")


def refusals(ledger: Ledger) -> Iterator[tuple[Callable[[], object], str]]:
    """Calls that a DP ledger with one entry 'used' refuses, with what it says."""

    def asked(**changes: Any) -> Callable[[], object]:
        options = {"question": QUESTION, "neighbours": SUBSTITUTED, **changes}
        return lambda: ledger.spend(options.pop("guarantee", rb.DP(1)), **options)

    yield (
        asked(neighbours="added or removed"),
        "a question needs a ledger for its neighbours, 'added or removed', got a ledger made for "
        "another neighbour relation, 'substituted'; create one for it",
    )
    yield (
        asked(guarantee=rb.GaussianDP(1)),
        "a ledger with a dp budget takes DP guarantees, got GaussianDP(mu=1); ask under one, or "
        "create a ledger with a gaussian budget",
    )
    yield (
        asked(guarantee=rb.TradeOff([(0, 1), (0.4, 0.4), (1, 0)])),
        "a ledger takes DP and GaussianDP guarantees, which it can add up, got TradeOff; ask "
        "under one of those",
    )
    yield (
        asked(name="used"),
        "a name stands for one question, got name='used', which is in the ledger already; recall "
        "its answer, or choose another name",
    )
    for name in ("", " ", "a\0b", "\ud800", "two\nlines"):
        yield asked(name=name), f"a name must be printable text, got name={name!r}"
    yield (
        asked(question={"threshold": float("nan")}),
        "a question must be described by a mapping of JSON values, got dict {'threshold': nan}",
    )
    yield (
        asked(question=["winner"]),
        "a question must be described by a mapping of JSON values, got list ['winner']",
    )
    yield (
        asked(guarantee=rb.DP(1 + Fraction(1, 2**13_000))),
        "a ledger keeps exact sums of up to 13000 bits, got 13001 bits; give epsilon, delta and "
        "mu as short decimals",
    )
    yield (
        lambda: ledger.recall("used", {**QUESTION, "column": "other"}),
        "a past answer is for the question it was drawn for, got a question that changed under "
        "the same name 'used'; choose another name to ask it anew",
    )
    yield (
        lambda: ledger.recall("used", QUESTION, guarantee=rb.DP(2)),
        "a past answer is for the question it was drawn for, got a guarantee that changed under "
        "the same name 'used'; choose another name to ask it anew",
    )
    yield (
        lambda: ledger.record(ledger.history()[0], "green"),
        "an entry has one answer, got a second, different one for number 1; recall the first, "
        "and do not show the second",
    )
    yield (
        lambda: ledger.record(ledger.history()[0], 3),  # type: ignore[arg-type]
        "an answer must be text, got int",
    )


def test_refusals_leave_the_ledger_as_it_was(place: str) -> None:
    ledger = Ledger.create(place, epsilon=9, delta=1)
    ledger.record(spend(ledger, rb.DP(1), "used"), "red")
    before = ledger.balance(), ledger.history()
    for refused, message in refusals(ledger):
        with pytest.raises(LedgerError, match=says(message)):
            refused()
        assert (ledger.balance(), ledger.history()) == before


def test_a_gaussian_ledger_takes_gaussian_guarantees(tmp_path: Path) -> None:
    message = (
        "a ledger with a gaussian budget takes GaussianDP guarantees, got DP(epsilon=1); ask "
        "under one, or create a ledger with a dp budget"
    )
    with pytest.raises(LedgerError, match=says(message)):
        spend(Ledger.create(tmp_path / "budget.db", mu=1), rb.DP(1))


def test_an_entry_is_recorded_where_it_was_spent(places: Callable[[], str]) -> None:
    first, second = (Ledger.create(places(), epsilon=2) for _ in range(2))
    entry = spend(first, rb.DP(1))
    message = "got an entry of another ledger, number 1; record it where it was spent"
    with pytest.raises(LedgerError, match=re.escape(message)):
        second.record(entry, "red")
    spend(second, rb.DP(2))
    with pytest.raises(LedgerError, match=re.escape(message)):
        second.record(entry, "red")


# places


def test_a_ledger_that_is_not_there(places: Callable[[], str]) -> None:
    place = places()
    with pytest.raises(
        LedgerError,
        match=says(
            "a ledger must be created before it is used, got none at ",
            "; create it with: rainbow ledger create ",
            " --epsilon 3",
        ),
    ):
        Ledger.open(place)
    Ledger.create(place, epsilon=1)


def test_a_ledger_is_created_once(place: str) -> None:
    ledger = Ledger.create(place, epsilon=1)
    spend(ledger, rb.DP("0.5"))
    with pytest.raises(
        LedgerError,
        match=says(
            "a ledger is created once, got a place that is taken, ",
            "; open it, or choose another place",
        ),
    ):
        Ledger.create(place, epsilon=5)
    assert ledger.balance().spent == DPCost(Fraction(1, 2), Fraction(0))


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("", "a ledger's place must be a path or an address, got ''"),
        ("a\0b", "a ledger's place must be a path or an address, got 'a\\x00b'"),
        (
            "mysql://me:secret@host/money",
            "a ledger's place must be a path or postgresql://user@host/database, got one that "
            "starts with mysql",
        ),
        (
            "postgresql://me:secret@host:port/money",
            "a ledger's place must be a path or postgresql://user@host/database, got one that "
            "starts with postgresql with an address that cannot be read",
        ),
    ],
)
def test_a_place_that_is_none(place: str, message: str) -> None:
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.open(place)
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.create(place, epsilon=1)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_timeout_is_a_number_of_seconds(tmp_path: Path, timeout: float) -> None:
    message = f"timeout must be a number of seconds in (0, 86400], got timeout={timeout}"
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.create(tmp_path / "budget.db", epsilon=1, timeout=timeout)


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    place = tmp_path / "none" / "budget.db"
    message = f"a ledger's folder must exist, got '{place}'; make the folder first"
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.create(place, epsilon=1)
    (tmp_path / "file").touch()
    with pytest.raises(LedgerError, match="got 'Not a directory' for"):
        Ledger.create(tmp_path / "file" / "budget.db", epsilon=1)


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    message = (
        "a ledger must be a file this user can open in a writable folder, got 'unable to open "
        f"database file' for '{tmp_path}'; correct the path or its permissions"
    )
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.open(tmp_path)


def foreign(where: object) -> str:
    return says(
        f"a ledger must be made by rainbowdp, got something else at {where}; correct the place, "
        "or create a ledger at a new one"
    )


@pytest.mark.parametrize("content", [b"", b"epsilon,delta\n", b"x" * 10_000])
def test_a_file_of_another_kind(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "budget.db"
    place.write_bytes(content)
    with pytest.raises(LedgerError, match=foreign(f"'{place}'")):
        Ledger.open(place)
    with pytest.raises(LedgerError, match="got a place that is taken"):
        Ledger.create(place, epsilon=1)
    assert place.read_bytes() == content


def test_a_database_of_another_kind(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    execute(str(place), "CREATE TABLE money (amount)")
    with pytest.raises(LedgerError, match=foreign(f"'{place}'")):
        Ledger.open(place)


def test_a_table_of_the_same_name(place: str) -> None:
    execute(place, "CREATE TABLE rainbow_budget (amount INTEGER)")
    with pytest.raises(LedgerError, match="got something else at"):
        Ledger.open(place)


def test_a_ledger_of_another_version(place: str) -> None:
    ledger = Ledger.create(place, epsilon=1)
    execute(place, "UPDATE rainbow_budget SET version = 2")
    message = (
        f"a ledger must be of version 1, got version 2 at {ledger.where}; use the release of "
        "rainbowdp that made it"
    )
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.open(place)


# damage


def broken(ledger: Ledger) -> str:
    return says(
        f"a ledger must be whole, got damage in {ledger.where}; restore a copy made after its "
        "last question, or count the whole budget as spent"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rainbow_budget SET total_epsilon = '30'",
        "UPDATE rainbow_budget SET spent_epsilon = '0'",
        "UPDATE rainbow_budget SET neighbours = 'added or removed'",
        "UPDATE rainbow_budget SET entries = 0",
        "DELETE FROM rainbow_budget",
    ],
)
def test_a_budget_that_was_altered(place: str, statement: str) -> None:
    ledger = Ledger.create(place, epsilon=3)
    spend(ledger, rb.DP(1))
    execute(place, statement)
    with pytest.raises(LedgerError, match=broken(ledger)):
        spend(ledger, rb.DP(1))
    with pytest.raises(LedgerError, match=broken(ledger)):
        Ledger.open(place)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rainbow_entries SET answer = '\"green\"' WHERE number = 1",
        "UPDATE rainbow_entries SET epsilon = '1/2' WHERE number = 2",
        "DELETE FROM rainbow_entries WHERE number = 2",
        "DELETE FROM rainbow_entries WHERE number = 1",
    ],
)
def test_entries_that_were_altered(place: str, statement: str) -> None:
    ledger = Ledger.create(place, epsilon=3)
    ledger.record(spend(ledger, rb.DP(1)), "red")
    spend(ledger, rb.DP(0))
    execute(place, statement)
    with pytest.raises(LedgerError, match=broken(ledger)):
        ledger.history()


def test_any_damaged_bytes_are_an_error_or_harmless(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = Ledger.create(place, epsilon=100)
    for number in range(30):
        ledger.record(spend(ledger, rb.DP(1), f"name {number}"), "red")
    whole, truth = place.read_bytes(), (ledger.balance(), ledger.history())
    said = []
    for start in range(0, len(whole), 512):
        place.write_bytes(whole[:start] + b"\xa5" * 64 + whole[start + 64 :])
        try:
            opened = Ledger.open(place)
            assert (opened.balance(), opened.history()) == truth
        except LedgerError as error:
            said.append(str(error))
    assert len(said) > len(whole) / 512 / 4
    assert all("got damage in" in line or "got something else" in line for line in said)


def test_a_file_that_was_cut_short(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = Ledger.create(place, epsilon=1)
    whole = place.read_bytes()
    for length in (len(whole) // 2, len(whole) - 4096):
        place.write_bytes(whole[:length])
        with pytest.raises(LedgerError, match=broken(ledger)):
            Ledger.open(place)


# other people


def test_a_sqlite_lock_held_by_someone_else(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = Ledger.create(place, epsilon=1, timeout=0.2)
    other = sqlite3.connect(place, isolation_level=None)
    message = (
        f"a ledger must be free within 0.2 s, got a lock held by someone else on '{place}'; "
        "try again, or allow a longer timeout; nothing was spent"
    )
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match=says(message)):
        spend(ledger, rb.DP(1))
    assert ledger.balance().entries == 0
    other.execute("ROLLBACK")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerError, match=says(message)):
        ledger.balance()
    other.close()
    spend(ledger, rb.DP(1))


def test_a_postgresql_lock_held_by_someone_else(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    ledger = Ledger.create(place, epsilon=1, timeout=0.2)
    message = (
        f"a ledger must be free within 0.2 s, got a lock held by someone else on {ledger.where}; "
        "try again, or allow a longer timeout; nothing was spent"
    )
    with connect(place) as other:
        with other.transaction():
            other.execute("SELECT * FROM rainbow_budget FOR UPDATE")
            with pytest.raises(LedgerError, match=says(message)):
                spend(ledger, rb.DP(1))
        assert ledger.balance().entries == 0
    spend(ledger, rb.DP(1))


def test_a_server_that_goes_away(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    ledger = Ledger.create(place, epsilon=1)
    failures: list[Exception] = []

    def ask() -> None:
        try:
            spend(ledger, rb.DP(1))
        except LedgerError as error:
            failures.append(error)

    stop = b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with connect(place) as other, connect(place) as master, other.transaction():
        other.execute("SELECT * FROM rainbow_budget FOR UPDATE")
        asking = threading.Thread(target=ask)
        asking.start()
        while asking.is_alive() and not master.execute(stop).fetchall():
            time.sleep(0.01)
        asking.join()
    assert re.match(
        says(
            "the server of a ledger must stay reachable, got 'terminating connection",
            f" from {ledger.where}; see the history before asking again, the question may have "
            "been paid",
        ),
        str(failures[0]),
    )
    assert ledger.balance().entries == 0


def test_a_server_that_cannot_be_reached() -> None:
    place = "postgres://me:secret@127.0.0.1:1/money"
    with pytest.raises(
        LedgerError,
        match=says(
            "the server of a ledger must be reachable, got 'connection failed",
            "' from postgresql+psycopg://me:***@127.0.0.1:1/money; start the server or correct "
            "the address",
        ),
    ):
        Ledger.open(place)
    with pytest.raises(LedgerError, match="the server of a ledger must be reachable"):
        Ledger.create(place, epsilon=1)


def test_a_database_that_is_not_there(postgres_url: str) -> None:
    message = 'database "nowhere" does not exist'
    with pytest.raises(LedgerError, match=message):
        Ledger.open(postgres_url.removesuffix("postgres") + "nowhere")


def test_a_server_that_is_read_only(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    ledger = Ledger.create(place, epsilon=1)
    closed = Ledger.open(place + "%20-cdefault_transaction_read_only%3Don")
    message = (
        f"a ledger must be writable to be changed, got a read-only one at {closed.where}; make "
        "it and its folder writable for this user; nothing was spent"
    )
    with pytest.raises(LedgerError, match=says(message)):
        spend(closed, rb.DP(1))
    assert closed.balance() == ledger.balance()


def test_every_spelling_of_an_address(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    Ledger.create(place, epsilon=1)
    for scheme in ("postgresql", "postgres"):
        assert Ledger.open(place.replace("postgresql+psycopg", scheme)).kind == "dp"


def test_a_missing_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match="this needs psycopg: pip install 'rainbowdp\\[postgre"):
        Ledger.open("postgresql://me@host/money")


def test_errors_of_the_database_stay_behind_ours(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    place.write_text("not a ledger, and long enough to be looked at\n" * 100)
    with pytest.raises(LedgerError) as caught:
        Ledger.open(place)
    assert isinstance(caught.value.__cause__, SQLAlchemyError)
    assert not isinstance(caught.value, SQLAlchemyError)


def test_a_sqlite_ledger_is_one_file_with_full_durability(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "budget.db", epsilon=1)
    spend(ledger, rb.DP(1))
    assert [path.name for path in tmp_path.iterdir()] == ["budget.db"]
    with ledger._store.write() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 3
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "delete"


def test_postgresql_commits_are_durable_whatever_the_default(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    Ledger.create(place, epsilon=1)
    careless = Ledger.open(place + "%20-csynchronous_commit%3Doff")
    with careless._store.write() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "on"


def test_nothing_is_stored_but_what_the_schema_says(place: str) -> None:
    ledger = Ledger.create(place, epsilon=1)
    ledger.record(spend(ledger, rb.DP(1), "name"), "red")
    query = "SELECT * FROM rainbow_entries"
    if "://" in place:
        with connect(place) as connection:
            columns = [column.name for column in connection.execute(query).description or ()]
    else:
        database = sqlite3.connect(place)
        columns = [column[0] for column in database.execute(query).description]
        database.close()
    assert columns == [
        *("number", "time", "name", "question", "guarantee"),
        *("epsilon", "delta", "mu_squared", "answer", "seal"),
    ]

"""The ledger: accounting, entries, and what it refuses to enter."""

from __future__ import annotations

import json
import re
import tempfile
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

import rainbowdp as rb
from ledgers import QUESTION, SUBSTITUTED, says, spend
from postgres import fresh_schema
from rainbowdp.errors import BudgetExceeded, LedgerError
from rainbowdp.guarantees.descriptions import describe_guarantee as describe
from rainbowdp.guarantees.descriptions import restore_guarantee as restore
from rainbowdp.guarantees.dp import Guarantee
from rainbowdp.ledger import Balance, DPCost, Entry, GaussianCost, Ledger

# accounting


def test_a_ledger_from_first_to_last(place: str) -> None:
    ledger = Ledger.create(place, epsilon="1", delta="1e-5", neighbors="added or removed")
    guarantee = rb.DP("0.3", delta="1e-6")
    entry = ledger.spend(guarantee, question=QUESTION, name="first", neighbors="added or removed")
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
        neighbors="added or removed",
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
        "neighbors": "substituted",
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
        "guarantee": {"kind": "gaussian", "mu": "1/2"},
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


def test_neighbors_are_one_of_two(tmp_path: Path) -> None:
    message = "neighbors must be 'substituted' or 'added or removed', got neighbors='edited'"
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.create(tmp_path / "budget.db", epsilon=1, neighbors="edited")


def refusals(ledger: Ledger) -> Iterator[tuple[Callable[[], object], str]]:
    """Calls that a DP ledger with one entry 'used' refuses, with what it says."""

    def asked(**changes: Any) -> Callable[[], object]:
        options = {"question": QUESTION, "neighbors": SUBSTITUTED, **changes}
        return lambda: ledger.spend(options.pop("guarantee", rb.DP(1)), **options)

    yield (
        asked(neighbors="added or removed"),
        "a question needs a ledger for its neighbors, 'added or removed', got a ledger made for "
        "another neighbor relation, 'substituted'; create one for it",
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

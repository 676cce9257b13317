"""The ledger: accounting, entries, and what it refuses to enter."""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, replace
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from ledgers import DATASET, QUESTION, SOURCE, SUBSTITUTED, new_ledger, says, spend
from postgres import fresh_schema
from rainbowdp.errors import BudgetExceeded, LedgerError
from rainbowdp.guarantees.descriptions import describe_guarantee as describe
from rainbowdp.guarantees.descriptions import restore_guarantee as restore
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.ledger import Balance, DPCost, Entry, GaussianCost, Ledger
from rainbowdp.ledger.amounts import GRID
from rainbowdp.questions import Unit

# accounting


def test_a_ledger_from_first_to_last(place: str) -> None:
    ledger = new_ledger(
        place,
        epsilon="1",
        delta="1e-5",
        neighbors="added or removed",
        person="voter",
        title="Town votes",
        purpose="The yearly report",
        contact="officer@town.example",
        by="poll service",
    )
    guarantee = rb.DP("0.3", delta="1e-6")
    asked: dict[str, Any] = {"question": QUESTION, "source": SOURCE}
    voter = Unit(person="voter")
    entry = ledger.spend(
        guarantee,
        unit=voter,
        neighbors="added or removed",
        mechanism={"kind": "exponential"},
        name="first",
        words="Red or green?",
        **asked,
    )
    assert entry == Entry(
        number=1,
        time=entry.time,
        name="first",
        dataset=DATASET,
        unit=voter,
        neighbors="added or removed",
        source=SOURCE,
        question_text='{"among":["red","green"],"column":"choice","question":"winner"}',
        words="Red or green?",
        mechanism_text='{"kind":"exponential"}',
        guarantee=guarantee,
        cost=DPCost(Fraction(3, 10), Fraction(1, 10**6)),
        by="poll service",
        role=None if Path(place).exists() else "postgres",
        software=f"rainbowdp {rb.__version__}",
        paid=ledger.head(),
    )
    assert entry.question == QUESTION
    assert entry.mechanism == {"kind": "exponential"}
    moment = datetime.fromisoformat(entry.time)
    assert moment.utcoffset() == timedelta(0)

    again = Ledger.open(place)
    assert again == ledger
    assert again.recall("first", guarantee=guarantee, **asked) == entry
    answered = again.record(entry, "red")
    assert answered.answer == "red"
    assert ledger.record(entry, "red") == answered
    assert ledger.recall("first", guarantee=guarantee, **asked) == answered
    assert ledger.recall("second", guarantee=guarantee, **asked) is None
    assert ledger.history() == (answered,)
    balance = ledger.balance()
    assert balance == Balance(
        identity=ledger.identity,
        title="Town votes",
        purpose="The yearly report",
        contact="officer@town.example",
        dataset=DATASET,
        unit=voter,
        neighbors="added or removed",
        kind="dp",
        given={"epsilon": "1", "delta": "1/100000"},
        total=DPCost(Fraction(1), Fraction(1, 10**5)),
        spent=DPCost(Fraction(3, 10), Fraction(1, 10**6)),
        entries=1,
        answers=1,
        sources=(SOURCE,),
        other_sources=0,
        limits=(),
        closed=None,
        witness=None,
        head=answered.head,
    )
    assert balance.left == DPCost(Fraction(7, 10), Fraction(9, 10**6))
    assert [record.kind for record in ledger.records()] == ["creation", "payment", "answer"]


def test_a_balance_and_an_entry_are_json(place: str) -> None:
    ledger = new_ledger(place, mu=2, rows_per_person=3)
    entry = ledger.record(spend(ledger, rb.GaussianDP("0.5")), "grün\0")
    unit = {"kind": "promise", "rows_per_person": 3}
    assert json.loads(json.dumps(ledger.balance().as_dict())) == {
        "identity": ledger.identity,
        "title": None,
        "purpose": None,
        "contact": None,
        "dataset": DATASET,
        "unit": unit,
        "neighbors": "substituted",
        "kind": "gaussian",
        "given": {"mu": "2", "delta": "0"},
        "total": {"mu_squared": "4", "delta": "0"},
        "spent": {"mu_squared": "1/4", "delta": "0"},
        "left": {"mu_squared": "15/4", "delta": "0"},
        "entries": 1,
        "answers": 1,
        "sources": [SOURCE],
        "other_sources": 0,
        "limits": [],
        "closed": None,
        "witness": None,
        "head": str(ledger.head()),
    }
    assert json.loads(json.dumps(ledger.history()[0].as_dict())) == {
        "number": 1,
        "time": entry.time,
        "name": None,
        "dataset": DATASET,
        "unit": unit,
        "neighbors": "substituted",
        "source": SOURCE,
        "question": QUESTION,
        "words": None,
        "mechanism": None,
        "guarantee": {"kind": "gaussian", "mu": "1/2"},
        "cost": {"mu_squared": "1/4", "delta": "0"},
        "by": ledger.by,
        "role": entry.role,
        "software": f"rainbowdp {rb.__version__}",
        "answer": "grün\0",
        "paid": str(entry.paid),
        "head": str(ledger.head()),
    }
    unanswered = spend(ledger, rb.GaussianDP("0.25"), "second")
    for one in (entry, unanswered):
        assert Entry.restore(json.loads(json.dumps(one.as_dict()))) == one
    assert Entry.restore({**entry.as_dict(), "source": None}) == replace(entry, source=None)


def test_a_balance_lists_its_sources_in_the_order_of_their_first_use(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)
    assert ledger.balance().sources == ()
    for source in ("b", None, "a", "b", None):
        ledger.spend(
            rb.DP("0.1"), question=QUESTION, unit=Unit(), neighbors=SUBSTITUTED, source=source
        )
    assert ledger.balance().sources == ("b", None, "a")
    assert [entry.source for entry in ledger.history()] == ["b", None, "a", "b", None]


def test_values_are_frozen(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "a.db", epsilon=1)
    entry = spend(ledger, rb.DP(1))
    entry.question["column"] = "other"
    assert entry.question == QUESTION
    for value, name in ((ledger, "kind"), (entry, "answer"), (ledger.balance(), "spent")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, None)


def test_ten_tenths_are_one_and_ten_floats_are_more(places: Callable[[], str]) -> None:
    decimal = new_ledger(places(), epsilon=1)
    for _ in range(10):
        spend(decimal, rb.DP("0.1"))
    assert decimal.balance().left == DPCost(Fraction(0), Fraction(0))
    binary = new_ledger(places(), epsilon=1)
    for _ in range(9):
        spend(binary, rb.DP(0.1))
    with pytest.raises(BudgetExceeded, match=re.escape("costs ε = ≈0.1, but ")):
        spend(binary, rb.DP(0.1))


def test_what_does_not_fit_is_refused_and_changes_nothing(place: str) -> None:
    ledger = new_ledger(place, epsilon=3, delta="0.001")
    spend(ledger, rb.DP(2))
    before = ledger.balance(), ledger.history()
    with pytest.raises(
        BudgetExceeded,
        match=says(
            f"This question costs ε = 1.5, but {ledger.where} has ε = 1 left. Use a smaller "
            "epsilon, or repeat an earlier question by its name for free."
        ),
    ):
        spend(ledger, rb.DP("1.5"))
    with pytest.raises(
        BudgetExceeded,
        match=re.escape("δ = 0.002, but ") + ".*δ = 0.001 left. Use a smaller delta,",
    ):
        spend(ledger, rb.DP(1, delta="0.002"))
    assert (ledger.balance(), ledger.history()) == before
    spend(ledger, rb.DP(1, delta="0.001"))
    spend(ledger, rb.DP(0))


def test_gaussian_budgets_add_squares(place: str) -> None:
    ledger = new_ledger(place, mu="0.5")
    spend(ledger, rb.GaussianDP("0.3"))
    assert str(ledger.balance().left) == "mu 0.4"
    spend(ledger, rb.GaussianDP("0.4"))
    assert ledger.balance().left == GaussianCost(Fraction(0))
    nothing = r"costs μ = 0\.001, but .* has μ = 0 left\. Have the ledger's owner add some"
    with pytest.raises(BudgetExceeded, match=nothing):
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


@settings(max_examples=12, deadline=None)
@given(
    total=st.tuples(st.fractions("1/40", 6, max_denominator=40), st.fractions(0, "1/4")),
    asked=st.lists(st.tuples(GUARANTEES, st.sampled_from([None, "a", "b", "c"])), max_size=10),
)
@pytest.mark.slow
def test_spending_is_a_sum_of_fractions(
    postgres_url: str,
    total: tuple[Fraction, Fraction],
    asked: list[tuple[rb.DP, str | None]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for place in (f"{folder}/budget.db", fresh_schema(postgres_url)):
            ledger = new_ledger(place, epsilon=total[0], delta=total[1])
            most = [Fraction(math.floor(part * GRID), GRID) for part in total]
            epsilon, delta = Fraction(0), Fraction(0)
            entries: list[tuple[rb.DP, str | None]] = []
            for guarantee, name in asked:
                price = guarantee.exact_epsilon
                if price is None:
                    price = DPCost.of(guarantee).epsilon
                price = Fraction(math.ceil(price * GRID), GRID)
                share = Fraction(math.ceil(guarantee.exact_delta * GRID), GRID)
                fits = epsilon + price <= most[0] and delta + share <= most[1]
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
                    epsilon, delta = epsilon + price, delta + share
                    entries.append((guarantee, name))
            assert ledger.balance().spent == DPCost(epsilon, delta)
            assert ledger.balance().left == DPCost(most[0] - epsilon, most[1] - delta)
            assert [(entry.guarantee, entry.name) for entry in ledger.history()] == entries
            assert [entry.number for entry in ledger.history()] == [*range(1, len(entries) + 1)]


@settings(max_examples=15, deadline=None)
@given(
    total=st.fractions("1/9", 3, max_denominator=9),
    asked=st.lists(st.fractions(0, 2, max_denominator=20), max_size=10),
)
def test_gaussian_spending_is_a_sum_of_squares(total: Fraction, asked: list[Fraction]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = new_ledger(f"{folder}/budget.db", mu=total)
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
        ({"epsilon": 0}, "The epsilon of a budget must be greater than 0, got epsilon=0."),
        ({"epsilon": -1}, "The epsilon of a budget must be greater than 0, got epsilon=-1."),
        ({"epsilon": "nan"}, "epsilon must be a finite number, got epsilon='nan'"),
        ({"epsilon": float("inf")}, "epsilon must be a finite number, got epsilon=inf"),
        (
            {"epsilon": 1, "delta": 1.5},
            "The delta of a budget must be between 0 and 1, got delta=1.5.",
        ),
        (
            {"epsilon": 1, "delta": -1},
            "The delta of a budget must be between 0 and 1, got delta=-1.",
        ),
        ({"mu": 0}, "The mu of a budget must be greater than 0, got mu=0."),
        (
            {"epsilon": 1, "mu": 1},
            "A budget is in epsilon, in mu or in rho, each with or without delta, got "
            "epsilon=1, delta=0, mu=1, rho=None. Leave out all but one.",
        ),
        (
            {"rho": 1, "mu": 1},
            "A budget is in epsilon, in mu or in rho, each with or without delta, got "
            "epsilon=None, delta=0, mu=1, rho=1. Leave out all but one.",
        ),
        (
            {"epsilon": 1, "delta": "1/9", "delta_apart": "1/10"},
            "delta_apart=1/10 goes with spend_in, which turns the rest of delta into mu or rho. "
            "Leave it out, and give delta alone.",
        ),
        (
            {"epsilon": 1, "delta": "1e-6", "delta_apart": "1e-6", "spend_in": "rho"},
            "delta_apart must be smaller than delta, got delta_apart=0.000001 and delta=0.000001. "
            "Use half of it or less.",
        ),
        ({"rho": 0}, "The rho of a budget must be greater than 0, got rho=0."),
        ({"rho": "nan"}, "rho must be a finite number, got rho='nan'"),
        (
            {},
            "A ledger needs a budget: give epsilon, with or without delta, or mu, or rho.",
        ),
    ],
)
def test_a_budget_that_is_none(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(rb.InvalidGuarantee, match=says(message)):
        new_ledger(tmp_path / "budget.db", **options)
    assert list(tmp_path.iterdir()) == []


def test_neighbors_are_one_of_two(tmp_path: Path) -> None:
    message = "neighbors must be 'substituted' or 'added or removed', got neighbors='edited'"
    with pytest.raises(LedgerError, match=says(message)):
        new_ledger(tmp_path / "budget.db", epsilon=1, neighbors="edited")


@pytest.mark.parametrize("dataset", ["", " ", None, 7, "two\nlines"])
def test_a_ledger_is_for_a_named_dataset(tmp_path: Path, dataset: Any) -> None:
    message = f"The dataset must be printable text, got {dataset!r}."
    with pytest.raises(LedgerError, match=says(message)):
        Ledger.create(tmp_path / "budget.db", dataset=dataset, epsilon=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", ["title", "purpose", "contact"])
@pytest.mark.parametrize("text", ["", "two\nlines", 7])
def test_what_is_said_of_a_ledger_is_printable(tmp_path: Path, what: str, text: Any) -> None:
    message = f"The {what} must be printable text, got {text!r}."
    with pytest.raises(LedgerError, match=says(message)):
        new_ledger(tmp_path / "budget.db", epsilon=1, **{what: text})
    assert list(tmp_path.iterdir()) == []


def test_every_ledger_has_its_own_identity(tmp_path: Path) -> None:
    found = {new_ledger(tmp_path / f"{number}.db", epsilon=1).identity for number in range(5)}
    assert len(found) == 5
    assert all(re.fullmatch("[0-9a-f]{32}", identity) for identity in found)


def test_only_a_service_on_a_server_looks_ahead(tmp_path: Path, postgres_url: str) -> None:
    """What is done together and looked for ahead follows from where it is and how it is opened."""
    found: list[list[bool]] = []
    for place in (str(tmp_path / "a.db"), fresh_schema(postgres_url)):
        new_ledger(place, epsilon=1)
        for connections in (0, 1, 2):
            ledger = Ledger.open(place, connections=connections)
            kept = (ledger._turns, ledger._looks, ledger._names)
            found.append([one is not None for one in kept])
            ledger.disconnect()
    alone, together, ahead = [False] * 3, [True, False, False], [True] * 3
    assert found == [alone, together, together, alone, ahead, ahead]


def refusals(ledger: Ledger) -> Iterator[tuple[Callable[[], object], str]]:
    """Calls that a DP ledger with one entry 'used' refuses, with what it says."""
    where = ledger.where

    def asked(**changes: Any) -> Callable[[], object]:
        options = {
            "question": QUESTION,
            "unit": Unit(),
            "neighbors": SUBSTITUTED,
            "source": SOURCE,
            **changes,
        }
        return lambda: ledger.spend(options.pop("guarantee", rb.DP(1)), **options)

    def recalled(**changes: Any) -> Callable[[], object]:
        options = {"question": QUESTION, "guarantee": rb.DP(1), "source": SOURCE, **changes}
        return lambda: ledger.recall("used", **options)

    yield (
        asked(neighbors="added or removed"),
        f"This question protects one record added or removed, but {where} is for one record "
        "substituted, and costs of different units cannot be added up. Ask with "
        "neighbors='substituted' and no person column or limit of rows, or create a ledger for "
        "one record added or removed.",
    )
    yield asked(unit="record"), "unit must be a Unit, got str."
    yield (
        asked(guarantee=rb.GaussianDP(1)),
        f"The budget of {where} is in epsilon and delta, which cannot pay for GaussianDP(mu=1). "
        "Ask under DP, or create a ledger with a budget in mu.",
    )
    yield (
        asked(guarantee=rb.TradeOff([(0, 1), (0.4, 0.4), (1, 0)])),
        "A ledger cannot add up TradeOff guarantees. Ask under DP, GaussianDP or ZeroConcentrated.",
    )
    yield (
        asked(guarantee=rb.ZeroConcentrated(1)),
        f"The budget of {where} is in epsilon and delta, which cannot pay for "
        "ZeroConcentrated(rho=1). Ask under DP, or create a ledger with a budget in rho.",
    )
    yield (
        asked(name="used"),
        f"The name 'used' is already in {where}. Recall its answer, or choose another name.",
    )
    for name in ("", " ", "a\0b", "\ud800", "two\nlines"):
        yield asked(name=name), f"The name must be printable text, got {name!r}."
        yield asked(source=name), f"The source must be printable text, got {name!r}."
    no_source = (
        " needs a source: a named answer is recalled only for the data that it was drawn from, and "
        "a frame or counts do not say what they are. Declare it, as in source='visits, frozen "
        "2026-11-01', or ask without a name."
    )
    yield asked(name="new", source=None), f"The name 'new'{no_source}"
    yield recalled(source=None), f"The name 'used'{no_source}"
    yield (
        asked(question={"threshold": float("nan")}),
        "The question must be described by a mapping of JSON values, got dict {'threshold': nan}.",
    )
    yield (
        asked(question=["winner"]),
        "The question must be described by a mapping of JSON values, got list ['winner'].",
    )
    yield (
        asked(mechanism="best"),
        "The mechanism must be described by a mapping of JSON values, got str 'best'.",
    )
    yield (
        asked(guarantee=rb.DP.from_ratio(2 + Fraction(1, 2**14_000), 1 - Fraction(1, 3**8_000))),
        "A ledger keeps guarantees of up to 4300 digits, and this one is longer. Give epsilon, "
        "delta, mu and rho as short decimals.",
    )
    anew = f"choose another name to ask {where} anew."
    yield (
        recalled(question={**QUESTION, "column": "other"}),
        f"The name 'used' belongs to a different question. Repeat that one as it was, or {anew}",
    )
    yield (
        recalled(guarantee=rb.DP(2)),
        f"The answer named 'used' was drawn under 1-DP, not 2-DP. Ask under 1-DP, or {anew}",
    )
    yield (
        recalled(source="votes, first count"),
        "The answer named 'used' was drawn from 'votes, final count', not from 'votes, first "
        f"count'. If that is the same data, give source='votes, final count'; if not, {anew}",
    )
    yield (
        lambda: ledger.record(ledger.history()[0], "green"),
        f"Entry 1 of {where} has a different answer already. Recall that one, and do not show the "
        "second.",
    )
    yield (
        lambda: ledger.record(ledger.history()[0], 3),  # type: ignore[arg-type]
        "An answer must be text, got int.",
    )


def test_refusals_leave_the_ledger_as_it_was(place: str) -> None:
    ledger = new_ledger(place, epsilon=9, delta=1)
    ledger.record(spend(ledger, rb.DP(1), "used"), "red")
    before = ledger.balance(), ledger.history()
    for refused, message in refusals(ledger):
        with pytest.raises(LedgerError, match=says(message)):
            refused()
        assert (ledger.balance(), ledger.history()) == before


def test_a_gaussian_ledger_takes_no_rho(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    message = (
        f"The budget of {place} is in mu, which cannot pay for ZeroConcentrated(rho=1). Ask under "
        "GaussianDP, or create a ledger with a budget in rho."
    )
    with pytest.raises(LedgerError, match=says(message)):
        spend(new_ledger(place, mu=1), rb.ZeroConcentrated(1))


def test_an_entry_is_recorded_where_it_was_spent(places: Callable[[], str]) -> None:
    first, second = (new_ledger(places(), epsilon=2) for _ in range(2))
    entry = spend(first, rb.DP(1))
    message = says(
        f"Entry 1 was not paid for in {second.where}. Record an answer in the ledger that paid "
        "for it."
    )
    with pytest.raises(LedgerError, match=message):
        second.record(entry, "red")
    spend(second, rb.DP(2))
    with pytest.raises(LedgerError, match=message):
        second.record(entry, "red")


@pytest.mark.parametrize("other", [{"dataset": "city-2026"}, {"person": "voter"}])
def test_an_entry_for_another_purpose_is_of_another_ledger(
    tmp_path: Path, other: dict[str, Any]
) -> None:
    """The same payment in two ledgers, at the same second: still not the same entry."""
    first = new_ledger(tmp_path / "1.db", epsilon=1)
    second = Ledger.create(tmp_path / "2.db", epsilon=1, **{"dataset": DATASET, **other})
    paid, entry = spend(first, rb.DP(1)), spend(second, rb.DP(1))
    with pytest.raises(LedgerError, match="was not paid for"):
        second.record(replace(paid, time=entry.time), "red")
    assert second.record(entry, "red").answer == "red"


# units


RECORD, PERSON, PROMISE = Unit(), Unit(person="patient"), Unit(rows_per_person=3)
UNITS = [RECORD, PERSON, Unit(person="doctor"), PROMISE, Unit(rows_per_person=2)]
RELATIONS = ["substituted", "added or removed"]


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_ledger_takes_its_own_unit_and_relation_and_no_other(
    place: str, unit: Unit, neighbors: str
) -> None:
    ledger = new_ledger(
        place,
        epsilon=1,
        neighbors=neighbors,
        person=unit.person,
        rows_per_person=unit.rows_per_person,
    )
    assert (ledger.unit, ledger.neighbors) == (unit, neighbors)
    ledger.spend(rb.DP("0.5"), question=QUESTION, unit=unit, neighbors=neighbors)
    before = ledger.balance(), ledger.history()
    for other in UNITS:
        for relation in RELATIONS:
            if (other, relation) == (unit, neighbors):
                ledger.must_fit(rb.DP("0.5"), unit=other, neighbors=relation)
                continue
            message = says(
                f"This question protects {other} {relation}, but {ledger.where} is for {unit} "
                f"{neighbors}, and costs of different units cannot be added up. Ask with "
                f"neighbors={neighbors!r} and ",
                f", or create a ledger for {other} {relation}.",
            )
            with pytest.raises(LedgerError, match=message):
                ledger.must_fit(rb.DP("0.1"), unit=other, neighbors=relation)
            with pytest.raises(LedgerError, match=message):
                ledger.spend(rb.DP("0.1"), question=QUESTION, unit=other, neighbors=relation)
    assert (Ledger.open(place).balance(), ledger.history()) == before


@pytest.mark.parametrize(
    ("unit", "remedy"),
    [
        (RECORD, "no person column or limit of rows"),
        (PERSON, "person='patient'"),
        (PROMISE, "rows_per_person=3 and no person column"),
    ],
    ids=str,
)
def test_the_remedy_says_how_to_ask(tmp_path: Path, unit: Unit, remedy: str) -> None:
    ledger = new_ledger(
        tmp_path / "budget.db",
        epsilon=1,
        person=unit.person,
        rows_per_person=unit.rows_per_person,
    )
    message = f"Ask with neighbors='substituted' and {remedy}, or create"
    with pytest.raises(LedgerError, match=re.escape(message)):
        ledger.must_fit(rb.DP(1), unit=Unit(rows_per_person=7), neighbors=SUBSTITUTED)


def test_a_ledger_by_person_has_no_limit_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(rb.InvalidQuestion, match="every question has its own limit"):
        new_ledger(tmp_path / "budget.db", epsilon=1, person="patient", rows_per_person=2)
    assert list(tmp_path.iterdir()) == []

"""A session: data, unit and ledger once, then every kind of question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rainbowdp as rb
from ledgers import new_ledger
from rainbowdp.ledger import Ledger
from rainbowdp.sessions.paying import left_of

ROWS = 400


@pytest.fixture
def visits() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "who": [f"p{n}" for n in range(ROWS)],
            "ill": ["flu"] * 300 + ["cold"] * 100,
            "age": [n % 100 for n in range(ROWS)],
            "ward": ["north", "south"] * (ROWS // 2),
        }
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return new_ledger(tmp_path / "budget.db", epsilon=1000, delta="0.1", person="who")


@pytest.fixture
def session(visits: pl.DataFrame, ledger: Ledger) -> rb.Session:
    return rb.Session(visits, ledger, guarantee=rb.DP(20))


def test_every_kind_of_question_is_asked(session: rb.Session, ledger: Ledger) -> None:
    assert session.winner(["flu", "cold"], "ill").answer == "flu"
    assert session.mode(["flu", "cold"], "ill").answer == "flu"
    assert session.ranking(["flu", "cold", "none"], "ill", first=2).answer == "flu > cold"
    assert session.share("0.6", "ill", equals="flu").answer == "yes"
    assert session.threshold(200, "ill", equals="cold").answer == "no"
    assert session.quantile("1/2", [0, 25, 75, 100], "age").answer == "[25, 75)"
    assert session.quantiles(["1/4", "3/4"], [0, 40, 100], "age").answer == "< 40 | ≥ 40"
    assert abs(session.count("age", minimum=50).answer - 200) <= 3
    assert session.proportion_test("0.5", "ill", equals="flu", records=400).answer == "significant"
    assert session.keys("ill", delta="0.01", epsilon=5).answer == ("cold", "flu")
    assert len(ledger.history()) == 10
    assert {entry.unit.person for entry in ledger.history()} == {"who"}


def test_a_question_is_asked_in_groups(session: rb.Session) -> None:
    found = session.by("ward", ["north", "south"]).winner(["flu", "cold"], "ill", rows_per_person=1)
    assert found.answer == {"north": "flu", "south": "flu"}
    with pytest.raises(rb.InvalidQuestion, match="groups"):
        session.by("ward", ["north"]).keys("ill", epsilon=1, delta="1e-3")


def test_guarantees_come_from_the_question_or_the_session(session: rb.Session) -> None:
    assert session.winner(["flu", "cold"], "ill").entry.guarantee == rb.DP(20)  # type: ignore[union-attr]
    asked = session.winner(["flu", "cold"], "ill", epsilon="0.5", delta="1e-6")
    assert asked.entry.guarantee == rb.DP("0.5", "1e-6")  # type: ignore[union-attr]
    asked = session.winner(["flu", "cold"], "ill", guarantee=rb.DP(1))
    assert asked.entry.guarantee == rb.DP(1)  # type: ignore[union-attr]
    bare = rb.Session(session.table, None)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "needs a guarantee"),
        ({"epsilon": 1, "mu": 1}, "epsilon or mu"),
        ({"mu": 1, "delta": "1e-3"}, "delta belongs to epsilon"),
    ]
    for promise, message in wrong:
        with pytest.raises(rb.InvalidGuarantee, match=message):
            bare.winner(["flu", "cold"], "ill", **promise)
    assert bare.winner(["flu", "cold"], "ill", mu=9).answer == "flu"
    assert bare.winner(["flu", "cold"], "ill", rho=50).answer == "flu"


def test_answers_are_remembered(visits: pl.DataFrame, ledger: Ledger) -> None:
    session = rb.Session(visits, ledger, source="visits, frozen")
    first = session.count("age", minimum=50, epsilon=1, name="old")
    again = session.count("age", minimum=50, epsilon=1, name="old")
    assert again.recalled
    assert again.answer == first.answer
    assert len(ledger.history()) == 1


def test_a_price_is_told_before(session: rb.Session, ledger: Ledger) -> None:
    question = session.questions.winner(["flu", "cold"], "ill")
    assert str(session.price(question, epsilon="0.5")) == "epsilon 0.5, delta 0"
    told = session.explain(question, epsilon="0.5")
    assert told.answers_left == 2000
    assert "2,000 left at this price" in str(told)
    assert "Question: winner" in told._repr_html_()
    assert ledger.balance().entries == 0
    assert "price" not in rb.Session(session.table, None).explain(question, epsilon=1).facts()
    with pytest.raises(rb.LedgerError, match="cannot pay"):
        session.price(question, mu=1)
    with pytest.raises(rb.LedgerError, match=r"session\.questions"):
        session.price(rb.Winner(["flu", "cold"], "ill"))


def test_a_plan_of_what_is_left_is_run(session: rb.Session, ledger: Ledger) -> None:
    asked: dict[str, Any] = {
        "ill": session.questions.winner(["flu", "cold"], "ill"),
        "old": session.questions.count("age", minimum=50),
    }
    made = session.plan(asked, rb.DP(40))
    found = session.run(made)
    assert found.answer["ill"] == "flu"
    assert found["old"].proves is not None
    old = found["old"]
    assert isinstance(old, rb.CountRelease)
    assert old.interval()[0] <= old.answer  # it is drawn with the noise that the entry records
    (entry,) = ledger.history()
    assert entry.guarantee == made.guarantee
    rest = session.plan(asked, currency="epsilon")
    assert rest.guarantee == rb.DP(700)  # the largest that there is


@pytest.mark.parametrize(
    ("budget", "total"),
    [
        ({"mu": 2}, rb.GaussianDP(2)),
        ({"rho": "1/2"}, rb.ZeroConcentrated("1/2")),
        ({"epsilon": 3, "delta": "1e-6"}, rb.DP(3, "1e-6")),
    ],
)
def test_what_is_left_is_planned_in_the_currency_of_the_ledger(
    tmp_path: Path, budget: dict[str, Any], total: Any
) -> None:
    book = new_ledger(tmp_path / "budget.db", **budget)
    session = rb.Session({"a": {"matching": 90}, "b": {"matching": 3}}, book)
    assert left_of(book.balance()) == total
    made = session.plan({"a": rb.Threshold(50), "b": rb.Threshold(50)})
    session.run(made)
    left = book.balance().left
    assert all(part >= 0 for part in left.parts)
    if not isinstance(total, rb.DP):
        with pytest.raises(rb.BudgetExceeded):
            session.run(made)


def test_nothing_left_is_nothing_to_plan(tmp_path: Path) -> None:
    book = new_ledger(tmp_path / "budget.db", epsilon=1)
    session = rb.Session({"matching": 90}, book)
    session.ask(rb.Threshold(50), epsilon=1)
    with pytest.raises(rb.BudgetExceeded, match="Nothing is left"):
        session.plan([rb.Threshold(50)])


def test_the_unit_is_the_ledgers(visits: pl.DataFrame, ledger: Ledger, tmp_path: Path) -> None:
    session = rb.Session(visits, ledger)
    assert session.questions.person == "who"
    promised = new_ledger(tmp_path / "k.db", epsilon=3, rows_per_person=3)
    assert rb.Session(visits, promised).questions.rows_per_person == 3
    assert rb.Session(visits, str(tmp_path / "k.db")).ledger is not None
    with pytest.raises(rb.LedgerError, match="This session is for"):
        rb.Session(visits, ledger, person="patient")
    with pytest.raises(rb.LedgerError, match="This session is for"):
        rb.Session(visits, ledger, neighbors="added or removed")
    with pytest.raises(rb.InvalidQuestion, match="leave it out"):
        session.winner(["flu", "cold"], "ill", person="patient", epsilon=1)
    with pytest.raises(rb.InvalidQuestion, match="Winner"):
        session.winner(["flu", "cold"], "ill", nonsense=3, epsilon=1)


def test_a_session_without_a_ledger_has_no_balance(visits: pl.DataFrame) -> None:
    session = rb.Session(visits, None)
    for what in (session.balance, lambda: session.price(session.questions.count("age", minimum=1))):
        with pytest.raises(rb.LedgerError, match="no ledger"):
            what()


def test_what_notebooks_show(session: rb.Session, ledger: Ledger) -> None:
    release = session.winner(["flu", "cold"], "ill")
    asked: Any = session.questions
    shown = [
        session._repr_html_(),
        session.balance()._repr_html_(),
        ledger.history()[0]._repr_html_(),
        release._repr_html_(),
        asked.winner(["<b>", "cold"], "ill")._repr_html_(),
        asked.keys("ill")._repr_html_(),
        asked.count("age", minimum=3)._repr_html_(),
    ]
    assert all(card.startswith("<div") for card in shown)
    assert "<b>" not in "".join(shown).replace("<b></b>", "")
    assert "flu" in shown[2]


def test_answers_left_at_a_price(tmp_path: Path) -> None:
    from rainbowdp.ledger.cost import price
    from rainbowdp.ledger.remaining import answers_left

    book = new_ledger(tmp_path / "budget.db", epsilon=3, delta="1e-6")
    balance = book.balance()
    assert balance.answers_left(price(rb.DP("0.1"), "dp", "")) == 30
    assert balance.answers_left(price(rb.DP("0.1", "1e-7"), "dp", "")) == 10
    assert balance.answers_left(price(rb.DP(4), "dp", "")) == 0
    assert answers_left(balance.left, price(rb.DP(0), "dp", "")) is None
    rho = new_ledger(tmp_path / "rho.db", rho="1/2").balance()
    for guarantee, many in ((rb.ZeroConcentrated("1/200"), 100), (rb.GaussianDP("0.1"), 100)):
        assert rho.answers_left(price(guarantee, "zero-concentrated", "")) == many
    mu = new_ledger(tmp_path / "mu.db", mu=1).balance()
    assert mu.answers_left(price(rb.GaussianDP("0.1"), "gaussian", "")) == 100

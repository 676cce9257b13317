"""A dataset of a service has the face of a session, and what it says is what the ledger has."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.client.remote import Remote, connect
from rainbowdp.client.tokens import Token
from rainbowdp.client.wire import Wire
from rainbowdp.ledger import Ledger
from service_server import listening
from services import TOKENS, make_app

ILL = ["flu", "cold", "fracture"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with listening(make_app(folder, budget={"epsilon": "2000", "delta": "1"})) as found:
        yield found


@pytest.fixture
def ledger(folder: Path, address: str) -> Ledger:
    return Ledger.open(folder / "visits.db")


@pytest.fixture
def visits(address: str) -> Iterator[Remote]:
    with connect(address, token=TOKENS["ann"], dataset="visits", guarantee=rb.DP(20)) as found:
        yield found


def test_it_has_the_face_of_a_session() -> None:
    def public(kind: type) -> dict[str, Any]:
        return {
            name: inspect.signature(member)
            for name, member in inspect.getmembers(kind, callable)
            if not name.startswith("_")
        }

    mine, its = public(rb.Remote), public(rb.Session)
    assert set(its) <= set(mine)
    same = set(its) - {"ask", "price", "explain", "plan", "run", "balance"}
    assert {name: mine[name] for name in same} == {name: its[name] for name in same}
    for name in ("ask", "price", "explain", "plan", "balance"):
        assert list(mine[name].parameters) == list(its[name].parameters)


@pytest.mark.slow
def test_every_kind_of_question_is_asked(visits: Remote, ledger: Ledger) -> None:
    before = len(ledger.history())
    answers: list[tuple[rb.Release, Any]] = [
        (visits.winner(ILL, "diagnosis"), "flu"),
        (visits.mode(ILL, "diagnosis"), "flu"),
        (visits.ranking(ILL, "diagnosis", first=1), "flu"),
        (visits.share("0.5", "diagnosis", equals="flu"), "yes"),
        (visits.threshold(100, "diagnosis", equals="cold"), "no"),
        (visits.quantile("1/2", [0, 10, 20, 40], "wait"), "[10, 20)"),
        (visits.quantiles(["1/4", "3/4"], [0, 10, 20, 40], "wait"), "< 10 | ≥ 20"),
        (
            visits.proportion_test("0.3", "diagnosis", equals="flu", records=200),
            "significant",
        ),
        (visits.keys("diagnosis", epsilon=5, delta="0.1"), tuple(sorted(ILL))),
        (
            visits.by("district", ["north", "south"]).winner(["flu", "cold"], "diagnosis"),
            {"north": "cold", "south": "flu"},
        ),
    ]
    for release, answer in answers:
        assert type(release.answer) is type(answer)
        assert release.proves is not None
        assert release.proves.in_words(None)
    assert [found.answer for found, _ in answers[:2]] == ["flu", "flu"]
    assert answers[3][0].answer == "yes"
    entries = ledger.history()[before:]
    assert len(entries) == len(answers)
    for (release, _), entry in zip(answers, entries, strict=True):
        assert release.entry is not None
        assert release.entry.head == entry.head
        assert release.entry.paid == entry.paid
        assert release.entry.cost == entry.cost
        assert release.entry.by == "ann"
        assert release.entry.question == entry.question
        assert release.entry.source is None  # where the data is, is the curator's


def test_a_count_has_its_interval(visits: Remote) -> None:
    found = visits.count("diagnosis", equals="flu", epsilon=2)
    assert isinstance(found, rb.CountRelease)
    least, most = found.interval("0.999")
    assert least <= found.answer <= (most or 10**9)
    assert found.p_value(at_least=1) < 1e-6


def test_what_is_asked_with_the_library_and_with_the_service_is_one(
    visits: Remote, folder: Path
) -> None:
    local = rb.Session(folder / "visits.csv", None, guarantee=rb.DP(20))
    assert visits.questions == local.questions
    asked = local.questions.winner(ILL, "diagnosis")
    there, here = visits.explain(asked), local.explain(asked)
    assert {**here.facts(), "price": ""} == {**there.facts(), "price": ""}
    assert str(there).splitlines()[0] == str(here).splitlines()[0]
    assert "left at this price" in there.facts()["price"]


def test_prices_balances_and_the_chain(visits: Remote, ledger: Ledger) -> None:
    question = visits.questions.winner(ILL, "diagnosis")
    visits.ask(question, epsilon="0.5")
    cost = visits.price(question, epsilon="0.5")
    assert str(cost) == "epsilon 0.5, delta 0"
    told = visits.explain(question, epsilon="0.5")
    balance, known = visits.balance(), ledger.balance()
    assert (balance.total, balance.spent, balance.left) == (known.total, known.spent, known.left)
    assert balance.entries == known.entries
    assert told.cost == cost
    assert told.answers_left == balance.answers_left(cost) == known.answers_left(cost)
    assert visits.head() == known.head
    mine = [entry for entry in ledger.history() if entry.by == "ann"]
    assert [entry.head for entry in visits.history()] == [entry.head for entry in mine]
    assert len(visits.history(last=1)) == 1
    assert ledger.balance() == known  # looking costs nothing


def test_an_answer_is_recalled_by_its_name(visits: Remote, ledger: Ledger, address: str) -> None:
    first = visits.winner(ILL, "diagnosis", epsilon=1, name="illness-1")
    paid = len(ledger.history())
    again = visits.winner(ILL, "diagnosis", epsilon=1, name="illness-1")
    assert again.recalled
    assert (again.answer, again.entry) == (first.answer, first.entry)
    found = visits.recall("illness-1")
    assert (found.answer, found.entry, found.proves) == (first.answer, first.entry, first.proves)
    assert len(ledger.history()) == paid
    with pytest.raises(rb.LedgerError, match="belongs to a different question"):
        visits.winner(ILL[:2], "diagnosis", epsilon=1, name="illness-1")
    with pytest.raises(rb.ServiceError):
        visits.recall("nothing-of-this-name")
    with connect(address, token=TOKENS["dora"], dataset="visits") as auditor:
        assert auditor.recall("ann/illness-1").entry == first.entry
    for name in ("a name", "ä", "x" * 200, "", "ann/"):
        with pytest.raises(rb.InvalidQuestion, match="takes names"):
            visits.recall(name)


def test_a_plan_is_made_shown_and_run(visits: Remote, ledger: Ledger) -> None:
    asked: dict[str, Any] = {
        "ill": visits.questions.winner(ILL, "diagnosis"),
        "many": rb.Target(visits.questions.count("diagnosis", equals="flu"), weight=2),
        "keys": visits.by("district", ["north", "south"]).questions.share(
            "1/2", "diagnosis", equals="flu"
        ),
    }
    before = ledger.balance()
    made = visits.plan(asked, rb.DP(40))
    local = rb.plan(asked, rb.DP(40))
    assert ledger.balance() == before
    assert made.names == local.names
    assert made.guarantee == local.guarantee
    assert made.in_words() == local.in_words()
    assert made._repr_html_() == local._repr_html_()
    found = visits.run(made, name="plan-1")
    assert found.answer["ill"] == "flu"
    assert set(found.answer["keys"]) == {"north", "south"}
    many = found["many"]
    assert isinstance(many, rb.CountRelease)
    assert many.interval()[0] <= many.answer
    assert found.proves is not None
    entry = ledger.history(last=1)[0]
    assert found.entry is not None
    assert found.entry.head == entry.head
    assert ledger.balance().entries == before.entries + 1
    again = visits.run(made, name="plan-1")
    assert again.recalled
    assert again.answer == found.answer
    recalled = visits.recall("plan-1")
    assert (recalled.answer, recalled.proves) == (found.answer, found.proves)
    with pytest.raises(rb.InvalidQuestion, match="has its guarantees"):
        visits.ask(made, epsilon=1)


@pytest.mark.slow
def test_a_plan_without_a_total_is_run_as_it_was_shown(visits: Remote, ledger: Ledger) -> None:
    sure = rb.Target(visits.questions.winner(ILL, "diagnosis"), sure="0.9", margin=40)
    made = visits.plan({"ill": sure})
    assert made.guarantee == rb.plan({"ill": sure}).guarantee
    visits.winner(ILL, "diagnosis", epsilon=1)  # less is left now
    visits.run(made)
    (entry,) = ledger.history(last=1)
    asked = {one["name"]: one["guarantee"] for one in entry.question["questions"]}
    assert asked == {one["name"]: one["guarantee"] for one in made.said["questions"]}


def test_errors_are_the_librarys_own(visits: Remote, address: str) -> None:
    wrong: list[tuple[type[Exception], Callable[[], object]]] = [
        (rb.InvalidQuestion, lambda: visits.winner(["plague", "flu"], "diagnosis")),
        (rb.InvalidQuestion, lambda: visits.winner(ILL, "salary")),
        (rb.InvalidQuestion, lambda: visits.winner(["flu"], "diagnosis")),
        (rb.InvalidQuestion, lambda: visits.winner(ILL, "diagnosis", person="who")),
        (rb.InvalidQuestion, lambda: visits.winner(ILL, "diagnosis", records=5)),
        (rb.InvalidGuarantee, lambda: visits.winner(ILL, "diagnosis", epsilon=-1)),
        (rb.InvalidGuarantee, lambda: visits.ask(rb.Winner(ILL, "diagnosis"), nonsense=1)),
        (rb.InvalidGuarantee, lambda: visits.winner(ILL, "diagnosis", guarantee=SQUARE)),
        (rb.BudgetExceeded, lambda: visits.winner(ILL, "diagnosis", epsilon=600, name="much")),
        (rb.LedgerError, lambda: visits.winner(ILL, "diagnosis", mu=1)),
        (rb.ServiceError, lambda: visits["nothing"]),
    ]
    for kind, act in wrong:
        if kind is rb.BudgetExceeded:
            for _ in range(4):
                visits.winner(ILL, "diagnosis", epsilon=400)
        with pytest.raises(kind) as refused:
            act()
        assert type(refused.value) is kind
        assert TOKENS["ann"] not in str(refused.value)
    with pytest.raises(rb.ServiceError) as unknown:
        connect(address, token="rb_nobody")
    assert unknown.value.code == "unauthenticated"
    assert "rb_nobody" not in str(unknown.value)


SQUARE = rb.TradeOff([(0, 1), ("1/4", "1/4"), (1, 0)])


def test_a_dataset_is_chosen(address: str) -> None:
    with connect(address, token=TOKENS["ann"]) as service:
        assert service.datasets == ("visits",)
        assert list(service) == ["visits"]
        assert service["visits"].dataset == "visits"
        for act in (service.balance, lambda: service.winner(ILL, "diagnosis", epsilon=1)):
            with pytest.raises(rb.InvalidQuestion, match=r"remote\['visits'\]"):
                act()


def test_nothing_shows_the_token(visits: Remote, address: str) -> None:
    for shown in (repr(visits), str(vars(visits)), visits._repr_html_(), repr(visits.wire)):
        assert TOKENS["ann"] not in shown
    assert repr(visits) == f"Remote({address!r}, dataset='visits')"
    with connect(address, token=TOKENS["ann"]) as service:
        assert "visits" in service._repr_html_()
    assert visits.balance()._repr_html_().startswith("<div")
    asked = visits.questions.winner(ILL, "diagnosis")
    assert visits.explain(asked)._repr_html_().startswith("<div")


class Flaky(httpx.BaseTransport):
    """A network that loses requests on the way there, and replies on the way back."""

    def __init__(self, inner: httpx.BaseTransport, fate: Callable[[], str]) -> None:
        self.inner, self.fate = inner, fate

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        happens = self.fate()
        if happens == "lost":
            raise httpx.ConnectError("no way")
        if happens == "busy":
            return httpx.Response(503, headers={"retry-after": "1"})
        reply = self.inner.handle_request(request)
        if happens == "cut":
            raise httpx.ReadError("cut off")
        if happens == "late":
            raise httpx.ReadTimeout("late")
        if happens == "proxy":
            return httpx.Response(504, text="<html>")
        return reply


FATES = ("fine", "lost", "busy", "cut", "late", "proxy")


@pytest.mark.slow
@given(fates=st.lists(st.lists(st.sampled_from(FATES[1:]), max_size=6), min_size=1, max_size=4))
def test_over_a_flaky_network_each_question_is_paid_exactly_once(
    flaky: tuple[TestClient, Ledger], fates: list[list[str]]
) -> None:
    service, ledger = flaky
    script: list[str] = []
    clock = [0.0]

    def pass_(seconds: float) -> None:
        clock[0] += seconds

    wire = Wire(
        "https://testserver",
        Token(TOKENS["ann"]),
        patience=10_000,
        transport=Flaky(service._transport, lambda: script.pop(0) if script else "fine"),
        sleep=pass_,
        clock=lambda: clock[0],
    )
    visits = Remote(wire, None, None)["visits"]
    before = len(ledger.history())
    seen = []
    for troubles in fates:
        script[:] = list(troubles)
        seen.append(visits.winner(ILL, "diagnosis", epsilon="0.001"))
    entries = ledger.history()[before:]
    assert len(entries) == len(fates)
    assert [found.answer for found in seen] == [entry.answer for entry in entries]
    assert [found.entry.head for found in seen if found.entry] == [e.head for e in entries]


@pytest.fixture(scope="module")
def flaky(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Ledger]]:
    folder = tmp_path_factory.mktemp("flaky")
    app = make_app(folder, budget={"epsilon": "1000"}, requests_per_minute=10**6)
    with TestClient(app, base_url="https://testserver") as service:
        yield service, Ledger.open(folder / "visits.db")


@pytest.mark.slow
def test_many_lost_replies_in_a_row(flaky: tuple[TestClient, Ledger]) -> None:
    service, ledger = flaky
    dice = random.Random(7)
    moments = [0.0]
    wire = Wire(
        "https://testserver",
        Token(TOKENS["ann"]),
        patience=10**6,
        transport=Flaky(service._transport, lambda: dice.choice(FATES)),
        sleep=lambda seconds: moments.append(moments[-1] + seconds),
        clock=lambda: moments[-1],
    )
    visits = Remote(wire, None, None)["visits"]
    before = ledger.balance()
    answers = [visits.share("0.5", "diagnosis", equals="flu", epsilon="0.01") for _ in range(25)]
    after = ledger.balance()
    assert after.entries - before.entries == 25
    assert after.spent.parts[0] - before.spent.parts[0] == 25 * rb.DP("0.01").exact_epsilon  # type: ignore[operator]
    assert [e.answer for e in ledger.history(last=25)] == [found.answer for found in answers]


@pytest.mark.slow
def test_a_question_waits_for_a_curator(tmp_path: Path) -> None:
    with listening(make_app(tmp_path, dataset={"approval": True})) as address:
        visits = connect(address, token=TOKENS["ann"], dataset="visits")
        ledger = Ledger.open(tmp_path / "visits.db")
        with pytest.raises(rb.WaitingForApproval, match="nothing is paid before") as waiting:
            visits.winner(ILL, "diagnosis", epsilon=1)
        name = waiting.value.name
        assert name is not None
        assert name in str(waiting.value)
        with pytest.raises(rb.WaitingForApproval):
            visits.winner(ILL, "diagnosis", epsilon=1, name=name)
        assert ledger.balance().entries == 0
        curator = connect(address, token=TOKENS["carl"]).wire
        curator.post(f"/v1/requests/{waiting.value.request}/approve", {})
        found = visits.winner(ILL, "diagnosis", epsilon=1, name=name)
        assert found.answer == visits.recall(name).answer
        with pytest.raises(rb.WaitingForApproval) as waiting:
            visits.winner(ILL, "diagnosis", epsilon=2, name="again")
        curator.post(f"/v1/requests/{waiting.value.request}/refuse", {"reason": "Too much."})
        with pytest.raises(rb.ServiceError, match="carl refused this question: Too much") as no:
            visits.winner(ILL, "diagnosis", epsilon=2, name="again")
        assert no.value.code == "refused"
        assert ledger.balance().entries == 1

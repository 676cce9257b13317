"""Asking: paid before it is drawn, recorded before it is seen, and nothing read in vain."""

from __future__ import annotations

import os
import secrets
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
import reference
from rainbowdp.answering import ask as release
from rainbowdp.answering import mechanism as answering
from rainbowdp.exact.rows import ExactRow
from rainbowdp.ledger import DPCost, Ledger

WINNER = rb.Winner(["red", "green"])
POLL = rb.best(WINNER, rb.DP("0.5"))
SURE = rb.best(WINNER, rb.DP(50))
COUNTS = {"red": 1000, "green": 7}


class Watched(Mapping[str, int]):
    """Counts that tell when they are read, or refuse."""

    def __init__(self, events: list[str], error: BaseException | None = None) -> None:
        self._events, self._error = events, error

    def __getitem__(self, name: str) -> int:
        return COUNTS[name]

    def __len__(self) -> int:
        return len(COUNTS)

    def __iter__(self) -> Iterator[str]:
        self._events.append("read")
        if self._error is not None:
            raise self._error
        return iter(COUNTS)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "budget.db", epsilon=1)


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What happens, in order, whoever does it."""
    seen: list[str] = []

    def watch(owner: Any, name: str) -> None:
        method = getattr(owner, name)

        def watched(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            seen.append(name)
            return result

        monkeypatch.setattr(owner, name, watched)

    for name in ("recall", "must_fit", "spend", "record"):
        watch(Ledger, name)
    watch(ExactRow, "draw")
    return seen


def without_repeats(events: list[str]) -> list[str]:
    return [event for i, event in enumerate(events) if i == 0 or events[i - 1] != event]


def state(ledger: Ledger) -> tuple[Any, ...]:
    return ledger.balance(), ledger.history()


# without a ledger


def test_an_answer_without_a_ledger() -> None:
    answered = rb.ask(SURE, COUNTS, ledger=None)
    assert answered == rb.Release("red", None, recalled=False)
    assert {rb.ask(POLL, {}, ledger=None).answer for _ in range(200)} == {"red", "green"}


def test_a_name_without_a_ledger_remembers_nothing() -> None:
    answers = {rb.ask(POLL, {}, ledger=None, name="poll").answer for _ in range(200)}
    assert answers == {"red", "green"}


def test_an_answer_is_drawn_from_the_exact_row(monkeypatch: pytest.MonkeyPatch) -> None:
    first = POLL.exact().at(COUNTS).weights[0]
    for number, answer in ((0, "red"), (first - 1, "red"), (first, "green")):
        monkeypatch.setattr(secrets, "randbelow", lambda total, number=number: number)
        assert rb.ask(POLL, COUNTS, ledger=None).answer == answer


def test_the_ledger_must_be_named_or_declined() -> None:
    ask: Any = rb.ask
    with pytest.raises(TypeError):
        ask(POLL, COUNTS)


# the order of events


def test_it_is_read_paid_drawn_and_recorded_in_this_order(
    ledger: Ledger, events: list[str]
) -> None:
    answered = rb.ask(POLL, Watched(events), ledger=ledger, name="poll")
    assert without_repeats(events) == ["recall", "must_fit", "read", "spend", "draw", "record"]
    assert events.count("draw") == events.count("spend") == events.count("record") == 1
    (entry,) = ledger.history()
    assert answered == rb.Release(entry.answer, entry)
    assert entry.name == "poll"
    assert entry.guarantee == POLL.guarantee
    asked = {**WINNER.describe(), "mechanism": "homogeneous"}
    assert {key: entry.question[key] for key in asked} == asked
    assert ledger.balance().spent == DPCost(Fraction(1, 2), Fraction(0))


def test_without_a_name_nothing_is_recalled(ledger: Ledger, events: list[str]) -> None:
    rb.ask(POLL, Watched(events), ledger=ledger)
    assert without_repeats(events) == ["must_fit", "read", "spend", "draw", "record"]
    rb.ask(POLL, COUNTS, ledger=ledger)
    assert [entry.name for entry in ledger.history()] == [None, None]


@pytest.mark.parametrize(
    "error",
    [rb.UnreadableTable("torn"), OSError("gone"), MemoryError(), KeyboardInterrupt()],
    ids=lambda error: type(error).__name__,
)
def test_a_table_that_cannot_be_read_costs_nothing(
    error: BaseException, ledger: Ledger, events: list[str]
) -> None:
    before = state(ledger)
    with pytest.raises(type(error)):
        rb.ask(POLL, Watched(events, error), ledger=ledger, name="poll")
    assert "spend" not in events
    assert "draw" not in events
    assert state(ledger) == before
    assert rb.ask(POLL, COUNTS, ledger=ledger, name="poll").answer in WINNER.answers


@pytest.mark.parametrize("table", [{"red": -1}, {"blue": 1}, {"red": 0.5}, "none.csv", 7, None])
def test_a_wrong_table_costs_nothing(table: Any, ledger: Ledger) -> None:
    before = state(ledger)
    with pytest.raises(rb.RainbowError):
        rb.ask(POLL, table, ledger=ledger)
    assert state(ledger) == before


@pytest.mark.parametrize(
    ("mechanism", "error"),
    [
        (rb.best(WINNER, rb.DP("1.01")), rb.BudgetExceeded),
        (rb.best(WINNER, rb.DP("0.5", "1e-9")), rb.BudgetExceeded),
        (rb.best(WINNER, rb.GaussianDP("0.1")), rb.LedgerError),
        (rb.best(WINNER, rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)])), rb.LedgerError),
        (
            rb.best(rb.Winner(["red", "green"], neighbors="added or removed"), rb.DP("0.1")),
            rb.LedgerError,
        ),
    ],
    ids=["epsilon", "delta", "kind", "no kind", "neighbors"],
)
@pytest.mark.parametrize("name", [None, "poll"])
def test_nothing_is_read_where_the_budget_does_not_fit(
    mechanism: Any, error: type[Exception], name: str | None, ledger: Ledger, events: list[str]
) -> None:
    before = state(ledger)
    with pytest.raises(error):
        rb.ask(mechanism, Watched(events), ledger=ledger, name=name)
    assert not {"read", "spend", "draw", "record"} & set(events)
    assert state(ledger) == before


def test_the_budget_is_used_to_the_last_bit(ledger: Ledger) -> None:
    rb.ask(POLL, COUNTS, ledger=ledger)
    rb.ask(POLL, COUNTS, ledger=ledger)
    assert ledger.balance().left == DPCost(Fraction(0), Fraction(0))
    with pytest.raises(rb.BudgetExceeded):
        rb.ask(rb.best(WINNER, rb.DP("0.01")), COUNTS, ledger=ledger)


def test_a_budget_spent_meanwhile_is_noticed(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process pays between the check and the payment: no answer is drawn."""
    drawn: list[int] = []

    def below(total: int) -> int:
        drawn.append(total)
        return 0

    monkeypatch.setattr(secrets, "randbelow", below)
    counts = answering.QuestionMechanism.counts

    def slow(self: Any, *args: Any) -> Any:
        Ledger.open(ledger.where.strip("'")).spend(
            rb.DP("0.9"), question={}, neighbors="substituted", name="poll"
        )
        return counts(self, *args)

    monkeypatch.setattr(answering.QuestionMechanism, "counts", slow)
    with pytest.raises(rb.BudgetExceeded):
        rb.ask(POLL, COUNTS, ledger=ledger)
    assert drawn == []
    with pytest.raises(rb.LedgerError):
        rb.ask(rb.best(WINNER, rb.DP("0.01")), COUNTS, ledger=ledger, name="poll")
    assert drawn == []


# names


def test_a_name_recalls_its_answer_for_free(ledger: Ledger, events: list[str]) -> None:
    first = rb.ask(POLL, COUNTS, ledger=ledger, name="poll")
    events.clear()
    before = state(ledger)
    for _ in range(20):
        again = rb.ask(POLL, Watched(events), ledger=ledger, name="poll")
        assert again == rb.Release(first.answer, first.entry, recalled=True)
    assert set(events) == {"recall"}
    assert state(ledger) == before
    rb.ask(POLL, COUNTS, ledger=ledger, name="another")
    exhausted = rb.ask(POLL, COUNTS, ledger=ledger, name="poll")
    assert exhausted.recalled


@pytest.mark.parametrize(
    "other",
    [
        rb.best(rb.Winner(["green", "red"]), rb.DP("0.5")),
        rb.best(rb.Winner(["red", "green"], "choice"), rb.DP("0.5")),
        rb.best(rb.Winner(["red", "green"], rows_per_person=2), rb.DP("0.5")),
        rb.optimal(rb.Winner(["red", "green"], ties="any leader"), rb.DP("0.5")),
        rb.best(WINNER, rb.DP("0.4")),
        rb.best(WINNER, rb.DP("0.5", "1e-9")),
        rb.proximity(WINNER, rb.DP("0.5")),
        rb.optimal(WINNER, rb.DP("0.5"), ["0.55", "0.45"]),
    ],
    ids=["order", "column", "person", "ties", "epsilon", "delta", "mechanism", "boundary"],
)
def test_a_changed_question_under_one_name_is_refused(
    other: Any, ledger: Ledger, events: list[str]
) -> None:
    rb.ask(POLL, COUNTS, ledger=ledger, name="poll")
    before = state(ledger)
    events.clear()
    with pytest.raises(rb.LedgerError) as caught:
        rb.ask(other, Watched(events), ledger=ledger, name="poll")
    assert "changed" in str(caught.value)
    assert events == []
    assert state(ledger) == before


def test_two_boundaries_under_one_name_are_two_questions(ledger: Ledger) -> None:
    rb.ask(rb.optimal(WINNER, rb.DP("0.5"), ["0.55", "0.45"]), COUNTS, ledger=ledger, name="poll")
    with pytest.raises(rb.LedgerError):
        rb.ask(rb.optimal(WINNER, rb.DP("0.5"), ["0.6", "0.4"]), COUNTS, ledger=ledger, name="poll")


# crashes


def test_an_answer_that_cannot_be_recorded_is_not_returned(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Any:
        raise rb.LedgerError("full")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "record", fail)
        with pytest.raises(rb.LedgerError):
            rb.ask(POLL, COUNTS, ledger=ledger, name="poll")
    (entry,) = ledger.history()
    assert (entry.name, entry.answer) == ("poll", None)
    assert ledger.balance().spent == DPCost(Fraction(1, 2), Fraction(0))
    with pytest.raises(rb.LedgerError) as caught:
        rb.ask(POLL, COUNTS, ledger=ledger, name="poll")
    reference.assert_one_sentence(caught.value, "'poll'", "never recorded", "another name")
    assert ledger.history() == (entry,)
    assert rb.ask(POLL, COUNTS, ledger=ledger, name="again").entry is not None


@pytest.mark.parametrize(
    ("owner", "method", "paid"),
    [("Ledger", "spend", False), ("ExactRow", "draw", True), ("Ledger", "record", True)],
)
def test_a_process_killed_before_a_step_leaves_what_was_done(
    owner: str, method: str, paid: bool, tmp_path: Path
) -> None:
    """Really killed: nothing is cleaned up, nothing is shown."""
    place = tmp_path / "budget.db"
    Ledger.create(place, epsilon=1)
    program = f"""
    import os
    import rainbowdp as rb
    from rainbowdp.exact.rows import ExactRow
    from rainbowdp.ledger import Ledger
    {owner}.{method} = lambda *args, **kwargs: os._exit(9)
    mechanism = rb.best(rb.Winner(["red", "green"]), rb.DP("0.5"))
    print(rb.ask(mechanism, {{"red": 3}}, ledger=Ledger.open({str(place)!r}), name="poll"))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    assert (done.returncode, done.stdout) == (9, ""), done.stderr
    ledger = Ledger.open(place)
    history = ledger.history()
    assert [(entry.name, entry.answer) for entry in history] == [("poll", None)] * paid
    if paid:
        with pytest.raises(rb.LedgerError):
            rb.ask(POLL, COUNTS, ledger=ledger, name="poll")
    else:
        assert not rb.ask(POLL, COUNTS, ledger=ledger, name="poll").recalled


def test_the_answer_is_in_the_file_before_it_is_returned(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the very end another connection to the file already finds the answer."""
    found: list[str] = []
    made = release.Release

    def last(answer: Any, entry: Any = None, recalled: bool = False) -> rb.Release:
        with sqlite3.connect(ledger.where.strip("'")) as database:
            found.extend(row[0] for row in database.execute("SELECT answer FROM rainbow_entries"))
        database.close()
        return made(answer, entry, recalled)

    monkeypatch.setattr(release, "Release", last)
    answered = rb.ask(POLL, COUNTS, ledger=ledger)
    assert found == [f'"{answered.answer}"']


def test_a_custom_question_is_asked_as_any_other(ledger: Ledger) -> None:
    question = rb.Custom(
        ["few", "many"],
        lambda rows: {"few": max(0, len(rows) - 2), "many": max(0, 3 - len(rows))},
        neighbors="substituted",
        name="size",
    )
    mechanism = rb.best(question, rb.DP("0.5"))
    answered = rb.ask(mechanism, list(range(10)), ledger=ledger, name="size")
    assert answered.answer in question.answers
    assert rb.ask(mechanism, [], ledger=ledger, name="size").answer == answered.answer


def test_progress_is_passed_on(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("choice\n" + "red\n" * 100)
    seen: list[float] = []
    mechanism = rb.best(rb.Winner(["red", "green"], "choice"), rb.DP(50))
    answered = rb.ask(mechanism, str(table), ledger=None, progress=seen.append)
    assert answered.answer == "red"
    assert seen
    assert seen[-1] == 1


@pytest.mark.parametrize("kind", ["margin-table", "permute-and-flip"])
@pytest.mark.parametrize("ahead", [0, 5, 10**6, 10**15])
def test_an_answer_is_drawn_through_the_rule_without_its_whole_row(
    kind: str, ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row of a clear winner has numbers of thousands of digits; no draw waits for them."""
    question = rb.Winner(["a", "b", "c"])
    mechanism = rb.by_kind(question, rb.DP("0.5"), kind)
    rule = type(mechanism.exact().rule)
    monkeypatch.setattr(rule, "weights", lambda *_: pytest.fail("the row was built"))
    answer = rb.ask(mechanism, {"a": 10 + ahead, "b": 10}, ledger=None).answer
    assert answer in question.answers

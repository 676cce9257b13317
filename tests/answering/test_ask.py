"""Asking: paid before it is drawn, recorded before it is seen, and nothing read in vain."""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rainbowdp as rb
from ledgers import new_ledger
from postgres import connect, fresh_schema
from rainbowdp.answering import askable
from rainbowdp.answering import mechanism as answering
from rainbowdp.ledger import DPCost, Ledger
from rainbowdp.questions import Unit

WINNER = rb.Winner(["red", "green"])
POLL = rb.best(WINNER, rb.DP("0.5"))
SURE = rb.best(WINNER, rb.DP(50))
COUNTS = {"red": 1000, "green": 7}
VOTES = "votes, final count"


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
    return new_ledger(tmp_path / "budget.db", epsilon=1)


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
    watch(secrets, "randbelow")  # of which these mechanisms draw their answers
    return seen


def without_repeats(events: list[str]) -> list[str]:
    return [event for i, event in enumerate(events) if i == 0 or events[i - 1] != event]


def state(ledger: Ledger) -> tuple[Any, ...]:
    return ledger.balance(), ledger.history()


# without a ledger


def test_an_answer_without_a_ledger() -> None:
    answered = rb.ask(SURE, COUNTS, ledger=None)
    assert answered == rb.Release("red", None, recalled=False, proves=SURE.proves())
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
    answered = rb.ask(POLL, Watched(events), ledger=ledger, name="poll", source=VOTES)
    assert without_repeats(events) == ["recall", "must_fit", "read", "spend", "randbelow", "record"]
    assert events.count("randbelow") == events.count("spend") == events.count("record") == 1
    (entry,) = ledger.history()
    assert answered == rb.Release(entry.answer, entry, proves=POLL.proves())
    assert entry.name == "poll"
    assert entry.guarantee == POLL.guarantee
    assert entry.question == WINNER.describe()
    assert entry.mechanism == {"kind": "homogeneous", "proves": POLL.proves().describe()}
    assert (entry.unit, entry.source) == (Unit(), VOTES)
    assert ledger.balance().spent == DPCost(Fraction(1, 2), Fraction(0))


def test_without_a_name_nothing_is_recalled(ledger: Ledger, events: list[str]) -> None:
    rb.ask(POLL, Watched(events), ledger=ledger)
    assert without_repeats(events) == ["must_fit", "read", "spend", "randbelow", "record"]
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
    raised = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else rb.UnreadableTable
    with pytest.raises(raised):
        rb.ask(POLL, Watched(events, error), ledger=ledger, name="poll", source=VOTES)
    assert "spend" not in events
    assert "randbelow" not in events
    assert state(ledger) == before
    assert rb.ask(POLL, COUNTS, ledger=ledger, name="poll", source=VOTES).answer in WINNER.answers


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
        (
            rb.best(rb.Winner(["red", "green"], "vote", person="voter"), rb.DP("0.1")),
            rb.LedgerError,
        ),
        (
            rb.best(rb.Winner(["red", "green"], rows_per_person=2), rb.DP("0.1")),
            rb.LedgerError,
        ),
    ],
    ids=["epsilon", "delta", "kind", "no kind", "neighbors", "person", "promise"],
)
@pytest.mark.parametrize("name", [None, "poll"])
def test_nothing_is_read_where_the_budget_does_not_fit(
    mechanism: Any, error: type[Exception], name: str | None, ledger: Ledger, events: list[str]
) -> None:
    before = state(ledger)
    with pytest.raises(error):
        rb.ask(mechanism, Watched(events), ledger=ledger, name=name, source=VOTES)
    assert not {"read", "spend", "randbelow", "record"} & set(events)
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
        Ledger.open(ledger.where).spend(
            rb.DP("0.9"),
            question={},
            unit=Unit(),
            neighbors="substituted",
            source=VOTES,
            name="poll",
        )
        return counts(self, *args)

    monkeypatch.setattr(answering.QuestionMechanism, "counts", slow)
    with pytest.raises(rb.BudgetExceeded):
        rb.ask(POLL, COUNTS, ledger=ledger)
    assert drawn == []
    with pytest.raises(rb.LedgerError):
        rb.ask(rb.best(WINNER, rb.DP("0.01")), COUNTS, ledger=ledger, name="poll", source=VOTES)
    assert drawn == []


# names


def test_a_name_recalls_its_answer_for_free(ledger: Ledger, events: list[str]) -> None:
    first = rb.ask(POLL, COUNTS, ledger=ledger, name="poll", source=VOTES)
    events.clear()
    before = state(ledger)
    for _ in range(20):
        again = rb.ask(POLL, Watched(events), ledger=ledger, name="poll", source=VOTES)
        assert again == rb.Release(first.answer, first.entry, recalled=True, proves=first.proves)
    assert set(events) == {"recall"}
    assert state(ledger) == before
    rb.ask(POLL, COUNTS, ledger=ledger, name="another", source=VOTES)
    exhausted = rb.ask(POLL, COUNTS, ledger=ledger, name="poll", source=VOTES)
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
    ],
    ids=["order", "column", "person", "ties", "epsilon", "delta"],
)
def test_a_changed_question_under_one_name_is_refused(
    other: Any, ledger: Ledger, events: list[str]
) -> None:
    rb.ask(POLL, COUNTS, ledger=ledger, name="poll", source=VOTES)
    before = state(ledger)
    events.clear()
    with pytest.raises(rb.LedgerError, match=r"'poll' (belongs to a different|was drawn under)"):
        rb.ask(other, Watched(events), ledger=ledger, name="poll", source=VOTES)
    assert events == []
    assert state(ledger) == before


@pytest.mark.parametrize(
    "other",
    [
        rb.proximity(WINNER, rb.DP("0.5")),
        rb.by_kind(WINNER, rb.DP("0.5"), "permute-and-flip"),
        rb.optimal(WINNER, rb.DP("0.5"), ["0.55", "0.45"]),
    ],
    ids=["proximity", "permute-and-flip", "boundary"],
)
def test_another_mechanism_recalls_the_recorded_answer(
    other: Any, ledger: Ledger, events: list[str]
) -> None:
    """It answers the same question of the same data under the same promise, whoever drew it."""
    first = rb.ask(POLL, COUNTS, ledger=ledger, name="poll", source=VOTES)
    events.clear()
    again = rb.ask(other, Watched(events), ledger=ledger, name="poll", source=VOTES)
    assert again == rb.Release(first.answer, first.entry, recalled=True, proves=first.proves)
    assert again.entry is not None
    assert again.entry.mechanism == {"kind": "homogeneous", "proves": POLL.proves().describe()}
    assert set(events) == {"recall"}


def test_what_a_mechanism_was_made_of_is_recorded(ledger: Ledger) -> None:
    made = rb.optimal(WINNER, rb.DP("0.5"), ["0.55", "0.45"])
    entry = rb.ask(made, COUNTS, ledger=ledger).entry
    assert entry is not None
    assert entry.mechanism == {
        "kind": "homogeneous",
        "boundary": ["11/20", "9/20"],
        "proves": made.proves().describe(),
    }


def test_no_mechanism_is_made_for_what_is_recalled_or_refused(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A margin table takes seconds; whether to make one is decided first."""
    rb.ask(POLL, COUNTS, ledger=ledger, name="poll", source=VOTES)

    def fail(_: object) -> Any:
        raise AssertionError("a mechanism was made")

    monkeypatch.setattr(answering.QuestionMechanism, "exact", fail)
    assert rb.ask(POLL, COUNTS, ledger=ledger, name="poll", source=VOTES).recalled
    with pytest.raises(rb.BudgetExceeded):
        rb.ask(rb.best(WINNER, rb.DP("0.6")), COUNTS, ledger=ledger)
    with pytest.raises(rb.LedgerError, match="different units"):
        rb.ask(rb.best(rb.Winner(["red", "green"], person="p"), rb.DP(1)), COUNTS, ledger=ledger)


# sources


def tables(folder: Path) -> list[Any]:
    frame = {"choice": ["red", "green", "red"]}
    database = duckdb.connect()
    return [
        {"red": 2, "green": 1},
        pd.DataFrame(frame),
        pl.DataFrame(frame),
        pl.LazyFrame(frame),
        pa.table(frame),
        database.sql("SELECT unnest(['red', 'green', 'red']) AS choice"),
    ]


CHOICE = rb.best(rb.Winner(["red", "green"], "choice"), rb.DP("0.01"))


def test_a_frame_without_a_source_is_never_recalled(tmp_path: Path, ledger: Ledger) -> None:
    for table in tables(tmp_path):
        before = state(ledger)
        with pytest.raises(rb.LedgerError, match=r"needs a source: .* Declare it, as in source='"):
            rb.ask(CHOICE, table, ledger=ledger, name="poll")
        assert state(ledger) == before
        entry = rb.ask(CHOICE, table, ledger=ledger).entry
        assert entry is not None
        assert entry.source is None
    assert ledger.balance().sources == (None,)


def test_a_source_that_is_none_is_refused_before_data_is_read(
    ledger: Ledger, events: list[str]
) -> None:
    before = state(ledger)
    for source in ("", "two\nlines", 7):
        with pytest.raises(rb.LedgerError, match="The source must be printable text"):
            rb.ask(POLL, Watched(events), ledger=ledger, source=source)  # type: ignore[arg-type]
    assert events == []
    assert state(ledger) == before


def test_a_table_of_another_schema_is_another_source(postgres_url: str, ledger: Ledger) -> None:
    schemas = [fresh_schema(postgres_url).rpartition("%3D")[2] for _ in "ab"]
    for schema, choice in zip(schemas, ("red", "green"), strict=True):
        with connect(postgres_url) as connection:
            table = f"CREATE TABLE {schema}.visits AS SELECT '{choice}'::text AS choice"
            connection.execute(table.encode())
    here, there = (rb.SQLTable(postgres_url, "visits", schema) for schema in schemas)
    drawn = rb.ask(CHOICE, here, ledger=ledger, name="poll")
    assert drawn.entry is not None
    assert re.fullmatch(
        rf"postgresql://127\.0\.0\.1:\d+/postgres/{schemas[0]}\.visits", drawn.entry.source or ""
    )
    assert rb.ask(CHOICE, here, ledger=ledger, name="poll").recalled
    with pytest.raises(rb.LedgerError, match="not from 'postgresql://"):
        rb.ask(CHOICE, there, ledger=ledger, name="poll")


def test_a_frame_is_recalled_by_its_declared_source_and_no_other(
    tmp_path: Path, ledger: Ledger
) -> None:
    first, *others = tables(tmp_path)
    drawn = rb.ask(CHOICE, first, ledger=ledger, name="poll", source="frozen 2026-11-01")
    for table in others:
        again = rb.ask(CHOICE, table, ledger=ledger, name="poll", source="frozen 2026-11-01")
        assert again == rb.Release(drawn.answer, drawn.entry, True, drawn.proves)
        with pytest.raises(rb.LedgerError, match="was drawn from 'frozen 2026-11-01', not from"):
            rb.ask(CHOICE, table, ledger=ledger, name="poll", source="frozen 2026-12-01")
        with pytest.raises(rb.LedgerError, match="needs a source"):
            rb.ask(CHOICE, table, ledger=ledger, name="poll")
    assert len(ledger.history()) == 1


def test_a_file_is_one_source_by_every_path_that_leads_to_it(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    for hospital in ("a", "b"):
        (tmp_path / hospital).mkdir()
        (tmp_path / hospital / "visits.csv").write_text("choice\nred\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a" / "visits.csv")
    (tmp_path / "also a").symlink_to(tmp_path / "a")
    monkeypatch.chdir(tmp_path / "a")
    drawn = rb.ask(CHOICE, "visits.csv", ledger=ledger, name="poll")
    assert drawn.entry is not None
    assert drawn.entry.source == str(tmp_path / "a" / "visits.csv")
    same: list[Any] = [
        "./visits.csv",
        "../a/visits.csv",
        tmp_path / "a" / "visits.csv",
        "../link.csv",
        Path("../also a/visits.csv"),
    ]
    for path in same:
        assert rb.ask(CHOICE, path, ledger=ledger, name="poll").recalled
    monkeypatch.chdir(tmp_path / "b")
    for path in ("visits.csv", tmp_path / "b" / "visits.csv", "*.csv"):
        with pytest.raises(rb.LedgerError, match=r"was drawn from .*a/visits.csv', not from"):
            rb.ask(CHOICE, path, ledger=ledger, name="poll")
    moved = rb.ask(CHOICE, "visits.csv", ledger=ledger, name="poll", source=drawn.entry.source)
    assert moved.recalled  # the owner says that it is the same data
    assert len(ledger.history()) == 1
    rb.ask(CHOICE, "visits.csv", ledger=ledger)
    files = tuple(str(tmp_path / hospital / "visits.csv") for hospital in ("a", "b"))
    assert ledger.balance().sources == files


# crashes


def test_an_answer_that_cannot_be_recorded_is_not_returned(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Any:
        raise rb.LedgerError("full")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "record", fail)
        with pytest.raises(rb.LedgerError):
            rb.ask(POLL, COUNTS, ledger=ledger, name="poll", source=VOTES)
    (entry,) = ledger.history()
    assert (entry.name, entry.answer) == ("poll", None)
    assert ledger.balance().spent == DPCost(Fraction(1, 2), Fraction(0))
    with pytest.raises(rb.LedgerError) as caught:
        rb.ask(POLL, COUNTS, ledger=ledger, name="poll", source=VOTES)
    assert str(caught.value) == (
        "The answer named 'poll' was paid for but never recorded, so it is lost. Ask again under "
        "another name."
    )
    assert ledger.history() == (entry,)
    assert rb.ask(POLL, COUNTS, ledger=ledger, name="again", source=VOTES).entry is not None


@pytest.mark.parametrize(
    ("owner", "method", "paid"),
    [
        pytest.param("Ledger", "spend", False, marks=pytest.mark.slow),
        ("secrets", "randbelow", True),
        pytest.param("Ledger", "record", True, marks=pytest.mark.slow),
    ],
)
def test_a_process_killed_before_a_step_leaves_what_was_done(
    owner: str, method: str, paid: bool, tmp_path: Path
) -> None:
    """Really killed: nothing is cleaned up, nothing is shown."""
    place = tmp_path / "budget.db"
    new_ledger(place, epsilon=1)
    program = f"""
    import os, secrets
    import rainbowdp as rb
    from rainbowdp.ledger import Ledger
    {owner}.{method} = lambda *args, **kwargs: os._exit(9)
    mechanism = rb.best(rb.Winner(["red", "green"]), rb.DP("0.5"))
    ledger = Ledger.open({str(place)!r})
    print(rb.ask(mechanism, {{"red": 3}}, ledger=ledger, name="poll", source={VOTES!r}))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    assert (done.returncode, done.stdout) == (9, ""), done.stderr
    ledger = Ledger.open(place)
    history = ledger.history()
    assert [(entry.name, entry.answer) for entry in history] == [("poll", None)] * paid
    if paid:
        with pytest.raises(rb.LedgerError):
            rb.ask(POLL, COUNTS, ledger=ledger, name="poll", source=VOTES)
    else:
        assert not rb.ask(POLL, COUNTS, ledger=ledger, name="poll", source=VOTES).recalled


def test_the_answer_is_in_the_file_before_it_is_returned(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the very end another connection to the file already finds the answer."""
    found: list[str] = []
    made = rb.Release

    def last(answer: Any, entry: Any = None, **more: Any) -> rb.Release:
        with sqlite3.connect(ledger.where) as database:
            rows = database.execute("SELECT content FROM rainbow_records WHERE kind = 'answer'")
            found.extend(row[0] for row in rows)
        database.close()
        return made(answer, entry, **more)

    monkeypatch.setattr(askable, "Release", last)
    answered = rb.ask(POLL, COUNTS, ledger=ledger)
    assert found == [f'{{"answer":"{answered.answer}"}}']


def test_a_custom_question_is_asked_as_any_other(ledger: Ledger) -> None:
    question = rb.Custom(
        ["few", "many"],
        lambda rows: {"few": max(0, len(rows) - 2), "many": max(0, 3 - len(rows))},
        neighbors="substituted",
        name="size",
    )
    mechanism = rb.best(question, rb.DP("0.5"))
    answered = rb.ask(mechanism, list(range(10)), ledger=ledger, name="size", source=VOTES)
    assert answered.answer in question.answers
    assert rb.ask(mechanism, [], ledger=ledger, name="size", source=VOTES).answer == answered.answer


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

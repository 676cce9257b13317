"""What an answer proves: from every table, and not more than is so."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rainbowdp as rb
from rainbowdp.answering.coverage import Coverage
from rainbowdp.exact.rule import Short
from rainbowdp.questions.histograms import margins_of


def named(count: int) -> list[str]:
    return [f"answer {number}" for number in range(count)]


CASES: list[tuple[Any, Any]] = [
    (rb.Threshold(9), rb.DP(1)),
    (rb.Threshold(9, person="who", rows_per_person=2), rb.DP("0.7", "0.001")),
    (rb.Winner(named(3)), rb.DP("0.5")),
    (rb.Winner(named(4), ties="any leader"), rb.DP(1)),
    (rb.Winner(named(4), neighbors="added or removed"), rb.DP(1)),
    (rb.Winner(named(9), rows_per_person=3), rb.DP(2)),
    (rb.Winner(named(9), ties="any leader"), rb.DP("0.5")),
    (rb.Winner(named(5)), rb.GaussianDP(1)),
    (rb.Quantile("1/2", range(9)), rb.DP("0.5")),
    (rb.Quantile("9/10", range(9)), rb.DP(2)),
    (rb.Quantile("1/2", range(6), neighbors="added or removed"), rb.DP(2)),
    (rb.Quantile("1/4", range(6)), rb.GaussianDP(1)),
]


@pytest.mark.parametrize(
    ("question", "guarantee"),
    [
        pytest.param(*case, id=str(number), marks=[pytest.mark.slow] if number % 2 else [])
        for number, case in enumerate(CASES)
    ],
)
@pytest.mark.parametrize(
    "confidence",
    ["0.95", *(pytest.param(other, marks=pytest.mark.slow) for other in ("0.8", "0.999"))],
)
def test_it_holds_on_every_table_and_one_less_does_not_hold_by_much(
    question: Any, guarantee: Any, confidence: str
) -> None:
    """Random tables, with the far ones as near as they may be and one rival in between."""
    mechanism = rb.best(question, guarantee)
    proves = mechanism.proves(confidence)
    assert proves.within is not None
    allowed = 1 - float(Fraction(confidence))
    step = 1 if proves.short == Short.RECORDS else 2 * question.rows_per_person
    tables = hard_tables(question, step * proves.within)
    margins = margins_of(question, tables)
    short = margins
    if proves.short == Short.RECORDS:
        short = tables.max(axis=1, keepdims=True) - tables
    rows = mechanism.exact().rule.rows_at(question, tables, margins)
    far = np.where(short > proves.within, rows, 0.0).sum(axis=1)
    assert far.max() <= allowed
    if proves.within > 0:
        nearly = np.where(short > proves.within - 1, rows, 0.0).sum(axis=1)
        assert nearly.max() >= 0.1 * allowed
    if proves.evidence is not None:
        assert proves.evidence < proves.within
        tables = hard_tables(question, step * proves.evidence)
        margins = margins_of(question, tables)
        short = margins
        if proves.short == Short.RECORDS:
            short = tables.max(axis=1, keepdims=True) - tables
        rows = mechanism.exact().rule.rows_at(question, tables, margins)
        assert np.where(short > proves.evidence, rows, 0.0).max() <= allowed


def hard_tables(question: Any, within: int) -> Any:
    """Tables around the distance in question, and random ones."""
    rng = np.random.default_rng(7)
    size, rows = len(question.groups), question.rows_per_person
    if size == 1:
        return np.arange(0, 40 * rows)[:, None]
    if isinstance(question, rb.Winner):
        top = 40 * (within + 2)
        steps = np.array([0, 1, within - 1, within, within + 1, within + 1, within + 2, 9 * within])
        tables = top - rng.choice(np.maximum(steps, 0), (6_000, size))
        tables[np.arange(6_000), rng.integers(size, size=6_000)] = top
        return np.maximum(tables, 0)
    share, whole = question.q, 400 * (within + 2)  # the counts below each edge from their leads
    within //= 2
    leads = np.array([-9 * within, -within - 2, -within - 1, -2, -1, 0, 1, within, within + 1])
    below = np.sort(rng.choice(leads, (6_000, size - 1)), axis=1) + share.numerator * whole
    ends = np.pad(below, ((0, 0), (1, 1)))
    ends[:, -1] = share.denominator * whole
    return np.diff(ends, axis=1)


def test_where_a_wrong_answer_may_be_any_nothing_is_proved() -> None:
    median = rb.Quantile("1/2", range(9))
    proves = rb.by_kind(median, rb.DP("0.5"), "homogeneous").proves()
    assert proves.within is None
    assert proves.in_words("x").startswith("nothing with 95 % confidence")


def test_words() -> None:
    assert Coverage(Fraction(99, 100), 0, Short.CHANGES, "records").in_words("yes") == (
        "with 99 % confidence: yes is the true answer"
    )
    assert Coverage(Fraction(99, 100), 1, Short.CHANGES, "people").in_words() == (
        "with 99 % confidence: the answer is true, or at most 1 person short of it"
    )
    assert Coverage(Fraction(1, 2), 0, Short.RECORDS, "records").in_words("red") == (
        "with 50 % confidence: red has the most records"
    )
    assert Coverage(Fraction(9, 10), 3, Short.CHANGES, "records", 0).in_words("red") == (
        "with 90 % confidence: red is the true answer, or at most 3 records short of it; "
        "were it not true, it would be said at most 10 % of the time"
    )


def test_evidence_is_kept_and_where_it_adds_nothing_not_given() -> None:
    proves = rb.best(rb.Winner(named(4)), rb.DP(1)).proves()
    assert proves.evidence is not None
    assert Coverage.restore(proves.describe()) == proves
    older = {name: value for name, value in proves.describe().items() if name != "evidence"}
    assert Coverage.restore(older).evidence is None
    assert rb.best(rb.Threshold(9), rb.DP(1)).proves().evidence is None


def test_whom_it_counts() -> None:
    assert rb.best(rb.Threshold(5), rb.DP(1)).proves().unit == "records"
    assert rb.best(rb.Threshold(5, rows_per_person=2), rb.DP(1)).proves().unit == "people"
    vote = rb.Winner(named(9), person="who")
    assert rb.best(vote, rb.DP(1)).proves().unit == "people"
    vote = rb.Winner(named(9), person="who", rows_per_person=2)
    assert rb.best(vote, rb.DP(1)).proves().unit == "records"


@pytest.mark.parametrize("confidence", [0, 1, "1.5", -1, "high"])
def test_a_confidence_that_is_none(confidence: Any) -> None:
    with pytest.raises(rb.InvalidQuestion, match="confidence"):
        rb.best(rb.Threshold(5), rb.DP(1)).proves(confidence)


def test_what_is_recorded_is_what_was_said(tmp_path: Any) -> None:
    book = rb.Ledger.create(tmp_path / "b.db", epsilon=9, dataset="votes")
    mechanism = rb.best(rb.Winner(["red", "green"]), rb.DP(1))
    first = rb.ask(mechanism, {"red": 9}, ledger=book, name="a", source="s")
    again = rb.ask(mechanism, {"red": 9}, ledger=book, name="a", source="s")
    assert again.proves == first.proves == mechanism.proves()
    (entry,) = book.history()
    assert entry.mechanism is not None
    assert Coverage.restore(entry.mechanism["proves"]) == first.proves
    assert "with 95 % confidence" in first._repr_html_()

"""Shapes on which a peer's mechanism was once better than ``best``, in the measure that it states.

The peers are the library's own textbook baselines, which share no code with the kinds.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rainbowdp as rb
from rainbowdp.answering.best import _of_a_table
from rainbowdp.answering.measure import fixed_histograms, measure, measure_of_rows, shape_of
from rainbowdp.exact.rule import Family
from rainbowdp.rules import family
from rainbowdp.rules.exponential.build import ExponentialFamily


def named(count: int) -> list[str]:
    return [f"option {number}" for number in range(count)]


def measured(rows_at: Any, question: Any) -> float:
    shape = shape_of(question)
    counts, margins = fixed_histograms(shape, None)
    return measure_of_rows(shape, rows_at(counts, margins), counts, margins)


SEVENTY: list[Any] = [
    rb.Winner(named(70), ties="any leader"),
    rb.Winner(named(70), ties="any leader", rows_per_person=2),
    rb.Quantile("9/10", range(71), neighbors="added or removed"),
    rb.Quantile("1/4", range(101)),
]


@pytest.mark.parametrize("question", SEVENTY, ids=range(4))
@pytest.mark.parametrize("epsilon", ["3.44", "4"])
def test_many_answers_at_a_large_epsilon(question: Any, epsilon: str) -> None:
    """From 65 answers on the first coin of a margin flip was as likely as the textbook's."""
    guarantee = rb.DP(epsilon)
    own = measure(rb.best(question, guarantee).family, question, guarantee)
    for peer in (rb.inverse_sensitivity, rb.permute_and_flip, rb.exponential):
        assert own <= measured(peer(question, guarantee).rows, question)


def by_margins(chosen: Family) -> bool:
    assert isinstance(chosen, ExponentialFamily)
    return chosen.by_margins


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", ["substituted", "added or removed"])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_sets_under_a_large_rho_go_by_margins(neighbors: str, rows: int) -> None:
    kinds = []
    for few, eta in itertools.product((3, 5), ("0.1", "1", "3", "4")):
        ranking = rb.Ranking(
            named(few), first=2, in_order=False, neighbors=neighbors, rows_per_person=rows
        )
        guarantee = rb.ZeroConcentrated(Fraction(eta) ** 2 / 8)
        chosen = rb.best(ranking, guarantee).family
        own = measure(chosen, ranking, guarantee)
        assert own <= measured(rb.exponential(ranking, rb.DP(eta)).rows, ranking)
        assert own == min(
            measure(ExponentialFamily(by_margins=each), ranking, guarantee)
            for each in (False, True)
        )
        kinds.append(by_margins(chosen))
    assert kinds[0] is False
    assert rows == 1 or kinds[3] is True


def test_a_vote_that_goes_by_margins_is_released_and_proved() -> None:
    question = rb.Winner(named(3))
    mechanism = rb.best(question, rb.GaussianDP(5))
    assert (mechanism.name, mechanism.options()) == ("exponential", {"by_margins": True})
    assert mechanism.check().exact
    same = rb.by_kind(question, rb.GaussianDP(5), "exponential", by_margins=True)
    assert same.exact().rule == mechanism.exact().rule
    assert mechanism.release({"option 1": 50}) == "option 1"


@pytest.mark.parametrize("answers", [4, 5, 6])
def test_a_table_is_not_taken_where_permute_and_flip_is_as_good(answers: int) -> None:
    question = rb.Winner(named(answers), neighbors="added or removed")
    errors = []
    for epsilon in ("0.1", "0.2", "0.5", "1", "2"):
        guarantee = rb.DP(epsilon)
        kind = rb.best(question, guarantee).family
        flips = measure(family("permute-and-flip"), question, guarantee)
        own = _of_a_table(kind, question, guarantee, None)
        assert own <= flips * (1 + 1e-9)
        assert own <= 1.01 * _of_a_table(family("margin-table"), question, guarantee, None)
        assert kind.costly == (epsilon in ("1", "2") or (answers, epsilon) == (5, "0.5"))
        errors.append(own)
    assert (np.diff(errors) < 0).all()


BORDERS: list[Any] = [
    rb.Threshold(8, rows_per_person=2),
    rb.Threshold(3_000, neighbors="added or removed"),
    rb.Share("1/10", rows_per_person=3),
    rb.Quantile("1/100", range(3), neighbors="added or removed"),
    rb.Quantile("9/10", range(3)),
]


@pytest.mark.parametrize(("table", "taken"), [(0.0909, "noisy-counts"), (0.05, "margin-table")])
def test_with_a_delta_a_margin_table_is_held_against_noisy_counts(
    monkeypatch: pytest.MonkeyPatch, table: float, taken: str
) -> None:
    """The first is about what a table of five answers measures there; making it takes long."""
    monkeypatch.setattr("rainbowdp.answering.best._of_a_table", lambda *_: table)
    monkeypatch.setattr("rainbowdp.answering.best.solved_below", lambda *_: None)
    question = rb.Winner(named(5))
    assert rb.best(question, rb.DP("0.19", "0.05")).name == taken
    assert rb.best(question, rb.DP("0.19", "0.001")).name == "margin-table"


@pytest.mark.parametrize("question", BORDERS, ids=range(5))
@pytest.mark.parametrize("records", [None, 1, 7, 1000])
def test_half_of_the_histograms_are_on_either_side_of_a_border(
    question: Any, records: int | None
) -> None:
    counts, margins = fixed_histograms(shape_of(question), records)
    assert (counts >= 0).all()
    assert (margins.argmin(axis=1) == 0).mean() == 0.5
    near = (np.where(margins > 0, margins, np.inf).min(axis=1) <= 2).mean()
    assert near > 0.001  # where mechanisms differ
    if len(counts[0]) == 2 and records is not None:
        assert (counts.sum(axis=1) == records).all()


@pytest.mark.parametrize("question", BORDERS, ids=range(5))
def test_no_constant_answer_is_better_at_a_border(question: Any) -> None:
    """Over all histograms alike, "below 10" for the percentile 1/100 was the best mechanism."""
    guarantee = rb.DP("0.01")
    own = measure(rb.best(question, guarantee).family, question, guarantee)
    for answer in (0, 1):
        assert own < measured(lambda counts, _, a=answer: np.eye(2)[[a] * len(counts)], question)

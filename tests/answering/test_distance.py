"""How far off answers are, by brute force over the answers."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.answering.distance import is_ordered, off_by
from rainbowdp.answering.measure import (
    fixed_histograms,
    measure,
    shape_of,
    turned_around,
)
from rainbowdp.baselines import exponential, inverse_sensitivity, permute_and_flip
from rainbowdp.questions.histograms import margins_of
from rainbowdp.questions.votes import standing
from rainbowdp.rules import FAMILIES, family

MEDIAN = rb.Quantile("1/2", range(5))
QUARTILES = rb.Quantiles(["1/4", "3/4"], range(4))


@given(st.data(), st.sampled_from([MEDIAN, QUARTILES]))
def test_distances_are_what_each_answer_is_off_by(data: Any, question: Any) -> None:
    counts = np.array(
        [
            data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
            for n in [len(question.groups)] * 3
        ]
    )
    weights = np.array(
        [
            data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
            for n in [len(question.answers)] * 3
        ],
        dtype=float,
    )
    rows = weights / weights.sum(axis=1, keepdims=True)
    off = off_by(question, rows, counts, margins_of(question, counts))
    bins = len(question.bins)
    parts = len(getattr(question, "qs", [0]))
    places = list(combinations_with_replacement(range(bins), parts))
    names = [name for name, _ in question.groups]
    for place, row in enumerate(rows):
        margins = list(
            question.margins(dict(zip(names, counts[place].tolist(), strict=True))).values()
        )
        true = places[margins.index(0)]
        away = [max(abs(a - b) for a, b in zip(other, true, strict=True)) for other in places]
        assert off.bins is not None
        assert off.beyond is not None
        assert off.wrong[place] == pytest.approx(sum(row[np.array(margins) > 0]))
        assert off.records[place] == pytest.approx(float(np.dot(row, margins)))
        assert off.bins[place] == pytest.approx(float(np.dot(row, away)))
        assert off.beyond[place] == pytest.approx(sum(row[np.array(away) > 1]))


def test_only_bins_have_an_order() -> None:
    assert is_ordered(MEDIAN)
    assert is_ordered(QUARTILES)
    for other in (rb.Winner(list("abc")), rb.Threshold(3), rb.Quantile("1/2", range(3))):
        assert not is_ordered(other)


def test_a_tie_that_any_leader_wins_is_no_miss() -> None:
    poll = rb.Winner(list("abc"), ties="any leader")
    counts = np.array([[4, 4, 1]])
    off = off_by(poll, np.array([[0.25, 0.25, 0.5]]), counts, margins_of(poll, counts))
    assert (off.wrong.tolist(), off.bins) == ([0.5], None)


@given(st.lists(st.integers(10, 40), min_size=2, max_size=6))
def test_votes_are_turned_with_their_gaps(counts: list[int]) -> None:
    turned = turned_around(np.array([counts])).tolist()
    _, gaps = standing(counts, "first listed")
    assert [row.index(max(row)) for row in turned] == list(range(len(counts)))
    assert all(standing(row, "first listed")[1] == gaps for row in turned)


@pytest.mark.parametrize("neighbors", ["substituted", "added or removed"])
@pytest.mark.parametrize(
    ("bins", "rows"), [(3, 1), (8, 1), pytest.param(50, 3, marks=pytest.mark.slow)]
)
def test_a_quantile_is_never_worse_than_the_textbook_in_either_measure(
    neighbors: str, bins: int, rows: int
) -> None:
    question = rb.Quantile("9/10", range(bins + 1), neighbors=neighbors, rows_per_person=rows)
    counts, margins = fixed_histograms(shape_of(question), None)
    for epsilon in ("0.01", "0.2", "1", "4"):
        for delta in ("0", "0.01", "0.5"):
            promise = rb.DP(epsilon, delta)
            kind = rb.best(question, promise).family
            rows_of = kind.sketch(question, promise, counts, margins)
            ours = off_by(question, rows_of, counts, margins)
            for maker in (exponential, permute_and_flip, inverse_sensitivity):
                theirs = maker(question, promise).rows(counts, margins)
                other = off_by(question, theirs, counts, margins)
                assert ours.wrong.mean() <= other.wrong.mean() + 1e-9
                assert ours.records.mean() <= other.records.mean() + 1e-9


@given(st.lists(st.integers(0, 60), min_size=3, max_size=12), st.sampled_from(["0.1", "1", "3"]))
def test_a_margin_flip_has_every_rival_at_most_as_often_as_textbook_coins(
    counts: list[int], epsilon: str
) -> None:
    """So it is nearer on every table, whatever distance one goes by."""
    question, promise = rb.Quantile("1/2", range(len(counts) + 1)), rb.DP(epsilon)
    table = np.array([counts])
    margins = margins_of(question, table)
    ours = family("margin-flip").sketch(question, promise, table, margins)
    theirs = permute_and_flip(question, promise).rows(table, margins)
    rivals = margins > 0
    assert (ours[rivals] <= theirs[rivals] + 1e-12).all()


@pytest.mark.parametrize("promise", [rb.DP("0.192", "0.1"), rb.DP(1, "0.2"), rb.GaussianDP(1)])
def test_a_quantile_is_not_answered_by_what_treats_far_bins_like_near_ones(promise: Any) -> None:
    question = rb.Quantile("1/2", range(8))
    assert rb.best(question, promise).name != "homogeneous"
    chosen = rb.best(question, promise).family
    fit = [k for k in FAMILIES if not k.costly and k.unfit(question, promise) is None]
    assert measure(chosen, question, promise) == min(measure(k, question, promise) for k in fit)

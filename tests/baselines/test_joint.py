"""The joint exponential mechanism and smooth noisy max: their scores and their privacy."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.baselines import joint_exponential, smooth_noisy_max

RELATIONS = ("substituted", "added or removed")


def worlds(neighbors: str, rows: int) -> list[tuple[Any, int]]:
    shared: dict[str, Any] = {"neighbors": neighbors, "rows_per_person": rows}
    return [
        (rb.Quantile("1/3", range(4), **shared), 6),
        (rb.Quantiles(["1/4", "3/4"], range(4), **shared), 6),
        (rb.Quantiles(["1/10", "1/2", "3/5"], range(4), **shared), 5),
        (rb.Ranking(list("abc"), first=2, **shared), 6),
        (rb.Ranking(list("abcd"), first=2, in_order=False, **shared), 4),
    ]


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("epsilon", ["0.3", "2"])
def test_it_keeps_what_it_says_on_every_small_histogram(
    neighbors: str, rows: int, epsilon: str
) -> None:
    for question, records in worlds(neighbors, rows):
        check = joint_exponential(question, rb.DP(epsilon)).check(records=records)
        assert check, f"{question}: {check}"
        assert check.pairs > 10


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_double_the_rate_would_break_it(neighbors: str) -> None:
    for question, records in worlds(neighbors, 1):
        if isinstance(question, rb.Quantiles | rb.Ranking):
            steep = joint_exponential(question, rb.DP(4))
            assert not steep.check(rb.DP(2), records=records + 2)


def best_score(qs: list[float], counts: list[int], bins: tuple[int, ...]) -> float:
    """Over all whole numbers of records below points in these bins, and the targets themselves."""
    ends = [0, *itertools.accumulate(counts)]
    total = ends[-1]
    targets = [q * total for q in qs]
    choices = []
    for place, b in enumerate(bins):
        low, high = ends[b], ends[b + 1]
        near = [min(max(target, low), high) for target in targets]
        shifted = [
            min(max(targets[place] + e, low), high) for c in ends for e in [c - t for t in targets]
        ]
        choices.append({float(low), float(high), *near, *shifted})
    return max(
        -sum(
            abs((b - a) - (q - p) * total)
            for (a, b), (p, q) in zip(
                itertools.pairwise((0.0, *points, float(total))),
                itertools.pairwise((0.0, *qs, 1.0)),
                strict=True,
            )
        )
        for points in itertools.product(*choices)
    )


@given(st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any))
def test_scores_of_quantiles_are_the_best_of_all_points_in_the_bins(counts: list[int]) -> None:
    question, qs = rb.Quantiles(["1/4", "2/3"], range(4)), [0.25, 2 / 3]
    names = [name for name, _ in question.groups]
    row = joint_exponential(question, rb.DP(1))[dict(zip(names, counts, strict=True))]
    tuples = list(itertools.combinations_with_replacement(range(3), 2))
    weights = [math.exp(best_score(qs, counts, bins) / 4) for bins in tuples]
    for answer, weight in zip(question.answers, weights, strict=True):
        assert row[answer] == pytest.approx(weight / sum(weights), rel=1e-9)


@pytest.mark.parametrize("in_order", [True, False])
def test_scores_of_the_first_few_are_what_the_farthest_is_short_of(in_order: bool) -> None:
    question = rb.Ranking(list("abcd"), first=2, in_order=in_order, neighbors="added or removed")
    counts = {"a": 5, "b": 9, "c": 2, "d": 8}
    row = joint_exponential(question, rb.DP(1))[counts]
    largest = sorted(counts.values(), reverse=True)
    weights: dict[str, float] = {}
    for chosen in itertools.permutations("abcd", 2):
        short = max(largest[i] - counts[v] for i, v in enumerate(chosen))
        name = question.answers[
            [
                set(a.split(", ")) if not in_order else tuple(_split(a)) for a in question.answers
            ].index(set(chosen) if not in_order else chosen)
        ]
        weights[name] = weights.get(name, 0.0) + math.exp(-short / 2)
    for answer, weight in weights.items():
        assert row[answer] == pytest.approx(weight / sum(weights.values()), rel=1e-9)


def _split(answer: str) -> list[str]:
    return [letter for letter in answer if letter in "abcd"]


def test_it_is_for_quantiles_and_rankings_and_goes_by_counts() -> None:
    with pytest.raises(rb.InvalidQuestion, match=r"got Winner; use rb\.exponential"):
        joint_exponential(rb.Winner(["a", "b"]), rb.DP(1))
    made = joint_exponential(rb.Quantile("1/2", range(4)), rb.DP(1))
    with pytest.raises(rb.RainbowError, match="goes by counts"):
        made.by_margin([1])
    beside: dict[str, Any] = {"best": rb.best, "joint": joint_exponential}
    found = rb.compare(rb.Quantile("1/2", range(4)), rb.DP(1), beside, records=6)
    assert found["best"].mean_error < found["joint"].mean_error


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_smooth_noisy_max_is_what_laplace_noise_does_and_keeps_its_promise(neighbors: str) -> None:
    question = rb.Winner(list("abcd"), neighbors=neighbors)
    counts = {"a": 6, "b": 5, "c": 3, "d": 5}
    row = smooth_noisy_max(question, rb.DP(1))[counts]
    rng = np.random.default_rng(3)
    noisy = rng.laplace(0, 2, (400_000, 4)) + np.array(list(counts.values()))
    shares = np.bincount(noisy.argmax(axis=1), minlength=4) / len(noisy)
    assert [row[a] for a in "abcd"] == pytest.approx(shares.tolist(), abs=0.004)
    for asked in (
        rb.Winner(list("abc"), neighbors=neighbors, rows_per_person=2),
        rb.Quantile("1/3", range(4), neighbors=neighbors),
    ):
        assert smooth_noisy_max(asked, rb.DP(1)).check(records=6)
        assert not smooth_noisy_max(asked, rb.DP(5)).check(rb.DP(1), records=6)

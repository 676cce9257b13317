"""Two answers in the mean: against linear programs over all counts, and against noise on the count.

The oracle knows the counts and the inequalities of privacy between them, and nothing of ladders.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import ndtr
from scipy.stats import norm

import rainbowdp as rb
from kinds import homogeneous
from rainbowdp.aliases import Floats

HALF = 9  # margins in people on either side


def least_mean(weights: Floats, rows: int, epsilon: float, delta: float) -> float:
    """The least Σ weight·error of all mechanisms over the counts, the border in the middle."""
    size = len(weights)
    above = np.arange(size) >= size // 2
    limits, matrix = [], []
    for one in range(size):
        for other in range(max(0, one - rows), min(size, one + rows + 1)):
            if one == other:
                continue
            yes, no = np.zeros(size), np.zeros(size)
            yes[one], yes[other] = 1, -math.exp(epsilon)
            no[one], no[other] = -1, math.exp(epsilon)
            matrix += [yes, no]
            limits += [delta, delta + math.exp(epsilon) - 1]
    costs = np.where(above, -weights, weights)
    found = linprog(costs, np.array(matrix), limits, bounds=(0, 1))
    return float(found.fun + weights[above].sum())


def mean(question: rb.Threshold, guarantee: rb.DP | rb.GaussianDP, weights: Floats) -> float:
    size = len(weights)
    mechanism = homogeneous(question, guarantee)
    errors = []
    for count in range(size):
        counts = {"matching": int(question.at_least) - size // 2 + count}
        truth = min(question.margins(counts), key=question.margins(counts).__getitem__)
        errors.append(1 - float(mechanism.exact()[counts][truth]))
    return float(weights @ errors)


@given(
    st.integers(1, 4),
    st.sampled_from(["0.05", "0.3", "1", "2.5"]),
    st.sampled_from(["0", "0.01", "0.2"]),
    st.data(),
)
@settings(deadline=None, max_examples=40)
def test_no_mechanism_errs_less_in_the_mean_where_both_sides_count_alike(
    rows: int, epsilon: str, delta: str, data: st.DataObject
) -> None:
    """Each of the lines n, n + rows, … may have weights of its own, by margin alone."""
    by_line = [
        data.draw(st.lists(st.integers(0, 5), min_size=HALF, max_size=HALF)) for _ in range(rows)
    ]
    weights = np.zeros(2 * HALF * rows)
    middle = HALF * rows
    for line, given_weights in enumerate(by_line):
        for margin, weight in enumerate(given_weights, 1):
            weights[middle + line + rows * (margin - 1)] = weight
            weights[middle + line - rows * margin] = weight
    question = rb.Threshold(1000, rows_per_person=rows, neighbors="added or removed")
    ours = mean(question, rb.DP(epsilon, delta), weights)
    assert ours == pytest.approx(least_mean(weights, rows, float(epsilon), float(delta)), abs=1e-6)


def test_where_one_side_counts_more_the_other_is_given_up() -> None:
    """So the theorem needs both sides alike, and so does the list that the measure goes by."""
    weights = np.where(np.arange(2 * HALF) >= HALF, 1.0, 0.01)
    ours = mean(rb.Threshold(1000), rb.DP(1), weights)
    assert least_mean(weights, 1, 1.0, 0.0) < ours / 5


@given(st.integers(2, 6), st.floats(0.01, 3), st.integers(1, 60))
@settings(deadline=None, max_examples=60)
def test_noise_on_the_count_errs_more_on_the_nearest_counts_of_a_side(
    rows: int, size: float, nearest: int
) -> None:
    """Geometric and Gaussian noise, summed over the counts next to the border, however many."""
    away = np.arange(1, nearest + 1)
    people = np.ceil(away / rows)
    rate = math.exp(-size / rows)
    geometric = rate**away / (1 + rate)
    assert (np.exp(-size * (people - 1)) / (1 + math.exp(size))).sum() <= geometric.sum() + 1e-12
    noisy = ndtr(-size / rows * (away - 0.5))
    assert norm.cdf(-size * (people - 0.5)).sum() <= noisy.sum() + 1e-12

"""Pooled permute-and-flip: the definition taken literally, the figures, and its privacy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.baselines import permute_and_flip, pooled_permute_and_flip
from rainbowdp.questions.histograms import histograms

RELATIONS: tuple[str, ...] = ("substituted", "added or removed")


def winner(answers: int, neighbors: str = "substituted", rows: int = 1) -> rb.Winner:
    return rb.Winner(list("abcdefghi"[:answers]), neighbors=neighbors, rows_per_person=rows)


def mean_error(baseline: rb.Baseline, counts: np.ndarray) -> float:
    rows = baseline.rows(counts)
    return float(100 * (1 - rows[np.arange(len(counts)), counts.argmax(axis=1)]).mean())


def literally(counts: tuple[int, ...], epsilon: float) -> list[float]:
    """The recursion over sets, one dataset at a time, as THEORY writes it."""
    size = len(counts)
    m = [n - v / size for v, n in enumerate(counts)]

    def mean(members: frozenset[int]) -> float:
        return sum(m[i] for i in members) / len(members)

    def pooled(members: frozenset[int], j: int) -> frozenset[int]:
        members |= {j}
        while above := [i for i in range(size) if i not in members and m[i] > mean(members)]:
            members |= {max(above, key=lambda i: m[i])}
        return members

    def share(members: frozenset[int]) -> float:
        return (1 - sum(chance(members, j) for j in range(size) if j not in members)) / len(members)

    def chance(members: frozenset[int], j: int) -> float:
        together = pooled(members, j)
        return math.exp(-epsilon * (mean(together) - m[j])) * share(together)

    leader = frozenset({max(range(size), key=lambda v: m[v])})
    return [share(leader) if v in leader else chance(leader, v) for v in range(size)]


@settings(max_examples=50)
@given(st.lists(st.integers(0, 12), min_size=2, max_size=5), st.floats(0.01, 4))
def test_the_rows_are_those_of_the_definition(counts: list[int], epsilon: float) -> None:
    rows = pooled_permute_and_flip(winner(len(counts)), rb.DP(epsilon)).rows(np.array([counts]))
    assert rows[0].tolist() == pytest.approx(literally(tuple(counts), epsilon), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 8), min_size=2, max_size=4), st.floats(0.05, 3))
def test_added_or_removed_is_permute_and_flip_with_ties_to_the_first(
    counts: list[int], epsilon: float
) -> None:
    size = len(counts)
    scores = [n - v / size for v, n in enumerate(counts)]
    flips = [math.exp(-epsilon * (max(scores) - score)) for score in scores]
    expected = [0.0] * size
    for order in itertools.permutations(range(size)):
        left = 1 / math.factorial(size)
        for v in order:
            expected[v] += left * flips[v]
            left *= 1 - flips[v]
    question = winner(size, "added or removed")
    rows = pooled_permute_and_flip(question, rb.DP(epsilon)).rows(np.array([counts]))
    assert rows[0].tolist() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("answers", "records", "epsilon", "expected"),
    [
        (3, 20, "0.3", 27.9),
        (3, 20, "1", 9.2),
        (4, 12, "0.3", 48.9),
        (4, 12, "1", 21.0),
        (4, 12, "1.5", 14.2),
        (6, 6, "2", 27.5),
    ],
)
def test_the_mean_errors_of_the_theory(
    answers: int, records: int, epsilon: str, expected: float
) -> None:
    question, promise = winner(answers), rb.DP(epsilon)
    counts = histograms(question, records)
    found = mean_error(pooled_permute_and_flip(question, promise), counts)
    assert round(found, 1) == expected
    assert found < mean_error(permute_and_flip(question, promise), counts)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("epsilon", ["0.05", "0.3", "1", "3"])
@pytest.mark.parametrize(
    ("answers", "records"), [(2, 20), (3, 14), (4, 9), (5, 7), (6, 6), (7, 5), (8, 5)]
)
def test_every_pair_of_small_histograms_is_private(
    answers: int, records: int, epsilon: str, neighbors: str
) -> None:
    baseline = pooled_permute_and_flip(winner(answers, neighbors), rb.DP(epsilon))
    check = baseline.check(records=records)
    assert check, str(check)
    assert check.pairs > 200


def test_a_person_with_two_rows() -> None:
    question = winner(3, rows=2)
    assert pooled_permute_and_flip(question, rb.DP(1)).check(records=9)
    assert not pooled_permute_and_flip(question, rb.DP(1)).check(rb.DP("0.9"), records=9)


def test_the_check_can_fail() -> None:
    assert not pooled_permute_and_flip(winner(4), rb.DP(1)).check(rb.DP("0.99"), records=9)


def slopes(answers: int, epsilon: float, scores: np.ndarray) -> np.ndarray:
    """∂ log p_v / ∂ m_i by central differences: score, dataset, answer."""
    law = pooled_permute_and_flip(winner(answers), rb.DP(epsilon)).law
    assert law is not None
    counts, step = scores + np.arange(answers) / answers, 1e-5
    return np.array(
        [
            (np.log(law(counts + step * one)) - np.log(law(counts - step * one))) / (2 * step)
            for one in np.eye(answers)
        ]
    )


@pytest.mark.parametrize("answers", [2, 3, 4, 6, 8])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_slopes_differ_by_at_most_epsilon_for_real_scores(answers: int, epsilon: float) -> None:
    rng = np.random.default_rng(answers)
    scores = np.concatenate([rng.normal(0, width, (150, answers)) for width in (0.3, 1, 4)])
    found = slopes(answers, epsilon, scores)
    spread = (found.max(axis=0) - found.min(axis=0)) / epsilon
    assert spread.max() < 1 + 1e-6
    assert spread.max() > 1 - 1e-6  # what the proof has with equality


def test_the_formulas_of_the_proof_for_three_answers() -> None:
    rng, epsilon = np.random.default_rng(0), 1.3
    kinds = set()
    for _ in range(60):
        a, b = sorted(rng.uniform(0, 5, 2))
        scores = np.array([[0.0, -a, -b]])
        law = pooled_permute_and_flip(winner(3), rb.DP(epsilon)).law
        assert law is not None
        lead = law(scores + np.arange(3) / 3)[0, 0]
        falls = -slopes(3, epsilon, scores)[1:, 0, 0]
        spare = lead * (1 - (falls.sum() + falls) / epsilon)
        u, t = math.exp(-epsilon * a / 6), math.exp(-epsilon * b / 6)
        z = t**4 / u**2
        kinds.add(a < b / 2)
        if a < b / 2:
            first, second = (
                1 - u**3 * (1 - z / 3) - z / 3,
                1 - u**3 * (3 - 5 * z / 3) / 4 - 2 * z / 3,
            )
            fall = u**3 * (1 / 4 - z / 36) - z / 9, 2 * z / 9 - u**3 * z / 9
            assert second >= (1 - z) / 4
        else:
            first = 1 - u**3 - 3 * t**3 / 4 + u * t**4 / 3 + 5 * t * u**4 / 12
            second = 1 - 3 * u**3 / 4 - t**3 + 5 * u * t**4 / 12 + t * u**4 / 3
            fall = u**3 / 4 - u * t**4 / 36 - t * u**4 / 9, t**3 / 4 - t * u**4 / 36 - u * t**4 / 9
        assert spare.tolist() == pytest.approx([first, second], abs=1e-7)
        assert (falls * lead / epsilon).tolist() == pytest.approx(list(fall), abs=1e-7)
        assert min(first, second, *fall) >= 0
    assert kinds == {True, False}


def test_the_chances_by_margin_bound_what_happens() -> None:
    for neighbors in RELATIONS:
        question = winner(3, neighbors)
        baseline = pooled_permute_and_flip(question, rb.DP(1))
        bounds = {margin: (least, most) for margin, least, most in baseline.by_margin([1, 2, 3])}
        for row in histograms(question, 9).tolist():
            counts = dict(zip(question.answers, row, strict=True))
            margins = question.margins(counts)
            nearest = min(m for m in margins.values() if m)
            if nearest in bounds:
                truth = next(answer for answer, m in margins.items() if not m)
                least, most = bounds[nearest]
                assert least - 1e-12 <= baseline[counts][truth] <= most + 1e-12


@pytest.mark.parametrize("question", [winner(9), rb.Threshold(3)])
def test_other_questions_are_refused(question: rb.Winner | rb.Threshold) -> None:
    with pytest.raises(rb.InvalidQuestion, match="Winner with at most 8 answers, got"):
        pooled_permute_and_flip(question, rb.DP(1))

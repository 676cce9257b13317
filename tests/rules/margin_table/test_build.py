"""Making margin tables: knots, utility beside the best possible, and giving up in one sentence."""

from __future__ import annotations

import itertools
import math
import os
import signal
import threading
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

import rainbowdp as rb
import reference
from kinds import rows_of_votes, vote_coins
from rainbowdp.errors import NoTable
from rainbowdp.numeric.linear_programs import Solution, Solver
from rainbowdp.rules.margin_table import program as table_program
from rainbowdp.rules.margin_table.build import fetch_table
from rainbowdp.rules.margin_table.program import MOST_ANSWERS, _just_above, make_table, shape_for
from reference_votes import Counts, Vote

BOTH = pytest.mark.parametrize("neighbors", ["substituted", "added or removed"])
TIES = pytest.mark.parametrize("ties", ["first listed", "any leader"])


# knots


@given(
    st.integers(2, MOST_ANSWERS),
    st.floats(0.01, 4),
    st.sampled_from(["substituted", "added or removed"]),
    st.sampled_from(["first listed", "any leader"]),
)
def test_knots_rise_and_adapt(answers: int, epsilon: float, neighbors: str, ties: str) -> None:
    shape = shape_for(answers, epsilon, neighbors, ties)
    unit = (2 if neighbors == "substituted" else 1) / epsilon
    assert shape.knots[0] == 0
    assert all(a < b for a, b in itertools.pairwise(shape.knots))
    side_by_side = shape.knots == tuple(range(len(shape.knots)))
    assert side_by_side or (answers < 5 and shape.knots[-1] >= round(2 * unit))
    assert shape.knots[-1] <= 1 + 7 * unit
    assert shape.labeled <= len(shape.knots)
    assert float(shape.ratio) ** shape.farthest <= 2**-39.9
    assert 1 > shape.ratio >= Fraction(math.exp(-1 / unit))
    assert float(shape.ratio) == pytest.approx(math.exp(-1 / unit), rel=0.05)


@given(st.floats(0.01, 0.99))
def test_a_fraction_just_above(value: float) -> None:
    found = _just_above(value)
    assert 0 <= found - Fraction(value) <= Fraction(1, 10**11)
    assert found.denominator < 1 << 38


# how good


def least_mean_error(
    weights: dict[Counts, float], edges: Iterable[tuple[Counts, Counts]], epsilon: float
) -> float:
    """The least mean error that any mechanism has on these votes, ties to the first listed."""
    votes = sorted(weights)
    number = {counts: n for n, counts in enumerate(votes)}
    size = len(votes[0])
    pairs = [(number[a], number[b]) for a, b in edges if b in number]
    ends = np.array([pair for a, b in pairs for pair in ((a, b), (b, a))])
    rows = np.arange(len(ends) * size)
    places = np.arange(size)
    more = (ends[:, :1] * size + places).ravel()
    less = (ends[:, 1:] * size + places).ravel()
    width = len(votes) * size
    close = sparse.csr_array(
        (
            np.concatenate([np.ones(len(rows)), np.full(len(rows), -math.exp(epsilon))]),
            (np.concatenate([rows, rows]), np.concatenate([more, less])),
        ),
        shape=(len(rows), width),
    )
    sums = sparse.kron(sparse.eye_array(len(votes)), np.ones((1, size)), format="csr")
    gain = np.zeros(width)
    for counts, weight in weights.items():
        gain[number[counts] * size + counts.index(max(counts))] = weight
    solve: Any = linprog  # its types know no sparse arrays
    found = solve(
        -gain,
        A_ub=close,
        b_ub=np.zeros(len(rows)),
        A_eq=sums,
        b_eq=np.ones(len(votes)),
        bounds=(0, 1),
        method="highs-ipm",
    )
    assert found.success, found.message
    return sum(weights.values()) + float(found.fun)


def mean_error(weights: dict[Counts, float], vote: Vote) -> float:
    wrong = 0.0
    for counts, weight in weights.items():
        row = vote.row(counts)
        wrong += weight * (1 - row[counts.index(max(counts))] / sum(row))
    return wrong


def votes_of(answers: int, records: int, neighbors: str) -> dict[Counts, float]:
    """All votes of so many records, alike; where records come and go, of at most so many.

    Then every number of records counts alike, but an empty table is a neighbor only.
    """
    if neighbors == "substituted":
        votes = reference.histograms(answers, records)
        return dict.fromkeys(votes, 1 / len(votes))
    weights: dict[Counts, float] = {(0,) * answers: 0.0}
    for size in range(1, records + 1):
        votes = reference.histograms(answers, size)
        weights |= dict.fromkeys(votes, 1 / (records * len(votes)))
    return weights


def assert_near_the_best(
    answers: int, records: int, epsilon: str, neighbors: str, within: float
) -> None:
    table, _ = fetch_table(answers, rb.DP(epsilon), neighbors, "first listed")
    vote, weights = Vote.of(table), votes_of(answers, records, neighbors)
    least = least_mean_error(weights, vote.edges(weights), float(epsilon))
    ours = mean_error(weights, vote)
    assert least <= ours + 1e-7
    assert ours <= within * least


@BOTH
@pytest.mark.parametrize(
    ("answers", "records", "epsilon"),
    [
        pytest.param(3, 20, "0.1", marks=pytest.mark.slow),
        pytest.param(3, 20, "0.3", marks=pytest.mark.slow),
        (3, 20, "1"),
        (3, 20, "2"),
        pytest.param(4, 12, "0.3", marks=pytest.mark.slow),
        pytest.param(4, 12, "1", marks=pytest.mark.slow),
        pytest.param(4, 12, "1.5", marks=pytest.mark.slow),
        pytest.param(6, 6, "2", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_small_votes_are_within_five_per_cent_of_the_best(
    answers: int, records: int, epsilon: str, neighbors: str
) -> None:
    assert_near_the_best(answers, records, epsilon, neighbors, 1.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "records", "neighbors"),
    [
        *itertools.product(["0.05", "0.1", "0.3", "1", "2"], [36], ["substituted"]),
        # of at most two dozen, as the program for three takes half a minute
        *itertools.product(["0.08", "1"], [24], ["added or removed"]),
    ],
)
def test_votes_of_dozens_are_within_two_per_cent_of_the_best(
    epsilon: str, records: int, neighbors: str
) -> None:
    assert_near_the_best(3, records, epsilon, neighbors, 1.02)


@pytest.mark.parametrize(("epsilon", "within"), [("0.1", 1.04), ("0.3", 1.01), ("1", 1.001)])
def test_little_is_lost_for_votes_of_one_size(epsilon: str, within: float) -> None:
    """Where records come and go, votes with as many records more for every answer are one.

    No mechanism is better in the mean over how many these are (docs/coming-and-going.md). Gaps
    tell the number of records modulo q, so three sizes in a row.
    """
    weights: dict[Counts, float] = defaultdict(float)
    for size in (19, 20, 21):
        votes = reference.histograms(3, size)
        for counts in votes:
            weights[without_base(counts)] += 1 / (3 * len(votes))
    table, _ = fetch_table(3, rb.DP(epsilon), "added or removed", "first listed")
    vote = Vote.of(table)
    edges = ((a, without_base(b)) for a, b in vote.edges(weights))
    least = least_mean_error(weights, edges, float(epsilon))
    assert least - 1e-7 <= mean_error(weights, vote) <= within * least


def without_base(counts: Counts) -> Counts:
    """Less as many records for every answer as all of them have."""
    return tuple(count - min(counts) for count in counts)


@pytest.mark.slow
def test_no_mechanism_is_near_the_best_for_each_of_several_sizes() -> None:
    """Six answers, ε = 2: one that is good for four records is bad for three and five."""
    sizes = [reference.histograms(6, size) for size in (3, 4, 5)]
    nothing = {counts: 0.0 for votes in sizes for counts in votes}
    edges = [
        (counts, (*counts[:v], counts[v] + 1, *counts[v + 1 :]))
        for counts in nothing
        for v in range(6)
    ]
    beside = dict(nothing)
    for votes in sizes:
        alone = nothing | dict.fromkeys(votes, 1 / len(votes))
        least = least_mean_error(alone, edges, 2.0)
        beside |= dict.fromkeys(votes, 1 / (3 * len(votes) * least))
    assert least_mean_error(beside, edges, 2.0) > 1.4


def permute_and_flip(counts: tuple[int, ...], epsilon: float, step: int) -> list[float]:
    """By its definition: in random order, each accepted with probability e^(−ε·gap/step)."""
    keeps = [math.exp(-epsilon * (max(counts) - count) / step) for count in counts]
    row = [0.0] * len(counts)
    for order in itertools.permutations(range(len(counts))):
        left = 1.0 / math.factorial(len(counts))
        for v in order:
            row[v] += left * keeps[v]
            left *= 1 - keeps[v]
    return row


@BOTH
@pytest.mark.parametrize(
    ("answers", "epsilon", "records"),
    [
        (2, "0.05", 30),
        (2, "1", 30),
        pytest.param(3, "0.05", 21, marks=pytest.mark.slow),
        (3, "0.3", 21),
        (3, "1", 21),
        (3, "4", 21),
        pytest.param(4, "0.3", 10, marks=pytest.mark.slow),
        pytest.param(4, "1", 10, marks=pytest.mark.slow),
    ],
)
def test_never_below_permute_and_flip_where_leaders_share(
    answers: int, epsilon: str, records: int, neighbors: str
) -> None:
    """But for the mixing, and a ratio that is a little above e^−ε."""
    table, _ = fetch_table(answers, rb.DP(epsilon), neighbors, "any leader")
    vote = Vote.of(table)
    step = 2 if neighbors == "substituted" else 1
    for counts in reference.histograms(answers, records):
        leads = [v for v in range(answers) if counts[v] == max(counts)]
        flipped = permute_and_flip(counts, float(epsilon), step)
        ours = vote.row(counts)
        assert sum(ours[v] for v in leads) / sum(ours) >= sum(flipped[v] for v in leads) - 1e-9, (
            counts
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "epsilon", "neighbors"),
    [
        (3, "0.05", "added or removed"),
        (3, "1", "substituted"),
        (4, "0.3", "added or removed"),
        pytest.param(4, "0.3", "substituted", marks=pytest.mark.slow),
        pytest.param(5, "0.05", "added or removed", marks=pytest.mark.slow),
        (5, "1", "added or removed"),
        pytest.param(6, "0.05", "added or removed", marks=pytest.mark.slow),
        pytest.param(6, "0.3", "added or removed", marks=pytest.mark.slow),
        (6, "1", "added or removed"),
    ],
)
@pytest.mark.parametrize("records", [2, 3, 5, 8])
def test_no_worse_than_permute_and_flip_where_the_first_listed_is_right(
    answers: int, epsilon: str, neighbors: str, records: int
) -> None:
    """In the mean, whether it draws among those who lead or minds the list; from two records on."""
    table, _ = fetch_table(answers, rb.DP(epsilon), neighbors, "first listed")
    votes = reference.histograms(answers, records)
    alike = dict.fromkeys(votes, 1 / len(votes))
    step = 2 if neighbors == "substituted" else 1
    known: dict[Counts, list[float]] = {}
    wrong = 0.0
    for counts in votes:  # answers are interchangeable to it
        turned = tuple(sorted(counts, reverse=True))
        if turned not in known:
            known[turned] = permute_and_flip(turned, float(epsilon), step)
        wrong += (1 - known[turned][0]) / len(votes)
    ours = mean_error(alike, Vote.of(table))
    assert ours <= wrong
    flips = vote_coins(answers, rb.DP(epsilon), neighbors, "first listed")
    rows = rows_of_votes(flips, votes)
    true = [counts.index(max(counts)) for counts in votes]
    assert ours <= 1 - rows[np.arange(len(votes)), true].mean()


@pytest.mark.parametrize(
    ("epsilon", "neighbors"),
    [
        ("2", "substituted"),
        ("0.3", "added or removed"),
        ("1", "added or removed"),
        ("1", "substituted"),
        ("2", "added or removed"),
    ],
)
def test_an_answer_far_behind_costs_nothing(epsilon: str, neighbors: Any) -> None:
    """Then it is a question of two answers, whose optimum is known; a single gap may cost more."""
    table, _ = fetch_table(3, rb.DP(epsilon), neighbors, "first listed")
    two = rb.best(rb.Winner(["a", "b"], neighbors=neighbors), rb.DP(epsilon))
    gaps = range(20)
    best = [1 - two[{"a": 10**7, "b": 10**7 - gap}]["a"] for gap in gaps]
    assert sum(1 - table.right_at((gap, 10**6)) for gap in gaps) <= 1.02 * sum(best)


# giving up


@pytest.mark.parametrize("status", ["stopped", "infeasible"])
def test_a_solver_that_gives_up(status: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> Solution:
        none = np.zeros(0)
        return Solution(status, none, none, -math.inf, math.inf, "it was tired", 0.0)

    monkeypatch.setattr(Solver, "maximize", stopped)
    with pytest.raises(NoTable) as caught:
        make_table(2, rb.DP(1), "substituted", "first listed")
    reference.assert_one_sentence(caught.value, "it was tired")


def test_a_table_that_cannot_be_made_private(monkeypatch: pytest.MonkeyPatch) -> None:
    def always_right(problem: Any, *_: object) -> Any:
        values = np.zeros(problem.width)
        values[np.unique(problem.row_columns[:, 0])] = 1.0
        return values

    monkeypatch.setattr(table_program, "_solve", always_right)
    with pytest.raises(NoTable) as caught:
        make_table(2, rb.DP(1), "substituted", "first listed")
    reference.assert_one_sentence(caught.value, "mixing")


@pytest.mark.parametrize(
    ("answers", "guarantee"),
    [(1, rb.DP(1)), (7, rb.DP(1)), (3, rb.DP("0.009")), (3, rb.DP(5)), (3, rb.DP(1, 1))],
)
def test_out_of_range(answers: int, guarantee: rb.DP) -> None:
    with pytest.raises(rb.InvalidGuarantee) as caught:
        make_table(answers, guarantee, "substituted", "first listed")
    reference.assert_one_sentence(caught.value)


def test_progress_is_said() -> None:
    said: list[str] = []
    make_table(2, rb.DP(1), "substituted", "first listed", said.append)
    assert len(said) > 5
    assert said[0] == "writing the linear program"
    assert said[-1] == "proving the table"
    assert all("solving round" in sentence for sentence in said[1:-1])
    assert all("iteration" in sentence and "e-" in sentence for sentence in said[-4:-1])


@pytest.mark.parametrize("epsilon", ["0.01", "4"])
def test_both_ends_of_the_range_have_a_table(epsilon: str) -> None:
    table, mixing = make_table(2, rb.DP(epsilon), "substituted", "first listed")
    assert table.shape.answers == 2
    assert 0 < mixing <= Fraction(1, 2**20)


def test_an_interrupt_ends_the_solver_and_is_not_swallowed() -> None:
    """HiGHS took one that came while it called back for a failure of its own, and went on."""
    sent: list[str] = []

    def interrupt(line: str) -> None:
        if "iteration" in line and not sent:
            sent.append(line)
            os.kill(os.getpid(), signal.SIGINT)

    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # xdist's workers ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            make_table(3, rb.DP("0.9"), "substituted", "first listed", interrupt)
    finally:
        signal.signal(signal.SIGINT, usual)
    assert sent
    assert "HiGHS" not in [thread.name for thread in threading.enumerate()]

"""Where any leader is right: how far a crowd table is above the least error of any mechanism."""

from __future__ import annotations

import itertools
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

from any_leader import error, least_error, votes


def least_of_all(answers: int, records: int, epsilon: float) -> float:
    """The linear program over all votes and answers, none of them taken to be alike."""
    every = [h for h in itertools.product(range(records + 1), repeat=answers) if sum(h) == records]
    number = {vote: place for place, vote in enumerate(every)}
    rows = []
    for vote, (i, j) in itertools.product(every, itertools.permutations(range(answers), 2)):
        if not vote[i]:
            continue
        there = number[tuple(n - (v == i) + (v == j) for v, n in enumerate(vote))]
        for v in range(answers):
            row = np.zeros(len(every) * answers)
            row[there * answers + v] = 1
            row[number[vote] * answers + v] = -math.exp(epsilon)
            rows.append(row)
    right = np.array([[n == max(vote) for n in vote] for vote in every]).ravel() / len(every)
    solve: Any = linprog
    found = solve(
        -right,
        A_ub=np.array(rows),
        b_ub=np.zeros(len(rows)),
        A_eq=np.kron(np.eye(len(every)), np.ones(answers)),
        b_eq=np.ones(len(every)),
    )
    return 1 + float(found.fun)


@pytest.mark.parametrize(("answers", "records", "epsilon"), [(2, 5, 1.0), (3, 4, 0.5), (4, 3, 1.0)])
def test_alike_loses_nothing(answers: int, records: int, epsilon: float) -> None:
    least = least_error(answers, records, epsilon)
    assert least == pytest.approx(least_of_all(answers, records, epsilon), rel=1e-6)


def test_votes_up_to_their_order() -> None:
    found = list(votes(3, 4))
    assert found == [(4, 0, 0), (3, 1, 0), (2, 2, 0), (2, 1, 1)]


@pytest.mark.parametrize(
    ("answers", "records", "epsilon", "above"),
    [
        (8, 8, "0.1", 1.005),
        (8, 8, "1", 1.02),
        (8, 16, "2", 1.02),
        (9, 8, "0.5", 1.02),
        (10, 8, "1", 1.02),
        (10, 16, "2", 1.05),
        pytest.param(7, 24, "0.5", 1.05, marks=pytest.mark.slow),
        pytest.param(8, 16, "0.5", 1.05, marks=pytest.mark.slow),
        pytest.param(8, 16, "1", 1.02, marks=pytest.mark.slow),
        pytest.param(9, 16, "0.5", 1.05, marks=pytest.mark.slow),
        pytest.param(10, 16, "1", 1.05, marks=pytest.mark.slow),
    ],
)
def test_how_good_they_are(answers: int, records: int, epsilon: str, above: float) -> None:
    least = least_error(answers, records, float(epsilon))
    assert least <= error("crowd-table", answers, records, epsilon) <= above * least

"""Every histogram of a few records, and which of them are neighbors.

A histogram of g groups and at most n records is a row of g counts that sum to at most n; the rest
are records in no group. There are C(n+g, g) of them, listed in lexicographic order, so the index of
a histogram is a sum of binomials and neighbors are found without a search.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import whole
from rainbowdp.questions import Question

MOST = 200_000  # histograms that are enumerated at once


def histograms(question: Question, records: int) -> Integers:
    """All histograms of exactly ``records`` counted records, one per row.

    A question with one group asks how many of the records it holds, so there the counts run from 0
    to ``records``. More than 200,000 histograms are refused.

    >>> from rainbowdp import Threshold, Winner
    >>> histograms(Winner(["red", "green"]), 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    >>> histograms(Threshold(1), 2).tolist()
    [[0], [1], [2]]
    """
    groups = _groups(question)
    if groups == 1:
        return up_to(question, records)
    free = _bounded(groups - 1, whole(records, "records", 0))
    return np.concatenate([free, records - free.sum(axis=1, keepdims=True)], axis=1)


def up_to(question: Question, records: int) -> Integers:
    """All histograms of at most ``records`` counted records, in lexicographic order."""
    return _bounded(_groups(question), whole(records, "records", 0))


def margins_of(question: Question, counts: Integers) -> Floats:
    """λ for each row of ``counts``, answers in their listed order. Cost: O(rows · q log q)."""
    names = [name for name, _ in question.groups]
    found = (question.margins(dict(zip(names, row, strict=True))) for row in counts.tolist())
    return np.array([list(margins.values()) for margins in found], dtype=np.float64)


def neighboring(question: Question, records: int) -> Iterator[tuple[Integers, Integers]]:
    """Indices in ``up_to(question, records)`` of neighbors, each unordered pair once.

    *Added or removed*: one person's records come or go, at most ``rows_per_person`` of them.
    *Substituted*: at most that many records of one person become as many others, including records
    in no group.
    """
    rows = up_to(question, records)
    for move in _moves(question):
        moved = rows + move
        fine = (moved >= 0).all(axis=1) & (moved.sum(axis=1) <= records)
        yield np.flatnonzero(fine), _places(moved[fine], records)


def _moves(question: Question) -> Iterator[Integers]:
    """What one change adds to the counts; of each move and its opposite only one."""
    groups, most = len(question.groups), question.limit
    gains = [tuple(row) for row in _bounded(groups, most).tolist()]
    if question.neighbors == "added or removed":
        yield from (np.array(gain) for gain in gains if any(gain))
        return
    seen = set()
    for gain, loss in itertools.product(gains, repeat=2):
        move = tuple(a - b for a, b in zip(gain, loss, strict=True))
        if any(move) and tuple(-x for x in move) not in seen:
            if move not in seen:
                yield np.array(move)
            seen.add(move)


def _groups(question: Any) -> int:
    if not isinstance(question, Question):
        raise InvalidQuestion(
            f"histograms of records exist for questions only, got {type(question).__name__}"
        )
    if not question.groups:
        raise InvalidQuestion(
            "this question has no groups, so its histograms cannot be listed; give the datasets"
        )
    return len(question.groups)


def _most_records(groups: int) -> int:
    """The largest number of records whose histograms are not too many; 0 if one is too many."""
    low, high = 0, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if math.comb(middle + groups, groups) <= MOST else (low, middle)
    return low


def _bounded(groups: int, records: int) -> Integers:
    """Rows of ``groups`` counts that sum to at most ``records``, by stars and bars."""
    size = math.comb(records + groups, groups)
    if size > MOST:
        raise InvalidQuestion(
            f"there are {size:,} histograms of {records:,} records, more than the limit of "
            f"{MOST:,}; the most records that work here are {_most_records(groups):,}"
        )
    bars = np.array(
        list(itertools.combinations(range(records + groups), groups)), dtype=np.int64
    ).reshape(size, groups)
    before = np.concatenate([np.full((size, 1), -1), bars[:, :-1]], axis=1)
    counts: Integers = bars - before - 1
    return counts


def _places(rows: Integers, records: int) -> Integers:
    """Where each row stands in ``_bounded``: before it come the rows that are smaller first.

    With r records left and k groups to the right, those with a smaller count than h here are
    Σ_{x<h} C(r−x+k, k) = C(r+k+1, k+1) − C(r−h+k+1, k+1).
    """
    groups = rows.shape[1]
    place = np.zeros(len(rows), dtype=np.int64)
    left = np.full(len(rows), records)
    for column in range(groups):
        after = groups - column
        table = np.array([math.comb(r + after, after) for r in range(records + 1)])
        place += table[left] - table[left - rows[:, column]]
        left = left - rows[:, column]
    return place

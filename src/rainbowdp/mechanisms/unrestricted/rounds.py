"""Loops of the primal-dual method that Numba compiles; ``primal_dual`` says what they are for."""

from __future__ import annotations

from typing import Any

import numpy as np

from rainbowdp.numeric.compiling import kernel


@kernel
def nearest_distribution(given: Any, found: Any, left: Any) -> None:
    """The point of the simplex nearest to ``given``; ``left`` is room for what is still above 0."""
    answers = len(given)
    total = 0.0
    for v in range(answers):
        left[v] = given[v]
        total += given[v]
    count, level = answers, (total - 1.0) / answers
    while True:
        total, kept = 0.0, 0
        for v in range(count):
            if left[v] > level:
                left[kept] = left[v]
                total += left[v]
                kept += 1
        if kept == count or kept == 0:
            break
        count, level = kept, (total - 1.0) / kept
    for v in range(answers):
        found[v] = max(given[v] - level, 0.0)


@kernel
def go_on(
    offsets: Any,
    targets: Any,
    back: Any,
    worth: Any,
    ratio: float,
    balance: float,
    count: int,
    rows: Any,
    prices: Any,
    row_sum: Any,
    price_sum: Any,
) -> None:
    """``count`` rounds on ``rows`` and ``prices``, in place; adds each round to the two sums.

    The demand of slot s, p_d − ratio·p_t ≤ 0 with t = targets[s] among the neighbors of d, has
    ``prices[s]``; ``back[s]`` is the slot of the same edge the other way.
    """
    size, answers = rows.shape
    following = np.empty_like(rows)
    moved, left = np.empty(answers), np.empty(answers)
    rise = 1.0 / (balance * (1.0 + ratio))
    for _ in range(count):
        for d in range(size):
            fall = balance / (max(offsets[d + 1] - offsets[d], 1) * (1.0 + ratio))
            for v in range(answers):
                moved[v] = worth[d, v]
            for s in range(offsets[d], offsets[d + 1]):
                other = back[s]
                for v in range(answers):
                    moved[v] += ratio * prices[other, v] - prices[s, v]
            for v in range(answers):
                moved[v] = rows[d, v] + fall * moved[v]
            nearest_distribution(moved, following[d], left)
        for d in range(size):
            for s in range(offsets[d], offsets[d + 1]):
                t = targets[s]
                for v in range(answers):
                    here = 2.0 * following[d, v] - rows[d, v]
                    there = 2.0 * following[t, v] - rows[t, v]
                    prices[s, v] = max(prices[s, v] + rise * (here - ratio * there), 0.0)
                    price_sum[s, v] += prices[s, v]
        for d in range(size):
            for v in range(answers):
                rows[d, v] = following[d, v]
                row_sum[d, v] += following[d, v]


@kernel
def raise_losers(offsets: Any, targets: Any, ratio: float, rows: Any) -> None:
    """Raise ``rows`` to the least with p_t ≤ ratio·p_d on every edge, up to rounding.

    Sweeps to and fro; each makes all ways final that have one turn more, so they come to an end.
    """
    size, answers = rows.shape
    enough = 1.0 + 1e-12
    forward, changed = True, True
    while changed:
        changed = False
        for place in range(size):
            d = place if forward else size - 1 - place
            for s in range(offsets[d], offsets[d + 1]):
                t = targets[s]
                for v in range(answers):
                    least = rows[t, v] / ratio
                    if least > rows[d, v] * enough:
                        rows[d, v] = least
                        changed = True
        forward = not forward

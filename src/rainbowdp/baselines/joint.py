"""Joint exponential mechanisms: all quantiles, or the first few of a vote, in one draw.

*Several quantiles* (Gillenwater, Joseph and Kulesza, 2021). Points o_1 ≤ … ≤ o_m cut N records into
m + 1 parts; the score of the points is −Σ |records in part j − (q_j − q_{j−1})·N|. One record
substituted moves it by at most 2, one added or removed by at most 2·(1 − min (q_j − q_{j−1})).
Answers here are bins, so an answer has the best score that points in its bins can have.

*The first k* (Gillenwater, Joseph, Muñoz Medina and Ribero Diaz, 2022). A sequence s_1, …, s_k has
the score −max_i (c_(i) − c_{s_i}), where c_(i) is the i-th largest count. One record moves it by at
most 1 if it is added or removed, by at most 2 if it is substituted.

An answer's weight is e^{ε·score/(2Δ)}, with Δ how far the score moves.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations, combinations_with_replacement, permutations

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.baselines.base import Baseline, World, checked, made, with_delta
from rainbowdp.errors import InvalidQuestion
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions import Quantile, Quantiles, Ranking
from rainbowdp.questions.relations import Neighbors


def joint_exponential(world: World, guarantee: Guarantee) -> Baseline:
    """The joint exponential mechanism, for quantiles or for the first few of a vote.

    Keeps (ε, 0); δ is not used. Cost: O(m) for each answer of m quantiles, O(k) for each sequence
    of k. Where a ranking asks for a set, the order of the drawn sequence is forgotten. The papers
    also have ways to draw without listing all answers, which comparisons do not need.

    Parameters
    ----------
    world
        A ``Quantile``, ``Quantiles`` or ``Ranking``.
    guarantee
        An (ε,δ) guarantee.

    Returns
    -------
    Baseline
        The mechanism, for comparison only.

    Raises
    ------
    InvalidQuestion
        If ``world`` is any other question, or a graph.

    Examples
    --------
    >>> from rainbowdp import DP, Quantiles
    >>> quartiles = Quantiles(["1/4", "3/4"], [0, 10, 20, 30])
    >>> row = joint_exponential(quartiles, DP(1))[{"< 10": 30, "[10, 20)": 20, "≥ 20": 50}]
    >>> next(iter(row))
    '< 10 | ≥ 20'

    """
    world, promise = checked(world, guarantee)
    if not isinstance(world, Quantile | Quantiles | Ranking):
        raise InvalidQuestion(
            "the joint exponential mechanism is for a Quantile, Quantiles or a Ranking, "
            f"got {type(world).__name__}; use rb.exponential"
        )
    substituted = world.neighbors == Neighbors.SUBSTITUTED
    if isinstance(world, Ranking):
        moved = 2.0 if substituted else 1.0
        weights = partial(_of_first, world.first, world.in_order)
    else:
        qs = [float(q) for q in (world.qs if isinstance(world, Quantiles) else (world.q,))]
        shares = np.diff([0.0, *qs, 1.0])
        moved = 2.0 if substituted else 2.0 * (1.0 - float(shares.min()))
        weights = partial(_of_quantiles, qs)
    rate = promise.epsilon / (2 * moved * world.limit)
    name, keeps = "joint exponential", with_delta(promise, 0)
    return made(world, promise, name, keeps, partial(weights, rate), by_counts=True)


def _of_quantiles(qs: list[float], rate: float, counts: Floats) -> Floats:
    """The rows of many histograms, a column for each choice of bins.

    A point in a bin may have any count below it between the bin's ends. With e_j this count less
    q_j·N the score is minus the total variation of 0, e_1, …, e_m, 0, which is least if e moves
    only as far as the next bin forces it to: the choices that cost nothing more are an interval.
    """
    upper = counts.cumsum(axis=1)
    lower, total = upper - counts, upper[:, -1:]
    choices = np.array(list(combinations_with_replacement(range(counts.shape[1]), len(qs))))
    low = high = cost = np.zeros((len(counts), len(choices)))
    for column, q in zip(choices.T, qs, strict=True):
        start, end = lower[:, column] - q * total, upper[:, column] - q * total
        cost = cost + np.maximum(start - high, 0.0) + np.maximum(low - end, 0.0)
        low, high = np.clip(low, start, end), np.clip(high, start, end)
    cost = cost + np.maximum(-high, 0.0) + np.maximum(low, 0.0)
    return _shares(-rate * cost)


def _of_first(first: int, in_order: bool, rate: float, counts: Floats) -> Floats:
    """The rows of many votes, a column for each sequence, or for each set of the first few."""
    sequences = np.array(list(permutations(range(counts.shape[1]), first)), dtype=np.int64)
    largest = -np.sort(-counts, axis=1)
    short = np.zeros((len(counts), len(sequences)))
    for place, column in enumerate(sequences.T):
        np.maximum(short, largest[:, [place]] - counts[:, column], out=short)
    rows = _shares(-rate * short)
    return rows if in_order else _as_sets(rows, sequences, counts.shape[1])


def _as_sets(rows: Floats, sequences: Integers, size: int) -> Floats:
    sets = {
        chosen: number
        for number, chosen in enumerate(combinations(range(size), sequences.shape[1]))
    }
    which = [sets[tuple(sorted(sequence))] for sequence in sequences.tolist()]
    found = np.zeros((len(rows), len(sets)))
    for sequence, place in enumerate(which):
        found[:, place] += rows[:, sequence]
    return found


def _shares(logs: Floats) -> Floats:
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    rows: Floats = weights / weights.sum(axis=1, keepdims=True)
    return rows

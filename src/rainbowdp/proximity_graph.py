"""Proximity on a graph: each answer has its own weight by its own distance."""

from __future__ import annotations

import math

import numpy as np

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.graph import RainbowGraph
from rainbowdp.growth import Floats
from rainbowdp.guarantee import DP, Guarantee
from rainbowdp.mechanism import Mechanism


def margins(graph: RainbowGraph) -> Floats:
    """λ: for each dataset and answer the distance to the nearest dataset that prefers it most.

    Columns are in the order of ``graph.answers``; infinite where no dataset in reach does. Cost:
    one search of the graph for each answer.
    """
    place = {answer: number for number, answer in enumerate(graph.answers)}
    first = np.array([place[region.rainbow[0]] for region in graph.regions.values()])
    truth = first[graph.region_numbers]
    columns = [graph.distances(truth == number) for number in range(len(graph.answers))]
    return np.stack(columns, axis=1)


def proximity_on_graph(graph: RainbowGraph, guarantee: Guarantee) -> Mechanism:
    """The closed form of ``proximity`` with the distances of a graph as margins.

    Private where Σ_{v≠w} E^{−λ_v(d)} ≤ 1 at every dataset (δ = 0; theory, Proximity), or where
    q − 1 ≤ E; refused elsewhere, with the ε from which it holds. Checked on every edge.
    """
    if not isinstance(guarantee, DP) or guarantee.ratio == 1:
        raise InvalidGuarantee(f"proximity needs an (ε,δ) guarantee with ε > 0, got {guarantee}")
    found = margins(graph)
    distinct, index = np.unique(found, axis=0, return_inverse=True)
    rivals = np.where(distinct == 0, math.inf, distinct)
    if _crowd(rivals, guarantee) > 1 + 1e-12:
        least = _least_epsilon(rivals, guarantee)
        raise InvalidGuarantee(
            f"proximity on this graph holds from epsilon = {least:.4f}, got {guarantee}; "
            "use the homogeneous optimum or a larger epsilon"
        )
    table = _rows(distinct, guarantee)
    mechanism = Mechanism(graph, table, index.reshape(-1), guarantee)
    check = mechanism.check()
    if not check:
        raise InvalidGuarantee(f"proximity is not private here: {check}")
    return mechanism


def _rows(margins_of: Floats, guarantee: DP) -> Floats:
    """One row for each row of margins; exactly one margin of each is 0."""
    losers = max(1, margins_of.shape[1] - 1)
    each = guarantee.delta / losers
    first = (1 - guarantee.delta) / (1 + guarantee.ratio)
    steps = np.where(np.isfinite(margins_of) & (margins_of > 0), margins_of - 1, 0.0)
    decay = np.exp(-guarantee.epsilon * steps)
    spread = -np.expm1(-guarantee.epsilon * steps) / math.expm1(guarantee.epsilon)
    weights: Floats = np.maximum(first * decay - each * spread, 0.0)
    weights[(margins_of == 0) | np.isinf(margins_of)] = 0.0
    weights[margins_of == 0] = 1.0 - weights.sum(axis=1)
    return weights


def _crowd(rivals: Floats, guarantee: DP) -> float:
    """The largest Σ E^{−λ_v} over the rivals of a dataset; with δ > 0 as if all were at 1."""
    if guarantee.delta > 0:
        rivals = np.where(np.isfinite(rivals), 1.0, rivals)
    return float(np.exp(-guarantee.epsilon * rivals).sum(axis=1).max())


def _least_epsilon(rivals: Floats, guarantee: DP) -> float:
    low, high = 0.0, math.log(rivals.shape[1])
    for _ in range(60):
        middle = (low + high) / 2
        fits = _crowd(rivals, DP(middle, guarantee.exact_delta)) <= 1
        low, high = (low, middle) if fits else (middle, high)
    return high

"""Proximity on a graph: each answer's weight depends on its own distance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats
from rainbowdp.errors import InvalidGuarantee, RainbowError
from rainbowdp.exact.steps import BITS
from rainbowdp.graphs.engines import engine
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.margins import half_of_memory, whole_margins, with_infinity
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.mechanisms.mechanism import Mechanism


def proximity_on_graph(
    graph: RainbowGraph, guarantee: Guarantee, limit: int | None = None
) -> Mechanism:
    """The closed form of ``proximity`` with the distances of a graph as margins.

    It is private if Σ_{v≠w} E^{−λ_v(d)} ≤ 1 at every dataset (δ = 0; theory, Proximity), or if q −
    1 ≤ E. Otherwise it is refused, with the ε from which it holds. Checked on every edge. Margins
    are cut off where a weight falls below one unit of exact rows; ``limit`` is how many bytes
    margins and rows may each take.
    """
    if not isinstance(guarantee, DP) or guarantee.ratio == 1:
        raise InvalidGuarantee(f"proximity needs an (ε,δ) guarantee with ε > 0, got {guarantee}")
    found = whole_margins(graph, cut_margin(len(graph.answers), guarantee), limit)
    whole, index = _distinct(graph, found)
    needed, allowed = 8 * whole.size, limit if limit is not None else half_of_memory()
    if needed > allowed:
        raise RainbowError(
            f"proximity on this graph has {len(whole):,} distinct rows, which need {needed:,} "
            f"bytes, more than the limit of {allowed:,}; raise limit or use the optimum"
        )
    distinct = with_infinity(whole)
    rivals = np.where(distinct == 0, math.inf, distinct)
    if _crowd(rivals, guarantee) > 1 + 1e-12:
        least = _least_epsilon(rivals, guarantee)
        raise InvalidGuarantee(
            f"proximity on this graph holds from epsilon = {least:.4f}, got {guarantee}; "
            "use the homogeneous optimum or a larger epsilon"
        )
    mechanism = Mechanism(graph, _rows(distinct, guarantee), index, guarantee, name="proximity")
    check = mechanism.check()
    if not check:
        raise InvalidGuarantee(f"proximity is not private on this graph: {check}")
    return mechanism


def cut_margin(answers: int, guarantee: DP) -> int:
    """The margin from which an answer's weight stays below 2^−BITS, one unit of exact rows."""
    first = (1 - guarantee.delta) / (1 + guarantee.ratio)
    rho = guarantee.delta / max(1, answers - 1) / math.expm1(guarantee.epsilon)
    steps = math.log((first + rho) / (2.0**-BITS + rho)) / guarantee.epsilon
    return 1 + max(1, math.ceil(steps))


def _distinct(graph: RainbowGraph, found: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The distinct rows of ``found`` and the number of each dataset's, one column at a time."""
    chosen = engine(len(graph) + graph.edge_count)
    classes, first = np.zeros(len(found), dtype=np.uint32), np.zeros(1, dtype=np.int64)
    for column in found.T:
        if len(first) < len(found):
            classes, first = chosen.refine(classes, column)
    return found[first], classes


def _rows(margins_of: Floats, guarantee: DP) -> Floats:
    """One row for each row of margins, exactly one of which is 0."""
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

"""Proximity on a graph: each answer's weight depends on its own distance."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats
from rainbowdp.errors import InvalidGuarantee, InvalidMechanism
from rainbowdp.exact.steps import BITS
from rainbowdp.expecting import brief
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.margins import whole_margins, with_infinity
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.mechanisms.by_margins import ByMargins, distinct
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.rules.proximity.build import proximity_holds, proximity_steps, proximity_weights

_SHORT = 60  # bits of a total whose sums of rows fit in 64
_CELLS = 1 << 20


def proximity_on_graph(
    graph: RainbowGraph, guarantee: Guarantee, limit: int | None = None
) -> Mechanism:
    """The closed form of ``proximity`` with the distances of a graph as margins.

    It is private if Σ_{v≠w} E^{−λ_v(d)} ≤ 1 at every dataset (δ = 0; theory, Proximity), or if q −
    1 ≤ E. Otherwise it is refused, with the ε from which it holds. Margins are cut off where a
    weight falls below one unit of exact rows, and checked on every edge; ``limit`` is how many
    bytes they may take.
    """
    if not isinstance(guarantee, DP) or guarantee.ratio == 1:
        raise InvalidGuarantee(
            f"proximity needs an (ε,δ) guarantee with ε > 0, got {brief(guarantee, str)}"
        )
    found = whole_margins(graph, cut_margin(len(graph.answers), guarantee), limit)
    return proximity_by_margins(graph, guarantee, found)


def proximity_by_margins(graph: RainbowGraph, guarantee: DP, found: NDArray[Any]) -> Mechanism:
    """Proximity with these margins, or the ε from which it holds."""
    answers = len(graph.answers)
    if proximity_holds(answers, guarantee) and answers > 1:
        return ByMargins(graph, guarantee, proximity_weights(answers, guarantee), found)
    rivals = _crowded(found, guarantee)
    if len(rivals):
        least = _least_epsilon(rivals, guarantee)
        raise InvalidGuarantee(
            f"proximity on this graph holds from epsilon = {least:.4f}, got {guarantee}; "
            "use margin-flip or a larger epsilon"
        )
    if guarantee.delta == 0 and answers > 1:
        bounded = _bounded(graph, guarantee, found)
        if bounded is not None:
            return bounded
    whole, index = distinct(graph, found)
    rows = _rows(with_infinity(whole), guarantee)
    mechanism = Mechanism(graph, rows, index, guarantee, name="proximity")
    check = mechanism.check()
    if not check:
        raise InvalidGuarantee(f"proximity is not private on this graph: {check}")
    return mechanism


def _bounded(graph: RainbowGraph, guarantee: DP, found: NDArray[Any]) -> ByMargins | None:
    """The rule for margins that leave the losers at most E/(1 + E), if these do, in integers."""
    rule = proximity_steps(guarantee, len(graph.answers), 1 << _SHORT)
    losing = np.zeros(len(found), dtype=np.int64)
    beyond = np.iinfo(found.dtype).max
    steps = np.array([0, *rule.steps], dtype=np.int64)
    for column in found.T:
        margins = np.where(column == beyond, len(rule.steps), column.astype(np.int64))
        losing += steps[np.minimum(margins, len(rule.steps))]
    most = max(int(losing.max()), rule.steps[0])
    bounded = replace(rule, most=most)
    try:
        bounded.prove(guarantee, graph.answers, None)
    except InvalidMechanism:  # at the very edge of the condition, where rounding decides
        return None
    return ByMargins(graph, guarantee, bounded, found)


def cut_margin(answers: int, guarantee: DP) -> int:
    """The margin from which an answer's weight stays below 2^−BITS, one unit of exact rows."""
    first = (1 - guarantee.delta) / (1 + guarantee.ratio)
    rho = guarantee.delta / max(1, answers - 1) / math.expm1(guarantee.epsilon)
    steps = math.log((first + rho) / (2.0**-BITS + rho)) / guarantee.epsilon
    return 1 + max(1, math.ceil(steps))


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


def _crowded(found: NDArray[Any], guarantee: DP) -> Floats:
    """The margins of the rivals, infinite for none, of datasets where Σ E^{−λ_v} is above 1.

    With δ > 0 as if all rivals in reach were at 1.
    """
    beyond = np.iinfo(found.dtype).max
    size = max(1, _CELLS // max(1, found.shape[1]))
    kept = []
    for start in range(0, len(found), size):
        block = found[start : start + size]
        rivals = np.where((block == 0) | (block == beyond), math.inf, block)
        if guarantee.delta > 0:
            rivals = np.where(np.isfinite(rivals), 1.0, rivals)
        sums = np.exp(-guarantee.epsilon * rivals).sum(axis=1)
        kept.append(rivals[sums > 1 + 1e-12])
    return np.concatenate(kept)


def _least_epsilon(rivals: Floats, guarantee: DP) -> float:
    """From which ε on Σ E^{−λ_v} is at most 1 on all of these rows; it falls with ε on each."""
    low, high = guarantee.epsilon, math.log(rivals.shape[1])
    for _ in range(40):
        middle = (low + high) / 2
        above = np.exp(-middle * rivals).sum(axis=1) > 1
        low, high = (middle, high) if above.any() else (low, middle)
        rivals = rivals[above] if above.any() else rivals
    return high

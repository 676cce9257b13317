"""Proximity on a graph: each answer has its own weight by its own distance."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats
from rainbowdp.errors import InvalidGuarantee, RainbowError
from rainbowdp.exact.mechanism import BITS
from rainbowdp.graphs.engines import engine
from rainbowdp.graphs.engines.narrow import margin_type, number_type
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.mechanisms.mechanism import Mechanism


def margins(graph: RainbowGraph) -> Floats:
    """λ: for each dataset and answer the distance to the nearest dataset that prefers it most.

    Columns are in the order of ``graph.answers``; infinite where no dataset in reach does. Cost:
    one search of the graph for each answer.
    """
    return _with_infinity(whole_margins(graph))


def whole_margins(
    graph: RainbowGraph, cut: int | None = None, limit: int | None = None
) -> NDArray[Any]:
    """``margins`` as unsigned numbers: those from ``cut`` on as ``cut``, the infinite ones as the
    largest number of the type.

    Cut margins still change by at most 1 between neighbors, which is all that privacy asks of
    them. Cost: ``margin_bytes(graph, cut)`` of memory, refused before any work where that is
    more than ``limit`` (by default half of the machine's), and searches that end at ``cut``.
    """
    needed = margin_bytes(graph, cut)
    allowed = limit if limit is not None else _half_of_memory()
    if needed > allowed:
        raise RainbowError(
            f"margins of {len(graph):,} datasets to {len(graph.answers):,} answers need "
            f"{needed:,} bytes, more than the limit of {allowed:,}; raise limit or lower cut"
        )
    place = {answer: number for number, answer in enumerate(graph.answers)}
    first = [place[region.rainbow[0]] for region in graph.regions.values()]
    truth = np.array(first, dtype=number_type(len(place) - 1))[graph.region_numbers]
    return graph.margins(truth, len(place), _farthest(graph, cut)).T


def margin_bytes(graph: RainbowGraph, cut: int | None = None) -> int:
    """How much memory ``whole_margins`` takes: its result, and 16 bytes for each dataset."""
    width = np.dtype(margin_type(_farthest(graph, cut))).itemsize
    return len(graph) * (len(graph.answers) * width + 16)


def proximity_on_graph(
    graph: RainbowGraph, guarantee: Guarantee, limit: int | None = None
) -> Mechanism:
    """The closed form of ``proximity`` with the distances of a graph as margins.

    Private where Σ_{v≠w} E^{−λ_v(d)} ≤ 1 at every dataset (δ = 0; theory, Proximity), or where
    q − 1 ≤ E; refused elsewhere, with the ε from which it holds. Checked on every edge. Margins
    are cut where a weight falls below one unit of exact rows; ``limit``: bytes that margins and
    rows may each take.
    """
    if not isinstance(guarantee, DP) or guarantee.ratio == 1:
        raise InvalidGuarantee(f"proximity needs an (ε,δ) guarantee with ε > 0, got {guarantee}")
    found = whole_margins(graph, cut_margin(len(graph.answers), guarantee), limit)
    whole, index = _distinct(graph, found)
    needed, allowed = 8 * whole.size, limit if limit is not None else _half_of_memory()
    if needed > allowed:
        raise RainbowError(
            f"proximity on this graph has {len(whole):,} distinct rows, which need {needed:,} "
            f"bytes, more than the limit of {allowed:,}; raise limit or use the optimum"
        )
    distinct = _with_infinity(whole)
    rivals = np.where(distinct == 0, math.inf, distinct)
    if _crowd(rivals, guarantee) > 1 + 1e-12:
        least = _least_epsilon(rivals, guarantee)
        raise InvalidGuarantee(
            f"proximity on this graph holds from epsilon = {least:.4f}, got {guarantee}; "
            "use the homogeneous optimum or a larger epsilon"
        )
    mechanism = Mechanism(graph, _rows(distinct, guarantee), index, guarantee)
    check = mechanism.check()
    if not check:
        raise InvalidGuarantee(f"proximity is not private here: {check}")
    return mechanism


def cut_margin(answers: int, guarantee: DP) -> int:
    """The margin from which an answer's weight stays below 2^−BITS, one unit of exact rows."""
    first = (1 - guarantee.delta) / (1 + guarantee.ratio)
    rho = guarantee.delta / max(1, answers - 1) / math.expm1(guarantee.epsilon)
    steps = math.log((first + rho) / (2.0**-BITS + rho)) / guarantee.epsilon
    return 1 + max(1, math.ceil(steps))


def _farthest(graph: RainbowGraph, cut: int | None) -> int:
    """``cut``, or a number that no distance reaches where that is less."""
    if cut is not None and cut < 1:
        raise RainbowError(f"margins must be cut at 1 or more, got cut={cut}")
    return len(graph) if cut is None else min(cut, len(graph))


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError):  # a system that does not say
        return 1 << 32


def _with_infinity(whole: NDArray[Any]) -> Floats:
    return np.where(whole == np.iinfo(whole.dtype).max, math.inf, whole)


def _distinct(graph: RainbowGraph, found: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The distinct rows of ``found`` and the number of each dataset's, one column at a time."""
    chosen = engine(len(graph) + graph.edge_count)
    classes, first = np.zeros(len(found), dtype=np.uint32), np.zeros(1, dtype=np.int64)
    for column in found.T:
        if len(first) < len(found):
            classes, first = chosen.refine(classes, column)
    return found[first], classes


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

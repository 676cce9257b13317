"""Carry values outward from sources, shrinking them at each step.

A graph is ``offsets`` and ``targets`` as in ``plain``. ``shrink`` is any non-decreasing function
with shrink(x) ≤ x, the same for every edge.

**One visit per node.** A level begins with the largest value t that is still to be sent on, and
sends on all values that are at least u = shrink(t). What arrives lies in [shrink(u), u]. All that
is sent later is at most u and arrives with at most shrink(u). So a node keeps the largest value of
the level that reaches it first, and every edge is visited once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.graphs.engines.plain import neighbors

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Shrink: TypeAlias = Callable[[Floats], Floats]


def spread(
    offsets: Integers,
    targets: Integers,
    closed: NDArray[np.bool_],
    sources: Integers,
    values: Floats,
    shrink: Shrink,
    least: float = 0.0,
) -> Floats:
    """For each node the largest value that reaches it from outside, 0 if none does.

    A source sends its value along each edge, shrunk once per edge. Nothing enters a ``closed``
    node, and all sources must be closed; a value that has become ``least`` or less is not carried
    on. Cost: at most O(edges log edges), and edges beyond the reach of ``least`` cost nothing.
    """
    found = np.zeros(len(closed))
    reached = closed.copy()
    order = np.argsort(-values, kind="stable")
    sources, values = sources[order], values[order]
    front, carried, sent = sources[:0], values[:0], 0
    while front.size or sent < len(sources):
        top = max(carried.max(initial=0.0), values[sent : sent + 1].max(initial=0.0))
        if top <= least:
            break
        floor = shrink(np.array([top]))[0]
        until = int(np.searchsorted(-values, -floor, side="right"))
        front = np.concatenate([front, sources[sent:until]])
        carried = np.concatenate([carried, values[sent:until]])
        sent = until
        counts = (offsets[front + 1] - offsets[front]).astype(np.int64)
        met = neighbors(offsets, targets, front)
        fresh = ~reached[met]
        met = met[fresh]
        np.maximum.at(found, met, np.repeat(shrink(carried), counts)[fresh])
        front = np.unique(met).astype(np.int64)
        reached[front] = True
        carried = found[front]
    return found


def carried(
    offsets: Integers,
    targets: Integers,
    truth: NDArray[Any],
    answer: int,
    sources: Integers,
    values: Floats,
    step: tuple[float, float],
    least: float = 0.0,
) -> Floats:
    """``spread`` from where an answer is true, with the step x ↦ ⌈(x − each)·factor⌉."""
    each, factor = step

    def shrink(held: Floats) -> Floats:
        return np.maximum(np.ceil((held - each) * factor), 0.0)

    return spread(offsets, targets, truth == answer, sources, values, shrink, least)


def carried_sum(
    offsets: Integers,
    targets: Integers,
    truth: NDArray[Any],
    sources: Integers,
    values: Floats,
    step: tuple[float, float],
    least: float = 0.0,
) -> Floats:
    """``carried`` summed over the answers that are true at ``sources``."""
    total = np.zeros(len(truth))
    at = truth[sources]
    for answer in np.unique(at):
        mine = at == answer
        total += carried(
            offsets, targets, truth, int(answer), sources[mine], values[mine], step, least
        )
    return total

"""The engine that needs nothing but NumPy.

A graph is ``offsets`` and ``targets`` (compressed sparse rows, each edge in both directions) and
``region``, a number for each node.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
UNREACHED = -1


def sources(offsets: Integers) -> Integers:
    """The first node of each directed edge, in the order of ``targets``."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def boundary(offsets: Integers, targets: Integers, region: Integers) -> NDArray[np.bool_]:
    """Whether each node has a neighbour in another region."""
    origin = sources(offsets)
    found = np.zeros(len(region), dtype=np.bool_)
    found[origin[region[origin] != region[targets]]] = True
    return found


def depth(
    offsets: Integers, targets: Integers, region: Integers, on_boundary: NDArray[np.bool_]
) -> Integers:
    """Steps from each node to its region's boundary, −1 where no boundary can be reached.

    A shortest way to the boundary never leaves the region, so one search from all boundary
    nodes at once finds every depth. Cost: O(edges + levels).
    """
    found = np.where(on_boundary, 0, UNREACHED)
    front = np.flatnonzero(on_boundary)
    level = 0
    while front.size:
        level += 1
        counts = offsets[front + 1] - offsets[front]
        ends = np.cumsum(counts)
        inside = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
        reached = targets[np.repeat(offsets[front], counts) + inside]
        # Nodes next to another region are at depth 0 already, so what is left is inside.
        front = np.unique(reached[found[reached] == UNREACHED])
        found[front] = level
    return found


def touching(offsets: Integers, targets: Integers, region: Integers, regions: int) -> Integers:
    """The pairs of regions joined by an edge, each once, smaller number first."""
    first, second = region[sources(offsets)], region[targets]
    codes = np.unique((first * regions + second)[first < second])
    return np.stack([codes // regions, codes % regions], axis=1)

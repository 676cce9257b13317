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


def distances(offsets: Integers, targets: Integers, start: NDArray[np.bool_]) -> Integers:
    """Steps from each node to the nearest node of ``start``, −1 where none can be reached.

    From the boundary nodes of all regions this is the depth: a way to another region's boundary
    passes the own one first. Cost: O(edges + levels).
    """
    found = np.where(start, 0, UNREACHED)
    front = np.flatnonzero(start)
    level = 0
    while front.size:
        level += 1
        counts = offsets[front + 1] - offsets[front]
        ends = np.cumsum(counts)
        inside = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
        reached = targets[np.repeat(offsets[front], counts) + inside]
        front = np.unique(reached[found[reached] == UNREACHED])
        found[front] = level
    return found


def touching(offsets: Integers, targets: Integers, region: Integers, regions: int) -> Integers:
    """The pairs of regions joined by an edge, each once, smaller number first."""
    first, second = region[sources(offsets)], region[targets]
    codes = np.unique((first * regions + second)[first < second])
    return np.stack([codes // regions, codes % regions], axis=1)

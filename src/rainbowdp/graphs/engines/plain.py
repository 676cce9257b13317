"""The engine that needs nothing but NumPy.

A graph is ``offsets`` and ``targets`` (compressed sparse rows, each edge in both directions) and
``region``, a number for each node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.graphs.engines.narrow import index_type, margin_type

Integers = NDArray[Any]
UNREACHED = -1


def compress(pairs: Integers, size: int) -> tuple[Integers, Integers]:
    """Offsets and sorted targets with each edge in both directions, without loops and repeats."""
    pairs = pairs[pairs[:, 0] != pairs[:, 1]].astype(np.int64)
    codes = np.unique(
        np.concatenate([pairs[:, 0] * size + pairs[:, 1], pairs[:, 1] * size + pairs[:, 0]])
    )
    offsets = np.zeros(size + 1, dtype=index_type(len(codes)))
    np.cumsum(np.bincount(codes // size, minlength=size), out=offsets[1:])
    return offsets, (codes % size).astype(index_type(size - 1))


def sources(offsets: Integers) -> NDArray[np.int64]:
    """The first node of each directed edge, in the order of ``targets``."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets).astype(np.int64))


def boundary(offsets: Integers, targets: Integers, region: Integers) -> NDArray[np.bool_]:
    """Whether each node has a neighbor in another region."""
    origin = sources(offsets)
    found = np.zeros(len(region), dtype=np.bool_)
    found[origin[region[origin] != region[targets]]] = True
    return found


def depths(
    offsets: Integers, targets: Integers, region: Integers, regions: int
) -> NDArray[np.int32]:
    """Steps from each node to the boundary of its region, −1 if there is none.

    A way to another region's boundary crosses the node's own first, so one search from all
    boundaries at once is enough.
    """
    return distances(offsets, targets, boundary(offsets, targets, region))


def distances(offsets: Integers, targets: Integers, start: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Steps from each node to the nearest node of ``start``, −1 if none is reachable.

    Cost: O(edges + levels).
    """
    found = np.where(start, 0, UNREACHED).astype(np.int32)
    front = np.flatnonzero(start)
    level = 0
    while front.size:
        level += 1
        reached = neighbors(offsets, targets, front)
        front = np.unique(reached[found[reached] == UNREACHED])
        found[front] = level
    return found


def neighbors(offsets: Integers, targets: Integers, nodes: Integers) -> Integers:
    """The neighbors of each of ``nodes``, one node after the other."""
    starts = offsets[nodes].astype(np.int64)
    counts = offsets[nodes + 1].astype(np.int64) - starts
    ends = np.cumsum(counts)
    inside = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
    found: Integers = targets[np.repeat(starts, counts) + inside]
    return found


def margins(
    offsets: Integers, targets: Integers, truth: Integers, answers: int, cut: int
) -> Integers:
    """For each answer a row: min(cut, steps to the nearest node whose ``truth`` it is).

    The largest number of the type means that there is no such node in reach.
    """
    kind = margin_type(cut)
    found = np.empty((answers, len(truth)), dtype=kind)
    for answer in range(answers):
        steps = distances(offsets, targets, truth == answer)
        found[answer] = np.where(steps == UNREACHED, np.iinfo(kind).max, np.minimum(steps, cut))
    return found


def extents(
    region: Integers, depth: NDArray[np.int32], regions: int
) -> tuple[Integers, Integers, Integers]:
    """For each region its number of nodes, largest depth (or −1), and nodes at depth −1."""
    deepest = np.full(regions, UNREACHED, dtype=np.int32)
    np.maximum.at(deepest, region, depth)
    endless = np.bincount(region[depth == UNREACHED], minlength=regions)
    return np.bincount(region, minlength=regions), deepest, endless


def touching(
    offsets: Integers, targets: Integers, region: Integers, regions: int
) -> NDArray[np.int64]:
    """The pairs of regions joined by an edge, each once, smaller number first, in order."""
    first, second = (region[ends].astype(np.int64) for ends in (sources(offsets), targets))
    codes = np.unique((first * regions + second)[first < second])
    return np.stack([codes // regions, codes % regions], axis=1)


def refine(classes: Integers, values: Integers) -> tuple[Integers, Integers]:
    """The classes of nodes that agree in class and value, and the first node of each class."""
    codes = classes.astype(np.int64) * (int(values.max(initial=0)) + 1) + values
    _, first, numbers = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.uint32)
    rank[order] = np.arange(len(order))
    return rank[numbers], first[order]

"""Searches on graphs with a whole length for each edge that need nothing but NumPy.

A graph is ``offsets`` and ``targets`` as in ``plain``, and ``lengths`` beside ``targets``. An edge
of length ℓ stands for ℓ steps, with ℓ − 1 places between its ends. Where the ends belong to two
regions, the first half of these places belongs to each, and a middle one to the region with the
lower number; so from the end in region a there are (ℓ − 1 + [a < b]) // 2 steps to the last place
of its own region.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.graphs.engines.narrow import index_type, margin_type
from rainbowdp.graphs.engines.plain import sources

Integers = NDArray[Any]
FARTHEST = (1 << 31) - 2  # steps that a depth may have
_UNSEEN = np.int64(1) << 62


class TooFar(Exception):
    """A depth or distance has more steps than 31 bits hold."""


def compress(pairs: Integers, given: Integers, size: int) -> tuple[Integers, Integers, Integers]:
    """Offsets, sorted targets and their lengths, without loops, the shortest of repeats."""
    kept = pairs[:, 0] != pairs[:, 1]
    pairs, given = pairs[kept].astype(np.int64), given[kept]
    codes = np.concatenate([pairs[:, 0] * size + pairs[:, 1], pairs[:, 1] * size + pairs[:, 0]])
    order = np.lexsort((np.tile(given, 2), codes))
    codes = codes[order]
    new = np.ones(len(codes), dtype=np.bool_)
    new[1:] = codes[1:] != codes[:-1]
    codes = codes[new]
    offsets = np.zeros(size + 1, dtype=index_type(len(codes)))
    np.cumsum(np.bincount(codes // size, minlength=size), out=offsets[1:])
    lengths = np.tile(given, 2)[order][new].astype(np.uint32)
    return offsets, (codes % size).astype(index_type(size - 1)), lengths


def halves(lengths: Integers, own: Integers, other: Integers) -> NDArray[np.int64]:
    """Steps from the end in region ``own`` to its last place before region ``other``."""
    halved: NDArray[np.int64] = (lengths.astype(np.int64) - 1 + (own < other)) // 2
    return halved


def depths(
    offsets: Integers, targets: Integers, lengths: Integers, region: Integers, regions: int
) -> NDArray[np.int32]:
    """Steps from each node to the boundary of its region, −1 if there is none."""
    origin = sources(offsets)
    border = np.flatnonzero(region[origin] != region[targets])
    first, second = origin[border], targets[border]
    found = np.full(len(region), _UNSEEN)
    np.minimum.at(found, first, halves(lengths[border], region[first], region[second]))
    return _checked(_settled(offsets, targets, lengths, found, np.flatnonzero(found < _UNSEEN)))


def distances(
    offsets: Integers, targets: Integers, lengths: Integers, start: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Steps from each node to the nearest node of ``start``, −1 if none is reachable."""
    found = np.where(start, np.int64(0), _UNSEEN)
    return _checked(_settled(offsets, targets, lengths, found, np.flatnonzero(start)))


def margins(
    offsets: Integers,
    targets: Integers,
    lengths: Integers,
    region: Integers,
    truth: Integers,
    answers: int,
    cut: int,
) -> Integers:
    """For each answer a row: min(cut, steps to the nearest place whose truth it is).

    The largest number of the type means that there is no such place in reach.
    """
    kind = margin_type(cut)
    rows = np.empty((answers, len(truth)), dtype=kind)
    origin = sources(offsets)
    border = np.flatnonzero(truth[origin] != truth[targets])
    first, second = origin[border], targets[border]
    beyond = lengths[border].astype(np.int64) - halves(
        lengths[border], region[first], region[second]
    )
    for answer in range(answers):
        mine = truth[first] == answer
        found = np.where(truth == answer, np.int64(0), _UNSEEN)
        np.minimum.at(found, second[mine], beyond[mine])
        found = _settled(offsets, targets, lengths, found, np.unique(second[mine]))
        rows[answer] = np.where(found == _UNSEEN, np.iinfo(kind).max, np.minimum(found, cut))
    return rows


def _settled(
    offsets: Integers,
    targets: Integers,
    lengths: Integers,
    found: NDArray[np.int64],
    front: Integers,
) -> NDArray[np.int64]:
    """``found`` lowered by every way from ``front``: a node is sent on whenever it is lowered."""
    while front.size:
        starts = offsets[front].astype(np.int64)
        counts = offsets[front + 1].astype(np.int64) - starts
        ends = np.cumsum(counts)
        edges = np.repeat(starts - (ends - counts), counts) + np.arange(ends[-1])
        far = np.repeat(found[front], counts) + lengths[edges]
        reached = targets[edges]
        lower = far < found[reached]
        reached, far = reached[lower], far[lower]
        np.minimum.at(found, reached, far)
        front = np.unique(reached).astype(np.int64)
    return found


def _checked(found: NDArray[np.int64]) -> NDArray[np.int32]:
    seen = found < _UNSEEN
    if (found[seen] > FARTHEST).any():
        raise TooFar
    return np.where(seen, found, -1).astype(np.int32)

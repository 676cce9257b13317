"""Questions about edges in compressed rows that need no rainbow: which pairs they join."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.graphs.engines import plain

_BLOCK = 1 << 20


def joined_within(
    offsets: NDArray[Any],
    targets: NDArray[Any],
    lengths: NDArray[Any],
    numbers: NDArray[Any],
    count: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs of different ``numbers`` on neighbors, and the steps of each pair's shortest edge.

    All numbers are below ``count``; pairs have the smaller number first, and are in order.
    """
    first, second = (numbers[end].astype(np.int64) for end in (plain.sources(offsets), targets))
    kept = first < second
    codes, steps = (first * count + second)[kept], lengths[kept]
    order = np.lexsort((steps, codes))
    codes = codes[order]
    new = np.ones(len(codes), dtype=np.bool_)
    new[1:] = codes[1:] != codes[:-1]
    pairs = np.stack([codes[new] // count, codes[new] % count], axis=1)
    return pairs, steps[order][new].astype(np.int64)


def edge_between(
    offsets: NDArray[Any],
    targets: NDArray[Any],
    first: NDArray[np.bool_],
    second: NDArray[np.bool_],
) -> tuple[int, int] | None:
    """The positions of two neighbors, one marked in ``first`` and the other in ``second``."""
    places = np.flatnonzero(first)
    for start in range(0, len(places), _BLOCK):
        block = places[start : start + _BLOCK]
        near = plain.neighbors(offsets, targets, block)
        hits = np.flatnonzero(second[near])
        if hits.size:
            ends = np.cumsum(np.diff(offsets)[block])
            giver = np.searchsorted(ends, hits[0], side="right")
            return int(block[giver]), int(near[hits[0]])
    return None


def short_border(
    offsets: NDArray[Any], targets: NDArray[Any], lengths: NDArray[Any], region: NDArray[Any]
) -> tuple[int, int] | None:
    """The positions of two neighbors in different regions without a step between them."""
    short = np.flatnonzero(lengths == 0)
    first = np.searchsorted(offsets, short, side="right") - 1
    across = np.flatnonzero(region[first] != region[targets[short]])
    if not across.size:
        return None
    return int(first[across[0]]), int(targets[short[across[0]]])

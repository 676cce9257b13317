"""Loops over compressed rows with a whole length for each edge, compiled by Numba.

The queue of a search is a ring of *buckets*: bucket b holds nodes whose steps, divided by a power
of two, are b modulo the number of buckets. All that waits differs by no more than one edge, so a
ring longer than the longest edge never mixes two rounds (Dial 1969). Buckets wider than one step
keep the ring short where an edge is very long; a node may then be looked at again in its bucket.
Entries are a list in one pool, and freed ones are used again, so that the pool stays in cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rainbowdp.graphs.engines.kernels import MIDDLE, NEAR, ONE, SHORT, U, prefetch
from rainbowdp.numeric.compiling import kernel

NOWHERE = np.uint32(0xFFFFFFFF)  # the end of a list; before a node: it is in none
FIRST = np.uint32(0xFFFFFFFE)  # before the first of a list
LOW = U(0xFFFFFFFF)


@kernel
def place_measured(
    first: Any, second: Any, given: Any, offsets: Any, targets: Any, lengths: Any
) -> None:
    """``place_ends`` of the other kernels, each end with the length of its edge."""
    for i in range(len(first)):
        a, b = first[i], second[i]
        if a != b:
            offsets[a] -= 1
            targets[offsets[a]] = b
            lengths[offsets[a]] = given[i]
            offsets[b] -= 1
            targets[offsets[b]] = a
            lengths[offsets[b]] = given[i]


@kernel
def tidy_measured(offsets: Any, targets: Any, lengths: Any) -> int:
    """Sort each row, keep the shortest of repeats, close the gaps; how many targets are left."""
    kept = U(0)
    start = U(offsets[0])
    for node in range(U(len(offsets) - 1)):
        stop = U(offsets[node + ONE])
        if stop - start <= SHORT:
            for i in range(start + ONE, stop):
                value: Any = targets[i]
                length: Any = lengths[i]
                j = U(i)
                while j > start and targets[j - ONE] > value:
                    targets[j] = targets[j - ONE]
                    lengths[j] = lengths[j - ONE]
                    j -= ONE
                targets[j] = value
                lengths[j] = length
        else:
            order = np.argsort(targets[start:stop])
            targets[start:stop] = targets[start:stop][order]
            lengths[start:stop] = lengths[start:stop][order]
        offsets[node] = kept
        begun = kept
        for i in range(start, stop):
            if kept > begun and targets[i] == targets[kept - ONE]:
                lengths[kept - ONE] = min(lengths[kept - ONE], lengths[i])
            else:
                targets[kept] = targets[i]
                lengths[kept] = lengths[i]
                kept += ONE
        start = stop
    offsets[U(len(offsets) - 1)] = kept
    return kept  # type: ignore[return-value]  # unsigned, an int to Python's callers


@kernel
def seed_depths(
    offsets: Any,
    targets: Any,
    lengths: Any,
    region: Any,
    steps: Any,
    unseen: Any,
    first: int,
    last: int,
) -> None:
    """Each node's steps to the middle of an edge that leaves its region, else ``unseen``."""
    for node in range(U(first), U(last)):
        own = region[node]
        least = U(unseen)
        for edge in range(U(offsets[node]), U(offsets[node + ONE])):
            other = region[targets[edge]]
            if other != own:
                near = U(lengths[edge]) - ONE
                if own < other:
                    near += ONE
                least = min(least, near // U(2))
        steps[node] = least


@kernel
def count_seeds(region: Any, steps: Any, unseen: Any, starts: Any) -> None:
    """Where the seeds of each region begin in a list of all seeds."""
    for node in range(U(len(region))):
        if steps[node] != unseen:
            starts[U(region[node]) + ONE] += 1
    for place in range(U(len(starts) - 1)):
        starts[place + ONE] += starts[place]


@kernel
def list_seeds(region: Any, steps: Any, unseen: Any, ends: Any, seeds: Any) -> None:
    """The seeds region by region; ``ends`` move from each start to each end."""
    for node in range(U(len(region))):
        if steps[node] != unseen:
            number = U(region[node])
            seeds[ends[number]] = node
            ends[number] += 1


@kernel
def seed_margins(
    offsets: Any,
    targets: Any,
    lengths: Any,
    region: Any,
    truth: Any,
    answer: Any,
    limit: Any,
    row: Any,
    sources: Any,
    filled: int,
    seeds: Any,
) -> int:
    """Steps to the answer from its sources' neighbors, over the middle of the edge between.

    ``row`` is 0 at the sources; how many seeds there are.
    """
    count = U(0)
    for place in range(U(filled)):
        node = U(sources[place])
        own = region[node]
        for edge in range(U(offsets[node]), U(offsets[node + ONE])):
            other = U(targets[edge])
            if truth[other] == answer:
                continue
            length = U(lengths[edge])
            near = length - ONE
            if own < region[other]:
                near += ONE
            steps = length - near // U(2)
            if steps < U(limit) and steps < U(row[other]):
                if row[other] >= limit:
                    seeds[count] = other
                    count += ONE
                row[other] = steps
    return count  # type: ignore[return-value]  # unsigned, an int to Python's callers


@kernel
def pack(targets: Any, lengths: Any, ways: Any) -> None:
    """Each target beside its length in one number, so that a search asks memory once for both."""
    for edge in range(U(len(targets))):
        ways[edge] = (U(targets[edge]) << U(32)) | U(lengths[edge])


@kernel
def settle(
    offsets: Any,
    ways: Any,
    steps: Any,
    limit: Any,
    seeds: Any,
    first: Any,
    last: Any,
    heads: Any,
    shift: Any,
    after: Any,
    before: Any,
    batch: Any,
) -> bool:
    """Lower ``steps`` by every way from the seeds, whose steps are known, to fewer than ``limit``.

    ``heads`` are the empty buckets, a power of two of them, and ``before`` says of every node that
    it is in none; both are left so. Returns whether something was left out because of the limit.
    While one node is looked at, the rows and the neighbors' steps of later ones are on their way
    from memory.
    """
    mask = U(len(heads) - 1)
    waiting, cut = U(0), False
    at = U(0xFFFFFFFFFFFFFFFF)
    for place in range(U(first), U(last)):
        at = min(at, U(steps[seeds[place]]) >> shift)
    # All seeds lie within one edge of each other, so that one ring holds them.
    for place in range(U(first), U(last)):
        node = U(seeds[place])
        bucket = (U(steps[node]) >> shift) & mask
        old = heads[bucket]
        after[node] = old
        before[node] = FIRST
        if old != NOWHERE:
            before[old] = node
        heads[bucket] = node
        waiting += ONE
    while waiting > U(0):
        own = at & mask
        entry = heads[own]
        if entry == NOWHERE:
            at += ONE
            continue
        count = U(0)
        while entry != NOWHERE and count < U(len(batch)):
            batch[count] = entry
            prefetch(offsets, U(entry))
            prefetch(steps, U(entry))
            before[entry] = NOWHERE
            entry = after[entry]
            count += ONE
        heads[own] = entry
        if entry != NOWHERE:
            before[entry] = FIRST
        waiting -= count
        for place in range(count):
            if place + MIDDLE < count:
                prefetch(ways, U(offsets[batch[place + MIDDLE]]))
                soon = U(batch[place + NEAR])
                for edge in range(U(offsets[soon]), U(offsets[soon + ONE])):
                    prefetch(steps, ways[edge] >> U(32))
            node = U(batch[place])
            here = U(steps[node])
            for edge in range(U(offsets[node]), U(offsets[node + ONE])):
                way = ways[edge]
                other = way >> U(32)
                far = here + (way & LOW)
                if far >= U(steps[other]):
                    continue
                if far >= U(limit):
                    cut = True
                    continue
                previous, bucket = before[other], (far >> shift) & mask
                if previous == NOWHERE:
                    waiting += ONE
                else:
                    left = (U(steps[other]) >> shift) & mask
                    if left == bucket:
                        steps[other] = far
                        continue
                    follower = after[other]
                    if previous == FIRST:
                        heads[left] = follower
                    else:
                        after[previous] = follower
                    if follower != NOWHERE:
                        before[follower] = previous
                steps[other] = far
                old = heads[bucket]
                after[other] = old
                before[other] = FIRST
                if old != NOWHERE:
                    before[old] = other
                heads[bucket] = other
    return cut


@kernel
def settle_regions(
    offsets: Any,
    ways: Any,
    steps: Any,
    limit: Any,
    seeds: Any,
    starts: Any,
    heads: Any,
    shift: Any,
    after: Any,
    before: Any,
    batch: Any,
    first: int,
    last: int,
) -> bool:
    """``settle`` in the regions from ``first`` to ``last``, one by one: a front in cache."""
    cut = False
    for number in range(U(first), U(last)):
        begin, end = U(starts[number]), U(starts[number + ONE])
        cut |= settle(
            offsets, ways, steps, limit, seeds, begin, end, heads, shift, after, before, batch
        )
    return cut

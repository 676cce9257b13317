"""Searches on large graphs with a whole length for each edge, compiled by Numba.

As ``measured_plain``, with buckets in place of rounds: every node is looked at about once. Regions
are searched one by one, so that a front stays in cache, and threads take different regions: a way
over a border never shortens what the border's other side has already.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.display.progress import track
from rainbowdp.graphs.engines import kernels, length_kernels
from rainbowdp.graphs.engines.compiled import UNSEEN, _ready, _run, _split, _split_evenly, _workers
from rainbowdp.graphs.engines.measured_plain import FARTHEST, TooFar
from rainbowdp.graphs.engines.narrow import index_type, margin_type, unsigned

Integers = NDArray[Any]
_RING = 16  # a ring of 2**_RING buckets is as long as it gets
_BATCH = 1 << 10
_ALL = np.uint32(FARTHEST + 1)


def compress(pairs: Integers, given: Integers, size: int) -> tuple[Integers, Integers, Integers]:
    """Offsets, sorted targets and their lengths, without loops, the shortest of repeats."""
    offsets = np.zeros(size + 1, dtype=index_type(2 * len(pairs)))
    first, second = unsigned(pairs[:, 0]), unsigned(pairs[:, 1])
    _run(kernels.count_ends, first, second, offsets)
    targets = np.empty(int(offsets[-1]), dtype=index_type(size - 1))
    lengths = np.empty(len(targets), dtype=np.uint32)
    _run(length_kernels.place_measured, first, second, given, offsets, targets, lengths)
    kept = int(_run(length_kernels.tidy_measured, offsets, targets, lengths))
    targets.resize(kept, refcheck=False)
    lengths.resize(kept, refcheck=False)
    return offsets, targets, lengths


def depths(
    offsets: Integers,
    targets: Integers,
    lengths: Integers,
    region: Integers,
    regions: int,
    *,
    threads: int | None = None,
) -> NDArray[np.int32]:
    """Steps from each node to the boundary of its region, −1 if there is none."""
    steps = np.empty(len(region), dtype=np.uint32)
    seeding = (offsets, targets, lengths, region, steps, UNSEEN)
    _ready(length_kernels.seed_depths, *seeding, 0, 0)
    starts = np.zeros(regions + 1, dtype=index_type(len(region)))
    with _workers(threads) as work:
        list(work(lambda piece: length_kernels.seed_depths(*seeding, *piece), _split(len(region))))
        _run(length_kernels.count_seeds, region, steps, UNSEEN, starts)
        seeds = np.empty(int(starts[-1]), dtype=targets.dtype)
        _run(length_kernels.list_seeds, region, steps, UNSEEN, starts[:-1].copy(), seeds)
        given = (offsets, _packed(targets, lengths), steps, _ALL, seeds, starts)
        rings, lists = _Rings(lengths), _lists(len(region))  # regions share no node

        def search(piece: tuple[int, int]) -> bool:
            everything: Any = (*given, *rings.queue(lists), *piece)
            return length_kernels.settle_regions(*everything)

        _ready(length_kernels.settle_regions, *given, *rings.queue(lists), 0, 0)
        sizes = np.bincount(region, minlength=regions)
        if any(list(work(search, _split_evenly(sizes)))):
            raise TooFar
    return steps.view(np.int32)


def distances(
    offsets: Integers, targets: Integers, lengths: Integers, start: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Steps from each node to the nearest node of ``start``, −1 if none is reachable."""
    steps = np.where(start, np.uint32(0), UNSEEN)
    seeds = np.flatnonzero(start).astype(targets.dtype)
    span = np.uint64(0), np.uint64(len(seeds))
    given = (offsets, _packed(targets, lengths), steps, _ALL, seeds, *span)
    if _run(length_kernels.settle, *given, *_Rings(lengths).queue(_lists(len(start)))):
        raise TooFar
    return steps.view(np.int32)


def margins(
    offsets: Integers,
    targets: Integers,
    lengths: Integers,
    region: Integers,
    truth: Integers,
    answers: int,
    cut: int,
    *,
    threads: int | None = None,
) -> Integers:
    """For each answer a row: min(cut, steps to the nearest place whose truth it is)."""
    size, kind = len(truth), margin_type(cut)
    found = np.empty((answers, size), dtype=kind)
    none, limit = kind(np.iinfo(kind).max), kind(cut)
    component = np.full(size, UNSEEN)
    queue = np.empty(size, dtype=targets.dtype)
    count = int(_run(kernels.components, offsets, targets, component, UNSEEN, queue))
    graph, ways = (offsets, targets, lengths), _packed(targets, lengths)
    rings = _Rings(lengths)

    def fill(answer: int) -> None:
        sources, seeds = np.empty(size, targets.dtype), np.empty(size, targets.dtype)
        reached = np.empty(count, dtype=np.bool_)
        own, row = truth.dtype.type(answer), found[answer]
        filled = int(kernels.select(truth, own, sources))
        kernels.prepare_margins(component, reached, sources, filled, limit, none, row)
        given: Any = (*graph, region, truth, own, limit, row, sources, filled, seeds)
        last = length_kernels.seed_margins(*given)
        searched = (offsets, ways, row, limit, seeds, np.uint64(0), np.uint64(last))
        length_kernels.settle(*searched, *rings.queue(_lists(size)))

    row, own = np.empty(0, kind), truth.dtype.type(0)
    _ready(kernels.select, truth, own, queue)
    _ready(kernels.prepare_margins, component, np.empty(0, np.bool_), queue, 0, limit, none, row)
    given = (region, truth, own, limit, row, queue, 0, queue)
    _ready(length_kernels.seed_margins, *graph, *given)
    searched = (offsets, ways, row, limit, queue, np.uint64(0), np.uint64(0))
    _ready(length_kernels.settle, *searched, *rings.queue(_lists(0)))
    with _workers(threads) as work:
        for _ in track(work(fill, range(answers)), answers, "margins"):
            pass
    return found


def _packed(targets: Integers, lengths: Integers) -> Integers:
    ways = np.empty(len(targets), dtype=np.uint64)
    _run(length_kernels.pack, targets, lengths, ways)
    return ways


class _Rings:
    """Where the queues of a search are made: bucket width and ring length fit all its lengths.

    Buckets are about as wide as an edge is long: narrower ones are mostly empty, and in wider ones
    more nodes are looked at twice.
    """

    def __init__(self, lengths: Integers) -> None:
        longest = int(lengths.max(initial=1))
        mean = int(lengths.mean()) if len(lengths) else 1
        self._shift = max(0, mean.bit_length() - 1, longest.bit_length() - _RING)
        self._buckets = 1 << ((longest >> self._shift) + 2).bit_length()

    def queue(self, lists: tuple[Integers, Integers]) -> tuple[Any, ...]:
        """An empty ring, how many bits of a distance one bucket spans, lists and a batch."""
        ring = np.full(self._buckets, length_kernels.NOWHERE)
        return ring, np.uint64(self._shift), *lists, np.empty(_BATCH, dtype=np.uint32)


def _lists(size: int) -> tuple[Integers, Integers]:
    """For each node the one after and before it in its bucket; no node is in one."""
    return np.empty(size, dtype=np.uint32), np.full(size, length_kernels.NOWHERE)

"""The engine for large graphs: kernels compiled by Numba, on as many threads as there are cores.

On sparse graphs depth is searched region by region, so that one region's front and rows stay in
cache, and threads take different regions. On dense graphs it is searched level by level, and a
level whose front has many edges is searched from the other side: each unseen node looks for a
neighbor in the front, and stops at the first (Beamer, Asanović and Patterson 2012).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numba
import numpy as np
from numpy.typing import NDArray

from rainbowdp.display.progress import announced, track
from rainbowdp.graphs.engines import kernels
from rainbowdp.graphs.engines.narrow import index_type, margin_type, unsigned

Integers: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]
Pieces: TypeAlias = Sequence[tuple[int, int]]
Step: TypeAlias = tuple[float, float]

_typeof: Any = numba.typeof
UNSEEN = np.uint32(0xFFFFFFFF)  # −1 as signed
DENSE = 8  # directed edges for each node from which levels are searched, not regions
SWITCH = 4.0  # a front is searched from the other side if this many times its edges are more
PIECES = 8  # of work for each thread, so that an unlucky one does not hold up the rest


def compress(pairs: Integers, size: int, *, wide: bool = False) -> tuple[Integers, Integers]:
    """Offsets and sorted targets with each edge in both directions, without loops and repeats.

    A counting sort into the final array, so the result is the only copy. ``wide`` asks for 64 bits
    where 32 would do.
    """
    offsets = np.zeros(size + 1, dtype=np.uint64 if wide else index_type(2 * len(pairs)))
    first, second = unsigned(pairs[:, 0]), unsigned(pairs[:, 1])
    _run(kernels.count_ends, first, second, offsets)
    targets = np.empty(int(offsets[-1]), dtype=np.uint64 if wide else index_type(size - 1))
    _run(kernels.place_ends, first, second, offsets, targets)
    kept = int(_run(kernels.tidy, offsets, targets))
    targets.resize(kept, refcheck=False)
    return offsets, targets


def boundary(
    offsets: Integers, targets: Integers, region: Integers, *, threads: int | None = None
) -> NDArray[np.bool_]:
    """Whether each node has a neighbor in another region."""
    with _workers(threads) as work:
        on_boundary: NDArray[np.bool_] = _marked(offsets, targets, region, work) == 0
    return on_boundary


def depths(
    offsets: Integers,
    targets: Integers,
    region: Integers,
    regions: int,
    *,
    threads: int | None = None,
    by: Literal["regions", "levels"] | None = None,
    switch: float = SWITCH,
) -> NDArray[np.int32]:
    """Steps from each node to the boundary of its region, −1 if there is none.

    ``by`` forces one of the two searches; ``switch`` 0 keeps the search by levels top-down, and
    infinity bottom-up. Memory beside the graph: at most two 32-bit numbers for each node.
    """
    if by is None:
        by = "levels" if len(targets) >= DENSE * len(region) else "regions"
    with _workers(threads) as work:
        steps = _marked(offsets, targets, region, work)
        if by == "levels":
            _search_levels(offsets, targets, steps, work, switch)
        else:
            _search_regions(offsets, targets, region, regions, steps, work)
    return steps.view(np.int32)


def distances(offsets: Integers, targets: Integers, start: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Steps from each node to the nearest node of ``start``, −1 if none is reachable."""
    steps = np.where(start, np.uint32(0), UNSEEN)
    queue = np.empty(len(start), dtype=targets.dtype)
    filled = int(_run(kernels.select, steps, np.uint32(0), queue))
    _run(kernels.search, offsets, targets, steps, UNSEEN, queue, filled, kernels.EMPTY)
    return steps.view(np.int32)


def margins(
    offsets: Integers,
    targets: Integers,
    truth: Integers,
    answers: int,
    cut: int,
    *,
    threads: int | None = None,
) -> Integers:
    """For each answer a row: min(cut, steps to the nearest node whose ``truth`` it is).

    The largest number of the type means that there is no such node in reach. Each search ends at
    ``cut``, so if regions are wider than that, the cost is that of filling the rows.
    """
    size, kind = len(truth), margin_type(cut)
    found = np.empty((answers, size), dtype=kind)
    none, limit = kind(np.iinfo(kind).max), kind(cut)
    component = np.full(size, UNSEEN)
    queue = np.empty(size, dtype=targets.dtype)
    count = int(_run(kernels.components, offsets, targets, component, UNSEEN, queue))

    def fill(answer: int) -> None:
        front, reached = np.empty(size, targets.dtype), np.empty(count, dtype=np.bool_)
        filled = int(kernels.select(truth, truth.dtype.type(answer), front))
        kernels.prepare_margins(component, reached, front, filled, limit, none, found[answer])
        kernels.search(offsets, targets, found[answer], limit, front, filled, np.uint64(cut))

    row, no_front = np.empty(0, kind), np.empty(0, targets.dtype)
    _ready(kernels.select, truth, truth.dtype.type(0), queue)
    _ready(kernels.prepare_margins, component, np.empty(0, np.bool_), queue, 0, limit, none, row)
    _ready(kernels.search, offsets, targets, row, limit, no_front, 0, np.uint64(cut))
    with _workers(threads) as work:
        for _ in track(work(fill, range(answers)), answers, "margins"):
            pass
    return found


def carried(
    offsets: Integers,
    targets: Integers,
    truth: Integers,
    answer: int,
    sources: Integers,
    values: Floats,
    step: Step,
    least: float = 0.0,
) -> Floats:
    """What each node gets of ``values`` that are carried outward, as in ``sweep``."""
    found = np.zeros(len(truth))
    queue = np.empty(len(truth), dtype=targets.dtype)
    _carry(offsets, targets, truth, answer, sources, values, step, least, found, queue)
    return found


def carried_sum(
    offsets: Integers,
    targets: Integers,
    truth: Integers,
    sources: Integers,
    values: Floats,
    step: Step,
    least: float = 0.0,
) -> Floats:
    """``carried`` summed over all answers; nodes out of reach cost nothing."""
    found, total = np.zeros(len(truth)), np.zeros(len(truth))
    queue = np.empty(len(truth), dtype=targets.dtype)
    if not len(sources):
        return total
    at = truth[sources]
    order = np.lexsort((-values, at))
    sources, values, at = sources[order], values[order], at[order]
    answers, starts = np.unique(at, return_index=True)
    for answer, start, stop in zip(answers, starts, [*starts[1:], len(at)], strict=True):
        piece = sources[start:stop], values[start:stop]
        reached = _carry(
            offsets, targets, truth, int(answer), *piece, step, least, found, queue, ordered=True
        )
        _run(kernels.collect, found, queue, reached, total)
    return total


def _carry(
    offsets: Integers,
    targets: Integers,
    truth: Integers,
    answer: int,
    sources: Integers,
    values: Floats,
    step: Step,
    least: float,
    found: Floats,
    queue: Integers,
    ordered: bool = False,
) -> int:
    if not ordered:
        order = np.argsort(-values, kind="stable")
        sources, values = sources[order], values[order]
    own = truth.dtype.type(answer)
    given = (offsets, targets, truth, own, sources, values, *step, float(least))
    return int(_run(kernels.carry, *given, found, queue))


def extents(
    region: Integers, depth: NDArray[np.int32], regions: int
) -> tuple[Integers, Integers, Integers]:
    """For each region its number of nodes, largest depth (or −1), and nodes at depth −1."""
    sizes, endless = np.zeros(regions, dtype=np.int64), np.zeros(regions, dtype=np.int64)
    deepest = np.full(regions, -1, dtype=np.int32)
    _run(kernels.measure, region, depth, sizes, deepest, endless)
    return sizes, deepest, endless


def touching(
    offsets: Integers, targets: Integers, region: Integers, regions: int
) -> NDArray[np.int64]:
    """The pairs of regions joined by an edge, each once, smaller number first, in order."""
    codes = np.sort(_run(kernels.pair_codes, offsets, targets, region, np.uint64(regions)))
    return np.stack([codes // np.uint64(regions), codes % np.uint64(regions)], axis=1).astype(
        np.int64
    )


def refine(classes: Integers, values: Integers) -> tuple[Integers, Integers]:
    """The classes of nodes that agree in class and value, and the first node of each class."""
    refined = classes.astype(np.uint32)
    base = np.uint64(int(values.max(initial=0)) + 1)
    return refined, _run(kernels.refine_classes, refined, values, base)


# --- the two searches -------------------------------------------------------------------------

Work: TypeAlias = Callable[[Callable[..., Any], Any], Iterator[Any]]  # map, on threads


def _marked(offsets: Integers, targets: Integers, region: Integers, work: Work) -> Integers:
    """0 on the boundary, the unseen mark elsewhere."""
    steps = np.empty(len(region), dtype=np.uint32)
    given = (offsets, targets, region, steps, UNSEEN)
    _ready(kernels.mark_boundary, *given, 0, 0)
    list(work(lambda piece: kernels.mark_boundary(*given, *piece), _split(len(region))))
    return steps


def _search_regions(
    offsets: Integers,
    targets: Integers,
    region: Integers,
    regions: int,
    steps: Integers,
    work: Work,
) -> None:
    counts = index_type(len(region))
    sizes, starts = np.zeros(regions, dtype=counts), np.zeros(regions + 1, dtype=counts)
    _run(kernels.count_regions, region, steps, sizes, starts)
    heads = np.empty(int(starts[-1]), dtype=targets.dtype)
    _run(kernels.list_boundaries, region, steps, starts[:-1].copy(), heads)
    given = (offsets, targets, steps, UNSEEN, heads, starts)

    def search(piece: tuple[int, int]) -> None:
        queue = np.empty(int(sizes[slice(*piece)].max(initial=0)), dtype=targets.dtype)
        kernels.search_regions(*given, queue, *piece)

    _ready(kernels.search_regions, *given, heads, 0, 0)
    list(work(search, _split_evenly(sizes)))


def _search_levels(
    offsets: Integers, targets: Integers, steps: Integers, work: Work, switch: float
) -> None:
    queue = np.empty(len(steps), dtype=targets.dtype)
    filled = int(_run(kernels.select, steps, np.uint32(0), queue))
    front = int(_run(kernels.count_edges, offsets, queue, filled))
    left = len(targets) - front
    waiting = np.empty(len(steps) - filled, dtype=targets.dtype)
    _run(kernels.select, steps, UNSEEN, waiting)
    pieces, level = _split(len(waiting)), 1
    given = (offsets, targets, steps, UNSEEN)
    _ready(kernels.bottom_up, *given, waiting, 0, 0, 0)

    def look_up(piece: tuple[int, int]) -> tuple[int, int]:
        kept, edges = kernels.bottom_up(*given, waiting, *piece, level)
        return int(kept), int(edges)

    while front:
        if front * switch > left:
            found = list(work(look_up, pieces))
            pieces = [(first, kept) for (first, _), (kept, _) in zip(pieces, found, strict=True)]
            front, level = sum(edges for _, edges in found), level + 1
            left -= front
        else:
            filled = int(_run(kernels.select, steps, np.uint32(level - 1), queue))
            reached = _run(kernels.top_down, *given, queue, filled, level, left, switch)
            level, front, left = (int(number) for number in reached)


# --- threads and compiling --------------------------------------------------------------------


@contextmanager
def _workers(threads: int | None) -> Iterator[Work]:
    count = threads if threads is not None else _cores()
    if count == 1:
        yield map
        return
    with ThreadPoolExecutor(count) as pool:
        yield pool.map


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _split(size: int) -> Pieces:
    """0 to ``size`` in pieces."""
    count = max(1, min(PIECES * _cores(), size >> 12))
    return list(pairwise(np.linspace(0, size, count + 1).astype(np.int64).tolist()))


def _split_evenly(sizes: Integers) -> Pieces:
    """The regions in runs of about equal numbers of nodes."""
    ends = np.cumsum(sizes, dtype=np.int64)
    count = max(1, min(PIECES * _cores(), len(sizes)))
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], count + 1)[1:-1]) + 1
    marks = np.unique(np.concatenate([[0], cuts, [len(sizes)]]))
    return list(pairwise(marks.tolist()))


def _run(kernel: Any, *arguments: Any) -> Any:
    _ready(kernel, *arguments)
    return kernel(*arguments)


def _ready(kernel: Any, *arguments: Any) -> None:
    """Compile ``kernel`` for these types now, or load it, so that threads find it ready."""
    kinds = tuple(map(_typeof, arguments))
    if kinds not in kernel.overloads:
        with announced("rainbowdp: compiling the graph search for this machine (only once)"):
            kernel.compile(kinds)

"""Loops over compressed rows that Numba compiles, once for each combination of types.

Indices are unsigned throughout: a signed index makes Numba add code for counting from the end.
Arrays of steps are unsigned as well, with ``unseen`` for what no search has reached.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rainbowdp.numeric.compiling import kernel

U = np.uint64
ONE = U(1)
FAR, MIDDLE, NEAR = U(32), U(16), U(8)  # how far ahead a search asks for memory
SHORT = U(24)  # a row up to this length is sorted by insertion
EMPTY = U(0xFFFFFFFFFFFFFFFF)
MIXER = U(0x9E3779B97F4A7C15)


def _prefetch(_: Any, array: Any, place: Any) -> Any:
    """Ask for ``array[place]`` before it is needed; a wrong place is harmless."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        address = builder.bitcast(builder.gep(view.data, [arguments[1]]), byte)
        builder.call(ask, [address, number(0), number(3), number(1)])  # read, keep, data
        return context.get_dummy_value()

    return types.void(array, place), generate


prefetch: Any = intrinsic(_prefetch)


# --- compressing ------------------------------------------------------------------------------


@kernel
def count_ends(first: Any, second: Any, offsets: Any) -> None:
    """Add to ``offsets[a]`` the number of ends at node a, loops left out, and sum them up."""
    for i in range(len(first)):
        if first[i] != second[i]:
            offsets[first[i]] += 1
            offsets[second[i]] += 1
    for node in range(ONE, U(len(offsets))):
        offsets[node] += offsets[node - ONE]


@kernel
def place_ends(first: Any, second: Any, offsets: Any, targets: Any) -> None:
    """Counting sort: each row is filled from its end, so that ``offsets`` end at its start."""
    for i in range(len(first)):
        a, b = first[i], second[i]
        if a != b:
            offsets[a] -= 1
            targets[offsets[a]] = b
            offsets[b] -= 1
            targets[offsets[b]] = a


@kernel
def tidy(offsets: Any, targets: Any) -> int:
    """Sort each row, drop repeats, close the gaps; how many targets are left."""
    kept = U(0)
    start = U(offsets[0])
    for node in range(U(len(offsets) - 1)):
        stop = U(offsets[node + ONE])
        if stop - start <= SHORT:
            for i in range(start + ONE, stop):
                value: Any = targets[i]
                j = U(i)
                while j > start and targets[j - ONE] > value:
                    targets[j] = targets[j - ONE]
                    j -= ONE
                targets[j] = value
        else:
            targets[start:stop].sort()
        offsets[node] = kept
        for i in range(start, stop):
            if i == start or targets[i] != targets[kept - ONE]:
                targets[kept] = targets[i]
                kept += ONE
        start = stop
    offsets[U(len(offsets) - 1)] = kept
    return kept  # type: ignore[return-value]  # unsigned, an int to Python's callers


# --- values carried outward -------------------------------------------------------------------


@kernel
def carry(
    offsets: Any,
    targets: Any,
    truth: Any,
    answer: Any,
    sources: Any,
    values: Any,
    each: float,
    factor: float,
    least: float,
    found: Any,
    queue: Any,
) -> int:
    """Carry ``values``, sorted from above, outward from ``sources``; how many nodes are reached.

    A step takes x to ⌈(x − each)·factor⌉. All edges shrink alike, so what arrives is sorted too,
    and two sorted queues are merged: whatever reaches a node first is the largest. ``found`` must
    be 0 everywhere; the nodes reached are listed in ``queue``.
    """
    filled, front, sent, count = U(0), U(0), U(0), U(len(sources))
    while front < filled or sent < count:
        if front < filled and (sent == count or found[queue[front]] >= values[sent]):
            node = U(queue[front])
            value = found[node]
            front += ONE
        else:
            node = U(sources[sent])
            value = values[sent]
            sent += ONE
        if value <= least:
            break
        passed = np.ceil((value - each) * factor)
        if passed <= 0.0:
            break
        for edge in range(U(offsets[node]), U(offsets[node + ONE])):
            other = U(targets[edge])
            if truth[other] != answer and found[other] == 0.0:
                found[other] = passed
                queue[filled] = other
                filled += ONE
    return filled  # type: ignore[return-value]  # unsigned, an int to Python's callers


@kernel
def collect(found: Any, queue: Any, filled: int, total: Any) -> None:
    """Add what was found to ``total``, and leave ``found`` at 0."""
    for place in range(U(filled)):
        node = U(queue[place])
        total[node] += found[node]
        found[node] = 0.0


# --- boundary and depth -----------------------------------------------------------------------


@kernel
def mark_boundary(
    offsets: Any, targets: Any, region: Any, steps: Any, unseen: Any, first: int, last: int
) -> None:
    """0 for the nodes from ``first`` to ``last`` with a neighbor elsewhere, else ``unseen``."""
    for node in range(U(first), U(last)):
        own = region[node]
        steps[node] = unseen
        for edge in range(U(offsets[node]), U(offsets[node + ONE])):
            if region[targets[edge]] != own:
                steps[node] = 0
                break


@kernel
def count_regions(region: Any, steps: Any, sizes: Any, starts: Any) -> None:
    """Nodes of each region, and where its boundary begins in a list of all boundaries."""
    for node in range(U(len(region))):
        number = U(region[node])
        sizes[number] += 1
        if steps[node] == 0:
            starts[number + ONE] += 1
    for place in range(U(len(sizes))):
        starts[place + ONE] += starts[place]


@kernel
def list_boundaries(region: Any, steps: Any, ends: Any, heads: Any) -> None:
    """The boundary nodes region by region; ``ends`` move from each start to each end."""
    for node in range(U(len(region))):
        if steps[node] == 0:
            number = U(region[node])
            heads[ends[number]] = node
            ends[number] += 1


@kernel
def search(
    offsets: Any, targets: Any, steps: Any, unseen: Any, queue: Any, filled: Any, cut: Any
) -> None:
    """Breadth first from the ``filled`` nodes of ``queue``, to fewer than ``cut`` steps.

    While one node is looked at, the offsets, the row and the neighbors' steps of later ones
    are on their way from memory.
    """
    head, tail, level = U(0), U(filled), U(0)
    while head < tail:
        level += ONE
        if level >= cut:
            return
        stop = tail
        while head < stop:
            if head + FAR < tail:
                prefetch(offsets, U(queue[head + FAR]))
                prefetch(targets, U(offsets[queue[head + MIDDLE]]))
                soon = U(queue[head + NEAR])
                for edge in range(U(offsets[soon]), U(offsets[soon + ONE])):
                    prefetch(steps, U(targets[edge]))
            node = U(queue[head])
            head += ONE
            for edge in range(U(offsets[node]), U(offsets[node + ONE])):
                near = targets[edge]
                if steps[near] == unseen:
                    steps[near] = level
                    queue[tail] = near
                    tail += ONE


@kernel
def search_regions(
    offsets: Any,
    targets: Any,
    steps: Any,
    unseen: Any,
    heads: Any,
    starts: Any,
    queue: Any,
    first: int,
    last: int,
) -> None:
    """Depth in the regions from ``first`` to ``last``, one by one: a front that stays in cache."""
    for number in range(U(first), U(last)):
        filled = U(0)
        for place in range(U(starts[number]), U(starts[number + ONE])):
            queue[filled] = heads[place]
            filled += ONE
        search(offsets, targets, steps, unseen, queue, filled, EMPTY)


# --- depth level by level, for dense graphs ---------------------------------------------------


@kernel
def select(steps: Any, value: Any, nodes: Any) -> int:
    """Write the nodes with this number of steps into ``nodes``; how many they are."""
    count = U(0)
    for node in range(U(len(steps))):
        if steps[node] == value:
            nodes[count] = node
            count += ONE
    return count  # type: ignore[return-value]  # unsigned, an int to Python's callers


@kernel
def count_edges(offsets: Any, nodes: Any, count: int) -> int:
    """How many directed edges leave the first ``count`` of ``nodes``."""
    total = U(0)
    for place in range(U(count)):
        node = U(nodes[place])
        total += U(offsets[node + ONE]) - U(offsets[node])
    return total  # type: ignore[return-value]  # unsigned, an int to Python's callers


@kernel
def bottom_up(
    offsets: Any,
    targets: Any,
    steps: Any,
    unseen: Any,
    waiting: Any,
    first: int,
    last: int,
    level: int,
) -> tuple[int, int]:
    """Each waiting node looks for a neighbor one level up; where the list then ends, and the
    number of edges of the nodes found.
    """
    kept, edges, above, here = U(first), U(0), U(level - 1), U(level)
    for place in range(U(first), U(last)):
        node = U(waiting[place])
        if steps[node] != unseen:  # found by a search in the other direction
            continue
        start, stop = U(offsets[node]), U(offsets[node + ONE])
        edge = start
        while edge < stop and U(steps[targets[edge]]) != above:
            edge += ONE
        if edge < stop:
            steps[node] = here
            edges += stop - start
        else:
            waiting[kept] = node
            kept += ONE
    return kept, edges  # type: ignore[return-value]  # unsigned, ints to Python's callers


@kernel
def top_down(
    offsets: Any,
    targets: Any,
    steps: Any,
    unseen: Any,
    queue: Any,
    filled: int,
    level: int,
    waiting: int,
    switch: float,
) -> tuple[int, int, int]:
    """Levels from ``level`` on, the front in ``queue``, until none is left or the other way pays.

    Returns the next level, the edges of its front (0 at the end) and of the nodes unseen.
    """
    head, tail, here, left = U(0), U(filled), U(level), U(waiting)
    while True:
        stop, edges = tail, U(0)
        while head < stop:
            node = U(queue[head])
            head += ONE
            for edge in range(U(offsets[node]), U(offsets[node + ONE])):
                near = U(targets[edge])
                if steps[near] == unseen:
                    steps[near] = here
                    queue[tail] = near
                    tail += ONE
                    edges += U(offsets[near + ONE]) - U(offsets[near])
        here += ONE
        left -= edges
        if tail == stop or float(edges) * switch > float(left):
            return here, edges, left  # type: ignore[return-value]  # unsigned, as above


# --- margins, extents, pairs, classes ---------------------------------------------------------


@kernel
def components(offsets: Any, targets: Any, component: Any, unseen: Any, queue: Any) -> int:
    """Number the connected components of a graph of ``unseen`` nodes; how many there are."""
    count = U(0)
    for root in range(U(len(component))):
        if component[root] != unseen:
            continue
        component[root] = count
        queue[0] = root
        head, tail = U(0), ONE
        while head < tail:
            node = U(queue[head])
            head += ONE
            for edge in range(U(offsets[node]), U(offsets[node + ONE])):
                near = targets[edge]
                if component[near] == unseen:
                    component[near] = count
                    queue[tail] = near
                    tail += ONE
        count += ONE
    return count  # type: ignore[return-value]  # unsigned, an int to Python's callers


@kernel
def prepare_margins(
    component: Any, reached: Any, queue: Any, filled: int, cut: Any, none: Any, row: Any
) -> None:
    """Fill ``row``: 0 at the nodes of ``queue``, ``cut`` in their components, else ``none``."""
    reached[:] = False
    for place in range(U(filled)):
        reached[component[queue[place]]] = True
    for node in range(U(len(row))):
        row[node] = cut if reached[component[node]] else none
    for place in range(U(filled)):
        row[queue[place]] = 0


@kernel
def measure(region: Any, depth: Any, sizes: Any, deepest: Any, endless: Any) -> None:
    """Size, largest depth and number of nodes without depth, for each region."""
    for node in range(U(len(region))):
        number = U(region[node])
        sizes[number] += 1
        deepest[number] = max(deepest[number], depth[node])
        endless[number] += depth[node] < 0


@kernel
def find_slot(slots: Any, code: Any) -> Any:
    """Where ``code`` is in a hash table of a power of two slots, or would be."""
    mask = U(len(slots) - 1)
    place = ((code * MIXER) >> U(20)) & mask
    while slots[place] != EMPTY and slots[place] != code:
        place = (place + ONE) & mask
    return place


@kernel
def pair_codes(offsets: Any, targets: Any, region: Any, regions: Any) -> Any:
    """The codes a·regions + b, a < b, of the pairs of regions that an edge joins, each once."""
    slots, used, latest = np.full(1024, EMPTY, np.uint64), 0, EMPTY
    for node in range(U(len(offsets) - 1)):
        own = U(region[node])
        for edge in range(U(offsets[node]), U(offsets[node + ONE])):
            other = U(region[targets[edge]])
            code = own * regions + other
            if own >= other or code == latest:
                continue
            latest = code
            place = find_slot(slots, code)
            if slots[place] == EMPTY:
                slots[place] = code
                used += 1
                if 2 * used > len(slots):
                    wider = np.full(2 * len(slots), EMPTY, np.uint64)
                    for old in slots:
                        if old != EMPTY:
                            wider[find_slot(wider, old)] = old
                    slots = wider
    return slots[slots != EMPTY]


@kernel
def refine_classes(classes: Any, values: Any, base: Any) -> Any:
    """Renumber ``classes`` by (class, value) in order of appearance; the first node of each."""
    slots, numbers = np.full(1024, EMPTY, np.uint64), np.empty(1024, np.uint32)
    first, used, latest, place = np.empty(512, np.uint32), U(0), EMPTY, U(0)
    for node in range(U(len(classes))):
        code = U(classes[node]) * base + U(values[node])
        if code != latest:
            place, latest = find_slot(slots, code), code
        if slots[place] == EMPTY:
            slots[place], numbers[place], first[used] = code, used, node
            used += ONE
            if used == U(len(first)):
                wider, moved = (
                    np.full(2 * len(slots), EMPTY, np.uint64),
                    np.empty(2 * len(slots), np.uint32),
                )
                for i in range(U(len(slots))):
                    if slots[i] != EMPTY:
                        spot = find_slot(wider, slots[i])
                        wider[spot], moved[spot] = slots[i], numbers[i]
                slots, numbers = wider, moved
                longer = np.empty(2 * len(first), np.uint32)
                longer[: len(first)] = first
                first = longer
                place = find_slot(slots, code)
        classes[node] = numbers[place]
    return first[:used].copy()

"""Margins on a graph: how far each dataset is from those that prefer each answer."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats
from rainbowdp.errors import RainbowError
from rainbowdp.graphs.engines.measured_plain import FARTHEST
from rainbowdp.graphs.engines.narrow import margin_type, number_type
from rainbowdp.graphs.graph import RainbowGraph


def margins(graph: RainbowGraph) -> Floats:
    """λ: for each dataset and answer the distance to the nearest dataset that prefers it most.

    Columns are in the order of ``graph.answers``; infinite where no such dataset is reachable.
    Cost: one search of the graph for each answer.
    """
    return with_infinity(whole_margins(graph))


def whole_margins(
    graph: RainbowGraph, cut: int | None = None, limit: int | None = None
) -> NDArray[Any]:
    """``margins`` as unsigned numbers cut off at ``cut``; the type's largest number is infinity.

    Cut margins still change by at most 1 between neighbors, or by the steps of an edge with a
    length, which is all that privacy asks of them.
    Cost: ``margin_bytes(graph, cut)`` of memory, refused before any work if that is more than
    ``limit`` (by default half of the machine's memory), and searches that end at ``cut``.
    """
    needed = margin_bytes(graph, cut)
    allowed = limit if limit is not None else half_of_memory()
    if needed > allowed:
        raise RainbowError(
            f"margins of {len(graph):,} datasets to {len(graph.answers):,} answers need "
            f"{needed:,} bytes, more than the limit of {allowed:,}; raise limit or lower cut"
        )
    place = {answer: number for number, answer in enumerate(graph.answers)}
    first = [place[region.rainbow[0]] for region in graph.regions.values()]
    truth = np.array(first, dtype=number_type(len(place) - 1))[graph.region_numbers]
    return graph.margins(truth, len(place), _farthest(graph, cut)).T


def margin_bytes(graph: RainbowGraph, cut: int | None = None) -> int:
    """How much memory ``whole_margins`` takes: its result, and 16 bytes for each dataset."""
    width = np.dtype(margin_type(_farthest(graph, cut))).itemsize
    return len(graph) * (len(graph.answers) * width + 16)


def _farthest(graph: RainbowGraph, cut: int | None) -> int:
    """``cut``, or a number that no distance reaches if that is less."""
    if cut is not None and cut < 1:
        raise RainbowError(f"cut must be at least 1, got cut={cut}")
    if graph.lengths is None:
        farthest = len(graph)
    else:
        farthest = min(len(graph) * int(graph.lengths.max(initial=1)), FARTHEST)
    return farthest if cut is None else min(cut, farthest)


def half_of_memory() -> int:
    """Half of the machine's memory in bytes: the default limit for a table of margins."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError):  # a system that does not say
        return 1 << 32


def with_infinity(whole: NDArray[Any]) -> Floats:
    """Margins as floats, with infinity for the largest number of the type."""
    return np.where(whole == np.iinfo(whole.dtype).max, math.inf, whole)

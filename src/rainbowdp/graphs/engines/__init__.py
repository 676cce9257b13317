"""Boundary, depth and touching regions of a graph in compressed rows, one module per engine.

``plain`` needs nothing but NumPy and serves small graphs; ``compiled`` needs Numba and serves
large ones. Both are an ``Engine`` and give the same results; ``engine`` picks one. The same holds
for ``measured_plain`` and ``measured_compiled``, where edges have lengths; ``measured`` picks.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.graphs.engines import measured_plain, plain, sweep

Integers: TypeAlias = NDArray[Any]  # whole numbers of any width
Floats: TypeAlias = NDArray[np.float64]

LARGE = 1 << 20  # datasets and edges from which loading a compiler pays
MUCH = (
    8 * LARGE
)  # datasets and edges, times answers, from which it pays for a search of each answer


class Engine(Protocol):
    """What an engine does with ``offsets`` and ``targets`` (each edge in both directions)."""

    def compress(self, pairs: Integers, size: int) -> tuple[Integers, Integers]:
        """Offsets and sorted targets of the edges ``pairs``, without loops and repeats."""

    def boundary(self, offsets: Integers, targets: Integers, region: Integers) -> NDArray[np.bool_]:
        """Whether each node has a neighbor in another region."""

    def depths(
        self, offsets: Integers, targets: Integers, region: Integers, regions: int
    ) -> NDArray[np.int32]:
        """Steps from each node to the boundary of its region, −1 if there is none."""

    def distances(
        self, offsets: Integers, targets: Integers, start: NDArray[np.bool_]
    ) -> NDArray[np.int32]:
        """Steps from each node to the nearest node of ``start``, −1 if none is reachable."""

    def margins(
        self, offsets: Integers, targets: Integers, truth: Integers, answers: int, cut: int
    ) -> Integers:
        """For each answer a row: min(cut, steps to the nearest node whose ``truth`` it is).

        The largest number of the type means that there is no such node in reach.
        """

    def extents(
        self, region: Integers, depth: NDArray[np.int32], regions: int
    ) -> tuple[Integers, Integers, Integers]:
        """For each region its number of nodes, largest depth (or −1), and nodes at depth −1."""

    def touching(
        self, offsets: Integers, targets: Integers, region: Integers, regions: int
    ) -> NDArray[np.int64]:
        """The pairs of regions joined by an edge, each once, smaller number first, in order."""

    def refine(self, classes: Integers, values: Integers) -> tuple[Integers, Integers]:
        """The classes of nodes that agree in class and value, and the first node of each class."""


class Measured(Protocol):
    """What an engine does where each edge has a whole length, listed beside ``targets``.

    An edge of length ℓ is ℓ steps, and the border of two regions is in its middle.
    """

    def compress(
        self, pairs: Integers, given: Integers, size: int
    ) -> tuple[Integers, Integers, Integers]:
        """Offsets, sorted targets and lengths, without loops, the shortest of repeats."""

    def depths(
        self,
        offsets: Integers,
        targets: Integers,
        lengths: Integers,
        region: Integers,
        regions: int,
    ) -> NDArray[np.int32]:
        """Steps from each node to the boundary of its region, −1 if there is none."""

    def distances(
        self,
        offsets: Integers,
        targets: Integers,
        lengths: Integers,
        start: NDArray[np.bool_],
    ) -> NDArray[np.int32]:
        """Steps from each node to the nearest node of ``start``, −1 if none is reachable."""

    def margins(
        self,
        offsets: Integers,
        targets: Integers,
        lengths: Integers,
        region: Integers,
        truth: Integers,
        answers: int,
        cut: int,
    ) -> Integers:
        """For each answer a row: min(cut, steps to the nearest place whose ``truth`` it is)."""


class Carrier(Protocol):
    """What carries values outward from the datasets where an answer is true."""

    def carried(
        self,
        offsets: Integers,
        targets: Integers,
        truth: Integers,
        answer: int,
        sources: Integers,
        values: Floats,
        step: tuple[float, float],
        least: float = 0.0,
    ) -> Floats:
        """What each node gets of ``values`` from ``sources``, where ``truth`` is ``answer``.

        A step takes x to ⌈(x − each)·factor⌉, with ``step`` the two. Nothing enters a node whose
        truth is the answer, and what has become ``least`` or less need not be carried on.
        """

    def carried_sum(
        self,
        offsets: Integers,
        targets: Integers,
        truth: Integers,
        sources: Integers,
        values: Floats,
        step: tuple[float, float],
        least: float = 0.0,
    ) -> Floats:
        """``carried`` summed over the answers that are true at ``sources``."""


def engine(size: int, searches: int = 1) -> Engine:
    """The engine for a graph whose datasets and edges add up to ``size``, for so many searches."""
    large = size >= LARGE or size * searches >= MUCH
    return (_compiled() or plain) if large else plain


def measured(size: int, searches: int = 1) -> Measured:
    """The engine for edges with lengths; without a compiler a node is visited several times."""
    large = size >= LARGE // 4 or size * searches >= MUCH // 4
    return (_compiled_lengths() or measured_plain) if large else measured_plain


def carrier(size: int) -> Carrier:
    """What carries values, many times, where datasets and edges, times answers, are ``size``."""
    return (_compiled() or sweep) if size >= MUCH // 64 else sweep


@cache
def _compiled() -> Any:
    try:
        from rainbowdp.graphs.engines import compiled
    except ImportError:  # no Numba for this Python or this machine: slower, and right
        return None
    return compiled


@cache
def _compiled_lengths() -> Any:
    if _compiled() is None:
        return None
    from rainbowdp.graphs.engines import measured_compiled

    return measured_compiled

"""What a mechanism needs to know of a graph that is too large for memory.

A count for each region and depth, and the touching pairs. That is the boundary graph; the optimal
mechanism of the whole graph is the pullback of the one on it (theory, Theorem 3). So the mechanism
is made in memory, and a dataset's row is that of its region and depth.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from rainbowdp.aliases import Label
from rainbowdp.graphs.edges import Edges
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.mechanisms.design import default_boundary
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.optimal import optimal_on_graph


@dataclass(frozen=True)
class LeveledRegion:
    """What is known of a region.

    Attributes
    ----------
    size
        The number of its datasets.
    boundary
        The number of those on the boundary.
    deepest
        The largest finite depth; None for a region without a boundary.
    unbounded
        The number of datasets in components without a boundary.

    """

    size: int
    boundary: int
    deepest: int | None
    unbounded: int


@dataclass(frozen=True, kw_only=True)
class Leveled:
    """The small results of a search elsewhere, from which the mechanism is made in memory.

    Attributes
    ----------
    counts
        How many datasets each (region, depth) has; the depth may be ``math.inf``.
    touching
        The pairs of regions joined by an edge, each once.
    limit
        The depth at which the search was told to stop, if it was.
    capped
        For each region that is deeper than the limit, how many of its datasets got the limit as
        their depth. That is private: they answer by the row at the limit, as do all datasets around
        them, and the next shallower row is one step away.
    unit, measure
        The length of one step and what it is measured in, where depths go by length. A depth may
        then have no dataset, and has a place in the boundary graph even so.

    """

    counts: Mapping[tuple[Label, float], int] = field(repr=False)
    touching: tuple[tuple[Label, Label], ...] = field(repr=False)
    limit: int | None = None
    capped: Mapping[Label, int] = field(default_factory=dict)
    unit: Fraction | None = None
    measure: str = ""

    @property
    def regions(self) -> dict[Label, LeveledRegion]:
        """The regions by label, in the order of ``counts``."""
        lines: dict[Label, dict[float, int]] = {}
        for (label, depth), count in self.counts.items():
            lines.setdefault(label, {})[depth] = count
        return {label: self._region(label, line) for label, line in lines.items()}

    def _region(self, label: Label, line: Mapping[float, int]) -> LeveledRegion:
        finite = [int(depth) for depth in line if depth < math.inf]
        boundary = line.get(0, 0) - (self.capped.get(label, 0) if self.limit == 0 else 0)
        return LeveledRegion(
            size=sum(line.values()),
            boundary=boundary,
            deepest=max(finite, default=None),
            unbounded=line.get(math.inf, 0),
        )

    def boundary_graph(
        self, rainbows: Mapping[Label, Sequence[Any]], answers: Sequence[Any] | None = None
    ) -> RainbowGraph:
        """The boundary graph: datasets (region, depth), with the rainbow of each region.

        Parameters
        ----------
        rainbows
            The preference order of each region.
        answers
            The order in which answers are listed; by default that of the first rainbow.

        Returns
        -------
        RainbowGraph
            A small graph in memory.

        """
        names: list[tuple[Label, float]] = []
        links: list[tuple[int, int]] = []
        head: dict[Label, int] = {}
        for label, region in self.regions.items():
            if region.deepest is not None:
                first = head[label] = len(names)
                names += [(label, depth) for depth in range(region.deepest + 1)]
                links += itertools.pairwise(range(first, len(names)))
            if region.unbounded:
                names.append((label, math.inf))
        links += [(head[a], head[b]) for a, b in self.touching]
        pairs = np.array(links, dtype=np.int64).reshape(-1, 2)
        edges = Edges(pairs, names, unit=self.unit, measure=self.measure)
        return RainbowGraph(edges, rainbows, answers, labels=[label for label, _ in names])

    def optimal(
        self,
        rainbows: Mapping[Label, Sequence[Any]],
        guarantee: TradeOffCurve,
        boundary: Any = None,
        answers: Sequence[Any] | None = None,
    ) -> Mechanism:
        """The optimal mechanism, on the boundary graph: its datasets are (region, depth).

        Parameters
        ----------
        rainbows
            The preference order of each region.
        guarantee
            What is promised between neighbors.
        boundary
            As in ``rb.optimal``. If it is designed, every dataset of the whole graph counts.
        answers
            The order in which answers are listed; by default that of the first rainbow.

        Returns
        -------
        Mechanism
            The mechanism, whose rows are those of the whole graph by region and depth.

        """
        graph, promise = self.boundary_graph(rainbows, answers), curve_of(guarantee, "optimal")
        if boundary is None:
            finite = {
                (r, int(depth)): n for (r, depth), n in self.counts.items() if depth < math.inf
            }
            boundary = default_boundary(graph, promise, finite)
        return optimal_on_graph(graph, promise, boundary)

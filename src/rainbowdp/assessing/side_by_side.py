"""How mechanisms on one graph do, each measured in one pass over its rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats
from rainbowdp.assessing.assess import Loss
from rainbowdp.assessing.blocks import blocks, on_graph
from rainbowdp.graphs.engines.narrow import number_type
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.truth import true_answers
from rainbowdp.mechanisms.worths import Worths


@dataclass(frozen=True)
class Measured:
    """How one mechanism does on the compared datasets."""

    chances: Floats
    error: float
    value: float
    loss: Loss | None


@dataclass(frozen=True, eq=False)
class Scene:
    """The compared datasets: what is true there, what it is worth, how far everything is."""

    graph: RainbowGraph
    positions: NDArray[Any]
    worths: Worths
    distances: NDArray[Any] | None
    within: tuple[float, ...]
    truth: NDArray[Any]
    margin: Floats

    @classmethod
    def of(
        cls,
        graph: RainbowGraph,
        positions: NDArray[Any],
        worths: Worths,
        distances: NDArray[Any] | None = None,
        within: Iterable[float] = (),
    ) -> Scene:
        """The scene of ``positions``; one search finds the nearest rival of all datasets."""
        truth = true_answers(graph)
        return cls(
            graph,
            positions,
            worths,
            distances,
            tuple(float(x) for x in within),
            truth[positions],
            nearest_rival(graph)[positions],
        )

    def measured(self, mechanism: Any) -> Measured:
        """How a mechanism does here."""
        found = on_graph(mechanism)
        size = len(self.positions)
        chances, value, distance, nearest = np.empty(size), np.empty(size), 0.0, 0.0
        near = np.zeros(len(self.within))
        counts = self.counts
        for part, rows in blocks(found, self.positions):
            places = self.positions[part]
            chances[part] = rows[np.arange(len(rows)), self.truth[part]]
            value[part] = np.einsum("dv,dv->d", rows, self.worths.at(places), dtype=np.float64)
            if self.distances is None:
                continue
            away, mass = self.distances[places], counts[part]
            reached = np.where(np.isinf(away) & (rows == 0), 0.0, away)
            distance += float(np.einsum("dv,dv->d", rows, reached) @ mass)
            nearest += float(away.min(axis=1) @ mass)
            for number, x in enumerate(self.within):
                near[number] += float((rows * (away <= x)).sum(axis=1) @ mass)
        right = float(chances @ counts)
        lost = None
        if self.distances is not None:
            listed = dict(zip(self.within, near.tolist(), strict=True))
            lost = Loss(right, distance, nearest, listed)
        return Measured(chances, 1 - right, float(value @ counts), lost)

    @property
    def counts(self) -> Floats:
        """What each compared dataset counts; 1 together."""
        if self.worths.weights is None:
            return np.full(len(self.positions), 1 / len(self.positions))
        weights = self.worths.weights[self.positions]
        total = weights.sum()
        found: Floats = weights / total if total > 0 else np.full(len(weights), 1 / len(weights))
        return found

    def least(self, chances: Floats) -> dict[int, float]:
        """The least chance at each finite margin."""
        finite = np.isfinite(self.margin)
        if not finite.any():
            return {}
        whole = self.margin[finite].astype(np.int64)
        found = np.full(int(whole.max()) + 1, math.inf)
        np.minimum.at(found, whole, chances[finite])
        return {int(m): float(found[m]) for m in np.flatnonzero(np.isfinite(found))}


def nearest_rival(graph: RainbowGraph) -> Floats:
    """The margin of the nearest rival: steps to the nearest dataset with another first choice.

    That dataset is just beyond the border of those with the same first choice, so it is one more
    than the depth in the graph whose regions are first choices.
    """
    truth = true_answers(graph)
    kind = number_type(max(1, len(graph.answers) - 1))
    offsets, targets = graph.compressed
    depths = graph._engine.depths(offsets, targets, truth.astype(kind), len(graph.answers))
    return np.where(depths < 0, math.inf, depths + 1.0)

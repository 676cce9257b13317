"""Where a figure puts things: the places of datasets, and regions around a circle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Dataset, Floats
from rainbowdp.errors import RainbowError
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.layout import layout
from rainbowdp.plots.style import Positions

MOST = 2_000  # datasets; beyond it a drawing of discs says nothing


def placed(graph: RainbowGraph, positions: Any) -> Positions:
    """One position for each dataset in their order: those given, or a layout of our own.

    ``positions`` is an (n, 2) array or a mapping from dataset to (x, y).
    """
    if positions is None:
        if len(graph) > MOST:
            raise RainbowError(
                f"a layout takes at most {MOST:,} datasets, got {len(graph):,}; "
                "give positions, or draw a map with plots.regions"
            )
        return layout(graph)
    given: Mapping[Dataset, Sequence[float]] | Any = positions
    try:
        if isinstance(given, Mapping):
            given = [given[dataset] for dataset in graph.datasets]
        found = np.array(given, dtype=np.float64)
    except KeyError as error:
        raise RainbowError(
            f"dataset {error.args[0]!r} has no position; every dataset needs one"
        ) from None
    except (TypeError, ValueError):
        raise RainbowError("positions must be pairs of numbers, got something else") from None
    if found.shape != (len(graph), 2) or not np.isfinite(found).all():
        raise RainbowError(
            f"positions must be a finite pair (x, y) for each of the {len(graph)} datasets, "
            f"got an array of shape {found.shape}"
        )
    return found


def ring_order(size: int, touching: Sequence[tuple[int, int]]) -> list[int]:
    """An order around a circle in which regions that touch are near each other."""
    if size <= 3 or not touching:
        return list(range(size))
    weights: NDArray[np.float64] = np.zeros((size, size))
    for a, b in touching:
        weights[a, b] = weights[b, a] = 1.0
    order = list(range(size))
    best = _way_round(order, weights)
    for _ in range(size):  # exchange two while that helps: first found, first taken
        before = best
        for i in range(1, size):
            for j in range(i + 1, size):
                order[i], order[j] = order[j], order[i]
                length = _way_round(order, weights)
                if length < best - 1e-12:
                    best = length
                else:
                    order[i], order[j] = order[j], order[i]
        if best == before:
            break
    return order


def _way_round(order: Sequence[int], weights: Floats) -> float:
    place = np.argsort(order)
    apart = np.abs(place[:, None] - place[None, :])
    return float((weights * np.minimum(apart, len(order) - apart)).sum())

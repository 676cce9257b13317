"""Where to put the datasets of a graph: the same graph, the same picture.

A layout minimises *stress*, the sum over pairs of (distance on paper / distance in the graph − 1)²,
from the classical scaling of the distances, with no randomness. Components stand side by side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.errors import RainbowError
from rainbowdp.graph import RainbowGraph
from rainbowdp.growth import Floats
from rainbowdp.plots.style import Positions
from rainbowdp.rainbow import Dataset

MOST = 2_000  # datasets; beyond it a drawing of discs says nothing
_ROUNDS = 150


def placed(graph: RainbowGraph, positions: Any) -> Positions:
    """One position for each dataset in their order: those given, or a layout of our own.

    ``positions`` is an (n, 2) array or a mapping from dataset to (x, y).
    """
    if positions is None:
        return layout(graph)
    given: Mapping[Dataset, Sequence[float]] | Any = positions
    try:
        if isinstance(given, Mapping):
            given = [given[dataset] for dataset in graph.datasets]
        found = np.array(given, dtype=np.float64)
    except KeyError as error:
        raise RainbowError(
            f"every dataset needs a position, got none for dataset {error.args[0]!r}"
        ) from None
    except (TypeError, ValueError):
        raise RainbowError("positions must be pairs of numbers, got something else") from None
    if found.shape != (len(graph), 2) or not np.isfinite(found).all():
        raise RainbowError(
            f"positions must be a finite pair (x, y) for each of the {len(graph)} datasets, "
            f"got an array of shape {found.shape}"
        )
    return found


def layout(graph: RainbowGraph) -> Positions:
    """Positions of least stress, neighbours about 1 apart, the widest way across."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, shortest_path

    size = len(graph)
    if size > MOST:
        raise RainbowError(
            f"a layout is made for at most {MOST:,} datasets, got {size:,}; "
            "give positions, or draw a map with plots.regions"
        )
    first, second = graph.edge_positions().T
    links = csr_array((np.ones(len(first)), (first, second)), shape=(size, size))
    count, component = connected_components(links, directed=False)
    steps = shortest_path(links, directed=False, unweighted=True)
    positions = np.empty((size, 2))
    left = 0.0
    for number in range(count):
        members = np.flatnonzero(component == number)
        part = _turned(_least_stress(steps[np.ix_(members, members)]))
        part[:, 0] += left - part[:, 0].min()
        positions[members] = part
        left = float(part[:, 0].max()) + 1.5
    return positions


def _least_stress(steps: Floats) -> Positions:
    """Stress majorisation: each round can only lower the stress."""
    from scipy.spatial.distance import cdist

    size = len(steps)
    if size == 1:
        return np.zeros((1, 2))
    positions = _classical(steps)
    with np.errstate(divide="ignore"):
        weights = np.where(steps > 0, steps**-2.0, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    pull = np.linalg.pinv(laplacian) if size <= 300 else None
    for _ in range(_ROUNDS):
        lengths = cdist(positions, positions)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(lengths > 0, weights * steps / lengths, 0.0)
        target = ratio.sum(axis=1)[:, None] * positions - ratio @ positions
        if pull is not None:
            moved = pull @ target
        else:  # a Jacobi step in place of the solution
            moved = (target + weights @ positions) / weights.sum(axis=1)[:, None]
        if np.abs(moved - positions).max() < 1e-4:
            break
        positions = np.asarray(moved)
    return positions


def _classical(steps: Floats) -> Positions:
    """The plane in which the distances show best (classical scaling)."""
    squares = steps**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(steps))])
    found = (vectors * signs)[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 0.0))
    # Twins would stay on top of each other for ever; a spiral too small to see parts them.
    turn = np.arange(len(steps)) * 2.399963
    return np.asarray(found + 1e-3 * np.stack([np.cos(turn), np.sin(turn)], axis=1))


def _turned(positions: Positions) -> Positions:
    """The drawing turned so that it fills the smallest upright box, the longer side across."""
    centred = positions - positions.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    upright = centred @ axes[:, ::-1]  # the widest way across, to begin with

    def turned(degrees: float) -> Positions:
        c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        return np.asarray(upright @ np.array([[c, -s], [s, c]]))

    def size(degrees: float) -> tuple[float, float]:
        return round(float(np.prod(np.ptp(turned(degrees), axis=0))), 6), abs(degrees)

    best = turned(min(np.arange(-45.0, 45.5, 0.5).tolist(), key=size))
    best = best if np.ptp(best[:, 0]) >= np.ptp(best[:, 1]) else best[:, ::-1]
    signs = np.where(best[np.abs(best).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    return np.asarray(best * signs)


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

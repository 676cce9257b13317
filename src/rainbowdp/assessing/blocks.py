"""The rows of a mechanism on a graph, some at a time, whoever made it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats
from rainbowdp.errors import RainbowError
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.mechanisms.worths import AnyWeights, worths_of

_CELLS = 1 << 20  # of rows that are made at a time


def on_graph(mechanism: Any) -> Any:
    """What has the rows: a mechanism itself, or the one inside of a choice or a baseline."""
    inner = getattr(mechanism, "mechanism", None)
    found = inner if hasattr(inner, "rows_at") else mechanism
    if not hasattr(found, "rows_at") or not isinstance(getattr(found, "graph", None), RainbowGraph):
        raise RainbowError(
            f"a mechanism on a graph is needed, as rb.best makes it, got {type(mechanism).__name__}"
        )
    return found


def blocks(mechanism: Any, positions: NDArray[Any]) -> Iterator[tuple[slice, Floats]]:
    """The rows at ``positions``, in blocks of moderate size."""
    size = max(1, _CELLS // len(mechanism.graph.answers))
    for start in range(0, len(positions), size):
        part = slice(start, min(start + size, len(positions)))
        yield part, mechanism.rows_at(positions[part])


def prior_of(graph: RainbowGraph, prior: AnyWeights | None) -> Floats:
    """A distribution over the datasets from weights, by default uniform."""
    weights = worths_of(graph, None, prior).weights
    if weights is None:
        return np.full(len(graph), 1 / len(graph))
    found: Floats = weights / weights.sum()
    return found


def by_answer(graph: RainbowGraph, distances: Any) -> NDArray[Any]:
    """Distances from each dataset to what each answer names, checked."""
    found = np.asarray(distances)
    if found.shape != (len(graph), len(graph.answers)):
        raise RainbowError(
            f"distances must have the shape ({len(graph)}, {len(graph.answers)}), by dataset and "
            f"answer, got {found.shape}"
        )
    if found.dtype.kind not in "iuf" or np.isnan(found).any() or (found < 0).any():
        raise RainbowError("distances must be numbers from 0, but some are not")
    return found

"""Reading the edges of a graph in whatever form people have them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.errors import InvalidGraph


@dataclass(frozen=True)
class Edges:
    """Pairs of positions (with ``names``: the node at each position) or pairs of bare names."""

    pairs: NDArray[Any] | list[tuple[Hashable, Hashable]]
    names: Sequence[Hashable] | None = None


def read_edges(edges: Any) -> Edges:
    """Edges from pairs, an (m, 2) array, a SciPy sparse matrix or a graph of another library.

    Directed graphs are read as undirected, since being neighbours is mutual. igraph vertices go
    by their ``name`` if they have one; rustworkx nodes by their payloads where these are
    distinct and hashable, otherwise by their indices.
    """
    libraries = {base.__module__.partition(".")[0] for base in type(edges).__mro__}
    if "networkx" in libraries:
        names = list(edges.nodes)
        return Edges(_positions(edges.edges(), names), names)
    if "igraph" in libraries:
        has_names = "name" in edges.vs.attributes()
        vertices = edges.vs["name"] if has_names else range(edges.vcount())
        if not all(isinstance(name, Hashable) for name in vertices):
            raise InvalidGraph("names of vertices must be hashable, got some that are not")
        if len(set(vertices)) != len(vertices):
            twice = next(name for name in vertices if list(vertices).count(name) > 1)
            raise InvalidGraph(f"vertices must have distinct names, got {twice!r} twice")
        return Edges(_array(edges.get_edgelist()), vertices)
    if "rustworkx" in libraries:
        indices = list(edges.node_indices())
        return Edges(_positions(edges.edge_list(), indices), _payloads(edges.nodes(), indices))
    if hasattr(edges, "tocoo"):
        matrix = edges.tocoo()
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InvalidGraph(f"an adjacency matrix must be square, got shape {matrix.shape}")
        kept = matrix.data != 0
        return Edges(np.stack([matrix.row[kept], matrix.col[kept]], axis=1), range(matrix.shape[0]))
    if isinstance(edges, np.ndarray):
        if edges.size == 0:
            return Edges(np.empty((0, 2), dtype=np.int64))
        if edges.ndim != 2 or edges.shape[1] != 2:
            raise InvalidGraph(f"an edge array must have two columns, got shape {edges.shape}")
        return Edges(edges) if edges.dtype.kind in "iu" else Edges(_pairs(edges.tolist()))
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise InvalidGraph(f"edges must be pairs of datasets, an array or a graph, got {edges!r}")
    return Edges(_pairs(edges))


def _pairs(edges: Iterable[Any]) -> list[tuple[Hashable, Hashable]]:
    pairs = []
    for edge in edges:
        if isinstance(edge, str) or not isinstance(edge, Iterable) or len(ends := tuple(edge)) != 2:
            raise InvalidGraph(f"an edge must be a pair of datasets, got {edge!r}")
        pairs.append((ends[0], ends[1]))
    return pairs


def _array(pairs: Iterable[Any]) -> NDArray[np.int64]:
    return np.array([tuple(pair) for pair in pairs], dtype=np.int64).reshape(-1, 2)


def _positions(pairs: Iterable[Any], names: Sequence[Hashable]) -> NDArray[np.int64]:
    place = {name: position for position, name in enumerate(names)}
    return _array((place[a], place[b]) for a, b, *_ in pairs)


def _payloads(payloads: Iterable[Any], indices: Sequence[int]) -> Sequence[Hashable]:
    listed = list(payloads)
    try:
        return listed if len(set(listed)) == len(listed) else indices
    except TypeError:
        return indices

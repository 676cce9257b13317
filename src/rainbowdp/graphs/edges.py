"""Read the edges of a graph in whatever form people have them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from rainbowdp.errors import InvalidGraph
from rainbowdp.expecting import brief, hashable

_SPARSE = 8  # ids spread wider than this many times their number are sorted, not marked


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a graph, as read from a file, an array or another library's graph.

    Attributes
    ----------
    pairs
        Pairs of positions in ``names``, or pairs of bare names if ``names`` is None.
    names
        The node at each position.
    weights
        The weights or lengths of the edges, if they have any.
    steps
        The lengths in whole units, once ``rb.with_lengths`` has said that they count.
    unit
        The length of one step.
    measure
        What lengths are measured in, such as ``"m"``.
    written
        Whether weights are decimals from a text file, which floats spell back; None where a
        decimal has too many digits for that.

    """

    pairs: NDArray[Any] | list[tuple[Hashable, Hashable]]
    names: Sequence[Hashable] | None = None
    weights: NDArray[Any] | None = None
    steps: NDArray[np.uint32] | None = None
    unit: Fraction | None = None
    measure: str = ""
    written: bool | None = False

    def __repr__(self) -> str:
        nodes = "" if self.names is None else f"{len(self.names)} nodes, "
        weighted = "" if self.weights is None else ", weighted"
        if self.steps is not None:
            assert self.unit is not None
            weighted = f", lengths in steps of {length_in_words(self.unit, self.measure)}"
        return f"Edges({nodes}{len(self.pairs)} edges{weighted})"


def length_in_words(length: Fraction, measure: str) -> str:
    """A length with its measure: ``12.5 m``.

    >>> length_in_words(Fraction(25, 2), "m"), length_in_words(Fraction(10), "")
    ('12.5 m', '10')
    """
    decimal = f"{float(length):.12g}"
    shown = decimal if Fraction(decimal) == length else str(length)
    return f"{shown} {measure}".rstrip()


class Ids(Sequence[int]):
    """Whole numbers in rising order, kept as one array."""

    def __init__(self, rising: NDArray[Any]) -> None:
        self.array = rising

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> Ids: ...
    def __getitem__(self, place: int | slice) -> int | Ids:
        return Ids(self.array[place]) if isinstance(place, slice) else int(self.array[place])

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and place_of(self, value) is not None


def place_of(ids: range | Ids, value: int) -> int | None:
    """The position of ``value`` among ``ids``, without a dictionary; None if it is not there."""
    if isinstance(ids, range):
        return ids.index(value) if value in ids else None
    if not len(ids) or not ids[0] <= value <= ids[-1]:
        return None
    place = int(np.searchsorted(ids.array, value))
    return place if ids.array[place] == value else None


def numbered(ids: NDArray[Any]) -> Edges:
    """Pairs of ids, none negative, as positions among the ids that occur.

    The names are a range if no id between the first and the last is missing, and the pairs are then
    the given array itself if they start from 0.
    """
    if not ids.size:
        return Edges(np.empty((0, 2), dtype=np.uint32), range(0))
    lowest, highest = int(ids.min()), int(ids.max())
    if highest - lowest > _SPARSE * ids.size:
        names, places = np.unique(ids, return_inverse=True)
        return Edges(places.reshape(ids.shape).astype(_fitting(len(names))), Ids(names))
    occurs = np.zeros(highest - lowest + 1, dtype=np.bool_)
    for column in ids.T:
        occurs[column - lowest if lowest else column] = True
    if not occurs.all():
        place = np.cumsum(occurs, dtype=_fitting(len(occurs))) - 1
        return Edges(place[ids - lowest], Ids(np.flatnonzero(occurs) + lowest))
    if lowest:
        ids = (ids - ids.dtype.type(lowest)).astype(_fitting(len(occurs)), copy=False)
    return Edges(ids, range(lowest, highest + 1))


def _fitting(size: int) -> type[np.uint32] | type[np.int64]:
    """The smaller type that holds positions below ``size``."""
    return np.uint32 if size <= 1 << 32 else np.int64


def placed(edges: Any) -> Edges:
    """Any edges as pairs of positions.

    Pairs of whole numbers have the nodes from 0 to the largest, as in a ``RainbowGraph``; other
    pairs name their nodes in order of appearance.
    """
    loaded = read_edges(edges)
    if loaded.names is not None:
        return loaded
    pairs: NDArray[Any] | list[Any] = loaded.pairs
    if isinstance(pairs, list) and all(type(end) is int for pair in pairs for end in pair):
        try:
            pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        except OverflowError:
            raise InvalidGraph("nodes must be whole numbers below 2^63, but one is not") from None
    if isinstance(pairs, np.ndarray):
        if pairs.size and pairs.min() < 0:
            raise InvalidGraph(f"nodes must be whole numbers from 0, got {pairs.min()}")
        return replace(loaded, pairs=pairs, names=range(int(pairs.max()) + 1 if pairs.size else 0))
    place: dict[Hashable, int] = {}
    try:
        pairs = [[place.setdefault(end, len(place)) for end in pair] for pair in pairs]
    except TypeError:
        raise InvalidGraph("names of datasets must be hashable, got some that are not") from None
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return replace(loaded, pairs=found, names=list(place))


def read_edges(edges: Any, weight: str = "weight", mutual: bool = False) -> Edges:
    """Edges from pairs, an (m, 2) array, a SciPy sparse matrix, a file or another library's graph.

    Being neighbors is mutual, so a directed graph is refused if one of its edges has none that
    leads back, unless ``mutual`` says that each counts both ways. A matrix that has entries on one
    side of its diagonal alone lists each edge once. igraph vertices go by their ``name`` if they
    have one; rustworkx nodes by their payloads if these are distinct and hashable, otherwise by
    their indices. Lengths are what the libraries call the weight of an edge, or the attribute named
    ``weight``, kept if any edge has one.
    """
    loaded, directed = _read(edges, weight)
    if directed and not mutual:
        _must_lead_back(loaded)
    return loaded


def _must_lead_back(loaded: Edges) -> None:
    """Refuse edges of which one leads in one direction only."""
    from scipy import sparse

    assert loaded.names is not None
    size, (first, second) = len(loaded.names), np.asarray(loaded.pairs).T
    there = sparse.csr_array((np.ones(len(first), np.bool_), (first, second)), shape=(size, size))
    alone = (there > there.T).tocoo()
    if alone.nnz:
        one, other = loaded.names[int(alone.row[0])], loaded.names[int(alone.col[0])]
        raise InvalidGraph(
            f"an edge leads from {brief(one)} to {brief(other)} and none leads back, but being "
            "neighbors is mutual; if each edge is to count both ways, pass "
            "rb.with_lengths(graph, False, mutual=True), or True instead of False to go by length"
        )


def _read(edges: Any, weight: str) -> tuple[Edges, bool]:
    """The edges, and whether they have directions."""
    if isinstance(edges, Edges):
        return edges, False
    libraries = {base.__module__.partition(".")[0] for base in type(edges).__mro__}
    if "networkx" in libraries:
        names = list(edges.nodes)
        lengths = [found for *_, found in edges.edges(data=weight)]
        found = Edges(_positions(edges.edges(), names), names, _lengths(lengths, weight))
        return found, edges.is_directed()
    if "igraph" in libraries:
        has_names = "name" in edges.vs.attributes()
        vertices = edges.vs["name"] if has_names else range(edges.vcount())
        if not all(hashable(name) for name in vertices):
            raise InvalidGraph("names of vertices must be hashable, got some that are not")
        if len(set(vertices)) != len(vertices):
            twice = next(name for name in vertices if list(vertices).count(name) > 1)
            raise InvalidGraph(f"vertices must have distinct names, got {brief(twice)} twice")
        lengths = edges.es[weight] if weight in edges.es.attributes() else []
        found = Edges(_array(edges.get_edgelist()), vertices, _lengths(lengths, weight))
        return found, edges.is_directed()
    if "rustworkx" in libraries:
        indices = list(edges.node_indices())
        lengths = [each if _is_number(each) else None for each in edges.edges()]
        pairs, payloads = _positions(edges.edge_list(), indices), _payloads(edges.nodes(), indices)
        directed = any(base.__name__ == "PyDiGraph" for base in type(edges).__mro__)
        return Edges(pairs, payloads, _lengths(lengths, weight)), directed
    if hasattr(edges, "tocoo"):
        matrix = edges.tocoo()
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InvalidGraph(f"an adjacency matrix must be square, got shape {matrix.shape}")
        kept = matrix.data != 0
        pairs = np.stack([matrix.row[kept], matrix.col[kept]], axis=1)
        sides = np.sign(pairs[:, 1] - pairs[:, 0])
        found = Edges(pairs, range(matrix.shape[0]), matrix.data[kept])
        return found, {-1, 1} <= set(sides.tolist())
    if isinstance(edges, np.ndarray):
        if edges.size == 0:
            return Edges(np.empty((0, 2), dtype=np.int64)), False
        if edges.ndim != 2 or edges.shape[1] != 2:
            raise InvalidGraph(f"an edge array must have two columns, got shape {edges.shape}")
        whole = edges.dtype.kind in "iu"
        return Edges(edges if whole else _pairs(edges.tolist())), False
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise InvalidGraph(
            f"edges must be pairs of datasets, an array or a graph, got {brief(edges)}"
        )
    return Edges(_pairs(edges)), False


def _pairs(edges: Iterable[Any]) -> list[tuple[Hashable, Hashable]]:
    pairs = []
    for edge in edges:
        if isinstance(edge, str) or not isinstance(edge, Iterable) or len(ends := tuple(edge)) != 2:
            raise InvalidGraph(f"an edge must be a pair of datasets, got {brief(edge)}")
        pairs.append((ends[0], ends[1]))
    return pairs


def _array(pairs: Iterable[Any]) -> NDArray[np.int64]:
    return np.array([tuple(pair) for pair in pairs], dtype=np.int64).reshape(-1, 2)


def _positions(pairs: Iterable[Any], names: Sequence[Hashable]) -> NDArray[np.int64]:
    place = {name: position for position, name in enumerate(names)}
    return _array((place[a], place[b]) for a, b, *_ in pairs)


def _lengths(found: Sequence[Any], weight: str) -> NDArray[Any] | None:
    """The lengths of edges, none if no edge has one; either all have one or none does."""
    if all(length is None for length in found):
        return None
    odd = [length for length in found if not _is_number(length)]
    if odd:
        raise InvalidGraph(
            f"either all edges have a number as their {weight} or none, got {odd[0]}"
        )
    return np.array(found)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _payloads(payloads: Iterable[Any], indices: Sequence[int]) -> Sequence[Hashable]:
    listed = list(payloads)
    try:
        return listed if len(set(listed)) == len(listed) else indices
    except TypeError:
        return indices

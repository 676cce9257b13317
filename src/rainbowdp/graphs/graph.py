"""The rainbow graph: datasets, neighbors, and a preference order for each dataset.

Datasets with one rainbow form a region. A region's *boundary* are its datasets with a neighbor
in another region, its *interior* the others, and the *depth* of a dataset is its distance to the
boundary of its own region: infinite where a component of the region has no boundary at all.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Label, Rainbow
from rainbowdp.display import cards
from rainbowdp.errors import InvalidGraph, UnknownDataset
from rainbowdp.graphs.edges import Edges, Ids, place_of, read_edges
from rainbowdp.graphs.engines import Engine, engine, plain
from rainbowdp.graphs.engines.narrow import number_type
from rainbowdp.graphs.rainbows import as_rainbow, show

Value = TypeVar("Value")
_BLOCK = 1 << 20
MOST_SHOWN = 100_000  # datasets of a graph whose regions a notebook lists


class RainbowGraph:
    """Datasets, who neighbors whom, and which answers each dataset prefers.

    ``edges``: pairs of datasets, an (m, 2) integer array, a SciPy sparse matrix, a networkx,
    igraph or rustworkx graph, or what ``rb.read_graph`` read from a file. Edges are undirected;
    loops and repeats are harmless.

    ``rainbows``: a mapping from dataset to rainbow, or a sequence of rainbows for the datasets
    0, 1, 2, … With ``labels`` (dataset → label, in the same two forms) the regions are the
    labels instead, and ``rainbows`` maps each label to the one rainbow of its region; two labels
    may share a rainbow.

    ``answers`` fixes the order in which answers are listed; by default the first rainbow's.

    Cost: O(edges) time; in memory 4 bytes for each direction of an edge, 4 for each dataset and
    1, 2 or 4 for the number of its region (8 instead of 4 past 2³² of them). Depth is found on
    first use, by one search.

    >>> graph = RainbowGraph(
    ...     [("a", "b"), ("b", "c"), ("c", "d")],
    ...     {"a": ("yes", "no"), "b": ("yes", "no"), "c": ("no", "yes"), "d": ("no", "yes")},
    ... )
    >>> graph.boundary, graph.depth["a"]
    (('b', 'c'), 1)
    """

    def __init__(
        self,
        edges: Any,
        rainbows: Mapping[Any, Sequence[Answer]] | Sequence[Sequence[Answer]],
        answers: Sequence[Answer] | None = None,
        *,
        labels: Mapping[Any, Label] | Sequence[Label] | NDArray[Any] | None = None,
    ) -> None:
        loaded = read_edges(edges)
        assigned = rainbows if labels is None else labels
        names, marks = _assignment(assigned, loaded, "rainbow" if labels is None else "label")
        if not len(names):
            raise InvalidGraph("a rainbow graph must have at least one dataset, got none")
        if labels is None:
            marks = [as_rainbow(mark) for mark in marks]
        region, regions = _number(marks)
        orders = regions if labels is None else [_rainbow_of(rainbows, label) for label in regions]
        chosen = as_rainbow(answers if answers is not None else orders[0])
        self._fill(
            names,
            _positions(loaded, names),
            region,
            tuple(regions),
            tuple(as_rainbow(order, chosen) for order in orders),
            chosen,
        )

    def _fill(
        self,
        names: Sequence[Dataset],
        pairs: NDArray[Any],
        region: NDArray[Any],
        labels: tuple[Label, ...],
        rainbows: tuple[Rainbow, ...],
        answers: tuple[Answer, ...],
    ) -> None:
        self.datasets = names
        self.answers = answers
        self._labels = labels
        self._rainbows = rainbows
        self._region = region
        self._offsets, self._targets = engine(len(names) + len(pairs)).compress(pairs, len(names))

    @classmethod
    def line(cls, rainbow: Sequence[Answer], length: int) -> RainbowGraph:
        """The (c, n)-line: datasets 0, 1, …, ``length`` in a row, all with one rainbow."""
        if not isinstance(length, int | np.integer) or length < 0:
            raise InvalidGraph(f"a line must have a whole length from 0, got length={length!r}")
        nodes = np.arange(length)
        return cls(np.stack([nodes, nodes + 1], axis=1), [tuple(rainbow)] * (length + 1))

    def __repr__(self) -> str:
        return (
            f"RainbowGraph({len(self)} datasets, {self.edge_count} edges, "
            f"{len(self._labels)} regions, {len(self.answers)} answers)"
        )

    def _repr_html_(self) -> str:
        known = len(self) <= MOST_SHOWN  # depth is not worth a wait
        head = ("region", "datasets", "on the boundary", "deepest")
        rows = (
            (
                cards.rainbow(region.rainbow, self.answers),
                f"{region.size:,}",
                f"{len(region.boundary):,}",
                "–" if region.deepest is None else region.deepest,
            )
            for region in self.regions.values()
        )
        counts = f"{len(self):,} datasets, {self.edge_count:,} edges, {len(self._labels):,} regions"
        table = cards.table(head, rows, len(self._labels)) if known else ""
        return cards.card("Rainbow graph", counts, table)

    def __len__(self) -> int:
        return len(self.datasets)

    def __contains__(self, dataset: Dataset) -> bool:
        return self._find(dataset) is not None

    def _find(self, dataset: Dataset) -> int | None:
        if isinstance(self.datasets, range | Ids):
            whole = isinstance(dataset, int | np.integer) and not isinstance(dataset, bool)
            return place_of(self.datasets, int(dataset)) if whole else None
        return self._place.get(dataset) if isinstance(dataset, Hashable) else None

    @cached_property
    def _place(self) -> dict[Dataset, int]:
        return {name: position for position, name in enumerate(self.datasets)}

    def position(self, dataset: Dataset) -> int:
        """Where ``dataset`` stands in ``datasets``."""
        found = self._find(dataset)
        if found is None:
            raise UnknownDataset(
                f"a dataset must be one of the graph's {len(self)}, got {dataset!r}; "
                "graph.datasets lists them"
            )
        return found

    @property
    def _engine(self) -> Engine:
        return engine(len(self) + self.edge_count)

    @property
    def compressed(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Compressed rows, read-only: the neighbors of the dataset at place i are at the places
        ``targets[offsets[i]:offsets[i + 1]]``, in order.
        """
        offsets, targets = self._offsets.view(), self._targets.view()
        offsets.flags.writeable = targets.flags.writeable = False
        return offsets, targets

    @property
    def edge_count(self) -> int:
        """The number of edges, loops and repeats not counted."""
        return len(self._targets) // 2

    def edge_positions(self) -> NDArray[np.int64]:
        """Each edge once, as a pair of positions, smaller first."""
        first = plain.sources(self._offsets)
        once = first < self._targets
        return np.stack([first[once], self._targets[once].astype(np.int64)], axis=1)

    def joined(self, numbers: NDArray[Any], count: int) -> NDArray[np.int64]:
        """The distinct pairs of different ``numbers`` (below ``count``, one for each dataset) that
        stand on neighbors, smaller first, in order. Memory: that of the pairs.
        """
        return self._engine.touching(self._offsets, self._targets, numbers, count)

    def edge_between(self, first: NDArray[np.bool_], second: NDArray[np.bool_]) -> tuple[int, int]:
        """The positions of two neighbors of which one is in ``first``, the other in ``second``."""
        places = np.flatnonzero(first)
        for start in range(0, len(places), _BLOCK):
            block = places[start : start + _BLOCK]
            near = plain.neighbors(self._offsets, self._targets, block)
            hits = np.flatnonzero(second[near])
            if hits.size:
                ends = np.cumsum(np.diff(self._offsets)[block])
                giver = np.searchsorted(ends, hits[0], side="right")
                return int(block[giver]), int(near[hits[0]])
        raise InvalidGraph("an edge must join the two sets of datasets, got two apart")

    def neighbors(self, dataset: Dataset) -> tuple[Dataset, ...]:
        """The datasets joined to ``dataset``."""
        place = self.position(dataset)
        span = slice(self._offsets[place], self._offsets[place + 1])
        return tuple(self.datasets[int(p)] for p in self._targets[span])

    def rainbow(self, dataset: Dataset) -> Rainbow:
        """The preference order of ``dataset``, most preferred first."""
        return self._rainbows[self._region[self.position(dataset)]]

    @cached_property
    def region(self) -> PerDataset[Label]:
        """The label of each dataset's region: its rainbow, unless labels were given."""
        return PerDataset(self, self._region, lambda number: self._labels[number])

    @cached_property
    def depth(self) -> PerDataset[float]:
        """Distance from each dataset to the boundary of its region; may be infinite."""
        return PerDataset(self, self.depth_numbers, lambda d: math.inf if d < 0 else int(d))

    @cached_property
    def depth_numbers(self) -> NDArray[np.int32]:
        """``depth`` as whole numbers in the order of ``datasets``, −1 where it is infinite."""
        return self._engine.depths(self._offsets, self._targets, self._region, len(self._labels))

    @cached_property
    def depths(self) -> NDArray[np.float64]:
        """``depth`` as an array in the order of ``datasets``."""
        return _with_infinity(self.depth_numbers)

    def distances(self, start: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Steps from each dataset to the nearest marked one, infinite where there is no way."""
        return _with_infinity(self._engine.distances(self._offsets, self._targets, start))

    def margins(self, truth: NDArray[Any], answers: int, cut: int) -> NDArray[Any]:
        """For each answer a row: min(cut, steps to the nearest dataset whose ``truth`` it is).

        The largest number of the row's type stands where there is no way.
        """
        return self._engine.margins(self._offsets, self._targets, truth, answers, cut)

    @property
    def region_numbers(self) -> NDArray[Any]:
        """For each dataset the place of its region in ``regions``, in 1, 2 or 4 bytes."""
        return self._region

    @cached_property
    def _extents(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """For each region its size, its largest depth (or −1) and how many have no depth."""
        return self._engine.extents(self._region, self.depth_numbers, len(self._labels))

    @property
    def boundary(self) -> tuple[Dataset, ...]:
        """The datasets with a neighbor in another region."""
        return self.names(np.flatnonzero(self.depth_numbers == 0))

    @property
    def interior(self) -> tuple[Dataset, ...]:
        """The datasets whose neighbors all lie in their own region."""
        return self.names(np.flatnonzero(self.depth_numbers != 0))

    def names(self, positions: NDArray[Any]) -> tuple[Dataset, ...]:
        """The datasets at ``positions``."""
        return tuple(self.datasets[int(p)] for p in positions)

    @cached_property
    def regions(self) -> dict[Label, Region]:
        """The regions by label, in order of first appearance."""
        return {
            label: Region(self, number, label, rainbow)
            for number, (label, rainbow) in enumerate(
                zip(self._labels, self._rainbows, strict=True)
            )
        }

    @cached_property
    def touching(self) -> tuple[tuple[Label, Label], ...]:
        """The pairs of regions that some edge joins, each pair once."""
        pairs = self.joined(self._region, len(self._labels))
        return tuple((self._labels[a], self._labels[b]) for a, b in pairs)

    def boundary_graph(self) -> RainbowGraph:
        """One line of depths for each region, heads joined where regions touch.

        Its datasets are pairs (label, depth). Components without boundary become one lone
        dataset (label, inf). The optimal mechanism on the whole graph is the pullback of the
        one on this graph (theory, Theorem 3).
        """
        names: list[tuple[Label, float]] = []
        numbers: list[int] = []
        pairs: list[tuple[int, int]] = []
        head: dict[Label, int] = {}
        for number, region in enumerate(self.regions.values()):
            if region.deepest is not None:
                first = head[region.label] = len(names)
                names += [(region.label, depth) for depth in range(region.deepest + 1)]
                pairs += [(first + depth, first + depth + 1) for depth in range(region.deepest)]
            if region.unbounded:
                names.append((region.label, math.inf))
            numbers += [number] * (len(names) - len(numbers))
        pairs += [(head[a], head[b]) for a, b in self.touching]
        graph = RainbowGraph.__new__(RainbowGraph)
        edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        kind = number_type(len(self._labels) - 1)
        numbered = np.array(numbers, dtype=kind)
        graph._fill(names, edges, numbered, self._labels, self._rainbows, self.answers)
        return graph


@dataclass(frozen=True)
class Region:
    """The datasets that share a label and with it a rainbow."""

    _graph: RainbowGraph
    _number: int
    label: Label
    rainbow: Rainbow

    def __repr__(self) -> str:
        edge = len(self.boundary)
        return f"Region({show(self.rainbow)}, {self.size} datasets, {edge} on the boundary)"

    @property
    def name(self) -> str:
        """The region in a message: its rainbow, or its label where it was given one."""
        return show(self.rainbow) if self.label == self.rainbow else str(self.label)

    @property
    def _members(self) -> NDArray[np.int64]:
        return np.flatnonzero(self._graph.region_numbers == self._number)

    def _named(self, boundary: bool) -> tuple[Dataset, ...]:
        members = self._members
        on_boundary = self._graph.depth_numbers[members] == 0
        return self._graph.names(members[on_boundary == boundary])

    @property
    def size(self) -> int:
        """How many datasets the region has."""
        return int(self._graph._extents[0][self._number])

    @property
    def datasets(self) -> tuple[Dataset, ...]:
        """The datasets of the region."""
        return self._graph.names(self._members)

    @property
    def boundary(self) -> tuple[Dataset, ...]:
        """Those with a neighbor in another region."""
        return self._named(boundary=True)

    @property
    def interior(self) -> tuple[Dataset, ...]:
        """Those without."""
        return self._named(boundary=False)

    @property
    def deepest(self) -> int | None:
        """The largest finite depth; None for a region without boundary."""
        deepest = int(self._graph._extents[1][self._number])
        return deepest if deepest >= 0 else None

    @property
    def unbounded(self) -> int:
        """How many datasets lie in components without boundary."""
        return int(self._graph._extents[2][self._number])


class PerDataset(Mapping[Dataset, Value], Generic[Value]):
    """A value for each dataset: a read-only mapping over one array."""

    def __init__(self, graph: RainbowGraph, values: NDArray[Any], show_value: Any) -> None:
        self._graph, self._values, self._show = graph, values, show_value

    def __getitem__(self, dataset: Dataset) -> Value:
        value: Value = self._show(self._values[self._graph.position(dataset)])
        return value

    def __iter__(self) -> Iterator[Dataset]:
        return iter(self._graph.datasets)

    def __len__(self) -> int:
        return len(self._graph)

    def __repr__(self) -> str:
        return (
            f"PerDataset({dict(self)})" if len(self) <= 20 else f"PerDataset({len(self)} datasets)"
        )


def _assignment(assigned: Any, loaded: Edges, what: str) -> tuple[Sequence[Dataset], Sequence[Any]]:
    """The datasets in order, and the rainbow or label of each."""
    if isinstance(assigned, Mapping):
        names = list(assigned)
        if loaded.names is not None:
            missing = next((name for name in loaded.names if name not in assigned), None)
            if missing is not None:
                raise InvalidGraph(
                    f"every dataset needs a {what}, got none for dataset {missing!r}"
                )
        return names, list(assigned.values())
    if isinstance(assigned, str) or not hasattr(assigned, "__len__"):
        raise InvalidGraph(
            f"{what}s must be a mapping from datasets or a sequence for datasets 0, 1, 2, …, "
            f"got {assigned!r}"
        )
    places = loaded.names if loaded.names is not None else range(len(assigned))
    if len(places) != len(assigned):
        raise InvalidGraph(
            f"every dataset needs a {what}, got {len(assigned)} {what}s for {len(places)} datasets"
        )
    return places, assigned


def _with_infinity(steps: NDArray[np.int32]) -> NDArray[np.float64]:
    return np.where(steps == plain.UNREACHED, math.inf, steps)


def _positions(loaded: Edges, names: Sequence[Dataset]) -> NDArray[Any]:
    """The edges as pairs of positions in ``names``; the array itself where it already is that."""
    if loaded.names is not None and loaded.names is not names:
        if (
            isinstance(loaded.names, range)
            and isinstance(names, list)
            and names == list(loaded.names)
        ):
            return np.asarray(loaded.pairs)
        place = {name: position for position, name in enumerate(names)}
        table = np.array([place[name] for name in loaded.names], dtype=np.int64)
        return table[np.asarray(loaded.pairs, dtype=np.int64)].reshape(-1, 2)
    if isinstance(loaded.pairs, np.ndarray) and (isinstance(names, range) or loaded.names is names):
        if loaded.pairs.size:
            low, high = int(loaded.pairs.min()), int(loaded.pairs.max())
            if low < 0 or high >= len(names):
                raise _unknown(low if low < 0 else high, f"the datasets are 0 to {len(names) - 1}")
        return loaded.pairs
    place = {name: position for position, name in enumerate(names)}
    listed = loaded.pairs.tolist() if isinstance(loaded.pairs, np.ndarray) else loaded.pairs
    try:
        return np.array([(place[a], place[b]) for a, b in listed], dtype=np.int64).reshape(-1, 2)
    except (KeyError, TypeError):
        ends = (end for pair in listed for end in pair)
        stray = next(e for e in ends if not isinstance(e, Hashable) or e not in place)
        if not isinstance(stray, Hashable):
            raise InvalidGraph(f"names of datasets must be hashable, got {stray!r}") from None
        raise _unknown(stray, "give it a rainbow or leave the edge out") from None


def _unknown(name: Any, remedy: str) -> InvalidGraph:
    return InvalidGraph(
        f"an edge must join two known datasets, got the unknown dataset {name!r}; {remedy}"
    )


def _number(marks: Sequence[Any]) -> tuple[NDArray[Any], list[Any]]:
    """A number for each distinct mark in order of first appearance, and the marks."""
    if isinstance(marks, np.ndarray) and marks.ndim == 1 and marks.dtype.kind in "iu":
        low, high = int(marks.min()), int(marks.max())
        if high - low <= 4 * len(marks):
            return _number_by_table(marks, low, high)
        values, first, numbers = np.unique(marks, return_index=True, return_inverse=True)
        order = np.argsort(first)
        kind = number_type(len(values) - 1)
        return np.argsort(order).astype(kind)[numbers], values[order].tolist()
    found: dict[Any, int] = {}
    try:
        numbered = [found.setdefault(mark, len(found)) for mark in marks]
    except TypeError:
        odd = next(mark for mark in marks if not isinstance(mark, Hashable))
        raise InvalidGraph(f"labels must be hashable, got {odd!r}") from None
    return np.array(numbered, dtype=number_type(len(found) - 1)), list(found)


def _number_by_table(marks: NDArray[Any], low: int, high: int) -> tuple[NDArray[Any], list[Any]]:
    """``_number`` for whole numbers that lie close together: no sorting, one block at a time."""
    first = np.full(high - low + 1, len(marks), dtype=np.int64)
    starts = range(0, len(marks), _BLOCK)
    for start in reversed(starts):  # of equal marks the last one written stays: the earliest
        block = marks[start : start + _BLOCK].astype(np.int64) - low
        first[block[::-1]] = np.arange(start + len(block) - 1, start - 1, -1)
    present = np.flatnonzero(first < len(marks))
    order = present[np.argsort(first[present])]
    number = np.zeros(len(first), dtype=number_type(len(order) - 1))
    number[order] = np.arange(len(order))
    numbers = np.empty(len(marks), dtype=number.dtype)
    for start in starts:
        block = marks[start : start + _BLOCK].astype(np.int64) - low
        numbers[start : start + _BLOCK] = number[block]
    return numbers, (order + low).tolist()


def _rainbow_of(rainbows: Any, label: Label) -> Sequence[Answer]:
    try:
        if not isinstance(rainbows, Mapping) and not 0 <= label < len(rainbows):
            raise IndexError
        order: Sequence[Answer] = rainbows[label]
        return order
    except (KeyError, IndexError, TypeError):
        raise InvalidGraph(f"every label needs a rainbow, got none for label {label!r}") from None

"""The rainbow graph: datasets, neighbors, and a preference order for each dataset.

Datasets with the same rainbow form a region. A region's *boundary* consists of its datasets with a
neighbor in another region, its *interior* of the others, and the *depth* of a dataset is its
distance to the boundary of its own region: infinite if its part of the region has no boundary.

Where edges have lengths, an edge of ℓ steps stands for a way over ℓ − 1 places between its ends,
and the border of two regions is in the middle of an edge between them (``docs/lengths.md``). Then
a dataset on the boundary may have a depth above 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Label, Rainbow
from rainbowdp.display import cards
from rainbowdp.errors import InvalidGraph, UnknownDataset
from rainbowdp.expecting import brief, hashable, whole
from rainbowdp.graphs import adjacency
from rainbowdp.graphs.edges import Ids, length_in_words, place_of
from rainbowdp.graphs.engines import Engine, engine, plain
from rainbowdp.graphs.engines import measured as by_length
from rainbowdp.graphs.engines.measured_plain import FARTHEST, TooFar
from rainbowdp.graphs.engines.narrow import number_type
from rainbowdp.graphs.given import assignment, numbered_marks, pairs_of_positions, rainbow_of
from rainbowdp.graphs.lengths import AnyLengths, measured
from rainbowdp.graphs.rainbows import as_rainbow
from rainbowdp.graphs.regions import PerDataset, Region
from rainbowdp.graphs.saying import ON_A_GRAPH, at_a_distance
from rainbowdp.numeric.quantity import Number

_LONGEST = 10**6  # edges of a line
MOST_SHOWN = 100_000  # datasets of a graph whose regions a notebook lists


class RainbowGraph:
    """Datasets, their neighbors, and the preference order of each dataset.

    Cost: O(edges) time; in memory 4 bytes for each direction of an edge, 4 for each dataset and
    1, 2 or 4 for its region's number (8 instead of 4 past 2³² of them). Depth is computed on first
    use, by one search.

    Parameters
    ----------
    edges
        Pairs of datasets, an (m, 2) integer array, a SciPy sparse matrix, a networkx, igraph or
        rustworkx graph, or what ``rb.read_graph`` read from a file. Edges are undirected, and a
        directed graph must have each edge both ways, unless ``rb.with_lengths`` says that they are
        mutual; loops and repeats are harmless.
    rainbows
        A mapping from dataset to rainbow, or a sequence of rainbows for the datasets 0, 1, 2, …;
        with ``labels``, a mapping from label to the one rainbow of that region.
    answers
        The order in which answers are listed; by default that of the first rainbow.
    labels
        The region of each dataset, as a mapping or a sequence. Without labels, datasets with the
        same rainbow form a region; with them, two regions may share a rainbow.
    lengths, unit
        The lengths of edges, and that of one step, as ``rb.with_lengths`` takes them. Depth,
        margins and promises then go by steps of length instead of edges. Edges with weights are
        refused if you do not say what to do with them: ``lengths=False`` counts edges.

    Raises
    ------
    InvalidGraph
        If edges, rainbows and labels do not fit together.
    InvalidRainbow
        If a rainbow is not a permutation of the answers.

    Examples
    --------
    >>> graph = RainbowGraph(
    ...     [("a", "b"), ("b", "c"), ("c", "d")],
    ...     {"a": ("yes", "no"), "b": ("yes", "no"), "c": ("no", "yes"), "d": ("no", "yes")},
    ... )
    >>> graph.boundary, graph.depth["a"]
    (('b', 'c'), 1)

    """

    _unit: Fraction | None = None
    _measure: str = ""

    def __init__(
        self,
        edges: Any,
        rainbows: Mapping[Any, Sequence[Answer]] | Sequence[Sequence[Answer]],
        answers: Sequence[Answer] | None = None,
        *,
        labels: Mapping[Any, Label] | Sequence[Label] | NDArray[Any] | None = None,
        lengths: AnyLengths | None = None,
        unit: Number | None = None,
    ) -> None:
        loaded = measured(edges, lengths, unit)
        assigned = rainbows if labels is None else labels
        names, marks = assignment(assigned, loaded, "rainbow" if labels is None else "label")
        if not len(names):
            raise InvalidGraph("a rainbow graph needs at least one dataset, got none")
        if labels is None:
            marks = [as_rainbow(mark) for mark in marks]
        region, regions = numbered_marks(marks)
        orders = regions if labels is None else [rainbow_of(rainbows, label) for label in regions]
        chosen = as_rainbow(answers if answers is not None else orders[0])
        self._fill(
            names,
            pairs_of_positions(loaded, names),
            region,
            tuple(regions),
            tuple(as_rainbow(order, chosen) for order in orders),
            chosen,
            loaded.steps,
        )
        self._unit, self._measure = loaded.unit, loaded.measure

    def _fill(
        self,
        names: Sequence[Dataset],
        pairs: NDArray[Any],
        region: NDArray[Any],
        labels: tuple[Label, ...],
        rainbows: tuple[Rainbow, ...],
        answers: tuple[Answer, ...],
        steps: NDArray[np.uint32] | None = None,
    ) -> None:
        self.datasets = names
        self.answers = answers
        self._labels = labels
        self._rainbows = rainbows
        self._region = region
        self._lengths: NDArray[np.uint32] | None = None
        size = len(names) + len(pairs)
        if steps is None or bool((steps == 1).all()):
            self._offsets, self._targets = engine(size).compress(pairs, len(names))
            return
        found = by_length(size).compress(pairs, steps, len(names))
        self._offsets, self._targets, self._lengths = found
        self._refuse_short_borders()

    def _refuse_short_borders(self) -> None:
        """An edge without a step makes its ends one place, which cannot be in two regions."""
        across = adjacency.short_border(*self._roads, self._region)
        if across is not None:
            one, other = self.names(np.array(across))
            raise InvalidGraph(
                f"the edge between {brief(one)} and {brief(other)} is shorter than the unit, "
                "which makes "
                "them one place, but they are in two regions; use a smaller unit, or give both "
                "one label"
            )

    @classmethod
    def line(cls, rainbow: Sequence[Answer], length: int) -> RainbowGraph:
        """The (c, n)-line: datasets 0, 1, …, ``length`` in a row, all with one rainbow.

        Parameters
        ----------
        rainbow
            The preference order of every dataset.
        length
            The number of edges, from 0 to a million.

        Returns
        -------
        RainbowGraph
            The line.

        """
        length = whole(length, "length", 0, _LONGEST, InvalidGraph)
        order = as_rainbow(rainbow)
        nodes, region = np.arange(length), np.zeros(length + 1, dtype=np.uint8)
        edges = np.stack([nodes, nodes + 1], axis=1)
        line = cls.__new__(cls)
        line._fill(range(length + 1), edges, region, (order,), (order,), order)
        return line

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
        return self._place.get(dataset) if hashable(dataset) else None

    @cached_property
    def _place(self) -> dict[Dataset, int]:
        return {name: position for position, name in enumerate(self.datasets)}

    def position(self, dataset: Dataset) -> int:
        """The position of ``dataset`` in ``datasets``.

        Parameters
        ----------
        dataset
            A node of the graph.

        Returns
        -------
        int
            Its index; ``UnknownDataset`` is raised if the graph has no such node.

        """
        found = self._find(dataset)
        if found is None:
            raise UnknownDataset(
                f"the graph has no dataset {brief(dataset)}; graph.datasets lists its {len(self)}"
            )
        return found

    @property
    def _engine(self) -> Engine:
        return engine(len(self) + self.edge_count)

    @property
    def compressed(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Compressed sparse rows (offsets, targets), read-only.

        The neighbors of the dataset at position i are at the positions
        ``targets[offsets[i]:offsets[i + 1]]``, in order.
        """
        offsets, targets = self._offsets.view(), self._targets.view()
        offsets.flags.writeable = targets.flags.writeable = False
        return offsets, targets

    @property
    def edge_count(self) -> int:
        """The number of edges, without loops and repeats."""
        return len(self._targets) // 2

    @property
    def lengths(self) -> NDArray[np.uint32] | None:
        """The steps of each edge beside ``compressed``'s targets, read-only; None if all have 1."""
        if self._lengths is None:
            return None
        lengths = self._lengths.view()
        lengths.flags.writeable = False
        return lengths

    @property
    def unit(self) -> Fraction | None:
        """The length of one step; None where edges are counted."""
        return self._unit

    @property
    def apart(self) -> str:
        """How far apart two datasets are that a guarantee speaks of, in words."""
        if self.unit is None:
            return ON_A_GRAPH
        return at_a_distance(length_in_words(self.unit, self._measure))

    def refuse_lengths(self, what: str) -> None:
        """Raise if edges have lengths, in the name of ``what`` can only count them.

        Parameters
        ----------
        what
            The subject of the sentence.

        Raises
        ------
        InvalidGraph
            If edges have lengths.

        """
        if self._lengths is not None:
            raise InvalidGraph(
                f"{what} counts edges, and those of this graph have lengths; use homogeneous, "
                "proximity, margin-flip, exponential or fixed-point"
            )

    def edge_lengths(self) -> NDArray[np.int64]:
        """The steps of each edge, in the order of ``edge_positions``."""
        if self._lengths is None:
            return np.ones(self.edge_count, dtype=np.int64)
        once = plain.sources(self._offsets) < self._targets
        return self._lengths[once].astype(np.int64)

    def edge_positions(self) -> NDArray[np.int64]:
        """Each edge once, as a pair of positions, smaller first."""
        first = plain.sources(self._offsets)
        once = first < self._targets
        return np.stack([first[once], self._targets[once].astype(np.int64)], axis=1)

    def joined(self, numbers: NDArray[Any], count: int) -> NDArray[np.int64]:
        """The distinct pairs of different ``numbers`` found on neighbors, smaller first, in order.

        Parameters
        ----------
        numbers
            A whole number for each dataset.
        count
            A bound that all numbers are below.

        Returns
        -------
        array
            The pairs; no other memory is used.

        """
        return self._engine.touching(self._offsets, self._targets, numbers, count)

    def joined_within(
        self, numbers: NDArray[Any], count: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """``joined``, and for each pair the steps of the shortest edge that joins it.

        Parameters
        ----------
        numbers
            A whole number for each dataset.
        count
            A bound that all numbers are below.

        Returns
        -------
        tuple of array
            The pairs, and beside each a number of steps.

        """
        if self._lengths is None:
            pairs = self.joined(numbers, count)
            return pairs, np.ones(len(pairs), dtype=np.int64)
        return adjacency.joined_within(*self._roads, numbers, count)

    def edge_between(self, first: NDArray[np.bool_], second: NDArray[np.bool_]) -> tuple[int, int]:
        """The positions of two neighbors, one marked in ``first`` and the other in ``second``.

        Parameters
        ----------
        first, second
            A boolean for each dataset.

        Returns
        -------
        tuple of int
            The two positions; ``InvalidGraph`` is raised if no edge joins the two sets.

        """
        found = adjacency.edge_between(self._offsets, self._targets, first, second)
        if found is None:
            raise InvalidGraph("no edge joins the two sets of datasets")
        return found

    def neighbors(self, dataset: Dataset) -> tuple[Dataset, ...]:
        """The datasets joined to ``dataset`` by an edge.

        Parameters
        ----------
        dataset
            A node of the graph.

        Returns
        -------
        tuple
            Its neighbors.

        """
        place = self.position(dataset)
        span = slice(self._offsets[place], self._offsets[place + 1])
        return tuple(self.datasets[int(p)] for p in self._targets[span])

    def rainbow(self, dataset: Dataset) -> Rainbow:
        """The preference order of ``dataset``, most preferred first.

        Parameters
        ----------
        dataset
            A node of the graph.

        Returns
        -------
        tuple
            All answers.

        """
        return self._rainbows[self._region[self.position(dataset)]]

    @cached_property
    def region(self) -> PerDataset[Label]:
        """The label of each dataset's region: its rainbow, unless labels were given."""
        return PerDataset(self, self._region, lambda number: self._labels[number])

    @cached_property
    def depth(self) -> PerDataset[float]:
        """The distance from each dataset to the boundary of its region; may be infinite."""
        return PerDataset(self, self.depth_numbers, lambda d: math.inf if d < 0 else int(d))

    @cached_property
    def depth_numbers(self) -> NDArray[np.int32]:
        """``depth`` as whole numbers in the order of ``datasets``, −1 where it is infinite."""
        regions = len(self._labels)
        if self._lengths is None:
            return self._engine.depths(self._offsets, self._targets, self._region, regions)
        with self._near():
            return by_length(len(self) + self.edge_count).depths(
                *self._roads, self._region, regions
            )

    @property
    def _roads(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.uint32]]:
        assert self._lengths is not None
        return self._offsets, self._targets, self._lengths

    @contextmanager
    def _near(self) -> Iterator[None]:
        """Say in a sentence where distances do not fit in 31 bits."""
        try:
            yield
        except TooFar:
            raise InvalidGraph(
                f"some datasets are more than {FARTHEST:,} steps apart; use a larger unit"
            ) from None

    @cached_property
    def depths(self) -> NDArray[np.float64]:
        """``depth`` as an array in the order of ``datasets``."""
        return _with_infinity(self.depth_numbers)

    def distances(self, start: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The number of steps from each dataset to the nearest marked one, by length if there are.

        Parameters
        ----------
        start
            A boolean for each dataset, true for the marked ones.

        Returns
        -------
        array of float
            The distances, infinite where no marked dataset can be reached.

        """
        if self._lengths is None:
            return _with_infinity(self._engine.distances(self._offsets, self._targets, start))
        with self._near():
            found = by_length(len(self) + self.edge_count).distances(*self._roads, start)
        return _with_infinity(found)

    def margins(self, truth: NDArray[Any], answers: int, cut: int) -> NDArray[Any]:
        """For each answer, the distance to the nearest dataset where it is true, at most ``cut``.

        Parameters
        ----------
        truth
            The index of the true answer of each dataset.
        answers
            The number of answers.
        cut
            The distance at which the search stops.

        Returns
        -------
        array
            min(cut, distance), or the largest number of the type where no such dataset is
            reachable.

        """
        size = len(self) + self.edge_count
        if self._lengths is not None:
            chosen = by_length(size, answers)
            return chosen.margins(*self._roads, self._region, truth, answers, cut)
        return engine(size, answers).margins(self._offsets, self._targets, truth, answers, cut)

    @property
    def region_numbers(self) -> NDArray[Any]:
        """The index in ``regions`` of each dataset's region, in 1, 2 or 4 bytes."""
        return self._region

    @cached_property
    def extents(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """For each region its size, its largest depth (or −1), and its number without depth."""
        return self._engine.extents(self._region, self.depth_numbers, len(self._labels))

    @property
    def boundary(self) -> tuple[Dataset, ...]:
        """The datasets with a neighbor in another region."""
        return self.names(np.flatnonzero(self.on_boundary))

    @cached_property
    def on_boundary(self) -> NDArray[np.bool_]:
        """Whether each dataset has a neighbor in another region."""
        if self._lengths is None:
            zero: NDArray[np.bool_] = self.depth_numbers == 0
            return zero
        return self._engine.boundary(self._offsets, self._targets, self._region)

    @property
    def interior(self) -> tuple[Dataset, ...]:
        """The datasets whose neighbors all lie in their own region."""
        return self.names(np.flatnonzero(~self.on_boundary))

    def names(self, positions: NDArray[Any]) -> tuple[Dataset, ...]:
        """The datasets at ``positions``.

        Parameters
        ----------
        positions
            Indices in ``datasets``.

        Returns
        -------
        tuple
            The datasets.

        """
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
        """The pairs of regions joined by an edge, each pair once."""
        pairs = self.joined(self._region, len(self._labels))
        return tuple((self._labels[a], self._labels[b]) for a, b in pairs)

    def boundary_graph(self) -> RainbowGraph:
        """The boundary graph: one line of depths for each region, heads joined where regions touch.

        Its datasets are pairs (label, depth). Components without a boundary become one isolated
        dataset (label, inf). The optimal mechanism on the whole graph is the pullback of the one on
        this graph (theory, Theorem 3).
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


def _with_infinity(steps: NDArray[np.int32]) -> NDArray[np.float64]:
    return np.where(steps == plain.UNREACHED, math.inf, steps)

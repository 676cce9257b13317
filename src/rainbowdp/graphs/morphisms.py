"""Maps between rainbow graphs that keep neighbors together.

A morphism sends neighbors to neighbors or to the same dataset; where edges have lengths, to
datasets that are at most as far apart. So whatever is private on its target is private on its
source when pulled back: ``mechanism.pullback(morphism)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Dataset
from rainbowdp.errors import NotAMorphism
from rainbowdp.expecting import brief, expect
from rainbowdp.graphs.engines.narrow import number_type
from rainbowdp.graphs.graph import RainbowGraph

Tear: TypeAlias = Callable[
    [RainbowGraph, RainbowGraph, NDArray[Any]], "tuple[Dataset, Dataset] | None"
]


class Morphism:
    """A morphism from ``source`` to ``target``, checked on every edge.

    Cost: O(edges log edges).

    Parameters
    ----------
    source, target
        The two graphs.
    image
        The target dataset of each source dataset, as a mapping or a function.

    Raises
    ------
    NotAMorphism
        If neighbors are sent to datasets that are not neighbors; the message names the edge.

    Examples
    --------
    >>> path = RainbowGraph([(0, 1), (1, 2)], [("y", "n"), ("y", "n"), ("n", "y")])
    >>> short = RainbowGraph([(0, 1)], [("y", "n"), ("n", "y")])
    >>> Morphism(path, short, {0: 0, 1: 0, 2: 1}).preserves_rainbows
    True

    """

    def __init__(
        self,
        source: RainbowGraph,
        target: RainbowGraph,
        image: Mapping[Dataset, Dataset] | Callable[[Dataset], Dataset],
    ) -> None:
        for graph in (source, target):
            expect(graph, RainbowGraph, "a morphism", NotAMorphism)
        if isinstance(image, type):
            raise NotAMorphism(f"image must be a mapping or a function, got {image.__name__}")
        where = image if callable(image) else _lookup(image)
        positions = np.array([target.position(where(d)) for d in source.datasets], dtype=np.int64)
        self._fill(source, target, positions)

    def _fill(
        self,
        source: RainbowGraph,
        target: RainbowGraph,
        positions: NDArray[Any],
        tear: Tear | None = None,
    ) -> None:
        positions = np.asarray(positions)
        if positions.shape != (len(source),) or positions.dtype.kind not in "iu":
            raise NotAMorphism(
                f"positions must be one whole number for each of the {len(source)} datasets, "
                f"got an array of {positions.dtype} of shape {positions.shape}"
            )
        wrong = (positions < 0) | (positions >= len(target))
        if wrong.any():
            raise NotAMorphism(
                f"positions must be from 0 to {len(target) - 1}, those of the target, "
                f"got {positions[wrong][0]}"
            )
        positions = positions.astype(number_type(len(target) - 1))
        self.source, self.target, self.positions = source, target, positions
        whole = source.lengths is None and target.lengths is None
        torn = (tear or (_torn_edge if whole else _stretched_edge))(source, target, positions)
        if torn is not None:
            apart = "not neighbors" if whole else "farther apart"
            raise NotAMorphism(
                f"this map is no morphism: it sends the neighbors {brief(torn[0])} and "
                f"{brief(torn[1])} to "
                f"{brief(self[torn[0]])} and {brief(self[torn[1]])}, which are {apart}"
            )

    @classmethod
    def from_positions(
        cls, source: RainbowGraph, target: RainbowGraph, positions: NDArray[Any]
    ) -> Morphism:
        """The morphism that sends the dataset at index i to the one at index ``positions[i]``.

        Parameters
        ----------
        source, target
            The two graphs.
        positions
            An index in ``target.datasets`` for each dataset of ``source``.

        Returns
        -------
        Morphism
            The morphism, checked.

        """
        self = cls.__new__(cls)
        self._fill(source, target, positions)
        return self

    def __repr__(self) -> str:
        return f"Morphism({len(self.source)} datasets to {len(self.target)})"

    def __getitem__(self, dataset: Dataset) -> Dataset:
        return self.target.datasets[int(self.positions[self.source.position(dataset)])]

    @cached_property
    def preserves_rainbows(self) -> bool:
        """Whether every dataset has the rainbow of its image."""
        return self.recolored() is None

    def recolored(self) -> Dataset | None:
        """A dataset whose rainbow differs from its image's, or None."""
        numbers = self.source.region_numbers
        images = self.target.region_numbers[self.positions]
        ours, theirs = list(self.source.regions.values()), list(self.target.regions.values())
        for a, b in np.unique(np.stack([numbers, images], axis=1), axis=0):
            if ours[a].rainbow != theirs[b].rainbow:
                place = int(np.flatnonzero((numbers == a) & (images == b))[0])
                return self.source.datasets[place]
        return None


def boundary_morphism(graph: RainbowGraph) -> Morphism:
    """The rainbow-preserving morphism d ↦ (region, depth) onto the boundary graph.

    Parameters
    ----------
    graph
        A rainbow graph.

    Returns
    -------
    Morphism
        The morphism from ``graph`` to ``graph.boundary_graph()``.

    Examples
    --------
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("y", "n"), ("y", "n"), ("n", "y")])
    >>> boundary_morphism(graph)[0]
    (('y', 'n'), 1)

    """
    target = expect(graph, RainbowGraph, "boundary_morphism", NotAMorphism).boundary_graph()
    numbers = graph.region_numbers
    first = np.searchsorted(target.region_numbers, np.arange(len(graph.regions)))
    last = np.searchsorted(target.region_numbers, np.arange(len(graph.regions)), side="right") - 1
    depth = graph.depth_numbers
    positions = np.where(depth < 0, last[numbers], first[numbers] + depth)
    if graph.lengths is None:
        return Morphism.from_positions(graph, target, positions)
    morphism = Morphism.__new__(Morphism)
    morphism._fill(graph, target, positions, _stretched_depth)
    return morphism


def _stretched_depth(
    source: RainbowGraph, target: RainbowGraph, positions: NDArray[Any]
) -> tuple[Dataset, Dataset] | None:
    """An edge whose ends are farther apart on the boundary graph than they are long, or None.

    Two depths of one region are |D − D'| steps apart, those of two that touch D + 1 + D'.
    """
    first, second = source.edge_positions().T
    depth, region = source.depth_numbers.astype(np.int64), source.region_numbers
    same = region[first] == region[second]
    away = np.where(same, np.abs(depth[first] - depth[second]), depth[first] + depth[second] + 1)
    endless = (depth < 0)[first] | (depth < 0)[second]
    fine = np.where(endless, same & (depth[first] == depth[second]), away <= source.edge_lengths())
    if fine.all():
        return None
    place = int(np.flatnonzero(~fine)[0])
    one, other = source.names(np.array([first[place], second[place]]))
    return one, other


def _stretched_edge(
    source: RainbowGraph, target: RainbowGraph, positions: NDArray[Any]
) -> tuple[Dataset, Dataset] | None:
    """An edge whose ends are sent farther apart than it is long, or None."""
    pairs, steps = source.joined_within(positions, len(target))
    heads, start = np.unique(pairs[:, 0], return_index=True)
    for head, begin, end in zip(heads, start, np.append(start, len(pairs))[1:], strict=True):
        marked = np.zeros(len(target), dtype=np.bool_)
        marked[head] = True
        far = target.distances(marked)[pairs[begin:end, 1]] > steps[begin:end]
        if far.any():
            one, other = pairs[begin + int(np.flatnonzero(far)[0])]
            # of all edges between the two classes, a shortest one
            ends, lengths = source.edge_positions(), source.edge_lengths()
            images = np.sort(positions[ends].astype(np.int64), axis=1)
            between = np.flatnonzero((images == [one, other]).all(axis=1))
            place = between[int(lengths[between].argmin())]
            first, second = source.names(ends[place])
            return first, second
    return None


def _lookup(image: Mapping[Dataset, Dataset]) -> Callable[[Dataset], Dataset]:
    def where(dataset: Dataset) -> Dataset:
        try:
            return image[dataset]
        except (KeyError, IndexError, TypeError):
            raise NotAMorphism(f"image has no entry for dataset {brief(dataset)}") from None

    return where


def _torn_edge(
    source: RainbowGraph, target: RainbowGraph, positions: NDArray[Any]
) -> tuple[Dataset, Dataset] | None:
    torn = source.joined(positions, len(target))
    joined, size = target.edge_positions(), len(target)
    fine = np.isin(torn[:, 0] * size + torn[:, 1], joined[:, 0] * size + joined[:, 1])
    if fine.all():
        return None
    one, other = torn[np.flatnonzero(~fine)[0]]
    first, second = source.names(
        np.array(source.edge_between(positions == one, positions == other))
    )
    return first, second

"""Maps between rainbow graphs that keep neighbors together.

A morphism sends neighbors to neighbors or to the same dataset. So whatever is private on its target
is private on its source when pulled back: ``mechanism.pullback(morphism)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Dataset
from rainbowdp.errors import NotAMorphism
from rainbowdp.graphs.engines.narrow import number_type
from rainbowdp.graphs.graph import RainbowGraph


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
        where = image if callable(image) else _lookup(image)
        positions = np.array([target.position(where(d)) for d in source.datasets], dtype=np.int64)
        self._fill(source, target, positions)

    def _fill(self, source: RainbowGraph, target: RainbowGraph, positions: NDArray[Any]) -> None:
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
        torn = _torn_edge(source, target, positions)
        if torn is not None:
            raise NotAMorphism(
                f"this map is no morphism: it sends the neighbors {torn[0]!r} and {torn[1]!r} to "
                f"{self[torn[0]]!r} and {self[torn[1]]!r}, which are not neighbors"
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
    target = graph.boundary_graph()
    numbers = graph.region_numbers
    first = np.searchsorted(target.region_numbers, np.arange(len(graph.regions)))
    last = np.searchsorted(target.region_numbers, np.arange(len(graph.regions)), side="right") - 1
    depth = graph.depth_numbers
    return Morphism.from_positions(
        graph, target, np.where(depth < 0, last[numbers], first[numbers] + depth)
    )


def _lookup(image: Mapping[Dataset, Dataset]) -> Callable[[Dataset], Dataset]:
    def where(dataset: Dataset) -> Dataset:
        try:
            return image[dataset]
        except KeyError:
            raise NotAMorphism(f"image has no entry for dataset {dataset!r}") from None

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

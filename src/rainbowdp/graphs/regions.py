"""What a rainbow graph shows of itself: its regions, and a value for each dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Dataset, Label, Rainbow
from rainbowdp.graphs.rainbows import show

if TYPE_CHECKING:
    from rainbowdp.graphs.graph import RainbowGraph

Value = TypeVar("Value")


@dataclass(frozen=True)
class Region:
    """The datasets that share a label, and with it a rainbow."""

    _graph: RainbowGraph
    _number: int
    label: Label
    rainbow: Rainbow

    def __repr__(self) -> str:
        edge = len(self.boundary)
        return f"Region({show(self.rainbow)}, {self.size} datasets, {edge} on the boundary)"

    @property
    def name(self) -> str:
        """The region's name in a message: its rainbow, or its label if it was given one."""
        return show(self.rainbow) if self.label == self.rainbow else str(self.label)

    @property
    def _members(self) -> NDArray[np.int64]:
        return np.flatnonzero(self._graph.region_numbers == self._number)

    def _named(self, boundary: bool) -> tuple[Dataset, ...]:
        members = self._members
        on_boundary = self._graph.on_boundary[members]
        return self._graph.names(members[on_boundary == boundary])

    @property
    def size(self) -> int:
        """The number of datasets in the region."""
        return int(self._graph.extents[0][self._number])

    @property
    def datasets(self) -> tuple[Dataset, ...]:
        """The datasets of the region."""
        return self._graph.names(self._members)

    @property
    def boundary(self) -> tuple[Dataset, ...]:
        """The datasets of the region with a neighbor in another region."""
        return self._named(boundary=True)

    @property
    def interior(self) -> tuple[Dataset, ...]:
        """The datasets of the region whose neighbors all lie in it."""
        return self._named(boundary=False)

    @property
    def deepest(self) -> int | None:
        """The largest finite depth; None for a region without a boundary."""
        deepest = int(self._graph.extents[1][self._number])
        return deepest if deepest >= 0 else None

    @property
    def unbounded(self) -> int:
        """The number of datasets in components without a boundary."""
        return int(self._graph.extents[2][self._number])


class PerDataset(Mapping[Dataset, Value], Generic[Value]):
    """A value for each dataset: a read-only mapping backed by one array."""

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

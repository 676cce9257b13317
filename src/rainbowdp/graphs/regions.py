"""What a rainbow graph shows of itself: its regions, and a value for each dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Dataset, Label, Rainbow
from rainbowdp.graphs.rainbows import show

Value = TypeVar("Value")


class World(Protocol):
    """What regions and values need to know of their graph."""

    datasets: Sequence[Dataset]

    def __len__(self) -> int: ...

    def position(self, dataset: Dataset) -> int:
        """The position of ``dataset`` in ``datasets``."""

    def names(self, positions: NDArray[Any]) -> tuple[Dataset, ...]:
        """The datasets at ``positions``."""

    @property
    def region_numbers(self) -> NDArray[Any]:
        """The number of each dataset's region."""

    @property
    def on_boundary(self) -> NDArray[np.bool_]:
        """Whether each dataset has a neighbor in another region."""

    @property
    def extents(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """For each region its size, its largest depth (or −1), and its number without depth."""


@dataclass(frozen=True)
class Region:
    """The datasets that share a label, and with it a rainbow."""

    _graph: World
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

    def __init__(self, graph: World, values: NDArray[Any], show_value: Any) -> None:
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

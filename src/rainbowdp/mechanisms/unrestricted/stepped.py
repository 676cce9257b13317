"""A mechanism on the single steps of a graph with lengths, seen from the graph itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.errors import InvalidBoundary
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.expecting import brief
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.rainbows import in_order
from rainbowdp.mechanisms.mechanism import Mechanism

MOST_PLACES = 1 << 22  # of a linear program; far fewer are solved in minutes


class Stepped(Mechanism):
    """What ``steps`` says at the place of each dataset.

    It keeps n times the promise between the ends of n steps, by going along them; exact rows are
    those of all places, so that every single step is proved.
    """

    def __init__(self, graph: RainbowGraph, steps: Mechanism, places: Integers) -> None:
        super().__init__(graph, steps.table, steps.index[places], steps.promise, name=steps.name)
        self.steps = steps

    @cached_property
    def _exact(self) -> ExactMechanism:
        return self.located(self.steps.exact())

    def located(self, exact: ExactMechanism) -> ExactMechanism:
        """Exact rows of ``steps`` with the graph's own datasets and measure."""
        return ExactMechanism(
            self.promise,
            self.graph.answers,
            exact.rule,
            neighbors=self.graph.apart,
            mixing=exact.mixing,
            locate=lambda dataset: (int(self.index[self.graph.position(dataset)]), 0),
        )


def spread(worth: Floats, places: Integers, count: int) -> Floats:
    """The worth of each place: that of its datasets together, nothing between them."""
    found = np.zeros((count, worth.shape[1]))
    np.add.at(found, places, worth)
    return found


def placed_rows(graph: RainbowGraph, boundary: Any, places: Integers) -> dict[int, Any] | None:
    """Fixed rows of datasets as fixed rows of their places."""
    if boundary is None:
        return None
    if not isinstance(boundary, Mapping):
        raise InvalidBoundary(
            "fixed rows on a graph with lengths must be given as {dataset: row}, since the border "
            f"of two regions is in the middle of an edge, got {type(boundary).__name__}"
        )
    found: dict[int, Any] = {}
    for dataset, row in boundary.items():
        place, exact = int(places[graph.position(dataset)]), in_order(row, graph.answers)
        if found.setdefault(place, exact) != exact:
            raise InvalidBoundary(
                f"{brief(dataset)} is less than one unit from a dataset with another fixed row, "
                "and the "
                "two are one place; give them the same row or use a smaller unit"
            )
    return found

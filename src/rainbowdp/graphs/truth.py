"""The true answer of each dataset: the first choice of its rainbow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.graphs.engines.narrow import number_type
from rainbowdp.graphs.graph import RainbowGraph


def first_choices(graph: RainbowGraph) -> NDArray[np.int64]:
    """For each region the index of its first choice among the answers."""
    place = {answer: number for number, answer in enumerate(graph.answers)}
    return np.array([place[region.rainbow[0]] for region in graph.regions.values()])


def true_answers(graph: RainbowGraph) -> NDArray[Any]:
    """For each dataset the index of its first choice among the answers, in few bytes."""
    narrow = number_type(len(graph.answers) - 1)
    found: NDArray[Any] = first_choices(graph).astype(narrow)[graph.region_numbers]
    return found

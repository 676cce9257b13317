"""The best boundary of a drawn graph, designed once for all graphs of the same shape.

Most edits leave it alone: another name, another weight, a street inside a region.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np

from rainbowdp.aliases import Answer, Label, Rainbow
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.mechanisms.design import default_boundary

_KEPT = 64


@dataclass(frozen=True)
class Shape:
    """All of a graph that its boundary's design depends on.

    ``regions`` are label, rainbow and the number of datasets at each depth, in order, and
    ``touching`` the pairs that touch. ``graph`` is one of that shape.
    """

    answers: tuple[Answer, ...]
    regions: tuple[tuple[Label, Rainbow, tuple[int, ...]], ...]
    touching: tuple[tuple[Label, Label], ...]
    graph: RainbowGraph = field(compare=False, repr=False)


def shape_of(graph: RainbowGraph) -> Shape:
    """The shape of ``graph``."""
    depths, numbers = graph.depths, graph.region_numbers
    regions = tuple(
        (
            region.label,
            region.rainbow,
            tuple(
                np.bincount(
                    depths[(numbers == number) & np.isfinite(depths)].astype(np.int64)
                ).tolist()
            ),
        )
        for number, region in enumerate(graph.regions.values())
    )
    return Shape(tuple(graph.answers), regions, graph.touching, graph)


def designed(graph: RainbowGraph, guarantee: TradeOffCurve) -> BoundaryCondition:
    """The boundary that ``rb.optimal`` designs for ``graph``."""
    if graph.lengths is not None:  # which are no part of a shape
        return default_boundary(graph, guarantee)
    return BoundaryCondition(graph, _designed(shape_of(graph), guarantee))


@lru_cache(maxsize=_KEPT)
def _designed(shape: Shape, guarantee: TradeOffCurve) -> Mapping[Label, Mapping[Answer, Fraction]]:
    found = default_boundary(shape.graph, guarantee)
    return {label: found.exact(label) for label in found.exact_rows}

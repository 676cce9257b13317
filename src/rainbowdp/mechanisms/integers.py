"""Put the rows of a graph's mechanism into integers: grown again from a boundary, or one by one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from rainbowdp.aliases import Floats, Integers
from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.exact.steps import in_answer_order, ladder, repaired
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.polygons import safe_curve
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.numeric.quantity import exact_distribution
from rainbowdp.rules.homogeneous.rule import Homogeneous


def regrown(
    graph: RainbowGraph, guarantee: TradeOffCurve, boundary: BoundaryCondition
) -> ExactMechanism:
    """The optimum of a boundary condition, grown in integers."""
    curve = safe_curve(guarantee)
    regions = graph.regions
    heads = {
        label: in_answer_order(row, regions[label].rainbow, graph.answers)
        for label, row in boundary.exact_rows.items()
    }
    fixed, mixing = repaired(guarantee, heads, graph.touching) if heads else ({}, Fraction(0))
    grown: dict[object, tuple[tuple[int, ...], ...]] = {}
    rows = {}
    for label, head in fixed.items():
        rainbow, deepest = regions[label].rainbow, regions[label].deepest
        assert deepest is not None
        start = in_answer_order(head, graph.answers, rainbow)
        if (start, deepest) not in grown:
            grown[start, deepest] = ladder(curve, start, deepest)
        rows[label] = tuple(
            in_answer_order(row, rainbow, graph.answers) for row in grown[start, deepest]
        )
    certain = {label: r.rainbow[0] for label, r in regions.items() if r.unbounded}
    return ExactMechanism(
        guarantee,
        graph.answers,
        Homogeneous(rows, certain, graph.touching),
        neighbors=graph.apart,
        mixing=mixing,
        locate=lambda dataset: (graph.region[dataset], graph.depth[dataset]),
    )


def row_by_row(
    graph: RainbowGraph,
    guarantee: TradeOffCurve,
    table: Floats,
    index: NDArray[Any],
    pairs: Integers,
    steps: Integers,
) -> ExactMechanism:
    """Each distinct row as a region of its own; ``pairs`` of them occur on neighbors.

    Pairs that are more than one step apart are held to the promise of one step: a file has no
    lengths.
    """
    if (steps == 0).any():
        raise InvalidMechanism(
            "two datasets whose edge is shorter than the unit must have one and the same row"
        )
    touching = tuple((int(a), int(b)) for a, b in pairs)
    heads = {number: exact_distribution(row.tolist()) for number, row in enumerate(table)}
    fixed, mixing = repaired(guarantee, heads, touching)
    return ExactMechanism(
        guarantee,
        graph.answers,
        Homogeneous({number: (row,) for number, row in fixed.items()}, {}, touching),
        neighbors=graph.apart,
        mixing=mixing,
        locate=lambda dataset: (int(index[graph.position(dataset)]), 0),
    )

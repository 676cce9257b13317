"""Mechanisms on graphs, put into integers."""

from __future__ import annotations

from fractions import Fraction

from rainbowdp.errors import RainbowError
from rainbowdp.exact.mechanism import ExactMechanism, Ladders, in_answer_order, ladder, repaired
from rainbowdp.guarantees.dp import Guarantee
from rainbowdp.guarantees.polygons import safe_curve
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.numeric.quantity import exact_distribution


def exact_mechanism(mechanism: Mechanism) -> ExactMechanism:
    """A float mechanism in integers, proved: regrown from its boundary, or row by row."""
    if mechanism.guarantee is None:
        raise RainbowError(
            "exact rows need a guarantee, got a mechanism without one; "
            "pass it as Mechanism.from_table(graph, table, DP(...))"
        )
    if mechanism.boundary is not None:
        return _regrown(mechanism, mechanism.guarantee, mechanism.boundary)
    return _row_by_row(mechanism, mechanism.guarantee)


def _regrown(
    mechanism: Mechanism, guarantee: Guarantee, boundary: BoundaryCondition
) -> ExactMechanism:
    graph, curve = mechanism.graph, safe_curve(guarantee)
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
        Ladders(rows, certain, graph.touching),
        mixing=mixing,
        locate=lambda dataset: (graph.region[dataset], graph.depth[dataset]),
    )


def _row_by_row(mechanism: Mechanism, guarantee: Guarantee) -> ExactMechanism:
    """Each distinct row as a region of its own, touching where two of them are neighbors."""
    graph = mechanism.graph
    touching = tuple((int(a), int(b)) for a, b in mechanism.row_pairs())
    heads = {number: exact_distribution(row.tolist()) for number, row in enumerate(mechanism.table)}
    fixed, mixing = repaired(guarantee, heads, touching)
    return ExactMechanism(
        guarantee,
        graph.answers,
        Ladders({number: (row,) for number, row in fixed.items()}, {}, touching),
        mixing=mixing,
        locate=lambda dataset: (int(mechanism.index[graph.position(dataset)]), 0),
    )

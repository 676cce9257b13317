"""The best mechanism for a fixed, homogeneous boundary condition.

On a dataset of depth t in a region with boundary distribution m, the greatest distribution any
mechanism with that guarantee and boundary can have is φ^t applied to the prefix sums of m, and
one mechanism attains it everywhere (the paper's Theorem 2, with the operator corrected; proof in
``docs/theory.md``). So the whole mechanism is one row for each region and depth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rainbowdp.aliases import Answer, Floats, Label
from rainbowdp.errors import InvalidGraph
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.morphisms import boundary_morphism
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.mechanisms.design import default_boundary
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.numeric.quantity import Number, exact_distribution

MOST_WEIGHTS = 1 << 27  # of rows in floats: a gigabyte


def optimal_on_graph(
    world: RainbowGraph,
    guarantee: TradeOffCurve,
    boundary: BoundaryCondition | Mapping[Label, Any] | Sequence[Any] | None = None,
) -> Mechanism:
    """The mechanism of a graph that dominates every other with this guarantee and boundary."""
    if boundary is None:
        condition = default_boundary(world, guarantee)
    elif isinstance(boundary, BoundaryCondition) and boundary.graph is world:
        condition = boundary
    else:
        condition = BoundaryCondition(world, boundary)
    condition.validate(guarantee)
    _refuse_long_ladders(world)
    morphism = boundary_morphism(world)
    lines = morphism.target
    place = {answer: number for number, answer in enumerate(world.answers)}
    table = np.zeros((len(lines), len(world.answers)))
    bounded = [region for region in world.regions.values() if region.deepest is not None]
    deepest: dict[Any, int] = {}  # regions with one row share their ladder, as far as it goes
    for region in bounded:
        row = condition.exact_rows[region.label]
        deepest[row] = max(deepest.get(row, 0), region.deepest or 0)
    known: dict[Any, Floats] = {}
    start = 0
    for region in world.regions.values():
        columns = [place[answer] for answer in region.rainbow]
        if region.deepest is not None:
            row = condition.exact_rows[region.label]
            if row not in known:
                known[row] = guarantee.rows(row, np.arange(deepest[row] + 1))
            end = start + region.deepest + 1
            table[start:end, columns] = known[row][: region.deepest + 1]
            start = end
        if region.unbounded:
            table[start, columns[0]] = 1.0
            start += 1
    rows = Mechanism(lines, table, np.arange(len(lines)), guarantee)
    index = rows.index[morphism.positions]
    return Mechanism(
        world, table, index, guarantee, name="homogeneous", rows=rows, boundary=condition
    )


def _refuse_long_ladders(world: RainbowGraph) -> None:
    deepest = [region.deepest for region in world.regions.values() if region.deepest is not None]
    weights = sum(depth + 1 for depth in deepest) * len(world.answers)
    if world.lengths is not None and weights > MOST_WEIGHTS:
        raise InvalidGraph(
            f"regions are up to {max(deepest):,} steps deep, which makes {weights:,} weights, more "
            f"than the limit of {MOST_WEIGHTS:,}; use a larger unit, or a mechanism by margins"
        )


def optimal_line(
    rainbow: Sequence[Answer], length: int, guarantee: TradeOffCurve, row: Sequence[Number]
) -> Mechanism:
    """The optimum on the (c, n)-line whose dataset 0 answers by ``row``.

    Parameters
    ----------
    rainbow
        The preference order of every dataset.
    length
        The number of edges of the line, from 0 to a million.
    guarantee
        What is promised between neighbors.
    row
        The probabilities at dataset 0, in preference order.

    Returns
    -------
    Mechanism
        The optimum; dataset t is t steps from dataset 0.

    Examples
    --------
    >>> from rainbowdp import DP
    >>> line = optimal_line(("yes", "no"), 2, DP.from_ratio(2), ("1/4", "3/4"))
    >>> [round(line[t]["yes"], 6) for t in range(3)]
    [0.25, 0.5, 0.75]

    """
    guarantee = curve_of(guarantee, "a line")
    graph = RainbowGraph.line(rainbow, length)
    row = exact_distribution(row, len(graph.answers))
    return Mechanism(
        graph, guarantee.rows(row, np.arange(length + 1)), np.arange(length + 1), guarantee
    )

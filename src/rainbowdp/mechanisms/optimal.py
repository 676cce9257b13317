"""The best mechanism for a fixed, homogeneous boundary condition.

On a dataset of depth t in a region with boundary distribution m, the greatest distribution any
mechanism with that guarantee and boundary can have is φ^t applied to the prefix sums of m, and
one mechanism attains it everywhere (the paper's Theorem 2, with the operator corrected; proof in
``docs/theory.md``). So the whole mechanism is one row for each region and depth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np

from rainbowdp.aliases import Answer, Floats, Label
from rainbowdp.answering.mechanism import QuestionMechanism, homogeneous
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.morphisms import boundary_morphism
from rainbowdp.guarantees.dp import Guarantee
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.numeric.quantity import Number, exact_distribution
from rainbowdp.questions import Question


@overload
def optimal(
    world: RainbowGraph,
    guarantee: Guarantee,
    boundary: BoundaryCondition | Mapping[Label, Any] | Sequence[Any] | None = None,
) -> Mechanism: ...
@overload
def optimal(
    world: Question, guarantee: Guarantee, boundary: Sequence[Any] | None = None
) -> QuestionMechanism: ...
def optimal(
    world: RainbowGraph | Question, guarantee: Guarantee, boundary: Any = None
) -> Mechanism | QuestionMechanism:
    """The mechanism that dominates every other with this guarantee and this boundary.

    ``boundary`` is a ``BoundaryCondition`` or what makes one; without it one is designed for the
    first choice, worst case first (``rb.design`` has more to choose from). It must be valid where
    regions touch, or ``InvalidBoundary`` says where it is not.
    Datasets that no boundary reaches get their first choice for certain. Greatest, not merely
    undominated: no mechanism does better at any dataset on any prefix of its rainbow.

    For a question the regions are the true answers, and ``boundary`` is one row, the true answer
    first; with two answers and none given, no mechanism has a better worst case at any margin.

    Cost: O(edges) for the depths and one closed-form row for each region and depth.

    >>> from rainbowdp import DP
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("yes", "no"), ("yes", "no"), ("no", "yes")])
    >>> best = optimal(graph, DP.from_ratio(3, 1), boundary=(0.75, 0.25))
    >>> {answer: round(p, 6) for answer, p in best[0].items()}
    {'yes': 0.916667, 'no': 0.083333}
    >>> bool(best.check())
    True
    """
    if not isinstance(world, RainbowGraph):
        return homogeneous(world, guarantee, boundary)
    if boundary is None:
        from rainbowdp.mechanisms.design import default_boundary

        condition = default_boundary(world, guarantee)
    else:
        condition = BoundaryCondition(world, boundary)
    condition.validate(guarantee)
    morphism = boundary_morphism(world)
    lines = morphism.target
    place = {answer: number for number, answer in enumerate(world.answers)}
    table = np.zeros((len(lines), len(world.answers)))
    known: dict[tuple[Any, int], Floats] = {}
    start = 0
    for region in world.regions.values():
        columns = [place[answer] for answer in region.rainbow]
        if region.deepest is not None:
            row = condition.exact_rows[region.label]
            key = (row, region.deepest)
            if key not in known:
                known[key] = guarantee.rows(row, np.arange(region.deepest + 1))
            end = start + region.deepest + 1
            table[start:end, columns] = known[key]
            start = end
        if region.unbounded:
            table[start, columns[0]] = 1.0
            start += 1
    rows = Mechanism(lines, table, np.arange(len(lines)), guarantee)
    index = rows.index[morphism.positions]
    return Mechanism(world, table, index, guarantee, rows=rows, boundary=condition)


def optimal_line(
    rainbow: Sequence[Answer], length: int, guarantee: Guarantee, row: Sequence[Number]
) -> Mechanism:
    """The optimum on the (c, n)-line whose dataset 0 answers by ``row``, in preference order."""
    graph = RainbowGraph.line(rainbow, length)
    row = exact_distribution(list(row), len(graph.answers))
    return Mechanism(
        graph, guarantee.rows(row, np.arange(length + 1)), np.arange(length + 1), guarantee
    )

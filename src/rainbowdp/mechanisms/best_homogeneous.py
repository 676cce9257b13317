"""The homogeneous mechanism that is worth most for a goal, whichever way its boundary is found.

It needs the regions, how many datasets there are at each depth, and what they are worth, so that a
boundary graph does as well as the graph itself if its places count as many datasets as they stand
for.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from rainbowdp.aliases import Label
from rainbowdp.errors import RainbowError
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.piecewise import PiecewiseLinear
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.mechanisms.design import design, moderate_levels, worst_case_boundary
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.optimal import optimal_on_graph
from rainbowdp.mechanisms.worths import Worths, is_better

_CELLS = 1 << 20  # datasets times answers up to which the worst case is designed, too
_COLUMNS = 8_000  # of a program for a boundary: some seconds


def best_homogeneous(
    graph: RainbowGraph,
    promise: TradeOffCurve,
    worths: Worths,
    *,
    cells: int,
    counts: Mapping[tuple[Label, int], int] | None = None,
) -> tuple[Mechanism, str]:
    """The mechanism, and how its boundary was found.

    ``cells`` are the datasets times the answers of the whole graph. Where ``graph`` is the boundary
    graph of a larger one, ``counts`` says how many datasets each region and depth stands for.
    """
    levels = moderate_levels(graph, _COLUMNS)
    found: list[tuple[float, Mechanism, str]] = []
    if isinstance(promise, PiecewiseLinear) and levels is not None:
        with suppress(RainbowError):  # a utility or an ε that no program is for
            drawn = design(graph, promise, utility=worths, levels=levels)
            made = optimal_on_graph(graph, promise, drawn.boundary)
            found.append((worths.mean(made), made, "its boundary designed for the sum"))
    if cells <= _CELLS:
        least = worst_case_boundary(graph, promise, counts)
        made = optimal_on_graph(graph, promise, least.boundary)
        found.append((worths.mean(made), made, f"its boundary {least.words}"))
    made = optimal_on_graph(graph, promise, BoundaryCondition.symmetric(graph, promise))
    found.append((worths.mean(made), made, "its boundary symmetric"))
    said = worths.constant()
    known = max(value for value, *_ in found)
    if _may_be_best(graph, promise, worths.always(said), known):
        made = optimal_on_graph(graph, promise, _always(graph, said))
        note = f"its boundary says {graph.answers[said]} everywhere"
        found.append((worths.mean(made), made, note))
    most, made, note = found[0]
    for value, other, words in found[1:]:
        if is_better(value, most):
            most, made, note = value, other, words
    return made, note


def _may_be_best(
    graph: RainbowGraph, promise: TradeOffCurve, everywhere: float, known: float
) -> bool:
    """Whether a boundary that says one answer can be worth more than what is ``known``.

    Under a pure ε its certainty does not change with depth, so that it is worth what the answer is
    worth ``everywhere``, unless some datasets reach no boundary.
    """
    pure = isinstance(promise, DP) and promise.delta == 0
    bounded = not any(region.unbounded for region in graph.regions.values())
    return not (pure and bounded) or everywhere > known


def _always(graph: RainbowGraph, said: int) -> BoundaryCondition:
    """One answer on every boundary: what is left where ε is too small to tell places apart."""
    row = {answer: int(number == said) for number, answer in enumerate(graph.answers)}
    bounded = [label for label, region in graph.regions.items() if region.deepest is not None]
    return BoundaryCondition(graph, dict.fromkeys(bounded, row))

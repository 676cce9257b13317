"""The two functions that make a mechanism for a graph or a question alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

from rainbowdp.aliases import Label
from rainbowdp.answering.best import by_kind
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.curve import curve_of
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.optimal import optimal_on_graph
from rainbowdp.mechanisms.proximity import proximity_on_graph
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

    Greatest, not merely undominated: no mechanism with the same boundary does better at any
    dataset on any prefix of its rainbow. Datasets that no boundary reaches get their first choice
    for certain. For a question, each true answer is a region. If no boundary is given, all other
    answers are equally likely at every depth, and no mechanism with this boundary says the true one
    more often; with two answers none has a better worst case at any margin, up to rounding.

    Parameters
    ----------
    world
        A rainbow graph or a question.
    guarantee
        What is promised between neighbors.
    boundary
        A ``BoundaryCondition`` or what makes one: a row, or a row for each region. Without it, one
        is designed for the first choice, worst case first (``rb.design`` has more to choose from).
        For a question it is one row, the true answer first.

    Returns
    -------
    Mechanism or QuestionMechanism
        The optimum, of the kind homogeneous. Cost on a graph: O(edges) for the depths and one
        closed-form row for each region and depth.

    Raises
    ------
    InvalidBoundary
        If the boundary breaks the guarantee where regions touch; the message says where.

    Examples
    --------
    >>> from rainbowdp import DP
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("yes", "no"), ("yes", "no"), ("no", "yes")])
    >>> best = optimal(graph, DP.from_ratio(3, 1), boundary=(0.75, 0.25))
    >>> {answer: round(p, 6) for answer, p in best[0].items()}
    {'yes': 0.916667, 'no': 0.083333}
    >>> bool(best.check())
    True

    """
    if isinstance(world, RainbowGraph):
        return optimal_on_graph(world, curve_of(guarantee, "optimal"), boundary)
    return by_kind(world, guarantee, "homogeneous", boundary=boundary)


@overload
def proximity(world: RainbowGraph, guarantee: Guarantee) -> Mechanism: ...
@overload
def proximity(world: Question, guarantee: Guarantee) -> QuestionMechanism: ...
def proximity(
    world: RainbowGraph | Question, guarantee: Guarantee
) -> Mechanism | QuestionMechanism:
    """The closed-form mechanism with a weight for each margin.

    On a graph the margin of an answer is the distance to the nearest dataset that prefers it.

    Parameters
    ----------
    world
        A rainbow graph or a question.
    guarantee
        An (ε,δ) guarantee. A question with q answers needs q − 1 ≤ e^ε.

    Returns
    -------
    Mechanism or QuestionMechanism
        The mechanism, checked.

    Raises
    ------
    InvalidGuarantee
        If the closed form is not private here; the message says from which ε on it is.

    Examples
    --------
    >>> from rainbowdp import DP, Winner
    >>> round(proximity(Winner(["a", "b", "c"]), DP(1))[{"a": 5, "b": 4}]["a"], 4)
    0.7177

    """
    if isinstance(world, RainbowGraph):
        return proximity_on_graph(world, guarantee)
    return by_kind(world, guarantee, "proximity")

"""The graph as a goal sees it: regions by the answer that is worth most, rainbows by worth.

A mechanism is private on the edges, whatever the regions are, so a designer is free to choose them.
Where a goal says what each answer is worth at each dataset, the true answer of a dataset is the one
that is worth most there, and a region prefers the others by their mean worth in it.
"""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats, Rainbow
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.rainbows import Utility
from rainbowdp.graphs.truth import true_answers
from rainbowdp.mechanisms.worths import AnyUtility, AnyWeights, Forbidden, Worths, goal_of

_SAME = 1e-12  # worths that differ by less are ties


def prefer(
    graph: RainbowGraph,
    utility: AnyUtility,
    weights: AnyWeights | None = None,
    forbid: Forbidden = (),
) -> RainbowGraph:
    """The same edges, with a region for each answer that is worth most somewhere.

    The rainbow of a region has its own answer first, then the others by their mean worth in it.
    Where two answers are worth most, the graph's own first choice is kept if it is one of them.

    Parameters
    ----------
    graph
        The rainbow graph.
    utility
        What an answer is worth, as in ``rb.best``.
    weights
        What each dataset counts in the mean.
    forbid
        Answers that are never given.

    Returns
    -------
    RainbowGraph
        The graph; it is ``graph`` itself if nothing changes.

    Raises
    ------
    RainbowError
        If utility or weights make no sense, or no answer is left.

    Examples
    --------
    >>> graph = RainbowGraph([(0, 1), (1, 2), (2, 3)], [("a", "b")] * 4)
    >>> away = np.array([[0, 3], [1, 2], [2, 1], [3, 0]])
    >>> [prefer(graph, -away).rainbow(node) for node in (1, 2)]
    [('a', 'b'), ('b', 'a')]

    """
    left, worths = goal_of(graph, utility, weights, forbid)
    return preferring(left, worths)


def preferring(graph: RainbowGraph, worths: Worths) -> RainbowGraph:
    """``prefer`` for worths that are known already."""
    size, first = len(graph.answers), true_answers(graph)
    chosen = best_columns(worths.table, worths.index, first)
    if (chosen == first).all():
        return reordered(graph, worths)
    present = np.unique(chosen)
    mean = _sums(chosen, size, worths)
    found = _changed(graph)
    numbers = np.zeros(size, dtype=np.min_scalar_type(max(len(present) - 1, 1)))
    numbers[present] = np.arange(len(present))
    found._region = numbers[chosen]
    found._labels = tuple(graph.answers[place] for place in present)
    listed = range(size)
    found._rainbows = tuple(_order(graph, mean[p], tuple(listed), int(p)) for p in present)
    return found


def reordered(graph: RainbowGraph, worths: Worths) -> RainbowGraph:
    """The same regions and first choices, the others by their mean worth in the region."""
    place = {answer: number for number, answer in enumerate(graph.answers)}
    sums = _sums(graph.region_numbers, len(graph.regions), worths)
    orders = []
    for rainbow, row in zip(graph._rainbows, sums, strict=True):
        columns = tuple(place[answer] for answer in rainbow)
        falling = row[list(columns)]
        slack = _SAME * np.abs(row).max(initial=0.0)
        rises = (np.diff(falling[1:]) > slack).any()
        orders.append(_order(graph, row, columns, columns[0]) if rises else rainbow)
    if tuple(orders) == graph._rainbows:
        return graph
    found = _changed(graph)
    found._rainbows = tuple(orders)
    return found


def follows(utility: AnyUtility | None) -> bool:
    """Whether a utility is about the graph's own order, which must then stay as it is."""
    return utility is None or isinstance(utility, Utility)


def _order(graph: RainbowGraph, row: Floats, columns: tuple[int, ...], first: int) -> Rainbow:
    others = sorted((c for c in columns if c != first), key=lambda c: -row[c])
    return tuple(graph.answers[c] for c in (first, *others))


def _sums(groups: NDArray[Any], size: int, worths: Worths) -> Floats:
    """The worth of each answer, summed over the datasets of each group as they count."""
    found = np.empty((size, worths.table.shape[1]))
    for number, column in enumerate(worths.table.T):
        each = column[worths.index].astype(np.float64)
        counted = each if worths.weights is None else each * worths.weights
        found[:, number] = np.bincount(groups, counted, size)
    return found


def best_columns(table: Floats, index: NDArray[Any], first: NDArray[Any]) -> NDArray[Any]:
    """The answer that is worth most by each indexed row; its first choice if it is one of them."""
    most = table.max(axis=1)
    slack = _SAME * np.abs(most)
    keeps = table[index, first] >= (most - slack)[index]
    found: NDArray[Any] = np.where(keeps, first, table.argmax(axis=1)[index])
    return found


def _changed(graph: RainbowGraph) -> RainbowGraph:
    """A copy of the graph that has forgotten what it worked out."""
    found = copy.copy(graph)
    for kind in type(graph).__mro__:
        for name, value in vars(kind).items():
            if isinstance(value, cached_property):
                found.__dict__.pop(name, None)
    return found

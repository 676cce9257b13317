"""Answers that must never be given: the same graph with fewer answers.

A forbidden answer is taken out of every rainbow. Regions stay as they are, and one whose first
choice was forbidden now wants its next one. Why everywhere and not at some datasets only: under
pure ε an answer that has no chance at one dataset has none at any dataset connected to it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

from rainbowdp.aliases import Answer
from rainbowdp.errors import InvalidRainbow
from rainbowdp.expecting import brief
from rainbowdp.graphs.graph import RainbowGraph


def forbid(graph: RainbowGraph, answers: Answer | Iterable[Answer]) -> RainbowGraph:
    """The same graph, in which some answers are never given.

    Nothing is searched again: edges, regions and depths are shared with ``graph``.

    Parameters
    ----------
    graph
        The rainbow graph.
    answers
        One answer or several.

    Returns
    -------
    RainbowGraph
        The graph with the answers that are left; every rainbow keeps their order.

    Raises
    ------
    InvalidRainbow
        If the graph has no such answer, or none would be left.

    Examples
    --------
    >>> roads = [(0, 1), (1, 2)]
    >>> graph = RainbowGraph(roads, [tuple("abc"), tuple("bca"), tuple("cab")])
    >>> forbid(graph, "b").rainbow(1)
    ('c', 'a')

    """
    left = left_without(graph.answers, answers)
    if left == graph.answers:
        return graph
    found = copy.copy(graph)
    for cached in ("regions", "region", "depth"):  # what knows its graph is made again
        found.__dict__.pop(cached, None)
    found.answers = left
    found._rainbows = tuple(
        tuple(answer for answer in rainbow if answer in left) for rainbow in graph._rainbows
    )
    return found


def left_without(
    answers: tuple[Answer, ...], forbidden: Answer | Iterable[Answer]
) -> tuple[Answer, ...]:
    """The answers that are left; refused where a forbidden one is none of them, or none is left."""
    alone = isinstance(forbidden, str) or not isinstance(forbidden, Iterable)
    unwanted: list[Answer] = [forbidden] if alone else list(forbidden)
    stray = next((answer for answer in unwanted if answer not in answers), None)
    if stray is not None:
        raise InvalidRainbow(
            f"a forbidden answer must be one of {_named(answers)}, got {brief(stray)}"
        )
    left = tuple(answer for answer in answers if answer not in unwanted)
    if not left:
        raise InvalidRainbow(
            f"at least one answer must be left, but all {len(answers)} are forbidden"
        )
    return left


def _named(answers: tuple[Answer, ...]) -> str:
    shown = ", ".join(map(str, answers[:5]))
    return shown if len(answers) <= 5 else f"{shown}, … ({len(answers)} in all)"

"""What neighbors are on a graph, in the words that files and messages use."""

from __future__ import annotations

ON_A_GRAPH = "joined by an edge"
_AT = "at a distance of "


def at_a_distance(length: str) -> str:
    """What neighbors are where edges have lengths.

    >>> at_a_distance("10 m")
    'at a distance of 10 m'
    """
    return f"{_AT}{length}"


def is_on_a_graph(neighbors: object) -> bool:
    """Whether these words say what neighbors are on a graph."""
    if not isinstance(neighbors, str):
        return False
    return neighbors == ON_A_GRAPH or (neighbors.startswith(_AT) and len(neighbors) > len(_AT))

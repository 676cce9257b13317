"""Random rainbow graphs, to try conjectures on."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence

from rainbowdp.aliases import Answer
from rainbowdp.errors import InvalidGraph
from rainbowdp.graphs.graph import RainbowGraph


def random_rainbow_graph(
    datasets: int,
    answers: Sequence[Answer],
    *,
    regions: int | None = None,
    extra: int | None = None,
    seed: int | None = None,
) -> RainbowGraph:
    """A connected random graph, cut into regions around random datasets, a random rainbow each.

    Every tree on the datasets has edges from each of them to a random earlier one, and ``extra``
    pairs are joined besides. A dataset belongs to the center that is nearest, so regions are
    connected and have an interior.

    Parameters
    ----------
    datasets
        How many, named 0, 1, 2, …
    answers
        At least one answer; the rainbows are random orders of them.
    regions
        How many centers; by default one for each answer. Two may draw the same rainbow, and are
        then one region.
    extra
        How many edges beyond those of the tree; by default as many as there are datasets.
    seed
        Makes the graph repeatable.

    Returns
    -------
    RainbowGraph
        The graph.

    Raises
    ------
    InvalidGraph
        If there are more regions than datasets, or a number is too small.

    Examples
    --------
    >>> random_rainbow_graph(30, ("red", "green", "blue"), seed=4)
    RainbowGraph(30 datasets, 58 edges, 3 regions, 3 answers)

    """
    listed = tuple(answers)
    centers = len(listed) if regions is None else regions
    if not listed or datasets < 1 or not 1 <= centers <= datasets:
        raise InvalidGraph(
            "a random rainbow graph needs an answer, and at least as many datasets as regions, got "
            f"{len(listed)} answers, datasets={datasets} and regions={centers}"
        )
    draw = random.Random(seed)  # noqa: S311  graphs to try things on, no secrets
    edges = {(draw.randrange(node), node) for node in range(1, datasets)}
    for _ in range((datasets if extra is None else extra) if datasets > 1 else 0):
        one, other = sorted(draw.sample(range(datasets), 2))
        edges.add((one, other))
    near: list[list[int]] = [[] for _ in range(datasets)]
    for one, other in sorted(edges):
        near[one].append(other)
        near[other].append(one)
    start = draw.sample(range(datasets), centers)
    rainbows = {node: tuple(draw.sample(listed, len(listed))) for node in start}
    queue = deque(start)
    while queue:
        node = queue.popleft()
        for other in near[node]:
            if other not in rainbows:
                rainbows[other] = rainbows[node]
                queue.append(other)
    ordered = {node: rainbows[node] for node in range(datasets)}
    return RainbowGraph(sorted(edges), ordered, answers=listed)

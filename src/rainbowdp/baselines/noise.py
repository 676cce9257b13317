"""Noise on a map: answer for a place drawn nearby instead of the own one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats
from rainbowdp.baselines.base import Baseline, ByLaw, checked, with_delta
from rainbowdp.errors import InvalidGraph
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.truth import true_answers
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee

_VISITS = 1 << 28  # of nodes and edges by all searches together: seconds


def noise_then_nearest(graph: RainbowGraph, guarantee: Guarantee) -> Baseline:
    """Draw another dataset with weight e^{−ε·distance/2}, and give its first choice.

    The exponential mechanism over places, as geo-indistinguishable noise is on a plane: a step
    changes each weight and their sum by at most the factor e^{ε/2}, so it keeps (ε, 0). It does
    not know where regions end. Cost: one search for each row.

    Parameters
    ----------
    graph
        A rainbow graph.
    guarantee
        An (ε,δ) guarantee.

    Returns
    -------
    Baseline
        The mechanism, for comparison only.

    Raises
    ------
    InvalidGraph
        If ``graph`` is a question; or, when rows are asked for, if their searches would visit more
        than 2^28 nodes and edges.

    Examples
    --------
    >>> from rainbowdp import DP
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("yes", "no"), ("yes", "no"), ("no", "yes")])
    >>> {answer: round(p, 4) for answer, p in noise_then_nearest(graph, DP(1))[0].items()}
    {'yes': 0.8137, 'no': 0.1863}

    """
    world, promise = checked(graph, guarantee)
    if not isinstance(world, RainbowGraph):
        raise InvalidGraph("noise on a map is for rainbow graphs only, got a question")
    keeps = with_delta(promise, 0)
    name = "noise, then nearest"
    return Baseline(world, promise, name, keeps, "margins", mechanism=_Noise(world, keeps, name))


class _Noise(ByLaw):
    """Rows by one search each."""

    def __init__(self, graph: RainbowGraph, keeps: DP, name: str) -> None:
        self._begin(graph, keeps, name)
        self._rate, self._truth = keeps.epsilon / 2, true_answers(graph)

    def rows_at(self, positions: NDArray[Any]) -> Floats:
        graph = self.graph
        visits = len(positions) * (len(graph) + graph.edge_count)
        if visits > _VISITS:
            raise InvalidGraph(
                f"noise on a map needs a search for each of {len(positions):,} datasets, which is "
                "too many on this graph; compare on some of them, with datasets="
            )
        rows = np.empty((len(positions), len(graph.answers)))
        for number, place in enumerate(positions):
            start = np.zeros(len(graph), dtype=np.bool_)
            start[place] = True
            weights = np.exp(-self._rate * graph.distances(start))
            rows[number] = np.bincount(self._truth, weights, rows.shape[1]) / weights.sum()
        return rows

"""The sweep against the same relaxation done slowly."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.graphs.engines import compiled, sweep
from rainbowdp.graphs.engines.sweep import Floats, spread
from strategies import graphs


@given(
    graphs(most=12, answers=3),
    st.lists(st.integers(1, 5000), min_size=12, max_size=12),
    st.sampled_from([1.0, 1.001, 1.1, 2.0, 7.5]),
    st.integers(0, 40),
)
def test_every_node_gets_the_largest_value_that_can_reach_it(
    graph: rb.RainbowGraph, values: list[int], ratio: float, each: int
) -> None:
    region = graph.region_numbers

    def shrink(x: Floats) -> Floats:
        return np.maximum(np.ceil((x - each) / ratio), 0.0)

    closed = region == 0
    sources = np.flatnonzero(closed)
    start = np.array(values, dtype=np.float64)[sources]
    found = spread(graph._offsets, graph._targets, closed, sources, start, shrink)

    slow = dict(zip(sources.tolist(), start.tolist(), strict=True))
    slow = {node: slow.get(node, 0.0) for node in range(len(graph))}
    joined = [(int(a), int(b)) for a, b in graph.edge_positions()]
    for _ in range(len(graph) + 1):
        for a, b in [*joined, *((b, a) for a, b in joined)]:
            if not closed[b]:
                slow[b] = max(slow[b], max(0.0, math.ceil((slow[a] - each) / ratio)))
    assert found[~closed].tolist() == [slow[n] for n in range(len(graph)) if not closed[n]]
    assert not found[closed].any()


def test_what_has_become_small_is_not_followed() -> None:
    nodes = np.arange(8)
    offsets = np.concatenate([[0], np.cumsum([1] + [2] * 6 + [1])])
    targets = np.array([t for n in nodes for t in (n - 1, n + 1) if 0 <= t < 8])
    found = spread(
        offsets, targets, nodes == 0, nodes[:1], np.array([64.0]), lambda x: x / 2, least=16
    )
    assert found.tolist() == [0, 32, 16, 0, 0, 0, 0, 0]


@given(
    graphs(most=12, answers=3),
    st.lists(st.integers(1, 5000), min_size=12, max_size=12),
    st.sampled_from([1.0, 0.999, 0.5, 0.13]),
    st.integers(0, 40),
)
def test_both_carriers_agree(
    graph: rb.RainbowGraph, values: list[int], factor: float, each: int
) -> None:
    truth = graph.region_numbers
    sources = np.flatnonzero(graph.depth_numbers == 0)
    start = np.array(values, dtype=np.float64)[sources]
    ways, step = graph.compressed, (float(each), factor)
    for answer in np.unique(truth[sources]):
        mine = truth[sources] == answer
        given = (*ways, truth, int(answer), sources[mine], start[mine], step)
        assert sweep.carried(*given).tolist() == compiled.carried(*given).tolist()
    given_all = (*ways, truth, sources, start, step)
    assert sweep.carried_sum(*given_all).tolist() == compiled.carried_sum(*given_all).tolist()

"""Every edge of random graphs, from the written files alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp import deployment
from rainbowdp.mechanisms import best_on_graphs
from strategies import deep_graphs, graphs
from written_edges import broken_edges

KINDS = ["best", *deployment.DEPLOYED]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    graph=st.one_of(graphs(most=9), deep_graphs(most=9)),
    kind=st.sampled_from(KINDS),
    epsilon=st.sampled_from(["0.1", "1/2", "1", "3"]),
    delta=st.sampled_from(["0", "0", "0.01"]),
    lengths=st.one_of(st.none(), st.lists(st.integers(1, 4), min_size=30, max_size=30)),
    fewest=st.booleans(),
    forbidden=st.booleans(),
)
def test_every_edge_of_what_is_written_keeps_the_promise(
    tmp_path: Path,
    graph: rb.RainbowGraph,
    kind: str,
    epsilon: str,
    delta: str,
    lengths: list[int] | None,
    fewest: bool,
    forbidden: bool,
) -> None:
    pairs = [(int(a), int(b)) for a, b in graph.edge_positions()]
    if lengths is not None and pairs:
        roads = rb.with_lengths(pairs, lengths[: len(pairs)], unit=1)
        orders = {label: region.rainbow for label, region in graph.regions.items()}
        names = list(graph.regions)
        labels = {node: names[number] for node, number in enumerate(graph.region_numbers.tolist())}
        graph = rb.RainbowGraph(roads, orders, graph.answers, labels=labels)
    forbid = graph.answers[:1] if forbidden and len(graph.answers) > 2 else ()
    with pytest.MonkeyPatch.context() as patch:
        if fewest and kind == "fixed-point":  # datasets share rows, as on a large graph
            patch.setattr(best_on_graphs, "_MENDED", 0)
            patch.setattr(deployment, "MOST_OF_ROWS", 6 * len(graph.answers))
        try:
            placed = rb.deploy(graph, rb.DP(epsilon, delta), kind, forbid=forbid)
        except (rb.InvalidGuarantee, rb.InvalidGraph, rb.InvalidMechanism):
            assume(False)
    file = placed.save(tmp_path / "out.json")
    ends = graph.edge_positions().tolist()
    steps = graph.edge_lengths().tolist()
    edges = [
        (graph.datasets[a], graph.datasets[b], n) for (a, b), n in zip(ends, steps, strict=True)
    ]
    assert broken_edges(file, edges) == []
    written = json.loads(file.read_text(encoding="utf-8"))
    assert not set(forbid) & set(written["answers"])


def test_the_checker_sees_a_row_that_leaks(tmp_path: Path) -> None:
    graph = rb.RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    file = rb.deploy(graph, rb.DP(1)).save(tmp_path / "out.json")
    edges = [(0, 1, 1), (1, 2, 1)]
    assert broken_edges(file, edges) == []
    content = json.loads(file.read_text(encoding="utf-8"))
    content["guarantee"]["epsilon"] = "99/100"
    file.write_text(json.dumps(content), encoding="utf-8")
    assert broken_edges(file, edges)

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rainbowdp as rb
from rainbowdp.graphs.edges import Edges
from reference import assert_one_sentence


@st.composite
def maps(draw: st.DrawFn) -> tuple[nx.Graph, list[int]]:
    """A graph with lengths, ties and zeros among them, and some of its nodes as sites."""
    size = draw(st.integers(1, 12))
    nodes = st.integers(0, size - 1)
    graph = nx.empty_graph(size)
    for a, b, length in draw(st.lists(st.tuples(nodes, nodes, st.integers(0, 3)), max_size=24)):
        graph.add_edge(a, b, length=length)
    return graph, draw(st.lists(nodes, min_size=1, max_size=4, unique=True))


def distance(graph: nx.Graph, a: int, b: int, weight: str | None) -> float:
    try:
        return float(nx.shortest_path_length(graph, a, b, weight=weight))
    except nx.NetworkXNoPath:
        return math.inf


@given(world=maps(), weighted=st.booleans(), parallel=st.integers(0, 3))
def test_the_nearest_site_by_definition(
    world: tuple[nx.Graph, list[int]], weighted: bool, parallel: int
) -> None:
    graph, sites = world
    pairs = [(a, b) for a, b in graph.edges] + [(b, a) for a, b in graph.edges]
    lengths = [graph.edges[a, b]["length"] for a, b in graph.edges]
    edges = Edges(
        np.array(pairs, dtype=np.uint32).reshape(-1, 2),
        range(len(graph)),
        np.array(lengths + [length + parallel for length in lengths], dtype=float),
    )
    near = rb.nearest_sites(edges, sites, weighted=weighted, unreached="first")
    far = {
        (a, s): distance(graph, a, s, "length" if weighted else None) for a in graph for s in sites
    }
    for node in graph:
        nearest = min(sites, key=lambda site: far[node, site])  # min takes the first of a tie
        assert near.labels[node] == nearest
        assert near.distances[node] == far[node, nearest]
    for site in sites:
        others = sorted((s for s in sites if s != site), key=lambda s: far[site, s])
        assert near.rainbows[site] == (site, *others)
    beyond = [node for node in graph if min(far[node, site] for site in sites) == math.inf]
    assert near.unreached == len(beyond)
    if beyond:
        with pytest.raises(rb.InvalidGraph) as refused:
            rb.nearest_sites(edges, sites, weighted=weighted)
        them = "the node" if len(beyond) == 1 else f"{len(beyond)} nodes, such as"
        assert_one_sentence(refused.value, f"reaches {them} {beyond[0]};", 'unreached="first"')
    else:
        assert rb.nearest_sites(edges, sites, weighted=weighted).rainbows == near.rainbows


@pytest.mark.parametrize("named", [False, True])
def test_sites_of_any_graph(named: bool) -> None:
    graph = nx.path_graph(5)
    if named:
        graph = nx.relabel_nodes(graph, dict(enumerate("abcde")))
    first, last = ("a", "e") if named else (0, 4)
    near = rb.nearest_sites(graph, {"north": first, "south": last})
    assert near.labels.tolist() == ["north"] * 3 + ["south"] * 2
    assert near.names == ("north", "south")
    world = rb.RainbowGraph(graph, near.rainbows, labels=near.labels)
    assert world.depth[first] == 2
    assert repr(near) == "NearestSites(2 sites, 5 nodes)"


def test_bare_pairs_name_their_nodes_in_order() -> None:
    near = rb.nearest_sites([("b", "a"), ("a", "c")], ["c"])
    assert near.distances.tolist() == [2, 1, 0]


def test_pairs_of_numbers_have_the_nodes_of_a_rainbow_graph() -> None:
    roads = [(3, 2), (2, 0)]  # labels in order of appearance would be another graph's
    near = rb.nearest_sites(roads, [3, 0], unreached="first")
    graph = rb.RainbowGraph(roads, near.rainbows, labels=near.labels)
    assert [graph.region[node] for node in (0, 2, 3)] == [0, 3, 3]


def test_nodes_that_no_site_reaches_go_to_the_first_if_you_say_so() -> None:
    near = rb.nearest_sites(np.array([[0, 1], [2, 3], [4, 5]]), [3, 1], unreached="first")
    assert near.labels.tolist() == [1, 1, 3, 3, 3, 3]
    assert near.unreached == 2
    graph = rb.RainbowGraph(np.array([[0, 1], [2, 3], [4, 5]]), near.rainbows, labels=near.labels)
    assert rb.optimal(graph, rb.DP(1))[5] == {3: 1.0, 1: 0.0}


def test_the_numbers_of_a_matrix_are_lengths() -> None:
    matrix = sparse.coo_array(
        (np.array([1.0, 1.0, 9.0]), (np.array([0, 1, 2]), np.array([1, 2, 3]))), shape=(4, 4)
    )
    assert rb.nearest_sites(matrix, [0, 3], weighted=True).labels.tolist() == [0, 0, 0, 3]
    counted = rb.nearest_sites(matrix, [0, 3], weighted=False)
    assert counted.labels.tolist() == [0, 0, 3, 3]
    with pytest.raises(rb.InvalidGraph, match="finite numbers from 0"):
        rb.nearest_sites(-matrix, [0, 3], weighted=True)


def test_progress_runs_to_the_end() -> None:
    seen: list[float] = []
    rb.nearest_sites([(0, 1), (1, 2)], [0, 2], progress=seen.append)
    assert seen == [0.5, 1.0]


BAD: list[tuple[Any, dict[str, Any], str]] = [
    ([], {}, "at least one site"),
    ([9], {}, "the site 9 is not a node"),
    ([True], {}, "the site True is not"),
    ([-1], {}, "the site -1 is not"),
    (["x"], {}, "the site 'x' is not"),
    ([0, 0], {}, "the node 0 twice"),
    ({"a": 0, "b": 0}, {}, "the node 0 twice"),
    ([0], {"weighted": True}, "needs edges with weights"),
    ([0], {"unreached": "drop"}, "unreached must be 'refuse' or 'first', got 'drop'"),
]


@pytest.mark.parametrize(("sites", "options", "said"), BAD)
def test_bad_sites_are_refused(sites: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(rb.InvalidGraph) as refused:
        rb.nearest_sites(np.array([[0, 1]]), sites, **options)
    assert_one_sentence(refused.value, said)


def test_bad_edges_are_refused() -> None:
    with pytest.raises(rb.InvalidGraph, match="from 0, got -1"):
        rb.nearest_sites(np.array([[0, -1]]), [0])
    with pytest.raises(rb.InvalidGraph, match="hashable"):
        rb.nearest_sites([([], 1)], [1])

"""Goals and lengths on disk: regions, depths, rows and values are those of the engine in memory."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.mechanisms.best_on_graphs import best_on_graph
from rainbowdp.on_disk.kinds import KINDS

SITES = ("a", "b", "c")
PROMISES = (rb.DP(1), rb.DP("0.4"), rb.DP("0.5", "0.01"), rb.GaussianDP(1))
few = settings(max_examples=12, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def roads(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], list[int]]:
    """Edges of a connected graph, with a whole length each."""
    size = draw(st.integers(4, 14))
    back = [draw(st.integers(max(0, node - 3), node - 1)) for node in range(1, size)]
    pairs = [(node + 1, end) for node, end in enumerate(back)]
    node = st.integers(0, size - 1)
    pairs += draw(st.lists(st.tuples(node, node), max_size=6))
    lengths = draw(st.lists(st.integers(0, 40), min_size=len(pairs), max_size=len(pairs)))
    return np.array(pairs), lengths


def in_memory(edges: rb.Edges, sites: dict[str, int], weighted: bool | None) -> rb.RainbowGraph:
    near = rb.nearest_sites(edges, sites, weighted=weighted)
    edges = edges if weighted is None else rb.with_lengths(edges, False)
    return rb.RainbowGraph(edges, near.rainbows, near.names, labels=near.labels)


def keys_of(file: Path, last: int | None) -> list[Any]:
    """The rows of a file of keys, margins cut off from where they make no difference."""
    with duckdb.connect() as connection:
        rows = connection.execute(f"FROM '{file}' ORDER BY node").fetchall()
    return rows if last is None else [(*r[:2], *(min(m, last) for m in r[2:])) for r in rows]


def must_agree(
    near: rb.DiskRegions, graph: rb.RainbowGraph, promise: Any, folder: Path, **wanted: Any
) -> None:
    """The best of the kinds on disk, and each value, against the engine in memory."""
    assert near.region_numbers().tolist() == graph.region_numbers.tolist()
    assert near.depths().tolist() == graph.depths.tolist()
    assert near.rainbows == {label: region.rainbow for label, region in graph.regions.items()}
    inside = dict(wanted)
    if isinstance(wanted.get("utility"), str):
        inside["utility"] = wanted["far"]
    wanted.pop("far", None), inside.pop("far", None)
    theirs = best_on_graph(graph, promise, kinds=KINDS, **inside)
    ours = rb.deploy_on_disk(near, promise, **wanted)
    values = {each.kind: each.value for each in theirs.candidates}
    for each in ours.candidates:
        assert (each.value is None) == (values[each.kind] is None), (each, values)
        if each.value is not None:
            assert each.value == pytest.approx(values[each.kind], rel=1e-7, abs=1e-9), each.kind
    assert (ours.mechanism.name, ours.goal) == (theirs.name, theirs.goal)
    assert ours.mechanism.describe() == theirs.exact().describe()
    deployed = rb.deployment.DEPLOYED[theirs.name](theirs.mechanism)
    assert ours.mean == pytest.approx(deployed.truth.mean(), rel=1e-9)
    assert ours.least == pytest.approx(deployed.truth.min(), rel=1e-9)
    ours.save(folder / "ours.json"), deployed.save(folder / "theirs.json")
    last = None
    if theirs.name != "homogeneous":
        last = ours.mechanism.rule.last_margin  # type: ignore[attr-defined]
    assert keys_of(folder / "ours.parquet", last) == keys_of(folder / "theirs.parquet", last)


@few
@given(data=st.data())
def test_goals_and_lengths_are_followed_as_in_memory(data: st.DataObject) -> None:
    pairs, lengths = data.draw(roads())
    size = int(pairs.max()) + 1
    places = data.draw(st.lists(st.integers(0, size - 1), min_size=3, max_size=3, unique=True))
    sites, promise = dict(zip(SITES, places, strict=True)), data.draw(st.sampled_from(PROMISES))
    mode = data.draw(st.sampled_from([False, "nearest", True]))
    unit = data.draw(st.sampled_from([1, 7, "2.5"]))
    with TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "roads.csv"
        rows = (f"{a},{b},{n}\n" for (a, b), n in zip(pairs.tolist(), lengths, strict=True))
        file.write_text("from,to,length\n" + "".join(rows))
        edges = rb.read_graph(file, weight="length")
        if mode is True:
            edges = rb.with_lengths(edges, unit=unit, measure="m")
        by_length = mode is not False
        graph = in_memory(edges, sites, None if mode is True else by_length)
        wanted: dict[str, Any] = {}
        if data.draw(st.booleans()):
            weights = data.draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
            wanted["weights"] = np.array(weights) if any(weights) else np.ones(size)
        if data.draw(st.booleans()):
            wanted["forbid"] = data.draw(st.sampled_from(SITES))
        utility = data.draw(st.sampled_from(["none", "region", "distance"]))
        if utility == "region":
            cost = st.integers(0, 20)
            wanted["utility"] = {
                label: {v: -data.draw(cost) for v in SITES} for label in graph.regions
            }
        elif utility == "distance":
            far = rb.site_distances(edges if by_length else graph, sites, weighted=by_length)
            wanted |= {"utility": "distance", "far": -far if len(graph) != 3 else None}
        with rb.graph_on_disk(
            file, weight="length", lengths=mode, unit=unit, measure="m", memory="200MB"
        ) as held:
            near = held.nearest_sites(sites)
            assert held.apart == graph.apart
            must_agree(near, graph, promise, folder, **wanted)

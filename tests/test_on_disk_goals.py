"""Goals and lengths on disk: regions, depths, rows and values are those of the engine in memory."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import rainbowdp as rb
from rainbowdp.cli import app
from rainbowdp.graphs.disk_loading import DiskLengths
from rainbowdp.graphs.engines import measured_joins
from rainbowdp.mechanisms.best_on_graphs import best_on_graph
from rainbowdp.on_disk.kinds import KINDS

SITES = ("a", "b", "c")
PROMISES = (rb.DP(1), rb.DP("0.4"), rb.DP("0.5", "0.01"), rb.GaussianDP(1))
few = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(few, max_examples=60)


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
        if each.kind == "proximity" and each.value is None and promise == PROMISES[2]:
            continue  # on disk a δ needs e^ε ≥ q − 1, whatever the graph
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
    must_be_followed(data)


@pytest.mark.slow
@many
@given(data=st.data())
def test_many_goals_and_lengths_are_followed_as_in_memory(data: st.DataObject) -> None:
    must_be_followed(data)


def must_be_followed(data: st.DataObject) -> None:
    """A random map, promise, goal and use of lengths, on disk and in memory."""
    pairs, lengths = data.draw(roads())
    size = int(pairs.max()) + 1
    places = data.draw(st.lists(st.integers(0, size - 1), min_size=3, max_size=3, unique=True))
    sites, promise = dict(zip(SITES, places, strict=True)), data.draw(st.sampled_from(PROMISES))
    mode: Any = data.draw(st.sampled_from([False, "nearest", True]))
    unit: Any = data.draw(st.sampled_from([1, 7, "2.5"]))
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


def command(folder: Path, engine: str, *options: str) -> dict[str, Any]:
    """What ``rainbow design`` says as JSON, and the keys that it writes."""
    out = folder / f"{engine}.json"
    words = ["design", str(folder / "roads.csv"), "-o", str(out), "--engine", engine, "--json"]
    said = CliRunner().invoke(app, [*words, *options])
    assert said.exit_code == 0, said.output
    told: dict[str, Any] = json.loads(said.stdout)
    return {**told, "read": keys_of(out.with_suffix(".parquet"), None)}


NEAR = ("--sites", "a=0,b=7,c=16")
BY_EDGE = (*NEAR, "--columns", "from,to", "--epsilon", "0.7")
SAME = ("nodes", "edges", "regions", "touching", "neighbors", "guarantee", "lengths", "forbidden")


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        (*BY_EDGE, "--mechanism", "homogeneous"),
        (*BY_EDGE, "--boundary", "total", "--weights", "people.csv"),
        (*BY_EDGE, "--boundary", "total", "--loss", "distance", "--forbid", "b"),
        (*BY_EDGE, "--boundary", "symmetric", "--forbid", "b"),
        (*BY_EDGE, "--boundary", "0.5,0.25,0.25"),
        (*BY_EDGE, "--mechanism", "margin-flip", "--weight", "length"),
        (*BY_EDGE, "--boundary", "total", "--loss", "distance", "--weight", "length"),
        (*NEAR, "--weight", "length", "--epsilon-per-km", "90", "--lengths-in", "ft"),
        (*NEAR, "--weight", "length", "--mu-per-km", "20", "--unit", "2.5m", "--boundary", "worst"),
    ],
)
def test_the_command_does_on_disk_what_it_does_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    edges = [(node, node + 1) for node in range(18)] + [(0, 5), (3, 12)]
    rows = (f"{a},{b},{(a * 7) % 13 + 4.5}\n" for a, b in edges)
    Path("roads.csv").write_text("from,to,length\n" + "".join(rows))
    Path("people.csv").write_text("node,weight\n1,70\n9,5\n16,30\n")
    theirs, ours = (command(tmp_path, engine, *options) for engine in ("memory", "duckdb"))
    assert {name: ours[name] for name in SAME} == {name: theirs[name] for name in SAME}
    assert ours["truth"] == pytest.approx(theirs["truth"], rel=1e-9)
    values = {each["kind"]: each["value"] for each in theirs["candidates"] or []}
    for each in ours["candidates"] or []:
        if (value := values[each["kind"]]) is None:
            assert each["value"] is None
        else:
            assert each["value"] == pytest.approx(value, rel=1e-7)
    if not theirs["candidates"]:
        assert (ours["kind"], ours["boundary"]) == (theirs["kind"], theirs["boundary"])
    if ours["kind"] == theirs["kind"] == "homogeneous":
        assert ours["read"] == theirs["read"]
        assert rb.load("duckdb.json").describe() == rb.load("memory.json").describe()


def test_ties_are_worth_the_same_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("roads.csv").write_text("".join(f"{node},{node + 1}\n" for node in range(9)))
    marks = "".join(f"{node},{'north' if node < 5 else 'south'}\n" for node in range(10))
    Path("labels.csv").write_text("node,label\n" + marks)
    Path("rainbows.csv").write_text("north,a|b,c\nsouth,c,a|b\n")
    asked = ("--labels", "labels.csv", "--rainbows", "rainbows.csv", "--ties", "|")
    options = (*asked, "--epsilon", "1", "--boundary", "total")
    theirs, ours = (command(tmp_path, engine, *options) for engine in ("memory", "duckdb"))
    assert (ours["truth"], ours["read"]) == (theirs["truth"], theirs["read"])
    refused = CliRunner().invoke(
        app,
        [
            "design",
            "roads.csv",
            *asked,
            "--epsilon",
            "1",
            "--engine",
            "duckdb",
            "-o",
            "x.json",
            "--loss",
            "distance",
        ],
    )
    assert "--loss distance needs --sites, got --labels" in refused.output


def test_what_a_graph_with_lengths_on_disk_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "roads.csv"
    file.write_text("from,to,length\n0,1,4\n1,2,30\n2,3,1\n")

    def opened(**given: Any) -> Any:
        return rb.graph_on_disk(file, memory="100MB", **{"weight": "length", **given})

    with opened(lengths=True, unit=10, measure="m") as held:
        with pytest.raises(rb.InvalidGraph, match="between 0 and 1 is shorter than the unit"):
            held.labeled(np.array([0, 1, 1, 1]), {0: ("x", "y"), 1: ("y", "x")})
        assert held.lengths == DiskLengths(Fraction(10), "m", 30 / 35, 2)
        far = held.engine.run(f"SELECT d0 FROM {held.distance_table([0])} ORDER BY place")
        assert far == [(0.0,), (0.0,), (30.0,), (30.0,)]  # the ends of a short edge are one place
        near = held.nearest_sites([1, 2])
        search = measured_joins.margins

        def forged(engine: Any, *given: Any) -> str:  # no jump, but two middles of one edge
            found = search(engine, *given)
            assert engine.run(f"SELECT m0, m1 FROM {found}") == [(0, 2), (0, 2), (2, 0), (2, 0)]
            engine.run(f"UPDATE {found} SET m1 = 3 WHERE place < 2")
            return found

        monkeypatch.setattr(measured_joins, "margins", forged)
        with pytest.raises(rb.InvalidMechanism, match="steps of an edge, but on 1 edges they do"):
            rb.deploy_on_disk(near, rb.DP(1), "margin-flip")
        table = near.depth_table
        held.engine.run(f"UPDATE {table} SET level = level + 1 WHERE place = 1")
        with pytest.raises(rb.InvalidGraph, match="or by its steps, but on 2 edges they do not"):
            rb.deploy_on_disk(near, rb.DP(1), "homogeneous")
    for other, said in (
        ({"lengths": None}, "has lengths, and it must be said what they are for"),
        ({"lengths": True, "unit": 0}, "unit must be a length above 0"),
        ({"lengths": True, "unit": "1e-9"}, "at most 2,000,000,000 units of 1e-09, got 30"),
    ):
        with pytest.raises(rb.InvalidGraph, match=said), opened(**other):
            pass
    file.write_text("from,to,length\n0,1,4\n1,2,-3\n")
    with pytest.raises(rb.InvalidGraph, match=r"got -3 in .*, line 3"), opened(lengths=True):
        pass
    file.write_text("0,1\n1,2\n")
    with pytest.raises(rb.InvalidGraph, match="has no lengths"), opened(weight=None, lengths=True):
        pass

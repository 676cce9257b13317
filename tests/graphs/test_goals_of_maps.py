"""Forbidden answers, ties, distances to sites, and goals from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from reference import assert_one_sentence
from strategies import graphs

ROADS = [(n, n + 1) for n in range(8)]


@settings(max_examples=10, deadline=None)
@given(graphs(answers=3), st.sampled_from(["0.3", "1"]))
def test_a_forbidden_answer_is_gone_and_nothing_else(graph: rb.RainbowGraph, epsilon: str) -> None:
    depths = list(graph.depth.values())
    gone = graph.answers[1]
    left = rb.forbid(graph, gone)
    assert left.answers == (graph.answers[0], graph.answers[2])
    assert list(left.depth.values()) == depths
    for dataset in graph.datasets:
        whole = graph.rainbow(dataset)
        assert left.rainbow(dataset) == tuple(answer for answer in whole if answer != gone)
        assert left.region[dataset] == graph.region[dataset]
    assert {r.label: r.rainbow for r in left.regions.values()} == {
        label: tuple(a for a in region.rainbow if a != gone)
        for label, region in graph.regions.items()
    }
    choice = rb.best(graph, rb.DP(epsilon), forbid=gone)
    assert choice.check()
    assert all(gone not in choice[dataset] for dataset in graph.datasets)
    program = rb.program(graph, rb.DP(epsilon), forbid=gone)
    assert gone not in program[graph.datasets[0]]
    assert choice.value <= program.bound / len(graph) + 1e-6


def test_what_forbids_too_much_is_one_sentence() -> None:
    graph = rb.RainbowGraph([(0, 1)], [("a", "b"), ("b", "a")])
    assert rb.forbid(graph, []) is graph
    for wrong, said in ((["a", "b"], "at least one answer must be left"), ("x", "got 'x'")):
        with pytest.raises(rb.InvalidRainbow) as refused:
            rb.best(graph, rb.DP(1), forbid=wrong)
        assert_one_sentence(refused.value, said)


def test_ties_and_short_rainbows_are_written_out() -> None:
    found = rb.partial_rainbows(
        {"n": ["a"], "s": [["c", "b"], "a"], "w": ["c", {"a", "b"}]}, list("abc")
    )
    assert found.rainbows == {"n": tuple("abc"), "s": tuple("bca"), "w": tuple("cab")}
    assert found.utility["s"] == {"a": 0.0, "b": 1.0, "c": 1.0}
    assert found.tiers["w"] == {"a": 1, "b": 1, "c": 0}
    assert found.tied
    labels = ["n", "n", "n", "s", "s", "s", "w", "w", "w"]
    graph = rb.RainbowGraph(ROADS, found.rainbows, found.answers, labels=labels)
    choice = rb.best(graph, rb.DP("0.5"), utility=found.utility)
    by_hand = np.mean(
        [sum(found.utility[labels[d]][a] * p for a, p in choice[d].items()) for d in range(9)]
    )
    assert choice.value == pytest.approx(by_hand)
    bound = rb.program(graph, rb.DP("0.5"), utility=found.utility).bound / 9
    assert choice.value <= bound + 1e-9
    assert bound > rb.program(graph, rb.DP("0.5")).bound / 9  # a tie is easier
    wrongs: list[dict[str, list[str]]] = [{"n": []}, {"n": ["a", "a"]}]
    for wrong in wrongs:
        with pytest.raises(rb.InvalidRainbow):
            rb.partial_rainbows(wrong, ["a", "b"])
    with pytest.raises(rb.InvalidRainbow, match="unknown answer 'x'"):
        rb.partial_rainbows({"n": ["x"]}, ["a", "b"])


def test_distances_to_sites_are_those_of_networkx() -> None:
    roads = nx.gnm_random_graph(40, 60, seed=3)
    near = rb.nearest_sites(roads, {"x": 3, "y": 20, "z": 30}, unreached="first")
    graph = rb.RainbowGraph(roads, near.rainbows, near.names, labels=near.labels)
    names = list(graph.datasets)
    for found in (
        rb.site_distances(graph, {"z": 30, "x": 3, "y": 20}),
        rb.site_distances(roads, [3, 20, 30])[[list(roads).index(n) for n in names]],
    ):
        for column, site in enumerate((3, 20, 30)):
            length = nx.single_source_shortest_path_length(roads, site)
            expected = [length.get(node, np.inf) for node in names]
            assert found[:, column].tolist() == expected
    with pytest.raises(rb.InvalidGraph, match="'z' has none"):
        rb.site_distances(graph, {"x": 3, "y": 20})


def test_regions_follow_the_goal() -> None:
    graph = rb.RainbowGraph(ROADS, {"x": ("x", "y"), "y": ("y", "x")}, labels=["x"] * 9)
    away = rb.site_distances(graph, {"x": 0, "y": 8})
    aimed = rb.prefer(graph, -away)
    assert [aimed.rainbow(n)[0] for n in range(9)] == ["x"] * 5 + ["y"] * 4  # the tie stays
    assert aimed.depth[0] == 4
    choice = rb.best(graph, rb.DP("0.5"), utility=-away)
    sure = rb.optimal(graph, rb.DP("0.5"))
    assert choice.value > sure.utility(-away) / 9
    assert choice.mechanism.utility(-away) / 9 == pytest.approx(choice.value)
    assert rb.prefer(aimed, -away) is aimed
    matrix = {"x": {"x": 0, "y": -3}, "y": {"x": -3, "y": 0}}
    assert rb.prefer(aimed, matrix) is aimed


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_losses_and_weights_from_files(tmp_path: Path, ending: str) -> None:
    loss, people = tmp_path / f"loss.{ending}", tmp_path / f"people.{ending}"
    mark = "\t" if ending == "tsv" else ","
    for file, text in (
        (loss, "site,17,b\n17,0,5\nb,4,0.5\n"),
        (people, "node,weight\n0,7\n2,0.5\n"),
    ):
        if ending == "parquet":
            plain = tmp_path / "plain.csv"
            plain.write_text(text)
            duckdb.execute(f"COPY (FROM read_csv('{plain}')) TO '{file}' (FORMAT parquet)")
        else:
            file.write_text(text.replace(",", mark))
    expected = {17: {17: 0.0, "b": 5.0}, "b": {17: 4.0, "b": 0.5}}
    assert rb.read_loss(loss, [17, "b"], [17, "b"]) == expected
    (tmp_path / "roads.csv").write_text("0,1\n1,2\n")
    roads = rb.read_graph(tmp_path / "roads.csv")
    assert rb.read_weights(people, roads).tolist() == [7.0, 0.0, 0.5]
    np.save(tmp_path / "people.npy", [1, 2, 3])
    assert rb.read_weights(tmp_path / "people.npy", roads).tolist() == [1.0, 2.0, 3.0]


LOSS: list[tuple[str, str]] = [
    ("", "is empty"),
    ("s,a\na,0\nb,1\n", "none for b in"),
    ("s,a,b,c\na,0,1,2\nb,1,0,2\n", "the unknown c in"),
    ("s,a,a\na,0,1\nb,1,0\n", "must be different, got a in"),
    ("s,a,b\na,0,1\n", "no losses for b and is a matrix of 1 by 2"),
    ("s,a,b\na,0,1\nb,1\n", "got 1 in {0}, line 3"),
    ("s,a,b\na,0,1\nb,1,much\n", "got much in {0}, line 3"),
    ("s,a,b\na,0,1\nb,1,\n", "got nothing in {0}, line 3"),
    ("s,a,b\na,0,inf\nb,1,0\n", "forbid an answer"),
    ("s,a,b\na,0,1\na,1,0\n", "two lines of losses, the second in {0}, line 3"),
    ("s,a,b\na,0,1\nq,1,0\n", "got q in {0}, line 3"),
]


@pytest.mark.parametrize(("text", "said"), LOSS)
def test_a_loss_matrix_that_makes_no_sense(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "loss.csv"
    file.write_text(text)
    with pytest.raises(rb.RainbowError) as refused:
        rb.read_loss(file, ["a", "b"], ["a", "b"])
    assert_one_sentence(refused.value, said.format(file))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("node,weight\n0,1\n1,-2\n", "got -2 in {0}, line 3"),
        ("node,weight\n0,1\n1,many\n", "got many in {0}, line 3"),
        ("node,weight\n0,1\n1,inf\n", "got inf in {0}, line 3"),
        ("node,weight\n0,1\n0,2\n", "two weights for node 0"),
        ("node,weight\n0,1\n9,2\n", "a weight for node 9, which is not in the graph"),
        ("node,weight\n0,0\n", "none has"),
        ("a,b,c\n0,1,2\n", "needs two columns"),
    ],
)
def test_weights_that_make_no_sense(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "people.csv"
    file.write_text(text)
    (tmp_path / "roads.csv").write_text("0,1\n1,2\n")
    with pytest.raises(rb.RainbowError) as refused:
        rb.read_weights(file, rb.read_graph(tmp_path / "roads.csv"))
    assert_one_sentence(refused.value, said.format(file))
    for wrong in ([1, 2], [1, 2, -1]):
        np.save(tmp_path / "people.npy", wrong)
        with pytest.raises(rb.RainbowError):
            rb.read_weights(tmp_path / "people.npy", rb.read_graph(tmp_path / "roads.csv"))


def test_design_honors_the_whole_goal() -> None:
    labels = ["x"] * 3 + ["y"] * 3 + ["z"] * 3
    rainbows: dict[str, Any] = {"x": tuple("xyz"), "y": tuple("yxz"), "z": tuple("zyx")}
    graph = rb.RainbowGraph(ROADS, rainbows, labels=labels)
    drawn = rb.design(graph, rb.DP(1), weights={n: 1 + n for n in range(9)}, forbid="y")
    assert drawn.boundary.graph.answers == ("x", "z")
    made = rb.optimal(drawn.boundary.graph, rb.DP(1), drawn.boundary)
    counts = np.arange(1, 10)
    assert made.utility(weights=counts) == pytest.approx(drawn.value, rel=1e-6)
    by_array = rb.design(graph, rb.DP(1), weights=counts, forbid="y")
    assert by_array.value == pytest.approx(drawn.value)
    heavy = {
        "x": {"x": 0, "y": -5, "z": -1},
        "y": {"x": -1, "y": 0, "z": -2},
        "z": {"x": -2, "y": -1, "z": 0},
    }
    with pytest.raises(rb.RainbowError, match=r"rb\.prefer"):
        rb.design(graph, rb.DP(1), utility=heavy)
    assert rb.design(rb.prefer(graph, heavy), rb.DP(1), utility=heavy).optimal

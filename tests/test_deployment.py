from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbow_release
import rainbowdp as rb
from rainbowdp import deployment
from rainbowdp.deployment import DEPLOYED
from rainbowdp.mechanisms.kinds import ON_GRAPHS
from rainbowdp.rules import FAMILIES
from rainbowdp.storage.documents import checksum, checksummed
from rainbowdp.studio.offers import CALLS
from reference import assert_one_sentence
from strategies import graphs

# Three sites on a line, and a component that no site reaches.
ROADS = [(i, i + 1) for i in range(8)] + [(10, 11)]


@pytest.fixture
def roads(tmp_path: Path) -> rb.RainbowGraph:
    path = tmp_path / "roads.csv"
    path.write_text("".join(f"{a},{b}\n" for a, b in ROADS))
    edges = rb.read_graph(path)
    sites = {"west": 0, "middle": 4, "east": 8}
    near = rb.nearest_sites(edges, sites, unreached="first")
    return rb.RainbowGraph(edges, near.rainbows, near.names, labels=near.labels)


def rows(path: Path) -> list[tuple[Any, ...]]:
    return duckdb.execute(f"FROM '{path}' ORDER BY node").fetchall()


def test_a_place_and_the_file_are_enough_to_answer(tmp_path: Path, roads: rb.RainbowGraph) -> None:
    placed = rb.deploy(roads, rb.DP(1))
    mechanism = placed.save(tmp_path / "out.json")
    loaded, nodes = rb.load(mechanism), mechanism.with_suffix(".parquet")
    found = rows(nodes)
    assert [node for node, *_ in found] == list(roads.datasets)
    for node, region, depth in found:
        place = (region, math.inf if depth is None else depth)
        assert loaded[place] == placed.mechanism[node]
        truth = loaded[place][roads.rainbow(node)[0]]
        assert float(truth) == pytest.approx(placed.truth[roads.position(node)])
    assert found[-1] == (11, "west", None)


def test_margins_and_the_file_are_enough_to_answer(tmp_path: Path, roads: rb.RainbowGraph) -> None:
    placed = rb.deploy(roads, rb.DP(1), "proximity")
    mechanism = placed.save(tmp_path / "out.json")
    loaded, nodes = rb.load(mechanism), mechanism.with_suffix(".parquet")
    cut = len(placed.mechanism.rule.steps)  # type: ignore[attr-defined]
    for node, region, *margins in rows(nodes):
        place = dict(zip(roads.answers, margins, strict=True))
        assert loaded[place] == placed.mechanism[node]
        assert place[region] == 0
        for answer, margin in place.items():
            away = [abs(node - other) for other in range(9) if roads.region[other] == answer]
            if node < 9:
                assert margin == min(away)
            elif answer != "west":
                assert margin == cut
        assert float(loaded[place][region]) == pytest.approx(placed.truth[roads.position(node)])


def test_the_places_name_the_mechanism_they_belong_to(
    tmp_path: Path, roads: rb.RainbowGraph
) -> None:
    placed = rb.deploy(roads, rb.DP(1))
    nodes = placed.save(tmp_path / "out.json").with_suffix(".parquet")
    found = duckdb.execute(f"SELECT key, value FROM parquet_kv_metadata('{nodes}')").fetchall()
    assert found == [(b"mechanism", checksum(placed.mechanism.describe()).encode())]


@given(graph=graphs(answers=3), epsilon=st.sampled_from(["0.8", "1", "3"]))
def test_proximity_keeps_its_guarantee_on_every_edge(graph: rb.RainbowGraph, epsilon: str) -> None:
    placed = rb.deploy(graph, rb.DP(epsilon), "proximity")
    most = Fraction(math.exp(float(epsilon))) * (1 + Fraction(1, 10**12))
    for a in graph.datasets:
        for b in graph.neighbors(a):
            for answer, p in placed.mechanism[a].items():
                assert p <= most * placed.mechanism[b][answer]


def test_numbers_stay_numbers(tmp_path: Path) -> None:
    labels = [7, 7, 9]
    graph = rb.RainbowGraph([(0, 1), (1, 2)], {7: ("a", "b"), 9: ("b", "a")}, labels=labels)
    file = rb.deploy(graph, rb.DP(1)).save(tmp_path / "out.json")
    assert rows(file.with_suffix(".parquet")) == [(0, 7, 1), (1, 7, 0), (2, 9, 0)]


def test_nothing_is_left_of_an_interrupted_run(
    tmp_path: Path, roads: rb.RainbowGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed = rb.deploy(roads, rb.DP(1))
    before = set(tmp_path.iterdir())

    def stop(*_: Any) -> None:
        assert len(set(tmp_path.iterdir()) - before) == 1  # the draft of the places
        raise KeyboardInterrupt

    monkeypatch.setattr("rainbowdp.deployment.write_sealed", stop)
    with pytest.raises(KeyboardInterrupt):
        placed.save(tmp_path / "out.json")
    assert set(tmp_path.iterdir()) == before


def test_what_cannot_be_written(tmp_path: Path, roads: rb.RainbowGraph) -> None:
    placed = rb.deploy(roads, rb.DP(1))
    with pytest.raises(rb.InvalidMechanism, match=r"must not end in \.parquet"):
        placed.save(tmp_path / "out.parquet")
    with pytest.raises(rb.InvalidFile) as refused:
        placed.save(tmp_path / "none" / "out.json")
    assert_one_sentence(refused.value, "cannot write", tmp_path / "none")
    pairs = rb.RainbowGraph([((0, 0), (0, 1))], {(0, 0): ("a", "b"), (0, 1): ("b", "a")})
    with pytest.raises(rb.InvalidGraph, match="whole numbers or texts"):
        rb.deploy(pairs, rb.DP(1)).save(tmp_path / "out.json")


def test_more_regions_than_fit(roads: rb.RainbowGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deployment, "MOST_WEIGHTS", 10)
    with pytest.raises(rb.InvalidGraph) as refused:
        rb.deploy(roads, rb.DP(1))
    assert_one_sentence(refused.value, "the limit of 10;", "3 regions and 3 answers")


def test_a_graph_of_one_region(tmp_path: Path) -> None:
    graph = rb.RainbowGraph([(0, 1)], [("a", "b"), ("a", "b")])
    placed = rb.deploy(graph, rb.DP(1))
    assert placed.truth.tolist() == [1, 1]
    nodes = placed.save(tmp_path / "out.json").with_suffix(".parquet")
    assert rows(nodes) == [(0, "('a', 'b')", None), (1, "('a', 'b')", None)]


def test_a_graph_is_deployed_with_every_kind_it_has() -> None:
    assert list(DEPLOYED) == [*ON_GRAPHS, "fixed-point", "primal-dual"]
    assert list(ON_GRAPHS) == list(CALLS)
    assert set(ON_GRAPHS) <= {family.kind for family in FAMILIES}
    for kind in DEPLOYED:
        assert f'"{kind}"' in (rb.deploy.__doc__ or "")


@pytest.mark.parametrize("kind", ["margin-flip", "exponential"])
def test_margins_are_the_keys_of_the_other_kinds_too(
    tmp_path: Path, roads: rb.RainbowGraph, kind: str
) -> None:
    placed = rb.deploy(roads, rb.DP("0.1"), kind)
    file = placed.save(tmp_path / "out.json")
    loaded = rb.load(file)
    assert loaded.name == kind
    for node, region, *margins in rows(file.with_suffix(".parquet")):
        key = dict(zip(roads.answers, margins, strict=True))
        assert loaded[key] == placed.mechanism[node]
        truth = placed.truth[roads.position(node)]
        assert float(loaded[key][region]) == pytest.approx(truth, abs=1e-12)


def test_the_best_of_a_file_says_what_it_was_chosen_from(roads: rb.RainbowGraph) -> None:
    placed = rb.deploy(roads, rb.DP("0.1"), "best")
    assert placed.choice is not None
    assert {each.kind for each in placed.choice.candidates} == set(DEPLOYED)
    assert placed.choice.value == pytest.approx(placed.truth.mean())
    assert rb.deploy(roads, rb.DP("0.1")).choice is None
    with pytest.raises(rb.InvalidMechanism, match="are for best"):
        rb.deploy(roads, rb.DP(1), weights=[1.0] * len(roads))  # type: ignore[arg-type]
    with pytest.raises(rb.InvalidMechanism, match="no boundary to choose"):
        rb.deploy(roads, rb.DP(1), "margin-flip", boundary=("1/2", "1/4", "1/4"))


def squares(side: int) -> rb.RainbowGraph:
    """A grid with four sites, one of them near another, and two places that no site reaches."""
    at = np.arange(side * side).reshape(side, side)
    ends = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:])]
    pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in ends])
    pairs = np.concatenate([pairs, [[side * side, side * side + 1]]])
    sites = {"a": 0, "b": 2, "c": side * side - 1, "d": side * (side - 1)}
    near = rb.nearest_sites(pairs, sites, unreached="first")
    return rb.RainbowGraph(pairs, near.rainbows, near.names, labels=near.labels)


@pytest.mark.parametrize("most", [4_000_000, 200])
def test_a_fixed_point_has_a_row_for_each_class_of_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(deployment, "MOST_OF_ROWS", most)
    graph = squares(9)
    placed = rb.deploy(graph, rb.DP("0.7"), "fixed-point")
    assert placed.name == "fixed-point"
    file = placed.save(tmp_path / "out.json")
    loaded, plain = rb.load(file), rainbow_release.load(file)
    assert isinstance(plain, rainbow_release.Mechanism)
    assert loaded.name == plain.kind == "homogeneous"
    found = rows(file.with_suffix(".parquet"))
    assert len({tuple(key) for _, *key in found}) * 4 <= most
    for node, *key in found:
        row, weights = loaded[tuple(key)], plain.row_at(tuple(key))
        assert row == placed.mechanism[node]
        assert weights == [row[answer] * sum(weights) for answer in plain.answers]
        truth = placed.truth[graph.position(node)]
        assert float(row[graph.rainbow(node)[0]]) == pytest.approx(truth, abs=1e-12)
    assert placed.truth[-2:].tolist() == [1, 1]  # nobody else is in reach
    most_ratio = Fraction(math.exp(0.7)) * (1 + Fraction(1, 10**12))
    for a in graph.datasets:
        for b in graph.neighbors(a):
            for answer, p in placed.mechanism[a].items():
                assert p <= most_ratio * placed.mechanism[b][answer]


def test_a_fixed_point_whose_file_was_changed_is_refused(tmp_path: Path) -> None:
    placed = rb.deploy(squares(5), rb.DP("0.7"), "fixed-point")
    content = placed.mechanism.describe()
    row = content["regions"][3]["rows"][0]
    least = min(range(4), key=lambda place: int(row[place]))
    row[least - 1] = str(int(row[least - 1]) + int(row[least]))
    row[least] = "0"
    file = tmp_path / "forged.json"
    file.write_text(checksummed(content))
    with pytest.raises(rb.InvalidFile):
        rb.load(file)
    with pytest.raises(rainbow_release.Refused):
        rainbow_release.load(file)


def test_the_best_of_a_file_is_the_fixed_point_where_that_is_better() -> None:
    placed = rb.deploy(squares(9), rb.DP(1), "best")
    assert placed.choice is not None
    assert placed.name == placed.choice.name == "fixed-point"
    assert placed.choice.value == pytest.approx(placed.truth.mean())


def test_a_fixed_point_by_length_has_a_file(tmp_path: Path) -> None:
    pairs = [(node, node + 1) for node in range(12)]
    roads = rb.with_lengths(pairs, [node % 4 + 1 for node in range(12)], unit=1, measure="m")
    near = rb.nearest_sites(roads, {"a": 0, "b": 5, "c": 12})
    graph = rb.RainbowGraph(roads, near.rainbows, near.names, labels=near.labels)
    placed = rb.deploy(graph, rb.DP("0.5"), "fixed-point")
    file = placed.save(tmp_path / "out.json")
    loaded = rb.load(file)
    assert loaded.neighbors == "at a distance of 1 m"
    assert rainbow_release.load(file).kind == "homogeneous"
    for node, *key in rows(file.with_suffix(".parquet")):
        assert loaded[tuple(key)] == placed.mechanism[node]
    for (a, b), steps in zip(graph.edge_positions(), graph.edge_lengths(), strict=True):
        most = Fraction(math.exp(0.5 * int(steps))) * (1 + Fraction(1, 10**12))
        for one, other in ((int(a), int(b)), (int(b), int(a))):
            for answer, p in placed.mechanism[one].items():
                assert p <= most * placed.mechanism[other][answer]


def test_proximity_has_a_file_where_only_the_graph_allows_it(tmp_path: Path) -> None:
    sites = {"a": 0, "b": 6, "c": 12, "d": 18}
    edges = [(i, i + 1) for i in range(18)]
    near = rb.nearest_sites(edges, sites)
    line = rb.RainbowGraph(edges, near.rainbows, near.names, labels=near.labels)
    promise = rb.DP("0.7")  # q − 1 = 3 > e^0.7
    placed = rb.deploy(line, promise, "proximity")
    loaded = rb.load(placed.save(tmp_path / "out.json"))
    assert loaded.rule.most == placed.mechanism.rule.most  # type: ignore[attr-defined]
    crowded = {"a": 0, "b": 1, "c": 1, "d": 1}
    with pytest.raises(rb.UnknownDataset):
        loaded.release(crowded)
    changed = (tmp_path / "out.json").read_text().replace('"most": ', '"most": 9')
    (tmp_path / "forged.json").write_text(changed)
    with pytest.raises(rb.InvalidFile):
        rb.load(tmp_path / "forged.json")


def two_ends(first: object, second: object, labels: list[Any] | None = None) -> rb.RainbowGraph:
    """A line of ten, with three answers."""
    names = labels or [0, 1, 2]
    orders = {
        names[0]: (first, second, "z"),
        names[1]: (second, first, "z"),
        names[2]: ("z", second, first),
    }
    marks = [names[0]] * 3 + [names[1]] * 4 + [names[2]] * 3
    return rb.RainbowGraph(np.array([(i, i + 1) for i in range(9)]), orders, labels=marks)


@pytest.mark.parametrize("kind", ["margin-flip", "exponential", "proximity"])
def test_answers_that_differ_in_case_only_have_no_columns_of_keys(
    tmp_path: Path, kind: str
) -> None:
    placed = rb.deploy(two_ends("a", "A"), rb.DP(1), kind)
    with pytest.raises(rb.InvalidFile, match="'margin a' and 'margin A', which differ in case"):
        placed.save(tmp_path / "out.json")
    assert not list(tmp_path.iterdir())
    placed.save_tiles(tmp_path / "m.json", [0] * 10, folder=tmp_path / "tiles")
    plain = rainbow_release.load(tmp_path / "m.json")
    assert isinstance(plain, rainbow_release.Mechanism)
    assert rainbow_release.check_tiles(tmp_path / "tiles", plain) == (1, 10, 9)


def test_two_answers_with_one_column_are_refused() -> None:
    with pytest.raises(rb.InvalidMechanism, match="'margin 1' for two answers"):
        rb.deploy(two_ends(1, "1"), rb.DP(1), "margin-flip")


def test_two_regions_with_one_text_are_refused(tmp_path: Path) -> None:
    placed = rb.deploy(two_ends("a", "b", [1, "1", 2]), rb.DP(1))
    with pytest.raises(rb.InvalidFile, match="call two regions '1'"):
        placed.save(tmp_path / "out.json")
    assert not list(tmp_path.iterdir())


def test_texts_of_an_array_are_names_of_regions(tmp_path: Path) -> None:
    edges = np.array([(0, 1), (1, 2)])
    labels = np.array(["west", "west", "east"])
    orders = {"west": ("a", "b"), "east": ("b", "a")}
    graph = rb.RainbowGraph(edges, orders, labels=labels)
    file = rb.deploy(graph, rb.DP(1)).save(tmp_path / "out.json")
    found = rows(file.with_suffix(".parquet"))
    assert found == [(0, "west", 1), (1, "west", 0), (2, "east", 0)]


def test_whole_numbers_of_a_mapping_are_names_of_nodes(tmp_path: Path) -> None:
    orders = {7: ("a", "b"), -3: ("a", "b"), 40: ("b", "a")}
    graph = rb.RainbowGraph([(7, -3), (-3, 40)], orders)
    file = rb.deploy(graph, rb.DP(1), "margin-flip").save(tmp_path / "out.json")
    found = {node: key for node, _, *key in rows(file.with_suffix(".parquet"))}
    assert found == {7: [0, 2], -3: [0, 1], 40: [1, 0]}

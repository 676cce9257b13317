"""Tiles of maps whose edges have lengths, against every single step drawn by itself."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import Phase, given, reject, settings
from hypothesis import strategies as st

import rainbow_release
import rainbowdp as rb
from rainbowdp.deployment import Deployment
from tile_files import forged

KINDS = ("homogeneous", "proximity", "margin-flip", "exponential", "fixed-point", "primal-dual")
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)  # no smaller example: each makes files
LONG = [3, 1, 2, 5, 0, 4, 2, 3, 1, 6]
GOLDEN = Path(__file__).parents[1] / "golden" / "tiles-by-length"


def town(lengths: list[int]) -> rb.RainbowGraph:
    """A ring with a chord, three sites on it."""
    size = len(lengths) - 1
    pairs = [*((node, (node + 1) % size) for node in range(size)), (0, size // 2)]
    roads = rb.with_lengths(pairs, lengths, unit=1, measure="m")
    near = rb.nearest_sites(roads, {"a": 0, "b": size // 3, "c": 2 * size // 3})
    return rb.RainbowGraph(roads, near.rainbows, near.names, labels=near.labels)


LENGTHS = st.lists(st.sampled_from([0, 1, 2, 3, 5]), min_size=7, max_size=10)


def walks(file: Path) -> nx.Graph:
    """The keys of a file by depth, joined where their rows were compared."""
    content = json.loads(file.read_text())
    graph = nx.Graph()
    for region in content["regions"]:
        label, deepest = region["label"], len(region["rows"]) + 30  # the last row goes on
        if region["certain"] is not None:
            graph.add_node((label, None))
        nx.add_path(graph, [(label, depth) for depth in range(deepest)])
    for one, other in content["touching"]:
        labels = [content["regions"][place]["label"] for place in (one, other)]
        graph.add_edge(*((label, 0) for label in labels))
    return graph


def reached(start: dict[Any, int], end: dict[Any, int], steps: int) -> bool:
    """Whether margins that are 0 at one of two answers alone lead there, each by 1 at most."""
    names, goal = list(start), tuple(end.values())
    truths = {names.index(min(margins, key=margins.__getitem__)) for margins in (start, end)}
    seen = front = {tuple(start.values())}
    most = max(*seen, goal, key=max)
    for _ in range(steps):
        moves = itertools.product((-1, 0, 1), repeat=len(names))
        found = {tuple(m + d for m, d in zip(at, by, strict=True)) for by in moves for at in front}
        front = {
            at
            for at in found - seen
            if min(at) >= 0 and max(at) <= max(most) and at.count(0) == 1 and at.index(0) in truths
        }
        seen = seen | front
    return goal in seen


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8, phases=QUICK)
@given(lengths=LENGTHS, data=st.data())
def test_keys_are_within_steps_if_single_steps_lead_there(
    tmp_path_factory: pytest.TempPathFactory, kind: str, lengths: list[int], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("tiles")
    try:
        graph = town(lengths)
    except rb.InvalidGraph:  # two sites at one place
        reject()
    tiles = data.draw(st.lists(st.integers(0, 2), min_size=len(graph), max_size=len(graph)))
    rb.deploy(graph, rb.DP(1), kind).save_tiles(folder / "m.json", tiles, folder=folder / "tiles")
    mechanism = rainbow_release.load(folder / "m.json")
    assert isinstance(mechanism, rainbow_release.Mechanism)
    found = rainbow_release.check_tiles(folder / "tiles", mechanism)
    assert found == (len(set(tiles)), len(graph), graph.edge_count)
    parts = [
        rainbow_release.Tile((folder / "tiles" / f"{n}.json").read_text(), mechanism)
        for n in range(len(set(tiles)))
    ]
    keys: list[Any] = [key for part in parts for key in part.keys]
    if parts[0].by_depth:
        drawn = walks(folder / "m.json")
        for one in keys:
            near = nx.single_source_shortest_path_length(drawn, one)
            for other, steps in itertools.product(keys, range(6)):
                assert parts[0].are_within(one, other, steps) == (near.get(other, 99) <= steps)
        return
    pairs = st.tuples(st.sampled_from(keys), st.sampled_from(keys), st.integers(0, 5))
    for one, other, steps in data.draw(st.lists(pairs, min_size=10, max_size=10)):
        assert parts[0].are_within(one, other, steps) == reached(one, other, steps)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    made: Deployment = rb.deploy(town(LONG), rb.DP("0.5"), "exponential")
    made.save_tiles(tmp_path / "m.json", [n // 3 for n in range(9)], folder=tmp_path / "tiles")
    return tmp_path


def checked(folder: Path) -> tuple[int, int, int]:
    mechanism = rainbow_release.load(folder / "m.json")
    assert isinstance(mechanism, rainbow_release.Mechanism)
    return rainbow_release.check_tiles(folder / "tiles", mechanism)


def test_the_files_are_those_of_the_golden_folder(saved: Path) -> None:
    assert checked(saved) == checked(GOLDEN) == (3, 9, 10)
    for path in sorted((saved / "tiles").iterdir()):
        assert path.read_bytes() == (GOLDEN / "tiles" / path.name).read_bytes()
    assert (saved / "m.json").read_bytes() == (GOLDEN / "m.json").read_bytes()


def test_a_jump_that_is_larger_than_its_steps_is_refused(saved: Path) -> None:
    def shorter(content: dict[str, Any]) -> None:
        content["inside"] = [edge[:2] for edge in content["inside"]]

    forged(saved / "tiles", "0.edges.json", shorter)
    with pytest.raises(rainbow_release.Refused, match="not those of neighbors"):
        checked(saved)


def test_two_tiles_must_agree_on_the_steps_between_them(saved: Path) -> None:
    def longer(content: dict[str, Any]) -> None:
        edge = content["across"][0]["edges"][0]
        edge[3:] = [9]

    forged(saved / "tiles", "1.edges.json", longer)
    with pytest.raises(rainbow_release.Refused, match="does not fit its neighbor"):
        checked(saved)


@pytest.mark.parametrize("steps", [-1, "2", True, None])
def test_steps_are_whole_numbers(saved: Path, steps: Any) -> None:
    def otherwise(content: dict[str, Any]) -> None:
        content["inside"][0][2:] = [steps]

    forged(saved / "tiles", "0.edges.json", otherwise)
    with pytest.raises(rainbow_release.Refused, match="the steps of an edge must be a whole"):
        checked(saved)


def test_an_edge_is_listed_once(saved: Path) -> None:
    """A second one would hide that another is missing, since edges are counted."""
    for extra, said in (([1, 0, 9], "listed once"), ([2, 2], "two different nodes")):
        forged(saved / "tiles", "0.edges.json", lambda content: content["inside"].append(extra))  # noqa: B023
        with pytest.raises(rainbow_release.Refused, match=said):
            checked(saved)
        forged(saved / "tiles", "0.edges.json", lambda content: content["inside"].pop())

    def again(content: dict[str, Any]) -> None:
        for border in content["across"]:
            border["edges"] += [[*edge[:3], 9] for edge in border["edges"]]

    for number in range(3):
        forged(saved / "tiles", f"{number}.edges.json", again)
    with pytest.raises(rainbow_release.Refused, match="listed once"):
        checked(saved)


def test_where_edges_are_counted_each_is_one_step(tmp_path: Path) -> None:
    """A promise between neighbors that an edge joins is not stretched by a file of tiles."""
    near = rb.nearest_sites([(0, 1), (1, 2), (2, 3)], [0, 3])
    graph = rb.RainbowGraph([(0, 1), (1, 2), (2, 3)], near.rainbows, labels=near.labels)
    rb.deploy(graph, rb.DP(1)).save_tiles(tmp_path / "m.json", [0] * 4, folder=tmp_path / "tiles")
    forged(tmp_path / "tiles", "0.edges.json", lambda content: content["inside"][0].append(2))
    with pytest.raises(rainbow_release.Refused, match="one step where neighbors are joined by an"):
        checked(tmp_path)

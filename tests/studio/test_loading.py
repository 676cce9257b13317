from __future__ import annotations

import itertools
import lzma
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import rainbowdp as rb
from rainbowdp.storage.documents import checksummed
from rainbowdp.studio.answers import answer, make, mechanism_file, prove
from rainbowdp.studio.examples import EXAMPLES, example, road_map
from rainbowdp.studio.loading import MOST_BYTES, open_world, read_world
from rainbowdp.studio.settings import Settings, read_settings


def test_an_edge_list_with_remarks_commas_and_a_mark() -> None:
    world = read_world(
        b"\xef\xbb\xbf# a town\na,b # a street\n\nb c\nc b\na a\n"
        b"a: red > green\nb : red>green\nc: green > red",
        "town.txt",
    )
    assert repr(world.graph) == "RainbowGraph(3 datasets, 2 edges, 2 regions, 2 answers)"
    assert world.graph.rainbow("b") == ("red", "green")
    assert world.title == "town.txt"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "town.txt is empty; open"),
        (b"  \n \n", "town.txt is empty; open"),
        (b"\xff\xfe\x00", "town.txt is not text in UTF-8: byte 0 "),
        (b"a\n", "got 'a': town.txt, line 1"),
        (
            b"a b\na: x > y\n",
            "dataset 'b' has no rainbow; add a line such as 'b: red > green': town.txt, line 1",
        ),
        (b"a: x > y\na: y > x\n", "dataset 'a' has a rainbow already: town.txt, line 2"),
        (b"a: x > x\n", "got 'x' twice in x > x: town.txt, line 1"),
        (b"a: x > y\nb: x > z\n", "got 'x > z': town.txt, line 2"),
        (b"a: x > \n", "1 to 80 characters, got '': town.txt, line 1"),
        (b"\n: x > y\n", "1 to 80 characters, got '': town.txt, line 2"),
        (b"a" * 81 + b": x > y\n", "1 to 80 characters, got 81 of them: town.txt, line 1"),
        (b"# nothing\n", "town.txt has no rainbows; add lines such as 'a: red > green'"),
        (b"{", "town.txt is not JSON"),
        (b"{}", "town.txt is not a mechanism file: its format is not 'rainbowdp mechanism'"),
        (b"[]", "town.txt is not a mechanism file: its format is not 'rainbowdp mechanism'"),
        (b"[" * 100_000, "town.txt is nested too deeply"),
        (b"#" * (MOST_BYTES + 1), "files of up to 1,048,576 bytes, got town.txt"),
        (b"\n".join(b"d%d: x > y" % n for n in range(401)), "up to 400 datasets, got 401"),
        (b"a: " + b" > ".join(b"v%d" % n for n in range(9)), "up to 8 answers, got 9"),
        (b"\n".join(b"a d%d" % n for n in range(2001)), "up to 2000 edges, got 2001"),
    ],
)
def test_bad_files_get_one_sentence(content: bytes, message: str) -> None:
    with pytest.raises(rb.RainbowError) as caught:
        read_world(content, "town.txt")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("question", "epsilon", "proof", "note"),
    [
        (rb.Winner(["a", "b", "c"]), "0.5", "corners of a margin table", "tables of 14 records"),
        (
            rb.Winner(["a", "b", "c"], neighbors="added or removed"),
            "0.5",
            "corners of a margin table",
            "tables of up to 7 records",
        ),
        (rb.Quantile("1/4", range(5)), "1.5", "states of 4 ordered bins", "tables of 7 records"),
    ],
)
def test_files_of_tables_and_ordered_bins_are_drawn_by_their_question(
    question: Any, epsilon: str, proof: str, note: str, tmp_path: Path
) -> None:
    mechanism = rb.best(question, rb.DP(epsilon)).exact()
    (tmp_path / "saved.json").write_text(mechanism.as_text())
    world = open_world(tmp_path / "saved.json")
    assert note in world.note
    settings = read_settings(world, world.start)
    shown = prove(world, settings)
    assert shown["state"] == "proved"
    assert proof in shown["text"]
    assert answer(world, settings)["verdict"]["state"] == "checked"
    assert mechanism_file(world, settings) == (tmp_path / "saved.json").read_text()
    rows = make(world, settings)
    for position, dataset in enumerate(world.graph.datasets):
        counts = world.key(position)
        assert rows[dataset] == pytest.approx({a: float(p) for a, p in mechanism[counts].items()})
        margins = question.margins(counts)
        assert margins[world.graph.region[dataset]] == 0
        nearest = min(margin for margin in margins.values() if margin)
        assert world.graph.depths[position] == nearest - 1
    for one, other in itertools.combinations(range(len(world.graph)), 2):
        assert world.counts is not None
        change = Counter(dict(enumerate(world.counts[one] - world.counts[other])))
        gain, loss = (+change).total(), (-change).total()
        near = (gain, loss) == (1, 1) if question.neighbors == "substituted" else gain + loss == 1
        assert near == (world.graph.datasets[other] in world.graph.neighbors(one))


def test_ordered_bins_without_a_question_cannot_be_drawn() -> None:
    content = rb.best(rb.Quantile("1/2", [0, 1, 2, 3]), rb.DP(2)).exact().describe()
    bare = checksummed({**content, "question": None, "neighbors": "joined by an edge"})
    with pytest.raises(rb.InvalidFile, match=r"bare\.json: ordered-bins must have its question"):
        read_world(bare.encode(), "bare.json")


def test_a_changed_mechanism_file_is_refused() -> None:
    text = mechanism_file(example("paper"), Settings("homogeneous", rb.DP(1)))
    forged = text.replace('"epsilon": "1"', '"epsilon": "1/2"')
    with pytest.raises(rb.InvalidFile, match="does not match its checksum"):
        read_world(forged.encode(), "forged.json")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(rb.InvalidFile, match="cannot read"):
        open_world(tmp_path / "nothing.txt")


def test_a_file_of_another_curve(tmp_path: Path) -> None:
    graph = rb.RainbowGraph([(0, 1)], [("x", "y"), ("y", "x")])
    curve = rb.TradeOff([(0, "0.9"), ("0.3", "0.3"), ("0.9", 0), (1, 0)])
    rb.optimal(graph, curve, boundary=(0.6, 0.4)).save(str(tmp_path / "curve.json"))
    world = open_world(tmp_path / "curve.json")
    assert world.start["guarantee"]["kind"] == "trade-off"
    assert world.as_dict()["kind"] == "file"


def test_a_question_without_border_and_certain_regions_are_drawn() -> None:
    world = read_world(b"a b\nc d\na: x > y\nb: y > x\nc: x > y\nd: x > y\n", "town.txt")
    text = mechanism_file(world, Settings("homogeneous", rb.DP(1)))
    loaded = read_world(text.encode(), "town.json")
    assert (("x", "y"), float("inf")) in loaded.graph.datasets
    assert loaded.show(len(loaded.graph) - 1).endswith("depth ∞")


@pytest.mark.parametrize("name", EXAMPLES)
def test_pictures_keep_datasets_apart(name: str) -> None:
    places = example(name).places
    away = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(away, 9)
    assert np.isfinite(places).all()
    assert away.min() > 0.02


def test_the_roads_are_a_part_of_the_extract() -> None:
    """What the comment of the file says, made again."""
    extract = Path(__file__).parents[2] / "examples" / "data" / "ny-extract.gr.xz"
    lines = lzma.decompress(extract.read_bytes()).decode().splitlines()
    all_roads = nx.Graph(tuple(map(int, line.split())) for line in lines if line[0] not in "cp")
    near = nx.ego_graph(all_roads, 2121, radius=16)
    number = {junction: place for place, junction in enumerate(sorted(near), 1)}
    wanted = {frozenset((number[a], number[b])) for a, b in near.edges}
    graph = road_map()
    assert list(graph.datasets) == list(range(1, len(near) + 1))
    assert {frozenset(graph.names(ends)) for ends in graph.edge_positions()} == wanted


@pytest.mark.parametrize("name", ["election", "travel"])
def test_the_drawn_histograms_have_the_margins_of_the_question(name: str) -> None:
    world = example(name)
    assert world.question is not None
    for position in range(len(world.graph)):
        margins = world.question.margins(world.key(position))
        rivals = sorted(margins.values())[1]
        assert world.graph.depths[position] == rivals - 1
        assert world.graph.region[world.graph.datasets[position]] == min(
            margins, key=lambda a: margins[a]
        )


def test_no_row_of_a_table_is_on_the_page() -> None:
    folder = Path(__file__).parents[2] / "examples" / "data"
    sizes = {len(file.read_text().splitlines()) - 1 for file in folder.glob("*.csv")}
    for name in EXAMPLES:
        counts = example(name).counts
        if counts is not None:
            assert int(counts[0].sum()) not in sizes
            assert len(np.unique(counts.sum(axis=1))) == 1  # all histograms of a size, none chosen

"""Editing a graph: text to drawing and back, one change at a time, and weights in every number."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.paper.objects import figure_one
from rainbowdp.studio.answers import answer, best_cost, costs, exact, make, match
from rainbowdp.studio.computing import Source, Studio
from rainbowdp.studio.drawing import Drawing, read_drawing
from rainbowdp.studio.edits import EDITS, edited
from rainbowdp.studio.examples import EXAMPLES, example
from rainbowdp.studio.loading import open_world, read_world
from rainbowdp.studio.settings import Settings, Wrong

TOWN = "a b\nb c\na: yes > no\nb: yes > no\nc: no > yes\na = 30\nb = 0.5\n"
ONE = rb.DP(1)


def town() -> Drawing:
    return read_drawing(TOWN, "town.txt")


def test_weights_and_places_are_read_and_written() -> None:
    drawing = read_drawing(f"{TOWN}a @ 0.5 -1\nc @ 1 1\n", "town.txt")
    assert drawing.counts() is not None
    assert drawing.counts().tolist() == [30, 0.5, 1]  # type: ignore[union-attr]
    assert read_drawing(drawing.text(), "again.txt") == drawing
    world = read_world(drawing.text().encode(), "town.txt")
    assert world.places[0].tolist() == [0.5, -1]
    assert np.isfinite(world.places).all()
    assert world.note == "3 datasets and 2 edges from a list, which count by their weights."


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a = many", "a weight must be a number from 0 to 1e+12, got 'many': town.txt, line 1"),
        ("a = -1", "from 0 to 1e+12, got '-1'"),
        ("a = nan", "from 0 to 1e+12, got 'nan'"),
        ("a = 1e400", "from 0 to 1e+12, got '1e400'"),
        ("a @ 0 inf", "a place must be two numbers from -100 to 100, got '0 inf'"),
        ("a @ left 0", "got 'left 0': town.txt, line 1"),
        ("z = 3", "dataset 'z' has no rainbow; add a line such as 'z: red > green': town.txt"),
        ("a @ 1 2 3", "a weight 'a = 120' or a place 'a @ 0.5 -1', got 'a @ 1 2 3'"),
    ],
)
def test_a_wrong_line_is_named(line: str, message: str) -> None:
    with pytest.raises(rb.RainbowError) as caught:
        read_drawing(f"{line}\na: yes > no\n", "town.txt")
    assert message in str(caught.value)


def test_somebody_must_count() -> None:
    with pytest.raises(rb.RainbowError, match=r"the weights in town\.txt are all 0"):
        read_drawing("a: yes > no\na = 0\n", "town.txt")


def test_each_edit_does_one_thing() -> None:
    drawing = town()
    added = edited(drawing, {"do": "add", "dataset": 2, "place": [0.5, 1]})
    assert added.names == ("a", "b", "c", "c4")
    assert added.edges[-1] == ("c", "c4")
    assert added.rainbows["c4"] == ("no", "yes")
    assert added.places == {"c4": (0.5, 1.0)}
    joined = edited(added, {"do": "join", "dataset": 0, "other": 3})
    assert joined.edges[-1] == ("a", "c4")
    assert edited(joined, {"do": "part", "dataset": 3, "other": 0}) == added
    assert edited(added, {"do": "remove", "dataset": 3}) == drawing
    named = edited(drawing, {"do": "rename", "dataset": 0, "name": "north"})
    assert (named.names[0], named.edges[0]) == ("north", ("north", "b"))
    assert named.weights == {"north": 30, "b": 0.5}
    turned = edited(drawing, {"do": "prefer", "dataset": 0, "rainbow": ["no", "yes"]})
    assert [turned.rainbows[n][0] for n in "abc"] == ["no", "yes", "no"]
    both = {"do": "prefer", "dataset": 0, "rainbow": ["no", "yes"], "region": True}
    assert [edited(drawing, both).rainbows[n][0] for n in "abc"] == ["no", "no", "no"]
    assert edited(drawing, {"do": "weigh", "dataset": 2, "weight": " 7 "}).weights["c"] == 7
    assert edited(drawing, {"do": "alike"}).weights == {}


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("yes, no, maybe", ("yes", "no", "maybe"), ("no", "yes", "maybe")),
        ("yes, never", ("yes", "never"), ("never", "yes")),
        ("never, yes", ("yes", "never"), ("never", "yes")),
        ("no", ("no",), ("no",)),
    ],
)
def test_answers_are_added_renamed_and_removed(text: str, first: Any, last: Any) -> None:
    changed = edited(town(), {"do": "answers", "answers": text})
    assert (changed.rainbows["a"], changed.rainbows["c"]) == (first, last)


@pytest.mark.parametrize(
    ("edit", "field", "message"),
    [
        ({"do": "join", "dataset": 0, "other": 0}, "join", "a cannot be joined to itself"),
        ({"do": "join", "dataset": 1, "other": 0}, "join", "b and a are joined already"),
        ({"do": "part", "dataset": 0, "other": 2}, "join", "a and c are not joined"),
        ({"do": "rename", "dataset": 0, "name": "b"}, "name", "another dataset is called b"),
        ({"do": "rename", "dataset": 0, "name": "two words"}, "name", "must be one word"),
        ({"do": "rename", "dataset": 0, "name": "x" * 81}, "name", "1 to 80 characters, got 81"),
        ({"do": "weigh", "dataset": 0, "weight": "-1"}, "weight", "from 0 to 1e+12, got '-1': a"),
        ({"do": "weigh", "dataset": 0, "weight": None}, "weight", "from 0 to 1e+12, got ''"),
        ({"do": "prefer", "dataset": 0, "rainbow": ["no"]}, "rainbow", "each of yes, no once"),
        ({"do": "answers", "answers": "a, a"}, "answers", "each answer must be listed once"),
        ({"do": "answers", "answers": ","}, "answers", "1 to 8 answers, got 0"),
        ({"do": "answers", "answers": "a > b"}, "answers", "must be one word without"),
        ({"do": "add", "dataset": 0, "place": [0]}, "edit", "a place must be two numbers"),
        ({"do": "add", "dataset": 0, "place": [float("nan"), 0]}, "edit", "two numbers"),
    ],
)
def test_what_makes_no_sense_is_refused_at_its_field(
    edit: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(Wrong) as caught:
        edited(town(), edit)
    assert caught.value.field == field
    assert message in str(caught.value)


@pytest.mark.parametrize("edit", [None, [], {}, {"do": "burn"}, {"do": "remove", "dataset": 9}])
def test_other_edits_are_refused(edit: Any) -> None:
    with pytest.raises(rb.RainbowError, match="must be"):
        edited(town(), edit)


def test_the_last_dataset_and_the_last_that_counts_stay() -> None:
    with pytest.raises(Wrong, match="the only dataset"):
        edited(read_drawing("a: yes > no", "one.txt"), {"do": "remove", "dataset": 0})
    two = read_drawing("a: yes > no\nb: yes > no\nb = 0\n", "two.txt")
    with pytest.raises(Wrong, match="all but a count 0"):
        edited(two, {"do": "remove", "dataset": 0})
    with pytest.raises(Wrong, match="all would count 0"):
        edited(two, {"do": "weigh", "dataset": 0, "weight": "0"})


@given(st.lists(st.tuples(st.sampled_from(sorted(EDITS)), st.integers(0, 5), st.integers(0, 5))))
def test_whatever_is_clicked_the_text_stays_a_graph(steps: list[tuple[str, int, int]]) -> None:
    drawing = town()
    for do, one, other in steps:
        edit = {
            "do": do,
            "dataset": one,
            "other": other,
            "place": [one / 3, -other],
            "name": f"n{other}",
            "rainbow": list(drawing.answers)[:: 1 if other % 2 else -1],
            "weight": str(other),
            "answers": ", ".join(["yes", "no", "maybe", "never"][: 1 + other % 4]),
            "region": bool(other % 2),
        }
        try:
            drawing = edited(drawing, edit)
        except rb.RainbowError:
            continue
        assert read_drawing(drawing.text(), "again.txt").text() == drawing.text()
        assert tuple(drawing.graph().datasets) == drawing.names


@pytest.mark.parametrize("name", ["paper", "roads", "sketch"])
def test_the_text_of_an_example_is_its_graph(name: str) -> None:
    world = example(name)
    again = read_world(world.as_dict()["text"].encode(), "again.txt")
    assert (again.graph.region_numbers == world.graph.region_numbers).all()
    assert again.graph.edge_positions().tolist() == world.graph.edge_positions().tolist()
    assert np.allclose(again.places, world.places, atol=1e-3)


def test_what_text_cannot_tell_is_not_edited() -> None:
    unedited = {name for name in EXAMPLES if example(name).drawing is None}
    assert unedited == {"travel", "election", "growth"}  # questions, and two regions of one order
    with pytest.raises(rb.RainbowError, match="cannot be edited; choose Your own graph"):
        Studio().edit("travel", {"do": "alike"}, "x.txt")


def test_an_edited_graph_takes_the_place_of_the_last_one() -> None:
    studio = Studio()
    first = studio.edit("paper", {"do": "remove", "dataset": 0}, "paper-edited.txt")
    assert len(studio.describe(first)["datasets"]) == 17
    second = studio.edit(first, {"do": "remove", "dataset": 0}, "paper-edited.txt")
    studio.forget(first)
    assert len(studio.describe(second)["datasets"]) == 16
    with pytest.raises(rb.RainbowError, match="load the file again"):
        studio.describe(first)
    with pytest.raises(rb.RainbowError, match="has no rainbow"):
        studio.keep(Source("x.txt", b"a b\n"))


def weighted_paper() -> tuple[Any, dict[str, float]]:
    graph = figure_one()
    people = {str(d): float(1 + 50 * (n % 6 == 1)) for n, d in enumerate(graph.datasets)}
    text = example("paper").as_dict()["text"]
    lines = "".join(f"{d} = {w:g}\n" for d, w in people.items())
    return read_world((text + lines).encode(), "people.txt"), people


def test_weights_are_in_every_number_that_the_library_gives() -> None:
    world, people = weighted_paper()
    settings = Settings("homogeneous", ONE)
    compared = rb.compare(
        world.graph,
        ONE,
        {"homogeneous": rb.optimal, "proximity": rb.proximity},
        weights=people,
    )
    shown = {cost["name"]: cost for cost in costs(world, settings)}
    for name in ("homogeneous", "proximity"):
        assert shown[name]["mean_error"] == pytest.approx(compared[name].mean_error, rel=1e-12)
        assert shown[name]["worst"] == pytest.approx(1 - compared[name].worst, rel=1e-12)
    matched = match(world, settings)["proximity"]
    assert matched == pytest.approx(compared["proximity"].epsilon_to_match, rel=1e-12)
    alike = next(c for c in costs(example("paper"), settings) if c["name"] == "homogeneous")
    assert shown["homogeneous"]["mean_error"] != pytest.approx(alike["mean_error"], rel=1e-3)


def test_the_best_by_weights_is_shown_saved_and_written_as_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, people = weighted_paper()
    settings = Settings("best", ONE, dataset=0)
    chosen = rb.best(world.graph, ONE, weights=people)
    cost = best_cost(world, settings)
    assert cost["mean_error"] == pytest.approx(1 - chosen.value, abs=1e-9)
    assert cost["kind"] == chosen.name
    assert exact(world, settings).as_text() == chosen.exact().as_text()
    rows = make(world, settings)
    for dataset in world.graph.datasets:
        assert rows[dataset] == pytest.approx(chosen[dataset], abs=1e-9)
    monkeypatch.chdir(tmp_path)
    Path("people.txt").write_text(world.as_dict()["text"])
    lines = answer(world, settings)["recipe"].splitlines()
    assert lines[2] == "world, weights = open_world('people.txt').weighted"
    found: dict[str, Any] = {}
    exec("\n".join([*lines[:-1], lines[-1].replace("print(", "row = (")]), found)
    assert found["row"] == pytest.approx(chosen["d1"], abs=1e-9)
    assert open_world("people.txt").weights is not None


def test_curves_are_means_by_weight() -> None:
    world, _ = weighted_paper()
    settings = Settings("proximity", ONE, dataset=0)
    curves = answer(world, settings)["curves"]
    mechanism, graph = make(world, settings), world.graph
    mine = [
        d
        for d in graph.datasets
        if graph.region[d] == graph.region[graph.datasets[0]] and graph.depth[d] == 0
    ]
    assert world.weights is not None
    weights = [world.weights[graph.position(d)] for d in mine]
    firsts = [mechanism[d][graph.rainbow(d)[0]] for d in mine]
    mean = sum(itertools.starmap(lambda w, p: w * p, zip(weights, firsts, strict=True)))
    assert curves["rows"][0][0] == pytest.approx(mean / sum(weights), rel=1e-12)

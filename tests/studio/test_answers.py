from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest

import rainbowdp as rb
from rainbowdp.errors import InvalidFile
from rainbowdp.paper.objects import figure_one
from rainbowdp.studio.answers import (
    answer,
    best_cost,
    costs,
    exact,
    make,
    match,
    mechanism_file,
    prove,
    worst_pair,
)
from rainbowdp.studio.designing import shape_of
from rainbowdp.studio.examples import EXAMPLES, example
from rainbowdp.studio.loading import edit_text, read_world
from rainbowdp.studio.offers import offered
from rainbowdp.studio.settings import Settings, read_settings
from rainbowdp.studio.worlds import World

MADE = [(name, mechanism) for name in EXAMPLES for mechanism in offered(example(name))]
WIDE = rb.DP("1.5", "0.01")


def settings_for(name: str, mechanism: str = "homogeneous", **more: Any) -> tuple[World, Settings]:
    world = example(name)
    return world, read_settings(world, {"mechanism": mechanism, **world.start, **more})


@pytest.mark.parametrize("name", EXAMPLES)
def test_answers_are_json(name: str) -> None:
    world, settings = settings_for(name)
    for found in (answer(world, settings), costs(world, settings), world.as_dict()):
        assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize(("name", "mechanism"), MADE)
def test_rows_are_distributions_in_order_of_preference(name: str, mechanism: str) -> None:
    world = example(name)
    found = answer(world, Settings(mechanism, WIDE))
    assert found["verdict"]["state"] == ("violated" if mechanism == "printed" else "checked")
    rows = np.array(found["rows"])
    assert rows.shape == (len(world.graph), len(world.graph.answers))
    assert np.allclose(rows.sum(axis=1), 1)
    inside = world.graph.depths > 0
    assert (rows[inside, 0] >= rows[inside].max(axis=1) - 1e-12).mean() > 0.3


def test_the_verdict_of_a_violation_can_be_checked_by_hand() -> None:
    world = example("paper")
    found = answer(world, Settings("printed", rb.DP(1, "0.1")))
    more, less = found["verdict"]["edge"]
    assert tuple(sorted((more, less))) in map(tuple, world.graph.edge_positions().tolist())
    named = found["verdict"]["text"].split("}")[0].strip("{").split(", ")
    rows = {
        place: dict(
            zip(world.graph.rainbow(world.graph.datasets[place]), found["rows"][place], strict=True)
        )
        for place in (more, less)
    }
    excess = sum(rows[more][a] for a in named) - math.e * sum(rows[less][a] for a in named) - 0.1
    assert excess == pytest.approx(found["verdict"]["excess"], rel=1e-9)
    assert excess > 0.1


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("delta", ["0", "0.05"])
def test_the_worst_neighbor_is_the_worst(name: str, delta: str) -> None:
    world = example(name)
    promise = rb.DP("0.9", delta)
    mechanism = "homogeneous" if name == "growth" else "textbook permute-and-flip"
    made = make(world, Settings(mechanism, promise))
    for position in range(0, len(world.graph), 7):
        found = answer(world, Settings(mechanism, promise, None, position))["dataset"]["worst"]
        own = world.graph.datasets[position]
        largest = 0.0
        for other in world.graph.neighbors(own):
            for p, q in ((made[own], made[other]), (made[other], made[own])):
                for size in range(1, len(p)):
                    for chosen in itertools.combinations(p, size):
                        above = sum(p[a] for a in chosen) - float(delta)
                        if above > 0:
                            largest = max(largest, above / sum(q[a] for a in chosen))
        assert found["ratio"] == pytest.approx(largest, rel=1e-9)
        assert found["most"] == pytest.approx(math.exp(0.9))
        p, q = (made[own], made[world.graph.datasets[found["neighbor"]]])[
            :: 1 if found["here"] else -1
        ]
        assert found["likely"] == pytest.approx(sum(p[a] for a in found["answers"]))
        assert found["beside"] == pytest.approx(sum(q[a] for a in found["answers"]))


def test_under_a_gaussian_promise_the_allowed_is_told() -> None:
    world = example("paper")
    promise = rb.GaussianDP(1)
    found = answer(world, Settings("homogeneous", promise, None, 0))["dataset"]["worst"]
    assert "ratio" not in found
    assert found["allowed"] == pytest.approx(promise.step(found["beside"]))
    assert found["likely"] <= found["allowed"] * (1 + 1e-9)


@pytest.mark.parametrize("name", ["paper", "election", "travel", "roads"])
def test_costs_are_those_of_compare(name: str) -> None:
    world, settings = settings_for(name, guarantee={"kind": "dp", "epsilon": "1.5", "delta": "0"})
    promise = settings.guarantee
    shown = {cost["name"]: cost for cost in costs(world, settings) if "missing" not in cost}
    makers: dict[str, Any] = {
        "homogeneous": rb.optimal,
        "proximity": rb.proximity,
        "textbook exponential": rb.exponential,
        "textbook permute-and-flip": rb.permute_and_flip,
        "randomized response": rb.randomized_response,
    }
    if world.question is None:
        compared = rb.compare(world.graph, promise, makers)
    else:
        assert world.counts is not None
        size = int(world.counts[0].sum())
        compared = rb.compare(world.question, promise, makers, records=size)
    for ours, theirs in {
        "homogeneous": "homogeneous",
        "proximity": "proximity",
        "textbook exponential": "textbook exponential",
        "textbook permute-and-flip": "textbook permute-and-flip",
        "randomized response": "randomized response",
    }.items():
        standing = compared[theirs]
        assert shown[ours]["mean_error"] == pytest.approx(standing.mean_error, rel=1e-9)
        assert shown[ours]["worst"] == pytest.approx(1 - standing.worst, rel=1e-9)
        by_margin = dict(shown[ours]["by_margin"])
        assert by_margin == pytest.approx(dict(standing.by_margin), rel=1e-9)


def test_what_each_would_need_to_match_makes_it_match() -> None:
    world, settings = settings_for("paper")
    target = costs(world, settings)[0]["mean_error"]
    found = match(world, settings)
    assert found["homogeneous"] == 1
    for name in ("proximity", "textbook exponential", "randomized response"):
        epsilon = found[name]
        assert epsilon is not None
        rows = answer(world, Settings(name, rb.DP(epsilon)))["rows"]
        assert np.mean([1 - row[0] for row in rows]) == pytest.approx(target, rel=1e-3)


@pytest.mark.parametrize("mechanism", ["homogeneous", "proximity"])
@pytest.mark.parametrize("name", ["paper", "election", "travel", "roads"])
def test_ours_are_proved_and_the_proved_rows_are_those_shown(name: str, mechanism: str) -> None:
    world = example(name)
    settings = Settings(mechanism, rb.DP("1.5"))
    assert prove(world, settings)["state"] == "proved"
    rows, proved = answer(world, settings)["rows"], exact(world, settings)
    for position in range(0, len(world.graph), 5):
        row = proved[world.key(position)]
        order = world.graph.rainbow(world.graph.datasets[position])
        assert [float(row[a]) for a in order] == pytest.approx(rows[position], abs=1e-6)


def test_a_question_is_proved_for_every_table() -> None:
    text = prove(*settings_for("travel"))["text"]
    assert text.startswith("1-DP on tables of every size: ")


def test_a_boundary_by_hand_is_what_the_library_grows() -> None:
    row = (0.6, 0.25, 0.15)
    world = example("paper")
    promise = rb.DP("1.5")
    mechanism = rb.optimal(figure_one(), promise, boundary=row)
    found = answer(world, Settings("homogeneous", promise, row))
    assert found["rows"] == [list(row.values()) for row in mechanism.values()]


def test_a_boundary_that_is_not_private_names_the_regions() -> None:
    world = example("paper")
    found = answer(world, Settings("homogeneous", rb.DP("0.1"), (0.9, 0.05, 0.05)))
    verdict = found["verdict"]
    assert "rows" not in found
    assert verdict["state"] == "violated"
    assert len(verdict["regions"]) == 2
    labels = list(world.graph.regions)
    pair = {labels[number] for number in verdict["regions"]}
    assert any(set(touching) == pair for touching in world.graph.touching)
    assert verdict["excess"] == pytest.approx(0.9 - math.exp(0.1) * 0.05, rel=1e-9)


def test_a_boundary_that_does_not_sum_to_one_is_refused() -> None:
    with pytest.raises(rb.InvalidDistribution, match="must sum to 1"):
        answer(example("paper"), Settings("homogeneous", rb.DP(1), (0.9, 0.2, 0.1)))


@pytest.mark.parametrize(
    "guarantee", [rb.DP("0.05"), rb.DP(1), rb.DP(3, "0.1"), rb.GaussianDP("0.5")]
)
@pytest.mark.parametrize("name", EXAMPLES)
def test_where_a_boundary_by_hand_starts_is_private(name: str, guarantee: Any) -> None:
    world = example(name)
    start = answer(world, Settings("homogeneous", guarantee))["equal_shares"]
    assert sum(start) == pytest.approx(1, abs=1e-12)
    found = answer(world, Settings("homogeneous", guarantee, tuple(start)))
    assert found["verdict"]["state"] == "checked"


@pytest.mark.parametrize(
    ("mechanism", "guarantee", "message"),
    [
        ("proximity", rb.DP("0.3"), "proximity on this graph holds from epsilon"),
        ("textbook exponential", rb.GaussianDP(1), "a baseline needs an"),
        ("printed", rb.DP(1), "the printed operator is wrong only when delta > 0"),
    ],
)
def test_what_does_not_exist_here_is_said(mechanism: str, guarantee: Any, message: str) -> None:
    verdict = answer(example("paper"), Settings(mechanism, guarantee))["verdict"]
    assert verdict["state"] == "refused"
    assert verdict["text"].startswith(message)


def test_the_growth_curve_is_the_papers() -> None:
    world, settings = settings_for("growth")
    curves = answer(world, settings)["curves"]
    assert curves["turns"] == [25, 20, 7, 1]  # for δ = 10⁻³, as the paper prints them
    assert curves["deepest"] == 37
    grown = rb.DP.from_ratio(6, 5, delta="1/1000").grow(0.0005, curves["depths"])
    assert [row[0] for row in curves["rows"]] == pytest.approx(grown.tolist(), rel=1e-9)


def test_curves_of_others_are_means_over_the_region() -> None:
    world = example("roads")
    found = answer(world, Settings("textbook exponential", rb.DP(1), None, 0))
    region = found["curves"]["region"]
    depth = found["curves"]["deepest"]
    chosen = [
        row
        for row, number, deep in zip(
            found["rows"], world.graph.region_numbers, world.graph.depths, strict=True
        )
        if number == region and deep == depth
    ]
    assert found["curves"]["rows"][-1] == pytest.approx(np.mean(chosen, axis=0).tolist())


def test_a_region_without_border_has_no_curve() -> None:
    world = read_world(b"a b\na: yes > no\nb: yes > no\n", "calm.txt")
    found = answer(world, Settings("homogeneous", rb.DP(1), None, 0))
    assert found["curves"]["depths"] == []
    assert found["rows"] == [[1, 0], [1, 0]]
    assert world.as_dict()["datasets"][0]["depth"] is None


def test_a_lone_dataset_has_no_worst_neighbor() -> None:
    world = read_world(b"a: yes > no\n", "lone.txt")
    found = answer(world, Settings("homogeneous", rb.DP(1), None, 0))
    assert found["dataset"] == {"position": 0, "worst": None, "attack": None}


def test_files_round_trip() -> None:
    for name in ("paper", "travel"):
        for mechanism in ("homogeneous", "proximity"):
            world = example(name)
            text = mechanism_file(world, Settings(mechanism, rb.DP("1.5")))
            loaded = read_world(text.encode(), "saved.json")
            assert loaded.file is not None
            settings = read_settings(loaded, loaded.start)
            assert prove(loaded, settings)["state"] == "proved"
            assert mechanism_file(loaded, settings) == text
            found = answer(loaded, settings)
            assert found["verdict"]["state"] == "checked"


def test_a_file_is_checked_against_a_stricter_promise() -> None:
    text = mechanism_file(example("paper"), Settings("homogeneous", rb.DP(1)))
    loaded = read_world(text.encode(), "saved.json")
    strict = Settings("file", rb.DP("0.5"))
    assert answer(loaded, strict)["verdict"]["state"] == "violated"
    assert prove(loaded, Settings("file", rb.DP(2)))["state"] == "checked"


def test_a_baseline_has_no_exact_form() -> None:
    with pytest.raises(InvalidFile, match="has no exact proof"):
        exact(example("paper"), Settings("randomized response", rb.DP(1)))


def test_what_best_takes_costs_no_more_than_the_others_on_average() -> None:
    for name in ("travel", "paper"):
        world = example(name)
        settings = Settings("best", rb.DP(1))
        cost = best_cost(world, settings)
        others = [c["mean_error"] for c in costs(world, settings) if "missing" not in c]
        assert cost["mean_error"] <= min(others) + 1e-6
        made = rb.best(world.question or world.graph, rb.DP(1))
        assert cost["kind"] == made.name
        assert prove(world, settings)["state"] == "proved"


def test_the_worst_pair_is_the_worst_of_all_edges() -> None:
    world = example("paper")
    settings = Settings("homogeneous", rb.DP(1))
    found = worst_pair(world, settings)
    assert found is not None
    every = [
        answer(world, Settings("homogeneous", rb.DP(1), None, place))["dataset"]["worst"]["use"]
        for place in range(len(world.graph))
    ]
    assert found["use"] == pytest.approx(max(every), rel=1e-12)
    assert worst_pair(world, Settings("proximity", rb.DP("0.1"))) is None


@pytest.mark.parametrize("promise", [rb.DP(1), WIDE, rb.GaussianDP(1)])
@pytest.mark.parametrize("name", ["paper", "travel", "sketch"])
def test_the_worst_neighbor_is_the_worst_of_all_sets(name: str, promise: Any) -> None:
    world = example(name)
    rows = preferred_by_answer(world, Settings("homogeneous", promise))
    sets = list(itertools.product((0.0, 1.0), repeat=rows.shape[1]))[1:-1]

    def use(a: int, b: int) -> float:
        most = []
        for chosen in sets:
            p, q = float(np.dot(chosen, rows[a])), min(1.0, float(np.dot(chosen, rows[b])))
            if isinstance(promise, rb.DP):
                p, allowed = max(0.0, p - promise.delta), q * promise.ratio
            else:
                allowed = promise.step(q)
            most.append(p / allowed if allowed else math.inf if p else 0.0)
        return max(most)

    edges = world.graph.edge_positions().tolist()
    worst = worst_pair(world, Settings("homogeneous", promise))
    assert worst is not None
    every = [use(a, b) for pair in edges for a, b in (pair, pair[::-1])]
    assert worst["use"] == pytest.approx(max(every), rel=1e-9)
    assert worst["use"] == pytest.approx(use(worst["more"], worst["less"]), rel=1e-9)
    for place in range(0, len(world.graph), 7):
        near = [pair if pair[0] == place else pair[::-1] for pair in edges if place in pair]
        found = answer(world, Settings("homogeneous", promise, None, place))["dataset"]["worst"]
        both = [use(a, b) for pair in near for a, b in (pair, pair[::-1])]
        assert found["use"] == pytest.approx(max(both), rel=1e-9)


def preferred_by_answer(world: World, settings: Settings) -> Any:
    made = make(world, settings)
    return np.array([[made[d][a] for a in world.graph.answers] for d in world.graph.datasets])


@pytest.mark.parametrize("promise", [rb.DP(1), WIDE, rb.GaussianDP(1)])
def test_graphs_of_one_shape_share_a_boundary_and_others_do_not(promise: Any) -> None:
    world = example("sketch")
    edits: list[dict[str, Any]] = [
        {"do": "rename", "dataset": 1, "name": "center"},
        {"do": "weigh", "dataset": 3, "weight": "5"},
        {"do": "add", "dataset": 0, "place": [0, -2]},
        {"do": "prefer", "dataset": 3, "rainbow": ["maybe", "no", "yes"], "region": False},
    ]
    shapes = [shape_of(world.graph)]
    for edit in edits:
        world = read_world(edit_text(world, edit), "edited.txt")
        made = make(world, Settings("homogeneous", promise))
        own = rb.optimal(world.graph, promise)
        assert own.boundary is not None
        assert made.boundary is not None
        assert made.boundary.exact_rows == own.boundary.exact_rows
        assert (made.table == own.table).all()
        shapes.append(shape_of(world.graph))
    assert shapes[0] == shapes[1] == shapes[2]
    assert len(set(shapes)) == 3


def test_an_attacker_learns_no_more_than_the_promise_allows() -> None:
    world, promise = example("paper"), rb.DP(1)
    made = make(world, Settings("homogeneous", promise))
    for place in (0, 6, 14):
        seen = answer(world, Settings("homogeneous", promise, None, place))["dataset"]["attack"]
        here, there = (made[world.graph.datasets[at]] for at in (place, seen["neighbor"]))
        apart = sum(abs(here[a] - there[a]) for a in here) / 2
        assert seen["guess"] == pytest.approx((1 + apart) / 2)
        assert seen["guess"] <= promise.ratio / (1 + promise.ratio) + 1e-12
        for each in seen["answers"]:
            p, q = here[each["answer"]], there[each["answer"]]
            assert each["belief"] == pytest.approx(p / (p + q))

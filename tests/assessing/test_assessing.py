"""Losses, attacks and posteriors against plain loops; remapping against all functions."""

from __future__ import annotations

import itertools
import math
from typing import Any, cast

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import rainbowdp as rb
from rainbowdp.assessing.attack import geometric_median
from rainbowdp.assessing.side_by_side import nearest_rival
from rainbowdp.graphs.margins import margins
from reference import assert_one_sentence
from strategies import graphs

GRID = nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 4))
NEAR = rb.nearest_sites(GRID, {"x": 0, "y": 19, "z": 16})
MAP = rb.RainbowGraph(GRID, NEAR.rainbows, NEAR.names, labels=NEAR.labels)
AWAY = rb.site_distances(MAP, {"x": 0, "y": 19, "z": 16})
PEOPLE = {n: float(1 + n % 7) for n in range(20)}


def test_every_loss_against_plain_loops() -> None:
    made = rb.best(MAP, rb.DP("0.7"))
    found = rb.assess(made, AWAY, prior=PEOPLE, within=[2, 4])
    total = sum(PEOPLE.values())
    chance = {d: PEOPLE[d] / total for d in MAP.datasets}
    place = {answer: at for at, answer in enumerate(MAP.answers)}
    assert found.loss is not None
    far = math.fsum(
        chance[d] * p * AWAY[d, place[a]] for d in MAP.datasets for a, p in made[d].items()
    )
    assert found.loss.distance == pytest.approx(far)
    assert found.loss.nearest == pytest.approx(sum(chance[d] * AWAY[d].min() for d in MAP.datasets))
    assert found.loss.extra == pytest.approx(far - found.loss.nearest)
    for x in (2, 4):
        near = math.fsum(
            chance[d] * p
            for d in MAP.datasets
            for a, p in made[d].items()
            if AWAY[d, place[a]] <= x
        )
        assert found.loss.within[x] == pytest.approx(near)
    right = math.fsum(chance[d] * made[d][MAP.rainbow(d)[0]] for d in MAP.datasets)
    assert found.truth == pytest.approx(right)
    assert "at most 4 away" in str(found)
    assert found.as_dict()["attack"]["error_after"] == found.attack.error_after  # type: ignore[union-attr]


def test_the_attack_is_the_best_of_all() -> None:
    made = rb.best(MAP, rb.DP("0.7"))
    found = rb.attack(made, PEOPLE)
    steps = dict(nx.all_pairs_shortest_path_length(GRID))
    total = sum(PEOPLE.values())
    joint = {(d, a): PEOPLE[d] / total * p for d in MAP.datasets for a, p in made[d].items()}
    error, guessed = 0.0, 0.0
    for answer in MAP.answers:
        errors = {
            guess: math.fsum(joint[d, answer] * steps[d][guess] for d in MAP.datasets)
            for guess in MAP.datasets
        }
        error += min(errors.values())
        assert errors[found.guesses[answer]] == pytest.approx(min(errors.values()))
        by_region = {
            region: math.fsum(joint[d, answer] for d in MAP.datasets if MAP.rainbow(d)[0] == region)
            for region in MAP.answers
        }
        guessed += max(by_region.values())
        assert found.likely[answer][0] == max(by_region, key=by_region.__getitem__)
    assert found.error_after == pytest.approx(error, rel=1e-5)
    assert found.region_after == pytest.approx(guessed)
    blind = min(
        math.fsum(PEOPLE[d] / total * steps[d][guess] for d in MAP.datasets)
        for guess in MAP.datasets
    )
    assert found.error_before == pytest.approx(blind, rel=1e-5)
    few = rb.attack(made, PEOPLE, guesses=[0, 7])
    assert few.error_after is not None
    assert few.error_after >= error - 1e-6
    seen = rb.posterior(made, "y", PEOPLE)
    mass = math.fsum(joint[d, "y"] for d in MAP.datasets)
    assert seen.tolist() == pytest.approx([joint[d, "y"] / mass for d in MAP.datasets])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_a_geometric_median_is_as_good_as_any_point(seed: int) -> None:
    random = np.random.default_rng(seed)
    points, mass = random.normal(size=(12, 2)), random.random(12)

    def error(point: Any) -> float:
        return float(np.hypot(*(points - point).T) @ mass)

    best = minimize(error, points.mean(axis=0), method="Nelder-Mead", options={"xatol": 1e-9}).fun
    assert error(geometric_median(points, mass)) <= best * (1 + 1e-4)


def test_an_attack_in_the_plane_is_the_harder_one() -> None:
    made = rb.best(MAP, rb.DP("0.7"))
    points = np.array([divmod(n, 4) for n in range(20)], dtype=float)
    free = rb.attack(made, PEOPLE, coordinates=points)
    assert free.error_after is not None
    assert free.error_before is not None
    assert free.error_after < free.error_before
    straight = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    rows = made.mechanism.rows_at(np.arange(20))
    weights = np.array(list(PEOPLE.values()))
    joint = rows * (weights / weights.sum())[:, None]
    at_nodes = (straight @ joint).min(axis=0).sum()
    assert free.error_after <= at_nodes + 1e-6
    assert rb.attack(made, where=False).error_after is None


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: rb.assess(rb.DP(1)), "a mechanism on a graph is needed"),
        (lambda: rb.assess(rb.optimal(MAP, rb.DP(1)), AWAY[:3]), "(20, 3)"),
        (lambda: rb.assess(rb.optimal(MAP, rb.DP(1)), -AWAY - 1), "from 0"),
        (lambda: rb.assess(rb.optimal(MAP, rb.DP(1)), within=[1]), "within needs distances"),
        (lambda: rb.posterior(rb.optimal(MAP, rb.DP(1)), "q"), "got 'q'"),
        (lambda: rb.attack(rb.optimal(MAP, rb.DP(1)), guesses=[]), "at least one guess"),
        (lambda: rb.attack(rb.optimal(MAP, rb.DP(1)), coordinates=[[1, 2]]), "20 datasets"),
        (lambda: rb.remap(rb.optimal(MAP, rb.DP(1)), targets=[1]), "(20, 1)"),
        (lambda: rb.compare(MAP, rb.DP(1), within=[1]), "within needs distances"),
        (lambda: rb.compare(rb.Winner(["a", "b"]), rb.DP(1), records=3, within=[1]), "for graphs"),
        (lambda: rb.compare(MAP, cast(Any, 1.0)), "got float"),
        (lambda: rb.optimal_line(("a", "b"), 2, cast(Any, 1.0), ("1/2", "1/2")), "got float"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(ask: Any, said: str) -> None:
    with pytest.raises(rb.RainbowError) as refused:
        ask()
    assert_one_sentence(refused.value, said)


@settings(max_examples=8, deadline=None)
@given(graphs(answers=3, most=8), st.data())
def test_a_remap_is_the_best_function_and_as_private(
    graph: rb.RainbowGraph, data: st.DataObject
) -> None:
    promise = rb.DP("0.4")
    base = rb.by_kind(graph, promise, "exponential")
    numbers = st.integers(-5, 5)
    matrix = {w: {v: data.draw(numbers) for v in graph.answers} for w in graph.answers}
    counts = {d: data.draw(st.integers(1, 4)) for d in graph.datasets}
    found = rb.remap(base, counts, matrix)

    def worth(to: dict[Any, Any]) -> float:
        return math.fsum(
            counts[d] * p * matrix[graph.rainbow(d)[0]][to[v]]
            for d in graph.datasets
            for v, p in base[d].items()
        ) / sum(counts.values())

    functions = itertools.product(graph.answers, repeat=len(graph.answers))
    best = max(worth(dict(zip(graph.answers, to, strict=True))) for to in functions)
    assert found.after == pytest.approx(best, abs=1e-9)
    assert found.before == pytest.approx(worth({a: a for a in graph.answers}), abs=1e-9)
    table = {d: {a: found[d].get(a, 0.0) for a in graph.answers} for d in graph.datasets}
    assert rb.Mechanism.from_table(graph, table).check(promise)
    assert found.check()
    assert found.release(graph.datasets[0]) in graph.answers
    rows = found.rows_at(np.arange(len(graph)))
    for at, dataset in enumerate(graph.datasets):
        assert rows[at].tolist() == pytest.approx([table[dataset][a] for a in graph.answers])


def test_a_remap_to_other_places() -> None:
    made = rb.best(MAP, rb.DP("0.7"))
    steps = np.array(
        [[abs(a // 4 - b // 4) + abs(a % 4 - b % 4) for b in range(20)] for a in range(20)]
    )
    found = rb.remap(made, PEOPLE, -steps.astype(float), targets=list(range(20)))
    assert found.after == pytest.approx(-rb.attack(made, PEOPLE).error_after, rel=1e-5)  # type: ignore[operator]
    assert found("x") in range(20)
    with pytest.raises(rb.RainbowError, match="others than the graph has"):
        found.rows_at(np.arange(2))


@settings(max_examples=30, deadline=None)
@given(graphs(answers=3))
def test_the_nearest_rival_is_the_least_margin(graph: rb.RainbowGraph) -> None:
    whole = margins(graph)
    rivals = np.where(whole == 0, np.inf, whole).min(axis=1)
    assert nearest_rival(graph).tolist() == rivals.tolist()


def test_a_comparison_on_a_map_has_every_kind_and_the_goal() -> None:
    found = rb.compare(MAP, rb.DP("0.7"), utility=-AWAY, weights=PEOPLE, distances=AWAY, within=[3])
    assert {"best", "homogeneous", "margin-flip", "exponential", "program"} <= {
        s.name for s in found.standings
    }
    assert found.standings[0].name == "best"
    for standing in found.standings:
        assert standing.value is not None
        assert standing.value <= found["best"].value + 1e-9  # type: ignore[operator]
        assert standing.loss is not None
        assert standing.loss.distance == pytest.approx(-standing.value)
    choice = rb.best(MAP, rb.DP("0.7"), utility=-AWAY, weights=PEOPLE)
    assert found["best"].value == pytest.approx(choice.value)
    loss = rb.assess(choice, AWAY, prior=PEOPLE, within=[3], attacked=False).loss
    assert found["best"].loss == loss
    assert "within 3" in str(found)
    assert "distance" in str(found)
    told = found.as_dict()["mechanisms"][0]
    assert told["extra_distance"] == pytest.approx(loss.extra)  # type: ignore[union-attr]
    without = rb.compare(MAP, rb.DP("0.7"), forbid="y")
    assert without["best"].mean_error < 1

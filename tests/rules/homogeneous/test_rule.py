"""Rows by region and depth: where they are found, and what such a rule must have."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rainbowdp as rb
from rainbowdp.errors import InvalidFile, NoPlace
from rainbowdp.exact.steps import BITS
from rainbowdp.questions.histograms import margins_of
from rainbowdp.rules.homogeneous.rule import Homogeneous, OneLadder

ANSWERS = ("a", "b", "c")
QUESTION = rb.Winner(ANSWERS).describe()
ROWS = {
    "a": ((4, 3, 3), (6, 2, 2)),
    "b": ((3, 4, 3), (2, 6, 2), (1, 8, 1)),
    "c": ((3, 3, 4),),
}
RULE = Homogeneous(ROWS, {}, tuple(itertools.combinations(ANSWERS, 2)))
ON_A_GRAPH = Homogeneous(ROWS, {"a": "b", "alone": "c"}, (("a", "b"),))


def refused(rule: Homogeneous, match: str, question: Any = None) -> None:
    with pytest.raises(rb.InvalidMechanism, match=match):
        rule.must_fit(ANSWERS, "substituted", question)


def test_a_row_is_found_by_a_region_and_a_depth() -> None:
    assert RULE.weights(("a", 0), ANSWERS) == (4, 3, 3)
    assert RULE.weights(("b", 1), ANSWERS) == (2, 6, 2)
    for depth in (2, 3, 10**30):
        assert RULE.weights(("b", depth), ANSWERS) == (1, 8, 1)
    odd: list[Any] = [
        ("d", 0), ("a", -1), ("a", True), ("a", 0.0), ("a", math.inf), ("a", None), ("a",),
        ("a", 0, 0), ["a", 0], "ab", None, ([], 0),
    ]  # fmt: skip
    for key in odd:
        with pytest.raises(NoPlace):
            RULE.weights(key, ANSWERS)


def test_a_region_without_a_boundary_is_certain_and_has_the_total_of_all_rows() -> None:
    assert ON_A_GRAPH.weights(("a", math.inf), ANSWERS) == (0, 10, 0)
    assert ON_A_GRAPH.weights(("alone", math.inf), ANSWERS) == (0, 0, 10)
    for key in (("b", math.inf), ("alone", 0)):
        with pytest.raises(NoPlace):
            ON_A_GRAPH.weights(key, ANSWERS)
    first_of_one_row = Homogeneous({"c": ROWS["c"]}, {"alone": "b"}, ())
    assert first_of_one_row.weights(("alone", math.inf), ANSWERS) == (0, 10, 0)
    nothing_else = Homogeneous({}, {"alone": "a"}, ())
    assert nothing_else.weights(("alone", math.inf), ANSWERS) == (1 << BITS, 0, 0)


def test_on_a_graph_regions_and_pairs_may_be_any() -> None:
    for rule in (RULE, ON_A_GRAPH, Homogeneous({}, {"alone": "a"}, ())):
        rule.must_fit(ANSWERS, "steps", None)
    refused(replace(RULE, touching=(("a", "b"), ("a", "b"))), "listed once")
    refused(replace(RULE, touching=(("a", "b"), ("b", "d"))), "must have rows")
    refused(replace(RULE, touching=(("d", "b"), ("a", "b"))), "must have rows")
    refused(replace(RULE, certain={"x": "a", "y": "d"}), "one of the answers")
    refused(replace(RULE, certain={"x": "d", "y": "a"}), "one of the answers")
    for place, ladder in itertools.product(range(3), ((), ((5, 5),), ((4, 3, 3), (5, 5)))):
        wrong: dict[str, Any] = dict(ROWS)
        wrong[ANSWERS[place]] = ladder
        refused(replace(RULE, rows=wrong), "a weight for each of the 3 answers")


def test_a_question_has_all_regions_and_every_two_of_them_touch() -> None:
    RULE.must_fit(ANSWERS, "substituted", QUESTION)
    backwards = tuple((b, a) for a, b in RULE.touching)
    replace(RULE, touching=backwards).must_fit(ANSWERS, "substituted", QUESTION)
    match = "a region for each answer, every two of them touching"
    for place in range(3):
        fewer = (*RULE.touching[:place], *RULE.touching[place + 1 :])
        refused(replace(RULE, touching=fewer), match, QUESTION)
        itself = (*fewer, (ANSWERS[place], ANSWERS[place]))
        refused(replace(RULE, touching=itself), match, QUESTION)
    refused(replace(RULE, certain={"a": "a"}), match, QUESTION)
    refused(replace(RULE, rows={**ROWS, "d": ROWS["a"]}), match, QUESTION)
    with_another = {"a": ROWS["a"], "b": ROWS["b"], "d": ROWS["c"]}
    touching = tuple(itertools.combinations("abd", 2))
    refused(Homogeneous(with_another, {}, touching), match, QUESTION)


def test_pairs_are_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine weights in three pairs of regions, and eighteen in all rows."""
    for compared, more, fits in ((9, 0, True), (8, 0, False), (0, 1, True), (8, 1, True)):
        monkeypatch.setattr("rainbowdp.rules.homogeneous.rule._MOST_COMPARED", compared)
        monkeypatch.setattr("rainbowdp.rules.homogeneous.rule._MORE", more)
        if fits:
            RULE.must_fit(ANSWERS, "substituted", QUESTION)
        else:
            refused(RULE, "3 pairs of touching regions are more", QUESTION)


def test_what_is_described_is_restored_and_nothing_else() -> None:
    for rule in (RULE, ON_A_GRAPH):
        assert Homogeneous.restore(rule.describe()) == rule
    content = ON_A_GRAPH.describe()
    for number in (-1, 4, True, "0", None):
        for pair in ([number, 1], [1, number]):
            with pytest.raises(InvalidFile, match="numbers of regions"):
                Homogeneous.restore(content | {"touching": [[0, 1], pair]})
    Homogeneous.restore(content | {"touching": [[0, 3], [3, 0]]})
    for place in range(3):
        regions = [dict(region) for region in content["regions"]]
        regions[place]["label"] = regions[place + 1]["label"]
        with pytest.raises(InvalidFile, match="different names"):
            Homogeneous.restore(content | {"regions": regions})


@pytest.mark.parametrize("rule", [RULE, OneLadder(((4, 3), (6, 2)))], ids=["regions", "one ladder"])
def test_floats_are_the_rows_of_each(rule: Any) -> None:
    question = rb.Winner(ANSWERS)
    counts = np.array([[5, 4, 1], [1, 9, 0], [2, 9, 8], [0, 0, 4], [3, 3, 3], [2, 7, 5]])
    found = rule.rows_at(question, counts, margins_of(question, counts))
    for row, held in zip(found, counts.tolist(), strict=True):
        key = rule.key(question, dict(zip(ANSWERS, held, strict=True)))
        weights = rule.weights(key, ANSWERS)
        assert row == pytest.approx([weight / sum(weights) for weight in weights], rel=1e-12)
        chance = weights[ANSWERS.index(key[0])] / sum(weights)
        if key[0] == "a":
            assert rule.chances(question, key[1] + 1) == (chance, chance)


@pytest.mark.parametrize("ladder", [((4, 3), (6, 2), (8, 1)), ((8, 1), (6, 2), (4, 3))])
def test_what_far_rivals_have_at_most(ladder: tuple[tuple[int, int], ...]) -> None:
    """Depths are what the nearest rival has; of two rivals one may be near and one far."""
    rule, question = OneLadder(ladder), rb.Winner(ANSWERS)
    for short in range(5):
        deep = [2 * ladder[min(depth, 2)][1] for depth in range(short, 9)]
        near = [ladder[min(depth, 2)][1] for depth in range(short)]
        assert rule.far(question, short) == pytest.approx(max(deep + near) / 10)
        alone = max(other for _, other in ladder) / 10
        assert rule.far_alone(question, short) == pytest.approx(min(alone, max(deep + near) / 10))


def test_a_region_is_a_line_in_the_order_of_its_answers() -> None:
    lines = RULE.outline(ANSWERS).lines
    assert lines["b"] == (("b", "a", "c"), 3)
    other = Homogeneous({1: ((2, 3, 5), (1, 4, 5)), ("c", "a", "b"): ((1, 1, 8),)}, {}, ())
    assert other.outline(ANSWERS).lines == {
        1: (("c", "b", "a"), 2),
        ("c", "a", "b"): (("c", "a", "b"), 1),
    }
    assert OneLadder(((4, 3),)).outline(ANSWERS).lines["c"] == (("c", "a", "b"), 1)

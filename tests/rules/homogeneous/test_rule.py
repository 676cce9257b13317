"""Rows by region and depth: where they are found, and what such a rule must have."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from random import Random
from types import SimpleNamespace
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
    limits = [(9, 0, True), (8, 0, False), (0, 0.5, True), (0, 0.49, False), (8, 1, True)]
    for compared, more, fits in limits:
        monkeypatch.setattr("rainbowdp.rules.homogeneous.rule._MOST_COMPARED", compared)
        monkeypatch.setattr("rainbowdp.rules.homogeneous.rule._MORE", more)
        if fits:
            RULE.must_fit(ANSWERS, "substituted", QUESTION)
        else:
            refused(RULE, "3 pairs of touching regions are more", QUESTION)


def test_what_is_described_is_restored_and_nothing_else() -> None:
    backwards = replace(ON_A_GRAPH, certain={"alone": "c", "a": "b"})
    for rule in (RULE, ON_A_GRAPH, backwards):
        assert Homogeneous.restore(rule.describe()) == rule
    content = ON_A_GRAPH.describe()
    for number in (-1, 4, True, "0", None):
        for pair in ([number, 1], [1, number]):
            for touching in ([[0, 1], pair], [pair, [0, 1]]):
                with pytest.raises(InvalidFile, match="numbers of regions"):
                    Homogeneous.restore(content | {"touching": touching})
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
    one = OneLadder(((4, 3), (6, 2))).outline(ANSWERS)
    assert one.lines == {
        "a": (("a", "b", "c"), 2),
        "b": (("b", "a", "c"), 2),
        "c": (("c", "a", "b"), 2),
    }
    assert one.touching == (("a", "b"), ("a", "c"), ("b", "c"))
    assert not one.certain


@pytest.mark.parametrize(
    ("label", "ladder", "order"),
    [
        (("b", "c", "a"), ((8, 1, 1),), "bca"),  # the label says so
        (("a", "b", "c", "a"), ((1, 2, 3),), "cba"),  # this one is no order of the answers
        (("x", "y", "z"), ((1, 2, 3),), "cba"),
        (1, ((9, 0, 0), (0, 9, 0), (0, 0, 9), (1, 2, 3)), "cba"),  # the deepest row
        (1, ((1, 2, 5), (5, 2, 1), (4, 4, 4)), "cba"),  # where it is even, the one at the boundary
    ],
)
def test_a_line_is_in_the_order_of_its_label_or_the_likeliest_first(
    label: Any, ladder: Any, order: str
) -> None:
    rule = Homogeneous({label: ladder}, {}, ())
    assert rule.outline(ANSWERS).lines == {label: (tuple(order), len(ladder))}


def test_a_question_of_any_size_has_all_its_pairs() -> None:
    """One answer has no pair and is certain."""
    Homogeneous({}, {"a": "a"}, ()).must_fit(("a",), "substituted", QUESTION)
    for size in (2, 6):
        answers = tuple("abcdef"[:size])
        rows = dict.fromkeys(answers, ((1,) * size,))
        pairs = tuple(itertools.combinations(answers, 2))
        Homogeneous(rows, {}, pairs).must_fit(answers, "substituted", QUESTION)
        with pytest.raises(rb.InvalidMechanism, match="every two of them touching"):
            Homogeneous(rows, {}, pairs[1:]).must_fit(answers, "substituted", QUESTION)


def test_one_ladder_is_for_a_question_with_rivals() -> None:
    ladder = OneLadder(((4, 3),))
    ladder.must_fit(("a", "b"), "substituted", QUESTION)
    wrong: list[tuple[tuple[str, ...], Any]] = [(ANSWERS, None), (("a",), QUESTION)]
    for answers, question in wrong:
        with pytest.raises(rb.InvalidMechanism, match="a question with at least two"):
            ladder.must_fit(answers, "substituted", question)


def test_regions_have_single_rows_only_if_all_have() -> None:
    single = {label: ladder[:1] for label, ladder in ROWS.items()}
    assert replace(RULE, rows=single).single_rows == 3
    assert replace(RULE, rows=single, certain={"x": "a"}).single_rows == 0
    for label in ANSWERS:
        assert replace(RULE, rows=single | {label: ROWS["b"]}).single_rows == 0


def test_on_a_graph_a_scope_counts_the_pairs() -> None:
    assert "the 3 listed pairs of touching regions" in RULE.scope_on_a_graph()
    assert "the 1 listed pair of touching regions" in ON_A_GRAPH.scope_on_a_graph()
    assert "the 0 listed pairs of" in replace(RULE, touching=()).scope_on_a_graph()
    assert "the 2 listed pairs of" in replace(RULE, touching=RULE.touching[1:]).scope_on_a_graph()


def test_of_two_answers_the_chances_are_those_of_the_ladder_and_the_only_one_is_certain() -> None:
    two = Homogeneous({"a": ((3, 2), (4, 1)), "b": ((2, 3), (1, 4))}, {}, (("a", "b"),))
    for margin, chance in ((1, 0.6), (2, 0.8), (3, 0.8)):
        assert two.chances(rb.Winner(["a", "b"]), margin) == (chance, chance)
    alone: Any = SimpleNamespace(answers=("a",))
    assert Homogeneous({}, {"a": "a"}, ()).chances(alone, 1) == (1.0, 1.0)


@pytest.mark.parametrize("seed", range(30))
def test_far_rivals_have_the_most_over_all_depths(seed: int) -> None:
    """The nearest rival is as far as the depth says; any one may be the nearest."""
    numbers = Random(seed)

    def ladder() -> tuple[tuple[int, ...], ...]:
        rows = range(numbers.randint(1, 4))
        return tuple(tuple(numbers.randint(1, 9) for _ in ANSWERS) for _ in rows)

    rule = Homogeneous({answer: ladder() for answer in ANSWERS}, {}, RULE.touching)
    for short in range(6):
        found = []
        for (place, truth), depth in itertools.product(enumerate(ANSWERS), range(12)):
            row = rule.weights((truth, depth), ANSWERS)
            rivals = [weight for other, weight in enumerate(row) if other != place]
            near = 0 if depth >= short else min(rivals)
            found.append((sum(rivals) - near) / sum(row))
        assert rule.far(rb.Winner(ANSWERS), short) == pytest.approx(max(found))


def test_a_ladder_may_have_one_depth_and_leave_nothing_to_rivals() -> None:
    question, counts = rb.Winner(ANSWERS), np.array([[5, 4, 1], [1, 9, 0]])
    for ladder, other in ((((4, 3),), 3), (((5, 0),), 0)):
        rule = OneLadder(ladder)
        total = ladder[0][0] + 2 * other
        assert rule.far(question, 0) == 2 * other / total
        assert rule.far_alone(question, 0) == other / total
        rows = rule.rows_at(question, counts, margins_of(question, counts))
        assert rows[0] == pytest.approx([ladder[0][0] / total, other / total, other / total])


@pytest.mark.parametrize("size", [2, 11, 12, 30])
@pytest.mark.parametrize("kind", [RULE, OneLadder(((4, 3),))], ids=["regions", "one ladder"])
def test_a_key_is_the_true_answer_and_its_depth(size: int, kind: Any) -> None:
    """Also where there are so many counts that they are looked at all at once."""
    question = rb.Winner([f"option {number}" for number in range(size)])
    for truth, rival in ((0, 1), (1, 0), (size - 1, 0)):
        counts = dict.fromkeys(question.answers, 0)
        counts |= {question.answers[truth]: 20, question.answers[rival]: 13}
        place, depth = kind.key(question, counts)
        assert place == question.answers[truth]
        assert depth == question.margins(counts)[question.answers[rival]] - 1

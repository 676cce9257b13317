"""Weights by margin: where a row is found, what it is, and which file it has."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rainbowdp as rb
import reference
from rainbowdp.errors import NoPlace
from rainbowdp.rules.proximity.rule import Proximity

ANSWERS = ("a", "b", "c")
RULE = Proximity(100, (25, 9, 3))
BOUNDED = replace(RULE, most=28)
MARGINS = [m for m in itertools.product(range(7), repeat=3) if m.count(0) == 1]


def keyed(margins: tuple[int, ...]) -> dict[str, int]:
    return dict(zip(ANSWERS, margins, strict=True))


def test_a_row_has_the_weights_of_its_margins() -> None:
    for margins in MARGINS:
        assert RULE.weights(keyed(margins), ANSWERS) == reference.margin_row(
            100, RULE.steps, margins
        )
    assert RULE.weights(keyed((10**30, 0, 10**30)), ANSWERS) == (3, 94, 3)
    assert RULE.last_margin == 3


def test_the_key_is_the_margins_of_the_question() -> None:
    question = rb.Winner(ANSWERS)
    counts = {"a": 10, "b": 7, "c": 0}
    assert RULE.key(question, counts) == question.margins(counts) == keyed((0, 2, 7))


@pytest.mark.parametrize(
    "key",
    [
        {"a": 0, "b": 1}, {"a": 0, "b": 1, "d": 1}, {"a": 0, "b": 1, "c": 1, "d": 1},
        {"a": 0, "b": 0, "c": 1}, {"a": 1, "b": 1, "c": 1}, {"a": 0, "b": -1, "c": 1},
        {"a": 0, "b": 1.0, "c": 1}, {"a": False, "b": 1, "c": 1}, {"a": 0, "b": True, "c": 1},
        (0, 1, 1), None,
    ],
)  # fmt: skip
def test_margins_that_are_none_have_no_row(key: Any) -> None:
    with pytest.raises(NoPlace):
        RULE.weights(key, ANSWERS)


def test_what_others_may_have_at_most_is_kept() -> None:
    """On a graph alone: nobody knows the margins of all tables of a question."""
    for margins in MARGINS:
        row = reference.margin_row(100, RULE.steps, margins)
        if 100 - row[margins.index(0)] <= 28:
            assert BOUNDED.weights(keyed(margins), ANSWERS) == row
        else:
            with pytest.raises(NoPlace, match="at most 28"):
                BOUNDED.weights(keyed(margins), ANSWERS)
    question = rb.Winner(ANSWERS).describe()
    for rule in (RULE, BOUNDED):
        rule.must_fit(ANSWERS, "steps", None)
    RULE.must_fit(ANSWERS, "substituted", question)
    with pytest.raises(rb.InvalidMechanism, match="for graphs alone"):
        BOUNDED.must_fit(ANSWERS, "substituted", question)
    assert "margins that give the others more" in BOUNDED.scope_on_a_graph()
    assert BOUNDED.scope_on_a_graph().startswith(f"{RULE.scope_on_a_graph()}, and margins")
    with pytest.raises(rb.InvalidMechanism, match="must be below the total"):
        BOUNDED.prove(rb.DP.from_ratio(3, delta="1/9"), ANSWERS, None)


def test_floats_are_the_rows_of_each() -> None:
    found = RULE.rows_of(np.array(MARGINS, dtype=float))
    for row, margins in zip(found, MARGINS, strict=True):
        weights = RULE.weights(keyed(margins), ANSWERS)
        assert row == pytest.approx([weight / 100 for weight in weights], rel=1e-12)
    assert RULE.rows_of(np.array([[np.inf, 0.0, np.inf]]))[0] == pytest.approx([0.03, 0.94, 0.03])


def test_the_chance_of_the_truth_and_of_far_rivals() -> None:
    question = rb.Winner(ANSWERS)
    for margin in range(1, 6):
        rows = [m for m in MARGINS if m[0] == 0 and min(m[1:]) == margin]
        chances = [RULE.weights(keyed(m), ANSWERS)[0] / 100 for m in rows]
        least, most = RULE.chances(question, margin)
        assert least == pytest.approx(min(chances))
        assert most == pytest.approx(1 - (RULE.steps[min(margin, 3) - 1] + 3) / 100)
    for short in range(5):
        far = [sum(w for t, w in zip(m, RULE.weights(keyed(m), ANSWERS), strict=True) if t > short)
               for m in MARGINS]  # fmt: skip
        assert RULE.far(question, short) == pytest.approx(max(far) / 100)
        assert RULE.far_alone(question, short) == pytest.approx(max(far) / 200)


def test_what_is_described_is_restored() -> None:
    for rule in (RULE, BOUNDED):
        assert Proximity.restore(rule.describe()) == rule
    assert "most" not in RULE.describe()


def test_on_a_line_all_rivals_are_equally_near() -> None:
    outline = RULE.outline(ANSWERS)
    assert outline.lines["b"] == (("b", "a", "c"), 3)
    assert outline.touching == (("a", "b"), ("a", "c"), ("b", "c"))
    assert RULE.key_at_depth("b", 2, ANSWERS) == keyed((3, 0, 3))

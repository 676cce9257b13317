"""The numbers of the story are the library's, and its page is one file."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

import rainbowdp as rb
from rainbowdp.studio import story


def test_every_table_has_the_chances_of_the_best_mechanism() -> None:
    told = story.numbers()
    assert json.loads(json.dumps(told, allow_nan=False)) is not None
    question = rb.Winner(story.DISHES)
    for place in (0, 9, 39):
        made = rb.best(question, rb.DP(told["epsilons"][place]))
        for pizza in range(13):
            row = made[{"noodles": 12 - pizza, "pizza": pizza}]
            assert told["pizza"][place][pizza] == row["pizza"]
            truth = "pizza" if pizza > 6 else "noodles"  # a tie goes to noodles
            assert told["answers"][pizza] == truth == max(row, key=lambda a: row[a])
            assert told["margins"][pizza] == (pizza - 6 if pizza > 6 else 7 - pizza)


def test_the_snoop_guesses_no_better_than_the_promise_allows() -> None:
    """Of two neighbors told apart by one answer: e^ε/(1+e^ε), and somebody does reach it."""
    told = story.numbers()
    for epsilon, guessed in zip(told["epsilons"], told["snoop"], strict=True):
        allowed = math.exp(float(epsilon)) / (1 + math.exp(float(epsilon)))
        assert guessed == pytest.approx(allowed, rel=1e-12)


def test_how_often_the_truth_may_be_said_beside_a_tie() -> None:
    told = story.numbers()
    promise = rb.DP(story.SHOWN)
    for step in told["waver"]:
        ratio = math.inf if step["times"] is None else step["times"]
        assert ratio == pytest.approx(
            step["share"] / (1 - step["share"]) if step["share"] < 1 else math.inf
        )
        assert step["private"] == (ratio <= promise.ratio)
    assert {step["private"] for step in told["waver"]} == {True, False}


def test_the_triangle_has_the_rows_of_the_best_mechanism() -> None:
    drawn = story.numbers()["triangle"]
    assert len(drawn["tables"]) == 91
    made = rb.best(rb.Winner(story.MORE_DISHES), rb.DP(story.SHOWN))
    top = min(drawn["tables"], key=lambda table: table["y"])  # all of the first dish
    first = drawn["answers"][drawn["orders"][top["region"]][0]]
    row = made[{dish: 12 * (dish == first) for dish in story.MORE_DISHES}]
    assert top["row"] == list(row.values())


def test_the_page_is_one_file_that_loads_nothing(tmp_path: Path) -> None:
    file = story.write_page(tmp_path / "story")
    assert [path.name for path in file.parent.iterdir()] == ["index.html"]
    text = file.read_text("utf-8")
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", text)
    assert not re.search(r"^\s*(?:import|export) ", text, re.MULTILINE)
    assert "/designer" not in text
    assert "pip install 'rainbowdp[studio]'" in text
    assert len(text) < 120_000
    assert story.write_page(tmp_path / "again").read_bytes() == file.read_bytes()

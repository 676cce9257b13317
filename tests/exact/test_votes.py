"""A rule for votes or sets is for one size, relation, ties and rows a person, and no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import rainbowdp as rb
from rainbowdp.errors import NoPlace
from rainbowdp.exact.votes import (
    chances_of_a_vote,
    counts_key,
    counts_of,
    must_be_that_vote,
    must_be_those_sets,
)

VOTE: dict[str, Any] = {
    "answers": ("a", "b", "c"),
    "neighbors": "substituted",
    "question": {"kind": "winner", "ties": "any leader", "rows_per_person": 2},
    "size": 3,
    "relation": "substituted",
    "ties": "any leader",
    "rows": 2,
}
SETS: dict[str, Any] = {
    "answers": ("a, b", "a, c", "b, c"),
    "neighbors": "substituted",
    "question": {
        "kind": "ranking",
        "first": 2,
        "among": ["a", "b", "c"],
        "in_order": False,
        "rows_per_person": 2,
    },
    "size": 3,
    "first": 2,
    "relation": "substituted",
    "rows": 2,
}


def changed(given: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """The same but for one argument, or for one entry of the question."""
    if name in given:
        return given | {name: value}
    return given | {"question": given["question"] | {name: value}}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("size", 2),
        ("answers", ("a", "b")),
        ("relation", "added or removed"),
        ("neighbors", "added or removed"),
        ("neighbors", "joined by an edge"),
        ("ties", "first listed"),
        ("rows", 1),
        ("question", None),
        ("kind", "ranking"),
        ("rows_per_person", 3),
    ],
)
def test_each_thing_about_a_vote_is_looked_at(name: str, value: Any) -> None:
    must_be_that_vote(**VOTE)
    with pytest.raises(rb.InvalidMechanism, match="a rule for"):
        must_be_that_vote(**changed(VOTE, name, value))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("answers", ("a, c", "a, b", "b, c")),
        ("answers", ("a, b", "a, c")),
        ("neighbors", "added or removed"),
        ("relation", "added or removed"),
        ("question", None),
        ("kind", "winner"),
        ("first", 1),
        ("in_order", True),
        ("among", ["a", "b", "c", "d"]),
        ("among", ("a", "b", "c")),
        ("among", ["a", "b", "d"]),
        ("size", 4),
        ("rows", 1),
        ("rows_per_person", 1),
    ],
)
def test_each_thing_about_sets_is_looked_at(name: str, value: Any) -> None:
    must_be_those_sets(**SETS)
    with pytest.raises(rb.InvalidMechanism, match="rule for"):
        must_be_those_sets(**changed(SETS, name, value))


def test_the_first_alone_has_no_order() -> None:
    first = SETS | {"answers": ("a", "b", "c"), "first": 1}
    question = SETS["question"] | {"first": 1}
    for in_order in (False, True):
        must_be_those_sets(**first | {"question": question | {"in_order": in_order}})


@pytest.mark.parametrize("counts", [{"a": 1, "b": -1}, {"a": 1, "b": 1.0}, {"a": True, "b": 1}])
def test_other_counts_are_refused(counts: dict[str, Any]) -> None:
    assert counts_of({"a": 0, "b": 3}, ("a", "b")) == [0, 3]
    with pytest.raises(NoPlace, match="whole numbers from 0"):
        counts_of(counts, ("a", "b"))


def test_a_key_has_every_answer_in_order() -> None:
    question = rb.Winner(["a", "b"])
    for counted in ({"a": 1, "b": 2}, {"b": 2, "a": 1}):
        key = counts_key(question, counted)
        assert isinstance(key, dict)
        assert list(key.items()) == [("a", 1), ("b", 2)]
    assert counts_key(question, {"b": 2}) == {"a": 0, "b": 2}


def gaps_seen(answers: int, margin: int, **settings: Any) -> set[tuple[int, ...]]:
    """All gaps for which the chance of a right answer is asked."""
    seen: set[tuple[int, ...]] = set()

    def right_at(gaps: Sequence[int]) -> float:
        seen.add(tuple(gaps))
        return 0.5

    given: dict[str, Any] = {"neighbors": "substituted", "ties": "first listed", "rows": 1}
    given |= {"farthest": 99, "nearest": [0]}
    chances_of_a_vote(right_at, margin, answers=answers, **(given | settings))
    return seen


def test_of_few_answers_in_an_order_gaps_are_mixed_at_every_place_of_the_list() -> None:
    alike = {(2, 2, 2), (2, 99, 99), (3, 3, 3), (3, 99, 99)}
    mixed = {(2, 2, 3), (2, 3, 3), (3, 3, 2), (3, 2, 2)}
    assert gaps_seen(4, 2) == alike | mixed
    assert gaps_seen(4, 2, ties="any leader") == alike | {(4, 4, 4), (4, 99, 99)}
    assert gaps_seen(4, 2, neighbors="added or removed") == {(1, 1, 1), (1, 99, 99)}
    assert (0,) * 10 + (1,) in gaps_seen(12, 1)
    assert (0,) * 11 + (1,) not in gaps_seen(13, 1)


@pytest.mark.parametrize("margin", [0, -1, True, 1.0, "1", None])
def test_a_margin_is_a_whole_number_from_1(margin: Any) -> None:
    with pytest.raises(NoPlace, match="a margin that is a whole number from 1"):
        gaps_seen(3, margin)

"""Scores: how far behind answers are, and how far one change moves that."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
import reference
from rainbowdp.errors import NoPlace
from rainbowdp.exact.scores import MarginScores, VoteScores, restored_scores, scores_for
from rainbowdp.exact.scores_proof import moves_of_a_vote, moves_of_counts, moves_of_margins

SIGNED = MarginScores()


def signed(margins: Sequence[int]) -> list[int]:
    names = [str(number) for number in range(len(margins))]
    return SIGNED.listed(dict(zip(names, margins, strict=True)), names)


@pytest.mark.parametrize(("answers", "most"), [(2, 6), (3, 4), (4, 3)])
def test_signed_margins_move_by_one(answers: int, most: int) -> None:
    """By the definition: scores, twice, so that they are whole."""

    def twice(margins: Sequence[int]) -> list[int]:
        near = min(margin for margin in margins if margin)
        return [1 - 2 * margin if margin else 2 * near - 1 for margin in margins]

    for one, other in reference.margin_pairs(answers, most):
        for a, b in zip(twice(one), twice(other), strict=True):
            assert abs(a - b) <= 2
        assert signed(one) == [(max(twice(one)) - score) // 2 for score in twice(one)]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=6), st.integers(0, 6))
def test_many_distances_at_once_are_those_of_each(rivals: list[int], place: int) -> None:
    margins = [*rivals[:place], 0, *rivals[place:]]
    many = SIGNED.distances_at(np.zeros((1, len(margins)), int), np.array([margins], float))
    assert many[0].tolist() == signed(margins)


@pytest.mark.parametrize("margins", [(1, 2), {"x": 0}, {"x": 0, "y": -1}, {"x": 0, "y": 1.0}])
def test_other_margins_are_refused(margins: object) -> None:
    with pytest.raises(NoPlace):
        SIGNED.distances(margins, ("x", "y"))
    with pytest.raises(NoPlace, match="exactly one 0"):
        SIGNED.distances({"x": 0, "y": 0}, ("x", "y"))


@pytest.mark.parametrize("answers", [2, 3, 5, 6, 40])
def test_the_proof_plays_signed_margins(answers: int) -> None:
    assert moves_of_margins(answers, signed) == 2
    for fault in (
        lambda margins: list(margins),
        lambda margins: [d + (m == 10**20) for d, m in zip(signed(margins), margins, strict=True)],
        lambda margins: [d + (m == 0) for d, m in zip(signed(margins), margins, strict=True)],
        lambda margins: [2 * d for d in signed(margins)],
    ):
        with pytest.raises(rb.InvalidMechanism, match="signed margins"):
            moves_of_margins(answers, fault)


@pytest.mark.parametrize("answers", [2, 5, 6, 7])
def test_which_margins_are_played(answers: int) -> None:
    """Up to four rivals in all combinations; more in cycles; the true answer anywhere."""
    played: list[tuple[int, ...]] = []

    def spy(margins: Sequence[int]) -> list[int]:
        played.append(tuple(margins))
        return signed(margins)

    moves_of_margins(answers, spy)
    values, rivals = (7, 1, 2, 10**20, 3), answers - 1
    rows = [
        (cycle * rivals)[n * rivals : (n + 1) * rivals]
        for cycle in (values, values[:3])
        for n in range(3)
    ]
    if answers <= 5:
        rows = [*itertools.product(values, repeat=rivals), *rows]
    wanted = [
        (*(margin + away for margin in row[:place]), 0, *(margin + away for margin in row[place:]))
        for row in rows
        for place in dict.fromkeys((0, rivals // 2, rivals))
        for away in (0, 4)
    ]
    assert played == wanted


@pytest.mark.parametrize("answers", [2, 3, 5, 8])
def test_which_votes_are_played(answers: int) -> None:
    played: list[tuple[int, ...]] = []

    def spy(counts: Sequence[int]) -> list[int]:
        played.append(tuple(counts))
        return [(max(counts) - count) * answers for count in counts]

    moves_of_a_vote(answers, rb.Winner([str(v) for v in range(answers)]).describe(), spy)
    wanted = []
    for counts in ((0,) * answers, (3,) * answers, ((0, 7, 14) * answers)[:answers]):
        wanted.append(counts)
        for v in dict.fromkeys((0, answers // 2, answers - 1)):
            wanted.append((*counts[:v], counts[v] + 1, *counts[v + 1 :]))
    assert played == wanted


@pytest.mark.parametrize("question", [rb.Winner(list("abc")), rb.Ranking(list("abc"), first=1)])
def test_every_vote_that_is_played_counts(question: Any) -> None:
    """One distance that is wrong in one of them, or one too many."""

    def played(wrong: int | None, longer: bool) -> int:
        calls = 0

        def distances(counts: Sequence[int]) -> list[int]:
            nonlocal calls
            first, *others = [(max(counts) - count) * 3 for count in counts]
            bad = calls == wrong
            calls += 1
            return [first + (bad and not longer), *others, *([0] if bad and longer else [])]

        moves_of_counts(3, question.describe(), distances)
        return calls

    for number in range(played(None, longer=False)):
        with pytest.raises(rb.InvalidMechanism, match="one record must move"):
            played(number, longer=False)
        with pytest.raises(ValueError, match=r"zip\(\)"):
            played(number, longer=True)


def test_distances_of_too_few_or_of_unknown_votes_are_refused() -> None:
    vote = rb.Winner(["a", "b", "c"]).describe()
    with pytest.raises(rb.InvalidMechanism, match="ties must be 'first listed' or 'any leader'"):
        moves_of_a_vote(3, vote | {"ties": "last"}, lambda counts: counts)
    ranked = rb.Ranking(["a", "b", "c"], first=1).describe()
    with pytest.raises(ValueError, match=r"zip\(\)"):
        moves_of_counts(3, ranked, lambda counts: counts[:2])


@pytest.mark.parametrize("answers", [0, 1])
def test_signed_margins_of_fewer_than_two_answers_are_refused(answers: int) -> None:
    with pytest.raises(rb.InvalidMechanism, match="at least 2 answers"):
        moves_of_margins(answers, signed)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"rows": 0}, "answers and rows"),
        ({"rows": True}, "answers and rows"),
        ({"answers": 3.0}, "answers and rows"),
        ({"ties": "last"}, "ties must be"),
        ({"neighbors": "any"}, "neighbors must be"),
    ],
)
def test_other_scores_of_votes_are_refused(change: dict[str, Any], match: str) -> None:
    fine = VoteScores(3, "substituted", "first listed", 2).describe()
    assert restored_scores(fine) == VoteScores(3, "substituted", "first listed", 2)
    with pytest.raises(rb.InvalidMechanism, match=match):
        restored_scores(fine | change)


def test_other_kinds_of_scores_are_refused() -> None:
    assert restored_scores(SIGNED.describe()) == SIGNED
    for content in ({"of": "hats"}, {"of": "margins", "rows": 2}):
        with pytest.raises(rb.InvalidMechanism, match="counts, sets or margins"):
            restored_scores(content)


def test_votes_have_counts_and_all_others_margins() -> None:
    assert scores_for(rb.Winner(["a", "b"], rows_per_person=3)) == VoteScores(
        2, "substituted", "first listed", 3
    )
    assert scores_for(rb.Threshold(4)) == SIGNED
    assert scores_for(rb.Quantile("1/2", [0, 1, 2])) == SIGNED


def test_a_vote_has_no_place_on_a_graph() -> None:
    assert "margins are 0" in SIGNED.scope_on_a_graph()
    with pytest.raises(rb.InvalidMechanism, match="must have their question"):
        VoteScores(2, "substituted", "first listed").scope_on_a_graph()


@pytest.mark.parametrize("rows", [1, 3])
def test_a_record_moves_one_score_of_a_vote(rows: int) -> None:
    question = rb.Winner(["a", "b", "c"], rows_per_person=rows)
    scores = VoteScores.of(question)

    def distances(counts: Sequence[int]) -> list[int]:
        return scores.listed(dict(zip("abc", counts, strict=True)), tuple("abc"))

    assert moves_of_a_vote(3, question.describe(), distances) == scores.moves == 6 * rows

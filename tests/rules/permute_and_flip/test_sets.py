"""Permute-and-flip, and the exponential mechanism, on the first few of a vote as a set."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rainbowdp as rb
import reference
from kinds import permute_and_flip
from rainbowdp.errors import NoPlace
from rainbowdp.exact.scores import SetScores, VoteScores, restored_scores, scores_for
from rainbowdp.exact.scores_proof import moves_of_counts
from rainbowdp.rules.files import restore

BOTH = ("substituted", "added or removed")


def sets(neighbors: str = "substituted", rows: int = 1, ranked: int = 4, first: int = 2) -> Any:
    names = list("abcdef"[:ranked])
    return rb.Ranking(names, first=first, in_order=False, neighbors=neighbors, rows_per_person=rows)


def pairs(ranked: int, most: int, neighbors: str, rows: int) -> Iterator[tuple[Any, Any]]:
    """All histograms of at most ``most`` records and all their neighbors among these."""
    every = [c for c in itertools.product(range(most + 1), repeat=ranked) if sum(c) <= most]
    for one, other in itertools.permutations(every, 2):
        gained = sum(max(0, b - a) for a, b in zip(one, other, strict=True))
        lost = sum(max(0, a - b) for a, b in zip(one, other, strict=True))
        if neighbors == "substituted":
            near = max(gained, lost) <= rows
        else:
            near = min(gained, lost) == 0 and max(gained, lost) <= rows
        if near:
            yield one, other


@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("epsilon", ["0.3", "2"])
def test_all_neighbors_of_few_records_are_exactly_close(
    neighbors: str, rows: int, epsilon: str
) -> None:
    question = sets(neighbors, rows)
    mechanism = permute_and_flip(question, rb.DP(epsilon)).exact()
    _, most = reference.exp_between(Fraction(epsilon))
    known: dict[Any, list[Fraction]] = {}

    def row(counts: Any) -> list[Fraction]:
        if counts not in known:
            shares = mechanism.at(dict(zip("abcd", counts, strict=True))).probabilities
            known[counts] = [Fraction(shares[answer]) for answer in question.answers]
        return known[counts]

    tight = Fraction(0)
    for one, other in pairs(4, 4, neighbors, rows):
        ratios = [p / q for p, q in zip(row(one), row(other), strict=True)]
        assert max(ratios) <= most
        tight = max(tight, max(ratios))
    assert tight > 1 + (most - 1) / 4  # what is promised is not far from what is used


@pytest.mark.parametrize("neighbors", BOTH)
def test_the_first_alone_is_a_vote(neighbors: str) -> None:
    """With the same coins, for sets of one."""
    counts = {"a": 5, "b": 5, "c": 2, "d": 0}
    one = permute_and_flip(sets(neighbors, first=1), rb.DP(1))
    vote = permute_and_flip(rb.Winner(list("abcd"), neighbors=neighbors), rb.DP(1))
    assert one[counts] == vote[counts]
    for margin in (1, 2, 5):
        assert one.by_margin([margin]) == pytest.approx(np.array(vote.by_margin([margin])))
    assert one.proves().within == vote.proves().within


def test_distances_are_of_sums_and_the_first_have_none() -> None:
    question = sets(ranked=5, first=3)
    scores = scores_for(question)
    assert isinstance(scores, SetScores)
    draw = np.random.default_rng(1)
    for far in (0, 10**30):
        for _ in range(30):
            counts = [int(n) + far for n in draw.integers(0, 5, 5)]
            found = scores.distances(tuple(counts), question.answers)
            x = {name: 5 * n - place for place, (name, n) in enumerate(zip("abcde", counts))}  # noqa: B905
            sums = [sum(x[name] for name in answer.split(", ")) for answer in question.answers]
            assert found == [max(sums) - score for score in sums]
            margins = question.margins(dict(zip("abcde", counts, strict=True)))
            assert margins[question.answers[found.index(0)]] == 0
    for wrong in ((1, 2), (1, 2, 3, 4, -1), [1, 2, 3, 4, 5], (1, 2, 3, 4, True)):
        with pytest.raises(NoPlace):
            scores.distances(wrong, question.answers)


def test_an_order_has_no_sums() -> None:
    with pytest.raises(rb.NotApplicable, match="Ranking as a set, got a Ranking"):
        permute_and_flip(rb.Ranking(list("abc"), first=2), rb.DP(1))


def test_best_takes_it_where_it_is_better() -> None:
    assert rb.best(sets(ranked=6, first=3), rb.DP("0.1")).name == "permute-and-flip"
    assert rb.best(sets(ranked=6, first=3), rb.ZeroConcentrated("1/8")).name == "exponential"
    words = rb.best(sets(ranked=6, first=3), rb.DP("0.1")).proves().in_words("a, b, c")
    assert words.startswith("with 95 % confidence: a, b, c have the most records together, or at")
    assert (
        "the set has the most" in rb.best(sets(ranked=6, first=3), rb.DP("0.1")).proves().in_words()
    )


@pytest.mark.parametrize("kind", ["permute-and-flip", "exponential"])
@pytest.mark.parametrize(
    "change",
    [
        {"in_order": True},
        {"first": 1},
        {"first": 3},
        {"among": ["a", "b", "c"]},
        {"among": ["b", "a", "c", "d"]},
        {"rows_per_person": 2},
        {"neighbors": "added or removed"},
        {"kind": "winner"},
    ],
)
def test_a_forged_question_is_refused(kind: str, change: dict[str, Any]) -> None:
    content = rb.by_kind(sets(), rb.DP(1), kind).exact().describe()
    assert restore(copy.deepcopy(content)).proof
    content["question"] |= change
    with pytest.raises(rb.RainbowError):
        restore(content)


@pytest.mark.parametrize(
    "change", [{"first": 1}, {"ranked": 5}, {"rows": 0}, {"neighbors": "none"}, {"first": 4}]
)
def test_forged_scores_are_refused(change: dict[str, Any]) -> None:
    content = permute_and_flip(sets(), rb.DP(1)).exact().describe()
    content["coins"]["scores"] |= change
    with pytest.raises(rb.RainbowError):
        restore(content)


def test_scores_fit_their_sets_in_their_order() -> None:
    question = sets()
    scores, described, answers = SetScores.of(question), question.describe(), question.answers
    scores.must_fit(answers, "substituted", described)
    order = rb.Ranking(list("abcd"), first=2)
    for told, wrong in (
        (order.answers, order.describe()),
        (answers, described | {"in_order": True}),
    ):
        with pytest.raises(rb.InvalidMechanism, match="must have such a question"):
            scores.must_fit(told, "substituted", wrong)
    with pytest.raises(rb.InvalidMechanism, match="must be all sets"):
        scores.must_fit(answers[::-1], "substituted", described)
    with pytest.raises(rb.InvalidMechanism, match="must rank 4"):
        scores.must_fit(answers, "substituted", described | {"among": list("abc")})
    with pytest.raises(rb.InvalidMechanism, match="must have such a question"):
        scores.must_fit(answers, "substituted", None)


def test_scores_describe_themselves() -> None:
    scores = SetScores(6, 3, "substituted", 2)
    assert restored_scores(scores.describe()) == scores
    assert scores.moves == 24
    with pytest.raises(rb.InvalidMechanism, match="must have their question"):
        scores.scope_on_a_graph()


def test_a_proof_plays_the_distances() -> None:
    question = sets()
    described = question.describe()
    scores = SetScores.of(question)

    def distances(counts: Any) -> list[int]:
        return scores.distances(tuple(counts), question.answers)

    assert moves_of_counts(6, described, distances) == 8
    with pytest.raises(rb.InvalidMechanism, match="6 sets, got 5"):
        moves_of_counts(5, described, distances)
    vote = VoteScores(6, "substituted", "any leader")
    names = question.answers

    def others(counts: Any) -> list[int]:
        return vote.listed(dict(zip(names, [*counts, 0, 0], strict=True)), names)

    def twice(counts: Any) -> list[int]:
        return [2 * distance for distance in distances(counts)]

    for wrong in (others, twice):
        with pytest.raises(rb.InvalidMechanism, match="must move the scores of its sets by 4"):
            moves_of_counts(6, described, wrong)

"""Many counts or margins are keys in arrays of 64 bits: same rows, same draws, and as strict."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

import rainbowdp as rb
from rainbowdp.errors import NoPlace
from rainbowdp.exact.margins import MOST, margins_of, truth_and_depth
from rainbowdp.exact.scores import MarginScores, VoteScores
from rainbowdp.exact.votes import as_key, counts_key, counts_of

NAMES = [f"answer {number}" for number in range(30)]
PROMISES = {
    "permute-and-flip": rb.DP(1),
    "margin-flip": rb.DP(1),
    "proximity": rb.DP(5),
    "exponential": rb.DP(1),
    "noisy-counts": rb.GaussianDP(1),
}
BY_COUNTS = {"permute-and-flip", "exponential", "noisy-counts"}


def votes() -> list[list[int]]:
    chance = random.Random(7)
    near = [chance.randrange(90, 100) for _ in NAMES]
    far = [chance.randrange(10**6) for _ in NAMES]
    return [near, far, [5] * 30, [0] * 29 + [1], [2**60, 2**60 - 3] * 15]


@pytest.mark.parametrize("neighbors", ["substituted", "added or removed"])
@pytest.mark.parametrize("ties", ["first listed", "any leader"])
@pytest.mark.parametrize("kind", sorted(PROMISES))
def test_an_array_has_the_draws_of_its_numbers(
    kind: str, ties: str, neighbors: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same random bits, that of a mapping, in which numbers are looked up by name."""
    question = rb.Winner(NAMES, ties=ties, neighbors=neighbors)
    rule = rb.by_kind(question, PROMISES[kind], kind).exact().rule
    for counts in votes():
        counted = dict(zip(NAMES, counts, strict=True))
        key = rule.key(question, counted)
        by_name = counted if kind in BY_COUNTS else question.margins(counted)
        if isinstance(key, np.ndarray):
            assert key.tolist() == list(by_name.values())
        else:
            assert max(counts) >= 2**48
            assert key == by_name
        mixed = dict(sorted(by_name.items(), key=lambda item: hash(item[1])))
        drawers = [rule.drawer(given, question.answers) for given in (key, by_name, mixed)]
        for seed in range(8):
            drawn = set()
            for drawer in drawers:
                source = random.Random(seed)
                monkeypatch.setattr("secrets.token_bytes", source.randbytes)
                monkeypatch.setattr("secrets.randbits", source.getrandbits)
                monkeypatch.setattr("secrets.randbelow", source.randrange)
                drawn.add(drawer())
            assert len(drawn) == 1


@pytest.mark.parametrize("kind", ["margin-flip", "proximity", "exponential", "permute-and-flip"])
def test_an_array_has_the_row_of_its_numbers(kind: str) -> None:
    question = rb.Winner(NAMES[:24])
    rule = rb.by_kind(question, PROMISES[kind], kind).exact().rule
    for counts in votes()[:4]:
        counted = dict(zip(NAMES[:24], counts, strict=False))
        key = rule.key(question, counted)
        by_name = counted if kind in BY_COUNTS else question.margins(counted)
        assert isinstance(key, np.ndarray)
        assert rule.weights(key, question.answers) == rule.weights(by_name, question.answers)
        assert all(type(weight) is int for weight in rule.weights(key, question.answers))


@pytest.mark.parametrize("neighbors", ["substituted", "added or removed"])
def test_homogeneous_finds_the_truth_and_the_depth_in_an_array(neighbors: str) -> None:
    question = rb.Winner(NAMES, neighbors=neighbors)
    rule = rb.by_kind(question, rb.DP(1), "homogeneous").exact().rule
    for counts in votes():
        counted = dict(zip(NAMES, counts, strict=True))
        margins = question.margins(counted)
        truth = min(margins, key=lambda name: margins[name])
        depth = sorted(margins.values())[1] - 1
        assert rule.key(question, counted) == (truth, depth)
        assert type(rule.key(question, counted)[1]) is int


@pytest.mark.parametrize("kind", ["margin-flip", "exponential"])
def test_a_proof_plays_arrays_too(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Distances that are wrong in arrays alone have no proof."""
    bins = rb.Quantile("1/2", range(31))

    def deeper(key: Any, answers: Any) -> tuple[int, int] | None:
        found = truth_and_depth(key, answers)
        return None if found is None else (found[0], found[1] + 1)

    monkeypatch.setattr("rainbowdp.exact.scores.truth_and_depth", deeper)
    with pytest.raises(rb.InvalidMechanism, match="signed margins"):
        rb.by_kind(bins, rb.DP(1), kind).exact()


GOOD = np.array([3, 0, 4])


@pytest.mark.parametrize(
    "margins",
    [
        GOOD.astype(np.float64),
        GOOD.astype(np.int32),
        GOOD.astype(np.uint64),
        GOOD.astype(">i8"),
        GOOD.astype(object),
        GOOD[:2],
        GOOD[:, None],
        np.array([3, 0, -4]),
        np.array([3, 0, 0]),
        np.array([3, 1, 4]),
        np.array([3, 0, MOST + 1]),
    ],
)
def test_an_array_of_no_margins_is_refused(margins: Any) -> None:
    """A wrong row would leak."""
    answers = ("a", "b", "c")
    assert margins_of(GOOD, answers) == [3, 0, 4]
    assert truth_and_depth(GOOD, answers) == (1, 2)
    with pytest.raises(NoPlace):
        margins_of(margins, answers)
    with pytest.raises(NoPlace):
        MarginScores().distances(margins, answers)
    if margins.tolist() in ([3, 0, 0], [3, 1, 4]):  # any whole numbers from 0 are counts
        assert counts_of(margins, answers) == margins.tolist()
    else:
        with pytest.raises(NoPlace):
            counts_of(margins, answers)


def test_counts_that_are_large_or_no_whole_numbers_make_no_array() -> None:
    answers = tuple(NAMES)
    small = as_key([MOST] * 30, answers)
    assert isinstance(small, np.ndarray)
    for number in (MOST + 1, 2**63, 2**64, 10**30, 0.5):
        assert as_key([*range(29), number], answers) == dict(  # type: ignore[list-item]
            zip(answers, [*range(29), number], strict=True)
        )
    question = rb.Winner(NAMES)
    assert isinstance(counts_key(question, {"answer 3": 2}), np.ndarray)
    with pytest.raises(NoPlace):
        counts_of(counts_key(question, dict.fromkeys(NAMES, 1.5)), answers)


@pytest.mark.parametrize("ties", ["first listed", "any leader"])
@pytest.mark.parametrize("most", [40, MOST // 12, MOST // 12 + 1, MOST])
def test_distances_in_arrays_are_those_of_numbers(ties: str, most: int) -> None:
    """Also where a product with the number of answers would not fit."""
    scores = VoteScores(12, "substituted", ties)
    answers = tuple(NAMES[:12])
    for counts in itertools.islice(itertools.permutations([0, 3, 3, most]), 24):
        numbers = [*counts] * 3
        by_name = dict(zip(answers, numbers, strict=True))
        assert scores.listed(scores.key_of(numbers, answers), answers) == scores.distances(
            by_name, answers
        )

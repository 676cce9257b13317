"""Permute-and-flip in integers: its rows, its privacy on every edge, its draws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
from kinds import homogeneous, rows_of_votes, vote_coins
from kinds import permute_and_flip as flip
from rainbowdp.errors import NoPlace
from rainbowdp.exact.check import Check
from rainbowdp.exact.falling_proof import Chances
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.exact.scores import MarginScores, VoteScores
from rainbowdp.questions.histograms import histograms
from rainbowdp.questions.relations import Ties
from rainbowdp.rules.files import load
from rainbowdp.rules.permute_and_flip.proof import prove_coins
from rainbowdp.rules.permute_and_flip.rule import PermuteAndFlip

NEIGHBORS = ("substituted", "added or removed")
TOTAL = 1 << 127
Counts = tuple[int, ...]


def question(
    answers: int, neighbors: str = "substituted", ties: str = "first listed", rows: int = 1
) -> rb.Winner:
    return rb.Winner(
        [f"a{v}" for v in range(answers)],
        neighbors=neighbors,
        ties=ties,
        **({"person": "who", "rows_per_person": rows} if rows > 1 else {}),  # type: ignore[arg-type]
    )


def row(rule: PermuteAndFlip, counts: Counts) -> list[Fraction]:
    names = [str(v) for v in range(len(counts))]
    weights = rule.weights(dict(zip(names, counts, strict=True)), names)
    return [Fraction(weight, sum(weights)) for weight in weights]


def by_all_coins(rule: PermuteAndFlip, counts: Counts) -> list[Fraction]:
    """From the definition: every way the coins can fall, an equal draw among the heads."""
    size, most = len(counts), max(counts)
    leader = counts.index(most)
    assert isinstance(rule.scores, VoteScores)
    chances = []
    for v, count in enumerate(counts):
        distance = most - count
        if rule.scores.ties == "first listed":
            distance = size * distance + v - leader
        least = math.ceil(1 / (1 - rule.ratio))
        chance = math.floor((TOTAL - least) * rule.ratio**distance) + least
        chances.append(Fraction(chance, TOTAL))
    found = [Fraction(0)] * size
    for heads in itertools.product((False, True), repeat=size):
        if any(heads):
            whole = Fraction(1)
            for chance_of, head in zip(chances, heads, strict=True):
                whole *= chance_of if head else 1 - chance_of
            for v in range(size):
                found[v] += whole * heads[v] / sum(heads)
    return found


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=5),
    st.sampled_from(Ties),
    st.integers(100, 1023),
)
@settings(deadline=None)
def test_a_row_is_what_all_falls_of_the_coins_give(
    counts: list[int], ties: str, ratio: int
) -> None:
    scores = VoteScores(len(counts), "substituted", ties)
    rule = PermuteAndFlip(scores, Fraction(ratio, 1024))
    assert row(rule, tuple(counts)) == by_all_coins(rule, tuple(counts))
    floats = rows_of_votes(rule, [counts])[0]
    assert floats == pytest.approx([float(p) for p in row(rule, tuple(counts))], abs=1e-14)


def changes(counts: Counts, neighbors: str, rows: int) -> Iterator[Counts]:
    """What one person can make of a vote, with all their rows or fewer."""
    found = {counts}
    for _ in range(rows):
        for one in list(found):
            for v in range(len(one)):
                more = (*one[:v], one[v] + 1, *one[v + 1 :])
                if neighbors == "added or removed":
                    found.add(more)
                else:
                    for u in range(len(one)):
                        if more[u]:
                            found.add((*more[:u], more[u] - 1, *more[u + 1 :]))
    yield from found


SHAPES = [(3, 6, 1), (3, 5, 2), (4, 4, 1), (5, 3, 1), (7, 2, 1)]


@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize(("answers", "records", "rows"), SHAPES)
@pytest.mark.parametrize("ratio", [Fraction(21, 20), Fraction(3), Fraction(60)])
def test_every_pair_of_small_votes_is_close_and_some_are_no_closer(
    ratio: Fraction, answers: int, records: int, rows: int, neighbors: str, ties: str
) -> None:
    rule = vote_coins(answers, rb.DP.from_ratio(ratio), neighbors, ties, rows)
    known: dict[Counts, list[Fraction]] = {}

    def at(counts: Counts) -> list[Fraction]:
        if counts not in known:
            known[counts] = row(rule, counts)
        return known[counts]

    widest = Fraction(1)
    for size in range(1, records + 1):
        for counts in reference.histograms(answers, size):
            for other in changes(counts, neighbors, rows):
                for p, q in zip(at(counts), at(other), strict=True):
                    widest = max(widest, p / q, q / p)
    assert widest <= ratio
    assert widest > float(ratio) ** 0.5


@pytest.mark.slow
@given(st.data())
@settings(max_examples=200, deadline=None)
def test_every_pair_of_large_votes_is_close(data: st.DataObject) -> None:
    answers = data.draw(st.integers(2, 9))
    neighbors, ties = data.draw(st.sampled_from(NEIGHBORS)), data.draw(st.sampled_from(Ties))
    rows = data.draw(st.integers(1, 3))
    ratio = data.draw(st.sampled_from([Fraction(1001, 1000), Fraction(3, 2), Fraction(40)]))
    rule = vote_coins(answers, rb.DP.from_ratio(ratio), neighbors, ties, rows)
    base, spread = 10**18, data.draw(st.sampled_from([2, 20, 1000, 10**6, 10**12]))
    counts = [base + data.draw(st.integers(0, spread)) for _ in range(answers)]
    other = list(counts)
    up = data.draw(st.sampled_from([1, -1]))
    for _ in range(rows):
        other[data.draw(st.integers(0, answers - 1))] += up
        if neighbors == "substituted":
            other[data.draw(st.integers(0, answers - 1))] -= up
    for p, q in zip(row(rule, tuple(counts)), row(rule, tuple(other)), strict=True):
        assert p <= ratio * q
        assert q <= ratio * p


@pytest.mark.parametrize("rows", [1, 1000])
@pytest.mark.parametrize("epsilon", ["0.0001", "0.5", "1", "30", "100"])
@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_chances_fall_as_fast_as_the_proof_allows(epsilon: str, rows: int, neighbors: str) -> None:
    guarantee = rb.DP(epsilon)
    rule = vote_coins(12, guarantee, neighbors, "first listed", rows)
    assert rule.scores.moves == 12 * rows * (2 if neighbors == "substituted" else 1)
    asked = question(12, neighbors, rows=rows).describe()

    def proved(ratio: Fraction, answers: int = 12, **change: int) -> Check:
        scores = VoteScores(answers, neighbors, "first listed", rows)
        return prove(guarantee, PermuteAndFlip(scores, ratio), asked | change)

    assert proved(rule.ratio).pairs > 3
    with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
        proved(rule.ratio - Fraction(2, 1 << 60))
    with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
        proved(rule.ratio, 13)
    with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
        proved(rule.ratio, rows_per_person=rows + 1)


def coins_of(rule: PermuteAndFlip) -> Chances:
    coins = rule.coins
    return Chances(rule.ratio, TOTAL, coins.top, coins.farthest, coins.at)


def distances_of(rule: PermuteAndFlip, counts: Sequence[int]) -> list[int]:
    names = [str(v) for v in range(len(counts))]
    return rule.scores.listed(dict(zip(names, counts, strict=True)), names)


def prove(
    guarantee: rb.DP,
    rule: PermuteAndFlip,
    asked: dict[str, Any],
    distances: Any = distances_of,
    **changes: Any,
) -> Check:
    coins = replace(coins_of(rule), **changes)
    assert isinstance(rule.scores, VoteScores)
    size = rule.scores.answers
    return prove_coins(guarantee, size, asked, lambda counts: distances(rule, counts), coins)


@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_proof_takes_what_one_change_moves_from_the_question_alone(
    neighbors: str, ties: str
) -> None:
    """A rule that says less of itself is still proved, or refused, for the question."""
    asked = question(3, neighbors, ties, rows=2).describe()
    guarantee = rb.DP("0.5")
    coins = vote_coins(3, guarantee, neighbors, ties, rows=2)
    moved = 2 * (2 if neighbors == "substituted" else 1) * (3 if ties == "first listed" else 1)
    assert f"{moved} steps" in prove(guarantee, coins, asked).statement
    for change in (
        {"rows_per_person": 3},
        {"rows_per_person": 0},
        {"rows_per_person": True},
        {"rows_per_person": 2.0},
        {"neighbors": "moved"},
        {"ties": "last"},
    ):
        with pytest.raises(rb.InvalidMechanism):
            prove(guarantee, coins, asked | change)
    other = next(word for word in NEIGHBORS if word != neighbors)
    if other == "substituted":
        with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
            prove(guarantee, coins, asked | {"neighbors": other})
    else:
        assert prove(guarantee, coins, asked | {"neighbors": other})
    wrong = next(str(word) for word in Ties if word != ties)
    with pytest.raises(rb.InvalidMechanism, match="move its answer's score"):
        prove(guarantee, coins, asked | {"ties": wrong})


def test_a_leader_always_shows_heads_and_a_curve_is_not_for_coins() -> None:
    asked, coins = question(3).describe(), vote_coins(3, rb.DP(1), "substituted", "first listed")
    assert prove(rb.DP(1), coins, asked)
    with pytest.raises(rb.InvalidMechanism, match="a leader must always show heads"):
        prove(rb.DP(1), coins, asked, top=TOTAL - 1)
    curve: Any = rb.GaussianDP(9)
    with pytest.raises(rb.InvalidMechanism, match=r"needs an \(ε,δ\) guarantee, got 9-GDP"):
        prove(curve, coins, asked)


def all_scores_rise(rule: PermuteAndFlip, counts: Sequence[int]) -> list[int]:
    return [2 * distance for distance in distances_of(rule, counts)]


def another_falls(rule: PermuteAndFlip, counts: Sequence[int]) -> list[int]:
    found = distances_of(rule, counts)
    found[-1] += counts[0]
    return found


@pytest.mark.parametrize("distances", [all_scores_rise, another_falls])
def test_scores_that_move_farther_than_they_say_are_refused(distances: Any) -> None:
    rule = vote_coins(4, rb.DP(1), "added or removed", "any leader")
    asked = question(4, "added or removed", "any leader").describe()
    with pytest.raises(rb.InvalidMechanism, match="move its answer's score"):
        prove(rb.DP(1), rule, asked, distances)


@pytest.mark.parametrize(
    ("answers", "rows", "epsilon"),
    [(10, 1000, "0.01"), (26, 1, "0.0001"), (100, 1, "0.001"), (7, 10**6, "1e-7")],
)
def test_a_clear_winner_is_all_but_certain(answers: int, rows: int, epsilon: str) -> None:
    asked = question(answers, rows=rows)
    mechanism = rb.best(asked, rb.DP(epsilon))
    assert mechanism.name == "permute-and-flip"
    assert mechanism[dict.fromkeys(asked.answers, 0) | {"a3": 10**17}]["a3"] > 1 - 1e-9
    ((_, least, _),) = mechanism.by_margin([10**15])
    assert least > 1 - 1e-9


@pytest.mark.parametrize("size", [8_000, pytest.param(40_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("ties", Ties)
@pytest.mark.usefixtures("dice")
def test_draws_follow_the_row(ties: str, size: int) -> None:
    mechanism = flip(question(4, ties=ties), rb.DP(1))
    counts = {"a0": 5, "a1": 7, "a2": 7, "a3": 4}
    drawn = [mechanism.release(counts) for _ in range(size)]
    for answer, p in mechanism[counts].items():
        off = (drawn.count(answer) - size * p) / math.sqrt(size * p * (1 - p))
        assert abs(off) < 4.5


@pytest.mark.parametrize("above", [-1, 0])
def test_a_coin_shows_heads_for_as_many_numbers_as_its_chance_says(
    above: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = vote_coins(2, rb.DP(1), "substituted", "first listed")
    seen: list[int] = []
    drawn = iter([TOTAL - 1, rule.coins.at(7) + above])  # the leader's coin, then the other's
    monkeypatch.setattr("secrets.randbits", lambda bits: next(drawn) if bits == 127 else None)

    def first(heads: int) -> int:
        seen.append(heads)
        return 0

    monkeypatch.setattr("secrets.randbelow", first)
    assert rule.drawer({"x": 4, "y": 1}, ("x", "y"))() == "x"
    assert seen == [2 if above < 0 else 1]


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_it_errs_no_more_than_permute_and_flip_by_counts(
    epsilon: str, ties: str, neighbors: str
) -> None:
    """The same mechanism where any leader is right, and with a better tie where the first is."""
    asked, promise = question(4, neighbors, ties), rb.DP(epsilon)
    makers = {"ours": flip, "theirs": rb.permute_and_flip, "plain": homogeneous}
    compared = rb.compare(asked, promise, records=12, mechanisms=makers)
    error = {name: compared[name].mean_error for name in makers}
    if ties == "any leader":
        assert error["ours"] == pytest.approx(error["theirs"], abs=1e-14)
    assert error["ours"] <= error["theirs"] + 1e-14
    assert error["ours"] < error["plain"]


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("ties", Ties)
def test_the_least_and_the_most_by_margin(ties: str, neighbors: str, rows: int) -> None:
    asked = question(3, neighbors, ties, rows)
    mechanism = flip(asked, rb.DP(1))
    found: dict[int, list[float]] = {}
    for counts in itertools.chain(*(histograms(asked, n).tolist() for n in range(14, 21))):
        named = dict(zip(asked.answers, counts, strict=True))
        margin = min(m for m in asked.margins(named).values() if m)
        leaders = [a for a, n in named.items() if n == max(counts)]
        right = leaders if ties == "any leader" else leaders[:1]
        found.setdefault(margin, []).append(sum(mechanism[named][a] for a in right))
    for margin in (1, 2):
        ((_, least, most),) = mechanism.by_margin([margin])
        assert min(found[margin]) >= least - 1e-12
        assert max(found[margin]) <= most + 1e-12
    ((_, least, _),) = mechanism.by_margin([1])
    assert min(found[1]) == pytest.approx(least, abs=1e-12)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"ratio": Fraction(1)}, "between 0 and 1"),
        ({"ratio": Fraction(0)}, "between 0 and 1"),
        ({"ratio": Fraction(1, 3)}, "multiple of"),
    ],
)
def test_other_coins_are_refused(change: dict[str, object], match: str) -> None:
    fine = {"scores": VoteScores(3, "substituted", "first listed"), "ratio": Fraction(7, 8)}
    PermuteAndFlip(**fine)  # type: ignore[arg-type]
    with pytest.raises(rb.InvalidMechanism, match=match):
        PermuteAndFlip(**fine | change)  # type: ignore[arg-type]


def test_scores_that_are_not_of_a_vote_are_refused() -> None:
    content = PermuteAndFlip(
        VoteScores(3, "substituted", "first listed"), Fraction(7, 8)
    ).describe()
    assert PermuteAndFlip.restore(content).describe() == content
    content["coins"]["scores"] = MarginScores().describe()
    with pytest.raises(rb.InvalidMechanism, match="scores of a vote"):
        PermuteAndFlip.restore(content)


@pytest.mark.parametrize(
    "other", [question(3, rows=2), question(3, ties="any leader"), rb.Quantile("1/2", range(4))]
)
def test_coins_are_for_their_own_question(other: rb.Winner | rb.Quantile) -> None:
    mine = flip(question(3), rb.DP(1)).exact()
    with pytest.raises(rb.InvalidMechanism, match="must have such a question"):
        ExactMechanism(
            mine.guarantee,
            mine.answers,
            mine.rule,
            neighbors=other.neighbors,
            question=other.describe(),
        )
    with pytest.raises(rb.InvalidMechanism, match="must be for 4 answers"):
        ExactMechanism(
            mine.guarantee,
            tuple("wxyz"),
            mine.rule,
            neighbors=mine.neighbors,
            question=mine.question,
        )


@pytest.mark.parametrize("place", [(1, 2), {"x": 1}, {"x": 1, "y": -1}, {"x": 1, "y": 1.0}])
def test_other_places_are_refused(place: object) -> None:
    with pytest.raises(NoPlace):
        vote_coins(2, rb.DP(1), "substituted", "first listed").weights(place, ("x", "y"))


def test_a_file_is_small_and_proves_itself(tmp_path: Path) -> None:
    mechanism = flip(question(26, rows=2), rb.DP("0.01"))
    path = mechanism.exact().save(tmp_path / "m.json")
    assert path.stat().st_size < 2_000
    assert load(path).rule == mechanism.exact().rule
    assert "104 steps" in str(load(path).proof)


@pytest.mark.parametrize("guarantee", [rb.GaussianDP(1), rb.DP("1e-20")])
def test_what_has_no_coins_says_why(guarantee: rb.DP | rb.GaussianDP) -> None:
    with pytest.raises(rb.InvalidGuarantee, match=r"permute-and-flip|too little"):
        flip(question(3), guarantee)


def test_only_a_vote_has_coins() -> None:
    with pytest.raises(rb.InvalidQuestion, match="is for a Winner"):
        flip(rb.Threshold(5), rb.DP(1))

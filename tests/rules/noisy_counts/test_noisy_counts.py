"""Noisy counts: rows by brute force, small neighbors in many digits, a proof that refuses."""

from __future__ import annotations

import itertools
import math
import secrets
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

import rainbowdp as rb
import reference
from rainbowdp.exact.scores import VoteScores
from rainbowdp.rules.files import restore
from rainbowdp.rules.noisy_counts.proof import (
    Noise,
    distance_from_normal,
    makes_up_for,
    prove_noisy_counts,
    squared_move,
    squared_mu,
)
from rainbowdp.rules.noisy_counts.rule import UNIFORM, NoisyCounts
from rainbowdp.rules.noisy_counts.shape import RoundedNormal, rows_of_largest

TIES = ("first listed", "any leader")
RELATIONS = ("substituted", "added or removed")


def vote(answers: int, **settings: Any) -> rb.Winner:
    return rb.Winner([chr(ord("a") + number) for number in range(answers)], **settings)


def noisy(question: rb.Winner, promise: Any) -> Any:
    return rb.by_kind(question, promise, "noisy-counts").exact()


def moves(answers: int, rows: int, relation: str) -> list[tuple[int, ...]]:
    """All changes of the counts that one person can make, by their definition."""
    found = []
    for move in itertools.product(range(-rows, rows + 1), repeat=answers):
        more = sum(change for change in move if change > 0)
        less = -sum(change for change in move if change < 0)
        near = max(more, less) <= rows
        if any(move) and near and (relation == "substituted" or not min(more, less)):
            found.append(move)
    return found


def largest_in_continuous_noise(held: Sequence[int], place: int, rate: float) -> float:
    gaps = [rate * (held[place] - held[other]) for other in range(len(held)) if other != place]

    def density(x: float) -> float:
        return float(norm.pdf(x) * math.prod(norm.cdf(x + gap) for gap in gaps))

    return float(quad(density, -12, 12)[0])


# rows


def test_weights_are_those_of_rounded_normal_noise() -> None:
    noise = RoundedNormal(Fraction(7, 3), 96)
    with mp.workdps(60):
        for place, weight in enumerate(noise.half):
            ends = [(place + half) * mp.mpf(3) / 7 for half in (mp.mpf("-0.5"), mp.mpf("0.5"))]
            exactly = (mp.ncdf(-ends[0]) - mp.ncdf(-ends[1])) * mp.mpf(2) ** 96
            assert abs(weight - exactly) <= 2
    assert 2 * sum(noise.half) - noise.half[0] == 1 << 96


@pytest.mark.parametrize("behind", [(0, 0, 0), (0, 3, 1), (5, 0, 2), (2, 40, 0)])
def test_rows_are_counted_noise_by_noise(behind: tuple[int, ...]) -> None:
    noise = RoundedNormal(Fraction(1, 2), 64)
    numbers = range(-noise.farthest, noise.farthest + 1)
    found = [0] * len(behind)
    for drawn in itertools.product(numbers, repeat=len(behind)):
        scores = [number - gap for number, gap in zip(drawn, behind, strict=True)]
        tied = [place for place, score in enumerate(scores) if score == max(scores)]
        weight = math.prod(noise.half[abs(number)] for number in drawn)
        found[tied[0]] += weight
        found[tied[-1]] += weight
    assert noise.shares_of_largest(behind) == tuple(found)
    assert sum(found) == 2 << 64 * len(behind)


@pytest.mark.parametrize("ties", TIES)
def test_a_row_has_its_uniform_share(ties: str) -> None:
    rule = NoisyCounts(VoteScores(3, "substituted", ties), 2, Fraction(3, 2), 64)
    weights = rule.weights({"a": 5, "b": 4, "c": 0}, ["a", "b", "c"])
    late = [0, 0, 1] if ties == "first listed" else [0, 0, 0]
    scores = [10 - late[0], 8 - late[1], 0 - late[2]]
    shares = rule.noise.shares_of_largest([max(scores) - score for score in scores])
    for weight, share in zip(weights, shares, strict=True):
        chance = (1 - UNIFORM) * Fraction(share, sum(shares)) + UNIFORM / 3
        assert Fraction(weight, sum(weights)) == chance


@pytest.mark.parametrize("promise", [rb.GaussianDP("0.05"), rb.GaussianDP("1.7")], ids=str)
def test_floats_agree_with_integers_and_with_an_integral(promise: rb.GaussianDP) -> None:
    question = vote(4, ties="any leader")
    exact = noisy(question, promise)
    counts = np.array([[9, 7, 0, 3], [5, 5, 5, 1], [80, 60, 50, 0]])
    rows = exact.rule.rows_at(question, counts, counts.astype(float))
    rate = promise.mu / math.sqrt(2)
    for row, held in zip(rows, counts.tolist(), strict=True):
        shares = exact.at(dict(zip(question.answers, held, strict=True))).probabilities
        assert row == pytest.approx([float(share) for share in shares.values()], abs=1e-11)
        for place in range(4):
            there = largest_in_continuous_noise(held, place, rate)
            assert row[place] == pytest.approx(there, abs=4e-4)


def test_floats_of_many_answers_sum_up_the_same_with_fewer_places() -> None:
    behind = np.array([[number % 7 * 12.0 for number in range(300)]])
    found = rows_of_largest(behind, 40.0)[0]
    upto = norm.cdf((np.arange(-500, 501)[None, :] + behind.T + 0.5) / 40.0)
    less = norm.cdf((np.arange(-500, 501)[None, :] + behind.T - 0.5) / 40.0)
    for place in (0, 5, 299):
        here = upto[place] - less[place]
        first = less[:place].prod(axis=0) * upto[place + 1 :].prod(axis=0)
        last = upto[:place].prod(axis=0) * less[place + 1 :].prod(axis=0)
        assert found[place] == pytest.approx((here * (first + last) / 2).sum(), rel=1e-9)


# draws


def test_a_draw_falls_on_the_weight_of_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers at and beside every end of a weight, where the first bits leave it open."""
    noise = RoundedNormal(Fraction(3, 2), 80)
    weights = [*reversed(noise.half[1:]), *noise.half]
    ends = list(itertools.accumulate(weights))
    wholes = {min(max(end + off, 0), (1 << 80) - 1) for end in ends for off in (-1, 0, 1)}
    for whole in wholes:
        first, rest = whole >> 17, whole & (1 << 17) - 1
        drawn = (first << 1).to_bytes(8, "little")
        monkeypatch.setattr(secrets, "token_bytes", lambda size, drawn=drawn: drawn)
        monkeypatch.setattr(secrets, "randbits", lambda bits, rest=rest: rest)
        assert noise.draw(1).tolist() == [bisect_right(ends, whole) - noise.farthest]


@pytest.mark.usefixtures("dice")
@pytest.mark.parametrize("ties", TIES)
def test_draws_have_the_law_of_the_row(ties: str) -> None:
    question = vote(5, ties=ties)
    exact = noisy(question, rb.GaussianDP(1))
    counts = dict(zip(question.answers, [6, 7, 7, 4, 0], strict=True))
    draw, size = exact.ready(counts), 20_000
    drawn = [draw() for _ in range(size)]
    for answer, share in exact.at(counts).probabilities.items():
        p = float(share)
        assert abs(drawn.count(answer) - size * p) < 5 * math.sqrt(size * p * (1 - p)) + 1


def test_once_in_two_to_the_forty_all_answers_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    question = vote(3)
    draw = noisy(question, rb.GaussianDP(1)).ready({"a": 0, "b": 10**6, "c": 0})
    monkeypatch.setattr(secrets, "randbelow", lambda below: below - 1)
    said: dict[int, str] = {}

    def first_two_of(places: int, bits: int) -> int:
        assert Fraction(2, 1 << places) == UNIFORM
        return bits

    for bits in range(4):
        monkeypatch.setattr(
            secrets, "randbits", lambda places, bits=bits: first_two_of(places, bits)
        )
        said[bits] = draw()
    assert said == {0: "c", 1: "c", 2: "b", 3: "b"}


def test_who_is_farther_behind_than_noise_reaches_is_never_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The least noise on the leader and the most on its rival, which is listed last."""
    rule = NoisyCounts(VoteScores(2, "substituted", "any leader"), 1, Fraction(1), 64)
    reach = rule.noise.farthest
    monkeypatch.setattr(RoundedNormal, "draw", lambda self, size: np.array([-reach, reach]))
    said = {}
    for gap in (2 * reach - 1, 2 * reach, 2 * reach + 1, 10**6, 2**62, 2**62 + 1, 10**30):
        draw = rule.drawer({"a": gap, "b": 0}, ["a", "b"])
        said[gap] = ""
        for coin in (2, 3):
            monkeypatch.setattr(secrets, "randbits", lambda places, coin=coin: coin)
            said[gap] += draw()
    tied = said.pop(2 * reach)
    assert said.pop(2 * reach - 1) == "bb"
    assert sorted(tied) == ["a", "b"]
    assert set(said.values()) == {"aa"}


@pytest.mark.parametrize("parts", [0, -1, True, 1.0, "1"])
def test_a_record_has_at_least_one_part(parts: Any) -> None:
    kept = VoteScores(3, "substituted", "any leader")
    assert NoisyCounts(kept, 1, Fraction(1), 96).parts == 1
    with pytest.raises(rb.InvalidMechanism, match="a whole number from 1"):
        NoisyCounts(kept, parts, Fraction(1), 96)


def test_a_coin_takes_the_first_or_the_last_of_those_tied(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = noisy(vote(4, ties="any leader"), rb.GaussianDP(1))
    draw = exact.ready({"a": 3, "b": 5, "c": 5, "d": 5})
    monkeypatch.setattr(secrets, "token_bytes", lambda size: b"\x77" * size)
    for bits, answer in ((2, "d"), (3, "b"), (4, "d"), (5, "b")):
        monkeypatch.setattr(secrets, "randbits", lambda places, bits=bits: bits)
        assert draw() == answer


def test_counts_of_any_size() -> None:
    exact = noisy(vote(3), rb.GaussianDP(1))
    for counts, least in (({"a": 10**30, "b": 10**30 - 60, "c": 5}, "a"), ({"c": 2**63}, "c")):
        assert exact.release({"a": 0, "b": 0, "c": 0} | counts) == least
    assert exact.release({"a": 2**62 + 1, "b": 2**62 + 200, "c": 0}) == "b"


# privacy


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("rows", "mu"),
    [
        (1, "2.5"),
        *(
            pytest.param(r, mu, marks=pytest.mark.slow)
            for r, mu in ((1, "0.3"), (2, "2"), (3, "2"))
        ),
    ],
)
def test_all_small_neighbors_are_close(ties: str, relation: str, rows: int, mu: str) -> None:
    """All sets of answers and all moves of a person, from near votes and from a clear one."""
    question = vote(3, ties=ties, neighbors=relation, rows_per_person=rows)
    exact = noisy(question, rb.GaussianDP(mu))
    worst = Fraction(0)
    for held in ((3, 3, 3), (5, 4, 3), (3, 6, 3), (30, 3, 3)):
        one = exact.rule.weights(dict(zip("abc", held, strict=True)), "abc")
        for move in moves(3, rows, relation):
            there = [count + change for count, change in zip(held, move, strict=True)]
            other = exact.rule.weights(dict(zip("abc", there, strict=True)), "abc")
            assert reference.gaussian_close(one, other, Fraction(mu), 60)
            worst = max(worst, Fraction(one[0], sum(one)) - Fraction(other[0], sum(other)))
    most = norm.cdf(float(mu) / 2) - norm.cdf(-float(mu) / 2)
    assert float(worst) > 0.55 * most  # it is not private for want of saying anything


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rho", ["1/50", "3"])
def test_all_small_neighbors_are_close_in_every_order(relation: str, rho: str) -> None:
    question = vote(3, neighbors=relation)
    exact = noisy(question, rb.ZeroConcentrated(rho))
    for held in ((2, 2, 2), (25, 1, 3)):
        one = exact.rule.weights(dict(zip("abc", held, strict=True)), "abc")
        for move in moves(3, 1, relation):
            there = [count + change for count, change in zip(held, move, strict=True)]
            other = exact.rule.weights(dict(zip("abc", there, strict=True)), "abc")
            assert reference.concentrated_close(one, other, Fraction(rho))


def test_without_the_uniform_share_it_would_not_be_private() -> None:
    """Noise that ends somewhere: what it never says here it may say at a neighbor."""
    noise = RoundedNormal(Fraction(1), 64)
    far = 2 * noise.farthest
    assert noise.shares_of_largest([0, far + 1])[1] == 0
    assert noise.shares_of_largest([0, far])[1] > 0


# the proof


@pytest.mark.parametrize("answers", [2, 3, 4])
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("parts", [1, 3, 4])
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_person_moves_the_scores_farther(
    answers: int, rows: int, parts: int, relation: str
) -> None:
    """All moves and all whole constants."""
    most = squared_move(parts, rows, relation, answers)
    lengths = [
        min(
            sum((parts * change - constant) ** 2 for change in move)
            for constant in range(-parts * rows, parts * rows + 1)
        )
        for move in moves(answers, rows, relation)
    ]
    assert max(lengths) <= most
    assert most - max(lengths) <= Fraction(answers, 4)
    with pytest.raises(rb.InvalidMechanism, match="neighbors must be"):
        squared_move(parts, rows, "moved", answers)


@given(
    st.lists(st.integers(0, 2**70), min_size=1, max_size=12).filter(any),
    st.fractions(Fraction(1, 4), 4, max_denominator=100),
)
@settings(max_examples=40, deadline=None)
def test_the_distance_from_normal_is_no_less_than_it_is(
    half: list[int], deviation: Fraction
) -> None:
    total = half[0] + 2 * sum(half[1:])
    if not total:
        return
    with mp.workdps(60):
        sigma = reference.number(deviation)

        def chance(place: int) -> mp.mpf:
            ends = ((place - mp.mpf("0.5")) / sigma, (place + mp.mpf("0.5")) / sigma)
            return mp.ncdf(-ends[0]) - mp.ncdf(-ends[1])

        off = [abs(mp.mpf(weight) / total - chance(z)) for z, weight in enumerate(half)]
        beyond = mp.ncdf(-(len(half) - mp.mpf("0.5")) / sigma)
        exactly = (off[0] + 2 * mp.fsum(off[1:]) + 2 * beyond) / 2
        found = reference.number(distance_from_normal(deviation, tuple(half)))
        assert found >= exactly - mp.mpf(10) ** -50
        assert found <= len(half) * 4 * exactly + mp.mpf(10) ** -20


@pytest.mark.slow
@given(
    st.fractions(Fraction(1, 20), 4, max_denominator=50),
    st.integers(2, 30),
    st.data(),
)
@settings(max_examples=40, deadline=None)
def test_the_uniform_share_makes_up_for_what_is_missing(
    mu: Fraction, answers: int, data: st.DataObject
) -> None:
    """Every set, with as much too much as rows so far from normal noise's can have."""
    bits = data.draw(st.integers(20, 200))
    away = Fraction(1, 1 << bits)
    shares = [Fraction(1, 1 << places) for places in range(1, 60)]
    enough = [share for share in shares if makes_up_for(away, mu**2, answers, share)]
    assert makes_up_for(away / 4, mu**2, answers, enough[-1]) if enough else bits < 60
    if not enough:
        return
    uniform = enough[-1]
    members = data.draw(st.integers(1, answers - 1))
    level = data.draw(st.fractions(0, 1, max_denominator=10**6))
    with mp.workdps(90):
        eta, u, s, t = map(reference.number, (uniform, Fraction(members, answers), level, away))

        def grown(share: mp.mpf) -> mp.mpf:
            if share <= 0 or share >= 1:
                return mp.mpf(share > 0)
            score = mp.sqrt(2) * mp.erfinv(2 * share - 1) if share > mp.mpf(10) ** -60 else None
            if score is None:
                return mp.mpf(0)
            return mp.ncdf(score + reference.number(mu))

        too_much = grown(min(s + t, mp.mpf(1))) + t
        assert (1 - eta) * min(too_much, 1) + eta * u <= grown((1 - eta) * s + eta * u) + 1e-40


@pytest.mark.parametrize(
    ("mu", "answers", "away"),
    [
        *(
            (mu, answers, Fraction(1, 1 << 150))
            for mu, answers in (("1/10", 2), ("1/2", 40), ("4", 30), ("4", 2))
        ),
        ("1", 3, Fraction(1, 100)),
        ("2", 2, Fraction(2, 5)),  # most of the share is uniform
    ],
)
def test_the_uniform_share_is_the_least_that_is_enough(
    mu: str, answers: int, away: Fraction
) -> None:
    """The condition for every number of answers in a set, in 90 digits."""
    with mp.workdps(90):

        def grown(share: mp.mpf) -> mp.mpf:
            score = -mp.sqrt(2) * mp.findroot(lambda x: mp.erfc(x) - 2 * share, guess(share))
            return mp.ncdf(score + reference.number(Fraction(mu)))

        def guess(share: mp.mpf) -> mp.mpf:
            return mp.sqrt(-mp.log(share)) - mp.mpf("0.2") if share < mp.mpf("1e-6") else mp.mpf(0)

        shares = [mp.mpf(members) / answers for members in range(1, answers)]
        t = reference.number(away)
        missing = (t + grown(t)) / min(grown(share) - share for share in shares)
        least = reference.fraction(missing / (1 + missing))
    assert makes_up_for(away, Fraction(mu) ** 2, answers, least * Fraction(1001, 1000))
    assert not makes_up_for(away, Fraction(mu) ** 2, answers, least * Fraction(999, 1000))


@pytest.mark.parametrize("away", [Fraction(0), Fraction(1, 2), Fraction(3, 4), Fraction(1)])
def test_no_uniform_share_makes_up_for_noise_that_is_half_off(away: Fraction) -> None:
    """Nor for none at all, which no noise is that ends somewhere."""
    assert not makes_up_for(away, Fraction(1), 3, Fraction(999, 1000))


def test_the_distance_of_a_single_weight_is_exact() -> None:
    """Normal noise that is always rounded to 0 is off by what it has beyond ½."""
    found = distance_from_normal(Fraction(1, 2), (1,))
    assert float(found) == pytest.approx(2 * norm.sf(1), rel=1e-12)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_every_weight_is_a_whole_number_from_0(place: int) -> None:
    half: list[Any] = [9, 5, 1]
    assert distance_from_normal(Fraction(2), tuple(half)) < 1
    others: list[Any] = [True, 1.0, -1]
    for wrong in others:
        with pytest.raises(rb.InvalidMechanism, match="must be integers from 0"):
            distance_from_normal(Fraction(2), (*half[:place], wrong, *half[place + 1 :]))


def test_what_moves_just_as_far_as_allowed_is_proved() -> None:
    """A record is one step of noise as wide as a step, where μ² = 2."""
    question, noise = vote(3).describe(), RoundedNormal(Fraction(1), 96)
    drawn = Noise(1, Fraction(1), noise.half, UNIFORM)
    assert prove_noisy_counts(rb.ZeroConcentrated(1), 3, question, list, drawn)
    with pytest.raises(rb.InvalidMechanism, match="must keep"):
        prove_noisy_counts(rb.ZeroConcentrated("999999/1000000"), 3, question, list, drawn)


@pytest.mark.parametrize(("epsilon", "delta"), [("1/2", "1/20"), ("3", "1/5")])
def test_the_mu_of_a_delta_lies_just_within_it(epsilon: str, delta: str) -> None:
    mu = math.sqrt(squared_mu(rb.DP(epsilon, delta)))
    rate = float(Fraction(epsilon)) / mu
    upto = norm.cdf(mu / 2 - rate) - math.exp(rate * mu) * norm.cdf(-mu / 2 - rate)
    assert upto == pytest.approx(float(Fraction(delta)), rel=1e-9)
    with pytest.raises(rb.InvalidMechanism, match="noisy counts need"):
        squared_mu(rb.DP(epsilon, 1))


@pytest.mark.slow
def test_the_proof_counts_the_noise_of_every_answer() -> None:
    """Weights that are off by more and more: what one noise may lack three may not."""
    promise = rb.GaussianDP(3)
    question, scores, noise, _ = prepared(promise)
    first, *rest = noise.half
    told = []
    for places in range(noise.half[0].bit_length() - 1):
        half = (first - (2 << places), rest[0] + (1 << places), *rest[1:])
        off = distance_from_normal(noise.deviation, half)
        one, three = (makes_up_for(count * off, Fraction(9), 3, UNIFORM) for count in (1, 3))
        told.append((one, three))
        try:
            proved = bool(
                prove_noisy_counts(promise, 3, question, scores, replace(noise, half=half))
            )
        except rb.InvalidMechanism:
            proved = False
        assert proved == three
    assert {(True, True), (True, False), (False, False)} <= set(told)


def prepared(promise: Any, **settings: Any) -> tuple[Any, Any, Noise, Any]:
    question = vote(3, **settings)
    exact = noisy(question, promise)
    rule = exact.rule
    noise = Noise(rule.parts, rule.deviation, rule.noise.half, UNIFORM)

    def scores(counts: Sequence[int]) -> list[int]:
        return [rule.parts * count - place * rule.parts // 3 for place, count in enumerate(counts)]

    return question.describe(), scores, noise, rule


@pytest.mark.parametrize("promise", [rb.GaussianDP(1), rb.ZeroConcentrated("1/8")], ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_proof_refuses_what_is_a_little_less(promise: Any, relation: str) -> None:
    question, scores, noise, _ = prepared(promise, neighbors=relation)
    assert prove_noisy_counts(promise, 3, question, scores, noise)

    def refused(match: str, **changes: Any) -> None:
        asked = changes.pop("question", question)
        kept, size = changes.pop("promise", promise), changes.pop("answers", 3)
        played = changes.pop("scores", scores)
        with pytest.raises(rb.InvalidMechanism, match=match):
            prove_noisy_counts(kept, size, asked, played, replace(noise, **changes))

    refused("must keep", deviation=noise.deviation * (1 - Fraction(1, 10**9)))
    refused("must keep", question=question | {"rows_per_person": 2})
    refused("must keep", promise=rb.GaussianDP("0.49"))
    refused("rows_per_person must be", question=question | {"rows_per_person": 0})
    refused("neighbors must be", question=question | {"neighbors": "any"})
    refused("move its answer's score", parts=noise.parts + 1)
    refused("whole number from 1", parts=0)
    refused("move its answer's score", scores=lambda counts: [2 * s for s in scores(counts)])
    refused(
        "move its answer's score",
        scores=lambda counts: [s + counts[0] for s in scores(counts)],
    )
    first, *rest = noise.half
    little = first >> 20
    refused("leave some", half=(first + little, *rest))
    refused("leave some", half=(first - 2 * little, rest[0] + little, *rest[1:]))
    refused("leave some", half=noise.half[: len(noise.half) // 2])
    refused("leave some", deviation=noise.deviation * (1 + Fraction(1, 10**9)))
    refused("leave some", uniform=Fraction(1, 1 << 90))
    refused("leave some", uniform=Fraction(0))
    refused("leave some", uniform=Fraction(1))
    refused("integers from 0", half=(first, -1, *rest))
    refused("integers from 0", half=())
    refused("not all be 0", half=(0, 0))
    refused("at least 2 answers", answers=1)
    refused("noisy counts need", promise=rb.DP(1))
    refused("noisy counts need", promise=rb.GaussianDP(0))


def test_what_one_noise_may_lack_three_may_not() -> None:
    """The largest fault of the weights that all three together may have, and twice that."""
    promise = rb.GaussianDP(3)
    question, scores, noise, _ = prepared(promise)
    first, *rest = noise.half

    def off_by(places: int) -> tuple[int, ...]:
        return first - (2 << places), rest[0] + (1 << places), *rest[1:]

    def enough(places: int, noises: int) -> bool:
        off = distance_from_normal(noise.deviation, off_by(places))
        return makes_up_for(noises * off, Fraction(9), 3, UNIFORM)

    last = bisect_left(range(first.bit_length() - 1), True, key=lambda n: not enough(n, 3))
    assert enough(last, 1)
    assert prove_noisy_counts(promise, 3, question, scores, replace(noise, half=off_by(last - 1)))
    with pytest.raises(rb.InvalidMechanism, match=r"3 noises that are .* from normal"):
        prove_noisy_counts(promise, 3, question, scores, replace(noise, half=off_by(last)))


def test_noise_of_a_negative_deviation_is_refused_and_two_answers_are_enough() -> None:
    promise = rb.GaussianDP(3)
    question, scores, noise, _ = prepared(promise)
    for deviation in (-noise.deviation, Fraction(0)):
        with pytest.raises(rb.InvalidMechanism, match="must keep"):
            prove_noisy_counts(promise, 3, question, scores, replace(noise, deviation=deviation))
    assert noisy(vote(2), promise).proof.exact


@pytest.mark.parametrize("place", range(3))
def test_the_score_of_every_answer_is_tried(place: int) -> None:
    """Scores that are wrong of one answer, beyond some count, or where counts are not alike."""
    promise = rb.GaussianDP(3)
    question, scores, noise, _ = prepared(promise)

    def refused(wrong: Callable[[Sequence[int]], bool]) -> None:
        def played(counts: Sequence[int]) -> list[int]:
            found: list[int] = scores(counts)
            found[place] -= counts[place] * wrong(counts)
            return found

        with pytest.raises(rb.InvalidMechanism, match="move its answer's score"):
            prove_noisy_counts(promise, 3, question, played, noise)

    refused(lambda counts: True)
    refused(lambda counts: sum(counts) < 2)
    refused(lambda counts: min(counts) > 2)
    refused(lambda counts: max(counts) - min(counts) > 10)
    parts: Any = float(noise.parts)
    with pytest.raises(rb.InvalidMechanism, match="a whole number from 1"):
        prove_noisy_counts(promise, 3, question, scores, replace(noise, parts=parts))


def test_a_delta_is_kept_by_the_mu_within_it() -> None:
    """The curve of (ε,δ) at all small neighbors, in fractions."""
    question, promise = vote(3, ties="any leader"), rb.DP("0.5", "0.05")
    exact = noisy(question, promise)
    _, most = reference.exp_between(Fraction(1, 2))
    for held in ((3, 3, 3), (5, 3, 1)):
        one = exact.rule.weights(dict(zip("abc", held, strict=True)), "abc")
        for move in moves(3, 1, "substituted"):
            there = [count + change for count, change in zip(held, move, strict=True)]
            other = exact.rule.weights(dict(zip("abc", there, strict=True)), "abc")
            for p, q in ((one, other), (other, one)):
                pairs = zip(p, q, strict=True)
                excess = sum(
                    max(Fraction(0), Fraction(a, sum(p)) - most * Fraction(b, sum(q)))
                    for a, b in pairs
                )
                assert excess <= Fraction(1, 20)
    assert not rb.best(vote(40), rb.DP("0.5", "0.05")).delta_unused


# bounds for all votes


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(("parts", "deviation"), [(1, 1), (30, 3)])
def test_floats_have_the_uniform_share_to_the_last_digit(
    ties: str, parts: int, deviation: int
) -> None:
    """Of an answer that noise hardly reaches it is all there is; who leads may be listed last."""
    rule = NoisyCounts(VoteScores(3, "substituted", ties), parts, Fraction(deviation), 96)
    counts = np.array([[30, 0, 0], [0, 0, 40], [20, 20, 0], [0, 1, 1]])
    rows = rule.rows_at(vote(3, ties=ties), counts, counts.astype(float))
    for row, held in zip(rows, counts.tolist(), strict=True):
        weights = rule.weights(dict(zip("abc", held, strict=True)), "abc")
        shares = [float(Fraction(weight, sum(weights))) for weight in weights]
        assert row.tolist() == pytest.approx(shares, rel=1e-6, abs=0)


def shares(rule: NoisyCounts, distances: Sequence[int]) -> list[float]:
    """The row of scores that are so far behind, in exact integers until the end."""
    behind = [distance - min(distances) for distance in distances]
    found = rule.noise.shares_of_largest(behind)
    mixed = [(1 - UNIFORM) * Fraction(one, sum(found)) + UNIFORM / len(found) for one in found]
    return [float(one) for one in mixed]


@pytest.mark.parametrize("answers", [2, 3])
@pytest.mark.parametrize(("ties", "late", "off"), [(TIES[0], 1, (-1, 2)), (TIES[1], 0, (-1, 1))])
def test_chances_are_the_extremes_over_all_votes_with_rivals_a_part_off(
    answers: int, ties: str, late: int, off: tuple[int, int]
) -> None:
    """A place in the list is a part here, and the noise is half a record wide.

    Of scores that tie the coin takes the first or the last: the leaders are the first.
    """
    parts, question = answers, vote(answers, ties=ties)
    kept = VoteScores(answers, "substituted", ties)
    rule = NoisyCounts(kept, parts, Fraction(parts, 2), 64)
    found: dict[int, tuple[list[float], list[float]]] = {}
    for held in itertools.product(range(15), repeat=answers):
        if min(held):
            continue
        margins = question.margins(dict(zip(question.answers, held, strict=True)))
        leaders = [place for place in range(answers) if held[place] == max(held)]
        right = leaders if ties == TIES[1] else leaders[:1]
        behind = [parts * (max(held) - count) + late * place for place, count in enumerate(held)]
        after = [place for place in range(right[0], answers) if place not in right]
        before = [place for place in range(right[0]) if place not in right]
        distances = [behind[place] - behind[right[0]] for place in (*after, *before)]
        nearest = sorted(margins.values())[1]
        for side, move in enumerate(off):
            row = shares(rule, [*[0] * len(right), *[distance + move for distance in distances]])
            found.setdefault(nearest, ([], []))[side].append(sum(row[: len(right)]))
    for margin in (1, 2, 3):
        least, most = rule.chances(question, margin)
        assert least == pytest.approx(min(found[margin][0]), rel=1e-6)
        assert most == pytest.approx(max(found[margin][1]), rel=1e-6)


def test_a_rival_that_ties_is_no_right_answer_where_places_are_less_than_a_part() -> None:
    """Answers that tie stand at one place then, and the first listed alone is right."""
    rule = NoisyCounts(VoteScores(3, "substituted", "first listed"), 1, Fraction(1), 64)
    _, most = rule.chances(vote(3), 1)
    assert shares(rule, [0, 1, 10**6])[0] <= most <= shares(rule, [0, 3, 10**6])[0] + 1e-9


@pytest.mark.parametrize("answers", [2, 3, 4])
@pytest.mark.parametrize("ties", TIES)
def test_far_rivals_are_a_part_nearer_than_they_can_be(answers: int, ties: str) -> None:
    """All of them listed before the leader; alone it is the one listed first."""
    parts, question = 2 * answers, vote(answers, ties=ties)
    kept = VoteScores(answers, "substituted", ties)
    rule = NoisyCounts(kept, parts, Fraction(parts), 64)
    late = 2 if ties == "first listed" else 0
    for short in range(4):
        nearest = [parts * (short + 1) - late * place - 1 for place in range(1, answers)]
        assert rule.far(question, short) == pytest.approx(1 - shares(rule, [*nearest, 0])[-1])
        others = [10**6] * (answers - 2)
        alone = shares(rule, [nearest[-1], *others, 0])[0]
        assert rule.far_alone(question, short) == pytest.approx(alone)


# files, and where there is none


def test_a_forged_file_is_refused() -> None:
    content = noisy(vote(3), rb.GaussianDP(1)).describe()
    assert restore(content).describe() == content

    def refused(match: str, **changes: Any) -> None:
        with pytest.raises(rb.RainbowError, match=match):
            restore(content | {"noise": content["noise"] | changes})

    refused("must keep", deviation="20")
    refused("above 0", deviation="-1")
    refused("32,768 weights", deviation="1000000")
    refused("bits of noise", bits=63)
    refused("bits of noise", bits=10**6)
    refused("bits of noise", bits="96")
    refused("parts of a record", parts=0)
    refused("parts of a record", parts=2.5)
    refused("need the counts of a vote", vote={"of": "margins"})
    refused("at most 2 records", vote=content["noise"]["vote"] | {"rows": 2})
    content = noisy(vote(3), rb.GaussianDP(3)).describe()
    refused("leave some", bits=64)


@pytest.mark.parametrize(
    ("question", "promise", "sentence"),
    [
        (rb.Quantile("1/2", range(5)), rb.GaussianDP(1), "for a Winner, got a Quantile; use expon"),
        (vote(3), rb.DP(1), r"with a δ between 0 and 1, got 1-DP; use margin-table"),
        (vote(3), rb.GaussianDP("1e-4"), "noise of 1.41e.04 records, too wide to be listed"),
        (vote(3), rb.DP("1e-6", "1e-30"), "records, too wide to be listed"),
    ],
)
def test_where_there_is_none_one_sentence_says_why(
    question: Any, promise: Any, sentence: str
) -> None:
    with pytest.raises(rb.NotApplicable, match=sentence) as caught:
        rb.by_kind(question, promise, "noisy-counts")
    reference.assert_one_sentence(caught.value)


@pytest.mark.parametrize("promise", [rb.GaussianDP("1e-300"), rb.ZeroConcentrated("1e-310")])
def test_noise_beyond_every_float_is_none(promise: Any) -> None:
    with pytest.raises(rb.InvalidGuarantee, match="too little") as caught:
        rb.by_kind(vote(3), promise, "noisy-counts")
    reference.assert_one_sentence(caught.value)


# best


@pytest.mark.parametrize(
    ("question", "promise"),
    [
        (vote(3, ties="any leader"), rb.GaussianDP("0.3")),
        (vote(12), rb.ZeroConcentrated("0.1")),
        (vote(20, ties="any leader", rows_per_person=3), rb.GaussianDP("1.6")),
        (vote(24, ties="any leader"), rb.DP(2, "0.1")),
    ],
    ids=str,
)
def test_best_takes_it_where_it_errs_least(question: Any, promise: Any) -> None:
    mechanism = rb.best(question, promise)
    assert mechanism.name == "noisy-counts"
    assert mechanism.proof.exact
    assert "records on each count" in mechanism.proof.statement


def test_a_larger_mu_never_answers_worse() -> None:
    from rainbowdp.answering.measure import measure
    from rainbowdp.rules import family

    kind, question = family("noisy-counts"), vote(4, ties="any leader")
    found = [measure(kind, question, rb.GaussianDP(mu)) for mu in np.geomspace(0.05, 5, 24)]
    assert (np.diff(found) < 0).all()

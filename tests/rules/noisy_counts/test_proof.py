"""The proof of noisy counts: what it refuses, and the oracles of each of its parts."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import rainbowdp as rb
import reference
from rainbowdp.rules.noisy_counts.proof import (
    Noise,
    distance_from_normal,
    makes_up_for,
    prove_noisy_counts,
    squared_move,
    squared_mu,
)
from rainbowdp.rules.noisy_counts.rule import UNIFORM
from rainbowdp.rules.noisy_counts.shape import RoundedNormal

RELATIONS = ("substituted", "added or removed")


def vote(answers: int, **settings: Any) -> rb.Winner:
    return rb.Winner([chr(ord("a") + number) for number in range(answers)], **settings)


def noisy(question: rb.Winner, promise: Any) -> Any:
    return rb.by_kind(question, promise, "noisy-counts").exact()


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
        for move in reference.changes_of_a_person(answers, rows, relation)
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
        for move in reference.changes_of_a_person(3, 1, "substituted"):
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

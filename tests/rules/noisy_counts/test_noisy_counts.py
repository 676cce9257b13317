"""Noisy counts: rows by brute force, small neighbors in many digits, a proof that refuses."""

from __future__ import annotations

import itertools
import math
import secrets
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import rainbowdp as rb
import reference
from rainbowdp.exact.scores import VoteScores
from rainbowdp.rules.files import restore
from rainbowdp.rules.noisy_counts.rule import UNIFORM, NoisyCounts
from rainbowdp.rules.noisy_counts.shape import RoundedNormal, rows_of_largest

TIES = ("first listed", "any leader")
RELATIONS = ("substituted", "added or removed")


def vote(answers: int, **settings: Any) -> rb.Winner:
    return rb.Winner([chr(ord("a") + number) for number in range(answers)], **settings)


def noisy(question: rb.Winner, promise: Any) -> Any:
    return rb.by_kind(question, promise, "noisy-counts").exact()


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
        for move in reference.changes_of_a_person(3, rows, relation):
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
        for move in reference.changes_of_a_person(3, 1, relation):
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

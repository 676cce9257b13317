"""The exponential mechanism in integers: its rows, what it costs, its draws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
from kinds import exponential, homogeneous
from rainbowdp.exact.falling import TOTAL
from rainbowdp.exact.falling_proof import Chances
from rainbowdp.exact.scores import MarginScores, Scores, VoteScores
from rainbowdp.rules.exponential.proof import prove_weights, range_within
from rainbowdp.rules.exponential.rule import Exponential


def row(rule: Exponential, numbers: Sequence[int]) -> list[Fraction]:
    names = [str(number) for number in range(len(numbers))]
    weights = rule.weights(dict(zip(names, numbers, strict=True)), names)
    return [Fraction(weight, sum(weights)) for weight in weights]


def made(answers: int, guarantee: rb.DP | rb.GaussianDP, scores: Scores) -> Exponential:
    names = [str(number) for number in range(answers)]
    if isinstance(scores, VoteScores):
        question: rb.Question = rb.Winner(names, neighbors=scores.neighbors, ties=scores.ties)
    else:
        question = rb.Quantile("1/2", range(answers + 1))
    rule = exponential(question, guarantee).exact().rule
    assert isinstance(rule, Exponential)
    assert rule.scores == scores
    return rule


@given(st.lists(st.integers(0, 9), min_size=2, max_size=5), st.integers(100, 1023))
@settings(deadline=None)
def test_a_row_is_the_share_of_each_weight(counts: list[int], ratio: int) -> None:
    rule = Exponential(VoteScores(len(counts), "substituted", "any leader"), Fraction(ratio, 1024))
    least = math.ceil(1 / (1 - rule.ratio))
    weights = [
        math.floor((TOTAL - least) * rule.ratio ** (max(counts) - count)) + least
        for count in counts
    ]
    assert row(rule, counts) == [Fraction(weight, sum(weights)) for weight in weights]


@pytest.mark.parametrize(("answers", "most"), [(2, 9), (3, 4), (4, 3)])
@pytest.mark.parametrize("ratio", [Fraction(21, 20), Fraction(3)])
def test_all_pairs_of_small_margins_are_close(ratio: Fraction, answers: int, most: int) -> None:
    rule = made(answers, rb.DP.from_ratio(ratio), MarginScores())
    for one, other in reference.margin_pairs(answers, most):
        changes = [p / q for p, q in zip(row(rule, one), row(rule, other), strict=True)]
        assert max(changes) <= ratio * min(changes)  # range-bounded, which is more than private
        assert min(changes) <= 1 <= max(changes)


@pytest.mark.parametrize("ties", ["first listed", "any leader"])
@pytest.mark.parametrize("neighbors", ["substituted", "added or removed"])
@pytest.mark.parametrize("mu", ["1/10", "1", "3"])
def test_votes_keep_gaussian_privacy(mu: str, neighbors: str, ties: str) -> None:
    """Every set of answers, both ways, with 30 digits."""
    promise = rb.GaussianDP(mu)
    rule = made(3, promise, VoteScores(3, neighbors, ties))
    pairs = 0
    for counts in [(3, 3, 3), (5, 4, 1), (0, 2, 2), (6, 0, 0)]:
        for gain in range(3):
            more = [count + (v == gain) for v, count in enumerate(counts)]
            losers = [v for v in range(3) if more[v] and v != gain]
            for lose in losers if neighbors == "substituted" else [3]:
                other = [count - (v == lose) for v, count in enumerate(more)]
                keys = [dict(zip("012", key, strict=True)) for key in (counts, other)]
                p, q = (rule.weights(key, tuple("012")) for key in keys)
                assert reference.gaussian_close(p, q, promise.exact_mu, 30)
                pairs += 1
    assert pairs > 8


@given(st.floats(0.01, 8), st.floats(0.001, 0.999))
@settings(max_examples=300, deadline=None)
def test_a_bounded_range_is_gaussian_privacy(mu: float, level: float) -> None:
    """The curve of a range lies below that of μ: odds grow by R, at every level."""
    with mp.workdps(40):
        most = range_within(rb.GaussianDP(mu))
        odds = mp.mpf(level) / (1 - mp.mpf(level)) * most.numerator / most.denominator
        shifted = mp.sqrt(2) * mp.erfinv(2 * mp.mpf(level) - 1) + mp.mpf(mu)
        assert odds / (1 + odds) <= mp.ncdf(shifted) + mp.mpf(10) ** -30


@pytest.mark.parametrize("mu", ["1/100", "1/3", "0.7", "1", "1.3", "2", "3", "4", "5.5"])
def test_the_range_is_never_rounded_up(mu: str) -> None:
    most, shift = range_within(rb.GaussianDP(mu)), Fraction(mu)
    with mp.workdps(120):
        above = mp.erfc(mp.mpf(shift.numerator) / shift.denominator / mp.sqrt(8)) / 2
        truth = ((1 - above) / above) ** 2
        assert 0 < truth - mp.mpf(most.numerator) / most.denominator < truth * mp.mpf(2) ** -180


def test_a_polygon_has_no_range() -> None:
    curve = rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)])
    with pytest.raises(rb.InvalidMechanism, match="weights by scores need"):
        range_within(curve)


@pytest.mark.parametrize("mu", ["1/100", "1", "4"])
def test_the_range_is_as_wide_as_can_be(mu: str) -> None:
    """At the level from which it is farthest, a little more would be too much."""
    with mp.workdps(40):
        most = range_within(rb.GaussianDP(mu))
        root = mp.sqrt(mp.mpf(most.numerator) / most.denominator)
        above = mp.sqrt(2) * mp.erfinv(2 * root / (1 + root) - 1)
        assert mp.almosteq(2 * above, mp.mpf(Fraction(mu).numerator) / Fraction(mu).denominator)


@pytest.mark.parametrize("guarantee", [rb.DP("0.3"), rb.GaussianDP("0.5")])
def test_a_steeper_one_is_refused(guarantee: rb.DP | rb.GaussianDP) -> None:
    for question in (rb.Winner(["a", "b", "c"]), rb.Quantile("1/2", range(5))):
        exact = exponential(question, guarantee).exact()
        rule = exact.rule
        assert isinstance(rule, Exponential)
        with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
            replace(exact, rule=replace(rule, ratio=rule.ratio - Fraction(2, 1 << 60)))


def test_other_scores_are_held_against_the_question() -> None:
    exact = exponential(rb.Winner(["a", "b", "c"]), rb.DP(1)).exact()
    rule = exact.rule
    assert isinstance(rule, Exponential)
    for scores in (
        VoteScores(3, "added or removed", "first listed"),
        VoteScores(3, "substituted", "any leader"),
        VoteScores(4, "substituted", "first listed"),
    ):
        with pytest.raises(rb.InvalidMechanism):
            replace(exact, rule=replace(rule, scores=scores))


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    [
        rb.Winner([str(n) for n in range(12)], neighbors="added or removed"),
        rb.Ranking(list("abcdef"), first=2),
        rb.Quantile("9/10", range(13)),
    ],
)
@pytest.mark.parametrize("mu", ["0.1", "1"])
def test_best_takes_it_under_gaussian_privacy(question: rb.Question, mu: str) -> None:
    promise = rb.GaussianDP(mu)
    assert rb.best(question, promise).name == "exponential"


def test_options_without_a_vote_have_hardly_a_chance() -> None:
    names = [str(n) for n in range(12)]
    counts = dict.fromkeys(names, 0) | {"0": 30, "1": 29}
    question, promise = rb.Winner(names), rb.GaussianDP(1)
    assert exponential(question, promise)[counts]["7"] < 1e-9
    assert homogeneous(question, promise)[counts]["7"] > 0.06


@pytest.mark.parametrize("size", [3, 30])
@pytest.mark.usefixtures("dice")
def test_draws_follow_the_row(size: int) -> None:
    question = rb.Winner([str(n) for n in range(size)])
    mechanism = exponential(question, rb.GaussianDP("0.7"))
    counts = {answer: 2 + number % 3 for number, answer in enumerate(question.answers)}
    draw, draws = mechanism.exact().ready(counts), 10_000
    drawn = [draw() for _ in range(draws)]
    for answer, p in mechanism[counts].items():
        assert abs(drawn.count(answer) - draws * p) < 5 * math.sqrt(draws * p * (1 - p)) + 1


def test_thousands_of_answers() -> None:
    names = [str(n) for n in range(2_000)]
    mechanism = exponential(rb.Winner(names), rb.GaussianDP(1))
    counts = dict(zip(names, itertools.cycle(range(7)), strict=False)) | {"77": 10_000}
    assert mechanism.release(counts) == "77"


def test_a_curve_of_another_kind_is_refused() -> None:
    curve = rb.TradeOff([(0, 1), ("1/4", "1/4"), (1, 0)])
    with pytest.raises(rb.InvalidGuarantee, match="exponential needs"):
        exponential(rb.Winner(["a", "b", "c"]), curve)


def test_the_proof_looks_at_the_weights_and_the_distances() -> None:
    rule = made(3, rb.DP(1), MarginScores())
    falling = rule.falling
    weights = Chances(rule.ratio, TOTAL, falling.top, falling.farthest, falling.at)

    def signed(margins: Sequence[int]) -> list[int]:
        near = min(margin for margin in margins if margin)
        return [margin + near - 1 if margin else 0 for margin in margins]

    assert prove_weights(rb.DP(1), 3, None, signed, weights)
    with pytest.raises(rb.InvalidMechanism, match="chance"):
        prove_weights(rb.DP(1), 3, None, signed, replace(weights, at=lambda d: falling.at(2 * d)))
    with pytest.raises(rb.InvalidMechanism, match="signed margins"):
        prove_weights(rb.DP(1), 3, None, list, weights)
    with pytest.raises(rb.InvalidMechanism, match="largest weight"):
        prove_weights(rb.DP(1), 3, None, signed, replace(weights, top=TOTAL // 2))

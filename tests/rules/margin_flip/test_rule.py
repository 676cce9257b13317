"""Coins by signed margins: their rows, their privacy between any margins, their draws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
from kinds import homogeneous, margin_flip
from rainbowdp.exact.falling import TOTAL
from rainbowdp.exact.falling_proof import Chances
from rainbowdp.questions.histograms import histograms, margins_of
from rainbowdp.rules.files import load
from rainbowdp.rules.margin_flip.build import margin_coins
from rainbowdp.rules.margin_flip.proof import prove_margin_coins
from rainbowdp.rules.margin_flip.rule import MarginFlip

RATIOS = [Fraction(21, 20), Fraction(3, 2), Fraction(3), Fraction(60)]
NEIGHBORS = ("substituted", "added or removed")


def row(rule: MarginFlip, margins: Sequence[int]) -> list[Fraction]:
    names = [str(number) for number in range(len(margins))]
    weights = rule.weights(dict(zip(names, margins, strict=True)), names)
    return [Fraction(weight, sum(weights)) for weight in weights]


def by_all_coins(rule: MarginFlip, margins: Sequence[int]) -> list[Fraction]:
    """From the definition: every way the coins can fall, an equal draw among the heads."""
    depth = min(margin for margin in margins if margin)
    least = math.ceil(1 / (1 - rule.ratio))
    chances = [
        Fraction(math.floor((rule.first - least) * rule.ratio ** (m + depth - 2)) + least, TOTAL)
        if m
        else Fraction(1)
        for m in margins
    ]
    found = [Fraction(0)] * len(margins)
    for heads in itertools.product((False, True), repeat=len(margins)):
        whole = Fraction(1)
        for chance, head in zip(chances, heads, strict=True):
            whole *= chance if head else 1 - chance
        if whole:
            for v, head in enumerate(heads):
                found[v] += whole * head / sum(heads)
    return found


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.integers(0, 4),
    st.integers(100, 1023),
    st.integers(1, 1024),
)
@settings(deadline=None)
def test_a_row_is_what_all_falls_of_the_coins_give(
    rivals: list[int], place: int, ratio: int, first: int
) -> None:
    margins = [*rivals[:place], 0, *rivals[place:]]
    rule = MarginFlip(first * (TOTAL >> 10), Fraction(ratio, 1024))
    assert row(rule, margins) == by_all_coins(rule, margins)
    question = rb.Winner([str(number) for number in range(len(margins))])
    floats = rule.rows_at(question, np.zeros((1, len(margins)), int), np.array([margins], float))
    assert floats[0] == pytest.approx([float(p) for p in row(rule, margins)], abs=1e-14)


@pytest.mark.parametrize(("answers", "most"), [(2, 9), (3, 5), (4, 3), (5, 2)])
@pytest.mark.parametrize("ratio", RATIOS)
def test_all_pairs_of_small_margins_are_close_and_some_are_no_closer(
    ratio: Fraction, answers: int, most: int
) -> None:
    rule = margin_coins(answers, rb.DP.from_ratio(ratio))
    rows = {
        margins: row(rule, margins)
        for margins in itertools.product(range(most + 1), repeat=answers)
        if margins.count(0) == 1
    }
    widest = Fraction(1)
    for one, other in reference.margin_pairs(answers, most):
        for p, q in zip(rows[one], rows[other], strict=True):
            widest = max(widest, p / q, q / p)
    assert widest <= ratio
    assert widest > ratio * Fraction(99_999, 100_000)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_all_pairs_of_any_margins_are_close(data: st.DataObject) -> None:
    answers = data.draw(st.integers(2, 9))
    ratio = data.draw(st.sampled_from([Fraction(1001, 1000), *RATIOS]))
    rule = margin_coins(answers, rb.DP.from_ratio(ratio))
    far = data.draw(st.sampled_from([2, 5, 100, 10**6, 10**18]))
    rivals = data.draw(st.lists(st.integers(1, far), min_size=answers - 1, max_size=answers - 1))
    one = [0, *rivals]
    moved = data.draw(st.lists(st.integers(-1, 1), min_size=answers, max_size=answers))
    other = [0, *(max(1, margin + move) for margin, move in zip(rivals, moved, strict=False))]
    if 1 in rivals and moved[-1] > 0:  # the true answer changes
        other[0], other[1 + rivals.index(1)] = 1, 0
    for p, q in zip(row(rule, one), row(rule, other), strict=True):
        assert p <= ratio * q
        assert q <= ratio * p


@pytest.mark.parametrize("ratio", RATIOS)
def test_two_answers_have_the_optimum(ratio: Fraction) -> None:
    rule = margin_coins(2, rb.DP.from_ratio(ratio))
    for margin in range(1, 30):
        least = 1 / (1 + ratio) / ratio ** (margin - 1)
        found = row(rule, (0, margin))[1]
        assert 0 <= found - least < Fraction(1, 1 << 40)


@pytest.mark.parametrize("answers", [3, 8, 30])
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_a_near_rival_falls_at_the_full_rate_where_others_are_far(
    answers: int, epsilon: str
) -> None:
    rule = margin_coins(answers, rb.DP(epsilon))
    far = [10**9] * (answers - 2)
    for margin in (1, 4, 20):
        here, beside = (row(rule, [0, m, *far])[1] for m in (margin, margin + 1))
        assert float(beside / here) == pytest.approx(math.exp(-float(epsilon)), rel=1e-6)


@pytest.mark.parametrize("answers", [2, 3, 5, 12, 64])
@pytest.mark.parametrize("epsilon", ["0.05", "1", "4"])
def test_a_smaller_first_chance_or_ratio_is_refused(answers: int, epsilon: str) -> None:
    question, promise = rb.Winner([str(n) for n in range(answers)]), rb.DP(epsilon)
    exact = margin_flip(question, promise).exact()
    rule = exact.rule
    assert isinstance(rule, MarginFlip)
    with pytest.raises(rb.InvalidMechanism, match="border is too steep"):
        replace(exact, rule=replace(rule, first=rule.first - (TOTAL >> 46)))
    with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
        replace(exact, rule=replace(rule, ratio=rule.ratio - Fraction(2, 1 << 60)))
    with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
        replace(exact, guarantee=rb.DP(Fraction(epsilon) * Fraction(999, 1000)))


@pytest.mark.parametrize("ratio", [Fraction(11, 10), Fraction(3), Fraction(20)])
@pytest.mark.parametrize("answers", [3, 4, 6])
def test_the_border_demand_is_what_rows_on_a_border_have(answers: int, ratio: Fraction) -> None:
    """A first chance that is too small by more breaks the promise on real rows."""
    rule = margin_coins(answers, rb.DP.from_ratio(ratio))
    steeper = replace(rule, first=rule.first - (rule.first >> 12))
    one, other = [0, 1, *[1] * (answers - 2)], [1, 0, *[2] * (answers - 2)]
    assert row(rule, other)[1] <= ratio * row(rule, one)[1]
    near, far = ([*margins[:2], *[10**9] * (answers - 2)] for margins in (one, other))
    assert any(
        row(steeper, b)[1] > ratio * row(steeper, a)[1] for a, b in ((one, other), (near, far))
    )


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "3"])
@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.slow
def test_it_errs_less_than_the_textbook_and_is_nearer(
    epsilon: str, neighbors: str, rows: int
) -> None:
    question = rb.Quantile("0.7", range(7), neighbors=neighbors, rows_per_person=rows)
    promise, counts = rb.DP(epsilon), histograms(question, 9)
    margins = margins_of(question, counts)
    ours = margin_flip(question, promise).exact().rule.rows_at(question, counts, margins)
    theirs = np.array(
        [
            list(
                rb.permute_and_flip(question, promise)[
                    dict(zip(question.answers, c, strict=True))
                ].values()
            )
            for c in counts[::9].tolist()
        ]
    )
    right = (ours * (margins == 0)).sum(axis=1)[::9], (theirs * (margins[::9] == 0)).sum(axis=1)
    assert (right[0] >= right[1] - 1e-12).all()
    away = (ours * margins).sum(axis=1)[::9].mean(), (theirs * margins[::9]).sum(axis=1).mean()
    assert away[0] < away[1]


@pytest.mark.parametrize("answers", [2, 3, 30, 64, 65, 300])
@pytest.mark.parametrize("epsilon", ["1e-9", "0.001", "0.1", "1", "30"])
def test_no_coin_is_likelier_than_the_textbook_s_but_for_rounding(
    answers: int, epsilon: str
) -> None:
    """A multiple of 2^-60 is taken for e^{−ε/2}, which counts up to 1/ε times."""
    rule, rate = margin_coins(answers, rb.DP(epsilon)), float(epsilon)
    assert rule.first <= rule.ratio * TOTAL
    with mp.workdps(50):
        base = mp.exp(-mp.mpf(epsilon) / 2)
        for distance in (1, 2, 3, 100, int(2 / rate) + 1, int(9 / rate), int(90 / rate)):
            found = mp.mpf(rule.coins.at(max(0, distance - 1))) / TOTAL
            assert found <= base ** max(1, distance) + mp.mpf(2) ** -60 * max(1, 1 / rate)


@pytest.mark.parametrize(
    "question",
    [
        rb.Quantile("1/2", range(9), rows_per_person=3),
        rb.Quantile("9/10", range(13), neighbors="added or removed"),
        rb.Quantile("1/2", range(51)),
    ],
)
@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.5"])
def test_best_takes_it_for_a_quantile_with_a_small_epsilon(
    question: rb.Quantile, epsilon: str
) -> None:
    assert rb.best(question, rb.DP(epsilon)).name == "margin-flip"


def test_a_quantile_is_no_longer_absurd() -> None:
    """2,000 incomes, 50 bins, ε = 0.1: homogeneous is hundreds of records off."""
    question = rb.Quantile("1/2", range(51))
    counts = dict(
        zip(question.answers, [max(1, 120 - 3 * abs(n - 20)) for n in range(50)], strict=True)
    )
    margins = question.margins(counts)

    def away(mechanism: rb.QuestionMechanism) -> float:
        return sum(p * margins[answer] for answer, p in mechanism[counts].items())

    assert away(margin_flip(question, rb.DP("0.1"))) < 12
    assert away(homogeneous(question, rb.DP("0.1"))) > 500


@pytest.mark.parametrize("size", [4, 30])
@pytest.mark.usefixtures("dice")
def test_draws_follow_the_row(size: int) -> None:
    question = rb.Quantile("1/2", range(size + 1))
    mechanism = margin_flip(question, rb.DP("0.4"))
    counts = {answer: 2 + number % 3 for number, answer in enumerate(question.answers)}
    draw, draws = mechanism.exact().ready(counts), 10_000
    drawn = [draw() for _ in range(draws)]
    for answer, p in mechanism[counts].items():
        assert abs(drawn.count(answer) - draws * p) < 5 * math.sqrt(draws * p * (1 - p)) + 1


def test_a_file_is_small_and_proves_itself(tmp_path: Path) -> None:
    mechanism = margin_flip(rb.Quantile("1/2", range(41)), rb.DP("0.01"))
    path = mechanism.exact().save(tmp_path / "m.json")
    assert path.stat().st_size < 4_000
    assert load(path).rule == mechanism.exact().rule


@pytest.mark.parametrize("guarantee", [rb.GaussianDP(1), rb.DP("1e-20")])
def test_what_has_no_coins_says_why(guarantee: rb.DP | rb.GaussianDP) -> None:
    with pytest.raises(rb.InvalidGuarantee, match=r"margin-flip needs|too little"):
        margin_flip(rb.Threshold(3), guarantee)


def test_the_proof_looks_at_the_coins_and_the_distances() -> None:
    rule = margin_coins(3, rb.DP(1))
    coins = Chances(rule.ratio, TOTAL, rule.first, rule.coins.farthest, rule.coins.at)

    def signed(margins: Sequence[int]) -> list[int]:
        near = min(margin for margin in margins if margin)
        return [margin + near - 1 if margin else 0 for margin in margins]

    assert prove_margin_coins(rb.DP(1), 3, signed, coins)
    with pytest.raises(rb.InvalidMechanism, match="chance"):
        prove_margin_coins(rb.DP(1), 3, signed, replace(coins, at=lambda d: rule.coins.at(2 * d)))
    with pytest.raises(rb.InvalidMechanism, match="signed margins"):
        prove_margin_coins(rb.DP(1), 3, list, coins)
    with pytest.raises(rb.InvalidMechanism, match="coins by margin need"):
        prove_margin_coins(rb.GaussianDP(9), 3, signed, coins)


@pytest.mark.parametrize("answers", [2, 3, 5])
def test_far_rivals_have_the_most_beside_one_that_is_near_or_none(answers: int) -> None:
    """Of all margins of the near one, in exact rows."""
    names = [str(number) for number in range(answers)]
    rule, question = MarginFlip(TOTAL // 3, Fraction(3, 4)), rb.Winner(names)

    def share(near: list[int], far: list[int]) -> list[float]:
        row = rule.weights(dict(zip(names, [0, *near, *far], strict=True)), names)
        return [float(Fraction(weight, sum(row))) for weight in row[1 + len(near) :]]

    for short in range(6):
        rest = [10**6] * (answers - 2)
        together, alone = [share([], [short + 1] * (answers - 1))], [share([], [short + 1, *rest])]
        for near in range(1, short + 1) if answers > 2 else ():
            together.append(share([near], [short + 1] * (answers - 2)))
            alone.append(share([near], [short + 1, *rest[1:]]))
        assert rule.far(question, short) == pytest.approx(max(map(sum, together)))
        assert rule.far_alone(question, short) == pytest.approx(max(row[0] for row in alone))

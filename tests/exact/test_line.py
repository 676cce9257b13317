"""The most powerful private test: private, of its size, and beaten by no other."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import rainbowdp as rb
from noise_oracle import exp_between
from rainbowdp.errors import InvalidMechanism, NotApplicable
from rainbowdp.exact.line import Line
from rainbowdp.exact.line_build import most_powerful
from rainbowdp.exact.line_proof import prove_line, size_above
from rainbowdp.exact.tests_of_shares import ExactTest
from rainbowdp.numeric.binomial import BITS, binomial_above

BENT = rb.TradeOff(
    [(0, "0.95"), ("0.1", "0.6"), ("0.35", "0.35"), ("0.6", "0.1"), ("0.95", 0), (1, 0)]
)
HALF = rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)])
# each with its lines (ratio, slack): P(S) ≤ ratio·Q(S) + slack
LINES: list[tuple[Any, list[tuple[float, float]]]] = [
    (rb.DP(1), [(math.e, 0.0)]),
    (rb.DP("0.2"), [(math.exp(0.2), 0.0)]),
    (rb.DP(1, "0.01"), [(math.e, 0.01)]),
    (rb.DP(2, "0.3"), [(math.exp(2), 0.3)]),
    (HALF, [(2.0, 0.0)]),
    (BENT, [(3.5, 0.05), (1.0, 0.3)]),
]
CASES = [
    (8, Fraction(1, 2), Fraction(1, 20)),
    (6, Fraction(1, 5), Fraction(1, 10)),
    (3, Fraction(9, 10), Fraction(1, 100)),
]


def chance(records: int, share: Fraction, found: int) -> Fraction:
    return math.comb(records, found) * share**found * (1 - share) ** (records - found)


def size(line: Line, records: int, share: Fraction) -> Fraction:
    return sum(
        (chance(records, share, found) * line.chance(found) for found in range(records + 1)),
        Fraction(0),
    )


@pytest.mark.parametrize("wrong", range(4))
def test_every_step_of_a_line_is_proved(wrong: int) -> None:
    """The first step is that from below the start, the last one that to all larger counts."""
    before, *weights = (40,) * (wrong + 1) + (81,) * (4 - wrong)
    with pytest.raises(InvalidMechanism, match="but two exceed"):
        prove_line(rb.DP.from_ratio(2), Line(before, tuple(weights), 5, 1000))
    before, *weights = (40,) * (wrong + 1) + (80,) * (4 - wrong)
    prove_line(rb.DP.from_ratio(2), Line(before, tuple(weights), 5, 1000))


@pytest.mark.parametrize(("records", "share", "alpha"), CASES)
@pytest.mark.parametrize(("guarantee", "lines"), LINES, ids=lambda x: str(x)[:20])
def test_no_private_test_of_its_size_has_more_power(
    guarantee: Any, lines: list[tuple[float, float]], records: int, share: Fraction, alpha: Fraction
) -> None:
    """The best of all private tests, by a linear program, against several alternatives."""
    line = most_powerful(guarantee, records, share, alpha)
    assert alpha * (1 - Fraction(1, 10**6)) <= size(line, records, share) <= alpha
    rules, bounds = [[float(chance(records, share, x)) for x in range(records + 1)]], [float(alpha)]
    for x in range(records):
        for one, other in ((x, x + 1), (x + 1, x)):
            for ratio, slack in lines:
                for sign in (1, -1):  # for "significant", and for "not significant"
                    rule = [0.0] * (records + 1)
                    rule[one], rule[other] = sign, -sign * ratio
                    rules.append(rule)
                    bounds.append(slack if sign == 1 else slack + ratio - 1)
    for alternative in (share + (1 - share) / 10, share + (1 - share) / 2, Fraction(99, 100)):
        cost = [-float(chance(records, alternative, x)) for x in range(records + 1)]
        best = linprog(cost, np.array(rules), bounds, bounds=(0, 1))
        assert best.status == 0
        assert best.fun is not None
        assert float(size(line, records, alternative)) == pytest.approx(-best.fun, abs=1e-7)


@pytest.mark.parametrize(
    "guarantee", [*(guarantee for guarantee, _ in LINES), rb.GaussianDP(1)], ids=str
)
@pytest.mark.parametrize("records", [1, 40])
def test_neighboring_counts_have_close_chances(guarantee: Any, records: int) -> None:
    line = most_powerful(guarantee, records, Fraction(1, 3), Fraction(1, 20))
    prove_line(guarantee, line)
    if not isinstance(guarantee, rb.DP):
        return
    ratio, delta = exp_between(guarantee.exact_epsilon or Fraction(0))[1], guarantee.exact_delta
    for found in range(records):
        here, there = line.chance(found), line.chance(found + 1)
        for one, other in (
            (here, there),
            (there, here),
            (1 - here, 1 - there),
            (1 - there, 1 - here),
        ):
            assert one <= ratio * other + delta


@pytest.mark.parametrize(
    ("records", "share"), [(1, "1/3"), (7, "1/10"), (300, "0.7"), (40, "999/1000")]
)
def test_binomial_chances_are_never_too_small_and_hardly_too_large(
    records: int, share: str
) -> None:
    found = binomial_above(records, Fraction(share))
    for number, units in enumerate(found):
        exactly = chance(records, Fraction(share), number) * (1 << BITS)
        assert exactly <= units <= exactly + 2


def test_certain_shares_have_certain_counts() -> None:
    assert binomial_above(3, Fraction(0)) == [1 << BITS, 0, 0, 0]
    assert binomial_above(3, Fraction(1)) == [0, 0, 0, 1 << BITS]


def test_a_line_that_is_not_private_or_too_large_is_refused() -> None:
    guarantee, asked = rb.DP(1), rb.ProportionTest("0.5", records=30)
    line = most_powerful(guarantee, 30, asked.above, asked.alpha)
    ExactTest(asked, guarantee, line)
    steep = Line(line.before, (3 * line.weights[0], *line.weights[1:]), line.start, line.total)
    first = Line(line.before, (4 * line.weights[0], *line.weights[1:]), line.start, line.total)
    early = Line(line.before // 4, line.weights, line.start, line.total)
    for wrong in (steep, first, early):
        with pytest.raises(InvalidMechanism, match="close rows"):
            prove_line(guarantee, wrong)
    with pytest.raises(InvalidMechanism, match="size"):
        ExactTest(rb.ProportionTest("0.5", records=30, alpha="0.04"), guarantee, line)
    with pytest.raises(InvalidMechanism):
        ExactTest(asked, rb.DP("0.9"), line)
    for parts in ((-1, (1,), 0, 4), (0, (), 0, 4), (0, (5,), 0, 4), (0, (1.0,), 0, 4)):
        with pytest.raises(InvalidMechanism, match="integers from 0"):
            Line(*parts)


def test_a_line_that_would_be_too_long_is_refused() -> None:
    with pytest.raises(NotApplicable, match="larger guarantee"):
        most_powerful(rb.DP("0.0001"), 10, Fraction(1, 2), Fraction(1, 20))


def test_a_draw_has_the_chance_of_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line(1, (3, 7), 5, 10)
    for found in (0, 5, 6, 9):
        places = iter(range(10))
        monkeypatch.setattr("secrets.randbelow", lambda below, places=places: next(places))
        draw = line.drawer(found)
        assert sum(draw() for _ in range(10)) == line.weight(found)
    assert size_above(line, [1 << BITS]) == Fraction(1, 10)


@pytest.mark.slow
def test_random_sizes_are_kept() -> None:
    dice = random.Random(7)
    for _ in range(20):
        share, alpha = Fraction(dice.randint(1, 99), 100), Fraction(dice.randint(1, 60), 100)
        records, guarantee = dice.randint(1, 30), rb.DP(Fraction(dice.randint(1, 30), 10))
        line = most_powerful(guarantee, records, share, alpha)
        assert size(line, records, share) <= alpha
        assert size(line, records, share * Fraction(9, 10)) <= alpha

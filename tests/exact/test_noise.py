"""Noise for counts: the proof is sound, the rows are the best, and draws have their law."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import rainbowdp as rb
from noise_oracle import answers, answers_by_sums, excess, exp_between, quick_excess
from rainbowdp.errors import InvalidMechanism, NotApplicable
from rainbowdp.exact import noise_proof
from rainbowdp.exact.noise import NoiseRow
from rainbowdp.exact.noise_build import canonical_noise
from rainbowdp.exact.noise_proof import must_not_grow, prove_noise, widest_pair

HALF = rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)])
BENT = rb.TradeOff(
    [(0, "0.95"), ("0.1", "0.6"), ("0.35", "0.35"), ("0.6", "0.1"), ("0.95", 0), (1, 0)]
)
CURVES: list[Any] = [
    rb.DP(1),
    rb.DP("0.2"),
    rb.DP(1, "0.001"),
    rb.DP("0.3", "1e-6"),
    rb.DP(2, "0.4"),
    rb.DP(0, "0.05"),
    rb.DP.from_ratio(3, 2),
    rb.GaussianDP(1),
    rb.GaussianDP("0.2"),
    HALF,
    BENT,
]


@st.composite
def small_rows(draw: st.DrawFn) -> NoiseRow:
    half = sorted(draw(st.lists(st.integers(1, 30), min_size=1, max_size=4)), reverse=True)
    tail = draw(st.integers(0, half[-1]))
    end = draw(st.integers(0, 12))
    return NoiseRow(tuple(half), tail, end, draw(st.integers(len(half), 8)))


@pytest.mark.slow
@given(small_rows(), st.integers(1, 3), st.fractions(1, 4), st.fractions(0, "1/4"))
@settings(max_examples=150, deadline=None)
def test_what_is_proved_is_so_for_all_counts_all_changes_and_all_sets_of_answers(
    row: NoiseRow, change: int, ratio: Fraction, delta: Fraction
) -> None:
    guarantee = rb.DP.from_ratio(ratio.limit_denominator(12), delta=delta.limit_denominator(50))
    at_most = min(row.reach, 6)
    try:
        prove_noise(guarantee, row, change, at_most)
    except InvalidMechanism:
        return
    assert guarantee.exact_ratio is not None
    rows = [answers(row, count, at_most) for count in range(at_most + 1)]
    for one, other in itertools.permutations(range(at_most + 1), 2):
        if abs(one - other) <= change:
            assert excess(rows[one], rows[other], guarantee.exact_ratio) <= guarantee.exact_delta


def clamped(row: NoiseRow, change: int, moved: int) -> Counter[int]:
    """The noise moved, and kept in the window from −(reach − change) to the reach."""
    found: Counter[int] = Counter()
    for number in range(-row.reach, row.reach + 1):
        found[min(max(number + moved, change - row.reach), row.reach)] += row.weight(number)
    return found


@given(small_rows(), st.integers(1, 3))
@settings(max_examples=100, deadline=None)
def test_the_widest_pair_has_every_place_of_the_window(row: NoiseRow, change: int) -> None:
    assume(row.reach > row.farthest + change)
    low, far, reach = change - row.reach, row.farthest, row.reach
    for pair, moved in zip(widest_pair(row, change), (0, change), strict=True):
        place = clamped(row, change, moved)
        left = sum(place[number] for number in range(low + 1, -far))
        right = sum(place[number] for number in range(far + change + 1, reach))
        middle = (place[number] for number in range(-far, far + change + 1))
        assert pair == (place[low], left, *middle, right, place[reach])


@given(small_rows(), st.integers(1, 3))
@settings(max_examples=100, deadline=None)
def test_the_least_ratio_of_any_two_counts_is_what_is_proved(row: NoiseRow, change: int) -> None:
    """Not too strict either: the widest window is that of two counts, if numbers go so far."""
    if row.reach <= row.farthest + change or not row.end or not row.tail:
        return
    window = range(change - row.reach, row.reach + 1)
    one, other = clamped(row, change, 0), clamped(row, change, change)
    worst = max(
        Fraction(max(one[place], other[place]), min(one[place], other[place])) for place in window
    )
    prove_noise(rb.DP.from_ratio(max(worst, Fraction(101, 100))), row, change, row.reach)
    if worst > 1:
        with pytest.raises(InvalidMechanism):
            prove_noise(rb.DP.from_ratio(1 + (worst - 1) * Fraction(999, 1000)), row, change, 1)


@pytest.mark.parametrize("change", [1, 2, 5])
@pytest.mark.parametrize("guarantee", CURVES, ids=str)
@pytest.mark.slow
def test_built_noise_keeps_its_guarantee_at_the_ends_of_the_range_and_between(
    guarantee: Any, change: int
) -> None:
    at_most = 24
    row = canonical_noise(guarantee, change, at_most)
    rows = [answers_by_sums(row, count, at_most) for count in range(at_most + 1)]
    lines = lines_of(guarantee)
    for one, other in itertools.permutations(range(at_most + 1), 2):
        if abs(one - other) <= change:
            for ratio, slack in lines:
                assert quick_excess(rows[one], rows[other], ratio) <= slack


def lines_of(guarantee: Any) -> list[tuple[Fraction, Fraction]]:
    """(ratio, slack) pairs, none of them stricter than the guarantee."""
    if isinstance(guarantee, rb.DP):
        if guarantee.exact_ratio is not None:
            return [(guarantee.exact_ratio, guarantee.exact_delta)]
        return [(exp_between(guarantee.exact_epsilon or Fraction(0))[1], guarantee.exact_delta)]
    if isinstance(guarantee, rb.TradeOff):
        found = []
        for (x0, y0), (x1, y1) in itertools.pairwise(guarantee.knots):
            slope = (y0 - y1) / (x1 - x0)
            if slope >= 1:
                found.append((slope, 1 - y0 - slope * x0))
        return found
    found = []
    with mpmath.workdps(60):
        mu = mpmath.mpf(guarantee.exact_mu.numerator) / guarantee.exact_mu.denominator
        for epsilon in (mpmath.mpf(number) / 4 for number in range(24)):
            delta = mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(
                -mu / 2 - epsilon / mu
            )
            if delta > 1e-30:
                ratio = Fraction(str(mpmath.nstr(mpmath.exp(epsilon), 50)))
                found.append(
                    (ratio, Fraction(str(mpmath.nstr(delta * (1 + mpmath.mpf(10) ** -15), 30))))
                )
    return found


@pytest.mark.parametrize("guarantee", CURVES, ids=str)
def test_a_count_answers_every_threshold_with_the_chances_of_the_optimum(guarantee: Any) -> None:
    row = canonical_noise(guarantee, 1, 1000)
    threshold = rb.best(rb.Threshold(50), guarantee)
    for count in (20, 40, 47, 49, 50, 51, 55, 90):
        wanted = threshold[{"matching": count}].get("yes", 0.0)
        assert float(row.at_least(50 - count)) == pytest.approx(wanted, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    ("epsilon", "change"), [("1", 3), ("2", 4), ("0.5", 2), ("3", 7), ("1", 1)]
)
def test_no_noise_is_nearer_to_zero_in_the_mean(epsilon: str, change: int) -> None:
    """The least mean distance of any noise, by a linear program over a long range."""
    row = canonical_noise(rb.DP(epsilon), change, 1000)
    mean = 2 * sum(number * row.weight(number) for number in range(1, row.farthest)) / row.total
    far = math.ceil(16 * change / float(epsilon))
    places = range(-far, far + 1)
    bounds, rules = [], []
    for step in range(1, change + 1):
        for place in range(len(places) - step):
            for one, other in ((place, place + step), (place + step, place)):
                rule = np.zeros(len(places))
                rule[one], rule[other] = 1.0, -math.exp(float(epsilon))
                rules.append(rule)
                bounds.append(0.0)
    found = linprog(
        [abs(place) for place in places], np.array(rules), bounds, np.ones((1, len(places))), [1.0]
    )
    assert found.status == 0
    assert mean == pytest.approx(found.fun, rel=1e-4)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.05), (0.5, 0.1), (2.0, 0.01)])
def test_with_delta_the_noise_has_the_least_mean_of_any(epsilon: float, delta: float) -> None:
    row = canonical_noise(rb.DP(epsilon, delta), 1, 1000)
    mean = 2 * sum(number * weight for number, weight in enumerate(row.half)) / row.total
    size = 2 * row.farthest + 7
    middle, ratio = size // 2, math.exp(epsilon)
    # p over the places, z ≥ p_i − e^ε·p_{i−1} and its mirror image, each summing to δ at most
    columns = 3 * size + 2
    rules, bounds = [], []
    for way, shift in ((0, 1), (1, -1)):
        for place in range(-1, size + 1):
            rule = np.zeros(columns + 2)
            if 0 <= place < size:
                rule[place] = 1.0
            if 0 <= place - shift < size:
                rule[place - shift] = -ratio
            rule[size + way * (size + 2) + place + 1] = -1.0
            rules.append(rule)
            bounds.append(0.0)
        rule = np.zeros(columns + 2)
        rule[size + way * (size + 2) : size + (way + 1) * (size + 2)] = 1.0
        rules.append(rule)
        bounds.append(delta)
    whole = np.zeros((1, columns + 2))
    whole[0, :size] = 1.0
    cost = [abs(place - middle) for place in range(size)] + [0.0] * (columns + 2 - size)
    found = linprog(cost, np.array(rules), bounds, whole, [1.0])
    assert found.status == 0
    assert mean == pytest.approx(found.fun, rel=1e-6)


@pytest.mark.parametrize("rho", ["0.02", "0.5", "3"])
@pytest.mark.parametrize("change", [1, 3])
def test_no_renyi_divergence_is_above_rho_times_its_order(rho: str, change: int) -> None:
    row = canonical_noise(rb.ZeroConcentrated(rho), change, 60)
    for count, moved in ((0, change), (30, 30 + change), (60 - change, 60), (31, 30)):
        p, q = (answers_by_sums(row, where, 60) for where in (count, moved))
        with mpmath.workdps(50):
            for order in (1.01, 1.5, 2, 5, 20):
                inside = mpmath.fsum(
                    mpmath.mpf(a.numerator) ** order
                    / mpmath.mpf(a.denominator) ** order
                    * (mpmath.mpf(b.numerator) / b.denominator) ** (1 - order)
                    for a, b in zip(p, q, strict=True)
                )
                assert mpmath.log(inside) / (order - 1) <= order * float(rho) * (1 + 1e-12)


def test_a_draw_has_the_law_of_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    row = NoiseRow((7, 5, 2), 2, 3, 6)
    places = iter(range(row.total))
    monkeypatch.setattr("secrets.randbelow", lambda below: next(places))
    drawn = Counter(row.draw() for _ in range(row.total))
    assert drawn == {number: row.weight(number) for number in range(-6, 7)}
    for number in range(-8, 9):
        assert row.beyond(number) == sum(w for place, w in drawn.items() if place >= number)


def changed(row: NoiseRow, **parts: Any) -> NoiseRow:
    return NoiseRow(**{**{n: getattr(row, n) for n in ("half", "tail", "end", "reach")}, **parts})


@pytest.mark.parametrize("change", [1, 4])
def test_a_row_with_one_weight_wrong_is_refused(change: int) -> None:
    pure, cut = rb.DP(1), rb.DP(1, "0.001")
    row, short = (canonical_noise(guarantee, change, 10**6) for guarantee in (pure, cut))
    normal = canonical_noise(rb.GaussianDP(1), change, 10**6)
    most, half = 10**6, list(row.half)
    for wrong in (
        changed(row, tail=0, end=0),
        changed(row, end=change * row.tail // 2),
        changed(row, half=(2 * half[0], *half[1:])),
        changed(row, half=(*half[:-change], *[1 << 128] * change)),
        changed(row, half=row.half[: len(half) // 2]),
    ):
        with pytest.raises(InvalidMechanism):
            prove_noise(pure, wrong, change, min(most, wrong.reach))
    with pytest.raises(InvalidMechanism, match="must have a reach above"):
        prove_noise(pure, changed(row, reach=row.farthest + change), change, 1)
    with pytest.raises(InvalidMechanism, match="must reach as far"):
        prove_noise(pure, row, change, row.reach + 1)
    with pytest.raises(InvalidMechanism):
        prove_noise(pure, row, change + 1, most)
    with pytest.raises(InvalidMechanism):
        prove_noise(cut, changed(short, half=short.half[:-1]), change, most)
    with pytest.raises(InvalidMechanism):
        prove_noise(rb.GaussianDP("0.999"), normal, change, most)
    with pytest.raises(InvalidMechanism):
        prove_noise(rb.GaussianDP(1), changed(normal, tail=0, end=0), change, most)
    with pytest.raises(InvalidMechanism):
        prove_noise(rb.GaussianDP(1), changed(normal, end=0), change, most)
    with pytest.raises(InvalidMechanism):
        prove_noise(rb.ZeroConcentrated("0.499"), normal, change, most)
    prove_noise(rb.ZeroConcentrated("0.5"), normal, change, most)


def test_weights_that_are_close_to_the_next_but_one_only_are_refused() -> None:
    comb = NoiseRow((8, 1, 8, 1, 8, 1), 1, 8, 40)
    with pytest.raises(InvalidMechanism, match="must not grow"):
        prove_noise(rb.DP.from_ratio(8), comb, 2, 20)


@pytest.mark.parametrize(
    "parts",
    [
        {"half": ()},
        {"half": (0, 0)},
        {"half": (3, -1)},
        {"half": (3, 1.0)},
        {"tail": True},
        {"reach": 1},
    ],
    ids=str,
)
def test_what_is_no_row_is_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(InvalidMechanism):
        changed(NoiseRow((3, 1), 1, 1, 5), **parts)


def test_noise_that_would_be_too_wide_is_refused_with_its_remedy() -> None:
    with pytest.raises(NotApplicable, match=r"1e-05-DP is too wide.* larger"):
        canonical_noise(rb.DP("0.00001"), 1, 1000)
    with pytest.raises(NotApplicable, match="standard deviation 100000 is too wide"):
        canonical_noise(rb.GaussianDP("0.00001"), 1, 1000)


@pytest.mark.parametrize(
    ("guarantee", "most"),
    [(rb.DP(1), 5), (rb.GaussianDP(1), 3), (rb.ZeroConcentrated(1), 3)],
    ids=str,
)
def test_a_side_is_proved_up_to_so_many_weights(
    monkeypatch: pytest.MonkeyPatch, guarantee: Any, most: int
) -> None:
    monkeypatch.setattr(noise_proof, "_LONGEST", 5)
    monkeypatch.setattr(noise_proof, "_LONGEST_CURVE", 3)
    prove_noise(guarantee, NoiseRow((3,) * (most + 1), 2, 30, 10), 1, 5)
    with pytest.raises(
        InvalidMechanism, match=f"at most {most} weights on a side .*, got {most + 2}"
    ):
        prove_noise(guarantee, NoiseRow((3,) * (most + 2), 2, 30, 10), 1, 5)


@pytest.mark.parametrize("row", [((3, 4, 2), 1), ((4, 2, 3), 1), ((4, 3, 2), 3), ((4,), 5)])
def test_weights_that_grow_anywhere_are_refused(row: tuple[tuple[int, ...], int]) -> None:
    with pytest.raises(InvalidMechanism, match="must not grow"):
        must_not_grow(NoiseRow(*row, 30, 10))
    must_not_grow(NoiseRow(tuple(sorted(row[0], reverse=True)), min(row[0]), 30, 10))


@pytest.mark.parametrize(("change", "said"), [(1, "by one record, "), (2, "by 2 records, ")])
def test_a_proof_says_how_far_the_noise_was_moved(change: int, said: str) -> None:
    proof = prove_noise(rb.DP(1), NoiseRow((3, 3), 2, 30, 10), change, 5)
    assert said in str(proof)


def test_a_row_is_restored_from_its_description() -> None:
    row = canonical_noise(rb.DP(1), 1, 100)
    assert NoiseRow.restore(row.describe()) == row

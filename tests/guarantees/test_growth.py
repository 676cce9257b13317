"""How prefix sums and rows grow with depth under (ε,δ) guarantees."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
import strategies
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.growth import _BLOCK

IDENTITIES: list[TradeOffCurve] = [rb.DP(0), rb.GaussianDP(0), rb.TradeOff([(0, 1), (1, 0)])]
INFINITY = math.inf


def truth(guarantee: rb.DP, row: tuple[float, ...], depth: int) -> list[mp.mpf]:
    epsilon = guarantee.exact_epsilon if guarantee.exact_ratio is None else None
    fractions = [Fraction(p) for p in row]
    ratio, delta = guarantee.exact_ratio, guarantee.exact_delta
    return reference.best_row(fractions, epsilon, ratio, delta, depth)


def grown(guarantee: rb.DP, s: mp.mpf, depth: int) -> mp.mpf:
    """φ^depth(s) by the reference; call it with many digits set."""
    if guarantee.exact_ratio is None:
        assert guarantee.exact_epsilon is not None
        e = mp.exp(reference.number(guarantee.exact_epsilon))
    else:
        e = reference.number(guarantee.exact_ratio)
    return reference.phi_many(s, e, reference.number(guarantee.exact_delta), depth)


# Rows


@given(strategies.dps(), strategies.rows(), strategies.depths())
@settings(max_examples=100, deadline=None)
def test_every_probability_is_right_relatively(
    guarantee: rb.DP, row: tuple[float, ...], depth: int
) -> None:
    found = guarantee.rows(row, depth)
    assert found.shape == (len(row),)
    reference.assert_same_probabilities(found, truth(guarantee, row, depth))


@given(strategies.dps(), strategies.rows(), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_rows_at_many_depths_are_the_rows_at_each(
    guarantee: rb.DP, row: tuple[float, ...], late: int
) -> None:
    depths = np.array([[0, 1, 2, 3], [late, late, 40, 7]])
    found = guarantee.rows(row, depths)
    assert found.shape == (2, 4, len(row))
    for place in np.ndindex(2, 4):
        wanted = truth(guarantee, row, int(depths[place]))
        reference.assert_same_probabilities(found[place], wanted)


TIED = (1 / 3, 1e-300, 2 / 3)
HARD: list[tuple[rb.DP, tuple[float, ...], list[int]]] = [
    # θ = 1/3 lies between the first two prefix sums, which are 1e-300 apart
    (rb.DP.from_ratio(2, 1), TIED, [0, 1, 2, 50, 990]),
    # θ = 1/4 is a prefix sum; 0 and 1/8 reach it or the clip at 3/4 exactly
    (rb.DP.from_ratio(2, 1, delta=0.25), (0.0, 0.25, 0.5, 0.25), [0, 1, 2, 3, 4, 10**6]),
    (rb.DP.from_ratio(2, 1, delta=0.25), (0.125, 0.125, 0.5, 0.25), [0, 1, 2, 3, 4]),
    (rb.DP.from_ratio(3, 1), (0.25, 0.0, 0.5, 0.25), [0, 1, 2, 600]),
    (rb.DP.from_ratio(6, 5), (0.0005, 0.0081, 0.1364, 0.2727, 0.5823), [0, 1, 22, 37, 38, 39]),
    (rb.DP(20), (1e-300, 1e-20, 0.5, 0.5, 1e-18), [0, 1, 2, 30, 34, 35, 36, 69]),
    (rb.DP(20, 1e-300), (0.0, 0.5, 0.5), [0, 1, 2, 33, 34, 35, 36, 70]),
    (rb.DP(19.73, 1e-300), (0.0, 0.5, 0.5), [34, 35, 36, 37]),
    (rb.DP(1e-6), (1e-300, 0.5, 0.5), [1, 10**6]),
    (rb.DP(1e-6, 1e-9), (1e-300, 0.5, 0.5, 1e-300), [1, 1000, 10**6]),
    (rb.DP(1, 1 - 1e-16), (0.0, 1e-300, 1e-16, 0.5, 0.5), [0, 1, 2]),
    (rb.DP(1, 1), (0.0, 0.5, 0.5), [0, 1, 5]),
    (rb.DP(0, 1), (0.0, 0.5, 0.5), [0, 1, 5]),
    (rb.DP(0, 0.25), (0.0, 0.25, 0.5, 0.25), [0, 1, 2, 3, 4, 5]),
    (rb.DP(0, 1e-7), (0.0, 0.25, 0.5, 0.25), [0, 1, 10**6]),
    (rb.DP(0), TIED, [0, 1, 10**6]),
    (rb.DP(700), (1e-300, 0.5, 0.5), [0, 1, 2, 3]),
    (rb.DP(700, 1e-300), (0.0, 0.5, 0.5), [0, 1, 2, 3]),
    (rb.DP(1), (1.0,), [0, 1, 10**6]),
    (rb.DP(1), (1.0, 0.0, 0.0), [0, 1, 10**6]),
    (rb.DP(1), (0.0, 0.0, 1.0), [0, 1, 10**6]),
    (rb.DP(1, 1e-12), (0.0, 0.0, 1.0), [0, 1, 27, 28, 29, 60, 10**6]),
    (rb.DP(1), (1e-300, 1.0), [1, 300, 690, 691, 692, 1300]),
    (rb.DP(1e-17), (0.25, 0.75), [1, 10**6]),
    (rb.DP(1e-17, 0.125), (0.25, 0.75), [1, 2, 10]),
]


@pytest.mark.parametrize(("guarantee", "row", "depths"), HARD)
def test_hard_rows(guarantee: rb.DP, row: tuple[float, ...], depths: list[int]) -> None:
    for depth, found in zip(depths, guarantee.rows(row, depths), strict=True):
        reference.assert_same_probabilities(found, truth(guarantee, row, depth))


@pytest.mark.parametrize("delta", [0.0, 0.01])
@pytest.mark.parametrize("digits", [3.0, 3.7, 4.4, 5.1, 5.8, 6.5, 8.0])
def test_small_differences_across_a_turn(delta: float, digits: float) -> None:
    # Two prefix sums on either side of θ: their difference in floats has lost ``digits`` digits.
    guarantee, gap = rb.DP(0.7, delta), 10**-digits
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        first = guarantee.threshold - share * gap
        row = (first, gap, 0.5 - first - gap, 0.5 - gap, gap)
        for depth, found in enumerate(guarantee.rows(row, range(8))):
            reference.assert_same_probabilities(found, truth(guarantee, row, depth))


def test_a_tie_stays_decided_in_exact_fractions() -> None:
    guarantee = rb.DP.from_ratio(2, 1)
    third, tiny = Fraction(1, 3), Fraction(1, 10**290)
    row = (third, tiny, 1 - third - tiny)  # φ turns exactly at the first prefix sum
    found = guarantee.rows(row, [1, 2, 3])
    for value, wanted in zip(found[:, 1], (tiny / 2, tiny / 4, tiny / 8), strict=True):
        assert value == pytest.approx(float(wanted), rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("guarantee", "row", "limit"),
    [
        (rb.DP(1), (0.2, 0.3, 0.5), (1, 0, 0)),
        (rb.DP(1), (0.0, 0.3, 0.7), (0, 1, 0)),
        (rb.DP(1, 1e-9), (0.0, 0.3, 0.7), (1, 0, 0)),
        (rb.DP(0, 0.01), (0.0, 0.3, 0.7), (1, 0, 0)),
        (rb.DP(0), (0.25, 0.25, 0.5), (0.25, 0.25, 0.5)),
        (rb.DP(1, 1), (0.0, 0.5, 0.5), (1, 0, 0)),
        (rb.DP(0, 1e-299), (0.25, 0.75, 0.0), (1, 0, 0)),
        (rb.DP(1e-99), (0.25, 0.75, 0.0), (1, 0, 0)),
    ],
)
def test_rows_at_infinity(
    guarantee: rb.DP, row: tuple[float, ...], limit: tuple[float, ...]
) -> None:
    assert guarantee.rows(row, INFINITY).tolist() == list(limit)
    assert guarantee.rows(row, [0, INFINITY]).tolist() == [list(row), list(limit)]


def test_entries_too_small_for_a_float_still_grow() -> None:
    tiny = Fraction(1, 10**400)
    found = rb.DP(1).rows((tiny, 1 - tiny), [500, 2000])
    wanted = reference.best_row((tiny, 1 - tiny), Fraction(1), None, Fraction(0), 500)
    reference.assert_same_probabilities(found[0], wanted)
    small = Fraction(1, 10**299)  # s = δ(E^t − 1)/(E − 1) until it turns
    nothing = rb.DP(1, small).rows((0, 1), 650)
    wanted = reference.best_row((Fraction(0), Fraction(1)), Fraction(1), None, small, 650)
    reference.assert_same_probabilities(nothing, wanted)


def test_rows_of_subnormal_floats() -> None:
    row = (5e-324, 1e-310, 0.5, 0.5)
    for depth in (1, 60, 700, 760, 800):
        wanted = truth(rb.DP(1), row, depth)
        reference.assert_same_probabilities(rb.DP(1).rows(row, depth), wanted)


def test_rows_of_whole_numbers_in_an_array() -> None:
    assert rb.DP(1).rows(np.array([0, 1]), 3).tolist() == [0.0, 1.0]
    assert rb.DP.from_ratio(2).rows(np.array([1, 0]), [0, 3]).tolist() == [[1.0, 0.0]] * 2


def test_rows_without_depths() -> None:
    assert rb.DP(1).rows((0.5, 0.5), []).shape == (0, 2)


# Prefix sums


@given(strategies.dps(), strategies.prefix_sums(), strategies.depths())
@example(rb.DP(19.73, 1e-300), 0.0, 36)
@example(rb.DP.from_ratio(2, 1, delta=0.25), 0.25, 2)
@settings(max_examples=100, deadline=None)
def test_grow_is_the_step_applied_many_times(guarantee: rb.DP, s: float, depth: int) -> None:
    with mp.workdps(reference.DIGITS):
        wanted = grown(guarantee, reference.number(s), depth)
        assert abs(reference.number(guarantee.grow(s, depth)) - wanted) <= 1e-12 * wanted


@given(strategies.dps(), strategies.prefix_sums(), strategies.depths())
@settings(max_examples=50)
def test_ungrow_is_the_least_that_grows_to_it(guarantee: rb.DP, s: float, depth: int) -> None:
    least = guarantee.ungrow(s, depth)
    assert 0 <= least <= 1
    with mp.workdps(reference.DIGITS):
        u, goal, slack = reference.number(least), reference.number(s), mp.mpf("1e-12")
        assert grown(guarantee, min(mp.mpf(1), u + slack), depth) >= goal
        # one step of 1e-12 below one is lost in the 450 digits where E^depth is beyond e^900
        if u > slack and (s < 1 or depth * guarantee.epsilon < 900):
            assert grown(guarantee, u - slack, depth) < goal


@given(
    strategies.guarantees(),
    st.lists(strategies.prefix_sums(), min_size=3, max_size=3).map(sorted),
    strategies.depths(),
)
@settings(max_examples=50)
def test_grow_rises_is_concave_and_dual_to_ungrow(
    guarantee: TradeOffCurve, s: list[float], depth: int
) -> None:
    low, middle, high = guarantee.grow(s, depth).tolist()
    assert 0 <= low <= middle + 1e-12
    assert middle <= high + 1e-12
    assert high <= 1
    assert low >= s[0] * (1 - 1e-12)
    assert high >= s[2] * (1 - 1e-12)
    if s[2] - s[0] > 1e-3:
        weight = (s[1] - s[0]) / (s[2] - s[0])
        assert middle >= (1 - weight) * low + weight * high - 1e-12
    duals = [1 - guarantee.grow(1 - x, depth) for x in s]
    assert guarantee.ungrow(s, depth) == pytest.approx(duals, abs=1e-12)
    deeper = guarantee.grow(s, depth + 1)
    assert (deeper >= np.array([low, middle, high]) * (1 - 1e-12)).all()


@given(strategies.guarantees(), strategies.prefix_sums(), st.integers(0, 50), st.integers(0, 50))
def test_depths_add_up(guarantee: TradeOffCurve, s: float, first: int, then: int) -> None:
    twice = guarantee.grow(guarantee.grow(s, first), then)
    assert guarantee.grow(s, first + then) == pytest.approx(twice, rel=1e-11, abs=1e-320)


@given(strategies.guarantees(), strategies.rows(), strategies.depths())
def test_rows_and_grow_agree(guarantee: TradeOffCurve, row: tuple[float, ...], depth: int) -> None:
    sums = np.minimum(np.cumsum(row), 1.0)[:-1]
    found = np.cumsum(guarantee.rows(row, depth))
    assert found[-1] == pytest.approx(1, abs=1e-12)
    # 1e-9: Gaussian growth is infinitely steep at the ends, so an ulp in a sum counts for more
    assert found[:-1] == pytest.approx(guarantee.grow(sums, depth), abs=1e-9)


@pytest.mark.parametrize("guarantee", [rb.DP(1), rb.DP(0.5, 0.01), rb.DP(0, 0.01), rb.DP(0)])
def test_grow_broadcasts(guarantee: rb.DP) -> None:
    s, depths = np.linspace(0, 1, 7), np.array([0, 1, 2, 5, 40])
    table = guarantee.grow(s[:, None], depths)
    assert table.shape == (7, 5)
    for i, j in itertools.product(range(7), range(5)):
        value = s[i]
        for _ in range(depths[j]):  # the definition, in floats
            e, d = guarantee.ratio, guarantee.delta
            value = min(1.0, e * value + d, 1 - (1 - value - d) / e)
        assert table[i, j] == pytest.approx(value, rel=1e-12)
        assert guarantee.grow(float(s[i]), int(depths[j])) == table[i, j]
    assert guarantee.grow(s, 0).tolist() == s.tolist()
    assert guarantee.step(s).tolist() == guarantee.grow(s, 1).tolist()
    assert isinstance(guarantee.grow(0.5, 3), float)
    assert isinstance(guarantee.ungrow(0.5, 3), float)
    assert guarantee.grow([], 3).shape == (0,)
    assert guarantee.ungrow(s[:, None], depths).shape == (7, 5)


def test_big_arrays_are_walked_in_blocks_without_seams() -> None:
    guarantee = rb.DP(0.5, 0.01)
    s = np.linspace(0, 1, 2 * _BLOCK + 3)
    places = np.array([0, 1, _BLOCK - 1, _BLOCK, _BLOCK + 1, 2 * _BLOCK, 2 * _BLOCK + 2])
    whole = guarantee.grow(s, 3)
    assert whole[places].tolist() == guarantee.grow(s[places], 3).tolist()
    assert (np.diff(whole) >= 0).all()


def test_grow_leaves_its_input_alone() -> None:
    s, depth = np.array([0.1, 0.9]), np.array([3.0, 4.0])
    rb.DP(1, 0.1).grow(s, depth)
    assert s.tolist() == [0.1, 0.9]
    assert depth.tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    ("guarantee", "limits"),
    [
        (rb.DP(1), [0, 1, 1, 1]),
        (rb.DP(1, 1e-300), [1, 1, 1, 1]),
        (rb.DP(0, 1e-300), [1, 1, 1, 1]),
        (rb.DP(0), [0, 1e-300, 0.5, 1]),
        (rb.DP(1, 1), [1, 1, 1, 1]),
        (rb.GaussianDP(1e-3), [0, 1, 1, 1]),
        (rb.GaussianDP(0), [0, 1e-300, 0.5, 1]),
        (rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)]), [0, 1, 1, 1]),
        (rb.TradeOff([(0, "0.9"), ("0.9", 0), (1, 0)]), [1, 1, 1, 1]),
        (rb.TradeOff([(0, 1), (1, 0)]), [0, 1e-300, 0.5, 1]),
    ],
)
def test_grow_at_infinity(guarantee: TradeOffCurve, limits: list[float]) -> None:
    s = [0, 1e-300, 0.5, 1]
    assert guarantee.grow(s, INFINITY) == pytest.approx(limits, rel=1e-12)


def test_grow_of_subnormal_floats() -> None:
    for s, depth in itertools.product((5e-324, 1e-310, 1e-308), (1, 5, 700, 760, 1000)):
        with mp.workdps(reference.DIGITS):
            wanted = float(grown(rb.DP(1), reference.number(s), depth))
        assert rb.DP(1).grow(s, depth) == pytest.approx(wanted, rel=1e-11, abs=5e-324)


@pytest.mark.parametrize("guarantee", IDENTITIES)
def test_perfect_privacy_moves_nothing(guarantee: TradeOffCurve) -> None:
    s, row = [0, 1e-300, 0.25, 0.5, 1], (0.25, 1e-300, 0.0, 0.75)
    for depth in (0, 1, 10**6, INFINITY):
        assert guarantee.grow(s, depth) == pytest.approx(s, rel=1e-12)
        assert guarantee.ungrow(s, depth) == pytest.approx(s, rel=1e-12)
        assert guarantee.rows(row, depth) == pytest.approx(row, rel=1e-12, abs=0)
    assert not guarantee.excess((0.25, 0.75), (0.25, 0.75))
    assert guarantee.excess((0.25, 0.75), (0.5, 0.5)) == pytest.approx(0.25, rel=1e-12)

"""Chances that fall with a distance: what they are, how they are checked, how they are drawn by."""

from __future__ import annotations

import itertools
import math
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.exact import falling
from rainbowdp.exact.falling import TOTAL, Falling, ratio_for
from rainbowdp.exact.falling_proof import Chances, must_fall, must_keep, power_between

TOPS = st.sampled_from([TOTAL, TOTAL // 3, 3 * TOTAL // 4 + 12345])


def made(epsilon: str, moves: int = 2, top: int = TOTAL) -> Falling:
    with mp.workdps(60):
        fall = Fraction(int(mp.floor(mp.exp(-mp.mpf(epsilon)) * 10**50)), 10**50)
    return Falling(ratio_for(fall, moves), top)


def told(chances: Falling) -> Chances:
    return Chances(chances.ratio, TOTAL, chances.top, chances.farthest, chances.at)


@pytest.mark.parametrize("moves", [1, 2, 24, 20_000])
@pytest.mark.parametrize("epsilon", ["0.0001", "0.5", "30"])
def test_they_fall_as_fast_as_is_allowed_and_no_faster(epsilon: str, moves: int) -> None:
    chances = made(epsilon, moves)
    with mp.workdps(60):
        allowed = Fraction(int(mp.ceil(mp.exp(mp.mpf(epsilon)) * 10**50)), 10**50)
    must_keep(allowed, told(chances), moves, "ε")
    steeper = replace(chances, ratio=chances.ratio - Fraction(2, 1 << 60))
    with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
        must_keep(allowed, told(steeper), moves, "ε")
    with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
        must_keep(allowed, told(chances), moves + 1, "ε")


@pytest.mark.parametrize("moves", [60, 400])
def test_no_slack_is_added_to_what_is_allowed(moves: int) -> None:
    """Powers of ½ are exact, so what is allowed is kept, and nothing below it."""
    chances = told(Falling(Fraction(1, 2)))
    must_keep(Fraction(1 << moves), chances, moves, "ε")
    with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
        must_keep((1 << moves) - Fraction(1, 1 << 2000), chances, moves, "ε")


@given(st.fractions("1/1000", "999/1000", max_denominator=1000), st.integers(0, 60))
def test_a_power_is_between_its_bounds(base: Fraction, exponent: int) -> None:
    low, high = power_between(base, exponent, 64)
    assert low <= base**exponent * 2**64 <= high
    assert high - low <= 2 * exponent
    assert (low == high) == (exponent == 0 or (base**exponent * 2**64).denominator == 1)


@pytest.mark.parametrize("farthest", [1, 5, 511, 512, 513, 5000, 8191, 8192])
def test_which_distances_are_looked_at(farthest: int) -> None:
    """The first, the last and the next ones, and both sides of each power of two."""
    seen: list[int] = []

    def at(distance: int) -> int:
        seen.append(distance)
        return 2

    compared = must_fall(Chances(Fraction(1, 2), 2, 2, farthest, at))
    first = set(range(min(512, farthest)))
    last = {max(0, farthest - 2), max(0, farthest - 1), farthest, farthest + 1}
    most = 2 * farthest
    powers = {p for bits in range(10, 15) if (p := 1 << bits) <= most}
    wanted = first | last | powers | {power - 1 for power in powers}
    assert set(seen) == wanted | {distance + 1 for distance in wanted}
    assert compared == len(first) + 2 * len(powers) + len(last)


@pytest.mark.parametrize("ratio", [Fraction(-1, 2), Fraction(0), Fraction(1), Fraction(3, 2)])
def test_a_ratio_that_does_not_fall_is_refused(ratio: Fraction) -> None:
    with pytest.raises(rb.InvalidMechanism, match="must fall from at most their total"):
        must_fall(Chances(ratio, 8, 4, 5, lambda _: 4))


def test_chances_may_be_all_the_same_and_end_just_high_enough() -> None:
    assert must_fall(Chances(Fraction(1, 2), 8, 2, 5, lambda _: 2)) > 0
    with pytest.raises(rb.InvalidMechanism, match=r"must end at 1/\(1 − ratio\)"):
        must_fall(Chances(Fraction(1, 2), 8, 1, 5, lambda _: 1))


@pytest.mark.parametrize("allowed", [Fraction(3), Fraction(7, 5)])
@pytest.mark.parametrize("moves", [1, 3])
def test_no_power_is_rounded_up_where_it_must_be_large_enough(
    allowed: Fraction, moves: int
) -> None:
    """A ratio that is too small by less than any rounding."""
    ratio = 1 / allowed - Fraction(1, 1 << 400)
    chances = Chances(ratio, TOTAL, TOTAL, 5, lambda _: TOTAL)
    with pytest.raises(rb.InvalidMechanism, match="fall too fast"):
        must_keep(allowed**moves, chances, moves, "ε")


@pytest.mark.parametrize(
    ("distance", "change"),
    [
        (0, -1),
        (1, 1),
        (1, -2),
        (200, 1 << 60),
        (511, -(1 << 100)),
        (1024, 1 << 90),
        (5, -1),
        (1025, -(1 << 124)),
        (1025, 1 << 124),
        (-1, 1),
    ],  # 1025 is only seen from 1024
)
@pytest.mark.parametrize("top", [TOTAL, TOTAL // 3])
def test_a_chance_that_is_not_what_it_is_said_to_be_is_refused(
    distance: int, change: int, top: int
) -> None:
    chances = made("0.01", 24, top)
    assert must_fall(told(chances)) > 500
    where = distance if distance >= 0 else chances.farthest + distance

    def forged(at: int) -> int:
        return chances.at(at) + (change if at == where else 0)

    with pytest.raises(rb.InvalidMechanism, match="chance"):
        must_fall(replace(told(chances), at=forged))


def test_chances_that_fall_more_slowly_than_their_ratio_are_refused() -> None:
    """Fine at the looked-at distances, but not what the proof says of those between."""
    chances = made("0.5", 6)
    flatter = chances.ratio + (1 - chances.ratio) / 100

    def forged(distance: int) -> int:
        if distance >= chances.farthest:
            return chances.least
        return math.floor((TOTAL - chances.least) * flatter**distance) + chances.least

    with pytest.raises(rb.InvalidMechanism, match="is not what it must be"):
        must_fall(replace(told(chances), at=forged))


def test_a_floor_of_the_chances_that_is_too_low_is_refused() -> None:
    """Rounding down could then make one step steeper than the ratio."""
    chances = made("0.5", 6)
    low = chances.least - 1

    def forged(distance: int) -> int:
        if distance >= chances.farthest:
            return low
        return math.floor((TOTAL - low) * chances.ratio**distance) + low

    with pytest.raises(rb.InvalidMechanism, match="must end at"):
        must_fall(replace(told(chances), at=forged))


def test_a_top_above_the_total_is_refused() -> None:
    with pytest.raises(rb.InvalidMechanism, match="from at most"):
        must_fall(replace(told(made("1")), top=TOTAL + 1))


@pytest.mark.parametrize("top", [TOTAL, TOTAL // 3])
def test_they_never_fall_faster_than_the_ratio_and_never_rise(top: int) -> None:
    chances = made("0.3", 6, top)
    found = [chances.at(distance) for distance in range(chances.farthest + 3)]
    assert found[0] == top
    for nearer, farther in itertools.pairwise(found):
        assert nearer * chances.ratio <= farther <= nearer
        assert farther <= nearer * chances.ratio + 2
    assert found[-5:] == [chances.least] * 5
    assert chances.at(10**40) == chances.least


@pytest.mark.slow
@given(
    st.integers(1, (1 << 60) - 1) | st.integers((1 << 60) - 10**6, (1 << 60) - 1),
    st.floats(0, 1),
    TOPS,
)
@settings(max_examples=300, deadline=None)
def test_chances_at_any_distance(part: int, where: float, top: int) -> None:
    """Against a logarithm with 80 digits; how far they fall in a step, exactly."""
    chances = Falling(Fraction(part, 1 << 60), top)
    distance = int(where * chances.farthest)
    here, beside = chances.at(distance), chances.at(distance + 1)
    assert here * chances.ratio <= beside <= here
    with mp.workdps(80):
        real = (top - chances.least) * mp.power(mp.mpf(part) / (1 << 60), distance)
        assert 0 <= real - (here - chances.least) < 1


@pytest.mark.parametrize("part", [1, 12345678901234567, (1 << 60) - (1 << 50) - 1])
def test_bounds_that_leave_a_chance_open_are_refined(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(falling, "_PLACES", 64)
    chances = Falling(Fraction(part, 1 << 60))
    for distance in (0, 1, 2, 3, 10, 100, 255, 256, 1000):
        whole = math.floor((TOTAL - chances.least) * chances.ratio**distance)
        assert chances.at(distance) == whole + chances.least


def test_powers_that_are_whole_numbers() -> None:
    for part in (1, 2, 3):
        chances = Falling(Fraction(part, 4))
        for distance in range(200):
            whole = math.floor((TOTAL - chances.least) * chances.ratio**distance)
            assert chances.at(distance) == whole + chances.least


@pytest.mark.parametrize(
    ("ratio", "top", "match"),
    [
        (Fraction(1), TOTAL, "between 0 and 1"),
        (Fraction(0), TOTAL, "between 0 and 1"),
        (Fraction(1, 3), TOTAL, "multiple of"),
        (Fraction(1, 2), TOTAL + 1, "at most 2"),
        (Fraction(1, 2), 1, "at most 2"),
        (Fraction(1, 2), 4.0, "at most 2"),
    ],
)
def test_other_chances_are_refused(ratio: Fraction, top: int, match: str) -> None:
    with pytest.raises(rb.InvalidMechanism, match=match):
        Falling(ratio, top)


@pytest.mark.parametrize("epsilon", ["0.00001", "1", "3", "80"])
def test_floats_are_near(epsilon: str) -> None:
    chances = made(epsilon)
    distances = [0, 1, 2, 5, 1000, 10**7]
    floats = chances.in_floats(np.array(distances, dtype=np.float64))
    assert floats == pytest.approx([chances.at(d) / TOTAL for d in distances], rel=1e-9)


def bounded(chances: Falling, distances: list[int]) -> tuple[list[int], list[int]]:
    low, high = chances.bounds(np.array(distances))
    for distance, least, most in zip(distances, low.tolist(), high.tolist(), strict=True):
        assert least << 96 <= chances.at(distance) <= most << 96
    return low.tolist(), high.tolist()


@pytest.mark.slow
@given(st.integers(12, 40), st.sampled_from(["0.001", "0.3", "1", "20"]), TOPS, st.data())
@settings(deadline=None)
def test_coins_flipped_together_fall_as_each_alone(
    size: int, epsilon: str, top: int, data: st.DataObject
) -> None:
    """Whatever is drawn, just below a chance and just above it included."""
    chances = made(epsilon, 12, top)
    far = st.one_of(st.integers(0, 300), st.integers(0, 2 * chances.farthest))
    distances = data.draw(st.lists(far, min_size=size, max_size=size))
    places: list[int] = []
    for distance in distances:
        near = chances.at(distance) + data.draw(st.integers(-2, 2))
        other = data.draw(st.integers(0, TOTAL - 1))
        places.append(min(max(data.draw(st.sampled_from([near, other])), 0), TOTAL - 1))
    first = b"".join((u >> 96 << 1).to_bytes(4, sys.byteorder) for u in places)
    low, high = bounded(chances, distances)
    undecided = [i for i, u in enumerate(places) if low[i] <= u >> 96 < high[i]]
    rest = iter([places[i] & ((1 << 96) - 1) for i in undecided])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("secrets.token_bytes", lambda count: first[:count])
        patch.setattr("secrets.randbits", lambda bits: next(rest))
        heads = chances.heads(distances)
    wanted = zip(distances, places, strict=True)
    assert heads == [i for i, (d, u) in enumerate(wanted) if u < chances.at(d)]


@pytest.mark.parametrize("unused", [0, 1])  # 32 places are drawn at first, and 31 of them count
@pytest.mark.parametrize("less", [0, 1])
def test_a_coin_flipped_together_shows_heads_just_below_its_chance(less: int, unused: int) -> None:
    """Uniform numbers at the chances themselves, and the least below them."""
    chances, distances = made("1", 12), list(range(0, 60, 4))
    places = [chances.at(distance) - (less or distance == 0) for distance in distances]
    first = b"".join((u >> 96 << 1 | unused).to_bytes(4, sys.byteorder) for u in places)
    rest = iter([place & ((1 << 96) - 1) for place in places])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("secrets.token_bytes", lambda count: first[:count])
        patch.setattr("secrets.randbits", lambda bits: next(rest))
        heads = chances.heads(distances)
    assert heads == (list(range(len(distances))) if less else [0])
    assert next(rest, None) is None


def test_few_coins_are_left_open() -> None:
    """Else flipping together would gain nothing."""
    low, high = made("1", 100).bounds(np.arange(0, made("1", 100).farthest, 7))
    assert (high - low).max() <= 8


@given(st.integers(1, 30), st.sampled_from(["0.01", "1", "20"]), st.data())
@settings(deadline=None)
def test_a_share_is_where_a_uniform_number_falls(
    size: int, epsilon: str, data: st.DataObject
) -> None:
    """By bounds or exactly: the answer whose part of all chances holds the number drawn."""
    chances = made(epsilon, 6)
    far = st.one_of(st.integers(0, 100), st.integers(0, 2 * chances.farthest))
    distances = [0, *data.draw(st.lists(far, min_size=size - 1, max_size=size - 1))]
    ends = list(itertools.accumulate(chances.at(distance) for distance in distances))
    border = (data.draw(st.sampled_from(ends)) << 256) // ends[-1]
    near = border + data.draw(st.integers(-3, 3)) * (1 << data.draw(st.integers(0, 220)))
    number = min(max(data.draw(st.sampled_from([near, border])), 0), (1 << 256) - 1)
    found = share_of(chances, distances, number, after=0)
    assert found == next(i for i, end in enumerate(ends) if number * ends[-1] < end << 256)


def share_of(chances: Falling, distances: list[int], number: int, after: int) -> int:
    """What is drawn by a number of 256 places; those after them come from ``after``, in 64s."""
    first = [number >> shift & ((1 << 64) - 1) for shift in (192, 128, 64, 0)]
    parts = itertools.chain(first, itertools.repeat(after))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("secrets.randbits", lambda bits: next(parts))
        return chances.share(distances)


@pytest.mark.parametrize(
    ("distances", "before"), [([0] * 5 + [26] * 4 + [0] * 5 + [26] * 2, 8), ([0, 22, 22, 0], 2)]
)
def test_a_border_between_shares_that_only_later_places_tell(
    distances: list[int], before: int
) -> None:
    """A border a hair above 256 places: what is drawn after them decides, however far down."""
    chances = made("20", 6)
    ends = list(itertools.accumulate(chances.at(distance) for distance in distances))
    number, beyond = divmod(ends[before] << 256, ends[-1])
    assert 0 < beyond << 64 < 7 * ends[-1]
    assert share_of(chances, distances, number, after=0) == before
    assert share_of(chances, distances, number, after=7) == before + 1
    assert share_of(chances, distances, number - 1, after=7) == before


def test_a_share_is_drawn_by_bounds_mostly(monkeypatch: pytest.MonkeyPatch) -> None:
    chances = made("1", 100)
    distances = list(range(100))
    seen: Counter[str] = Counter()
    plain = Falling.at

    def counted(self: Falling, distance: int) -> int:
        seen["exactly"] += 1
        return plain(self, distance)

    monkeypatch.setattr(Falling, "at", counted)
    for _ in range(100):
        chances.share(distances)
    assert seen["exactly"] <= 200


@pytest.mark.parametrize(("epsilon", "moves"), [("1", 1), ("1", 200), ("0.01", 14), ("1e-9", 2)])
def test_bounds_that_are_looked_up_hold_at_every_distance(epsilon: str, moves: int) -> None:
    """Also beyond the list, and where the list would be too long."""
    chances = made(epsilon, moves)
    distances = [0, 1, 2, 7, 30, 500, 5_000, 70_000, 10**9, chances.farthest, 2 * chances.farthest]
    low, high = chances._looked_up(np.array(distances))
    for distance, least, most in zip(distances, low.tolist(), high.tolist(), strict=True):
        assert least << 95 <= chances.at(distance) <= most << 95  # twice the bounds
    assert (chances._listed is None) == (epsilon == "1e-9")

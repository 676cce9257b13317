"""Naming keys: the published optimum, private for every set of lists, and never a key of nobody."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from dice import dice
from noise_oracle import exp_between, quick_excess
from rainbowdp.errors import InvalidMechanism, InvalidQuestion, NotApplicable, UnreadableTable
from rainbowdp.exact.keys import KeyLadder, prove_keys

__all__ = ["dice"]


def published(epsilon: float, delta: float, people: int) -> float:
    """Theorem 1 of Desfontaines, Voss, Gipson and Mandayam, in closed form."""
    e = math.exp(epsilon)
    first = 1 + math.floor(math.log((e + 2 * delta - 1) / ((e + 1) * delta)) / epsilon)

    def low(n: int) -> float:
        return (math.exp(n * epsilon) - 1) / (e - 1) * delta

    second = first + math.floor(math.log(1 + (e - 1) / delta * (1 - low(first))) / epsilon)
    if people <= first:
        return low(people)
    if people <= second:
        more = math.exp(-(people - first) * epsilon)
        return (1 - more) * (1 + delta / (e - 1)) + more * low(first)
    return 1.0


@given(st.floats(0.05, 4), st.floats(1e-12, 0.2))
@settings(max_examples=40, deadline=None)
def test_chances_are_those_of_the_published_optimum(epsilon: float, delta: float) -> None:
    mechanism = rb.best(rb.Keys(), rb.DP(epsilon, delta))
    chance = 0.0
    for people in range(1, min(len(mechanism.ladder.weights) + 3, 400)):
        up, down = math.exp(epsilon) * chance + delta, 1 - math.exp(-epsilon) * (1 - chance - delta)
        chance = min(up, down, 1.0)
        assert mechanism.chance(people) == pytest.approx(chance, rel=1e-9)
        assert mechanism.chance(people) == pytest.approx(
            published(epsilon, delta, people), rel=1e-6
        )
    assert mechanism.chance(0) == 0


def lists(mechanism: Any, people: tuple[int, ...]) -> list[Fraction]:
    """The chance of each list of named keys."""
    chances = [mechanism.ladder.chance(number) for number in people]
    return [
        math.prod(
            (p if named else 1 - p for p, named in zip(chances, which, strict=True)),
            start=Fraction(1),
        )
        for which in itertools.product((False, True), repeat=len(people))
    ]


@pytest.mark.parametrize("neighbors", ["added or removed", "substituted"])
@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.1"), ("0.3", "0.02"), ("2", "0.4")])
@pytest.mark.slow
def test_no_set_of_lists_is_too_likely_whoever_comes_or_goes(
    neighbors: str, limit: int, epsilon: str, delta: str
) -> None:
    """All tables of three keys with up to three people each, and all that one person can change."""
    mechanism = rb.best(rb.Keys(keys_per_person=limit, neighbors=neighbors), rb.DP(epsilon, delta))
    ratio, most = exp_between(Fraction(epsilon))[1], Fraction(delta)
    persons = [who for who in itertools.product((0, 1), repeat=3) if sum(who) <= limit]
    rows = {people: lists(mechanism, people) for people in itertools.product(range(4), repeat=3)}
    for people, row in rows.items():
        for come, gone in itertools.product(persons, repeat=2):
            if neighbors == "added or removed" and any(come) and any(gone):
                continue
            other = tuple(n + c - g for n, c, g in zip(people, come, gone, strict=True))
            if all(n >= g for n, g in zip(people, gone, strict=True)) and other in rows:
                assert quick_excess(row, rows[other], ratio) <= most


def test_two_keys_with_the_whole_promise_each_would_not_be_private() -> None:
    """So that the test above can fail."""
    mechanism = rb.best(rb.Keys(), rb.DP(1, "0.1"))
    one, other = lists(mechanism, (0, 0, 0)), lists(mechanism, (1, 1, 0))
    assert quick_excess(other, one, exp_between(Fraction(1))[1]) > Fraction(1, 10)


@pytest.mark.parametrize(
    "guarantee",
    [
        rb.DP(1),
        rb.GaussianDP(1),
        rb.ZeroConcentrated(1),
        rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)]),
    ],
    ids=str,
)
def test_where_no_key_may_be_named_this_is_said(guarantee: Any) -> None:
    with pytest.raises(NotApplicable, match="no key may be named"):
        rb.best(rb.Keys(), guarantee)


def test_other_guarantees_that_do_not_do() -> None:
    curve = rb.TradeOff([(0, "0.9"), ("0.3", "0.3"), ("0.9", 0), (1, 0)])
    assert rb.best(rb.Keys(), curve).chance(1) == pytest.approx(0.1)
    with pytest.raises(NotApplicable, match="not divided"):
        rb.best(rb.Keys(keys_per_person=2), curve)
    with pytest.raises(NotApplicable, match=r"delta .* too small"):
        rb.best(rb.Keys(), rb.DP(1, "1e-200")).ladder  # noqa: B018
    with pytest.raises(NotApplicable, match="larger epsilon"):
        rb.best(rb.Keys(), rb.DP("0.00001", "1e-9")).ladder  # noqa: B018


def test_named_keys_have_the_law_of_the_ladder(dice: random.Random) -> None:
    mechanism = rb.best(rb.Keys(), rb.DP(1, "0.01"))
    people = {"c": 3, "b": 4, "a": 0, "z": 100}
    drawn = Counter(key for _ in range(2000) for key in mechanism.release(people))
    assert drawn["a"] == 0
    assert drawn["z"] == 2000
    for key in ("b", "c"):
        assert drawn[key] / 2000 == pytest.approx(mechanism.chance(people[key]), abs=0.04)
    assert mechanism.release({"z": 100, "m": 100, "b": 100}) == ("b", "m", "z")


def test_how_many_people_it_takes() -> None:
    mechanism = rb.best(rb.Keys(keys_per_person=3), rb.DP.from_ratio(3, delta="0.001"))
    for chance in ("0.01", "0.5", "0.999", "1"):
        people = mechanism.people_for(chance)
        assert mechanism.chance(people) >= float(chance) > mechanism.chance(people - 1)
    with pytest.raises(InvalidQuestion, match="above 0"):
        mechanism.people_for(0)
    assert "3 keys, whose independent choices add up" in str(mechanism.proof)


@pytest.mark.parametrize("people", [{"secret": -1}, {"secret": 1.5}, {7: 1}, ["secret"]], ids=str)
def test_what_is_no_count_of_people_is_refused_without_showing_a_key(people: Any) -> None:
    with pytest.raises((InvalidQuestion, UnreadableTable)) as caught:
        rb.best(rb.Keys(), rb.DP(1, "0.01")).release(people)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_forged_ladder_is_refused() -> None:
    mechanism = rb.best(rb.Keys(), rb.DP(1, "0.01"))
    weights, total = mechanism.ladder.weights, mechanism.ladder.total
    for place in (1, 2, len(weights) // 2, len(weights) - 2):
        more = (*weights[:place], weights[place] + total // 10**6, *weights[place + 1 :])
        with pytest.raises(InvalidMechanism, match="close rows"):
            prove_keys(rb.DP(1, "0.01"), KeyLadder(more, total))
    for wrong in ((1, 2), (), (0, total + 1), (0, 1.0)):
        with pytest.raises(InvalidMechanism):
            KeyLadder(wrong, total)  # type: ignore[arg-type]


def test_a_draw_has_the_chance_of_the_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    ladder = KeyLadder((0, 1, 3, 4), 4)
    for people in range(6):
        places = iter(range(4))
        monkeypatch.setattr("secrets.randbelow", lambda below, places=places: next(places))
        assert sum(ladder.named(people) for _ in range(4)) == ladder.weight(people)

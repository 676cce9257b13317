"""Preference orders, comparisons along them, and utilities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import rainbowdp as rb
import reference
import strategies
from rainbowdp.graphs.rainbows import as_rainbow, compare_rows, in_order, show, verdict

Pair = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]


def signs_by_definition(a: tuple[Fraction, ...], b: tuple[Fraction, ...]) -> list[int]:
    """The sign of each difference of proper prefix sums, in exact fractions."""
    differences = list(itertools.accumulate(x - y for x, y in zip(a, b, strict=True)))[:-1]
    return [(d > 0) - (d < 0) for d in differences]


def floats(row: tuple[Fraction, ...]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([float(p) for p in row])


def test_as_rainbow_keeps_the_order() -> None:
    assert as_rainbow(iter(["b", "a"]), ("a", "b")) == ("b", "a")
    assert as_rainbow([3]) == (3,)
    assert as_rainbow(range(3)) == (0, 1, 2)


@pytest.mark.parametrize(
    ("order", "answers", "said"),
    [
        ("ab", None, ["'ab'"]),
        (5, None, ["5"]),
        (None, None, ["None"]),
        ([], None, ["got none"]),
        ([["a"], ["b"]], None, ["hashable", "['a']"]),
        (["a", "b", "a"], None, ["'a' twice", "a > b > a"]),
        (["a"], ["a", "b"], ["a without 'b'"]),
        (["a", "b", "c"], ["a", "b"], ["unknown answer 'c'", "a > b"]),
    ],
)
def test_bad_rainbows_are_refused(order: Any, answers: Any, said: list[str]) -> None:
    with pytest.raises(rb.InvalidRainbow) as caught:
        as_rainbow(order, answers)
    reference.assert_one_sentence(caught.value, *said)


def test_show() -> None:
    assert show(("blue", 3, ("x", 1))) == "blue > 3 > ('x', 1)"


def test_in_order_sorts_a_mapping_and_keeps_a_sequence() -> None:
    rainbow = ("b", "a", "c")
    half, rest = Fraction(1, 2), Fraction(1, 4)
    assert in_order({"a": "1/2", "b": 0.25, "c": 0.25}, rainbow) == (rest, half, rest)
    assert list(in_order({"a": 1}, rainbow)) == [0, 1, 0]
    assert in_order([0.25, 0.5, 0.25], rainbow) == (rest, half, rest)
    assert in_order(np.array([0.25, 0.5, 0.25]), rainbow) == (rest, half, rest)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ({"a": 0.5, "z": 0.5}, ["'z'", "a, b"]),
        ({"a": 0.5}, ["(0.5, 0)", "0.5"]),
        ({"a": math.nan, "b": 1}, ["nan"]),
        ([0.5, 0.25, 0.25], ["2 answers", "got 3"]),
        ([0.5, 0.4], ["(0.5, 0.4)", "0.9"]),
        ([1.5, -0.5], ["-0.5"]),
        ("ab", ["'ab'"]),
        (0.5, ["0.5"]),
        (None, ["None"]),
        ({0.25, 0.75}, ["0.25"]),  # a set has no order of its own
    ],
)
def test_bad_conditions_are_refused(condition: Any, said: list[str]) -> None:
    with pytest.raises(rb.InvalidDistribution) as caught:
        in_order(condition, ("a", "b"))
    reference.assert_one_sentence(caught.value, *said)


@given(strategies.exact_pairs())
@settings(max_examples=50)
def test_compare_rows_equals_exact_prefix_sums(pair: Pair) -> None:
    wanted = signs_by_definition(*pair)
    a, b = map(floats, pair)
    assert compare_rows(a, b).tolist() == [wanted]
    first = next((k for k, sign in enumerate(wanted) if sign), None)
    lexicographic = [sign if k == first else 0 for k, sign in enumerate(wanted)]
    assert compare_rows(a, b, "lexicographic").tolist() == [lexicographic]
    # a dominates b: then a is not lexicographically behind
    if all(sign >= 0 for sign in wanted):
        assert min(compare_rows(a, b, "lexicographic")[0], default=0) >= 0
    assert compare_rows(b, a).tolist() == [[-sign for sign in wanted]]


def test_compare_rows_takes_many_pairs() -> None:
    a = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.4, 0.2, 0.4]])
    b = np.array([[0.4, 0.4, 0.2], [0.2, 0.3, 0.5], [0.3, 0.5, 0.2]])
    assert compare_rows(a, b).tolist() == [[1, 0], [0, 0], [1, -1]]
    assert compare_rows(a, b, "lexicographic").tolist() == [[1, 0], [0, 0], [1, 0]]


def test_compare_rows_sees_tiny_differences_and_overlooks_rounding() -> None:
    a, b = np.array([1e-300, 0.5, 0.5]), np.array([1e-303, 0.5, 0.5])
    assert compare_rows(a, b).tolist() == [[1, 0]]
    # the same difference at the other end, where the prefix sums are both 1.0 in floats
    assert compare_rows(a[::-1], b[::-1]).tolist() == [[0, -1]]
    near = np.array([0.1 + 0.2, 0.7])
    assert compare_rows(near, np.array([0.3, 0.7])).tolist() == [[0]]
    assert compare_rows(np.array([0.3 + 1e-11, 0.7 - 1e-11]), near).tolist() == [[1]]


def test_compare_rows_refuses_other_orders() -> None:
    row = np.array([0.5, 0.5])
    with pytest.raises(rb.RainbowError) as caught:
        compare_rows(row, row, "best")  # type: ignore[arg-type]
    reference.assert_one_sentence(caught.value, "order='best'")


def test_verdict() -> None:
    assert verdict(True, True) == "incomparable"
    assert verdict(True, False) == "dominates"
    assert verdict(False, True) == "dominated"
    assert verdict(False, False) == "equal"


def test_utility_gives_the_worth_of_each_place() -> None:
    assert rb.Utility(places=[3, 1, 1]).worths("any", ("a", "b", "c")) == (3.0, 1.0, 1.0)
    by_answer = rb.Utility(lambda dataset, answer: float(answer == dataset))
    assert by_answer.worths("b", ("b", "a")) == (1.0, 0.0)


def _rising(dataset: object, answer: object) -> float:
    return {"a": 0.25, "b": 0.75}[str(answer)]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: rb.Utility(), ["give one of them"]),
        (lambda: rb.Utility(_rising, places=[1, 0]), ["give one of them"]),
        (lambda: rb.Utility(places=[0.25, 0.75]), ["(0.25, 0.75)", "places"]),
        (lambda: rb.Utility(places=[1, math.nan]), ["nan", "finite"]),
        (lambda: rb.Utility(places=[math.inf, 0]), ["inf", "finite"]),
        (lambda: rb.Utility(places=["high", "low"]), ["high"]),  # type: ignore[list-item]
        (lambda: rb.Utility(places=[1, 0]).worths(0, ("a", "b", "c")), ["3 answers", "got 2"]),
        (lambda: rb.Utility(_rising).worths("d7", ("a", "b")), ["(0.25, 0.75)", "'d7'"]),
    ],
)
def test_bad_utilities_are_refused(make: Callable[[], object], said: list[str]) -> None:
    with pytest.raises(rb.RainbowError) as caught:
        make()
    reference.assert_one_sentence(caught.value, *said)

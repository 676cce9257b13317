"""Exact numbers, exact distributions and balls."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
import strategies
from rainbowdp.guarantees import growth
from rainbowdp.guarantees import polygons as curve
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.numeric import quantity


@pytest.mark.parametrize(
    ("given_as", "meant"),
    [
        (3, Fraction(3)),
        (0.1, Fraction(3602879701896397, 36028797018963968)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        ("1e-300", Fraction(1, 10**300)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
        (np.float64(0.25), Fraction(1, 4)),
        (np.float32(0.1), Fraction(13421773, 134217728)),
        (np.int64(3), Fraction(3)),
        (np.uint8(200), Fraction(200)),
        (5e-324, Fraction(1, 2**1074)),
    ],
)
def test_a_number_is_taken_exactly_as_given(given_as: object, meant: Fraction) -> None:
    found = quantity.exact(given_as, "it", rb.RainbowError)
    assert found == meant
    # A fraction over machine integers overflows later on.
    assert type(found.numerator) is int
    assert type(found.denominator) is int


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        True,
        np.True_,
        "abc",
        "",
        "nan",
        "inf",
        "1/0",
        "1/x",
        None,
        1j,
        [1],
        Decimal("NaN"),
        Decimal("Infinity"),
        np.array([0.5, 0.5]),
    ],
)
def test_what_is_no_finite_number_is_refused_by_name(value: object) -> None:
    with pytest.raises(rb.InvalidGuarantee) as caught:
        quantity.exact(value, "epsilon", rb.InvalidGuarantee)
    assert str(caught.value) == f"epsilon must be a finite number, got epsilon={value!r}"


def test_a_number_that_would_take_minutes_to_read_is_refused_and_not_repeated() -> None:
    with pytest.raises(rb.RainbowError, match="epsilon must be a finite number") as caught:
        quantity.exact("0." + "9" * 3_000_000, "epsilon", rb.RainbowError)
    assert len(str(caught.value)) < 300


@given(strategies.rows())
@settings(max_examples=100, deadline=None)
def test_a_distribution_is_normalized_exactly(row: tuple[float, ...]) -> None:
    found = quantity.exact_distribution(row)
    total = sum(map(Fraction, row))
    assert sum(found) == 1
    assert found == tuple(Fraction(p) / total for p in row)


def test_a_distribution_may_miss_one_by_rounding_and_no_more() -> None:
    just = quantity.exact_distribution([0.5, 0.5 + 0.9e-9])
    assert sum(just) == 1
    with pytest.raises(rb.InvalidDistribution):
        quantity.exact_distribution([0.5, 0.5 + 1.1e-9])
    with pytest.raises(rb.InvalidDistribution):
        quantity.exact_distribution([0.5, 0.5 - 1.1e-9])


@pytest.mark.parametrize(
    ("row", "answers", "said"),
    [
        ([0.5, 0.4], None, ["(0.5, 0.4)", "0.9"]),
        ([0.2, 0.2, 0.2], 3, ["(0.2, 0.2, 0.2)", "0.6"]),
        ([0.5, 0.75, -0.25], None, ["-0.25", "(0.5, 0.75, -0.25)", "negative"]),
        ([1.0, -1e-300], None, ["-1e-300"]),
        ([0.5, 0.5], 3, ["3 answers", "got 2"]),
        ([0.25, 0.25, 0.5], 2, ["2 answers", "got 3"]),
        ([], None, ["none"]),
        ([1e308, 1e308], None, ["at most 1", "1e+308"]),
        ([Fraction(10**400), 0], None, ["at most 1"]),
        ([0.5, math.nan], None, ["nan"]),
        ([0.5, math.inf], None, ["inf"]),
        ([True, 0.0], None, ["True"]),
        ([0.5, "half"], None, ["'half'"]),
        ([0.5, None], None, ["None"]),
    ],
)
def test_bad_distributions_are_refused(
    row: list[object], answers: int | None, said: list[str]
) -> None:
    with pytest.raises(rb.InvalidDistribution) as caught:
        quantity.exact_distribution(row, answers)
    reference.assert_one_sentence(caught.value, *said)


def test_plain_is_short() -> None:
    assert quantity.plain((Fraction(1, 3), Fraction(2, 3), Fraction(0))) == (
        "(0.333333, 0.666667, 0)"
    )
    assert quantity.plain(np.array([1e-300, 0.5])) == "(1e-300, 0.5)"


@given(st.fractions(-100, 100))
@settings(max_examples=50, deadline=None)
def test_a_ball_holds_its_fraction(value: Fraction) -> None:
    with quantity.precision(64):
        # value − ball contains zero exactly when the ball contains the value
        times = quantity.ball(value) * value.denominator - value.numerator
        assert times.contains(arb(0))
    assert quantity.refine(lambda: quantity.ball(value)) == float(value)


def test_refine_goes_on_until_the_difference_is_sure() -> None:
    tiny = Fraction(1, 10**400)

    def cancels() -> arb:
        return (quantity.ball(1 + tiny) - 1) * 10**200  # nothing left of it at 128 bits

    assert quantity.refine(cancels) == 1e-200


def test_refine_calls_an_endless_tie_zero() -> None:
    third = Fraction(1, 3)
    assert quantity.refine(lambda: quantity.ball(third) * 3 - 1) == 0.0


@pytest.mark.parametrize(
    ("value", "above"),
    [
        (Fraction(0), 1),
        (Fraction(5), 6),
        (Fraction(-5), -4),
        (Fraction(7, 2), 4),
        (Fraction(-7, 2), -3),
        (1 - Fraction(1, 10**400), 1),
        (1 + Fraction(1, 10**400), 2),
    ],
)
def test_first_integer_above(value: Fraction, above: int) -> None:
    assert quantity.first_integer_above(lambda: quantity.ball(value)) == above


@pytest.mark.parametrize("whole", [0, 1, -2, 10**6, 10**17 + 1])
def test_first_integer_above_decides_ties_that_no_precision_can(whole: int) -> None:
    third = Fraction(1, 3)
    found = quantity.first_integer_above(lambda: quantity.ball(third) * 3 * whole)
    assert found == whole + 1


def test_precision_is_put_back() -> None:
    from flint import ctx

    before = ctx.prec
    with quantity.precision(777):
        assert ctx.prec == 777
    assert ctx.prec == before


def test_a_thread_that_wants_less_waits() -> None:
    from flint import ctx

    inside, leave = threading.Event(), threading.Event()

    def coarse() -> None:
        with quantity.precision(64):
            inside.set()
            leave.wait(30)

    before = ctx.prec
    other = threading.Thread(target=coarse)
    with quantity.precision(777):
        other.start()
        assert not inside.wait(0.2)
        assert ctx.prec == 777
    leave.set()
    other.join()
    assert ctx.prec == before


@given(strategies.guarantees(), strategies.exact_rows(3), st.sampled_from([0, 1, 7, 300]))
def test_nothing_is_cached_at_a_precision(
    guarantee: TradeOffCurve, row: tuple[Fraction, ...], depth: int
) -> None:
    """What is computed once takes a lock; inside a precision it could wait for ever."""
    open_blocks = 0

    @contextmanager
    def watched(bits: int) -> Iterator[None]:
        nonlocal open_blocks
        assert open_blocks == 0
        open_blocks += 1
        try:
            with precision(bits):
                yield
        finally:
            open_blocks -= 1

    precision = quantity.precision
    with pytest.MonkeyPatch.context() as patch:
        for module in (quantity, growth, curve):
            patch.setattr(module, "precision", watched)
        guarantee.rows(row, [depth])
        if isinstance(guarantee, rb.DP):
            guarantee.phase_change([float(p) for p in row])
        curve.safe_curve(guarantee)

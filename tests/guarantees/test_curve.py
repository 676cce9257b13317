"""What all trade-off curves have in common: excess, rows, pickling, and bad input."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
import strategies
from rainbowdp.guarantees.curve import Excess, TradeOffCurve

ROW = (0.5, 0.5)


@pytest.mark.parametrize(
    "guarantee", [rb.DP(1, 0.1), rb.GaussianDP(1), rb.TradeOff([(0, 1), (1, 0)])]
)
def test_a_guarantee_survives_pickling_also_after_use(guarantee: TradeOffCurve) -> None:
    before = guarantee.rows((0.25, 0.75), 2)  # fills the caches
    again = pickle.loads(pickle.dumps(guarantee))
    assert again == guarantee
    assert again.rows((0.25, 0.75), 2).tolist() == before.tolist()


@given(
    strategies.guarantees(),
    st.integers(1, 5).flatmap(
        lambda size: st.lists(
            st.tuples(strategies.rows(size), strategies.rows(size)), min_size=1, max_size=4
        )
    ),
)
def test_excesses_are_the_excess_of_each_pair(
    guarantee: TradeOffCurve, pairs: list[tuple[tuple[float, ...], tuple[float, ...]]]
) -> None:
    p, q = (np.array(rows) for rows in zip(*pairs, strict=True))
    single = [float(guarantee.excess(a, b)) for a, b in pairs]
    assert guarantee.excesses(p, q) == pytest.approx(single, rel=1e-9, abs=1e-12)
    flipped = [float(guarantee.excess(b, a)) for a, b in pairs]
    assert flipped == single


def test_violations_in_tiny_probabilities_are_found() -> None:
    p, q = (1e-300, 0.25, 0.75), (1e-303, 0.25, 0.75)
    for guarantee in (rb.DP(1), rb.DP(5), rb.DP(0), rb.GaussianDP(0.1)):
        for first, pair in ((True, (p, q)), (False, (q, p))):
            found = guarantee.excess(*pair)
            assert 0.8e-300 < found <= 1e-300
            assert found.answers == (0,)
            assert found.first is first
    assert not rb.DP(7).excess(p, q)
    assert not rb.DP(1, 1e-200).excess(p, q)
    assert rb.DP(1).excess((0.0, 1.0), (1e-300, 1.0)) == 1e-300


def test_excess_prints_itself() -> None:
    assert repr(Excess(0.0)) == "Excess(0.0)"
    found = rb.DP.from_ratio(2).excess([0.5, 0.5], [0.85, 0.15])
    assert repr(found) == "Excess(0.2, answers=(1,), first=True)"


@given(
    strategies.guarantees(),
    strategies.rows(),
    st.one_of(st.integers(0, 5), strategies.depths()),
)
@settings(max_examples=50)
def test_neighboring_depths_are_close(
    guarantee: TradeOffCurve, row: tuple[float, ...], depth: int
) -> None:
    here, next_row = guarantee.rows(row, [depth, depth + 1])
    # what fades to zero below 1e-300 in the next row keeps no ratio to what it was
    faded = here[(next_row < 1e-300) & (here < 1e-200)].sum()
    assert guarantee.excess(here, next_row) <= faded


def test_a_depth_beyond_every_float_is_as_good_as_infinite() -> None:
    assert rb.DP(1).grow(0.5, 10**400) == 1.0
    assert rb.DP(1).rows(ROW, 10**400).tolist() == [1.0, 0.0]


BAD: list[tuple[Callable[[], object], type[rb.RainbowError], list[str]]] = [
    (lambda: rb.DP(1).rows((0.5, 0.4), 1), rb.InvalidDistribution, ["(0.5, 0.4)", "0.9"]),
    (lambda: rb.DP(1).rows((1.5, -0.5), 1), rb.InvalidDistribution, ["-0.5"]),
    (lambda: rb.DP(1).rows((0.5, math.nan), 1), rb.InvalidDistribution, ["nan"]),
    (lambda: rb.DP(1).rows((0.5, math.inf), 1), rb.InvalidDistribution, ["inf"]),
    (lambda: rb.DP(1).rows((), 1), rb.InvalidDistribution, ["none"]),
    (lambda: rb.DP(1).rows(0.5, 1), rb.InvalidDistribution, ["0.5"]),  # type: ignore[arg-type]
    (lambda: rb.DP(1).rows(ROW, -1), rb.RainbowError, ["depth=-1"]),
    (lambda: rb.DP(1).rows(ROW, [0, 1.5]), rb.RainbowError, ["depth=1.5"]),
    (lambda: rb.DP(1).rows(ROW, math.nan), rb.RainbowError, ["depth=nan"]),
    (lambda: rb.DP(1).rows(ROW, -math.inf), rb.RainbowError, ["depth=-inf"]),
    (lambda: rb.DP(1).rows(ROW, "deep"), rb.RainbowError, ["depth='deep'"]),
    (lambda: rb.DP(1).grow(0.5, 1000000.5), rb.RainbowError, ["depth=1000000.5"]),
    (lambda: rb.DP(1).grow(0.5, -2), rb.RainbowError, ["depth=-2"]),
    (lambda: rb.DP(1).grow(1.5, 1), rb.InvalidDistribution, ["got 1.5", "[0, 1]"]),
    (lambda: rb.DP(1).grow(1 + 1e-10, 1), rb.InvalidDistribution, ["got 1.0000000001"]),
    (lambda: rb.DP(1).grow([0.5, -0.25], 1), rb.InvalidDistribution, ["got -0.25"]),
    (lambda: rb.DP(1).grow(math.nan, 1), rb.InvalidDistribution, ["got nan"]),
    (lambda: rb.DP(1).grow("abc", 1), rb.InvalidDistribution, ["abc"]),
    (lambda: rb.DP(1).ungrow(2, 1), rb.InvalidDistribution, ["got 2"]),
    (lambda: rb.DP(1).step(-1), rb.InvalidDistribution, ["got -1"]),
    (lambda: rb.DP(1).grow([0.1, 0.2], [1, 2, 3]), rb.RainbowError, ["(2,)", "(3,)"]),
    (lambda: rb.DP(1).excess(ROW, (0.5, 0.25, 0.25)), rb.InvalidDistribution, ["2 and 3"]),
    (lambda: rb.DP(1).excess(ROW, (0.5, 0.4)), rb.InvalidDistribution, ["(0.5, 0.4)", "0.9"]),
    (lambda: rb.DP(1).excess((1.5, -0.5), ROW), rb.InvalidDistribution, ["-0.5"]),
    (lambda: rb.DP(1).excess((math.nan, 1), ROW), rb.InvalidDistribution, ["nan"]),
    (lambda: rb.DP(1).excess((), ()), rb.InvalidDistribution, ["none"]),
    (lambda: rb.DP(1).excess([ROW], [ROW]), rb.InvalidDistribution, ["2 dimensions"]),
    (lambda: rb.DP(1).excess(("a", "b"), ROW), rb.InvalidDistribution, ["a"]),
    # any rounding that is not a number would call everything private
    (lambda: rb.DP(1).excess((1, 0), (0, 1), rounding=math.nan), rb.RainbowError, ["nan"]),
]


@pytest.mark.parametrize(("call", "kind", "said"), BAD)
def test_bad_input_is_refused_with_its_value(
    call: Callable[[], Any], kind: type[rb.RainbowError], said: list[str]
) -> None:
    with pytest.raises(rb.RainbowError) as caught:
        call()
    assert type(caught.value) is kind
    reference.assert_one_sentence(caught.value, *said)

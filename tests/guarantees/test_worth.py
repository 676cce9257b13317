"""What a promise is worth: the best guess, against every test there is."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

import rainbowdp as rb
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.descriptions import warning_about
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.worth import guess_in_words

EPSILONS = st.floats(0.001, 6)
GUARANTEES = st.one_of(
    st.builds(rb.DP, EPSILONS),
    st.builds(rb.DP, st.just(0) | EPSILONS, st.floats(1e-6, 0.9)),
    st.builds(rb.GaussianDP, st.floats(0.001, 6)),
    st.integers(2, 40).map(
        lambda n: rb.TradeOff([(0, 1), (Fraction(1, n + 1), Fraction(1, n + 1)), (1, 0)])
    ),
)


def best_success(p: list[float], q: list[float]) -> float:
    """How often the best of all tests is right, when p and q are equally likely."""
    places = range(len(p))
    sets = itertools.chain.from_iterable(
        itertools.combinations(places, n) for n in range(len(p) + 1)
    )
    return max((sum(p[i] for i in s) + sum(q[i] for i in places if i not in s)) / 2 for s in sets)


@given(GUARANTEES, st.lists(st.floats(0.001, 1), min_size=2, max_size=6), st.data())
def test_no_test_guesses_better_between_distributions_that_are_close(
    guarantee: TradeOffCurve, weights: list[float], data: st.DataObject
) -> None:
    p = [weight / math.fsum(weights) for weight in weights]
    other = data.draw(st.permutations(weights))
    q = [weight / math.fsum(other) for weight in other]
    grown = guarantee.rows(p, 1).tolist()  # the farthest that a neighbor may be
    for one, two in ((p, q), (p, grown)):
        if not guarantee.excess(one, two, rounding=0):
            assert best_success(one, two) <= guarantee.best_guess() + 1e-12


@given(GUARANTEES)
def test_two_neighbors_exist_between_which_the_guess_is_as_good(guarantee: TradeOffCurve) -> None:
    chance = guarantee.best_guess()
    assert not guarantee.excess([chance, 1 - chance], [1 - chance, chance])
    better = min(1.0, chance + 1e-6)
    if better < 1:
        assert guarantee.excess([better, 1 - better], [1 - better, better])


@given(st.fractions(0, 20), st.fractions(0, 1))
def test_closed_forms(size: Fraction, delta: Fraction) -> None:
    with mp.workdps(50):
        ratio, small = (
            mp.e ** (mp.mpf(size.numerator) / size.denominator),
            mp.mpf(str(float(delta))),
        )
        wanted = float((ratio + small) / (ratio + 1))
        gaussian = float(mp.ncdf(mp.mpf(size.numerator) / size.denominator / 2))
    assert rb.DP(size, str(float(delta)) if delta else 0).best_guess() == pytest.approx(
        wanted, abs=1e-13
    )
    assert rb.GaussianDP(size).best_guess() == pytest.approx(gaussian, abs=1e-13)


@pytest.mark.parametrize(
    ("guarantee", "said"),
    [
        (rb.DP(1), "at most 74 %"),
        (rb.DP("0.1"), "at most 53 %"),
        (rb.DP.from_ratio(3), "at most 75 %"),
        (rb.DP.from_ratio(99), "at most 99 %"),
        (rb.DP.from_ratio("99.001"), "nearly certain"),
        (rb.DP(0), "at most 50 %"),
        (rb.DP(0, "0.5"), "at most 75 %"),
        (rb.DP(700), "nearly certain"),
        (rb.DP(1, 1), "become certain"),
        (rb.GaussianDP(1), "at most 70 %"),
        (rb.GaussianDP(30), "nearly certain"),
        (rb.TradeOff([(0, 1), ("1/4", "1/4"), (1, 0)]), "at most 75 %"),
        (rb.ZeroConcentrated("1/2"), "at most 74 %"),
        (rb.ZeroConcentrated(450), "nearly certain"),
    ],
)
def test_words(guarantee: TradeOffCurve | rb.ZeroConcentrated, said: str) -> None:
    assert said in guarantee.in_words()
    assert "one person" in guarantee.in_words("one person")
    assert said in guarantee._repr_html_()


@given(st.floats(0.5, 1))
def test_percent_are_rounded_up_and_never_to_a_hundred(chance: float) -> None:
    said = guess_in_words(chance, "one record")
    if " % " in said:
        (percent,) = (int(word) for word in said.split() if word.isdigit())
        assert chance <= percent / 100 + 1e-12
        assert percent - 1 <= 100 * chance
        assert percent <= 99
    else:
        assert chance > 0.99
        assert ("nearly" in said) == (chance < 1)


@pytest.mark.parametrize(
    "guarantee",
    [rb.DP(3), rb.DP("0.1", "1e-4"), rb.GaussianDP("3.34"), rb.ZeroConcentrated("2.71"),
     rb.DP.from_ratio(20), rb.TradeOff([(0, 1), ("1/20", "1/20"), (1, 0)])],
)  # fmt: skip
def test_no_warning_where_a_promise_protects(guarantee: Guarantee) -> None:
    assert warning_about(guarantee) is None


@pytest.mark.parametrize(
    ("guarantee", "said"),
    [
        (rb.DP("3.0001"), ["protects little", "at most 96 %"]),
        (rb.DP(100), ["protects little", "nearly certain"]),
        (rb.DP.from_ratio(21), ["protects little"]),
        (rb.DP(1, "0.00011"), ["fail altogether", "δ = 0.00011"]),
        (rb.DP(4, "0.5"), ["protects little", "δ = 0.5"]),
        (rb.DP(1, 1), ["δ = 1"]),
        (rb.GaussianDP("3.35"), ["protects little", "μ = 1"]),
        (rb.TradeOff([(0, 1), ("1/25", "1/25"), (1, 0)]), ["protects little"]),
        (rb.ZeroConcentrated("2.72"), ["protects little", "ρ = 1/2"]),
    ],
)
def test_warnings(guarantee: Guarantee, said: list[str]) -> None:
    warning = warning_about(guarantee, "one person")
    assert warning is not None
    assert all(part in warning for part in said), warning
    assert "\n" not in warning

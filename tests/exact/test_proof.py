"""Proofs: they accept nothing that brute force over all sets refutes."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
import strategies
from rainbowdp.exact.steps import LONGEST, symmetric_pair
from rainbowdp.guarantees.closeness import (
    check_rows,
    exp_below,
    first_violation,
    lines_of,
    promise_of,
)
from rainbowdp.guarantees.polygons import ratio_below
from rainbowdp.rules.homogeneous.proof import prove_ladders
from rainbowdp.rules.proximity.build import proximity_holds, proximity_weights
from rainbowdp.rules.proximity.proof import MOST_STEPS, prove_margins

TOTAL = 1 << 64
TWO = rb.DP.from_ratio(2)


# the lower bound on e^x


@pytest.mark.slow
@given(
    st.one_of(
        st.fractions(Fraction(1, 10**100), 700),
        st.floats(-100, 2.84).map(lambda e: Fraction(10.0**e) if e > -99 else Fraction(1, 10**99)),
        st.integers(0, 700).map(Fraction),
        st.integers(-60, 8).map(lambda e: Fraction(2) ** e + Fraction(1, 10**60)),
    )
)
@settings(max_examples=300, deadline=None)
@example(Fraction(0))
@example(Fraction(1, 10**100))
@example(Fraction(700))
@example(Fraction(10**60 - 1, 10**60))
def test_the_bound_is_at_most_e_to_the_x_and_close(x: Fraction) -> None:
    bound = exp_below(x)
    assert bound >= 1
    with mp.workdps(250):
        truth = mp.exp(reference.number(x))
        assert reference.number(bound) <= truth
        assert 1 - reference.number(bound) / truth <= mp.mpf(2) ** -180


@pytest.mark.parametrize("bits", range(150, 220, 7))
def test_no_squaring_rounds_the_bound_up(bits: int) -> None:
    """Of so small an x the series is 1 + x/2^k exactly, or 1, so that nothing else rounds down."""
    x = Fraction(1, 1 << bits)
    assert exp_below(x) <= 1 + x + x * x / 2  # less than e^x


@given(strategies.dps())
@settings(max_examples=150, deadline=None)
def test_no_builder_uses_a_larger_ratio_than_the_proof(guarantee: rb.DP) -> None:
    ((ratio, slack),) = lines_of(guarantee)
    assert ratio >= ratio_below(guarantee)
    assert slack == guarantee.exact_delta


# pairs of rows


def lines_for(guarantee: Any) -> list[tuple[Fraction, Fraction]]:
    """All lines of φ by the oracle: two for (ε,δ) with an exact ratio, or the polygon's own."""
    if isinstance(guarantee, rb.TradeOff):
        return reference.polygon_lines(guarantee.knots)
    ratio, delta = guarantee.exact_ratio, guarantee.exact_delta
    return [(ratio, delta), (1 / ratio, 1 - (1 - delta) / ratio)]


exact_guarantees = st.one_of(
    strategies.trade_offs(),
    st.builds(
        lambda r, d: rb.DP.from_ratio(r, delta=Fraction(d, 20)),
        strategies.ratios(),
        st.integers(0, 20),
    ),
)


@st.composite
def close_calls(draw: st.DrawFn) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """A guarantee and two rows of one small total, often nearly close."""
    guarantee = draw(exact_guarantees)
    size, total = draw(st.integers(1, 5)), draw(st.integers(1, 60))
    one = draw(strategies.weight_rows(size, total))
    if draw(st.booleans()):
        return guarantee, one, draw(strategies.weight_rows(size, total))
    other = list(one)
    for _ in range(draw(st.integers(1, 6))):
        goes, comes = draw(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)))
        units = draw(st.integers(0, other[goes]))
        other[goes] -= units
        other[comes] += units
    return guarantee, one, tuple(other)


@given(close_calls())
@settings(max_examples=300, deadline=None)
def test_a_violation_is_found_exactly_where_brute_force_finds_one(
    case: tuple[Any, tuple[int, ...], tuple[int, ...]],
) -> None:
    guarantee, one, other = case
    promise = promise_of(guarantee, sum(one))
    broken = reference.integer_excess(one, other, lines_for(guarantee)) > 0
    assert (first_violation(promise, one, other) is not None) == broken
    assert (first_violation(promise, other, one) is not None) == broken


def test_one_unit_too_many_is_found() -> None:
    promise = promise_of(rb.DP.from_ratio(2), TOTAL)
    third = TOTAL // 3
    fine = (TOTAL - third - 1, third + 1), (third + 1, TOTAL - third - 1)
    assert first_violation(promise, *fine) is None
    over = (TOTAL - third, third), (third, TOTAL - third)
    text = first_violation(promise, *over)
    assert text is not None
    assert text.startswith(f"{over[0]} beside {over[1]} exceeds the guarantee by ")


@given(exact_guarantees, st.integers(2, 5), st.integers(10**3, TOTAL))
@settings(max_examples=150, deadline=None)
def test_one_unit_less_for_each_loser_is_found(guarantee: Any, answers: int, total: int) -> None:
    first, share = symmetric_pair(guarantee, answers, total)
    rest = [share] * (answers - 2)
    promise = promise_of(guarantee, total)
    if first - share >= answers:  # else the best row is uniform up to units
        one, other = (first, share, *rest), (share, first, *rest)
        assert first_violation(promise, one, other) is None
        assert reference.integer_excess(one, other, lines_for(guarantee)) == 0
    if share:
        least = [share - 1] * (answers - 2)
        most = total - (answers - 1) * (share - 1)
        assert first_violation(promise, (most, share - 1, *least), (share - 1, most, *least))


@given(
    st.sampled_from(["0.001", "0.3", "1.5", "6"]),
    strategies.weight_rows(3, TOTAL),
    strategies.weight_rows(3, TOTAL),
)
def test_rows_that_pass_for_a_gaussian_keep_it(mu: str, one: Any, other: Any) -> None:
    promise = promise_of(rb.GaussianDP(mu), TOTAL)
    if first_violation(promise, one, other) is None:
        assert reference.gaussian_close(one, other, Fraction(mu))
    else:
        assert first_violation(promise, other, one) is not None


def grown(row: tuple[int, ...], mu: Fraction, total: int = TOTAL) -> tuple[int, ...]:
    """The best row next to one in preference order under the true curve, in whole units."""
    with mp.workdps(60):
        ends = [
            int(mp.floor(reference.gaussian_step(Fraction(s, total), mu) * total))
            for s in itertools.accumulate(row[:-1])
        ]
    return tuple(b - a for a, b in itertools.pairwise([0, *ends, total]))


@pytest.mark.parametrize("mu", [Fraction(1, 100), Fraction(1), Fraction(4)])
@pytest.mark.parametrize("shares", [(1, 1, 1, 1), (1, 10, 100, 1000), (1000, 100, 10, 1)])
def test_a_gaussian_row_passes_up_to_the_last_unit_of_every_corner(
    mu: Fraction, shares: tuple[int, ...]
) -> None:
    """The best rows of the true curve, which no polygon inside it reaches; and one unit more."""
    promise = promise_of(rb.GaussianDP(mu), TOTAL)
    row = tuple(TOTAL * share // sum(shares) for share in shares)
    row = (row[0] + TOTAL - sum(row), *row[1:])
    best = grown(row, mu)
    for order in itertools.permutations(range(4)):
        one, other = (tuple(found[i] for i in order) for found in (row, best))
        assert first_violation(promise, one, other) is None
        assert first_violation(promise, other, one) is None
    for corner in range(3):
        more = list(best)
        more[corner] += 1
        more[corner + 1] -= 1
        assert first_violation(promise, row, tuple(more)) is not None
        assert first_violation(promise, tuple(more), row) is not None


@pytest.mark.parametrize("share", [Fraction(1, 100), Fraction(1, 2), Fraction(99, 100)])
def test_what_the_balls_leave_open_is_refused(
    share: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a few bits nothing near the curve is certain, so neither side of it passes."""
    first = int(TOTAL * share)
    row = (first, TOTAL - first)
    best = grown(row, Fraction(1))
    more = (best[0] + 1, best[1] - 1)
    promise = promise_of(rb.GaussianDP(1), TOTAL)
    assert first_violation(promise, row, best) is None
    assert first_violation(promise, row, more) is not None
    for name in ("BITS", "FEW_BITS"):
        monkeypatch.setattr(f"rainbowdp.guarantees.closeness.{name}", -50)
    assert first_violation(promise, row, best) is not None
    assert first_violation(promise, row, more) is not None


def test_gaussian_rows_that_are_all_but_certain() -> None:
    """Near both ends, where a tail is a few units of 2^-64."""
    promise = promise_of(rb.GaussianDP(1), TOTAL)
    for few in (1, 2, 1000):
        for row in ((few, TOTAL - few), (TOTAL - 10**6 * few, 10**6 * few)):
            best = grown(row, Fraction(1))
            assert first_violation(promise, row, best) is None
            assert first_violation(promise, row, (best[0] + 1, best[1] - 1)) is not None


@pytest.mark.parametrize("mu", ["0", "1", "30"])
def test_a_gaussian_lifts_nothing_from_zero(mu: str) -> None:
    promise = promise_of(rb.GaussianDP(mu), 6)
    for one, other in (((1, 5), (0, 6)), ((5, 0, 1), (5, 1, 0)), ((6, 0), (0, 6))):
        assert first_violation(promise, one, other) is not None
        assert first_violation(promise, other, one) is not None
    for row in ((1, 5), (0, 6), (6, 0, 0)):
        assert first_violation(promise, row, row) is None
    near = promise_of(rb.GaussianDP(0), TOTAL)
    assert first_violation(near, (TOTAL // 2, TOTAL // 2), (TOTAL // 2 + 1, TOTAL // 2 - 1))


def test_answers_that_neither_row_gives_do_not_disturb_the_order_of_the_others() -> None:
    promise = promise_of(rb.GaussianDP("0.1"), 12)
    for between in itertools.permutations([(1, 5), (4, 4), (7, 3), (0, 0), (0, 0)]):
        one, other = zip(*between, strict=True)
        assert first_violation(promise, one, other) is not None


def test_a_gaussian_proof_looks_at_rows_of_any_total() -> None:
    promise = promise_of(rb.GaussianDP(1), 1 << 900)
    half = 1 << 899
    assert first_violation(promise, (half, half), (half + 1, half - 1)) is None
    assert first_violation(promise, (half, half), (half // 16 * 15, half // 16 * 17)) is None
    assert first_violation(promise, (half, half), (2 * half - 1, 1)) is not None


def test_the_builders_rows_pass_for_a_gaussian() -> None:
    promise = promise_of(rb.GaussianDP("1.5"), TOTAL)
    first, share = symmetric_pair(rb.GaussianDP("1.5"), 3)
    assert first_violation(promise, (first, share, share), (share, first, share)) is None
    surer, less = first + 2, share - 1
    assert first_violation(promise, (surer, less, less), (less, surer, less))


@pytest.mark.parametrize("guarantee", [TWO, rb.GaussianDP(1)], ids=str)
def test_rows_of_other_lengths_are_not_compared(guarantee: Any) -> None:
    promise = promise_of(guarantee, 6)
    for one, other in itertools.permutations(((3, 3), (3, 3, 0)), 2):
        with pytest.raises(ValueError, match=r"zip\(\)"):
            first_violation(promise, one, other)


def test_a_violation_says_by_how_much() -> None:
    promise = promise_of(rb.DP.from_ratio(3, 2, delta="1/10"), 10)
    assert first_violation(promise, (8, 2), (2, 8)) == (
        "(8, 2) beside (2, 8) exceeds the guarantee by 0.4"
    )  # 0.8 − 3/2·0.2 − 0.1


def test_delta_one_promises_nothing() -> None:
    assert first_violation(promise_of(rb.DP(0, 1), 5), (5, 0), (0, 5)) is None
    assert first_violation(promise_of(rb.TradeOff([(0, 0), (1, 0)]), 5), (5, 0), (0, 5)) is None


def test_a_guarantee_of_an_unknown_kind_proves_nothing() -> None:
    stranger: Any = "1-DP"
    with pytest.raises(rb.InvalidMechanism):
        lines_of(stranger)


# ladders


def test_a_proof_says_what_it_checked() -> None:
    proof = prove_ladders(TWO, {"a": ((4, 2), (5, 1)), "b": ((2, 4),)}, [("a", "b")])
    assert (proof.guarantee, proof.pairs) == (TWO, 2)
    assert str(proof) == "log(2)-DP proved exactly: 2 pairs of rows with total weight 6"
    assert prove_ladders(TWO, {}, []).pairs == 0


@pytest.mark.parametrize(
    "row",
    [
        (4.0, 2),
        (4, 2.0),
        (True, 5),
        (Fraction(4), 2),
        ("4", 2),
        (None, 6),
        (7, -1),
        (float("nan"), 6),
        (float("inf"), 6),
        (0, 0),
        (4, 3),
        (3, 2),
        (),
    ],
)
def test_weights_that_are_no_weights_are_refused(row: Any) -> None:
    for rows in ({"a": ((4, 2), row)}, {"a": ((4, 2),), "b": (row,)}, {"a": (row, (4, 2))}):
        with pytest.raises(rb.InvalidMechanism):
            prove_ladders(TWO, rows, [])


def test_rows_of_no_weight_at_all_are_refused() -> None:
    for row in ((0, 0), ()):
        with pytest.raises(rb.InvalidMechanism, match="same positive total"):
            prove_ladders(TWO, {"a": (row, row)}, [])


def test_rows_may_have_a_total_of_one() -> None:
    assert check_rows([(1, 0), (0, 1)]) == 1


def test_a_longer_row_is_not_taken_for_one_that_was_seen() -> None:
    good = ((4, 2), (5, 1))
    for longer in ((good[0], (5, 1, 0)), ((4, 2, 0), good[1])):
        with pytest.raises(ValueError, match=r"zip\(\)"):
            prove_ladders(TWO, {"a": good, "b": longer}, [])


def test_numpy_weights_are_refused() -> None:
    import numpy as np

    row: Any = tuple(np.array([4, 2]))
    with pytest.raises(rb.InvalidMechanism):
        check_rows([row])


def test_swapped_rows_are_refused() -> None:
    """Row 0 beside row 2, and the same ladder turned round at a border."""
    rows = ((4, 2), (5, 1))
    far = ((3, 3), (4, 2), (5, 1))
    assert prove_ladders(TWO, {"a": far}, []).pairs == 2
    with pytest.raises(rb.InvalidMechanism) as caught:
        prove_ladders(TWO, {"a": (far[0], far[2], far[1])}, [])
    assert "region 'a' at depths 0, 1" in str(caught.value)
    assert prove_ladders(TWO, {"a": rows, "b": ((2, 4), (1, 5))}, [("a", "b")]).pairs == 3
    with pytest.raises(rb.InvalidMechanism) as caught:
        prove_ladders(TWO, {"a": rows[::-1], "b": ((2, 4), (1, 5))}, [("a", "b")])
    assert "regions 'a' and 'b'" in str(caught.value)


def test_a_pair_that_was_seen_is_not_mistaken_for_another() -> None:
    """Pairs are remembered by what stands beside what, whichever answers these are."""
    good = ((4, 2), (5, 1))
    turned = ((2, 4), (1, 5))
    assert prove_ladders(TWO, {"a": good, "b": turned}, []).pairs == 2
    with pytest.raises(rb.InvalidMechanism):
        prove_ladders(TWO, {"a": good, "b": ((4, 2), (1, 5))}, [])


@pytest.mark.slow
@given(st.lists(close_calls(), min_size=1, max_size=3))
@settings(max_examples=150, deadline=None)
def test_ladders_are_proved_exactly_where_brute_force_agrees(
    cases: list[tuple[Any, tuple[int, ...], tuple[int, ...]]],
) -> None:
    guarantee, one, other = cases[0]
    ladders = {"a": (one, other)}
    pairs = [(one, other)]
    for number, (_, first, second) in enumerate(cases[1:]):
        if len(first) == len(one) and sum(first) == sum(one):
            ladders[str(number)] = (first, second)
            pairs.append((first, second))
    touching = list(itertools.combinations(ladders, 2))
    pairs += [(ladders[a][0], ladders[b][0]) for a, b in touching]
    lines = lines_for(guarantee)
    fine = not any(reference.integer_excess(p, q, lines) for p, q in pairs)
    if fine:
        assert prove_ladders(guarantee, ladders, touching).pairs == len(pairs)
    else:
        with pytest.raises(rb.InvalidMechanism):
            prove_ladders(guarantee, ladders, touching)


# margins


def margins_break(guarantee: rb.DP, answers: int, total: int, steps: tuple[int, ...]) -> bool:
    """Whether brute force finds two margins up to 4 whose rows are not close, or no rows."""
    assert guarantee.exact_ratio is not None
    lines = [(guarantee.exact_ratio, guarantee.exact_delta)]
    pairs = set()
    for one, other in reference.margin_pairs(answers, min(4, len(steps) + 1)):
        p, q = (reference.margin_row(total, steps, margins) for margins in (one, other))
        if min(*p, *q) < 0:
            return True
        pairs.add(tuple(sorted(zip(p, q, strict=True))))
    for pair in pairs:
        p, q = zip(*pair, strict=True)
        if reference.integer_excess(p, q, lines) > 0:
            return True
    return False


def accepts(guarantee: rb.DP, answers: int, total: int, steps: tuple[int, ...]) -> bool:
    try:
        proof = prove_margins(guarantee, answers, total, steps)
    except rb.InvalidMechanism:
        return False
    assert proof.guarantee == guarantee
    return True


@pytest.mark.slow
@given(strategies.steps_by_margin())
@settings(max_examples=120, deadline=None)
def test_weights_by_margin_that_pass_are_private(
    case: tuple[rb.DP, int, int, tuple[int, ...]],
) -> None:
    if accepts(*case):
        assert not margins_break(*case)


@pytest.mark.parametrize("answers", [2, 3])
@pytest.mark.parametrize("ratio", [1, 2, 3])
@pytest.mark.parametrize("sixths", [0, 1, 3])
def test_of_all_weights_by_margin_none_that_passes_breaks_the_promise(
    answers: int, ratio: int, sixths: int
) -> None:
    """Every falling sequence of three weights out of 12, and those that miss by one demand."""
    guarantee = rb.DP.from_ratio(ratio, delta=Fraction(sixths, 6))
    passed = 0
    for steps in itertools.combinations_with_replacement(range(12, -1, -1), 3):
        if accepts(guarantee, answers, 12, steps):
            passed += 1
            assert not margins_break(guarantee, answers, 12, steps), steps
    possible = ratio >= answers - 1 or sixths == 3
    assert passed > 0 or not possible


@pytest.mark.parametrize(
    ("fault", "ratio", "answers", "total", "steps"),
    [
        ("a loser's weight falls too fast", 3, 3, 100, (25, 8, 3, 1)),
        ("the true answer rises too fast", 2, 4, 100, (34, 34)),
        ("a border is too steep", 3, 3, 100, (24, 8, 3, 1)),
        ("the losers have too much", 2, 2, 100, (67, 67)),
    ],
)
def test_each_demand_is_made_and_brute_force_agrees(
    fault: str, ratio: int, answers: int, total: int, steps: tuple[int, ...]
) -> None:
    guarantee = rb.DP.from_ratio(ratio)
    with pytest.raises(rb.InvalidMechanism) as caught:
        prove_margins(guarantee, answers, total, steps)
    assert fault in str(caught.value)
    assert margins_break(guarantee, answers, total, steps)


@given(strategies.ratios(), st.integers(2, 6), st.integers(0, 20), st.booleans())
@settings(max_examples=200, deadline=None)
@example(Fraction(2), 2, 0, True)
@example(Fraction(51, 10), 6, 0, True)
def test_the_closed_form_passes_wherever_it_is_private(
    ratio: Fraction, answers: int, twentieths: int, wide: bool
) -> None:
    guarantee = rb.DP.from_ratio(ratio, delta=Fraction(twentieths, 20))
    if answers - 1 >= ratio:
        assert not proximity_holds(answers, guarantee)
        return
    margins = proximity_weights(answers, guarantee, TOTAL if wide else 10**15)
    assert accepts(guarantee, answers, margins.total, margins.steps)


@pytest.mark.parametrize("epsilon", ["0.7", "1", "1.4", "5", "40", "700", "1e-3"])
@pytest.mark.parametrize("delta", ["0", "1e-300", "1e-9", "0.3", "1"])
@pytest.mark.slow
def test_the_closed_form_passes_for_decimals(epsilon: str, delta: str) -> None:
    guarantee = rb.DP(epsilon, delta)
    most = min(10, int(ratio_below(guarantee) * (1 - Fraction(1, 1 << 39))) + 1)
    for answers in range(2, most + 1):
        margins = proximity_weights(answers, guarantee)
        assert accepts(guarantee, answers, margins.total, margins.steps)


@pytest.mark.parametrize(
    ("total", "steps"),
    [
        (100.0, (25, 9, 3, 1)),
        (100, (25.0, 9, 3, 1)),
        (100, (25, 9, 3, 1.0)),
        (Fraction(100), (25, 9, 3, 1)),
        (True, (False,)),
        (float("inf"), (25, 9, 3, 1)),
        (float("nan"), (25, 9, 3, 1)),
        (100, (25, 9, 3, -1)),
        (100, (9, 25)),
        (100, ()),
        (0, (0,)),
        (-100, (0,)),
        (100, ("25", "9")),
        ("100", (25, 9, 3, 1)),
    ],
)
@pytest.mark.parametrize("delta", [0, "0.5", 1])
def test_margins_that_are_no_weights_are_refused(total: Any, steps: Any, delta: Any) -> None:
    with pytest.raises(rb.InvalidMechanism):
        prove_margins(rb.DP.from_ratio(3, delta=delta), 3, total, steps)


def test_margins_need_two_answers_and_dp() -> None:
    for answers in (0, 1):
        with pytest.raises(rb.InvalidMechanism):
            prove_margins(rb.DP.from_ratio(3), answers, 100, (25, 9, 3, 1))
    for guarantee in (rb.GaussianDP(1), rb.TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)])):
        with pytest.raises(rb.InvalidMechanism) as caught:
            prove_margins(guarantee, 2, 100, (34, 17))
        reference.assert_one_sentence(caught.value, "(ε,δ)")


# margins for which the losers have at most so much together


def within(guarantee: rb.DP, answers: int, total: int, steps: tuple[int, ...], most: Any) -> bool:
    try:
        prove_margins(guarantee, answers, total, steps, most)
    except rb.InvalidMechanism:
        return False
    return True


@pytest.mark.parametrize("ratio", [2, 3])
def test_of_all_bounded_weights_none_that_passes_breaks_the_promise(ratio: int) -> None:
    """Every falling sequence of two weights out of 12 with its best bound, on all rows within."""
    guarantee, lines = rb.DP.from_ratio(ratio), [(Fraction(ratio), Fraction(0))]
    pairs, passed = reference.margin_pairs(3, 3), 0
    for steps in itertools.combinations_with_replacement(range(9, 0, -1), 2):
        found = [most for most in range(1, 12) if within(guarantee, 3, 12, steps, most)]
        assert found == list(range(1, len(found) + 1))
        passed += bool(found)
        for margins in pairs if found else ():
            p, q = (reference.margin_row(12, steps, one) for one in margins)
            if 12 - min(p[margins[0].index(0)], q[margins[1].index(0)]) <= found[-1]:
                assert reference.integer_excess(p, q, lines) <= 0, (steps, margins)
    assert passed > 0


@pytest.mark.parametrize(
    ("fault", "ratio", "total", "steps", "most"),
    [
        ("a loser's weight falls too fast", 3, 100, (25, 8), 30),
        ("the true answer rises too fast", 3, 100, (25, 9), 76),
        ("a border is too steep", 3, 100, (24, 8), 30),
        ("the losers have too much", 2, 102, (69, 68), 68),
    ],
)
def test_each_demand_is_made_of_bounded_weights(
    fault: str, ratio: int, total: int, steps: tuple[int, ...], most: int
) -> None:
    with pytest.raises(rb.InvalidMechanism, match=fault):
        prove_margins(rb.DP.from_ratio(ratio), 9, total, steps, most)


def test_bounded_weights_pass_up_to_the_last_unit() -> None:
    assert within(rb.DP.from_ratio(3), 9, 100, (25, 9), 75)  # 75·(9 − 1) = 100·(9 − 3)
    assert within(rb.DP.from_ratio(2), 9, 102, (68, 68), 68)  # 68 = 2·(102 − 68)


def test_a_bound_is_a_whole_number_below_the_total_and_without_delta() -> None:
    three, steps = rb.DP.from_ratio(3), (25, 9)
    assert within(three, 2, 100, steps, 1)
    odd: list[Any] = [0, -1, 100, 1.0, True, Fraction(30), "30"]
    for wrong in odd:
        with pytest.raises(rb.InvalidMechanism, match="must be below the total, and delta 0"):
            prove_margins(rb.DP.from_ratio(1000), 2, 100, steps, wrong)
    with pytest.raises(rb.InvalidMechanism, match="must be below the total, and delta 0"):
        prove_margins(rb.DP.from_ratio(3, delta="1/100"), 2, 100, steps, 30)


def test_margins_of_any_total_and_of_only_so_many_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prove_margins(rb.DP.from_ratio(1, delta=1), 2, 1, (0,))
    assert MOST_STEPS == LONGEST  # as many as are made
    monkeypatch.setattr("rainbowdp.rules.proximity.proof.MOST_STEPS", 3)
    assert prove_margins(rb.DP.from_ratio(3), 2, 4, (1,) * 3)
    with pytest.raises(rb.InvalidMechanism, match="must be at most 3, got 4"):
        prove_margins(rb.DP.from_ratio(3), 2, 4, (1,) * 4)

"""One ladder for all answers, against every set of answers of every two of the rows it stands for.

The oracle spells out a row for each answer and depth and shares no code with the proof, which sees
two or three numbers of each pair.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
from kinds import homogeneous
from rainbowdp.aliases import Weights
from rainbowdp.errors import NoPlace
from rainbowdp.exact.steps import BITS, alike_ladder, ladder, symmetric_pair
from rainbowdp.guarantees.polygons import safe_curve
from rainbowdp.rules.homogeneous.proof import prove_alike, prove_ladders
from rainbowdp.rules.homogeneous.rule import OneLadder

Pairs = list[tuple[int, int]]

TOTAL = 1 << BITS


def spelled(pairs: Pairs, answers: int) -> dict[int, list[Weights]]:
    """The rows of each answer by depth."""
    return {
        truth: [tuple(a if v == truth else b for v in range(answers)) for a, b in pairs]
        for truth in range(answers)
    }


def neighbors(pairs: Pairs, answers: int) -> Iterator[tuple[Weights, Weights]]:
    """Every two rows that may stand on neighboring tables."""
    rows = spelled(pairs, answers)
    for regions in rows.values():
        yield from itertools.pairwise(regions)
    for one, other in itertools.combinations(rows.values(), 2):
        yield one[0], other[0]


@st.composite
def small(draw: Any) -> tuple[int, Pairs]:
    """Ladders of a small total, most of them with steps that go too far or nowhere."""
    answers = draw(st.integers(2, 5))
    total = draw(st.integers(1, 60))
    shares = draw(st.lists(st.integers(0, total // (answers - 1)), min_size=1, max_size=4))
    shares = draw(st.sampled_from([shares, sorted(shares, reverse=True)]))
    return answers, [(total - (answers - 1) * share, share) for share in shares]


@pytest.mark.slow
@given(
    small(),
    st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(2), Fraction(5)]),
    st.sampled_from([Fraction(0), Fraction(1, 20), Fraction(1, 4), Fraction(1, 2)]),
)
@settings(max_examples=400, deadline=None)
def test_a_proof_says_what_all_sets_of_all_pairs_of_rows_say(
    drawn: tuple[int, Pairs], ratio: Fraction, delta: Fraction
) -> None:
    answers, pairs = drawn
    promise = rb.DP.from_ratio(ratio, delta=delta)
    every = list(neighbors(pairs, answers))
    fine = not any(reference.integer_excess(p, q, [(ratio, delta)]) for p, q in every)
    event(f"private: {fine}")
    if fine:
        proof = prove_alike(promise, answers, pairs)
        assert proof.pairs == len(every)
        rows = {label: tuple(regions) for label, regions in spelled(pairs, answers).items()}
        whole = prove_ladders(promise, rows, itertools.combinations(rows, 2))
        assert proof == whole
    else:
        with pytest.raises(rb.InvalidMechanism, match="neighboring rows must be close"):
            prove_alike(promise, answers, pairs)


@pytest.mark.slow
@given(small(), st.sampled_from(["0.3", "1", "2"]))
@settings(max_examples=60, deadline=None)
def test_a_gaussian_proof_says_what_all_sets_say(drawn: tuple[int, Pairs], mu: str) -> None:
    answers, pairs = drawn
    fine = all(
        reference.gaussian_close(p, q, Fraction(mu), 40) for p, q in neighbors(pairs, answers)
    )
    event(f"private: {fine}")
    if fine:
        assert prove_alike(rb.GaussianDP(mu), answers, pairs)
    else:
        with pytest.raises(rb.InvalidMechanism, match="neighboring rows must be close"):
            prove_alike(rb.GaussianDP(mu), answers, pairs)


GUARANTEES = [
    rb.DP("0.1"),
    rb.DP(1),
    rb.DP(8),
    rb.DP.from_ratio(3, 2),
    rb.DP(1, "1e-3"),
    rb.DP(0, "0.05"),
    rb.DP("0.2", "0.3"),
    rb.GaussianDP("0.2"),
    rb.GaussianDP(1),
    rb.GaussianDP(5),
]


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
@pytest.mark.parametrize("answers", [2, 3, 5, 10_000])
def test_a_ladder_is_proved_and_no_rival_can_have_a_unit_less(guarantee: Any, answers: int) -> None:
    """The first pair is the best, and each step goes as far as it may: one unit more is refused."""
    pairs = list(alike_ladder(guarantee, answers))
    assert prove_alike(guarantee, answers, pairs)
    assert pairs[0] == symmetric_pair(guarantee, answers)
    assert all(a + (answers - 1) * b == TOTAL for a, b in pairs)
    assert all(deep[1] < shallow[1] for shallow, deep in itertools.pairwise(pairs))
    for depth in {0, 1, 2, len(pairs) // 2, len(pairs) - 1} & set(range(len(pairs))):
        _, share = pairs[depth]
        if share:
            more = (TOTAL - (answers - 1) * (share - 1), share - 1)
            with pytest.raises(rb.InvalidMechanism, match="must be close"):
                prove_alike(guarantee, answers, [*pairs[:depth], more])
    # And the step after the last one would change nothing.
    if pairs[-1][1]:
        following = (TOTAL - (answers - 1) * (pairs[-1][1] - 1), pairs[-1][1] - 1)
        with pytest.raises(rb.InvalidMechanism, match="must be close"):
            prove_alike(guarantee, answers, [*pairs, following])


@pytest.mark.parametrize("guarantee", [g for g in GUARANTEES if isinstance(g, rb.DP)], ids=str)
@pytest.mark.parametrize("answers", [2, 3, 7])
def test_the_greatest_mechanism_says_the_true_answer_no_more_often(
    guarantee: Any, answers: int
) -> None:
    """The one that has the best of every prefix of the listed answers favors those listed first."""
    pairs = alike_ladder(guarantee, answers)
    first, other = pairs[0]
    rows = ladder(safe_curve(guarantee), (first, *[other] * (answers - 1)))
    for row, (a, _) in zip(rows, pairs, strict=False):
        assert TOTAL - row[0] == pytest.approx(TOTAL - a, rel=1e-9, abs=1000)
        assert row[0] == pytest.approx(a, rel=1e-9)
    if answers == 2:
        assert rows == pairs


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
def test_the_true_answer_is_as_likely_as_the_curve_allows(guarantee: Any) -> None:
    """φ^t of the first chance, up to a few units of rounding at each depth."""
    pairs = alike_ladder(guarantee, 4)
    for depth in range(min(len(pairs), 40)):
        missed = 1 - guarantee.grow(pairs[0][0] / TOTAL, depth)
        assert 3 * pairs[depth][1] / TOTAL == pytest.approx(missed, rel=1e-9, abs=1e-12)


def test_a_row_is_found_by_an_answer_and_a_depth() -> None:
    rule = OneLadder(((6, 3), (8, 2), (10, 1)))
    assert rule.weights(("b", 0), "abc") == (3, 6, 3)
    assert rule.weights(("c", 1), "abc") == (2, 2, 8)
    for depth in (2, 3, 10**30):
        assert rule.weights(("a", depth), "abc") == (10, 1, 1)
    wrong: list[Any] = [
        ("d", 0), ("a", -1), ("a", True), ("a", 0.0), ("a", float("inf")), ("a", None), ("a",),
        ("a", 0, 0), ["a", 0], "a", None, ([], 0),
    ]  # fmt: skip
    for key in wrong:
        with pytest.raises(NoPlace):
            rule.weights(key, ("a", "b", "c"))


@pytest.mark.parametrize("wrong", [(), ((1,),), ((1, 1, 1),), ((1, 1), (1, 1, 1))])
def test_a_ladder_has_two_weights_at_each_depth(wrong: Any) -> None:
    exact = homogeneous(rb.Winner(["a", "b", "c"]), rb.DP(1)).exact()
    with pytest.raises(rb.InvalidMechanism, match="two weights at each depth"):
        replace(exact, rule=OneLadder(wrong))


@pytest.mark.parametrize(
    "guarantee", [rb.DP(1, "1e-6"), rb.GaussianDP(1), rb.GaussianDP("0.1")], ids=str
)
def test_ten_thousand_answers_have_a_small_file_that_proves_itself(
    guarantee: Any, tmp_path: Any
) -> None:
    question = rb.Winner([f"{number}" for number in range(10_000)])
    mechanism = homogeneous(question, guarantee)
    file = mechanism.save(tmp_path / "m.json")
    assert file.stat().st_size < 300_000
    back = rb.load(file)
    assert back == mechanism.exact()
    counts = {"17": 10**6, "3": 10**6 - 5}
    row = back.at(counts)
    assert sum(row.weights) == TOTAL
    assert set(row.weights[:17] + row.weights[18:]) == {row.weights[0]}
    assert row.weights[17] > row.weights[0]


def test_each_number_below_the_total_draws_an_answer_as_often_as_its_weight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers, rule = ("a", "b", "c", "d"), OneLadder(((5, 2), (8, 1)))
    for truth, depth in itertools.product(answers, (0, 1, 7)):
        drawn: list[Any] = []
        for number in range(11):
            monkeypatch.setattr("secrets.randbelow", lambda total, n=number: n % total)
            drawn.append(rule.drawer((truth, depth), answers)())
        assert tuple(map(drawn.count, answers)) == rule.weights((truth, depth), answers)


@pytest.mark.parametrize("key", [("z", 0), ("a", -1), ("a", 1.5), ("a",), "a"])
def test_nothing_is_drawn_where_there_is_no_place(key: Any) -> None:
    with pytest.raises(NoPlace):
        OneLadder(((5, 2),)).drawer(key, ("a", "b", "c", "d"))


@pytest.mark.parametrize("place", range(3))
def test_what_becomes_a_whole_number_when_multiplied_is_refused(place: int) -> None:
    ladder = [(4, 1), (4, 1), (4, 1)]
    assert prove_alike(rb.DP.from_ratio(10), 3, ladder)
    ladder[place] = (4, True)
    with pytest.raises(rb.InvalidMechanism, match="weights must be integers from 0, got others"):
        prove_alike(rb.DP.from_ratio(10), 3, ladder)


def test_a_proof_counts_the_rows_that_it_stands_for() -> None:
    pairs = [(6, 3), (8, 2), (10, 1)]
    proof = prove_alike(rb.DP.from_ratio(2), 3, pairs)
    assert proof.pairs == sum(1 for _ in neighbors(pairs, 3)) == 9
    assert proof.statement.startswith("9 pairs of rows with total weight 12")

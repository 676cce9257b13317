"""The proof for ordered bins: what passes is private, and each demand is needed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

import rainbowdp as rb
from rainbowdp.rules.ordered_bins.build import ordered_weights
from rainbowdp.rules.ordered_bins.proof import _beside, _far_in_a_fault, prove_ordered

Leads = tuple[int, ...]
Steps = tuple[int, ...]


def row(leads: Leads, total: int, steps: Steps) -> list[Fraction]:
    """The row at some leads, straight from the formula of docs/quantiles.md."""

    def g(margin: int) -> int:
        return steps[min(margin, len(steps)) - 1]

    def loser(seen: list[int], edge: int) -> Fraction:
        own = seen[edge]
        others = (g(1 + max(own - x, x)) for i, x in enumerate(seen) if i != edge)
        return Fraction(g(1 + own), total + g(1) + sum(others))

    true = sum(lead < 0 for lead in leads)
    mirrored = [-1 - lead for lead in leads]
    below = [loser(mirrored, edge) for edge in range(true)]
    above = [loser(list(leads), edge) for edge in range(true, len(leads))]
    return [*below, Fraction(1) - sum(below) - sum(above), *above]


def far_pair(ratio: Fraction, bins: int, total: int, steps: Steps) -> tuple[Leads, Leads] | None:
    """Two neighboring states whose rows are further apart than ``ratio``, by brute force."""
    reach = 5 if bins < 5 else 4
    rows = {
        leads: row(leads, total, steps)
        for leads in itertools.combinations_with_replacement(range(-reach, reach), bins - 1)
    }
    for leads, other in itertools.product(rows, (False, True)):
        for moved in runs(leads):
            if moved in rows:
                pair = (leads, moved) if other else (moved, leads)
                if any(p > ratio * q for p, q in zip(*map(rows.__getitem__, pair), strict=True)):
                    return pair
    return None


def runs(leads: Leads) -> Iterator[Leads]:
    for start, end in itertools.combinations(range(len(leads) + 1), 2):
        moved = (*leads[:start], *(lead - 1 for lead in leads[start:end]), *leads[end:])
        if list(moved) == sorted(moved):
            yield moved


def passes(ratio: Fraction, bins: int, total: int, steps: Steps) -> bool:
    try:
        prove_ordered(rb.DP.from_ratio(ratio), bins, total, steps)
    except rb.InvalidMechanism:
        return False
    return True


@pytest.mark.parametrize(
    ("fault", "bins", "ratio", "total", "steps"),
    [
        # one demand on the weights, missed by little
        ("the weights fall too fast", 3, "4", 10, (8, 1, 1, 1, 1)),
        ("the weights fall too fast", 2, "3/2", 3, (2, 2, 2, 2, 1, 1)),
        ("the weights fall too fast", 3, "2", 19, (15, 7, 4, 4, 4)),
        ("a border is too steep", 2, "5/4", 12, (9,)),
        ("a border is too steep", 2, "3/2", 4, (2, 2, 2, 2)),
        # the true bin across a border: nothing but g_1 ≤ E·p·(G + X/E) refuses these
        ("the losers have too much", 4, "4", 7, (7, 3, 1)),
        ("the losers have too much", 4, "5", 7, (7, 3, 1)),
        ("the losers have too much", 4, "8", 19, (18, 6, 1, 1, 1)),  # nor with X for X/E
        # the true bin while it stays true
        ("the losers have too much", 4, "3", 13, (9, 3, 3, 3, 1, 1)),
        ("the losers have too much", 4, "2", 7, (4, 4, 4, 2, 1, 1)),
        ("the losers have too much", 5, "3", 11, (6, 2, 2, 1, 1)),  # a run of some edges
        # states that must all be gone through
        ("the losers have too much", 5, "4", 13, (11, 11, 11, 3)),  # with bins that are far
        ("the losers have too much", 4, "8", 13, (12, 10, 2, 1, 1)),  # and with none
        ("the losers have too much", 5, "5", 3, (3, 3, 1, 1, 1)),  # far bins have something
        ("the losers have too much", 5, "5", 18, (15, 15, 3, 1)),  # as much as the next weight
        ("the losers have too much", 5, "4", 13, (7, 7, 3, 1)),  # bins above
        ("the losers have too much", 4, "5", 10, (8, 2)),  # and below
        ("the losers have too much", 4, "4", 19, (14, 4, 4, 4, 1, 1)),  # at one place
        ("the losers have too much", 5, "5", 16, (12, 3, 1)),  # up to the last near one
        # how crowded it is around a bin
        ("the losers have too much", 3, "4", 13, (13, 13, 4, 1, 1, 1)),
        ("the losers have too much", 4, "8", 20, (20, 20, 20, 3, 1)),
        ("the losers have too much", 4, "8", 12, (11, 3, 3, 3, 1)),
        ("the losers have too much", 4, "5", 5, (4, 1, 1, 1)),
        ("the losers have too much", 3, "5/4", 19, (19, 16, 13, 11, 9, 9)),
        ("the losers have too much", 4, "5/4", 18, (16, 16, 13, 11, 9)),
        ("the losers have too much", 5, "4", 6, (6, 2, 2, 1, 1)),
        # ratios that are no whole numbers: the border, and the true bin while it stays true
        ("the losers have too much", 4, "9/2", 13, (13, 10, 4, 1)),
        ("the losers have too much", 4, "9/2", 13, (9, 9, 2, 2, 2, 2)),
    ],
)
def test_each_demand_is_made_and_brute_force_agrees(
    fault: str, bins: int, ratio: str, total: int, steps: Steps
) -> None:
    with pytest.raises(rb.InvalidMechanism) as caught:
        prove_ordered(rb.DP.from_ratio(ratio), bins, total, steps)
    assert fault in str(caught.value)
    assert far_pair(Fraction(ratio), bins, total, steps)


@pytest.mark.parametrize(
    ("bins", "ratio", "total", "steps"),
    [
        (4, "3", 16, (11, 11, 4, 4, 3)),  # far bins may crowd a neighboring state
        (4, "4", 13, (5,)),  # each far bin has something
        (3, "4", 3, (2, 2, 2)),  # rounded up
        (3, "4", 6, (4,)),  # the true bin has just less than 1/(1+E)
        (3, "2", 5, (4, 2)),  # a run that starts at the first edge
    ],
)
def test_what_the_argument_does_not_reach_is_refused(
    bins: int, ratio: str, total: int, steps: Steps
) -> None:
    """Brute force refutes none of these; a bound left out of the proof would let them pass."""
    assert not passes(Fraction(ratio), bins, total, steps)


@pytest.mark.parametrize(("bins", "ratio"), [(2, "2"), (3, "2"), (3, "3"), (4, "3"), (4, "5")])
def test_of_all_small_weights_none_that_passes_breaks_the_promise(bins: int, ratio: str) -> None:
    """Every falling sequence of three weights out of 8."""
    passed = 0
    for steps in itertools.combinations_with_replacement(range(8, 0, -1), 3):
        if passes(Fraction(ratio), bins, 8, steps):
            passed += 1
            assert far_pair(Fraction(ratio), bins, 8, steps) is None, steps
    assert passed > 0


def test_one_unit_too_many_is_refused_however_fine_they_are() -> None:
    """Found by bisection; the proof rounds probabilities to 96 bits, and to the safe side."""
    unit = 1 << 150
    first = 12673890603525283465167124672144683259008659439
    rest = (3 * unit, 3 * unit, 3 * unit, unit, unit)
    assert far_pair(Fraction(3), 4, 13 * unit, (first - 1, *rest)) is None
    assert far_pair(Fraction(3), 4, 13 * unit, (first, *rest))
    assert not passes(Fraction(3), 4, 13 * unit, (first, *rest))


def test_the_checker_can_fail() -> None:
    guarantee = rb.DP(1)
    rule = ordered_weights(4, guarantee)
    total, steps = rule.total, list(rule.steps)
    assert "4 ordered bins" in prove_ordered(guarantee, 4, total, steps).statement
    less = 1 - Fraction(1, 10**6)
    for place, fault in [(0, "a border is too steep"), (3, "the weights fall too fast")]:
        broken = [*steps[:place], int(steps[place] * less), *steps[place + 1 :]]
        with pytest.raises(rb.InvalidMechanism, match=fault):
            prove_ordered(guarantee, 4, total, broken)
    wrong: list[tuple[Any, str]] = [
        ([*steps, steps[-1] + 1], "the weights rise"),
        ([*steps, 0], "above 0"),
        ([], "above 0"),
        ([float(step) for step in steps], "must be integers"),
        ([total] * 3, "losers have too much"),
    ]
    for given_steps, fault in wrong:
        with pytest.raises(rb.InvalidMechanism, match=fault):
            prove_ordered(guarantee, 4, total, given_steps)
    for wrong_total in (float(total), Fraction(total), True, 0, -total):
        with pytest.raises(rb.InvalidMechanism, match="integers of a total"):
            prove_ordered(guarantee, 4, wrong_total, steps)  # type: ignore[arg-type]
    for bins in (0, 1):
        with pytest.raises(rb.InvalidMechanism, match="two or more"):
            prove_ordered(guarantee, bins, total, steps)
    with pytest.raises(rb.InvalidMechanism, match="a border is too steep"):
        prove_ordered(rb.DP.from_ratio(2), 2, 10, (11, 6))
    with pytest.raises(rb.InvalidMechanism, match="losers have too much"):
        prove_ordered(rb.DP(1), 9, total, steps)
    with pytest.raises(rb.InvalidMechanism, match="few enough"):
        prove_ordered(rb.DP(9), 400, total, list(ordered_weights(2, rb.DP(9)).steps))
    with pytest.raises(rb.InvalidMechanism, match="need an"):
        prove_ordered(rb.GaussianDP(1), 4, total, steps)


@pytest.mark.parametrize("place", range(3))
def test_every_weight_must_be_a_whole_number(place: int) -> None:
    steps: list[Any] = [1, 1, 1]
    assert prove_ordered(rb.DP.from_ratio(3), 2, 1, steps)
    for other in (True, 1.0):
        wrong = [*steps[:place], other, *steps[place + 1 :]]
        with pytest.raises(rb.InvalidMechanism, match="must be integers of a total"):
            prove_ordered(rb.DP.from_ratio(3), 2, 1, wrong)


def test_weights_are_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rainbowdp.rules.ordered_bins.proof.MOST_STEPS", 3)
    assert prove_ordered(rb.DP.from_ratio(3), 2, 1, [1] * 3)
    with pytest.raises(rb.InvalidMechanism, match="must be at most 3, got 4"):
        prove_ordered(rb.DP.from_ratio(3), 2, 1, [1] * 4)


@pytest.mark.parametrize(
    ("steps", "fault"),
    [
        ((3, 4, 4), "the weights rise"),
        ((4, 4, 5), "the weights rise"),
        ((8, 3, 3), "the weights fall too fast"),
        ((8, 8, 3), "the weights fall too fast"),
    ],
)
def test_every_two_weights_are_compared(steps: Steps, fault: str) -> None:
    with pytest.raises(rb.InvalidMechanism, match=fault):
        prove_ordered(rb.DP.from_ratio(2), 2, 2 * steps[0], steps)


def test_states_are_counted_from_the_nearest_on() -> None:
    """One edge: it is just before, just behind, or far."""
    proof = prove_ordered(rb.DP.from_ratio(3), 2, 1, [1])
    assert proof.statement.startswith("3 states of 2 ordered bins")


def test_a_border_may_be_as_steep_as_allowed() -> None:
    assert passes(Fraction(2), 2, 4, (2,))
    assert passes(Fraction(2), 2, 2, (2, 1))


def test_states_are_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two edges: each is just before, just behind or far, so six states of nine terms each."""
    monkeypatch.setattr("rainbowdp.rules.ordered_bins.proof._MOST_TERMS", 54)
    proof = prove_ordered(rb.DP.from_ratio(9), 3, 3, [1])
    assert proof.statement.startswith("6 states of 3 ordered bins")
    monkeypatch.setattr("rainbowdp.rules.ordered_bins.proof._MOST_TERMS", 53)
    with pytest.raises(rb.InvalidMechanism, match="few enough"):
        prove_ordered(rb.DP.from_ratio(9), 3, 3, [1])


@pytest.mark.parametrize(
    ("bins", "ratio", "total", "steps", "nearest"),
    [
        (4, 4, 14, (10, 3, 3, 2, 2, 2, 2), 2),  # a far bin may crowd others at all
        (5, 4, 121, (60, 15, 15, 9, 9, 3, 1), 1),  # by the last near weight, not the first far one
        (4, 2, 19, (10, 6, 4, 4, 3), 2),
    ],
)
def test_a_far_bin_may_be_a_near_one_in_a_neighboring_state(
    bins: int, ratio: int, total: int, steps: Steps, nearest: int
) -> None:
    """Just below the least total at which no state with far bins leaves anything open."""
    assert _far_in_a_fault(Fraction(ratio), bins, total, steps, nearest) == 1
    assert _far_in_a_fault(Fraction(ratio), bins, total + 1, steps, nearest) is None


def test_a_far_bin_crowds_by_no_more_than_the_last_near_weight() -> None:
    assert passes(Fraction(3), 3, 284, (200, 200, 185, 168))
    assert passes(Fraction(3), 4, 292, (200, 193, 137, 78))


def test_what_is_just_private_passes_also_where_the_ratio_is_no_whole_number() -> None:
    for bins, ratio, total, steps in ((3, "7/2", 23, (21, 8)), (3, "5/2", 16, (15, 9, 7))):
        assert far_pair(Fraction(ratio), bins, total, steps) is None
        assert passes(Fraction(ratio), bins, total, steps)


def test_a_coin_may_always_be_tossed() -> None:
    """Two bins that are alike everywhere keep ε = 0: the true one has just 1/(1+E)."""
    assert passes(Fraction(1), 2, 1, (1,))


def test_what_is_exactly_as_much_as_allowed_is_no_fault() -> None:
    """Four bins with a quarter each wherever none is far."""
    assert _far_in_a_fault(Fraction(1), 4, 1, (1,), 1) == 1


def test_what_the_grid_cannot_hold_is_rounded_to_the_safe_side() -> None:
    """Where none is far, one state has just twice as much as another, in parts of the grid."""
    assert far_pair(Fraction(2), 4, 3, (2, 1, 1)) is None
    assert _far_in_a_fault(Fraction(2), 4, 3, (2, 1, 1), 1) == 0
    assert _far_in_a_fault(2 + Fraction(1, 10**9), 4, 3, (2, 1, 1), 1) == 1


@pytest.mark.parametrize("edges", [1, 2, 3])
def test_beside_leads_are_those_with_a_run_that_moves_and_the_same_true_bin(edges: int) -> None:
    """Each of them once, and they themselves."""
    near = range(-3, 3)

    def one_record_apart(one: Leads, other: Leads) -> bool:
        moves = [b - a for a, b in zip(one, other, strict=True)]
        run = [place for place, move in enumerate(moves) if move]
        alike = {moves[place] for place in run} in ({1}, {-1})
        return not run or (alike and run == list(range(run[0], run[-1] + 1)))

    def true(leads: Leads) -> int:
        return sum(lead < 0 for lead in leads)

    everywhere = list(itertools.combinations_with_replacement(range(-4, 4), edges))
    for leads in itertools.combinations_with_replacement(near, edges):
        wanted = [
            other
            for other in everywhere
            if one_record_apart(leads, other) and true(leads) == true(other)
        ]
        assert sorted(_beside(leads)) == wanted

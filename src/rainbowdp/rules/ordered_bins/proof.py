"""Proving in integers that ordered bins keep a guarantee, whatever the counts.

Nothing here knows how the weights were made. With E a lower bound on e^ε, G the total, g_t the
weights and X the sum of g_λ over the losers, these demands are enough (``docs/quantiles.md`` has
the argument):

1. g falls, stays above 0, and g_t ≤ E·g_{t+1};
2. g_1 ≤ G ≤ E·g_1;
3. in every state where the true bin has p < 1/(1+E): p' ≤ E·p in all neighboring states with the
   same true bin, and g_1 ≤ E·p·(G + X/E).

Of the states in 3 there are finitely many once margins above some T are merely "far". A far loser
has between 0 and g_{T+1}/(G + g_1) itself, and adds between 0 and g_T to the crowd around others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.guarantees.closeness import lines_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee

_MOST_TERMS = 1_000_000  # of the sums over all states; more is refused
MOST_STEPS = (1 << 15) + 1  # as many as are made; a file may claim anything
_GRID = 1 << 96  # probabilities of losers are rounded up to this


def prove_ordered(guarantee: Guarantee, answers: int, total: int, steps: Sequence[int]) -> Check:
    """The weights keep ε between any two tables that differ in one record."""
    if not isinstance(guarantee, DP):
        raise InvalidMechanism(f"ordered bins need an (ε,δ) guarantee, got {guarantee}")
    if type(total) is not int or total <= 0 or any(type(step) is not int for step in steps):
        raise InvalidMechanism(f"weights of ordered bins must be integers of a total, got {total}")
    if len(steps) > MOST_STEPS:
        raise InvalidMechanism(
            f"the weights of ordered bins must be at most {MOST_STEPS:,}, got {len(steps):,}"
        )
    if answers < 2 or not steps or steps[-1] <= 0:
        raise InvalidMechanism("ordered bins must be two or more, with weights above 0")
    ((ratio, _),) = lines_of(guarantee)
    demands = {
        "the weights rise": all(a >= b for a, b in itertools.pairwise(steps)),
        "the weights fall too fast": all(a <= ratio * b for a, b in itertools.pairwise(steps)),
        "a border is too steep": steps[0] <= total <= ratio * steps[0],
    }
    for fault, holds in demands.items():
        if not holds:
            raise InvalidMechanism(f"ordered bins must keep {guarantee}, but {fault}")
    for nearest in (1 << doubling for doubling in itertools.count()):
        states = math.comb(2 * nearest + answers - 1, answers - 1)
        if states * answers**2 > _MOST_TERMS:
            raise InvalidMechanism(
                f"ordered bins must be few enough to check, got {answers} of them for {guarantee}"
            )
        far = _far_in_a_fault(ratio, answers, total, steps, nearest)
        if far is None:
            return Check.proved(guarantee, states, f"{states} states of {answers} ordered bins")
        if far == 0 or nearest >= len(steps):
            raise InvalidMechanism(
                f"ordered bins must keep {guarantee}, but the losers have too much"
            )
    raise AssertionError("counting does not end")


def _far_in_a_fault(
    ratio: Fraction, answers: int, total: int, steps: Sequence[int], nearest: int
) -> int | None:
    """How many bins are far in the first state that breaks the third demand; none if none does."""
    top, bottom = ratio.numerator, ratio.denominator
    distant = -(-_step(steps, nearest) * _GRID // (total + steps[0]))
    for far in range(answers):
        hidden = far * _step(steps, nearest - 1)
        for leads in _rising(nearest, answers - 1 - far):
            losers = list(_losers(leads, steps))
            taken = sum(-(-weight * _GRID // (total + crowd)) for weight, crowd in losers)
            left = _GRID - taken - far * distant
            if left * (bottom + top) >= _GRID * bottom:
                continue
            spread = sum(weight for weight, _ in losers)
            if _GRID * steps[0] * bottom > left * (top * total + bottom * spread):
                return far
            for beside in _beside(leads):
                given = sum(
                    weight * _GRID // (total + crowd + hidden)
                    for weight, crowd in _losers(beside, steps)
                )
                if bottom * (_GRID - given) > top * left:
                    return far
    return None


def _rising(nearest: int, edges: int) -> Iterator[tuple[int, ...]]:
    return itertools.combinations_with_replacement(range(-nearest, nearest), edges)


def _beside(leads: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The leads that one record can make of these while the true bin stays, these among them."""
    yield leads
    for start, end in itertools.combinations(range(len(leads) + 1), 2):
        for change in (-1, 1):
            run = [lead + change for lead in leads[start:end]]
            moved = (*leads[:start], *run, *leads[end:])
            same = all((a < 0) == (b < 0) for a, b in zip(leads, moved, strict=True))
            if same and list(moved) == sorted(moved):
                yield moved


def _losers(leads: Sequence[int], steps: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The weight of each loser, and the weights around it, were it the true bin."""
    for place, lead in enumerate(leads):
        crowd = steps[0]
        for other, beside in enumerate(leads):
            if other != place:
                away = lead - beside if lead >= 0 else beside - lead
                facing = beside if lead >= 0 else -1 - beside
                crowd += _step(steps, max(away, facing))
        yield _step(steps, lead if lead >= 0 else -1 - lead), crowd


def _step(steps: Sequence[int], place: int) -> int:
    return steps[min(place, len(steps) - 1)]

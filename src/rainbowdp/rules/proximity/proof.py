"""Proving weights by margin: four inequalities that are enough for every margin function."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.expecting import brief
from rainbowdp.guarantees.closeness import lines_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee

MOST_STEPS = 1 << 15  # as many as are made; a file may claim anything


def prove_margins(
    guarantee: Guarantee, answers: int, total: int, steps: Sequence[int], most: int | None = None
) -> Check:
    """The weights by margin keep (ε,δ) for every margin function whatever.

    With E = e^ε, D = δ·total, q − 1 losers, weights g_1 ≥ g_2 ≥ … ≥ 0 and g_t for a margin t:

    1. g_t ≤ E·g_{t+1} + D/(q−1): losers, and every set without the true answer;
    2. total·(1−E) + (q−1)·max(E·g_t − g_{t+1}) ≤ D: a set with the true answer, where its
       complement are losers; weights fall, so this is the most of E·g_{t'} − g_t over |t − t'| ≤ 1;
    3. total ≤ (1+E)·g_1 + D: the true answer across a border, where its margin is 1;
    4. g_1 ≤ E·(total − (q−1)·g_1): and back.

    Where the losers never have more than ``most`` together, for δ = 0 only, instead of 2 and 4:

    2. most·(E² − 1) ≤ total·(E² − E): with Y and Y' for what the losers have on both sides, Y' ≤
       E·Y by 1, so that E·Y' − Y ≤ (E − 1/E)·Y' ≤ (E − 1)·total;
    4. g_1 ≤ E·(total − most).
    """
    if not isinstance(guarantee, DP):
        raise InvalidMechanism(f"weights by margin need an (ε,δ) guarantee, got {guarantee}")
    if type(total) is not int or total <= 0 or any(type(step) is not int for step in steps):
        raise InvalidMechanism(f"weights by margin must be integers of a total, got {brief(total)}")
    if len(steps) > MOST_STEPS:
        raise InvalidMechanism(
            f"weights by margin must be at most {MOST_STEPS:,}, got {len(steps):,}"
        )
    ((ratio, delta),) = lines_of(guarantee)
    losers, slack = answers - 1, delta * total
    if losers < 1 or not steps or any(b > a for a, b in itertools.pairwise(steps)) or steps[-1] < 0:
        raise InvalidMechanism("weights by margin must fall, stay at or above 0 and have a loser")
    chain = [*steps, steps[-1]]
    widest = max(ratio * a - b for a, b in itertools.pairwise(chain))
    first = steps[0]
    if most is not None and (type(most) is not int or not 0 < most < total or slack):
        raise InvalidMechanism("what others have at most must be below the total, and delta 0")
    crowd = losers * first if most is None else most
    rises = (
        total * (1 - ratio) + losers * widest <= slack
        if most is None
        else most * (ratio * ratio - 1) <= total * (ratio * ratio - ratio)
    )
    demands = {
        "a loser's weight falls too fast": all(
            a <= ratio * b + slack / losers for a, b in itertools.pairwise(chain)
        ),
        "the true answer rises too fast": rises,
        "a border is too steep": total <= (1 + ratio) * first + slack,
        "the losers have too much": first <= ratio * (total - crowd),
    }
    for fault, holds in demands.items():
        if not holds:
            raise InvalidMechanism(f"weights by margin must keep {guarantee}, but {fault}")
    statement = f"{len(steps)} weights by margin with total weight {total}"
    return Check.proved(guarantee, len(steps), statement)

"""Proving coins for a vote: how far one person moves the scores, and how fast the chances fall.

Permute-and-flip changes by at most the factor 1/ratio for each step by which one person can move
the scores, whatever the number of answers (``docs/flips.md``), if the chance of heads never
rises with the distance and falls by that factor at most for a step. So ratio^moves · e^ε ≥ 1 is
enough. What one person can move comes from the question, not from the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.falling_proof import Chances, must_fall, must_keep
from rainbowdp.exact.scores_proof import Distances, moves_of_counts
from rainbowdp.guarantees.closeness import lines_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee


def prove_coins(
    guarantee: Guarantee,
    answers: int,
    question: Mapping[str, Any],
    distances: Distances,
    coins: Chances,
) -> Check:
    """The coins keep the guarantee for every vote of the ``question``."""
    if not isinstance(guarantee, DP):
        raise InvalidMechanism(f"permute-and-flip needs an (ε,δ) guarantee, got {guarantee}")
    if coins.top != coins.total:
        raise InvalidMechanism("the coin of a leader must always show heads, but does not")
    moves = moves_of_counts(answers, question, distances)
    ((allowed, _),) = lines_of(guarantee)
    must_keep(allowed, coins, moves, guarantee)
    compared = must_fall(coins)
    steps = f"{moves} steps of a factor 1 − {float(1 - coins.ratio):.6g} between neighbors"
    return Check.proved(
        guarantee, compared, f"permute-and-flip with {steps}, {compared} coins compared"
    )

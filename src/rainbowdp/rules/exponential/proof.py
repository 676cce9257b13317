"""Proving weights by scores: how far apart one person can move the changes of two answers.

If one person moves the scores by ``moves`` steps in all, the ratios p'_v/p_v of all answers lie
within a factor R = ratio^−moves of each other: the mechanism is *range-bounded* by log R. As the
ratios are on both sides of 1, that keeps ε once R ≤ e^ε. And no set of chance s then has more than
the chance of odds R·s/(1 − s), a curve that lies below that of μ-Gaussian privacy once

    √R ≤ Φ(μ/2)/(1 − Φ(μ/2))

And no Rényi divergence of order α then exceeds α·(log R)²/8, which is ρ-zero-concentrated privacy
once

    log R ≤ √(8ρ)

(``docs/exponential.md`` has the three arguments). What one person can move comes from the question,
not from the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.falling_proof import Chances, must_fall, must_keep
from rainbowdp.exact.scores_proof import Distances, moves_of_counts, moves_of_margins
from rainbowdp.guarantees.closeness import BITS, exp_below, lines_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.quantity import ball, dyadic, precision, root_below

FOR = "(ε,δ), Gaussian or zero-concentrated privacy"


def prove_weights(
    guarantee: Guarantee,
    answers: int,
    vote: Mapping[str, Any] | None,
    distances: Distances,
    weights: Chances,
) -> Check:
    """The weights keep the guarantee: for the described ``vote``, or for all margins."""
    if weights.top != weights.total:
        raise InvalidMechanism("the best answer must have the largest weight, but has not")
    if vote is None:
        moves = moves_of_margins(answers, distances)
    else:
        moves = moves_of_counts(answers, vote, distances)
    must_keep(range_within(guarantee), weights, moves, guarantee)
    compared = must_fall(weights)
    steps = f"{moves} steps of a factor 1 − {float(1 - weights.ratio):.6g} between neighbors"
    return Check.proved(
        guarantee, compared, f"the exponential mechanism with {steps}, {compared} weights compared"
    )


def range_within(guarantee: Guarantee) -> Fraction:
    """How far apart ratios may be: at most this keeps the guarantee."""
    if isinstance(guarantee, DP):
        ((allowed, _),) = lines_of(guarantee)
        return allowed
    if isinstance(guarantee, GaussianDP):
        with precision(BITS):
            argument = ball(guarantee.exact_mu) / ball(Fraction(8)).sqrt()
            above = dyadic((argument.erfc() / 2).upper())  # 1 − Φ(μ/2) = erfc(μ/√8)/2
        return ((1 - above) / above) ** 2
    if isinstance(guarantee, ZeroConcentrated):
        return exp_below(root_below(8 * guarantee.exact_rho, BITS))
    raise InvalidMechanism(f"weights by scores need {FOR}, got {guarantee}")

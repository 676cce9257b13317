"""Proving noisy counts: how far a person moves the scores, and how near weights are to normal.

*Normal noise.* Independent normal noise of deviation σ on scores that one person moves by a vector
of length d keeps μ-Gaussian privacy once d ≤ μσ, and so does whatever is made of the noisy scores.
Adding a constant to all scores does not change which is the largest, so d is the length that is
left when the best constant is taken away.

*The weights.* Let the weights of one noise be within τ of rounded normal noise, in total variation.
Then a row of q answers is within t = qτ of what normal noise would give, so that a set of chance s
at one table has at most φ(s) + δ at a neighbor, φ(s) = Φ(Φ⁻¹(s) + μ) and δ = t + φ(t).

*The uniform share.* With the chance η all answers are alike instead, and that makes up for δ if

    (1 − η)·δ ≤ η·(φ(u) − u)   for u = 1 − 1/q

(``docs/noisy-counts.md`` has the arguments). What one person can move comes from the question, not
from the rule. Zero-concentrated privacy follows from μ = √(2ρ), (ε,δ) from the μ within it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from rainbowdp.aliases import Weights
from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.expecting import brief
from rainbowdp.guarantees.conversions import mu_within
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.quantity import ball, dyadic, precision
from rainbowdp.questions.weights import limit_of

if TYPE_CHECKING:
    from flint import arb

Scores: TypeAlias = Callable[[Sequence[int]], Sequence[int]]  # of counts

FOR = "Gaussian or zero-concentrated privacy, or (ε,δ) with a δ between 0 and 1"
_BITS = 96  # of balls, beyond those of a weight


@dataclass(frozen=True)
class Noise:
    """What is drawn: ``half`` are the weights of 0, 1, …, and so of −1, …; normal, it is said."""

    parts: int
    deviation: Fraction
    half: Weights
    uniform: Fraction


def prove_noisy_counts(
    guarantee: Guarantee, answers: int, question: Mapping[str, Any], scores: Scores, noise: Noise
) -> Check:
    """The largest of the noisy scores keeps the guarantee for every vote of the ``question``."""
    allowed = squared_mu(guarantee)
    if answers < 2:
        raise InvalidMechanism(f"noisy counts need at least 2 answers, got {answers}")
    _must_move_by(noise.parts, answers, scores)
    moved = squared_move(noise.parts, limit_of(question), question["neighbors"], answers)
    if noise.deviation <= 0 or moved > allowed * noise.deviation**2:
        raise InvalidMechanism(
            f"noise of deviation {float(noise.deviation):.6g} in {noise.parts} parts of a record "
            f"must keep {guarantee}, but does not"
        )
    away = answers * distance_from_normal(noise.deviation, noise.half)
    if not makes_up_for(away, allowed, answers, noise.uniform):
        raise InvalidMechanism(
            f"{answers} noises that are {float(away):.3g} from normal must leave no doubt about "
            f"{guarantee}, but leave some"
        )
    places = len(noise.half)
    return Check.proved(
        guarantee,
        places,
        f"noise of deviation {float(noise.deviation / noise.parts):.6g} records on each count, "
        f"{places} weights compared with normal noise",
    )


def squared_mu(guarantee: Guarantee) -> Fraction:
    """μ² of the Gaussian privacy that is enough for the guarantee."""
    if isinstance(guarantee, GaussianDP) and guarantee.exact_mu:
        return guarantee.exact_mu**2
    if isinstance(guarantee, ZeroConcentrated):
        return 2 * guarantee.exact_rho
    if isinstance(guarantee, DP) and 0 < guarantee.exact_delta < 1:
        return mu_within(guarantee) ** 2
    raise InvalidMechanism(f"noisy counts need {FOR}, got {guarantee}")


def squared_move(parts: int, rows: int, neighbors: str, answers: int) -> Fraction:
    """The square of the length by which one person moves the scores, up to a constant for all.

    Substituted: up to r records more in some and r less in others, which is the longest where one
    score rises by r records and one falls. Added or removed: r records of one answer, less the best
    whole constant, which is within ½ of the mean of all moves.

    >>> squared_move(4, 1, "substituted", 3), squared_move(4, 1, "added or removed", 4)
    (Fraction(32, 1), Fraction(13, 1))
    """
    one = Fraction(parts * rows) ** 2
    if neighbors == "substituted":
        return 2 * one
    if neighbors == "added or removed":
        return min(one, one * Fraction(answers - 1, answers) + Fraction(answers, 4))
    raise InvalidMechanism(
        f"neighbors must be 'substituted' or 'added or removed', got {brief(neighbors)}"
    )


def distance_from_normal(deviation: Fraction, half: Weights) -> Fraction:
    """At least the total variation distance of the weights from rounded normal noise.

    Let d_z be by how much the chances of more than z differ, for z = 0, …, K. The chance of z
    differs by d_{z−1} − d_z, that of 0 by 2·d_0, and all beyond K have 2·d_K together: half the sum
    of all differences is at most 2·(|d_0| + … + |d_K|).
    """
    if not half or any(type(weight) is not int or weight < 0 for weight in half):
        raise InvalidMechanism("the weights of noise must be integers from 0, got others")
    total = half[0] + 2 * sum(half[1:])
    if total <= 0:
        raise InvalidMechanism("the weights of noise must not all be 0, but are")
    above, off = sum(half), Fraction(0)
    with precision(total.bit_length() + _BITS):
        scale = ball(deviation) * ball(Fraction(8)).sqrt()
        for place, weight in enumerate(half):
            above -= weight
            tail = (ball(Fraction(2 * place + 1)) / scale).erfc() / 2
            off += dyadic(abs(tail * total - above).upper())
    return 2 * off / total


def makes_up_for(away: Fraction, allowed: Fraction, answers: int, uniform: Fraction) -> bool:
    """Whether the uniform share certainly makes up for rows that are so far from normal noise's."""
    if not 0 < away < Fraction(1, 2) or not 0 < uniform < 1:
        return False
    with precision(away.denominator.bit_length() + _BITS):
        mu = ball(allowed).sqrt()
        slack = (ball(away) + _grown(away, mu)) * ball((1 - uniform) / uniform)
        most = Fraction(answers - 1, answers)
        return bool(slack <= _grown(most, mu) - ball(most))


def _grown(share: Fraction, mu: arb) -> arb:
    """Φ(Φ⁻¹(share) + μ): Φ(z) = erfc(−z/√2)/2."""
    return (ball(2 * share).erfcinv() - mu / ball(Fraction(2)).sqrt()).erfc() / 2


def _must_move_by(parts: int, answers: int, scores: Scores) -> None:
    """Refuse scores of which one record moves others than its answer's, or by other steps."""
    if type(parts) is not int or parts < 1:
        raise InvalidMechanism(f"the parts of a record must be a whole number from 1, got {parts}")
    for counts in ([0] * answers, [3] * answers, [7 * (v % 3) for v in range(answers)]):
        before = list(scores(counts))
        for v in {0, answers // 2, answers - 1}:
            after = scores([count + (i == v) for i, count in enumerate(counts)])
            wanted = [score + parts * (i == v) for i, score in enumerate(before)]
            if list(after) != wanted:
                raise InvalidMechanism(
                    f"one record must move its answer's score by {parts} and no other, got others"
                )

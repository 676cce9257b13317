"""Selection by scores: the exponential mechanism, permute-and-flip, noisy max, inverse sensitivity.

Each answer has a score, and the better the score the likelier the answer. For ``Winner`` the
score of an answer is its count n_v. For any other question and on a graph it is minus its margin,
−λ_v: how many changes it takes before v is the true answer.

**The rate.** All of these answer v with a probability that depends on the differences of scores,
times a rate c. Let Δ be how far a difference of two scores can move between neighbors. Report
noisy max adds to each score an independent noise Z_v whose tail P(Z > x) falls at most by the
factor e^c a unit, and answers with the largest. *It is cΔ-private*: fix the noise of all answers
but v and let M be the largest noisy score among them. v is the answer when Z_v > M − s_v. Between
neighbors M − s_v, a maximum of s_i − s_v + Z_i, moves by at most Δ, so the probability changes
by at most the factor e^{cΔ}, and so does its average over the noise of the others. ∎

================================  ===========================  ====================
scores                            Δ with k rows a person       rate
================================  ===========================  ====================
counts, added or removed          k: all move in one direction ε/k
counts, substituted               2k                           ε/(2k)
minus the margins                 2                            ε/2, see below
================================  ===========================  ====================

Exponential noise gives permute-and-flip and Gumbel noise the exponential mechanism; both have
tails of rate c.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.baselines.base import Baseline, Law, World, by_counts, checked, made, with_delta
from rainbowdp.errors import RainbowError
from rainbowdp.guarantees.dp import Guarantee
from rainbowdp.numeric.coins import first_heads
from rainbowdp.questions import Winner


def exponential(world: World, guarantee: Guarantee) -> Baseline:
    """The exponential mechanism: p_v proportional to e^{c·score}, at the best known rate c.

    ``Winner``: p_v ∝ e^{c·n_v} with c = ε where records are added or removed and ε/2 where they are
    substituted (divided by the rows of one person). Directly: one record more for u multiplies
    the weight of u by e^c and the total by something in [1, e^c], so every p_v changes by at most
    e^c; a substitution is two such changes. Both are tight. Else p_v ∝ e^{−ελ_v/2};
    ``inverse_sensitivity`` has a better rate for the same scores. δ is not used.

    Keeps (ε, 0). Cost: O(q) a row. McSherry and Talwar, *Mechanism design via differential
    privacy*, 2007; the one-directional case: Dwork and Roth, 2014, Remark 3.1.

    >>> from rainbowdp import DP, Winner
    >>> both = [Winner(["red", "green"], neighbors=n) for n in ("substituted", "added or removed")]
    >>> [round(exponential(poll, DP(1))[{"red": 3, "green": 1}]["red"], 4) for poll in both]
    [0.7311, 0.8808]
    """
    return _selected(world, guarantee, "exponential", _softmax)


def permute_and_flip(world: World, guarantee: Guarantee) -> Baseline:
    """Permute-and-flip: go through the answers in random order, take v with probability x_v.

    x_v = e^{−c(best score − score of v)}, and the best answer is always taken. Exactly

        p_v = x_v · Σ_{S ⊆ others} (−1)^{|S|}/(|S|+1) · Π_{i∈S} x_i
            = x_v · ∫₀¹ Π_{i≠v} (1 − t·x_i) dt.

    The rates are of ``exponential``: equal in law to report noisy max with exponential noise
    (Ding et al., 2021), for which see the proof above. Never worse than the exponential mechanism.
    What ``rb.best`` releases by this name is in integers and minds the list in a tie (``flips``).

    Keeps (ε, 0). Cost: O(q²) a row. McKenna and Sheldon, *Permute-and-flip*, 2020.

    >>> from rainbowdp import DP, Winner
    >>> poll = permute_and_flip(Winner(["red", "green"]), DP(1))
    >>> round(poll[{"red": 3, "green": 1}]["red"], 4)
    0.8161
    """
    return _selected(world, guarantee, "textbook permute-and-flip", first_heads)


def report_noisy_max(
    world: World,
    guarantee: Guarantee,
    noise: Literal["exponential", "gumbel"] = "exponential",
) -> Baseline:
    """Add noise to each score and answer with the largest.

    With exponential noise this has the rows of ``permute_and_flip``, with Gumbel noise those of
    ``exponential``. For v to win with Z_v = z, every Z_i must stay below z + s_v − s_i; put
    t = e^{−c(z + s_v − s*)} and the integral of ``permute_and_flip`` comes out. OpenDP's
    ``make_noisy_max`` is this; the tests draw from it.

    >>> from rainbowdp import DP, Winner
    >>> question = Winner(["red", "green", "blue"])
    >>> counts = {"red": 4, "green": 3, "blue": 1}
    >>> report_noisy_max(question, DP(1))[counts] == permute_and_flip(question, DP(1))[counts]
    True
    """
    if noise not in ("exponential", "gumbel"):
        raise RainbowError(f"noise must be 'exponential' or 'gumbel', got noise={noise!r}")
    laws = {"exponential": first_heads, "gumbel": _softmax}
    return _selected(world, guarantee, f"noisy max, {noise} noise", laws[noise])


def inverse_sensitivity(world: World, guarantee: Guarantee) -> Baseline:
    """The inverse-sensitivity mechanism: p_v proportional to e^{−c·λ_v}, at the sharp rate c.

    The usual rate is ε/2. Margins allow more: exactly one is 0 and the others are at least 1, so
    the total of the weights cannot move by the factor e^c. With r = e^{−c} and m = q − 2 it is
    private exactly up to the c with

        c + log(1 + m·r) − log(1 + m·r²) = ε,

    which is ε for two answers and falls to ε/2 for many. *Proof.* Let X and X′ be the sums of
    r^{λ_v} over the answers that are not true, at neighbors d and d′. Same true answer w: X′ ≤ X/r
    and the margins of d′ are at least 1. For a loser v the ratio p_v(d)/p_v(d′) is at most
    (1/r)(1 + B′)/(1 + B) for the sums B, B′ over the other losers, m of them, largest at
    B = m·r², B′ = m·r; for w it is at most (1+X′)/(1+X) ≤ 1/r. Different true answers add r to
    both brackets, which makes the ratio smaller. So e^ε = (1 + m·r)/(r(1 + m·r²)), which falls as r
    grows; and margins that come as near to it as you like, with v far away, are allowed. ∎ (It
    needs no more of the margins than privacy ever does: 0 at the true answer only, changing by
    at most 1. So every question and every graph may use it.)

    Keeps (ε, 0). Cost: O(q) a row. Asi and Duchi, *Near instance-optimality in differential
    privacy*, 2020, with ε/2.

    >>> from rainbowdp import DP, Threshold
    >>> vote = inverse_sensitivity(Threshold(100), DP(1))
    >>> round(vote[{"matching": 100}]["yes"], 4), round(vote[{"matching": 101}]["yes"], 4)
    (0.7311, 0.8808)
    """
    world, promise = checked(world, guarantee)
    rate = _sharp_rate(len(world.answers), promise.epsilon)
    law = _lawful(_softmax, rate)
    return made(world, promise, "inverse sensitivity", with_delta(promise, 0), law)


def _sharp_rate(answers: int, epsilon: float) -> float:
    others = max(answers - 2, 0)
    low, high = epsilon / 2, epsilon
    for _ in range(200):
        rate = (low + high) / 2
        if not low < rate < high:
            break
        spent = (
            rate + math.log1p(others * math.exp(-rate)) - math.log1p(others * math.exp(-2 * rate))
        )
        low, high = (rate, high) if spent <= epsilon else (low, rate)
    return low if others else epsilon


def _selected(world: World, guarantee: Guarantee, name: str, rows: Law) -> Baseline:
    world, promise = checked(world, guarantee)
    moves = 2  # how far a difference of two scores can move
    if isinstance(world, Winner):
        moves = world.rows_per_person * (2 if world.neighbors == "substituted" else 1)
    return made(
        world,
        promise,
        name,
        with_delta(promise, 0),
        _lawful(rows, promise.epsilon / moves),
        by_counts=by_counts(world),
    )


def _lawful(rows: Law, rate: float) -> Law:
    """``rows`` of the weights e^{−rate·gap} behind the best score."""

    def law(scores: Floats) -> Floats:
        gaps = scores.max(axis=1, keepdims=True) - scores
        known = np.isfinite(gaps)  # an answer that can never be true has no weight
        return rows(np.where(known, np.exp(-rate * np.where(known, gaps, 0.0)), 0.0))

    return law


def _softmax(weights: Floats) -> Floats:
    rows: Floats = weights / weights.sum(axis=1, keepdims=True)
    return rows

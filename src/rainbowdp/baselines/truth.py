"""Baselines that start from the true answer: randomized response, propose-test-release, and the
operator that the paper prints.
"""

from __future__ import annotations

import math

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.baselines.base import Baseline, World, checked, made, truth_and_depth
from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.dp import Guarantee


def randomized_response(world: World, guarantee: Guarantee) -> Baseline:
    """Randomized response: the true answer with probability a, each other one with b.

    b = (1 − δ)/(E + q − 1) and a = E·b + δ, so that a + (q−1)b = 1. Two rows are equal or
    exchange a and one b: then a − E·b = δ in one direction, b − E·a ≤ 0 in the other, and nothing
    else differs. So it is (ε,δ)-private between *any* two datasets, and no better a is possible
    for a mechanism of this shape. It does not look at the margin at all.

    Keeps (ε,δ). Cost: O(q) a row. Warner, 1965; Kairouz, Oh and Viswanath, 2016.

    >>> from rainbowdp import DP, Winner
    >>> poll = randomized_response(Winner(["red", "green"]), DP.from_ratio(3))
    >>> {answer: round(p, 6) for answer, p in poll[{"red": 900}].items()}
    {'red': 0.75, 'green': 0.25}
    """
    world, promise = checked(world, guarantee)
    other = (1 - promise.delta) / (promise.ratio + len(world.answers) - 1)
    own = promise.ratio * other + promise.delta

    def law(scores: Floats) -> Floats:
        truth, _ = truth_and_depth(scores)
        return np.where(truth > 0, own, other)

    return made(world, promise, "randomized response", promise, law)


def propose_test_release(world: World, guarantee: Guarantee) -> Baseline:
    """Propose-test-release: say the true answer if a noisy margin is large enough.

    Let t be the least margin of another answer, less one, and Z Laplace noise of scale 1/ε. If
    t + Z > τ, with τ such that P(Z > τ) = δ, say the true answer; if not, the answer listed first,
    which serves as the refusal. With π(t) = P(Z > τ − t) a row is π(t) at the true answer and
    1 − π(t) at the first listed.

    *It is (ε,δ)-private.* Same true answer: t moves by at most 1, so the noisy test is ε-private,
    and the answer is a function of the test. Different true answers: then t = 0 on both sides, and
    both rows agree but for π(0) = δ. ∎ (Dwork and Lei spend ε on the test and ε on the release; a
    release without noise needs only the test.)

    Needs ε > 0 and 0 < δ < 1. Keeps (ε,δ). Cost: O(q) a row. Dwork and Lei, *Differential
    privacy and robust statistics*, 2009.

    >>> from rainbowdp import DP, Winner
    >>> poll = propose_test_release(Winner(["red", "green"]), DP(1, delta=1e-6))
    >>> [round(poll[{"green": lead}]["green"], 6) for lead in (1, 21, 41)]
    [1e-06, 0.022026, 0.999485]
    """
    world, promise = checked(world, guarantee)
    if promise.ratio == 1 or not 0 < promise.delta < 1:
        raise InvalidGuarantee(
            "propose-test-release needs epsilon > 0 and delta strictly between 0 and 1, "
            f"got {promise}"
        )
    delta = promise.delta
    # In units of 1/ε: π(t) = ½e^{x} for x = ε(t − τ) ≤ 0, else 1 − ½e^{−x}; π(0) = δ.
    start = math.log(2 * delta) if delta <= 0.5 else -math.log(2 * (1 - delta))

    def law(scores: Floats) -> Floats:
        truth, depth = truth_and_depth(scores)
        x = start + promise.epsilon * depth
        passes = np.where(x <= 0, 0.5 * np.exp(np.minimum(x, 0)), 1 - 0.5 * np.exp(-np.abs(x)))
        rows = passes[:, None] * truth
        refuses = np.where(x <= 0, 1 - passes, 0.5 * np.exp(-np.abs(x)))
        rows[:, 0] = np.where(truth[:, 0] > 0, 1.0, refuses)
        return rows

    return made(world, promise, "propose-test-release", promise, law)

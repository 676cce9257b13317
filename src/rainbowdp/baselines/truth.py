"""Baselines that start from the true answer: randomized response and propose-test-release."""

from __future__ import annotations

import math

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.baselines.base import Baseline, World, checked, made, truth_and_depth
from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.guarantee import Guarantee


def randomized_response(world: World, guarantee: Guarantee) -> Baseline:
    """Randomized response: the true answer with probability a, each other one with b.

    b = (1 − δ)/(E + q − 1) and a = E·b + δ, so that a + (q−1)b = 1. It ignores the margin
    altogether and is (ε,δ)-private between *any* two datasets (``docs/baselines.md``). Cost: O(q)
    per row. Warner, 1965; Kairouz, Oh and Viswanath, 2016.

    Parameters
    ----------
    world
        A question or a rainbow graph.
    guarantee
        An (ε,δ) guarantee.

    Returns
    -------
    Baseline
        The mechanism, for comparison only.

    Examples
    --------
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

    Let t be the least margin of another answer, minus one, and Z Laplace noise of scale 1/ε. If t +
    Z > τ, with τ such that P(Z > τ) = δ, say the true answer; if not, the answer listed first,
    which serves as the refusal. Keeps (ε,δ) (``docs/baselines.md``). Cost: O(q) per row. Dwork and
    Lei, *Differential privacy and robust statistics*, 2009.

    Parameters
    ----------
    world
        A question or a rainbow graph.
    guarantee
        An (ε,δ) guarantee with ε > 0 and 0 < δ < 1.

    Returns
    -------
    Baseline
        The mechanism, for comparison only.

    Raises
    ------
    InvalidGuarantee
        If ε is 0, or δ is 0 or 1.

    Examples
    --------
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

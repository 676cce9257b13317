"""Baselines that start from the true answer: randomized response, propose-test-release, and the
operator that the paper prints.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from rainbowdp.baselines.base import Baseline, World, checked, made, truth_and_depth, with_delta
from rainbowdp.boundary import BoundaryCondition
from rainbowdp.errors import InvalidGraph, InvalidGuarantee
from rainbowdp.graph import RainbowGraph
from rainbowdp.growth import Floats
from rainbowdp.guarantee import DP, Guarantee
from rainbowdp.mechanism import Mechanism
from rainbowdp.paper import printed_step


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


def printed_operator(graph: RainbowGraph, guarantee: Guarantee) -> Baseline:
    """The mechanism that the paper's Theorem 4 prints: it promises (ε,δ) and keeps (ε, e^ε·δ).

    From the symmetric boundary row, valid for (ε,δ), prefix sums grow by
    s′ = min{1, min{E·s, 1 − (1−s)/E} + δ}. *What it keeps*: let p̃ have the prefix sums
    min{E·s, 1 − (1−s)/E}; it is ε-close to p, and p′ moves at most δ of its mass. So
    p′ ≤ p̃ + δ ≤ E·p + δ on every set, and p ≤ E·p̃ ≤ E·(p′ + δ): (ε, E·δ) in one direction. ∎ With
    two equal answers, E = 2 and δ = 0.1 that is attained: see ``docs/theory.md``, Erratum.

    Needs δ > 0: without it the printed operator is right and equal to ``rb.optimal``.
    Cost: O(edges) and one exact row for each region and depth.

    >>> from rainbowdp import DP
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("yes", "no"), ("yes", "no"), ("no", "yes")])
    >>> wrong = printed_operator(graph, DP.from_ratio(2, delta="0.1"))
    >>> wrong.keeps, bool(wrong.check()), bool(wrong.check(guarantee=wrong.guarantee))
    (DP.from_ratio(2, 1, delta=0.2), True, False)
    """
    world, promise = checked(graph, guarantee)
    if not isinstance(world, RainbowGraph):
        raise InvalidGraph("the printed operator is for a rainbow graph, got a question")
    if not promise.delta:
        raise InvalidGuarantee(
            f"the printed operator is wrong only when delta > 0, got {promise}; use rb.optimal"
        )
    condition = BoundaryCondition.symmetric(world, promise)
    ratio = Fraction(promise.ratio) if promise.exact_ratio is None else promise.exact_ratio
    place = {answer: number for number, answer in enumerate(world.answers)}
    table: list[Floats] = []
    index = np.zeros(len(world), dtype=np.int64)
    depths = world.depths
    for number, region in enumerate(world.regions.values()):
        columns = [place[answer] for answer in region.rainbow]
        here = world.region_numbers == number
        sums = [Fraction(0)]
        if region.deepest is not None:
            sums = list(itertools.accumulate(condition.exact_rows[region.label]))
        for depth in range(-1 if region.deepest is None else region.deepest + 1):
            index[here & (depths == depth)] = len(table)
            row = np.zeros(len(columns))
            row[columns] = [float(b - a) for a, b in itertools.pairwise([Fraction(0), *sums])]
            table.append(row)
            sums = [printed_step(s, ratio, promise.exact_delta) for s in sums]
        if region.unbounded:
            index[here & np.isinf(depths)] = len(table)
            table.append(np.eye(len(columns))[columns[0]])
    above = ratio if promise.exact_ratio is not None else Fraction(math.nextafter(ratio, math.inf))
    keeps: DP = with_delta(promise, min(Fraction(1), above * promise.exact_delta))
    mechanism = Mechanism(world, np.array(table), index, keeps)
    return Baseline(world, promise, "printed operator", keeps, "margins", mechanism=mechanism)

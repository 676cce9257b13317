"""The operator that the paper prints, which is wrong when δ > 0: here to be refuted."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.baselines.base import Baseline, checked, with_delta
from rainbowdp.errors import InvalidGraph, InvalidGuarantee
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.mechanisms.mechanism import Mechanism


def printed_step(s: Fraction, ratio: Fraction, delta: Fraction) -> Fraction:
    """The operator of the paper's Theorem 4 on one prefix sum: **not** private when δ > 0.

    It keeps (ε, e^ε·δ) and, in general, nothing better.

    Parameters
    ----------
    s
        A prefix sum.
    ratio
        e^ε.
    delta
        δ.

    Returns
    -------
    Fraction
        The prefix sum one step deeper, as printed.

    """
    return min(Fraction(1), min(ratio * s, 1 - (1 - s) / ratio) + delta)


def printed_operator(graph: RainbowGraph, guarantee: Guarantee) -> Baseline:
    """The mechanism that the paper's Theorem 4 prints: it promises (ε,δ) and keeps (ε, e^ε·δ).

    From the symmetric boundary row, valid for (ε,δ), prefix sums grow by
    s′ = min{1, min{E·s, 1 − (1−s)/E} + δ}. ``docs/theory.md``, Erratum, proves what it keeps and
    that nothing better holds. Cost: O(edges) and one exact row for each region and depth.

    Parameters
    ----------
    graph
        A rainbow graph.
    guarantee
        An (ε,δ) guarantee with δ > 0; without δ the printed operator is right and equals
        ``rb.optimal``.

    Returns
    -------
    Baseline
        The mechanism, for comparison only.

    Raises
    ------
    RainbowError
        If ``graph`` is a question, or δ is 0.

    Examples
    --------
    >>> from rainbowdp import DP
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("yes", "no"), ("yes", "no"), ("no", "yes")])
    >>> wrong = printed_operator(graph, DP.from_ratio(2, delta="0.1"))
    >>> wrong.keeps, bool(wrong.check()), bool(wrong.check(guarantee=wrong.guarantee))
    (DP.from_ratio(2, 1, delta=0.2), True, False)

    """
    world, promise = checked(graph, guarantee)
    if not isinstance(world, RainbowGraph):
        raise InvalidGraph("the printed operator exists on rainbow graphs only, got a question")
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

"""Saying the true bin of ordered ones: near bins share what a near bin would have alone.

A quantile over q bins has q − 1 inner edges. The *lead* of an edge is the count below it less the
rank; leads rise, and the true bin is the first whose upper edge has a lead of at least 0. One
changed record moves the leads of a run of edges by one, all in one direction. A bin above the true
one has the margin λ_v = 1 + the lead a of its lower edge. With falling weights g_1 ≥ g_2 ≥ … of a
total G it has the probability

    p_v = g_λ / (G + g_1 + Σ g_{1 + max(a − x, x)}),

summed over the leads x of the other edges; a bin below the true one likewise, seen from the other
end (x ↦ −1 − x); the true bin has the rest. The sum is how crowded it would be around v, were v
true. Alone, a bin has what proximity gives it, and never more; so the true bin is at least as
likely here as there, and privacy asks less of ε (proof in ``docs/quantiles.md``; the part that
depends on q and ε is checked in integers by ``ordered_proof.prove_ordered``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Floats, Weights
from rainbowdp.errors import InvalidGuarantee, InvalidMechanism, NoPlace
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.guarantees.polygons import ratio_below
from rainbowdp.rules.ordered_bins.proof import prove_ordered

_TOTAL = 1 << 64
_LONGEST = 1 << 15  # weights kept; a larger margin has the last one, which stays private


@dataclass(frozen=True)
class Ordered:
    """The weights g_1 ≥ g_2 ≥ … of ``total``: the rule for ordered answers."""

    total: int
    steps: tuple[int, ...]

    def weights(self, place: Any, answers: Sequence[Answer]) -> Weights:
        """The row where the edges between the answers have the leads ``place``."""
        if not isinstance(place, tuple) or len(place) != len(answers) - 1:
            raise NoPlace("a lead for each edge between two answers", place)
        if any(type(lead) is not int for lead in place) or list(place) != sorted(place):
            raise NoPlace("leads that are rising whole numbers", place)
        true = sum(lead < 0 for lead in place)
        below, above = [-1 - lead for lead in place], list(place)
        parts = [self._part(below, edge) for edge in range(true)]
        parts += [self._part(above, edge) for edge in range(true, len(place))]
        whole = math.prod(bottom for _, bottom in parts)
        losers = [whole // bottom * top for top, bottom in parts]
        return (*losers[:true], whole - sum(losers), *losers[true:])

    def _part(self, leads: Sequence[int], edge: int) -> tuple[int, int]:
        """The probability of the bin behind ``edge``: numerator and denominator."""
        own = leads[edge]
        crowd = self._step(0) + sum(
            self._step(max(own - lead, lead)) for i, lead in enumerate(leads) if i != edge
        )
        return self._step(own), self.total + crowd

    def _step(self, lead: int) -> int:
        return self.steps[min(lead, len(self.steps) - 1)]

    def rows_at(self, leads: NDArray[np.int64]) -> Floats:
        """The rows at many leads at once, in floats: to compare mechanisms, not to release."""
        steps = np.array(self.steps, dtype=np.float64) / self.total
        size, edges = leads.shape
        true = (leads < 0).sum(axis=1)
        rows = np.zeros((size, edges + 1))
        for edge in range(edges):
            over = leads[:, edge] >= 0
            seen = np.where(over[:, None], leads, -1 - leads)
            own = seen[:, [edge]]
            near = np.minimum(np.maximum(own - seen, seen), len(steps) - 1)
            near[:, edge] = 0
            top = steps[np.minimum(own[:, 0], len(steps) - 1)]
            rows[np.arange(size), edge + over] = top / (1 + steps[near].sum(axis=1))
        rows[np.arange(size), true] = 1 - rows.sum(axis=1)
        return rows


def ordered_weights(answers: int, guarantee: Guarantee) -> Ordered:
    """The rule with the least weights, or the reason there is none."""
    if not isinstance(guarantee, DP):
        raise InvalidGuarantee(f"ordered bins need an (ε,δ) guarantee, got {guarantee}")
    if not ordered_holds(answers, guarantee):
        raise InvalidGuarantee(
            f"{answers} ordered bins need a larger epsilon, got {guarantee}; use rb.best, which "
            "chooses what there is"
        )
    return _weights(guarantee)


def ordered_holds(answers: int, guarantee: Guarantee) -> bool:
    """Whether the rule is proved to be private for so many bins."""
    return isinstance(guarantee, DP) and answers >= 2 and _is_proved(answers, guarantee)


@cache
def _is_proved(answers: int, guarantee: DP) -> bool:
    rule = _weights(guarantee)
    try:
        prove_ordered(guarantee, answers, rule.total, rule.steps)
    except InvalidMechanism:
        return False
    return True


def _weights(guarantee: DP) -> Ordered:
    """From ⌈G/e^ε⌉ each weight is the least that a factor of e^ε allows, rounded up."""
    ratio = ratio_below(guarantee)
    steps = [_TOTAL]
    while len(steps) <= _LONGEST:
        following = -(-steps[-1] * ratio.denominator // ratio.numerator)
        if following == steps[-1]:
            break
        steps.append(following)
    return Ordered(_TOTAL, tuple(steps[1:] or steps))

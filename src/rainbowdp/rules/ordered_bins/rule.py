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
depends on q and ε is checked in integers by ``proof``).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from rainbowdp.aliases import Answer, Dataset, Floats, Integers, Weights
from rainbowdp.errors import InvalidMechanism, NoPlace
from rainbowdp.exact.check import Check
from rainbowdp.exact.rule import Key, Rule
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions import Quantile, Question
from rainbowdp.questions.weights import limit_of
from rainbowdp.rules.ordered_bins.proof import MOST_STEPS, prove_ordered
from rainbowdp.storage.integers import from_text, from_texts, to_text, to_texts


@dataclass(frozen=True)
class OrderedBins(Rule):
    """The weights g_1 ≥ g_2 ≥ … of ``total``; the key is the lead of each inner edge."""

    kind: ClassVar[str] = "ordered-bins"

    total: int
    steps: tuple[int, ...]

    def must_fit(
        self, answers: tuple[Answer, ...], neighbors: str, question: Mapping[str, Any] | None
    ) -> None:
        """Only a quantile with one record a person has leads that move together by one."""
        asked = (question.get("kind"), limit_of(question)) if question else None
        if asked != ("quantile", 1):
            raise InvalidMechanism(
                f"ordered bins must be of a quantile with one record a person, got {question}"
            )

    def prove(
        self, guarantee: Guarantee, answers: tuple[Answer, ...], question: Mapping[str, Any] | None
    ) -> Check:
        """Check the weights, and all states of the leads that could break the guarantee."""
        return prove_ordered(guarantee, len(answers), self.total, self.steps)

    def key(self, question: Question, counted: Dataset) -> Key:
        """The leads of the inner edges."""
        assert isinstance(question, Quantile)
        return question.leads(counted)

    def weights(self, key: Key, answers: Sequence[Answer]) -> Weights:
        """The row where the edges between the answers have the leads ``key``."""
        if not isinstance(key, tuple) or len(key) != len(answers) - 1:
            raise NoPlace("a lead for each edge between two answers", key)
        if any(type(lead) is not int for lead in key) or list(key) != sorted(key):
            raise NoPlace("leads that are rising whole numbers", key)
        true = sum(lead < 0 for lead in key)
        below, above = [-1 - lead for lead in key], list(key)
        parts = [self._part(below, edge) for edge in range(true)]
        parts += [self._part(above, edge) for edge in range(true, len(key))]
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

    def rows_at(self, question: Question, counts: Integers, margins: Floats) -> Floats:
        """The rows of many histograms at once, in floats."""
        assert isinstance(question, Quantile)
        rank = -(-question.q.numerator * counts.sum(axis=1) // question.q.denominator)
        return self.rows_at_leads(counts.cumsum(axis=1)[:, :-1] - rank[:, None])

    def rows_at_leads(self, leads: Integers) -> Floats:
        """The rows at many leads at once, in floats."""
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

    def chances(self, question: Question, margin: int) -> tuple[float, float]:
        """Over all places where each other bin is this near or far away, up to the last weight."""
        far = len(self.steps) + margin
        near = -margin, margin - 1
        edges = len(question.answers) - 1
        places = [
            leads
            for leads in itertools.combinations_with_replacement((-1 - far, *near, far), edges)
            if set(leads) & set(near)
        ]
        rows = self.rows_at_leads(np.array(places))
        true = rows[np.arange(len(rows)), (np.array(places) < 0).sum(axis=1)]
        return float(true.min()), float(true.max())

    def far(self, question: Question, short: int) -> float:
        """At most what so many bins would have alone: a crowd only takes from them."""
        return (len(question.answers) - 1) * self.far_alone(question, short)

    def far_alone(self, question: Question, short: int) -> float:
        """What one bin would have alone."""
        return self._step(short) / (self.total + self._step(0))

    def describe(self) -> dict[str, Any]:
        """The weights and their total."""
        return {"total": to_text(self.total), "steps": to_texts(self.steps)}

    @classmethod
    def restore(cls, content: Mapping[str, Any]) -> Self:
        """The rule that ``describe`` described."""
        return cls(from_text(content["total"]), from_texts(content["steps"], MOST_STEPS))

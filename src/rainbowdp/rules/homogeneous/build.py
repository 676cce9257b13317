"""Growing ladders from a boundary row."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from rainbowdp.aliases import Answer, Floats, Integers
from rainbowdp.exact.rule import Family, Progress, Rule
from rainbowdp.exact.steps import (
    BITS,
    LONGEST,
    alike_ladder,
    in_answer_order,
    ladder,
    reach_of,
    repaired,
    symmetric_pair,
)
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.polygons import safe_curve
from rainbowdp.numeric.quantity import exact_distribution
from rainbowdp.questions import Quantile, Quantiles, Question
from rainbowdp.rules.homogeneous.rule import Homogeneous, OneLadder

_TINY = 1e-12


@dataclass(frozen=True)
class HomogeneousFamily(Family):
    """The optimum for one boundary row: the true answer first, the others as they are listed.

    Without a ``boundary`` it is the symmetric row with the largest chance of the true answer, which
    grows as fast as it can; all others stay alike.
    """

    kind: ClassVar[str] = "homogeneous"
    title: ClassVar[str] = "Homogeneous"
    summary: ClassVar[str] = "by the distance to the nearest other answer, all rivals treated alike"
    rule: ClassVar[type[Rule]] = Homogeneous

    boundary: tuple[Fraction, ...] | None = None

    @classmethod
    def with_boundary(cls, question: Question, boundary: Sequence[Any] | None) -> HomogeneousFamily:
        """The family with a row for the boundary, checked to be a distribution of the answers."""
        if boundary is None:
            return cls()
        return cls(exact_distribution(list(boundary), len(question.answers)))

    def suits(self, question: Question) -> bool:
        """Every question has a true answer and a distance to the next one."""
        return True

    def unfit(self, question: Question, guarantee: Guarantee) -> str | None:
        """It exists for every question and every trade-off curve."""
        if not isinstance(guarantee, TradeOffCurve):
            return f"homogeneous goes by a trade-off curve, and {guarantee} has none"
        if len(question.answers) > 1 and _is_tiny(guarantee):
            first, other = symmetric_pair(guarantee, len(question.answers))
            if not other < first <= reach_of(guarantee, 1 << BITS)(other):
                return f"homogeneous rows are whole parts of 2^{BITS}, too coarse for {guarantee}"
        return None

    def sketch(
        self, question: Question, guarantee: Guarantee, counts: Integers, margins: Floats
    ) -> Floats:
        """The boundary row grown to the depths, by the guarantee's own closed form."""
        assert isinstance(guarantee, TradeOffCurve)
        size, places = margins.shape[1], np.arange(len(margins))
        truth = margins.argmin(axis=1)
        rivals = margins.copy()
        rivals[places, truth] = np.inf
        depths = np.minimum(rivals.min(axis=1) - 1, LONGEST - 1)
        distinct, which = np.unique(depths, return_inverse=True)
        if self.boundary is None:
            first, _ = symmetric_pair(guarantee, size)
            grown = np.asarray(guarantee.grow(first / (1 << BITS), distinct))[which]
            rows = np.repeat((1 - grown[:, None]) / (size - 1), size, axis=1)
            rows[places, truth] = grown
            return rows
        ends = np.array([float(end) for end in itertools.accumulate(self.boundary)])
        grown = np.diff(guarantee.grow(ends[None, :], distinct[:, None]), axis=1, prepend=0.0)
        rows = np.empty_like(margins)
        for answer in range(size):  # the true answer first, the others as they are listed
            place = np.where(answer == truth, 0, answer + (answer < truth))
            rows[:, answer] = grown[which, place]
        return rows

    def claim(self, question: Question, guarantee: Guarantee) -> str | None:
        """With two answers nothing has a better worst case; else rivals alike may be far off."""
        if self.boundary is not None:
            said = "optimal for its boundary row"
        elif len(question.answers) == 2:
            said = "optimal for two answers"
        else:
            said = "the true answer as likely as its boundary row allows"
        if isinstance(question, Quantile | Quantiles) and len(question.answers) > 2:
            said += ", but a miss may be any bin, near or far"
        return said

    def options(self) -> dict[str, Any]:
        """The boundary row as exact text."""
        return {} if self.boundary is None else {"boundary": [str(p) for p in self.boundary]}

    def build(
        self, question: Question, guarantee: Guarantee, progress: Progress | None = None
    ) -> tuple[Rule, Fraction]:
        """A ladder for all answers, or with a boundary one for each, until nothing changes."""
        answers = question.answers
        if len(answers) == 1:
            return Homogeneous({}, {answers[0]: answers[0]}, ()), Fraction(0)
        if self.boundary is None:
            return OneLadder(alike_ladder(guarantee, len(answers))), Fraction(0)
        curve = safe_curve(guarantee)
        orders = {a: (a, *(b for b in answers if b != a)) for a in answers}
        touching = tuple(itertools.combinations(answers, 2))
        heads: dict[Answer, Any] = {
            a: in_answer_order(self.boundary, orders[a], answers) for a in answers
        }
        fixed, mixing = repaired(guarantee, heads, touching)
        found = {}
        for a in answers:
            start = in_answer_order(fixed[a], answers, orders[a])
            found[a] = tuple(
                in_answer_order(row, orders[a], answers) for row in ladder(curve, start)
            )
        return Homogeneous(found, {}, touching), mixing


def _is_tiny(guarantee: Guarantee) -> bool:
    """Whether it allows less than what a few units of a row are."""
    if isinstance(guarantee, DP):
        return guarantee.epsilon + guarantee.delta < _TINY
    return isinstance(guarantee, GaussianDP) and guarantee.mu < _TINY

"""Saying the true answer: weights that fall with the margin.

Let λ_v be the margin of answer v: how many changes it takes before v is the true answer (0 for
the true answer itself). With E = e^ε, y = (1−δ)/(1+E), δ' = δ/(q−1) and ρ' = δ'/(E−1), every other
answer has

    p_v = max(0, (y + ρ')·E^{−(λ_v − 1)} − ρ'),

and the true answer the rest. This is (ε,δ)-private whenever q − 1 ≤ E, for any margins that are 0
exactly at the true answer and change by at most 1 between neighbors (proof in
``docs/margins.md``; checked in integers by ``proof``). Far answers cost hardly
anything, which is what a homogeneous boundary cannot do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.errors import InvalidGuarantee
from rainbowdp.exact.rule import Family, Progress, Rule
from rainbowdp.exact.steps import BITS, LONGEST
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.polygons import ratio_below
from rainbowdp.questions import Question
from rainbowdp.rules.proximity.rule import Proximity


def proximity_holds(answers: int, guarantee: Guarantee) -> bool:
    """Whether the closed form is private for this many answers: q − 1 ≤ e^ε, with room to round."""
    return isinstance(guarantee, DP) and answers - 1 < ratio_below(guarantee) * (
        1 - Fraction(1, 1 << 40)
    )


def why_no_proximity(answers: int, guarantee: Guarantee) -> str | None:
    """Why the closed form is not private for so many answers, or none where it is."""
    if not isinstance(guarantee, DP):
        return f"proximity needs an (ε,δ) guarantee, got {guarantee}"
    if answers < 2:
        return f"proximity needs at least 2 answers, got {answers}"
    if not proximity_holds(answers, guarantee):
        from_where = f"from epsilon = {math.log(answers - 1):.4f}" if answers > 2 else "above 0"
        return f"proximity over {answers} answers holds {from_where}, got {guarantee}"
    return None


def proximity_weights(answers: int, guarantee: Guarantee, total: int = 1 << BITS) -> Proximity:
    """The weights by margin in integers, or the reason there are none."""
    reason = why_no_proximity(answers, guarantee)
    if reason is not None:
        raise InvalidGuarantee(f"{reason}; use the homogeneous mechanism or a larger epsilon")
    assert isinstance(guarantee, DP)
    return proximity_steps(guarantee, answers, total)


def proximity_steps(guarantee: DP, answers: int, total: int) -> Proximity:
    """The weights by margin in integers, whether or not they are private for all margins."""
    ratio, slack = ratio_below(guarantee), guarantee.exact_delta * total
    each = slack / (answers - 1)
    steps = [_up((total - slack) / (1 + ratio))]
    while len(steps) < LONGEST:
        following = max(0, _up((steps[-1] - each) / ratio))
        if following == steps[-1]:
            break
        steps.append(following)
    return Proximity(total, tuple(steps))


def _up(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


@dataclass(frozen=True)
class ProximityFamily(Family):
    """Each answer has its own weight by its own margin."""

    kind: ClassVar[str] = "proximity"
    title: ClassVar[str] = "Proximity"
    summary: ClassVar[str] = "by each answer's own distance, so that distant rivals hardly matter"
    rule: ClassVar[type[Rule]] = Proximity

    def suits(self, question: Question) -> bool:
        """Every question has margins."""
        return True

    def unfit(self, question: Question, guarantee: Guarantee) -> str | None:
        """It needs q − 1 ≤ e^ε."""
        return why_no_proximity(len(question.answers), guarantee)

    def sketch(
        self, question: Question, guarantee: Guarantee, counts: Integers, margins: Floats
    ) -> Floats:
        """The closed form, without rounding."""
        assert isinstance(guarantee, DP)
        first = (1 - guarantee.delta) / (1 + guarantee.ratio)
        each = guarantee.delta / (margins.shape[1] - 1)
        steps = np.maximum(margins - 1, 0.0)
        falls = -np.expm1(-guarantee.epsilon * steps) / math.expm1(guarantee.epsilon)
        rows: Floats = np.maximum(first * np.exp(-guarantee.epsilon * steps) - each * falls, 0.0)
        rows[margins == 0] = 0.0
        rows[np.arange(len(rows)), margins.argmin(axis=1)] = 1.0 - rows.sum(axis=1)
        return rows

    def build(
        self, question: Question, guarantee: Guarantee, progress: Progress | None = None
    ) -> tuple[Proximity, Fraction]:
        """The closed form, rounded up to integers."""
        return proximity_weights(len(question.answers), guarantee), Fraction(0)

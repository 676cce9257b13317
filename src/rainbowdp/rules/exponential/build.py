"""The steepest weights that keep a guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from rainbowdp.exact.falling import ratio_for
from rainbowdp.exact.rule import Family, Progress, Rule
from rainbowdp.exact.scores import scores_for
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.questions import Question
from rainbowdp.rules.exponential.proof import FOR, range_within
from rainbowdp.rules.exponential.rule import Exponential


@dataclass(frozen=True)
class ExponentialFamily(Family):
    """Each answer has a weight by how far it is behind."""

    kind: ClassVar[str] = "exponential"
    title: ClassVar[str] = "Exponential"
    summary: ClassVar[str] = "a weight for each answer, by how far it is behind"
    rule: ClassVar[type[Rule]] = Exponential
    uses_delta: ClassVar[bool] = False

    def suits(self, question: Question) -> bool:
        """Every question has margins."""
        return True

    def unfit(self, question: Question, guarantee: Guarantee) -> str | None:
        """It is for every question, and for what follows from a range."""
        if not isinstance(guarantee, DP | GaussianDP | ZeroConcentrated):
            return f"exponential needs {FOR}, got {guarantee}"
        if _ratio(question, guarantee) >= 1:
            return f"exponential needs a larger budget than {guarantee}"
        return None

    def outdone(self, guarantee: Guarantee) -> bool:
        """With the same ratio coins err no more: under ε, it has nothing to gain."""
        return isinstance(guarantee, DP)

    def build(
        self, question: Question, guarantee: Guarantee, progress: Progress | None = None
    ) -> tuple[Exponential, Fraction]:
        """The closed form. A δ is kept but not used."""
        return Exponential(scores_for(question), _ratio(question, guarantee)), Fraction(0)


def _ratio(question: Question, guarantee: Guarantee) -> Fraction:
    return ratio_for(1 / range_within(guarantee), scores_for(question).moves)

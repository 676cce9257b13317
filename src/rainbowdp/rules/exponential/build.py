"""The steepest weights that keep a guarantee."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from rainbowdp.exact.falling import ratio_for
from rainbowdp.exact.rule import Family, Progress, Rule
from rainbowdp.exact.scores import MarginScores, Scores, scores_for
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.questions import Question
from rainbowdp.rules.exponential.proof import FOR, range_within
from rainbowdp.rules.exponential.rule import Exponential


@dataclass(frozen=True)
class ExponentialFamily(Family):
    """Each answer has a weight by how far it is behind.

    Votes and sets are behind by counts, or where ``by_margins`` is set by signed margins, as all
    other answers are. Where one person is worth much, margins err less often: they go in steps of a
    person, and tell who is near from who would have to overtake many.
    """

    kind: ClassVar[str] = "exponential"
    title: ClassVar[str] = "Exponential"
    summary: ClassVar[str] = "a weight for each answer, by how far it is behind"
    rule: ClassVar[type[Rule]] = Exponential
    uses_delta: ClassVar[bool] = False

    by_margins: bool = False

    def suits(self, question: Question) -> bool:
        """Every question has margins."""
        return True

    def unfit(self, question: Question, guarantee: Guarantee) -> str | None:
        """It is for every question, and for what follows from a range."""
        if not isinstance(guarantee, DP | GaussianDP | ZeroConcentrated):
            return f"exponential needs {FOR}, got {guarantee}"
        if self._ratio(question, guarantee) >= 1:
            return f"exponential needs a larger budget than {guarantee}"
        return None

    def variants(self, question: Question) -> tuple[Family, ...]:
        """By counts and by margins, where there are both."""
        both = not isinstance(scores_for(question), MarginScores)
        return (self, replace(self, by_margins=True)) if both else (self,)

    def outdone(self, guarantee: Guarantee) -> bool:
        """With the same ratio coins err no more: under ε, it has nothing to gain."""
        return isinstance(guarantee, DP)

    def build(
        self, question: Question, guarantee: Guarantee, progress: Progress | None = None
    ) -> tuple[Exponential, Fraction]:
        """The closed form. A δ is kept but not used."""
        return Exponential(self._scores(question), self._ratio(question, guarantee)), Fraction(0)

    def options(self) -> dict[str, Any]:
        """Whether it goes by margins where it could go by counts."""
        return {"by_margins": True} if self.by_margins else {}

    def _scores(self, question: Question) -> Scores:
        return MarginScores() if self.by_margins else scores_for(question)

    def _ratio(self, question: Question, guarantee: Guarantee) -> Fraction:
        return ratio_for(1 / range_within(guarantee), self._scores(question).moves)

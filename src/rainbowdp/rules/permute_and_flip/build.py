"""The coins with the least chances that keep a guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.exact.falling import ratio_for
from rainbowdp.exact.rule import Family, Progress, Rule
from rainbowdp.exact.scores import SetScores, VoteScores, scores_for
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.polygons import ratio_below
from rainbowdp.questions import Question
from rainbowdp.rules.permute_and_flip.rule import PermuteAndFlip


@dataclass(frozen=True)
class PermuteAndFlipFamily(Family):
    """A coin for each answer of a vote; among those that show heads all are alike."""

    kind: ClassVar[str] = "permute-and-flip"
    title: ClassVar[str] = "Permute-and-flip"
    summary: ClassVar[str] = "a coin toss for each answer of a vote, by how far it is behind"
    rule: ClassVar[type[Rule]] = PermuteAndFlip
    uses_delta: ClassVar[bool] = False

    def suits(self, question: Question) -> bool:
        """It is for votes, and for the first few of a vote as a set."""
        return isinstance(scores_for(question), VoteScores | SetScores)

    def unfit(self, question: Question, guarantee: Guarantee) -> str | None:
        """It is for votes under (ε,δ), with any number of answers and rows a person."""
        scores = scores_for(question)
        if not isinstance(scores, VoteScores | SetScores):
            got = type(question).__name__
            return f"permute-and-flip is for a Winner or for a Ranking as a set, got a {got}"
        return _why_not(guarantee, scores, len(question.answers))

    def build(
        self, question: Question, guarantee: Guarantee, progress: Progress | None = None
    ) -> tuple[PermuteAndFlip, Fraction]:
        """The closed form. A δ is kept but not used."""
        scores = scores_for(question)
        assert isinstance(scores, VoteScores | SetScores)
        return coins_for(guarantee, scores, len(question.answers)), Fraction(0)


def coins_for(guarantee: Guarantee, scores: VoteScores | SetScores, answers: int) -> PermuteAndFlip:
    """The coins with the least chances that keep the guarantee."""
    reason = _why_not(guarantee, scores, answers)
    if reason is not None:
        raise InvalidGuarantee(reason)
    assert isinstance(guarantee, DP)
    return PermuteAndFlip(scores, ratio_for(1 / ratio_below(guarantee), scores.moves))


def _why_not(guarantee: Guarantee, scores: VoteScores | SetScores, answers: int) -> str | None:
    if not isinstance(guarantee, DP):
        return f"permute-and-flip needs an (ε,δ) guarantee, got {guarantee}"
    if ratio_for(1 / ratio_below(guarantee), scores.moves) >= 1:
        return f"permute-and-flip over {answers} answers needs a larger epsilon, got {guarantee}"
    return None

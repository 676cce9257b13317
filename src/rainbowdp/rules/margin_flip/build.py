"""The coins with the least chances that keep a guarantee for every margin function."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar

from rainbowdp.exact.falling import TOTAL, ratio_for
from rainbowdp.exact.rule import Family, Progress, Rule
from rainbowdp.exact.scores import MarginScores
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.polygons import ratio_below
from rainbowdp.questions import Question
from rainbowdp.rules.margin_flip.proof import border_holds
from rainbowdp.rules.margin_flip.rule import MarginFlip

# The first chance may be below the ratio, which is enough for any number of answers. For more than
# a few it is looked for where a thousandth is to be gained; for very many that would take long.
_FEW, _LITTLE, _MANY = 64, Fraction(1, 1000), 1024
_PLACES = 48  # binary places of the first chance


@dataclass(frozen=True)
class MarginFlipFamily(Family):
    """A coin for each answer; among those that show heads all are alike."""

    kind: ClassVar[str] = "margin-flip"
    title: ClassVar[str] = "Margin flip"
    summary: ClassVar[str] = "a coin toss for each answer, by its own margin and the nearest one's"
    rule: ClassVar[type[Rule]] = MarginFlip
    uses_delta: ClassVar[bool] = False

    def suits(self, question: Question) -> bool:
        """Every question has margins."""
        return True

    def unfit(self, question: Question, guarantee: Guarantee) -> str | None:
        """It is for every question under (ε,δ), with any number of answers."""
        if not isinstance(guarantee, DP):
            return f"margin-flip needs an (ε,δ) guarantee, got {guarantee}"
        if len(question.answers) < 2:
            return f"margin-flip needs at least 2 answers, got {len(question.answers)}"
        if _ratio(guarantee) >= 1:
            return f"margin-flip needs a larger epsilon, got {guarantee}"
        return None

    def build(
        self, question: Question, guarantee: Guarantee, progress: Progress | None = None
    ) -> tuple[MarginFlip, Fraction]:
        """The closed form. A δ is kept but not used."""
        assert isinstance(guarantee, DP)
        return margin_coins(len(question.answers), guarantee), Fraction(0)


@cache
def margin_coins(answers: int, guarantee: DP) -> MarginFlip:
    """The coins with the least first chance that is proved for so many answers."""
    ratio, allowed = _ratio(guarantee), ratio_below(guarantee)

    def holds(part: int, crowds: Iterable[int]) -> bool:
        return border_holds(allowed, ratio, Fraction(part, 1 << _PLACES), crowds)

    low, high = 0, math.ceil(ratio * (1 << _PLACES))
    gains = answers <= _FEW or holds(int((1 - _LITTLE) * high), {0, answers - 2})
    if answers > _MANY or not gains:
        return MarginFlip(int(ratio * TOTAL), ratio)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle, {0, answers - 2}) else (middle, high)
    while not holds(high, range(answers - 1)) and Fraction(high, 1 << _PLACES) < ratio:
        high += 1
    first = min(high * (TOTAL >> _PLACES), int(ratio * TOTAL))
    return MarginFlip(first, ratio)


def _ratio(guarantee: DP) -> Fraction:
    return ratio_for(1 / ratio_below(guarantee), MarginScores().moves)

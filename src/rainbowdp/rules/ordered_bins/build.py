"""The weights of ordered bins, and where they are private."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar

from rainbowdp.errors import InvalidGuarantee, InvalidMechanism
from rainbowdp.exact.rule import Family, Progress, Rule
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.polygons import ratio_below
from rainbowdp.questions import Quantile, Question
from rainbowdp.questions.relations import Neighbors
from rainbowdp.rules.ordered_bins.proof import prove_ordered
from rainbowdp.rules.ordered_bins.rule import OrderedBins

_TOTAL = 1 << 64
_LONGEST = 1 << 15  # weights kept; a larger margin has the last one, which stays private


@dataclass(frozen=True)
class OrderedBinsFamily(Family):
    """Near bins share what a near bin would have alone."""

    kind: ClassVar[str] = "ordered-bins"
    title: ClassVar[str] = "Ordered bins"
    summary: ClassVar[str] = "by each bin's distance from the quantile and how crowded it is there"
    rule: ClassVar[type[Rule]] = OrderedBins
    uses_delta: ClassVar[bool] = False

    def suits(self, question: Question) -> bool:
        """It is for quantiles with one record a person substituted."""
        return (
            isinstance(question, Quantile)
            and question.neighbors == Neighbors.SUBSTITUTED
            and question.limit == 1
        )

    def unfit(self, question: Question, guarantee: Guarantee) -> str | None:
        """The ε that it needs grows with the number of bins."""
        if not self.suits(question):
            rows = question.limit
            return (
                "ordered bins are for a Quantile with one record a person substituted, got a "
                f"{type(question).__name__} with {rows} a person {question.neighbors}"
            )
        return why_no_ordered_bins(len(question.answers), guarantee)

    def build(
        self, question: Question, guarantee: Guarantee, progress: Progress | None = None
    ) -> tuple[OrderedBins, Fraction]:
        """The least weights that a factor of e^ε allows. A δ is kept but not used."""
        return ordered_weights(len(question.answers), guarantee), Fraction(0)


def why_no_ordered_bins(answers: int, guarantee: Guarantee) -> str | None:
    """Why the rule is not proved to be private for so many bins, or none where it is."""
    if not isinstance(guarantee, DP):
        return f"ordered bins need an (ε,δ) guarantee, got {guarantee}"
    if not ordered_holds(answers, guarantee):
        return f"{answers} ordered bins need a larger epsilon, got {guarantee}"
    return None


def ordered_weights(answers: int, guarantee: Guarantee) -> OrderedBins:
    """The rule with the least weights, or the reason there is none."""
    reason = why_no_ordered_bins(answers, guarantee)
    if reason is not None:
        raise InvalidGuarantee(f"{reason}; use rb.best, which chooses what there is")
    assert isinstance(guarantee, DP)
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


def _weights(guarantee: DP) -> OrderedBins:
    """From ⌈G/e^ε⌉ each weight is the least that a factor of e^ε allows, rounded up."""
    ratio = ratio_below(guarantee)
    steps = [_TOTAL]
    while len(steps) <= _LONGEST:
        following = -(-steps[-1] * ratio.denominator // ratio.numerator)
        if following == steps[-1]:
            break
        steps.append(following)
    return OrderedBins(_TOTAL, tuple(steps[1:] or steps))

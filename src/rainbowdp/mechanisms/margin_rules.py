"""The rules that find rows by margins, for graphs whose margins lie elsewhere.

A margin flip and the exponential mechanism are proved for every function that is 0 at exactly the
true answer and changes by at most 1 between neighbors. Proximity below ε = log(q − 1) also needs to
know how much the losers have together at the dataset where they have most, which is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rainbowdp.aliases import Answer
from rainbowdp.errors import InvalidGuarantee, InvalidMechanism
from rainbowdp.expecting import brief
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.mechanisms.by_margins import RuleByMargins, exponential_rule, margin_flip_rule
from rainbowdp.rules.proximity.build import proximity_holds, proximity_steps, proximity_weights
from rainbowdp.rules.proximity.rule import Proximity

BY_MARGINS = ("margin-flip", "exponential", "proximity")
_SHORT = 60  # bits of a total whose sums of rows fit in 64


def margin_rule(
    kind: str,
    answers: Sequence[Answer],
    guarantee: Guarantee,
    most: Callable[[Sequence[int]], int],
) -> RuleByMargins:
    """The rule of a kind of ``BY_MARGINS``, proved for every graph with such margins.

    ``most`` gets a weight for each margin, the last for all beyond, and returns the largest sum of
    weights that a dataset has; it is asked only where proximity depends on it.
    """
    if kind == "margin-flip":
        return margin_flip_rule(len(answers), guarantee)
    if kind == "exponential":
        return exponential_rule(len(answers), guarantee)
    return _proximity(answers, guarantee, most)


def _proximity(
    answers: Sequence[Answer], guarantee: Guarantee, most: Callable[[Sequence[int]], int]
) -> Proximity:
    if not isinstance(guarantee, DP) or guarantee.ratio == 1:
        raise InvalidGuarantee(
            f"proximity needs an (ε,δ) guarantee with ε > 0, got {brief(guarantee, str)}"
        )
    if proximity_holds(len(answers), guarantee) or guarantee.delta or len(answers) < 2:
        return proximity_weights(len(answers), guarantee)
    rule = proximity_steps(guarantee, len(answers), 1 << _SHORT)
    bounded = replace(rule, most=max(most([0, *rule.steps]), rule.steps[0]))
    try:
        bounded.prove(guarantee, tuple(answers), None)
    except InvalidMechanism:
        raise InvalidGuarantee(
            f"proximity does not hold on this graph under {guarantee}: too many answers are near "
            "one dataset; use margin-flip or a larger epsilon"
        ) from None
    return bounded

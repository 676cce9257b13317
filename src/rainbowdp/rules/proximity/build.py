"""Saying the true answer: weights that fall with the margin.

Let λ_v be the margin of answer v: how many changes it takes before v is the true answer (0 for
the true answer itself). With E = e^ε, y = (1−δ)/(1+E), δ' = δ/(q−1) and ρ' = δ'/(E−1), every other
answer has

    p_v = max(0, (y + ρ')·E^{−(λ_v − 1)} − ρ'),

and the true answer the rest. This is (ε,δ)-private whenever q − 1 ≤ E, for any margins that are 0
exactly at the true answer and change by at most 1 between neighbors (proof in
``docs/theory.md``; checked in integers by ``proof.prove_margins``). Far answers cost hardly
anything, which is what a homogeneous boundary cannot do.
"""

from __future__ import annotations

import math
from fractions import Fraction

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.exact.mechanism import BITS, LONGEST, Margins
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.guarantees.polygons import ratio_below


def proximity_holds(answers: int, guarantee: Guarantee) -> bool:
    """Whether the closed form is private for this many answers: q − 1 ≤ e^ε, with room to round."""
    return isinstance(guarantee, DP) and answers - 1 < ratio_below(guarantee) * (
        1 - Fraction(1, 1 << 40)
    )


def proximity_weights(answers: int, guarantee: Guarantee, total: int = 1 << BITS) -> Margins:
    """The weights by margin in integers, or the reason there are none."""
    if not isinstance(guarantee, DP):
        raise InvalidGuarantee(f"proximity needs an (ε,δ) guarantee, got {guarantee}")
    if answers < 2:
        raise InvalidGuarantee(f"proximity needs at least 2 answers, got {answers}")
    if not proximity_holds(answers, guarantee):
        raise InvalidGuarantee(
            f"proximity over {answers} answers holds from epsilon = {math.log(answers - 1):.4f}, "
            f"got {guarantee}; use the homogeneous mechanism or a larger epsilon"
        )
    ratio, slack = ratio_below(guarantee), guarantee.exact_delta * total
    each = slack / (answers - 1)
    steps = [_up((total - slack) / (1 + ratio))]
    while len(steps) < LONGEST:
        following = max(0, _up((steps[-1] - each) / ratio))
        if following == steps[-1]:
            break
        steps.append(following)
    return Margins(total, tuple(steps))


def _up(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)

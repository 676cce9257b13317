"""Kinds that find a row by the margins of all answers: proximity and margin-flip."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction

from .bounds import power_between
from .document import fraction, keys, weight, weights
from .errors import Refused
from .falling import BITS, TOTAL, Falling, row_of_coins
from .guarantee import Guarantee
from .question import Question
from .randomness import below, bits_at_random, place_in

_MOST_STEPS = 1 << 15
_PLACES = 512


def margins_of(key: object, answers: Sequence[object]) -> list[int]:
    """The margin of each answer, exactly one of them 0."""
    if not isinstance(key, Mapping) or len(key) != len(answers):
        raise Refused("a key must have a margin for each answer")
    try:
        found = [key[answer] for answer in answers]
    except KeyError:
        raise Refused("a key must have a margin for each answer") from None
    if any(type(margin) is not int or margin < 0 for margin in found) or found.count(0) != 1:
        raise Refused("margins must be whole numbers from 0, and 0 at the true answer only")
    return found


class ByMargins:
    """What these kinds share."""

    answers: Sequence[object]

    def key(self, question: Question, margins: Sequence[int]) -> dict[object, int]:
        """The margins."""
        return dict(zip(self.answers, margins, strict=True))


class Proximity(ByMargins):
    """A weight for each margin; the true answer has the rest."""

    own = ("total", "steps")
    may_have = ("most",)

    def __init__(
        self,
        content: dict[str, object],
        answers: Sequence[object],
        question: Question | None,
        guarantee: Guarantee,
    ) -> None:
        ratio = guarantee.must_be_pure("proximity")
        self.answers = answers
        self.total, self.steps = weight(content["total"]), weights(content["steps"], _MOST_STEPS)
        self.most = weight(content["most"]) if "most" in content else None
        self._must_hold(ratio, guarantee.delta * self.total, question is None)
        self.proved = f"{len(self.steps)} weights by margin"

    def _must_hold(self, ratio: Fraction, slack: Fraction, on_a_graph: bool) -> None:
        """With E = e^ε, D = δ·total, q − 1 losers and weights g_1 ≥ g_2 ≥ … ≥ 0 by margin.

        g_t ≤ E·g_{t+1} + D/(q−1); total·(1−E) + (q−1)·max(E·g_t' − g_t) ≤ D over |t − t'| ≤ 1;
        total ≤ (1+E)·g_1 + D; g_1 ≤ E·(total − (q−1)·g_1). Where the losers never have more than
        ``most`` together, and δ = 0, the second is most·(E² − 1) ≤ total·(E² − E) and the last
        g_1 ≤ E·(total − most).
        """
        total, steps, losers = self.total, self.steps, len(self.answers) - 1
        if losers < 1 or not 0 < len(steps) <= _MOST_STEPS or total <= 0:
            raise Refused("proximity must have a loser, a total and at most 32,768 weights")
        top, bottom = ratio.numerator, ratio.denominator
        chain = [*steps, steps[-1]]
        widest = bottom_most = 0
        for here, beyond in itertools.pairwise(chain):
            if beyond > here:
                raise Refused("the weights of proximity must fall")
            if (bottom * here - top * beyond) * losers > bottom * slack:
                raise Refused("the weights of proximity fall too fast")
            widest = max(widest, top * here - bottom * beyond, (top - bottom) * here)
        bottom_most = losers * steps[0]
        rises = total * (bottom - top) + losers * widest <= bottom * slack
        if self.most is not None:
            if not on_a_graph or not 0 < self.most < total or slack:
                raise Refused("a bound of what others have is for graphs, without a delta")
            bottom_most = self.most
            rises = self.most * (ratio**2 - 1) <= total * (ratio**2 - ratio)
        if not rises:
            raise Refused("the true answer of proximity rises too fast")
        if total > (1 + ratio) * steps[0] + slack or steps[0] > ratio * (total - bottom_most):
            raise Refused("a border of proximity is too steep")

    def row(self, key: object) -> list[int]:
        """The row at some margins."""
        margins = margins_of(key, self.answers)
        last = len(self.steps)
        row = [self.steps[min(margin, last) - 1] if margin else 0 for margin in margins]
        others = sum(row)
        if self.most is not None and others > self.most:
            raise Refused("margins that give the others more than the file allows have no row")
        row[margins.index(0)] = self.total - others
        return row

    def draw(self, key: object) -> int:
        """The place of an answer."""
        return place_in(self.row(key))


def signed_distances(margins: Sequence[int]) -> list[int]:
    """λ_v + D − 1 steps behind, where D is the margin of the nearest rival; 0 for the true one."""
    depth = min(margin for margin in margins if margin)
    return [margin + depth - 1 if margin else 0 for margin in margins]


class MarginFlip(ByMargins):
    """Coins by signed margins; among the heads and the true answer all are alike."""

    own = ("coins",)

    def __init__(
        self,
        content: dict[str, object],
        answers: Sequence[object],
        question: Question | None,
        guarantee: Guarantee,
    ) -> None:
        allowed = guarantee.must_be_pure("a margin flip")
        given = keys(content["coins"], "coins", "first", "ratio")
        if len(answers) < 2:
            raise Refused("a margin flip must have at least 2 answers")
        self.answers = answers
        self.coins = Falling(fraction(given["ratio"], "ratio"), weight(given["first"]))
        self.coins.must_keep(allowed, 2)
        first = Fraction(self.coins.at(0), TOTAL)
        if first < self.coins.ratio:
            self._must_be_gentle(allowed, first)
        self.proved = "coins by signed margins, two steps a change"

    def _must_be_gentle(self, allowed: Fraction, first: Fraction) -> None:
        """Where the true answer changes, beside k others that are as near as they can be.

        ∫₀¹ (1 − t·z)(1 − t·r·z)^k dt ≤ E·z·∫₀¹ (1 − t)(1 − t·z)^k dt for k = 0, …, q − 2, in
        terms of the means M_k(a) = ∫₀¹ (1 − t·a)^k dt.
        """
        ratio = self.coins.ratio
        for k in range(len(self.answers) - 1):
            here = _mean(ratio * first, k + 1)[1] - (1 - ratio) * _mean(ratio * first, k)[0]
            beside = _mean(first, k + 1)[0] - (1 - first) * _mean(first, k)[1]
            if here > ratio * allowed * beside:
                raise Refused("a border of the margin flip is too steep")

    def row(self, key: object) -> list[int]:
        """The row at some margins."""
        distances = signed_distances(margins_of(key, self.answers))
        return row_of_coins([self.coins.at(far - 1) if far else TOTAL for far in distances])

    def draw(self, key: object) -> int:
        """Flip all coins, and take one of the heads."""
        distances = signed_distances(margins_of(key, self.answers))
        heads = [
            v
            for v, far in enumerate(distances)
            if not far or bits_at_random(BITS) < self.coins.at(far - 1)
        ]
        return heads[below(len(heads))]


def _mean(a: Fraction, k: int) -> tuple[Fraction, Fraction]:
    """Bounds of (1 − (1 − a)^(k+1)) / ((k + 1)·a)."""
    low, high = power_between(1 - a, k + 1, _PLACES) if a < 1 else (0, 0)
    parts = a * ((k + 1) << _PLACES)
    return ((1 << _PLACES) - high) / parts, ((1 << _PLACES) - low) / parts

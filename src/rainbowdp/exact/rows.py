"""One distribution in integers, ready to draw from."""

from __future__ import annotations

import secrets
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from rainbowdp.aliases import Answer, Weights


@dataclass(frozen=True)
class ExactRow:
    """A row: one non-negative integer weight for each answer. No float takes part in a draw."""

    answers: tuple[Answer, ...]
    weights: Weights

    @cached_property
    def _ends(self) -> tuple[list[int], int]:
        ends = list(accumulate(self.weights))
        return ends, ends[-1]

    @property
    def probabilities(self) -> dict[Answer, Fraction]:
        """The exact probability of each answer."""
        total = sum(self.weights)
        pairs = zip(self.answers, self.weights, strict=True)
        return {answer: Fraction(weight, total) for answer, weight in pairs}

    def draw(self) -> Answer:
        """One answer: a uniform integer below the total, and a bisection."""
        ends, total = self._ends
        return self.answers[bisect_right(ends, secrets.randbelow(total))]

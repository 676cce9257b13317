"""A test of a share in integers, with the proofs of its guarantee and of its size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import SupportsIndex

from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.line import Line
from rainbowdp.exact.line_proof import prove_line, size_above
from rainbowdp.exact.scope import scope_of_a_question
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.binomial import binomial_above
from rainbowdp.questions.proportion import NOT_SIGNIFICANT, SIGNIFICANT, ProportionTest


@dataclass(frozen=True)
class ExactTest:
    """A test, its line in integers and the proofs; made means proved."""

    question: ProportionTest
    guarantee: Guarantee
    line: Line
    proof: Check = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        asked = self.question
        proof = prove_line(self.guarantee, self.line)
        if size_above(self.line, binomial_above(asked.records, asked.above)) > asked.alpha:
            raise InvalidMechanism(f"a test must have a size of at most {asked.alpha}, got more")
        scope = scope_of_a_question(asked.describe())
        object.__setattr__(self, "proof", replace(proof, scope=scope))

    def ready(self, counts: Mapping[str, SupportsIndex]) -> Callable[[], str]:
        """A function that draws an answer for ``counts``; all that can fail has happened."""
        draw = self.line.drawer(self.question.found(counts))
        return lambda: SIGNIFICANT if draw() else NOT_SIGNIFICANT

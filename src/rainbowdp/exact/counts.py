"""A count with noise in integers, and the proof that it keeps its guarantee."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import SupportsIndex

from rainbowdp.exact.check import Check
from rainbowdp.exact.noise import NoiseRow
from rainbowdp.exact.noise_proof import prove_noise
from rainbowdp.exact.scope import scope_of_a_question
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions.count import Count


@dataclass(frozen=True)
class ExactCount:
    """A count, noise in integers and the proof of its guarantee; made means proved."""

    question: Count
    guarantee: Guarantee
    noise: NoiseRow
    proof: Check = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        question = self.question
        proof = prove_noise(self.guarantee, self.noise, question.rows_per_person, question.at_most)
        scope = scope_of_a_question(question.describe())
        object.__setattr__(self, "proof", replace(proof, scope=scope))

    def ready(self, counts: Mapping[str, SupportsIndex]) -> Callable[[], int]:
        """A function that draws an answer for ``counts``; all that can fail has happened."""
        found, most = self.question.found(counts), self.question.at_most
        return lambda: min(max(found + self.noise.draw(), 0), most)

"""The coins with the least chances that keep a guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.exact.rule import Family, Progress, Rule
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.guarantees.polygons import ratio_below
from rainbowdp.numeric.quantity import ball, dyadic, precision
from rainbowdp.questions import Question, Winner
from rainbowdp.rules.permute_and_flip.rule import GRID, PermuteAndFlip


@dataclass(frozen=True)
class PermuteAndFlipFamily(Family):
    """A coin for each answer of a vote; among those that show heads all are alike."""

    kind: ClassVar[str] = "permute-and-flip"
    title: ClassVar[str] = "Permute-and-flip"
    summary: ClassVar[str] = "a coin for each answer of a vote, by how far it is behind"
    rule: ClassVar[type[Rule]] = PermuteAndFlip
    uses_delta: ClassVar[bool] = False

    def suits(self, question: Question) -> bool:
        """It is for votes."""
        return isinstance(question, Winner)

    def unfit(self, question: Question, guarantee: Guarantee) -> str | None:
        """It is for votes under (ε,δ), with any number of answers and rows a person."""
        if not isinstance(question, Winner):
            return f"permute-and-flip is for a Winner, got {type(question).__name__}"
        if not isinstance(guarantee, DP):
            return f"permute-and-flip needs an (ε,δ) guarantee, got {guarantee}"
        if _ratio(guarantee, _coins(question)) >= 1:
            return (
                f"permute-and-flip over {len(question.answers)} answers needs a larger epsilon, "
                f"got {guarantee}"
            )
        return None

    def build(
        self, question: Question, guarantee: Guarantee, progress: Progress | None = None
    ) -> tuple[PermuteAndFlip, Fraction]:
        """The closed form. A δ is kept but not used."""
        assert isinstance(question, Winner)
        made = coins_for(
            len(question.answers),
            guarantee,
            question.neighbors,
            question.ties,
            question.rows_per_person,
        )
        return made, Fraction(0)


def coins_for(
    answers: int, guarantee: Guarantee, neighbors: str, ties: str, rows: int = 1
) -> PermuteAndFlip:
    """The coins with the least chances that keep the guarantee."""
    if not isinstance(guarantee, DP):
        raise InvalidGuarantee(f"permute-and-flip needs an (ε,δ) guarantee, got {guarantee}")
    some = PermuteAndFlip(answers, neighbors, ties, rows, Fraction(1, 2))
    ratio = _ratio(guarantee, some)
    if ratio >= 1:
        raise InvalidGuarantee(
            f"permute-and-flip over {answers} answers needs a larger epsilon, got {guarantee}"
        )
    return PermuteAndFlip(answers, neighbors, ties, rows, ratio)


def _coins(question: Winner) -> PermuteAndFlip:
    """Some coins for the question, to ask what one person can move."""
    size, rows = len(question.answers), question.rows_per_person
    return PermuteAndFlip(size, question.neighbors, question.ties, rows, Fraction(1, 2))


def _ratio(guarantee: DP, coins: PermuteAndFlip) -> Fraction:
    return _root_above(1 / ratio_below(guarantee), coins.moves)


def _root_above(value: Fraction, degree: int) -> Fraction:
    """A multiple of 1/GRID just above value^(1/degree)."""
    with precision(256):
        root = dyadic((ball(value) ** ball(Fraction(1, degree))).upper())
    return Fraction(math.ceil(root * GRID), GRID)

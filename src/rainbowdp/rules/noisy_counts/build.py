"""The least noise that keeps a guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from rainbowdp.aliases import Floats, Integers
from rainbowdp.errors import InvalidGuarantee
from rainbowdp.exact.rule import Family, Progress, Rule
from rainbowdp.exact.scores import VoteScores
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.questions import Question, Winner
from rainbowdp.questions.relations import Neighbors
from rainbowdp.rules.noisy_counts.proof import FOR, makes_up_for, squared_move, squared_mu
from rainbowdp.rules.noisy_counts.rule import UNIFORM, NoisyCounts, noisy_rows
from rainbowdp.rules.noisy_counts.shape import LONGEST, places_of

_FINE = 32.0  # parts a deviation has at least, so that rounding adds little to it
_COARSE = 512.0  # and at most, where more parts make less of what all scores have in common
_SHARED = Fraction(5, 2)  # parts for an answer and a row a person, so that most of it is gained
_STEP = 32  # bits
_PLACES = 40  # binary places of a deviation
_WIDEST = 10**200  # a variance that a float still holds


@dataclass(frozen=True)
class NoisyCountsFamily(Family):
    """Noise on every count of a vote."""

    kind: ClassVar[str] = "noisy-counts"
    title: ClassVar[str] = "Noisy counts"
    summary: ClassVar[str] = "Gaussian noise on every count of a vote; the largest is named"
    rule: ClassVar[type[Rule]] = NoisyCounts

    def suits(self, question: Question) -> bool:
        """It is for votes."""
        return isinstance(question, Winner)

    def unfit(self, question: Question, guarantee: Guarantee) -> str | None:
        """It is for votes, where the noise is not too wide to be listed."""
        if not isinstance(question, Winner):
            return f"noisy-counts is for a Winner, got a {type(question).__name__}"
        if not _has_mu(guarantee):
            return f"noisy-counts needs {FOR}, got {guarantee}"
        try:
            parts, deviation = _parts_and_deviation(VoteScores.of(question), guarantee)
        except InvalidGuarantee:  # its μ, or the noise, cannot be written down
            return f"noisy-counts needs a larger budget than {guarantee}"
        bits = _bits(len(question.answers), float(deviation), guarantee)
        if places_of(float(deviation), bits) > LONGEST:
            wide = float(deviation / parts)
            return f"noisy-counts would need noise of {wide:.3g} records, too wide to be listed"
        return None

    def outdone(self, guarantee: Guarantee) -> bool:
        """Without a δ there is none, and comparisons need not say so each time."""
        return isinstance(guarantee, DP) and not guarantee.exact_delta

    def build(
        self, question: Question, guarantee: Guarantee, progress: Progress | None = None
    ) -> tuple[NoisyCounts, Fraction]:
        """The closed form."""
        assert isinstance(question, Winner)
        vote = VoteScores.of(question)
        parts, deviation = _parts_and_deviation(vote, guarantee)
        bits = _bits(vote.answers, float(deviation), guarantee)
        return NoisyCounts(vote, parts, deviation, bits), UNIFORM

    def sketch(
        self, question: Question, guarantee: Guarantee, counts: Integers, margins: Floats
    ) -> Floats:
        """The same rows, without making the weights."""
        assert isinstance(question, Winner)
        vote = VoteScores.of(question)
        return noisy_rows(vote, *_parts_and_deviation(vote, guarantee), counts)


def _has_mu(guarantee: Guarantee) -> bool:
    if isinstance(guarantee, DP):
        return 0 < guarantee.exact_delta < 1
    if isinstance(guarantee, GaussianDP):
        return guarantee.moves
    return isinstance(guarantee, ZeroConcentrated)


@lru_cache(maxsize=256)
def _parts_and_deviation(vote: VoteScores, guarantee: Guarantee) -> tuple[int, Fraction]:
    """In how many parts of a record counts are taken, and the least deviation in these."""
    allowed = squared_mu(guarantee)
    squared = squared_move(1, vote.rows, vote.neighbors, vote.answers) / allowed
    if squared > _WIDEST:
        raise InvalidGuarantee(f"{guarantee} needs noise beyond every float; use a larger one")
    one = math.sqrt(squared)
    parts = math.ceil(_FINE / one)
    if vote.neighbors == Neighbors.ADDED_OR_REMOVED:
        wanted = math.ceil(_SHARED * vote.answers / vote.rows)
        parts = max(parts, min(wanted, int(_COARSE / one)))
    least = squared_move(parts, vote.rows, vote.neighbors, vote.answers) / allowed
    root = math.isqrt(math.ceil(least * (1 << 2 * _PLACES))) + 1
    return parts, Fraction(root, 1 << _PLACES)


@lru_cache(maxsize=256)
def _bits(answers: int, deviation: float, guarantee: Guarantee) -> int:
    """So many that the proof has twice the room it needs: each weight may be off by two units."""
    allowed, bits = squared_mu(guarantee), _STEP
    while True:
        bits += _STEP
        away = Fraction(answers * 4 * (places_of(deviation, bits) + 2), 1 << bits)
        if makes_up_for(2 * away, allowed, answers, UNIFORM):
            return bits

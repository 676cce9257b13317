"""Counts with noise: every count of a vote has noise of its own, and the largest is said.

Counts are taken in so many parts of a record, so that rounding the noise to whole parts costs
nothing worth a name. Where ties go to the first listed, an answer is as much behind as its place in
the list, of a record in all. ``docs/noisy-counts.md`` has the proof.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from rainbowdp.aliases import Answer, Dataset, Floats, Integers, Weights
from rainbowdp.errors import InvalidFile, InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.margins import array_of
from rainbowdp.exact.rule import Key, Rule, Short
from rainbowdp.exact.scores import VoteScores, restored_scores
from rainbowdp.exact.votes import chances_of_a_vote, counts_key, counts_of
from rainbowdp.expecting import brief
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.quantity import exact
from rainbowdp.questions import Question
from rainbowdp.questions.relations import Ties
from rainbowdp.rules.noisy_counts.proof import Noise, prove_noisy_counts
from rainbowdp.rules.noisy_counts.shape import RoundedNormal, rows_of_largest

UNIFORM_BITS = 40
_LARGEST = 1 << 62  # count that is held in 64 bits
UNIFORM = Fraction(1, 1 << UNIFORM_BITS)  # how often all answers are alike


@dataclass(frozen=True)
class NoisyCounts(Rule):
    """Noise on the counts of a vote; the key is the counts of all answers.

    Parameters
    ----------
    vote
        The vote: its answers, neighbors, ties and rows a person.
    parts
        In how many parts of a record counts are taken.
    deviation
        The standard deviation of the noise, in these parts.
    bits
        The weights of the noise sum to 2^bits.

    """

    kind: ClassVar[str] = "noisy-counts"

    vote: VoteScores
    parts: int
    deviation: Fraction
    bits: int

    def __post_init__(self) -> None:
        if type(self.parts) is not int or self.parts < 1:
            raise InvalidMechanism(
                f"the parts of a record must be a whole number from 1, got {brief(self.parts)}"
            )
        assert self.noise.bits == self.bits  # checked there

    @cached_property
    def noise(self) -> RoundedNormal:
        """What is added to each count."""
        return RoundedNormal(self.deviation, self.bits)

    @cached_property
    def _delays(self) -> list[int]:
        return delays_of(self.vote, self.parts)

    @cached_property
    def _delays_at_once(self) -> Integers:
        return np.array(self._delays, dtype=np.int64)

    def must_fit(
        self, answers: tuple[Answer, ...], neighbors: str, question: Mapping[str, Any] | None
    ) -> None:
        """Refuse all but a vote of this size and relation, these ties and rows a person."""
        self.vote.must_fit(answers, neighbors, question)

    def prove(
        self, guarantee: Guarantee, answers: tuple[Answer, ...], question: Mapping[str, Any] | None
    ) -> Check:
        """What one person can move, from the question, and the noise as it is drawn."""
        assert question is not None  # must_fit has seen to it
        noise = Noise(self.parts, self.deviation, self.noise.half, UNIFORM)
        return prove_noisy_counts(guarantee, len(answers), question, self._scores, noise)

    def _scores(self, counts: Sequence[int]) -> list[int]:
        delays = self._delays
        return [self.parts * held - late for held, late in zip(counts, delays, strict=True)]

    def key(self, question: Question, counted: Dataset) -> Key:
        """The counts of all answers."""
        return counts_key(question, counted)

    def _behind(self, key: Key, answers: Sequence[Answer]) -> list[int]:
        scores = self._scores(counts_of(key, answers))
        most = max(scores)
        return [most - score for score in scores]

    def weights(self, key: Key, answers: Sequence[Answer]) -> Weights:
        """The row where the answers have the counts ``key``: of 2^41 · q · 2^(bits · q)."""
        shares = self.noise.shares_of_largest(self._behind(key, answers))
        size, all_alike = len(shares), 2 << self.bits * len(shares)
        return tuple(((1 << UNIFORM_BITS) - 1) * size * share + all_alike for share in shares)

    def drawer(self, key: Key, answers: Sequence[Answer]) -> Callable[[], Answer]:
        """Draw a noise for each answer; a coin says the first or the last of the largest."""
        behind, size = self._near(key, answers), len(answers)

        def draw() -> Answer:
            drawn = secrets.randbits(UNIFORM_BITS + 1)
            if drawn < 2:
                return answers[secrets.randbelow(size)]
            noisy = self.noise.draw(size) - behind
            if drawn % 2:
                return answers[int(noisy.argmax())]
            return answers[size - 1 - int(noisy[::-1].argmax())]

        return draw

    def _near(self, key: Key, answers: Sequence[Answer]) -> Integers:
        """How far each is behind, up to where it can never be the largest."""
        out = 2 * self.noise.farthest + 1
        together = array_of(key, answers, "counts")
        if together is None:
            counts = counts_of(key, answers)
            most = max(counts)
            if most > _LARGEST:
                counts = [max(held - most + _LARGEST, 0) for held in counts]
            together = np.array(counts, dtype=np.int64)
        gaps = np.minimum(together[together.argmax()] - together, out)
        behind: Integers = self.parts * gaps + self._delays_at_once
        return behind

    def rows_at(self, question: Question, counts: Integers, margins: Floats) -> Floats:
        """The rows of many votes at once, in floats."""
        return noisy_rows(self.vote, self.parts, self.deviation, counts)

    def chances(self, question: Question, margin: int) -> tuple[float, float]:
        """At the extremes of the gaps that a margin leaves open.

        Places in the list are rounded to parts of a record, to the one side or the other, and a tie
        of noisy scores may go to either: the least and the most are those of a part less or more.
        """
        size = len(question.answers)
        found = [
            chances_of_a_vote(
                lambda gaps, worse=worse: self._right_at(gaps, worse),  # type: ignore[misc]
                margin,
                answers=size,
                neighbors=self.vote.neighbors,
                ties=self.vote.ties,
                rows=self.vote.rows,
                farthest=4 * self.noise.farthest // self.parts + 2,
                nearest={0, size - 2},
            )
            for worse in (True, False)
        ]
        return found[0][0], found[1][1]

    def _right_at(self, gaps: Sequence[int], worse: bool) -> float:
        """How likely a leader is, where the rivals after it around the list have these gaps."""
        size, parts = self.vote.answers, self.parts
        first = self.vote.ties == Ties.FIRST_LISTED
        places = [
            parts * gap + first * (place * parts // size) for place, gap in enumerate(gaps, start=1)
        ]
        rivals = [distance for distance in places if first or distance]
        off = -1 if worse else 1 + first
        leaders = [0] * (size - len(rivals))
        row = self._row_of([*leaders, *(distance + off for distance in rivals)])
        return float(row[: len(leaders)].sum())

    def _row_of(self, behind: Sequence[int]) -> Floats:
        distances = np.array([behind], dtype=np.float64)
        rows = rows_of_largest(distances - distances.min(), float(self.deviation))
        found: Floats = mixed(rows)[0]
        return found

    @property
    def short(self) -> Short:
        """Records behind the leader."""
        return Short.RECORDS

    def far(self, question: Question, short: int) -> float:
        """All rivals just so far behind and listed before the leader."""
        return self._far([self._least_behind(short, n) for n in range(1, self.vote.answers)])

    def far_alone(self, question: Question, short: int) -> float:
        """One rival just so far behind and listed first, all others farther."""
        out = 4 * self.noise.farthest
        others = [out] * (self.vote.answers - 2)
        row = self._row_of([self._least_behind(short, self.vote.answers - 1), *others, 0])
        return float(row[0])

    def _far(self, rivals: Sequence[int]) -> float:
        return float(self._row_of([*rivals, 0])[:-1].sum())

    def _least_behind(self, short: int, places: int) -> int:
        """Less than who is farther than ``short`` behind and listed so many places before."""
        first = self.vote.ties == Ties.FIRST_LISTED
        return self.parts * (short + 1) + first * (-places * self.parts // self.vote.answers) - 1

    def describe(self) -> dict[str, Any]:
        """What the noise is made of."""
        return {
            "noise": {
                "vote": self.vote.describe(),
                "parts": self.parts,
                "deviation": str(self.deviation),
                "bits": self.bits,
            }
        }

    @classmethod
    def restore(cls, content: Mapping[str, Any]) -> Self:
        """The rule that ``describe`` described."""
        given = content["noise"]
        vote = restored_scores(given["vote"])
        if not isinstance(vote, VoteScores):
            raise InvalidMechanism("noisy counts need the counts of a vote, got others")
        deviation = exact(given["deviation"], "deviation", InvalidFile)
        return cls(vote, given["parts"], deviation, given["bits"])


def delays_of(vote: VoteScores, parts: int) -> list[int]:
    """By how many parts each answer is behind for its place in the list."""
    if vote.ties == Ties.ANY_LEADER:
        return [0] * vote.answers
    return [place * parts // vote.answers for place in range(vote.answers)]


def noisy_rows(vote: VoteScores, parts: int, deviation: Fraction, counts: Integers) -> Floats:
    """The rows of many votes at once, in floats."""
    gaps = (counts.max(axis=1, keepdims=True) - counts).astype(np.float64)
    behind = parts * gaps + np.array(delays_of(vote, parts), dtype=np.float64)
    behind -= behind.min(axis=1, keepdims=True)
    return mixed(rows_of_largest(behind, float(deviation)))


def mixed(rows: Floats) -> Floats:
    """The rows with their uniform share."""
    found: Floats = rows + float(UNIFORM) * (1 / rows.shape[1] - rows)
    return found

"""Coins for a vote in integers: any number of answers, any ε, in closed form.

Every answer has a *coin* whose chance falls with its distance behind the leader; the leader's coin
always shows heads. The answers whose coins show heads are drawn among with equal chances.
``docs/flips.md`` has the proof.
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
from rainbowdp.exact.falling import BITS, TOTAL, Falling
from rainbowdp.exact.falling_proof import Chances
from rainbowdp.exact.flipping import row_of_coins
from rainbowdp.exact.rule import Key, Rule, Short
from rainbowdp.exact.scores import SetScores, VoteScores, of_one, restored_scores
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.coins import first_heads, heads_of_a_crowd
from rainbowdp.numeric.quantity import exact
from rainbowdp.questions import Question
from rainbowdp.rules.permute_and_flip.proof import prove_coins


@dataclass(frozen=True)
class PermuteAndFlip(Rule):
    """Coins for a vote; the key is the counts of all answers.

    Parameters
    ----------
    scores
        How far behind an answer is, from the counts.
    ratio
        By which the chance of a coin falls for each step behind the leader.

    """

    kind: ClassVar[str] = "permute-and-flip"

    scores: VoteScores | SetScores
    ratio: Fraction

    def __post_init__(self) -> None:
        assert self.coins.ratio == self.ratio  # checked there

    @cached_property
    def coins(self) -> Falling:
        """The chances of heads by distance."""
        return Falling(self.ratio)

    def must_fit(
        self, answers: tuple[Answer, ...], neighbors: str, question: Mapping[str, Any] | None
    ) -> None:
        """Refuse all but a vote of this size and relation, these ties and rows a person."""
        self.scores.must_fit(answers, neighbors, question)

    def prove(
        self, guarantee: Guarantee, answers: tuple[Answer, ...], question: Mapping[str, Any] | None
    ) -> Check:
        """What one person can move, from the question, and the coins as they are flipped."""
        assert question is not None  # must_fit has seen to it

        def distances(counts: Sequence[int]) -> Sequence[int]:
            return self.scores.listed(self.scores.key_of(counts, answers), answers)

        coins = Chances(self.ratio, TOTAL, self.coins.top, self.coins.farthest, self.coins.at)
        return prove_coins(guarantee, len(answers), question, distances, coins)

    def key(self, question: Question, counted: Dataset) -> Key:
        """The counts of all answers."""
        return self.scores.key(question, counted)

    def weights(self, key: Key, answers: Sequence[Answer]) -> Weights:
        """The row where the answers have the counts ``key``."""
        distances = self.scores.listed(key, answers)
        return row_of_coins([self.coins.at(distance) for distance in distances], BITS)

    def drawer(self, key: Key, answers: Sequence[Answer]) -> Callable[[], Answer]:
        """Flip a coin for each answer, and draw among the heads, all alike."""
        distances = self.scores.distances(key, answers)

        def draw() -> Answer:
            heads = self.coins.heads(distances)
            return answers[heads[secrets.randbelow(len(heads))]]

        return draw

    def rows_at(self, question: Question, counts: Integers, margins: Floats) -> Floats:
        """The rows of many votes at once, in floats."""
        return first_heads(self.coins.in_floats(self.scores.distances_at(counts, margins)))

    def right_at(self, distances: Sequence[int]) -> float:
        """How likely an answer is that is not behind, where all are so far behind."""
        behind = np.array([distances], dtype=np.float64)
        row = first_heads(self.coins.in_floats(behind))
        return float(row[behind == 0].sum())

    def chances(self, question: Question, margin: int) -> tuple[float, float]:
        """At the extremes of the gaps that a margin leaves open."""
        size = len(question.answers)
        return self.scores.chances(self.right_at, size, margin, self.coins.farthest)

    @property
    def short(self) -> Short:
        """Records behind the leader."""
        return self.scores.short

    def far(self, question: Question, short: int) -> float:
        """From the coins of rivals that are all so far behind."""
        return self.scores.far(self._crowd, len(question.answers), short)

    def far_alone(self, question: Question, short: int) -> float:
        """From the coin of one rival that is so far behind."""
        return self.scores.far(of_one(self._crowd), len(question.answers), short)

    def _crowd(self, near: Floats, far: Floats, rivals: int) -> Floats:
        return heads_of_a_crowd(self.coins.in_floats(near), self.coins.in_floats(far), rivals)

    def describe(self) -> dict[str, Any]:
        """What the coins are made of."""
        return {"coins": {"scores": self.scores.describe(), "ratio": str(self.ratio)}}

    @classmethod
    def restore(cls, content: Mapping[str, Any]) -> Self:
        """The rule that ``describe`` described."""
        given = content["coins"]
        scores = restored_scores(given["scores"])
        if not isinstance(scores, VoteScores | SetScores):
            raise InvalidMechanism("permute-and-flip needs the scores of a vote, got others")
        return cls(scores, exact(given["ratio"], "ratio", InvalidFile))

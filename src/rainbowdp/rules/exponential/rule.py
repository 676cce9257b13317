"""Weights that fall with the distance: for every question, any number of answers, in closed form.

An answer that is d steps behind has the weight r^d, in integers; its chance is its share of all
weights. Behind what, ``scores`` tells: the leader's count in a vote, signed margins elsewhere. It
errs more often than coins do for the same ε, and costs less where answers add up: its price is that
of a range, which is why it is the kind for Gaussian and for zero-concentrated privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from rainbowdp.aliases import Answer, Dataset, Floats, Integers, Label, Weights
from rainbowdp.errors import InvalidFile
from rainbowdp.exact.check import Check
from rainbowdp.exact.falling import TOTAL, Falling
from rainbowdp.exact.falling_proof import Chances
from rainbowdp.exact.rule import Key, Outline, Rule, Short
from rainbowdp.exact.scores import (
    MarginScores,
    Scores,
    SetScores,
    VoteScores,
    of_one,
    restored_scores,
    signed_distances,
)
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.quantity import exact
from rainbowdp.questions import Question
from rainbowdp.rules.exponential.proof import prove_weights


@dataclass(frozen=True)
class Exponential(Rule):
    """Weights by scores; the key is what the scores are found by.

    Parameters
    ----------
    scores
        How far behind an answer is.
    ratio
        By which a weight falls for each step behind the best.

    """

    kind: ClassVar[str] = "exponential"

    scores: Scores
    ratio: Fraction

    def __post_init__(self) -> None:
        assert self.falling.ratio == self.ratio  # checked there

    @cached_property
    def falling(self) -> Falling:
        """The weights by distance."""
        return Falling(self.ratio)

    def must_fit(
        self, answers: tuple[Answer, ...], neighbors: str, question: Mapping[str, Any] | None
    ) -> None:
        """What the scores ask for."""
        self.scores.must_fit(answers, neighbors, question)

    def scope_on_a_graph(self) -> str:
        """The margins are the graph's."""
        return self.scores.scope_on_a_graph()

    def prove(
        self, guarantee: Guarantee, answers: tuple[Answer, ...], question: Mapping[str, Any] | None
    ) -> Check:
        """What one person can move, and the weights as they are drawn with."""

        def distances(numbers: Sequence[int]) -> Sequence[int]:
            return self.scores.listed(self.scores.key_of(numbers, answers), answers)

        weights = Chances(
            self.ratio, TOTAL, self.falling.top, self.falling.farthest, self.falling.at
        )
        vote = question if isinstance(self.scores, VoteScores | SetScores) else None
        return prove_weights(guarantee, len(answers), vote, distances, weights)

    def key(self, question: Question, counted: Dataset) -> Key:
        """What the scores are found by."""
        return self.scores.key(question, counted)

    def weights(self, key: Key, answers: Sequence[Answer]) -> Weights:
        """The row at ``key``."""
        return tuple(self.falling.at(d) for d in self.scores.listed(key, answers))

    def drawer(self, key: Key, answers: Sequence[Answer]) -> Callable[[], Answer]:
        """A share of all weights, found by bounds of them where these are enough."""
        distances = self.scores.distances(key, answers)

        def draw() -> Answer:
            return answers[self.falling.share(distances)]

        return draw

    def rows_at(self, question: Question, counts: Integers, margins: Floats) -> Floats:
        """The rows of many histograms at once, in floats."""
        return self._rows(self.scores.distances_at(counts, margins))

    @property
    def last_margin(self) -> int:
        """A margin from which on there is no difference."""
        return self.falling.farthest

    def rows_of(self, margins: Floats) -> Floats:
        """The rows of many margins at once, in floats; for scores by margins."""
        assert isinstance(self.scores, MarginScores)
        return self._rows(signed_distances(margins))

    def _rows(self, distances: Floats) -> Floats:
        weights = self.falling.in_floats(distances)
        rows: Floats = weights / weights.sum(axis=1, keepdims=True)
        return rows

    def _right_at(self, distances: Sequence[int]) -> float:
        behind = np.array(distances, dtype=np.float64)
        weights = self.falling.in_floats(behind)
        return float(weights[behind == 0].sum() / weights.sum())

    def chances(self, question: Question, margin: int) -> tuple[float, float]:
        """At the extremes of the distances that a margin leaves open."""
        size = len(question.answers)
        return self.scores.chances(self._right_at, size, margin, self.falling.farthest)

    @property
    def short(self) -> Short:
        """What the scores tell."""
        return self.scores.short

    def far(self, question: Question, short: int) -> float:
        """From the weights of far rivals."""
        return self.scores.far(self._crowd, len(question.answers), short)

    def far_alone(self, question: Question, short: int) -> float:
        """From the weight of one far rival."""
        return self.scores.far(of_one(self._crowd), len(question.answers), short)

    def _crowd(self, near: Floats, far: Floats, rivals: int) -> Floats:
        weights = rivals * self.falling.in_floats(far)
        shares: Floats = weights / (1 + self.falling.in_floats(near) + weights)
        return shares

    def describe(self) -> dict[str, Any]:
        """What the weights are made of."""
        return {"weights": {"scores": self.scores.describe(), "ratio": str(self.ratio)}}

    @classmethod
    def restore(cls, content: Mapping[str, Any]) -> Self:
        """The rule that ``describe`` described."""
        given = content["weights"]
        ratio = exact(given["ratio"], "ratio", InvalidFile)
        return cls(restored_scores(given["scores"]), ratio)

    def outline(self, answers: tuple[Answer, ...]) -> Outline | None:
        """Lines where margins find a row, none where counts do."""
        return self.scores.outline(answers, self.falling.farthest)

    def key_at_depth(self, label: Label, depth: float, answers: tuple[Answer, ...]) -> Key:
        """The key of a place of the ``outline``."""
        return self.scores.key_at_depth(label, depth, answers)

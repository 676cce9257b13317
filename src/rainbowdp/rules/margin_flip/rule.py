"""Coins by signed margins: for every question, any number of answers, any ε, in closed form.

A rival's distance is λ_v + D − 1: its own margin and the depth D of the true answer, the margin of
the nearest rival. Its coin shows heads with a chance that falls by r = e^{−ε/2} a step; the coin of
the true answer always does, and the heads are drawn among with equal chances. One near rival has
what the optimum of two answers gives it, with the factor e^{−ε} a record; a far rival hardly
counts; many near ones share, whatever their number. ``docs/flips.md`` has the proof.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from rainbowdp.aliases import Answer, Dataset, Floats, Integers, Label, Weights
from rainbowdp.errors import InvalidFile
from rainbowdp.exact.check import Check
from rainbowdp.exact.falling import BITS, TOTAL, Falling
from rainbowdp.exact.falling_proof import Chances
from rainbowdp.exact.flipping import row_of_coins
from rainbowdp.exact.margins import ON_A_GRAPH
from rainbowdp.exact.rule import Key, Outline, Rule
from rainbowdp.exact.scores import MarginScores, of_one, signed_distances
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.coins import first_heads, heads_of_a_crowd
from rainbowdp.numeric.quantity import exact
from rainbowdp.questions import Question
from rainbowdp.rules.margin_flip.proof import prove_margin_coins
from rainbowdp.storage.integers import from_text, to_text

_SCORES = MarginScores()


@dataclass(frozen=True)
class MarginFlip(Rule):
    """Coins by signed margins; the key is the margins of all answers.

    Parameters
    ----------
    first
        The chance of the nearest coin, at a distance of 1, of 2^127.
    ratio
        By which the chance falls for each step after that.

    """

    kind: ClassVar[str] = "margin-flip"

    first: int
    ratio: Fraction

    def __post_init__(self) -> None:
        assert self.coins.ratio == self.ratio  # checked there

    @cached_property
    def coins(self) -> Falling:
        """The chances of heads of rivals, by distance less 1."""
        return Falling(self.ratio, self.first)

    def must_fit(
        self, answers: tuple[Answer, ...], neighbors: str, question: Mapping[str, Any] | None
    ) -> None:
        """Every question has margins, and every graph, so there is nothing to refuse."""

    def scope_on_a_graph(self) -> str:
        """The margins are the graph's."""
        return ON_A_GRAPH

    def prove(
        self, guarantee: Guarantee, answers: tuple[Answer, ...], question: Mapping[str, Any] | None
    ) -> Check:
        """The coins as they are flipped, and what the distances are."""

        def distances(margins: Sequence[int]) -> Sequence[int]:
            return _SCORES.listed(_SCORES.key_of(margins, answers), answers)

        coins = Chances(self.ratio, TOTAL, self.first, self.coins.farthest, self.coins.at)
        return prove_margin_coins(guarantee, len(answers), distances, coins)

    def key(self, question: Question, counted: Dataset) -> Key:
        """The margins."""
        return _SCORES.key(question, counted)

    def weights(self, key: Key, answers: Sequence[Answer]) -> Weights:
        """The row where the answers have the margins ``key``, exactly one of them 0."""
        distances = _SCORES.listed(key, answers)
        return row_of_coins([self.coins.at(d - 1) if d else TOTAL for d in distances], BITS)

    def drawer(self, key: Key, answers: Sequence[Answer]) -> Callable[[], Answer]:
        """Flip a coin for each rival, and draw among the heads and the true answer, all alike."""
        distances = _SCORES.distances(key, answers)
        if isinstance(distances, list):
            true = distances.index(0)
            behind: list[int] | Integers = [distance - 1 for distance in distances]
        else:
            true = int(distances.argmin())
            behind = distances - 1
        behind[true] = 0  # a coin that is not looked at

        def draw() -> Answer:
            heads = self.coins.heads(behind)
            if true not in heads:
                heads.append(true)
            return answers[heads[secrets.randbelow(len(heads))]]

        return draw

    def rows_at(self, question: Question, counts: Integers, margins: Floats) -> Floats:
        """The rows of many histograms at once, in floats."""
        return self.rows_of(margins)

    @property
    def last_margin(self) -> int:
        """A margin from which on there is no difference."""
        return self.coins.farthest

    def rows_of(self, margins: Floats) -> Floats:
        """The rows of many margins at once, in floats."""
        return self._rows(signed_distances(margins))

    def _rows(self, distances: Floats) -> Floats:
        chances = self.coins.in_floats(np.maximum(distances - 1, 0.0))
        return first_heads(np.where(distances > 0, chances, 1.0))

    def _right_at(self, distances: Sequence[int]) -> float:
        return float(self._rows(np.array([distances], dtype=np.float64))[0, 0])

    def chances(self, question: Question, margin: int) -> tuple[float, float]:
        """Least where all rivals are that near, most where the others are far away."""
        size, farthest = len(question.answers), self.coins.farthest
        return _SCORES.chances(self._right_at, size, margin, farthest)

    def far(self, question: Question, short: int) -> float:
        """From the coins of far rivals, with one near rival or none."""
        return _SCORES.far(self._crowd, len(question.answers), short)

    def far_alone(self, question: Question, short: int) -> float:
        """From the coin of one far rival, with one near rival or none."""
        return _SCORES.far(of_one(self._crowd), len(question.answers), short)

    def _crowd(self, near: Floats, far: Floats, rivals: int) -> Floats:
        chances = self.coins.in_floats
        return heads_of_a_crowd(chances(near - 1), chances(far - 1), rivals)

    def describe(self) -> dict[str, Any]:
        """What the coins are made of."""
        return {"coins": {"first": to_text(self.first), "ratio": str(self.ratio)}}

    @classmethod
    def restore(cls, content: Mapping[str, Any]) -> Self:
        """The rule that ``describe`` described."""
        given = content["coins"]
        return cls(from_text(given["first"]), exact(given["ratio"], "ratio", InvalidFile))

    def outline(self, answers: tuple[Answer, ...]) -> Outline | None:
        """A line for each answer, on which all rivals are equally near."""
        return _SCORES.outline(answers, self.coins.farthest)

    def key_at_depth(self, label: Label, depth: float, answers: tuple[Answer, ...]) -> Key:
        """At depth t every rival has the margin t + 1."""
        return _SCORES.key_at_depth(label, depth, answers)

"""Coins for a vote in integers: any number of answers, any ε, in closed form.

Every answer has a *coin* whose chance falls with its distance behind the leader; the leader's coin
always shows heads. The answers whose coins show heads are drawn among with equal chances. That is
permute-and-flip: the first heads in a random order. With the chances z_v,

    p_v = z_v · ∫₀¹ Π_{i≠v} (1 − t·z_i) dt.

Chances are integers of T = 2^127: with the distance d it is ⌊(T − C)·ratio^d⌋ + C, where C is at
least 1/(1 − ratio). So a distance that is longer by one costs at most the factor 1/ratio and never
gains, which is all that the proof needs (``docs/true-answer.md``). Where ties go to the first
listed, the distance is x_w − x_v for x_v = q·n_v − v, in q-th parts of a record: no two answers are
tied, and who is listed first has the advantage. Where any leader is right it is counted in records.
"""

from __future__ import annotations

import math
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
from rainbowdp.exact.rule import Key, Rule
from rainbowdp.exact.votes import chances_of_a_vote, counts_key, counts_of, must_be_that_vote
from rainbowdp.guarantees.dp import Guarantee
from rainbowdp.numeric.coins import first_heads
from rainbowdp.numeric.powers import Bounds, floor_of_power, power_tables
from rainbowdp.numeric.quantity import exact
from rainbowdp.questions import Question
from rainbowdp.questions.relations import Neighbors, Ties, one_of
from rainbowdp.rules.permute_and_flip.proof import Coins, prove_coins

GRID = 1 << 60  # ratios are multiples of 1/GRID

_BITS = 127
_TOTAL = 1 << _BITS
_PLACES = 256  # binary places of powers, where these are enough
_FIRST, _REST = 31, 96  # places of a coin's uniform number that are drawn at first, and afterwards
_MANY = 12  # coins that are quicker to flip together
_LARGEST = 1 << 62  # distance that is counted in 64 bits


@dataclass(frozen=True)
class PermuteAndFlip(Rule):
    """Coins for a vote; the key is the counts of all answers.

    Parameters
    ----------
    answers
        How many answers there are.
    neighbors
        What one change is.
    ties
        Who is right in a tie.
    rows
        How many records one person may have.
    ratio
        By which the chance of a coin falls for each step behind the leader.

    """

    kind: ClassVar[str] = "permute-and-flip"

    answers: int
    neighbors: str
    ties: str
    rows: int
    ratio: Fraction

    def __post_init__(self) -> None:
        if any(type(number) is not int or number < 1 for number in (self.answers, self.rows)):
            raise InvalidMechanism(
                f"coins need answers and rows from 1, got {self.answers!r} and {self.rows!r}"
            )
        ties = one_of(Ties, self.ties, "ties", InvalidMechanism)
        neighbors = one_of(Neighbors, self.neighbors, "neighbors", InvalidMechanism)
        object.__setattr__(self, "ties", ties)
        object.__setattr__(self, "neighbors", neighbors)
        if not 0 < self.ratio < 1 or GRID % self.ratio.denominator:
            raise InvalidMechanism(
                "a ratio of chances must be between 0 and 1 and a multiple of 2^-60, got another"
            )

    @property
    def parts(self) -> int:
        """In how many parts of a record distances are counted."""
        return self.answers if self.ties == Ties.FIRST_LISTED else 1

    @property
    def moves(self) -> int:
        """By how much one person can move all scores together."""
        return self.parts * self.rows * (2 if self.neighbors == Neighbors.SUBSTITUTED else 1)

    @cached_property
    def least(self) -> int:
        """The chance that every coin has at least: rounded up, 1/(1 − ratio)."""
        top, bottom = self.ratio.numerator, self.ratio.denominator
        return -(-bottom // (bottom - top))

    @cached_property
    def farthest(self) -> int:
        """A distance beyond which all coins have the least chance, as e^−89 < 2^−127."""
        return 89 * self.least

    def chance(self, distance: int) -> int:
        """The chance of heads at ``distance`` behind the leader, of 2^127."""
        if distance >= self.farthest:
            return self.least
        above, places, tables = _TOTAL - self.least, _PLACES, self._tables
        while (found := floor_of_power(tables, distance, above, places)) is None:
            places *= 2
            tables = power_tables(self.ratio, self.farthest, places)
        return found + self.least

    @cached_property
    def _tables(self) -> list[list[Bounds]]:
        return power_tables(self.ratio, self.farthest, _PLACES)

    def must_fit(
        self, answers: tuple[Answer, ...], neighbors: str, question: Mapping[str, Any] | None
    ) -> None:
        """Refuse all but a vote of this size and relation, these ties and rows a person."""
        must_be_that_vote(
            answers,
            neighbors,
            question,
            size=self.answers,
            relation=self.neighbors,
            ties=self.ties,
            rows=self.rows,
        )

    def prove(
        self, guarantee: Guarantee, answers: tuple[Answer, ...], question: Mapping[str, Any] | None
    ) -> Check:
        """What one person can move, from the question, and the coins as they are flipped."""
        assert question is not None  # must_fit has seen to it
        coins = Coins(self.ratio, _TOTAL, self.farthest, self._distances, self.chance)
        return prove_coins(guarantee, len(answers), question, coins)

    def key(self, question: Question, counted: Dataset) -> Key:
        """The counts of all answers."""
        return counts_key(question, counted)

    def weights(self, key: Key, answers: Sequence[Answer]) -> Weights:
        """The row where the answers have the counts ``key``."""
        distances = self._distances(counts_of(key, answers))
        return self._row([self.chance(distance) for distance in distances])

    def _row(self, chances: Sequence[int]) -> Weights:
        """The row of these chances: integers of the total lcm(1, …, q)·2^(127q).

        Π (T − t·c_i) over all answers is divided by each factor T − t·c_v in turn and integrated.
        """
        product = [1]
        for chance in chances:
            longer = [*(coefficient << _BITS for coefficient in product), 0]
            for power, coefficient in enumerate(product, 1):
                longer[power] -= chance * coefficient
            product = longer
        whole = math.lcm(*range(1, len(chances) + 1))
        row = []
        for chance in chances:
            integral = coefficient = 0
            for power in range(len(chances)):
                coefficient = (product[power] + chance * coefficient) >> _BITS  # no rest
                integral += whole // (power + 1) * coefficient
            row.append(chance * integral)
        return tuple(row)

    def drawer(self, key: Key, answers: Sequence[Answer]) -> Callable[[], Answer]:
        """Flip a coin for each answer, and draw among the heads, all alike."""
        counts = counts_of(key, answers)
        largest = max(self.farthest, self.parts * (max(counts) + 1))
        flip = self._flip_together if len(counts) >= _MANY and largest < _LARGEST else self._flip
        distances = self._distances(counts)

        def draw() -> Answer:
            heads = flip(distances)
            return answers[heads[secrets.randbelow(len(heads))]]

        return draw

    def _distances(self, counts: Sequence[int]) -> list[int]:
        """How many steps each answer is behind the leader."""
        parts, delay = self.parts, int(self.ties == Ties.FIRST_LISTED)
        scores = [parts * count - delay * number for number, count in enumerate(counts)]
        most = max(scores)
        return [most - score for score in scores]

    def _flip(self, distances: Sequence[int]) -> list[int]:
        """The numbers of the coins that show heads, one coin for each distance.

        A coin shows heads where a uniform number of 127 places is below its chance.
        """
        return [
            number
            for number, distance in enumerate(distances)
            if secrets.randbits(_BITS) < self.chance(distance)
        ]

    def _flip_together(self, distances: Sequence[int]) -> list[int]:
        """The same for many coins at once.

        The first 31 places of each uniform number are compared with bounds of the chance; where
        that leaves it open the other 96 places are drawn, and the chance itself decides.
        """
        drawn = np.frombuffer(secrets.token_bytes(4 * len(distances)), dtype=np.uint32) >> 1
        low, high = self._chance_bounds(np.minimum(distances, self.farthest))
        heads = drawn < low
        for number in np.flatnonzero(~heads & (drawn < high)).tolist():
            whole = int(drawn[number]) << _REST | secrets.randbits(_REST)
            heads[number] = whole < self.chance(distances[number])
        found: list[int] = np.flatnonzero(heads).tolist()
        return found

    def _chance_bounds(self, distances: Integers) -> tuple[Integers, Integers]:
        """For each distance L and H with L·2^96 ≤ chance ≤ H·2^96.

        With P = ratio^distance the chance is ⌊(T − C)·P⌋ + C, which is at least T·P − 1 and at
        most T·P + C, where 1 and C are below 2^96, one unit of a bound.
        """
        low = high = np.full(len(distances), 1 << _FIRST, dtype=np.int64)
        for place, (least, most) in enumerate(self._coarse):
            digits = distances >> 8 * place & 255
            low = low * least[digits] >> _FIRST
            high = (high * most[digits] >> _FIRST) + 1
        return low - 1, high + 1

    @cached_property
    def _coarse(self) -> list[tuple[Integers, Integers]]:
        """The tables of powers in 31 places, rounded outwards."""
        shift = _PLACES - _FIRST
        return [
            (
                np.array([least >> shift for least, _ in powers], dtype=np.int64),
                np.array([-(-most >> shift) for _, most in powers], dtype=np.int64),
            )
            for powers in self._tables
        ]

    def right_at(self, gaps: Sequence[int]) -> float:
        """How likely a right answer is at these gaps (see ``standing``)."""
        delays = range(1, self.answers) if self.ties == Ties.FIRST_LISTED else [0] * len(gaps)
        behind = [self.parts * gap + delay for gap, delay in zip(gaps, delays, strict=True)]
        distances = np.array([[0.0, *map(float, behind)]])
        row = first_heads(self._in_floats(distances))
        return float(row[distances == 0].sum())

    def rows_at(self, question: Question, counts: Integers, margins: Floats) -> Floats:
        """The rows of many votes at once, in floats."""
        delays = np.arange(self.answers) if self.ties == Ties.FIRST_LISTED else 0
        gaps = (counts.max(axis=1, keepdims=True) - counts).astype(np.float64)
        behind = self.parts * gaps + delays
        return first_heads(self._in_floats(behind - behind.min(axis=1, keepdims=True)))

    def _in_floats(self, distances: Floats) -> Floats:
        rate = math.log1p(float(self.ratio - 1))
        floor = self.least / _TOTAL
        chances: Floats = (1 - floor) * np.exp(rate * distances) + floor
        return chances

    def chances(self, question: Question, margin: int) -> tuple[float, float]:
        """Whoever is listed later gains, so the first and the last position of a rival tell."""
        return chances_of_a_vote(
            self.right_at,
            margin,
            answers=self.answers,
            neighbors=self.neighbors,
            ties=self.ties,
            rows=self.rows,
            farthest=self.farthest,
            nearest={0, self.answers - 2},
        )

    def describe(self) -> dict[str, Any]:
        """What the coins are made of."""
        return {
            "coins": {
                "answers": self.answers,
                "neighbors": self.neighbors,
                "ties": self.ties,
                "rows": self.rows,
                "ratio": str(self.ratio),
            }
        }

    @classmethod
    def restore(cls, content: Mapping[str, Any]) -> Self:
        """The rule that ``describe`` described."""
        given = dict(content["coins"])
        return cls(**given | {"ratio": exact(given["ratio"], "ratio", InvalidFile)})

"""Crowd tables: rows for a vote by how many rivals are how near, for tables of every size.

A margin table has a row for every arrangement of its rivals, which are too many beyond six answers.
How many there are how far behind says nearly as much, if the order of the nearest is known, and
takes a few hundred rows. A rival behind the last knot tosses a coin for being counted there, so
that one record more or less multiplies its chance by a constant: ``proof`` has finitely many
comparisons.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from rainbowdp.aliases import Answer, Dataset, Floats, Integers, Weights
from rainbowdp.errors import InvalidFile
from rainbowdp.exact.check import Check
from rainbowdp.exact.falling import TOTAL, Falling
from rainbowdp.exact.falling_proof import Chances
from rainbowdp.exact.rule import Key, Rule, Short
from rainbowdp.exact.votes import chances_of_a_vote, counts_key, counts_of, must_be_that_vote
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.quantity import exact
from rainbowdp.questions import Question
from rainbowdp.questions.relations import Ties
from rainbowdp.questions.votes import standing
from rainbowdp.rules.crowd_table.proof import prove_crowds
from rainbowdp.rules.crowd_table.shape import CrowdShape
from rainbowdp.storage.integers import from_text, from_texts, to_text, to_texts


@dataclass(frozen=True)
class CrowdTable(Rule):
    """Integer rows over the crowds of a shape; the key is the counts of all answers.

    Parameters
    ----------
    shape
        What the table is about and where it has rows.
    total
        What all answers have together, in each row.
    rows
        For each crowd the weights of its seats, the leader first.

    """

    kind: ClassVar[str] = "crowd-table"

    shape: CrowdShape
    total: int
    rows: tuple[Weights, ...]

    @cached_property
    def coins(self) -> Falling:
        """The chances of heads by how many records a rival is behind the last knot."""
        return Falling(self.shape.ratio)

    def must_fit(
        self, answers: tuple[Answer, ...], neighbors: str, question: Mapping[str, Any] | None
    ) -> None:
        """Refuse all but a vote of the table's size, relation and ties, one record a person."""
        must_be_that_vote(
            answers,
            neighbors,
            question,
            size=self.shape.answers,
            relation=self.shape.neighbors,
            ties=self.shape.ties,
            rows=1,
        )

    def prove(
        self, guarantee: Guarantee, answers: tuple[Answer, ...], question: Mapping[str, Any] | None
    ) -> Check:
        """Compare the rows in every crowd and its neighbors."""
        return self.keeps(guarantee)

    def keeps(self, guarantee: Guarantee) -> Check:
        """The proof, which needs nothing but the rows."""
        coins = self.coins
        chances = Chances(coins.ratio, TOTAL, coins.top, coins.farthest, coins.at)
        return prove_crowds(guarantee, self.shape, self.total, self.rows, chances)

    def key(self, question: Question, counted: Dataset) -> Key:
        """The counts of all answers."""
        return counts_key(question, counted)

    def weights(self, key: Key, answers: Sequence[Answer]) -> Weights:
        """The row where the answers have the counts ``key``."""
        order, gaps = standing(counts_of(key, answers), self.shape.ties)
        row = self.at_gaps(gaps)
        return tuple([weight for _, weight in sorted(zip(order, row, strict=True))])

    def at_gaps(self, gaps: Sequence[int]) -> Weights:
        """The row at any gaps, the leader first: integers in the exact proportions."""
        last = self.shape.knots - 1
        near = [gap for gap in gaps if gap <= last]
        far = [gap for gap in gaps if gap > last]
        seats = self._seats(near)
        rivals = []
        for gap in gaps:
            if gap <= last:
                rivals.append(self._mean(near, far, seats.pop(0)))
            else:
                rest = far.copy()
                rest.remove(gap)
                mean = self._mean([*near, last], rest, self.shape.crowds.seat(last))
                rivals.append(self.coins.at(gap - last) * mean)
        return (self._mean(near, far, 0), *rivals)

    def _seats(self, near: Sequence[int]) -> list[int]:
        """The seats of those who are near, in the order of the list."""
        seats, written, ordered = [], 0, self.shape.ordered
        for gap in near:
            written += gap < ordered
            seats.append(written if gap < ordered else self.shape.crowds.seat(gap))
        return seats

    def _mean(self, near: Sequence[int], far: Sequence[int], seat: int) -> int:
        """The mean of a seat of the rows over the coins of far rivals, times 2^127 for each."""
        last = self.shape.knots - 1
        ways = [1]  # of so many heads
        for gap in far:
            heads = self.coins.at(gap - last)
            tails = TOTAL - heads
            ways = [
                tails * (ways[k] if k < len(ways) else 0) + heads * (ways[k - 1] if k else 0)
                for k in range(len(ways) + 1)
            ]
        return sum(
            way * self._row([*near, *[last] * heads])[seat] for heads, way in enumerate(ways)
        )

    def _row(self, near: Sequence[int]) -> Weights:
        """The row of a crowd, from the gaps of its rivals in the order of the list."""
        word, counts = [], [0] * self.shape.places
        for gap in near:
            if gap < self.shape.ordered:
                word.append(gap)
            else:
                counts[gap - self.shape.ordered] += 1
        return self.rows[self._numbers[tuple(word), tuple(counts)]]

    @cached_property
    def _numbers(self) -> dict[tuple[tuple[int, ...], tuple[int, ...]], int]:
        """The number of the row for each word and counts."""
        crowds = self.shape.crowds
        return {
            (tuple(letter for letter in word if letter >= 0), tuple(counts)): number
            for number, (word, counts) in enumerate(
                zip(crowds.words.tolist(), crowds.counts.tolist(), strict=True)
            )
        }

    def drawer(self, key: Key, answers: Sequence[Answer]) -> Callable[[], Answer]:
        """Toss the coins of the far rivals, then draw from the row of the crowd that is left.

        A mean over coins is a mixture: to toss them and draw from the row is to draw from it.
        """
        order, gaps = standing(counts_of(key, answers), self.shape.ties)
        last = self.shape.knots - 1
        behind = list(zip(order[1:], gaps, strict=True))
        near = [(answer, gap) for answer, gap in behind if gap <= last]
        far = [(answer, gap - last) for answer, gap in behind if gap > last]
        tossed = [steps for _, steps in far]

        def draw() -> Answer:
            heads = self.coins.heads(tossed)
            seen = [*near, *((far[number][0], last) for number in heads)]
            gaps_seen = [gap for _, gap in seen]
            row = self._row(gaps_seen)
            drawn = secrets.randbelow(self.total)
            for (answer, _), seat in zip(seen, self._seats(gaps_seen), strict=True):
                if drawn < row[seat]:
                    return answers[answer]
                drawn -= row[seat]
            return answers[order[0]]

        return draw

    def rows_at(self, question: Question, counts: Integers, margins: Floats) -> Floats:
        """The rows of many votes at once, in floats."""
        size, knots = self.shape.answers, self.shape.knots
        seen = [standing(row, self.shape.ties) for row in counts.tolist()]
        order, gaps = (np.array(part) for part in zip(*seen, strict=True))
        coins = self.coins.in_floats(np.maximum(gaps - knots + 1, 0).astype(float))
        coins = np.where(gaps < knots, 0.0, coins)  # of far rivals
        crowds, ordered = self.shape.crowds, self.shape.ordered
        letter = gaps < ordered
        written: Integers = np.cumsum(letter, axis=1) - letter
        codes = np.where(letter, crowds.letter_codes(gaps, written), 0).sum(axis=1)
        for place, digit in enumerate(crowds.digits.tolist()):
            codes = codes + digit * (gaps == ordered + place).sum(axis=1)
        near = (gaps < knots).sum(axis=1)
        seats = np.where(letter, 1 + written, crowds.seat(0) + np.minimum(gaps, knots - 1))
        rows = np.empty(counts.shape)
        rows[:, 0] = self._means(codes, near, coins, np.zeros(len(near), dtype=np.int64))
        for rival in range(size - 1):
            others = coins.copy()
            others[:, rival] = 0.0
            far = gaps[:, rival] >= knots
            with_it = codes + far * crowds.digits[-1]
            own = np.where(far, coins[:, rival], 1.0)
            rows[:, rival + 1] = own * self._means(with_it, near + far, others, seats[:, rival])
        listed = np.empty_like(rows)
        np.put_along_axis(listed, order, rows, axis=1)
        return listed

    def _means(self, codes: Integers, near: Integers, coins: Floats, seats: Integers) -> Floats:
        """The mean of a seat of the rows over the coins, row by row; ``near`` rivals are coded."""
        crowds = self.shape.crowds
        ways = np.zeros((len(near), self.shape.answers + 1))  # of so many heads
        ways[:, 0] = 1.0
        for coin in coins.T:
            ways[:, 1:] = ways[:, 1:] * (1 - coin)[:, None] + ways[:, :-1] * coin[:, None]
            ways[:, 0] *= 1 - coin
        means = np.zeros(len(near))
        room = self.shape.answers - 1 - near
        for heads in range(self.shape.answers):
            some = np.flatnonzero((room >= heads) & (ways[:, heads] > 0))
            numbers = crowds.numbers(codes[some] + heads * crowds.digits[-1])
            means[some] += ways[some, heads] * self._shares[numbers, seats[some]]
        return means

    @cached_property
    def _shares(self) -> Floats:
        return np.array(self.rows, dtype=np.float64) / float(self.total)

    def right_at(self, gaps: Sequence[int]) -> float:
        """How likely a right answer is at these gaps."""
        row = self.at_gaps(gaps)
        shared = self.shape.ties == Ties.ANY_LEADER
        tied = sum(w for gap, w in zip(gaps, row[1:], strict=True) if shared and not gap)
        return (row[0] + tied) / sum(row)

    def chances(self, question: Question, margin: int) -> tuple[float, float]:
        """At the extremes of the gaps that a margin leaves open, where all rivals are alike."""
        shape = self.shape
        return chances_of_a_vote(
            self.right_at,
            margin,
            answers=shape.answers,
            neighbors=shape.neighbors,
            ties=shape.ties,
            rows=1,
            farthest=shape.knots + self.coins.farthest,
            nearest=(0,),
        )

    @property
    def short(self) -> Short:
        """Records behind the leader."""
        return Short.RECORDS

    def far(self, question: Question, short: int) -> float:
        """Of all crowds the most that far rivals have; of those behind the last knot a bound."""
        cut, knots = self._cut(short), self.shape.knots
        if cut >= knots:
            return (self.shape.answers - 1) * self.far_alone(question, short)
        crowds = self.shape.crowds
        together = (crowds.taken * self._shares * (crowds.gaps >= cut)).sum(axis=1)
        return float(together.max())

    def far_alone(self, question: Question, short: int) -> float:
        """The most that one rival has at such a gap, times its coin."""
        cut, knots = self._cut(short), self.shape.knots
        behind = max(0, cut - knots + 1)
        coin = float(self.coins.in_floats(np.array([float(behind)]))[0])
        return coin * float(self._shares[self.shape.crowds.gaps >= min(cut, knots - 1)].max())

    def _cut(self, short: int) -> int:
        """The least gap of a rival that is farther; that of one listed before is one less."""
        return short + (self.shape.ties == Ties.ANY_LEADER)

    def describe(self) -> dict[str, Any]:
        """The shape and the rows."""
        shape = self.shape
        return {
            "shape": {
                "answers": shape.answers,
                "neighbors": str(shape.neighbors),
                "ties": str(shape.ties),
                "knots": shape.knots,
                "ordered": shape.ordered,
                "ratio": str(shape.ratio),
            },
            "total": to_text(self.total),
            "rows": [to_texts(row) for row in self.rows],
        }

    @classmethod
    def restore(cls, content: Mapping[str, Any]) -> Self:
        """The rule that ``describe`` described."""
        shape = dict(content["shape"])
        shape["ratio"] = exact(shape["ratio"], "ratio", InvalidFile)
        rows = tuple(map(from_texts, content["rows"]))
        return cls(CrowdShape(**shape), from_text(content["total"]), rows)

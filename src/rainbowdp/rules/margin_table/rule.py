"""Margin tables: rows for a vote by its gaps, for tables of every size.

A table holds integer rows at a few knots; between them a row is blended in exact integers, linear
in r^gap for each gap. One record more or less multiplies r^gap by a constant. So on every piece
between knots the condition of privacy is linear in each r^gap, and holds everywhere when it holds
at the ends of the pieces: finitely many pairs of rows, which ``proof`` checks.
"""

from __future__ import annotations

import itertools
import secrets
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from rainbowdp.aliases import Answer, Dataset, Floats, Integers, Weights
from rainbowdp.errors import InvalidFile, InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.rule import Key, Rule, Short
from rainbowdp.exact.votes import chances_of_a_vote, counts_key, counts_of, must_be_that_vote
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.quantity import exact
from rainbowdp.questions import Question
from rainbowdp.questions.relations import Ties
from rainbowdp.questions.votes import standing
from rainbowdp.rules.margin_table.proof import prove_table
from rainbowdp.rules.margin_table.shape import Knots, Shape
from rainbowdp.storage.integers import from_text, from_texts, to_text, to_texts

_PLACES = 128  # binary places of a uniform number that are drawn at first


@dataclass(frozen=True)
class MarginTable(Rule):
    """Integer rows over a shape's states; the key is the counts of all answers.

    Parameters
    ----------
    shape
        What the table is about and where it has rows.
    total
        The sum of each row.
    rows
        A row for each state of the shape, the leader first.

    """

    kind: ClassVar[str] = "margin-table"

    shape: Shape
    total: int
    rows: tuple[Weights, ...]
    _found: dict[Knots, Weights] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.shape.states):
            raise InvalidMechanism(
                f"a margin table must have a row for each of its {len(self.shape.states)} states, "
                f"got {len(self.rows)}"
            )
        object.__setattr__(self, "_found", {})

    def at_knots(self, knots: Knots) -> Weights:
        """The row where the gaps are knots, by position."""
        row = self._found.get(knots)
        if row is None:
            arranged, places = self.shape.arranged(knots)
            stored = self.rows[self.shape.states[arranged]]
            row = self._found[knots] = tuple(stored[place] for place in places)
        return row

    def at_gaps(self, gaps: Sequence[int]) -> Weights:
        """The row at any gaps, by position: integers in the exact proportions."""
        return self._blend((), [tuple(self.shape.around(gap)) for gap in gaps])

    def _blend(self, knots: Knots, axes: Sequence[tuple[tuple[int, int], ...]]) -> Weights:
        if not axes:
            return self.at_knots(knots)
        (first, near), *second = axes[0]
        row = self._blend((*knots, first), axes[1:])
        if not second:
            return row
        ((other, far),) = second
        beside = self._blend((*knots, other), axes[1:])
        return tuple([near * a + far * b for a, b in zip(row, beside, strict=True)])

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
        """Compare the rows at every corner of the pieces between knots, exactly."""
        return prove_table(guarantee, self.shape, self.total, self.rows)

    def key(self, question: Question, counted: Dataset) -> Key:
        """The counts of all answers."""
        return counts_key(question, counted)

    def weights(self, key: Key, answers: Sequence[Answer]) -> Weights:
        """The row where the answers have the counts ``key``."""
        order, gaps = standing(counts_of(key, answers), self.shape.ties)
        row = self.at_gaps(gaps)
        return tuple([weight for _, weight in sorted(zip(order, row, strict=True))])

    def drawer(self, key: Key, answers: Sequence[Answer]) -> Callable[[], Answer]:
        """Draw a knot beside each gap, then an answer from the row there.

        A blended row is a mixture: to choose one of the knots around each gap by their shares, and
        then from the row there, is to draw from it, and spares the blending.
        """
        order, gaps = standing(counts_of(key, answers), self.shape.ties)

        def draw() -> Answer:
            knots = tuple([drawn_knot(self.shape, gap) for gap in gaps])
            ends = list(itertools.accumulate(self.at_knots(knots)))
            return answers[order[bisect_right(ends, secrets.randbelow(self.total))]]

        return draw

    def right_at(self, gaps: Sequence[int]) -> float:
        """How likely a right answer is at these gaps."""
        row = self.at_gaps(gaps)
        shared = self.shape.ties == Ties.ANY_LEADER
        leaders = row[0] + sum(
            w for gap, w in zip(gaps, row[1:], strict=True) if shared and not gap
        )
        return leaders / sum(row)

    def rows_at(self, question: Question, counts: Integers, margins: Floats) -> Floats:
        """The rows of many votes at once, in floats."""
        shape = self.shape
        size = shape.answers
        heights = np.array([*(float(shape.ratio**knot) for knot in shape.knots), 0.0])
        weights = self._at_all_knots
        seen = [standing(row, shape.ties) for row in counts.tolist()]
        order, gaps = (np.array(part) for part in zip(*seen, strict=True))
        cell = np.searchsorted(shape.knots, gaps, side="right") - 1
        here = float(shape.ratio) ** np.minimum(gaps, shape.farthest)
        near = (here - heights[cell + 1]) / (heights[cell] - heights[cell + 1])
        rows = np.zeros(counts.shape)
        for corner in itertools.product((0, 1), repeat=size - 1):
            share = np.where(np.array(corner) == 0, near, 1 - near).prod(axis=1)
            rows += share[:, None] * weights[tuple((cell + corner).T)]
        listed = np.empty_like(rows)
        np.put_along_axis(listed, order, rows, axis=1)
        return listed

    def chances(self, question: Question, margin: int) -> tuple[float, float]:
        """Whoever the nearest rival is, listed first or last."""
        shape = self.shape
        return chances_of_a_vote(
            self.right_at,
            margin,
            answers=shape.answers,
            neighbors=shape.neighbors,
            ties=shape.ties,
            rows=1,
            farthest=shape.farthest,
            nearest=range(shape.answers - 1),
        )

    @property
    def short(self) -> Short:
        """Records behind the leader."""
        return Short.RECORDS

    def far(self, question: Question, short: int) -> float:
        """The most over all corners of the pieces between knots, cut at ``short``."""
        return float(np.sum(self._far_rivals(short), axis=0).max())

    def far_alone(self, question: Question, short: int) -> float:
        """The same for one rival, whatever the others have."""
        return float(max(found.max() for found in self._far_rivals(short)))

    def _far_rivals(self, short: int) -> list[Floats]:
        """For each rival its chance at all corners where it is farther, and 0 elsewhere.

        Between them the chance of far rivals is linear in r^gap for each gap, so no other gaps have
        more, also just before the cut, where a rival does not count yet. The gap of a rival listed
        before the leader is one less than what it is behind.
        """
        cut = short + (self.shape.ties == Ties.ANY_LEADER)
        knots = self.shape.knots
        gaps = np.union1d(knots, [cut, self.shape.farthest])
        is_far = gaps >= cut
        blend = np.zeros((len(gaps), len(knots) + 1))
        for place, gap in enumerate(gaps.tolist()):
            parts = list(self.shape.around(gap))
            for knot, share in parts:
                blend[place, knot] = share / sum(share for _, share in parts)
        chances = self._at_all_knots
        rivals = self.shape.answers - 1
        for axis in range(rivals):
            chances = np.moveaxis(np.tensordot(blend, chances, (1, axis)), 0, axis)
        found: list[Floats] = []
        for rival in range(rivals):
            along = np.moveaxis(chances[..., rival + 1], rival, -1) * is_far
            found.append(np.moveaxis(along, -1, rival))
        return found

    @cached_property
    def _at_all_knots(self) -> Floats:
        """The rows at every choice of knots, in floats."""
        size, knots = self.shape.answers, len(self.shape.knots) + 1
        rows = np.empty((knots,) * (size - 1) + (size,))
        for at in itertools.product(range(knots), repeat=size - 1):
            rows[at] = [weight / self.total for weight in self.at_knots(at)]
        return rows

    def describe(self) -> dict[str, Any]:
        """The shape and the rows."""
        shape = self.shape
        return {
            "shape": {
                "answers": shape.answers,
                "neighbors": shape.neighbors,
                "ties": shape.ties,
                "knots": list(shape.knots),
                "farthest": shape.farthest,
                "ratio": str(shape.ratio),
                "labeled": shape.labeled,
            },
            "total": to_text(self.total),
            "rows": [to_texts(row) for row in self.rows],
        }

    @classmethod
    def restore(cls, content: Mapping[str, Any]) -> Self:
        """The rule that ``describe`` described."""
        shape = dict(content["shape"])
        whole = [shape["answers"], shape["farthest"], shape["labeled"], *shape["knots"]]
        if any(type(number) is not int for number in whole):
            raise InvalidFile(f"gaps of a margin table must be whole numbers, got {shape}")
        shape["knots"] = tuple(shape["knots"])
        shape["ratio"] = exact(shape["ratio"], "ratio", InvalidFile)
        rows = tuple(map(from_texts, content["rows"]))
        return cls(Shape(**shape), from_text(content["total"]), rows)


def drawn_knot(shape: Shape, gap: int) -> int:
    """One of the knots around a gap, by their exact shares.

    A uniform number below 1 has 2^−128·u as its first places. Bounds of the share tell nearly
    always on which side of it that is; if not, exact integers decide where the number goes on.
    """
    u = secrets.randbits(_PLACES)
    nearer, low, high = shape.share_bounds(gap, _PLACES)
    if u < low:
        return nearer
    if u >= high:
        return nearer + 1
    (_, near), (_, far) = shape.around(gap)
    both = near + far
    return nearer + (secrets.randbelow(both) >= (near << _PLACES) - u * both)

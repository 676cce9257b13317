"""Margin tables: rows for a vote by its gaps, for tables of every size.

A table holds integer rows at a few knots; between them a row is blended in exact integers, linear
in r^gap for each gap. One record more or less multiplies r^gap by a constant. So on every piece
between knots the condition of privacy is linear in each r^gap, and holds everywhere when it holds
at the ends of the pieces: finitely many pairs of rows, which ``table_proof`` checks.
"""

from __future__ import annotations

import itertools
import secrets
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Floats, Weights
from rainbowdp.errors import InvalidMechanism, NoPlace
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.rules.margin_table.shape import Knots, Shape, standing

MOST_ANSWERS = 6
EPSILONS = (0.01, 4.0)
_PLACES = 128  # binary places of a uniform number that are drawn at first


def has_table(answers: int, guarantee: Guarantee) -> bool:
    """Whether a margin table can be made: 2 to 6 answers, (ε,δ) with ε from 0.01 to 4."""
    return (
        2 <= answers <= MOST_ANSWERS
        and isinstance(guarantee, DP)
        and EPSILONS[0] <= guarantee.epsilon <= EPSILONS[1]
        and guarantee.delta < 1
    )


@dataclass(frozen=True)
class MarginTable:
    """Integer rows over a shape's states, leader first; each sums to ``total``."""

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

    def weights(self, place: Any, answers: Sequence[Answer]) -> Weights:
        """The row where the answers have the counts ``place``."""
        order, gaps = self._standing(place, answers)
        row = self.at_gaps(gaps)
        return tuple([weight for _, weight in sorted(zip(order, row, strict=True))])

    def draw(self, place: Any, answers: Sequence[Answer]) -> Answer:
        """One answer where they have the counts ``place``, from the system's randomness.

        A blended row is a mixture: to choose one of the knots around each gap by their shares, and
        then from the row there, is to draw from it, and spares the blending.
        """
        order, gaps = self._standing(place, answers)
        knots = tuple([drawn_knot(self.shape, gap) for gap in gaps])
        ends = list(itertools.accumulate(self.at_knots(knots)))
        return answers[order[bisect_right(ends, secrets.randbelow(self.total))]]

    def _standing(
        self, place: Any, answers: Sequence[Answer]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        if not isinstance(place, Mapping) or set(place) != set(answers):
            raise NoPlace("counts of all answers", place)
        counts = [place[answer] for answer in answers]
        if any(type(count) is not int or count < 0 for count in counts):
            raise NoPlace("counts that are whole numbers from 0", place)
        return standing(counts, self.shape.ties)

    def right_at(self, gaps: Sequence[int]) -> float:
        """How likely a right answer is at these gaps."""
        row = self.at_gaps(gaps)
        shared = self.shape.ties == "any leader"
        leaders = row[0] + sum(
            w for gap, w in zip(gaps, row[1:], strict=True) if shared and not gap
        )
        return leaders / sum(row)

    def rows_at(self, counts: NDArray[np.int64]) -> Floats:
        """The rows of many votes at once, in floats: to compare mechanisms, not to release."""
        shape = self.shape
        size, last = shape.answers, len(shape.knots)
        heights = np.array([*(float(shape.ratio**knot) for knot in shape.knots), 0.0])
        weights = np.empty((last + 1,) * (size - 1) + (size,))
        for knots in itertools.product(range(last + 1), repeat=size - 1):
            weights[knots] = [weight / self.total for weight in self.at_knots(knots)]
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


def same_rows(shape: Shape, knots: Knots) -> list[tuple[int, int]]:
    """Pairs of positions with equal weights at ``knots``: equal gaps, or a shared lead."""
    free = [(knot, i) for i, knot in enumerate(knots, 1) if knot >= shape.labeled]
    pairs = [(i, j) for (a, i), (b, j) in itertools.pairwise(sorted(free)) if a == b]
    if shape.ties == "any leader":
        pairs += [(0, i) for knot, i in free if knot == 0]
    return pairs

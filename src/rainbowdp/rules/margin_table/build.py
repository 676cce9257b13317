"""Where margin tables exist, and the one that is kept or made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from rainbowdp.errors import InvalidFile
from rainbowdp.exact.keeping import Shelf
from rainbowdp.exact.rule import Family, Progress, Rule
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions import Question, Winner
from rainbowdp.rules.margin_table.program import (
    EPSILONS,
    MOST_ANSWERS,
    has_table,
    make_table,
    shape_for,
)
from rainbowdp.rules.margin_table.proof import prove_table
from rainbowdp.rules.margin_table.rule import MarginTable

SHELF: Shelf[MarginTable] = Shelf("margin table", 5, "rainbowdp.rules.margin_table")
SHIPPED = ("0.1", "0.2", "0.5", "1", "2")  # the ε whose tables come with the package
_SMALL_DELTA = Fraction(1, 100)  # up to here no table was measured to be far from the least error


@dataclass(frozen=True)
class MarginTableFamily(Family):
    """Rows of a vote by how far each answer is behind the leader, found by a linear program.

    With an ``epsilon`` the table is that of this ε, which the guarantee must allow: no program is
    solved above ε = 4.
    """

    kind: ClassVar[str] = "margin-table"
    title: ClassVar[str] = "Margin table"
    summary: ClassVar[str] = "by how far behind the leader each rival is"
    rule: ClassVar[type[Rule]] = MarginTable
    costly: ClassVar[bool] = True

    epsilon: Fraction | None = None

    def suits(self, question: Question) -> bool:
        """It is for votes with few answers and one record a person."""
        few = len(question.answers) <= MOST_ANSWERS
        return isinstance(question, Winner) and few and question.limit == 1

    def unfit(self, question: Question, guarantee: Guarantee) -> str | None:
        """The ε must not be extreme."""
        if self.suits(question) and has_table(len(question.answers), self._made_for(guarantee)):
            return None
        return (
            f"a margin table is for a Winner with 2 to {MOST_ANSWERS} answers and one record a "
            f"person under (ε,δ) with epsilon from {EPSILONS[0]:g} to {EPSILONS[1]:g}, "
            f"got {type(question).__name__} and {guarantee}"
        )

    def _made_for(self, guarantee: Guarantee) -> Guarantee:
        """The guarantee with the table's own ε, where that is no larger."""
        given = self.epsilon
        if given is None or not isinstance(guarantee, DP) or guarantee.epsilon <= given:
            return guarantee
        return DP(given, guarantee.exact_delta)

    def claim(self, question: Question, guarantee: Guarantee) -> str | None:
        """Near the least mean error, if it is made for the guarantee and δ is not large."""
        if self._made_for(guarantee) == guarantee:
            small = isinstance(guarantee, DP) and guarantee.exact_delta <= _SMALL_DELTA
            return "near the least mean error" if small else "the best of our kinds"
        assert self.epsilon is not None
        return f"made for ε = {float(self.epsilon):g}, so ask for that and pay less"

    def options(self) -> dict[str, Any]:
        """The ε it is made for, if that is not the guarantee's."""
        return {} if self.epsilon is None else {"epsilon": str(self.epsilon)}

    def build(
        self, question: Question, guarantee: Guarantee, progress: Progress | None = None
    ) -> tuple[MarginTable, Fraction]:
        """The table from memory, from disk, or made and kept; proved in each case."""
        assert isinstance(question, Winner)
        made_for = self._made_for(guarantee)
        assert isinstance(made_for, DP)
        return fetch_table(
            len(question.answers), made_for, question.neighbors, question.ties, progress
        )


def fetch_table(
    answers: int,
    guarantee: DP,
    neighbors: str,
    ties: str,
    progress: Progress | None = None,
    *,
    take_shipped: bool = True,
) -> tuple[MarginTable, Fraction]:
    """The proved table of a shape and its mixing, from wherever it is.

    Cost: from 0.1 s for two answers to some ten seconds for six to make, and more with δ; from disk
    some milliseconds.
    """
    shape = shape_for(answers, guarantee.epsilon, neighbors, ties, guarantee.delta)

    def make(tell: Progress) -> tuple[MarginTable, Fraction]:
        near = _nearest(answers, guarantee, neighbors, ties)
        return make_table(answers, guarantee, neighbors, ties, tell, near)

    def proved(content: Mapping[str, Any]) -> MarginTable:
        table = MarginTable.restore(content)
        if table.shape != shape:
            raise InvalidFile(f"a kept table must have the knots {shape.knots}, got others")
        prove_table(guarantee, table.shape, table.total, table.rows)
        return table

    asked = wanted(answers, guarantee, neighbors, ties)
    return SHELF.fetch(asked, make, proved, progress, take_shipped=take_shipped)


def wanted(answers: int, guarantee: DP, neighbors: str, ties: str) -> dict[str, Any]:
    """What a table is for."""
    return {
        "answers": answers,
        "guarantee": describe_guarantee(guarantee),
        "neighbors": str(neighbors),
        "ties": str(ties),
    }


def _nearest(
    answers: int, guarantee: DP, neighbors: str, ties: str
) -> tuple[MarginTable, float] | None:
    """The table with the same knots that comes with the package for the nearest ε, and its e^ε.

    It is not proved, as it only tells where to begin.
    """
    shape = shape_for(answers, guarantee.epsilon, neighbors, ties, guarantee.delta)
    by_distance = sorted(
        map(DP, SHIPPED), key=lambda one: abs(math.log(one.ratio / guarantee.ratio))
    )
    for other in by_distance:
        beside = shape_for(answers, other.epsilon, neighbors, ties)
        if (beside.knots, beside.labeled) == (shape.knots, shape.labeled):
            content = SHELF.shipped(wanted(answers, other, neighbors, ties))
            if content is not None:
                return MarginTable.restore(content), other.ratio
    return None

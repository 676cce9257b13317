"""Where crowd tables exist, and the one that is kept or made."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from rainbowdp.display.progress import say_once
from rainbowdp.errors import InvalidFile, NoTable
from rainbowdp.exact.keeping import Shelf
from rainbowdp.exact.rule import Family, Progress, Rule
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions import Question, Winner
from rainbowdp.rules.crowd_table.program import (
    ANSWERS,
    EPSILONS,
    make_table,
    most_epsilon,
    shapes_for,
    size_for,
)
from rainbowdp.rules.crowd_table.rule import CrowdTable

SHELF: Shelf[CrowdTable] = Shelf("crowd table", 4, "rainbowdp.rules.crowd_table")


@dataclass(frozen=True)
class CrowdTableFamily(Family):
    """Rows of a vote by how many rivals are how near, found by a linear program."""

    kind: ClassVar[str] = "crowd-table"
    title: ClassVar[str] = "Crowd table"
    summary: ClassVar[str] = "by how many rivals are how close to the leader"
    rule: ClassVar[type[Rule]] = CrowdTable
    costly: ClassVar[bool] = True
    uses_delta: ClassVar[bool] = False

    def suits(self, question: Question) -> bool:
        """It is for votes with five to ten answers and one record a person.

        Where records come and go and any leader is right, permute-and-flip is as good. With five
        and six answers it is for ties to the first listed where one record is substituted.
        """
        if not isinstance(question, Winner) or question.limit != 1:
            return False
        most = most_epsilon(len(question.answers), question.neighbors, question.ties)
        size = size_for(len(question.answers), most, question.neighbors, question.ties)
        return size is not None

    def unfit(self, question: Question, guarantee: Guarantee) -> str | None:
        """The ε must not be tiny."""
        if self.suits(question) and isinstance(guarantee, DP):
            assert isinstance(question, Winner)
            size, neighbors, ties = len(question.answers), question.neighbors, question.ties
            epsilon = min(guarantee.epsilon, most_epsilon(size, neighbors, ties))
            if size_for(size, epsilon, neighbors, ties) is not None:
                return None
        return (
            f"a crowd table is for a Winner with {ANSWERS[0]} to {ANSWERS[-1]} answers and one "
            f"record a person under (ε,δ) with epsilon from {EPSILONS[0]:g} on (five and six "
            "answers: from 0.5 and 0.6 on, ties to the first listed, records substituted), "
            "and not for any leader with records added or removed, "
            f"got {type(question).__name__} with {len(question.answers)} answers and {guarantee}"
        )

    def claim(self, question: Question, guarantee: Guarantee) -> str | None:
        """It was made to err less than permute-and-flip in the mean over votes of many sizes."""
        assert isinstance(question, Winner)
        most = most_epsilon(len(question.answers), question.neighbors, question.ties)
        if isinstance(guarantee, DP) and guarantee.epsilon > most:
            return f"made for ε = {most:g}, so ask for that and pay less"
        return "errs less often than permute-and-flip"

    def build(
        self, question: Question, guarantee: Guarantee, progress: Progress | None = None
    ) -> tuple[CrowdTable, Fraction]:
        """The table from memory, from disk, or made and kept; proved in each case."""
        assert isinstance(question, Winner)
        assert isinstance(guarantee, DP)
        size = len(question.answers)
        most = most_epsilon(size, question.neighbors, question.ties)
        promise = _pure(guarantee, most)
        return fetch_table(size, promise, question.neighbors, question.ties, progress)


def fetch_table(
    answers: int,
    guarantee: DP,
    neighbors: str,
    ties: str,
    progress: Progress | None = None,
    *,
    take_shipped: bool = True,
    solved: bool = False,
) -> tuple[CrowdTable, Fraction]:
    """The proved table of a shape and its mixing, from wherever it is.

    Where rows in order could not be proved it has rows without an order, and that is said.
    """
    shapes = shapes_for(answers, guarantee.epsilon, neighbors, ties)

    def make(tell: Progress) -> tuple[CrowdTable, Fraction]:
        *better, last = shapes
        for shape in better:
            with suppress(NoTable):
                return make_table(shape, guarantee, tell, solved=solved)
        return make_table(last, guarantee, tell)

    def proved(content: Mapping[str, Any]) -> CrowdTable:
        table = CrowdTable.restore(content)
        if table.shape not in shapes:
            raise InvalidFile("a kept table must have the shape that is made now, got another")
        table.keeps(guarantee)
        return table

    asked = wanted(answers, guarantee, neighbors, ties)
    table, mixing = SHELF.fetch(asked, make, proved, progress, take_shipped=take_shipped)
    if table.shape != shapes[0]:
        say_once(
            f"The crowd table for {answers} answers under {guarantee} goes by counts alone and "
            "errs somewhat more often, as rows that keep the order of the list could not be proved."
        )
    return table, mixing


def wanted(answers: int, guarantee: DP, neighbors: str, ties: str) -> dict[str, Any]:
    """What a table is for."""
    return {
        "answers": answers,
        "guarantee": describe_guarantee(guarantee),
        "neighbors": str(neighbors),
        "ties": str(ties),
    }


def _pure(guarantee: DP, most: float) -> DP:
    """The same ε, but at most that, and without a δ, which a table does not use."""
    if guarantee.epsilon > most:
        return DP(Fraction(most))
    if guarantee.exact_epsilon is not None:
        return DP(guarantee.exact_epsilon)
    assert guarantee.exact_ratio is not None
    return DP.from_ratio(guarantee.exact_ratio)

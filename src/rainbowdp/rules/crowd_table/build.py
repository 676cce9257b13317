"""Where crowd tables exist, and the one that is kept or made."""

from __future__ import annotations

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
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.crowd_table.program import ANSWERS, EPSILONS, make_table, shape_for
from rainbowdp.rules.crowd_table.rule import CrowdTable

SHELF: Shelf[CrowdTable] = Shelf("crowd table", 1, "rainbowdp.rules.crowd_table")


@dataclass(frozen=True)
class CrowdTableFamily(Family):
    """Rows of a vote by how many rivals are how near, found by a linear program."""

    kind: ClassVar[str] = "crowd-table"
    title: ClassVar[str] = "Crowd table"
    summary: ClassVar[str] = "rows of a vote by how many rivals are how near the leader"
    rule: ClassVar[type[Rule]] = CrowdTable
    costly: ClassVar[bool] = True
    uses_delta: ClassVar[bool] = False

    def suits(self, question: Question) -> bool:
        """It is for votes with seven to ten answers and one record a person.

        Where records come and go and any leader is right, permute-and-flip is as good.
        """
        if not isinstance(question, Winner) or question.limit != 1:
            return False
        shared = question.ties == Ties.ANY_LEADER
        coming = question.neighbors != Neighbors.SUBSTITUTED
        return ANSWERS[0] <= len(question.answers) <= ANSWERS[-1] and not (shared and coming)

    def unfit(self, question: Question, guarantee: Guarantee) -> str | None:
        """The ε must not be tiny."""
        fits = isinstance(guarantee, DP) and guarantee.epsilon >= EPSILONS[0]
        if self.suits(question) and fits:
            return None
        return (
            f"a crowd table is for a Winner with {ANSWERS[0]} to {ANSWERS[-1]} answers and one "
            f"record a person under (ε,δ) with epsilon from {EPSILONS[0]:g} on, "
            "and not for any leader with records added or removed, "
            f"got {type(question).__name__} with {len(question.answers)} answers and {guarantee}"
        )

    def claim(self, question: Question, guarantee: Guarantee) -> str | None:
        """It was made to err less than permute-and-flip in the mean over votes of many sizes."""
        if isinstance(guarantee, DP) and guarantee.epsilon > EPSILONS[1]:
            return f"made for ε = {EPSILONS[1]:g}, so ask for that and pay less"
        return "errs less often than permute-and-flip"

    def build(
        self, question: Question, guarantee: Guarantee, progress: Progress | None = None
    ) -> tuple[CrowdTable, Fraction]:
        """The table from memory, from disk, or made and kept; proved in each case."""
        assert isinstance(question, Winner)
        assert isinstance(guarantee, DP)
        size = len(question.answers)
        return fetch_table(size, _pure(guarantee), question.neighbors, question.ties, progress)


def fetch_table(
    answers: int,
    guarantee: DP,
    neighbors: str,
    ties: str,
    progress: Progress | None = None,
    *,
    take_shipped: bool = True,
) -> tuple[CrowdTable, Fraction]:
    """The proved table of a shape and its mixing, from wherever it is."""
    shape = shape_for(answers, guarantee.epsilon, neighbors, ties)

    def make() -> tuple[CrowdTable, Fraction]:
        return make_table(shape, guarantee, progress)

    def proved(content: Mapping[str, Any]) -> CrowdTable:
        table = CrowdTable.restore(content)
        if table.shape != shape:
            raise InvalidFile("a kept table must have the shape that is made now, got another")
        table.keeps(guarantee)
        return table

    asked = wanted(answers, guarantee, neighbors, ties)
    return SHELF.fetch(asked, make, proved, take_shipped=take_shipped)


def wanted(answers: int, guarantee: DP, neighbors: str, ties: str) -> dict[str, Any]:
    """What a table is for."""
    return {
        "answers": answers,
        "guarantee": describe_guarantee(guarantee),
        "neighbors": str(neighbors),
        "ties": str(ties),
    }


def _pure(guarantee: DP) -> DP:
    """The same ε without a δ, which a table does not use; no program is solved above ε = 2."""
    if guarantee.epsilon > EPSILONS[1]:
        return DP(Fraction(EPSILONS[1]))
    if guarantee.exact_epsilon is not None:
        return DP(guarantee.exact_epsilon)
    assert guarantee.exact_ratio is not None
    return DP.from_ratio(guarantee.exact_ratio)

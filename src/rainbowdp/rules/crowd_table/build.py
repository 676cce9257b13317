"""Where crowd tables exist, and the one that is kept or made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from rainbowdp.display.progress import say_once
from rainbowdp.errors import InvalidFile, NoTable, RainbowError
from rainbowdp.exact.keeping import Shelf
from rainbowdp.exact.rule import Family, Progress, Rule
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions import Question, Winner
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.crowd_table.program import (
    ANSWERS,
    EPSILONS,
    Size,
    make_table,
    most_epsilon,
    plans_for,
    shape_for,
)
from rainbowdp.rules.crowd_table.rule import CrowdTable

SHELF: Shelf[CrowdTable] = Shelf("crowd table", 4, "rainbowdp.rules.crowd_table")
SHIPPED = ("0.1", "0.2", "0.5", "1", "2")  # the ε of which every table comes with the package
# Those that come with the package and are larger or better than what would be made while somebody
# waits, or for another ε, as they are solved for.
SOLVED: dict[tuple[int, str, Neighbors, Ties], Size] = {
    **{
        (answers, epsilon, Neighbors.SUBSTITUTED, Ties.FIRST_LISTED): size
        for epsilon, sizes in {
            "0.1": {5: (8, 3), 6: (7, 2), 7: (5, 2), 9: (5, 0)},
            "0.2": {6: (7, 3), 9: (5, 0)},
            "0.3": {5: (8, 3), 6: (7, 3), 7: (5, 2)},
            "0.5": {6: (7, 4), 9: (4, 2)},
            "0.7": {7: (5, 2), 8: (4, 2)},
            "1": {9: (4, 2)},
        }.items()
        for answers, size in sizes.items()
    },
    **{
        (answers, epsilon, Neighbors.SUBSTITUTED, Ties.ANY_LEADER): (gaps, 0)
        for epsilon, sizes in {
            "0.3": {7: 7, 8: 7, 9: 6, 10: 6},
            "0.4": {10: 6},
            "0.5": {9: 7, 10: 6},
            "0.6": {10: 6},
            "0.7": {7: 7, 8: 7, 9: 6, 10: 6},
            "0.8": {10: 6},
            "1": {10: 6},
        }.items()
        for answers, gaps in sizes.items()
    },
}
_BESIDE = 2  # tables for other ε that tell where to begin
_NEAR = Fraction(4, 5)  # part of an ε from which such a table may be better than one made for it


@dataclass(frozen=True)
class CrowdTableFamily(Family):
    """Rows of a vote by how many rivals are how near, found by iteration or a linear program.

    With an ``epsilon`` the table is that of this ε, which the guarantee must allow.
    """

    kind: ClassVar[str] = "crowd-table"
    title: ClassVar[str] = "Crowd table"
    summary: ClassVar[str] = "by how many rivals are how close to the leader"
    rule: ClassVar[type[Rule]] = CrowdTable
    costly: ClassVar[bool] = True
    uses_delta: ClassVar[bool] = False

    epsilon: Fraction | None = None

    def suits(self, question: Question) -> bool:
        """It is for votes with five to ten answers and one record a person.

        Where records come and go and any leader is right, permute-and-flip is as good. With five
        and six answers it is for ties to the first listed where one record is substituted.
        """
        if not isinstance(question, Winner) or question.limit != 1:
            return False
        most = most_epsilon(len(question.answers), question.neighbors, question.ties)
        return bool(plans_for(len(question.answers), most, question.neighbors, question.ties))

    def unfit(self, question: Question, guarantee: Guarantee) -> str | None:
        """The ε must not be tiny."""
        if self.suits(question) and isinstance(guarantee, DP):
            assert isinstance(question, Winner)
            size, neighbors, ties = len(question.answers), question.neighbors, question.ties
            made_for = self._made_for(question, guarantee)
            if (
                plans_for(size, made_for.epsilon, neighbors, ties)
                or solved_size(size, made_for, neighbors, ties) is not None
            ):
                return None
        return (
            f"a crowd table is for a Winner with {ANSWERS[0]} to {ANSWERS[-1]} answers and one "
            f"record a person under (ε,δ) with epsilon from {EPSILONS[0]:g} on (five and six "
            "answers: from 0.2 on, and 0.1, ties to the first listed, records substituted), "
            "and not for any leader with records added or removed, "
            f"got {type(question).__name__} with {len(question.answers)} answers and {guarantee}"
        )

    def claim(self, question: Question, guarantee: Guarantee) -> str | None:
        """It was made to err less than permute-and-flip in the mean over votes of many sizes."""
        assert isinstance(question, Winner)
        if isinstance(guarantee, DP):
            made_for = self._made_for(question, guarantee)
            if made_for.epsilon < guarantee.epsilon:
                return f"made for ε = {made_for.epsilon:g}, so ask for that and pay less"
        return "errs less often than permute-and-flip"

    def options(self) -> dict[str, Any]:
        """The ε it is made for, if that is not the guarantee's."""
        return {} if self.epsilon is None else {"epsilon": str(self.epsilon)}

    def _made_for(self, question: Winner, guarantee: DP) -> DP:
        """The ε of the table, without a δ, which it does not use.

        That is the guarantee's, but at most the largest that there is a table for, and the
        family's own, where that is no larger.
        """
        most = Fraction(most_epsilon(len(question.answers), question.neighbors, question.ties))
        for limit in (self.epsilon, most):
            if limit is not None and guarantee.epsilon > limit:
                guarantee = DP(limit)
        if guarantee.exact_epsilon is not None:
            return DP(guarantee.exact_epsilon)
        assert guarantee.exact_ratio is not None
        return DP.from_ratio(guarantee.exact_ratio)

    def build(
        self, question: Question, guarantee: Guarantee, progress: Progress | None = None
    ) -> tuple[CrowdTable, Fraction]:
        """The table from memory, from disk, or made and kept; proved in each case."""
        assert isinstance(question, Winner)
        assert isinstance(guarantee, DP)
        promise, size = self._made_for(question, guarantee), len(question.answers)
        return fetch_table(size, promise, question.neighbors, question.ties, progress)


def solved_below(question: Question, guarantee: Guarantee) -> CrowdTableFamily | None:
    """The family of a table that was solved for an ε just below, if one comes with the package.

    It may be better than what is made for a slightly larger ε.
    """
    assert isinstance(question, Winner)
    if not isinstance(guarantee, DP):
        return None
    vote = len(question.answers), question.neighbors, question.ties
    every = (Fraction(text) for answers, text, *kind in SOLVED if (answers, *kind) == vote)
    least = _NEAR * Fraction(guarantee.epsilon)
    nearest = max((one for one in every if least <= one < guarantee.epsilon), default=None)
    return None if nearest is None else CrowdTableFamily(epsilon=nearest)


def solved_size(answers: int, guarantee: DP, neighbors: str, ties: str) -> Size | None:
    """The size of the table that was solved for and comes with the package, if there is one."""
    for (size, epsilon, *kind), found in SOLVED.items():
        if (size, *kind) == (answers, neighbors, ties) and Fraction(epsilon) == (
            guarantee.exact_epsilon
        ):
            return found
    return None


def fetch_table(
    answers: int,
    guarantee: DP,
    neighbors: str,
    ties: str,
    progress: Progress | None = None,
    *,
    take_shipped: bool = True,
    solve: bool = False,
) -> tuple[CrowdTable, Fraction]:
    """The proved table of a shape and its mixing, from wherever it is.

    Where rows in order could not be proved it has rows without an order, and that is said. If a
    table that was solved for has to be made, it is made smaller, as somebody waits, unless it is to
    ``solve`` for it in minutes; then nothing smaller will do.
    """
    asked = answers, guarantee.epsilon, neighbors, ties
    larger = solved_size(answers, guarantee, neighbors, ties)
    solved = None if larger is None else shape_for(*asked, larger)
    plans = plans_for(*asked)
    shapes = [shape_for(*asked, plan.size) for plan in plans]

    def make(tell: Progress) -> tuple[CrowdTable, Fraction]:
        near = _near(answers, guarantee, neighbors, ties)
        if solve and solved is not None:
            return make_table(solved, guarantee, tell, near=near)
        refused = NoTable(
            f"the one for {answers} answers under {guarantee} comes with the package, takes "
            "minutes to make and is not there; install the package again"
        )
        for shape, plan in zip(shapes, plans, strict=True):
            try:
                return make_table(shape, guarantee, tell, near=near, iterate=plan.iterated)
            except NoTable as error:
                refused = error
        raise refused

    def proved(content: Mapping[str, Any]) -> CrowdTable:
        table = CrowdTable.restore(content)
        if table.shape != solved and (solve or table.shape not in shapes):
            raise InvalidFile("a kept table must have the gaps of one that is made now, got others")
        table.keeps(guarantee)
        return table

    wants = wanted(answers, guarantee, neighbors, ties)
    table, mixing = SHELF.fetch(wants, make, proved, progress, take_shipped=take_shipped)
    if table.shape in shapes[1:] and shapes[0].ordered > table.shape.ordered:
        say_once(
            f"The crowd table for {answers} answers under {guarantee} errs somewhat more often, as "
            "rows that keep more of the order of the list could not be proved."
        )
    return table, mixing


def _near(answers: int, guarantee: DP, neighbors: str, ties: str) -> dict[float, CrowdTable]:
    """The tables of two ε that come with the package and are nearest, as far as there are any.

    They are not proved, as they only tell where to begin.
    """
    epsilons = {*SHIPPED, *(text for size, text, *kind in SOLVED if size == answers)}
    near: dict[float, CrowdTable] = {}
    for one in sorted(
        map(DP, epsilons), key=lambda one: abs(math.log(one.ratio / guarantee.ratio))
    ):
        with suppress(RainbowError):  # who takes a damaged one is told so
            content = SHELF.shipped(wanted(answers, one, neighbors, ties))
            if content is not None:
                near[one.epsilon] = CrowdTable.restore(content)
        if len(near) == _BESIDE:
            break
    return near


def wanted(answers: int, guarantee: DP, neighbors: str, ties: str) -> dict[str, Any]:
    """What a table is for."""
    return {
        "answers": answers,
        "guarantee": describe_guarantee(guarantee),
        "neighbors": str(neighbors),
        "ties": str(ties),
    }

"""How far each answer is behind the best, in whole steps, and what one person can move of that.

Two scores serve every question:

*Counts of a vote.* Where any leader is right, an answer's score is its count n_v; where ties go to
the first listed, x_v = q·n_v − v in q-th parts of a record, so that no two answers are tied and who
is listed first has the advantage. One record moves the score of its answer and no other.

*Signed margins of any question.* An answer that is not the true one has the score ½ − λ_v; the true
one has D − ½, where D is the margin of its nearest rival. Each score moves by at most 1 between
neighbors, also where the true answer changes: there both margins are 1, so one score falls from ½
to −½ and one rises. A rival is λ_v + D − 1 steps behind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rainbowdp.aliases import Answer, Dataset, Floats, Integers, Label
from rainbowdp.errors import InvalidMechanism, NoPlace
from rainbowdp.exact.margins import (
    ON_A_GRAPH,
    margins_at_depth,
    margins_of,
    outline_by_margins,
)
from rainbowdp.exact.rule import Outline, Short
from rainbowdp.exact.steps import LONGEST
from rainbowdp.exact.votes import chances_of_a_vote, counts_key, counts_of, must_be_that_vote
from rainbowdp.questions import Question, Winner
from rainbowdp.questions.relations import Neighbors, Ties, one_of

Right = Callable[[Sequence[int]], float]  # of distances to the chance of an answer that has none
Crowd = Callable[[Floats, Floats, int], Floats]
"""What so many rivals, all equally far, have together beside one that is near."""
_PIECES = 32


class Scores(ABC):
    """Where the distances of a rule come from."""

    @property
    @abstractmethod
    def moves(self) -> int:
        """By how many steps one person can move all scores, up and down together."""

    @abstractmethod
    def must_fit(
        self, answers: tuple[Answer, ...], neighbors: str, question: Mapping[str, Any] | None
    ) -> None:
        """Refuse a described question that these scores are not about."""

    @abstractmethod
    def scope_on_a_graph(self) -> str:
        """What a proof is about where there is no question."""

    @abstractmethod
    def key(self, question: Question, counted: Dataset) -> Any:
        """What distances are found by."""

    @abstractmethod
    def distances(self, key: Any, answers: Sequence[Answer]) -> list[int]:
        """How many steps each answer is behind the best."""

    @abstractmethod
    def distances_at(self, counts: Integers, margins: Floats) -> Floats:
        """The same of many histograms at once."""

    @abstractmethod
    def chances(
        self, right: Right, answers: int, margin: int, farthest: int
    ) -> tuple[float, float]:
        """The least and the most of ``right`` where the nearest rival has this margin."""

    @property
    @abstractmethod
    def short(self) -> Short:
        """What ``far`` counts."""

    @abstractmethod
    def far(self, crowd: Crowd, answers: int, short: int) -> float:
        """The most that all answers have together that are farther than ``short`` short.

        A ``crowd`` is to have less the farther it is, the fewer it is and the nearer others are.
        """

    def outline(self, answers: tuple[Answer, ...], farthest: int) -> Outline | None:
        """The rule as lines of depths, or none where only counts find a row."""
        return None

    def key_at_depth(self, label: Label, depth: float, answers: tuple[Answer, ...]) -> Any:
        """The key of a place of the ``outline``."""
        raise NotImplementedError

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The scores, ready for JSON."""


@dataclass(frozen=True)
class VoteScores(Scores):
    """The counts of a vote.

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

    """

    answers: int
    neighbors: str
    ties: str
    rows: int = 1

    def __post_init__(self) -> None:
        if any(type(number) is not int or number < 1 for number in (self.answers, self.rows)):
            raise InvalidMechanism(
                f"scores need answers and rows from 1, got {self.answers!r} and {self.rows!r}"
            )
        ties = one_of(Ties, self.ties, "ties", InvalidMechanism)
        neighbors = one_of(Neighbors, self.neighbors, "neighbors", InvalidMechanism)
        object.__setattr__(self, "ties", ties)
        object.__setattr__(self, "neighbors", neighbors)

    @classmethod
    def of(cls, question: Winner) -> VoteScores:
        """The scores of this vote."""
        size, rows = len(question.answers), question.rows_per_person
        return cls(size, question.neighbors, question.ties, rows)

    @property
    def parts(self) -> int:
        """In how many parts of a record distances are counted."""
        return self.answers if self.ties == Ties.FIRST_LISTED else 1

    @property
    def moves(self) -> int:
        """All records of a person, in and out."""
        return self.parts * self.rows * (2 if self.neighbors == Neighbors.SUBSTITUTED else 1)

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

    def scope_on_a_graph(self) -> str:
        """A vote is a question."""
        raise InvalidMechanism("the scores of a vote must have their question, got none")

    def key(self, question: Question, counted: Dataset) -> Any:
        """The counts of all answers."""
        return counts_key(question, counted)

    def distances(self, key: Any, answers: Sequence[Answer]) -> list[int]:
        """How far each score is below the highest."""
        parts, delay = self.parts, int(self.ties == Ties.FIRST_LISTED)
        counts = counts_of(key, answers)
        scores = [parts * count - delay * number for number, count in enumerate(counts)]
        most = max(scores)
        return [most - score for score in scores]

    def distances_at(self, counts: Integers, margins: Floats) -> Floats:
        """From the counts."""
        delays = np.arange(counts.shape[1]) if self.ties == Ties.FIRST_LISTED else 0
        gaps = (counts.max(axis=1, keepdims=True) - counts).astype(np.float64)
        behind = self.parts * gaps + delays
        distances: Floats = behind - behind.min(axis=1, keepdims=True)
        return distances

    def chances(
        self, right: Right, answers: int, margin: int, farthest: int
    ) -> tuple[float, float]:
        """Whoever is listed later gains, so the first and the last position of a rival tell."""
        shared = self.ties == Ties.ANY_LEADER
        delays = [0] * answers if shared else range(1, answers)

        def at(gaps: Sequence[int]) -> float:
            return right(
                [0, *(self.parts * gap + delay for gap, delay in zip(gaps, delays, strict=False))]
            )

        return chances_of_a_vote(
            at,
            margin,
            answers=answers,
            neighbors=self.neighbors,
            ties=self.ties,
            rows=self.rows,
            farthest=farthest,
            nearest={0, answers - 2},
        )

    @property
    def short(self) -> Short:
        """Counts tell how many records an answer is behind."""
        return Short.RECORDS

    def far(self, crowd: Crowd, answers: int, short: int) -> float:
        """All rivals just so far behind, none farther than the first listed behind the last."""
        behind = self.parts * (short + 1) - (self.parts - 1)
        return float(crowd(np.array([np.inf]), np.array([float(behind)]), answers - 1)[0])

    def describe(self) -> dict[str, Any]:
        """What makes the scores."""
        return {"of": "counts", **{name: _plain(value) for name, value in asdict(self).items()}}


@dataclass(frozen=True)
class MarginScores(Scores):
    """The signed margins of any question: nothing but the margins is needed."""

    @property
    def moves(self) -> int:
        """A step up, a step down."""
        return 2

    def must_fit(
        self, answers: tuple[Answer, ...], neighbors: str, question: Mapping[str, Any] | None
    ) -> None:
        """Every question has margins, and every graph, so there is nothing to refuse."""

    def scope_on_a_graph(self) -> str:
        """The margins are the graph's."""
        return ON_A_GRAPH

    def key(self, question: Question, counted: Dataset) -> Any:
        """The margins."""
        return question.margins(counted)

    def distances(self, key: Any, answers: Sequence[Answer]) -> list[int]:
        """λ_v + D − 1, and 0 for the true answer."""
        margins = margins_of(key, answers)
        depth = min((margin for margin in margins if margin), default=1)
        return [margin + depth - 1 if margin else 0 for margin in margins]

    def distances_at(self, counts: Integers, margins: Floats) -> Floats:
        """From the margins."""
        depths = np.where(margins > 0, margins, np.inf).min(axis=1, keepdims=True)
        return np.where(margins > 0, margins + depths - 1, 0.0)

    def chances(
        self, right: Right, answers: int, margin: int, farthest: int
    ) -> tuple[float, float]:
        """Least where all rivals are that near, most where the others are far away."""
        if type(margin) is not int or margin < 1:
            raise NoPlace("a margin that is a whole number from 1", margin)
        near = 2 * margin - 1
        rests = (near, max(near, farthest))
        least, most = (right([0, near, *[rest] * (answers - 2)]) for rest in rests)
        return least, most

    @property
    def short(self) -> Short:
        """Margins tell how many changes make an answer the true one."""
        return Short.CHANGES

    def far(self, crowd: Crowd, answers: int, short: int) -> float:
        """Most where all rivals are just so far away, or all but one.

        One that is near, D changes away, competes with the far ones, but makes the depth D, so that
        they are short + D steps behind. For D from a to b that is at most what they have where the
        near one is as far as for b and they are as near as for a.
        """
        alone = crowd(np.array([np.inf]), np.array([2.0 * short + 1]), answers - 1)
        if short == 0:
            return float(alone[0])
        starts = np.unique(np.rint(np.geomspace(1, short, min(short, _PIECES))))
        ends = np.append(starts[1:] - 1, short)
        beside = crowd(2 * ends - 1, short + starts, answers - 2)
        return float(max(alone[0], beside.max()))

    def outline(self, answers: tuple[Answer, ...], farthest: int) -> Outline | None:
        """A line for each answer, on which all rivals are equally near."""
        return outline_by_margins(answers, min(farthest // 2 + 1, LONGEST))

    def key_at_depth(self, label: Label, depth: float, answers: tuple[Answer, ...]) -> Any:
        """At depth t every rival has the margin t + 1."""
        return margins_at_depth(label, depth, answers)

    def describe(self) -> dict[str, Any]:
        """They need no numbers."""
        return {"of": "margins"}


def of_one(crowd: Crowd) -> Crowd:
    """The crowd of one rival, where there is one: any others would only take from it."""

    def one(near: Floats, far: Floats, rivals: int) -> Floats:
        return crowd(near, far, min(rivals, 1))

    return one


def scores_for(question: Question) -> Scores:
    """Counts for a vote, which tell more than its margins; else signed margins."""
    return VoteScores.of(question) if isinstance(question, Winner) else MarginScores()


def restored_scores(content: Mapping[str, Any]) -> Scores:
    """The scores that ``describe`` described."""
    given = dict(content)
    kind = given.pop("of")
    if kind == "margins" and not given:
        return MarginScores()
    if kind == "counts":
        return VoteScores(**given)
    raise InvalidMechanism(f"scores must be of counts or margins, got {kind!r}")


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, str) else value

"""How far each answer is behind the best, in whole steps, and what one person can move of that.

Three scores serve every question:

*Counts of a vote.* Where any leader is right, an answer's score is its count n_v; where ties go to
the first listed, x_v = q·n_v − v in q-th parts of a record, so that no two answers are tied and who
is listed first has the advantage. One record moves the score of its answer and no other.

*Sums of counts, for the first k of a vote as a set.* A set has the sum of its members' x_v, which
is highest for the first k. One record moves the scores of all sets with its answer, all alike.

*Signed margins of any question.* An answer that is not the true one has the score ½ − λ_v; the true
one has D − ½, where D is the margin of its nearest rival. Each score moves by at most 1 between
neighbors, also where the true answer changes: there both margins are 1, so one score falls from ½
to −½ and one rises. A rival is λ_v + D − 1 steps behind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from rainbowdp.aliases import Answer, Dataset, Floats, Integers, Label
from rainbowdp.errors import InvalidMechanism, NoPlace
from rainbowdp.exact.margins import (
    MOST,
    ON_A_GRAPH,
    array_of,
    margins_at,
    margins_at_depth,
    margins_of,
    outline_by_margins,
    truth_and_depth,
)
from rainbowdp.exact.rule import Outline, Short
from rainbowdp.exact.steps import LONGEST
from rainbowdp.exact.votes import (
    as_key,
    chances_of_a_vote,
    counts_key,
    counts_of,
    must_be_that_vote,
    must_be_those_sets,
)
from rainbowdp.expecting import brief
from rainbowdp.questions import Question, Ranking, Winner
from rainbowdp.questions.ranking import MOST_RANKINGS
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

    def key_of(self, numbers: Sequence[int], answers: Sequence[Answer]) -> Any:
        """The key that has these counts or margins: proofs play with them."""
        return as_key(numbers, answers)

    @abstractmethod
    def distances(self, key: Any, answers: Sequence[Answer]) -> list[int] | Integers:
        """How many steps each answer is behind the best; an array where the key is one."""

    def listed(self, key: Any, answers: Sequence[Answer]) -> list[int]:
        """The distances as numbers of Python, which no product makes overflow."""
        found = self.distances(key, answers)
        return found if isinstance(found, list) else [int(distance) for distance in found]

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
                f"scores need answers and rows from 1, got {brief(self.answers)} and "
                f"{brief(self.rows)}"
            )
        ties = one_of(Ties, self.ties, "ties", InvalidMechanism)
        neighbors = one_of(Neighbors, self.neighbors, "neighbors", InvalidMechanism)
        object.__setattr__(self, "ties", ties)
        object.__setattr__(self, "neighbors", neighbors)

    @classmethod
    def of(cls, question: Winner) -> VoteScores:
        """The scores of this vote."""
        size, rows = len(question.answers), question.limit
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

    def distances(self, key: Any, answers: Sequence[Answer]) -> list[int] | Integers:
        """How far each score is below the highest."""
        parts, together = self.parts, array_of(key, answers, "counts")
        if together is not None and parts * int(together[together.argmax()]) <= MOST:
            late: Integers = self._places - parts * together
            late -= late[late.argmin()]
            return late
        counts = counts_of(key, answers)
        if self.ties == Ties.ANY_LEADER:
            most = max(counts)
            return [most - count for count in counts]
        behind = [number - parts * count for number, count in enumerate(counts)]
        least = min(behind)
        return [distance - least for distance in behind]

    @cached_property
    def _places(self) -> Integers:
        """What being listed so late costs."""
        last = self.answers if self.ties == Ties.FIRST_LISTED else 1
        return np.arange(self.answers) % last

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
class SetScores(Scores):
    """The sums of the counts of the first few of a vote, as sets.

    Parameters
    ----------
    ranked
        How many are ranked.
    first
        How many a set has.
    neighbors
        What one change is.
    rows
        How many records one person may have.

    """

    ranked: int
    first: int
    neighbors: str
    rows: int = 1

    def __post_init__(self) -> None:
        given = (self.ranked, self.first, self.rows)
        if any(type(number) is not int or number < 1 for number in given):
            raise InvalidMechanism(f"scores of sets need whole numbers from 1, got {given}")
        many = self.ranked > MOST_RANKINGS  # before a coefficient of a billion is computed
        if self.first >= self.ranked or many or comb(self.ranked, self.first) > MOST_RANKINGS:
            raise InvalidMechanism(
                f"scores of sets need fewer first than ranked, and at most {MOST_RANKINGS:,} sets, "
                f"got the first {self.first} of {self.ranked}"
            )
        neighbors = one_of(Neighbors, self.neighbors, "neighbors", InvalidMechanism)
        object.__setattr__(self, "neighbors", neighbors)

    @classmethod
    def of(cls, question: Ranking) -> SetScores:
        """The scores of this ranking's sets."""
        return cls(len(question.among), question.first, question.neighbors, question.limit)

    @property
    def moves(self) -> int:
        """All records of a person, in and out, in as many parts as are ranked."""
        return self.ranked * self._step

    @property
    def _step(self) -> int:
        return self.rows * (2 if self.neighbors == Neighbors.SUBSTITUTED else 1)

    def must_fit(
        self, answers: tuple[Answer, ...], neighbors: str, question: Mapping[str, Any] | None
    ) -> None:
        """Refuse all but these sets, in their order, with this relation and rows a person."""
        must_be_those_sets(
            answers,
            neighbors,
            question,
            size=self.ranked,
            first=self.first,
            relation=self.neighbors,
            rows=self.rows,
        )

    def scope_on_a_graph(self) -> str:
        """A ranking is a question."""
        raise InvalidMechanism("the scores of sets must have their question, got none")

    def key(self, question: Question, counted: Dataset) -> Any:
        """The counts of those ranked."""
        return tuple(int(counted.get(name, 0)) for name, _ in question.groups)

    def key_of(self, numbers: Sequence[int], answers: Sequence[Answer]) -> Any:
        """The counts."""
        return tuple(numbers)

    def distances(self, key: Any, answers: Sequence[Answer]) -> list[int]:
        """How far each sum is below the highest."""
        if type(key) is not tuple or len(key) != self.ranked or len(answers) != len(self._sets):
            raise NoPlace("counts of all that are ranked", key)
        if any(type(count) is not int or count < 0 for count in key):
            raise NoPlace("counts that are whole numbers from 0", key)
        scores = [self.ranked * count - place for place, count in enumerate(key)]
        small = self.first * self.ranked * (max(key) + 2) < 1 << 62  # sums that 64 bits hold
        sums = np.array(scores, dtype=np.int64 if small else object)[self._sets].sum(axis=1)
        distances: list[int] = (sums.max() - sums).tolist()
        return distances

    def distances_at(self, counts: Integers, margins: Floats) -> Floats:
        """From the counts."""
        scores = self.ranked * counts - np.arange(self.ranked)
        sums = scores[:, self._sets[:, 0]]
        for column in self._sets.T[1:]:
            sums = sums + scores[:, column]
        distances: Floats = (sums.max(axis=1, keepdims=True) - sums).astype(np.float64)
        return distances

    @cached_property
    def _sets(self) -> Integers:
        return np.array(list(combinations(range(self.ranked), self.first)), dtype=np.int64)

    def chances(
        self, right: Right, answers: int, margin: int, farthest: int
    ) -> tuple[float, float]:
        """Least where all in the set are alike and all others, most where only two are near.

        The first of the others overtakes the last of the set after ``margin`` changes, as in a
        vote, from so many records behind; those alike are in the order of the list.
        """
        if type(margin) is not int or margin < 1:
            raise NoPlace("a margin that is a whole number from 1", margin)
        near, last = self._step * (margin - 1), self._step * margin - 1
        behind = [
            place + self.ranked * near * (place >= self.first) for place in range(self.ranked)
        ]
        sums = np.array(behind, dtype=object)[self._sets].sum(axis=1)
        crowded = (sums - sums.min()).tolist()
        far = [max(farthest, self.ranked * (last + 1))] * (answers - 2)
        return right(crowded), right([0, self.ranked * last + self.ranked - 1, *far])

    @property
    def short(self) -> Short:
        """Sums tell how many records a set is behind."""
        return Short.TOGETHER

    def far(self, crowd: Crowd, answers: int, short: int) -> float:
        """All sets just so far behind, less what their places in the list make of it at most."""
        places = self.first * (self.ranked - self.first)
        behind = max(0, self.ranked * (short + 1) - places)
        return float(crowd(np.array([np.inf]), np.array([float(behind)]), answers - 1)[0])

    def describe(self) -> dict[str, Any]:
        """What makes the scores."""
        return {"of": "sets", **{name: _plain(value) for name, value in asdict(self).items()}}


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
        return margins_at(question, counted)

    def distances(self, key: Any, answers: Sequence[Answer]) -> list[int] | Integers:
        """λ_v + D − 1, and 0 for the true answer."""
        found = truth_and_depth(key, answers)
        if found is not None:
            true, depth = found
            behind: Integers = key + depth
            behind[true] = 0
            return behind
        margins = margins_of(key, answers)
        true = margins.index(0)
        less = min([*margins[:true], *margins[true + 1 :]], default=1) - 1
        distances = [margin + less for margin in margins]
        distances[true] = 0
        return distances

    def distances_at(self, counts: Integers, margins: Floats) -> Floats:
        """From the margins."""
        return signed_distances(margins)

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


def signed_distances(margins: Floats) -> Floats:
    """How far each answer is behind by signed margins, for many rows of margins at once."""
    depths = np.where(margins > 0, margins, np.inf).min(axis=1, keepdims=True)
    return np.where(margins > 0, margins + depths - 1, 0.0)


def of_one(crowd: Crowd) -> Crowd:
    """The crowd of one rival, where there is one: any others would only take from it."""

    def one(near: Floats, far: Floats, rivals: int) -> Floats:
        return crowd(near, far, min(rivals, 1))

    return one


def scores_for(question: Question) -> Scores:
    """Counts for a vote or for sets, which tell more than their margins; else signed margins."""
    if isinstance(question, Winner):
        return VoteScores.of(question)
    if isinstance(question, Ranking) and (not question.in_order or question.first == 1):
        return SetScores.of(question)
    return MarginScores()


def restored_scores(content: Mapping[str, Any]) -> Scores:
    """The scores that ``describe`` described."""
    given = dict(content)
    kind = given.pop("of")
    if kind == "margins" and not given:
        return MarginScores()
    if kind == "counts":
        return VoteScores(**given)
    if kind == "sets":
        return SetScores(**given)
    raise InvalidMechanism(f"scores must be of counts, sets or margins, got {brief(kind)}")


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, str) else value

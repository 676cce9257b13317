"""Kinds that fall with a distance behind the best: permute-and-flip and exponential.

Distances come from the counts of a vote (in q-th parts of a record where ties go to the first
listed), from the sums of counts of sets, or from signed margins. What one change can move of them
comes from the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

from .document import fraction, keys, small
from .errors import Refused
from .falling import Falling, row_of_coins
from .guarantee import Guarantee
from .margins import margins_of, signed_distances
from .question import Question
from .randomness import below, place_in

_MOST_SETS = 20_000


class Scores:
    """Where distances come from, and how many steps one change moves, up and down together."""

    def __init__(
        self, content: object, answers: Sequence[object], question: Question | None
    ) -> None:
        of = content.get("of") if isinstance(content, dict) else None
        self.of, self.answers, self.question = of, answers, question
        if of == "margins":
            keys(content, "scores of margins", "of")
            if len(answers) < 2:
                raise Refused("signed margins must have at least 2 answers")
            self.moves = 2
            return
        if question is None:
            raise Refused("the scores of a vote must have their question")
        records = question.limit * (2 if question.substituted else 1)
        if of == "counts":
            given = keys(content, "scores of counts", "of", "answers", "neighbors", "ties", "rows")
            must_be_that_vote(given, answers, question)
            self.parts = len(answers) if question.ties == "first listed" else 1
            self.moves = self.parts * records
            return
        given = keys(content, "scores of sets", "of", "ranked", "first", "neighbors", "rows")
        ranked, first = small(given["ranked"], "ranked", 1), small(given["first"], "first", 1)
        asked = (question.kind, question.content.get("first"), question.limit, question.neighbors)
        if of != "sets" or asked != ("ranking", first, given["rows"], given["neighbors"]):
            raise Refused("the scores of sets must be those of their question")
        among = question.groups
        if ranked != len(among) or not first < ranked <= _MOST_SETS:
            raise Refused("the scores of sets must rank what the question ranks")
        if question.content["in_order"] is not False and first > 1:
            raise Refused("the scores of sets are not those of an order")
        if len(answers) > _MOST_SETS or len(answers) != comb(ranked, first):
            raise Refused("the answers must be all sets, and not more than can be listed")
        if list(answers) != [", ".join(chosen) for chosen in combinations(among, first)]:
            raise Refused("the answers must be all sets, in the order of the list")
        self.parts = ranked
        self.first = first
        self.moves = ranked * records

    def distances(self, key: object) -> list[int]:
        """How many steps each answer is behind the best."""
        if self.of == "margins":
            return signed_distances(margins_of(key, self.answers))
        assert self.question is not None
        counts = self.question.counted(key)
        delays = [place if self.parts > 1 else 0 for place in range(len(counts))]
        scores = [self.parts * count - late for count, late in zip(counts, delays, strict=True)]
        if self.of == "sets":
            scores = [sum(chosen) for chosen in combinations(scores, self.first)]
        most = max(scores)
        return [most - score for score in scores]


def must_be_that_vote(
    given: Mapping[str, object], answers: Sequence[object], question: Question
) -> None:
    """Refuse what is said of a vote, where the question says something else."""
    if question.kind != "winner":
        raise Refused("counts must be those of a winner")
    said = (given["answers"], given["neighbors"], given["ties"], given["rows"])
    if said != (len(answers), question.neighbors, question.ties, question.limit):
        raise Refused("the scores of a vote must be those of its question")


class ByScores:
    """What both kinds share."""

    own: tuple[str, ...]
    within: str

    def __init__(
        self,
        content: dict[str, object],
        answers: Sequence[object],
        question: Question | None,
        guarantee: Guarantee,
    ) -> None:
        given = keys(content[self.own[0]], self.own[0], "scores", "ratio")
        self.answers = answers
        self.scores = Scores(given["scores"], answers, question)
        self.falling = Falling(fraction(given["ratio"], "ratio"))
        self.falling.must_keep(self._allowed(guarantee), self.scores.moves)
        self.proved = f"{self.scores.moves} steps a change"

    def _allowed(self, guarantee: Guarantee) -> Fraction:
        raise NotImplementedError

    def key(self, question: Question, margins: Sequence[int]) -> dict[object, int]:
        """The margins, where these find a row."""
        return dict(zip(self.answers, margins, strict=True))

    @property
    def by_counts(self) -> bool:
        """Whether counts find a row, and not margins."""
        return self.scores.of != "margins"


class PermuteAndFlip(ByScores):
    """A coin for each answer; one of the heads."""

    own = ("coins",)

    def _allowed(self, guarantee: Guarantee) -> Fraction:
        if self.scores.of == "margins":
            raise Refused("permute-and-flip must have the scores of a vote")
        return guarantee.must_be_pure("permute-and-flip")

    def row(self, key: object) -> list[int]:
        """The row at some counts."""
        return row_of_coins([self.falling.at(far) for far in self.scores.distances(key)])

    def draw(self, key: object) -> int:
        """Flip all coins, and take one of the heads."""
        heads = self.falling.heads(self.scores.distances(key))
        return heads[below(len(heads))]


class Exponential(ByScores):
    """A share of weights that fall with the distance."""

    own = ("weights",)

    def _allowed(self, guarantee: Guarantee) -> Fraction:
        return guarantee.range_within()

    def row(self, key: object) -> list[int]:
        """The row at some counts or margins."""
        return [self.falling.at(far) for far in self.scores.distances(key)]

    def draw(self, key: object) -> int:
        """The place of an answer."""
        return place_in(self.row(key))

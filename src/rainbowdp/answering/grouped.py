"""A question's mechanism in each of many groups: one price, one scan, one table of answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rainbowdp.aliases import Answer, Dataset
from rainbowdp.answering.askable import Askable
from rainbowdp.answering.counting import CountMechanism
from rainbowdp.answering.coverage import CONFIDENCE, Coverage
from rainbowdp.answering.intervals import Precision
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.answering.release import Statement
from rainbowdp.display import cards
from rainbowdp.errors import InvalidMechanism, InvalidQuestion
from rainbowdp.exact.check import Check
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.moves import of_one_move
from rainbowdp.numeric.quantity import Number
from rainbowdp.questions import Grouped, unit_of
from rainbowdp.tables import count_groups


@dataclass(frozen=True)
class GroupedMechanism(Askable):
    """A private answer in each group of a table, all under one guarantee.

    Made by ``rb.best`` or ``rb.by_kind`` from a ``Grouped`` question.

    Parameters
    ----------
    question
        What is asked, and in which groups.
    guarantee
        What is promised between neighboring tables, for all answers together.
    inner
        The mechanism that answers in each group.

    Raises
    ------
    InvalidMechanism
        If the inner mechanism is for another question or promises less.

    Examples
    --------
    >>> from rainbowdp import DP, Winner, best
    >>> poll = Winner(["red", "green"], neighbors="added or removed")
    >>> mechanism = best(Grouped(poll, None, ["north", "south"]), DP(20))
    >>> mechanism.release({"north": {"red": 90}, "south": {"green": 90}})
    {'north': 'red', 'south': 'green'}

    """

    question: Grouped
    guarantee: Guarantee
    inner: QuestionMechanism | CountMechanism

    def __post_init__(self) -> None:
        moves = self.moves
        if moves is None or self.inner.guarantee != of_one_move(self.guarantee, moves):
            raise InvalidMechanism(
                "each group must be answered by a mechanism for the question's own moves, so that "
                f"all of one change keep {self.guarantee}, got another one"
            )

    @property
    def moves(self) -> int | None:
        """How many moves of the inner mechanism one change of the table is at most."""
        known = (way.moves for way in self.question.ways if way.question == self.inner.question)
        return next(known, None)

    @property
    def statement(self) -> type[Statement]:
        """What its answers prove is of this type."""
        return self.inner.statement

    @property
    def name(self) -> str:
        """The kind of mechanism that answers in each group."""
        return self.inner.name

    @property
    def claim(self) -> str | None:
        """What is known about how good it is for this question, and what it leaves unused."""
        return self.inner.claim

    @property
    def proof(self) -> Check:
        """The exact proof of what is promised in each group, for one move."""
        return self.inner.proof

    @property
    def proof_in_words(self) -> str:
        """The proof of the inner mechanism, and why it is enough for all groups together."""
        moves = self.moves
        if moves == 1:
            return f"{self.proof.statement}; one change is inside one group"
        return f"{self.proof.statement}; one change is at most {moves} such changes"

    def check(self) -> Check:
        """The exact proof; a mechanism without one cannot be made."""
        return self.proof

    def counts(
        self, table: Dataset, progress: Callable[[float], None] | None = None
    ) -> dict[str, dict[str, int]]:
        """Count what the question needs of each group, in one scan.

        Parameters
        ----------
        table
            A file, a frame, a database table or counts of each group.
        progress
            Called with numbers from 0 to 1 while files are read.

        Returns
        -------
        dict of str to dict
            The counts of each group.

        """
        return count_groups(table, self.question, progress=progress)

    def ready(
        self, table: Dataset, progress: Callable[[float], None] | None = None
    ) -> Callable[[], dict[str, Answer]]:
        """A function that draws the answers for a table; all that can fail has happened.

        Parameters
        ----------
        table
            A file, a frame, a database table or counts of each group.
        progress
            Called with numbers from 0 to 1 while files are read.

        Returns
        -------
        callable
            Takes nothing and returns an answer for each group, new ones each time.

        """
        counts, inner = self.counts(table, progress), self.inner
        draws = {name: inner.ready(found) for name, found in counts.items()}
        return lambda: {name: draw() for name, draw in draws.items()}

    def release(self, table: Dataset) -> dict[str, Answer]:
        """Draw an answer for each group, independently, from exact integers.

        Parameters
        ----------
        table
            A file, a frame, a database table or counts of each group.

        Returns
        -------
        dict of str to Answer
            One answer for each group, from the operating system's randomness.

        """
        return self.ready(table)()

    def __getitem__(self, table: Dataset) -> dict[str, dict[Answer, float]]:
        """{group: {answer: probability}} for a table or its counts, likeliest answers first."""
        if isinstance(self.inner, CountMechanism):
            raise InvalidQuestion("a count has too many answers to list their chances")
        return {name: self.inner[found] for name, found in self.counts(table).items()}

    def proves(self, confidence: Number = CONFIDENCE) -> Coverage | Precision:
        """What each answer proves for itself, whatever the table: it costs no budget.

        Parameters
        ----------
        confidence
            How often the statement about one group is to hold at least.

        Returns
        -------
        Coverage or Precision
            How far from the truth the answer of a group is at most.

        """
        return self.inner.proves(confidence)

    def options(self) -> dict[str, Any]:
        """What a ledger records of the kind of mechanism besides its name.

        Returns
        -------
        dict
            What makes the inner mechanism another one, ready for JSON.

        """
        return self.inner.options()

    def to_text(self, answer: dict[str, Answer]) -> str:
        """The answers as a ledger keeps them.

        Parameters
        ----------
        answer
            The answers.

        Returns
        -------
        str
            The answers as text.

        """
        return json.dumps(answer, ensure_ascii=False)

    def from_text(self, text: str) -> dict[str, Answer]:
        """The answers that a ledger kept.

        Parameters
        ----------
        text
            What ``to_text`` made.

        Returns
        -------
        dict of str to Answer
            The answers.

        """
        found: dict[str, Answer] = json.loads(text)
        return found

    def _repr_html_(self) -> str:
        named = {
            "question": self.question.describe()["kind"],
            "groups": ", ".join(self.question.by.names),
            "guarantee": f"{self.guarantee}, {unit_of(self.question)} {self.question.neighbors}",
            "in each group": f"{self.inner.guarantee}",
        }
        return cards.card(f"Mechanism in groups: {self.name}", cards.facts(named))

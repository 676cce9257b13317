"""A question's mechanism: its family's rule, in integers, for tables of every size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rainbowdp.aliases import Answer, Dataset
from rainbowdp.answering.askable import Askable
from rainbowdp.answering.coverage import CONFIDENCE, Coverage, coverage
from rainbowdp.display import cards
from rainbowdp.errors import InvalidGuarantee, InvalidQuestion, NotApplicable
from rainbowdp.exact.check import Check
from rainbowdp.exact.mechanism import ExactMechanism, Releasable, key_finder
from rainbowdp.exact.rule import Family, Progress
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.quantity import Number
from rainbowdp.questions import Question, unit_of
from rainbowdp.tables import count


@dataclass(frozen=True)
class QuestionMechanism(Releasable, Askable):
    """A private answer to a question, for any table.

    Made by ``rb.best``, ``rb.by_kind``, ``rb.optimal`` or ``rb.proximity``. A dataset is a table or
    its counts.

    Parameters
    ----------
    question
        What is asked.
    guarantee
        What is promised between neighboring tables.
    family
        The kind of mechanism, with its options.

    Raises
    ------
    NotApplicable
        If the family has no mechanism for this question and guarantee.

    Examples
    --------
    >>> from rainbowdp import DP, Winner, best
    >>> mechanism = best(Winner(["red", "green"]), DP(1))
    >>> {answer: round(p, 4) for answer, p in mechanism[{"red": 10, "green": 7}].items()}
    {'red': 0.9011, 'green': 0.0989}

    """

    question: Question
    guarantee: Guarantee
    family: Family
    _progress: Progress | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.question, Question):
            raise InvalidQuestion(
                "a question must be one such as Winner([...]) or Threshold(100), "
                f"got {type(self.question).__name__}"
            )
        check_guarantee(self.guarantee)
        check_says_something(self.guarantee)
        reason = self.family.unfit(self.question, self.guarantee)
        if reason is not None:
            raise NotApplicable(f"{reason}; rb.best picks a kind that applies")

    @property
    def name(self) -> str:
        """The kind of mechanism."""
        return self.family.kind

    @property
    def statement(self) -> type[Coverage]:
        """What its answers prove is of this type."""
        return Coverage

    @property
    def claim(self) -> str | None:
        """What is known about how good it is for this question, and what it leaves unused."""
        said = [self.family.claim(self.question, self.guarantee)]
        if self.delta_unused:
            said.append("δ is not used")
        return ", ".join(filter(None, said)) or None

    @property
    def delta_unused(self) -> bool:
        """Whether the guarantee has a δ that improves no answer: leave it out and pay less."""
        promise = self.guarantee
        given = isinstance(promise, DP) and promise.exact_delta > 0
        return given and not self.family.uses_delta

    def exact(self) -> ExactMechanism:
        """The mechanism in integers with its proof; built and proved once, then kept."""
        return self._exact

    @cached_property
    def _exact(self) -> ExactMechanism:
        rule, mixing = self.family.build(self.question, self.guarantee, self._progress)
        return ExactMechanism(
            self.guarantee,
            self.question.answers,
            rule,
            neighbors=self.question.neighbors,
            question=self.question.describe(),
            mixing=mixing,
            locate=key_finder(self.question, rule),
        )

    def counts(self, table: Dataset, progress: Callable[[float], None] | None = None) -> Dataset:
        """Count what the question needs from ``table``.

        Parameters
        ----------
        table
            A file, a frame, a database table or counts.
        progress
            Called with numbers from 0 to 1 while files are read.

        Returns
        -------
        dict of str to int
            The counts by group; for a custom question without groups, the table itself.

        """
        return count(table, self.question, progress=progress) if self.question.groups else table

    def ready(
        self, table: Dataset, progress: Callable[[float], None] | None = None
    ) -> Callable[[], Answer]:
        """A function that draws an answer for a table; all that can fail has happened.

        Parameters
        ----------
        table
            A file, a frame, a database table or counts.
        progress
            Called with numbers from 0 to 1 while files are read.

        Returns
        -------
        callable
            Takes nothing and returns an answer, a new one each time.

        """
        return self.exact().ready(self.counts(table, progress))

    def check(self) -> Check:
        """The exact proof of the guarantee; a mechanism without one cannot be made."""
        return self.proof

    def __getitem__(self, dataset: Dataset) -> dict[Answer, float]:
        """{answer: probability} for a table or its counts, likeliest first."""
        return {answer: float(p) for answer, p in self.exact()[dataset].items()}

    def __repr__(self) -> str:
        asked = type(self.question).__name__
        return f"QuestionMechanism({self.name}, {asked}, {self.guarantee})"

    def _repr_html_(self) -> str:
        named = {
            "question": self.question.describe().get("kind", "question"),
            "answers": ", ".join(map(str, self.question.answers)),
            "guarantee": f"{self.guarantee}, {unit_of(self.question)} {self.question.neighbors}",
            "in words": self.guarantee.in_words(unit_of(self.question).whom),
        }
        return cards.card(f"Mechanism: {self.name}", cards.facts(named))

    def options(self) -> dict[str, Any]:
        """What a ledger records of the kind of mechanism besides its name.

        Returns
        -------
        dict
            The options that make it another one, ready for JSON.

        """
        return self.family.options()

    def proves(self, confidence: Number = CONFIDENCE) -> Coverage:
        """What an answer of this mechanism proves, whatever the table: it costs no budget.

        Parameters
        ----------
        confidence
            How often the statement is to hold at least.

        Returns
        -------
        Coverage
            How far from the truth the answer is at most.

        Raises
        ------
        InvalidQuestion
            If the confidence does not lie between 0 and 1.

        Examples
        --------
        >>> from rainbowdp import DP, Threshold, best
        >>> best(Threshold(100), DP(1)).proves("0.99").in_words("yes")
        'with 99 % confidence: yes is the true answer, or at most 4 records short of it'

        """
        if confidence == CONFIDENCE:
            return self._usual_coverage
        return coverage(self.exact().rule, self.question, confidence)

    @cached_property
    def _usual_coverage(self) -> Coverage:
        return coverage(self.exact().rule, self.question)

    def by_margin(self, margins: Sequence[int]) -> list[tuple[int, float, float]]:
        """The probability of a right answer by the margin of the nearest rival.

        Parameters
        ----------
        margins
            Whole numbers from 1.

        Returns
        -------
        list of (margin, least, most)
            Over tables of every size: least where all rivals are that near, most where one rival is
            and the others are far away.

        """
        rule = self.exact().rule
        return [(margin, *rule.chances(self.question, margin)) for margin in margins]


def check_moves(guarantee: Guarantee) -> None:
    """Refuse a curve under which no answer may depend on the data."""
    if isinstance(guarantee, TradeOffCurve) and not guarantee.moves:
        raise InvalidGuarantee(
            f"under {guarantee} no answer may depend on the data; use a larger guarantee"
        )


def check_says_something(guarantee: Guarantee) -> None:
    """Refuse (0, 0)."""
    if isinstance(guarantee, DP) and guarantee.exact_ratio == 1 and guarantee.exact_delta == 0:
        raise InvalidGuarantee(
            "with epsilon=0 and delta=0 no answer may depend on the data; use a larger epsilon"
        )


def check_guarantee(guarantee: object) -> None:
    """Refuse what is no guarantee, by its type: it may be a table in the wrong place."""
    if not isinstance(guarantee, Guarantee):
        raise InvalidGuarantee(
            "a guarantee must be a DP, GaussianDP, TradeOff or ZeroConcentrated, "
            f"got {type(guarantee).__name__}"
        )

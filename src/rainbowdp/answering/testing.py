"""The mechanism of a test: the most powerful private one, of exact size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from rainbowdp.aliases import Dataset
from rainbowdp.answering.askable import Askable
from rainbowdp.answering.coverage import percent
from rainbowdp.answering.mechanism import check_guarantee, check_moves
from rainbowdp.display import cards
from rainbowdp.errors import InvalidQuestion
from rainbowdp.exact.check import Check
from rainbowdp.exact.line import Line
from rainbowdp.exact.line_build import most_powerful
from rainbowdp.exact.line_proof import size_above
from rainbowdp.exact.tests_of_shares import ExactTest
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.binomial import binomial_above
from rainbowdp.numeric.quantity import Number, exact
from rainbowdp.questions import ProportionTest, unit_of
from rainbowdp.questions.proportion import SIGNIFICANT
from rainbowdp.tables import count


@dataclass(frozen=True)
class Significance:
    """What the answer of a test proves.

    Attributes
    ----------
    above : Fraction
        The share of the null hypothesis.
    alpha : Fraction
        The largest chance of "significant" if no larger share matches.

    """

    above: Fraction
    alpha: Fraction

    def in_words(self, answer: object = None) -> str:
        """The statement in plain words.

        Parameters
        ----------
        answer
            The answer that it is about; "significant", if left out.

        Returns
        -------
        str
            One sentence without a full stop.

        Examples
        --------
        >>> Significance(Fraction(3, 5), Fraction(1, 20)).in_words("significant")
        'if at most 60 % matched, significant would be said with a chance of at most 5 %'

        """
        if answer not in (None, SIGNIFICANT):
            return f"nothing: {percent(self.above)} or fewer may match, or more"
        said = f"if at most {percent(self.above)} matched, {SIGNIFICANT} would be said"
        return f"{said} with a chance of at most {percent(self.alpha)}"

    def describe(self) -> dict[str, Any]:
        """The statement, ready for JSON.

        Returns
        -------
        dict
            Both numbers as fractions in text.

        """
        return {"above": str(self.above), "alpha": str(self.alpha)}

    @classmethod
    def restore(cls, description: dict[str, Any]) -> Significance:
        """The statement that ``describe`` described.

        Parameters
        ----------
        description
            What ``describe`` returned.

        Returns
        -------
        Significance
            The same statement.

        """
        return cls(Fraction(description["above"]), Fraction(description["alpha"]))


@dataclass(frozen=True)
class ProportionMechanism(Askable):
    """The most powerful private test of a share, for any table of that size.

    Made by ``rb.best``. A dataset is a table or its count, ``{"matching": n}``.

    Parameters
    ----------
    question
        What is tested.
    guarantee
        What is promised between neighboring tables.

    Raises
    ------
    InvalidGuarantee
        If the guarantee lets no answer depend on the data.

    Examples
    --------
    >>> from rainbowdp import DP, ProportionTest, best
    >>> test = best(ProportionTest("0.5", records=100), DP(1))
    >>> round(test.power("0.6"), 4), round(test.power("0.5"), 4)
    (0.6176, 0.05)

    """

    name: ClassVar[str] = "most-powerful-test"

    question: ProportionTest
    guarantee: Guarantee

    def __post_init__(self) -> None:
        check_guarantee(self.guarantee)
        check_moves(self.guarantee)

    @property
    def statement(self) -> type[Significance]:
        """What its answers prove is of this type."""
        return Significance

    @property
    def claim(self) -> str | None:
        """What is known about how good it is."""
        curve = isinstance(self.guarantee, TradeOffCurve)  # ρ is none, and knows no optimum
        return "no private test of its size finds more" if curve else None

    @property
    def line(self) -> Line:
        """How likely "significant" is for each count; it does not depend on the data."""
        return self._exact.line

    @property
    def proof(self) -> Check:
        """The exact proof of the guarantee."""
        return self._exact.proof

    def exact(self) -> ExactTest:
        """The test in integers with its proofs; built and proved once, then kept.

        Returns
        -------
        ExactTest
            The question, the guarantee and the line.

        """
        return self._exact

    @cached_property
    def _exact(self) -> ExactTest:
        asked = self.question
        line = most_powerful(self.guarantee, asked.records, asked.above, asked.alpha)
        return ExactTest(asked, self.guarantee, line)

    def check(self) -> Check:
        """The exact proof of the guarantee; a mechanism without one cannot be made.

        Returns
        -------
        Check
            One that holds.

        """
        return self.proof

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
            ``{"matching": n}``.

        """
        return count(table, self.question.counted(), progress=progress)

    def ready(
        self, table: Dataset, progress: Callable[[float], None] | None = None
    ) -> Callable[[], str]:
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
        return self._exact.ready(self.counts(table, progress))

    def release(self, dataset: Dataset) -> str:
        """Draw one answer from exact integers. This is what goes out.

        Parameters
        ----------
        dataset
            A table, or its count.

        Returns
        -------
        str
            "significant" or "not significant".

        """
        return self.ready(dataset)()

    def power(self, share: Number) -> float:
        """How likely "significant" is if each record matches with this chance.

        Parameters
        ----------
        share
            The true share of the population, from 0 to 1.

        Returns
        -------
        float
            The power of the test; at the share of the null hypothesis, its size.

        Raises
        ------
        InvalidQuestion
            If the share does not lie between 0 and 1.

        """
        true = exact(share, "share", InvalidQuestion)
        if not 0 <= true <= 1:
            raise InvalidQuestion(f"share must lie between 0 and 1, got share={share}")
        return float(size_above(self.line, binomial_above(self.question.records, true)))

    def options(self) -> dict[str, Any]:
        """What a ledger records of the mechanism besides its name.

        Returns
        -------
        dict
            Nothing: the question and the guarantee say it all.

        """
        return {}

    def proves(self) -> Significance:
        """What "significant" proves: it costs no budget.

        Returns
        -------
        Significance
            The share and the level.

        """
        return Significance(self.question.above, self.question.alpha)

    def _repr_html_(self) -> str:
        unit = unit_of(self.question)
        named = {
            "question": "test of a share",
            "guarantee": f"{self.guarantee}, {unit} {self.question.neighbors}",
            "in words": self.guarantee.in_words(unit.whom),
            "proves": self.proves().in_words(),
        }
        return cards.card(f"Mechanism: {self.name}", cards.facts(named))

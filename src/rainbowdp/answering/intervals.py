"""What a number with noise proves: how far off it is at most, and what it rules out.

The noise is public, so none of this costs budget. If noise lies within h of 0 with a chance of 95 %
then, whatever the count n is, n lies within h of the answer with that confidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rainbowdp.answering.coverage import CONFIDENCE, ONE, checked_confidence, percent
from rainbowdp.exact.noise import NoiseRow
from rainbowdp.numeric.quantity import Number
from rainbowdp.questions import Count


@dataclass(frozen=True)
class Precision:
    """How far off a count may be.

    Attributes
    ----------
    confidence : Fraction
        The least chance that the statement holds, whatever the table.
    within : int
        The largest distance between the answer and the true count.
    at_most : int
        The largest answer there can be: it stands for all larger counts, too.
    unit : str
        What is counted: records or people.

    """

    confidence: Fraction
    within: int
    at_most: int
    unit: str

    def interval(self, answer: int) -> tuple[int, int | None]:
        """The least and the most that the true count may be.

        Parameters
        ----------
        answer
            What was drawn.

        Returns
        -------
        tuple of int and (int or None)
            Both included; no most where the answer is that near to the largest one.

        Examples
        --------
        >>> Precision(CONFIDENCE, 3, 1000, "records").interval(2)
        (0, 5)

        """
        high = answer + self.within
        return max(0, answer - self.within), high if high < self.at_most else None

    def in_words(self, answer: object = None) -> str:
        """The statement in plain words.

        Parameters
        ----------
        answer
            The answer that it is about; whichever is given, if left out.

        Returns
        -------
        str
            One sentence without a full stop.

        Examples
        --------
        >>> Precision(CONFIDENCE, 4, 1000, "records").in_words(101)
        'with 95 % confidence: between 97 and 105 records'
        >>> Precision(CONFIDENCE, 4, 1000, "people").in_words()
        'with 95 % confidence: at most 4 people more or less than the answer'

        """
        sure = f"with {percent(self.confidence)} confidence"
        if answer is None:
            few = self.unit if self.within != 1 else ONE[self.unit]
            return f"{sure}: at most {self.within} {few} more or less than the answer"
        low, high = self.interval(int(str(answer)))
        if high is None:
            return f"{sure}: {low} {self.unit} or more"
        if low == high:
            return f"{sure}: exactly {low} {self.unit if low != 1 else ONE[self.unit]}"
        return f"{sure}: between {low} and {high} {self.unit}"

    def describe(self) -> dict[str, Any]:
        """The statement, ready for JSON.

        Returns
        -------
        dict
            The confidence as a fraction in text, and the other attributes.

        """
        return {
            "confidence": str(self.confidence),
            "within": self.within,
            "at_most": self.at_most,
            "unit": self.unit,
        }

    @classmethod
    def restore(cls, description: dict[str, Any]) -> Precision:
        """The statement that ``describe`` described.

        Parameters
        ----------
        description
            What ``describe`` returned.

        Returns
        -------
        Precision
            The same statement.

        """
        given = dict(description)
        return cls(confidence=Fraction(given.pop("confidence")), **given)


def precision_of(noise: NoiseRow, question: Count, confidence: Number = CONFIDENCE) -> Precision:
    """The least distance from the truth that every answer keeps, so surely."""
    sure = checked_confidence(confidence)
    people = question.person is not None and question.rows_per_person == 1
    unit = "people" if people else "records"
    return Precision(sure, noise.half_width(sure), question.at_most, unit)

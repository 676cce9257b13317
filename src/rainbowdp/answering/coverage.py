"""What an answer proves, whatever the table holds.

The rows of a mechanism are public, so it costs no budget to say how far from the truth an answer
can be. Let H(t) be the largest chance, over all tables, that an answer is said that is more than t
short of the truth. Then "the answer is true, or at most t short of it" holds with confidence
1 − H(t), whichever table was asked. ``docs/evidence.md`` has the bounds for each kind of rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rainbowdp.errors import InvalidQuestion
from rainbowdp.exact.rule import Rule, Short
from rainbowdp.numeric.quantity import Number, exact
from rainbowdp.questions import Question

CONFIDENCE = Fraction(95, 100)
_ROUNDING = 1e-9  # more than any rounding in floats
_FARTHEST = 10**12


@dataclass(frozen=True)
class Coverage:
    """How far from the truth an answer may be.

    Attributes
    ----------
    confidence : Fraction
        The least chance that the statement holds, whatever the table.
    within : int or None
        The most that the answer falls short of the truth; None if no distance has the confidence.
    short : str
        What that counts: ``"changes"`` that would make the answer true, or ``"records"`` that it
        is behind the leader of a vote, or ``"records together"`` that a set is behind the first.
    unit : str
        Whose changes these are, or what is counted: records, people or weight.
    evidence : int or None
        A smaller distance, if there is one: an answer that falls farther short than this would be
        given no more often than the confidence leaves open. That is a p-value for the answer that
        was given; the statement above is about any answer.

    """

    confidence: Fraction
    within: int | None
    short: Short
    unit: str
    evidence: int | None = None

    def __str__(self) -> str:
        return self.in_words()

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
        >>> Coverage(CONFIDENCE, 3, Short.CHANGES, "people").in_words("red")
        'with 95 % confidence: red is the true answer, or at most 3 people short of it'
        >>> Coverage(CONFIDENCE, 6, Short.RECORDS, "records").in_words("red")
        'with 95 % confidence: red has the most records, or at most 6 fewer than the leader'

        """
        sure = f"with {percent(self.confidence)} confidence"
        named = "the answer" if answer is None else str(answer)
        if self.within is None:
            return f"nothing {sure}: a wrong answer may be as far off as can be"
        few = self.unit if self.within != 1 else ONE[self.unit]
        fewer = "less" if self.unit == "weight" else "fewer"
        if self.short == Short.RECORDS:
            true = f"{sure}: {named} has the most {self.unit}"
            nearly = f"or at most {self.within} {fewer} than the leader"
        elif self.short == Short.TOGETHER:
            have = "the set has" if answer is None else f"{named} have"
            true = f"{sure}: {have} the most {self.unit} together"
            nearly = f"or at most {self.within} {fewer} than the first"
        else:
            true = f"{sure}: {named} is {'true' if answer is None else 'the true answer'}"
            nearly = f"or at most {self.within} {few} short of it"
        said = f"{true}, {nearly}" if self.within else true
        if self.evidence is None:
            return said
        off = "short" if self.short == Short.CHANGES else "behind"
        were = f"more than {self.evidence} {off}" if self.evidence else "not true"
        seldom = f"at most {percent(1 - self.confidence)} of the time"
        return f"{said}; were it {were}, it would be said {seldom}"

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
            "short": str(self.short),
            "unit": self.unit,
            "evidence": self.evidence,
        }

    @classmethod
    def restore(cls, description: dict[str, Any]) -> Coverage:
        """The statement that ``describe`` described.

        Parameters
        ----------
        description
            What ``describe`` returned.

        Returns
        -------
        Coverage
            The same statement.

        """
        given = dict(description)
        confidence, short = Fraction(given.pop("confidence")), Short(given.pop("short"))
        return cls(confidence=confidence, short=short, **given)


ONE = {"records": "record", "people": "person", "weight": "weight"}


def checked_confidence(confidence: Number) -> Fraction:
    """A confidence exactly as it was given, between 0 and 1."""
    sure = exact(confidence, "confidence", InvalidQuestion)
    if not 0 < sure < 1:
        raise InvalidQuestion(
            f"confidence must lie between 0 and 1, got confidence={confidence}: 0.95 is usual"
        )
    return sure


def coverage(rule: Rule, question: Question, confidence: Number = CONFIDENCE) -> Coverage:
    """The least distance from the truth that every answer of ``rule`` keeps, so surely."""
    sure = checked_confidence(confidence)
    allowed = float(1 - sure) - _ROUNDING
    person = question.person is not None or question.rows_per_person > 1
    if rule.short != Short.CHANGES:  # of which one person may have several
        person = question.person is not None and question.rows_per_person == 1
    unit = "people" if person else "records"
    scale = 1
    if rule.short != Short.CHANGES and question.weight is not None:
        unit, scale = "weight", question.weight.scale

    within = _least(lambda short: rule.far(question, short) <= allowed)
    if within is None:
        return Coverage(sure, None, rule.short, unit)
    alone = _least(lambda short: rule.far_alone(question, short) <= allowed)
    within = -(-within // scale)
    alone = None if alone is None else -(-alone // scale)
    stronger = alone is not None and alone < within
    return Coverage(sure, within, rule.short, unit, alone if stronger else None)


def _least(holds: Callable[[int], bool]) -> int | None:
    """The least distance at which it holds, and then at all larger ones."""
    high = 1
    while not holds(high - 1):
        if high > _FARTHEST:
            return None
        high *= 2
    low, high = high // 2 - 1, high - 1  # it holds at high, and not at low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def percent(share: Fraction) -> str:
    """A share as people write it."""
    return f"{float(100 * share):.10g} %"

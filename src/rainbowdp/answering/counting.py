"""The mechanism of a count: noise in integers, for tables of every size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rainbowdp.aliases import Dataset
from rainbowdp.answering.askable import Askable
from rainbowdp.answering.coverage import CONFIDENCE
from rainbowdp.answering.intervals import Precision, precision_of
from rainbowdp.answering.mechanism import check_guarantee, check_moves
from rainbowdp.answering.release import Release, Statement
from rainbowdp.display import cards
from rainbowdp.errors import InvalidQuestion, RainbowError
from rainbowdp.exact.check import Check
from rainbowdp.exact.counts import ExactCount
from rainbowdp.exact.noise import NoiseRow
from rainbowdp.exact.noise_build import canonical_noise
from rainbowdp.expecting import whole
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.binomial import BITS, binomial_above
from rainbowdp.numeric.quantity import Number
from rainbowdp.questions import Count, ProportionTest, unit_of
from rainbowdp.storage.documents import checksum
from rainbowdp.tables import count

if TYPE_CHECKING:  # a ledger brings SQLAlchemy, which only those who have one load
    from rainbowdp.ledger import Entry


@dataclass(frozen=True)
class CountMechanism(Askable):
    """A private count, for any table.

    Made by ``rb.best``. A dataset is a table or its count, ``{"matching": n}``.

    Parameters
    ----------
    question
        What is asked.
    guarantee
        What is promised between neighboring tables.

    Raises
    ------
    InvalidGuarantee
        If the guarantee lets no answer depend on the data.

    Examples
    --------
    >>> from rainbowdp import DP, Count, best
    >>> mechanism = best(Count("age", minimum=65), DP(1))
    >>> mechanism.proves().in_words(101)
    'with 95 % confidence: between 98 and 104 records'

    """

    name: ClassVar[str] = "canonical-noise"

    question: Count
    guarantee: Guarantee

    def __post_init__(self) -> None:
        check_guarantee(self.guarantee)
        check_moves(self.guarantee)

    @property
    def statement(self) -> type[Precision]:
        """What its answers prove is of this type."""
        return Precision

    @property
    def claim(self) -> str | None:
        """What is known about how good it is."""
        curve = isinstance(self.guarantee, TradeOffCurve)  # ρ is none, and knows no optimum
        if self.question.rows_per_person == 1 and curve:
            return "optimal for every threshold at once"
        return None

    @property
    def noise(self) -> NoiseRow:
        """The noise, which does not depend on the data and is no secret."""
        return self._exact.noise

    @property
    def proof(self) -> Check:
        """The exact proof of the guarantee."""
        return self._exact.proof

    def exact(self) -> ExactCount:
        """The count in integers with its proof; built and proved once, then kept.

        Returns
        -------
        ExactCount
            The question, the guarantee and the noise.

        """
        return self._exact

    @cached_property
    def _exact(self) -> ExactCount:
        question, guarantee = self.question, self.guarantee
        noise = canonical_noise(guarantee, question.rows_per_person, question.at_most)
        return ExactCount(question, guarantee, noise)

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
        return count(table, self.question.threshold(1), progress=progress)

    def ready(
        self, table: Dataset, progress: Callable[[float], None] | None = None
    ) -> Callable[[], int]:
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

    def release(self, dataset: Dataset) -> int:
        """Draw one answer from exact integers. This is what goes out.

        Parameters
        ----------
        dataset
            A table, or its count.

        Returns
        -------
        int
            The count with noise, from the operating system's randomness.

        """
        return self.ready(dataset)()

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the count as a file that proves itself; ``rb.load_count`` reads it.

        Parameters
        ----------
        path
            Where to write. The file appears whole or not at all.

        Returns
        -------
        pathlib.Path
            The file that was written.

        """
        return self._exact.save(path)

    def options(self) -> dict[str, Any]:
        """What a ledger records of the noise: enough to tell it from any other.

        Returns
        -------
        dict
            A checksum of the noise.

        """
        return {"noise": checksum(self.noise.describe())}

    def proves(self, confidence: Number = CONFIDENCE) -> Precision:
        """What an answer of this mechanism proves, whatever the table: it costs no budget.

        Parameters
        ----------
        confidence
            How often the statement is to hold at least.

        Returns
        -------
        Precision
            How far off the answer is at most.

        Raises
        ------
        InvalidQuestion
            If the confidence does not lie between 0 and 1.

        """
        return precision_of(self.noise, self.question, confidence)

    def from_text(self, text: str) -> int:
        """The count that a ledger kept.

        Parameters
        ----------
        text
            What ``to_text`` made.

        Returns
        -------
        int
            The count.

        """
        return int(text)

    def released(
        self,
        answer: int,
        entry: Entry | None = None,
        *,
        recalled: bool = False,
        proves: Statement | None = None,
    ) -> CountRelease:
        """The count with what can be said of it.

        Parameters
        ----------
        answer
            What was drawn.
        entry
            The ledger's entry for it, if there is one.
        recalled
            Whether it was drawn at an earlier time.
        proves
            What it proves.

        Returns
        -------
        CountRelease
            A count that may go out.

        """
        return CountRelease(
            answer=answer, entry=entry, recalled=recalled, proves=proves, mechanism=self
        )

    def _repr_html_(self) -> str:
        unit = unit_of(self.question)
        named = {
            "question": "count",
            "guarantee": f"{self.guarantee}, {unit} {self.question.neighbors}",
            "in words": self.guarantee.in_words(unit.whom),
            "proves": self.proves().in_words(),
        }
        return cards.card(f"Mechanism: {self.name}", cards.facts(named))


@dataclass(frozen=True, kw_only=True)
class CountRelease(Release):
    """A count that may be published, and what follows from it for free.

    Attributes
    ----------
    answer : int
        What was drawn.
    mechanism : CountMechanism
        What drew it.
    entry, recalled, proves
        As for any ``Release``.

    """

    answer: int
    mechanism: CountMechanism

    def interval(self, confidence: Number = CONFIDENCE) -> tuple[int, int | None]:
        """Where the true count lies, with this confidence; it costs no budget.

        Parameters
        ----------
        confidence
            How often such an interval is to hold the true count at least.

        Returns
        -------
        tuple of int and (int or None)
            The least and the most, both included; no most where the answer is near ``at_most``.

        Raises
        ------
        InvalidQuestion
            If the confidence does not lie between 0 and 1.
        RainbowError
            If a recalled answer was drawn with other noise.

        Examples
        --------
        >>> from rainbowdp import DP, Count, ask, best
        >>> release = ask(best(Count(), DP(20)), {"matching": 1000}, ledger=None)
        >>> release.interval("0.999")
        (1000, 1000)

        """
        return self._known().proves(confidence).interval(self.answer)

    def at_least(self, threshold: int) -> bool:
        """The answer to ``Threshold``, free; as sure as if asked, where a person has one record.

        Parameters
        ----------
        threshold
            T, a whole number.

        Returns
        -------
        bool
            Whether the answer is at least T.

        """
        return self.answer >= threshold

    def p_value(self, *, at_least: int | None = None, at_most: int | None = None) -> Fraction:
        """How likely an answer this large would be if there were fewer records than you claim.

        Parameters
        ----------
        at_least
            The claim that there are at least this many: the chance of this answer or a larger one
            is at most the p-value if there are fewer.
        at_most
            The claim that there are at most this many, likewise with smaller answers.

        Returns
        -------
        Fraction
            Exact, whatever the table.

        Raises
        ------
        InvalidQuestion
            If not exactly one claim is given.
        RainbowError
            If a recalled answer was drawn with other noise.

        Examples
        --------
        >>> from rainbowdp import DP, Count, ask, best
        >>> release = ask(best(Count(), DP(20)), {"matching": 1000}, ledger=None)
        >>> release.p_value(at_least=900) < 1e-6, release.p_value(at_least=1001) > 0.99
        (True, True)

        """
        if (at_least is None) == (at_most is None):
            raise InvalidQuestion("a p-value is for one claim: give at_least= or at_most=")
        mechanism, limit = self._known(), self.mechanism.question.at_most
        if at_least is not None:
            claimed = whole(at_least, "at_least", 0)
            if self.answer <= 0 or claimed > limit:
                return Fraction(1)
            return mechanism.noise.at_least(self.answer - claimed + 1) if claimed else Fraction(0)
        claimed = whole(at_most, "at_most", 0)
        if self.answer >= limit or claimed >= limit:
            return Fraction(1)
        return mechanism.noise.at_least(claimed + 1 - self.answer)

    def share_p_value(self, above: Number, *, records: int) -> Fraction:
        """How likely an answer this large would be if at most a share of the population matched.

        The records are taken as draws from a population, and their number as public.

        Parameters
        ----------
        above
            The claim is that more than this share matches.
        records
            How many records there are, up to a million.

        Returns
        -------
        Fraction
            A p-value, the noise included; never too small.

        Raises
        ------
        InvalidQuestion
            If the share does not lie between 0 and 1.
        RainbowError
            If a recalled answer was drawn with other noise.

        Examples
        --------
        >>> from rainbowdp import DP, Count, ask, best
        >>> release = ask(best(Count(), DP(20)), {"matching": 70}, ledger=None)
        >>> round(float(release.share_p_value("0.6", records=100)), 3)
        0.025

        """
        test = ProportionTest(above, records=records)
        noise = self._known().noise
        if self.answer <= 0 or self.mechanism.question.at_most < test.records:
            return Fraction(1)
        chances = binomial_above(test.records, test.above)
        beyond = (noise.beyond(self.answer - found) for found in range(test.records + 1))
        summed = sum(a * b for a, b in zip(chances, beyond, strict=True))
        return min(Fraction(1), Fraction(summed, noise.total << BITS))

    def _known(self) -> CountMechanism:
        """The mechanism, if it is the one that drew the answer."""
        recorded = None if self.entry is None else self.entry.mechanism
        if recorded is None:
            return self.mechanism
        drawn = recorded["mechanisms"].values() if recorded["kind"] == "plan" else (recorded,)
        if all(one.get("noise") != self.mechanism.options()["noise"] for one in drawn):
            raise RainbowError(
                "this answer was drawn with other noise than this release of rainbowdp makes; "
                "its interval is in release.proves"
            )
        return self.mechanism

"""Naming keys that nobody listed: each by a chance that grows with the number of its people.

π(n) = φ^n(0) is the largest chance that a key of n people can be named with, for all n at once
(Desfontaines, Voss, Gipson and Mandayam, *Differentially private partition selection*, PETS 2022).
Where one person can be in L keys, each key keeps (ε/L, δ/L), and the L independent choices add up.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from rainbowdp.aliases import Dataset
from rainbowdp.answering.askable import Askable
from rainbowdp.answering.coverage import CONFIDENCE, checked_confidence, percent
from rainbowdp.answering.mechanism import check_guarantee
from rainbowdp.display import cards
from rainbowdp.errors import InvalidQuestion, NotApplicable
from rainbowdp.exact.check import Check
from rainbowdp.exact.keys import KeyLadder, prove_keys
from rainbowdp.exact.steps import reach_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.numeric.quantity import Number, dyadic, exact, precision
from rainbowdp.questions import unit_of
from rainbowdp.questions.keys import Keys
from rainbowdp.tables import count_names

TOTAL = 1 << 192
LONGEST = 1 << 18  # weights of a ladder; one that needs more is refused


@dataclass(frozen=True)
class Naming:
    """How many people a key needs in order to be named with the stated confidence.

    Attributes
    ----------
    confidence : Fraction
        The least chance that a key of this many people is named.
    people : int
        How many people.

    """

    confidence: Fraction
    people: int

    def in_words(self, answer: object = None) -> str:
        """The statement in plain words.

        Parameters
        ----------
        answer
            The keys that were named: it is about those that were not, too.

        Returns
        -------
        str
            One sentence without a full stop.

        Examples
        --------
        >>> Naming(CONFIDENCE, 30).in_words()
        'a key of 30 people or more is named at least 95 % of the time'

        """
        often = f"at least {percent(self.confidence)} of the time"
        return f"a key of {self.people} people or more is named {often}"

    def describe(self) -> dict[str, Any]:
        """The statement, ready for JSON.

        Returns
        -------
        dict
            The confidence as a fraction in text, and the people.

        """
        return {"confidence": str(self.confidence), "people": self.people}

    @classmethod
    def restore(cls, description: dict[str, Any]) -> Naming:
        """The statement that ``describe`` described.

        Parameters
        ----------
        description
            What ``describe`` returned.

        Returns
        -------
        Naming
            The same statement.

        """
        return cls(Fraction(description["confidence"]), description["people"])


@dataclass(frozen=True)
class KeysMechanism(Askable):
    """Names the keys that enough people have, so that nobody's presence decides.

    Made by ``rb.best``.

    Parameters
    ----------
    question
        How many keys one person can be in.
    guarantee
        What is promised: (ε,δ) with δ > 0; with one key per person also a polygon that starts below
        1.

    Raises
    ------
    NotApplicable
        If the guarantee lets no key be named.

    Examples
    --------
    >>> from rainbowdp import DP, Keys, best
    >>> mechanism = best(Keys("diagnosis"), DP(1, "1e-12"))
    >>> mechanism.release({"flu": 1000, "rare": 1})
    ('flu',)
    >>> mechanism.people_for("0.5"), mechanism.people_for("0.999999")
    (28, 41)

    """

    name: ClassVar[str] = "key-ladder"

    question: Keys
    guarantee: Guarantee

    def __post_init__(self) -> None:
        check_guarantee(self.guarantee)
        promise = self.guarantee
        if not isinstance(promise, DP | TradeOff):
            raise NotApplicable(
                f"under {promise} no key may be named that one person alone could have brought; "
                "use (ε,δ)-privacy with δ > 0"
            )
        never = promise.exact_delta == 0 if isinstance(promise, DP) else promise.knots[0][1] == 1
        if never:
            raise NotApplicable(
                f"under {promise} no key may be named that one person alone could have brought; "
                "use a δ above 0"
            )
        if isinstance(promise, TradeOff) and self.question.changes > 1:
            raise NotApplicable(
                "a polygon is not divided over several keys; use (ε,δ)-privacy, or one key a "
                "person who is added or removed"
            )

    @cached_property
    def each(self) -> Guarantee:
        """What each key alone keeps where one person comes or goes."""
        promise, keys = self.guarantee, self.question.changes
        if keys == 1 or not isinstance(promise, DP):
            return promise
        return DP(_epsilon_below(promise) / keys, promise.exact_delta / keys)

    @cached_property
    def ladder(self) -> KeyLadder:
        """The chances by the number of people, proved; they do not depend on the data."""
        reach, weights = reach_of(self.each, TOTAL), [0]
        while (following := reach(weights[-1])) != weights[-1]:
            weights.append(following)
            if len(weights) > LONGEST:
                raise NotApplicable(
                    f"{self.each} for each key would name none of fewer than {LONGEST} people; use "
                    "a larger epsilon, or fewer keys a person"
                )
        if len(weights) == 1:
            raise NotApplicable(f"the delta of {self.each} for each key is too small; use a larger")
        found = KeyLadder(tuple(weights), TOTAL)
        prove_keys(self.each, found)
        return found

    @property
    def proof(self) -> Check:
        """The exact proof of the guarantee."""
        one = prove_keys(self.each, self.ladder)
        keys = self.question.changes
        said = f"{one.statement} under {self.each}"
        if keys > 1:
            said += f"; one change moves {keys} keys, whose independent choices add up"
        return Check.proved(self.guarantee, one.pairs, said)

    def chance(self, people: int) -> float:
        """The chance that a key of this many people is named.

        Parameters
        ----------
        people
            A whole number from 0.

        Returns
        -------
        float
            0 for nobody, and at last 1.

        """
        return float(self.ladder.chance(people))

    def people_for(self, chance: Number) -> int:
        """How many people a key needs to be named with this chance.

        Parameters
        ----------
        chance
            Above 0, and at most 1.

        Returns
        -------
        int
            The least number.

        Raises
        ------
        InvalidQuestion
            If the chance is out of range.

        """
        wanted = exact(chance, "chance", InvalidQuestion)
        if not 0 < wanted <= 1:
            raise InvalidQuestion(f"chance must be above 0 and at most 1, got chance={chance}")
        weights = self.ladder.weights
        enough = (people for people, weight in enumerate(weights) if weight >= wanted * TOTAL)
        return next(enough)

    @property
    def statement(self) -> type[Naming]:
        """What its answers prove is of this type."""
        return Naming

    @property
    def claim(self) -> str | None:
        """What is known about how good it is."""
        return "no chance can be larger" if self.question.changes == 1 else None

    def counts(
        self, table: Dataset, progress: Callable[[float], None] | None = None
    ) -> dict[str, int]:
        """Count the people of each key; what comes back is private.

        Parameters
        ----------
        table
            A file, a frame, a database table, or the people of each key.
        progress
            Called with numbers from 0 to 1 while files are read.

        Returns
        -------
        dict of str to int
            The people of each key.

        """
        return count_names(table, self.question, progress=progress)

    def ready(
        self, table: Dataset, progress: Callable[[float], None] | None = None
    ) -> Callable[[], tuple[str, ...]]:
        """A function that names keys of a table; all that can fail has happened.

        Parameters
        ----------
        table
            A file, a frame, a database table, or the people of each key.
        progress
            Called with numbers from 0 to 1 while files are read.

        Returns
        -------
        callable
            Takes nothing and returns keys in alphabetical order, new ones each time: any other
            order might tell something.

        """
        found, ladder = self.counts(table, progress), self.ladder
        return lambda: tuple(sorted(key for key, n in found.items() if ladder.named(n)))

    def release(self, dataset: Dataset) -> tuple[str, ...]:
        """Name keys, each drawn from exact integers. This is what goes out.

        Parameters
        ----------
        dataset
            A table, or the people of each key, where nobody is in more keys than the question says.

        Returns
        -------
        tuple of str
            The named keys in alphabetical order.

        """
        return self.ready(dataset)()

    def options(self) -> dict[str, Any]:
        """What a ledger records of the mechanism besides its name.

        Returns
        -------
        dict
            Nothing: the question and the guarantee say it all.

        """
        return {}

    def proves(self, confidence: Number = CONFIDENCE) -> Naming:
        """How many people a key needs to be named with this confidence; it costs no budget.

        Parameters
        ----------
        confidence
            How often such a key is to be named at least.

        Returns
        -------
        Naming
            How many people that takes.

        """
        sure = checked_confidence(confidence)
        return Naming(sure, self.people_for(sure))

    def to_text(self, answer: tuple[str, ...]) -> str:
        """The keys as a ledger keeps them.

        Parameters
        ----------
        answer
            The named keys.

        Returns
        -------
        str
            The keys as text.

        """
        return json.dumps(answer, ensure_ascii=False)

    def from_text(self, text: str) -> tuple[str, ...]:
        """The keys that a ledger kept.

        Parameters
        ----------
        text
            What ``to_text`` made.

        Returns
        -------
        tuple of str
            The named keys.

        """
        return tuple(json.loads(text))

    def _repr_html_(self) -> str:
        named = {
            "guarantee": f"{self.guarantee}, {unit_of(self.question)} {self.question.neighbors}",
            "proves": self.proves().in_words(),
        }
        return cards.card("Mechanism: keys", cards.facts(named))


def _epsilon_below(guarantee: DP) -> Fraction:
    """ε, or a rational just below it where the guarantee has e^ε exactly."""
    if guarantee.exact_epsilon is not None:
        return guarantee.exact_epsilon
    with precision(256):
        return dyadic(guarantee.ratio_ball().log().lower())

"""Naming keys that nobody listed: each by a chance that grows with the number of its people.

π(n) = φ^n(0) is the largest chance that a key of n people can be named with, for all n at once
(Desfontaines, Voss, Gipson and Mandayam, *Differentially private partition selection*, PETS 2022).
Where one person can be in L keys, each key keeps (ε/L, δ/L), and the L independent choices add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, SupportsIndex

from rainbowdp.answering.mechanism import check_guarantee
from rainbowdp.errors import InvalidQuestion, NotApplicable
from rainbowdp.exact.check import Check
from rainbowdp.exact.keys import KeyLadder, prove_keys
from rainbowdp.exact.steps import reach_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.numeric.quantity import Number, dyadic, exact, precision
from rainbowdp.questions.keys import Keys

TOTAL = 1 << 192
LONGEST = 1 << 18  # weights of a ladder; one that needs more is refused


@dataclass(frozen=True)
class KeysMechanism:
    """Names the keys of enough people, so that nobody's presence decides.

    Made by ``rb.best``.

    Parameters
    ----------
    question
        How many keys one person can be in.
    guarantee
        What is promised: (ε,δ) with δ > 0, or for one key a person a polygon that starts below 1.

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
        """The chance that a key of so many people is named.

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
        """How many people a key needs to be named so surely.

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

    def release(self, people: Mapping[str, SupportsIndex]) -> tuple[str, ...]:
        """Name keys, each drawn from exact integers. This is what goes out.

        Parameters
        ----------
        people
            The number of people of each key, where nobody is in more keys than the question says.

        Returns
        -------
        tuple of str
            The named keys in alphabetical order: the order of the mapping might tell something.

        """
        found = self.question.found(people)
        ladder = self.ladder
        return tuple(sorted(key for key, number in found.items() if ladder.named(number)))


def _epsilon_below(guarantee: DP) -> Fraction:
    """ε, or a rational just below it where the guarantee has e^ε exactly."""
    if guarantee.exact_epsilon is not None:
        return guarantee.exact_epsilon
    with precision(256):
        return dyadic(guarantee.ratio_ball().log().lower())

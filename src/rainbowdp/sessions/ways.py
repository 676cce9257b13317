"""The ways to divide a total among questions: what each question gets, so that all keep it.

A way counts in *amounts*, of which a question gets what it needs or its part: ε, ρ, μ² or a range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from rainbowdp.errors import BudgetExceeded, InvalidGuarantee, RainbowError
from rainbowdp.guarantees.composition import epsilon_below, largest_range
from rainbowdp.guarantees.conversions import mu_within, rho_above, rho_within
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.quantity import root_below
from rainbowdp.questions import Keys, Question
from rainbowdp.sessions.targets import Target
from rainbowdp.sessions.together import Added, keeps

_ROOT = 64  # binary places of a root
_PARTS = 32  # of the smallest amount, to which the others are rounded down where ε's are composed
_BISECTIONS = 20
_LONGEST = 7  # digits of a guarantee
DIGITS = 4  # that an amount is rounded to where it is looked for


@dataclass(frozen=True)
class Way:
    """A way to divide a total.

    Attributes
    ----------
    name
        What it is called in a plan.
    added
        How its guarantees add up.
    in_words
        What adds up, for people.

    """

    name: str
    added: Added
    in_words: str

    @property
    def kind(self) -> str | None:
        """The kind of mechanism that it is for; none where ``best`` may take any."""
        return "exponential" if self.added == Added.RANGES else None

    def unfit(self, targets: Sequence[Target], total: Guarantee | None) -> str | None:
        """Why a plan cannot be paid for like this, in a few words; none where it can."""
        if total is not None and not isinstance(total, _TOTALS[self.added]):
            return f"a total of {total} is not counted so"
        if isinstance(total, DP) and self is not EPSILON and total.exact_delta == 0:
            return "it needs a delta above 0"
        named = [target for target in targets if isinstance(target.question, Keys)]
        if named and self not in (BOTH, COMPOSED):
            return "naming keys needs a delta"
        if self is RANGES:
            if not all(isinstance(target.question, Question) for target in targets):
                return "it is for questions that the exponential mechanism answers"
            if len({target.part for target in targets if not target.demanding}) > 1:
                return "it gives the same to every question"
        return None

    def promises(self, amount: Fraction, target: Target, shared: Fraction) -> list[Guarantee]:
        """What a question may be asked under for an amount; ``shared`` is its δ."""
        if self.added == Added.MU:
            return [GaussianDP(_short(root_below(amount, _ROOT)))]
        if self.added == Added.RANGES:
            return [ZeroConcentrated(_short(amount**2 / 8))]
        if self.added == Added.RHO:
            return [
                ZeroConcentrated(_short(amount)),
                GaussianDP(_short(root_below(2 * amount, _ROOT))),
                DP(_epsilon_within(amount)),
            ]
        named = isinstance(target.question, Keys)
        return [DP(amount, shared if self is BOTH or named else 0)]

    def shared(self, targets: Sequence[Target], delta: Fraction) -> Fraction:
        """The δ of each question that has one."""
        if self is BOTH:
            return delta / len(targets)
        named = sum(isinstance(target.question, Keys) for target in targets)
        return delta / (2 * named) if named else Fraction(0)

    def budget(self, total: Guarantee) -> Fraction:
        """All that amounts may add up to, where they add up."""
        if isinstance(total, DP):
            if self.added == Added.RHO:
                return rho_within(total)
            return mu_within(total) ** 2 if self.added == Added.MU else epsilon_below(total)
        if isinstance(total, GaussianDP):
            return total.exact_mu**2
        assert isinstance(total, ZeroConcentrated)
        return total.exact_rho

    def divide(
        self, targets: Sequence[Target], needs: Sequence[Fraction | None], total: Guarantee
    ) -> list[Fraction]:
        """What each question gets: what it needs, or its part of the rest."""
        if self is RANGES:
            assert isinstance(total, DP)
            width = largest_range(len(targets), total)
            if any(need is not None and need > width for need in needs):
                raise BudgetExceeded("the needs exceed the range")
            return [width] * len(targets)
        parts = [
            Fraction(0) if need is not None else target.part
            for target, need in zip(targets, needs, strict=True)
        ]
        fixed = sum((need for need in needs if need is not None), Fraction(0))
        if self is COMPOSED:
            assert isinstance(total, DP)
            return self._composed(targets, needs, parts, total)
        rest = self.budget(total) - fixed
        if rest < 0 or (rest == 0 and any(parts)):
            raise BudgetExceeded("the needs exceed the total")
        whole = sum(parts)
        return [
            need if need is not None else rest * part / whole
            for need, part in zip(needs, parts, strict=True)
        ]

    def _composed(
        self,
        targets: Sequence[Target],
        needs: Sequence[Fraction | None],
        parts: Sequence[Fraction],
        total: DP,
    ) -> list[Fraction]:
        shared = self.shared(targets, total.exact_delta)
        least = min((part for part in parts if part), default=Fraction(1))
        ratios = [math.sqrt(part / least) for part in parts]
        scale = 1 if all(ratio in (0.0, 1.0) for ratio in ratios) else _PARTS
        units = [math.floor(scale * ratio) for ratio in ratios]

        def amounts(unit: Fraction) -> list[Fraction]:
            return [
                need if need is not None else many * unit
                for need, many in zip(needs, units, strict=True)
            ]

        def fits(unit: Fraction) -> bool:
            made: dict[tuple[Fraction, bool], Guarantee] = {}
            promised = []
            for amount, target in zip(amounts(unit), targets, strict=True):
                key = amount, isinstance(target.question, Keys)
                if key not in made:
                    made[key] = self.promises(amount, target, shared)[0]
                promised.append(made[key])
            return keeps(promised, self.added, total)

        if not any(units):
            if not fits(Fraction(0)):
                raise BudgetExceeded("the needs exceed the total")
            return amounts(Fraction(0))
        high = 2 * epsilon_below(total)
        found = largest(fits, high)
        if found is None:
            raise BudgetExceeded("the needs exceed the total")
        return amounts(found)


EPSILON = Way("epsilon", Added.SUMS, "the ε add up")
BOTH = Way("epsilon and delta", Added.SUMS, "the ε and the δ add up")
COMPOSED = Way("composed epsilon", Added.COMPOSED, "ε by optimal composition")
RHO = Way("rho", Added.RHO, "the ρ add up")
MU = Way("mu", Added.MU, "the squares of the μ add up")
RANGES = Way("composed ranges", Added.RANGES, "exponential mechanisms, composed exactly")
WAYS = (EPSILON, BOTH, COMPOSED, RHO, MU, RANGES)

_TOTALS: dict[Added, type[Guarantee] | tuple[type[Guarantee], ...]] = {
    Added.SUMS: DP,
    Added.COMPOSED: DP,
    Added.RHO: (DP, ZeroConcentrated),
    Added.MU: (DP, GaussianDP),
    Added.RANGES: DP,
}


def largest(fits: Callable[[Fraction], bool], high: Fraction) -> Fraction | None:
    """The largest number below ``high`` that fits, to four digits; none if none does."""
    low = high
    for _ in range(64):
        low = low / 2
        if fits(low):
            break
        high = low
    else:
        return None
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return rounded(low, math.floor)


def rounded(value: Fraction, side: Callable[[Fraction], int], digits: int = DIGITS) -> Fraction:
    """A positive number to a few digits, down by ``math.floor`` or up by ``math.ceil``.

    >>> rounded(Fraction(1, 3), math.floor), rounded(Fraction(2, 3), math.ceil)
    (Fraction(3333, 10000), Fraction(6667, 10000))
    """
    if value <= 0:
        return Fraction(0)
    place = Fraction(10) ** (digits - 1 - math.floor(math.log10(value)))
    return side(value * place) / place


def _short(value: Fraction) -> Fraction:
    """A number that people can read: itself if it is short, or else rounded down."""
    return value if len(str(value)) <= _LONGEST else rounded(value, math.floor, _LONGEST)


@lru_cache(maxsize=512)
def _epsilon_within(rho: Fraction) -> Fraction:
    """The largest ε to four digits whose price is at most ρ."""
    found = largest(lambda epsilon: rho_above(DP(epsilon)) <= rho, 2 + 2 * rho)
    assert found is not None
    return found


def least_total(
    way: Way, parts: Sequence[Guarantee], delta: Fraction, most: Fraction | None = None
) -> DP:
    """The least ε to four digits, at this δ, that the parts keep together: never above ``most``."""
    if way.added == Added.SUMS:
        given = [part for part in parts if isinstance(part, DP)]
        return DP(
            sum((epsilon_of(part) for part in given), Fraction(0)),
            sum((part.exact_delta for part in given), Fraction(0)),
        )

    def enough(epsilon: Fraction) -> bool:
        return keeps(parts, way.added, DP(epsilon, delta))

    high = Fraction(1, 1000) if most is None else most
    while not enough(high):
        high *= 2
        if high > 700:
            raise InvalidGuarantee("no total is enough")
    low = Fraction(0)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    above = rounded(high, math.ceil)
    return DP(above if most is None else min(above, most), delta)


def epsilon_of(part: DP) -> Fraction:
    """The ε of a guarantee that was made from one."""
    assert part.exact_epsilon is not None
    return part.exact_epsilon


def refused(error: RainbowError) -> str:
    """An error as a reason."""
    return str(error).rstrip(".")

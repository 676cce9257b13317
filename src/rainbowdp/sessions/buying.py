"""What a guarantee buys for a question, before any data is seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.answering.askable import Askable
from rainbowdp.answering.best import best, by_kind
from rainbowdp.answering.counting import CountMechanism
from rainbowdp.answering.coverage import percent
from rainbowdp.answering.grouped import GroupedMechanism
from rainbowdp.answering.measure import measure, measure_of_rows
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.answering.naming import KeysMechanism
from rainbowdp.answering.testing import ProportionMechanism
from rainbowdp.display.numbers import uncertain
from rainbowdp.exact.rule import Family
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions import Grouped, Question
from rainbowdp.questions.histograms import histograms, margins_of
from rainbowdp.questions.relations import Ties
from rainbowdp.questions.winner import Winner
from rainbowdp.rules import FAMILIES
from rainbowdp.rules.margin_table.program import EPSILONS
from rainbowdp.sessions.targets import Target

_FEW = 10_000  # histograms over all of which a mean is taken
_FARTHEST = 10**9  # a margin, or a number of people, beyond which nobody asks
_ABOVE = (Fraction(1, 20), Fraction(1, 10), Fraction(1, 5))  # of what is left above a tested share
_FEW_ANSWERS = 2  # for which a table is made at once
LEAST_LOSS = 1e-12  # losses below this are alike


@dataclass(frozen=True)
class Bought:
    """What a question gets.

    Attributes
    ----------
    chance : float or None
        The least chance of the true answer at the expected margin or shares; for a test, its power
        there. None if nothing was expected.
    sure : Fraction
        How sure the answer should be.
    sure_from : int or None
        The least margin at which it is that sure; for a count, the distance within which it is;
        for keys, how many people a key needs. None if there is no such number.
    people : int or None
        How many people it takes to be that sure, if shares were expected.

    """

    chance: float | None
    sure: Fraction
    sure_from: int | None
    people: int | None

    def as_dict(self) -> dict[str, Any]:
        """The same in JSON values."""
        return {
            "chance": self.chance,
            "sure": str(self.sure),
            "sure_from": self.sure_from,
            "people": self.people,
        }


def mechanism_for(target: Target, guarantee: Guarantee, kind: str | None = None) -> Askable:
    """What ``best`` takes for the question of a target: one kind for all that are alike.

    Or the ``kind`` that a way to pay is for.
    """
    question = target.question
    if kind is not None and isinstance(question, Question | Grouped):
        return by_kind(question, guarantee, kind)
    if isinstance(question, Grouped):
        return best(question, guarantee, records=target.people)
    if not isinstance(question, Question):
        return best(question, guarantee)
    found = _families.get(key := (target.alike(), guarantee))
    if found is None:
        found = best(question, guarantee, records=target.people).family
        _families[key] = found
    return QuestionMechanism(question, guarantee, found)


_families: dict[tuple[Hashable, Guarantee], Family] = {}


def quick_loss(target: Target, guarantee: Guarantee, kind: str | None = None) -> float:
    """The loss with kinds that are built at once: about what ``best`` has, or a little more."""
    question = target.question
    if kind is not None or not isinstance(question, Question):
        return loss(target, mechanism_for(target, guarantee, kind))
    found = [
        loss(target, QuestionMechanism(question, guarantee, family))
        for family in FAMILIES
        if not family.costly
        and not family.outdone(guarantee)
        and family.unfit(question, guarantee) is None
    ]
    return min(found, default=1.0)


def quick_mechanism(target: Target, guarantee: Guarantee, kind: str | None = None) -> Askable:
    """What ``best`` takes, or where that may be a table the best kind that is built at once."""
    question = target.question
    if is_quick(target, guarantee) or not isinstance(question, Question):
        return mechanism_for(target, guarantee, kind)
    kinds = [
        QuestionMechanism(question, guarantee, family)
        for family in FAMILIES
        if not family.costly and family.unfit(question, guarantee) is None
    ]
    return min(kinds, key=lambda each: loss(target, each))


def is_quick(target: Target, guarantee: Guarantee) -> bool:
    """Whether ``best`` needs no table, which may take a while to make."""
    question = target.question
    if not isinstance(question, Question) or not isinstance(guarantee, DP):
        return True
    if len(question.answers) <= _FEW_ANSWERS:
        return True
    tables = [family for family in FAMILIES if family.costly and family.suits(question)]
    large = guarantee.epsilon > EPSILONS[1]  # where the table for a smaller ε may be taken
    return not any(large or table.unfit(question, guarantee) is None for table in tables)


def loss(target: Target, mechanism: Askable) -> float:
    """What is to be small: the chance of a wrong answer where it is expected, or in the mean.

    Of a yes or no of which nothing is expected, the least margin for the wanted certainty; of a
    count and of keys, the distance or the number of people for it.
    """
    inner = mechanism.inner if isinstance(mechanism, GroupedMechanism) else mechanism
    if isinstance(inner, CountMechanism):
        return float(max(1, inner.noise.half_width(target.certainty)))
    if isinstance(inner, KeysMechanism):
        return float(inner.people_for(target.certainty))
    if isinstance(inner, ProportionMechanism):
        above = inner.question.above
        shares = [above + part * (1 - above) for part in _ABOVE]
        if target.shares is not None:
            shares = [_matching(target)]
        return max(LEAST_LOSS, 1 - float(np.mean([inner.power(share) for share in shares])))
    assert isinstance(inner, QuestionMechanism)
    expected = _chance(target, inner)
    if expected is not None:
        return max(LEAST_LOSS, 1 - expected)
    if len(inner.question.answers) <= 2 and target.people is None:
        return _margin_for(target.certainty, inner)
    return max(LEAST_LOSS, mean_wrong(inner.family, inner.question, inner.guarantee, target.people))


def _margin_for(sure: Fraction, mechanism: QuestionMechanism) -> float:
    """The least margin at which an answer is so sure, and a little more where it is just so."""
    rule, question = mechanism.exact().rule, mechanism.question
    margin = least(lambda many: rule.chances(question, many)[0] >= sure)
    return math.inf if margin is None else margin + 1 - rule.chances(question, margin)[0]


def _matching(target: Target) -> Fraction:
    shares = target.shares or {}
    return Fraction(shares.get("matching", 0))


def mean_wrong(
    family: Family, question: Question, guarantee: Guarantee, records: int | None
) -> float:
    """The stated measure of a kind: over all tables of so many records, if these are few."""
    groups = len(question.groups)
    if records is None or not groups or math.comb(records + groups - 1, groups - 1) > _FEW:
        return measure(family, question, guarantee, records)
    every: Any = question
    counts, margins = _all(every, records)
    rows = family.sketch(question, guarantee, counts, margins)
    return measure_of_rows(question, rows, counts, margins)


@lru_cache(maxsize=16)
def _all(question: Any, records: int) -> tuple[Integers, Floats]:
    """All histograms and their margins; they take a while."""
    counts = histograms(question, records)
    return counts, margins_of(question, counts)


def _chance(target: Target, mechanism: QuestionMechanism) -> float | None:
    """The least chance of the true answer where it is expected."""
    if target.margin is not None:
        return mechanism.exact().rule.chances(mechanism.question, target.margin)[0]
    if target.shares is not None and target.people is not None:
        return _true(mechanism, target.counts(target.people))
    return None


def chance_of(target: Target, mechanism: Askable) -> float | None:
    """The least chance of the true answer where it is expected, in groups or not."""
    inner = mechanism.inner if isinstance(mechanism, GroupedMechanism) else mechanism
    return _chance(target, inner) if isinstance(inner, QuestionMechanism) else None


def _true(mechanism: QuestionMechanism, counts: dict[str, int]) -> float:
    """The chance of the true answer for these counts, or of any leader."""
    question, row = mechanism.question, mechanism[counts]
    if isinstance(question, Winner) and question.ties == Ties.ANY_LEADER:
        most = max(counts.get(answer, 0) for answer in question.answers)
        return sum(row[answer] for answer in question.answers if counts.get(answer, 0) == most)
    return sum(row[answer] for answer, margin in question.margins(counts).items() if margin == 0)


def reached(target: Target, mechanism: Askable) -> bool:
    """Whether a demanding target has what it wants."""
    inner = mechanism.inner if isinstance(mechanism, GroupedMechanism) else mechanism
    if isinstance(inner, CountMechanism):
        return inner.noise.half_width(target.certainty) <= (target.margin or 0)
    if isinstance(inner, KeysMechanism):
        return inner.people_for(target.certainty) <= (target.margin or 0)
    if isinstance(inner, ProportionMechanism):
        return inner.power(_matching(target)) >= target.certainty
    assert isinstance(inner, QuestionMechanism)
    chance = _chance(target, inner)
    return chance is not None and chance >= target.certainty


def bought(target: Target, mechanism: Askable) -> Bought:
    """What a question gets from a mechanism."""
    inner = mechanism.inner if isinstance(mechanism, GroupedMechanism) else mechanism
    sure = target.certainty
    if isinstance(inner, CountMechanism):
        return Bought(None, sure, inner.noise.half_width(sure), None)
    if isinstance(inner, KeysMechanism):
        return Bought(None, sure, inner.people_for(sure), None)
    if isinstance(inner, ProportionMechanism):
        power = None if target.shares is None else inner.power(_matching(target))
        return Bought(power, sure, None, None)
    assert isinstance(inner, QuestionMechanism)
    rule, question = inner.exact().rule, inner.question
    people = None
    if target.shares is not None:
        people = least(lambda many: _true(inner, target.counts(many)) >= sure)
    from_margin = least(lambda margin: rule.chances(question, margin)[0] >= sure)
    return Bought(_chance(target, inner), sure, from_margin, people)


def least(holds: Callable[[int], bool]) -> int | None:
    """The least number from 1 up from which it holds, of those that a bisection looks at."""
    high = 1
    while not holds(high):
        high *= 2
        if high > _FARTHEST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def in_words(target: Target, mechanism: Askable, found: Bought, instead: int | None = None) -> str:
    """What a question gets, as people say it."""
    inner = mechanism.inner if isinstance(mechanism, GroupedMechanism) else mechanism
    sure = percent(found.sure)
    other = "" if instead is None or instead == found.sure_from else f" instead of {instead:,}"
    if isinstance(inner, CountMechanism):
        return f"{sure} sure within {found.sure_from:,}{other}"
    if isinstance(inner, KeysMechanism):
        return f"{sure} sure to name a key of {found.sure_from:,} people{other}"
    if isinstance(inner, ProportionMechanism):
        if found.chance is None:
            return "a test, the most powerful one"
        return f"a power of {uncertain(found.chance)} at a share of {percent(_matching(target))}"
    said = []
    if found.chance is not None:
        where = f"at a margin of {target.margin:,}" if target.margin else "at the expected shares"
        said.append(f"{uncertain(found.chance)} sure {where}")
    if found.people is not None:
        said.append(f"{sure} sure from {found.people:,} people with the expected shares")
    if found.sure_from is not None:
        said.append(f"{sure} sure from a margin of {found.sure_from:,}{other}")
    return ", ".join(said) or f"never {sure} sure"

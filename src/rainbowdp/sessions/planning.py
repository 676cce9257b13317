"""``rb.plan``: from questions and a total to what each is asked under, before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from rainbowdp.errors import (
    BudgetExceeded,
    InvalidGuarantee,
    InvalidQuestion,
    NotApplicable,
    RainbowError,
)
from rainbowdp.expecting import brief
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.quantity import Number, exact
from rainbowdp.questions.units import unit_of
from rainbowdp.sessions.buying import mechanism_for
from rainbowdp.sessions.needing import need
from rainbowdp.sessions.offers import Offer, offered, ranked, ways_in_order
from rainbowdp.sessions.plan import Plan
from rainbowdp.sessions.targets import Asked, Target
from rainbowdp.sessions.together import Added, rho_of
from rainbowdp.sessions.ways import RANGES, Way, least_total

_WIDER = [Fraction(number, 4) for number in range(5, 17)] + [Fraction(5), Fraction(6), Fraction(8)]
_WIDER += [Fraction(number) for number in (10, 15, 20, 30, 50, 100, 300, 1000)]
Wanted = Iterable[Target | Asked] | Mapping[str, Target | Asked]


def plan(
    questions: Wanted,
    total: Guarantee | None = None,
    *,
    delta: Number = "1e-6",
    currency: str | None = None,
) -> Plan:
    """Divide a total among questions that are all known beforehand, in the currency that buys most.

    A question with a target for how sure it should be gets what it needs; the others share the rest
    by their weights. Without a total, the plan says which total is needed. It compares these ways:

    * ``epsilon``: pure ε, added up;
    * ``epsilon and delta``: ε and δ, both added up;
    * ``composed epsilon``: pure ε, which together cost less than their sum, since all are fixed
      beforehand (optimal composition);
    * ``rho`` and ``mu``: zero-concentrated and Gaussian privacy, added up and converted;
    * ``composed ranges``: exponential mechanisms of one range, composed exactly.

    Parameters
    ----------
    questions
        Targets or questions, in a list or by their names. They must protect the same unit under the
        same neighbor relation.
    total
        What all answers must keep together. If you leave it out, every question needs a target.
    delta
        Without a total: the δ that it may have.
    currency
        One of the ways, if you want no other.

    Returns
    -------
    Plan
        What each question is asked under and what that buys. Nothing was read or spent.

    Raises
    ------
    BudgetExceeded
        If the questions need more than the total; the message says how much, and what would fit.
    InvalidGuarantee
        If no guarantee reaches a target, or the total cannot be spent in the currency.
    InvalidQuestion
        If there are no questions, or they do not go together.

    Examples
    --------
    >>> from rainbowdp import Threshold
    >>> asked = {f"ward {n}": Threshold(100, "ward", equals=str(n)) for n in range(30)}
    >>> made = plan(asked, DP(3, "1e-6"))
    >>> made.way.name, made["ward 7"].guarantee
    ('composed ranges', ZeroConcentrated(rho=0.007171751))
    >>> made.in_words()["ward 7"]
    '99 % sure from a margin of 20'

    """
    targets = named_targets(questions)
    if total is not None and not isinstance(total, DP | GaussianDP | ZeroConcentrated):
        raise InvalidGuarantee(
            f"a total must be a DP, GaussianDP or ZeroConcentrated, got {type(total).__name__}"
        )
    ways = ways_in_order(currency)
    if total is None or all(target.demanding for target in targets):
        return _by_needs(targets, total, exact(delta, "delta", InvalidGuarantee), ways)
    offers, refused = [], []
    for way in ways:
        try:
            offers.append(_offer(way, targets, total))
        except RainbowError as error:
            refused.append((way, error))
    if not offers:
        raise _why(targets, total, ways, refused)
    found = ranked(offers, targets)
    return _made(targets, found, _charged(found[0], total))


def named_targets(questions: Wanted) -> tuple[Target, ...]:
    """The targets, each with a name."""
    if isinstance(questions, Mapping):
        given = [_named(name, asked) for name, asked in questions.items()]
    elif isinstance(questions, Iterable) and not isinstance(questions, str):
        listed = [asked if isinstance(asked, Target) else Target(asked) for asked in questions]
        given = [
            target if target.name is not None else replace(target, name=str(number))
            for number, target in enumerate(listed, 1)
        ]
    else:
        raise InvalidQuestion(f"a plan needs a list of questions, got {type(questions).__name__}")
    if not given:
        raise InvalidQuestion("a plan needs at least one question, got none")
    names = [target.name for target in given]
    for name in names:
        if not isinstance(name, str) or not name:
            raise InvalidQuestion(f"the name of a question must be a text, got {brief(name)}")
        if names.count(name) > 1:
            raise InvalidQuestion(
                f"the questions of a plan need different names, got {brief(name)} twice"
            )
    first = given[0]
    unit, neighbors = unit_of(first.question), first.question.neighbors
    for target in given:
        if (unit_of(target.question), target.question.neighbors) != (unit, neighbors):
            theirs = f"{unit_of(target.question)} {target.question.neighbors}"
            raise InvalidQuestion(
                f"the questions of a plan must protect the same unit, but {first.name} protects "
                f"{unit} {neighbors} and {target.name} {theirs}: make two plans"
            )
    return tuple(given)


def _named(name: str, asked: Target | Asked) -> Target:
    return replace(asked, name=name) if isinstance(asked, Target) else Target(asked, name)


def _delta(total: Guarantee) -> Fraction:
    return total.exact_delta if isinstance(total, DP) else Fraction(0)


def _needs(way: Way, targets: Sequence[Target], delta: Fraction) -> list[Fraction | None]:
    shared = way.shared(targets, delta)
    return [need(way, target, shared) if target.demanding else None for target in targets]


def _offer(way: Way, targets: Sequence[Target], total: Guarantee) -> Offer:
    reason = way.unfit(targets, total)
    if reason is not None:
        raise InvalidGuarantee(f"{way.name}: {reason}")
    needs = _needs(way, targets, _delta(total))
    return offered(way, targets, way.divide(targets, needs, total), _delta(total))


def _charged(offer: Offer, total: Guarantee) -> Guarantee:
    """What a ledger pays: of sums no more than they are."""
    if offer.way.added == Added.SUMS:
        assert isinstance(total, DP)
        spent = least_total(offer.way, offer.promises, total.exact_delta)
        return DP(min(spent.exact_epsilon or 0, total.exact_epsilon or 0), spent.exact_delta)
    return total


def _made(targets: Sequence[Target], offers: Sequence[Offer], total: Guarantee) -> Plan:
    chosen = offers[0]
    mechanisms = tuple(
        mechanism_for(target, promise, chosen.way.kind)
        for target, promise in zip(targets, chosen.promises, strict=True)
    )
    return Plan(tuple(targets), mechanisms, total, chosen.way, tuple(offers))


def _by_needs(
    targets: Sequence[Target], total: Guarantee | None, delta: Fraction, ways: Sequence[Way]
) -> Plan:
    """The plan that costs least, where every question says what it needs."""
    vague = [str(target.name) for target in targets if not target.demanding]
    if vague:
        raise InvalidQuestion(
            f"A plan without a total needs a target for each question, but {', '.join(vague[:3])} "
            "has none. Say how sure it is to be and at which margin, or give a total."
        )
    found: list[tuple[Guarantee, Offer]] = []
    refused: list[tuple[Way, RainbowError]] = []
    allowed = delta if total is None else _delta(total)
    for way in ways:
        try:
            reason = way.unfit(targets, DP(1, allowed) if total is None else total)
            if reason is not None:
                raise InvalidGuarantee(f"{way.name}: {reason}")
            amounts = [amount for amount in _needs(way, targets, allowed) if amount is not None]
            if way is RANGES:
                amounts = [max(amounts)] * len(amounts)
            offer = offered(way, targets, amounts, allowed)
            found.append((_least(offer, total, allowed), offer))
        except RainbowError as error:
            refused.append((way, error))
    if not found:
        raise next((e for _, e in refused if isinstance(e, NotApplicable)), refused[0][1])
    charged, first = min(found, key=lambda pair: _size(pair[0]))
    if total is not None and _size(charged) > _size(total):
        raise _too_much(targets, total, charged, first.way)
    others = sorted((pair for pair in found if pair[1] is not first), key=lambda p: _size(p[0]))
    return _made(targets, (first, *(offer for _, offer in others)), charged)


def _least(offer: Offer, total: Guarantee | None, delta: Fraction) -> Guarantee:
    """The least total that an offer keeps, in the kind of the total that there is."""
    if isinstance(total, ZeroConcentrated):
        return ZeroConcentrated(sum(map(rho_of, offer.promises)))
    if isinstance(total, GaussianDP):
        mus = [part.exact_mu for part in offer.promises if isinstance(part, GaussianDP)]
        return GaussianDP(_root_above(sum((mu**2 for mu in mus), Fraction(0))))
    return least_total(offer.way, offer.promises, delta)


def _root_above(square: Fraction) -> Fraction:
    scale = 10**12
    return Fraction(math.isqrt(math.ceil(square * scale**2)) + 1, scale)


def _size(total: Guarantee) -> Fraction:
    """What totals of one kind are compared by."""
    if isinstance(total, DP):
        return total.exact_epsilon or Fraction(0)
    if isinstance(total, GaussianDP):
        return total.exact_mu
    assert isinstance(total, ZeroConcentrated)
    return total.exact_rho


def _too_much(
    targets: Sequence[Target], total: Guarantee, needed: Guarantee, way: Way
) -> BudgetExceeded:
    """By how much a plan does not fit, and what would."""
    return BudgetExceeded(
        f"This plan needs {needed} at least, by {way.name}, but there is {total}. "
        f"{_fitting(targets, total, way)}"
    )


def _fitting(targets: Sequence[Target], total: Guarantee, way: Way) -> str:
    """What would fit: the same with wider margins."""
    for factor in _WIDER:
        wider = [_widened(target, factor) for target in targets]
        try:
            way.divide(wider, _needs(way, wider, _delta(total)), total)
        except RainbowError:
            continue
        what = "margin" if any(target.margin is not None for target in targets) else "table"
        times = f"{float(factor):g}"
        return f"It fits with every {what} {times} times as large, or with fewer questions."
    return "Ask fewer questions, or for less certainty."


def _widened(target: Target, factor: Fraction) -> Target:
    if not target.demanding:
        return target
    if target.margin is not None:
        return replace(target, margin=math.ceil(target.margin * factor))
    if target.people is not None:
        return replace(target, people=math.ceil(target.people * factor))
    return target


def _why(
    targets: Sequence[Target],
    total: Guarantee,
    ways: Sequence[Way],
    refused: Sequence[tuple[Way, RainbowError]],
) -> RainbowError:
    """Why no way is left: the needs alone are too much, or nothing applies."""
    short = [way for way, error in refused if isinstance(error, BudgetExceeded)]
    if not short:
        return refused[0][1]
    demanding = [target for target in targets if target.demanding]
    try:
        needed = _by_needs(demanding, None, _delta(total), short)
    except RainbowError as error:
        return error
    return BudgetExceeded(
        f"The questions with a target need {needed.guarantee}, by {needed.way.name}, which leaves "
        f"nothing of {total} for the others. {_fitting(targets, total, needed.way)}"
    )

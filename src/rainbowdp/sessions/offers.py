"""What each way to pay would buy, and which of them is the best for a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.expecting import brief
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.sessions.buying import (
    Bought,
    bought,
    is_quick,
    loss,
    mechanism_for,
    quick_loss,
)
from rainbowdp.sessions.targets import Target, Wish
from rainbowdp.sessions.ways import BOTH, COMPOSED, EPSILON, WAYS, Way

_SAVED = 0.7  # a margin table errs at least so many times as often as the best of the quick kinds
_SAVED_AT_SMALL = 0.85  # and so many times for an ε of up to ½
_SMALL = 0.5
_ALIKE = 3e-4  # offers in ε whose scores differ by less, relatively, are alike
_WITHIN_DP = (EPSILON, BOTH, COMPOSED)


@dataclass(frozen=True)
class Offer:
    """What one way to pay gives to each question.

    Attributes
    ----------
    way
        The way.
    promises
        The guarantee of each question.
    losses
        What is to be small for each question.
    estimated
        Whether the losses are those of kinds that are built at once, not of those to be asked.

    """

    way: Way
    promises: tuple[Guarantee, ...]
    losses: tuple[float, ...]
    estimated: bool = True

    def as_dict(self) -> dict[str, Any]:
        """The same in JSON values."""
        return {
            "currency": self.way.name,
            "guarantees": [describe_guarantee(promise) for promise in self.promises],
            "losses": list(self.losses),
            "estimated": self.estimated,
        }


def offered(
    way: Way, targets: Sequence[Target], amounts: Sequence[Fraction], delta: Fraction
) -> Offer:
    """What amounts buy, measured by kinds that are built at once."""
    shared = way.shared(targets, delta)
    pairs = [
        _chosen(target, tuple(way.promises(amount, target, shared)), way.kind)
        for target, amount in zip(targets, amounts, strict=True)
    ]
    return Offer(way, tuple(p for p, _ in pairs), tuple(found for _, found in pairs))


def _chosen(
    target: Target, promises: tuple[Guarantee, ...], kind: str | None
) -> tuple[Guarantee, float]:
    """The promise with the least loss, of those at one price that a question can be asked under."""
    found: list[tuple[Guarantee, float]] = []
    refused: InvalidGuarantee | None = None
    for promise in promises:
        try:
            found.append((promise, _quick(Wish(target), promise, kind)))
        except InvalidGuarantee as error:
            refused = refused or error
    if not found:
        assert refused is not None
        raise refused
    return min(found, key=lambda pair: pair[1])


@lru_cache(maxsize=512)
def _quick(wish: Wish, promise: Guarantee, kind: str | None) -> float:
    return quick_loss(wish.target, promise, kind)


@lru_cache(maxsize=512)
def _measured(wish: Wish, promise: Guarantee, kind: str | None) -> float:
    return loss(wish.target, mechanism_for(wish.target, promise, kind))


def buys(target: Target, promise: Guarantee, kind: str | None) -> Bought:
    """What a question gets from the mechanism that ``best`` takes, or one of this kind."""
    return _bought(Wish(target), promise, kind)


@lru_cache(maxsize=512)
def _bought(wish: Wish, promise: Guarantee, kind: str | None) -> Bought:
    return bought(wish.target, mechanism_for(wish.target, promise, kind))


def ranked(offers: Sequence[Offer], targets: Sequence[Target]) -> tuple[Offer, ...]:
    """The offers, the best first, measured by the mechanisms that it will have.

    An offer is as good as the mean, over the questions that do not have what they need anyway, each
    with its weight, of how many times its loss is the least that any offer has. Margin tables take
    long to make, so they are made only for the best of the offers in ε, the first listed of those
    that are alike, and only where that could be the best of all.
    """
    if len(offers) == 1:
        return tuple(offers)
    parts = [0.0 if target.demanding else float(target.part) for target in targets]
    least = [min(column) for column in zip(*(each.losses for each in offers), strict=True)]

    def score(offer: Offer) -> float:
        pairs = zip(offer.losses, least, parts, strict=True)
        return math.fsum(part * each / low for each, low, part in pairs) / sum(parts)

    found = [each if each.way in _WITHIN_DP else _settled(each, targets) for each in offers]
    rival = min((score(each) for each in found if not each.estimated), default=math.inf)
    in_dp = [each for each in found if each.estimated]
    if in_dp:
        alike = min(map(score, in_dp)) * (1 + _ALIKE)
        first = next(each for each in in_dp if score(each) <= alike)
        if _saved(first, targets) * score(first) < rival:
            found[found.index(first)] = _settled(first, targets)
    measured = [each for each in found if not each.estimated]
    chosen = min(measured, key=score)
    return (chosen, *sorted((each for each in found if each is not chosen), key=score))


def _saved(offer: Offer, targets: Sequence[Target]) -> float:
    """How many times the loss of an offer in ε there is at least, once its tables are made."""
    pairs = zip(targets, offer.promises, strict=True)
    costly = {promise for target, promise in pairs if not is_quick(target, promise)}
    if not costly:
        return 0.0  # it is measured at once
    small = all(isinstance(each, DP) and each.epsilon <= _SMALL for each in costly)
    return _SAVED_AT_SMALL if small else _SAVED


def _settled(offer: Offer, targets: Sequence[Target]) -> Offer:
    """The offer, measured by the mechanisms that ``best`` takes."""
    losses = tuple(
        _measured(Wish(target), promise, offer.way.kind)
        for target, promise in zip(targets, offer.promises, strict=True)
    )
    return replace(offer, losses=losses, estimated=False)


def ways_in_order(currency: str | None) -> tuple[Way, ...]:
    """All ways, or the one that is asked for."""
    if currency is None:
        return WAYS
    found = tuple(way for way in WAYS if isinstance(currency, str) and way.name == currency)
    if not found:
        raise InvalidGuarantee(
            f"currency must be one of {', '.join(way.name for way in WAYS)}, got {brief(currency)}"
        )
    return found

"""The lines of Python that do what the page shows."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.studio.offers import BEST, offered
from rainbowdp.studio.settings import Settings
from rainbowdp.studio.worlds import World


def recipe(world: World, settings: Settings) -> str:
    """Lines that print the distribution of the chosen dataset with the library alone."""
    position = settings.dataset if settings.dataset is not None else 0
    if settings.mechanism == "file" and world.question is not None:
        return "\n".join(
            [
                "import rainbowdp as rb",
                f"mechanism = rb.load({world.source!r})",
                "print(mechanism.proof)",
                f"print(mechanism[{_spell(world.key(position))}])",
            ]
        )
    if settings.mechanism == "file":
        return "\n".join(
            [
                "import rainbowdp as rb",
                f"mechanism = rb.load({world.source!r})",
                "print(mechanism.proof)",
                f"weights = mechanism.rule.weights({_spell(world.key_in_file(position))}, "
                "mechanism.answers)",
                "print({a: w / sum(weights) for a, w in zip(mechanism.answers, weights)})",
            ]
        )
    offer = offered(world)[settings.mechanism]
    more = ""
    if offer.boundary and settings.boundary is not None:
        more = f", boundary={list(settings.boundary)}"
    if offer.call == "rb.by_kind":
        more = f", {offer.name!r}{more}"
    if offer.name == BEST and world.weights is not None:
        more = ", weights=weights"
    call = f"{offer.call}(world, {spell(settings.guarantee)}{more})"
    if offer.name == BEST and world.question is None:
        call += ".mechanism"
    return "\n".join(
        [
            "import rainbowdp as rb",
            *world.setup,
            f"mechanism = {call}",
            f"print(mechanism[{_spell(world.key(position))}])",
        ]
    )


def _spell(dataset: Any) -> str:
    if isinstance(dataset, tuple) and len(dataset) == 2 and dataset[1] == math.inf:
        return f'({dataset[0]!r}, float("inf"))'
    return repr(dataset)


def number(value: Fraction) -> str:
    """A fraction as the decimal that people write, where it is one."""
    decimal = Decimal(value.numerator) / Decimal(value.denominator)
    return str(decimal) if Fraction(decimal) == value else str(value)


def _number(value: Fraction) -> str:
    return f'"{number(value)}"'


def spell(guarantee: TradeOffCurve) -> str:
    """The guarantee as Python, with its exact numbers."""
    if isinstance(guarantee, DP):
        delta = _number(guarantee.exact_delta)
        if guarantee.exact_epsilon is None:
            tail = f", delta={delta}" if guarantee.exact_delta else ""
            return f'rb.DP.from_ratio("{guarantee.exact_ratio}"{tail})'
        tail = f", {delta}" if guarantee.exact_delta else ""
        return f"rb.DP({_number(guarantee.exact_epsilon)}{tail})"
    if isinstance(guarantee, GaussianDP):
        return f"rb.GaussianDP({_number(guarantee.exact_mu)})"
    assert isinstance(guarantee, TradeOff)
    return f"rb.TradeOff({[(str(x), str(y)) for x, y in guarantee.knots]})"

"""Guarantees to JSON and back: one form for files, ledgers, the command line and the studio."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated

MOST_EPSILON = 3
MOST_DELTA = Fraction(1, 10_000)
_MOST_GUESS = 1 / (1 + math.exp(-MOST_EPSILON))


def describe_guarantee(guarantee: Guarantee) -> dict[str, Any]:
    """The guarantee as a dictionary, with its exact numbers as strings.

    >>> describe_guarantee(DP.from_ratio(6, 5))
    {'kind': 'dp', 'ratio': '6/5', 'delta': '0'}
    """
    if isinstance(guarantee, DP):
        delta = str(guarantee.exact_delta)
        if guarantee.exact_epsilon is not None:
            return {"kind": "dp", "epsilon": str(guarantee.exact_epsilon), "delta": delta}
        return {"kind": "dp", "ratio": str(guarantee.exact_ratio), "delta": delta}
    if isinstance(guarantee, GaussianDP):
        return {"kind": "gaussian", "mu": str(guarantee.exact_mu)}
    if isinstance(guarantee, TradeOff):
        return {"kind": "trade-off", "knots": [[str(x), str(y)] for x, y in guarantee.knots]}
    if isinstance(guarantee, ZeroConcentrated):
        return {"kind": "zero-concentrated", "rho": str(guarantee.exact_rho)}
    raise InvalidGuarantee(
        "a guarantee must be DP, GaussianDP, TradeOff or ZeroConcentrated here, got "
        f"{type(guarantee).__name__}"
    )


def warning_about(guarantee: Guarantee, about: str = "one record") -> str | None:
    """Why a guarantee protects little, as a sentence with its remedy; None where it protects.

    A μ, a ρ or another curve counts as ε = 3 where it lets as good a guess through.

    >>> warning_about(DP(3)) is None, warning_about(GaussianDP(3)) is None
    (True, True)
    """
    found = []
    if isinstance(guarantee, DP):
        weak, delta = guarantee.epsilon > MOST_EPSILON, guarantee.exact_delta
        least = "an ε of at most 3"
    else:
        weak, delta = guarantee.best_guess() > _MOST_GUESS, Fraction(0)
        such = "ρ = 1/2" if isinstance(guarantee, ZeroConcentrated) else "μ = 1"
        least = f"a stronger one, such as {such}"
    if weak and delta < 1:
        found.append(
            f"{guarantee} protects little: {guarantee.in_words(about)}. Choose {least} if you can."
        )
    if delta > MOST_DELTA:
        found.append(
            f"This promise may fail altogether with a chance of δ = {float(delta):.12g}. Choose a "
            "δ far below 1 in the number of people; 0 is best."
        )
    return " ".join(found) or None


def restore_guarantee(description: Mapping[str, Any]) -> Guarantee:
    """The guarantee that ``describe_guarantee`` described.

    >>> restore_guarantee({"kind": "gaussian", "mu": "1/2"})
    GaussianDP(mu=0.5)
    """
    given = dict(description)
    kind, keys = given.pop("kind", None), set(given) - {"kind"}
    if kind == "gaussian" and keys == {"mu"}:
        return GaussianDP(given["mu"])
    if kind == "trade-off" and keys == {"knots"}:
        return TradeOff([(x, y) for x, y in given["knots"]])
    if kind == "dp" and keys == {"ratio", "delta"}:
        return DP.from_ratio(given["ratio"], delta=given["delta"])
    if kind == "dp" and keys == {"epsilon", "delta"}:
        return DP(given["epsilon"], given["delta"])
    if kind == "zero-concentrated" and keys == {"rho"}:
        return ZeroConcentrated(given["rho"])
    raise InvalidGuarantee(
        "a description of a guarantee must be of kind dp, gaussian, trade-off or "
        f"zero-concentrated, got {description}"
    )

"""Guarantees to JSON and back: one form for files, ledgers, the command line and the studio."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.trade_off import TradeOff


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
    raise InvalidGuarantee(
        f"a guarantee must be DP, GaussianDP or TradeOff here, got {type(guarantee).__name__}"
    )


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
    raise InvalidGuarantee(
        f"a description of a guarantee must be of kind dp, gaussian or trade-off, got {description}"
    )

"""What a ledger may spend: the total of a new one, and what is added later."""

from __future__ import annotations

from fractions import Fraction

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.expecting import brief
from rainbowdp.guarantees.conversions import mu_within, rho_within
from rainbowdp.guarantees.dp import DP
from rainbowdp.ledger.amounts import plain, rounded_down
from rainbowdp.ledger.cost import Cost, DPCost, GaussianCost, ZeroConcentratedCost
from rainbowdp.numeric.quantity import Number, exact


def budget(
    epsilon: Number | None = None,
    delta: Number = 0,
    mu: Number | None = None,
    rho: Number | None = None,
    *,
    spend_in: str | None = None,
    delta_apart: Number = 0,
) -> Cost:
    """An amount to spend: ε > 0 with δ in [0, 1], or μ > 0 or ρ > 0, with or without a δ apart.

    With ``spend_in`` ε and δ become the μ or ρ that keeps them; ``delta_apart`` of the δ is left
    out of that, for answers that have a δ of their own.

    >>> print(budget("3", "1e-5"))
    epsilon 3, delta 0.00001
    >>> budget("3", "1e-5", spend_in="mu").kind
    'gaussian'
    """
    given = [amount for amount in (epsilon, mu, rho) if amount is not None]
    if not given:
        raise InvalidGuarantee(
            "A ledger needs a budget: give epsilon, with or without delta, or mu, or rho."
        )
    if len(given) > 1:
        raise InvalidGuarantee(
            "A budget is in epsilon, in mu or in rho, each with or without delta, "
            f"got epsilon={epsilon}, delta={delta}, mu={mu}, rho={rho}. Leave out all but one."
        )
    if spend_in is not None and epsilon is None:
        raise InvalidGuarantee(
            f"spend_in={brief(spend_in)} is for a budget in epsilon and delta; leave it out."
        )
    total_delta, apart = _chance(delta, "delta"), _chance(delta_apart, "delta_apart")
    if apart and spend_in is None:
        raise InvalidGuarantee(
            f"delta_apart={delta_apart} goes with spend_in, which turns the rest of delta into mu "
            "or rho. Leave it out, and give delta alone."
        )
    if apart and apart >= total_delta:
        raise InvalidGuarantee(
            f"delta_apart must be smaller than delta, got delta_apart={plain(apart)} and "
            f"delta={plain(total_delta)}. Use half of it or less."
        )
    if mu is not None:
        return GaussianCost(rounded_down(_positive(mu, "mu") ** 2), total_delta)
    if rho is not None:
        return ZeroConcentratedCost(_positive(rho, "rho"), total_delta)
    assert epsilon is not None
    most = _positive(epsilon, "epsilon")
    if spend_in is None:
        return DPCost(most, total_delta)
    promise = DP(most, total_delta - apart)
    if spend_in == "rho":
        return ZeroConcentratedCost(rounded_down(rho_within(promise)), apart)
    if spend_in == "mu":
        return GaussianCost(rounded_down(mu_within(promise) ** 2), apart)
    raise InvalidGuarantee(f"spend_in must be 'mu' or 'rho', got spend_in={brief(spend_in)}.")


def as_given(
    epsilon: Number | None,
    delta: Number,
    mu: Number | None,
    rho: Number | None,
    spend_in: str | None,
    delta_apart: Number,
) -> dict[str, str]:
    """The numbers of a budget as exact text, and how they were converted."""
    numbers = {
        "epsilon": epsilon,
        "delta": delta,
        "mu": mu,
        "rho": rho,
        "delta_apart": delta_apart or None,
    }
    texts = {
        name: str(rounded_down(exact(number, name, InvalidGuarantee)))
        for name, number in numbers.items()
        if number is not None
    }
    return texts if spend_in is None else {**texts, "spend_in": spend_in}


def _positive(amount: Number, name: str) -> Fraction:
    value = exact(amount, name, InvalidGuarantee)
    if value <= 0:
        raise InvalidGuarantee(
            f"The {name} of a budget must be greater than 0, got {name}={amount}."
        )
    return rounded_down(value)


def _chance(amount: Number, name: str) -> Fraction:
    value = exact(amount, name, InvalidGuarantee)
    if not 0 <= value <= 1:
        raise InvalidGuarantee(
            f"The {name} of a budget must be between 0 and 1, got {name}={amount}."
        )
    return rounded_down(value)

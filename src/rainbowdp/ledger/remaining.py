"""How many more answers a budget pays for."""

from __future__ import annotations

from rainbowdp.errors import InvalidGuarantee, LedgerError
from rainbowdp.expecting import brief
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.ledger.cost import Cost, Payable

_WORDS = {"epsilon": DP, "mu": GaussianDP, "rho": ZeroConcentrated}
_CURRENCIES = {"dp": "epsilon", "gaussian": "mu", "zero-concentrated": "rho"}


def answers_left(left: Cost, cost: Cost) -> int | None:
    """How many answers at this price are left; none where an answer costs nothing.

    >>> from rainbowdp.ledger.cost import DPCost
    >>> answers_left(DPCost.of(DP("0.7")), DPCost.of(DP("0.1")))
    7
    """
    pairs = zip(left.parts, cost.parts, strict=True)
    return min((there // each for there, each in pairs if each > 0), default=None)


def price_in_words(text: str, kind: str) -> Payable:
    """The guarantee of ``0.1``, in the currency of a ledger, or of ``mu 0.1`` in another.

    >>> price_in_words("0.1", "dp"), price_in_words("mu 0.1", "zero-concentrated")
    (DP(epsilon=0.1), GaussianDP(mu=0.1))
    """
    name, _, number = text.strip().replace("=", " ").rpartition(" ")
    word = name.strip() or _CURRENCIES[kind]
    if word not in _WORDS:
        raise LedgerError(
            f"A price is a number, or one after epsilon, mu or rho, got {brief(text)}: write "
            "0.1, or "
            "mu 0.1."
        )
    try:
        guarantee: Payable = _WORDS[word](number)
    except InvalidGuarantee as error:
        raise LedgerError(f"The price {brief(text)} is none: {error}.") from None
    return guarantee


def in_words(many: int | None) -> str:
    """How many answers, as people say it.

    >>> in_words(1), in_words(1400), in_words(None)
    ('1 more answer', '1,400 more answers', 'any number of answers')
    """
    if many is None:
        return "any number of answers"
    return f"{many:,} more {'answer' if many == 1 else 'answers'}"

"""What is left of a ledger, as the total of a plan."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from rainbowdp.errors import BudgetExceeded
from rainbowdp.guarantees.dp import DP, LARGEST_EPSILON
from rainbowdp.guarantees.gaussian import LARGEST_MU, GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import LARGEST_RHO, ZeroConcentrated
from rainbowdp.numeric.quantity import root_below

if TYPE_CHECKING:  # a ledger brings SQLAlchemy, which only those who have one load
    from rainbowdp.ledger import Balance

_PLACES = 64  # binary places of a root


def left_of(balance: Balance) -> Guarantee:
    """All that is left, as one guarantee; a δ that is kept apart stays where it is."""
    left = balance.left
    amounts = dict(zip(left.names(), left.parts, strict=True))
    if amounts[left.names()[0]] <= 0:
        raise BudgetExceeded("Nothing is left in the ledger, so that nothing can be planned.")
    if balance.kind == "gaussian":
        return GaussianDP(min(root_below(amounts["mu_squared"], _PLACES), Fraction(LARGEST_MU)))
    if balance.kind == "zero-concentrated":
        return ZeroConcentrated(min(amounts["rho"], Fraction(LARGEST_RHO)))
    return DP(min(amounts["epsilon"], Fraction(LARGEST_EPSILON)), amounts["delta"])

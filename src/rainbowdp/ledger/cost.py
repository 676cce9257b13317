"""What a question costs, in exact fractions.

Three kinds of budget, each with its own rule of composition, all valid when every question is
chosen after seeing the answers to those before it:

* ``dp``: the ε's add up and the δ's add up (basic composition; Rogers, Roth, Ullman and Vadhan,
  *Privacy odometers and filters*, NeurIPS 2016);
* ``gaussian``: the squares of the μ's add up (Dong, Roth and Su, *Gaussian differential privacy*,
  JRSS-B 2022, Corollary 3.3; adaptively by Smith and Thakurta, *Fully adaptive composition for
  Gaussian differential privacy*, 2022);
* ``zero-concentrated``: the ρ's add up (Bun and Steinke, *Concentrated differential privacy*, TCC
  2016; adaptively by Feldman and Zrnic, *Individual privacy accounting via a Rényi filter*, 2021,
  and Whitehouse, Ramdas, Rogers and Wu, *Fully adaptive composition in differential privacy*,
  2023). It pays for other guarantees too, by what they imply: μ is μ²/2, and ε without δ is
  ε·tanh(ε/2) (``docs/how-to/choose.md`` has the proofs).

No float is used: a price that is no fraction is rounded up to one, proven to be at least as much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from decimal import Context, Decimal
from fractions import Fraction
from typing import ClassVar, Self, TypeAlias

from rainbowdp.errors import BudgetExceeded, InvalidGuarantee, LedgerError
from rainbowdp.guarantees.conversions import mu_within, rho_within
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.quantity import Number, ball, dyadic, exact, precision

Payable: TypeAlias = DP | GaussianDP | ZeroConcentrated

_BITS = 128  # of a price that is no fraction; rounding it up costs less than one part in 2^100
_DIGITS = 12  # that people are shown
_MOST_BITS = 13_000  # of a stored numerator or denominator: Python prints 4300 digits at most


@dataclass(frozen=True, slots=True)
class Cost:
    """Exact amounts of privacy that compose by addition, part by part."""

    kind: ClassVar[str]
    currency: ClassVar[type[Guarantee]]
    """The guarantee that the budget is in."""

    @property
    def parts(self) -> tuple[Fraction, ...]:
        """The amounts in the order of their names."""
        return tuple(getattr(self, name) for name in self.names())

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the parts."""
        return tuple(field.name for field in fields(cls))

    @classmethod
    def takes(cls, guarantee: Guarantee) -> bool:
        """Whether ``of`` has a price for it."""
        return isinstance(guarantee, cls.currency)

    @classmethod
    def of(cls, guarantee: Guarantee) -> Self:
        """What one answer under this guarantee costs."""
        raise NotImplementedError

    def __add__(self, other: Self) -> Self:
        return type(self)(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __sub__(self, other: Self) -> Self:
        return type(self)(*(a - b for a, b in zip(self.parts, other.parts, strict=True)))

    def as_dict(self) -> dict[str, str]:
        """Every part as a text fraction ``p/q``."""
        return {name: _text(part) for name, part in zip(self.names(), self.parts, strict=True)}

    def shown(self) -> dict[str, str]:
        """Every part for people: a decimal, a short fraction, or ≈ with twelve digits."""
        return {name: _plain(part) for name, part in zip(self.names(), self.parts, strict=True)}

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.shown().items())


@dataclass(frozen=True, slots=True)
class DPCost(Cost):
    """ε and δ, which add up.

    >>> DPCost.of(DP("0.1", delta="1e-6")) + DPCost.of(DP("0.2"))
    DPCost(epsilon=Fraction(3, 10), delta=Fraction(1, 1000000))
    """

    kind: ClassVar[str] = "dp"
    currency: ClassVar[type[Guarantee]] = DP

    epsilon: Fraction
    delta: Fraction

    @classmethod
    def of(cls, guarantee: Guarantee) -> DPCost:
        """ε exactly, or a rational at least log(ratio); δ exactly."""
        assert isinstance(guarantee, DP)
        if guarantee.exact_epsilon is not None:
            return cls(guarantee.exact_epsilon, guarantee.exact_delta)
        assert guarantee.exact_ratio is not None
        return cls(_log_upper(guarantee.exact_ratio), guarantee.exact_delta)


@dataclass(frozen=True, slots=True)
class GaussianCost(Cost):
    """μ², which adds up: k questions of μ cost √k·μ.

    >>> print(GaussianCost.of(GaussianDP(3)) + GaussianCost.of(GaussianDP(4)))
    mu 5
    """

    kind: ClassVar[str] = "gaussian"
    currency: ClassVar[type[Guarantee]] = GaussianDP

    mu_squared: Fraction

    @classmethod
    def of(cls, guarantee: Guarantee) -> GaussianCost:
        """μ² exactly."""
        assert isinstance(guarantee, GaussianDP)
        return cls(guarantee.exact_mu**2)

    def shown(self) -> dict[str, str]:
        """μ for people."""
        above, below = self.mu_squared.numerator, self.mu_squared.denominator
        root = Fraction(math.isqrt(above), math.isqrt(below))
        if root**2 == self.mu_squared:
            return {"mu": _plain(root)}
        return {"mu": f"≈{_written(_decimal(self.mu_squared).sqrt(Context(prec=_DIGITS)))}"}


@dataclass(frozen=True, slots=True)
class ZeroConcentratedCost(Cost):
    """ρ, which adds up; of a μ or a pure ε, the ρ that it implies.

    >>> ZeroConcentratedCost.of(ZeroConcentrated("1/8")) + ZeroConcentratedCost.of(GaussianDP(1))
    ZeroConcentratedCost(rho=Fraction(5, 8))
    """

    kind: ClassVar[str] = "zero-concentrated"
    currency: ClassVar[type[Guarantee]] = ZeroConcentrated

    rho: Fraction

    @classmethod
    def takes(cls, guarantee: Guarantee) -> bool:
        """A δ has no price in ρ, and neither has a curve of lines."""
        if isinstance(guarantee, DP):
            return guarantee.exact_delta == 0
        return isinstance(guarantee, GaussianDP | ZeroConcentrated)

    @classmethod
    def of(cls, guarantee: Guarantee) -> ZeroConcentratedCost:
        """ρ and μ²/2 exactly; of ε a rational at least ε·tanh(ε/2).

        That is for all that ε allows: a mechanism of a smaller range is cheaper if it is asked for
        under ρ, where its proof is about the range.
        """
        if isinstance(guarantee, ZeroConcentrated):
            return cls(guarantee.exact_rho)
        if isinstance(guarantee, GaussianDP):
            return cls(guarantee.exact_mu**2 / 2)
        assert isinstance(guarantee, DP)
        assert guarantee.exact_delta == 0
        return cls(_rho_upper(guarantee))


KINDS: dict[str, type[DPCost] | type[GaussianCost] | type[ZeroConcentratedCost]] = {
    cost.kind: cost for cost in (DPCost, GaussianCost, ZeroConcentratedCost)
}
_AMOUNTS = {"dp": "epsilon and delta", "gaussian": "mu", "zero-concentrated": "rho"}
_SYMBOLS = {"epsilon": "ε", "delta": "δ", "mu": "μ", "rho": "ρ"}


def budget(
    epsilon: Number | None,
    delta: Number,
    mu: Number | None,
    rho: Number | None = None,
    spend_in: str | None = None,
) -> Cost:
    """The total of a new ledger: ε > 0 with δ in [0, 1], or μ > 0 alone, or ρ > 0 alone.

    With ``spend_in`` ε and δ become the μ or ρ that keeps them.

    >>> print(budget("3", "1e-5", None))
    epsilon 3, delta 0.00001
    >>> budget("3", "1e-5", None, spend_in="mu").kind
    'gaussian'
    """
    given = [amount for amount in (epsilon, mu, rho) if amount is not None]
    if not given:
        raise InvalidGuarantee(
            "A ledger needs a budget: give epsilon, with or without delta, or mu, or rho."
        )
    if len(given) > 1 or (epsilon is None and delta != 0):
        raise InvalidGuarantee(
            "A budget is either epsilon, with or without delta, or mu alone, or rho alone, "
            f"got epsilon={epsilon}, delta={delta}, mu={mu}, rho={rho}. Leave out all but one."
        )
    if spend_in is not None and epsilon is None:
        raise InvalidGuarantee(
            f"spend_in={spend_in!r} is for a budget in epsilon and delta; leave it out."
        )
    if mu is not None:
        return GaussianCost(_positive(mu, "mu") ** 2)
    if rho is not None:
        return ZeroConcentratedCost(_positive(rho, "rho"))
    assert epsilon is not None
    if spend_in is not None:
        return _converted(DP(_positive(epsilon, "epsilon"), delta), spend_in)
    total = DPCost(_positive(epsilon, "epsilon"), exact(delta, "delta", InvalidGuarantee))
    if not 0 <= total.delta <= 1:
        raise InvalidGuarantee(f"The delta of a budget must be between 0 and 1, got delta={delta}.")
    return total


def _converted(promise: DP, spend_in: str) -> Cost:
    if spend_in == "rho":
        return ZeroConcentratedCost(rho_within(promise))
    if spend_in == "mu":
        return GaussianCost(mu_within(promise) ** 2)
    raise InvalidGuarantee(f"spend_in must be 'mu' or 'rho', got spend_in={spend_in!r}.")


def _positive(amount: Number, name: str) -> Fraction:
    value = exact(amount, name, InvalidGuarantee)
    if value <= 0:
        raise InvalidGuarantee(
            f"The {name} of a budget must be greater than 0, got {name}={amount}."
        )
    return value


def price(guarantee: Guarantee, kind: str, where: str) -> Cost:
    """What one answer under ``guarantee`` costs a ledger of this kind, or why it takes none."""
    cost = KINDS[kind]
    if cost.takes(guarantee):
        return cost.of(guarantee)
    for other in KINDS.values():
        if isinstance(guarantee, other.currency):
            pays = cost is ZeroConcentratedCost and isinstance(guarantee, DP)
            remedy = "without delta" if pays else f"under {cost.currency.__name__}"
            raise LedgerError(
                f"The budget of {where} is in {_AMOUNTS[kind]}, which cannot pay for "
                f"{guarantee!r}. Ask {remedy}, or create a ledger with a budget in "
                f"{_AMOUNTS[other.kind]}."
            )
    raise LedgerError(
        f"A ledger cannot add up {type(guarantee).__name__} guarantees. Ask under DP, GaussianDP "
        "or ZeroConcentrated."
    )


def must_fit(cost: Cost, left: Cost, where: str, guarantee: Guarantee | None = None) -> None:
    """Raises ``BudgetExceeded`` where any part of ``cost`` is more than is ``left``.

    >>> must_fit(DPCost.of(DP(1)), DPCost.of(DP("0.7")), "budget.db")
    Traceback (most recent call last):
    ...
    rainbowdp.errors.BudgetExceeded: This question costs ε = 1, but budget.db has ε = 0.7 left. \
Use a smaller epsilon, or repeat an earlier question by its name for free.
    """
    asked, there = cost.shown(), left.shown()
    for name, after in zip(asked, (left - cost).parts, strict=True):
        if after < 0:
            symbol = _SYMBOLS[name]
            raise BudgetExceeded(
                f"This question costs {symbol} = {asked[name]}, but {where} has {symbol} = "
                f"{there[name]} left. Use a smaller {_asked_in(name, guarantee)}, or repeat an "
                "earlier question by its name for free."
            )


def _asked_in(name: str, guarantee: Guarantee | None) -> str:
    """The name of the number that was given, where a budget in ρ pays for it."""
    if name == "rho" and isinstance(guarantee, DP):
        return "epsilon"
    return "mu" if name == "rho" and isinstance(guarantee, GaussianDP) else name


def _plain(value: Fraction) -> str:
    """A fraction for people: a decimal where that is exact and short, else a short fraction.

    >>> _plain(Fraction(7, 10)), _plain(Fraction(1, 3)), _plain(Fraction(0.1))
    ('0.7', '1/3', '≈0.1')
    """
    decimal = _decimal(value)
    if Fraction(decimal) == value:
        return _written(decimal)
    text = f"{value}" if max(_size(value)) < 64 else ""
    return text if 0 < len(text) <= _DIGITS else f"≈{_written(decimal)}"


def _written(value: Decimal) -> str:
    """Digits without an exponent, unless there are many zeros.

    >>> _written(Decimal("1e-6")), _written(Decimal("1e-9"))
    ('0.000001', '1e-9')
    """
    short = value.normalize()
    return f"{short:f}" if -7 < short.adjusted() < _DIGITS else f"{short:g}"


def _decimal(value: Fraction) -> Decimal:
    context = Context(prec=_DIGITS)
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _size(value: Fraction) -> tuple[int, int]:
    return value.numerator.bit_length(), value.denominator.bit_length()


def _text(value: Fraction) -> str:
    if max(_size(value)) > _MOST_BITS:
        raise LedgerError(
            f"A ledger keeps exact sums of up to {_MOST_BITS} bits, and this one would take "
            f"{max(_size(value))}. Give epsilon, delta, mu and rho as short decimals."
        )
    return str(value)


def _log_upper(ratio: Fraction) -> Fraction:
    """A rational at least log(ratio), above it by less than one part in 2^100."""
    with precision(_BITS):
        return dyadic(ball(ratio - 1).log1p().upper())


def _rho_upper(guarantee: DP) -> Fraction:
    """A rational at least ε·tanh(ε/2), above it by less than one part in 2^100.

    tanh(ε/2) is (e^ε − 1)/(e^ε + 1).
    """
    ratio = guarantee.exact_ratio
    with precision(_BITS):
        if ratio is not None:
            return dyadic((ball(ratio - 1).log1p() * ball((ratio - 1) / (ratio + 1))).upper())
        assert guarantee.exact_epsilon is not None
        epsilon = ball(guarantee.exact_epsilon)
        return dyadic((epsilon * (epsilon / 2).tanh()).upper())

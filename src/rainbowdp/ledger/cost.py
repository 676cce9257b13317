"""What a question costs, in exact fractions.

Two kinds of budget, each with its own rule of composition, both valid when every question is
chosen after seeing the answers to those before it:

* ``dp``: the ε's add up and the δ's add up (basic composition; Rogers, Roth, Ullman and Vadhan,
  *Privacy odometers and filters*, NeurIPS 2016);
* ``gaussian``: the squares of the μ's add up (Dong, Roth and Su, *Gaussian differential privacy*,
  JRSS-B 2022, Corollary 3.3; adaptively by Smith and Thakurta, *Fully adaptive composition for
  Gaussian differential privacy*, 2022).

No float is used: a guarantee given by its ratio e^ε costs a rational proven to be at least ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from decimal import Context, Decimal
from fractions import Fraction
from typing import ClassVar, Self

from rainbowdp.errors import BudgetExceeded, InvalidGuarantee, LedgerError
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.quantity import Number, ball, dyadic, exact, precision

_RATIO_BITS = 128  # of log(ratio); the price of rounding it up is below one part in 2^100
_DIGITS = 12  # that people are shown
_MOST_BITS = 13_000  # of a stored numerator or denominator: Python prints 4300 digits at most


@dataclass(frozen=True, slots=True)
class Cost:
    """Exact amounts of privacy that compose by addition, part by part."""

    kind: ClassVar[str]
    takes: ClassVar[type[Guarantee]]

    @property
    def parts(self) -> tuple[Fraction, ...]:
        """The amounts in the order of their names."""
        return tuple(getattr(self, name) for name in self.names())

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the parts."""
        return tuple(field.name for field in fields(cls))

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
    takes: ClassVar[type[Guarantee]] = DP

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
    takes: ClassVar[type[Guarantee]] = GaussianDP

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


KINDS: dict[str, type[DPCost] | type[GaussianCost]] = {"dp": DPCost, "gaussian": GaussianCost}
_AMOUNTS = {"dp": "epsilon and delta", "gaussian": "mu"}
_SYMBOLS = {"epsilon": "ε", "delta": "δ", "mu": "μ"}


def budget(epsilon: Number | None, delta: Number, mu: Number | None) -> Cost:
    """The total of a new ledger: ε > 0 with δ in [0, 1], or μ > 0 alone.

    >>> print(budget("3", "1e-5", None))
    epsilon 3, delta 0.00001
    """
    if epsilon is None and mu is None:
        raise InvalidGuarantee(
            "A ledger needs a budget: give epsilon, with or without delta, or mu."
        )
    if mu is not None and (epsilon is not None or delta != 0):
        raise InvalidGuarantee(
            "A budget is either epsilon, with or without delta, or mu alone, "
            f"got epsilon={epsilon}, delta={delta}, mu={mu}. Leave out one or the other."
        )
    if mu is not None:
        value = exact(mu, "mu", InvalidGuarantee)
        if value <= 0:
            raise InvalidGuarantee(f"The mu of a budget must be greater than 0, got mu={mu}.")
        return GaussianCost(value**2)
    total = DPCost(
        exact(epsilon, "epsilon", InvalidGuarantee), exact(delta, "delta", InvalidGuarantee)
    )
    if total.epsilon <= 0:
        raise InvalidGuarantee(
            f"The epsilon of a budget must be greater than 0, got epsilon={epsilon}."
        )
    if not 0 <= total.delta <= 1:
        raise InvalidGuarantee(f"The delta of a budget must be between 0 and 1, got delta={delta}.")
    return total


def price(guarantee: Guarantee, kind: str, where: str) -> Cost:
    """What one answer under ``guarantee`` costs a ledger of this kind, or why it takes none."""
    cost = KINDS[kind]
    if isinstance(guarantee, cost.takes):
        return cost.of(guarantee)
    for other in KINDS.values():
        if isinstance(guarantee, other.takes):
            raise LedgerError(
                f"The budget of {where} is in {_AMOUNTS[kind]}, which cannot pay for "
                f"{guarantee!r}. Ask under {cost.takes.__name__}, or create a ledger with a "
                f"budget in {_AMOUNTS[other.kind]}."
            )
    raise LedgerError(
        f"A ledger cannot add up {type(guarantee).__name__} guarantees. Ask under DP or GaussianDP."
    )


def must_fit(cost: Cost, left: Cost, where: str) -> None:
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
                f"{there[name]} left. Use a smaller {name}, or repeat an earlier question by its "
                "name for free."
            )


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
            f"{max(_size(value))}. Give epsilon, delta and mu as short decimals."
        )
    return str(value)


def _log_upper(ratio: Fraction) -> Fraction:
    """A rational at least log(ratio), above it by less than one part in 2^100."""
    with precision(_RATIO_BITS):
        return dyadic(ball(ratio - 1).log1p().upper())

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
  2023).

μ and ρ pay for other guarantees too, by what these imply; a δ is kept apart and adds up in all
three. ``docs/how-to/currencies.md`` has the proofs.

========================  =================  ==========================  =====================
an answer under           in ε, δ            in μ², δ                    in ρ, δ
========================  =================  ==========================  =====================
``DP(ε, δ)``              ε, δ               (2Φ⁻¹(e^ε/(1+e^ε)))², δ     ε·tanh(ε/2), δ
``GaussianDP(μ)``         no price           μ²                          μ²/2
``ZeroConcentrated(ρ)``   no price           no price                    ρ
========================  =================  ==========================  =====================

No float is used: a price that is no fraction is rounded up to one, proven to be at least as much.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, ClassVar, Self, TypeAlias

from rainbowdp.errors import BudgetExceeded, LedgerError
from rainbowdp.expecting import brief
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.ledger.amounts import plain, plain_root, rounded_up
from rainbowdp.numeric.quantity import ball, dyadic, precision

if TYPE_CHECKING:
    from flint import arb

Payable: TypeAlias = DP | GaussianDP | ZeroConcentrated

_BITS = 128  # of a price that is no fraction; rounding it up costs less than one part in 2^100


@dataclass(frozen=True, slots=True)
class Cost:
    """Exact amounts of privacy that compose by addition, part by part."""

    kind: ClassVar[str]
    currency: ClassVar[type[Guarantee]]
    """The guarantee that the budget is in."""
    amounts: ClassVar[str]
    """What the budget is in, in words."""
    takes: ClassVar[tuple[type[Guarantee], ...]]
    """The guarantees that ``of`` has a price for."""

    @property
    def parts(self) -> tuple[Fraction, ...]:
        """The amounts in the order of their names."""
        return tuple(getattr(self, name) for name in self.names())

    @classmethod
    @cache
    def names(cls) -> tuple[str, ...]:
        """The names of the parts."""
        return tuple(field.name for field in fields(cls))

    @classmethod
    def of(cls, guarantee: Guarantee) -> Self:
        """What one answer under this guarantee costs, not yet on the grid."""
        raise NotImplementedError

    @classmethod
    def restore(cls, described: Mapping[str, str]) -> Self:
        """The cost that ``as_dict`` described."""
        return cls(*(_fraction(described[name]) for name in cls.names()))

    def __add__(self, other: Self) -> Self:
        return type(self)(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __sub__(self, other: Self) -> Self:
        return type(self)(*(a - b for a, b in zip(self.parts, other.parts, strict=True)))

    def rounded_up(self) -> Self:
        """The least cost on the grid that is at least this one."""
        return type(self)(*map(rounded_up, self.parts))

    def as_dict(self) -> dict[str, str]:
        """Every part as a text fraction ``p/q``."""
        return {name: str(part) for name, part in zip(self.names(), self.parts, strict=True)}

    def shown(self) -> dict[str, str]:
        """Every part for people: a decimal, a short fraction, or ≈ with twelve digits."""
        return {name: plain(part) for name, part in zip(self.names(), self.parts, strict=True)}

    def in_symbols(self, *, with_delta: bool = False) -> str:
        """For people, in few characters: ``ε 0.5, δ 0.000001``; a δ of 0 only where asked for."""
        return ", ".join(
            f"{_SYMBOLS[name]} {value}"
            for name, value in self.shown().items()
            if name != "delta" or value != "0" or with_delta
        )

    def out_of(self, total: Self) -> str:
        """What is left of a total, as people say it; a δ only where there is one.

        >>> DPCost.of(DP(2)).out_of(DPCost.of(DP(3)))
        '2 of 3 ε left'
        """
        had = total.shown()
        parts = [
            f"{value} of {had[name]} {_SYMBOLS[name]}"
            for name, value in self.shown().items()
            if had[name] != "0"
        ]
        return f"{', '.join(parts) or 'nothing'} left"

    def __str__(self) -> str:
        return ", ".join(
            f"{name} {value}"
            for name, value in self.shown().items()
            if name != "delta" or value != "0" or self.kind == "dp"
        )


@dataclass(frozen=True, slots=True)
class DPCost(Cost):
    """ε and δ, which add up.

    >>> DPCost.of(DP("0.1", delta="1e-6")) + DPCost.of(DP("0.2"))
    DPCost(epsilon=Fraction(3, 10), delta=Fraction(1, 1000000))
    """

    kind: ClassVar[str] = "dp"
    currency: ClassVar[type[Guarantee]] = DP
    amounts: ClassVar[str] = "epsilon and delta"
    takes: ClassVar[tuple[type[Guarantee], ...]] = (DP,)

    epsilon: Fraction
    delta: Fraction

    @classmethod
    def of(cls, guarantee: Guarantee) -> DPCost:
        """ε exactly, or a rational at least log(ratio); δ exactly."""
        assert isinstance(guarantee, DP)
        if guarantee.exact_epsilon is not None:
            return cls(guarantee.exact_epsilon, guarantee.exact_delta)
        with precision(_BITS):
            return cls(dyadic(_log(guarantee).upper()), guarantee.exact_delta)


@dataclass(frozen=True, slots=True)
class GaussianCost(Cost):
    """μ², which adds up: k questions of μ cost √k·μ; of an ε, the least μ whose curve has it.

    >>> print(GaussianCost.of(GaussianDP(3)) + GaussianCost.of(GaussianDP(4)))
    mu 5
    """

    kind: ClassVar[str] = "gaussian"
    currency: ClassVar[type[Guarantee]] = GaussianDP
    amounts: ClassVar[str] = "mu"
    takes: ClassVar[tuple[type[Guarantee], ...]] = (GaussianDP, DP)

    mu_squared: Fraction
    delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, guarantee: Guarantee) -> GaussianCost:
        """μ² exactly; of ε a rational at least (2Φ⁻¹(e^ε/(1+e^ε)))², and δ exactly."""
        if isinstance(guarantee, GaussianDP):
            return cls(guarantee.exact_mu**2)
        assert isinstance(guarantee, DP)
        return cls(_mu_squared_upper(guarantee), guarantee.exact_delta)

    def shown(self) -> dict[str, str]:
        """μ for people, not its square."""
        return {"mu": plain_root(self.mu_squared), "delta": plain(self.delta)}


@dataclass(frozen=True, slots=True)
class ZeroConcentratedCost(Cost):
    """ρ, which adds up; of a μ or an ε, the ρ that it implies.

    >>> print(ZeroConcentratedCost.of(ZeroConcentrated("1/8")))
    rho 0.125
    >>> print(ZeroConcentratedCost.of(GaussianDP(1)))
    rho 0.5
    """

    kind: ClassVar[str] = "zero-concentrated"
    currency: ClassVar[type[Guarantee]] = ZeroConcentrated
    amounts: ClassVar[str] = "rho"
    takes: ClassVar[tuple[type[Guarantee], ...]] = (ZeroConcentrated, GaussianDP, DP)

    rho: Fraction
    delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, guarantee: Guarantee) -> ZeroConcentratedCost:
        """ρ and μ²/2 exactly; of ε a rational at least ε·tanh(ε/2), and δ exactly.

        That is for all that ε allows: a mechanism of a smaller range is cheaper if it is asked for
        under ρ, where its proof is about the range.
        """
        if isinstance(guarantee, ZeroConcentrated):
            return cls(guarantee.exact_rho)
        if isinstance(guarantee, GaussianDP):
            return cls(guarantee.exact_mu**2 / 2)
        assert isinstance(guarantee, DP)
        return cls(_rho_upper(guarantee), guarantee.exact_delta)


KINDS: dict[str, type[DPCost] | type[GaussianCost] | type[ZeroConcentratedCost]] = {
    cost.kind: cost for cost in (DPCost, GaussianCost, ZeroConcentratedCost)
}


def restore_cost(described: Mapping[str, str]) -> Cost:
    """The cost that ``as_dict`` described, of the kind that has such parts.

    >>> restore_cost({"epsilon": "1/2", "delta": "0"})
    DPCost(epsilon=Fraction(1, 2), delta=Fraction(0, 1))
    """
    for kind in KINDS.values():
        if set(kind.names()) == set(described):
            return kind.restore(described)
    raise LedgerError(f"No budget has the parts {', '.join(described)}.")


_SYMBOLS = {"epsilon": "ε", "delta": "δ", "mu": "μ", "rho": "ρ"}


def price(guarantee: Guarantee, kind: str, where: str) -> Cost:
    """What one answer under ``guarantee`` costs a ledger of this kind, or why it takes none."""
    cost = KINDS[kind]
    if isinstance(guarantee, cost.takes):
        return cost.of(guarantee).rounded_up()
    for other in KINDS.values():
        if isinstance(guarantee, other.currency):
            raise LedgerError(
                f"The budget of {where} is in {cost.amounts}, which cannot pay for "
                f"{brief(guarantee)}. Ask under {cost.currency.__name__}, or create a ledger "
                "with a "
                f"budget in {other.amounts}."
            )
    raise LedgerError(
        f"A ledger cannot add up {type(guarantee).__name__} guarantees. Ask under DP, GaussianDP "
        "or ZeroConcentrated."
    )


def must_fit(
    cost: Cost,
    left: Cost,
    where: str,
    guarantee: Guarantee | None = None,
    *,
    questions: int = 1,
    until: str | None = None,
    error: type[BudgetExceeded] = BudgetExceeded,
) -> None:
    """Raises ``BudgetExceeded`` where any part of ``cost`` is more than is ``left``, for now.

    >>> must_fit(DPCost.of(DP(1)), DPCost.of(DP("0.7")), "budget.db")
    Traceback (most recent call last):
    ...
    rainbowdp.errors.BudgetExceeded: This question costs ε = 1, but budget.db has ε = 0.7 left. \
Use a smaller epsilon, or repeat an earlier question by its name for free.
    """
    missing = [place for place, after in enumerate((left - cost).parts) if after < 0]
    if not missing:
        return
    asked, there = cost.shown(), left.shown()
    name = list(asked)[missing[0]]
    symbol = _SYMBOLS[name]
    costs = "This question costs" if questions == 1 else f"These {questions} questions cost"
    remedy = f"Use a smaller {_asked_in(name, guarantee)}"
    if name == "delta" and there[name] == "0":
        remedy = "Ask without delta, have the ledger's owner add some"
    elif not any(left.parts):
        remedy = "Have the ledger's owner add some"
    left_until, wait = ("", "") if until is None else (f" until {until}", ", wait")
    raise error(
        f"{costs} {symbol} = {asked[name]}, but {where} has {symbol} = {there[name]} left"
        f"{left_until}. {remedy}{wait}, or repeat an earlier question by its name for free."
    )


def _asked_in(name: str, guarantee: Guarantee | None) -> str:
    """The name of the number that was given, where a budget in another one pays for it."""
    if name in ("rho", "mu") and isinstance(guarantee, DP):
        return "epsilon"
    return "mu" if isinstance(guarantee, GaussianDP) else name  # it has no delta


@lru_cache(maxsize=1024)  # a million entries have few prices
def _fraction(text: str) -> Fraction:
    return Fraction(text)


def _log(guarantee: DP) -> arb:
    """ε as a ball of the current precision."""
    if guarantee.exact_epsilon is not None:
        return ball(guarantee.exact_epsilon)
    assert guarantee.exact_ratio is not None
    return ball(guarantee.exact_ratio - 1).log1p()


def _tanh(guarantee: DP) -> arb:
    """tanh(ε/2), which is (e^ε − 1)/(e^ε + 1)."""
    ratio = guarantee.exact_ratio
    if ratio is not None:
        return ball((ratio - 1) / (ratio + 1))
    assert guarantee.exact_epsilon is not None
    return ball(guarantee.exact_epsilon / 2).tanh()


def _rho_upper(guarantee: DP) -> Fraction:
    """A rational at least ε·tanh(ε/2), above it by less than one part in 2^100."""
    with precision(_BITS):
        return dyadic((_log(guarantee) * _tanh(guarantee)).upper())


def _mu_squared_upper(guarantee: DP) -> Fraction:
    """A rational at least (2Φ⁻¹(e^ε/(1+e^ε)))², above it by less than one part in 2^90.

    Φ⁻¹(x) is √2·erf⁻¹(2x − 1), and 2e^ε/(1+e^ε) − 1 is tanh(ε/2). Where that is near to 1, its
    distance from 1 is 2/(1+e^ε), and erf⁻¹ is taken from there.
    """
    with precision(_BITS):
        if guarantee.epsilon < 1:
            root = _tanh(guarantee).erfinv()
        else:
            root = (2 / (1 + guarantee.ratio_ball())).erfcinv()
        return dyadic((8 * root**2).upper())

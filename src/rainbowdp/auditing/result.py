"""What an audit found, to print, to draw on and to hand to a program."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from rainbowdp.auditing.bounds import BITS, Bounds, of_fraction
from rainbowdp.auditing.curve import Curve
from rainbowdp.auditing.reproduction import Reproduction, in_json
from rainbowdp.auditing.sampling import Tested
from rainbowdp.display import cards
from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.numeric.quantity import Number, dyadic, exact, precision

_USUAL = ("0.1", "0.5", "1", "2")  # ε of the printed profile


@dataclass(frozen=True)
class _Finding:
    """What every audit says of itself."""

    what: str
    world: str
    change: str
    scope: str
    exhaustive: bool
    pairs: int
    datasets: int
    claim: Guarantee | None

    def _about(self) -> dict[str, str]:
        return {
            "audited": self.what,
            "over": self.world,
            "neighbors": self.change,
            "compared": self.scope,
        }

    def _described(self) -> dict[str, Any]:
        return {
            "audited": self.what,
            "over": self.world,
            "neighbors": self.change,
            "compared": self.scope,
            "exhaustive": self.exhaustive,
            "pairs": self.pairs,
            "datasets": self.datasets,
            "claim": None if self.claim is None else describe_guarantee(self.claim),
        }


@dataclass(frozen=True)
class Audit(_Finding):
    """What rows keep, exactly, over the compared neighbors; made by ``rb.audit``.

    Attributes
    ----------
    what, world
        What was audited, and over which question or graph, in words.
    change, scope
        What one change is and which neighbors were compared, in words.
    exhaustive
        Whether these are all neighbors of the stated kind, or some drawn at random.
    pairs, datasets
        How many pairs and datasets were compared.
    claim, verdict
        The claim, and ``"holds"``, ``"broken"`` or ``"undecided"``; none without a claim.
    rounding
        By what relative amount rows in floats were allowed to exceed the claim.
    curve
        The corners of the largest P(S) for each Q(S), as fractions.
    rho
        The least ρ.
    renyi
        The largest Rényi divergence of each order.
    worst
        The pair of neighbors that proves it; none if all rows are equal.

    Examples
    --------
    >>> from rainbowdp import DP, Winner, audit, best
    >>> found = audit(best(Winner(["red", "green"]), DP.from_ratio(3)), records=8)
    >>> found.verdict, f"{found.epsilon:.4f}", found.delta("0.5").high < 0.34
    ('holds', '1.0986', True)

    """

    verdict: str | None
    rounding: float
    curve: Curve = field(repr=False)
    rho: Bounds
    renyi: Mapping[float, Bounds]
    worst: Reproduction | None = field(repr=False)

    def __bool__(self) -> bool:
        return self.verdict != "broken"

    @property
    def epsilon(self) -> Bounds:
        """The least ε without a δ."""
        return self.curve.epsilon()

    @property
    def mu(self) -> Bounds:
        """The least μ."""
        return self.curve.mu

    def delta(self, epsilon: Number) -> Bounds:
        """The least δ at an ε: the privacy profile.

        Parameters
        ----------
        epsilon
            A number from 0, taken exactly.

        Returns
        -------
        Bounds
            The two floats that enclose it.

        Raises
        ------
        InvalidGuarantee
            If ``epsilon`` is negative or no number.

        """
        claim = DP(epsilon)
        if claim.exact_ratio is not None:
            return of_fraction(self.curve.delta(claim.exact_ratio))
        with precision(BITS):
            ratio = claim.ratio_ball()
            low, high = dyadic(ratio.lower()), dyadic(ratio.upper())
        return Bounds(
            of_fraction(self.curve.delta(high)).low, of_fraction(self.curve.delta(low)).high
        )

    def epsilon_at(self, delta: Number) -> Bounds:
        """The least ε at a δ.

        Parameters
        ----------
        delta
            A number from 0 to 1, taken exactly.

        Returns
        -------
        Bounds
            The two floats that enclose it; infinite where no ε is enough.

        Raises
        ------
        InvalidGuarantee
            If ``delta`` is no number from 0 to 1.

        """
        slack = exact(delta, "delta", InvalidGuarantee)
        if not 0 <= slack <= 1:
            raise InvalidGuarantee(f"delta must be in [0, 1], got delta={delta}")
        return self.curve.epsilon(slack)

    def guarantee(self) -> TradeOff:
        """The curve as a guarantee: the strongest that the compared rows keep.

        Returns
        -------
        TradeOff
            A polygon of fractions.

        """
        return self.curve.as_guarantee()

    def snippet(self) -> str:
        """A script that shows the worst pair; it needs nothing but Python.

        Returns
        -------
        str
            The script, or a comment where all rows are equal.

        """
        if self.worst is None:
            return "# all rows are equal, so no answer depends on the data\n"
        return self.worst.snippet(self.claim, broken=self.verdict == "broken")

    def to_frame(self, epsilons: Sequence[Number] = _USUAL) -> Any:
        """The profile as a pandas frame: ε, and the two floats around δ.

        Parameters
        ----------
        epsilons
            Numbers from 0.

        Returns
        -------
        pandas.DataFrame
            A line for each ε.

        """
        import pandas as pd

        found = [(float(Fraction(str(e))), self.delta(e)) for e in epsilons]
        return pd.DataFrame(
            [(e, d.low, d.high) for e, d in found],
            columns=["epsilon", "delta_at_least", "delta_at_most"],
        )

    def _in_words(self) -> str:
        if self.claim is None:
            return "none"
        words = {
            "holds": f"{self.claim} holds",
            "broken": f"{self.claim} is broken",
            "undecided": f"{self.claim} is so close that no precision decided it",
        }[str(self.verdict)]
        if self.rounding and self.verdict == "holds":
            words += f", up to the rounding of floats ({self.rounding:.0e})"
        return words

    def _facts(self) -> dict[str, str]:
        kind = "exactly" if self.exhaustive else "exactly, but not all of them"
        return {
            **self._about(),
            "compared": f"{self.scope}, {kind}",
            "claim": self._in_words(),
            "ε": str(self.epsilon),
            "δ": ", ".join(f"{self.delta(e)} at ε = {e}" for e in _USUAL),
            "μ": str(self.mu),
            "ρ": str(self.rho),
            "Rényi": ", ".join(f"{d} of order {o:g}" for o, d in self.renyi.items()),
            "worst pair": "all rows are equal" if self.worst is None else str(self.worst),
        }

    def __str__(self) -> str:
        facts = self._facts()
        width = max(map(len, facts))
        return "\n".join(f"{name:<{width}}  {value}" for name, value in facts.items())

    def _repr_html_(self) -> str:
        facts = self._facts()
        verdict = [] if self.claim is None else [cards.badge(bool(self), facts.pop("claim"))]
        return cards.card("Audit", *verdict, cards.facts(facts))

    def as_dict(self) -> dict[str, Any]:
        """The audit, ready for JSON.

        Returns
        -------
        dict
            Numbers between bounds as ``at_least`` and ``at_most``, none where they are infinite.

        """
        ratio = self.curve.ratio
        return {
            **self._described(),
            "method": "exact",
            "verdict": self.verdict,
            "rounding": self.rounding,
            "epsilon": self.epsilon.as_dict(),
            "ratio": None if ratio is None else str(ratio),
            "delta": {e: self.delta(e).as_dict() for e in _USUAL},
            "mu": self.mu.as_dict(),
            "rho": self.rho.as_dict(),
            "renyi": {f"{order:g}": found.as_dict() for order, found in self.renyi.items()},
            "curve": [[str(c.level), str(c.power)] for c in self.curve.corners],
            "worst": None if self.worst is None else self.worst.as_dict(),
            "snippet": self.snippet(),
        }


@dataclass(frozen=True)
class SampledAudit(_Finding):
    """What draws prove about a mechanism, with confidence; made by ``rb.audit`` with ``draws``.

    Attributes
    ----------
    what, world, change, scope, exhaustive, pairs, datasets
        As in ``Audit``; the tested pair was chosen among these.
    claim, verdict
        The claim, and ``"refuted"`` or ``"not refuted"``; none without a claim.
    confidence
        How sure it is that all statements hold together.
    tested
        The chosen pair and set of answers, how often it came, and the bounds on its chances.
    delta
        The δ at which ε is bounded.

    Examples
    --------
    >>> import random
    >>> from rainbowdp import DP, Winner, audit
    >>> def coin(counts):
    ...     return random.random() < (0.9 if counts["red"] > counts["green"] else 0.1)
    >>> found = audit(coin, Winner(["red", "green"]), DP(1), records=2, draws=4000)
    >>> found.verdict, found.epsilon > 1.5
    ('refuted', True)

    """

    verdict: str | None
    confidence: Fraction
    tested: Tested = field(repr=False)
    delta: Fraction

    def __bool__(self) -> bool:
        return self.verdict != "refuted"

    @property
    def epsilon(self) -> float:
        """A lower bound on ε, at ``delta``."""
        return self.tested.curve.epsilon(self.delta).low

    @property
    def mu(self) -> float:
        """A lower bound on μ."""
        return self.tested.curve.mu.low

    @property
    def rho(self) -> float:
        """A lower bound on ρ."""
        return self.tested.rho()

    def snippet(self) -> str:
        """A script that draws again at the worst pair, once ``draw`` is the mechanism.

        Returns
        -------
        str
            The script.

        """
        found = self.tested
        return "\n".join(
            [
                "# draw(dataset) is the mechanism: one answer, a new one each time",
                f"here, there = {found.neighbors[0]!r}, {found.neighbors[1]!r}",
                f"size = {found.draws}",
                "for dataset in (here, there):",
                "    answers = (draw(dataset) for _ in range(size))",
                f"    print(dataset, sum({found.event.as_code()} for answer in answers) / size)",
                "",
            ]
        )

    def _in_words(self) -> str:
        sure = f"{100 * float(self.confidence):.6g} %"
        least = f"ε ≥ {self.epsilon:.4g}"
        if self.delta:
            least += f" at δ = {float(self.delta):.3g}"
        if self.verdict == "refuted":
            return f"{self.claim} is refuted with confidence {sure}: {least}"
        said = f"{self.claim} is not refuted; " if self.claim is not None else ""
        return f"{said}with confidence {sure} {least}, which proves nothing about the rest"

    def _facts(self) -> dict[str, str]:
        found = self.tested
        more, less = found.neighbors
        shares = [f"{hits / found.draws:.6g}" for hits in found.hits]
        return {
            **self._about(),
            "drawn": f"{found.draws:,} times at each of two datasets, chosen by other draws",
            "verdict": self._in_words(),
            "ε": f"at least {self.epsilon:.6g}",
            "μ": f"at least {self.mu:.6g}",
            "ρ": f"at least {self.rho:.6g}",
            "worst pair": (
                f"{found.event} came with frequency {shares[0]} at {more!r} and {shares[1]} at its "
                f"neighbor {less!r}"
            ),
        }

    def __str__(self) -> str:
        facts = self._facts()
        width = max(map(len, facts))
        return "\n".join(f"{name:<{width}}  {value}" for name, value in facts.items())

    def _repr_html_(self) -> str:
        facts = self._facts()
        verdict = [] if self.claim is None else [cards.badge(bool(self), facts.pop("verdict"))]
        return cards.card("Audit by draws", *verdict, cards.facts(facts))

    def as_dict(self) -> dict[str, Any]:
        """The audit, ready for JSON.

        Returns
        -------
        dict
            What is at least, with the confidence.

        """
        found = self.tested

        def finite(value: float) -> float | None:
            return None if math.isinf(value) else value

        return {
            **self._described(),
            "method": "draws",
            "verdict": self.verdict,
            "confidence": float(self.confidence),
            "draws": found.draws,
            "delta": float(self.delta),
            "epsilon": {"at_least": finite(self.epsilon), "at_most": None},
            "mu": {"at_least": finite(self.mu), "at_most": None},
            "rho": {"at_least": finite(self.rho), "at_most": None},
            "worst": {
                "neighbors": [in_json(dataset) for dataset in found.neighbors],
                "answers": str(found.event),
                "hits": list(found.hits),
                "probability_at_least": float(found.at_least),
                "neighbor_probability_at_most": float(found.at_most),
            },
            "snippet": self.snippet(),
        }

"""The pair of neighbors that proves what an audit found, as something to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rainbowdp.aliases import Answer, Dataset
from rainbowdp.auditing.curve import allowed
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.quantity import dyadic, precision


@dataclass(frozen=True)
class Reproduction:
    """Two neighbors, a set of answers, and its probability at both; made by ``rb.audit``.

    Attributes
    ----------
    neighbors
        The two datasets, the one at which the set is likelier first.
    answers
        The set of answers.
    probabilities
        Its exact probability at either.
    rows
        The exact rows of both.
    order
        The Rényi order at which the divergence of the two rows is largest relative to the order, if
        a ρ was claimed.

    """

    neighbors: tuple[Dataset, Dataset]
    answers: tuple[Answer, ...]
    probabilities: tuple[Fraction, Fraction]
    rows: tuple[Mapping[Answer, Fraction], Mapping[Answer, Fraction]]
    order: Fraction | None = None

    def __str__(self) -> str:
        named = ", ".join(map(str, self.answers[:8]))
        rest = f" and {len(self.answers) - 8} more" if len(self.answers) > 8 else ""
        more, less = (f"{float(p):.7g}" for p in self.probabilities)
        return (
            f"{{{named}}}{rest} has probability {more} at {self.neighbors[0]!r} and {less} at its "
            f"neighbor {self.neighbors[1]!r}"
        )

    def as_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return {
            "neighbors": [in_json(dataset) for dataset in self.neighbors],
            "answers": [in_json(answer) for answer in self.answers],
            "probabilities": [str(p) for p in self.probabilities],
            "rows": [{str(a): str(p) for a, p in row.items()} for row in self.rows],
        }

    def snippet(self, claim: Guarantee | None = None, *, broken: bool = False) -> str:
        """A script that needs nothing but Python and shows the two probabilities.

        Parameters
        ----------
        claim
            A guarantee to hold them against.
        broken
            Whether to assert that they break it.

        Returns
        -------
        str
            The script.

        """
        lines = [
            "import math",
            "from decimal import Decimal, getcontext",
            "from fractions import Fraction",
            "from statistics import NormalDist",
            "",
            f"# the rows at {self.neighbors[0]!r}",
            f"p = {_row(self.rows[0])}",
            f"# and at its neighbor {self.neighbors[1]!r}",
            f"q = {_row(self.rows[1])}",
            f"answers = [{', '.join(map(repr, self.answers))}]",
            "here, there = sum(p[a] for a in answers), sum(q[a] for a in answers)",
            "print(f'{float(here):.7g} here, {float(there):.7g} there')",
            *self._against(claim if broken else None),
        ]
        text = "\n".join(lines)
        for name, line in (
            ("math.", "import math\n"),
            ("getcontext(", "from decimal import Decimal, getcontext\n"),
            ("NormalDist(", "from statistics import NormalDist\n"),
        ):
            if name not in text:
                text = text.replace(line, "")
        return text + "\n"

    def _against(self, claim: Guarantee | None) -> Sequence[str]:
        here, there = self.probabilities
        if isinstance(claim, DP):
            ratio, delta = _above_ratio(claim, here, there), claim.exact_delta
            return (
                f"ratio = {ratio!r}  # at least e^ε",
                f"assert here > ratio * there + {delta!r}",
                f"print('so {claim} is broken')",
            )
        if isinstance(claim, GaussianDP):
            if there == 0 or here == 1:
                return ("assert (there == 0) != (here == 0) or there < here == 1",)
            return (
                "apart = NormalDist().inv_cdf(float(here)) - NormalDist().inv_cdf(float(there))",
                f"assert apart > {claim.mu!r}",
                f"print('so {claim} is broken')",
            )
        if isinstance(claim, TradeOff):
            return (
                f"assert here > {allowed(claim, there)!r}",
                f"print('so the {claim} is broken')",
            )
        if isinstance(claim, ZeroConcentrated):
            return (*self._renyi(claim.exact_rho), f"print('so {claim} is broken')")
        if there == 0:
            return ("assert here > 0 == there  # so no ε is enough without a δ",)
        return (f"assert here == {here / there!r} * there",)

    def _renyi(self, rho: Fraction) -> Sequence[str]:
        """Held against αρ, in sixty digits."""
        if any(p > 0 == self.rows[1][answer] for answer, p in self.rows[0].items()):
            return ("assert any(p[a] > 0 == q[a] for a in p)  # so no ρ is enough",)
        order = self.order or Fraction(1)
        known = (
            "getcontext().prec = 60",
            "def number(x): return Decimal(x.numerator) / x.denominator",
            "apart = {a: (number(p[a]) / number(q[a])).ln() for a in p if p[a]}",
        )
        if order == 1:
            return (
                *known,
                "divergence = sum(number(p[a]) * apart[a] for a in apart)",
                f"assert divergence > number({rho!r})  # for orders near 1",
            )
        return (
            *known,
            f"order = number({order!r})",
            "total = sum(number(p[a]) * ((order - 1) * apart[a]).exp() for a in apart)",
            f"assert total.ln() / (order - 1) > order * number({rho!r})",
        )


def _row(row: Mapping[Answer, Fraction]) -> str:
    return "{" + ", ".join(f"{a!r}: {p!r}" for a, p in row.items()) + "}"


def in_json(value: Any) -> Any:
    """What JSON has no word for, as text."""
    plain = isinstance(value, str | int | float | bool) or value is None
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: in_json(inner) for key, inner in value.items()}
    return value if plain else repr(value)


def _above_ratio(claim: DP, here: Fraction, there: Fraction) -> Fraction:
    """A short fraction of at least e^ε that still shows the break, if there is one."""
    if claim.exact_ratio is not None:
        return claim.exact_ratio
    for bits in (40, 80, 160, 320, 640, 1280):
        with precision(bits + 64):
            least = dyadic(claim.ratio_ball().upper())
        digits = 10 ** (bits * 3 // 10)
        short = Fraction(-(-least * digits // 1), digits)
        if here > short * there + claim.exact_delta:
            return short
    return least

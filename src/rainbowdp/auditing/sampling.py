"""What draws prove of a mechanism whose law nobody tells: a lower bound, with confidence.

Two stages, each with draws of its own:

1. *Choose.* Draw at every dataset. Half of these draws put the answers in order, by how much
   likelier they came at one dataset than at its neighbor, and the other half says which pair of
   neighbors and which set of first answers promises most. (In one and the same draws any set of
   answers that came only here looks perfect.)
2. *Test.* Draw anew at the two datasets, and count how often the set came. What was chosen does not
   depend on these draws, so the two counts are binomial, and the bounds of Clopper and Pearson hold
   together with the stated confidence: the chance p of the set at the one dataset is at least p₀,
   and its chance q at the other at most q₀.

Whatever promise two coins with p₀ and q₀ break, the mechanism breaks: a set and its complement are
an answer processed further, and a wider gap between p and q is worse under every promise. So the
bounds on ε, ρ and μ are those of the two coins (``curve.py`` and ``renyi.py``), and all hold
together with the one confidence. Nothing here can prove that a promise holds.
"""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from rainbowdp.aliases import Answer, Dataset, Floats
from rainbowdp.auditing.curve import Curve, Row
from rainbowdp.auditing.neighborhood import Neighborhood
from rainbowdp.auditing.renyi import Divergences
from rainbowdp.errors import InvalidMechanism, RainbowError
from rainbowdp.expecting import brief
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.quantity import ball, precision

_BITS = 128
_LEAST_DRAWS = 50  # at a dataset, to choose
_MOST_SETS = 200  # that are tried for a pair
_CUTS = 64  # where answers are numbers


@dataclass(frozen=True)
class Event:
    """A set of answers: some that are listed, or all numbers on one side of a cut."""

    answers: frozenset[Answer] | None = None
    side: str = ""
    cut: Any = None

    def __contains__(self, answer: Answer) -> bool:
        if self.answers is not None:
            return answer in self.answers
        return bool(answer <= self.cut if self.side == "at most" else answer >= self.cut)

    def __str__(self) -> str:
        if self.answers is None:
            return f"{self.side} {self.cut!r}"
        shown = sorted(map(repr, self.answers))
        rest = f" and {len(shown) - 8} more" if len(shown) > 8 else ""
        return "{" + ", ".join(shown[:8]) + "}" + rest

    def as_code(self) -> str:
        """A Python expression that says whether ``answer`` is in the set."""
        if self.answers is None:
            return f"answer {'<=' if self.side == 'at most' else '>='} {self.cut!r}"
        return f"answer in {{{', '.join(sorted(map(repr, self.answers)))}}}"


@dataclass(frozen=True)
class Tested:
    """The chosen pair and set, how often the set came, and the two coins that are proved."""

    neighbors: tuple[Dataset, Dataset]
    event: Event
    hits: tuple[int, int]
    draws: int
    at_least: Fraction  # p₀
    at_most: Fraction  # q₀

    @property
    def rows(self) -> tuple[Row, Row]:
        """The two coins."""
        p, q = self.at_least, self.at_most
        return (p, 1 - p), (q, 1 - q)

    @property
    def apart(self) -> bool:
        """Whether the two coins differ in the right direction."""
        return self.at_least > self.at_most

    @property
    def curve(self) -> Curve:
        """What tests of the two coins tell."""
        return Curve.over(self.rows, [(0, 1)] if self.apart else [])

    def rho(self) -> float:
        """A lower bound on ρ."""
        return Divergences(self.rows, [(0, 1)]).rho().bounds.low if self.apart else 0.0


def tested(
    draw: Callable[[Dataset], Answer],
    world: Neighborhood,
    claim: Guarantee | None,
    draws: int,
    confidence: Fraction,
) -> Tested:
    """Choose a pair and a set by some draws, and test them by others."""
    first = max(_LEAST_DRAWS, min(draws, 2 * draws // len(world.datasets)) // 2)
    counts = [_Halves.of(draw, dataset, first) for dataset in world.datasets]
    risk = float(1 - confidence) / 2
    best: tuple[float, tuple[int, int], Event] | None = None
    for one, other in world.pairs:
        for more, less in ((one, other), (other, one)):
            worth, event = _best_event(counts[more], counts[less], first, claim, risk)
            if best is None or worth > best[0]:
                best = worth, (more, less), event
    assert best is not None  # there is a pair
    _, (more, less), event = best
    datasets = world.datasets[more], world.datasets[less]
    hits = [sum(n for a, n in _counted(draw, d, draws).items() if a in event) for d in datasets]
    beta = (1 - confidence) / 2
    return Tested(
        datasets,
        event,
        (hits[0], hits[1]),
        draws,
        chance_at_least(hits[0], draws, beta),
        1 - chance_at_least(draws - hits[1], draws, beta),
    )


def _counted(draw: Callable[[Dataset], Answer], dataset: Dataset, size: int) -> Counter[Answer]:
    try:
        return Counter(draw(dataset) for _ in range(size))
    except RainbowError:
        raise
    except Exception as error:
        raise InvalidMechanism(
            f"the mechanism must draw a hashable answer at {brief(dataset)}, but raised "
            f"{type(error).__name__}: {error}"
        ) from error


class _Halves(NamedTuple):
    """The draws of the first stage: those that order answers, and those that judge sets."""

    order: Counter[Answer]
    judge: Counter[Answer]

    @classmethod
    def of(cls, draw: Callable[[Dataset], Answer], dataset: Dataset, size: int) -> _Halves:
        return cls(_counted(draw, dataset, size), _counted(draw, dataset, size))


def _best_event(
    here: _Halves, there: _Halves, size: int, claim: Guarantee | None, risk: float
) -> tuple[float, Event]:
    """The set that promises most, by the draws of the first stage, and how much."""
    more, less = here.order, there.order
    answers = sorted(
        {*more, *less}, key=lambda a: ((more[a] + 0.5) / (less[a] + 0.5), more[a]), reverse=True
    )
    sizes = np.unique(np.linspace(1, max(1, len(answers) - 1), _MOST_SETS).astype(int))
    judged = np.array([[here.judge[a], there.judge[a]] for a in answers])
    hits = judged.cumsum(axis=0)[sizes - 1]
    events = [Event(frozenset(answers[:number])) for number in sizes.tolist()]
    if _are_numbers(answers) and len(answers) > 2:
        halves, found = _half_lines(here.judge, there.judge)
        events, hits = events + halves, np.concatenate([hits, found])
    worth = _worths(hits, size, claim, risk)
    place = int(worth.argmax())
    return float(worth[place]), events[place]


def _are_numbers(answers: Sequence[Answer]) -> bool:
    return all(isinstance(a, numbers.Real) and a == a for a in answers)


def _half_lines(more: Counter[Any], less: Counter[Any]) -> tuple[list[Event], np.ndarray]:
    """All numbers up to a cut, or from a cut on."""
    values = sorted({*more, *less})
    places = np.unique(np.linspace(0, len(values) - 1, _CUTS).astype(int)).tolist()
    table = np.array([[more[v], less[v]] for v in values]).cumsum(axis=0)
    events, hits = [], []
    for place in places:
        events += [Event(None, side, values[place]) for side in ("at most", "at least")]
        before = table[place - 1] if place else 0 * table[0]
        hits += [table[place], table[-1] - before]
    return events, np.array(hits)


def _worths(hits: np.ndarray, size: int, claim: Guarantee | None, risk: float) -> Floats:
    """How strongly each set speaks against a claim, or for a large ε; in floats, to choose by."""
    from scipy.special import betaincinv, ndtri

    k, m = hits[:, 0].astype(float), hits[:, 1].astype(float)
    p = np.where(k > 0, betaincinv(np.maximum(k, 1), size - k + 1, risk), 0.0)
    q = np.where(m < size, betaincinv(m + 1, np.maximum(size - m, 1), 1 - risk), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(claim, DP) and claim.exact_delta:
            worth = p - claim.ratio * q - claim.delta
        elif isinstance(claim, ZeroConcentrated):
            worth = np.where(p > q, p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)), p - q)
        elif isinstance(claim, TradeOffCurve) and not isinstance(claim, DP):
            worth = ndtri(p) - ndtri(q)
        else:
            worth = np.maximum(np.log(p / q), np.log((1 - q) / (1 - p)))
    found: Floats = np.nan_to_num(worth, nan=-np.inf, posinf=1e300, neginf=-1e300)
    return found


def chance_at_least(hits: int, draws: int, risk: Fraction) -> Fraction:
    """A chance that a coin with so many heads has at least, but for the risk, by balls.

    A coin of chance p has so many heads or more with probability I_p(hits, draws − hits + 1), the
    incomplete beta function. For a p where that is at most the risk, it is a bound (Clopper and
    Pearson). Floats look for it, and a ball of the function decides.

    >>> float(chance_at_least(0, 10, Fraction(1, 100)))
    0.0
    >>> round(float(chance_at_least(60, 100, Fraction(1, 40))), 4)
    0.4972
    """
    from scipy.special import betaincinv

    if hits == 0:
        return Fraction(0)
    near = float(betaincinv(hits, draws - hits + 1, float(risk)))
    for spare in (1e-9, 1e-6, 1e-3, 1e-1, 0.5):
        chance = Fraction(near * (1 - spare))
        with precision(_BITS):
            tail = ball(chance).beta_lower(hits, draws - hits + 1, regularized=True)
            if tail <= ball(risk):
                return chance
    return Fraction(0)

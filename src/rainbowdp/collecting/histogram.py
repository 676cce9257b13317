"""How many people are where, from one private report of each.

A person in region w, at a place d, reports v with the chance p_v(d). If people inside a region are
spread as a public prior says, a report of somebody in w is v with the chance

    C_wv = Σ_{d in w} prior(d | w)·p_v(d),

the *channel*, which everybody can compute. With N_w people in region w the reports n have the mean
N·C, so n·C⁻¹ has the mean N: unbiased, whatever N is. Its covariance is that of n, which is
Σ_w N_w·(diag C_w − C_w C_wᵀ), taken through C⁻¹. Iterative Bayes (the EM algorithm) climbs to the
likeliest N instead: never negative, not unbiased, and with intervals from a bootstrap.

Both stand on the spread inside of regions. How much hangs on it is in ``Histogram.misplaced``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Floats
from rainbowdp.assessing.blocks import blocks, on_graph, prior_of
from rainbowdp.errors import RainbowError
from rainbowdp.expecting import brief
from rainbowdp.graphs.truth import true_answers
from rainbowdp.mechanisms.worths import AnyWeights

_RESAMPLES = 400
_ROUNDS, _NEAR = 20_000, 1e-9
_LEAST = 1e-10  # of the largest singular value: less is noise


@dataclass(frozen=True)
class Estimate:
    """How many people have one first choice: the estimate and its interval."""

    count: float
    low: float
    high: float


@dataclass(frozen=True)
class Histogram:
    """An estimate of how many people are in each region; made by ``rb.collect``.

    Attributes
    ----------
    estimates
        The estimate for each first choice, with its interval.
    reports
        How many reports there were.
    confidence
        Of the intervals: each of them, or all together.
    method
        ``"inversion"`` or ``"bayes"``.
    misplaced
        For each first choice, how far from 1 a person at the worst place of the region may count in
        the mean: what it costs if the assumption about the spread is wrong.
    together
        Whether the confidence is about all intervals at once.

    """

    estimates: Mapping[Answer, Estimate]
    reports: int
    confidence: float
    method: str
    misplaced: Mapping[Answer, float]
    together: bool

    def __getitem__(self, answer: Answer) -> Estimate:
        """The estimate for ``answer``."""
        if answer not in self.estimates:
            raise RainbowError(f"the histogram must have the answer, got {brief(answer)}")
        return self.estimates[answer]

    def __str__(self) -> str:
        width = max(len(str(answer)) for answer in self.estimates)
        which = "all together" if self.together else "each"
        lines = [
            f"{self.reports:,} reports, {self.method}, intervals of {100 * self.confidence:g} % "
            f"{which}"
        ]
        lines += [
            f"{answer!s:<{width}}  {each.count:>10,.1f}  {each.low:>10,.1f} to {each.high:,.1f}"
            for answer, each in self.estimates.items()
        ]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The histogram, ready for JSON."""
        return {
            "reports": self.reports,
            "method": self.method,
            "confidence": self.confidence,
            "together": self.together,
            "estimates": {
                str(answer): {"count": each.count, "low": each.low, "high": each.high}
                for answer, each in self.estimates.items()
            },
            "misplaced": {str(answer): share for answer, share in self.misplaced.items()},
        }


def channel(
    mechanism: Any, prior: AnyWeights | None = None
) -> tuple[tuple[Answer, ...], NDArray[np.float64]]:
    """What people of each region report, if they are spread inside it as the prior says.

    Parameters
    ----------
    mechanism
        A mechanism on a graph.
    prior
        What each dataset counts inside its region, an array or {dataset: weight}; by default all
        alike.

    Returns
    -------
    tuple
        The first choices that occur, and an array with a row for each of them and a column for
        each answer of the graph.

    Raises
    ------
    RainbowError
        If the prior makes no sense, or gives a whole region no chance.

    Examples
    --------
    >>> from rainbowdp import DP, RainbowGraph, optimal
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    >>> channel(optimal(graph, DP(1)))[1].round(3).tolist()
    [[0.816, 0.184], [0.269, 0.731]]

    """
    found = on_graph(mechanism)
    graph, counts = found.graph, prior_of(found.graph, prior)
    truth, size = true_answers(graph), len(graph.answers)
    masses = np.bincount(truth, counts, size)
    present = np.unique(truth)
    empty = next((place for place in present if masses[place] <= 0), None)
    if empty is not None:
        raise RainbowError(
            f"the prior must give every region a chance, but {brief(graph.answers[int(empty)])} "
            "has none"
        )
    table = np.zeros((size, size))
    for part, rows in blocks(found, np.arange(len(graph))):
        here, weighed = truth[part], rows * counts[part, None]
        for column in range(size):
            table[:, column] += np.bincount(here, weighed[:, column], size)
    rows = table[present] / masses[present, None]
    return tuple(graph.answers[int(place)] for place in present), rows


def collect(
    mechanism: Any,
    reports: Mapping[Answer, int] | Iterable[Answer],
    prior: AnyWeights | None = None,
    *,
    method: Literal["inversion", "bayes"] = "inversion",
    confidence: float = 0.95,
    together: bool = False,
    population: bool = False,
    seed: int | None = None,
) -> Histogram:
    """Estimate how many people have each first choice, from one private report of each.

    Parameters
    ----------
    mechanism
        The mechanism on a graph that the reports were drawn from.
    reports
        The answers, or how often each was given.
    prior
        How people are spread inside each region, an array or {dataset: weight}; by default evenly
        over its datasets. Nothing is assumed about how many people are in which region.
    method
        ``"inversion"``, unbiased and with normal intervals; or ``"bayes"``, the likeliest counts,
        never negative, with intervals from a bootstrap.
    confidence
        Of the intervals.
    together
        Whether the confidence is about all intervals at once (by Bonferroni) instead of each.
    population
        Whether the people who reported stand for a larger population that they were drawn from; by
        default the intervals are about these people.
    seed
        Makes the bootstrap repeatable.

    Returns
    -------
    Histogram
        An estimate and an interval for each first choice.

    Raises
    ------
    RainbowError
        If there are no reports, one is not an answer, or two regions cannot be told apart.

    Examples
    --------
    >>> from rainbowdp import DP, RainbowGraph, optimal
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    >>> print(collect(optimal(graph, DP(1)), {"a": 600, "b": 400}))
    1,000 reports, inversion, intervals of 95 % each
    a       605.1       558.6 to 651.6
    b       394.9       348.4 to 441.4

    """
    if not 0 < confidence < 1:
        raise RainbowError(f"confidence must be between 0 and 1, got {confidence}")
    if method not in ("inversion", "bayes"):
        raise RainbowError(f"method must be 'inversion' or 'bayes', got {brief(method)}")
    found = on_graph(mechanism)
    counts = _counted(reports, found.graph.answers)
    names, rows = channel(found, prior)
    inverse = _inverse(rows, names)
    total = int(counts.sum())
    tail = (1 - confidence) / 2 / (len(names) if together else 1)
    if method == "inversion":
        estimate = counts @ inverse
        spread = _deviations(estimate, rows, inverse, total, population)
        reach = NormalDist().inv_cdf(1 - tail) * spread
        low, high = np.maximum(estimate - reach, 0.0), np.minimum(estimate + reach, total)
    else:
        estimate = _likeliest(counts[None, :], rows)[0]
        low, high = _bootstrapped(estimate, counts, rows, tail, population, seed)
    listed = {
        name: Estimate(float(c), float(low_), float(high_))
        for name, c, low_, high_ in zip(names, estimate, low, high, strict=True)
    }
    misplaced = _misplaced(found, names, inverse)
    return Histogram(listed, total, confidence, method, misplaced, together)


def _counted(
    reports: Mapping[Answer, int] | Iterable[Answer], answers: tuple[Answer, ...]
) -> Floats:
    given = dict(reports) if isinstance(reports, Mapping) else Counter(reports)
    stray = next((answer for answer in given if answer not in answers), None)
    if stray is not None:
        raise RainbowError(f"a report must be an answer of the graph, got {brief(stray)}")
    counts = [given.get(answer, 0) for answer in answers]
    if any(isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0 for n in counts):
        raise RainbowError("counts of reports must be whole numbers from 0, but one is not")
    if not sum(counts):
        raise RainbowError("a histogram needs at least one report, got none")
    return np.array(counts, dtype=np.float64)


def _inverse(rows: Floats, names: tuple[Answer, ...]) -> Floats:
    """From reports to regions; rows·inverse is the identity, so the estimate is unbiased."""
    sizes = np.linalg.svd(rows, compute_uv=False)
    if sizes[-1] <= _LEAST * sizes[0]:
        raise RainbowError(
            f"the {len(names)} regions cannot be told apart by these reports: two of them answer "
            "alike; use a larger epsilon or fewer sites"
        )
    return np.asarray(np.linalg.pinv(rows), dtype=np.float64)


def _deviations(
    estimate: Floats, rows: Floats, inverse: Floats, total: int, population: bool
) -> Floats:
    """The standard deviation of each estimate, for counts as they were estimated."""
    people = np.maximum(estimate, 0.0)
    people *= total / people.sum()
    means = people @ rows
    if population:
        shared = np.diag(means) - np.outer(means, means) / total
    else:
        shared = np.diag(means) - (rows.T * people) @ rows
    variances = np.einsum("vw,vu,uw->w", inverse, shared, inverse)
    found: Floats = np.sqrt(np.maximum(variances, 0.0))
    return found


def _likeliest(counts: Floats, rows: Floats) -> Floats:
    """The counts of people under which these reports are likeliest; a row for each sample."""
    totals = counts.sum(axis=1, keepdims=True)
    people = np.repeat(totals / len(rows), len(rows), axis=1)
    for _ in range(_ROUNDS):
        means = np.maximum(people @ rows, 1e-300)
        following = people * ((counts / means) @ rows.T)
        moved = np.abs(following - people).max(axis=1) > _NEAR * totals[:, 0]
        people = following
        if not moved.any():
            break
    return people


def _bootstrapped(
    estimate: Floats,
    counts: Floats,
    rows: Floats,
    tail: float,
    population: bool,
    seed: int | None,
) -> tuple[Floats, Floats]:
    """The middle of what the estimate becomes on reports drawn again as it says."""
    random = np.random.default_rng(seed)
    total = int(counts.sum())
    if population:
        drawn = random.multinomial(total, counts / total, _RESAMPLES).astype(np.float64)
    else:
        whole = _rounded(estimate, total)
        parts = [
            random.multinomial(n, row / row.sum(), _RESAMPLES)
            for n, row in zip(whole, rows, strict=True)
        ]
        drawn = np.sum(parts, axis=0).astype(np.float64)
    again = _likeliest(drawn, rows)
    low, high = np.quantile(again, [tail, 1 - tail], axis=0)
    return low, high


def _rounded(estimate: Floats, total: int) -> NDArray[np.int64]:
    """Whole numbers near the estimate that add up to the total."""
    whole = np.floor(estimate).astype(np.int64)
    short = total - int(whole.sum())
    order = np.argsort(whole - estimate, kind="stable")
    whole[order[:short]] += 1
    return whole


def _misplaced(mechanism: Any, names: tuple[Answer, ...], inverse: Floats) -> dict[Answer, float]:
    """How far from 1 one person's mean count is at the worst place of each region."""
    graph = mechanism.graph
    truth, number = true_answers(graph), {name: at for at, name in enumerate(names)}
    column = np.array([number.get(answer, 0) for answer in graph.answers])
    worst = np.zeros(len(names))
    for part, rows in blocks(mechanism, np.arange(len(graph))):
        own = column[truth[part]]
        off = np.abs(np.einsum("dv,vd->d", rows, inverse[:, own]) - 1)
        np.maximum.at(worst, own, off)
    return {name: float(share) for name, share in zip(names, worst, strict=True)}

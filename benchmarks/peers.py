"""What other libraries draw from, in floats: their documented laws, for many histograms at once.

A peer is a function from counts and margins, one histogram a row, to rows. ``peers_of`` lists those
that exist for a question and a guarantee, each at the rate that keeps it. ``drawn_from`` has the
libraries themselves, to see that the laws are theirs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import opendp.prelude as opendp
from diffprivlib.tools import quantile as diffprivlib_quantile
from scipy.special import ndtr

import rainbowdp as rb
from rainbowdp.aliases import Floats, Integers
from rainbowdp.baselines import (
    exponential,
    inverse_sensitivity,
    joint_exponential,
    permute_and_flip,
    randomized_response,
    smooth_noisy_max,
)
from rainbowdp.numeric.coins import first_heads

Peer = Callable[[Integers, Floats], Floats]
SLOW = ("smooth noisy max",)
_PARTS = 160  # of the range of a noisy score


def peers_of(question: Any, guarantee: Any) -> dict[str, Peer]:
    """Every peer's mechanism for the question that keeps the guarantee, by name."""
    if isinstance(guarantee, rb.DP):
        return _under_epsilon(question, guarantee)
    found: dict[str, Peer] = {}
    if isinstance(guarantee, rb.ZeroConcentrated):  # a range of η costs η²/8
        range_of = math.sqrt(8 * guarantee.rho)
        found["textbook exponential"] = exponential(question, rb.DP(range_of)).rows
        mu = math.sqrt(2 * guarantee.rho)
    else:
        mu = guarantee.mu
    if isinstance(question, rb.Winner):
        changed = math.sqrt(2) if question.neighbors == "substituted" else 1.0
        found["Gaussian noise on all counts"] = _noisy_counts(mu / (changed * question.limit))
    if isinstance(question, rb.Threshold):
        found["Gaussian noise on the count"] = _noisy_count(question.at_least, mu / question.limit)
    return found


def _under_epsilon(question: Any, guarantee: rb.DP) -> dict[str, Peer]:
    makers: list[Any] = [
        exponential,  # diffprivlib's Exponential, OpenDP's noisy max with Gumbel noise
        permute_and_flip,  # diffprivlib's PermuteAndFlip, OpenDP's noisy max
        inverse_sensitivity,
        randomized_response,
        smooth_noisy_max,
    ]
    if isinstance(question, rb.Quantile | rb.Quantiles | rb.Ranking):
        makers.append(joint_exponential)
    found: dict[str, Peer] = {}
    for maker in makers:
        made = maker(question, guarantee)
        found[made.name] = made.rows
    ordered = isinstance(question, rb.Quantile | rb.Quantiles)
    if guarantee.exact_delta and not ordered:  # a refusal is no answer, so it is nowhere
        found["propose-test-release"] = _propose_test_release(guarantee)
    if isinstance(question, rb.Quantile):
        rate = guarantee.epsilon / 2 / question.limit
        q = float(question.q)
        moved = 1.0 if question.neighbors == "substituted" else max(q, 1 - q)
        found["OpenDP quantile"] = _opendp_quantile(q, rate / moved)
        found["diffprivlib quantile"] = _diffprivlib_quantile(q, rate)
    if isinstance(question, rb.Threshold):
        rate = guarantee.epsilon / question.limit
        found["OpenDP geometric noise"] = _geometric_count(question.at_least, rate)
    return found


def _propose_test_release(guarantee: rb.DP) -> Peer:
    """The true answer if the nearest margin, less one, with Laplace noise passes a threshold."""
    delta = guarantee.delta
    start = np.log(2 * delta) if delta <= 0.5 else -np.log(2 * (1 - delta))

    def rows(_: Integers, margins: Floats) -> Floats:
        depths = np.where(margins > 0, margins, np.inf).min(axis=1) - 1
        x = start + guarantee.epsilon * depths
        passes = np.where(x <= 0, 0.5 * np.exp(np.minimum(x, 0)), 1 - 0.5 * np.exp(-np.abs(x)))
        found: Floats = passes[:, None] * (margins == 0)
        return found

    return rows


def _opendp_quantile(q: float, rate: float) -> Peer:
    """Noisy max over the middles of the bins, each record in the middle of its own.

    The score of a candidate is −|(1−q)·records below − q·records above|; exponential noise.
    """

    def rows(counts: Integers, _: Floats) -> Floats:
        upto = counts.cumsum(axis=1)
        below, above = upto - counts, upto[:, -1:] - upto
        scores = np.abs((1 - q) * below - q * above)
        return first_heads(np.exp(-rate * (scores - scores.min(axis=1, keepdims=True))))

    return rows


def _diffprivlib_quantile(q: float, rate: float) -> Peer:
    """A number between two neighboring records, by its length and e^{−ε·|rank − qN|/2}, in its bin.

    The records of a bin lie evenly in it, which is the best that the library can hope for.
    """

    def rows(counts: Integers, _: Floats) -> Floats:
        upto = counts.cumsum(axis=1).astype(np.float64)
        below, target = upto - counts, q * upto[:, -1:]
        ends = [np.exp(-rate * np.abs(end - target)) for end in (below, upto)]
        together = _sum_of(below, upto, target, rate)
        inside = (together - ends[0] / 2 - ends[1] / 2) / np.maximum(counts, 1)
        weights = np.where(counts > 0, inside, ends[0])
        found: Floats = weights / weights.sum(axis=1, keepdims=True)
        return found

    return rows


def _sum_of(first: Floats, last: Floats, target: Floats, rate: float) -> Floats:
    """Σ e^{−rate·|k − target|} for whole k from ``first`` to ``last``."""
    split = np.floor(target)

    def falling(near: Floats, far: Floats) -> Floats:  # distances near, near + 1, …, far
        terms = np.maximum(far - near + 1, 0.0)
        total: Floats = np.exp(-rate * near) * np.expm1(-rate * terms) / math.expm1(-rate)
        return np.where(terms > 0, total, 0.0)

    left = falling(target - np.minimum(last, split), target - first)
    right = falling(np.maximum(first, split + 1) - target, last - target)
    return left + right


def _noisy_counts(rate: float) -> Peer:
    """The most common answer by counts with Gaussian noise of deviation 1/rate."""

    def rows(counts: Integers, _: Floats) -> Floats:
        gaps = np.minimum(rate * (counts.max(axis=1, keepdims=True) - counts), 60.0)
        nodes, shares = np.polynomial.legendre.leggauss(_PARTS)
        found = np.zeros_like(gaps)
        for x, share in zip((9.0 * nodes).tolist(), (9.0 * shares).tolist(), strict=True):
            at = x + gaps
            below = np.maximum(ndtr(at), 1e-300)
            found += share * np.exp(-at * at / 2) / below * below.prod(axis=1, keepdims=True)
        normed: Floats = found / found.sum(axis=1, keepdims=True)
        return normed

    return rows


def _noisy_count(least: Any, rate: float) -> Peer:
    def rows(counts: Integers, _: Floats) -> Floats:
        yes = ndtr(rate * (counts[:, 0] - least + 0.5))
        return np.stack([yes, 1 - yes], axis=1)

    return rows


def _geometric_count(least: Any, rate: float) -> Peer:
    def rows(counts: Integers, _: Floats) -> Floats:
        lead = (counts[:, 0] - least).astype(np.float64)
        short = np.exp(-rate * np.where(lead >= 0, lead + 1, -lead)) / (1 + math.exp(-rate))
        yes = np.where(lead >= 0, 1 - short, short)
        return np.stack([yes, 1 - yes], axis=1)

    return rows


def drawn_from(name: str, question: Any, guarantee: rb.DP, counts: list[int], size: int) -> Floats:
    """Shares of the answers in ``size`` draws from the library itself."""
    drawing = {
        "textbook permute-and-flip": _draw_noisy_max,
        "OpenDP quantile": _draw_opendp_quantile,
        "diffprivlib quantile": _draw_diffprivlib_quantile,
    }[name]
    drawn = drawing(question, guarantee, counts, size)
    return np.bincount(drawn, minlength=len(counts)) / size


def _draw_noisy_max(question: Any, guarantee: rb.DP, counts: list[int], size: int) -> list[int]:
    monotonic = question.neighbors == "added or removed"
    domain = opendp.vector_domain(opendp.atom_domain(T=int))
    metric = opendp.linf_distance(T=int, monotonic=monotonic)
    scale = question.limit * (1 if monotonic else 2) / guarantee.epsilon
    made: Any = opendp.m.make_noisy_max(domain, metric, opendp.max_divergence(), scale)
    return [made(counts) for _ in range(size)]


def _draw_opendp_quantile(
    question: Any, guarantee: rb.DP, counts: list[int], size: int
) -> list[int]:
    records = [v for v, count in enumerate(counts) for _ in range(count)]
    domain: Any = opendp.vector_domain(opendp.atom_domain(T=int))
    change = 1
    if question.neighbors == "substituted":
        domain, change = opendp.vector_domain(opendp.atom_domain(T=int), len(records)), 2

    def at(scale: float) -> Any:
        return opendp.m.make_private_quantile(
            domain,
            opendp.symmetric_distance(),
            opendp.max_divergence(),
            list(range(len(counts))),
            float(question.q),
            scale,
        )

    target = guarantee.epsilon
    scale: Any = opendp.binary_search_param(at, d_in=change, d_out=target, T=float)
    made = at(scale)
    return [made(records) for _ in range(size)]


def _draw_diffprivlib_quantile(
    question: Any, guarantee: rb.DP, counts: list[int], size: int
) -> list[int]:
    values = np.array(
        list(
            itertools.chain.from_iterable(
                [v + (j + 0.5) / count for j in range(count)] for v, count in enumerate(counts)
            )
        )
    )
    state = np.random.RandomState(1)
    bounds = (0.0, float(len(counts)))
    q, epsilon = float(question.q), guarantee.epsilon
    drawn = [
        diffprivlib_quantile(values, q, epsilon, bounds, random_state=state) for _ in range(size)
    ]
    return [min(int(value), len(counts) - 1) for value in drawn]

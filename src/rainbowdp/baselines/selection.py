"""Selection by scores: the exponential mechanism, permute-and-flip, noisy max, inverse sensitivity.

Each answer has a score, and the better the score, the likelier the answer. For ``Winner`` the score
of an answer is its count n_v. For any other question and on a graph it is minus its margin, −λ_v:
how many changes it takes before v is the true answer.

The rows depend on the differences of scores, times a rate c:

================================  ====================
scores                            rate
================================  ====================
counts, added or removed          ε/k with k rows per person
counts, substituted               ε/(2k)
minus the margins                 ε/2; better for ``inverse_sensitivity``
================================  ====================

``docs/baselines.md`` proves that these rates keep ε.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Literal

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.baselines.base import Baseline, Law, World, by_counts, checked, made, with_delta
from rainbowdp.errors import RainbowError
from rainbowdp.expecting import brief
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.coins import first_heads
from rainbowdp.questions import Winner

_REACH, _WIDTH = 40.0, 0.25  # how far noisy scores are looked at, and in what parts
_NOWHERE = 1e4  # a gap that no noise makes up for


def exponential(world: World, guarantee: Guarantee) -> Baseline:
    """The exponential mechanism: p_v proportional to e^{c·score}, at the best known rate c.

    For ``Winner`` the score is the count, and c = ε if records are added or removed and ε/2 if they
    are substituted (divided by the rows of one person). Otherwise p_v ∝ e^{−ελ_v/2};
    ``rb.inverse_sensitivity`` has a better rate for the same scores. Keeps (ε, 0); δ is not used.
    Cost: O(q) per row. McSherry and Talwar, *Mechanism design via differential privacy*, 2007; the
    one-directional case: Dwork and Roth, 2014, Remark 3.1.

    Parameters
    ----------
    world
        A question or a rainbow graph.
    guarantee
        An (ε,δ) guarantee.

    Returns
    -------
    Baseline
        The mechanism, for comparison only.

    Examples
    --------
    >>> from rainbowdp import DP, Winner
    >>> both = [Winner(["red", "green"], neighbors=n) for n in ("substituted", "added or removed")]
    >>> [round(exponential(poll, DP(1))[{"red": 3, "green": 1}]["red"], 4) for poll in both]
    [0.7311, 0.8808]

    """
    return _selected(world, guarantee, "textbook exponential", _softmax)


def permute_and_flip(world: World, guarantee: Guarantee) -> Baseline:
    """Textbook permute-and-flip: take the answers in random order, accept v with probability x_v.

    x_v = e^{−c(best score − score of v)}, so the best answer is always accepted. Exactly

        p_v = x_v · Σ_{S ⊆ others} (−1)^{|S|}/(|S|+1) · Π_{i∈S} x_i
            = x_v · ∫₀¹ Π_{i≠v} (1 − t·x_i) dt.

    The rates are those of ``rb.exponential``, and it is never worse than that. Keeps (ε, 0). Cost:
    O(q²) per row. McKenna and Sheldon, *Permute-and-flip*, 2020. The kind ``"permute-and-flip"``
    that ``rb.best`` releases is another mechanism: in integers, and aware of who wins a tie.

    Parameters
    ----------
    world
        A question or a rainbow graph.
    guarantee
        An (ε,δ) guarantee.

    Returns
    -------
    Baseline
        The mechanism, for comparison only.

    Examples
    --------
    >>> from rainbowdp import DP, Winner
    >>> poll = permute_and_flip(Winner(["red", "green"]), DP(1))
    >>> round(poll[{"red": 3, "green": 1}]["red"], 4)
    0.8161

    """
    return _selected(world, guarantee, "textbook permute-and-flip", first_heads)


def report_noisy_max(
    world: World,
    guarantee: Guarantee,
    noise: Literal["exponential", "gumbel"] = "exponential",
) -> Baseline:
    """Report noisy max: add noise to each score and answer with the largest.

    With exponential noise this has the rows of ``rb.permute_and_flip``, with Gumbel noise those of
    ``rb.exponential`` (``docs/baselines.md``). OpenDP's ``make_noisy_max`` is this; the tests draw
    from it.

    Parameters
    ----------
    world
        A question or a rainbow graph.
    guarantee
        An (ε,δ) guarantee.
    noise
        ``"exponential"`` or ``"gumbel"``.

    Returns
    -------
    Baseline
        The mechanism, for comparison only.

    Raises
    ------
    RainbowError
        If ``noise`` is anything else.

    Examples
    --------
    >>> from rainbowdp import DP, Winner
    >>> question = Winner(["red", "green", "blue"])
    >>> counts = {"red": 4, "green": 3, "blue": 1}
    >>> report_noisy_max(question, DP(1))[counts] == permute_and_flip(question, DP(1))[counts]
    True

    """
    if noise not in ("exponential", "gumbel"):
        raise RainbowError(f"noise must be 'exponential' or 'gumbel', got noise={brief(noise)}")
    laws = {"exponential": first_heads, "gumbel": _softmax}
    return _selected(world, guarantee, f"noisy max, {noise} noise", laws[noise])


def smooth_noisy_max(world: World, guarantee: Guarantee) -> Baseline:
    """Smooth noisy max: Laplace noise of scale 2S/ε on each score, S its smooth sensitivity.

    Smooth sensitivity lies between the local and the global one. Here every score can move by as
    much on every table (a count by the rows of a person, a margin by 1), so all three are that
    number, and what is left is noisy max with Laplace noise. Keeps (ε, 0). Cost: O(q) for each of
    some 1,300 nodes; right to about 1e-6. Chaves, Farias, Perez, Mesquita and Machado,
    *Differentially private selection using smooth sensitivity*, 2025, which has other scores too.

    Parameters
    ----------
    world
        A question or a rainbow graph.
    guarantee
        An (ε,δ) guarantee.

    Returns
    -------
    Baseline
        The mechanism, for comparison only.

    Examples
    --------
    >>> from rainbowdp import DP, Winner
    >>> poll = smooth_noisy_max(Winner(["red", "green"]), DP(1))
    >>> round(poll[{"red": 3, "green": 1}]["red"], 4)
    0.7241

    """
    world, promise = checked(world, guarantee)
    moved = world.limit if isinstance(world, Winner) else 1
    law = partial(_laplace_max, promise.epsilon / (2 * moved))
    keeps = with_delta(promise, 0)
    return made(world, promise, "smooth noisy max", keeps, law, by_counts=by_counts(world))


def _laplace_max(rate: float, scores: Floats) -> Floats:
    """The chance of each answer to have the largest score with Laplace noise.

    With the noisy score x of the winner: ∫ f(x + gap) · Π_{i≠v} F(x + gap_i) dx.
    """
    gaps = np.minimum(rate * (scores.max(axis=1, keepdims=True) - scores), _NOWHERE)
    nodes, shares = np.polynomial.legendre.leggauss(4)
    starts = np.arange(-_REACH, _REACH, _WIDTH)
    rows = np.zeros_like(gaps)
    for x, share in zip(
        (starts[:, None] + _WIDTH * (nodes + 1) / 2).ravel().tolist(),
        np.tile(shares * _WIDTH / 2, len(starts)).tolist(),
        strict=True,
    ):
        at = x + gaps
        tail = 0.5 * np.exp(-np.abs(at))
        below = np.where(at < 0, tail, 1.0 - tail)
        rows += share * tail / below * below.prod(axis=1, keepdims=True)
    normed: Floats = rows / rows.sum(axis=1, keepdims=True)
    return normed


def inverse_sensitivity(world: World, guarantee: Guarantee) -> Baseline:
    """The inverse-sensitivity mechanism: p_v proportional to e^{−c·λ_v}, at the sharp rate c.

    The usual rate is ε/2. Margins allow more: with r = e^{−c} and m = q − 2 it is private exactly
    up to the c with

        c + log(1 + m·r) − log(1 + m·r²) = ε,

    which is ε for two answers and falls to ε/2 for many (``docs/baselines.md``). Keeps (ε, 0).
    Cost: O(q) per row. Asi and Duchi, *Near instance-optimality in differential privacy*, 2020,
    with ε/2.

    Parameters
    ----------
    world
        A question or a rainbow graph.
    guarantee
        An (ε,δ) guarantee.

    Returns
    -------
    Baseline
        The mechanism, for comparison only.

    Examples
    --------
    >>> from rainbowdp import DP, Threshold
    >>> vote = inverse_sensitivity(Threshold(100), DP(1))
    >>> round(vote[{"matching": 100}]["yes"], 4), round(vote[{"matching": 101}]["yes"], 4)
    (0.7311, 0.8808)

    """
    world, promise = checked(world, guarantee)
    rate = _sharp_rate(len(world.answers), promise.epsilon)
    law = _lawful(_softmax, rate)
    return made(world, promise, "inverse sensitivity", with_delta(promise, 0), law)


def _sharp_rate(answers: int, epsilon: float) -> float:
    others = max(answers - 2, 0)
    low, high = epsilon / 2, epsilon
    for _ in range(200):
        rate = (low + high) / 2
        if not low < rate < high:
            break
        spent = (
            rate + math.log1p(others * math.exp(-rate)) - math.log1p(others * math.exp(-2 * rate))
        )
        low, high = (rate, high) if spent <= epsilon else (low, rate)
    return low if others else epsilon


def _selected(world: World, guarantee: Guarantee, name: str, rows: Law) -> Baseline:
    world, promise = checked(world, guarantee)
    moves = 2  # how far a difference of two scores can move
    if isinstance(world, Winner):
        moves = world.limit * (2 if world.neighbors == "substituted" else 1)
    return made(
        world,
        promise,
        name,
        with_delta(promise, 0),
        _lawful(rows, promise.epsilon / moves),
        by_counts=by_counts(world),
    )


def _lawful(rows: Law, rate: float) -> Law:
    """``rows`` of the weights e^{−rate·gap} behind the best score."""

    def law(scores: Floats) -> Floats:
        gaps = scores.max(axis=1, keepdims=True) - scores
        known = np.isfinite(gaps)  # an answer that can never be true has no weight
        return rows(np.where(known, np.exp(-rate * np.where(known, gaps, 0.0)), 0.0))

    return law


def _softmax(weights: Floats) -> Floats:
    rows: Floats = weights / weights.sum(axis=1, keepdims=True)
    return rows

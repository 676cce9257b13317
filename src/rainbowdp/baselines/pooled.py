"""Pooled permute-and-flip for ``Winner``: a closed form between permute-and-flip and the optimum.

With scores m_v = n_v − v/q (no two are equal, and ties go to the answer listed first) let L_C be
the mean score of a set C of answers. To *pool* j with C, let D = C ∪ {j}, and add the largest i ∉ D
with m_i > L_D as long as there is one: the fewest substitutions that let j lead, in the limit of
infinitely fine records, bring all of D to the common score L_D. With the winner w

    T(C) = (1 − Σ_{j∉C} e^{−ε(L_D − m_j)}·T(D)) / |C|,      D = C pooled with j,
    p_w = T({w}),      p_j = e^{−ε(L_D − m_j)}·T(D),        D = {w} pooled with j.

T(C) is what each member of C has where all of C lead together. If records are added or removed,
nobody else is pulled down: D = C ∪ {j}, the exponent is m_w − m_j, and that is permute-and-flip.
``docs/baselines.md`` proves its privacy under substitution for two and three answers.
"""

from __future__ import annotations

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.baselines.base import Baseline, Law, World, checked, made, with_delta
from rainbowdp.baselines.selection import _lawful
from rainbowdp.errors import InvalidQuestion
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.coins import first_heads
from rainbowdp.questions import Winner

MOST_ANSWERS = 8
_BLOCK = 1 << 13  # rows at once, so that 2^7 sets of them stay below 10 MB


def pooled_permute_and_flip(world: World, guarantee: Guarantee) -> Baseline:
    """Pooled permute-and-flip: a rival is as likely as where it leads, less e^ε for each record.

    Keeps (ε, 0): proved if records are added or removed, and for up to three answers if they are
    substituted; for four to eight **checked, not proved** (``docs/baselines.md``). With k rows per
    person the rate is ε/k, because a person is k substitutions. δ is not used. Cost: O(2^q·q²) per
    row.

    Parameters
    ----------
    world
        A ``Winner`` with at most eight answers.
    guarantee
        An (ε,δ) guarantee.

    Returns
    -------
    Baseline
        The mechanism, for comparison only.

    Raises
    ------
    RainbowError
        If ``world`` is anything else.

    Examples
    --------
    >>> from rainbowdp import DP, Winner
    >>> poll = pooled_permute_and_flip(Winner(["red", "green", "blue"]), DP(1))
    >>> round(poll[{"red": 5, "green": 3, "blue": 1}]["red"], 4)  # permute-and-flip: 0.7650
    0.817

    """
    world, promise = checked(world, guarantee)
    if not isinstance(world, Winner) or len(world.answers) > MOST_ANSWERS:
        got = f"{len(world.answers)} answers" if isinstance(world, Winner) else "another"
        raise InvalidQuestion(
            f"pooled permute-and-flip is for Winner with at most {MOST_ANSWERS} answers, got {got}"
        )
    rate = promise.epsilon / world.limit
    rows = _pooled_at(rate) if world.neighbors == "substituted" else _lawful(first_heads, rate)

    def law(counts: Floats) -> Floats:
        size = counts.shape[1]
        return rows(counts - np.arange(size) / size)

    name = "pooled permute-and-flip"
    return made(world, promise, name, with_delta(promise, 0), law, by_counts=True)


def _pooled_at(rate: float) -> Law:
    def rows(scores: Floats) -> Floats:
        found = np.empty_like(scores)
        for start in range(0, len(scores), _BLOCK):
            block = scores[start : start + _BLOCK]
            order = np.argsort(-block, axis=1)
            ranked = _ranked_rows(np.take_along_axis(block, order, axis=1).T, rate)
            np.put_along_axis(found[start : start + _BLOCK], order, ranked.T, axis=1)
        return found

    return rows


def _ranked_rows(scores: Floats, rate: float) -> Floats:
    """Rows where answer 0 leads, 1 is next and so on; a column for each dataset.

    Sets of answers are bit masks, and always contain the leader. Sets that arise from a set are
    larger, so the largest go first.
    """
    size, count = scores.shape
    each = np.arange(count)
    shares = np.empty((1 << size, count))
    rivals = np.empty((size, count))  # of the set at hand: the last one is {leader}
    for leaders in sorted(range(1, 1 << size, 2), key=int.bit_count, reverse=True):
        rivals[:] = 0.0
        for rival in range(1, size):
            if not leaders >> rival & 1:
                together, level = _pool(scores, leaders | 1 << rival)
                # Below 0 only for sets that come about from none: their shares are not used.
                chance = np.exp(-rate * np.maximum(level - scores[rival], 0.0))
                rivals[rival] = chance * shares[together, each]
        shares[leaders] = (1.0 - rivals.sum(axis=0)) / leaders.bit_count()
    rivals[0] = shares[1]
    return rivals


def _pool(scores: Floats, first: int) -> tuple[np.ndarray, Floats]:
    """The set that ``first`` grows to by adding the largest above its mean, and its mean."""
    members = [place for place in range(len(scores)) if first >> place & 1]
    total, number = scores[members].sum(axis=0), np.full(scores.shape[1], len(members))
    together = np.full(scores.shape[1], first)
    for place in range(1, len(scores)):
        if not first >> place & 1:
            above = scores[place] > total / number
            total = total + np.where(above, scores[place], 0.0)
            number = number + above
            together = together | above << place
    return together, total / number

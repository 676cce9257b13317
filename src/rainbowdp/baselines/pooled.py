"""Pooled permute-and-flip for ``Winner``: a closed form between permute-and-flip and the optimum.

With scores m_v = n_v − v/q (no two are equal, and ties go to the answer listed first) let L_C be
the mean score of a set C of answers. To *pool* j with C, let D = C ∪ {j}, and add the largest i ∉ D
with m_i > L_D as long as there is one: the fewest substitutions that let j lead, in the limit of
infinitely fine records, bring all of D to the common score L_D. With the winner w

    T(C) = (1 − Σ_{j∉C} e^{−ε(L_D − m_j)}·T(D)) / |C|,      D = C pooled with j,
    p_w = T({w}),      p_j = e^{−ε(L_D − m_j)}·T(D),        D = {w} pooled with j.

T(C) is what each member of C has where all of C lead together. Where records are added or removed
nobody else is pulled down: D = C ∪ {j}, the exponent is m_w − m_j, and that is permute-and-flip.

**Privacy under substitution.** The rows are continuous in real scores: where m_i = L_D it makes no
difference to L_D whether i is in D, nor to T, since then |D|·T(D) = 1 − T(D∪i) − Σ_{j≠i} P_j and
(|D|+1)·T(D∪i) = 1 − Σ_{j≠i} P_j have the same solution. So it is enough to bound slopes: for every
answer v, the slopes of log p_v in the scores of two answers may differ by at most ε. Let
h_i(C) = −∂ log T(C)/∂m_i for i ∉ C. The exponent of p_j has slope ε(1 − 1/|D|) in m_j, −ε/|D| in
the other scores of D and 0 elsewhere, and T(D) adds Σ_k h_k/|D| to each of D and −h_i to i ∉ D. So
all that is needed is, for every set C that leads together and every i ∉ C,

    h_i(C) ≥ 0   and   Q_i(C) = T(C)·(1 − (Σ_k h_k + |C|·h_i)/ε) ≥ 0,

and differentiating the recursion gives, with P_j = e^{−ε(L_D − m_j)}·T(D) for C and j,

    Q_i(C) = T(C) − P_i − Σ_{j≠i, i∉D} e^{−ε(L_D − m_j)}·Q_i(D)/|D|.

*Two answers*: Q = 1 − 2P ≥ 0 and h = εP/(2T). *Three*: where two lead, Q = (1 − e^{−ε(L−m_i)})/2
and h_i = εP_i/(3T). For C = {w}, with the others a ≤ b behind, u = e^{−εa/6}, t = e^{−εb/6} and
z = t⁴/u², the two Q and the two h·T/ε are, where a ≥ b/2,

    1 − u³ − ¾t³ + ⅓·u·t⁴ + (5/12)·t·u⁴,    1 − ¾u³ − t³ + (5/12)·u·t⁴ + ⅓·t·u⁴,
    u³/4 − u·t⁴/36 − t·u⁴/9,                t³/4 − t·u⁴/36 − u·t⁴/9.

Here u² ≤ t ≤ u ≤ 1, so both h ≥ 0; both Q fall in t and are least at t = u, with
1 − (7/4)u³ + ¾u⁵ ≥ 0 on [0, 1]. Where a < b/2 the nearer one is pulled down with w to let the other
lead, z ≤ u⁶, and they are

    1 − u³(1 − z/3) − z/3 ≥ 0,              1 − u³(¾ − 5z/12) − 2z/3 ≥ (1 − z)/4,
    u³(¼ − z/36) − z/9 ≥ 0,                 2z/9 − u³z/9 ≥ 0. ∎

*Four and more*: not proved. Every pair of neighbors tried (up to eight answers) keeps it.
"""

from __future__ import annotations

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.baselines.base import Baseline, Law, World, checked, made, with_delta
from rainbowdp.baselines.selection import _lawful
from rainbowdp.errors import InvalidQuestion
from rainbowdp.guarantees.dp import Guarantee
from rainbowdp.numeric.coins import first_heads
from rainbowdp.questions import Winner

MOST_ANSWERS = 8
_BLOCK = 1 << 13  # rows at once, so that 2^7 sets of them stay below 10 MB


def pooled_permute_and_flip(world: World, guarantee: Guarantee) -> Baseline:
    """Pooled permute-and-flip: a rival is as likely as where it leads, less e^ε for each record.

    Only for ``Winner`` with at most eight answers. With k rows a person the rate is ε/k: a person
    is k substitutions. δ is not used.

    Keeps (ε, 0): proved where records are added or removed, and where they are substituted for up
    to three answers; for four to eight **checked, not proved**. Cost: O(2^q·q²) a row.

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
    rate = promise.epsilon / world.rows_per_person
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

    Sets of answers are bit masks, and always hold the leader. Those that come about from a set are
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
    """The set that ``first`` grows to by those above its mean, largest first, and its mean."""
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

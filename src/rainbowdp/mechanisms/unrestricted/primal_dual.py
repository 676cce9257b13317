"""Nearly the best mechanism of all for a utility, on graphs too large for the linear program.

Under pure ε the program of ``polytope`` is: maximize Σ u_d(v)·p_d(v) over distributions p_d with
p_d(v) ≤ E·p_d'(v) on each directed edge. With a price y ≥ 0 for each of these demands, the method
of Chambolle and Pock takes rounds

    p ← the distributions nearest to p + τ(u − Kᵀy),        y ← max(0, y + σK(2p_new − p_old)),

K·p the left sides p_d − E·p_d', each a loop over edges. No system of equations is solved, so time
and memory are proportional to edges times answers. σ is much larger than τ, and grows from stage to
stage: what is wanted first is a good total, then that no edge is far from private.

**It is not private until made so.** The rounds go on with E^{1−κ}, a little less than is allowed.
After a stage each answer is raised to the least that its neighbors ask, rows are divided by their
totals, mixed with the uniform row as much as the worst edge needs, and rounded to the grid of
``lifted``; there every edge is checked in integers, and what fails is not a candidate. The prices
prove how far the result is from the best, whatever the rounds did (``Polytope.bound``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.errors import InvalidGuarantee, InvalidMechanism
from rainbowdp.expecting import brief
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.stepping import single_steps
from rainbowdp.guarantees.dp import DP
from rainbowdp.mechanisms.by_margins import margin_flip_on_graph
from rainbowdp.mechanisms.lifted.grid import TOTAL, Bound, worst_edge
from rainbowdp.mechanisms.lifted.rows import Lifted
from rainbowdp.mechanisms.unrestricted.envelope import fixed_rows
from rainbowdp.mechanisms.unrestricted.polytope import Polytope
from rainbowdp.mechanisms.unrestricted.stepped import spread

NAME = "primal-dual"
_KEPT_BACK = 1 / 64  # κ: of ε
_STAGES = (  # τ by σ, and what of ε is kept back: nothing at first, for the sake of the bound
    (0.01, 0.0),
    (0.01, 0.0),
    (0.01, 0.0),
    (0.005, _KEPT_BACK),
    (0.0025, _KEPT_BACK),
    (0.00125, _KEPT_BACK),
    (0.0006, _KEPT_BACK),
)
_ROUNDS = 500, 2_000  # of a stage, at least and at most
_WORK = 10_000_000  # rounds of a stage times weights, up to the most rounds: half a second
_NEAR = 1.01  # times the least loss there can be: good enough
_ROUNDING = 2.0**-24  # of the uniform row: rounding to the grid costs less


@dataclass(frozen=True)
class Approached:
    """A mechanism, and what no mechanism with the guarantee has more of."""

    mechanism: Lifted
    bound: float


def primal_dual(graph: RainbowGraph, guarantee: DP, worth: Floats, most: int) -> Approached:
    """Nearly the most Σ worth·p that a mechanism on ``graph`` can have.

    Where edges have lengths, it is made on their single steps, of which there may be ``most``
    times answers.

    Parameters
    ----------
    graph
        The rainbow graph.
    guarantee
        Pure ε.
    worth
        What each answer is worth at each dataset, times what the dataset counts.
    most
        Places times answers, at most.

    Returns
    -------
    Approached
        The mechanism, checked on every edge, and the bound.

    Raises
    ------
    InvalidGuarantee
        If it has a δ, or ε is 0.
    InvalidMechanism
        If no stage ended near enough to a private mechanism, there is one answer or no compiler.

    """
    if not isinstance(guarantee, DP) or guarantee.delta > 0 or Bound.of(guarantee).ratio == 1:
        raise InvalidGuarantee(f"primal-dual needs a pure ε above 0, got {brief(guarantee, str)}")
    if len(graph.answers) < 2:
        raise InvalidMechanism("primal-dual needs at least 2 answers, got 1")
    if graph.lengths is None:
        return _approached(graph, guarantee, worth)
    steps, places = single_steps(graph, most // len(graph.answers))
    found = _approached(steps, guarantee, spread(worth, places, len(steps)))
    return Approached(Lifted.along(graph, found.mechanism, places), found.bound)


def _approached(graph: RainbowGraph, guarantee: DP, worth: Floats) -> Approached:
    try:
        from rainbowdp.mechanisms.unrestricted.rounds import go_on
    except ImportError:  # no Numba for this Python or this machine
        raise InvalidMechanism(
            "primal-dual needs Numba, which is not installed; use rb.program"
        ) from None
    polytope = Polytope.of(graph, guarantee, fixed_rows(graph, None))
    slots = _Slots.of(polytope)
    bound = Bound.of(guarantee)
    scale = float((worth.max(axis=1) - worth.min(axis=1)).mean()) or 1.0
    start = margin_flip_on_graph(graph, guarantee)
    rows = start.rows_at(np.arange(len(graph))).astype(np.float64)
    prices = np.zeros((len(slots.targets), rows.shape[1]))
    rounds = max(_ROUNDS[0], min(_ROUNDS[1], _WORK // rows.size))
    most = float(worth.max(axis=1).sum())
    best, highest, least, done = None, -np.inf, most, 0  # nobody has more than the best everywhere
    for balance, kept_back in _STAGES:
        inward = bound.ratio ** (1 - kept_back)
        sums = np.zeros_like(rows), np.zeros_like(prices)
        given = slots.offsets, slots.targets, slots.back, worth / scale, inward, balance, rounds
        go_on(*given, rows, prices, *sums)
        done += rounds
        last, (rows, prices) = rows, (each / rounds for each in sums)
        for candidate in (last, rows):
            weights = _private(candidate, slots, inward, bound)
            total = float((worth * weights).sum()) / TOTAL
            if total > highest and worst_edge(weights, slots.pairs, bound).excess <= 0:
                best, highest = weights, total
        least = min(least, polytope.bound(worth, slots.by_edge(prices * scale)[None]))
        if most - highest <= _NEAR * (most - least):
            break
    if best is None:
        raise InvalidMechanism(
            f"no rows of the primal-dual method kept {guarantee} on every edge after {done:,} "
            "rounds; use margin-flip or rb.program"
        )
    return Approached(Lifted(graph, best, guarantee, rounds=done, name=NAME), least)


@dataclass(frozen=True)
class _Slots:
    """The directed edges of a polytope, sorted by where they begin."""

    offsets: Integers
    targets: Integers
    back: Integers  # the slot of the same edge the other way
    order: Integers  # the edge of each slot
    pairs: Integers  # each edge once

    @classmethod
    def of(cls, polytope: Polytope) -> _Slots:
        edges = polytope.edges
        many, half = len(edges), len(edges) // 2
        order = np.argsort(edges[:, 0], kind="stable")
        slot = np.empty(many, dtype=np.int64)
        slot[order] = np.arange(many)
        counts = np.bincount(edges[:, 0], minlength=polytope.size)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        back = slot[(order + half) % max(many, 1)]  # edges are listed one way, then the other
        return cls(offsets, edges[order, 1].astype(np.int64), back, order, edges[:half])

    def by_edge(self, prices: Floats) -> Floats:
        """The prices in the order of the polytope's edges."""
        found = np.empty_like(prices)
        found[self.order] = prices
        return found


def _private(rows: Floats, slots: _Slots, inward: float, bound: Bound) -> Integers:
    """Weights on the grid near ``rows`` that should be private; whether they are is checked."""
    from rainbowdp.mechanisms.unrestricted.rounds import raise_losers

    found, answers = rows.copy(), rows.shape[1]
    for _ in range(2):  # the second time there is much less to raise
        raise_losers(slots.offsets, slots.targets, inward, found)
        found /= found.sum(axis=1, keepdims=True)
    over = 0.0
    first, second = np.ascontiguousarray(slots.pairs.T)
    for column in found.T:
        held = np.ascontiguousarray(column)
        for more, less in ((first, second), (second, first)):
            over = max(over, float((held[more] - bound.ratio * held[less]).max(initial=0.0)))
    mixing = over * answers / (bound.ratio - 1)  # the uniform row has (E − 1)/q to spare
    mixing = min(1.0, mixing / (1 + mixing) + _ROUNDING)
    weights: Integers = np.floor(((1 - mixing) * found + mixing / answers) * TOTAL).astype(np.int64)
    each = np.arange(len(weights))
    weights[each, weights.argmax(axis=1)] += TOTAL - weights.sum(axis=1)
    return weights

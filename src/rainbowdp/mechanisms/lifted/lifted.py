"""Lifted proximity and its fixed point: saying the true answer on any graph and for every ε.

The true answer w of a dataset is the first choice of its rainbow. A dataset is on the *border* if
a neighbor has another true answer; regions that share a first choice have no border between
them. Choose s(b) > 0 for every border dataset b. With E = e^ε let

    R_v(d) = max of E^{−t}·s(b) over border datasets b where v is true and ways of t steps from b
             to d that do not come back to where v is true,
    p_v(d) = R_v(d)  for v ≠ w(d),       p_w(d) = 1 − Σ_{v≠w} R_v(d).

If s(b) + Σ_{v≠w} R_v(b) ≥ 1 on the border ("covered") and Σ_{v≠w} R_v ≤ E/(1+E) everywhere, this is
ε-private; with δ > 0 a step takes x to max(0, (x − δ/(k−1))/E) instead of x/E, for k answers that
are true in one component. ``docs/graph-mechanisms.md`` (Lifted proximity) has the proofs.

``lifted`` covers the border by scaling any s; ``fixed_point`` looks for the s that is covered with
equality, s = 1 − Σ R_v, which is all but the optimum for the true answer. If the second condition
fails, the mechanism may still be private: however it was made, every edge is checked in integers
before it is returned.

**Integers and the floor.** All weights are whole units of 2^-52 and a step is rounded up, so with
δ = 0 it never takes a positive weight to 0: x ≤ E·⌈x/E⌉ at every size, and from the first x with
⌈x/E⌉ = x on, about 1/ε units, R_v is the same everywhere beyond. Whether v can be answered at all
is then the same throughout a component, as pure ε demands. The floor costs 1/ε units per answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Dataset, Floats, Integers
from rainbowdp.errors import (
    InvalidBoundary,
    InvalidGraph,
    InvalidGuarantee,
    InvalidMechanism,
)
from rainbowdp.expecting import brief, expect, whole
from rainbowdp.graphs.engines import Carrier, carrier, plain
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.stepping import single_steps
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.mechanisms.lifted.grid import TOTAL, Bound, Worst, worst_edge
from rainbowdp.mechanisms.lifted.rows import Lifted
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.numeric.quantity import exact

Start: TypeAlias = float | Mapping[Dataset, float] | Mechanism
Progress: TypeAlias = Callable[[str], None]

MOST_CELLS = 1 << 27  # datasets times answers: 1 GiB for each copy of the table
_REACH = TOTAL * 2.0**-44  # smaller weights are not followed while s is looked for
_LEAST = 1e-3  # no s below this while the fixed point is looked for
_DAMPING = 0.5
RELIEFS = 300  # places where a fixed point that is too certain is mended one by one
_MEMORY = 6  # earlier rounds that the next guess is made from


def lifted(graph: RainbowGraph, guarantee: Guarantee, start: Start | None = None) -> Lifted:
    """Lifted proximity: p_v = C·R_v for every answer but the true one.

    In each component s is multiplied by the least C that covers the border (with δ > 0, where R is
    not linear in s, what is still missing is added). It is private if the losers have at most
    E/(1+E) everywhere; otherwise every edge is checked, and the mechanism is refused if one fails.
    Cost: one search for each answer, O(edges · answers).

    Parameters
    ----------
    graph
        The rainbow graph.
    guarantee
        An (ε,δ) guarantee.
    start
        s: one number, a mapping from border datasets, or a mechanism whose probability of the true
        answer it is. By default (E + δk)/(E + k) where k other answers are true next door.

    Returns
    -------
    Lifted
        The mechanism, with its proof.

    Raises
    ------
    InvalidMechanism
        If an edge breaks the guarantee; the message names it.

    Examples
    --------
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    >>> mechanism = lifted(graph, DP.from_ratio(3))
    >>> [round(mechanism[dataset]["b"], 4) for dataset in (0, 1)]
    [0.0833, 0.25]

    """
    if _has_lengths(graph):
        _must_be_one_number(start)
        return by_steps(graph, guarantee, lambda steps: lifted(steps, guarantee, start))
    world = _world(graph, guarantee, "fixed_point, rb.optimal")
    values = world.start(start)
    values = np.ceil(values * world.covering(values))
    weights = world.weights(values)
    world.must_hold(weights, world.worst(weights))
    return Lifted(graph, weights, world.guarantee)


def fixed_point(
    graph: RainbowGraph,
    guarantee: Guarantee,
    start: Start | None = None,
    *,
    rounds: int = 200,
    tolerance: float = 1e-9,
    reliefs: int = RELIEFS,
    progress: Progress | None = None,
) -> Lifted:
    """The lifted mechanism whose s agrees with its own rows: s = 1 − Σ R_v on the border.

    Rounds s ← s + ½(1 − Σ R_v − s), accelerated by Anderson mixing; then the best s found is lifted
    to cover its border. That a fixed point is private is proved only where the losers have at most
    E/(1+E) everywhere. Elsewhere every edge is checked: where the true answer is too likely beside
    a neighbor, some of its probability goes to losers nearby (``reliefs`` times), and what still
    fails is refused. The result is deterministic. Cost: a round is one search for each answer.

    Parameters
    ----------
    graph
        The rainbow graph.
    guarantee
        An (ε,δ) guarantee.
    start
        The first s, as in ``rb.lifted``.
    rounds
        The most rounds.
    tolerance
        Stop when no s would change by more than this.
    reliefs
        At how many places at most some certainty is given up; each takes a look at every edge.
    progress
        Called with a line for each round.

    Returns
    -------
    Lifted
        The mechanism, with its proof.

    Raises
    ------
    InvalidMechanism
        If an edge breaks the guarantee even then; the message names it.

    Examples
    --------
    >>> rainbows = [tuple("abc"), tuple("bca"), tuple("cab")]
    >>> graph = RainbowGraph([(0, 1), (1, 2), (2, 0)], rainbows)
    >>> mechanism = fixed_point(graph, DP.from_ratio(3))
    >>> {answer: round(p, 6) for answer, p in mechanism[0].items()}
    {'a': 0.6, 'b': 0.2, 'c': 0.2}

    """
    if _has_lengths(graph):
        _must_be_one_number(start)
        again = partial(
            fixed_point,
            guarantee=guarantee,
            start=start,
            rounds=rounds,
            tolerance=tolerance,
            reliefs=reliefs,
            progress=progress,
        )
        return by_steps(graph, guarantee, again)
    world = _world(graph, guarantee, "rb.optimal")
    rounds = whole(rounds, "rounds", 0, error=InvalidMechanism)
    within = exact(tolerance, "tolerance", InvalidMechanism)
    tolerance = float(min(max(within, Fraction(0)), Fraction(1)))
    values, spent, change = world.settled(world.start(start), rounds, tolerance, progress)
    weights = unrelieved = world.weights(values)
    worst = world.worst(weights)
    if worst.excess > 0 and reliefs:
        weights = world.relieved(unrelieved, reliefs)
        worst = world.worst(weights)
    world.must_hold(weights, worst)
    changed = int((weights != unrelieved).any(axis=1).sum())
    return Lifted(
        graph,
        weights,
        world.guarantee,
        rounds=spent,
        change=change,
        relieved=changed,
        name="fixed-point",
    )


@dataclass(frozen=True)
class _World:
    """A graph seen by its true answers, under a guarantee; values of s are in units of the grid."""

    graph: RainbowGraph
    guarantee: DP
    bound: Bound
    truth: Integers  # the place of the true answer of each dataset
    border: Integers  # the positions of the border datasets
    remedy: str  # what to use where this is not private

    @cached_property
    def component(self) -> Integers:
        """The number of each dataset's component."""
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        size = len(self.graph)
        edges = self.graph.edge_positions()
        shape = (size, size)
        joined = sparse.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=shape)
        found: Integers = connected_components(joined, directed=False)[1].astype(np.int64)
        return found

    @cached_property
    def living(self) -> NDArray[np.bool_]:
        """For each component, which answers are true somewhere in it."""
        found = np.zeros((int(self.component.max()) + 1, len(self.graph.answers)), dtype=np.bool_)
        found[self.component, self.truth] = True
        return found

    @cached_property
    def _step(self) -> tuple[float, float]:
        """δ′ in units, and 1/E from above: a step leaves (x − δ′)/E of a weight, rounded up."""
        each = self.bound.units // max(1, int(self.living.sum(axis=1).max()) - 1)
        return float(each), min(1.0, (1 + 2.0**-50) / self.bound.ratio)

    @cached_property
    def _carrier(self) -> Carrier:
        return carrier((len(self.graph) + self.graph.edge_count) * len(self.graph.answers))

    def column(self, answer: int, values: Floats, least: float = 0.0) -> Floats:
        """R_v for one answer, 0 where it is true itself."""
        mine = self.truth[self.border] == answer
        given = (*self.graph.compressed, self.truth, answer, self.border[mine], values[mine])
        return self._carrier.carried(*given, self._step, least)

    def losing(self, values: Floats, least: float = 0.0) -> Floats:
        """Σ R_v on the border."""
        given = (*self.graph.compressed, self.truth, self.border, values)
        return self._carrier.carried_sum(*given, self._step, least)[self.border]

    def start(self, start: Start | None) -> Floats:
        """The values of s on the border, checked, in units."""
        values = self._usual() if start is None else self._given(start)
        wrong = ~((values > 0) & (values <= 1))
        if wrong.any():
            place = int(np.flatnonzero(wrong)[0])
            dataset = self.graph.datasets[int(self.border[place])]
            raise InvalidBoundary(
                f"a start must be a probability above 0 at every border dataset, "
                f"got {values[place]} at {brief(dataset)}"
            )
        return np.maximum(np.rint(values * TOTAL), 1.0)

    def _usual(self) -> Floats:
        offsets, targets = self.graph.compressed
        first = plain.sources(offsets)
        rivals = np.zeros((len(self.graph), len(self.graph.answers)), dtype=np.bool_)
        rivals[first, self.truth[targets]] = True
        rivals[np.arange(len(self.graph)), self.truth] = False
        ratio, number = self.bound.ratio, rivals[self.border].sum(axis=1)
        values: Floats = (ratio + self.guarantee.delta * number) / (ratio + number)
        return values

    def _given(self, start: Start) -> Floats:
        def number(value: object) -> float:
            if isinstance(value, float):
                return value
            try:
                return float(exact(value, "a start", InvalidBoundary))
            except OverflowError:
                raise InvalidBoundary("a start must be a probability, got a huge number") from None

        if isinstance(start, Mechanism):
            if start.graph is not self.graph:
                raise InvalidBoundary("a start must be a mechanism on this graph, got another's")
            found: Floats = start.table[start.index[self.border], self.truth[self.border]]
            return found
        if isinstance(start, float | int):
            return np.full(len(self.border), number(start))
        names = self.graph.names(self.border)
        expect(start, Mapping, "a start that is no number or mechanism", InvalidBoundary)
        missing = next((name for name in names if name not in start), None)
        if missing is not None:
            raise InvalidBoundary(
                f"a start must be given on the whole border, got none at {brief(missing)}"
            )
        return np.array([number(start[name]) for name in names])

    def covering(self, values: Floats) -> Floats:
        """C for each border dataset: the least of its component that covers the border."""
        lacking = TOTAL / (values + self.losing(values))
        most = np.zeros(len(self.living))
        np.maximum.at(most, self.component[self.border], lacking)
        return most[self.component[self.border]]

    def settled(
        self, values: Floats, rounds: int, tolerance: float, progress: Progress | None
    ) -> tuple[Floats, int, float]:
        """The s nearest to 1 − Σ R_v, the rounds it took, and how near it is."""
        best, nearest, done = values, np.inf, 0
        guesses: list[Floats] = []
        errors: list[Floats] = []
        for done in range(1, rounds + 1):
            target = np.maximum(1 - self.losing(values, _REACH) / TOTAL, _LEAST)
            error = target - values / TOTAL
            change = float(np.abs(error).max(initial=0.0))
            if change < nearest:
                best, nearest = values, change
            if progress is not None:
                progress(f"round {done}, change {change:.1e}")
            if change <= tolerance:
                break
            guesses, errors = [*guesses, values / TOTAL][-_MEMORY:], [*errors, error][-_MEMORY:]
            following = _anderson(guesses, errors)
            values = np.rint(np.clip(following, _LEAST, 1.0) * TOTAL)
        return best, done, nearest

    def weights(self, values: Floats) -> Integers:
        """All rows from s, lifted to cover the border; that lowers no R_v, so it stays covered."""
        values = values + np.maximum(TOTAL - values - self.losing(values, _REACH), 0.0)
        rows = np.zeros((len(self.graph), len(self.graph.answers)), dtype=np.int64)
        for answer in np.unique(self.truth[self.border]):
            rows[:, answer] = self.column(int(answer), values)
        return self._completed(rows)

    def _completed(self, losers: Integers) -> Integers:
        rest = TOTAL - losers.sum(axis=1)
        if (rest < 0).any():
            dataset = self.graph.datasets[int(rest.argmin())]
            raise InvalidGuarantee(
                f"the losers must leave something for the true answer, got none left at "
                f"{brief(dataset)} for {self.guarantee}; use {self.remedy} or a larger epsilon"
            )
        losers[np.arange(len(losers)), self.truth] = rest
        return losers

    def worst(self, weights: Integers) -> Worst:
        """The worst of all edges."""
        return worst_edge(weights, self.graph.edge_positions(), self.bound)

    def relieved(self, weights: Integers, reliefs: int) -> Integers:
        """Rows with a little less certainty where the true answer is too likely beside a neighbor.

        The excess at d beside d′ goes to the loser v with the most room there, and from d outward
        R_v is raised to the least it must then be. That keeps the losers private; whether it was
        enough is decided by the check. One place after another, the worst first.
        """
        offsets, targets = ways = self.graph.compressed
        first, second = plain.sources(offsets), targets
        same = self.truth[first] == self.truth[second]
        first, second, weights = first[same], second[same], weights.copy()
        each = np.arange(len(weights))
        held = weights[each, self.truth]  # by the true answers, kept apart: all others only grow
        for _ in range(reliefs):
            over = held[first] - self.bound.times(held)[second]
            worst = int(over.argmax()) if len(over) else 0
            if not len(over) or over[worst] <= 0:
                break
            place, beside = first[worst], second[worst]
            room = self.bound.times(weights[beside]) - weights[place]
            room[self.truth[place]] = 0
            gainer = int(room.argmax())
            raise_to = weights[place, gainer] + min(room[gainer], over[worst])
            source = np.array([place]), np.array([float(raise_to)])
            cone = self._carrier.carried(*ways, self.truth, gainer, *source, self._step)
            cone[place] = raise_to
            gain = np.maximum(cone.astype(np.int64) - weights[:, gainer], 0)
            gain[self.truth == gainer] = 0
            if (gain > held).any():
                break
            weights[:, gainer] += gain
            held -= gain
        weights[each, self.truth] = held
        return weights

    def must_hold(self, weights: Integers, worst: Worst) -> None:
        """Raise, with the worst edge and what to use instead, if weights break the guarantee."""
        if worst.excess <= 0:
            return
        first, second = (self.graph.datasets[place] for place in (worst.more, worst.less))
        answers = self._too_likely(weights[worst.more], weights[worst.less])
        raise InvalidGuarantee(
            f"a mechanism must keep {self.guarantee} on every edge, but this one would answer "
            f"{answers} too often at {brief(first)} beside {brief(second)}, by "
            f"{worst.excess / TOTAL:.3g}; use {self.remedy} or a larger epsilon"
        )

    def _too_likely(self, more: Integers, less: Integers) -> str:
        over = more > self.bound.times(less)
        return ", ".join(str(self.graph.answers[place]) for place in np.flatnonzero(over))


def _anderson(guesses: list[Floats], errors: list[Floats]) -> Floats:
    """The damped step from the combination of the last guesses with the least error."""
    value, error = guesses[-1], errors[-1]
    if len(errors) == 1:
        return value + _DAMPING * error
    moves, turns = (np.diff(np.array(rows), axis=0).T for rows in (guesses, errors))
    back = np.linalg.lstsq(turns, error, rcond=1e-10)[0]
    following: Floats = value + _DAMPING * error - (moves + _DAMPING * turns) @ back
    return following


def _has_lengths(graph: Any) -> bool:
    return isinstance(graph, RainbowGraph) and graph.lengths is not None


def _must_be_one_number(start: Start | None) -> None:
    if start is not None and not isinstance(start, float | int):
        raise InvalidBoundary(
            "a start on a graph with lengths must be one number, since its border is in the middle "
            f"of edges, got {type(start).__name__}"
        )


def by_steps(
    graph: RainbowGraph,
    guarantee: Guarantee,
    make: Callable[[RainbowGraph], Lifted],
    most: int | None = None,
) -> Lifted:
    """What ``make`` makes on the single steps of a graph with lengths, on the graph itself."""
    allowed = (MOST_CELLS if most is None else most) // len(graph.answers)
    steps, places = single_steps(graph, allowed)
    try:
        return Lifted.along(graph, make(steps), places)
    except InvalidGuarantee:  # it names places between datasets
        raise InvalidGuarantee(
            f"a mechanism must keep {guarantee} on every step, but this one would not; use "
            "margin-flip or a larger epsilon"
        ) from None


def _world(graph: Any, guarantee: Guarantee, remedy: str) -> _World:
    if not isinstance(graph, RainbowGraph):
        raise InvalidGraph(f"lifted proximity needs a rainbow graph, got {type(graph).__name__}")
    if not isinstance(guarantee, DP):
        raise InvalidGuarantee(
            f"lifted proximity needs an (ε,δ) guarantee, got {brief(guarantee, str)}"
        )
    bound = Bound.of(guarantee)
    if bound.ratio == 1 and bound.units < len(graph.answers):
        raise InvalidGuarantee(
            f"lifted proximity needs an epsilon from 1e-10 or a delta from 1e-14, got {guarantee}"
        )
    if len(graph) * len(graph.answers) > MOST_CELLS:
        raise InvalidGraph(
            f"lifted proximity holds at most {MOST_CELLS:,} weights, one for each dataset and "
            f"answer, got {len(graph):,} datasets and {len(graph.answers)} answers"
        )
    place = {answer: number for number, answer in enumerate(graph.answers)}
    first = np.array([place[region.rainbow[0]] for region in graph.regions.values()])
    truth = first[graph.region_numbers]
    border = plain.boundary(*graph.compressed, truth)
    return _World(graph, guarantee, bound, truth, np.flatnonzero(border), remedy)

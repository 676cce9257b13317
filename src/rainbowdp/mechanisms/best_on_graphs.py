"""The best certified mechanism on a graph: each kind is made, valued and put beside the others.

Every candidate is private by its own proof, so the choice is one of value alone: the expected worth
of its rows in the mean over datasets. What a kind would cost is known from the size of the graph
before it is made, and a kind that does not apply is refused in seconds; a margin flip applies to
every graph with two answers and every ε, so something good always remains.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset
from rainbowdp.errors import InvalidGuarantee, InvalidMechanism, RainbowError
from rainbowdp.exact.check import Check
from rainbowdp.exact.mechanism import ExactMechanism, Releasable
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.margins import whole_margins
from rainbowdp.graphs.truth import true_answers
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.piecewise import PiecewiseLinear
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.mechanisms.by_margins import exponential_on_graph, margin_flip_on_graph
from rainbowdp.mechanisms.design import design, moderate_levels, worst_case_boundary
from rainbowdp.mechanisms.lifted.lifted import RELIEFS, fixed_point, lifted
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.optimal import optimal_on_graph
from rainbowdp.mechanisms.preferring import follows, preferring, reordered
from rainbowdp.mechanisms.proximity import proximity_by_margins
from rainbowdp.mechanisms.unrestricted.program import program
from rainbowdp.mechanisms.worths import AnyUtility, AnyWeights, Forbidden, Worths, goal_of

Made: TypeAlias = Mechanism

_COLUMNS = 8_000  # of a program for a boundary: some seconds
_DEMANDS = 24_000  # rows of a program over all datasets: some seconds
_MORE_DEMANDS = 80_000  # the same where the other kinds may be far from the best: ten seconds
_MANY_DEMANDS = 2_000  # the same where a curve has many lines
_CELLS = 1 << 20  # datasets times answers up to which a fixed point is looked for to the end
_MOST_CELLS = 1 << 26  # beyond which it would not fit in a gigabyte
_FAR_FROM = 1.5  # of e^ε: a larger crowd than this has not been seen to be mended
_TIE = 1e-9  # a kind that is better by less is not: the simpler one stays
_ROUNDS, _NEAR = 60, 1e-6
_SETTLED = "a fixed point as it is"  # within a percent of the best for the true answer
_NAMED = 65_534  # the largest margin that two bytes hold, beside infinity


@dataclass(frozen=True)
class Candidate:
    """One kind of mechanism, and what it is worth or why there is none.

    Attributes
    ----------
    kind
        The kind.
    value
        Its expected worth in the mean over datasets; none where it does not apply.
    note
        Why it does not apply, or how it was made.
    seconds
        The processor time it took.

    """

    kind: str
    value: float | None
    note: str
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """The candidate, ready for JSON."""
        return {
            "kind": self.kind,
            "value": self.value,
            "note": self.note,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, eq=False)
class Choice(Releasable):
    """The best mechanism on a graph and what it was chosen from; made by ``rb.best``.

    Attributes
    ----------
    mechanism
        The mechanism that was chosen.
    candidates
        All kinds, the best first, then those that do not apply.
    goal
        What they were valued by, in words.

    """

    mechanism: Made
    candidates: tuple[Candidate, ...]
    goal: str

    def __str__(self) -> str:
        width = max(len(each.kind) for each in self.candidates)
        lines = [self.claim]
        for each in self.candidates:
            shown = "–" if each.value is None else f"{each.value:.6g}"
            lines.append(f"  {each.kind:<{width}}  {shown:<10}  {each.note}".rstrip())
        return "\n".join(lines)

    @property
    def graph(self) -> RainbowGraph:
        """The graph."""
        return self.mechanism.graph

    @property
    def guarantee(self) -> TradeOffCurve:
        """What is promised between neighbors."""
        return self.mechanism.promise

    @property
    def value(self) -> float:
        """The expected worth of the mechanism, in the mean over datasets."""
        value = self.candidates[0].value
        assert value is not None
        return value

    @property
    def claim(self) -> str:
        """What is claimed of the mechanism, in a sentence."""
        best, *others = [each for each in self.candidates if each.value is not None]
        said = f"{best.kind} has the best {self.goal}, {best.value:.6g} in the mean over datasets"
        if others:
            said += f"; next is {others[0].kind} with {others[0].value:.6g}"
        return said

    @property
    def name(self) -> str:
        """The kind that was chosen."""
        return self.candidates[0].kind

    def exact(self) -> ExactMechanism:
        """The mechanism in integers with its proof; built and proved once, then kept."""
        return self.mechanism.exact()

    def check(self) -> Check:
        """Whether every pair of neighbors keeps the guarantee."""
        return self.mechanism.check()

    def release(self, dataset: Dataset) -> Answer:
        """Draw one answer for ``dataset`` from exact integers: the answer to publish.

        Parameters
        ----------
        dataset
            A node of the graph.

        Returns
        -------
        object
            One of the answers.

        """
        return self.mechanism.release(dataset)

    def __getitem__(self, dataset: Dataset) -> dict[Answer, float]:
        """{answer: probability} at ``dataset``, most preferred answer first."""
        return self.mechanism[dataset]


def best_on_graph(
    graph: RainbowGraph,
    guarantee: Any,
    utility: AnyUtility | None = None,
    weights: AnyWeights | None = None,
    *,
    forbid: Forbidden = (),
    kinds: Sequence[str] | None = None,
) -> Choice:
    """The mechanism with the most expected worth among ``kinds``, by default all there are."""
    left, worths = goal_of(graph, utility, weights, forbid)
    chosen: Made | None = None
    most, name = -math.inf, ""
    candidates = []
    seen = goal_graphs(graph, left, worths, utility)
    for each, made in each_kind(seen, guarantee, worths, kinds):
        candidates.append(each)
        if made is None or each.value is None:
            continue
        if chosen is None or each.value > most + _TIE * max(1.0, abs(most)):
            most, chosen, name = each.value, made, each.kind
    if chosen is None:
        reasons = "; ".join(f"{each.kind}: {each.note}" for each in candidates)
        raise InvalidGuarantee(f"no kind of mechanism can keep {guarantee} here ({reasons})")

    def rank(each: Candidate) -> tuple[bool, float]:
        return each.kind != name, math.inf if each.value is None else -each.value

    return Choice(chosen, tuple(sorted(candidates, key=rank)), worths.words)


def each_kind(
    graphs: Sequence[RainbowGraph],
    guarantee: Any,
    worths: Worths,
    kinds: Sequence[str] | None = None,
) -> Iterator[tuple[Candidate, Made | None]]:
    """Each of ``kinds``, the better of those on ``graphs``; made when it is asked for."""
    promise = curve_of(guarantee, "best on a graph")
    shops = [_Shop(graph, promise, worths) for graph in graphs]
    for kind in kinds if kinds is not None else KINDS:
        if kind not in KINDS:
            raise InvalidMechanism(f"a kind on a graph must be one of {', '.join(KINDS)}")
        started = time.process_time()
        made, value, note = _better(kind, shops)
        yield Candidate(kind, value, note, time.process_time() - started), made


def goal_graphs(
    graph: RainbowGraph, left: RainbowGraph, worths: Worths, utility: AnyUtility | None
) -> list[RainbowGraph]:
    """The graphs that kinds are made on, where ``left`` is without the forbidden answers.

    It has the rainbows that the goal has; and, if they differ, there is one with its regions, too.
    A utility by first choice says nothing about other regions, unless first choices are forbidden.
    """
    if follows(utility):
        return [left]
    own = reordered(left, worths)
    if left is graph and not worths.by_dataset:
        return [own]
    aimed = preferring(left, worths)
    return [own] if (true_answers(aimed) == true_answers(own)).all() else [aimed, own]


def _better(kind: str, shops: Sequence[_Shop]) -> tuple[Made | None, float | None, str]:
    """The better mechanism of a kind, its value, and how it was made; or why there is none."""
    found: tuple[Made | None, float | None, str] = None, None, ""
    for shop in shops:
        try:
            made, note = KINDS[kind](shop)
            value = shop.worths.mean(made)
        except RainbowError as error:
            found = found if found[0] is not None or found[2] else (None, None, str(error))
            continue
        shop.made.add(kind)
        if found[1] is None or value > found[1] + _TIE * max(1.0, abs(found[1])):
            found = made, value, note
    return found


@dataclass(frozen=True)
class _Shop:
    """What the kinds are made from; margins are found once for all of them."""

    graph: RainbowGraph
    guarantee: TradeOffCurve
    worths: Worths
    made: set[str] = field(default_factory=set)

    @cached_property
    def margins(self) -> NDArray[Any]:
        """The margins, cut off where no kind sees a difference: from e^−89 on for half of ε."""
        most = len(self.graph)
        if isinstance(self.guarantee, DP) and self.guarantee.epsilon > 200 / _NAMED:
            most = min(most, math.ceil(200 / self.guarantee.epsilon) + 200)
        return whole_margins(self.graph, max(1, most))

    @property
    def cells(self) -> int:
        """Datasets times answers."""
        return len(self.graph) * len(self.graph.answers)

    @cached_property
    def crowd(self) -> float:
        """The largest Σ e^{−ελ_v} over the rivals of a dataset."""
        assert isinstance(self.guarantee, DP)
        last = min(int(self.margins.max()), len(self.graph))  # no distance is that long
        falls = np.exp(-self.guarantee.epsilon * np.arange(last + 1.0))
        falls[0] = falls[last] = 0.0
        most, size = 0.0, max(1, _CELLS // self.margins.shape[1])
        for start in range(0, len(self.graph), size):
            block = np.minimum(self.margins[start : start + size], last)
            most = max(most, float(falls[block].sum(axis=1).max()))
        return most


def _homogeneous(shop: _Shop) -> tuple[Made, str]:
    graph, promise, worths = shop.graph, shop.guarantee, shop.worths
    levels = moderate_levels(graph, _COLUMNS)
    found: list[tuple[float, Made, str]] = []
    if isinstance(promise, PiecewiseLinear) and levels is not None:
        with suppress(RainbowError):  # a utility or an ε that no program is for
            drawn = design(graph, promise, utility=worths, levels=levels)
            made = optimal_on_graph(graph, promise, drawn.boundary)
            found.append((worths.mean(made), made, "its boundary designed for the sum"))
    if shop.cells <= _CELLS:
        worst = worst_case_boundary(graph, promise)
        made = optimal_on_graph(graph, promise, worst.boundary)
        found.append((worths.mean(made), made, f"its boundary {worst.words}"))
    made = optimal_on_graph(graph, promise, BoundaryCondition.symmetric(graph, promise))
    found.append((worths.mean(made), made, "its boundary symmetric"))
    said = worths.constant()
    made = optimal_on_graph(graph, promise, _always(graph, said))
    found.append((worths.mean(made), made, f"its boundary says {graph.answers[said]} everywhere"))
    _, made, note = max(found, key=lambda each: each[0])
    return made, note


def _always(graph: RainbowGraph, said: int) -> BoundaryCondition:
    """One answer on every boundary: what is left where ε is too small to tell places apart."""
    row = {answer: int(number == said) for number, answer in enumerate(graph.answers)}
    bounded = [label for label, region in graph.regions.items() if region.deepest is not None]
    return BoundaryCondition(graph, dict.fromkeys(bounded, row))


def _proximity(shop: _Shop) -> tuple[Made, str]:
    if not isinstance(shop.guarantee, DP) or shop.guarantee.ratio == 1:
        raise InvalidGuarantee(
            f"proximity needs an (ε,δ) guarantee with ε > 0, got {shop.guarantee}"
        )
    return proximity_by_margins(shop.graph, shop.guarantee, shop.margins), ""


def _margin_flip(shop: _Shop) -> tuple[Made, str]:
    unused = isinstance(shop.guarantee, DP) and shop.guarantee.delta > 0
    made = margin_flip_on_graph(shop.graph, shop.guarantee, shop.margins)
    return made, "δ is kept but not used" if unused else ""


def _exponential(shop: _Shop) -> tuple[Made, str]:
    return exponential_on_graph(shop.graph, shop.guarantee, shop.margins), ""


def _lifted(shop: _Shop) -> tuple[Made, str]:
    _must_be_liftable(shop)
    if shop.cells > _CELLS and "fixed-point" in shop.made:
        raise InvalidMechanism("not made on a large graph where the fixed point, its better, is")
    return lifted(shop.graph, shop.guarantee), ""


def _fixed_point(shop: _Shop) -> tuple[Made, str]:
    _must_be_liftable(shop)
    large = shop.cells > _CELLS
    made = fixed_point(
        shop.graph,
        shop.guarantee,
        rounds=_ROUNDS if large else 200,
        tolerance=_NEAR if large else 1e-9,
        reliefs=2 * RELIEFS if large else RELIEFS,
    )
    if not made.relieved:
        shop.made.add(_SETTLED)
    mended = f", {made.relieved:,} datasets less certain than it" if made.relieved else ""
    return made, f"after {made.rounds} rounds{mended}"


def _must_be_liftable(shop: _Shop) -> None:
    if not isinstance(shop.guarantee, DP):
        raise InvalidGuarantee(f"it needs an (ε,δ) guarantee, got {shop.guarantee}")
    if shop.cells > _MOST_CELLS:
        raise InvalidMechanism(
            f"it keeps a weight for each dataset and answer, {shop.cells:,} here, more than the "
            f"limit of {_MOST_CELLS:,}"
        )
    if shop.cells > _CELLS and shop.crowd > _FAR_FROM * shop.guarantee.ratio:
        raise InvalidGuarantee(
            f"too many answers are near one dataset for {shop.guarantee}: Σ e^(−ελ) is "
            f"{shop.crowd:.3g}, and beyond {_FAR_FROM:g}·e^ε it is not tried on a large graph"
        )


def _program(shop: _Shop) -> tuple[Made, str]:
    graph, promise = shop.graph, shop.guarantee
    pure = isinstance(promise, DP) and promise.delta == 0
    demands = 2 * graph.edge_count * len(graph.answers)
    near = _SETTLED in shop.made and not shop.worths.by_dataset
    allowed = _MANY_DEMANDS if not pure else _DEMANDS if near else _MORE_DEMANDS
    if demands > allowed:
        raise InvalidMechanism(
            f"its linear program would have {demands:,} rows, more than the {allowed:,} that are "
            "solved unasked; call rb.program"
        )
    found = program(graph, promise, utility=shop.worths, progress=lambda line: None)
    bound = found.bound / shop.worths.mass
    return found.mechanism, f"no mechanism has more than {bound:.6g}"


KINDS: Mapping[str, Callable[[_Shop], tuple[Made, str]]] = {
    "homogeneous": _homogeneous,
    "proximity": _proximity,
    "margin-flip": _margin_flip,
    "exponential": _exponential,
    "fixed-point": _fixed_point,
    "lifted": _lifted,
    "program": _program,
}

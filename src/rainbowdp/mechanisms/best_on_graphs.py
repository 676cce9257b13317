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
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context
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
from rainbowdp.mechanisms.best_homogeneous import best_homogeneous
from rainbowdp.mechanisms.by_margins import exponential_on_graph, margin_flip_on_graph
from rainbowdp.mechanisms.lifted.lifted import RELIEFS, by_steps, fixed_point, lifted
from rainbowdp.mechanisms.lifted.merging import classes_within, fixed_point_of_classes
from rainbowdp.mechanisms.lifted.rows import Lifted
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.preferring import follows, preferring, reordered
from rainbowdp.mechanisms.proximity import proximity_by_margins
from rainbowdp.mechanisms.unrestricted.primal_dual import primal_dual
from rainbowdp.mechanisms.unrestricted.program import program
from rainbowdp.mechanisms.worths import (
    AnyUtility,
    AnyWeights,
    Forbidden,
    Worths,
    goal_of,
    is_better,
)

Made: TypeAlias = Mechanism

_DEMANDS = 24_000  # rows of a program over all datasets: some seconds
_MORE_DEMANDS = 80_000  # the same where the other kinds may be far from the best: ten seconds
_MANY_DEMANDS = 2_000  # the same where a curve has many lines
_CELLS = 1 << 20  # datasets times answers up to which a fixed point is looked for to the end
_MOST_CELLS = 1 << 26  # beyond which it would not fit in a gigabyte
_MENDED = 1 << 20  # datasets and edges up to which hundreds of places are mended in seconds
_PRICED_CELLS = 1 << 19  # up to which thousands of rounds over all edges take seconds
_MOST_PRICED_CELLS = 1 << 24  # the same where nothing else is asked for: minutes, and two gigabytes
_LEAST_PRICED = 0.03  # ε below which that many rounds have not been seen to be enough
_CALM = 1  # ε from which a settled fixed point was within 0.1 % of the program
_WORTHWHILE = 0.01  # of the loss: less is not worth a row for each dataset
_MERGED_CELLS = 1 << 22  # of classes of datasets, where there are more than either
_FAR_FROM = 1.5  # of e^ε: a larger crowd than this has not been seen to be mended
_ROUNDS, _NEAR = 60, 1e-6
_SETTLED = "a fixed point as it is"  # within a percent of the best for the true answer
_REGARDLESS = {"program", "primal-dual"}  # of regions, so that one graph will do
_LONG = 1 << 24  # steps that a way may have before it is cut off
_NAMED = 65_534  # the largest margin that two bytes hold, beside infinity


@dataclass(frozen=True)
class Candidate:
    """One kind of mechanism, and what it is worth or why it does not apply.

    Attributes
    ----------
    kind
        The kind.
    value
        Its expected worth in the mean over datasets; None if it does not apply.
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
        What they were judged by, in words.

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
        """What is claimed about the mechanism, in a sentence."""
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
    most_weights: int | None = None,
) -> Choice:
    """The mechanism with the most expected worth among ``kinds``, by default all there are.

    Where rows are kept, they have at most ``most_weights``.
    """
    left, worths = goal_of(graph, utility, weights, forbid)
    chosen: Made | None = None
    most, name = -math.inf, ""
    candidates = []
    seen = goal_graphs(graph, left, worths, utility)
    for each, made in each_kind(seen, guarantee, worths, kinds, most_weights):
        candidates.append(each)
        if made is None or each.value is None:
            continue
        if chosen is None or is_better(each.value, most):
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
    most_weights: int | None = None,
) -> Iterator[tuple[Candidate, Made | None]]:
    """Each of ``kinds``, the better of those on ``graphs``; made when it is asked for."""
    promise = curve_of(guarantee, "best on a graph")
    alone = kinds is not None and len(kinds) == 1
    values: list[float] = []
    shops = [_Shop(graph, promise, worths, most_weights, alone, values) for graph in graphs]
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
    for shop in shops[:1] if kind in _REGARDLESS else shops:
        try:
            made, note = KINDS[kind](shop)
            value = shop.worths.mean(made)
        except RainbowError as error:
            found = found if found[0] is not None or found[2] else (None, None, str(error))
            continue
        shop.made.add(kind)
        shop.values.append(value)
        if found[1] is None or is_better(value, found[1]):
            found = made, value, note
    return found


@dataclass(frozen=True)
class _Shop:
    """What the kinds are made from; margins are found once for all of them."""

    graph: RainbowGraph
    guarantee: TradeOffCurve
    worths: Worths
    most_weights: int | None = None  # that rows may have together
    alone: bool = False  # whether one kind is asked for and no other
    values: list[float] = field(default_factory=list)  # of what is made, on any graph
    made: set[str] = field(default_factory=set)

    @cached_property
    def margins(self) -> NDArray[Any]:
        """The margins, cut off where no kind sees a difference."""
        return whole_margins(self.graph, self.farthest)

    @property
    def farthest(self) -> int:
        """The largest margin that makes a difference: from e^−89 on for half of ε."""
        most = len(self.graph)
        if self.graph.lengths is not None:
            most = min(most * int(self.graph.lengths.max(initial=1)), _LONG)
        if isinstance(self.guarantee, DP) and self.guarantee.epsilon > 200 / _NAMED:
            most = min(most, math.ceil(200 / self.guarantee.epsilon) + 200)
        return max(1, most)

    @property
    def cells(self) -> int:
        """Datasets times answers."""
        return len(self.graph) * len(self.graph.answers)

    @property
    def settled(self) -> bool:
        """Whether a fixed point is made that is within a few percent of the best."""
        return _SETTLED in self.made and not self.worths.by_dataset

    @cached_property
    def crowd(self) -> float:
        """The largest Σ e^{−ελ_v} over the rivals of a dataset."""
        assert isinstance(self.guarantee, DP)
        last = min(int(self.margins.max()), self.farthest)  # no distance is that long
        falls = np.exp(-self.guarantee.epsilon * np.arange(last + 1.0))
        falls[0] = falls[last] = 0.0
        most, size = 0.0, max(1, _CELLS // self.margins.shape[1])
        for start in range(0, len(self.graph), size):
            block = np.minimum(self.margins[start : start + size], last)
            most = max(most, float(falls[block].sum(axis=1).max()))
        return most


def _homogeneous(shop: _Shop) -> tuple[Made, str]:
    return best_homogeneous(shop.graph, shop.guarantee, shop.worths, cells=shop.cells)


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
    if shop.cells > _MOST_CELLS:
        raise InvalidMechanism(
            f"it keeps a weight for each dataset and answer, {shop.cells:,} here, more than the "
            f"limit of {_MOST_CELLS:,}"
        )
    return lifted(shop.graph, shop.guarantee), ""


def _fixed_point(shop: _Shop) -> tuple[Made, str]:
    _must_be_liftable(shop)
    graph, promise = shop.graph, shop.guarantee
    assert isinstance(promise, DP)
    large = shop.cells > _CELLS or graph.lengths is not None
    careful: dict[str, Any] = {
        "rounds": _ROUNDS if large else 200,
        "tolerance": _NEAR if large else 1e-9,
        "reliefs": 2 * RELIEFS if large else RELIEFS,
    }
    allowed = _MOST_CELLS if shop.most_weights is None else shop.most_weights
    notes = []

    def made_on(world: RainbowGraph) -> Lifted:
        whole = len(world) * len(world.answers) <= allowed
        if whole and len(world) + world.edge_count <= _MENDED:
            made, what = fixed_point(world, promise, **careful), "datasets"
            notes.append(f"after {made.rounds} round{'' if made.rounds == 1 else 's'}")
        else:
            most = min(allowed, _MERGED_CELLS) // len(world.answers)
            margins = shop.margins if world is graph else whole_margins(world, shop.farthest)
            classes = classes_within(world, margins, promise, most)
            made, what = fixed_point_of_classes(world, promise, classes, **careful), "rows"
            notes.append(f"{classes.count:,} rows, by margins up to {classes.cut}")
        if made.relieved:
            notes.append(f"{made.relieved:,} {what} less certain than it")
        return made

    plain = graph.lengths is None
    made = made_on(graph) if plain else by_steps(graph, promise, made_on, _MOST_CELLS)
    if not made.relieved:
        shop.made.add(_SETTLED)
    return made, ", ".join(notes)


def _must_be_liftable(shop: _Shop) -> None:
    if not isinstance(shop.guarantee, DP):
        raise InvalidGuarantee(f"it needs an (ε,δ) guarantee, got {shop.guarantee}")
    if shop.cells > _CELLS and shop.crowd > _FAR_FROM * shop.guarantee.ratio:
        raise InvalidGuarantee(
            f"too many answers are near one dataset for {shop.guarantee}: Σ e^(−ελ) is "
            f"{shop.crowd:.3g}, and beyond {_FAR_FROM:g}·e^ε it is not tried on a large graph"
        )


def _program(shop: _Shop) -> tuple[Made, str]:
    graph, promise = shop.graph, shop.guarantee
    pure = isinstance(promise, DP) and promise.delta == 0
    demands = 2 * int(graph.edge_lengths().sum()) * len(graph.answers)
    allowed = _MANY_DEMANDS if not pure else _DEMANDS if shop.settled else _MORE_DEMANDS
    if demands > allowed:
        raise InvalidMechanism(
            f"its linear program would have {demands:,} rows, more than the {allowed:,} that are "
            "solved unasked; call rb.program"
        )
    found = program(graph, promise, utility=shop.worths, progress=lambda line: None)
    bound = found.bound / shop.worths.mass
    return found.mechanism, f"{_none(graph)} has more than {_not_below(bound)}"


def _primal_dual(shop: _Shop) -> tuple[Made, str]:
    if not isinstance(shop.guarantee, DP) or shop.guarantee.delta > 0:
        raise InvalidGuarantee(f"it needs a pure ε, got {shop.guarantee}")
    if "program" in shop.made:
        raise InvalidMechanism("not made where the program, its better, is")
    if shop.settled and shop.guarantee.epsilon >= _CALM:
        raise InvalidMechanism(
            f"not made from ε = {_CALM} on where the fixed point needs no mending: that is as good"
        )
    if shop.guarantee.epsilon < _LEAST_PRICED and not shop.alone:
        raise InvalidMechanism(
            f"it settles too slowly for an ε below {_LEAST_PRICED}, and is made only if asked for "
            "by name"
        )
    most = _MOST_PRICED_CELLS if shop.alone else _PRICED_CELLS
    most = most if shop.most_weights is None else min(most, shop.most_weights)
    if shop.cells > most:
        raise InvalidMechanism(
            f"it would take minutes for {shop.cells:,} datasets times answers; more than {most:,} "
            + ("are too many" if shop.alone else "are looked at only if asked for by name")
        )
    worth = shop.worths.dense()
    found = primal_dual(shop.graph, shop.guarantee, worth, most)
    total, ideal = shop.worths.total(found.mechanism), float(worth.max(axis=1).sum())
    for value in shop.values:
        other = value * shop.worths.mass
        if total <= other + _WORTHWHILE * max(ideal - other, -other):  # a loss is negative worth
            raise InvalidMechanism(
                f"it saves less than {_WORTHWHILE:.0%} of what the best of the others loses, and "
                "would have a row for each dataset"
            )
    lost = max(ideal - total, -total)
    share = max(0.0, found.bound - total) / lost if lost > 0 else 0.0
    return found.mechanism, f"{_none(shop.graph)} saves more than {share:.1%} of what it loses"


def _none(graph: RainbowGraph) -> str:
    """Of which mechanisms a bound is, in words."""
    only = "" if graph.lengths is None else " that keeps the promise on every step"
    return f"no mechanism{only}"


def _not_below(bound: float) -> str:
    """A bound in six digits, rounded up."""
    return f"{float(Context(prec=6, rounding=ROUND_CEILING).create_decimal(bound)):.6g}"


KINDS: Mapping[str, Callable[[_Shop], tuple[Made, str]]] = {
    "homogeneous": _homogeneous,
    "proximity": _proximity,
    "margin-flip": _margin_flip,
    "exponential": _exponential,
    "fixed-point": _fixed_point,
    "lifted": _lifted,
    "program": _program,
    "primal-dual": _primal_dual,
}

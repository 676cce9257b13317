"""Mechanisms side by side: how often each says the true answer, and what ε others would need.

The true answer is the first choice of a dataset. For each mechanism a comparison holds its
*mean error*, the average over the compared datasets of 1 − P(true answer); its *worst case*; the
least P(true answer) at each margin; the margin from which it is 99 % sure, whatever the table; and
the ε it would need to match the mean error of the first mechanism. Where answers are bins in order,
also how far off answers are: the mean distance in records and in bins, and the chance of being more
than one bin off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from rainbowdp.aliases import Dataset, Floats, Integers
from rainbowdp.answering.best import best, by_kind
from rainbowdp.answering.distance import MeanOff, is_ordered, off_by
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.baselines import (
    Baseline,
    exponential,
    inverse_sensitivity,
    permute_and_flip,
    randomized_response,
)
from rainbowdp.baselines.base import World, with_epsilon
from rainbowdp.display import cards
from rainbowdp.errors import InvalidGuarantee, RainbowError
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.margins import margins as margins_on_graph
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.mechanisms.kinds import ON_GRAPHS
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.questions import Question
from rainbowdp.questions.histograms import histograms, margins_of
from rainbowdp.questions.relations import Ties
from rainbowdp.rules import FAMILIES
from rainbowdp.tables import count

Maker: TypeAlias = Callable[[Any, Any], Any]  # a world and a guarantee to a mechanism

SURE = 0.99
_FARTHEST = 10**9  # a margin beyond which nobody asks
_LARGEST_EPSILON = 64.0

OTHERS: Mapping[str, Maker] = {
    "textbook exponential": exponential,
    "textbook permute-and-flip": permute_and_flip,
    "randomized response": randomized_response,
    "inverse sensitivity": inverse_sensitivity,
}


def ours_for(question: Question, guarantee: Guarantee) -> dict[str, Maker]:
    """``best``, and a maker for each quick kind that suits the question and may gain."""
    quick = [f for f in FAMILIES if f.suits(question) and not f.costly]
    kinds = [f.kind for f in quick if not f.outdone(guarantee)]
    return {"best": best, **{kind: partial(by_kind, kind=kind) for kind in kinds}}


@dataclass(frozen=True)
class Standing:
    """How one mechanism does on the compared datasets."""

    name: str
    mechanism: str
    mean_error: float
    worst: float
    worst_dataset: Dataset
    by_margin: Mapping[int, float]
    sure_from: int | None
    epsilon_to_match: float | None
    off: MeanOff | None = None

    def as_dict(self) -> dict[str, Any]:
        """The standing, ready for JSON."""
        return {
            "name": self.name,
            "mechanism": self.mechanism,
            "mean_error": self.mean_error,
            "worst_probability_of_true_answer": self.worst,
            "worst_dataset": self.worst_dataset,
            "probability_of_true_answer_by_margin": {str(m): p for m, p in self.by_margin.items()},
            "sure_from_margin": self.sure_from,
            "epsilon_to_match": self.epsilon_to_match,
            "records_off": None if self.off is None else self.off.records,
            "bins_off": None if self.off is None else self.off.bins,
            "more_than_one_bin_off": None if self.off is None else self.off.beyond,
        }


@dataclass(frozen=True)
class Comparison:
    """Mechanisms side by side; made by ``rb.compare``.

    Attributes
    ----------
    what
        The question or graph, in words.
    guarantee
        What every mechanism promises.
    over
        The compared datasets, in words.
    datasets
        How many they are.
    standings
        How each mechanism does, in the order asked for; the others are measured by the first.
    left_out
        The mechanisms that do not exist under this guarantee, and why.
    unit
        What distances count: records, or people where one has several.

    """

    what: str
    guarantee: Guarantee
    over: str
    datasets: int
    standings: tuple[Standing, ...]
    left_out: Mapping[str, str]
    unit: str = "records"

    def __getitem__(self, name: str) -> Standing:
        """The standing of the mechanism called ``name``."""
        for standing in self.standings:
            if standing.name == name:
                return standing
        names = ", ".join(s.name for s in self.standings)
        raise RainbowError(f"a comparison must be asked for one of {names}, got {name!r}")

    def _repr_html_(self) -> str:
        head, *rows = self._summary()
        table = cards.table(head, rows, len(rows))
        over = f"errors over {self.over}"
        out = (f"left out: {name}, as {reason}" for name, reason in self.left_out.items())
        return cards.card(f"{self.what}, {self.guarantee}", over, table, *out)

    def _summary(self) -> list[tuple[str, ...]]:
        first = self.standings[0].name
        far = (f"{self.unit} off", "bins off", "> 1 bin off") if self.standings[0].off else ()
        head = (
            *("mechanism", "mean error", "worst error", *far),
            *("99 % sure from", f"ε to match {first}"),
        )
        rows = [
            (
                s.name if s.name == s.mechanism else f"{s.name} ({s.mechanism})",
                f"{100 * s.mean_error:.2f} %",
                f"{100 * (1 - s.worst):.2f} %",
                *_far_off(s.off),
                "–" if s.sure_from is None else f"margin {s.sure_from}",
                "–" if s.epsilon_to_match is None else f"{s.epsilon_to_match:.3g}",
            )
            for s in self.standings
        ]
        return [head, *rows]

    def __str__(self) -> str:
        shown = _spread(sorted(self.standings[0].by_margin), 8)
        margins = [
            (s.name, *(_never_certain(s.by_margin[margin]) for margin in shown))
            for s in self.standings
        ]
        return "\n".join(
            [
                f"{self.what}, {self.guarantee}",
                f"errors over {self.over}",
                "",
                *_aligned(self._summary()),
                "",
                "least probability of the true answer by margin",
                *_aligned([("margin", *map(str, shown)), *margins]),
                *(f"left out: {name}, as {reason}" for name, reason in self.left_out.items()),
            ]
        )

    def as_dict(self) -> dict[str, Any]:
        """The comparison, ready for JSON."""
        return {
            "question": self.what,
            "guarantee": describe_guarantee(self.guarantee),
            "over": self.over,
            "datasets": self.datasets,
            "mechanisms": [standing.as_dict() for standing in self.standings],
            "left_out": dict(self.left_out),
        }


def compare(
    world: World,
    guarantee: Guarantee,
    mechanisms: Mapping[str, Maker] | Sequence[Maker] | None = None,
    *,
    records: int | None = None,
    datasets: Iterable[Dataset] | None = None,
    margins: Iterable[int] | None = None,
) -> Comparison:
    """How often each mechanism says the true answer, side by side.

    A question is compared over ``records``, ``datasets`` or ``margins``, exactly one of them; a
    graph over all of its datasets or those given. By margin the least probability over what is
    compared is given. "99 % sure" is about tables of every size for a question, and about the
    compared datasets on a graph; it is missing if no margin reaches it. "ε to match" is found by
    bisection to four digits with δ unchanged; it is below ε for a mechanism with a smaller mean
    error. Where the answers are three and more bins in order, ``off`` has the mean distance of the
    answer from the truth, in records and in bins, and the chance of more than one bin. Cost: a row
    for each dataset and mechanism, some thirty times over for the bisection.

    Parameters
    ----------
    world
        A question or a rainbow graph.
    guarantee
        What every mechanism promises.
    mechanisms
        Functions of a world and a guarantee, such as ``rb.best`` or ``rb.exponential``, by name or
        in a list; the others are measured by the first. By default ours and what others use.
    records
        Compare all histograms of this many records, each counted once (at most 200,000).
    datasets
        Compare these: tables or counts of a question, or datasets of a graph.
    margins
        Compare, at each of these margins, the table of any size on which the mechanism does worst:
        the one where all rivals are that near.

    Returns
    -------
    Comparison
        A standing for each mechanism, to print, draw or turn into JSON.

    Raises
    ------
    RainbowError
        If it is not clear what to compare, or there is nothing to compare.

    Examples
    --------
    >>> from rainbowdp import DP, Winner
    >>> poll = compare(Winner(["red", "green"]), DP(1), records=30)
    >>> for name in ("best", "textbook exponential"):
    ...     print(name, f"{poll[name].mean_error:.2%}", round(poll[name].epsilon_to_match, 2))
    best 2.74% 1.0
    textbook exponential 4.61% 1.79

    """
    if isinstance(world, RainbowGraph):
        places = _on_graph(world, datasets, records, margins)
    else:
        places = _on_question(world, datasets, records, margins)
    made: dict[str, tuple[Maker, Any]] = {}
    left_out: dict[str, str] = {}
    for name, maker in _makers(world, guarantee, mechanisms).items():
        try:
            mechanism = maker(world, guarantee)
        except InvalidGuarantee as error:
            if mechanisms is not None:
                raise
            left_out[name] = str(error)
            continue
        if mechanisms is not None or all(mechanism != other for _, other in made.values()):
            made[name] = maker, mechanism
    if not made:
        raise RainbowError("no mechanism to compare: name at least one that this guarantee allows")
    chances = {name: places.truth(mechanism) for name, (_, mechanism) in made.items()}
    target = float((1 - next(iter(chances.values()))).mean())
    standings = []
    for number, (name, (maker, mechanism)) in enumerate(made.items()):
        chance = chances[name]
        worst = int(chance.argmin())
        standings.append(
            Standing(
                name,
                getattr(mechanism, "name", name),
                float((1 - chance).mean()),
                float(chance[worst]),
                places.show(worst),
                places.least(chance),
                _sure_from(mechanism, places, chance),
                _epsilon_to_match(maker, world, guarantee, places, target, chance, number == 0),
                places.off(mechanism),
            )
        )
    several = not isinstance(world, RainbowGraph) and world.limit > 1
    return Comparison(
        _describe(world),
        guarantee,
        places.over,
        len(places.margin),
        tuple(standings),
        left_out,
        "people" if several else "records",
    )


class _Places:
    """The compared datasets: where the true answer is and how near the rivals are."""

    def __init__(self, margins: Floats, over: str) -> None:
        self.margins, self.over = margins, over
        self.true = margins.argmin(axis=1)
        rivals = margins.copy()
        rivals[np.arange(len(margins)), self.true] = math.inf
        self.margin = rivals.min(axis=1)

    def truth(self, mechanism: Any) -> Floats:
        """P(true answer) at each dataset."""
        raise NotImplementedError

    def off(self, mechanism: Any) -> MeanOff | None:
        """How far off answers are in the mean; none where answers have no order."""
        return None

    def show(self, place: int) -> Dataset:
        """The dataset at ``place``."""
        raise NotImplementedError

    def least(self, chance: Floats) -> dict[int, float]:
        """The least of ``chance`` at each finite margin."""
        finite = np.unique(self.margin[np.isfinite(self.margin)])
        return {int(m): float(chance[self.margin == m].min()) for m in finite}

    def _picked(self, rows: Floats) -> Floats:
        picked: Floats = rows[np.arange(len(rows)), self.true]
        return picked


class _Tables(_Places):
    def __init__(self, question: Question, counts: Integers, over: str) -> None:
        super().__init__(margins_of(question, counts), over)
        self.question, self.counts = question, counts

    def truth(self, mechanism: Any) -> Floats:
        rows = self._rows(mechanism)
        if getattr(self.question, "ties", None) == Ties.ANY_LEADER:
            leads = self.counts == self.counts.max(axis=1, keepdims=True)
            shared: Floats = (rows * leads).sum(axis=1)
            return shared
        return self._picked(rows)

    def off(self, mechanism: Any) -> MeanOff | None:
        if not is_ordered(self.question):
            return None
        rows = self._rows(mechanism)
        return MeanOff.over(off_by(self.question, rows, self.counts, self.margins))

    def _rows(self, mechanism: Any) -> Floats:
        if isinstance(mechanism, Baseline):
            return mechanism.rows(self.counts, self.margins)
        if isinstance(mechanism, QuestionMechanism) and self.question.groups:
            rule = mechanism.exact().rule
            return rule.rows_at(self.question, self.counts, self.margins)
        answers = self.question.answers
        shown = [mechanism[self.show(place)] for place in range(len(self.counts))]
        return np.array([[float(row[a]) for a in answers] for row in shown])

    def show(self, place: int) -> Dataset:
        names = [name for name, _ in self.question.groups]
        return dict(zip(names, self.counts[place].tolist(), strict=True))


class _WorstTables(_Places):
    def __init__(self, question: Question, margins: Sequence[int], over: str) -> None:
        table = np.tile(np.array(margins, dtype=np.float64)[:, None], len(question.answers))
        table[:, 0] = 0.0
        super().__init__(table, over)

    def truth(self, mechanism: Any) -> Floats:
        return np.array([_least_at(mechanism, int(margin)) for margin in self.margin])

    def show(self, place: int) -> Dataset:
        return f"every rival at margin {int(self.margin[place])}"


class _Nodes(_Places):
    def __init__(self, graph: RainbowGraph, chosen: Integers, over: str) -> None:
        super().__init__(margins_on_graph(graph)[chosen], over)
        self.graph, self.chosen = graph, chosen

    def truth(self, mechanism: Any) -> Floats:
        rows: Any = mechanism.mechanism if isinstance(mechanism, Baseline) else mechanism
        if isinstance(rows, Mechanism):
            return self._picked(rows.table[rows.index[self.chosen]])
        names = self.graph.names(self.chosen)
        return np.array([float(rows[name][self.graph.rainbow(name)[0]]) for name in names])

    def show(self, place: int) -> Dataset:
        return self.graph.datasets[int(self.chosen[place])]


def _on_graph(
    graph: RainbowGraph,
    datasets: Iterable[Dataset] | None,
    records: int | None,
    margins: Iterable[int] | None,
) -> _Places:
    if records is not None or margins is not None:
        raise RainbowError("a graph is compared over its datasets; leave out records and margins")
    if datasets is None:
        return _Nodes(graph, np.arange(len(graph)), f"all {len(graph):,} datasets of the graph")
    chosen = np.array([graph.position(dataset) for dataset in datasets], dtype=np.int64)
    if not len(chosen):
        raise RainbowError("a comparison needs at least one dataset, got none")
    return _Nodes(graph, chosen, f"{len(chosen):,} given datasets")


def _on_question(
    question: Question,
    datasets: Iterable[Dataset] | None,
    records: int | None,
    margins: Iterable[int] | None,
) -> _Places:
    if sum(given is not None for given in (datasets, records, margins)) != 1:
        raise RainbowError(
            "a question is compared over records, datasets or margins; give exactly one of them"
        )
    if records is not None:
        counts = histograms(question, records)
        return _Tables(question, counts, f"all {len(counts):,} histograms of {records} records")
    if margins is not None:
        listed = list(margins)
        if not listed or any(isinstance(m, bool) or int(m) != m or m < 1 for m in listed):
            raise RainbowError(f"margins must be whole numbers from 1, got {listed}")
        return _WorstTables(question, listed, f"the worst table at each of {len(listed)} margins")
    names = [name for name, _ in question.groups]
    if not names:
        raise RainbowError(
            "this question has no groups, so datasets cannot be counted; compare over margins"
        )
    counted = [count(dataset, question) for dataset in datasets or ()]
    if not counted:
        raise RainbowError("a comparison needs at least one dataset, got none")
    given = np.array([[row.get(name, 0) for name in names] for row in counted], dtype=np.int64)
    return _Tables(question, given, f"{len(given):,} given datasets")


def _makers(
    world: World,
    guarantee: Guarantee,
    mechanisms: Mapping[str, Maker] | Sequence[Maker] | None,
) -> Mapping[str, Maker]:
    if mechanisms is None:
        ours = ON_GRAPHS if isinstance(world, RainbowGraph) else ours_for(world, guarantee)
        return {**ours, **OTHERS}
    if isinstance(mechanisms, Mapping):
        return mechanisms
    named = {}
    for maker in mechanisms:
        if not callable(maker):
            raise RainbowError(
                "mechanisms must be functions of a world and a guarantee, such as rb.best, "
                f"got {type(maker).__name__}"
            )
        named[getattr(maker, "__name__", str(maker)).replace("_", " ")] = maker
    return named


def _least_at(mechanism: Any, margin: int) -> float:
    """The least probability of the true answer over all tables of this margin."""
    return float(mechanism.by_margin([margin])[0][1])


def _sure_from(mechanism: Any, places: _Places, chance: Floats) -> int | None:
    """The margin from which the true answer has 99 %, by doubling and bisection."""
    told = hasattr(mechanism, "by_margin") and getattr(mechanism, "knows_margins", True)
    if isinstance(places, _Nodes) or not told:
        least = places.least(chance)
        short = [margin for margin, p in least.items() if p < SURE]
        after = [margin for margin in least if not short or margin > max(short)]
        return min(after, default=None)
    high = 1
    while _least_at(mechanism, high) < SURE:
        high *= 2
        if high > _FARTHEST:
            return None
    low = high // 2  # not enough, or no margin at all
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _least_at(mechanism, middle) >= SURE else (middle, high)
    return high


def _epsilon_to_match(
    maker: Maker,
    world: World,
    guarantee: Guarantee,
    places: _Places,
    target: float,
    chance: Floats,
    reference: bool,
) -> float | None:
    """The least ε whose mean error is at most ``target``, by bisection; None if there is none."""
    if not isinstance(guarantee, DP):
        return None
    if reference or abs(float((1 - chance).mean()) - target) <= 1e-12:
        return guarantee.epsilon

    def enough(epsilon: float) -> bool:
        try:
            found = places.truth(maker(world, with_epsilon(guarantee, epsilon)))
        except InvalidGuarantee:
            return False
        return float((1 - found).mean()) <= target

    high = max(guarantee.epsilon, 1e-3)
    while not enough(high):
        high *= 2
        if high > _LARGEST_EPSILON:
            return None
    low = 0.0 if enough(high / 2) else high / 2
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _describe(world: World) -> str:
    if isinstance(world, RainbowGraph):
        return f"the first choice on {world!r}"
    kind = world.describe().get("kind", "question")
    people = world.rows_per_person
    promised = "" if world.person is not None else " (as you promise)"
    unit = "one record" if people == 1 else f"one person's up to {people} records{promised}"
    return f"{kind} over {len(world.answers)} answers, {unit} {world.neighbors}"


def _far_off(off: MeanOff | None) -> tuple[str, ...]:
    if off is None or off.bins is None or off.beyond is None:
        return ()
    return f"{off.records:.3g}", f"{off.bins:.3g}", f"{100 * off.beyond:.2f} %"


def _never_certain(chance: float) -> str:
    """A probability in percent, rounded down: a float cannot tell 100 % from almost certain."""
    return f"{math.floor(chance * 1e4) / 100:.2f} %"


def _spread(margins: Sequence[int], most: int) -> list[int]:
    """At most ``most`` of the margins: the first few, then ever fewer, and the last."""
    if len(margins) <= most:
        return list(margins)
    places = np.unique(np.geomspace(1, len(margins), most).round().astype(int)) - 1
    return [margins[place] for place in places]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with the first column aligned left and the others right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]

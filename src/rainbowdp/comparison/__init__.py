"""Mechanisms side by side: how often each says the true answer, and what ε others would need.

The true answer is the first choice of a dataset. For each mechanism a comparison holds its
*mean error*, the average over the compared datasets of 1 − P(true answer); its *worst case*; the
least P(true answer) at each margin; the margin from which it is 99 % sure, whatever the table; and
the ε it would need to match the mean error of the first mechanism. Where answers are bins in order,
also how far off answers are: the mean distance in records and in bins, and the chance of being more
than one bin off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from rainbowdp.aliases import Dataset, Floats, Integers
from rainbowdp.answering.best import best, by_kind
from rainbowdp.answering.distance import MeanOff, is_ordered, off_by
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.baselines import Baseline
from rainbowdp.baselines.base import World
from rainbowdp.comparison.matching import (
    OTHERS,
    Maker,
    Places,
    epsilon_to_match,
    least_at,
    named_makers,
    sure_from,
)
from rainbowdp.comparison.on_graphs import Goal, compare_on_graph
from rainbowdp.comparison.standings import Comparison, Standing
from rainbowdp.errors import InvalidGuarantee, RainbowError
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.mechanisms.worths import AnyUtility, AnyWeights, Forbidden
from rainbowdp.questions import Question
from rainbowdp.questions.histograms import histograms, margins_of
from rainbowdp.questions.relations import Ties
from rainbowdp.rules import FAMILIES
from rainbowdp.tables import count

__all__ = ["OTHERS", "Comparison", "Maker", "Standing", "compare", "ours_for"]


def ours_for(question: Question, guarantee: Guarantee) -> dict[str, Maker]:
    """``best``, and a maker for each quick kind that suits the question and may gain."""
    quick = [f for f in FAMILIES if f.suits(question) and not f.costly]
    kinds = [f.kind for f in quick if not f.outdone(guarantee)]
    return {"best": best, **{kind: partial(by_kind, kind=kind) for kind in kinds}}


def compare(
    world: World,
    guarantee: Guarantee,
    mechanisms: Mapping[str, Maker] | Sequence[Maker] | None = None,
    *,
    records: int | None = None,
    datasets: Iterable[Dataset] | None = None,
    margins: Iterable[int] | None = None,
    utility: AnyUtility | None = None,
    weights: AnyWeights | None = None,
    forbid: Forbidden = (),
    distances: Any = None,
    within: Iterable[float] = (),
) -> Comparison:
    """How often each mechanism says the true answer, side by side.

    A question is compared over ``records``, ``datasets`` or ``margins``, exactly one of them; a
    graph over all of its datasets or those given. By margin the least probability over what is
    compared is given. "99 % sure" is about tables of every size for a question, and about the
    compared datasets on a graph; it is missing if no margin reaches it. "ε to match" is found by
    bisection to four digits with δ unchanged; it is below ε for a mechanism with a smaller mean
    error. If the answers are three or more bins in order, ``off`` has the mean distance of the
    answer from the truth, in records and in bins, and the chance of being more than one bin off.
    Cost: a row for each dataset and mechanism, some thirty times over for the bisection, which
    graphs of more than 100,000 datasets times answers, or with a goal of their own, go without.

    Parameters
    ----------
    world
        A question or a rainbow graph.
    guarantee
        What every mechanism promises.
    mechanisms
        Functions of a world and a guarantee, such as ``rb.best`` or ``rb.exponential``, by name or
        in a list; the others are compared with the first. By default ours and what others use.
    records
        Compare all histograms of this many records, each counted once (at most 200,000).
    datasets
        Compare these: tables or counts of a question, or datasets of a graph.
    margins
        Compare, at each of these margins, the table of any size on which the mechanism does worst:
        the one where all rivals are that near.
    utility, weights, forbid
        Graphs only: the goal, as in ``rb.best``; the standings then have their mean worth.
    distances
        Graphs only: by dataset and answer, how far what it names is, as ``rb.site_distances`` has
        it; the standings then have the expected distance.
    within
        With ``distances``: for each of these, the chance that the answer is at most that far away.

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
    goal = Goal(utility, weights, forbid, distances, tuple(within))
    if isinstance(world, RainbowGraph):
        if records is not None or margins is not None:
            raise RainbowError(
                "a graph is compared over its datasets; leave out records and margins"
            )
        return compare_on_graph(world, guarantee, mechanisms, datasets, goal)
    if not goal.empty:
        raise RainbowError("utility, weights, forbid, distances and within are for graphs")
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
                sure_from(mechanism, places, chance),
                epsilon_to_match(maker, world, guarantee, places, target, chance, number == 0),
                places.off(mechanism),
            )
        )
    several = world.limit > 1
    return Comparison(
        _describe(world),
        guarantee,
        places.over,
        len(places.margin),
        tuple(standings),
        left_out,
        "people" if several else "records",
    )


class _Tables(Places):
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


class _WorstTables(Places):
    def __init__(self, question: Question, margins: Sequence[int], over: str) -> None:
        table = np.tile(np.array(margins, dtype=np.float64)[:, None], len(question.answers))
        table[:, 0] = 0.0
        super().__init__(table, over)

    def truth(self, mechanism: Any) -> Floats:
        return np.array([least_at(mechanism, int(margin)) for margin in self.margin])

    def show(self, place: int) -> Dataset:
        return f"every rival at margin {int(self.margin[place])}"


def _on_question(
    question: Question,
    datasets: Iterable[Dataset] | None,
    records: int | None,
    margins: Iterable[int] | None,
) -> Places:
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
    world: Question,
    guarantee: Guarantee,
    mechanisms: Mapping[str, Maker] | Sequence[Maker] | None,
) -> Mapping[str, Maker]:
    if mechanisms is None:
        return {**ours_for(world, guarantee), **OTHERS}
    return named_makers(mechanisms)


def _describe(world: World) -> str:
    if isinstance(world, RainbowGraph):
        return f"the first choice on {world!r}"
    kind = world.describe().get("kind", "question")
    people = world.rows_per_person
    promised = "" if world.person is not None else " (as you promise)"
    unit = "one record" if people == 1 else f"one person's up to {people} records{promised}"
    return f"{kind} over {len(world.answers)} answers, {unit} {world.neighbors}"

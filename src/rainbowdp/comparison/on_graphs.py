"""Mechanisms on a graph side by side: every kind, what others use, and the designer's goal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rainbowdp.aliases import Dataset, Floats
from rainbowdp.answering.best import by_kind
from rainbowdp.assessing.blocks import by_answer
from rainbowdp.assessing.side_by_side import Measured, Scene
from rainbowdp.baselines import noise_then_nearest
from rainbowdp.comparison.matching import (
    OTHERS,
    Maker,
    Places,
    epsilon_to_match,
    named_makers,
    sure_from,
)
from rainbowdp.comparison.standings import Comparison, Standing
from rainbowdp.errors import InvalidGraph, InvalidGuarantee, RainbowError
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.curve import curve_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.mechanisms.best_on_graphs import each_kind, goal_graphs
from rainbowdp.mechanisms.kinds import ON_GRAPHS
from rainbowdp.mechanisms.worths import AnyUtility, AnyWeights, Forbidden, Worths, goal_of

_MATCHED = 100_000  # datasets times answers of a graph up to which ε is matched


@dataclass(frozen=True, eq=False)
class Goal:
    """What the designer of a graph wants, and what else is to be measured."""

    utility: AnyUtility | None = None
    weights: AnyWeights | None = None
    forbid: Forbidden = ()
    distances: Any = None
    within: tuple[float, ...] = ()

    @property
    def given(self) -> bool:
        """Whether answers are valued in another way than by the first choice."""
        return self.utility is not None

    @property
    def empty(self) -> bool:
        """Whether nothing was asked for that only graphs have."""
        parts = (self.utility, self.weights, self.distances)
        return all(part is None for part in parts) and self.forbid == () and not self.within


class _Nodes(Places):
    def __init__(self, scene: Scene, over: str) -> None:
        self.scene, self.over = scene, over
        self.true, self.margin = scene.truth, scene.margin

    def truth(self, mechanism: Any) -> Floats:
        return self.scene.measured(mechanism).chances

    def error(self, chance: Floats) -> float:
        return 1 - float(chance @ self.scene.counts)

    def show(self, place: int) -> Dataset:
        return self.scene.graph.datasets[int(self.scene.positions[place])]

    def least(self, chance: Floats) -> dict[int, float]:
        return self.scene.least(chance)


def compare_on_graph(
    graph: RainbowGraph,
    guarantee: Guarantee,
    mechanisms: Mapping[str, Maker] | Sequence[Maker] | None,
    datasets: Iterable[Dataset] | None,
    goal: Goal,
) -> Comparison:
    """A standing for each mechanism; one is held at a time."""
    promise = curve_of(guarantee, "a comparison on a graph")
    left, worths = goal_of(graph, goal.utility, goal.weights, goal.forbid)
    seen = goal_graphs(graph, left, worths, goal.utility)
    scene, over = _scene(seen[0], datasets, worths, goal)
    places = _Nodes(scene, over)
    found: dict[str, tuple[Maker | None, str, Measured]] = {}
    left_out: dict[str, str] = {}
    if mechanisms is None:
        for each, mechanism in each_kind(seen, promise, worths):
            if mechanism is None:
                left_out[each.kind] = each.note
            else:
                ours = partial(by_kind, kind=each.kind) if each.kind in ON_GRAPHS else None
                found[each.kind] = ours, each.kind, scene.measured(mechanism)
        first = max(found, key=lambda kind: found[kind][2].value, default=None)
        if first is not None:
            found = {"best": (None, first, found[first][2]), **found}
    others = {**OTHERS, "noise, then nearest": noise_then_nearest}
    for name, maker in (others if mechanisms is None else named_makers(mechanisms)).items():
        try:
            made = maker(seen[0], promise)
            measured = scene.measured(made)
        except (InvalidGuarantee, InvalidGraph) as error:
            if mechanisms is not None:
                raise
            left_out[name] = str(error)
            continue
        again = None if maker is noise_then_nearest else maker  # to match it takes many searches
        found[name] = again, getattr(made, "name", name), measured
    if not found:
        raise RainbowError("no mechanism to compare: name at least one that this guarantee allows")
    target = next(iter(found.values()))[2].error
    small = len(graph) * len(graph.answers) <= _MATCHED and not goal.given
    standings = []
    for number, (name, (its, kind, measured)) in enumerate(found.items()):
        chance = measured.chances
        worst = int(chance.argmin())
        needed = None
        if number == 0 and isinstance(promise, DP):
            needed = promise.epsilon
        elif small and its is not None:
            needed = epsilon_to_match(
                its, seen[0], promise, places, target, chance, reference=False
            )
        standings.append(
            Standing(
                name,
                kind,
                measured.error,
                float(chance[worst]),
                places.show(worst),
                places.least(chance),
                sure_from(None, places, chance),
                needed,
                value=measured.value if goal.given else None,
                loss=measured.loss,
            )
        )
    size = len(scene.positions)
    what = worths.words if goal.given else "the first choice"
    described = f"{what} on {graph!r}"
    return Comparison(described, guarantee, over, size, tuple(standings), left_out)


def _scene(
    graph: RainbowGraph, datasets: Iterable[Dataset] | None, worths: Worths, goal: Goal
) -> tuple[Scene, str]:
    chosen, over = np.arange(len(graph)), f"all {len(graph):,} datasets of the graph"
    if datasets is not None:
        chosen = np.array([graph.position(dataset) for dataset in datasets], dtype=np.int64)
        over = f"{len(chosen):,} given datasets"
        if not len(chosen):
            raise RainbowError("a comparison needs at least one dataset, got none")
    away = None if goal.distances is None else by_answer(graph, goal.distances)
    if away is None and goal.within:
        raise RainbowError("within needs distances by dataset and answer")
    return Scene.of(graph, chosen, worths, away, goal.within), over

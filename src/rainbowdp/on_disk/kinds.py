"""The kinds of mechanisms for regions on disk, each checked on every edge and valued at every node.

Homogeneous mechanisms are made on the boundary graph; the others are rules for margins, of which no
row is kept. Both are what the engine in memory makes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rainbowdp.deployment import MOST_WEIGHTS, margin_columns
from rainbowdp.errors import InvalidGuarantee, InvalidMechanism
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.graphs.disk_graph import DiskRegions
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.dp import DP
from rainbowdp.mechanisms.best_homogeneous import best_homogeneous
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.mechanisms.by_margins import RuleByMargins
from rainbowdp.mechanisms.design import design, worst_case_boundary
from rainbowdp.mechanisms.margin_rules import margin_rule
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.optimal import optimal_on_graph
from rainbowdp.mechanisms.worths import worths_of
from rainbowdp.on_disk.goals import DiskGoal, Places

KINDS = ("homogeneous", "proximity", "margin-flip", "exponential")
BOUNDARIES = ("worst", "total", "symmetric")
_CELLS = 1 << 22  # margins that are valued at a time


@dataclass(frozen=True)
class Made:
    """A mechanism for regions on disk, where its keys are, and what it does in the mean.

    Attributes
    ----------
    regions
        The regions it is for.
    mechanism
        The mechanism in integers, with its proof.
    keys
        The table of keys.
    columns
        Its columns, by their names in a file.
    least, mean
        The chance of a node's first choice: the least, and in the mean over nodes.
    value
        Its expected worth in the mean over nodes as they count.
    note
        How it was made.

    """

    regions: DiskRegions
    mechanism: ExactMechanism
    keys: str
    columns: dict[str, str]
    least: float
    mean: float
    value: float
    note: str


@dataclass(frozen=True)
class Shop:
    """What the kinds are made from; margins are found once for all of them."""

    goal: DiskGoal
    regions: DiskRegions
    guarantee: TradeOffCurve
    _tables: dict[int, str] = field(default_factory=dict)

    @cached_property
    def places(self) -> Places:
        """The boundary graph, after depths were checked on every edge."""
        self.regions.must_be_depths()
        found = self.goal.places(self.regions)
        if len(found.graph) * len(self.regions.answers) > MOST_WEIGHTS:
            raise InvalidMechanism(
                f"the mechanism file would have more than {MOST_WEIGHTS:,} weights; use fewer "
                "regions or answers"
            )
        return found

    def make(self, kind: str) -> Made:
        """The mechanism of a kind, the best that it has for the goal."""
        if kind != "homogeneous":
            return self._by_margins(kind)
        cells = len(self.regions.graph) * len(self.regions.answers)
        made, note = best_homogeneous(
            self.places.graph,
            self.guarantee,
            self.places.worths,
            cells=cells,
            counts=self.places.bounded,
        )
        return self._homogeneous(made, note)

    def with_boundary(self, boundary: Any) -> Made:
        """The homogeneous mechanism of a boundary: one of ``BOUNDARIES``, or as in ``optimal``."""
        graph, promise, note = self.places.graph, self.guarantee, "as given"
        if boundary is None or isinstance(boundary, str):
            boundary, note = self._drawn(boundary)
        return self._homogeneous(optimal_on_graph(graph, promise, boundary), note)

    def _drawn(self, name: str | None) -> tuple[BoundaryCondition, str]:
        """A boundary by name, and how it was found."""
        graph, promise = self.places.graph, self.guarantee
        if name == "symmetric":
            return BoundaryCondition.symmetric(graph, promise), "symmetric, as asked for"
        if name == "total":
            designed = design(graph, promise, utility=self.places.worths)
            return designed.boundary, "designed for the sum"
        drawn = worst_case_boundary(graph, promise, self.places.bounded, asked=name == "worst")
        return drawn.boundary, drawn.words

    def _homogeneous(self, made: Mechanism, note: str) -> Made:
        """A row for each region and depth."""
        check = made.check(every_edge=True)
        if not check:
            raise InvalidMechanism(f"the mechanism is not private on every edge: {check}")
        sure, sizes = worths_of(made.graph).each(made), self.places.sizes
        return Made(
            self.regions,
            made.exact(),
            self.regions.depth_table,
            {"depth": "level"},
            float(sure[sizes > 0].min()),
            float(sure @ sizes) / len(self.regions.graph),
            self.places.worths.mean(made),
            note,
        )

    def _by_margins(self, kind: str) -> Made:
        """A rule for margins; that these are margins is checked on every edge."""
        regions, rule = self.regions, self._rule(kind)
        table = self._margins(rule.last_margin)
        exact = ExactMechanism(self.guarantee, regions.answers, rule, regions.graph.apart)
        columns = {name: f"m{k}" for k, name in enumerate(margin_columns(regions.answers))}
        unused = kind == "margin-flip" and isinstance(self.guarantee, DP) and self.guarantee.delta
        note = "δ is kept but not used" if unused else ""
        return Made(regions, exact, table, columns, *self._valued(table, rule), note)

    def prepare(self) -> None:
        """Find margins once, as far as any kind looks."""
        lasts = []
        for kind in ("margin-flip", "exponential"):
            with suppress(InvalidGuarantee):
                lasts.append(self._rule(kind).last_margin)
        if lasts:
            self._margins(max(lasts))

    def _rule(self, kind: str) -> RuleByMargins:
        def most(weights: Sequence[int]) -> int:
            return self._most(self._margins(len(weights) - 1), weights)

        return margin_rule(kind, self.regions.answers, self.guarantee, most)

    def _margins(self, cut: int) -> str:
        """The table of margins up to ``cut`` at least, checked on every edge."""
        cut = max(1, cut)
        known = next((name for held, name in self._tables.items() if held >= cut), None)
        if known is None:
            known = self._tables[cut] = self.regions.margin_table(cut)
        return known

    def _most(self, table: str, weights: Sequence[int]) -> int:
        """The largest sum of the weights of a node's margins."""
        listed = ", ".join(map(str, weights))
        parts = " + ".join(
            f"w[least(m{k}, {len(weights) - 1}) + 1]::HUGEINT"
            for k in range(len(self.regions.answers))
        )
        (found,) = self.regions.graph.engine.one(
            f"SELECT max({parts}) FROM {table}, (SELECT list_value({listed}) AS w)"  # noqa: S608
        )
        return int(found)

    def _valued(self, table: str, rule: RuleByMargins) -> tuple[float, float, float]:
        """The least and the mean chance of the first choice, and the mean worth."""
        total, least, value = 0.0, math.inf, 0.0
        for block, worth, weight in self.goal.blocks(table, len(self.regions.answers), _CELLS):
            rows = rule.rows_of(block)
            sure = rows[block == 0]
            total, least = total + float(sure.sum()), min(least, float(sure.min()))
            value += float((worth * rows).sum(axis=1) @ weight)
        return least, total / len(self.regions.graph), value / self.goal.mass

"""The proof that no mechanism with given rows is the best: mechanisms, limits and a broken edge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from rainbowdp.aliases import Answer, Dataset, Floats
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.rainbows import Order
from rainbowdp.guarantees.piecewise import PiecewiseLinear
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.unrestricted.envelope import FixedRows


@dataclass(frozen=True)
class Limit:
    """No mechanism with the fixed rows gives the first ``count`` answers more than ``most``.

    ``prices`` prove it: one number from 0 for each line, directed edge and answer (see
    ``polytope``). With ``earlier``, a price for each shorter prefix, it is about mechanisms that
    give every shorter prefix as much as the join does.
    """

    dataset: Dataset
    count: int
    most: float
    prices: Floats = field(repr=False)
    earlier: tuple[float, ...] = ()


@dataclass(frozen=True)
class Checked:
    """Whether a certificate holds, and if not, why."""

    holds: bool
    reason: str

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class Certificate:
    """The proof that no mechanism dominates all others, or comes first in lexicographic order.

    ``mechanisms`` are all valid with the fixed rows. A mechanism that dominates them has at
    least their prefix sums at the two ends of ``edge``, and by ``limits`` no more; so there it
    has the rows ``join``, and these break the guarantee: ``answers`` are too likely at the first
    end by ``excess``. In lexicographic order there is one mechanism for each end that is not fixed,
    in the order of ``edge``, and the join is its row there.
    """

    graph: RainbowGraph
    guarantee: PiecewiseLinear
    fixed: FixedRows
    mechanisms: tuple[Mechanism, ...]
    limits: tuple[Limit, ...]
    edge: tuple[Dataset, Dataset]
    answers: tuple[Answer, ...]
    excess: float
    order: Order = "dominance"

    @property
    def join(self) -> dict[Dataset, dict[Answer, float]]:
        """The rows that any optimum would have at the two ends, most preferred answer first."""
        return {end: self._joined(end) for end in self.edge}

    def _joined(self, end: Dataset) -> dict[Answer, float]:
        chosen = self.mechanisms
        if self.order == "lexicographic":
            given = {int(place) for place in self.fixed.positions}
            free = [each for each in self.edge if self.graph.position(each) not in given]
            chosen = chosen[free.index(end) :][:1] if end in free else chosen[:1]
        rows = [list(mechanism[end].values()) for mechanism in chosen]
        sums = np.cumsum(rows, axis=1).max(axis=0)
        sums[-1] = 1.0
        parts = np.diff(np.minimum(sums, 1.0), prepend=0.0)
        rainbow = self.graph.rainbow(end)
        return dict(zip(rainbow, parts.tolist(), strict=True))

    def __str__(self) -> str:
        more, less = self.edge
        said = "dominates all others: one that dominates these"
        if self.order == "lexicographic":
            said = "is first in lexicographic order everywhere: one that is as good as these"
        lines = [f"no mechanism {said} {len(self.mechanisms)}"]
        for number, mechanism in enumerate(self.mechanisms, 1):
            ends = "; ".join(f"{end!r} {_shown(mechanism[end])}" for end in self.edge)
            lines.append(f"  mechanism {number}: {ends}")
        lines.append("would have, at the two ends of an edge,")
        lines += [f"  {end!r} {_shown(row)}" for end, row in self.join.items()]
        lines.append(
            f"but then {{{', '.join(str(a) for a in self.answers)}}} is too likely at {more!r} "
            f"beside {less!r}, by {self.excess:.6g}"
        )
        return "\n".join(lines)

    def check(self) -> Checked:
        """Verify everything again, from the graph, the guarantee and the fixed rows alone."""
        given = {int(place) for place in self.fixed.positions}
        ends = sum(self.graph.position(end) not in given for end in self.edge)
        if self.order == "lexicographic" and len(self.mechanisms) != ends:
            return Checked(False, "there must be a mechanism for each end that is not fixed")
        for number, mechanism in enumerate(self.mechanisms, 1):
            if mechanism.graph is not self.graph:
                return Checked(False, f"mechanism {number} is on another graph")
            kept = mechanism.check(self.guarantee, every_edge=True)
            if not kept:
                return Checked(False, f"mechanism {number} is not private: {kept}")
            rows = mechanism.table[mechanism.index[self.fixed.positions]]
            if not (rows == self.fixed.rows).all():
                return Checked(False, f"mechanism {number} does not have the fixed rows")
        if self.edge[1] not in self.graph.neighbors(self.edge[0]):
            return Checked(False, "the two datasets are not neighbors")
        slack = 0.0
        for end in self.edge:
            if self.graph.position(end) in given:
                continue
            sums = np.cumsum(list(self._joined(end).values()))
            for count in range(1, len(sums)):
                found = [x for x in self.limits if (x.dataset, x.count) == (end, count)]
                if not found:
                    return Checked(False, f"nothing limits the first {count} answers at {end!r}")
                most = min(self._proved(limit, sums) for limit in found)
                slack = max(slack, most - float(sums[count - 1]))
        column = {answer: place for place, answer in enumerate(self.graph.answers)}
        rows = np.zeros((2, len(column)))
        for place, row in enumerate(self.join.values()):
            for answer, share in row.items():
                rows[place, column[answer]] = share
        excess = self.guarantee.excess(*np.maximum(rows, 0.0))
        steepest = max(line.slope for line in self.guarantee.lines)
        # a row within ``slack`` of the join in every prefix sum moves a set by 2q·slack at most
        doubt = 2 * len(column) * (1 + steepest) * slack
        if not excess > doubt:
            return Checked(False, f"the join breaks nothing beyond rounding ({excess:.3g})")
        return Checked(
            True,
            f"verified: {len(self.mechanisms)} private mechanisms, {len(self.limits)} limits "
            f"within {slack:.1e}, and a join that exceeds {self.guarantee} by {float(excess):.6g}",
        )

    def _proved(self, limit: Limit, sums: Floats) -> float:
        """The bound that the prices prove, summed edge by edge as it is written."""
        graph, steep = self.graph, [line for line in self.guarantee.lines if line.slope >= 1]
        rainbow, own = graph.rainbow(limit.dataset), int(graph.position(limit.dataset))
        allowed = self.order == "lexicographic" and len(limit.earlier) == limit.count - 1
        if (limit.earlier and not allowed) or min(limit.earlier, default=0.0) < 0:
            return np.inf
        worth: dict[tuple[int, int], float] = {}
        total = 0.0
        for count, price in [*enumerate(limit.earlier, 1), (limit.count, 1.0)]:
            for answer in rainbow[:count]:
                place = graph.answers.index(answer)
                worth[own, place] = worth.get((own, place), 0.0) + price
            total -= price * float(sums[count - 1]) if count < limit.count else 0.0
        for line, prices in zip(steep, limit.prices, strict=True):
            for (here, there), row in zip(_directed(graph, self.fixed), prices, strict=True):
                if not row.any():
                    continue
                if (row < 0).any():
                    return np.inf
                total += line.rise * float(row.max())
                for place, price in enumerate(row):
                    worth[here, place] = worth.get((here, place), 0.0) - price
                    worth[there, place] = worth.get((there, place), 0.0) + line.slope * price
        answers = range(len(graph.answers))
        rows = {int(p): row for p, row in zip(self.fixed.positions, self.fixed.rows, strict=True)}
        for dataset in {place for place, _ in worth}:
            values = [worth.get((dataset, v), 0.0) for v in answers]
            fixed = rows.get(dataset)
            total += max(values) if fixed is None else float(fixed @ np.array(values))
        return total


def _shown(row: Mapping[Answer, float]) -> str:
    return "(" + ", ".join(f"{answer}: {share:.6g}" for answer, share in row.items()) + ")"


def _directed(graph: RainbowGraph, fixed: FixedRows) -> list[tuple[int, int]]:
    """The directed edges of the polytope, in its order."""
    given = {int(place) for place in fixed.positions}
    edges = [(int(a), int(b)) for a, b in graph.edge_positions()]
    edges = [edge for edge in edges if not given.issuperset(edge)]
    return edges + [(b, a) for a, b in edges]

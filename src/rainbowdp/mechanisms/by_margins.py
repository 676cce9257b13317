"""Mechanisms on a graph whose rows are found by margins: no row is kept, each is made when asked.

λ_v(d), the margin of the answer v at the dataset d, is the distance to the nearest dataset whose
first choice is v. Margins are 0 exactly at the first choice and change by at most 1 between
neighbors, which is all that proximity, a margin flip and the exponential mechanism need: their
rules are proved for every such function. That these margins are such a function is checked here on
every edge, in whole numbers, so the proof covers the graph. Where edges have lengths, margins
change by at most the steps of an edge, and the promise is one for each step (``docs/lengths.md``).

Memory: one, two or four bytes for each dataset and answer.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Floats, Integers
from rainbowdp.errors import InvalidGuarantee, InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.falling import ratio_for
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.exact.scores import MarginScores
from rainbowdp.expecting import brief
from rainbowdp.graphs.engines import engine
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.margins import whole_margins, with_infinity
from rainbowdp.graphs.truth import first_choices
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.polygons import ratio_below
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.rules.exponential.proof import range_within
from rainbowdp.rules.exponential.rule import Exponential
from rainbowdp.rules.margin_flip.build import margin_coins
from rainbowdp.rules.margin_flip.rule import MarginFlip
from rainbowdp.rules.proximity.rule import Proximity

RuleByMargins: TypeAlias = Proximity | MarginFlip | Exponential
_CELLS = 1 << 20  # of rows that are made at a time


class ByMargins(Mechanism):
    """A mechanism on a graph that finds its rows by margins; made by ``rb.best`` and its like.

    An answer that is the first choice of no dataset in reach has no chance in these rows, and the
    least that the rule knows in exact ones.

    Parameters
    ----------
    graph
        The rainbow graph.
    guarantee
        What is promised.
    rule
        The rule that turns margins into a row.
    whole
        The margins as ``whole_margins`` has them: a row for each dataset.

    Raises
    ------
    InvalidMechanism
        If margins are not 0 at exactly the first choice, or an edge changes one by more than 1.

    """

    def __init__(
        self,
        graph: RainbowGraph,
        guarantee: TradeOffCurve,
        rule: RuleByMargins,
        whole: NDArray[Any],
    ) -> None:
        self._begin(graph, guarantee, rule.kind)
        self.rule, self.whole = rule, whole
        _must_be_margins(graph, whole)

    def __repr__(self) -> str:
        return f"ByMargins({self.name}, {len(self)} datasets, {self.guarantee})"

    @cached_property
    def _rows_and_index(self) -> tuple[Floats, NDArray[Any]]:
        whole, index = distinct(self.graph, self.whole)
        rows = self._rows_of(whole)
        rows.flags.writeable = False
        return rows, index

    @property
    def table(self) -> Floats:
        """The distinct rows: probabilities in the order of ``graph.answers``; read-only."""
        return self._rows_and_index[0]

    @property
    def index(self) -> NDArray[Any]:
        """For each dataset the number of its row in ``table``; read-only."""
        return self._rows_and_index[1]

    def rows_at(self, positions: NDArray[Any]) -> Floats:
        """The rows of the datasets at ``positions``, answers in the order of ``graph.answers``.

        Parameters
        ----------
        positions
            Indices in ``graph.datasets``.

        Returns
        -------
        array
            A row for each position.

        """
        return self._rows_of(self.whole[positions])

    def _rows_of(self, whole: NDArray[Any]) -> Floats:
        rows = np.empty(whole.shape)
        size = max(1, _CELLS // whole.shape[1])
        for start in range(0, len(whole), size):
            block = with_infinity(whole[start : start + size])
            beyond = np.isinf(block)
            made = self.rule.rows_of(np.where(beyond, 1e18, block))
            if beyond.any():
                made[beyond] = 0.0
                made[block == 0] += 1 - made.sum(axis=1)
            rows[start : start + size] = made
        return rows

    def __getitem__(self, dataset: Dataset) -> dict[Answer, float]:
        """{answer: probability} at ``dataset``, most preferred answer first."""
        row = self.rows_at(np.array([self.graph.position(dataset)]))[0]
        place = self._answer_place
        return {answer: float(row[place[answer]]) for answer in self.graph.rainbow(dataset)}

    def check(self, guarantee: TradeOffCurve | None = None, *, every_edge: bool = False) -> Check:
        """The exact proof: the rule's, and that of the margins on every edge.

        Parameters
        ----------
        guarantee
            Another one to check; its rows are then compared in floats.
        every_edge
            Compare the rows in floats on every edge even so.

        Returns
        -------
        Check
            Whether it holds, and the worst pair of neighbors where it does not.

        """
        if every_edge or (guarantee is not None and guarantee != self.guarantee):
            return super().check(guarantee, every_edge=every_edge)
        return self.proof

    @cached_property
    def _exact(self) -> ExactMechanism:
        return ExactMechanism(
            self.promise, self.graph.answers, self.rule, self.graph.apart, locate=self.key
        )

    def key(self, dataset: Dataset) -> dict[Answer, int]:
        """The margins of ``dataset``, by which its exact row is found.

        Parameters
        ----------
        dataset
            A node of the graph.

        Returns
        -------
        dict
            The margin of each answer; one that no way leads to has the largest.

        """
        row = self.whole[self.graph.position(dataset)]
        beyond, last = np.iinfo(row.dtype).max, self.last
        margins = [last if margin == beyond else margin for margin in row.tolist()]
        return dict(zip(self.graph.answers, margins, strict=True))

    @property
    def last(self) -> int:
        """A margin from which on the rule makes no difference."""
        return self.rule.last_margin


def margin_flip_on_graph(
    graph: RainbowGraph, guarantee: Guarantee, whole: NDArray[Any] | None = None
) -> ByMargins:
    """A coin for each answer by its own margin and that of the nearest rival: for every ε."""
    rule = margin_flip_rule(len(graph.answers), guarantee)
    assert isinstance(guarantee, DP)
    found = _margins(graph, rule.coins.farthest) if whole is None else whole
    return ByMargins(graph, guarantee, rule, found)


def margin_flip_rule(answers: int, guarantee: Guarantee) -> MarginFlip:
    """The rule of ``margin_flip_on_graph``, for any graph."""
    if not isinstance(guarantee, DP):
        raise InvalidGuarantee(f"margin-flip needs an (ε,δ) guarantee, got {brief(guarantee, str)}")
    _must_have_rivals(answers, "margin-flip")
    if ratio_for(1 / ratio_below(guarantee), MarginScores().moves) >= 1:
        raise InvalidGuarantee(f"margin-flip needs a larger epsilon, got {guarantee}")
    return margin_coins(answers, guarantee)


def exponential_on_graph(
    graph: RainbowGraph, guarantee: Guarantee, whole: NDArray[Any] | None = None
) -> ByMargins:
    """A weight for each answer by signed margins: for every ε and for Gaussian privacy."""
    rule = exponential_rule(len(graph.answers), guarantee)
    assert isinstance(guarantee, DP | GaussianDP)
    found = _margins(graph, rule.falling.farthest) if whole is None else whole
    return ByMargins(graph, guarantee, rule, found)


def exponential_rule(answers: int, guarantee: Guarantee) -> Exponential:
    """The rule of ``exponential_on_graph``, for any graph."""
    if not isinstance(guarantee, DP | GaussianDP):
        raise InvalidGuarantee(
            "exponential needs an (ε,δ) or a Gaussian guarantee on a graph, got "
            f"{brief(guarantee, str)}"
        )
    _must_have_rivals(answers, "exponential")
    ratio = ratio_for(1 / range_within(guarantee), MarginScores().moves)
    if ratio >= 1:
        raise InvalidGuarantee(f"exponential needs a larger budget than {guarantee}")
    return Exponential(MarginScores(), ratio)


def _must_have_rivals(answers: int, kind: str) -> None:
    if answers < 2:
        raise InvalidGuarantee(f"{kind} needs at least 2 answers, got {answers}")


def _margins(graph: RainbowGraph, farthest: int) -> NDArray[Any]:
    return whole_margins(graph, farthest)


def distinct(graph: RainbowGraph, found: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The distinct rows of ``found`` and the number of each dataset's, one column at a time."""
    chosen = engine(len(graph) + graph.edge_count)
    classes, first = np.zeros(len(found), dtype=np.uint32), np.zeros(1, dtype=np.int64)
    for column in found.T:
        if len(first) < len(found):
            classes, first = chosen.refine(classes, column)
    return found[first], classes


def _must_be_margins(graph: RainbowGraph, whole: NDArray[Any]) -> None:
    """Refuse margins that are not 0 at exactly the first choice, or jump on an edge.

    Between the ends of an edge of ℓ steps lies a chain of ℓ unit steps, each with one margin at 0,
    if no margin changes by more than ℓ and, where the first choice changes, the margins of the
    other end's first choice add up to ℓ + 1 at most.
    """
    truth = first_choices(graph)[graph.region_numbers]
    first, second = np.ascontiguousarray(graph.edge_positions().T)
    steps = 1 if graph.lengths is None else graph.edge_lengths()
    across = np.zeros(len(first) if graph.lengths is not None else 0, dtype=np.int64)
    for number, column in enumerate(whole.T):
        held: Integers = np.ascontiguousarray(column)
        low, high = held[first], held[second]
        far = np.maximum(low, high) - np.minimum(low, high)
        if (far > steps).any() or ((held == 0) != (truth == number)).any():
            raise InvalidMechanism(
                f"the margin of {brief(graph.answers[number])} must be 0 where it is the first "
                "choice "
                "and nowhere else, and change by at most 1 between neighbors, or by the steps of "
                "an edge, but does not"
            )
        if graph.lengths is not None:
            across[truth[second] == number] += low[truth[second] == number]
            across[truth[first] == number] += high[truth[first] == number]
    if graph.lengths is not None and (across > steps + 1)[truth[first] != truth[second]].any():
        raise InvalidMechanism(
            "margins must be 0 at one answer in the middle of an edge, too, but the two that "
            "change places on one are farther apart than it is long"
        )

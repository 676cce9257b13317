"""What all baselines share: rows for any dataset, what they keep, and the check of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Floats, Integers
from rainbowdp.display import cards
from rainbowdp.errors import InvalidGuarantee, InvalidQuestion, RainbowError
from rainbowdp.exact.check import Check
from rainbowdp.exact.mechanism import simulate
from rainbowdp.expecting import brief
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.margins import whole_margins, with_infinity
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.questions import Question, Winner
from rainbowdp.questions.histograms import margins_of, neighboring, up_to
from rainbowdp.tables import count

World: TypeAlias = RainbowGraph | Question
Law: TypeAlias = Callable[[Floats], Floats]  # scores of many datasets to their rows
_FAR = 10**7  # a gap behind which an answer counts for nothing
_BLOCK = 1 << 16
_CELLS = 1 << 20  # of rows that are made at a time


@dataclass(frozen=True)
class Baseline:
    """What others use, as a mechanism to compare with.

    Made by ``rb.exponential``, ``rb.permute_and_flip`` and the other baselines. The rows are
    floats, so a baseline is only for comparison and is never released.

    Attributes
    ----------
    world
        The question or graph.
    guarantee
        What was asked for.
    name
        What the mechanism is called.
    keeps
        What it provably keeps: less than asked for (the paper's printed operator), or more (a
        mechanism that makes no use of δ).
    scores
        What the rows depend on: ``"counts"`` of the answers, or their ``"margins"``.
    law
        For a question: the function from scores to rows.
    mechanism
        For a graph: the mechanism on it.

    Examples
    --------
    >>> from rainbowdp import DP, Winner
    >>> from rainbowdp.baselines import exponential
    >>> poll = exponential(Winner(["red", "green"]), DP(1))
    >>> {answer: round(p, 4) for answer, p in poll[{"red": 10, "green": 7}].items()}
    {'red': 0.8176, 'green': 0.1824}
    >>> print(poll.check(records=8))
    1-DP holds on all 108 distinct pairs of neighboring rows

    """

    world: World
    guarantee: DP
    name: str
    keeps: DP
    scores: Literal["counts", "margins"]
    law: Law | None = field(default=None, repr=False, compare=False)
    mechanism: Mechanism | None = field(default=None, repr=False, compare=False)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The possible answers as they are listed."""
        return tuple(self.world.answers)

    @property
    def knows_margins(self) -> bool:
        """Whether a margin tells how likely the true answer is."""
        return self.scores == "margins" or by_counts(self.world)

    def _repr_html_(self) -> str:
        named = {"keeps": self.keeps, "answers": ", ".join(map(str, self.answers))}
        use = "for comparison, never released"
        return cards.card(self.name, cards.facts({**named, "use": use}))

    def __getitem__(self, dataset: Dataset) -> dict[Answer, float]:
        """{answer: probability}; on a graph most preferred first, else likeliest first."""
        if self.mechanism is not None:
            return self.mechanism[dataset]
        row = self._row(dataset)
        found = dict(zip(self.answers, row.tolist(), strict=True))
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def _row(self, dataset: Dataset) -> Floats:
        question, law = self._question()
        if not question.groups:
            margins = np.array([list(question.margins(dataset).values())], dtype=np.float64)
            rows = law(-margins)
        else:
            counted: Mapping[str, int] = count(dataset, question)
            rows = self.rows(np.array([[counted.get(name, 0) for name, _ in question.groups]]))
        row: Floats = rows[0]
        return row

    def rows(self, counts: Integers, margins: Floats | None = None) -> Floats:
        """The rows of many histograms at once.

        Parameters
        ----------
        counts
            The counts by group, one histogram per row.
        margins
            Their margins, if they are known already.

        Returns
        -------
        array
            The probabilities by answer, one row for each histogram.

        """
        question, law = self._question()
        if self.scores == "counts":
            return law(counts.astype(np.float64))
        return law(-(margins_of(question, counts) if margins is None else margins))

    def _question(self) -> tuple[Question, Law]:
        if self.law is None or isinstance(self.world, RainbowGraph):
            raise RainbowError("this baseline is on a graph; ask it for datasets, not for counts")
        return self.world, self.law

    def check(self, guarantee: TradeOffCurve | None = None, *, records: int | None = None) -> Check:
        """Check the guarantee on every pair of neighbors: all sets of answers, both directions.

        On a graph every edge is checked. For a question every pair of neighboring histograms is,
        under the question's neighbor relation. Cost: O(histograms · q²) rows.

        Parameters
        ----------
        guarantee
            What to check; by default ``keeps``.
        records
            For a question: check all histograms of at most this many counted records.

        Returns
        -------
        Check
            True if the guarantee holds; otherwise the worst pair of neighbors.

        Raises
        ------
        RainbowError
            If ``records`` is missing for a question.

        """
        promise = self.keeps if guarantee is None else curve_of(guarantee, "a check of rows")
        if self.mechanism is not None:
            return self.mechanism.check(promise, every_edge=True)
        question, _ = self._question()
        if records is None:
            raise RainbowError("give check a number of records, as in check(8)")
        counts = up_to(question, records)
        rows = self.rows(counts)
        pairs, worst, ends = 0, 0.0, (0, 0)
        for first, second in neighboring(question, records):
            pairs += len(first)
            for start in range(0, len(first), _BLOCK):
                span = slice(start, start + _BLOCK)
                excess = promise.excesses(rows[first[span]], rows[second[span]])
                place = int(excess.argmax())
                if excess[place] > worst:
                    worst = float(excess[place])
                    ends = int(first[span][place]), int(second[span][place])
        if not worst:
            return Check.over_pairs(promise, pairs)
        found = promise.excess(rows[ends[0]], rows[ends[1]])
        names = [name for name, _ in question.groups]
        more, less = (
            dict(zip(names, counts[place].tolist(), strict=True))
            for place in (ends if found.first else ends[::-1])
        )
        answers = tuple(self.answers[place] for place in found.answers)
        return Check.broken(promise, pairs, float(found), (more, less), answers)

    def by_margin(self, margins: Sequence[int]) -> list[tuple[int, float, float]]:
        """The probability of the true answer by the margin of the nearest rival.

        For ``Winner`` by counts a margin of λ is a lead of 2λ−2 to 2λ records if one is
        substituted, and of λ−1 to λ if one is added or removed: the strongest rival is one that
        only gains on the true answer.

        Parameters
        ----------
        margins
            Whole numbers from 1.

        Returns
        -------
        list of (margin, least, most)
            Over tables of every size and every true answer: least where all rivals are that near,
            most where one is and the others are far away.

        """
        question, law = self._question()
        if not self.knows_margins:
            raise RainbowError(
                f"{self.name} goes by counts and not by margins; ask it for datasets or records"
            )
        size, rows = len(self.answers), []
        for margin in margins:
            if self.scores == "counts":
                lead = question.limit * (2 if question.neighbors == "substituted" else 1)
                gaps = np.full((2, size), [[lead * (margin - 1)], [_FAR]], dtype=np.float64)
                gaps[0, 0] = gaps[1, -1] = 0.0
                gaps[1, -2] = lead * margin  # a rival listed before wins ties
                rows_at = law(-gaps)
                least, most = rows_at[0, 0], rows_at[1, -1]
            else:
                near = np.where(np.eye(size, dtype=np.bool_), 0.0, float(margin))
                far = np.where(near > 0, np.inf, 0.0)
                far[np.arange(size), (np.arange(size) + 1) % size] = margin
                least, most = law(-near).diagonal().min(), law(-far).diagonal().max()
            rows.append((margin, float(least), float(most)))
        return rows

    def sample(self, dataset: Dataset, size: int, seed: int | None = None) -> list[Answer]:
        """Simulated answers, for experiments: fast, repeatable, and **not** a private release.

        Parameters
        ----------
        dataset
            A dataset of the graph, or a table or its counts.
        size
            How many answers.
        seed
            Makes them repeatable.

        Returns
        -------
        list
            Answers.

        """
        return simulate(self[dataset], size, seed)


def made(
    world: World, guarantee: DP, name: str, keeps: DP, law: Law, *, by_counts: bool = False
) -> Baseline:
    """The baseline of a law: kept as it is for a question, a mechanism for a graph."""
    scores: Literal["counts", "margins"] = "counts" if by_counts else "margins"
    if not isinstance(world, RainbowGraph):
        return Baseline(world, guarantee, name, keeps, scores, law)
    return Baseline(world, guarantee, name, keeps, scores, mechanism=ByLaw(world, keeps, name, law))


class ByLaw(Mechanism):
    """A law on a graph, from minus the margins to rows; no row is kept, each is made when asked."""

    def __init__(self, graph: RainbowGraph, keeps: DP, name: str, law: Law) -> None:
        self._begin(graph, keeps, name)
        self.law, self.whole = law, _margins(graph)

    @cached_property
    def _rows_and_index(self) -> tuple[Floats, Integers]:
        rows = self.rows_at(np.arange(len(self.graph)))
        table, index = np.unique(rows, axis=0, return_inverse=True)
        table.flags.writeable = False
        return table, index.reshape(-1)

    @property
    def table(self) -> Floats:
        """The distinct rows: probabilities in the order of ``graph.answers``; read-only."""
        return self._rows_and_index[0]

    @property
    def index(self) -> Integers:
        """For each dataset the number of its row in ``table``."""
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
        rows = np.empty((len(positions), len(self.graph.answers)))
        size = max(1, _CELLS // rows.shape[1])
        for start in range(0, len(rows), size):
            block = with_infinity(self.whole[positions[start : start + size]])
            rows[start : start + size] = self.law(-block)
        return rows


_KEPT: WeakKeyDictionary[RainbowGraph, NDArray[Any]] = WeakKeyDictionary()


def _margins(graph: RainbowGraph) -> NDArray[Any]:
    """The margins of a graph, searched once for all of its baselines."""
    if graph not in _KEPT:
        _KEPT[graph] = whole_margins(graph)
    return _KEPT[graph]


def checked(world: Any, guarantee: Any) -> tuple[World, DP]:
    """A graph or a question, and an (ε,δ) guarantee."""
    if not isinstance(world, RainbowGraph | Question):
        raise InvalidQuestion(
            f"a baseline is for a rainbow graph or a question, got {type(world).__name__}"
        )
    if not isinstance(guarantee, DP):
        raise InvalidGuarantee(f"a baseline needs an (ε,δ) guarantee, got {brief(guarantee, str)}")
    return world, guarantee


def with_delta(guarantee: DP, delta: Any) -> DP:
    """The same ε with another δ."""
    if guarantee.exact_epsilon is not None:
        return DP(guarantee.exact_epsilon, delta)
    assert guarantee.exact_ratio is not None
    return DP.from_ratio(guarantee.exact_ratio, delta=delta)


def with_epsilon(guarantee: DP, epsilon: float) -> DP:
    """Another ε with the same δ."""
    return DP(epsilon, guarantee.exact_delta)


def by_counts(world: World) -> bool:
    """Whether the answers have counts of their own, which is a ``Winner``."""
    return isinstance(world, Winner)


def truth_and_depth(scores: Floats) -> tuple[Floats, Floats]:
    """From minus the margins: a one at each true answer, and the least rival margin minus 1."""
    truth = np.zeros_like(scores)
    truth[np.arange(len(scores)), scores.argmax(axis=1)] = 1.0
    rivals = np.where(truth > 0, np.inf, -scores).min(axis=1)
    return truth, rivals - 1.0

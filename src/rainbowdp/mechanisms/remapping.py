"""Remapping: whoever receives an answer replaces it by a better one, for free.

An answer v tells something about where it came from. With a public prior π over the datasets, the
best that can be done with it is to say the u for which Σ_d π(d)·p_v(d)·worth(d, u) is largest. That
is a fixed function of v. For any set S of replaced answers, "the replacement is in S" is an event
of v alone, so every inequality that the mechanism keeps for sets of answers holds after it, too:
post-processing costs nothing, and the exact rows stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Floats
from rainbowdp.errors import RainbowError
from rainbowdp.exact.check import Check
from rainbowdp.expecting import brief
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.mechanisms.best_on_graphs import Choice
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.unrestricted.program import Programmed
from rainbowdp.mechanisms.worths import AnyUtility, AnyWeights, worths_of

_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class Remapped:
    """A mechanism whose answers are replaced by better ones; made by ``rb.remap``.

    Attributes
    ----------
    mechanism
        The mechanism that is released.
    to
        What each of its answers is replaced by.
    before, after
        The expected worth in the mean over the prior, without and with the replacement.

    """

    mechanism: Mechanism
    to: dict[Answer, Any]
    before: float | None
    after: float

    def __call__(self, answer: Answer) -> Any:
        """What ``answer`` is replaced by."""
        if answer not in self.to:
            raise RainbowError(f"the mechanism must have the answer, got {brief(answer)}")
        return self.to[answer]

    @property
    def graph(self) -> RainbowGraph:
        """The graph."""
        return self.mechanism.graph

    @property
    def guarantee(self) -> TradeOffCurve | None:
        """What is promised between neighbors: what the mechanism promises."""
        return self.mechanism.guarantee

    @property
    def name(self) -> str:
        """The kind of the mechanism, and that its answers are replaced."""
        return f"{self.mechanism.name}, remapped"

    @property
    def changed(self) -> dict[Answer, Any]:
        """The answers that are replaced by another."""
        return {answer: other for answer, other in self.to.items() if answer != other}

    def check(self) -> Check:
        """The check of the mechanism; a function of its answer keeps every guarantee."""
        return self.mechanism.check()

    def release(self, dataset: Dataset) -> Any:
        """Draw one answer for ``dataset`` from exact integers, and replace it.

        Parameters
        ----------
        dataset
            A node of the graph.

        Returns
        -------
        object
            The replacement.

        """
        return self.to[self.mechanism.release(dataset)]

    def rows_at(self, positions: NDArray[Any]) -> Floats:
        """The rows after the replacement, for replacements that are answers of the graph.

        Parameters
        ----------
        positions
            Indices in ``graph.datasets``.

        Returns
        -------
        array
            A row for each position, answers in the order of ``graph.answers``.

        """
        place = {answer: number for number, answer in enumerate(self.graph.answers)}
        if any(other not in place for other in self.to.values()):
            raise RainbowError("these answers are replaced by others than the graph has")
        moves = np.zeros((len(place), len(place)))
        for answer, other in self.to.items():
            moves[place[answer], place[other]] = 1.0
        found: Floats = self.mechanism.rows_at(positions) @ moves
        return found

    def __getitem__(self, dataset: Dataset) -> dict[Any, float]:
        """{replacement: probability} at ``dataset``, likeliest first."""
        found: dict[Any, float] = {}
        for answer, chance in self.mechanism[dataset].items():
            found[self.to[answer]] = found.get(self.to[answer], 0.0) + chance
        return dict(sorted(found.items(), key=lambda item: -item[1]))


def remap(
    mechanism: Mechanism | Choice | Programmed,
    prior: AnyWeights | None = None,
    utility: AnyUtility | None = None,
    *,
    targets: Sequence[Any] | None = None,
) -> Remapped:
    """Replace each answer by the one that is worth most under a public prior.

    The privacy is that of the mechanism: the replacement is a function of the answer. The prior
    must not come from the private data. Cost: one pass over the rows.

    Parameters
    ----------
    mechanism
        A mechanism on a graph.
    prior
        How likely each dataset is, such as the people who live there; an array or {dataset:
        weight}, by default all alike.
    utility
        What an answer is worth, as in ``rb.best``; by default the first choice is worth 1.
    targets
        Replacements other than the answers, such as nodes; ``utility`` is then an array with a row
        for each dataset and a column for each of them.

    Returns
    -------
    Remapped
        The replacement of each answer, and what it gains.

    Raises
    ------
    RainbowError
        If prior or utility make no sense.

    Examples
    --------
    >>> from rainbowdp import DP, exponential
    >>> rainbows = [tuple("abc")] * 3 + [tuple("bac"), tuple("cab")]
    >>> graph = RainbowGraph([(0, 1), (1, 2), (2, 3), (3, 4)], rainbows)
    >>> found = remap(exponential(graph, DP("0.1")).mechanism)
    >>> found.to
    {'a': 'a', 'b': 'a', 'c': 'a'}
    >>> found("c"), round(found.before, 4), round(found.after, 4)
    ('a', 0.3559, 0.6)

    """
    base: Any = mechanism if isinstance(mechanism, Mechanism) else mechanism.mechanism
    graph: RainbowGraph = base.graph
    answers, size = graph.answers, len(graph.answers)
    if targets is None:
        worths = worths_of(graph, utility, prior)
        chances, columns = worths.weights, size

        def at(part: slice) -> Floats:
            return worths.at(part)

    else:
        table = np.asarray(utility, dtype=np.float64) if utility is not None else np.zeros(0)
        if table.shape != (len(graph), len(targets)) or not np.isfinite(table).all():
            raise RainbowError(
                f"a utility for targets must be finite numbers of the shape ({len(graph)}, "
                f"{len(targets)}), by dataset and target, got {table.shape}"
            )
        chances, columns = worths_of(graph, None, prior).weights, len(targets)

        def at(part: slice) -> Floats:
            return table[part]

    mass = np.ones(len(graph)) if chances is None else chances
    total = np.zeros((size, columns))
    step = max(1, _CELLS // size)
    for start in range(0, len(graph), step):
        part = slice(start, min(start + step, len(graph)))
        rows = base.rows_at(np.arange(part.start, part.stop))
        total += (rows * mass[part, None]).T @ at(part)
    total /= mass.sum()
    best = total.argmax(axis=1)
    names: Sequence[Any] = answers if targets is None else targets
    if targets is None:  # an answer that is as good as any stays
        own = total.diagonal()
        stays = own >= total.max(axis=1) - 1e-12 * np.abs(total).max(axis=1)
        best = np.where(stays, np.arange(size), best)
    to = {answer: names[int(place)] for answer, place in zip(answers, best, strict=True)}
    before = float(np.trace(total)) if targets is None else None
    return Remapped(base, to, before, float(total[np.arange(size), best].sum()))

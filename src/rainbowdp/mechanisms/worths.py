"""What an answer is worth at each dataset: one meaning for ``best``, ``design`` and ``program``.

A *utility* is any of these, and larger is better (a loss is a negative worth):

* nothing: the first choice is worth 1, every other answer 0;
* a ``Utility``: a function of dataset and answer, or the worth of the first, second, … choice;
* a mapping {first choice: {answer: worth}}, or {region: {answer: worth}} with the labels of all
  regions, or a matrix of one row for each first choice;
* an array with a row for each dataset and a column for each answer, such as minus the distance.

Datasets may have *weights*, such as the people who live there, and answers may be *forbidden*:
``goal_of`` has all three.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Floats
from rainbowdp.errors import RainbowError
from rainbowdp.expecting import brief
from rainbowdp.graphs.forbidding import forbid as forbidding
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.rainbows import Utility
from rainbowdp.graphs.readers.goals import MOST_WEIGHT
from rainbowdp.graphs.truth import true_answers

AnyUtility: TypeAlias = "Utility | Mapping[Answer, Mapping[Answer, float]] | NDArray[Any] | Worths"
AnyWeights: TypeAlias = Mapping[Dataset, float] | NDArray[Any]
Forbidden: TypeAlias = Answer | Iterable[Answer]
_CELLS = 1 << 20  # of rows that are valued at a time
_TIE = 1e-9  # what is better by less is not: the simpler one stays
_BY_DATASET = "worth by dataset and answer"


class HasRows(Protocol):
    """A mechanism on a graph, as far as its worth is concerned."""

    def rows_at(self, positions: NDArray[Any]) -> Floats:
        """The rows of the datasets at ``positions``."""


@dataclass(frozen=True, eq=False)
class Worths:
    """The worth of each answer at each dataset, each distinct row once.

    Attributes
    ----------
    table
        The distinct rows, columns in the order of the graph's answers.
    index
        For each dataset the number of its row.
    weights
        For each dataset what it counts; none if all count alike.
    words
        What is valued, in words.
    by_dataset
        Whether datasets of one region may value answers differently.

    """

    table: Floats
    index: NDArray[Any]
    weights: Floats | None
    words: str
    by_dataset: bool = False

    def at(self, positions: Any) -> Floats:
        """The worths at ``positions``, a row for each."""
        rows: Floats = self.table[self.index[positions]]
        return rows

    def each(self, mechanism: HasRows) -> Floats:
        """The expected worth at each dataset, whatever it counts."""
        found = np.empty(len(self.index))
        for block in _blocks(len(self.index), self.table.shape[1]):
            rows = mechanism.rows_at(np.arange(block.start, block.stop))
            found[block] = np.einsum("dv,dv->d", rows, self.at(block), dtype=np.float64)
        return found

    def total(self, mechanism: HasRows) -> float:
        """The expected worth, summed over datasets as they count."""
        each = self.each(mechanism)
        return float(each.sum() if self.weights is None else each @ self.weights)

    def mean(self, mechanism: HasRows) -> float:
        """The expected worth in the mean over datasets as they count."""
        return self.total(mechanism) / self.mass

    @property
    def mass(self) -> float:
        """What all datasets count together."""
        return float(len(self.index) if self.weights is None else self.weights.sum())

    def constant(self) -> int:
        """The answer that is worth most if it is given everywhere."""
        return int(self._everywhere().argmax())

    def always(self, answer: int) -> float:
        """What an answer is worth if it is given everywhere, in the mean over datasets."""
        return float(self._everywhere()[answer]) / self.mass

    def _everywhere(self) -> Floats:
        found: Floats = np.bincount(self.index, self.weights, len(self.table)) @ self.table
        return found

    def dense(self) -> Floats:
        """A row for each dataset, times what it counts."""
        rows = self.at(slice(None))
        return rows if self.weights is None else rows * self.weights[:, None]


def is_better(value: float, known: float) -> bool:
    """Whether a mechanism is worth more than one that is known: by more than rounding."""
    return value > known + _TIE * max(1.0, abs(known))


def goal_of(
    graph: RainbowGraph,
    utility: AnyUtility | None = None,
    weights: AnyWeights | None = None,
    forbid: Forbidden = (),
) -> tuple[RainbowGraph, Worths]:
    """The graph without the forbidden answers, and what the others are worth on it.

    A mapping or an array is about all answers, and its forbidden columns are dropped: a region
    whose first choice is forbidden keeps its row. The chance of the first choice and the places of
    a ``Utility`` are about the answers that are left.
    """
    left = forbidding(graph, forbid)
    if left is graph or utility is None or isinstance(utility, Utility | Worths):
        return left, worths_of(left, utility, weights)
    whole = worths_of(graph, utility, weights)
    kept = [number for number, answer in enumerate(graph.answers) if answer in left.answers]
    return left, replace(whole, table=whole.table[:, kept])


def worths_of(
    graph: RainbowGraph, utility: AnyUtility | None = None, weights: AnyWeights | None = None
) -> Worths:
    """What ``utility`` and ``weights`` say of each dataset and answer of ``graph``."""
    if isinstance(utility, Worths):
        return utility
    counted = None if weights is None else _weights(graph, weights)
    table, index, words = _table(graph, utility)
    if not np.isfinite(table).all():
        raise RainbowError("the worths of a utility must be finite numbers, but one is not")
    by_dataset = words == _BY_DATASET
    if counted is not None:
        words = f"{words}, datasets by their weights"
    return Worths(table, index, counted, words, by_dataset)


def _table(graph: RainbowGraph, utility: AnyUtility | None) -> tuple[Floats, NDArray[Any], str]:
    size = len(graph.answers)
    if utility is None:
        return np.eye(size), true_answers(graph), "chance of the first choice"
    if isinstance(utility, Utility):
        return _of_a_utility(graph, utility)
    assert not isinstance(utility, Worths)
    if isinstance(utility, Mapping):
        return _by_name(graph, utility)
    try:
        given = np.asarray(utility)
        if given.dtype != np.float32:  # which a large table is kept in
            given = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise RainbowError(
            f"a utility must be a Utility, a mapping or an array of numbers, got "
            f"{type(utility).__name__}"
        ) from None
    if given.shape == (size, size) and len(graph) != size:
        return given, true_answers(graph), "worth by first choice and answer"
    if given.shape == (len(graph), size) and len(graph) != size:
        return given, np.arange(len(graph)), _BY_DATASET
    if given.shape == (size, size):
        raise RainbowError(
            f"a utility of shape ({size}, {size}) could be by dataset or by first choice here; "
            "give a mapping {first choice: {answer: worth}} or a Utility"
        )
    raise RainbowError(
        f"a utility must have the shape ({size}, {size}), by first choice and answer, or "
        f"({len(graph)}, {size}), by dataset and answer, got {given.shape}"
    )


def _of_a_utility(graph: RainbowGraph, utility: Utility) -> tuple[Floats, NDArray[Any], str]:
    place = {answer: number for number, answer in enumerate(graph.answers)}
    if utility.places is not None:
        table = np.empty((len(graph.regions), len(place)))
        for number, region in enumerate(graph.regions.values()):
            columns = [place[answer] for answer in region.rainbow]
            table[number, columns] = utility.worths(None, region.rainbow)
        return table, graph.region_numbers, "worth by place in the rainbow"
    table = np.empty((len(graph), len(place)))
    for number, dataset in enumerate(graph.datasets):
        rainbow = graph.rainbow(dataset)
        table[number, [place[answer] for answer in rainbow]] = utility.worths(dataset, rainbow)
    return table, np.arange(len(graph)), _BY_DATASET


def _by_name(
    graph: RainbowGraph, given: Mapping[Any, Mapping[Answer, float]]
) -> tuple[Floats, NDArray[Any], str]:
    """By region if every region has a row, else by first choice."""
    if all(label in given for label in graph.regions):
        stray = next((label for label in given if label not in graph.regions), None)
        if stray is None or stray in graph.answers:  # a site that is nobody's first choice
            rows = {label: given[label] for label in graph.regions}
            return _matrix(graph, rows), graph.region_numbers, "worth by region and answer"
    by_choice = {answer: given.get(answer) for answer in graph.answers if answer in given}
    stray = next((name for name in given if name not in by_choice), None)
    missing = next((name for name in graph.answers if name not in by_choice), None)
    if stray is not None or missing is not None:
        fault = f"the unknown {stray!r}" if stray is not None else f"none for {missing!r}"
        raise RainbowError(f"a utility must have a worth for each answer, got {fault}")
    return _matrix(graph, by_choice), true_answers(graph), "worth by first choice and answer"


def _matrix(graph: RainbowGraph, given: Mapping[Any, Any]) -> Floats:
    """The rows of ``given`` in its order, columns in the order of the answers."""
    answers = graph.answers
    for named in given.values():
        if not isinstance(named, Mapping):
            raise RainbowError(
                "a utility by answers must be a mapping {first choice: {answer: worth}}, got "
                f"{type(named).__name__} in it"
            )
        stray = next((name for name in named if name not in set(answers)), None)
        missing = next((name for name in answers if name not in named), None)
        if stray is not None or missing is not None:
            fault = f"the unknown {stray!r}" if stray is not None else f"none for {missing!r}"
            raise RainbowError(f"a utility must have a worth for each answer, got {fault}")
    try:
        rows = [[float(row[said]) for said in answers] for row in given.values()]
    except (TypeError, ValueError):
        raise RainbowError("the worths of a utility must be numbers, but one is not") from None
    return np.array(rows)


def _weights(graph: RainbowGraph, weights: AnyWeights) -> Floats:
    if isinstance(weights, Mapping):
        for dataset in weights:
            graph.position(dataset)
        missing = next((d for d in graph.datasets if d not in weights), None)
        if missing is not None:
            raise RainbowError(
                f"weights must be given for every dataset, got none at {brief(missing)}"
            )
        weights = np.array([weights[dataset] for dataset in graph.datasets], dtype=object)
    try:
        found: Floats = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise RainbowError("weights must be numbers, but one is not") from None
    if found.shape != (len(graph),):
        raise RainbowError(
            f"weights must have a number for each of the {len(graph):,} datasets, got the shape "
            f"{found.shape}"
        )
    return weights_that_count(found)


def weights_that_count(found: Floats) -> Floats:
    """The same numbers, if they are weights."""
    if not (np.isfinite(found) & (found >= 0)).all() or not found.any():
        raise RainbowError("weights must be finite numbers from 0, and not all 0")
    if found.max() > MOST_WEIGHT / len(found):
        raise RainbowError(
            f"the sum of weights must be at most {MOST_WEIGHT:g}, got one of {found.max():g}; "
            "divide them all by one number"
        )
    return found


def _blocks(size: int, width: int) -> Iterator[slice]:
    step = max(1, _CELLS // max(1, width))
    return (slice(start, min(start + step, size)) for start in range(0, size, step))

"""Which datasets an audit looks at, and which of them are neighbors."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rainbowdp.aliases import Dataset
from rainbowdp.errors import InvalidMechanism, InvalidQuestion, RainbowError
from rainbowdp.exact.scope import change_in_words
from rainbowdp.expecting import brief, whole
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.questions import Count, Question
from rainbowdp.questions.base import checked_counts
from rainbowdp.questions.histograms import neighboring, up_to

ON_A_GRAPH = "two datasets joined by an edge"
GIVEN = "two datasets of a given pair"
MOST_COUNTS = 300  # that a question about a count may have
_USUAL = 4_000  # histograms, where nobody says how many records
_SIZES = (0, 1, 2, 3, 5, 10, 100, 10**4, 10**6)


@dataclass(frozen=True)
class Neighborhood:
    """Datasets, the pairs of them that are neighbors, and what they are, in words.

    ``exhaustive`` says whether these are all neighbors of a stated kind, or some drawn at random.
    """

    datasets: tuple[Dataset, ...]
    pairs: tuple[tuple[int, int], ...]
    change: str
    scope: str
    exhaustive: bool


def around(
    world: Question | Count | RainbowGraph | None,
    *,
    records: int | None,
    tries: int | None,
    pairs: Iterable[tuple[Dataset, Dataset]] | None,
    only: Sequence[Dataset] | None,
    seed: int | None,
) -> Neighborhood:
    """The neighbors that an audit is about; ``only`` these datasets have rows, if it is given."""
    if pairs is not None:
        if records is not None or tries is not None:
            raise RainbowError("an audit takes either pairs or records and tries, got both")
        return _given(pairs, world)
    if tries is not None:
        whole(tries, "tries", 1)
    if isinstance(world, RainbowGraph):
        if records is not None:
            raise RainbowError(
                "a graph has datasets of its own, got records; leave it out, or give tries"
            )
        return _edges(world, tries, seed)
    if isinstance(world, Count):
        return _counts(world, records)
    if world is None:
        raise RainbowError(
            "an audit needs to know which datasets are neighbors; give it a question, a graph or "
            "pairs"
        )
    if only is not None:
        return _among(world, only)
    names = _names(world)
    if tries is not None:
        return _random(world, names, records, tries, seed)
    return _all(world, names, _usual(len(names)) if records is None else records)


def _given(
    pairs: Iterable[tuple[Dataset, Dataset]], world: Question | Count | RainbowGraph | None
) -> Neighborhood:
    try:
        listed = [(one, other) for one, other in pairs]
    except (TypeError, ValueError):
        raise RainbowError("pairs must be pairs of neighboring datasets, got others") from None
    if not listed:
        raise RainbowError("pairs must hold at least one pair of neighboring datasets, got none")
    known = _Places()
    found = tuple((known.place(one), known.place(other)) for one, other in listed)
    wrong = next((pair for pair in listed if not _are_neighbors(world, *pair)), None)
    if wrong is not None:
        raise RainbowError(
            f"pairs must hold neighbors, {_change(world)}, got {brief(wrong[0])} and "
            f"{brief(wrong[1])}"
        )
    plural = "pair" if len(found) == 1 else "pairs"
    scope = f"the {len(found):,} given {plural}"
    return Neighborhood(tuple(known.datasets), found, _change(world), scope, True)


class _Places:
    """Datasets in a list, each once; counts are not hashable, so they are kept by their items."""

    def __init__(self) -> None:
        self.datasets: list[Dataset] = []
        self._known: dict[Any, int] = {}

    def place(self, dataset: Dataset) -> int:
        key = tuple(sorted(dataset.items())) if isinstance(dataset, dict) else dataset
        try:
            found = self._known.setdefault(key, len(self.datasets))
        except TypeError:  # not hashable: it has no equal
            found = len(self.datasets)
        if found == len(self.datasets):
            self.datasets.append(dataset)
        return found


def _change(world: Question | Count | RainbowGraph | None) -> str:
    if isinstance(world, RainbowGraph):
        return ON_A_GRAPH
    return GIVEN if world is None else change_in_words(world.describe())


def _are_neighbors(
    world: Question | Count | RainbowGraph | None, one: Dataset, other: Dataset
) -> bool:
    if isinstance(world, RainbowGraph):
        return other in world.neighbors(one)
    if not isinstance(world, Question) or not world.groups:
        return True
    names = _names(world)
    return _one_change(
        world,
        list(checked_counts(one, names).values()),
        list(checked_counts(other, names).values()),
    )


def _one_change(question: Question, one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether one change may lead from some counts to others."""
    gains = sum(max(0, b - a) for a, b in zip(one, other, strict=True))
    losses = sum(max(0, a - b) for a, b in zip(one, other, strict=True))
    if question.neighbors == "added or removed" and gains and losses:
        return False
    return max(gains, losses) <= question.limit


def _names(question: Question) -> list[str]:
    if not isinstance(question, Question):
        raise InvalidQuestion(
            f"an audit is over a question or a rainbow graph, got {type(question).__name__}"
        )
    if not question.groups:
        raise InvalidQuestion(
            "this question has no groups, so its neighbors cannot be listed; give audit pairs="
        )
    return [name for name, _ in question.groups]


def _usual(groups: int) -> int:
    """How many records make a few thousand histograms, twelve at most."""
    fitting = (n for n in range(12, 0, -1) if math.comb(n + groups, groups) <= _USUAL)
    return next(fitting, 1)


def _all(question: Question, names: Sequence[str], records: int) -> Neighborhood:
    rows = up_to(question, records).tolist()
    pairs = tuple(
        pair
        for first, second in neighboring(question, records)
        for pair in zip(first.tolist(), second.tolist(), strict=True)
    )
    counted = "1 record" if records == 1 else f"{records:,} records"
    return Neighborhood(
        tuple(dict(zip(names, row, strict=True)) for row in rows),
        pairs,
        _change(question),
        f"all {len(pairs):,} pairs of neighboring histograms of at most {counted}",
        True,
    )


def _random(
    question: Question, names: Sequence[str], records: int | None, tries: int, seed: int | None
) -> Neighborhood:
    draw = random.Random(seed)  # noqa: S311  made-up tables, no secrets
    known, pairs = _Places(), []
    sizes = [size for size in _SIZES if records is None or size <= records]
    sizes = sizes if records is None else [*sizes, records]
    for _ in range(tries):
        one = _histogram(draw, draw.choice(sizes), len(names))
        other = _moved(draw, question, one)
        pairs.append(
            tuple(known.place(dict(zip(names, counts, strict=True))) for counts in (one, other))
        )
    upto = "" if records is None else f" of about {records:,} records at most"
    return Neighborhood(
        tuple(known.datasets),
        tuple((one, other) for one, other in pairs),
        _change(question),
        f"{tries:,} pairs of neighboring histograms{upto}, drawn at random",
        False,
    )


def _histogram(draw: random.Random, size: int, groups: int) -> list[int]:
    """Random counts: spread, tied or nearly tied, with empty groups among them."""
    shape = draw.randrange(3)
    if shape == 0:
        cuts = sorted(draw.randint(0, size) for _ in range(groups - 1))
        return [b - a for a, b in itertools.pairwise([0, *cuts, size])]
    near = draw.choice((0, 1, 2, 5))
    level = size // groups
    counts = [max(0, level + draw.randint(-near, near)) for _ in range(groups)]
    return counts if shape == 1 else [draw.choice((0, n)) for n in counts]


def _moved(draw: random.Random, question: Question, counts: Sequence[int]) -> list[int]:
    """Counts after one change, which leaves nothing as it is if it can."""
    moved = list(counts)
    losing = question.neighbors == "substituted" or draw.random() < 0.5
    gaining = question.neighbors == "substituted" or not losing
    for _ in range(draw.randint(1, question.limit)):
        held = [place for place, n in enumerate(moved) if n]
        if losing and held:
            moved[draw.choice(held)] -= 1
    for _ in range(draw.randint(1, question.limit)):
        if gaining:
            moved[draw.randrange(len(moved))] += 1
    return moved


def _among(question: Question, datasets: Sequence[Dataset]) -> Neighborhood:
    """All neighbors among given counts."""
    names = _names(question)
    listed = [tuple(checked_counts(dataset, names).values()) for dataset in datasets]
    if len(set(listed)) < len(listed):
        raise InvalidMechanism("a table must have one row for each dataset, got two for some")
    if max((max(counts) for counts in listed), default=0) >= 1 << 40:
        raise InvalidMechanism("the counts of a table of rows must be below 2^40, got a larger one")
    rows = np.array(listed, dtype=np.int64)
    pairs: list[tuple[int, int]] = []
    for place, counts in enumerate(listed[:-1]):
        moves = rows[place + 1 :] - rows[place]
        for offset in np.flatnonzero(np.abs(moves).sum(axis=1) <= 2 * question.limit).tolist():
            if _one_change(question, counts, listed[place + 1 + offset]):
                pairs.append((place, place + 1 + offset))
    if not pairs:
        raise InvalidMechanism(
            f"a table of rows must have neighbors in it, {_change(question)}, got "
            f"{len(listed):,} datasets of which no two are neighbors"
        )
    scope = f"all {len(pairs):,} pairs of neighbors among the {len(listed):,} datasets of the table"
    return Neighborhood(tuple(datasets), tuple(pairs), _change(question), scope, True)


def _edges(graph: RainbowGraph, tries: int | None, seed: int | None) -> Neighborhood:
    edges = graph.edge_positions()
    total = len(edges)
    if tries is not None and tries < total:
        chosen = random.Random(seed).sample(range(total), tries)  # noqa: S311  no secrets
        edges = edges[np.array(sorted(chosen))]
    places, inverse = np.unique(edges, return_inverse=True)
    pairs = inverse.reshape(-1, 2).tolist()
    every = len(pairs) == total
    scope = (
        f"all {total:,} edges of the graph"
        if every
        else f"{len(pairs):,} of the {total:,} edges of the graph, drawn at random"
    )
    named = tuple(graph.names(places))
    return Neighborhood(named, tuple((a, b) for a, b in pairs), ON_A_GRAPH, scope, every)


def _counts(question: Count, records: int | None) -> Neighborhood:
    """All counts of at most so many records, and those that one change leads to."""
    most = (
        question.at_most if records is None else min(whole(records, "records", 1), question.at_most)
    )
    if question.at_most > MOST_COUNTS:
        raise InvalidQuestion(
            f"an audit of a count needs at_most={MOST_COUNTS} or less, as every answer has a "
            f"probability of its own, got at_most={question.at_most}"
        )
    step = question.rows_per_person
    pairs = tuple((n, m) for n in range(most + 1) for m in range(n + 1, min(n + step, most) + 1))
    name = question.groups[0][0]
    scope = f"all {len(pairs):,} pairs of neighboring counts up to {most:,}"
    datasets = tuple({name: n} for n in range(most + 1))
    return Neighborhood(datasets, pairs, _change(question), scope, True)

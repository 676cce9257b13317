"""The rows of a mechanism at the datasets of an audit, exactly, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rainbowdp.aliases import Answer, Dataset
from rainbowdp.auditing.curve import Row
from rainbowdp.errors import InvalidDistribution, InvalidMechanism, RainbowError
from rainbowdp.expecting import brief
from rainbowdp.numeric.quantity import exact_distribution


@dataclass(frozen=True)
class Rows:
    """Distinct rows, the row of each dataset, and whether floats were among the probabilities."""

    answers: tuple[Answer, ...]
    distinct: tuple[Row, ...]
    index: tuple[int, ...]
    rounded: bool

    @classmethod
    def of(
        cls,
        law: Callable[[Dataset], Any],
        datasets: Sequence[Dataset],
    ) -> Rows:
        """The rows that ``law`` has at ``datasets``; an answer that it does not name has none."""
        found = [_row(law, dataset) for dataset in datasets]
        listed = _named(found)
        places = {answer: place for place, answer in enumerate(listed)}
        known: dict[Row, int] = {}
        index, rounded = [], False
        for dataset, row in zip(datasets, found, strict=True):
            values: list[Any] = [0] * len(listed)
            for answer, value in row.items():
                values[places[answer]] = value
            rounded = rounded or any(isinstance(value, float) for value in values)
            try:
                exact = exact_distribution(values)
            except InvalidDistribution as error:
                raise InvalidDistribution(f"at {brief(dataset)}: {error}") from None
            index.append(known.setdefault(exact, len(known)))
        return cls(listed, tuple(known), tuple(index), rounded)

    def pairs(self, neighbors: Iterable[tuple[int, int]]) -> dict[tuple[int, int], tuple[int, int]]:
        """Pairs of different rows, each with two neighboring datasets that have them.

        Of pairs that are the same but for the order of the answers there is one: they have the same
        curve and the same divergences.
        """
        numbers: dict[Fraction, int] = {}
        rows = [tuple(numbers.setdefault(p, len(numbers)) for p in row) for row in self.distinct]
        by_rows: dict[tuple[int, int], tuple[int, int]] = {}
        for one, other in neighbors:
            ends = self.index[one], self.index[other]
            if ends[0] != ends[1] and ends not in by_rows and ends[::-1] not in by_rows:
                by_rows[ends] = one, other
        found: dict[tuple[tuple[int, int], ...], tuple[int, int]] = {}
        for a, b in by_rows:
            key = tuple(sorted(zip(rows[a], rows[b], strict=True)))
            mirror = tuple(sorted((y, x) for x, y in key))
            found.setdefault(min(key, mirror), (a, b))
        return {ends: by_rows[ends] for ends in found.values()}


def _row(law: Callable[[Dataset], Any], dataset: Dataset) -> Mapping[Answer, Any]:
    try:
        row = law(dataset)
    except RainbowError:
        raise
    except Exception as error:
        raise InvalidMechanism(
            f"the mechanism must have a row at {brief(dataset)}, but raised "
            f"{type(error).__name__}: "
            f"{error}"
        ) from error
    if not isinstance(row, Mapping):
        raise InvalidMechanism(
            "a mechanism must give {answer: probability} for each dataset, got "
            f"{type(row).__name__} at {brief(dataset)}; if it draws an answer, say how often to "
            "draw, "
            "as in draws=100_000"
        )
    if not row:
        raise InvalidMechanism(
            f"a mechanism must give a probability to some answer, got none at {brief(dataset)}"
        )
    return row


def _named(rows: Iterable[Mapping[Answer, Any]]) -> tuple[Answer, ...]:
    return tuple(dict.fromkeys(answer for row in rows for answer in row))

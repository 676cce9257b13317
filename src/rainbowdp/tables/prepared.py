"""A table that an engine is ready to query, and what may be done with it: count, or look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from rainbowdp.questions.base import Counted
from rainbowdp.tables.asked import Rest
from rainbowdp.tables.people import People
from rainbowdp.tables.query import (
    Dialect,
    Source,
    Write,
    counting,
    counting_each,
    counting_people,
)
from rainbowdp.tables.values import Matches, numbered

Rows: TypeAlias = Sequence[Sequence[Any]]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Prepared:
    """A question and a table that has its columns.

    ``type_`` is the declared type of the column in the engine's own word, and ``found`` what to
    look for in it: nothing, where it is the type of no values. ``run`` runs the SQL that a function
    makes, given how to write values. ``few`` says whether the column has few different values, and
    ``rest`` where records are counted that match nothing in ``found``.
    """

    question: Counted
    type_: str
    source: Source
    found: Matches
    dialect: Dialect
    run: Callable[[Callable[[Write], str]], Rows]
    rest: Rest
    few: Callable[[], bool] = lambda: False


Work: TypeAlias = Callable[[Prepared], Found]


def counted(prepared: Prepared, key: int | None) -> list[int]:
    """How many records fall into each cell, of those that a person rule keeps, or their units."""
    question, source, found = prepared.question, prepared.source, prepared.found
    rest = prepared.rest
    nowhere = source.part is not None and not source.part.found
    if nowhere or (not found and rest.missing is None):
        return numbered(question, [])
    plain = source.part is None and source.units is None and rest == Rest()
    if question.person is None and plain and _are_few(found, prepared.dialect):
        return numbered(question, prepared.run(lambda write: counting_each(source, found, write)))
    if question.person is None:
        few = prepared.few()
        return numbered(
            question, prepared.run(lambda write: counting(source, found, write, rest, few))
        )
    people = People.of(question, key)
    rows = prepared.run(
        lambda write: counting_people(source, found, write, rest, people, prepared.dialect)
    )
    return numbered(question, rows, 1 if source.units is None else source.most + 1)


def _are_few(found: Matches, dialect: Dialect) -> bool:
    """Whether so few values are looked for that comparing each row with all of them is fastest."""
    return isinstance(found, dict) and 0 < len(found) <= dialect.each

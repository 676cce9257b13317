"""Whether a table has what its settings list: checked when the service starts, never by values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rainbowdp.errors import InvalidFile, RainbowError
from rainbowdp.questions.ends import end
from rainbowdp.questions.groups import Between, Equals, Group, OtherValue
from rainbowdp.questions.relations import PersonRule
from rainbowdp.questions.units import Unit
from rainbowdp.questions.weights import Weight
from rainbowdp.service.config import ANY, Column, DatasetSettings, Listed
from rainbowdp.tables import must_have


@dataclass(frozen=True)
class _Probe:
    """What a table would be asked, if it were."""

    column: str
    groups: tuple[Group, ...]
    person: str | None
    apply: str | None = None
    by: None = None
    weight: Weight | None = None
    where: str | None = None
    rows_per_person: int = 1
    person_rule: PersonRule = PersonRule.SAMPLE


def check_columns(name: str, settings: DatasetSettings, table: Any, unit: Unit) -> None:
    """Raise, for the curator, where a listed column is missing or cannot hold what is listed."""
    for column, said in settings.columns.items():
        for what, probe in _probes(column, said, unit):
            try:
                must_have(table, probe)
            except RainbowError as error:
                wrong = str(error)
            else:
                continue
            raise InvalidFile(f"dataset.{name}.columns.{column}{what}: {wrong}")


def _probes(name: str, said: Column, unit: Unit) -> Iterator[tuple[str, _Probe]]:
    yield "", _Probe(name, (("any", OtherValue()),), unit.person)
    for what, listed in (("answers", said.answers), ("groups", said.groups)):
        values = _values(listed)
        if values and not said.apply:  # what a function gives is of another type
            yield f".{what}", _Probe(name, tuple((v, Equals(v)) for v in values), unit.person)
    for edge in _values(said.bins)[:1] if not said.apply else ():
        try:
            rule = Between(None, end(edge, "an edge"))
        except RainbowError as error:
            raise InvalidFile(f"columns.{name}.bins: {error}.") from None
        yield ".bins", _Probe(name, (("low", rule),), unit.person)
    if said.weight is not None:
        weight = Weight(name, said.weight)
        yield ".weight", _Probe(name, (("any", OtherValue()),), unit.person, weight=weight)


def _values(listed: Listed) -> tuple[str, ...]:
    return () if listed == ANY else tuple(listed)

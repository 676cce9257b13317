"""Datasets that may be asked: where they are, their ledger, and what the curator allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rainbowdp.answering.askable import Askable
from rainbowdp.errors import InvalidFile, RainbowError, UnreadableTable
from rainbowdp.ledger import Charge, Ledger
from rainbowdp.questions import Restored, from_description, unit_of
from rainbowdp.questions.words import in_words
from rainbowdp.service.allowed import must_be_allowed
from rainbowdp.service.columns import check_columns
from rainbowdp.service.config import DatasetSettings, Settings
from rainbowdp.service.people.roles import Person
from rainbowdp.service.problems import Code, Problem
from rainbowdp.sessions.plan import PlannedQuestions
from rainbowdp.tables import ParquetFile, SQLTable, TextFile, must_exist, must_have
from rainbowdp.tables.paths import PARQUET

_READING = ("delimiter", "encoding", "decimal", "header", "format")
_WAIT = 20.0  # seconds for a lock of the ledger or its server


@dataclass(frozen=True)
class Dataset:
    """A dataset with its open ledger.

    Attributes
    ----------
    name
        As in addresses and settings.
    settings
        What the curator says of it.
    table
        What is counted; a file is read anew for each question.
    ledger
        Open, with connections that are kept.

    """

    name: str
    settings: DatasetSettings
    table: Any
    ledger: Ledger

    @classmethod
    def opened(cls, name: str, settings: Settings) -> Dataset:
        """The dataset of a name, its ledger open and its table there."""
        said = settings.dataset[name]
        try:
            table = _table(said, settings)
            if not isinstance(table, SQLTable):
                must_exist(table)
            ledger = Ledger.open(
                settings.placed(said.ledger), timeout=_WAIT, connections=settings.threads + 1
            )
        except RainbowError as error:
            wrong = str(error)
        else:
            check_columns(name, said, table, ledger.unit)
            called = f"the ledger of {name}"  # where it is concerns no analyst
            return cls(name, said, table, ledger.on_behalf_of(ledger.by, called))
        raise InvalidFile(f"dataset.{name}: {wrong}")

    def ready(self, mechanism: Askable, progress: Callable[[float], None]) -> Callable[[], Any]:
        """A function that draws an answer from the data as it is now.

        A table that cannot be read is a matter of the question where no column of its type can
        match, which is told from the columns' types alone, and otherwise one of the data.
        """
        try:
            return mechanism.ready(self.table, progress)
        except UnreadableTable as error:
            trouble = error
        if not self._has_columns() or self._fits(mechanism.question):
            raise trouble
        raise Problem(
            Code.UNFIT,
            "This question does not fit the type of a column that it looks at, and nothing was "
            "spent. See the dataset for what each column holds.",
        )

    def _has_columns(self) -> bool:
        """Whether the table still has what the settings list."""
        try:
            check_columns(self.name, self.settings, self.table, self.ledger.unit)
        except RainbowError:
            return False
        return True

    def _fits(self, asked: Any) -> bool:
        """Whether the types of the columns are such as a question asks about."""
        planned = isinstance(asked, PlannedQuestions)
        parts: list[Any] = list(asked.questions.values()) if planned else [asked]
        try:
            for part in parts:
                must_have(self.table, part)
        except UnreadableTable:
            return False
        return True

    @property
    def source(self) -> str:
        """What the data is called in the ledger."""
        return self.settings.source or self.name

    def ledger_for(self, person: Person) -> Ledger:
        """The ledger, through which a person asks."""
        return self.ledger.on_behalf_of(person.name)

    def question(self, described: dict[str, Any]) -> Restored:
        """The question of this dataset that JSON describes, if it may be asked."""
        unit, neighbors = self.ledger.unit, self.ledger.neighbors
        defaults = {
            "neighbors": neighbors,
            "person": unit.person,
            "rows_per_person": unit.rows_per_person,
        }
        asked = from_description(described, defaults)
        if (unit_of(asked), asked.neighbors) != (unit, neighbors):
            raise Problem(
                Code.NOT_ALLOWED_UNIT,
                f"This dataset protects {unit} {neighbors}, and this question {unit_of(asked)} "
                f"{asked.neighbors}. Leave out person, rows_per_person and neighbors.",
            )
        must_be_allowed(asked, self.settings)
        return asked

    def charge(self, mechanism: Askable, name: str | None) -> Charge:
        """What a ledger is asked to pay for."""
        asked = mechanism.question.describe()
        return Charge(
            mechanism.guarantee,
            asked,
            unit_of(mechanism.question),
            mechanism.question.neighbors,
            self.source,
            mechanism.describe(),
            name,
            in_words(asked),
        )


def _table(said: DatasetSettings, settings: Settings) -> Any:
    """The table that a dataset is."""
    place = settings.placed(said.data)
    options = {key: getattr(said, key) for key in _READING if getattr(said, key) is not None}
    options |= {"trusted": True} if said.trusted else {}
    if said.table is not None or "://" in place:
        if said.table is None:
            raise InvalidFile("a database needs table, the name of the table in it.")
        if options:
            raise InvalidFile(f"{next(iter(options))} is for text files, got a database.")
        return SQLTable(place, said.table, said.schema_, settings.threads)
    if said.format == PARQUET:
        return ParquetFile(place)
    return TextFile(place, **options) if options else place

"""Questions about one table: whose data one change is, said once for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief
from rainbowdp.questions import Grouped, Keys
from rainbowdp.questions.by import By
from rainbowdp.sessions.face import Asking
from rainbowdp.sessions.targets import Asked


@dataclass(frozen=True)
class Questions(Asking[Asked]):
    """Makes questions that all protect the same unit: ``session.questions.winner([...], "vote")``.

    Attributes
    ----------
    neighbors : str
        What one change is.
    person : str or None
        The column that says whose record it is.
    rows_per_person : int
        How many rows of one person count, unless a question says otherwise.
    person_rule : str
        Which of them.
    groups : By or None
        The groups in each of which a question is asked.
    public : bool
        Whether everybody knows who is in which group.

    """

    neighbors: str = "substituted"
    person: str | None = None
    rows_per_person: int = 1
    person_rule: str = "sample"
    groups: By | None = None
    public: bool = False

    def _made(self, kind: Any, *given: Any, **options: Any) -> Asked:
        unit = self._unit_of_keys() if kind is Keys else self._unit()
        for name in ("neighbors", "person"):
            if name in options and options[name] != unit[name]:
                raise InvalidQuestion(
                    f"this session is for {name}={brief(unit[name])}, got "
                    f"{name}={brief(options[name])}: "
                    "leave it out, or open another session"
                )
        try:
            question: Asked = kind(*given, **{**unit, **options})
        except TypeError as error:
            wrong = str(error).rpartition("__init__() ")[2]
            raise InvalidQuestion(f"{kind.__name__}: {wrong}") from None
        if self.groups is None:
            return question
        by = self.groups
        return Grouped(question, by.column, by.names, public=self.public, apply=by.apply)

    def _unit(self) -> dict[str, Any]:
        return {
            "neighbors": self.neighbors,
            "person": self.person,
            "rows_per_person": self.rows_per_person,
            "person_rule": self.person_rule,
        }

    def _unit_of_keys(self) -> dict[str, Any]:
        if self.groups is not None:
            raise InvalidQuestion("keys cannot be asked for in groups")
        if self.person is None and self.rows_per_person > 1:
            raise InvalidQuestion(
                "keys need a person column where people have several rows: each key counts people"
            )
        return {"neighbors": self.neighbors, "person": self.person}

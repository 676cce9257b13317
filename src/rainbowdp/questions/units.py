"""Whose data one change is: a record, or all records of one person.

A guarantee compares a table with its neighbors: those that differ from it in one *unit*. Costs add
up only between the same neighbors, so everything that one ledger adds up must have one unit and
one neighbor relation.

==================================  ===========================================================
a record                            neighbors differ in one row
a person by a named column          neighbors differ in all rows of one person, however many
a person with at most k records,    neighbors differ in up to k rows, and nobody has more: the
as the owner promises               owner says so, and nothing enforces it
==================================  ===========================================================

**The limit of a question by column is no part of the unit.** Let two tables differ in the rows of
one person. A question with limit k first keeps at most k rows of each person, by a rule that looks
at that person's rows alone. The kept rows of everybody else are then the same in both tables, at
most k kept rows differ, λ differs by at most k and ⌈λ/k⌉ by at most one: the answer keeps its
guarantee between these two tables. Nothing here bounds how many rows the person had, so the pairs
of tables are the same for every k, and the costs of answers with different limits add up. (The
rule may draw at random, from a key that does not depend on the data: this holds for every key.)
Counts that the caller made, and the function of a custom question without groups, must keep the
limit by that column themselves.

**The k of a promise is part of the unit**, because it says which tables are neighbors: within k
changed rows. Answers for different k's hold for different pairs.

**Records and persons never mix.** A record that is replaced may turn into a record of somebody
else. Then the rows of two people change, and an answer that is ε-private for persons is only
2ε-private for records. The other way, a person with n rows is n records away, and n has no bound.
A sum over both units would hold for neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief, whole
from rainbowdp.questions.base import checked_column
from rainbowdp.questions.posed import Posed


@dataclass(frozen=True, slots=True)
class Unit:
    """Whose data one change is.

    Parameters
    ----------
    person
        The column that says whose row it is, or ``None``.
    rows_per_person
        Without such a column: how many rows a person has at most, as the owner promises.

    Raises
    ------
    InvalidQuestion
        If both are given: with a column, every question has a limit of its own.

    Examples
    --------
    >>> for unit in (Unit(), Unit(person="patient"), Unit(rows_per_person=3)):
    ...     print(unit)
    one record
    one person (column 'patient')
    one person with at most 3 records (as you promise)

    """

    person: str | None = None
    rows_per_person: int = 1

    def __post_init__(self) -> None:
        checked_column(self.person, "person")
        limit = whole(self.rows_per_person, "rows_per_person", 1)
        object.__setattr__(self, "rows_per_person", limit)
        if self.person is not None and limit > 1:
            raise InvalidQuestion(
                f"A unit is either a person by a column or a promise of at most so many rows, got "
                f"person={brief(self.person)} and rows_per_person={limit}. Leave out "
                "rows_per_person: "
                "with a person column every question has its own limit."
            )

    def __str__(self) -> str:
        if self.person is not None:
            return f"one person (column {self.person!r})"
        if self.rows_per_person == 1:
            return "one record"
        return f"one person with at most {self.rows_per_person} records (as you promise)"

    @property
    def whom(self) -> str:
        """Whom a guarantee for this unit protects, in two words."""
        return "one record" if self == Unit() else "one person"

    def describe(self) -> dict[str, Any]:
        """The unit in JSON values, as ``Unit.restore`` reads them."""
        if self.person is not None:
            return {"kind": "person", "column": self.person}
        if self.rows_per_person == 1:
            return {"kind": "record"}
        return {"kind": "promise", "rows_per_person": self.rows_per_person}

    @classmethod
    def restore(cls, description: Mapping[str, Any]) -> Unit:
        """The unit that ``describe`` described.

        >>> Unit.restore({"kind": "person", "column": "patient"})
        Unit(person='patient', rows_per_person=1)
        """
        person, limit = description.get("column"), description.get("rows_per_person", 1)
        unit = cls(person, limit)
        if unit.describe() != dict(description):
            raise InvalidQuestion(
                f"A unit must be described as a record, a person or a promise, got {description}."
            )
        return unit


def unit_of(question: Posed) -> Unit:
    """Whose data one change is for this question.

    >>> from rainbowdp.questions.winner import Winner
    >>> print(unit_of(Winner(["red", "green"], person="customer", rows_per_person=2)))
    one person (column 'customer')
    """
    if question.person is not None:
        return Unit(person=question.person)
    return Unit(rows_per_person=question.rows_per_person)

"""The counting query in SQL, the same for DuckDB and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rainbowdp.tables.held import Range
from rainbowdp.tables.values import Matches

Literal: TypeAlias = Callable[[Any], str]  # a value as SQL


@dataclass(frozen=True)
class Source:
    """Where the rows are, as pieces of SQL.

    ``value_test`` and ``person_test`` tell numbers from NaN, where the column may hold it.
    """

    table: str
    value: str
    value_test: str | None = None
    person: str | None = None
    person_test: str | None = None

    def rows(self) -> str:
        """The values and persons of all rows; a person must be known."""
        if self.person is None:
            return f"SELECT {self.value} AS value FROM {self.table}"  # noqa: S608  all quoted
        rows = (
            f"SELECT {self.value} AS value, {self.person} AS person FROM {self.table} "  # noqa: S608
            f"WHERE {self.person} IS NOT NULL"
        )
        if self.person_test is not None:
            rows += f" AND {self.person_test.format(self.person)}"
        return rows

    def number(self, found: Matches, literal: Literal) -> str:
        """The number of the group that ``value`` belongs to, or null."""
        if isinstance(found, dict):
            cases = " ".join(f"WHEN value = {literal(v)} THEN {n}" for v, n in found.items())
            return f"CASE {cases} END"
        place = _place(found, literal)
        if self.value_test is None:
            return place
        return f"CASE WHEN {self.value_test.format('value')} THEN {place} END"


def counting(
    source: Source, found: Matches, limit: int, literal: Literal, few: bool = False
) -> str:
    """SQL for rows of a group's number and its count; a row without a number says nothing.

    Listed values: keep the rows that hold one, group by value. Ranges: give each row the number
    of its range, group by that. With ``few`` different values it is quicker to group by value
    first and match afterwards.
    """
    person = ", person" if source.person is not None else ""
    rows, number = source.rows(), source.number(found, literal)
    if few or isinstance(found, dict):
        listed = "" if few else f" WHERE value IN ({', '.join(map(literal, found))})"
        each = (
            f"SELECT value{person}, count(*) AS records FROM ({rows}) AS rows{listed} "  # noqa: S608
            f"GROUP BY value{person}"
        )
        groups = f"SELECT {number} AS number{person}, records FROM ({each}) AS each"  # noqa: S608
    else:
        each = f"SELECT {number} AS number{person} FROM ({rows}) AS rows"  # noqa: S608
        groups = (
            f"SELECT number{person}, count(*) AS records FROM ({each}) AS each "  # noqa: S608
            f"GROUP BY number{person}"
        )
    if source.person is not None:
        groups = _limited(groups, limit)
    return f"SELECT number, sum(records) FROM ({groups}) AS groups GROUP BY number"  # noqa: S608


def _place(ranges: Sequence[Range], literal: Literal) -> str:
    """The group of a number among rising ranges; engines run a flat list of cases fastest."""
    cases, reached = [], None
    for low, high, closed, group in ranges:
        if low != reached:
            cases.append(f"WHEN value < {literal(low)} THEN NULL")
        cases.append(f"WHEN value {'<=' if closed else '<'} {literal(high)} THEN {group}")
        reached = None if closed else high
    return f"CASE {' '.join(cases)} END"


def _limited(groups: str, limit: int) -> str:
    """At most ``limit`` records of each person, those of the first listed groups first."""
    running = (
        "SELECT number, records, sum(records) OVER "  # noqa: S608
        "(PARTITION BY person ORDER BY number ROWS UNBOUNDED PRECEDING) - records AS before "
        f"FROM ({groups}) AS counted WHERE number IS NOT NULL"
    )
    return (
        f"SELECT number, least(records, {limit} - before) AS records "  # noqa: S608
        f"FROM ({running}) AS running WHERE before < {limit}"
    )

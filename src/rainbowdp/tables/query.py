"""The counting query in SQL, the same for every engine that speaks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from rainbowdp.tables.asked import Rest
from rainbowdp.tables.held import Range
from rainbowdp.tables.people import People
from rainbowdp.tables.values import Matches

Literal: TypeAlias = Callable[[Any], str]  # a value as SQL
Write: TypeAlias = Callable[[str | None, Any], str]  # the same, of a type to compare with


@dataclass(frozen=True)
class Dialect:
    """How an engine spells what a person rule needs.

    ``hashed`` is the keyed hash of some terms, good enough to sort by: a hash that ends in an
    exclusive or with its last term would favor some groups. ``spread`` selects person, number and
    i, with i from one end to the other of so many ``records``, from a table of these.
    """

    hashed: Callable[[int, str], str]
    spread: Callable[[str], str]


@dataclass(frozen=True)
class Source:
    """Where the rows are, as pieces of SQL.

    ``shown`` is the column as text. ``value_test`` tells numbers from NaN, where the column may
    hold it. ``person`` is null where a row has none, and equal for two rows only if they are of one
    person. ``cast`` is the type of values to compare with, and ``where`` writes the condition that
    a row must meet.
    """

    table: str
    value: str
    shown: str
    value_test: str | None = None
    person: str | None = None
    cast: str | None = None
    where: Callable[[Write], str] | None = None

    def kept(self, write: Write) -> str:
        """The rows that meet the condition, to be selected from."""
        return self.table if self.where is None else f"{self.table} WHERE {self.where(write)}"

    def rows(self, write: Write) -> str:
        """The values of all rows that meet the condition, and the persons if they matter."""
        person = "" if self.person is None else f", {self.person} AS person"
        return f"SELECT {self.value} AS value{person} FROM {self.kept(write)}"  # noqa: S608  quoted

    def literal(self, write: Write) -> Literal:
        """How values to compare with are written."""
        return partial(write, self.cast)

    def number(self, found: Matches, write: Write, rest: Rest) -> str:
        """The number of the group that ``value`` belongs to, or null."""
        place = self._listed(found, write)
        known = "value IS NOT NULL"
        if self.value_test is not None:
            known = f"{known} AND {self.value_test.format('value')}"
        if rest.other is not None:
            place = f"coalesce({place}, {rest.other})"
        if rest.missing is not None:
            return f"CASE WHEN {known} THEN {place} ELSE {rest.missing} END"
        if rest.other is None and (self.value_test is None or isinstance(found, dict)):
            return place
        return f"CASE WHEN {known} THEN {place} END"

    def _listed(self, found: Matches, write: Write) -> str:
        literal = self.literal(write)
        if not found:
            return "NULL"
        if isinstance(found, dict):
            cases = " ".join(f"WHEN value = {literal(v)} THEN {n}" for v, n in found.items())
            return f"CASE {cases} END"
        return _place(found, literal)


def counting(source: Source, found: Matches, write: Write, rest: Rest, few: bool = False) -> str:
    """SQL for rows of a group's number and its count; a row without a number says nothing.

    Listed values: keep the rows that hold one, group by value. Ranges, and where all others are
    counted too: give each row the number of its group, group by that. With ``few`` different values
    it is quicker to group by value first and match afterwards.
    """
    rows, number = source.rows(write), source.number(found, write, rest)
    if few or (isinstance(found, dict) and rest == Rest()):
        values = map(source.literal(write), found)
        listed = "" if few else f" WHERE value IN ({', '.join(values)})"
        each = (
            f"SELECT value, count(*) AS records FROM ({rows}) AS held{listed} "  # noqa: S608
            "GROUP BY value"
        )
        counted = f"SELECT {number} AS number, records FROM ({each}) AS each"  # noqa: S608
    else:
        counted = f"SELECT {number} AS number, 1 AS records FROM ({rows}) AS held"  # noqa: S608
    return f"SELECT number, sum(records) FROM ({counted}) AS counted GROUP BY number"  # noqa: S608


def counting_people(
    source: Source, found: Matches, write: Write, rest: Rest, people: People, dialect: Dialect
) -> str:
    """As ``counting``, of the records that a person rule keeps."""
    number = source.number(found, write, rest)
    each = f"SELECT person, {number} AS number FROM ({source.rows(write)}) AS held"  # noqa: S608
    groups = (
        f"SELECT person, number, count(*) AS records FROM ({each}) AS each "  # noqa: S608
        "WHERE person IS NOT NULL AND number IS NOT NULL GROUP BY person, number"
    )
    return kept(groups, people, dialect)


def kept(groups: str, people: People, dialect: Dialect) -> str:
    """SQL for a group's number and its count from the records of each person and number.

    Sorting ends with number and i, so that no tie of hashes is left to the order of the rows.
    """
    if people.rule == "most frequent":
        order = f"records DESC, {dialect.hashed(people.key, 'person, number')}, number"
        return _first(f"SELECT person, number, records FROM ({groups}) AS counted", order, 1)  # noqa: S608
    if people.rule == "median":
        return _medians(groups, people.key, dialect)
    counted = f"WITH counted AS ({groups})"
    totals = (
        "SELECT person, number, records, total FROM counted JOIN "
        "(SELECT person AS whose, sum(records) AS total FROM counted GROUP BY person) AS totals "
        "ON person = whose"
    )
    many = f"(SELECT person, number, records FROM ({totals}) AS summed WHERE total > {people.most})"  # noqa: S608
    order = f"{dialect.hashed(people.key, 'person, number, i')}, number, i"
    return (
        f"{counted} SELECT number, sum(records) FROM (SELECT number, records FROM ({totals}) "  # noqa: S608
        f"AS summed WHERE total <= {people.most} UNION ALL "
        f"{_first(dialect.spread(many), order, people.most)}) AS both_kinds GROUP BY number"
    )


def _first(records: str, order: str, most: int) -> str:
    """How often each number is among the first so many records of a person in an order."""
    placed = (
        "SELECT number, row_number() "  # noqa: S608
        f"OVER (PARTITION BY person ORDER BY {order}) AS place "
        f"FROM ({records}) AS records"
    )
    return (
        f"SELECT number, count(*) AS records FROM ({placed}) AS placed "  # noqa: S608
        f"WHERE place <= {most} GROUP BY number"
    )


def _medians(groups: str, key: int, dialect: Dialect) -> str:
    """How many people have their median in each group; of two middles the hash takes one."""
    upto = "sum(records) OVER (PARTITION BY person ORDER BY number ROWS UNBOUNDED PRECEDING)"
    running = (
        f"SELECT person, number, records, {upto} AS upto, "  # noqa: S608
        f"sum(records) OVER (PARTITION BY person) AS total FROM ({groups}) AS counted"
    )
    lower = "2 * (upto - records) < total AND total <= 2 * upto"
    upper = "2 * (upto - records) <= total AND total < 2 * upto"
    one, other = (dialect.hashed(key, f"person, {side}") for side in (0, 1))
    return (
        f"SELECT number, count(*) AS records FROM ({running}) AS running "  # noqa: S608
        f"WHERE CASE WHEN {one} < {other} THEN {lower} ELSE {upper} END GROUP BY number"
    )


def _place(ranges: Sequence[Range], literal: Literal) -> str:
    """The group of a number among rising ranges; engines run a flat list of cases fastest."""
    cases, reached = [], None
    for low, high, closed, group in ranges:
        if low != reached:
            cases.append(f"WHEN value < {literal(low)} THEN NULL")
        cases.append(f"WHEN value {'<=' if closed else '<'} {literal(high)} THEN {group}")
        reached = None if closed else high
    return f"CASE {' '.join(cases)} END"

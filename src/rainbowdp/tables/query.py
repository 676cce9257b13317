"""The counting query in SQL, the same for every engine that speaks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, TypeAlias

from rainbowdp.questions.weights import Weight
from rainbowdp.tables.asked import Rest
from rainbowdp.tables.held import Range
from rainbowdp.tables.people import People
from rainbowdp.tables.values import Matches

Literal: TypeAlias = Callable[[Any], str]  # a value as SQL
Write: TypeAlias = Callable[[str | None, Any], str]  # the same, of a type to compare with


@dataclass(frozen=True)
class Dialect:
    """How an engine spells what a person rule needs, and what it is fast at.

    Up to ``each`` listed values are counted in one pass that compares each row with every value.
    ``hashed`` is the keyed hash of some terms, good enough to sort by: a hash that ends in an
    exclusive or with its last term would favor some groups. ``spread`` selects person, number and
    i, with i from one end to the other of so many ``records``, from a table of these.
    """

    hashed: Callable[[int, str], str]
    spread: Callable[[str], str]
    remainder: str = "%"
    each: int = 0


@dataclass(frozen=True)
class Compared:
    """A column that is compared with values: its value in SQL, null if a record has none.

    ``cast`` is the type of values to compare with, and ``found`` those that are looked for.
    ``number`` tells numbers from NaN, where the column may hold it.
    """

    value: str
    cast: str | None
    found: Matches
    number: str | None = None


@dataclass(frozen=True)
class Source:
    """Where the rows are, as pieces of SQL.

    ``shown`` is the column as text. ``value_test`` tells numbers from NaN, where the column may
    hold it. ``person`` is null where a row has none, and equal for two rows only if they are of one
    person. ``cast`` is the type of values to compare with, and ``where`` writes the condition that
    a row must meet. ``part`` tells the groups that are counted apart, of ``size`` cells each, and
    ``units`` is the weight of a row in whole units, at most ``most`` of them, null if it has none.
    ``spelled`` is the value as text, where that takes more than a cast.
    """

    table: str
    value: str
    shown: str
    value_test: str | None = None
    person: str | None = None
    cast: str | None = None
    where: Callable[[Write], str] | None = None
    part: Compared | None = None
    size: int = 1
    units: str | None = None
    most: int = 1
    spelled: str | None = None

    @property
    def text(self) -> str:
        """The value as text, null where there is none."""
        return self.spelled or f"CAST({self.value} AS VARCHAR)"

    def kept(self, write: Write) -> str:
        """The rows that meet the condition, to be selected from."""
        return self.table if self.where is None else f"{self.table} WHERE {self.where(write)}"

    def rows(self, write: Write) -> str:
        """The values of all rows that meet the condition, and what else matters of them."""
        columns = {"value": self.value, **self._beside}
        selected = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
        return f"SELECT {selected} FROM {self.kept(write)}"  # noqa: S608  quoted

    @property
    def _beside(self) -> dict[str, str]:
        """The columns beside the value that matter, by the names that they have here."""
        part = None if self.part is None else self.part.value
        found = {"part": part, "units": self.units, "person": self.person}
        return {name: sql for name, sql in found.items() if sql is not None}

    def beside(self, *left_out: str) -> str:
        """Their names, but for some, to be selected or grouped by after another one."""
        return "".join(f", {name}" for name in self._beside if name not in left_out)

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

    def tests(self, write: Write, few: bool) -> list[str]:
        """What a row must meet beside its value: listed parts, unless there are few, and a weight.

        Where there are few, leaving out the others before they are grouped takes longer.
        """
        found = []
        if self.part is not None and not few:
            values = map(partial(write, self.part.cast), self.part.found)
            found.append(f"part IN ({', '.join(values)})")
        if self.units is not None:
            found.append("units IS NOT NULL")
        return found

    def in_cells(self, counted: str, number: str, write: Write, *, weighed: bool = False) -> str:
        """From rows with the ``number`` of a group, and their part, to those with a cell's.

        ``weighed`` puts the units of a row into that number, too.
        """
        cell, with_parts, parts = f"CAST({number} AS BIGINT)", "", ""
        if self.part is not None:
            assert isinstance(self.part.found, dict)
            literal = partial(write, self.part.cast)
            listed = ", ".join(f"({literal(v)}, {place})" for v, place in self.part.found.items())
            cell = f"{self.size} * place + {cell}"
            with_parts = f"WITH parts(name, place) AS (VALUES {listed}) "
            parts = " JOIN parts ON part = name"
        if weighed:
            cell = f"({cell}) * {self.most + 1} + units"
        person = "" if self.person is None else ", person"
        return (
            f"{with_parts}SELECT {cell} AS number, records{person} "  # noqa: S608
            f"FROM ({counted}) AS counted{parts}"
        )


def counting(source: Source, found: Matches, write: Write, rest: Rest, few: bool = False) -> str:
    """SQL for rows of a cell's number and its count; a row without a number says nothing.

    Listed values: keep the rows that hold one, group by value. Ranges, and where all others are
    counted too: give each row the number of its group, group by that. With ``few`` different values
    it is quicker to group by value first and match afterwards.
    """
    number = source.number(found, write, rest)
    late = few or (isinstance(found, dict) and rest == Rest())
    tests = source.tests(write, few)
    if late and not few:
        tests.append(f"value IN ({', '.join(map(source.literal(write), found))})")
    rows = f"({source.rows(write)}) AS held{_where(tests)}"
    if not late:
        rows = f"(SELECT {number} AS own{source.beside()} FROM {rows}) AS numbered"  # noqa: S608
    keys = ("value" if late else "own") + source.beside("units")
    records = "count(*)" if source.units is None else "sum(units)"
    each = f"SELECT {keys}, {records} AS records FROM {rows} GROUP BY {keys}"  # noqa: S608
    cells = source.in_cells(each, number if late else "own", write)
    return f"SELECT number, sum(records) FROM ({cells}) AS cells GROUP BY number"  # noqa: S608


def counting_each(source: Source, found: Matches, write: Write) -> str:
    """The same for few listed values of rows that have neither parts nor weights.

    One pass that compares each row with every value, and neither sorts nor hashes: for some values
    PostgreSQL is more than twice as fast at that.
    """
    assert isinstance(found, dict)
    literal = source.literal(write)
    each = [
        f"count(*) FILTER (WHERE value = {literal(one)}) AS n{n}" for n, one in enumerate(found)
    ]
    once = f"SELECT {', '.join(each)} FROM ({source.rows(write)}) AS held"  # noqa: S608
    cells = ", ".join(f"({number}, n{n})" for n, number in enumerate(found.values()))
    return (
        f"SELECT number, sum(records) FROM ({once}) AS once, "  # noqa: S608
        f"LATERAL (VALUES {cells}) AS cells(number, records) GROUP BY number"
    )


def counting_people(
    source: Source, found: Matches, write: Write, rest: Rest, people: People, dialect: Dialect
) -> str:
    """As ``counting``, of the records that a person rule keeps.

    Records of a person that weigh alike are alike, so their units are part of their number, and
    what comes out are numbers of cells times one more than the most units.
    """
    each = (
        f"SELECT {source.number(found, write, rest)} AS own{source.beside()} "  # noqa: S608
        f"FROM ({source.rows(write)}) AS held{_where(source.tests(write, few=False))}"
    )
    keys = f"own{source.beside()}"
    groups = (
        f"SELECT {keys}, count(*) AS records FROM ({each}) AS each "  # noqa: S608
        f"WHERE person IS NOT NULL AND own IS NOT NULL GROUP BY {keys}"
    )
    cells = source.in_cells(groups, "own", write, weighed=source.units is not None)
    counted = kept(cells, people, dialect)
    return counted if source.units is None else unweighed(counted, source.most, dialect)


def unweighed(counted: str, most: int, dialect: Dialect) -> str:
    """From counts of numbers with units in them to the sums of their units."""
    units = f"number {dialect.remainder} {most + 1}"
    split = f"SELECT number - {units} AS cell, {units} AS units, records FROM ({counted}) AS kept"  # noqa: S608
    return f"SELECT cell, sum(units * records) FROM ({split}) AS split GROUP BY cell"  # noqa: S608


def in_units(value: str, weight: Weight, whole: str, limit: str | None = None) -> str:
    """The units of a weight, null of what is no number; ``whole`` cuts off what follows a point."""
    limit = limit or format(Decimal(f"{weight.units}e-{weight.places}"), "f")  # exact
    nearest = whole.format(f"{value} * {weight.scale} + 0.5")
    return (
        f"CASE WHEN {value} <= 0 THEN 0 WHEN {value} >= {limit} THEN {weight.units} "
        f"WHEN {value} < {limit} THEN {nearest} END"
    )


def _where(tests: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(tests)}" if tests else ""


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
        f"{counted} SELECT number, sum(records) AS records "  # noqa: S608
        f"FROM (SELECT number, records FROM ({totals}) AS summed WHERE total <= {people.most} "
        "UNION ALL "
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

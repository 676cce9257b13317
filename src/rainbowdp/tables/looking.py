"""What a curator sees of a table before anything is paid: exact, and therefore private.

A question counts only what it lists, and an answer does not tell how much that was. Whoever may
read the table can look first: how many rows match each answer or bin, how many match none, and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from rainbowdp.questions import Between, Equals
from rainbowdp.questions.base import Counted
from rainbowdp.questions.ends import Kind, moment
from rainbowdp.questions.functions import FIELDS
from rainbowdp.tables.asked import rules
from rainbowdp.tables.prepared import Prepared
from rainbowdp.tables.query import Write

MOST_VALUES = 1000  # different unmatched values that are looked at
_EXAMPLES = 5


@dataclass(frozen=True)
class PeopleSeen:
    """How many people have matching rows, and how many of these each has.

    Attributes
    ----------
    people
        Different people with at least one matching row.
    fewest, median, most
        Matching rows of one person.
    over_limit
        People with more matching rows than the question counts.

    """

    people: int
    fewest: int
    median: int
    most: int
    over_limit: int


@dataclass(frozen=True)
class Look:
    """What a table holds for a question. **Exact and private: for the curator's eyes only.**

    Attributes
    ----------
    column
        The column that was looked at.
    declared
        Its declared type, in the engine's own word.
    rows
        How many rows the table has.
    left_out
        How many of them do not meet the question's condition. The numbers below are about the rest.
    matched
        How many rows each answer or bin has, before any limit per person.
    missing
        How many rows have no value.
    unmatched
        How many rows match nothing, by reason.
    examples
        The most frequent values that match nothing, and how many rows have each.
    people
        Who the matching rows belong to, if the question has a person column.

    """

    column: str
    declared: str
    rows: int
    left_out: int
    matched: dict[str, int]
    missing: int
    unmatched: dict[str, int]
    examples: tuple[tuple[str, int], ...]
    people: PeopleSeen | None

    def as_dict(self) -> dict[str, Any]:
        """The look in JSON values, marked as private.

        Returns
        -------
        dict
            Every attribute; ``private`` is true.

        """
        people = None if self.people is None else vars(self.people)
        shown = {**vars(self), "type": self.declared, "examples": list(self.examples)}
        del shown["declared"]
        return {"private": True, **shown, "people": people}


def looked(prepared: Prepared) -> Look:
    """Look at a table that an engine is ready to query."""
    source, found = prepared.source, prepared.found

    def each(write: Write) -> str:
        number = source.number(found, write, prepared.rest)
        person = "" if source.person is None else f", {source.person} AS person"
        held = (
            f"SELECT {source.value} AS value, {source.shown} AS shown{person} "  # noqa: S608
            f"FROM {source.kept(write)}"
        )
        person = "" if source.person is None else ", person"
        return f"(SELECT {number} AS number, shown{person} FROM ({held}) AS held) AS each_row"  # noqa: S608

    def run(query: str) -> Sequence[Sequence[Any]]:
        return prepared.run(lambda write: query.format(rows=each(write), most=MOST_VALUES))

    ((rows, present),) = run("SELECT count(*), count(shown) FROM {rows}")
    whole = rows
    if source.where is not None:
        ((whole,),) = prepared.run(lambda _: f"SELECT count(*) FROM {source.table}")  # noqa: S608
    matched = run("SELECT number, count(*) FROM {rows} WHERE number IS NOT NULL GROUP BY number")
    others = run(
        "SELECT shown, count(*) AS records FROM {rows} WHERE number IS NULL AND shown IS NOT NULL "
        "GROUP BY shown ORDER BY records DESC, shown LIMIT {most}"
    )
    people = None
    if source.person is not None:
        people = run(
            "SELECT records, count(*) FROM (SELECT count(*) AS records FROM {rows} WHERE "
            "person IS NOT NULL AND number IS NOT NULL GROUP BY person) AS people GROUP BY records"
        )
    return made(
        prepared.question,
        prepared.type_,
        rows=int(whole),
        kept=int(rows),
        present=int(present),
        matched=matched,
        others=others,
        people=people,
    )


def made(
    question: Counted,
    declared: object,
    *,
    rows: int,
    kept: int,
    present: int,
    matched: Sequence[Sequence[Any]],
    others: Sequence[Sequence[Any]],
    people: Sequence[Sequence[Any]] | None,
) -> Look:
    """The look from what an engine counted; everything but ``rows`` is of the rows ``kept``.

    ``matched`` has the number of a group and its rows, ``others`` the most frequent values that
    match nothing and their rows, ``people`` a number of rows and how many people have so many.
    """
    names = [name for name, _ in question.groups]
    counts = dict.fromkeys(names, 0) | {names[int(n)]: int(rows) for n, rows in matched}
    unmatched: dict[str, int] = {}
    for text, records in others:
        why = reason(question, str(text))
        unmatched[why] = unmatched.get(why, 0) + int(records)
    rest = present - sum(counts.values()) - sum(unmatched.values())
    if rest > 0:
        unmatched["values too many to look at"] = rest
    return Look(
        str(question.column),
        str(declared),
        rows,
        rows - kept,
        counts,
        kept - present,
        unmatched,
        tuple((str(text), int(records)) for text, records in others[:_EXAMPLES]),
        None if people is None else _seen(people, question.rows_per_person),
    )


def reason(question: Counted, text: str) -> str:
    """Why a value that matches no group does not.

    >>> from rainbowdp.questions import Winner
    >>> reason(Winner(["red", "1"], "x"), "RED"), reason(Winner(["red", "1"], "x"), "1.0")
    ('capital letters differ', 'the same number, written differently')
    """
    if question.apply in FIELDS:
        return f"another {question.apply}"
    rule = rules(question)[0]
    if isinstance(rule, Between):
        if rule.kind == Kind.NUMBERS:
            return "not a number" if _number(text) is None else "outside all ranges"
        return "not such a time" if moment(text) is None else "outside all ranges"
    listed = [rule.value for _, rule in question.groups if isinstance(rule, Equals)]
    bare = text.strip()
    if bare in listed:
        return "spaces around it"
    if bare.casefold() in {value.casefold() for value in listed}:
        return "capital letters differ"
    number = _number(bare)
    if number is not None and number in map(_number, listed):
        return "the same number, written differently"
    return "not listed"


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _seen(people: Sequence[Sequence[Any]], limit: int) -> PeopleSeen:
    by_rows = sorted((int(records), int(number)) for records, number in people)
    total = sum(number for _, number in by_rows)
    if not total:
        return PeopleSeen(0, 0, 0, 0, 0)
    passed, median = 0, 0
    for records, number in by_rows:
        passed += number
        if 2 * passed >= total:
            median = records
            break
    over = sum(number for records, number in by_rows if records > limit)
    return PeopleSeen(total, by_rows[0][0], median, by_rows[-1][0], over)

"""Units: what they are, and what may be added up between which tables."""

from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.questions import Unit, unit_of

Row: TypeAlias = tuple[str, str]  # whose row it is, and its value

COLUMNS = st.text(min_size=1, max_size=9)
UNITS = st.builds(Unit, person=COLUMNS) | st.builds(Unit, rows_per_person=st.integers(1, 10**6))


# what they are


def test_a_unit_is_said_in_plain_words() -> None:
    assert str(Unit()) == "one record"
    assert str(Unit(person="patient")) == "one person (column 'patient')"
    assert str(Unit(rows_per_person=3)) == "one person with at most 3 records (as you promise)"


@given(UNITS)
def test_a_unit_is_restored_as_it_was(unit: Unit) -> None:
    assert Unit.restore(unit.describe()) == unit


@given(UNITS, UNITS)
def test_units_are_equal_if_they_are_described_alike(one: Unit, other: Unit) -> None:
    assert (one == other) == (one.describe() == other.describe()) == (str(one) == str(other))


@pytest.mark.parametrize(
    "description",
    [
        {},
        {"kind": "person"},
        {"kind": "person", "column": None},
        {"kind": "person", "column": "patient", "rows_per_person": 1},
        {"kind": "record", "column": "patient"},
        {"kind": "record", "rows_per_person": 1},
        {"kind": "promise", "rows_per_person": 1},
        {"kind": "promise", "rows_per_person": "3"},
        {"kind": "household", "column": "home"},
    ],
    ids=str,
)
def test_what_describes_no_unit_is_refused(description: dict[str, Any]) -> None:
    with pytest.raises(rb.InvalidQuestion):
        Unit.restore(description)


@pytest.mark.parametrize(
    "options",
    [
        {"person": "patient", "rows_per_person": 2},
        {"person": ""},
        {"person": 3},
        {"rows_per_person": 0},
        {"rows_per_person": 1.5},
        {"rows_per_person": True},
    ],
    ids=str,
)
def test_what_makes_no_unit_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(rb.InvalidQuestion):
        Unit(**options)


@given(st.none() | COLUMNS, st.integers(1, 9), st.sampled_from(["substituted", "added or removed"]))
def test_a_question_has_the_unit_of_its_person_column_or_of_its_promise(
    person: str | None, limit: int, neighbors: str
) -> None:
    shared: dict[str, Any] = {
        "neighbors": neighbors,
        "person": person,
        "rows_per_person": limit,
    }
    expected = Unit(person=person) if person is not None else Unit(rows_per_person=limit)
    for question in (
        rb.Winner(["red", "green"], "vote", **shared),
        rb.Threshold(3, "vote", equals="red", **shared),
        rb.Quantile("1/2", [0, 1, 2], "age", **shared),
        rb.Custom(["a", "b"], lambda _: {"a": 0, "b": 1}, name="own", **shared),
    ):
        assert unit_of(question) == expected


# what may be added up


def kept(rows: list[Row], limit: int, key: int) -> dict[str, int]:
    """Counts of at most so many rows of each person, drawn from that person's rows alone."""
    found: Counter[str] = Counter()
    for person in {person for person, _ in rows}:
        own = sorted(value for owner, value in rows if owner == person)
        random.Random(f"{key} {person}").shuffle(own)
        found.update(own[:limit])
    return {answer: found[answer] for answer in ("red", "green")}


def voted(rows: list[Row]) -> dict[str, int]:
    """Counts of one vote a person: what most of that person's rows say, else red."""
    found: Counter[str] = Counter()
    for person in {person for person, _ in rows}:
        own = Counter(value for owner, value in rows if owner == person)
        found["red" if own["red"] >= own["green"] else "green"] += 1
    return {answer: found[answer] for answer in ("red", "green")}


def loss(mechanism: Any, one: dict[str, int], other: dict[str, int]) -> float:
    """The largest |log ratio| of an answer's chances, from exact integers."""
    rows = [mechanism.exact().at(counts).weights for counts in (one, other)]
    logs = [[math.log(weight) - math.log(sum(row)) for weight in row] for row in rows]
    return float(max(abs(p - q) for p, q in zip(*logs, strict=True)))


def by_person(epsilon: str, limit: int, neighbors: str = "substituted") -> Any:
    question = rb.Winner(
        ["red", "green"], "vote", neighbors=neighbors, person="voter", rows_per_person=limit
    )
    return rb.best(question, rb.DP(epsilon))


VALUES = st.lists(st.sampled_from(["red", "green"]), max_size=12)
LIMITS = {limit: by_person("0.5", limit) for limit in (1, 2, 5)}
COMING = {limit: by_person("0.5", limit, "added or removed") for limit in (1, 2, 5)}


@given(
    others=st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["red", "green"]))),
    before=VALUES,
    after=VALUES,
    key=st.integers(0, 99),
)
def test_answers_with_different_limits_add_up_for_persons(
    others: list[Row], before: list[str], after: list[str], key: int
) -> None:
    """All rows of one person change, however many: three limits cost three times 0.5."""
    one = others + [("x", value) for value in before]
    other = others + [("x", value) for value in after]
    for limit in LIMITS:
        assert loss(LIMITS[limit], kept(one, limit, key), kept(other, limit, key)) <= 0.5 + 1e-12
        assert loss(COMING[limit], kept(one, limit, key), kept(others, limit, key)) <= 0.5 + 1e-12


OTHERS = [(f"voter {number}", "red") for number in range(3)]
BEFORE = [*OTHERS, ("p", "red"), ("p", "green"), ("q", "red"), ("q", "green")]
AFTER = [*OTHERS, ("q", "green"), ("p", "green"), ("q", "red"), ("q", "green")]


def test_one_record_under_a_person_question_costs_twice_as_much() -> None:
    """One row passes from p to q: two people change their vote, and the odds change by e^2."""
    assert sum(one != other for one, other in zip(BEFORE, AFTER, strict=True)) == 1
    assert voted(BEFORE) == {"red": 5, "green": 0}
    assert voted(AFTER) == {"red": 3, "green": 2}
    assert loss(by_person("1", 1), voted(BEFORE), voted(AFTER)) == pytest.approx(2, abs=1e-12)
    by_record = rb.best(rb.Winner(["red", "green"], "vote"), rb.DP(1))
    rows = [Counter(value for _, value in table) for table in (BEFORE, AFTER)]
    assert loss(by_record, *map(dict, rows)) <= 1 + 1e-12


@pytest.mark.parametrize("first", ["record", "person"])
def test_a_ledger_does_not_add_both_up(tmp_path: Path, first: str) -> None:
    questions = {
        "record": rb.best(rb.Winner(["red", "green"], "vote"), rb.DP(1)),
        "person": by_person("1", 1),
    }
    person = "voter" if first == "person" else None
    ledger = rb.Ledger.create(tmp_path / "b.db", dataset="votes", epsilon=2, person=person)
    rb.ask(questions.pop(first), voted(BEFORE), ledger=ledger)
    (other,) = questions.values()
    with pytest.raises(rb.LedgerError, match="costs of different units cannot be added up"):
        rb.ask(other, voted(BEFORE), ledger=ledger)
    assert ledger.balance().entries == 1

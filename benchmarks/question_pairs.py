"""Random neighboring files under questions with conditions, groups, weights and people at once.

*One record*: one line of a file is replaced by any bytes but a newline, under a vote, a share, a
threshold, quantiles or a ranking with a condition, in groups, of clipped weights. What the first
file holds is counted by hand, in plain Python. *One person*: all lines of one person are replaced
by others of that person with any values, and the lines are shuffled; both files are read. No pair
may be apart, in all groups together, by more than the question's limit. A reader that forgets the
limit of weights is tried in the same way, as a fault that must be found. Prints a Markdown table.

    python benchmarks/question_pairs.py --pairs 100000
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias
from unittest import mock

import duckdb

import rainbowdp as rb
from pairs import PIECES, one_connection
from rainbowdp.questions.weights import Weight
from rainbowdp.tables import count_groups, query

Row: TypeAlias = dict[str, str]
GROUPS = ["north", "south"]
COLORS = ["red", "blue", "Köln"]
WEIGHT = rb.Weight("weight", "2.5", 2)
WHERE = "age >= 18 or age is null"
COLUMNS = ("who", "district", "choice", "weight", "age")
VALUES: dict[str, list[str]] = {
    "who": [f"p{i}" for i in range(5)],
    "district": [*GROUPS, "east", ""],
    "choice": [*COLORS, "green", ""],
    "weight": ["0.25", "1", "2.5", "99", "-3", "1e300", "nan", "inf", "", "heavy", "1.005"],
    "age": ["17", "18", "65.5", "old", "", "nan", "-1"],
}
ODD = [*PIECES, b"north", b"south", b"18", b"2.5", b"1e9", b",", b",", b",", b","]


def questions(person: str | None, rows: int) -> list[rb.Grouped]:
    shared: dict[str, Any] = {"where": WHERE, "weight": WEIGHT, "person": person}
    shared["rows_per_person"] = rows
    asked = [
        rb.Winner(COLORS, "choice", other="other", missing="missing", **shared),
        rb.Share("2/3", "choice", equals="red", **shared),
        rb.Threshold("10.5", "choice", equals="Köln", **shared),
        rb.Quantile("1/2", [18, 40, 90], "age", **shared),
        rb.Ranking(COLORS, "choice", first=2, **shared),
    ]
    return [rb.Grouped(question, "district", GROUPS) for question in asked]


def number(text: str) -> float | None:
    """A number as DuckDB reads it; NaN is none."""
    try:
        found = float(text)
    except ValueError:
        return None
    return None if math.isnan(found) else found


def cell(row: Row, question: rb.Grouped) -> str | None:
    """The group of a record inside its district, by hand."""
    names = [name for name, _ in question.groups]
    if isinstance(question.question, rb.Quantile):
        age = number(row["age"])
        return None if age is None else names[sum(age >= edge for edge in (40,))]
    choice = row["choice"]
    if choice in names:
        return choice
    if "matching" in names:
        wanted = "red" if "others" in names else "Köln"
        if choice == wanted:
            return "matching"
        return "others" if choice and "others" in names else None
    if "other" in names:
        return "other" if choice else "missing"
    return None


def by_hand(rows: list[Row], question: rb.Grouped) -> list[int]:
    """The units of each cell, in plain Python."""
    names = [name for name, _ in question.groups]
    cells = dict.fromkeys(itertools.product(GROUPS, names), 0)
    for row in rows:
        age, weight = number(row["age"]), number(row["weight"])
        place = (row["district"], cell(row, question))
        met = not row["age"] or (age is not None and age >= 18)  # a text is there, if no number
        if place not in cells or weight is None or not met:
            continue
        clipped = 0.0 if weight <= 0 else min(weight, 2.5)
        cells[place] += math.floor(Fraction(clipped * 100.0 + 0.5))
    return list(cells.values())


def as_csv(row: Row) -> bytes:
    return ",".join(row[name] for name in COLUMNS).encode()


def as_json(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode()


def read(file: Path, question: rb.Grouped, key: int) -> list[int]:
    found = count_groups(file, question, key=key)
    return [records for group in found.values() for records in group.values()]


def apart(here: list[int], there: list[int]) -> int:
    """How many units must have come, or gone, at least."""
    changes = [b - a for a, b in zip(here, there, strict=True)]
    return max(sum(c for c in changes if c > 0), -sum(c for c in changes if c < 0))


def random_row(draw: random.Random, who: str | None = None) -> Row:
    row = {name: draw.choice(VALUES[name]) for name in COLUMNS}
    return row if who is None else row | {"who": who}


def written(file: Path, lines: list[bytes]) -> Path:
    header = [] if file.suffix == ".jsonl" else [",".join(COLUMNS).encode()]
    file.write_bytes(b"\n".join(header + lines) + b"\n")
    return file


def one_record(file: Path, make: Callable[[Row], bytes]) -> Iterator[bool]:
    """For each pair whether it is apart by more than one record, or not what is there."""
    draw, asked = random.Random(5), itertools.cycle(questions(None, 1))  # noqa: S311
    for place in itertools.count():
        question = next(asked)
        rows = [random_row(draw) for _ in range(draw.randint(1, 12))]
        known, lines = by_hand(rows, question), [make(row) for row in rows]
        wrong = False
        if place % 10 == 0:
            wrong = read(written(file, lines), question, 0) != known
        other = b"".join(draw.choices(ODD, k=draw.randint(0, 12)))
        lines[draw.randrange(len(lines))] = other
        yield wrong or apart(known, read(written(file, lines), question, 0)) > WEIGHT.units


def one_person(file: Path, make: Callable[[Row], bytes]) -> Iterator[bool]:
    """The same for all records of one person."""
    draw = random.Random(6)  # noqa: S311
    asked = itertools.cycle(itertools.chain(*(questions("who", rows) for rows in (1, 2, 3))))
    while True:
        question = next(asked)
        others = [random_row(draw) for _ in range(draw.randint(0, 12))]
        others = [row for row in others if row["who"] != "p0"]
        key, found = draw.getrandbits(63), []
        for _ in range(2):
            rows = [*others, *(random_row(draw, "p0") for _ in range(draw.choice([0, 1, 5])))]
            draw.shuffle(rows)
            found.append(read(written(file, [make(row) for row in rows]), question, key))
        yield apart(*found) > question.rows_per_person * WEIGHT.units


def unlimited(value: str, weight: Weight, whole: str, limit: str | None = None) -> str:
    """The fault: a weight that is not clipped."""
    return whole.format(f"least(abs({value}), 1e15) * {weight.scale} + 0.5")


def tried(title: str, pairs: Iterator[bool], many: int) -> None:
    wrong = refused = 0
    for _ in range(many):
        try:
            wrong += next(pairs)
        except (rb.RainbowError, duckdb.Error):
            refused += 1
            break  # the generator has ended
    print(f"| {title} | {many:,} | {wrong:,} | {refused:,} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Try pairs of files under whole questions.")
    parser.add_argument("--pairs", type=int, default=4_000)
    each = parser.parse_args().pairs // 4
    print("| one change | files | pairs | apart by more than the limit | refused |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name, one_connection(Path(name)):
        for what, pairs in (("one record", one_record), ("one person", one_person)):
            for kind, make in (("t.csv", as_csv), ("t.jsonl", as_json)):
                tried(f"{what} | {kind}", pairs(Path(name) / kind, make), each)
        with (
            mock.patch.object(query, "in_units", unlimited),
            mock.patch("rainbowdp.tables.duck.in_units", unlimited),
        ):
            tried("the fault: no limit | t.csv", one_record(Path(name) / "f.csv", as_csv), 300)


if __name__ == "__main__":
    main()

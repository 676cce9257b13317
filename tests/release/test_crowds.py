"""Crowd tables in the small readers: every change on counts is compared, every row is the same."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

import rainbow_release
import rainbowdp as rb
from golden_files import FOLDER, forged
from golden_readers import READER
from rainbow_release.crowd_proof import Pair, Shape, Word, corners

# answers, knots, gaps with letters, ties to the first listed, records substituted
SHAPES = [
    *((4, 3, 0, first, sub) for first in (True, False) for sub in (True, False)),
    *((4, 3, letters, True, sub) for letters in (1, 2) for sub in (True, False)),
    (3, 4, 2, True, True),
    (5, 3, 2, True, True),
]
Side = tuple[Word, int, dict[int, tuple[int, int]]]


def standing(counts: tuple[int, ...], *, first: bool) -> tuple[int, list[int], dict[int, int]]:
    """The leader, the others in the order of the list from it on, and their gaps."""
    size = len(counts)
    leader = max(range(size), key=lambda v: (counts[v], -v))
    others = [(leader + j) % size for j in range(1, size)]
    nearer = {v: int(first and v < leader) for v in others}
    return leader, others, {v: counts[leader] - counts[v] - nearer[v] for v in others}


def neighbors(counts: tuple[int, ...], *, substituted: bool) -> Iterator[tuple[int, ...]]:
    size = len(counts)
    for gains in range(size):
        more = tuple(count + (v == gains) for v, count in enumerate(counts))
        if not substituted:
            yield more
            continue
        for loses in range(size):
            if loses != gains and counts[loses]:
                yield tuple(count - (v == loses) for v, count in enumerate(more))


def side(shape: Shape, leader: int, others: list[int], gaps: dict[int, int]) -> Side:
    """Word, code and seats with gaps, of those who are not out."""
    word: list[int] = []
    code, seats = 0, {leader: (0, 0)}
    for v in others:
        if gaps[v] < shape.ordered:
            word.append(gaps[v])
            seats[v] = (len(word), gaps[v])
        else:
            code += shape.one(gaps[v])
            seats[v] = (shape.seat(gaps[v]), gaps[v])
    return tuple(word), code, seats


def swapped(pair: Pair) -> Pair:
    return pair[2], pair[3], pair[0], pair[1]


@pytest.mark.parametrize(("answers", "knots", "ordered", "first", "substituted"), SHAPES)
def test_every_change_is_among_the_corners(
    answers: int, knots: int, ordered: int, first: bool, substituted: bool
) -> None:
    """Whoever is behind the last knot on both sides is out."""
    shape = Shape(answers - 1, knots, ordered, first=first, substituted=substituted)
    compared: dict[Any, set[Pair]] = {}
    for word, code, word_there, code_there, pairs in corners(shape):
        compared.setdefault((word, code, word_there, code_there), set()).update(pairs)
        back = compared.setdefault((word_there, code_there, word, code), set())
        back.update(map(swapped, pairs))
    votes = list(itertools.product(range(knots + 4), repeat=answers))
    some = random.Random(1).sample(votes, min(len(votes), 250))
    for vote in some:
        for other in neighbors(vote, substituted=substituted):
            leader, order, gaps = standing(vote, first=first)
            next_leader, next_order, next_gaps = standing(other, first=first)
            if not first:
                both = [
                    v for v in range(answers) if vote[v] == max(vote) and other[v] == max(other)
                ]
                if both:  # and whoever leads in both may be called the leader
                    leader = next_leader = both[0]
                gaps = {v: max(vote) - vote[v] for v in range(answers)}
                next_gaps = {v: max(other) - other[v] for v in range(answers)}
                order = [v for v in range(answers) if v != leader]
                next_order = [v for v in range(answers) if v != next_leader]
            out = {
                v
                for v in range(answers)
                if v not in (leader, next_leader) and min(gaps[v], next_gaps[v]) >= knots
            }
            here = side(shape, leader, [v for v in order if v not in out], gaps)
            there = side(shape, next_leader, [v for v in next_order if v not in out], next_gaps)
            found = compared.get((*here[:2], *there[:2]), set())
            for v in set(range(answers)) - out:
                pair = shape.pair(here[2][v], there[2][v])
                alike = here[:2] == there[:2] and here[2][v] == there[2][v]
                assert alike or pair in found, (vote, other, v)


FILES = ["crowd-table", "crowd-table-words"]


@cache
def votes(name: str) -> list[dict[str, int]]:
    """Near ties, far rivals, and both."""
    chance = random.Random(name)
    answers = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))["answers"]
    spread = [1, 3, 8, 40, 10**30]
    return [
        {answer: chance.randint(0, chance.choice(spread)) for answer in answers} for _ in range(60)
    ]


@cache
def rows(name: str) -> list[list[int]]:
    """Those of the package."""
    mechanism = rb.load(FOLDER / f"{name}.json")
    return [list(mechanism.at(vote).weights) for vote in votes(name)]


def must_be_proportional(found: list[int], wanted: list[int]) -> None:
    assert [a * sum(wanted) for a in found] == [b * sum(found) for b in wanted]


@pytest.mark.parametrize("name", FILES)
def test_rows_of_random_votes_are_those_of_the_package(name: str) -> None:
    small = rainbow_release.load(FOLDER / f"{name}.json")
    assert isinstance(small, rainbow_release.Mechanism)
    for vote, row in zip(votes(name), rows(name), strict=True):
        must_be_proportional(small.row(vote), row)


IN_NODE = """
import { readFileSync } from "node:fs";
const { load } = await import(process.argv[2]);
const asked = JSON.parse(readFileSync(0, "utf8"));
const found = {};
for (const [path, votes] of Object.entries(asked)) {
  const mechanism = load(readFileSync(path, "utf8"));
  found[path] = votes.map((vote) => {
    const counts = Object.entries(vote).map(([name, count]) => [name, BigInt(count)]);
    return mechanism.row(Object.fromEntries(counts)).map(String);
  });
}
console.log(JSON.stringify(found));
"""


def test_rows_of_random_votes_in_node() -> None:
    node = shutil.which("node")
    assert node, "Node is missing: make programs installs it"
    asked = {
        str(FOLDER / f"{name}.json"): [
            {answer: str(count) for answer, count in vote.items()} for vote in votes(name)
        ]
        for name in FILES
    }
    command = [node, "--input-type=module", "--eval", IN_NODE, "-", READER.as_uri()]
    told = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    for name, found in zip(FILES, json.loads(told.stdout).values(), strict=True):
        for row, wanted in zip(found, rows(name), strict=True):
            must_be_proportional([int(weight) for weight in row], wanted)


def changed(chance: random.Random) -> Any:
    """Some of the weight of one answer in one row of the table with words goes to another."""

    def change(content: Any) -> None:
        row = chance.choice(content["rows"][1:])
        taken = [seat for seat, held in enumerate(row[:4]) if held]
        if len(taken) < 2:
            return
        one, other = chance.sample(taken, 2)
        part = row[one] // 10 ** chance.randint(1, 9)
        row[one], row[other] = row[one] - part, row[other] + part

    return change


def private(small: Any, ratio: float) -> bool:
    """Whether all neighboring votes of up to three records an answer are close."""
    kept = {}
    for vote in itertools.product(range(4), repeat=4):
        row = small.row(dict(zip("abcd", vote, strict=True)))
        kept[vote] = [held / sum(row) for held in row]
    return all(
        p <= ratio * q and q <= ratio * p
        for vote, row in kept.items()
        for other in neighbors(vote, substituted=True)
        if other in kept
        for p, q in zip(row, kept[other], strict=True)
    )


def taken(content: Any) -> Any:
    """The file in the small reader, or none if it is refused."""
    from rainbowdp.storage.documents import checksummed

    try:
        return rainbow_release.loads(checksummed(content))
    except rainbow_release.Refused:
        return None


@pytest.mark.slow
def test_changed_weights_are_refused_or_harmless() -> None:
    """What the package takes is taken, and what is taken is private on all small votes."""
    from rainbowdp.rules.files import from_text
    from rainbowdp.storage.documents import checksummed

    content = json.loads((FOLDER / "crowd-table-words.json").read_text("utf-8"))
    chance, refused = random.Random(7), 0
    for _ in range(60):
        now = forged(content, changed(chance))
        small = taken(now)
        refused += small is None
        assert small is None or private(small, 7.38905609893066)
        try:
            from_text(checksummed(now), "now.json")
        except rb.InvalidFile:
            continue
        assert small is not None
    assert 10 < refused < 60

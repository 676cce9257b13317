"""How far ``rb.best``, a table, is from the least mean error of any mechanism, on large votes.

All votes of n records, one substituted, each alike. Of the conditions of the unrestricted program
few bind, so they are added as they fail: it starts with those that permute-and-flip keeps most
narrowly. Where any leader is right, votes that differ in the order of their counts are one. The
least error is the solver's own lower bound. Prints Markdown. Cases may be named on the command line
as answers:records:ε:ties, with "first" or "any" for the ties; else all of ``CASES`` are measured.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

import rainbowdp as rb
from rainbowdp.numeric.linear_programs import LinearProgram, Solver
from rainbowdp.questions.relations import Ties
from rainbowdp.questions.votes import standing
from rainbowdp.rules.crowd_table.rule import CrowdTable
from rainbowdp.rules.margin_table.rule import MarginTable

Counts: TypeAlias = tuple[int, ...]

CASES = (
    "5:12:0.3:first", "5:12:1:first", "5:12:2:first", "5:15:0.7:first",
    "6:8:0.3:first", "6:8:1:first", "6:8:2:first", "6:10:0.3:first", "6:10:1:first",
    "6:11:2:first", "5:20:0.3:any", "5:20:1:any", "5:20:2:any", "6:20:0.3:any", "6:20:1:any",
    "6:20:2:any", "6:30:1:any",
)  # fmt: skip
TIES = {"first": Ties.FIRST_LISTED, "any": Ties.ANY_LEADER}
NARROW, NEAR, LITTLE = 0.5, 1e-3, 1e-7  # relative slack at first and of what is added; violation


def votes(answers: int, records: int) -> Iterator[Counts]:
    for bars in itertools.combinations(range(records + answers - 1), answers - 1):
        ends = (-1, *bars, records + answers - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(ends))


def class_of(counts: Counts, ties: Ties) -> Counts:
    """The vote that stands for all that are the same to a symmetric mechanism."""
    return tuple(sorted(counts, reverse=True)) if ties == Ties.ANY_LEADER else counts


def least_error(answers: int, records: int, epsilon: float, ties: Ties) -> tuple[float, float]:
    """A lower bound of the mean error of any mechanism, and the error of one that reaches it."""
    alike = Counter(class_of(vote, ties) for vote in votes(answers, records))
    column: dict[tuple[Counts, int], int] = {}
    for vote in alike:
        for v, count in enumerate(vote):
            same = vote.index(count) if ties == Ties.ANY_LEADER else v
            column[vote, v] = column.get((vote, same), len(column))
    width = 1 + max(column.values())
    total, gain = sum(alike.values()), np.zeros(width)
    sums: Counter[tuple[int, int]] = Counter()
    for number, (vote, weight) in enumerate(alike.items()):
        leaders = [v for v, count in enumerate(vote) if count == max(vote)]
        for v in leaders if ties == Ties.ANY_LEADER else leaders[:1]:
            gain[column[vote, v]] += weight / total
        sums.update((number, column[vote, v]) for v in range(answers))
    pairs = np.array(sorted(set(_pairs(alike, column, ties))))
    pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    more, less = pairs[pairs[:, 0] != pairs[:, 1]].T
    ratio, rows = math.exp(epsilon), np.arange(len(more))
    values = np.concatenate([np.ones(len(more)), np.full(len(more), -ratio)])
    where = np.concatenate([rows, rows]), np.concatenate([more, less])
    conditions = sparse.csr_array((values, where), shape=(len(more), width))
    row, place = np.array(list(sums)).T
    whole = sparse.csr_array((np.array(list(sums.values()), float), (row, place)))
    flipped = _flipped(column, width, epsilon)
    active = (flipped[more] - ratio * flipped[less]) / flipped[more] > -NARROW
    while True:
        matrix: Any = sparse.vstack([whole, conditions[active]], format="csr")
        most = np.concatenate([np.ones(len(alike)), np.zeros(int(active.sum()))])
        least = np.where(most == 1, 1.0, -np.inf)
        program = LinearProgram(matrix, least, most, np.zeros(width), np.ones(width))
        found = Solver(program, tolerance=1e-6).maximize(gain)
        over = conditions @ found.values
        if not (~active & (over > LITTLE)).any():
            return 1 - found.bound, 1 - found.objective
        active |= over > -NEAR * np.maximum(found.values[more], 0.0)


def _pairs(
    alike: Counter[Counts], column: dict[tuple[Counts, int], int], ties: Ties
) -> Iterator[tuple[int, int]]:
    """Columns of one answer in neighboring votes."""
    for vote in alike:
        for gains, loses in itertools.permutations(range(len(vote)), 2):
            if vote[loses]:
                moved = list(vote)
                moved[gains], moved[loses] = moved[gains] + 1, moved[loses] - 1
                there = class_of(tuple(moved), ties)
                for v, count in enumerate(moved):
                    place = there.index(count) if ties == Ties.ANY_LEADER else v
                    yield column[vote, v], column[there, place]


def _flipped(
    column: dict[tuple[Counts, int], int], width: int, epsilon: float
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Permute-and-flip's chances, z_v·∫Π(1 − t·z_i)dt, by Gauss's rule."""
    at, weight = np.polynomial.legendre.leggauss(8)
    t, weight = (at + 1) / 2, weight / 2
    flipped, known = np.zeros(width), dict[Counts, Any]()
    for (vote, v), number in column.items():
        if vote not in known:
            z = np.exp(-epsilon / 2 * (max(vote) - np.array(vote)))
            known[vote] = z, np.prod(1 - t[:, None] * z, axis=1)
        z, product = known[vote]
        flipped[number] = z[v] * float(weight @ (product / (1 - t * z[v])))
    return flipped


def table_error(answers: int, records: int, epsilon: str, ties: Ties) -> tuple[float, float]:
    """The mean error of the table that best takes, and the processor's time to have it."""
    start = time.process_time()
    question = rb.Winner([str(number) for number in range(answers)], ties=ties)
    table = rb.best(question, rb.DP(epsilon)).exact().rule
    assert isinstance(table, MarginTable | CrowdTable)
    taken = time.process_time() - start
    alike = Counter(tuple(standing(vote, ties)[1]) for vote in votes(answers, records))
    if ties == Ties.ANY_LEADER:
        sorted_ones: Counter[Counts] = Counter()
        for gaps, times in alike.items():
            sorted_ones[tuple(sorted(gaps))] += times
        alike = sorted_ones
    wrong = sum(times * (1 - table.right_at(gaps)) for gaps, times in alike.items())
    return wrong / sum(alike.values()), taken


def main() -> None:
    """All cases, or those named on the command line."""
    print("| q, n, ε, ties | table | LP | table above LP | the table took [s] | LP took [s] |")
    print("|" + " --- |" * 6)
    for case in sys.argv[1:] or CASES:
        answers, records, epsilon, word = case.split(":")
        ours, made = table_error(int(answers), int(records), epsilon, TIES[word])
        start = time.process_time()
        least, _ = least_error(int(answers), int(records), float(epsilon), TIES[word])
        taken = time.process_time() - start
        cells = f"{100 * ours:.2f} | {100 * least:.2f} | {100 * (ours / least - 1):.1f} %"
        asked = f"{answers}, {records}, {epsilon}, {TIES[word]}"
        print(f"| {asked} | {cells} | {made:.1f} | {taken:.0f} |", flush=True)


if __name__ == "__main__":
    main()

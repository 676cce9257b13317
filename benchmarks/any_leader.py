"""Crowd tables beside the least error of any mechanism, where any leader is right.

Such a vote looks the same whichever answer is called first, so a best mechanism may be taken to
treat all answers alike: one chance for each count that somebody has, in each vote up to its order.
The linear program is then so small that it is solved for ten answers and dozens of records. Mean
error in percent over all votes of n records alike, one record substituted. Prints Markdown, for
docs/crowd-tables.md.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

import rainbowdp as rb
from rainbowdp.questions.histograms import margins_of

Vote = tuple[int, ...]  # counts, falling


def votes(answers: int, records: int, most: int | None = None) -> Iterator[Vote]:
    """All votes up to their order."""
    if answers == 0:
        if records == 0:
            yield ()
        return
    top = records if most is None else min(records, most)
    for first in range(top, -1, -1):
        for rest in votes(answers - 1, records - first, first):
            yield (first, *rest)


def orders(vote: Vote) -> int:
    """How many votes have these counts in some order."""
    return math.factorial(len(vote)) // math.prod(map(math.factorial, Counter(vote).values()))


def moved(vote: Vote) -> Iterator[tuple[Vote, dict[tuple[int, int], None]]]:
    """Each neighbor, and the pairs of an answer's count here and there."""
    held = Counter(vote)
    for given, taken in itertools.product(held, repeat=2):
        if given == 0 or (given == taken and held[given] < 2):
            continue
        left = held.copy()
        left[given] -= 1
        left[taken] -= 1
        others = [count for count, number in left.items() if number]
        pairs = [(given, given - 1), (taken, taken + 1), *((count, count) for count in others)]
        after = [*left.elements(), given - 1, taken + 1]
        yield tuple(sorted(after, reverse=True)), dict.fromkeys(pairs)


def least_error(answers: int, records: int, epsilon: float) -> float:
    """The least mean error of any mechanism, of 1."""
    every = list(votes(answers, records))
    column = {
        pair: number
        for number, pair in enumerate((vote, count) for vote in every for count in sorted({*vote}))
    }
    ratio = math.exp(epsilon)
    rows: list[tuple[int, int]] = []
    for vote in every:
        for neighbor, pairs in moved(vote):
            rows += [(column[neighbor, there], column[vote, here]) for here, there in pairs]
    rows = list(dict.fromkeys(rows))
    size = np.arange(len(rows))
    most, least = np.array(rows).T
    entries = np.concatenate([np.ones(len(rows)), np.full(len(rows), -ratio)])
    where = np.tile(size, 2), np.concatenate([most, least])
    kept = sp.csr_matrix((entries, where), (len(rows), len(column)))
    sums = sp.lil_matrix((len(every), len(column)))
    worth, weights = np.zeros(len(column)), np.array([orders(vote) for vote in every], dtype=float)
    weights /= weights.sum()
    for number, vote in enumerate(every):
        for count, held in Counter(vote).items():
            sums[number, column[vote, count]] = held
        worth[column[vote, vote[0]]] = weights[number] * vote.count(vote[0])
    solve: Any = linprog  # whose types know no sparse matrices
    found = solve(
        -worth,
        A_ub=kept,
        b_ub=np.zeros(len(rows)),
        A_eq=sums.tocsr(),
        b_eq=np.ones(len(every)),
        method="highs-ipm",
    )
    assert found.status == 0, found.message
    return 1 + float(found.fun)


def error(kind: str, answers: int, records: int, epsilon: str) -> float:
    """The mean error of a kind, of 1."""
    question = rb.Winner([str(number) for number in range(answers)], ties="any leader")
    every = list(votes(answers, records))
    counts = np.array(every)
    rule = rb.by_kind(question, rb.DP(epsilon), kind).exact().rule
    found = rule.rows_at(question, counts, margins_of(question, counts))
    right = (found * (counts == counts.max(axis=1, keepdims=True))).sum(axis=1)
    return 1 - float(np.average(right, weights=[float(orders(vote)) for vote in every]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, nargs="+", default=[7, 8, 9, 10])
    parser.add_argument("--records", type=int, nargs="+", default=[8, 16])
    parser.add_argument("--epsilons", nargs="+", default=["0.1", "0.2", "0.5", "1", "2"])
    given = parser.parse_args()
    print("| $q$, $n$, $\\varepsilon$ | permute-and-flip | crowd-table | LP | above LP | seconds |")
    print("| --- " * 6 + "|")
    for answers, records, epsilon in itertools.product(
        given.answers, given.records, given.epsilons
    ):
        start = time.process_time()
        least = least_error(answers, records, float(epsilon))
        taken = time.process_time() - start
        coins, table = (
            error(kind, answers, records, epsilon) for kind in ("permute-and-flip", "crowd-table")
        )
        numbers = " | ".join(f"{100 * number:.2f}" for number in (coins, table, least))
        above = f"{100 * (table / least - 1):.1f} % | {taken:.1f}"
        print(f"| {answers}, {records}, {epsilon} | {numbers} | {above} |", flush=True)


if __name__ == "__main__":
    main()

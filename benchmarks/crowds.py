"""Crowd tables beside all other kinds, and beside the least error of any mechanism if it is known.

Mean error in percent over votes of n records, all alike, one record substituted: all votes where
they are few, and else 3,000 random ones. Prints Markdown, for docs/crowd-tables.md.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import sys
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import numpy as np

import rainbowdp as rb
from rainbowdp.aliases import Integers
from rainbowdp.mechanisms.unrestricted.program import program
from rainbowdp.questions.histograms import margins_of
from rainbowdp.rules.crowd_table.program import make_table, shape_for
from utility import graph_of_histograms

KINDS = ("permute-and-flip", "margin-flip", "homogeneous", "proximity", "crowd-table")
FEW = 20_000
SOLVED = (7, 7)  # answers and records up to which the linear program is solved


def votes(answers: int, records: int, seed: int = 1) -> Integers:
    """All votes, or random ones: bars among stars."""
    places = records + answers - 1
    bars: Any = itertools.combinations(range(places), answers - 1)
    many = int(np.prod([(places - i) / (i + 1) for i in range(answers - 1)]) + 0.5)
    if many > FEW:
        rng = np.random.default_rng(seed)
        bars = [np.sort(rng.choice(places, answers - 1, replace=False)) for _ in range(3_000)]
    ends = np.pad(np.array(list(bars)), ((0, 0), (0, 1)), constant_values=places)
    counts: Integers = np.diff(ends, axis=1, prepend=-1) - 1
    return counts


def error(kind: str, question: rb.Winner, guarantee: rb.DP, counts: Integers) -> float | None:
    try:
        rule = rb.by_kind(question, guarantee, kind).exact().rule
    except rb.NotApplicable:
        return None
    margins = margins_of(question, counts)
    right = margins == 0
    if question.ties == "any leader":
        right = counts == counts.max(axis=1, keepdims=True)
    rows = rule.rows_at(question, counts, margins)
    return 100 * float(1 - (rows * right).sum(axis=1).mean())


def shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def errors(ties: str, cases: list[tuple[int, int]], epsilons: tuple[str, ...]) -> None:
    print(f"\nTies: {ties}.\n")
    print("| $q$, $n$, $\\varepsilon$ |", " | ".join(KINDS), "| LP | crowd table above LP |")
    print("| --- " * (len(KINDS) + 3) + "|")
    for answers, records in cases:
        question = rb.Winner([str(number) for number in range(answers)], ties=ties)
        counts = votes(answers, records)
        for epsilon in epsilons:
            guarantee = rb.DP(epsilon)
            found = [error(kind, question, guarantee, counts) for kind in KINDS]
            least = None
            if (answers, records) <= SOLVED and answers == SOLVED[0] and ties == "first listed":
                graph = graph_of_histograms(answers, records)
                least = 100 * (1 - program(graph, guarantee).objective / len(graph))
            above = "–"
            if least is not None and found[-1] is not None:
                above = f"{100 * (found[-1] / least - 1):.1f} %"
            cells = [*(shown(value) for value in found), shown(least), above]
            print(f"| {answers}, {records}, {epsilon} |", " | ".join(cells), "|", flush=True)


def times() -> None:
    print("\n| answers | ε | gaps | in order | rows | seconds to make | to prove |")
    print("| --- " * 7 + "|")
    for answers, epsilon in itertools.product((5, 6, 7, 8, 9, 10), ("0.7", "1", "2")):
        shape = shape_for(answers, float(epsilon), "substituted", "first listed")
        start = time.process_time()
        table, _ = make_table(shape, rb.DP(epsilon))
        made = time.process_time()
        table.keeps(rb.DP(epsilon))
        taken = made - start, time.process_time() - made
        cells = f"{shape.knots} | {shape.ordered} | {len(table.rows)}"
        print(f"| {answers} | {epsilon} | {cells} | {taken[0]:.1f} | {taken[1]:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    print(f"Python {platform.python_version()}, processor time.")
    errors("first listed", [(5, 40), (5, 160), (6, 40), (6, 160)], ("0.7", "1", "2"))
    cases = [(7, 5), (7, 7), (7, 40), (7, 160), (8, 40), (9, 40), (10, 40), (10, 160)]
    errors("first listed", cases, ("0.2", "0.5", "1", "2"))
    errors("any leader", [(7, 40), (10, 40)], ("0.2", "0.5", "1", "2"))
    times()


if __name__ == "__main__":
    main()

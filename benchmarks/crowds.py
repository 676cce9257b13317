"""Crowd tables beside all other kinds, and beside the least error of any mechanism if it is known.

Mean error in percent over votes of n records, all alike, one record substituted: all votes where
they are few, and else 3,000 random ones. Prints Markdown, for docs/crowd-tables.md.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import numpy as np

import rainbowdp as rb
from rainbowdp.aliases import Integers
from rainbowdp.mechanisms.unrestricted.program import program
from rainbowdp.questions.histograms import margins_of
from rainbowdp.questions.relations import Ties
from rainbowdp.rules.crowd_table.build import fetch_table
from rainbowdp.rules.crowd_table.program import plans_for
from utility import graph_of_histograms

KINDS = ("permute-and-flip", "margin-flip", "homogeneous", "proximity", "crowd-table")
FEW = 20_000
NEW = ("0.25", "0.45", "0.85", "1.25")  # whose tables do not come with the package
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
    """Processor seconds to make and prove a table for an ε that has none in the package."""
    print("\n| answers | ties | ε | gaps | in order | rows | seconds |")
    print("| --- " * 7 + "|")
    for answers, ties, epsilon in itertools.product((5, 6, 7, 8, 9, 10), Ties, NEW):
        if not plans_for(answers, float(epsilon), "substituted", ties):
            continue
        start = time.process_time()
        table, _ = fetch_table(answers, rb.DP(epsilon), "substituted", ties)
        taken = time.process_time() - start
        shape = table.shape
        cells = f"{ties} | {epsilon} | {shape.knots} | {shape.ordered} | {len(table.rows)}"
        print(f"| {answers} | {cells} | {taken:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    print(f"Python {platform.python_version()}, processor time.")
    errors("first listed", [(5, 40), (5, 160), (6, 40), (6, 160)], ("0.7", "1", "2"))
    cases = [(7, 5), (7, 7), (7, 40), (7, 160), (8, 40), (9, 40), (10, 40), (10, 160)]
    errors("first listed", cases, ("0.2", "0.5", "1", "2"))
    errors("any leader", [(7, 40), (10, 40)], ("0.2", "0.5", "1", "2"))
    with tempfile.TemporaryDirectory() as empty:
        os.environ["RAINBOWDP_CACHE"] = empty
        times()


if __name__ == "__main__":
    main()

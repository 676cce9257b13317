"""Quartiles at once beside quartiles one by one: ours and OpenDP's.

All have the same ε in total; one by one each quartile has a third of it. Chances of ours are
computed; OpenDP's ``make_private_quantile`` is drawn from, over the middles of the same bins. The
distance is in bins, summed over the three quartiles. First real incomes, one record substituted;
then 100 people with 10 rows each, one person added or removed; the grades over powers of ten are
shaped like those of OpenDP's issue 2644.
Prints Markdown; the tables in docs/rankings.md come from here.
"""

from __future__ import annotations

import csv
import itertools
import os
import platform
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import opendp.prelude as opendp

import rainbowdp as rb
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.questions.histograms import margins_of

DATA = Path(__file__).parent.parent / "examples" / "data"
EPSILONS = ("0.1", "0.5", "1", "2")
QUARTILES = ("1/4", "1/2", "3/4")
DRAWS = 2_000
ROWS = 10

Law = dict[tuple[int, ...], float]  # of the bins of the quartiles


def incomes(name: str, column: str) -> list[int]:
    with (DATA / name).open(newline="") as file:
        return [int(row[column]) for row in csv.DictReader(file)]


def people(seed: int, mean: float = 50, spread: float = 15) -> list[int]:
    """The values of 100 people, 10 each: around a mean of their own."""
    draw = np.random.default_rng(seed)
    middle = draw.normal(mean, spread, 100)
    values = draw.normal(np.repeat(middle, ROWS), 10)
    return [int(value) for value in np.clip(np.rint(values), 0, 99)]


CASES: dict[str, tuple[list[int], list[int], dict[str, Any]]] = {
    "travel, 8 bins": (
        incomes("travel.csv", "household_income"),
        [1000 * edge for edge in (0, 10, 20, 30, 35, 40, 50, 60, 100)],
        {},
    ),
    "election, 8 bins": (
        incomes("election.csv", "income"),
        [1000 * edge for edge in (0, 10, 20, 30, 35, 40, 50, 75, 200)],
        {},
    ),
    "election, 20 bins": (incomes("election.csv", "income"), list(range(0, 210_000, 10_000)), {}),
    "grades, powers of ten": (
        people(2, 85, 5),
        [0, 1, 10, 100, 1000],
        {"neighbors": "added or removed", "rows_per_person": ROWS},
    ),
    "people, 5 bins": (
        people(1),
        list(range(0, 120, 20)),
        {"neighbors": "added or removed", "rows_per_person": ROWS},
    ),
    "people, 10 bins": (
        people(1),
        list(range(0, 110, 10)),
        {"neighbors": "added or removed", "rows_per_person": ROWS},
    ),
}


def together(counts: Sequence[int], bins: list[int], epsilon: str, options: Any) -> Law:
    asked = rb.Quantiles(QUARTILES, bins, **options)
    places = itertools.combinations_with_replacement(range(len(counts)), 3)
    return dict(zip(places, row_of(rb.best(asked, rb.DP(epsilon)), counts), strict=True))


def row_of(mechanism: QuestionMechanism, counts: Sequence[int]) -> list[float]:
    asked, table = mechanism.question, np.array([counts])
    margins = margins_of(asked, table)
    row = mechanism.family.sketch(asked, mechanism.guarantee, table, margins)[0]
    return [float(chance) for chance in row]


def one_by_one(counts: Sequence[int], bins: list[int], epsilon: str, options: Any) -> Law:
    """The law of three answers, each with a third of ε."""
    third = rb.DP(Fraction(epsilon) / 3)
    rows = [row_of(rb.best(rb.Quantile(q, bins, **options), third), counts) for q in QUARTILES]
    return {
        places: float(np.prod([row[place] for row, place in zip(rows, places, strict=True)]))
        for places in itertools.product(range(len(counts)), repeat=3)
    }


def drawn(values: list[int], bins: list[int], epsilon: str, options: Any) -> Law:
    """OpenDP's quantile over the middles of the bins, three times."""
    middles = [(low + high) // 2 for low, high in itertools.pairwise(bins)]
    records = [middles[bisect_right(bins, value) - 1] for value in values]
    moved = options.get("rows_per_person", 1) * (2 if "neighbors" not in options else 1)
    sized = None if "neighbors" in options else len(records)
    domain = opendp.vector_domain(opendp.atom_domain(T=int), sized)
    found = []
    for q in QUARTILES:
        share = float(Fraction(q))

        def at(scale: float, share: float = share) -> Any:
            return opendp.m.make_private_quantile(
                domain,
                opendp.symmetric_distance(),
                opendp.max_divergence(),
                middles,
                share,
                scale,
            )

        scale: Any = opendp.binary_search_param(at, d_in=moved, d_out=float(epsilon) / 3, T=float)
        measurement = at(scale)
        found.append([middles.index(measurement(records)) for _ in range(DRAWS)])
    times = Counter(zip(*found, strict=True))
    return {places: number / DRAWS for places, number in times.items()}


def judged(law: Law, true: Sequence[int]) -> str:
    """The chance that all are right, and the mean distance in bins."""
    right = sum(chance for places, chance in law.items() if places == tuple(true))
    far = sum(
        chance * sum(abs(a - b) for a, b in zip(places, true, strict=True))
        for places, chance in law.items()
    )
    return f"{100 * right:.1f} %, {far:.2f}"


def main() -> None:
    opendp.enable_features("contrib")
    print(f"{platform.machine()}, {os.cpu_count()} cores; OpenDP is drawn {DRAWS:,} times\n")
    print("| values, bins, ε | at once: right, bins off | one by one | OpenDP one by one, drawn |")
    print("| --- | --- | --- | --- |")
    for name, (values, bins, options) in CASES.items():
        counts = np.histogram(values, bins)[0].tolist()
        true = []
        for q in QUARTILES:
            asked = rb.Quantile(q, bins, **options)
            true.append(int(margins_of(asked, np.array([counts]))[0].argmin()))
        for epsilon in EPSILONS:
            cells = [
                judged(together(counts, bins, epsilon, options), true),
                judged(one_by_one(counts, bins, epsilon, options), true),
                judged(drawn(values, bins, epsilon, options), true),
            ]
            print(f"| {name}, {epsilon} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

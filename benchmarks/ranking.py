"""How often the first k of a vote are said right: ours, peeling, OpenDP's noisy top-k and the LP.

Peeling draws the first, then the second from those that are left, and so on, by permute-and-flip
with a k-th of ε each; its chances are computed. OpenDP's ``make_noisy_top_k`` is drawn from, at the
same ε. As a set, the order that they say is forgotten. First the mean error over all histograms of
a few records beside the least that any mechanism can have there (LP, by ``rb.program``); then real
and made-up counts, with the chance of an exactly right ranking and the mean number of wrong places.
Prints Markdown; the tables in docs/rankings.md come from here.
"""

from __future__ import annotations

import csv
import itertools
import math
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import opendp.prelude as opendp

import rainbowdp as rb
from rainbowdp.mechanisms.unrestricted.program import program
from rainbowdp.numeric.coins import first_heads
from rainbowdp.questions.histograms import histograms, margins_of

DATA = Path(__file__).parent.parent / "examples" / "data"
EPSILONS = ("0.1", "0.5", "1", "2")
SMALL = ((3, 2, 8), (4, 2, 5))  # ranked, first, records
DRAWS = 2_000

Law = dict[tuple[int, ...], float]  # of rankings, in places of the list


def column(name: str, field: str) -> list[int]:
    with (DATA / name).open(newline="") as file:
        found = Counter(row[field] for row in csv.DictReader(file))
    return [found[value] for value in sorted(found)]


COUNTS = {
    "travel, 4": column("travel.csv", "mode"),
    "parties, 7": column("election.csv", "party"),
    "even steps, 8": [130 - 4 * place for place in range(8)],
    "Zipf, 12": [400 // place for place in range(1, 13)],
}


def ours(counts: Sequence[int], first: int, ordered: bool, neighbors: str, epsilon: str) -> Law:
    """The law of ``rb.best``, in floats."""
    names = [str(number) for number in range(len(counts))]
    asked = rb.Ranking(names, first=first, in_order=ordered, neighbors=neighbors)
    mechanism, table = rb.best(asked, rb.DP(epsilon)), np.array([counts])
    row = mechanism.family.sketch(asked, rb.DP(epsilon), table, margins_of(asked, table))[0]
    choose = itertools.permutations if ordered else itertools.combinations
    return dict(zip(choose(range(len(counts)), first), row.tolist(), strict=True))


def peeled(counts: Sequence[int], first: int, neighbors: str, epsilon: str) -> Law:
    """Permute-and-flip at ε/k, k times, each time without those who were drawn."""
    rate = float(epsilon) / first / (2 if neighbors == "substituted" else 1)
    scores = np.array([count - place / len(counts) for place, count in enumerate(counts)])

    @cache
    def row(drawn: frozenset[int]) -> dict[int, float]:
        left = [place for place in range(len(counts)) if place not in drawn]
        behind = scores[left].max() - scores[left]
        chances = first_heads(np.exp(-rate * behind)[None, :])[0]
        return dict(zip(left, chances.tolist(), strict=True))

    return {
        chain: math.prod(row(frozenset(chain[:a]))[place] for a, place in enumerate(chain))
        for chain in itertools.permutations(range(len(counts)), first)
    }


def noisy(counts: Sequence[int], first: int, neighbors: str, epsilon: str) -> Law:
    """OpenDP's noisy top-k, drawn from; with one record substituted no score moves by two."""
    space = (
        opendp.vector_domain(opendp.atom_domain(T=int)),
        opendp.linf_distance(T=int, monotonic=neighbors == "added or removed"),
    )

    def at(scale: float) -> Any:
        return opendp.m.make_noisy_top_k(*space, opendp.max_divergence(), first, scale)

    scale: Any = opendp.binary_search_param(at, d_in=1, d_out=float(epsilon), T=float)
    measurement = at(scale)
    found = Counter(tuple(measurement(list(counts))) for _ in range(DRAWS))
    return {chain: times / DRAWS for chain, times in found.items()}


def judged(law: Law, counts: Sequence[int], first: int, ordered: bool) -> tuple[float, float]:
    """The chance of exactly the true ranking, and the mean number of wrong places."""
    true = sorted(range(len(counts)), key=lambda place: (-counts[place], place))[:first]
    right = wrong = 0.0
    for chain, chance in law.items():
        if ordered:
            misses = sum(a != b for a, b in zip(chain, true, strict=True))
        else:
            misses = len(set(true) - set(chain))
        right += chance * (misses == 0)
        wrong += chance * misses
    return right, wrong


def mean_error(law: Callable[[Sequence[int]], Law], rows: Any, first: int, ordered: bool) -> float:
    return 1 - float(np.mean([judged(law(row), row, first, ordered)[0] for row in rows]))


def graph_of_histograms(asked: rb.Ranking, records: int) -> rb.RainbowGraph:
    """Histograms of exactly ``records`` records, of which one is substituted."""
    counts = [tuple(row) for row in histograms(asked, records).tolist()]
    found = margins_of(asked, np.array(counts)).argmin(axis=1)
    labels = {row: asked.answers[place] for row, place in zip(counts, found, strict=True)}
    orders = {a: (a, *(b for b in asked.answers if b != a)) for a in asked.answers}

    def edges() -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        for row in counts:
            for i, j in itertools.permutations(range(len(row)), 2):
                if row[i]:
                    moved = list(row)
                    moved[i] -= 1
                    moved[j] += 1
                    yield row, tuple(moved)

    return rb.RainbowGraph(list(edges()), orders, asked.answers, labels=labels)


def small_tables() -> None:
    print("| ranked, first, n, ε | | best is | best | exponential | peeling | LP |")
    print(f"| --- |{' --- |' * 6}")
    for (size, first, records), ordered, epsilon in itertools.product(
        SMALL, (True, False), EPSILONS
    ):
        asked = rb.Ranking([str(number) for number in range(size)], first=first, in_order=ordered)
        promise, rows = rb.DP(epsilon), histograms(asked, records)
        margins = margins_of(asked, rows)
        cells = [rb.best(asked, promise).name]
        for made in (rb.best(asked, promise), rb.by_kind(asked, promise, "exponential")):
            chances = made.family.sketch(asked, promise, rows, margins)
            cells.append(f"{100 * (1 - chances[margins == 0].mean()):.1f}")
        peel = partial(peeled, first=first, neighbors="substituted", epsilon=epsilon)
        cells.append(f"{100 * mean_error(peel, rows.tolist(), first, ordered):.1f}")
        graph = graph_of_histograms(asked, records)
        cells.append(f"{100 * (1 - program(graph, promise).objective / len(graph)):.1f}")
        what = "in order" if ordered else "as a set"
        print(
            f"| {size}, {first}, {records}, {epsilon} | {what} | {' | '.join(cells)} |", flush=True
        )


def real_tables(neighbors: str) -> None:
    print("| counts, first, ε | | best: right, wrong places | peeling | OpenDP, drawn |")
    print(f"| --- |{' --- |' * 4}")
    for (name, counts), first, epsilon in itertools.product(COUNTS.items(), (2, 3), EPSILONS):
        peel, top = (law(counts, first, neighbors, epsilon) for law in (peeled, noisy))
        for ordered in (True, False):
            mine = ours(counts, first, ordered, neighbors, epsilon)
            cells = [
                f"{100 * right:.1f} %, {wrong:.2f}"
                for right, wrong in (
                    judged(law, counts, first, ordered) for law in (mine, peel, top)
                )
            ]
            what = "in order" if ordered else "as a set"
            print(f"| {name}, {first}, {epsilon} | {what} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    opendp.enable_features("contrib")
    print(f"{platform.machine()}, {os.cpu_count()} cores; OpenDP is drawn {DRAWS:,} times\n")
    print("Mean error in % over all histograms, one record substituted\n")
    small_tables()
    for neighbors in ("substituted", "added or removed"):
        print(f"\nReal and made-up counts, one record {neighbors}\n")
        real_tables(neighbors)


if __name__ == "__main__":
    main()

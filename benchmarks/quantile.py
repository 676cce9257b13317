"""How often the bin of a quantile is missed: ours, OpenDP's and diffprivlib's, in one run.

Errors are 1 − P(true bin) in percent. First over all histograms of n records, one record
substituted, beside the least error that any mechanism can have there (LP, by ``rb.program``); then
on real incomes, where the libraries are drawn from. OpenDP scores candidates and takes the noisy
max; it knows the number of records, and d_in = 2 is one record substituted. diffprivlib draws a
number in given bounds, which we put into its bin; it is told the same ε, and its sensitivity of 1
holds where one record is substituted. Prints Markdown; the tables in docs/quantiles.md come from
here.
"""

from __future__ import annotations

import csv
import itertools
import math
import platform
import sys
from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import opendp.prelude as opendp
from diffprivlib.tools import quantile as diffprivlib_quantile

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import rainbowdp as rb
from kinds import homogeneous
from rainbowdp.baselines import exponential, inverse_sensitivity, permute_and_flip
from rainbowdp.comparison import Maker, compare
from rainbowdp.mechanisms.unrestricted.program import program
from rainbowdp.questions.histograms import histograms

DATA = Path(__file__).parent.parent / "examples" / "data"
EPSILONS = ("0.1", "0.5", "1", "2")
SHARES = ("0.5", "0.9")
SMALL = ((4, 12), (6, 6), (8, 4))  # bins, records
DRAWS = 1_000
MAKERS: dict[str, Maker] = {
    "best": rb.best,
    "homogeneous": homogeneous,
    "exponential": exponential,
    "permute-and-flip": permute_and_flip,
    "inverse sensitivity": inverse_sensitivity,
}
TEXTBOOK = ("exponential", "permute-and-flip", "inverse sensitivity")


def truth(asked: rb.Quantile, counts: dict[str, int]) -> str:
    margins = asked.margins(counts)
    return min(margins, key=margins.__getitem__)


def graph_of_histograms(asked: rb.Quantile, records: int) -> rb.RainbowGraph:
    """Histograms of exactly ``records`` records; the true bin is the region and comes first."""
    counts = [tuple(row) for row in histograms(asked, records).tolist()]
    labels = {row: truth(asked, dict(zip(asked.answers, row, strict=True))) for row in counts}
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
    heads = ["best is", *MAKERS, "LP"]
    print(f"| bins, n, q, ε | {' | '.join(heads)} |\n| --- |{' --- |' * len(heads)}")
    for (bins, records), share, epsilon in itertools.product(SMALL, SHARES, EPSILONS):
        asked = rb.Quantile(share, list(range(bins + 1)))
        promise = rb.DP(epsilon)
        found = compare(asked, promise, {"best": rb.best}, records=records)["best"].mechanism
        cells = [f"{100 * error:.1f}" for error in exact_errors(asked, promise, records)]
        graph = graph_of_histograms(asked, records)
        least = 1 - program(graph, promise).objective / len(graph)
        line = " | ".join([found, *cells, f"{100 * least:.1f}"])
        print(f"| {bins}, {records}, {share}, {epsilon} | {line} |", flush=True)


def exact_errors(asked: rb.Quantile, promise: rb.DP, records: int) -> list[float]:
    rows = histograms(asked, records).tolist()
    tables = [dict(zip(asked.answers, row, strict=True)) for row in rows]
    true = [truth(asked, table) for table in tables]
    found = []
    for maker in MAKERS.values():
        mechanism = maker(asked, promise)
        missed = [1 - mechanism[table][answer] for table, answer in zip(tables, true, strict=True)]
        found.append(math.fsum(missed) / len(missed))
    return found


def incomes(name: str, column: str) -> list[int]:
    with (DATA / name).open(newline="") as file:
        return [int(row[column]) for row in csv.DictReader(file)]


REAL: dict[str, tuple[list[int], list[list[int]]]] = {
    "travel": (
        incomes("travel.csv", "household_income"),
        [[0, 20_000, 35_000, 50_000, 100_000], [0, 10, 20, 30, 35, 40, 50, 60, 100]],
    ),
    "election": (
        incomes("election.csv", "income"),
        [[0, 15_000, 25_000, 50_000, 200_000], [0, 10, 20, 30, 35, 40, 50, 75, 200]],
    ),
}


def real_tables() -> None:
    heads = [*MAKERS, "OpenDP, drawn", "diffprivlib, drawn"]
    print(f"| incomes, bins, q, ε | margin | {' | '.join(heads)} |")
    print(f"| --- | --- |{' --- |' * len(heads)}")
    for name, (values, choices) in REAL.items():
        for edges, share, epsilon in itertools.product(choices, SHARES, EPSILONS):
            bins = edges if edges[1] > 1000 else [1000 * edge for edge in edges]
            if any(not bins[0] <= value < bins[-1] for value in values):
                raise SystemExit(f"the bins must hold all incomes of {name}")
            asked, promise = rb.Quantile(share, bins), rb.DP(epsilon)
            counts = dict(zip(asked.answers, np.histogram(values, bins)[0].tolist(), strict=True))
            answer = truth(asked, counts)
            margin = sorted(asked.margins(counts).values())[1]
            cells = [
                f"{100 * (1 - maker(asked, promise)[counts][answer]):.2f}"
                for maker in MAKERS.values()
            ]
            place = asked.answers.index(answer)
            cells.append(drawn(opendp_misses(values, bins, share, promise, place)))
            cells.append(drawn(diffprivlib_misses(values, bins, share, promise, place)))
            what = f"{name}, {len(bins) - 1}, {share}, {epsilon}"
            print(f"| {what} | {margin} | {' | '.join(cells)} |", flush=True)


def real_distances() -> None:
    """How far off the answers are on the real tables, by the rows of each mechanism."""
    makers: dict[str, Maker] = {"best": rb.best, **{name: MAKERS[name] for name in TEXTBOOK}}
    heads = [*makers, "best: bins off", "more than one bin off, %"]
    print(f"| incomes, bins, q, ε | margin | {' | '.join(heads)} |")
    print(f"| --- | --- |{' --- |' * len(heads)}")
    for name, (values, choices) in REAL.items():
        for edges, share, epsilon in itertools.product(choices, SHARES, EPSILONS):
            bins = edges if edges[1] > 1000 else [1000 * edge for edge in edges]
            asked = rb.Quantile(share, bins)
            counts = np.histogram(values, bins)[0]
            table = dict(zip(asked.answers, counts.tolist(), strict=True))
            found = compare(asked, rb.DP(epsilon), makers, datasets=[table])
            off = [standing.off for standing in found.standings]
            cells = [f"{each.records:.3g}" for each in off if each is not None]
            first = off[0]
            assert first is not None
            assert first.beyond is not None
            cells += [f"{first.bins:.3f}", f"{100 * first.beyond:.1f}"]
            margin = sorted(asked.margins(table).values())[1]
            what = f"{name}, {len(bins) - 1}, {share}, {epsilon}"
            print(f"| {what} | {margin} | {' | '.join(cells)} |", flush=True)


def opendp_misses(
    values: list[int], bins: list[int], share: str, promise: rb.DP, true: int
) -> list[bool]:
    """OpenDP's quantile over the middles of the bins, each record in the middle of its own.

    It scores a candidate by the records below and above it, and so prefers the bin that balances
    them best; near a border that need not be the bin of the quantile.
    """
    middles = [(low + high) // 2 for low, high in itertools.pairwise(bins)]
    records = [middles[bisect_right(bins, value) - 1] for value in values]
    domain = opendp.vector_domain(opendp.atom_domain(T=int), len(records))

    def at(scale: float) -> Any:
        return opendp.m.make_private_quantile(
            domain,
            opendp.symmetric_distance(),
            opendp.max_divergence(),
            middles,
            float(share),
            scale,
        )

    scale: Any = opendp.binary_search_param(at, d_in=2, d_out=float(promise.epsilon), T=float)
    measurement = at(scale)
    return [measurement(records) != middles[true] for _ in range(DRAWS)]


def diffprivlib_misses(
    values: list[int], bins: list[int], share: str, promise: rb.DP, true: int
) -> list[bool]:
    state = np.random.RandomState(1)
    bounds = (bins[0], bins[-1])
    found = [
        diffprivlib_quantile(
            np.array(values, float), float(share), promise.epsilon, bounds, random_state=state
        )
        for _ in range(DRAWS)
    ]
    return [bisect_right(bins, float(value)) - 1 != true for value in found]


def drawn(misses: list[bool]) -> str:
    share = Fraction(sum(misses), len(misses))
    deviation = math.sqrt(share * (1 - share) / len(misses))
    return f"{100 * float(share):.1f} ± {100 * deviation:.1f}"


def main() -> None:
    opendp.enable_features("contrib")
    print(f"Mean error in % over all histograms, one record substituted; {platform.machine()}\n")
    small_tables()
    print("\nError in % on real incomes, one record substituted\n")
    real_tables()
    print("\nExpected distance in records on real incomes\n")
    real_distances()


if __name__ == "__main__":
    main()

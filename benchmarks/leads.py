"""How near the margin flip of a quantile is to the best there can be on leads, in one run.

The state of a quantile is the leads of its inner edges (docs/quantiles.md), which never fall from
edge to edge; one record substituted moves a run of them by one, up or down. Over all sorted leads
in [−M, M], each alike: the chance of a wrong bin and the expected distance in records, of textbook
permute-and-flip, of a margin flip, and the least that any mechanism has there, by a linear program
for each of the two. It has a variable for each state and bin, so it ends at a few bins; SciPy's
HiGHS solves it, to within 1e-7 of its constraints. Then what ordered bins and proximity gain on a
margin flip, in the measure by which ``rb.best`` compares. Prints Markdown, for docs/flips.md.
"""

from __future__ import annotations

import datetime
import itertools
import math
import os
import platform
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

import rainbowdp as rb
from rainbowdp.aliases import Floats, Integers
from rainbowdp.answering.measure import measure
from rainbowdp.numeric.coins import first_heads
from rainbowdp.rules import family
from rainbowdp.rules.margin_flip.build import margin_coins

ROWS = ((3, 20, "0.1"), (3, 20, "0.3"), (3, 20, "1"), (4, 11, "0.3"), (4, 11, "1"), (5, 7, "0.3"))
BINS = (3, 4, 5, 6, 8, 12, 20, 50)
EPSILONS = ("0.1", "0.3", "0.5", "0.7", "1", "1.5", "2", "3", "4")
KINDS = ("ordered-bins", "proximity")

Leads = tuple[int, ...]


def states(bins: int, most: int) -> list[Leads]:
    """All leads of the inner edges that never fall, from −``most`` to ``most``."""
    leads = range(-most, most + 1)
    return list(itertools.combinations_with_replacement(leads, bins - 1))


def margins_of(leads: Leads) -> list[int]:
    """The true bin is the first whose upper edge has a lead of at least 0, or the last."""
    bins = len(leads) + 1
    true = next((v for v, lead in enumerate(leads) if lead >= 0), bins - 1)
    return [0 if v == true else leads[v - 1] + 1 if v > true else -leads[v] for v in range(bins)]


def pairs(found: list[Leads]) -> Iterator[tuple[int, int]]:
    """Every state, with each in which a run of its leads is higher by one."""
    places = {leads: place for place, leads in enumerate(found)}
    for place, leads in enumerate(found):
        for start, end in itertools.combinations(range(len(leads) + 1), 2):
            moved = tuple(lead + (start <= n < end) for n, lead in enumerate(leads))
            if moved in places:  # else they fall, or are beyond the last
                yield place, places[moved]


def least(costs: Floats, moves: Integers, epsilon: float) -> float:
    """The least mean cost of a mechanism whose rows differ by at most e^ε where a record moves."""
    size, bins = costs.shape
    variables = size * bins
    here, there = ((moves[:, side, None] * bins + np.arange(bins)).ravel() for side in (0, 1))
    one, other = np.concatenate([here, there]), np.concatenate([there, here])
    numbers = np.arange(len(one))
    columns = np.concatenate([one, other])
    entries = np.repeat([1.0, -math.exp(epsilon)], len(one))
    close: Any = sparse.csr_array(
        (entries, (np.concatenate([numbers, numbers]), columns)), shape=(len(one), variables)
    )
    sums: Any = sparse.kron(sparse.eye_array(size), np.ones((1, bins)), format="csr")
    solved = linprog(
        costs.ravel() / size,
        A_ub=close,
        b_ub=np.zeros(len(one)),
        A_eq=sums,
        b_eq=np.ones(size),
        bounds=(0, 1),
        method="highs-ipm",
    )
    if not solved.success or solved.fun is None:
        raise SystemExit(solved.message)
    return solved.fun


def on_leads() -> None:
    heads = ("textbook permute-and-flip", "margin flip", "LP")
    both = [f"{what}: {name}" for what in ("wrong", "expected distance") for name in heads]
    print(f"| bins, M, ε | {' | '.join(both)} |\n| --- |{' --- |' * len(both)}")
    for bins, most, epsilon in ROWS:
        found = states(bins, most)
        margins = np.array([margins_of(leads) for leads in found], dtype=np.float64)
        moves = np.array(list(pairs(found)))
        counts = np.zeros_like(margins, dtype=np.int64)  # a margin flip does not look at them
        rule = margin_coins(bins, rb.DP(epsilon))
        ours = rule.rows_at(rb.Quantile("1/2", range(bins + 1)), counts, margins)
        theirs = first_heads(np.exp(-float(epsilon) / 2 * margins))
        cells = []
        for costs in ((margins > 0).astype(np.float64), margins):
            means = [float((rows * costs).sum(axis=1).mean()) for rows in (theirs, ours)]
            means.append(least(costs, moves, float(epsilon)))
            cells += [f"{mean:.3f}" for mean in means]
        print(f"| {bins}, {most}, {epsilon} | {' | '.join(cells)} |", flush=True)


def beside_other_kinds() -> None:
    print(f"| bins | {' | '.join(f'ε = {epsilon}' for epsilon in EPSILONS)} |")
    print(f"| --- |{' --- |' * len(EPSILONS)}")
    for bins in BINS:
        asked = rb.Quantile("1/2", range(bins + 1))
        cells = []
        for promise in map(rb.DP, EPSILONS):
            flip = measure(family("margin-flip"), asked, promise)
            fit = [kind for kind in map(family, KINDS) if kind.unfit(asked, promise) is None]
            gains = {measure(kind, asked, promise) / flip: kind.kind for kind in fit}
            cells.append(f"{min(gains):.2f} ({gains[min(gains)]})" if gains else "")
        print(f"| {bins} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    when = datetime.datetime.now(datetime.UTC).date()
    print(f"{when}, {platform.machine()}, {os.cpu_count()} cores\n")
    print("Leads in [−M, M], all alike, one record substituted\n")
    on_leads()
    print("\nWrong bins in the measure, as a part of a margin flip's; a median\n")
    beside_other_kinds()


if __name__ == "__main__":
    main()

"""The linear program of the best mechanism: HiGHS through us and through SciPy, in one run.

Prints Markdown tables. ``python benchmarks/program.py`` measures; with ``search TRIES SEED`` it
looks for graphs on which a lexicographic optimum exists and a dominance optimum does not, the
open question at the end of the paper.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.spatial import KDTree

import rainbowdp as rb
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.mechanisms.unrestricted.envelope import fixed_rows, preferred_columns
from rainbowdp.mechanisms.unrestricted.existence import optimum
from rainbowdp.mechanisms.unrestricted.polytope import Polytope
from rainbowdp.mechanisms.unrestricted.program import program
from rainbowdp.numeric.linear_programs import Solver

Floats = NDArray[np.float64]

PATIENCE = 600.0  # seconds that SciPy is given


def places(datasets: int, edges: int, answers: int, seed: int = 0) -> rb.RainbowGraph:
    """A random geometric graph: places in a square prefer the nearer of ``answers`` sites."""
    rng = np.random.default_rng(seed)
    points, sites = rng.random((datasets, 2)), rng.random((answers, 2))
    reach = 1.3 * np.sqrt(2 * edges / np.pi) / datasets
    pairs = KDTree(points).query_pairs(reach, output_type="ndarray")
    lengths = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    pairs = pairs[np.argsort(lengths)[:edges]]
    order = np.linalg.norm(points[:, None] - sites[None], axis=2).argsort(axis=1)
    return rb.RainbowGraph(pairs, [tuple(row) for row in order.tolist()], range(answers))


def scipy_seconds(graph: rb.RainbowGraph, guarantee: TradeOffCurve) -> tuple[float, float]:
    """Seconds and objective of ``scipy.optimize.linprog(method="highs-ipm")`` on our arrays."""
    polytope = Polytope.of(graph, guarantee, fixed_rows(graph, None))
    linear = polytope.program()
    first = np.zeros((len(graph), len(graph.answers)))
    np.put_along_axis(first, preferred_columns(graph)[:, :1], 1.0, axis=1)
    rows: Any = linear.matrix.tocsr()
    bounds: Any = np.stack([linear.lower, linear.upper], axis=1)
    equal = linear.row_lower == linear.row_upper
    start = time.perf_counter()
    found = linprog(
        -polytope.cost(first, linear),
        A_ub=rows[~equal],
        b_ub=linear.row_upper[~equal],
        A_eq=rows[equal],
        b_eq=linear.row_upper[equal],
        bounds=bounds,
        method="highs-ipm",
        options={"time_limit": PATIENCE},
    )
    value = -float(found.fun) if found.success and found.fun is not None else float("nan")
    return time.perf_counter() - start, value


def measure() -> None:
    print(f"random geometric graphs, 4 answers; {os.cpu_count()} cores, {platform.machine()}\n")
    print(
        "| datasets | edges | guarantee | solve [s] | in all [s] | relative gap | mixing | "
        "exact [s] | repair cost | linprog highs-ipm [s] | objectives differ |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for datasets, edges, guarantee in (
        (1_000, 8_000, rb.DP(1)),
        (5_000, 40_000, rb.DP(1)),
        (5_000, 40_000, rb.DP("0.3")),
        (1_000, 8_000, rb.DP(1, 1e-3)),
    ):
        graph = places(datasets, edges, 4)
        start = time.perf_counter()
        best = program(graph, guarantee)
        whole = time.perf_counter() - start
        start = time.perf_counter()
        best.exact()
        exact = time.perf_counter() - start
        other, value = scipy_seconds(graph, guarantee)
        print(
            f"| {datasets:,} | {graph.edge_count:,} | {guarantee} | {best.seconds:.1f} | "
            f"{whole:.1f} | {best.gap:.1e} | {best.mixing:.1e} | {exact:.1f} | "
            f"{best.repair_cost:.1e} | {other:.1f} | {abs(best.objective - value):.1e} |",
            flush=True,
        )


@dataclass(frozen=True)
class Found:
    """A case of the open question: the fixed rows, and the lexicographic optimum."""

    graph: rb.RainbowGraph
    guarantee: TradeOffCurve
    rows: dict[int, tuple[float, ...]]
    best: dict[int, tuple[float, ...]]


@dataclass
class Tally:
    """What a search tried and found."""

    tried: int = 0
    dominance: int = 0
    lexicographic_only: int = 0
    neither: int = 0
    undecided: int = 0
    examples: tuple[Found, ...] = ()


def search_lexicographic(
    tries: int, seed: int, *, answers: int = 3, approximate: bool = False
) -> Tally:
    """Random small regions with rows fixed on their boundary, of 4 to 6 datasets in all.

    Fixed rows are those of a random vertex (or a mixture of two) of all private mechanisms, so
    a valid mechanism always exists. The lexicographic maximum of each free dataset is found by
    linear programs; an optimum exists if these rows together are private.
    """
    rng = np.random.default_rng(seed)
    tally = Tally()
    for _ in range(tries):
        graph, guarantee = _region(rng, answers), _promise(rng, approximate)
        rows = _valid_rows(rng, graph, guarantee)
        tally.tried += 1
        try:
            if optimum(graph, guarantee, rows):
                tally.dominance += 1
                continue
            best = lexicographic_rows(graph, guarantee, rows)
        except rb.RainbowError:
            tally.undecided += 1
            continue
        edges = graph.edge_positions()
        over = guarantee.excesses(best[edges[:, 0]], best[edges[:, 1]], rounding=1e-9)
        if over.max() > 1e-6:
            tally.neither += 1
        elif over.max() > 1e-8:
            tally.undecided += 1
        else:
            tally.lexicographic_only += 1
            table = {d: tuple(best[graph.position(d)].tolist()) for d in graph.datasets}
            tally.examples += (Found(graph, guarantee, rows, table),)
    return tally


def _region(rng: np.random.Generator, answers: int) -> rb.RainbowGraph:
    """One to three free datasets, two to four fixed ones around them, and one of another order."""
    free = int(rng.integers(1, 4))
    fixed = int(rng.integers(2, max(3, 6 - free)))
    outside = free + fixed
    edges = [(i, i + 1) for i in range(free - 1)]
    edges += [(int(rng.integers(free)), b) for b in range(free, outside)]
    for b in range(free, outside):
        edges += [(b, int(rng.integers(outside)))] if rng.random() < 0.4 else []
    edges += [(b, outside) for b in range(free, outside)]
    order = tuple(range(answers))
    other = (*order[:-2], order[-1], order[-2])
    return rb.RainbowGraph(edges, [order] * outside + [other], order)


def _promise(rng: np.random.Generator, approximate: bool) -> TradeOffCurve:
    ratio = Fraction(int(rng.integers(11, 31)), 10)
    delta = Fraction(int(rng.integers(1, 5)), 20) if approximate else 0
    return rb.DP.from_ratio(ratio, delta=delta)


def _valid_rows(
    rng: np.random.Generator, graph: rb.RainbowGraph, guarantee: TradeOffCurve
) -> dict[int, tuple[float, ...]]:
    """The boundary rows of a random private mechanism."""
    polytope = Polytope.of(graph, guarantee, fixed_rows(graph, None))
    linear = polytope.program()
    solver = Solver(linear, method="simplex")
    shape = (len(graph), len(graph.answers))
    found = [
        polytope.table(solver.maximize(polytope.cost(rng.normal(size=shape), linear)).values)
        for _ in range(2)
    ]
    tables = [table for table in found if table is not None]
    share = rng.choice([1.0, 0.5, rng.random()])
    # a little of the uniform row keeps rounding from making tight rows contradict each other
    table = (share * tables[0] + (1 - share) * tables[-1]) * (1 - 1e-3) + 1e-3 / shape[1]
    return {d: tuple(table[graph.position(d)].tolist()) for d in graph.boundary}


def lexicographic_rows(
    graph: rb.RainbowGraph, guarantee: TradeOffCurve, rows: dict[int, tuple[float, ...]]
) -> Floats:
    """The lexicographically largest row of each dataset over all mechanisms with fixed rows."""
    fixed = fixed_rows(graph, rows)
    polytope, positions = Polytope.of(graph, guarantee, fixed), fixed.positions
    order = preferred_columns(graph)
    best = np.zeros(order.shape)
    best[positions] = polytope.rows
    for place in set(range(len(graph))) - set(positions.tolist()):
        kept: list[tuple[Floats, float]] = []
        reached = [0.0]
        for k in range(1, order.shape[1]):
            wish = np.zeros(order.shape)
            wish[place, order[place, :k]] = 1.0
            linear = polytope.program(kept)
            found = Solver(linear, method="simplex", tolerance=1e-10).maximize(
                polytope.cost(wish, linear)
            )
            if found.status != "optimal":
                raise rb.RainbowError(f"the solver stopped: {found.message}")
            reached.append(min(found.objective, 1.0))
            kept.append((wish, reached[-1] - 1e-11))
        best[place, order[place]] = np.maximum(np.diff([*reached, 1.0]), 0.0)
    return best


def search(tries: int, seed: int) -> None:
    print("| answers | guarantee | tried | dominance optimum | neither | lexicographic only | ? |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for answers, approximate in ((3, False), (3, True), (4, False), (4, True)):
        tally = search_lexicographic(tries, seed, answers=answers, approximate=approximate)
        kind = "(ε, δ)" if approximate else "ε"
        print(
            f"| {answers} | {kind} | {tally.tried} | {tally.dominance} | {tally.neither} | "
            f"{tally.lexicographic_only} | {tally.undecided} |",
            flush=True,
        )
        for example in tally.examples[:1]:
            print("\n", example, "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["search"]:
        search(int(sys.argv[2]), int(sys.argv[3]))
    else:
        measure()

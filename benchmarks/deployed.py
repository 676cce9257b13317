"""Random graphs through ``rb.deploy`` into files: is every edge as private as promised?

Paths, trees, squares, rings and random graphs, in one piece or several, with and without lengths,
ties, weights, losses and forbidden answers, rows of a fixed point shared as on a large graph or
not. The written mechanism and the written keys are read by code that shares nothing with the
library, and every edge is compared in fractions, over all sets of answers. As a planted fault a
node has the key of another one. Prints how many files and edges each kind had, how many broke the
promise, and how many of the faults were found (the rest are private, too).
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

import rainbowdp as rb
from rainbowdp import deployment
from rainbowdp.mechanisms import best_on_graphs

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from written_edges import broken_edges

KINDS = ("best", *deployment.DEPLOYED)
EPSILONS = ("0.01", "0.1", "1/3", "1", "2", "5")
DELTAS = ("0", "0", "0", "1e-9", "0.05")
WHOLE = best_on_graphs._MENDED, deployment.MOST_OF_ROWS


def edges_of(draw: random.Random, size: int) -> list[tuple[int, int]]:
    side = max(2, int(size**0.5))
    found = {
        "path": [(node, node + 1) for node in range(size - 1)],
        "ring": [(node, (node + 1) % size) for node in range(size)],
        "tree": [(draw.randrange(node), node) for node in range(1, size)],
        "squares": [(node, node + 1) for node in range(size - 1) if (node + 1) % side]
        + [(node, node + side) for node in range(size - side)],
        "pieces": [(a, b) for b in range(size) for a in range(b % 3, b, 3) if draw.random() < 0.6],
        "random": [(a, b) for b in range(size) for a in range(b) if draw.random() < 0.3],
    }[draw.choice(["path", "ring", "tree", "squares", "pieces", "random"])]
    return sorted({(min(pair), max(pair)) for pair in found if pair[0] != pair[1]}) or [(0, 1)]


def graph_of(draw: random.Random) -> rb.RainbowGraph:
    size, many = draw.choice([2, 4, 6, 9, 14, 20]), draw.choice([2, 2, 3, 4, 5])
    answers = list("abcde"[:many])
    pairs = edges_of(draw, size)
    regions = draw.randint(1, min(size, 2 * many))
    marks = [draw.randrange(regions) for _ in range(size)]
    if draw.random() < 0.5:
        marks = [node * regions // size for node in range(size)]
    orders: dict[int, Any] = {mark: draw.sample(answers, many) for mark in set(marks)}
    if draw.random() < 0.25:  # ties
        tiers = {mark: [order[: draw.randint(1, many)]] for mark, order in orders.items()}
        orders = dict(rb.partial_rainbows(tiers, answers).rainbows)
    edges: Any = pairs
    if draw.random() < 0.35:
        edges = rb.with_lengths(pairs, [draw.choice([1, 1, 2, 3, 7]) for _ in pairs], unit=1)
    return rb.RainbowGraph(edges, orders, answers, labels=dict(enumerate(marks)))


def deployed(draw: random.Random, graph: rb.RainbowGraph, kind: str) -> deployment.Deployment:
    goal: dict[str, Any] = {}
    if kind == "best" and draw.random() < 0.5:
        goal["weights"] = {node: draw.choice([0, 1, 5]) for node in graph.datasets}
    if kind == "best" and draw.random() < 0.5:
        goal["utility"] = {
            label: {answer: draw.choice([-2, 0, 0.5, 3]) for answer in graph.answers}
            for label in graph.regions
        }
    if draw.random() < 0.25:
        goal["forbid"] = draw.sample(graph.answers, draw.randint(0, len(graph.answers) - 1))
    few = 6 * len(graph.answers) if kind == "fixed-point" else WHOLE[1]
    shared = draw.random() < 0.5
    best_on_graphs._MENDED, deployment.MOST_OF_ROWS = (0, few) if shared else WHOLE
    return rb.deploy(graph, rb.DP(draw.choice(EPSILONS), draw.choice(DELTAS)), kind, **goal)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=40, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, action="append", help="this one alone")
    given = parser.parse_args()
    draw = random.Random(given.seed)  # noqa: S311
    console = Console(stderr=True)
    print(
        "| kind | files | edges | broken | the fault: found in |\n| --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory() as folder:
        for kind in given.kind or KINDS:
            seen: Counter[str] = Counter()
            for _ in track(range(given.graphs), kind, console=console):
                graph = graph_of(draw)
                try:
                    placed = deployed(draw, graph, kind)
                except rb.RainbowError:
                    continue
                file = placed.save(Path(folder, "out.json"))
                ends = graph.edge_positions().tolist()
                steps = graph.edge_lengths().tolist()
                edges = [(a, b, n) for (a, b), n in zip(ends, steps, strict=True)]
                seen.update(files=1, edges=len(edges), broken=bool(broken_edges(file, edges)))
                one, other = draw.sample(range(len(graph)), 2)
                seen.update(found=bool(broken_edges(file, edges, {one: other})))
            told = f"{seen['files']:,} | {seen['edges']:,} | {seen['broken']} | {seen['found']}"
            print(f"| {kind} | {told} |", flush=True)


if __name__ == "__main__":
    main()

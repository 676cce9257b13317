"""Random graphs through ``rb.deploy`` into files: is every edge as private as promised?

Paths, trees, squares, rings and random graphs, in one piece or several, with and without lengths,
ties, weights, losses and forbidden answers, rows of a fixed point shared as on a large graph or
not. The written mechanism and the written keys are read by code that shares nothing with the
library, and every edge is compared in fractions, over all sets of answers. As a planted fault a
node has the key of another one. Prints how many files and edges each kind had, how many broke the
promise, and how many of the faults were found (the rest are private, too).

With ``--engine duckdb`` the graphs are CSV files, with names and lengths as text, and go through
``rb.graph_on_disk`` and ``rb.deploy_on_disk``. An edge that a file has twice counts as the shorter
one, and steps are divided from the text, in fractions.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import rainbowdp as rb
from rainbowdp import deployment
from rainbowdp.mechanisms import best_on_graphs
from rainbowdp.on_disk.kinds import KINDS as ON_DISK

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from written_edges import broken_edges

Edge = tuple[Any, Any, int]
KINDS = ("best", *deployment.DEPLOYED)
EPSILONS = ("0.01", "0.1", "1/3", "1", "2", "5")
DELTAS = ("0", "0", "0", "1e-9", "0.05")
UNITS = ("1", "0.1", "2.5", "1/3", "7e-3")
NAMES: tuple[Callable[[int], Any], ...] = (int, lambda node: 7 * node + 3, "Straße '{}\";--".format)
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


def in_memory(draw: random.Random, kind: str, file: Path) -> list[Edge]:
    """Save the files of a graph in memory, and give its edges with their steps."""
    graph = graph_of(draw)
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
    rb.deploy(graph, promise_of(draw), kind, **goal).save(file)
    ends, steps = graph.edge_positions().tolist(), graph.edge_lengths().tolist()
    return [(a, b, n) for (a, b), n in zip(ends, steps, strict=True)]


def promise_of(draw: random.Random) -> rb.DP:
    return rb.DP(draw.choice(EPSILONS), draw.choice(DELTAS))


def length_of(draw: random.Random, unit: Fraction) -> str:
    """A length as text: whole units where decimals have them, or just below, or any."""
    whole = float(draw.choice([0, 1, 1, 2, 3, 7]) * unit)
    below = max(Fraction(0), Fraction(repr(whole)) - Fraction(1, 10**22))
    spelled = f"{int(below)}.{int(below % 1 * 10**22):022d}"
    return draw.choice([repr(whole), repr(whole), spelled, f"{whole * 1.37:.3e}"])


def graph_file(draw: random.Random, file: Path, unit: str | None) -> list[Edge]:
    """A CSV file of a graph, in places with lengths; its edges with their steps."""
    pairs, named = edges_of(draw, draw.choice([2, 4, 6, 9, 14, 20])), draw.choice(NAMES)
    pairs += draw.choices(pairs, k=draw.randint(0, 3))
    lines, steps = ["from,to,length"], dict[tuple[int, int], int]()
    for one, other in pairs:
        text = "1" if unit is None else length_of(draw, Fraction(unit))
        ends = (str(named(node)).replace('"', '""') for node in draw.sample((one, other), 2))
        lines.append(",".join(f'"{end}"' for end in ends) + f",{text}")
        many = 1 if unit is None else int(Fraction(text) // Fraction(unit))
        steps[one, other] = min(many, steps.get((one, other), many))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [(named(one), named(other), many) for (one, other), many in steps.items()]


def regions_of(draw: random.Random, held: rb.DiskGraph, edges: list[Edge]) -> rb.DiskRegions:
    """Regions of nearest sites, or of labels, most of them alike on both ends of an edge."""
    nodes = sorted({end for *ends, _ in edges for end in ends}, key=str)
    if draw.random() < 0.5:
        sites = draw.sample(nodes, draw.randint(2, min(5, len(nodes))))
        return held.nearest_sites(dict(zip("abcde", sites, strict=False)), unreached="first")
    many = draw.choice([2, 2, 3, 4, 5])
    answers = list("abcde"[:many])
    regions = draw.randint(1, 2 * many)
    marks = {node: draw.randrange(regions) for node in nodes}
    for one, other, steps in 3 * edges:
        if not steps or draw.random() < 0.3:
            marks[other] = marks[one]
    orders: dict[int, Any] = {mark: draw.sample(answers, many) for mark in set(marks.values())}
    if draw.random() < 0.25:  # ties
        tiers = {mark: [order[: draw.randint(1, many)]] for mark, order in orders.items()}
        orders = dict(rb.partial_rainbows(tiers, answers).rainbows)
    listed = [marks[held.name_of(place)] for place in range(len(held))]
    return held.labeled(np.array(listed), orders, answers)


def on_disk(draw: random.Random, kind: str, file: Path) -> list[Edge]:
    """Save the files of a graph on disk, and give its edges with their steps."""
    unit = draw.choice([None, *UNITS])
    graph = file.with_suffix(".csv")
    edges = graph_file(draw, graph, unit)
    measure: dict[str, Any] = (
        {"lengths": False} if unit is None else {"lengths": True, "unit": unit}
    )
    with rb.graph_on_disk(graph, weight="length", memory="200MB", **measure) as held:
        regions = regions_of(draw, held, edges)
        goal: dict[str, Any] = {}
        if kind == "homogeneous":
            goal["boundary"] = draw.choice([None, "worst", "total", "symmetric"])
        free = kind == "best" or goal.get("boundary") == "total"
        if free and draw.random() < 0.5:
            goal["weights"] = [draw.choice([0, 1, 5]) for _ in range(len(held))]
        if free and draw.random() < 0.5:
            goal["utility"] = {
                label: {answer: draw.choice([-2, 0, 0.5, 3]) for answer in regions.answers}
                for label in regions.rainbows
            }
            if regions.sites is not None and draw.random() < 0.5:
                goal["utility"] = "distance"
        if draw.random() < 0.25:
            goal["forbid"] = draw.sample(regions.answers, draw.randint(0, len(regions.answers) - 1))
        rb.deploy_on_disk(regions, promise_of(draw), kind, **goal).save(file)
    return edges


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=40, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, action="append", help="this one alone")
    parser.add_argument("--engine", choices=("memory", "duckdb"), default="memory")
    given = parser.parse_args()
    draw = random.Random(given.seed)  # noqa: S311
    console = Console(stderr=True)
    place, kinds = (in_memory, KINDS) if given.engine == "memory" else (on_disk, ("best", *ON_DISK))
    print(
        "| kind | files | edges | broken | the fault: found in |\n| --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "out.json")
        for kind in given.kind or kinds:
            seen: Counter[str] = Counter()
            for _ in track(range(given.graphs), kind, console=console):
                try:
                    edges = place(draw, kind, file)
                except rb.RainbowError:
                    continue
                seen.update(files=1, edges=len(edges), broken=bool(broken_edges(file, edges)))
                nodes = sorted({end for *ends, _ in edges for end in ends}, key=str)
                one, other = draw.sample(nodes, 2)
                seen.update(found=bool(broken_edges(file, edges, {one: other})))
            told = f"{seen['files']:,} | {seen['edges']:,} | {seen['broken']} | {seen['found']}"
            print(f"| {kind} | {told} |", flush=True)


if __name__ == "__main__":
    main()

"""Which hospital is nearest to this phone? On the roads of New York, without telling where it is.

Run it on the extract that is shipped, or on a road graph of your own:

    python examples/nearest_hospital.py
    python examples/nearest_hospital.py ny-roads.gr.xz --epsilon 0.1 --hospitals 7

The phone knows its junction. What it sends is drawn from a distribution that hardly changes from
one junction to the next, so that whoever sees the answer cannot tell them apart. The road graph has
no coordinates and no hospitals: as hospitals serve junctions that are far apart.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import rainbowdp as rb

EXTRACT = Path(__file__).parent / "data" / "ny-extract.gr.xz"


def far_apart(roads: rb.Edges, count: int) -> list[Any]:
    """Junctions far from each other: the first one, then always the farthest from those chosen."""
    assert roads.names is not None
    chosen = [roads.names[0]]
    away = np.full(len(roads.names), np.inf)
    while len(chosen) < count:
        near = rb.nearest_sites(roads, chosen[-1:], unreached="first")
        away = np.minimum(away, near.distances)
        chosen.append(roads.names[int(np.argmax(np.where(np.isinf(away), -1, away)))])
    return chosen


def report_design(console: Console, placed: rb.Deployment, epsilon: float) -> None:
    graph, truth = placed.graph, placed.truth
    table = Table(
        "hospital", "junctions", "on the border", "deepest", "true answer", box=SIMPLE_HEAD
    )
    for name in graph.answers:
        region = graph.regions[name]
        number = list(graph.regions).index(name)
        sure = truth[graph.region_numbers == number].mean()
        sizes = (f"{region.size:,}", f"{len(region.boundary):,}", str(region.deepest))
        table.add_row(str(region.label), *sizes, f"{sure:.1%}")
    console.print(table)
    ratio = math.exp(epsilon)
    others = ratio / (ratio + len(graph.answers) - 1)
    console.print(
        f"A phone names its true hospital with probability [bold]{truth.mean():.1%}[/] on average "
        f"and {truth.min():.1%} at worst, on a border. Randomized response, which does not look "
        f"at the depth, has {others:.1%} everywhere.\n"
    )


def report_phone(console: Console, placed: rb.Deployment, file: Path) -> None:
    graph = placed.graph
    deep = np.argsort(np.where(np.isinf(graph.depths), -1, graph.depths), kind="stable")
    junction = graph.datasets[int(deep[len(deep) // 2])]
    region, depth = graph.region[junction], graph.depth[junction]
    phone = rb.load(file)  # proves the file again; the phone has no graph
    row = phone[region, depth]
    shown = ", ".join(f"{hospital} {float(p):.1%}" for hospital, p in row.items())
    console.print(
        f"[bold]A phone[/] at junction {junction} knows two things, its region {region} and its "
        f"depth {depth}. Its row in the file is {shown}. "
        f"It sends: [bold green]{phone.release((region, depth))}[/]\n"
    )


def report_attacker(console: Console, placed: rb.Deployment, epsilon: float) -> None:
    console.print(
        "[bold]What an attacker learns[/] who sees the answer, knows the map and the mechanism, "
        "and held two junctions for equally likely:\n"
    )
    graph, exact = placed.graph, placed.exact()
    start = int(np.flatnonzero(graph.depths == 0)[0])
    steps = graph.distances(np.arange(len(graph)) == start)
    here = graph.datasets[start]
    table = Table(
        "roads apart",
        "regions",
        "at most sure",
        "by the guarantee",
        "told the truth",
        box=SIMPLE_HEAD,
    )
    for apart in (1, 2, 5, 10, 20):
        places = np.flatnonzero(steps == apart)
        if not places.size:
            break
        truths = graph.region_numbers[places] != graph.region_numbers[start]
        there = graph.datasets[int(places[np.argmax(truths)])]
        odds = max(
            max(p / exact[there][answer], exact[there][answer] / p)
            for answer, p in exact[here].items()
        )
        bound = math.exp(apart * epsilon)
        same = graph.region[here] == graph.region[there]
        table.add_row(
            str(apart),
            f"{graph.region[here]}, {graph.region[there]}",
            f"{float(odds / (1 + odds)):.1%}",
            f"{bound / (1 + bound):.1%}",
            "50.0%" if same else "100.0%",
        )
    console.print(table)
    console.print(
        f"The odds between two junctions k roads apart change by at most e^(k·{epsilon:g}), "
        "whatever else the attacker knows. A second answer about the same place adds to that.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="The nearest hospital, privately.")
    parser.add_argument("roads", nargs="?", type=Path, default=EXTRACT, help="a road graph")
    parser.add_argument("--epsilon", default="0.2", help="privacy between neighboring junctions")
    parser.add_argument("--hospitals", type=int, default=5, choices=range(2, 27), metavar="N")
    asked = parser.parse_args()
    console = Console()

    started = time.perf_counter()
    roads = rb.read_graph(asked.roads)
    junctions = far_apart(roads, asked.hospitals)
    sites = {chr(ord("A") + number): junction for number, junction in enumerate(junctions)}
    near = rb.nearest_sites(roads, sites)
    graph = rb.RainbowGraph(roads, near.rainbows, near.names, labels=near.labels)
    guarantee = rb.DP(asked.epsilon)
    placed = rb.deploy(graph, guarantee)
    with tempfile.TemporaryDirectory() as folder:
        file = placed.save(Path(folder) / "hospitals.json")
        seconds = time.perf_counter() - started
        console.print(
            f"\n[bold]{len(graph):,} junctions, {graph.edge_count:,} roads[/] from "
            f"{asked.roads.name}; a mechanism for {guarantee} between neighboring "
            f"junctions, proved exactly and checked on every road, in {seconds:.1f} s\n"
        )
        report_design(console, placed, guarantee.epsilon)
        report_phone(console, placed, file)
        report_attacker(console, placed, guarantee.epsilon)


if __name__ == "__main__":
    main()

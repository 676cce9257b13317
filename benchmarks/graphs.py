"""``rb.best`` on road graphs beside what others would use, and beside the linear program.

    python benchmarks/graphs.py [ROADS] [--sites 20,100] [--epsilon 0.05,0.2,1] [--extracts]

ROADS is any file that ``rb.read_graph`` reads; the default is the shipped extract of New York.
Errors are 1 − P(nearest site) in the mean over all nodes. The others are

* the exponential mechanism and permute-and-flip with the score −λ, λ the distance to a site's
  region, whose chances fall by e^{−ε/2} a step;
* noise, then the nearest site: a node drawn with weight e^{−εd/2} for its distance d, on a sample.

Prints Markdown, and a line for everything that is better than ``best`` or that there is none; the
tables in docs/how-to/big-graph.md come from here.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

import rainbowdp as rb
from rainbowdp.deployment import DEPLOYED, MOST_OF_ROWS
from rainbowdp.graphs.margins import whole_margins
from rainbowdp.graphs.truth import true_answers
from rainbowdp.mechanisms.best_on_graphs import KINDS, best_on_graph
from rainbowdp.numeric.coins import first_heads

EXTRACT = Path(__file__).parents[1] / "examples" / "data" / "ny-extract.gr.xz"
BLOCK = 1 << 14
SAMPLE = 150


def with_sites(edges: Any, count: int, seed: int) -> rb.RainbowGraph:
    names = edges.names
    chosen = np.random.default_rng(seed).choice(len(names), count, replace=False)
    near = rb.nearest_sites(edges, [names[int(place)] for place in sorted(chosen)])
    return rb.RainbowGraph(edges, near.rainbows, near.names, labels=near.labels)


def textbook(margins: Any, truth: Any, epsilon: float) -> tuple[float, float]:
    """Mean errors of the exponential mechanism and of permute-and-flip with the score −λ."""
    wrong = np.zeros(2)
    for start in range(0, len(truth), BLOCK):
        block = margins[start : start + BLOCK].astype(np.float64)
        chances = np.exp(-epsilon / 2 * block)
        right = np.arange(len(block)), truth[start : start + BLOCK]
        wrong[0] += (1 - chances[right] / chances.sum(axis=1)).sum()
        wrong[1] += (1 - first_heads(chances)[right]).sum()
    return float(wrong[0]) / len(truth), float(wrong[1]) / len(truth)


def noise_then_nearest(graph: rb.RainbowGraph, truth: Any, epsilons: list[float]) -> Any:
    """The error of noise and the nodes it was measured on, for each ε."""
    places = np.random.default_rng(0).choice(len(graph), min(SAMPLE, len(graph)), replace=False)
    wrong = np.zeros((len(epsilons), len(places)))
    for column, place in enumerate(places):
        start = np.zeros(len(graph), dtype=np.bool_)
        start[place] = True
        away = graph.distances(start)
        own = truth == truth[place]
        for row, epsilon in enumerate(epsilons):
            weights = np.exp(-epsilon / 2 * away)
            wrong[row, column] = weights[~own].sum() / weights.sum()
    return places, wrong.mean(axis=1)


def _of_a_file(graph: rb.RainbowGraph, promise: rb.DP) -> float:
    """The value of the best kind that a file is possible for, with as many rows as it may have."""
    return best_on_graph(graph, promise, kinds=list(DEPLOYED), most_weights=MOST_OF_ROWS).value


def errors(roads: Path, counts: list[int], epsilons: list[str]) -> list[str]:
    edges = rb.read_graph(roads)
    lost = []
    print(
        "| sites | ε | best | its error | of a file | exponential | permute-and-flip | "
        "noise (sample) | best (sample) | homogeneous | seconds |"
    )
    print("| --- " * 11 + "|")
    for count in counts:
        started = time.process_time()
        graph = with_sites(edges, count, 1)
        margins, truth = whole_margins(graph), true_answers(graph)
        places, noise = noise_then_nearest(graph, truth, [float(e) for e in epsilons])
        made = time.process_time() - started
        for number, text in enumerate(epsilons):
            started = time.process_time()
            choice = rb.best(graph, rb.DP(text))
            spent = time.process_time() - started
            values = {each.kind: each.value for each in choice.candidates}
            of_file = _of_a_file(graph, rb.DP(text))
            rows = choice.mechanism.rows_at(places)
            here = 1 - float(rows[np.arange(len(places)), truth[places]].mean())
            others = dict(
                zip(
                    ("exponential", "permute-and-flip"),
                    textbook(margins, truth, float(text)),
                    strict=True,
                )
            )
            error = 1 - choice.value
            print(
                f"| {count} | {text} | {choice.name} | {error:.3%} | {1 - of_file:.3%} | "
                f"{others['exponential']:.3%} | {others['permute-and-flip']:.3%} | "
                f"{noise[number]:.3%} | {here:.3%} | {1 - (values['homogeneous'] or 0):.3%} | "
                f"{spent:.1f} |",
                flush=True,
            )
            for name, other in others.items():
                if min(error, 1 - of_file) > other or 1 - of_file > other:
                    lost.append(f"{count} sites, ε = {text}: {name} has {other:.3%}")
            if noise[number] < here:
                lost.append(f"{count} sites, ε = {text}: noise has {noise[number]:.3%} on a sample")
            del choice, rows
        print(f"\nThe graph with {count} sites, its margins and the sample: {made:.1f} s.\n")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"Largest memory: {most:.2f} GB.\n")
    return lost


def extract(edges: Any, size: int, seed: int) -> Any:
    """The nodes nearest to a random one, and the edges between them."""
    pairs = np.asarray(edges.pairs)
    whole = rb.RainbowGraph(edges, {0: ("a",)}, labels=np.zeros(len(edges.names), dtype=np.int64))
    start = np.zeros(len(whole), dtype=np.bool_)
    start[np.random.default_rng(seed).integers(len(whole))] = True
    near = np.argsort(whole.distances(start), kind="stable")[:size]
    place = np.full(len(whole), -1)
    place[near] = np.arange(size)
    kept = place[pairs]
    return kept[(kept >= 0).all(axis=1)]


def beside_the_program(roads: Path, sizes: list[int], epsilons: list[str]) -> None:
    edges = rb.read_graph(roads)
    kinds = [kind for kind in KINDS if kind != "program"]
    print(
        "| nodes | sites | ε | best without the program | its error | of a file | program | above |"
    )
    print("| --- " * 8 + "|")
    for size in sizes:
        pairs = extract(edges, size, 3)
        nodes = np.unique(pairs)
        sites = [int(s) for s in np.random.default_rng(5).choice(nodes, 5, replace=False)]
        near = rb.nearest_sites(pairs, sites)
        graph = rb.RainbowGraph(pairs, near.rainbows, near.names, labels=near.labels)
        for text in epsilons:
            promise = rb.DP(text)
            choice = best_on_graph(graph, promise, kinds=kinds)
            of_file = _of_a_file(graph, promise)
            least = 1 - rb.program(graph, promise, progress=lambda line: None).objective / len(
                graph
            )
            error = 1 - choice.value
            above = error / least - 1 if least > 0 else math.nan
            print(
                f"| {len(graph)} | 5 | {text} | {choice.name} | {error:.3%} | {1 - of_file:.3%} | "
                f"{least:.3%} | {above:.1%} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("roads", nargs="?", type=Path, default=EXTRACT)
    parser.add_argument("--sites", default="20,100")
    parser.add_argument("--epsilon", default="0.05,0.1,0.2,0.5,1,2")
    parser.add_argument("--extracts", action="store_true", help="also beside the linear program")
    given = parser.parse_args()
    epsilons = given.epsilon.split(",")
    lost = errors(given.roads, [int(n) for n in given.sites.split(",")], epsilons)
    print("\n".join(f"Lost: {line}." for line in lost) or "Nothing is better than best.")
    if given.extracts:
        print()
        beside_the_program(given.roads, [300, 1000], ["0.2", "0.5", "1"])


if __name__ == "__main__":
    main()

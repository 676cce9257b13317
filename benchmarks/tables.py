"""Margin tables: how long one takes to make, to take from the cache proved again, and to draw from;
and whether a million random pairs of neighbors break the guarantee.

Prints Markdown; ε = 1 where it is not said. Sections may be named on the command line.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
import tempfile
import time
import timeit
from functools import partial
from typing import Any

import opendp.prelude as opendp

import rainbowdp as rb
from rainbowdp.exact.keeping import FOLDER
from rainbowdp.guarantees.closeness import lines_of
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.margin_table import build as table_store
from rainbowdp.rules.margin_table import proof as table_proof
from rainbowdp.rules.margin_table.program import MOST_ANSWERS
from rainbowdp.rules.margin_table.rule import MarginTable

DRAWS = 2000
VOTES = (1000, 990, 971, 955, 940, 700)


EDGES = 10**6


def making() -> None:
    """One record substituted."""
    print("| answers | ties | rows | made [processor s] | from the cache, proved [ms] ", end="")
    print("| a release [µs] |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        os.environ[FOLDER] = folder
        for answers, ties in itertools.product(range(2, MOST_ANSWERS + 1), Ties):
            asked = (answers, rb.DP(1), "substituted", ties)
            start = time.process_time()
            table, _ = table_store.fetch_table(*asked)
            made = time.process_time() - start
            again = partial(table_store.fetch_table, *asked)
            kept = min(timeit.repeat(again, setup=forget, number=1))
            draw = time_of_release(table, rb.DP(1), VOTES)
            cells = f"{made:.2f} | {1e3 * kept:.0f} | {1e6 * draw:.0f}"
            print(f"| {answers} | {ties} | {len(table.rows)} | {cells} |", flush=True)


def seconds() -> None:
    """Tables for an ε that does not come with the package."""
    print("| ε | answers | one record | ties | made and proved [processor s] |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        os.environ[FOLDER] = folder
        many = range(4, MOST_ANSWERS + 1)
        for asked in itertools.product(("0.37", "0.9", "0.03", "3"), many, Neighbors, Ties):
            epsilon, answers, neighbors, ties = asked
            start = time.process_time()
            table_store.fetch_table(answers, rb.DP(epsilon), neighbors, ties)
            made = time.process_time() - start
            print(f"| {epsilon} | {answers} | {neighbors} | {ties} | {made:.1f} |", flush=True)


def forget() -> None:
    table_store.SHELF._held.clear()
    table_proof._remembered.clear()


def releasing() -> None:
    """One record added or removed, ties to the first listed: any gaps, any ε."""
    print("| answers, ε | all tied [µs] | close [µs] | a clear winner [µs] |")
    print("| --- | --- | --- | --- |")
    for answers, epsilon in itertools.product((3, MOST_ANSWERS), ("0.01", "0.05", "1", "4")):
        promise = rb.DP(epsilon)
        table, _ = table_store.fetch_table(answers, promise, "added or removed", "first listed")
        every = ((1000,) * MOST_ANSWERS, VOTES, (10**6, 5000, 4000, 3000, 2000, 1000))
        cells = " | ".join(f"{1e6 * time_of_release(table, promise, votes):.0f}" for votes in every)
        print(f"| {answers}, {epsilon} | {cells} |", flush=True)


def time_of_release(table: MarginTable, promise: rb.DP, votes: tuple[int, ...]) -> float:
    names = tuple(str(number) for number in range(table.shape.answers))
    exact = rb.ExactMechanism(promise, names, table, neighbors=table.shape.neighbors)
    counts = dict(zip(names, votes, strict=False))
    return min(timeit.repeat(lambda: exact.release(counts), number=DRAWS)) / DRAWS


def beside_opendp() -> None:
    """``rb.best`` and OpenDP's noisy max from counts: the least processor time of 100 turns."""
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.linf_distance(T=int)
    noisy: Any = opendp.m.make_noisy_max(*space, opendp.max_divergence(), 2.0)
    print("| answers | `rb.best` is | a release [µs] | OpenDP's noisy max [µs] |")
    print("| --- | --- | --- | --- |")
    for answers in (2, 3, 6, 7, 26, 100, 1000, 10_000):
        names = [str(number) for number in range(answers)]
        best = rb.best(rb.Winner(names), rb.DP(1))
        counts = [1000 - 10 * number % 97 for number in range(answers)]
        vote = dict(zip(names, counts, strict=True))
        draws = partial(best.exact().release, vote), partial(noisy, counts)
        number = 1 + 1000 // answers
        turns = [
            [timeit.timeit(draw, timer=time.process_time, number=number) for draw in draws]
            for _ in range(100)  # in turns, so that other people's load falls on both
        ]
        ours, theirs = (1e6 * min(times) / number for times in zip(*turns, strict=True))
        print(f"| {answers} | {best.name} | {ours:.0f} | {theirs:.0f} |", flush=True)


def edges() -> None:
    """Votes near 10^18 with gaps of many sizes; each pair is compared in integers, both ways."""
    print(f"| answers | one record | ties | violations in {EDGES:,} random edges |")
    print("| --- | --- | --- | --- |")
    many = range(3, MOST_ANSWERS + 1)
    for answers, neighbors, ties in itertools.product(many, Neighbors, Ties):
        table, _ = table_store.fetch_table(answers, rb.DP(1), neighbors, ties)
        found = violations(table, rb.DP(1), random.Random(7))  # noqa: S311 - edges, not a secret
        print(f"| {answers} | {neighbors} | {ties} | {found} |", flush=True)


def violations(table: MarginTable, promise: rb.DP, rng: random.Random) -> int:
    """How many of the random pairs are farther apart than e^ε."""
    ((ratio, _),) = lines_of(promise)
    names = range(table.shape.answers)
    widths = (1, 2, 4, 8, 16, 64, table.shape.farthest + 5)
    found = 0
    for _ in range(EDGES):
        width = rng.choice(widths)
        here = {v: 10**18 - rng.randrange(width) for v in names}
        gains, loses = rng.sample(names, 2)
        there = {**here, gains: here[gains] + 1}
        if table.shape.neighbors == "substituted":
            there[loses] -= 1
        p, q = table.weights(here, names), table.weights(there, names)
        both = ratio.denominator * sum(q), ratio.numerator * sum(p)
        back = ratio.denominator * sum(p), ratio.numerator * sum(q)
        found += any(
            a * both[0] > b * both[1] or b * back[0] > a * back[1]
            for a, b in zip(p, q, strict=True)
        )
    return found


SECTIONS = {
    "making": making,
    "seconds": seconds,
    "releasing": releasing,
    "beside OpenDP": beside_opendp,
    "edges": edges,
}


def main() -> None:
    """All sections, or those named on the command line."""
    for name in sys.argv[1:] or SECTIONS:
        SECTIONS[name]()
        print()


if __name__ == "__main__":
    main()

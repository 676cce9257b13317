"""Random neighboring tables, every kind of mechanism: are the released rows as close as promised?

For each kind random questions and guarantees that it exists for, and random pairs of tables one
change apart (a record or all of a person's), small and huge, tied and far apart. The two rows are
compared in integers, over all sets of answers, by code that shares nothing with the library: e^ε
and Φ come from mpmath, and a Gaussian promise is looked at in 30 digits. Prints how many pairs each
kind had, how many broke the promise, and how near the nearest came to its limit.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import mpmath as mp
from rich.console import Console
from rich.progress import track

import rainbowdp as rb
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.exact.rule import Family
from rainbowdp.rules import FAMILIES

EPSILONS = ("0.01", "0.1", "0.7", "2", "4")
DELTAS = ("0", "0", "1e-6", "0.01")
SHAPES = 24  # questions and guarantees of a kind
PLACES = 200


def question_of(draw: random.Random, most: int) -> Any:
    neighbors = draw.choice(["substituted", "added or removed"])
    size, rows = draw.randint(2, most), draw.choice([1, 1, 2, 4])
    if draw.random() < 0.5:
        ties = draw.choice(["first listed", "any leader"])
        names = [str(number) for number in range(size)]
        return rb.Winner(names, ties=ties, neighbors=neighbors, rows_per_person=rows)
    share = draw.choice(["1/2", "1/3", "9/10"])
    return rb.Quantile(share, range(size + 1), neighbors=neighbors, rows_per_person=rows)


def mechanisms_of(kind: Family, draw: random.Random) -> list[QuestionMechanism]:
    found: list[QuestionMechanism] = []
    for _ in range(10_000):
        question = question_of(draw, 4 if kind.costly else 7)
        promise: Any = rb.DP(draw.choice(EPSILONS), draw.choice(DELTAS))
        if draw.random() < 0.2:
            promise = rb.GaussianDP(draw.choice(EPSILONS))
        if kind.unfit(question, promise) is None:
            found.append(QuestionMechanism(question, promise, kind))
        if len(found) == SHAPES:
            break
    return found


def pair_of(question: Any, draw: random.Random) -> tuple[list[int], list[int]]:
    """Counts before and after one change, of all records of a person at most."""
    size = len(question.groups)
    base, spread = draw.choice([(0, 4), (0, 12), (30, 6), (1000, 60), (10**12, 10**6)])
    before = [base + draw.randint(0, spread) for _ in range(size)]
    after = list(before)
    sign = draw.choice([1, -1])
    for _ in range(draw.randint(1, question.rows_per_person)):
        place = draw.randrange(size)
        after[place] = max(0, after[place] + sign)
        if question.neighbors == "substituted" and draw.random() < 0.9:
            other = draw.randrange(size)
            after[other] = max(0, after[other] - sign)
    return before, after


def use(promise: Any, p: Sequence[int], q: Sequence[int]) -> float:
    """How much of the promise one direction uses up; above 1 it is broken."""
    one, other = sum(p), sum(q)
    if isinstance(promise, rb.GaussianDP):
        return _gaussian_use(promise, p, q)
    with mp.workdps(80):
        limit = int(mp.ceil(mp.exp(mp.mpf(str(promise.epsilon))) * 2**PLACES))
    excess = sum(max(0, (a * other << PLACES) - limit * b * one) for a, b in zip(p, q, strict=True))
    allowed = promise.exact_delta * one * other * (1 << PLACES)
    if excess > allowed:
        return 2.0
    ratios = [a * other / (b * one) for a, b in zip(p, q, strict=True) if b]
    return max(ratios) / promise.ratio if not promise.exact_delta else 0.0


def _gaussian_use(promise: Any, p: Sequence[int], q: Sequence[int]) -> float:
    one, other = sum(p), sum(q)
    order = sorted(range(len(p)), key=lambda v: -p[v] * (1 << 64) // max(1, q[v]))
    level = power = 0
    found = 0.0
    with mp.workdps(30):
        for v in order[:-1]:
            level, power = level + q[v], power + p[v]
            if power * other > level * one:
                shift = _normal(power, one) - _normal(level, other)
                found = max(found, float(shift / mp.mpf(str(promise.mu))))
    return found


def _normal(part: int, whole: int) -> Any:
    return -mp.sqrt(2) * mp.erfinv(1 - 2 * mp.mpf(part) / whole)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw = random.Random(given.seed)  # noqa: S311
    console = Console(stderr=True)
    print("| kind | pairs | broken | nearest to the limit |\n| --- | --- | --- | --- |")
    for kind in FAMILIES:
        mechanisms = mechanisms_of(kind, draw)
        seen: Counter[str] = Counter()
        nearest = 0.0
        for number in track(range(given.pairs), kind.kind, console=console):
            mechanism = mechanisms[number % len(mechanisms)]
            exact, question = mechanism.exact(), mechanism.question
            names = [name for name, _ in question.groups]
            rows = [
                exact.at(dict(zip(names, counts, strict=True))).weights
                for counts in pair_of(question, draw)
            ]
            used = max(use(mechanism.guarantee, *rows), use(mechanism.guarantee, *rows[::-1]))
            seen["broken"] += used > 1 + 1e-12
            nearest = max(nearest, used)
        print(f"| {kind.kind} | {given.pairs:,} | {seen['broken']} | {nearest:.6f} |", flush=True)


if __name__ == "__main__":
    main()

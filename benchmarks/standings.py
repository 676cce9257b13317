"""Whom does ``rb.best`` lose to? Random shapes, and every mechanism that a user could take instead.

A shape is a question (a vote or a quantile), its number of answers, records, neighbors, ties and
rows a person, and a guarantee (ε,δ) or μ. For each the chance of a wrong answer is taken over
random histograms of that many records: of ``best``, of every kind in the library, and of the
textbook mechanisms, which are what OpenDP and diffprivlib draw from (the tests draw from both). For
a quantile the expected distance is taken too, in records. A shape is lost where a peer is better by
more than 1 %, and *lost when told* where it is so too when ``best`` is told the number of records.
Then the same in the measure that ``best`` states, where none may be lost; and there a larger ε, δ
or μ must not answer worse. Prints Markdown, for docs/standings.md.
"""

from __future__ import annotations

import argparse
import platform
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import rainbowdp as rb
from rainbowdp.aliases import Floats, Integers
from rainbowdp.answering import measure
from rainbowdp.baselines import exponential, inverse_sensitivity, permute_and_flip
from rainbowdp.exact.rule import Family
from rainbowdp.questions.histograms import margins_of
from rainbowdp.rules import FAMILIES

LOST = 1.01
HISTOGRAMS = 48
TABLES = ("0.05", "0.3", "1", "2")  # ε at which votes of 3 to 6 are asked, as each makes a table
TEXTBOOK = (exponential, permute_and_flip, inverse_sensitivity)
KINDS = tuple(kind for kind in FAMILIES if not kind.costly)


@dataclass(frozen=True)
class Shape:
    """A question, a guarantee and a number of records."""

    question: Any
    guarantee: Any
    records: int

    def __str__(self) -> str:
        asked = self.question
        kind = "vote" if isinstance(asked, rb.Winner) else f"quantile {asked.q}"
        ties = f", {asked.ties}" if isinstance(asked, rb.Winner) else ""
        rows = f", {asked.rows_per_person} rows" if asked.rows_per_person > 1 else ""
        size = f"{len(asked.answers)} answers, {self.records} records"
        return f"{kind}, {size}, {asked.neighbors}{ties}{rows}, {self.guarantee}"


def shapes(count: int, seed: int) -> Iterator[Shape]:
    draw = random.Random(seed)  # noqa: S311
    for _ in range(count):
        neighbors = draw.choice(["substituted", "added or removed"])
        rows = draw.choice([1, 1, 1, 2, 3, 5])
        size = round(2 * 50 ** draw.random()) if draw.random() < 0.7 else draw.randint(2, 12)
        epsilon = f"{0.01 * 400 ** draw.random():.3g}"
        delta = draw.choice(["0", "0", "0", "1e-6", "0.001", "0.01", "0.1"])
        if draw.random() < 0.5:
            ties = draw.choice(["first listed", "any leader"])
            names = [str(number) for number in range(size)]
            question: Any = rb.Winner(names, neighbors=neighbors, ties=ties, rows_per_person=rows)
            if 3 <= size <= 6 and rows == 1:
                epsilon, delta = draw.choice(TABLES), "0"
        else:
            share = draw.choice(["1/2", "1/4", "9/10", "1/100"])
            bins = range(size + 1)
            question = rb.Quantile(share, bins, neighbors=neighbors, rows_per_person=rows)
        guarantee: Any = rb.DP(epsilon, delta)
        if draw.random() < 0.2:
            guarantee = rb.GaussianDP(epsilon)
        yield Shape(question, guarantee, round(4 * 5000 ** draw.random()))


def random_histograms(shape: Shape, seed: int) -> Integers:
    """All histograms of so many records alike: bars among stars."""
    places = shape.records + len(shape.question.answers) - 1
    rng = np.random.default_rng(seed)
    bars = [rng.choice(places, places - shape.records, replace=False) for _ in range(HISTOGRAMS)]
    ends = np.pad(np.sort(np.array(bars), axis=1), ((0, 0), (0, 1)), constant_values=places)
    counts: Integers = np.diff(ends, axis=1, prepend=-1) - 1
    return counts


def rows_of(kind: Family, shape: Shape, counts: Integers, margins: Floats) -> Floats:
    if kind.costly:
        made: rb.QuestionMechanism = rb.best(shape.question, shape.guarantee)
        rule = made.exact().rule
        return rule.rows_at(shape.question, counts, margins)
    return kind.sketch(shape.question, shape.guarantee, counts, margins)


def errors(shape: Shape, rows: Floats, counts: Integers, margins: Floats) -> tuple[float, float]:
    """The mean chance of a wrong answer, and the mean distance in records (0 for a vote)."""
    if isinstance(shape.question, rb.Quantile):
        wrong = 1 - (rows * (margins == 0)).sum(axis=1).mean()
        return float(wrong), float((rows * margins).sum(axis=1).mean())
    shared = shape.question.ties == "any leader"
    right = counts == counts.max(axis=1, keepdims=True) if shared else margins == 0
    return float(1 - (rows * right).sum(axis=1).mean()), 0.0


def standing(shape: Shape, seed: int) -> tuple[str, str, dict[str, tuple[float, float]]]:
    """The kind that best is, untold and told the size; everybody's errors on random histograms."""
    counts = random_histograms(shape, seed)
    margins = margins_of(shape.question, counts)
    found: dict[str, tuple[float, float]] = {}
    chosen = rb.best(shape.question, shape.guarantee).family
    told = rb.best(shape.question, shape.guarantee, records=shape.records).family
    for kind in {chosen, told, *KINDS}:
        if kind in (chosen, told) or kind.unfit(shape.question, shape.guarantee) is None:
            rows = rows_of(kind, shape, counts, margins)
            found[kind.kind] = errors(shape, rows, counts, margins)
    if isinstance(shape.guarantee, rb.DP):
        for maker in TEXTBOOK:
            peer = maker(shape.question, shape.guarantee)
            found[peer.name] = errors(shape, peer.rows(counts, margins), counts, margins)
    return chosen.kind, told.kind, found


def more_of(shape: Shape, draw: random.Random) -> Shape:
    """The same with a larger budget."""
    factor = Fraction(draw.choice(["1.001", "1.01", "1.1", "1.5"]))
    if isinstance(shape.guarantee, rb.GaussianDP):
        return Shape(shape.question, rb.GaussianDP(shape.guarantee.exact_mu * factor), 0)
    epsilon, delta = shape.guarantee.exact_epsilon, shape.guarantee.exact_delta
    if draw.random() < 0.5:
        return Shape(shape.question, rb.DP(epsilon * factor, delta), 0)
    return Shape(shape.question, rb.DP(epsilon, delta * factor + Fraction(1, 10_000)), 0)


def stated(shape: Shape) -> tuple[float, float]:
    """The measure that best states: of the kind it takes, and the least of all that are cheap."""
    chosen = rb.best(shape.question, shape.guarantee).family
    fit = [kind for kind in KINDS if kind.unfit(shape.question, shape.guarantee) is None]
    return (
        measure.wrong(chosen, shape.question, shape.guarantee),
        min(measure.wrong(kind, shape.question, shape.guarantee) for kind in fit),
    )


def run(count: int, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    won: Counter[str] = Counter()
    lost_when_told = {"wrong": 0, "distance": 0}
    lost: Counter[tuple[str, str, str]] = Counter()
    worst: dict[tuple[str, str, str], tuple[float, str]] = {}
    unstated, fallen = [], []
    console = Console(stderr=True)
    shown = track(shapes(count, seed), "Shapes", total=count, console=console)
    for number, shape in enumerate(shown):
        chosen, told, found = standing(shape, seed + number)
        won[chosen] += 1
        for place, what in enumerate(("wrong", "distance")):
            mine = found[chosen][place]
            peer = min(found, key=lambda name: found[name][place])
            lost_when_told[what] += found[told][place] > LOST * found[peer][place] + 1e-6
            if mine > LOST * found[peer][place] + 1e-6:
                key = (chosen, peer, what)
                lost[key] += 1
                ratio = mine / max(found[peer][place], 1e-12)
                text = f"{shape}: {mine:.4g}, {peer} {found[peer][place]:.4g}"
                worst[key] = max(worst.get(key, (0.0, "")), (ratio, text))
        if not rb.best(shape.question, shape.guarantee).family.costly:
            mine, least = stated(shape)
            if mine > least * (1 + 1e-9) and len(shape.question.answers) > 2:
                unstated.append(f"{shape}: {mine:.6g} above {least:.6g}")
            more = more_of(shape, draw)
            if not rb.best(more.question, more.guarantee).family.costly:
                after, _ = stated(more)
                if after > mine * (1 + 1e-6) + 1e-12:
                    fallen.append(f"{shape}: {mine:.6g}, with {more.guarantee} {after:.6g}")
    report(count, won, lost, worst, unstated, fallen)
    for what, number in lost_when_told.items():
        print(f"Lost when told the number of records, {what}: {number} of {count:,}.")


def report(
    count: int,
    won: Counter[str],
    lost: Counter[tuple[str, str, str]],
    worst: dict[tuple[str, str, str], tuple[float, str]],
    unstated: list[str],
    fallen: list[str],
) -> None:
    print(f"Python {platform.python_version()}, {count:,} shapes.\n")
    print(
        "| best is | shapes | lost by more than 1 %: wrong | distance |\n| --- | --- | --- | --- |"
    )
    for kind, number in won.most_common():
        parts = [
            sum(n for (chosen, _, what), n in lost.items() if (chosen, what) == (kind, name))
            for name in ("wrong", "distance")
        ]
        print(f"| {kind} | {number:,} | {parts[0]:,} | {parts[1]:,} |")
    print("\n| best is | lost to | in | shapes | worst |\n| --- | --- | --- | --- | --- |")
    for key, number in lost.most_common():
        ratio, text = worst[key]
        print(f"| {key[0]} | {key[1]} | {key[2]} | {number:,} | {ratio:.3g} times: {text} |")
    print(f"\nLost in the stated measure: {len(unstated)} of {count:,}.")
    print(f"Worse with a larger budget: {len(fallen)} of {count:,}.")
    for line in (*unstated[:20], *fallen[:20]):
        print(f"- {line}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    run(given.shapes, given.seed)


if __name__ == "__main__":
    main()

"""Whom does ``rb.best`` lose to? Random shapes, and every mechanism that a user could take instead.

A shape is a question, its number of answers, records, neighbors, ties and rows a person, and a
guarantee in one of the currencies ε, (ε,δ), μ and ρ. On each ``best`` is held against every kind in
the library that can be released, against the textbook's mechanisms and against the documented laws
of OpenDP and diffprivlib (``peers``; on some shapes the libraries themselves are drawn from, to see
that the laws are theirs). A shape is lost where one of them is better by more than 1 %:

* in the measure that ``best`` states, and there a larger ε, δ, μ or ρ must not answer worse;
* on one shape in five, in the mean over 48 random histograms of one size, which ``best`` does not
  know, and where it is told the size: in the chance of a wrong answer, and for a quantile in the
  expected distance.

Prints Markdown, for docs/standings.md; every shape that is lost in the stated measure is listed.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import opendp.prelude as opendp
from rich.console import Console
from rich.progress import track

import rainbowdp as rb
from peers import SLOW, Peer, drawn_from, peers_of
from rainbowdp.aliases import Floats, Integers
from rainbowdp.answering.distance import off_by
from rainbowdp.answering.measure import fixed_histograms, measure_of_rows, shape_of
from rainbowdp.exact.rule import Family
from rainbowdp.questions.histograms import margins_of
from rainbowdp.rules import FAMILIES

LOST, CLEARLY = 1.01, 1e-9
HISTOGRAMS = 48
SLOW_EVERY = 10  # peers that take long are held against one shape in so many
FURTHER_EVERY = 5  # and to one shape in so many one size, a larger budget
DRAWN_EVERY = 50
DRAWS = 2_000
TABLES = ("0.1", "0.2", "0.5", "1", "2")  # ε of the tables that come with the package
EPSILONS = tuple(f"{0.01 * 400 ** (step / 40):.3g}" for step in range(41))
DELTAS = ("0", "0", "0", "1e-9", "1e-6", "0.001", "0.01", "0.1")
SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 70, 100, 150, 200)
KINDS = tuple(kind for kind in FAMILIES if not kind.costly)
QUESTIONS: dict[str, type] = {
    "vote": rb.Winner,
    "quantile": rb.Quantile,
    "quantiles": rb.Quantiles,
    "share": rb.Share,
    "threshold": rb.Threshold,
    "ranking": rb.Ranking,
    "custom": rb.Custom,
}
CURRENCIES: dict[str, type] = {"epsilon": rb.DP, "mu": rb.GaussianDP, "rho": rb.ZeroConcentrated}


@dataclass(frozen=True)
class Shape:
    """A question, a guarantee and a number of records."""

    question: Any
    guarantee: Any
    records: int

    def __str__(self) -> str:
        asked = self.question
        said = [type(asked).__name__, f"{len(asked.answers)} answers"]
        if isinstance(asked, rb.Quantile):
            said[0] += f" {asked.q}"
        if isinstance(asked, rb.Winner):
            said.append(str(asked.ties))
        said += [f"{self.records} records {asked.neighbors}"]
        if asked.rows_per_person > 1:
            said.append(f"{asked.rows_per_person} rows")
        return ", ".join([*said, str(self.guarantee)])


@dataclass
class Tally:
    """What was found."""

    won: Counter[str] = field(default_factory=Counter)
    stated: list[dict[str, Any]] = field(default_factory=list)
    fallen: list[str] = field(default_factory=list)
    one_size: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    drawn: list[tuple[str, float]] = field(default_factory=list)
    compared: int = 0


def shapes(count: int, seed: int, wanted: Callable[[Shape], bool]) -> list[Shape]:
    """Random shapes, those of one question one after another: its histograms are found once."""
    draw = random.Random(seed)  # noqa: S311
    found: list[Shape] = []
    while len(found) < count:
        question = question_of(draw)
        records = round(4 * 5000 ** draw.random())
        shape = Shape(question, guarantee_of(question, draw), records)
        if wanted(shape):
            found.append(shape)
    return sorted(found, key=lambda shape: (len(shape.question.answers), str(shape.question)))


def question_of(draw: random.Random) -> Any:
    shared: dict[str, Any] = {
        "neighbors": draw.choice(["substituted", "added or removed"]),
        "rows_per_person": draw.choice([1, 1, 1, 2, 3, 5]),
    }
    size = draw.choice(SIZES)
    names = [str(number) for number in range(size)]
    share = draw.choice(["1/2", "1/4", "9/10", "1/100"])
    kind = draw.choices(
        ["winner", "quantile", "share", "threshold", "ranking", "quantiles", "custom"],
        [35, 33, 4, 4, 9, 9, 6],
    )[0]
    if kind == "winner":
        return rb.Winner(names, ties=draw.choice(["first listed", "any leader"]), **shared)
    if kind == "quantile":
        return rb.Quantile(share, range(size + 1), **shared)
    if kind == "share":
        return rb.Share(draw.choice(["1/2", "2/3", "1/10"]), **shared)
    if kind == "threshold":
        return rb.Threshold(draw.choice([8, 100, 3_000]), **shared)
    if kind == "ranking":
        few, first = draw.choice([(3, 2), (4, 2), (5, 2), (6, 2), (5, 3), (7, 2), (12, 2)])
        return rb.Ranking(names_of(few), first=first, in_order=draw.random() < 0.5, **shared)
    if kind == "quantiles":
        qs = draw.choice([["1/4", "3/4"], ["1/2", "9/10"], ["1/4", "1/2", "3/4"]])
        return rb.Quantiles(qs, range(draw.randint(3, 9)), **shared)
    own = {"neighbors": shared["neighbors"], "name": "own"}
    return rb.Custom(names_of(size), identity, **own)


def identity(margins: Any) -> Any:
    return margins


def names_of(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def guarantee_of(question: Any, draw: random.Random) -> Any:
    epsilon, delta = draw.choice(EPSILONS), draw.choice(DELTAS)
    currency = draw.random()
    if currency < 0.15:
        return rb.GaussianDP(epsilon)
    if currency < 0.3:
        return rb.ZeroConcentrated(Fraction(epsilon) ** 2 / 8)
    few = isinstance(question, rb.Winner) and 2 <= len(question.answers) <= 6
    if few and question.rows_per_person == 1:  # each of them is a table
        epsilon = draw.choice(TABLES)
        delta = draw.choice(["0", "0.001", "0.1"]) if len(question.answers) <= 3 else "0"
    return rb.DP(epsilon, delta)


def random_histograms(question: Any, records: int, seed: int) -> Integers:
    """All histograms of so many records alike: bars among stars; of one group any part of them."""
    rng, groups = np.random.default_rng(seed), len(question.groups)
    if groups == 1:
        return rng.integers(0, records + 1, size=(HISTOGRAMS, 1))
    places = records + groups - 1
    bars = [rng.choice(places, groups - 1, replace=False) for _ in range(HISTOGRAMS)]
    ends = np.pad(np.sort(np.array(bars), axis=1), ((0, 0), (0, 1)), constant_values=places)
    counts: Integers = np.diff(ends, axis=1, prepend=-1) - 1
    return counts


def name_of(kind: Family) -> str:
    """The kind and its options."""
    return ", ".join([kind.kind, *(f"{name} {told}" for name, told in kind.options().items())])


@lru_cache(maxsize=512)
def table_of(question: Any, guarantee: Any, kind: Family) -> Any:
    return rb.QuestionMechanism(question, guarantee, kind).exact().rule


def rows_of(kind: Family, shape: Shape, counts: Integers, margins: Floats) -> Floats:
    if kind.costly:
        rule = table_of(shape.question, shape.guarantee, kind)
        rows: Floats = rule.rows_at(shape.question, counts, margins)
        return rows
    return kind.sketch(shape.question, shape.guarantee, counts, margins)


def held_against(shape: Shape, chosen: Family, number: int) -> tuple[list[Family], dict[str, Peer]]:
    """The kinds, best's own first, and the peers."""
    kinds = [variant for kind in KINDS for variant in kind.variants(shape.question)]
    fit = [k for k in kinds if k.unfit(shape.question, shape.guarantee) is None]
    peers = peers_of(shape.question, shape.guarantee)
    if number % SLOW_EVERY:
        peers = {name: peer for name, peer in peers.items() if name not in SLOW}
    return [chosen, *(kind for kind in fit if kind != chosen)], peers


def stated(shape: Shape, chosen: Family, number: int) -> dict[str, float]:
    """The measure that best states, of best and of all that it is held against."""
    shaped = shape_of(shape.question)
    counts, margins = fixed_histograms(shaped, None)
    kinds, peers = held_against(shape, chosen, number)
    rows = {name_of(kind): rows_of(kind, shape, counts, margins) for kind in kinds}
    rows |= {name: peer(counts, margins) for name, peer in peers.items()}
    return {name: measure_of_rows(shaped, found, counts, margins) for name, found in rows.items()}


def on_one_size(
    shape: Shape, chosen: Family, told: Family, number: int
) -> dict[str, tuple[float, float]]:
    """Everybody's mean chance of a wrong answer, and mean distance, on random histograms."""
    counts = random_histograms(shape.question, shape.records, number)
    margins = margins_of(shape.question, counts)
    kinds, peers = held_against(shape, chosen, number)
    if told not in kinds:
        kinds.append(told)
    rows = {name_of(kind): rows_of(kind, shape, counts, margins) for kind in kinds}
    rows |= {name: peer(counts, margins) for name, peer in peers.items()}
    found = {}
    for name, row in rows.items():
        off = off_by(shape.question, row, counts, margins)
        found[name] = float(off.wrong.mean()), float(off.records.mean())
    return found


def more_of(shape: Shape, draw: random.Random) -> Shape:
    """The same with a larger budget."""
    factor = Fraction(draw.choice(["1.001", "1.01", "1.1", "1.5"]))
    promise = shape.guarantee
    if isinstance(promise, rb.GaussianDP):
        larger: Any = rb.GaussianDP(promise.exact_mu * factor)
    elif isinstance(promise, rb.ZeroConcentrated):
        larger = rb.ZeroConcentrated(promise.exact_rho * factor)
    elif draw.random() < 0.5:
        larger = rb.DP(promise.exact_epsilon * factor, promise.exact_delta)
    else:
        delta = promise.exact_delta * factor + Fraction(1, 10_000)
        larger = rb.DP(promise.exact_epsilon, delta)
    return Shape(shape.question, larger, shape.records)


def note_stated(shape: Shape, chosen: Family, number: int, tally: Tally) -> float:
    found = stated(shape, chosen, number)
    mine, tally.compared = found[name_of(chosen)], tally.compared + len(found) - 1
    for name, other in found.items():
        if mine > LOST * other + CLEARLY:
            tally.stated.append(
                {
                    "shape": str(shape),
                    "best": name_of(chosen),
                    "own": mine,
                    "peer": name,
                    "theirs": other,
                }
            )
    return mine


def note_one_size(shape: Shape, chosen: Family, told: Family, number: int, tally: Tally) -> None:
    found = on_one_size(shape, chosen, told, number)
    ordered = isinstance(shape.question, rb.Quantile | rb.Quantiles)
    for place, what in enumerate(("wrong", "distance") if ordered else ("wrong",)):
        for mine, how in ((chosen, what), (told, f"{what}, told the size")):
            peer = min(found, key=lambda name: found[name][place])
            own, least = found[name_of(mine)][place], found[peer][place]
            if own > LOST * least + 1e-6:
                tally.one_size.setdefault(how, []).append(
                    {
                        "shape": str(shape),
                        "best": name_of(mine),
                        "own": own,
                        "peer": peer,
                        "theirs": least,
                    }
                )


def note_draws(shape: Shape, number: int, tally: Tally) -> None:
    """The farthest that the shares of a library's draws are from its law, in deviations."""
    small = 3 <= len(shape.question.answers) <= 20 and shape.question.rows_per_person == 1
    if not small or not isinstance(shape.guarantee, rb.DP):
        return
    names: list[str] = []
    if isinstance(shape.question, rb.Winner):
        names = ["textbook permute-and-flip"]
    if isinstance(shape.question, rb.Quantile):
        names = ["OpenDP quantile", "diffprivlib quantile"]
    if not names:
        return
    counts = random_histograms(shape.question, min(shape.records, 300), number)[:1]
    margins = margins_of(shape.question, counts)
    for name in names:
        law = peers_of(shape.question, shape.guarantee)[name](counts, margins)[0]
        shares = drawn_from(name, shape.question, shape.guarantee, counts[0].tolist(), DRAWS)
        deviations = np.sqrt(np.maximum(law * (1 - law), 1 / DRAWS) / DRAWS)
        tally.drawn.append((name, float((np.abs(shares - law) / deviations).max())))


def run(found: list[Shape], part: range, seed: int) -> Tally:
    """Hold best against everybody on those of the shapes whose numbers are in the part."""
    tally = Tally()
    console = Console(stderr=True)
    for number in track(part, "Shapes", console=console):
        shape, draw = found[number], random.Random(f"{seed} {number}")  # noqa: S311
        chosen = rb.best(shape.question, shape.guarantee).family
        tally.won[chosen.kind] += 1
        mine = note_stated(shape, chosen, number, tally)
        if number % FURTHER_EVERY:
            continue
        if not isinstance(shape.question, rb.Custom):  # which has no histograms of its own
            told = rb.best(shape.question, shape.guarantee, records=shape.records).family
            note_one_size(shape, chosen, told, number, tally)
        if not chosen.costly:
            more = more_of(shape, draw)
            larger = rb.best(more.question, more.guarantee).family
            if not larger.costly:
                after = stated(more, larger, 1)[name_of(larger)]
                if after > mine * (1 + 1e-6) + 1e-12:
                    tally.fallen.append(f"{shape}: {mine:.6g}, {more.guarantee} {after:.6g}")
        if number % DRAWN_EVERY == 0:
            note_draws(shape, number, tally)
    return tally


def report(count: int, tally: Tally) -> None:
    print(f"Python {platform.python_version()}, {count:,} shapes, {tally.compared:,} comparisons.")
    print(f"\nLost in the stated measure: {len({lost['shape'] for lost in tally.stated})} shapes.")
    _by_peer(tally.stated)
    for lost in tally.stated:
        own, theirs = f"{lost['own']:.5g}", f"{lost['theirs']:.5g}"
        print(f"- {lost['shape']}: {lost['best']} {own}, {lost['peer']} {theirs}")
    print(f"Worse in it with a larger budget: {len(tally.fallen)}.")
    for line in tally.fallen:
        print(f"- {line}")
    print("\n| best is | shapes |\n| --- | --- |")
    for kind, number in tally.won.most_common():
        print(f"| {kind} | {number:,} |")
    for how, losses in tally.one_size.items():
        print(f"\nLost on one size, {how}: {len(losses)} shapes.")
        _by_peer(losses)
    names = sorted({name for name, _ in tally.drawn})
    for name in names:
        far = [deviations for other, deviations in tally.drawn if other == name]
        print(f"\n{name}: {len(far)} shapes drawn from, at most {max(far):.1f} deviations off.")


def _by_peer(losses: list[dict[str, Any]]) -> None:
    """A line for each pair of a kind that lost and what it lost to."""
    print("\n| best is | lost to | shapes | median | worst |\n| --- | --- | --- | --- | --- |")
    for (best, peer), number in Counter((lost["best"], lost["peer"]) for lost in losses).items():
        here = [lost for lost in losses if (lost["best"], lost["peer"]) == (best, peer)]
        ratios = [lost["own"] / max(lost["theirs"], 1e-12) for lost in here]
        worst = here[int(np.argmax(ratios))]
        text = f"{worst['shape']}: {worst['own']:.4g}, {worst['theirs']:.4g}"
        print(f"| {best} | {peer} | {number:,} | {np.median(ratios):.3f} | {text} |")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="a file to write every loss to")
    parser.add_argument("--part", default="1/1", help="3/40: the third of forty parts, alone")
    parser.add_argument("--join", nargs="+", help="files of --json, to report together")
    parser.add_argument("--question", choices=sorted(QUESTIONS), help="shapes of this one only")
    parser.add_argument("--currency", choices=sorted(CURRENCIES), help="shapes in this one only")
    given = parser.parse_args()
    if given.join:
        report(*joined(given.join))
        return
    opendp.enable_features("contrib")
    question = QUESTIONS.get(given.question, object)
    currency = CURRENCIES.get(given.currency, object)

    def wanted(shape: Shape) -> bool:
        return isinstance(shape.question, question) and isinstance(shape.guarantee, currency)

    number, parts = map(int, given.part.split("/"))
    ends = given.shapes * (number - 1) // parts, given.shapes * number // parts
    tally = run(shapes(given.shapes, given.seed, wanted), range(*ends), given.seed)
    report(ends[1] - ends[0], tally)
    if given.json:
        found = {"shapes": ends[1] - ends[0], "seed": given.seed, **vars(tally)}
        Path(given.json).write_text(json.dumps(found, indent=1))


def joined(paths: list[str]) -> tuple[int, Tally]:
    """The number of shapes in all these files, and what was found in them."""
    count, tally = 0, Tally()
    for path in paths:
        found = json.loads(Path(path).read_text())
        count += found["shapes"]
        tally.won.update(found["won"])
        tally.stated += found["stated"]
        tally.fallen += found["fallen"]
        tally.drawn += [(name, deviations) for name, deviations in found["drawn"]]
        tally.compared += found["compared"]
        for how, losses in found["one_size"].items():
            tally.one_size.setdefault(how, []).extend(losses)
    return count, tally


if __name__ == "__main__":
    main()

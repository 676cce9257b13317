"""Random neighboring tables, every kind of mechanism: are the released rows as close as promised?

For each kind random questions and guarantees that it exists for, and random pairs of tables one
change apart (a record or all of a person's), small and huge, tied and far apart. The two rows are
compared in integers, over all sets of answers, by code that shares nothing with the library: e^ε
comes from mpmath, and a Gaussian promise is looked at in floats and, near its limit, in 80 digits.
The rows of noisy counts are long sums of products of the weights of the noise. They are taken in
floats, whose error is known, and in integers only where a pair is not clear of the limit by more.
Prints how many pairs each kind had, how many broke the promise, and how near the nearest came.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate, count, islice
from operator import mul, truediv
from typing import Any, NamedTuple, TypeAlias

import mpmath as mp
import numpy as np
from rich.console import Console
from rich.progress import track
from scipy.special import ndtri

import rainbowdp as rb
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.exact.rule import Family
from rainbowdp.rules import FAMILIES
from rainbowdp.rules.noisy_counts.rule import NoisyCounts

TABLES = ("0.1", "0.2", "0.5", "1", "2")  # ε of the tables that come with the package
EPSILONS = ("0.01", "0.1", "0.7", "2", "4")
DELTAS = ("0", "0", "1e-6", "0.01")
SHAPES = 24  # questions and guarantees of a kind
PLACES = 200
BASES = ((0, 4), (0, 12), (30, 6), (1000, 60), (10**12, 10**6))
STEPS = 24  # of a walk, after which another table is drawn
KEPT = 100_000
TINY = 1e-280  # chances in floats from which on they have all their digits
ROUNDING = 2.0**-52
NEAR = 0.999999  # of a Gaussian promise, from where floats are not enough
COMPARED = 8  # rows of each noise that are compared with the library's

Row: TypeAlias = Sequence[int]


def question_of(draw: random.Random, most: int) -> Any:
    neighbors = draw.choice(["substituted", "added or removed"])
    size, rows = draw.randint(2, most), draw.choice([1, 1, 2, 4])
    if draw.random() < 0.5:
        ties = draw.choice(["first listed", "any leader"])
        names = [str(number) for number in range(size)]
        return rb.Winner(names, ties=ties, neighbors=neighbors, rows_per_person=rows)
    share = draw.choice(["1/2", "1/3", "9/10"])
    return rb.Quantile(share, range(size + 1), neighbors=neighbors, rows_per_person=rows)


def mechanisms_of(kind: Family, draw: random.Random, most: int) -> list[QuestionMechanism]:
    found: list[QuestionMechanism] = []
    for _ in range(10_000):
        question = question_of(draw, 10 if kind.costly else most)
        promise: Any = rb.DP(draw.choice(EPSILONS), draw.choice(DELTAS))
        if kind.costly:
            promise = rb.DP(draw.choice(TABLES))
        if draw.random() < 0.2:
            promise = rb.GaussianDP(draw.choice(EPSILONS))
        if kind.unfit(question, promise) is None:
            found.append(QuestionMechanism(question, promise, kind))
        if len(found) == SHAPES:
            break
    return found


def walk(question: Any, draw: random.Random) -> Iterator[tuple[list[int], list[int]]]:
    """Pairs of counts one change apart: walks of a few steps from tables of all kinds."""
    while True:
        base, spread = draw.choice(BASES)
        here = [base + draw.randint(0, spread) for _ in question.groups]
        for _ in range(STEPS):
            there = neighbor_of(question, here, draw)
            yield here, there
            here = there


def neighbor_of(question: Any, here: list[int], draw: random.Random) -> list[int]:
    """The counts after one change, of all records of a person at most."""
    there, size = list(here), len(here)
    sign = draw.choice((1, -1))
    for _ in range(draw.randint(1, question.rows_per_person)):
        place = draw.randrange(size)
        there[place] = max(0, there[place] + sign)
        if question.neighbors == "substituted" and draw.random() < 0.9:
            other = draw.randrange(size)
            there[other] = max(0, there[other] - sign)
    return there


class Seen(NamedTuple):
    """A released row: its number, its weights when asked for, and its chances in floats.

    These are right to the relative ``error``.
    """

    number: int
    weights: Callable[[], tuple[int, ...]]
    chances: tuple[float, ...]
    error: float


def rows_of(mechanism: QuestionMechanism) -> Callable[[list[int]], Seen]:
    """The released row of counts, each made once while there is room."""
    rule = mechanism.exact().rule
    return noisy_rows_of(mechanism, rule) if isinstance(rule, NoisyCounts) else any_rows(mechanism)


def any_rows(mechanism: QuestionMechanism) -> Callable[[list[int]], Seen]:
    """The released row of counts, remembered by counts and by key while there is room.

    A row is a function of its key, so that counts with one key have one row and one number.
    """
    exact, question = mechanism.exact(), mechanism.question
    names = [name for name, _ in question.groups]
    by_counts: dict[tuple[int, ...], Seen] = {}
    by_key: dict[Hashable, Seen] = {}
    numbers = count()

    def row(counts: list[int]) -> Seen:
        listed = tuple(counts)
        found = by_counts.get(listed)
        if found is not None:
            return found
        key = exact.rule.key(question, dict(zip(names, counts, strict=True)))
        known: Hashable = tuple(key.items()) if isinstance(key, Mapping) else key
        if isinstance(key, np.ndarray):
            known = key.tobytes()
        found = by_key.get(known)
        if found is None:
            weights = exact.rule.weights(key, exact.answers)
            total = sum(weights)
            chances = tuple([weight / total for weight in weights])
            found = Seen(next(numbers), partial(tuple, weights), chances, ROUNDING)
            if len(by_key) < KEPT:
                by_key[known] = found
        if len(by_counts) < KEPT:
            by_counts[listed] = found
        return found

    return row


def noisy_rows_of(mechanism: QuestionMechanism, rule: NoisyCounts) -> Callable[[list[int]], Seen]:
    """The same for noisy counts, whose rows go by how far behind each answer is, up to a limit.

    The chance to be the largest is a sum over places of non-negative products of sums of weights.
    Each of these is rounded once to a float, and then products and sums: fewer roundings than
    places and a few for each answer. What underflows is nothing beside the uniform share. The first
    rows are compared with the library's.
    """
    exact, question, noise = mechanism.exact(), mechanism.question, rule.noise
    names, size, far = [name for name, _ in question.groups], len(question.groups), noise.farthest
    out, places = 2 * far + 1, 2 * far + 1
    error = (places + 8 * size) * ROUNDING
    ends = list(accumulate((*reversed(noise.half[1:]), *noise.half)))
    upto = np.ones(4 * far + 3)  # the chance of noise up to −K − 1, −K, …
    upto[: places + 1] = [end / ends[-1] for end in (0, *ends)]
    at = np.zeros(4 * far + 2)
    at[:places] = [weight / ends[-1] for weight in (*reversed(noise.half[1:]), *noise.half)]
    first = rule.vote.ties == "first listed"
    late = [place * rule.parts // size * first for place in range(size)]
    known: dict[tuple[int, ...], Seen] = {}
    numbers = count()

    def row(counts: list[int]) -> Seen:
        scores = [rule.parts * held - behind for held, behind in zip(counts, late, strict=True)]
        most = max(scores)
        key = tuple([min(most - score, out) for score in scores])
        found = known.get(key)
        if found is None:
            below = [upto[gap : gap + places] for gap in key]
            least = [upto[gap + 1 : gap + 1 + places] for gap in key]
            here = [at[gap : gap + places] for gap in key]
            forth = zip(products_before(below), products_before(least[::-1])[::-1], strict=True)
            back = zip(products_before(least), products_before(below[::-1])[::-1], strict=True)
            shares = [
                float((one * (a * b + c * d)).sum()) / 2
                for one, (a, b), (c, d) in zip(here, forth, back, strict=True)
            ]
            chances = tuple([share + (1 / size - share) * 2.0**-40 for share in shares])
            found = Seen(next(numbers), partial(released, list(counts)), chances, error)
            if found.number < COMPARED:
                must_be_near(found)
            if len(known) < KEPT:
                known[key] = found
        return found

    def released(counts: list[int]) -> tuple[int, ...]:
        key = exact.rule.key(question, dict(zip(names, counts, strict=True)))
        return exact.rule.weights(key, exact.answers)

    return row


def products_before(factors: Sequence[Any]) -> list[Any]:
    """For each factor the product of those before it."""
    return list(accumulate(factors[:-1], mul, initial=1.0))


def must_be_near(row: Seen) -> None:
    """Refuse floats that are farther from the released row than they say."""
    weights = row.weights()
    total = sum(weights)
    for weight, chance in zip(weights, row.chances, strict=True):
        off = abs(Fraction(chance) * total - weight)
        assert off <= Fraction(row.error) * weight, (row, float(off / weight))


def limit_of(promise: Any) -> tuple[int, Fraction]:
    """e^ε as an integer of 2^200, rounded up, and δ; nothing for a Gaussian promise."""
    with mp.workdps(80):
        limit = int(mp.ceil(mp.exp(mp.mpf(str(promise.epsilon))) * 2**PLACES))
    return limit, promise.exact_delta


def uses_of(promise: Any) -> Callable[[Seen, Seen], float]:
    """How much of the promise two rows use up, the same pair of rows only once."""
    limit = limit_of(promise) if isinstance(promise, rb.DP) else None
    kept: dict[tuple[int, int], float] = {}

    def used(one: Seen, other: Seen) -> float:
        pair = one.number, other.number
        found = kept.get(pair)
        if found is None:
            found = max(use(promise, limit, one, other), use(promise, limit, other, one))
            if len(kept) < KEPT:
                kept[pair] = found
        return found

    return used


def use(promise: Any, limit: tuple[int, Fraction] | None, one: Seen, other: Seen) -> float:
    """How much of the promise one direction uses up; above 1 it is broken.

    Under δ it is 0 or 2: whether the promise is kept. What floats, if they are not tiny, do not
    show to be clear of the limit by far more than their error is seen in integers.
    """
    error = max(one.error, other.error)
    tiny = min(other.chances) < TINY or min(one.chances) < TINY
    if limit is None:
        found = 1.0 if tiny else _gaussian_use_in_floats(promise.mu, one.chances, other.chances)
        if found + 4 * error / promise.mu < NEAR:
            return found
        return _gaussian_use(promise.mu, one.weights(), other.weights())
    allowed, delta = limit
    ratio = promise.ratio
    if not tiny:
        nearest = max(map(truediv, one.chances, other.chances)) / ratio
        if nearest * (1 + 4 * error) < 1 - 1e-9:
            return 0.0 if delta else nearest
        over = sum(max(0.0, a - ratio * b) for a, b in zip(one.chances, other.chances, strict=True))
        if over + 4 * (1 + ratio) * error < float(delta) * (1 - 1e-6):
            return 0.0
    p, q = one.weights(), other.weights()
    whole, whole_other = sum(p), sum(q)
    excess = sum(
        max(0, (a * whole_other << PLACES) - allowed * b * whole) for a, b in zip(p, q, strict=True)
    )
    if excess > delta * whole * whole_other * (1 << PLACES):
        return 2.0
    return 0.0 if delta else 1.0


def _gaussian_use_in_floats(mu: float, p: Sequence[float], q: Sequence[float]) -> float:
    """The same in floats; of a set and of its complement the less likely is added up.

    Where a chance s is off by a relative e, its quantile is by at most e·s/φ(Φ⁻¹(s)) < 1.26·e.
    """
    order = sorted(range(len(p)), key=lambda v: -p[v] / q[v])
    ordered = [[row[v] for v in order] for row in (p, q)]
    upto = [list(accumulate(row)) for row in ordered]
    above = [list(accumulate(row[::-1]))[::-1] for row in ordered]
    parts = np.array([row[:-1] for row in upto]), np.array([row[1:] for row in above])
    quantiles = np.where(parts[0] < parts[1], ndtri(parts[0]), -ndtri(parts[1]))
    return max(0.0, float((quantiles[0] - quantiles[1]).max()) / mu)


def _gaussian_use(mu: float, p: Row, q: Row) -> float:
    """By floats, and in 80 digits where they come near the limit."""
    one, other = sum(p), sum(q)
    order = sorted(range(len(p)), key=lambda v: -p[v] * (1 << 64) // max(1, q[v]))
    level = power = 0
    found = 0.0
    for v in order[:-1]:
        level, power = level + q[v], power + p[v]
        if power * other > level * one:
            shift = _quantile(power, one) - _quantile(level, other)
            if shift > NEAR * mu:
                with mp.workdps(80):
                    shift = float(_exact_quantile(power, one) - _exact_quantile(level, other))
            found = max(found, shift / mu)
    return found


def _quantile(part: int, whole: int) -> float:
    if 2 * part > whole:
        return -_quantile(whole - part, whole)
    return float(ndtri(part / whole))


def _exact_quantile(part: int, whole: int) -> Any:
    if 2 * part > whole:
        return -_exact_quantile(whole - part, whole)
    return -mp.sqrt(2) * mp.erfinv(1 - 2 * mp.mpf(part) / whole)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--answers", type=int, default=7, help="at most, of kinds without tables")
    parser.add_argument("--kind", choices=[kind.kind for kind in FAMILIES], help="this one alone")
    given = parser.parse_args()
    draw = random.Random(given.seed)  # noqa: S311
    console = Console(stderr=True)
    print("| kind | pairs | broken | nearest to the limit |\n| --- | --- | --- | --- |")
    for kind in FAMILIES:
        if given.kind not in (None, kind.kind):
            continue
        mechanisms = mechanisms_of(kind, draw, given.answers)
        broken, nearest = 0, 0.0
        for mechanism in track(mechanisms, kind.kind, console=console):
            row, used = rows_of(mechanism), uses_of(mechanism.guarantee)
            pairs = walk(mechanism.question, draw)
            for here, there in islice(pairs, -(-given.pairs // len(mechanisms))):
                one, other = row(here), row(there)
                if one.number != other.number:
                    found = used(one, other)
                    broken += found > 1 + 1e-12
                    nearest = max(nearest, found)
        print(f"| {kind.kind} | {given.pairs:,} | {broken} | {nearest:.6f} |", flush=True)


if __name__ == "__main__":
    main()

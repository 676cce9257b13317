"""Many votes from one budget of (3, 10⁻⁶): what a plan buys, beside OpenDP's own session.

Which of q answers has the most of n records, any leader right, one record substituted; the mean
over all histograms of the chance of a wrong answer, in percent, where the budget is divided evenly
over k votes. The columns of ours are what ``rb.best`` has under the guarantee of one vote: ε by
sums, μ, ρ, ε by optimal composition, and composed ranges; ``plan`` is what ``rb.plan`` takes. The
column of OpenDP is the better of its noisy max under pure ε = 3/k and under ρ, where the library
itself finds the noise that its own composition and conversion allow, and answers are drawn. Says
where a plan loses. Prints Markdown; the tables in docs/when.md come from here.
"""

from __future__ import annotations

import argparse
import math
import platform
import time
from fractions import Fraction
from typing import Any

import numpy as np
import opendp.prelude as opendp

import rainbowdp as rb
from rainbowdp.aliases import Floats, Integers
from rainbowdp.baselines import permute_and_flip
from rainbowdp.comparison import compare
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions.histograms import histograms
from rainbowdp.questions.relations import Ties
from rainbowdp.sessions.buying import mean_wrong
from rainbowdp.sessions.ways import COMPOSED, EPSILON, MU, RANGES, RHO, Way

TOTAL = rb.DP(3, "1e-6")
CASES = ((3, 36), (4, 36))
VOTES = (1, 2, 3, 5, 8, 10, 12, 15, 20, 30, 50, 100, 300, 1000)
WAYS = (EPSILON, MU, RHO, COMPOSED, RANGES)
DRAWS = 20_000
ALIKE = 1e-3  # errors that differ by less, relatively


def vote_of(answers: int) -> rb.Winner:
    names = [chr(ord("a") + number) for number in range(answers)]
    return rb.Winner(names, ties=Ties.ANY_LEADER)


def wrong(vote: rb.Winner, promise: Guarantee, records: int) -> float:
    return mean_wrong(rb.best(vote, promise, records=records).family, vote, promise, records)


def promise_of(way: Way, vote: rb.Winner, votes: int) -> Guarantee:
    """The guarantee of one of so many votes."""
    targets = [rb.Target(vote)] * votes
    amounts = way.divide(targets, [None] * votes, TOTAL)
    return way.promises(amounts[0], targets[0], Fraction(0))[0]


def opendp_scale(votes: int) -> float:
    """The least Gumbel noise that OpenDP's own accounting of so many noisy maxima allows."""
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.linf_distance(T=int)

    def fits(scale: float) -> bool:
        one = opendp.m.make_noisy_max(*space, opendp.zero_concentrated_divergence(), scale)
        together = opendp.c.make_composition([one] * votes)
        total: Any = opendp.c.make_fix_delta(opendp.c.make_zCDP_to_approxDP(together), 1e-6)
        return bool(total.map(1)[0] <= 3.0)

    low, high = 1e-3, 1.0
    while not fits(high):
        low, high = high, 2 * high
    while high / low > 1 + 1e-6:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def exponential_wrong(counts: Integers, scale: float) -> float:
    weights: Floats = np.exp((counts - counts.max(axis=1, keepdims=True)) / scale)
    right = counts == counts.max(axis=1, keepdims=True)
    return float(1 - ((weights * right).sum(axis=1) / weights.sum(axis=1)).mean())


def must_be_drawn_so(counts: Integers, scale: float, expected: float) -> None:
    """Stop unless answers of the library itself are wrong about as often as ``expected``."""
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.linf_distance(T=int)
    one: Any = opendp.m.make_noisy_max(*space, opendp.zero_concentrated_divergence(), scale)
    rows = counts[np.random.default_rng(7).integers(len(counts), size=DRAWS)]
    errors = np.mean([row[one(row.tolist())] < row.max() for row in rows])
    if abs(errors - expected) > 5 * math.sqrt(expected / DRAWS):
        raise SystemExit(f"OpenDP is wrong in {errors}, where {expected} is expected")


def opendp_wrong(vote: rb.Winner, records: int, votes: int) -> float:
    """The mean error of the better of OpenDP's two sessions."""
    counts = histograms(vote, records)
    scale = opendp_scale(votes)
    by_rho = exponential_wrong(counts, scale)
    must_be_drawn_so(counts, scale, by_rho)
    pure = compare(vote, rb.DP(Fraction(3, votes)), {"it": permute_and_flip}, records=records)[
        "it"
    ].mean_error
    return min(by_rho, pure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, nargs="+", default=VOTES)
    options = parser.parse_args()
    opendp.enable_features("contrib", "honest-but-curious")
    print(f"Python {platform.python_version()}, OpenDP {opendp.__version__}\n")
    losses = []
    for answers, records in CASES:
        vote = vote_of(answers)
        print(f"q = {answers}, n = {records}\n")
        head = ["votes", *(way.name for way in WAYS), "OpenDP", "plan", "by", "seconds"]
        print(f"| {' | '.join(head)} |")
        print(f"| {' | '.join(['---'] * len(head))} |")
        for votes in options.votes:
            columns = {way: wrong(vote, promise_of(way, vote, votes), records) for way in WAYS}
            theirs = opendp_wrong(vote, records, votes)
            start = time.perf_counter()
            made = rb.plan([rb.Target(vote, people=records)] * votes, TOTAL)
            took = time.perf_counter() - start
            ours = wrong(vote, made.mechanisms[0].guarantee, records)
            shown = [*columns.values(), theirs, ours]
            cells = " | ".join(f"{100 * error:.2f}" for error in shown)
            print(f"| {votes} | {cells} | {made.way.name} | {took:.1f} |", flush=True)
            if ours > min(shown) * (1 + ALIKE):
                best = min((error, name) for error, name in zip(shown, head[1:], strict=False))
                losses.append(f"q = {answers}, k = {votes}: {best[1]} has {100 * best[0]:.4f} %, "
                              f"plan {100 * ours:.4f} %")  # fmt: skip
        print()
    print("Where a plan loses: " + ("; ".join(losses) if losses else "nowhere"))


if __name__ == "__main__":
    main()

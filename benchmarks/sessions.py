"""Many votes from one budget of (3, 10⁻⁶): added up in ε, or spent in ρ or μ.

The mean chance of a wrong answer over all votes of 60 records, by ``rb.best`` in each currency,
where the budget is divided evenly over k votes. Prints Markdown; the table in docs/how-to/choose.md
comes from here.
"""

from __future__ import annotations

import argparse
import math
from fractions import Fraction

import rainbowdp as rb
from rainbowdp.guarantees.conversions import mu_within, rho_within
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions.histograms import histograms, margins_of

TOTAL = rb.DP(3, "1e-6")
RECORDS = 60


def wrong(vote: rb.Winner, guarantee: Guarantee) -> float:
    counts = histograms(vote, RECORDS)
    margins = margins_of(vote, counts)
    family = rb.best(vote, guarantee).family
    rows = family.sketch(vote, guarantee, counts, margins)
    return float(1 - (rows * (margins == 0)).sum(axis=1).mean())


def currencies(votes: int) -> dict[str, Guarantee]:
    each = math.sqrt(float(mu_within(TOTAL)) ** 2 / votes)
    return {
        "ε": rb.DP(Fraction(3, votes)),
        "ρ": rb.ZeroConcentrated(rho_within(TOTAL) / votes),
        "μ": rb.GaussianDP(Fraction(each).limit_denominator(10**9)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, nargs="+", default=[1, 3, 10, 30])
    print("| answers | votes | added up in ε | spent in ρ | spent in μ |")
    print("| --- | --- | --- | --- | --- |")
    options = parser.parse_args()
    for answers in (2, 4):
        vote = rb.Winner([str(number) for number in range(answers)])
        for votes in options.votes:
            errors = [wrong(vote, promise) for promise in currencies(votes).values()]
            cells = " | ".join(f"{100 * error:.1f} %" for error in errors)
            print(f"| {answers} | {votes} | {cells} |", flush=True)


if __name__ == "__main__":
    main()

"""How near a private count is, beside the noise of OpenDP and diffprivlib.

The mean distance from the true count, and the least half-width that holds it with 95 % confidence:
ours exactly from the integers that are drawn from, the libraries' from draws of their own
mechanisms. Prints Markdown.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

import rainbowdp as rb
from rainbowdp.exact.noise import NoiseRow

DRAWS = 40_000
CASES: tuple[tuple[float, float, int], ...] = (
    (1, 0, 1), (0.1, 0, 1), (1, 0, 3), (2, 0, 3), (3, 0, 10),
    (1, 1e-6, 1), (1, 1e-2, 1), (0.1, 1e-2, 1), (2, 1e-6, 3), (0.1, 1e-6, 1),
)  # fmt: skip


def main() -> None:
    print("| ε, δ, rows a person | ours | OpenDP Laplace | diffprivlib Geometric | and Gaussian |")
    print("|" + " --- |" * 5)
    for epsilon, delta, change in CASES:
        guarantee = rb.DP(epsilon, delta)
        row = rb.best(rb.Count(rows_per_person=change), guarantee).noise
        others = [
            drawn(opendp_laplace(change / epsilon)),
            drawn(geometric(epsilon, change)),
            drawn(gaussian(epsilon, delta, change)) if delta and epsilon <= 1 else "–",
        ]
        print(
            f"| {epsilon}, {delta}, {change} | {exactly(row)} | {' | '.join(others)} |", flush=True
        )
    print("\n| ρ, rows a person | ours | OpenDP Gaussian |\n| --- | --- | --- |")
    for rho, change in ((0.5, 1), (0.02, 1), (0.02, 3)):
        row = rb.best(rb.Count(rows_per_person=change), rb.ZeroConcentrated(rho)).noise
        scale = change / math.sqrt(2 * rho)
        print(f"| {rho}, {change} | {exactly(row)} | {drawn(opendp_gaussian(scale))} |", flush=True)
    print("\n| guarantee | made and proved in ms | one draw in µs |\n| --- | --- | --- |")
    for promise in (
        rb.DP(1),
        rb.DP("0.01"),
        rb.DP(1, "1e-6"),
        rb.GaussianDP("0.1"),
        rb.GaussianDP("0.01"),
    ):
        start = time.perf_counter()
        row = rb.best(rb.Count(at_most=10**8), promise).noise
        made = time.perf_counter() - start
        row.draw()
        start = time.perf_counter()
        for _ in range(10_000):
            row.draw()
        each = (time.perf_counter() - start) / 10_000
        print(f"| {promise} | {1e3 * made:.0f} | {1e6 * each:.1f} |")


def exactly(row: NoiseRow) -> str:
    mean = 2 * sum(number * weight for number, weight in enumerate(row.half)) / row.total
    return f"{mean:.3f}, ±{row.half_width(Fraction(95, 100))}"


def drawn(numbers: Sequence[int]) -> str:
    away = np.abs(np.array(numbers))
    return f"{away.mean():.3f}, ±{int(np.quantile(away, 0.95, method='inverted_cdf'))}"


def opendp_laplace(scale: float) -> list[int]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    noise = dp.m.make_laplace(*space, scale=scale)
    return many(lambda: int(noise(0)))


def opendp_gaussian(scale: float) -> list[int]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    noise = dp.m.make_gaussian(*space, scale=scale)
    return many(lambda: int(noise(0)))


def geometric(epsilon: float, change: int) -> list[int]:
    from diffprivlib.mechanisms import Geometric

    noise = Geometric(epsilon=epsilon, sensitivity=change, random_state=7)
    return many(lambda: noise.randomise(0))


def gaussian(epsilon: float, delta: float, change: int) -> list[int]:
    from diffprivlib.mechanisms import GaussianDiscrete

    noise = GaussianDiscrete(epsilon=epsilon, delta=delta, sensitivity=change, random_state=7)
    return many(lambda: noise.randomise(0))


def many(draw: Callable[[], int]) -> list[int]:
    return [draw() for _ in range(DRAWS)]


if __name__ == "__main__":
    main()

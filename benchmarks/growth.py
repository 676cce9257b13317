"""Growing a million rows: the closed form beside plain iteration of φ, in one run.

Prints a Markdown table of seconds and ratios; the one in docs/benchmarks.md comes from here.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import rainbowdp as rb
from rainbowdp.guarantees.curve import TradeOffCurve

PAIRS, ANSWERS = 1_000_000, 5


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The best of a few runs: other people's load only ever adds."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def iterate(
    promise: rb.DP, s: NDArray[np.float64], depth: NDArray[np.int64]
) -> NDArray[np.float64]:
    """φ applied step by step, as a paper's notebook would."""
    e, d = promise.ratio, promise.delta
    s = s.copy()
    for level in range(int(depth.max())):
        going = depth[:, 0] > level
        here = s[going]
        s[going] = np.minimum(np.minimum(e * here + d, 1 - (1 - here - d) / e), 1.0)
    return s


def main() -> None:
    rng = np.random.default_rng(0)
    s = np.sort(rng.random((PAIRS, ANSWERS)), axis=1)
    s[:, -1] = 1.0
    depth = rng.integers(0, 101, (PAIRS, 1))
    print(
        f"{PAIRS:,} (row, depth) pairs × {ANSWERS} answers, depths to 100; {platform.machine()}\n"
    )
    print("| guarantee | `grow` [s] | plain iteration [s] | ratio | largest difference |")
    print("| --- | --- | --- | --- | --- |")
    for promise in (rb.DP(0.1), rb.DP(1), rb.DP(0.1, 1e-6)):
        fast = seconds(lambda p=promise: p.grow(s, depth))  # type: ignore[misc]
        slow = seconds(lambda p=promise: iterate(p, s, depth), repeats=1)  # type: ignore[misc]
        gap = np.abs(promise.grow(s, depth) - iterate(promise, s, depth)).max()
        print(f"| {promise} | {fast:.2f} | {slow:.2f} | {slow / fast:.0f}× | {gap:.0e} |")

    row = (0.0005, 0.0082, 0.1364, 0.2727, 0.5822)
    depths = np.arange(PAIRS)
    others: tuple[TradeOffCurve, ...] = (rb.DP(0.1), rb.DP(1e-5, 1e-6), rb.GaussianDP(0.1))
    print("\n| guarantee | `rows` at depths 0 … 999,999 [s] |\n| --- | --- |")
    for guarantee in others:
        print(f"| {guarantee} | {seconds(lambda g=guarantee: g.rows(row, depths)):.2f} |")  # type: ignore[misc]


if __name__ == "__main__":
    main()

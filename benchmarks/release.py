"""One private answer, in microseconds: ours beside OpenDP's noisy max and diffprivlib, in one run.

All choose the most frequent of the listed answers at ε = 1, one record added or removed. "Prepared"
is what a second release of the same counts costs; "from counts" starts from the counts alone. The
contestants take turns, so that other people's load falls on all of them. Needs opendp, and
diffprivlib with scikit-learn < 1.7 where its rows are wanted. Prints a Markdown table, and one of
the processor time that each of our kinds takes from counts, for 100 answers of a vote (a few
records apart, and far apart) and 100 bins of a median: the best of many, as others' work on the
same cores slows any of them down, and beside it what the peers take for the same votes.
"""

from __future__ import annotations

import importlib
import platform
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter_ns, thread_time_ns
from typing import Any

import numpy as np
import opendp.prelude as dp

import rainbowdp as rb

EPSILON = 1
ANSWERS = (3, 20, 100)
VOTES_ALONE = ("permute-and-flip", "noisy-counts")
ROUNDS, TURN = 50, 200  # so many rounds, and calls in a row in each

Work = Callable[[], object]


def contestants(counts: dict[str, int]) -> dict[str, Work]:
    """A release of each library for the same counts."""
    question = rb.Winner(list(counts), neighbors="added or removed")
    exact = rb.best(question, rb.DP(EPSILON)).exact()
    row = exact.at(counts)
    numbers = list(counts.values())
    return {
        "rainbowdp, prepared": row.draw,
        "rainbowdp, from counts": lambda: exact.release(counts),
        "OpenDP noisy max, from counts": _noisy_max(numbers),
        **_diffprivlib(counts),
    }


def _noisy_max(counts: list[int]) -> Work:
    """OpenDP's choice; counts all move one way when a record comes or goes, so ε is 1/scale."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int, monotonic=True)
    measurement: Any = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=1 / EPSILON)
    assert measurement.map(1) == EPSILON
    return lambda: measurement(counts)


def _diffprivlib(counts: dict[str, int]) -> dict[str, Work]:
    """Its exponential mechanism and permute-and-flip, or nothing where it is not installed."""
    try:
        mechanisms = importlib.import_module("diffprivlib.mechanisms")
    except ImportError:
        return {}
    utility, candidates = [float(n) for n in counts.values()], list(counts)

    def make(kind: str) -> Work:
        release: Work = getattr(mechanisms, kind)(
            epsilon=EPSILON, sensitivity=1, utility=utility, candidates=candidates, monotonic=True
        ).randomise
        return release

    return {
        "diffprivlib Exponential, prepared": make("Exponential"),
        "diffprivlib Exponential, from counts": lambda: make("Exponential")(),
        "diffprivlib PermuteAndFlip, prepared": make("PermuteAndFlip"),
        "diffprivlib PermuteAndFlip, from counts": lambda: make("PermuteAndFlip")(),
    }


def nanoseconds(works: dict[str, Work]) -> dict[str, list[int]]:
    """The time of every single call, the contestants taking turns."""
    times: dict[str, list[int]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            note = times[name].append
            for _ in range(TURN):
                start = perf_counter_ns()
                work()
                note(perf_counter_ns() - start)
    return times


def processor(work: Work, calls: int = 3_000, together: int = 3) -> float:
    """The least processor time of a call, in microseconds, of a few in a row."""
    work()
    times = []
    for _ in range(calls):
        start = thread_time_ns()
        for _ in range(together):
            work()
        times.append(thread_time_ns() - start)
    return min(times) / together / 1000


def kinds() -> None:
    """From counts: the processor time of every kind, for 100 answers."""
    names = [f"answer {i}" for i in range(100)]
    random = np.random.default_rng(1)
    near = {name: 1000 - i for i, name in enumerate(names)}
    far = dict(zip(names, random.integers(0, 20_000, 100).tolist(), strict=True))
    promises = {
        "permute-and-flip": rb.DP(1),
        "margin-flip": rb.DP(1),
        "homogeneous": rb.DP(1),
        "proximity": rb.DP(5),
        "exponential": rb.ZeroConcentrated("0.01"),
        "noisy-counts": rb.GaussianDP(1),
    }
    print("\n| kind | neighbors | vote, near | vote, far | median |")
    print("| --- | --- | --- | --- | --- |")
    for kind, promise in promises.items():
        for neighbors in ("substituted", "added or removed"):
            vote = rb.by_kind(rb.Winner(names, neighbors=neighbors), promise, kind).exact()
            found = [processor(partial(vote.release, counts)) for counts in (near, far)]
            if kind not in VOTES_ALONE:
                bins = rb.Quantile("1/2", range(101), neighbors=neighbors)
                spread = dict(zip(bins.answers, far.values(), strict=True))
                median = rb.by_kind(bins, promise, kind).exact()
                found.append(processor(partial(median.release, spread)))
            shown = [f"{time:.0f}" for time in found]
            print(f"| {kind} | {neighbors} | {' | '.join(shown + ['–'] * (3 - len(shown)))} |")
    for name in ("OpenDP noisy max", "diffprivlib Exponential", "diffprivlib PermuteAndFlip"):
        works = [
            {"OpenDP noisy max": _noisy_max(list(counts.values()))}
            | {
                label.removesuffix(", from counts"): work
                for label, work in _diffprivlib(counts).items()
                if label.endswith("from counts")
            }
            for counts in (near, far)
        ]
        if name in works[0]:
            shown = [f"{processor(work[name], 300):.0f}" for work in works]
            print(f"| {name} | added or removed | {' | '.join(shown)} | – |")


def installed(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


def main() -> None:
    dp.enable_features("contrib")
    libraries = ", ".join(map(installed, ("rainbowdp", "opendp", "diffprivlib", "scikit-learn")))
    clock = np.median(nanoseconds({"": lambda: None})[""])
    print(f"{ROUNDS * TURN:,} releases each, ε = {EPSILON}; {platform.machine()}, ", end="")
    print(f"Python {platform.python_version()}, {libraries}.")
    print(f"Microseconds for one release; {clock / 1000:.2f} of each is the clock.\n")
    print("| answers | release | p50 | p90 | p99 | p50, × prepared row |")
    print("| --- | --- | --- | --- | --- | --- |")
    for answers in ANSWERS:
        counts = {f"answer {i}": 1000 - i for i in range(answers)}
        ours = None
        for name, times in nanoseconds(contestants(counts)).items():
            p50, p90, p99 = np.percentile(times, [50, 90, 99]) / 1000
            ours = ours or p50
            print(f"| {answers} | {name} | {p50:.2f} | {p90:.2f} | {p99:.2f} | {p50 / ours:.1f} |")
    kinds()


if __name__ == "__main__":
    main()

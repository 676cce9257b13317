"""How often the true answer is missed: our mechanisms beside what others use, in one run.

Which of q answers has the most of n records, ties to the first listed, one record substituted:
the mean over all histograms of 1 − P(true answer), in percent. The column LP is the least mean
error that any mechanism can have on that graph of histograms, by ``rb.program`` and once
more by a program of its own given to SciPy. OpenDP's noisy max is drawn from the real library.
Prints Markdown; the tables in docs/when.md, docs/true-answer.md and docs/flips.md come from here.
"""

from __future__ import annotations

import itertools
import math
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import opendp.prelude as opendp
from scipy import sparse
from scipy.optimize import linprog

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import rainbowdp as rb
from kinds import homogeneous
from kinds import margin_table as table_of
from rainbowdp.baselines import (
    exponential,
    permute_and_flip,
    pooled_permute_and_flip,
    propose_test_release,
    randomized_response,
)
from rainbowdp.comparison import Maker, compare
from rainbowdp.mechanisms.lifted.lifted import fixed_point, lifted
from rainbowdp.mechanisms.unrestricted.program import program
from rainbowdp.questions.histograms import histograms
from rainbowdp.questions.relations import Neighbors, Ties

Counts: TypeAlias = tuple[int, ...]

CASES = ((2, 30, "1"), (3, 20, "0.3"), (3, 20, "1"), (3, 20, "2"),
         (4, 12, "0.3"), (4, 12, "1"), (4, 12, "1.5"), (6, 6, "2"))  # fmt: skip
MORE = ((5, 8, "1"), (5, 10, "0.3"), (5, 10, "2"),
        (6, 6, "0.3"), (6, 6, "1"), (6, 8, "1"), (6, 8, "2"))  # fmt: skip
MANY = ((7, 5), (10, 100), (26, 500), (50, 1000))
MAKERS: dict[str, Maker] = {
    "exponential": exponential,
    "permute-and-flip": permute_and_flip,
    "homogeneous": homogeneous,
    "proximity": rb.proximity,
    "pooled (c)": pooled_permute_and_flip,
    "table (d)": table_of,
}
MAKERS_WITH_DELTA: dict[str, Maker] = {
    "randomized response": randomized_response,
    "propose-test-release": propose_test_release,
    **MAKERS,
}
DELTA = "0.01"
DRAWS = 60_000  # of OpenDP's noisy max for each case


def question(answers: int, neighbors: str = "substituted") -> rb.Winner:
    names = [chr(ord("a") + number) for number in range(answers)]
    return rb.Winner(names, neighbors=neighbors)


def error(maker: Maker, answers: int, records: int, promise: rb.DP) -> float | None:
    """The mean error, or none where the mechanism does not exist."""
    try:
        found = compare(question(answers), promise, {"it": maker}, records=records)
    except rb.InvalidGuarantee:
        return None
    return found["it"].mean_error


def graph_of(
    answers: int, counts: Iterable[Counts], changed: Callable[[Counts], Iterable[Counts]]
) -> rb.RainbowGraph:
    """These counts, joined where ``changed``; the true answer is the region and comes first."""
    names = question(answers).answers
    labels = {row: names[row.index(max(row))] for row in counts}
    orders = {a: (a, *(b for b in names if b != a)) for a in names}
    edges = [(row, other) for row in labels for other in changed(row) if other in labels]
    return rb.RainbowGraph(edges, orders, names, labels=labels)


def graph_of_histograms(answers: int, records: int) -> rb.RainbowGraph:
    """Histograms of exactly ``records`` records, one substituted."""
    counts = [tuple(row) for row in histograms(question(answers), records).tolist()]
    return graph_of(answers, counts, substituted)


def substituted(row: Counts) -> Iterator[Counts]:
    for i, j in itertools.permutations(range(len(row)), 2):
        if row[i]:
            yield tuple(n - (v == i) + (v == j) for v, n in enumerate(row))


def least_error(graph: rb.RainbowGraph, promise: rb.DP) -> float:
    """The least mean error of any mechanism, by a linear program that shares nothing with ours.

    Variables p_v(d), and for δ > 0 a slack z_v for each directed edge:
    p_v(d) − e^ε·p_v(d′) ≤ z_v, Σ_v z_v ≤ δ.
    """
    answers = len(graph.answers)
    size, edges = len(graph), graph.edge_positions()
    both = np.concatenate([edges, edges[:, ::-1]])
    first, second = ((both[:, [end]] * answers + np.arange(answers)).reshape(-1) for end in (0, 1))
    rows = np.arange(len(first))
    ones = np.ones(len(first))
    shape = (len(first), size * answers)
    close: Any = sparse.csr_array(
        (ones, (rows, first)), shape=shape
    ) - promise.ratio * sparse.csr_array((ones, (rows, second)), shape=shape)
    true = [graph.answers.index(graph.rainbow(d)[0]) for d in graph.datasets]
    gain = np.zeros(size * answers)
    gain[np.arange(size) * answers + true] = -1 / size
    total: Any = sparse.kron(sparse.eye_array(size), np.ones((1, answers)), format="csr")
    limits = np.zeros(len(first))
    if promise.delta:
        slack = sparse.kron(sparse.eye_array(len(both)), np.ones((1, answers)), format="csr")
        close = sparse.block_array([[close, -sparse.eye_array(len(first))], [None, slack]])
        limits = np.concatenate([limits, np.full(len(both), promise.delta)])
        total = sparse.hstack([total, sparse.csr_array((size, len(first)))])
        gain = np.concatenate([gain, np.zeros(len(first))])
    found = linprog(gain, close.tocsc(), limits, total.tocsc(), np.ones(size), method="highs-ipm")
    if found.status != 0 or found.fun is None:
        raise SystemExit(f"the linear program stopped: {found.message}")
    return 1 + float(found.fun)


def opendp_error(answers: int, records: int, promise: rb.DP) -> tuple[float, float]:
    """The mean error of OpenDP's noisy max, drawn from the library, and its standard error."""
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.linf_distance(T=int)
    measurement: Any = opendp.m.make_noisy_max(*space, opendp.max_divergence(), 2 / promise.epsilon)
    if abs(measurement.map(1) - promise.epsilon) > 1e-9:
        raise SystemExit("OpenDP's noisy max keeps another epsilon than asked for")
    counts = histograms(question(answers), records).tolist()
    draws = -(-DRAWS // len(counts))
    missed = [
        sum(measurement(row) != row.index(max(row)) for _ in range(draws)) / draws for row in counts
    ]
    variance = sum(p * (1 - p) / draws for p in missed) / len(missed) ** 2
    return sum(missed) / len(missed), math.sqrt(variance)


def on_graph(graph: rb.RainbowGraph, promise: rb.DP, start: Maker | None) -> float | None:
    """The mean error of lifted proximity from permute-and-flip, or of the fixed point."""
    try:
        if start is None:
            made = fixed_point(graph, promise)
        else:
            poll = question(len(graph.answers))
            flipped = start(poll, promise)
            chances = {
                d: flipped[dict(zip(poll.answers, d, strict=True))][graph.rainbow(d)[0]]
                for d in graph.boundary
            }
            made = lifted(graph, promise, chances)
    except rb.InvalidGuarantee:
        return None
    return 1 - math.fsum(made[d][graph.rainbow(d)[0]] for d in graph.datasets) / len(graph)


def timed(work: Callable[[], float]) -> tuple[float, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def shown(value: float | None) -> str:
    return "not valid" if value is None else f"{100 * value:.2f}"


def table(cases: tuple[tuple[int, int, str], ...], makers: dict[str, Maker], delta: str) -> None:
    drawn = delta == "0"
    heads = [*makers, *(["OpenDP noisy max, drawn"] if drawn else [])]
    heads += ["lifted (a)", "fixed point (b)", "LP", "LP [s]", "SciPy [s]"]
    print(f"| q, n, ε | {' | '.join(heads)} |")
    print(f"| --- |{' --- |' * len(heads)}")
    for answers, records, epsilon in cases:
        promise = rb.DP(epsilon, delta)
        cells = [shown(error(maker, answers, records, promise)) for maker in makers.values()]
        if drawn:
            mean, deviation = opendp_error(answers, records, promise)
            cells.append(f"{100 * mean:.2f} ± {100 * deviation:.2f}")
        graph = graph_of_histograms(answers, records)
        cells += [shown(on_graph(graph, promise, s)) for s in (permute_and_flip, None)]
        found, taken = timed(lambda g=graph, p=promise: 1 - program(g, p).objective / len(g))  # type: ignore[misc]
        again, slow = timed(lambda g=graph, p=promise: least_error(g, p))  # type: ignore[misc]
        if abs(found - again) > 1e-6:
            raise SystemExit(f"rb.program has {found:.8f} and SciPy {again:.8f}")
        cells += [shown(found), f"{taken:.1f}", f"{slow:.1f}"]
        print(f"| {answers}, {records}, {epsilon} | {' | '.join(cells)} |", flush=True)


def ties_table(cases: tuple[tuple[int, int, str], ...]) -> None:
    """Both ways to count a tie, both neighbor relations."""
    makers: dict[str, Maker] = {"best": rb.best, "permute-and-flip": permute_and_flip}
    print("| q, n, ε | one record | best, first listed | permute-and-flip, first listed ", end="")
    print("| best, any leader | permute-and-flip, any leader |\n| --- | --- |" + " --- |" * 4)
    for answers, records, epsilon in cases:
        for neighbors in Neighbors:
            cells = []
            for ties in Ties:
                poll = rb.Winner(question(answers).answers, ties=ties, neighbors=neighbors)
                found = compare(poll, rb.DP(epsilon), makers, records=records)
                cells += [shown(found[name].mean_error) for name in makers]
            line = " | ".join(cells)
            print(f"| {answers}, {records}, {epsilon} | {neighbors} | {line} |", flush=True)


ELECTIONS = {
    "House of Delegates, Virginia 94th, 2017": (11_608, 11_608, 675),
    "US Senate, New Hampshire, 1974": (110_926, 110_924, 1_787),
    "US President, Florida, 2000": (2_912_790, 2_912_253, 97_488),
}


def large_table() -> None:
    """Many records: all histograms while they can be listed, then close elections as they were."""
    print(
        "| q, n, ε, ties | table | permute-and-flip | exponential | ε of permute-and-flip | table |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    makers: dict[str, Maker] = {
        "table": table_of, "flip": permute_and_flip, "exponential": exponential
    }  # fmt: skip
    for answers, records in ((3, 36), (3, 100), (3, 300), (4, 36)):
        for epsilon, ties in itertools.product(("0.3", "1", "2"), Ties):
            names = question(answers).answers
            poll = rb.Winner(names, ties=ties)
            found = compare(poll, rb.DP(epsilon), makers, records=records)
            cells = [shown(found[name].mean_error) for name in makers]
            match = found["flip"].epsilon_to_match or math.nan
            saved = 1 - found["table"].mean_error / found["flip"].mean_error
            line = " | ".join([*cells, f"{match:.3g}", f"{-100 * saved:+.1f} %"])
            print(f"| {answers}, {records}, {epsilon}, {ties} | {line} |", flush=True)
    print("\n| election, ε | table | permute-and-flip | exponential |\n| --- | --- | --- | --- |")
    for (name, counts), epsilon in itertools.product(ELECTIONS.items(), ("0.05", "0.1", "1")):
        poll = rb.Winner(["a", "b", "c"], ties="any leader")
        votes = dict(zip(poll.answers, counts, strict=True))
        leaders = [a for a in poll.answers if votes[a] == max(counts)]
        chances = [
            1 - sum(maker(poll, rb.DP(epsilon))[votes][leader] for leader in leaders)
            for maker in makers.values()
        ]
        print(
            f"| {name}, {epsilon} | {' | '.join(f'{100 * c:.4g}' for c in chances)} |", flush=True
        )


def more_table() -> None:
    """Five and six answers: the margin table beside the least error, by a program of SciPy's."""
    print("| q, n, ε | permute-and-flip | table | LP | table above LP |\n|" + " --- |" * 5)
    for answers, records, epsilon in MORE:
        promise = rb.DP(epsilon)
        ours, flipped = (
            error(maker, answers, records, promise) for maker in (table_of, permute_and_flip)
        )
        least = least_error(graph_of_histograms(answers, records), promise)
        assert ours is not None
        cells = (
            f"{shown(flipped)} | {shown(ours)} | {shown(least)} | {100 * (ours / least - 1):.1f} %"
        )
        print(f"| {answers}, {records}, {epsilon} | {cells} |", flush=True)


def many_table() -> None:
    """More than six answers: all histograms of few records with the LP, then drawn votes."""
    makers: dict[str, Maker] = {
        "exponential": exponential, "theirs": permute_and_flip, "plain": homogeneous,
        "best": rb.best,
    }  # fmt: skip
    print("| q, n, ε | exponential | permute-and-flip by counts | homogeneous ", end="")
    print("| `rb.best` | which is | LP |\n|" + " --- |" * 7)
    rng = np.random.default_rng(1)
    for (answers, records), epsilon in itertools.product(MANY, ("0.1", "0.5", "1", "2")):
        poll, promise = question(answers), rb.DP(epsilon)
        few = records < answers
        if few:
            found = compare(poll, promise, makers, records=records)
            least = shown(least_error(graph_of_histograms(answers, records), promise))
        else:
            votes = [dict(zip(poll.answers, drawn_vote(rng, answers, records), strict=True))
                     for _ in range(1000)]  # fmt: skip
            found, least = compare(poll, promise, makers, datasets=votes), "–"
        cells = [shown(found[name].mean_error) for name in makers]
        line = " | ".join([*cells, found["best"].mechanism, least])
        print(f"| {answers}, {records}, {epsilon} | {line} |", flush=True)


def drawn_vote(rng: np.random.Generator, answers: int, records: int) -> list[int]:
    """A vote, each as likely as any other of so many records."""
    bars = np.sort(rng.choice(records + answers - 1, answers - 1, replace=False))
    ends = np.concatenate([[-1], bars, [records + answers - 1]])
    return [int(n) for n in np.diff(ends) - 1]


SECTIONS: dict[str, tuple[str, Callable[[], None]]] = {
    "pure": ("One record substituted, ties to the first", lambda: table(CASES, MAKERS, "0")),
    "delta": (f"With δ = {DELTA}", lambda: table(CASES, MAKERS_WITH_DELTA, DELTA)),
    "more": ("Five and six answers", more_table),
    "many": ("More than six answers, one record substituted", many_table),
    "large": ("Many records, one substituted", large_table),
    "ties": ("Both ways to see a tie", lambda: ties_table(((2, 31, "1"), *CASES))),
}


def main() -> None:
    """All sections, or those named on the command line."""
    print(f"Mean error in %; {platform.machine()}")
    for name in sys.argv[1:] or SECTIONS:
        title, section = SECTIONS[name]
        print(f"\n{title}:\n")
        section()


if __name__ == "__main__":
    main()

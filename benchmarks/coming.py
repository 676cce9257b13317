"""How often the true answer is missed where a record may come or go, beside the best there can be.

Then the number of records is private too, and a mechanism meets votes of every size. Mean error in
percent, ties to the first listed. Prints Markdown. Sections may be named on the command line.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import rainbowdp as rb
from kinds import margin_table as table_of
from kinds import permute_and_flip as flip
from rainbowdp.baselines import permute_and_flip
from rainbowdp.mechanisms.unrestricted.program import program
from rainbowdp.numeric.linear_programs import LinearProgram, Solver
from rainbowdp.questions.histograms import histograms
from utility import Counts, graph_of, question, shown

ROWS = (
    (3, 20, "0.1"), (3, 20, "0.3"), (3, 20, "1"), (3, 20, "2"),
    (3, 36, "0.05"), (3, 36, "0.08"), (3, 36, "0.1"), (3, 36, "0.3"), (3, 36, "1"), (3, 36, "2"),
    (4, 12, "0.3"), (4, 12, "1"), (4, 12, "1.5"), (5, 8, "0.3"), (5, 8, "1"), (5, 8, "2"),
    (6, 6, "0.3"), (6, 6, "1"), (6, 6, "2"),
)  # fmt: skip
AT_ONCE = ((5, 8, "1"), (5, 8, "2"), (6, 6, "1"), (6, 6, "2"))
NOWHERE_BELOW = (
    *(("standings", 3, 36, epsilon) for epsilon in ("0.05", "0.08", "0.1")),
    *(("every vote", 3, 36, epsilon) for epsilon in ("0.05", "0.08", "0.1")),
    ("exactly n", 4, 12, "0.3"),
)
# sizes to be near the best for, and sizes on which to be no worse than permute-and-flip
IN_THE_MEAN: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((36, 54, 72, 100), ()), ((36, 54, 72), (100, 144)),
)  # fmt: skip
ALONE = ((3, 20, "0.3"), (4, 12, "0.3"), (6, 6, "2"))


def up_to() -> None:
    """All votes of at most n records, each number of records alike."""
    on_votes_up_to({row: votes_up_to(*row[:2]) for row in ROWS})


def every_vote() -> None:
    """All votes of at most n records, each vote alike."""
    every = {row: votes_up_to(*row[:2]) for row in ROWS}
    on_votes_up_to({row: dict.fromkeys(votes, 1 / len(votes)) for row, votes in every.items()})


def on_votes_up_to(weighed: Mapping[tuple[int, int, str], Mapping[Counts, float]]) -> None:
    print("| q, n, ε | permute-and-flip | table | LP | table above LP |\n|" + " --- |" * 5)
    for (answers, records, epsilon), weights in weighed.items():
        promise = rb.DP(epsilon)
        least, _ = best_of(graph_of(answers, weights, added), promise, weights)
        print(
            f"| {answers}, {records}, {epsilon} | {beside(weights, promise, least)} |", flush=True
        )


def in_a_row() -> None:
    """Votes of q sizes in a row; those that differ by as many records for every answer are one."""
    print("| q, records, ε | permute-and-flip | table | LP | table above LP |\n|" + " --- |" * 5)
    for answers, records, epsilon in ROWS:
        weights, promise = standings(answers, records), rb.DP(epsilon)
        graph = graph_of(answers, weights, folded)
        least, _ = best_of(graph, promise, weights)
        sizes = sizes_around(answers, records)
        line = beside(weights, promise, least)
        print(f"| {answers}, {sizes[0]} to {sizes[-1]}, {epsilon} | {line} |", flush=True)


def alone() -> None:
    """Beside the best for each number of records: the best for one, the best for all, and ours."""
    print("| q, n, ε | above the best for each | n − 1 records | n | n + 1 |\n|" + " --- |" * 5)
    for answers, records, epsilon in ALONE:
        promise = rb.DP(epsilon)
        sizes = range(records - 1, records + 2)
        every = {row: 0.0 for n in range(records - 2, records + 3) for row in votes_of(answers, n)}
        graph = graph_of(answers, every, added)
        alike = {
            n: dict.fromkeys(votes_of(answers, n), 1 / len(votes_of(answers, n))) for n in sizes
        }
        least = {n: best_of(graph, promise, every | alike[n])[0] for n in sizes}
        favored = {n: 1.0 if n == records else 1e-3 for n in sizes}  # among the best for n
        _, ours = makers(answers, promise)
        found = {"the best for n": favored, "the best for all three": dict.fromkeys(sizes, 1.0)}
        errors = {"table": {row: wrong_at(ours, row) for row in every}}
        for name, counted in found.items():
            weights = every | {
                row: counted[n] * weight / least[n]
                for n in sizes
                for row, weight in alike[n].items()
            }
            errors[name] = best_of(graph, promise, weights)[1]
        for name in (*found, "table"):
            above = [
                sum(w * errors[name][row] for row, w in alike[n].items()) / least[n] for n in sizes
            ]
            cells = " | ".join(f"{100 * (one - 1):.1f} %" for one in above)
            print(f"| {answers}, {records}, {epsilon} | {name} | {cells} |", flush=True)


def at_once() -> None:
    """All votes of at most n records alike: as near as can be to the best for three n at once."""
    print("| q, n, ε | any mechanism is above one of them by | table, n − 1 | n | n + 1 |")
    print("|" + " --- |" * 5)
    for answers, records, epsilon in AT_ONCE:
        promise = rb.DP(epsilon)
        domains = [votes_up_to(answers, n) for n in range(records - 1, records + 2)]
        aims = [dict.fromkeys(votes, 1 / len(votes)) for votes in domains]
        least = [best_of(graph_of(answers, aim, added), promise, aim)[0] for aim in aims]
        _, ours = makers(answers, promise)
        cells = [f"{100 * least_excess(aims, least, added, promise):.1f} %"]
        for aim, bound in zip(aims, least, strict=True):
            mean = sum(weight * wrong_at(ours, row) for row, weight in aim.items())
            cells.append(f"{100 * (mean / bound - 1):.1f} %")
        print(f"| {answers}, {records}, {epsilon} | {' | '.join(cells)} |", flush=True)


def nowhere_below() -> None:
    """How far any mechanism is above the best that is nowhere below permute-and-flip (ours)."""
    print("| votes | q, n, ε | above |\n|" + " --- |" * 3)
    for name, answers, records, epsilon in NOWHERE_BELOW:
        promise = rb.DP(epsilon)
        joined = folded if name == "standings" else added
        if name == "standings":
            aim = standings(answers, records)
        elif name == "every vote":
            votes = votes_up_to(answers, records)
            aim = dict.fromkeys(votes, 1 / len(votes))
        else:
            near = range(records - 4, records + 5)
            aim = {row: 0.0 for n in near for row in votes_of(answers, n)}
            votes_here = votes_of(answers, records)
            aim |= dict.fromkeys(votes_here, 1 / len(votes_here))
        least, _ = best_of(graph_of(answers, aim, joined), promise, aim)
        floor = flip(question(answers, "added or removed"), promise)
        excess = least_excess([aim], [least], joined, promise, floor=floor)
        print(f"| {name} | {answers}, {records}, {epsilon} | {100 * excess:.1f} % |", flush=True)


def in_the_mean() -> None:
    """Standings of three answers, ε = 0.05: near the best, and no worse than permute-and-flip."""
    promise = rb.DP("0.05")
    by_counts, _ = makers(3, promise)
    print("| near the best for | no worse in the mean on | above |\n|" + " --- |" * 3)
    for sizes, limits in IN_THE_MEAN:
        aims = [standings(3, n) for n in sizes]
        least = [best_of(graph_of(3, aim, folded), promise, aim)[0] for aim in aims]
        held = [
            (votes, sum(weight * wrong_at(by_counts, row) for row, weight in votes.items()))
            for votes in (standings(3, n) for n in limits)
        ]
        excess = least_excess(aims, least, folded, promise, held)
        cells = [", ".join(map(str, some)) or "–" for some in (sizes, limits)]
        print(f"| {cells[0]} | {cells[1]} | {100 * excess:.1f} % |", flush=True)


def least_excess(
    aims: Sequence[Mapping[Counts, float]],
    least: Sequence[float],
    joined: Callable[[Counts], Iterable[Counts]],
    promise: rb.DP,
    held: Sequence[tuple[Mapping[Counts, float], float]] = (),
    floor: Any = None,
) -> float:
    """The least t with a mean error of at most (1 + t)·least on each aim, for any mechanism.

    It must not err more on ``held`` than is said there, nor be right less often than ``floor``.
    """
    votes = sorted(set().union(*aims, *(weights for weights, _ in held)))
    place = {row: number for number, row in enumerate(votes)}
    size, q = len(votes), len(votes[0])
    pairs = np.array([(place[a], place[b]) for a in votes for b in joined(a) if b in place])
    here, there = ((pairs[:, [end]] * q + np.arange(q)).ravel() for end in (0, 1))
    number, ones = np.arange(len(here)), np.ones(len(here))
    close = [
        sparse.csr_array(
            (np.r_[ones, -promise.ratio * ones], (np.r_[number, number], np.r_[a, b])),
            shape=(len(here), size * q + 1),
        )
        for a, b in ((here, there), (there, here))
    ]
    right = np.array([place[row] * q + row.index(max(row)) for row in votes])
    means = np.zeros((len(aims) + len(held), size * q + 1))
    wanted = []
    for line, weights in zip(means, [*aims, *(weights for weights, _ in held)], strict=True):
        for row, weight in weights.items():
            line[right[place[row]]] += weight
        wanted.append(sum(weights.values()))
    means[: len(aims), -1] = least
    sums = sparse.csr_array(
        (np.ones(size * q), (np.repeat(np.arange(size), q), np.arange(size * q))),
        shape=(size, size * q + 1),
    )
    allowed = [*least, *(most for _, most in held)]
    lower = np.zeros(size * q + 1)
    if floor is not None:
        lower[right] = [1 - wrong_at(floor, row) - 1e-9 for row in votes]
    linear = LinearProgram(
        sparse.vstack([sums, *close, sparse.csr_array(means)], format="csr"),
        np.r_[np.ones(size), np.full(2 * len(here), -np.inf), np.array(wanted) - allowed],
        np.r_[np.ones(size), np.zeros(2 * len(here)), np.full(len(means), np.inf)],
        lower,
        np.ones(size * q + 1),
    )
    cost = np.zeros(size * q + 1)
    cost[-1] = -1
    return -Solver(linear).maximize(cost).bound


def best_of(
    graph: rb.RainbowGraph, promise: rb.DP, weights: Mapping[Counts, float]
) -> tuple[float, dict[Counts, float]]:
    """The least mean error of any mechanism, and the error at each vote of one that has it."""
    right = {row: graph.rainbow(row)[0] for row in weights}
    utility = rb.Utility(lambda row, answer: weights[row] if answer == right[row] else 0.0)
    found = program(graph, promise, utility=utility)
    errors = {row: 1 - float(found.mechanism[row][answer]) for row, answer in right.items()}
    return sum(weights.values()) - found.bound, errors


def votes_up_to(answers: int, records: int) -> dict[Counts, float]:
    """What each vote counts; the empty one is a neighbor only."""
    weights = {(0,) * answers: 0.0}
    for size in range(1, records + 1):
        votes = votes_of(answers, size)
        weights |= dict.fromkeys(votes, 1 / (records * len(votes)))
    return weights


def votes_of(answers: int, records: int) -> list[Counts]:
    return [tuple(row) for row in histograms(question(answers), records).tolist()]


def sizes_around(answers: int, records: int) -> range:
    """Q sizes in a row, since gaps tell the number of records modulo q."""
    return range(records - (answers - 1) // 2, records + answers // 2 + 1)


def standings(answers: int, records: int) -> dict[Counts, float]:
    """The votes of q sizes in a row by their standings; what they count sums to 1."""
    weights: dict[Counts, float] = defaultdict(float)
    for size in sizes_around(answers, records):
        votes = votes_of(answers, size)
        for row in votes:
            weights[without_base(row)] += 1 / (answers * len(votes))
    return weights


def added(row: Counts) -> Iterator[Counts]:
    for i in range(len(row)):
        yield tuple(n + (v == i) for v, n in enumerate(row))


def folded(row: Counts) -> Iterator[Counts]:
    """Neighbors among standings."""
    return map(without_base, added(row))


def without_base(row: Counts) -> Counts:
    """Less as many records for every answer as all of them have."""
    return tuple(n - min(row) for n in row)


def makers(answers: int, promise: rb.DP) -> tuple[Any, Any]:
    poll = question(answers, "added or removed")
    return permute_and_flip(poll, promise), table_of(poll, promise)


def beside(weights: Mapping[Counts, float], promise: rb.DP, least: float) -> str:
    """The cells of a row: permute-and-flip, the table, the least there can be."""
    answers = len(next(iter(weights)))
    flipped, ours = (
        sum(weight * wrong_at(made, row) for row, weight in weights.items())
        for made in makers(answers, promise)
    )
    return " | ".join([*map(shown, (flipped, ours, least)), f"{100 * (ours / least - 1):.1f} %"])


def wrong_at(made: Any, row: Counts) -> float:
    names = question(len(row)).answers
    return 1 - float(made[dict(zip(names, row, strict=True))][names[row.index(max(row))]])


SECTIONS = {
    "up to": up_to,
    "every vote": every_vote,
    "in a row": in_a_row,
    "alone": alone,
    "at once": at_once,
    "nowhere below": nowhere_below,
    "in the mean": in_the_mean,
}


def main(names: Iterable[str]) -> None:
    for name in names:
        section = SECTIONS[name]
        print(f"\n{section.__doc__}\n")
        section()


if __name__ == "__main__":
    main(sys.argv[1:] or SECTIONS)

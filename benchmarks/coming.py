"""How often the true answer is missed where a record may come or go, beside the best there can be.

Then the number of records is private too, and a mechanism meets votes of every size. Votes that
differ by as many records for every answer count as one, as docs/true-answer.md explains. Mean error
in percent, ties to the first listed. Prints Markdown. Sections may be named on the command line.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import rainbowdp as rb
from rainbowdp.answering import table as table_of
from rainbowdp.baselines import permute_and_flip
from rainbowdp.baselines.histograms import histograms
from utility import Counts, graph_of, least_error, question, shown

ROWS = (
    (3, 20, "0.1"), (3, 20, "0.3"), (3, 20, "1"), (3, 20, "2"),
    (3, 36, "0.05"), (3, 36, "0.1"), (3, 36, "0.3"), (3, 36, "1"), (3, 36, "2"),
    (4, 12, "0.3"), (4, 12, "1"), (4, 12, "1.5"), (6, 6, "0.3"), (6, 6, "1"), (6, 6, "2"),
)  # fmt: skip
ALONE = ((3, 20, "0.3"), (4, 12, "0.3"), (6, 6, "2"))
TOGETHER = (18, 36, 72)


def in_a_row() -> None:
    """Votes of q sizes in a row, each size alike, by their standings."""
    print("| q, records, ε | permute-and-flip | table | LP | table above LP |\n|" + " --- |" * 5)
    for answers, records, epsilon in ROWS:
        weights, promise = standings(answers, records), rb.DP(epsilon)
        least, _ = least_of_standings(weights, promise)
        flipped, ours = (mean(weights, made) for made in makers(answers, promise))
        above = f"{100 * (ours / least - 1):.1f} %"
        sizes = sizes_around(answers, records)
        line = " | ".join([*map(shown, (flipped, ours, least)), above])
        print(f"| {answers}, {sizes[0]} to {sizes[-1]}, {epsilon} | {line} |", flush=True)


def alone() -> None:
    """The best for exactly n records, and what it costs those with one more or fewer."""
    print("| q, n, ε | error of | n − 1 records | n | n + 1 |\n| --- | --- | --- | --- | --- |")
    for answers, records, epsilon in ALONE:
        promise = rb.DP(epsilon)
        by_size = [votes_of(answers, size) for size in range(records - 1, records + 2)]
        weights = {  # among the best for n what is good for the others
            row: (1 if sum(row) == records else 1e-3) / len(votes)
            for votes in by_size
            for row in votes
        }
        _, errors = least_error(graph_of(answers, weights, added), promise, weights)
        _, ours = makers(answers, promise)
        at = {row: wrong_at(ours, row) for row in weights}
        for name, error in (("the best for n", errors), ("table", at)):
            means = [sum(error[row] for row in votes) / len(votes) for votes in by_size]
            cells = " | ".join(map(shown, means))
            print(f"| {answers}, {records}, {epsilon} | {name} | {cells} |", flush=True)


def together() -> None:
    """How much more than the best for each size alone: the best for all these sizes, and ours."""
    sizes = " | ".join(f"{size} records" for size in TOGETHER)
    print(f"| q, ε | above the best for each size | {sizes} | mean |\n|" + " --- |" * 6)
    for epsilon in ("0.05", "0.1", "0.3"):
        promise = rb.DP(epsilon)
        parts = [standings(3, size) for size in TOGETHER]
        least = [least_of_standings(part, promise)[0] for part in parts]
        weights: dict[Counts, float] = defaultdict(float)
        for part, best in zip(parts, least, strict=True):
            for row, weight in part.items():
                weights[row] += weight / best
        _, errors = least_of_standings(weights, promise)
        _, ours = makers(3, promise)
        at = {row: wrong_at(ours, row) for row in weights}
        for name, error in (("the best for all", errors), ("table", at)):
            above = [
                sum(weight * error[row] for row, weight in part.items()) / best - 1
                for part, best in zip(parts, least, strict=True)
            ]
            cells = " | ".join(f"{100 * one:.1f} %" for one in [*above, sum(above) / len(above)])
            print(f"| 3, {epsilon} | {name} | {cells} |", flush=True)


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


def least_of_standings(
    weights: Mapping[Counts, float], promise: rb.DP
) -> tuple[float, dict[Counts, float]]:
    answers = len(next(iter(weights)))
    graph = graph_of(answers, weights, lambda row: map(without_base, added(row)))
    return least_error(graph, promise, weights)


def added(row: Counts) -> Iterator[Counts]:
    for i in range(len(row)):
        yield tuple(n + (v == i) for v, n in enumerate(row))


def without_base(row: Counts) -> Counts:
    """Less as many records for every answer as all of them have."""
    return tuple(n - min(row) for n in row)


def makers(answers: int, promise: rb.DP) -> tuple[Any, Any]:
    poll = question(answers, "added or removed")
    return permute_and_flip(poll, promise), table_of(poll, promise)


def mean(weights: Mapping[Counts, float], made: Any) -> float:
    return sum(weight * wrong_at(made, row) for row, weight in weights.items())


def wrong_at(made: Any, row: Counts) -> float:
    names = question(len(row)).answers
    return 1 - float(made[dict(zip(names, row, strict=True))][names[row.index(max(row))]])


SECTIONS = {"in a row": in_a_row, "alone": alone, "together": together}


def main(names: Iterable[str]) -> None:
    for name in names:
        section = SECTIONS[name]
        print(f"\n{section.__doc__}\n")
        section()


if __name__ == "__main__":
    main(sys.argv[1:] or SECTIONS)

"""One question in nine groups, at one price: all nine right, beside a noisy histogram.

944 people of the American National Election Study 1996 in nine age groups: in each, whom most voted
for (two answers), and to which of seven parties most feel close. Ours is exact, by the rows; the
histograms are drawn from the real libraries at the same total: OpenDP's discrete Laplace noise on
all cells, and diffprivlib's geometric noise. Then the time of one scan for 1,000 groups and 10
answers, beside DuckDB's own GROUP BY. Prints Markdown; the tables in docs/groups.md come from here.
"""

from __future__ import annotations

import argparse
import csv
import math
import platform
import tempfile
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import opendp.prelude as opendp
from diffprivlib.mechanisms import GeometricFolded

import rainbowdp as rb
from rainbowdp.tables import count_groups

opendp.enable_features("contrib")

SURVEY = Path(__file__).parents[1] / "examples" / "data" / "election.csv"
EDGES = (27, 32, 36, 40, 45, 52, 61, 70)  # nine groups of about a hundred people
GROUPS = [str(number) for number in range(len(EDGES) + 1)]
DRAWS = 4_000
EPSILONS = ("0.3", "0.5", "1", "2")


def survey(column: str) -> tuple[list[str], np.ndarray[Any, np.dtype[np.int64]]]:
    """The answers, and how many people of each group gave each."""
    with SURVEY.open() as file:
        people = list(csv.DictReader(file))
    found = Counter((sum(float(p["age"]) >= e for e in EDGES), p[column]) for p in people)
    answers = sorted({p[column] for p in people})
    return answers, np.array([[found[g, a] for a in answers] for g in range(len(GROUPS))])


def all_right(rows: dict[str, dict[Any, float]], counts: Any, answers: list[str]) -> float:
    return math.prod(
        rows[group][answers[int(np.argmax(row))]] for group, row in zip(GROUPS, counts, strict=True)
    )


def ours(
    counts: Any, answers: list[str], relation: str, epsilon: str, *, public: bool = False
) -> tuple[str, float]:
    question = rb.Grouped(rb.Winner(answers, neighbors=relation), None, GROUPS, public=public)
    mechanism = rb.best(question, rb.DP(epsilon))
    table = {
        group: dict(zip(answers, map(int, row), strict=True))
        for group, row in zip(GROUPS, counts, strict=True)
    }
    return mechanism.name, all_right(mechanism[table], counts, answers)


def nine_times(counts: Any, answers: list[str], relation: str, epsilon: str) -> float:
    """Nine questions of their own, each for a ninth of the budget."""
    mechanism = rb.best(
        rb.Winner(answers, neighbors=relation), rb.DP(Fraction(epsilon) / len(GROUPS))
    )
    rows = {
        group: mechanism[dict(zip(answers, map(int, row), strict=True))]
        for group, row in zip(GROUPS, counts, strict=True)
    }
    return all_right(rows, counts, answers)


def drawn(noisy: Any, counts: Any) -> float:
    """How often all groups are right; the first of those that lead is the answer."""
    right = noisy.argmax(axis=2) == counts.argmax(axis=1)
    return float(right.all(axis=1).mean())


def with_opendp(counts: Any, scale: float) -> float:
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l1_distance(T="i64")
    noise = opendp.m.make_laplace(*space, scale=scale)
    flat = np.tile(counts.ravel(), 200).tolist()
    batches = [np.array(noise(flat)).reshape(200, *counts.shape) for _ in range(DRAWS // 200)]
    return drawn(np.concatenate(batches), counts)


def with_diffprivlib(counts: Any, epsilon: float, sensitivity: int) -> float:
    dice = GeometricFolded(
        epsilon=epsilon, sensitivity=sensitivity, lower=0, upper=10_000, random_state=1
    )
    flat, draws = counts.ravel().tolist(), 500
    noisy = np.array([[dice.randomise(int(n)) for n in flat] for _ in range(draws)])
    return drawn(noisy.reshape(draws, *counts.shape), counts)


def utility() -> None:
    for column in ("vote", "party"):
        answers, counts = survey(column)
        print(f"\n### {column}: {len(answers)} answers, {len(GROUPS)} groups of {counts.sum()}\n")
        print("| one change | ε | **ours** | kind | groups public | nine questions | OpenDP "
              "histogram | diffprivlib histogram |")  # fmt: skip
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for relation in ("added or removed", "substituted"):
            moved = 1 if relation == "added or removed" else 2
            for epsilon in EPSILONS:
                kind, chance = ours(counts, answers, relation, epsilon)
                _, public = ours(counts, answers, relation, epsilon, public=True)
                separate = nine_times(counts, answers, relation, epsilon)
                laplace = with_opendp(counts, moved / float(epsilon))
                geometric = with_diffprivlib(counts, float(epsilon), moved)
                cells = [chance, public, separate, laplace, geometric]
                a, b, c, d, e = (f"{100 * cell:.1f} %" for cell in cells)
                print(f"| {relation} | {epsilon} | **{a}** | {kind} | {b} | {c} | {d} | {e} |")


def speed(rows: int) -> None:
    groups, options = 1000, 10
    question = rb.Grouped(
        rb.Winner([f"option {i}" for i in range(options)], "c"),
        "d",
        [f"district {i}" for i in range(groups)],
    )
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/t.parquet"
        connection = duckdb.connect()
        connection.execute(
            f"COPY (SELECT 'district ' || (hash(i) % {groups}) AS d, "  # noqa: S608
            f"'option ' || (hash(i + 7) % {options}) AS c FROM range({rows}) t(i)) "
            f"TO '{path}' (FORMAT parquet)"
        )
        times: dict[str, list[float]] = {"duckdb": [], "ours": []}
        for _ in range(3):
            start = time.perf_counter()
            connection.execute(f"SELECT d, c, count(*) FROM '{path}' GROUP BY d, c").fetchall()  # noqa: S608
            times["duckdb"].append(time.perf_counter() - start)
            start = time.perf_counter()
            found = count_groups(path, question)
            times["ours"].append(time.perf_counter() - start)
            assert sum(sum(each.values()) for each in found.values()) == rows
    theirs, mine = min(times["duckdb"]), min(times["ours"])
    print(f"\n{rows:,} rows, {groups:,} groups x {options} answers, the least of three: "
          f"DuckDB {theirs:.2f} s, ours {mine:.2f} s, ratio {mine / theirs:.2f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    options = parser.parse_args()
    print(f"{time.strftime('%Y-%m-%d')}, {platform.machine()}, Python {platform.python_version()}")
    utility()
    speed(options.rows)


if __name__ == "__main__":
    main()

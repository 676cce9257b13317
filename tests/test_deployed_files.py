"""Every edge of random graphs, from the written files alone: no code of the package reads them.

Rows are found by the formulas of docs/format.md, e^ε is a truncated series, and all sets of
answers are compared, in fractions.
"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp import deployment
from rainbowdp.mechanisms import best_on_graphs
from strategies import deep_graphs, graphs

KINDS = ["best", *deployment.DEPLOYED]
COIN = 1 << 127


def exp_below(exponent: Fraction) -> Fraction:
    """Not above e^exponent: its series has positive terms only."""
    term, total = Fraction(1), Fraction(1)
    for number in range(1, 60):
        term = term * exponent / number
        total += term
    return total


def falling(top: int, ratio: Fraction, distance: int) -> int:
    least = -(-ratio.denominator // (ratio.denominator - ratio.numerator))
    return int((top - least) * ratio**distance) + least if distance < 89 * least else least


def drawn_from_heads(coins: list[Fraction]) -> list[Fraction]:
    """Flip all coins, and take one of the heads."""
    row = [Fraction(0)] * len(coins)
    for heads in itertools.product((True, False), repeat=len(coins)):
        chance = Fraction(1)
        for head, coin in zip(heads, coins, strict=True):
            chance *= coin if head else 1 - coin
        for place in itertools.compress(range(len(coins)), heads):
            row[place] += chance / sum(heads)
    return row


def row_of(file: dict[str, Any], key: dict[str, Any]) -> list[Fraction]:
    """The row of a node in the mechanism file."""
    answers, rule = file["answers"], file["rule"]
    if rule == "homogeneous":
        [region] = [r for r in file["regions"] if _text(r["label"]) == str(key["region"])]
        if key["depth"] is None:
            return [Fraction(answer == region["certain"]) for answer in answers]
        weights = [int(w) for w in region["rows"][min(key["depth"], len(region["rows"]) - 1)]]
        return [Fraction(w, sum(weights)) for w in weights]
    margins = [key[f"margin {answer}"] for answer in answers]
    assert margins.count(0) == 1
    true = margins.index(0)
    if rule == "proximity":
        steps, total = [int(w) for w in file["steps"]], int(file["total"])
        weights = [steps[min(m, len(steps)) - 1] if m else 0 for m in margins]
        weights[true] = total - sum(weights)
        return [Fraction(w, total) for w in weights]
    depth = min(margin for margin in margins if margin)
    behind = [margin + depth - 1 if margin else 0 for margin in margins]
    if rule == "exponential":
        ratio = Fraction(file["weights"]["ratio"])
        weights = [falling(COIN, ratio, far) for far in behind]
        return [Fraction(w, sum(weights)) for w in weights]
    assert rule == "margin-flip"
    first, ratio = int(file["coins"]["first"]), Fraction(file["coins"]["ratio"])
    chances = [falling(first, ratio, far - 1) if far else COIN for far in behind]
    return drawn_from_heads([Fraction(chance, COIN) for chance in chances])


def _text(label: Any) -> str:
    return str(tuple(label)) if isinstance(label, list) else str(label)


def broken_edges(path: Path, edges: list[tuple[Any, Any, int]]) -> list[tuple[Any, ...]]:
    """The edges, with their steps, on which a set of answers is too likely."""
    file = json.loads(path.read_text(encoding="utf-8"))
    table = duckdb.execute(f"FROM '{path.with_suffix('.parquet')}'")
    names = [column[0] for column in table.description]
    keys = [dict(zip(names, values, strict=True)) for values in table.fetchall()]
    rows = {key["node"]: row_of(file, key) for key in keys}
    assert all(sum(row) == 1 and min(row) >= 0 for row in rows.values())
    ratio, delta = exp_below(Fraction(file["guarantee"]["epsilon"])), file["guarantee"]["delta"]
    found = []
    for one, other, steps in edges:
        slack = sum((ratio**step * Fraction(delta) for step in range(steps)), Fraction(0))
        for a, b in ((one, other), (other, one)):
            for many in range(1, len(rows[a]) + 1):
                for chosen in itertools.combinations(range(len(rows[a])), many):
                    more, less = (sum(rows[node][v] for v in chosen) for node in (a, b))
                    if more > ratio**steps * less + slack:
                        found.append((a, b, steps, chosen, float(more), float(less)))
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    graph=st.one_of(graphs(most=9), deep_graphs(most=9)),
    kind=st.sampled_from(KINDS),
    epsilon=st.sampled_from(["0.1", "1/2", "1", "3"]),
    delta=st.sampled_from(["0", "0", "0.01"]),
    lengths=st.one_of(st.none(), st.lists(st.integers(1, 4), min_size=30, max_size=30)),
    fewest=st.booleans(),
    forbidden=st.booleans(),
)
def test_every_edge_of_what_is_written_keeps_the_promise(
    tmp_path: Path,
    graph: rb.RainbowGraph,
    kind: str,
    epsilon: str,
    delta: str,
    lengths: list[int] | None,
    fewest: bool,
    forbidden: bool,
) -> None:
    pairs = [(int(a), int(b)) for a, b in graph.edge_positions()]
    if lengths is not None and pairs:
        roads = rb.with_lengths(pairs, lengths[: len(pairs)], unit=1)
        orders = {label: region.rainbow for label, region in graph.regions.items()}
        names = list(graph.regions)
        labels = {node: names[number] for node, number in enumerate(graph.region_numbers.tolist())}
        graph = rb.RainbowGraph(roads, orders, graph.answers, labels=labels)
    forbid = graph.answers[:1] if forbidden and len(graph.answers) > 2 else ()
    with pytest.MonkeyPatch.context() as patch:
        if fewest and kind == "fixed-point":  # datasets share rows, as on a large graph
            patch.setattr(best_on_graphs, "_MENDED", 0)
            patch.setattr(deployment, "MOST_OF_ROWS", 6 * len(graph.answers))
        try:
            placed = rb.deploy(graph, rb.DP(epsilon, delta), kind, forbid=forbid)
        except (rb.InvalidGuarantee, rb.InvalidGraph, rb.InvalidMechanism):
            assume(False)
    file = placed.save(tmp_path / "out.json")
    ends = graph.edge_positions().tolist()
    steps = graph.edge_lengths().tolist()
    edges = [
        (graph.datasets[a], graph.datasets[b], n) for (a, b), n in zip(ends, steps, strict=True)
    ]
    assert broken_edges(file, edges) == []
    written = json.loads(file.read_text(encoding="utf-8"))
    assert not set(forbid) & set(written["answers"])


def test_the_checker_sees_a_row_that_leaks(tmp_path: Path) -> None:
    graph = rb.RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    file = rb.deploy(graph, rb.DP(1)).save(tmp_path / "out.json")
    edges = [(0, 1, 1), (1, 2, 1)]
    assert broken_edges(file, edges) == []
    content = json.loads(file.read_text(encoding="utf-8"))
    content["guarantee"]["epsilon"] = "99/100"
    file.write_text(json.dumps(content), encoding="utf-8")
    assert broken_edges(file, edges)

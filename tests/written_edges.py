"""The rows of a graph's nodes, read from the written files by code that shares none of ours.

Rows are found by the formulas of docs/format.md, e^ε is a truncated series, and all sets of
answers are compared, in fractions.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb

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


def broken_edges(
    path: Path, edges: Sequence[tuple[Any, Any, int]], mistaken: Mapping[Any, Any] | None = None
) -> list[tuple[Any, ...]]:
    """The edges, with their steps, on which a set of answers is too likely.

    Nodes that are ``mistaken`` for others have their keys.
    """
    file = json.loads(path.read_text(encoding="utf-8"))
    table = duckdb.execute(f"FROM '{path.with_suffix('.parquet')}'")
    names = [column[0] for column in table.description]
    found_keys = (dict(zip(names, values, strict=True)) for values in table.fetchall())
    keys = {key["node"]: key for key in found_keys}
    rows = {node: row_of(file, keys[(mistaken or {}).get(node, node)]) for node in keys}
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

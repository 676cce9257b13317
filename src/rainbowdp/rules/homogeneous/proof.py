"""Proving ladders: every row is close to the next deeper one, and so are touching first rows.

Where all answers of a question share one ladder (a, b, …, b), every pair of rows is one of a few up
to the order of the answers, which closeness does not depend on: a row and the next deeper one, and
two first rows with their a in different places. Answers with the same two weights count together as
one: n·max(0, P − α·Q) is max(0, n·P − α·n·Q), and a polygon has no corner between equal ratios.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rainbowdp.aliases import Label, Weights
from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.guarantees.closeness import check_rows, demand, promise_of
from rainbowdp.guarantees.guarantee import Guarantee

_REMEMBERED = 1 << 14  # pairs of rows that are not compared twice


def prove_ladders(
    guarantee: Guarantee,
    rows: Mapping[Label, Sequence[Weights]],
    touching: Iterable[tuple[Label, Label]],
) -> Check:
    """The rows of each region, by depth, keep the guarantee, and so do regions that touch."""
    total = check_rows(row for ladder in rows.values() for row in ladder)
    promise = promise_of(guarantee, total)
    pairs = 0
    seen: set[tuple[tuple[int, int], ...]] = set()  # closeness does not care which answer is which
    for one, other, where in _neighbors(rows, touching):
        pairs += 1
        if len(seen) < _REMEMBERED:
            shape = tuple(sorted(zip(one, other, strict=True)))
            if shape in seen:
                continue
            seen.add(shape)
        demand(promise, one, other, where)
    return Check.proved(guarantee, pairs, f"{pairs} pairs of rows with total weight {total}")


def prove_alike(guarantee: Guarantee, answers: int, ladder: Sequence[tuple[int, int]]) -> Check:
    """Pairs (a, b) by depth: the true answer has a, every other b, and any two answers touch."""
    others = answers - 1
    if any(type(other) is not int for _, other in ladder):  # some others become one when multiplied
        raise InvalidMechanism("weights must be integers from 0, got others")
    together = [(first, others * other) for first, other in ladder]
    total = check_rows(together)
    promise = promise_of(guarantee, total)
    for depth, (row, deeper) in enumerate(itertools.pairwise(together)):
        demand(promise, row, deeper, f"every region at depths {depth}, {depth + 1}")
    first, other = ladder[0]
    rest = (others - 1) * other
    demand(promise, (first, other, rest), (other, first, rest), "every two regions")
    pairs = answers * (len(ladder) - 1) + answers * others // 2
    return Check.proved(guarantee, pairs, f"{pairs} pairs of rows with total weight {total}")


def _neighbors(
    rows: Mapping[Label, Sequence[Weights]], touching: Iterable[tuple[Label, Label]]
) -> Iterator[tuple[Weights, Weights, str]]:
    """Every two rows that may stand on neighbors, and where that is, in words."""
    for label, ladder in rows.items():
        for depth, (row, deeper) in enumerate(itertools.pairwise(ladder)):
            yield row, deeper, f"region {label!r} at depths {depth}, {depth + 1}"
    for first, second in touching:
        yield rows[first][0], rows[second][0], f"regions {first!r} and {second!r}"

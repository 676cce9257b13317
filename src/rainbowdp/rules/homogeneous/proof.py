"""Proving ladders: every row is close to the next deeper one, and so are touching first rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rainbowdp.aliases import Label, Weights
from rainbowdp.exact.check import Check
from rainbowdp.guarantees.closeness import check_rows, demand, promise_of
from rainbowdp.guarantees.dp import Guarantee


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
        shape = tuple(sorted(zip(one, other, strict=True)))
        if shape not in seen:
            demand(promise, one, other, where)
            seen.add(shape)
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

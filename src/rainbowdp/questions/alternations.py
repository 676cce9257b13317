"""How many records must change before several quantiles lie in given bins, for many tuples at once.

A tuple asks that enough records lie in or below the bin of each quantile (a *rise*), and few enough
below it (a *fall*). What a rise and a fall at a later edge ask for adds up, since a record that
leaves the bins between them serves one or the other. ``docs/rankings.md`` has the proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, combinations
from math import lcm

import numpy as np

from rainbowdp.aliases import Integers
from rainbowdp.questions.quantile import margins_of_a_quantile
from rainbowdp.questions.relations import Neighbors

_SAFE = 1 << 60  # what all sums stay below, where they are computed in 64 bits


def margins_of_quantiles(
    shares: Sequence[Fraction], counts: Sequence[int], tuples: Integers, neighbors: Neighbors
) -> list[int]:
    """The margin of each tuple of bins, a row of ``tuples``; ``shares`` rise.

    >>> quarters = [Fraction(1, 4), Fraction(3, 4)]
    >>> margins_of_quantiles(quarters, [4, 4], np.array([[0, 0], [0, 1], [1, 1]]), "substituted")
    [2, 0, 3]
    """
    whole = lcm(*(share.denominator for share in shares))
    parts = [int(share * whole) for share in shares]
    total, substituted = sum(counts), neighbors == Neighbors.SUBSTITUTED
    small = whole * (total + 1) * (len(shares) + 1) < _SAFE
    kind = np.int64 if small else object
    upto = np.array([0, *accumulate(counts)], dtype=kind)
    never = -whole * (total + 1) * (len(shares) + 1)
    least = np.zeros(len(tuples), dtype=kind)
    rises, falls = [], []
    for share, part, bins in zip(shares, parts, tuples.T, strict=True):
        alone = np.array(margins_of_a_quantile(share, counts, neighbors), dtype=kind)
        least = np.maximum(least, alone[bins])
        rises.append((part * total - whole * upto[1:])[bins])
        falls.append(np.where(bins > 0, (whole * upto[:-1] - part * total)[bins], never))
    for chosen, rising in _alternations(len(shares)):
        needed, moved = np.zeros(len(tuples), dtype=kind), 0
        for place, which in enumerate(chosen):
            up = (place % 2 == 0) == rising
            needed = needed + (rises if up else falls)[which]
            moved += parts[which] if place % 2 == 0 else -parts[which]
            if place and not up:  # a fall is at a later edge than the rise before it
                apart = tuples[:, which] > tuples[:, chosen[place - 1]]
                needed = np.where(apart, needed, never)
        step = whole if substituted else max(abs(moved), whole - abs(moved))
        least = np.maximum(least, needed // step + 1)
    return [int(margin) for margin in least.tolist()]


def _alternations(size: int) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Two and more of the quantiles in turn, rising and falling, and whether the first rises."""
    for length in range(2, size + 1):
        for chosen in combinations(range(size), length):
            yield chosen, True
            yield chosen, False

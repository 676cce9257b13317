"""How many records must change before given answers lead a vote, for thousands of choices at once.

One answer is *ahead* of another if it has more records, or as many and is listed first. Choices are
rows of places in the list of answers. ``docs/rankings.md`` has the formulas and their proofs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rainbowdp.aliases import Integers

_CELLS = 1 << 16  # that stay in the processor's cache
_SAFE = 1 << 60  # what all sums stay below, where they are computed in 64 bits


def as_counts(counts: Sequence[int]) -> Integers:
    """The counts as an array whose sums cannot overflow: of 64 bits, or of Python's integers."""
    small = (max(counts) + 2) * (len(counts) + 1) ** 2 < _SAFE
    return np.array(counts, dtype=np.int64 if small else object)


def as_sets(counts: Integers, sets: Integers, *, coming: bool) -> Integers:
    """The least changes until all of each set are ahead of all others, one set a row.

    A *threshold* (c, p) asks those at places up to p for c records if they are in the set and for
    at most c − 1 if not, and those after p for one more. With the threshold at its best, as many
    records are missing in the set as there are too many outside of it, or as near as can be; where
    records come and go (``coming``) it is their sum that is least.
    """
    rows = max(1, _CELLS // len(counts))
    parts = (sets[start : start + rows] for start in range(0, len(sets), rows))
    return np.concatenate([_of_some_sets(counts, part, coming) for part in parts])


def _of_some_sets(counts: Integers, sets: Integers, coming: bool) -> Integers:
    size = len(counts)
    inside = np.zeros((len(sets), size), dtype=bool)
    np.put_along_axis(inside, sets, True, axis=1)
    own, places = counts[sets], np.arange(size)
    first_outside = np.argmin(inside, axis=1)[:, None]
    ordered = np.sort(counts)
    above = np.append(np.cumsum(ordered[::-1])[::-1], 0)

    def over(c: Integers) -> Integers:
        """Σ_{i outside} max(0, n_i − c)."""
        start = np.searchsorted(ordered, c)
        every = above[start] - (size - start) * c
        return np.asarray(every - np.maximum(own - c[:, None], 0).sum(axis=1))

    def early(c: Integers) -> Integers:
        """Whether the best threshold has at least this c, up to one more or less."""
        if coming:
            below = (own <= c[:, None]).sum(axis=1)
            outside = (size - np.searchsorted(ordered, c)) - (own >= c[:, None]).sum(axis=1)
            return np.asarray(below < outside)
        return np.asarray(np.maximum(c[:, None] - own, 0).sum(axis=1) <= over(c - 1))

    low = np.zeros(len(sets), dtype=counts.dtype)
    high = low + ordered[-1] + 1
    while (high - low > 1).any():
        middle = (low + high) // 2
        enough = early(middle).astype(bool)
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)

    least = None
    for c in (np.maximum(low - 1, 0), low, low + 1):
        level = c[:, None]
        missing = np.maximum(level - own, 0).sum(axis=1)[:, None]
        extra = over(c - 1)[:, None]
        # At p = q − 1 these are all; as p falls, each place after it may add one or take one away.
        added = _after(inside & (counts <= level))
        taken = _after(~inside & (counts >= level))
        found = missing + added + extra - taken
        if not coming:
            found = np.maximum(missing + added, extra - taken)
        barred = (level == 0) & (places >= first_outside)  # nobody has fewer than no records
        if barred.any():
            found = np.where(barred, found.max() + 1, found)
        found = found.min(axis=1)
        least = found if least is None else np.minimum(least, found)
    assert least is not None
    return np.asarray(least)


def _after(marked: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """For each place how many places after it are marked, row by row."""
    upto = np.cumsum(marked, axis=1, dtype=np.int32)
    return upto[:, -1:] - upto


def in_order(counts: Integers, chains: Integers, added: int = 1, taken: int = 1) -> Integers:
    """The least price until each chain is ahead of the next and all are ahead of the others.

    A record that is added costs ``added``, one that is taken away ``taken``; with 1 and 1 that is
    the number of records that come or go. By the strict steps below each link the chain is made one
    of counts that only must not rise, whose best values are among the given ones.
    """
    rows, length = chains.shape
    own = counts[chains]
    strict = (chains[:, 1:] < chains[:, :-1]).astype(np.int64)
    steps = np.zeros((rows, length), dtype=np.int64)
    steps[:, :-1] = np.cumsum(strict[:, ::-1], axis=1)[:, ::-1]
    levels = own - steps
    last = chains[:, -1:]
    # With so many others above, the whole chain gains by rising to the lowest of them; they are
    # among the first of all, whoever is in the chain.
    few = -(-length * added // taken)
    first = np.argsort(-counts, kind="stable")[: few + length]
    outside = (first[None, :, None] != chains[:, None, :]).all(axis=2)
    rivals = np.where(outside, counts[first] + (first < last), 0)
    highest = np.sort(rivals, axis=1)[:, -few:]
    strictly = (chains < last).sum(axis=1, keepdims=True) < last  # one of the others is before it
    floor = np.maximum(highest[:, :1], strictly.astype(np.int64))
    values = np.sort(np.maximum(np.concatenate([levels, highest, floor], axis=1), floor), axis=1)
    price = np.zeros_like(values)
    for link in range(length):
        behind = values - levels[:, link : link + 1]
        price = price + np.where(behind > 0, added * behind, -taken * behind)
        if link < length - 1:  # those below may be as high as this one or lower
            price = np.minimum.accumulate(price[:, ::-1], axis=1)[:, ::-1]
    for rival in highest.T:
        price = price + taken * np.maximum(rival[:, None] - values, 0)
    return np.asarray(price.min(axis=1))

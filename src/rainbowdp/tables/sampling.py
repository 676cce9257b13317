"""The person rules in NumPy, for frames whose engine does not speak SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.tables.identities import STEP, Words, mixed
from rainbowdp.tables.people import People

Integers: TypeAlias = NDArray[np.int64]
Identify: TypeAlias = Callable[[Integers], Words]

_AT_ONCE = 1 << 22  # records that are spread out at a time


def kept(
    person: Integers, number: Integers, records: Integers, people: People, identify: Identify
) -> tuple[Integers, Integers]:
    """The numbers of groups of which a person rule keeps records, and how many of each.

    There is an entry for each person and group that have records. ``person`` numbers the people
    from 0, in any order, and ``identify`` gives the hashes of some of them.
    """
    order = np.lexsort((number, person))
    person, number, records = person[order], number[order], records[order]
    passed, how_many = number[:0], records[:0]
    if people.rule == "sample":
        few = _totals(person, records) <= people.most
        passed, how_many = number[few], records[few]
        person, number, records = person[~few], number[~few], records[~few]
    different, which = np.unique(person, return_inverse=True)
    identity = identify(different)[which]
    if people.rule == "sample":
        chosen = _sample(person, identity, number, records, people.most)
    elif people.rule == "median":
        chosen = number[_at_median(person, identity, records)]
    else:
        order = np.lexsort((number, mixed(identity + _stream(number)), -records, person))
        chosen = number[order][_first(person[order], 1)]
    every = np.concatenate([passed, chosen])
    return summed(every, np.concatenate([how_many, np.ones(len(chosen), np.int64)]))


def summed(number: Integers, records: Integers) -> tuple[Integers, Integers]:
    """The different numbers, and the records of each together."""
    different, which = np.unique(number, return_inverse=True)
    total = np.zeros(len(different), np.int64)
    np.add.at(total, which, records)
    return different, total


def _sample(
    person: Integers, identity: Words, number: Integers, records: Integers, most: int
) -> Integers:
    """The groups of those ``most`` records of each person that have the least hashes.

    Records are spread out a stretch at a time, where only the last person of a stretch goes on in
    the next. A tie of hashes goes to the lower number, not to the order of the rows.
    """
    upto = np.cumsum(records)
    seed = mixed(identity + _stream(number))
    open_: tuple[Integers, Integers, Words] = (person[:0], number[:0], identity[:0])
    chosen = []
    for start in range(0, int(records.sum()), _AT_ONCE):
        place = np.arange(start, min(start + _AT_ONCE, int(upto[-1])))
        group = np.searchsorted(upto, place, side="right")
        i = (place - (upto - records)[group]).astype(np.uint64)
        spread = (person[group], number[group], mixed(seed[group] + i * STEP))
        who, what, drawn = (np.concatenate(pair) for pair in zip(open_, spread, strict=True))
        order = np.lexsort((what, drawn, who))
        order = order[_first(who[order], most)]
        who, what, drawn = who[order], what[order], drawn[order]
        last = who == who[-1]
        chosen.append(what[~last])
        open_ = (who[last], what[last], drawn[last])
    return np.concatenate([*chosen, open_[1]])


def _first(person: Integers, most: int) -> NDArray[np.bool_]:
    """Which entries are among the first ``most`` of their person; people stand together."""
    place = np.arange(len(person))
    before: Integers = place - np.maximum.accumulate(np.where(_begins(person), place, 0))
    return before < most


def _at_median(person: Integers, identity: Words, records: Integers) -> NDArray[np.bool_]:
    """Which entry holds a person's median; people stand together and their groups rise."""
    total, upto = _totals(person, records), np.cumsum(records)
    upto -= np.maximum.accumulate(np.where(_begins(person), upto - records, 0))
    before = upto - records
    lower = (2 * before < total) & (total <= 2 * upto)
    upper = (2 * before <= total) & (total < 2 * upto)
    return np.where(mixed(identity + STEP) & np.uint64(1) == 1, lower, upper)


def _totals(person: Integers, records: Integers) -> Integers:
    """The records of the person of each entry; people stand together."""
    begins = _begins(person)
    which = np.cumsum(begins) - 1
    total = np.zeros(int(begins.sum()), np.int64)
    np.add.at(total, which, records)
    found: Integers = total[which]
    return found


def _begins(person: Integers) -> NDArray[np.bool_]:
    begins = np.ones(len(person), bool)
    begins[1:] = person[1:] != person[:-1]
    return begins


def _stream(number: Integers) -> Words:
    """Where the hashes of a group begin, far from those of all others."""
    return mixed((number.astype(np.uint64) + np.uint64(1)) * STEP)

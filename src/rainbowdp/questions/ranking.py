"""The question which of the listed answers have the most records, in order or as a set."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, permutations
from typing import Any

import numpy as np

from rainbowdp.aliases import Integers
from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief, whole
from rainbowdp.questions.base import CountQuestion
from rainbowdp.questions.functions import check_applied
from rainbowdp.questions.groups import Group
from rainbowdp.questions.orders import as_counts, as_sets, in_order
from rainbowdp.questions.relations import Neighbors, PersonRule
from rainbowdp.questions.weights import Weight
from rainbowdp.questions.winner import groups_of_a_vote, margins_of_a_vote, with_rest

MOST_RANKINGS = 20_000

# What a record that is added and one that is taken away may cost: with any two prices, the least
# price over their sum is a bound on the number of substitutions.
_PRICES = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (2, 3), (3, 2))


@dataclass(frozen=True, init=False)
class Ranking(CountQuestion):
    """Which of the listed answers have the most records? The first k in order, or as a set.

    Ties go to the first listed. The margin of a ranking is the least number of records that must
    change before it is the true one, for sets and where records come and go; for an order under
    substitution it is a bound on that number which is 0 exactly at the truth and never changes by
    more than one. ``docs/rankings.md`` has the proofs. Cost: about 10 ms for a thousand rankings.

    Parameters
    ----------
    among
        At least two different texts, the answers that are ranked.
    column
        The column with the votes; None if counts are given.
    first
        How many of them to name, k: from 1 to all, or to all but one as a set.
    in_order
        Whether the answer says who is first, second, …: ``red > green``. Otherwise it says who is
        among the first: ``red, green``.
    other, missing
        Names of two more to be ranked, the last ones: for records with a value that is not listed,
        and for those without a value. Without a name such records are not counted.
    neighbors
        What one change is: ``"substituted"`` or ``"added or removed"``.
    person
        The column that says whose record it is.
    rows_per_person
        How many records of one person count.
    person_rule
        Which of them: a random ``"sample"``, or ``"one vote"`` per person.
    where
        A condition that a record must meet to be counted: ``"age > 65 and ward = 'X'"``.
    apply
        A function of the column's values to ask about: year, month, day, hour, lower, floor, round.
    weight
        ``rb.Weight(column, limit)``, if records weigh more or less than one.

    Raises
    ------
    InvalidQuestion
        If ``first`` does not fit, there are more than 20,000 rankings, or another argument makes no
        sense.

    Examples
    --------
    >>> podium = Ranking(["red", "green", "blue"], first=2)
    >>> margins = podium.margins({"red": 10, "green": 7, "blue": 4})
    >>> {ranking: margins[ranking] for ranking in ("red > green", "green > red", "red > blue")}
    {'red > green': 0, 'green > red': 2, 'red > blue': 2}
    >>> Ranking(["red", "green", "blue"], first=2, in_order=False).answers
    ('red, green', 'red, blue', 'green, blue')

    """

    among: tuple[str, ...]
    first: int
    in_order: bool
    other: str | None
    missing: str | None
    answers: tuple[str, ...] = field(init=False)  # the rankings

    def __init__(
        self,
        among: Iterable[str],
        column: str | None = None,
        *,
        first: int,
        in_order: bool = True,
        other: str | None = None,
        missing: str | None = None,
        neighbors: str = Neighbors.SUBSTITUTED,
        person: str | None = None,
        rows_per_person: int = 1,
        person_rule: str = PersonRule.SAMPLE,
        where: str | None = None,
        apply: str | None = None,
        weight: Weight | None = None,
    ) -> None:
        every = with_rest(among, other, missing)
        asked = whole(first, "first", 1)
        if not isinstance(in_order, bool):
            raise InvalidQuestion(f"in_order must be True or False, got in_order={brief(in_order)}")
        _must_fit(len(every), asked, in_order)
        between = " > " if in_order else ", "
        for name in every:
            if between.strip() in name and asked > 1:
                raise InvalidQuestion(
                    f"{brief(name)} cannot be ranked, as {brief(between.strip())} stands "
                    "between the names "
                    f"of a ranking: ask with in_order={not in_order}, or rename it in the data"
                )
        choose = permutations if in_order else combinations
        names = [between.join(chosen) for chosen in choose(every, asked)]
        self._set_shared(
            names, column, neighbors, person, rows_per_person, person_rule, where, apply, weight
        )
        self._set(among=every, first=asked, in_order=in_order, other=other, missing=missing)
        check_applied(self.apply, self.groups)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group for each of those ranked, not for each ranking."""
        return groups_of_a_vote(self.among, self.other, self.missing)

    def _parameters(self) -> dict[str, Any]:
        return {
            "kind": "ranking",
            "among": list(self.among),
            "first": self.first,
            "in_order": self.in_order,
            "other": self.other,
            "missing": self.missing,
        }

    def _distances(self, counts: Sequence[int]) -> list[int]:
        if self.first == 1:
            return margins_of_a_vote(counts, self.neighbors)
        held, coming = as_counts(counts), self.neighbors == Neighbors.ADDED_OR_REMOVED
        if not self.in_order:
            return _plain(as_sets(held, self._chosen, coming=coming))
        if coming:
            return _plain(in_order(held, self._chosen))
        bounds = [
            -(-in_order(held, self._chosen, added, taken) // (added + taken))
            for added, taken in _PRICES
        ]
        leaders = np.array(margins_of_a_vote(counts, self.neighbors), dtype=held.dtype)
        bounds.append(leaders[self._chosen[:, 0]])
        bounds += [as_sets(held, sets, coming=False)[which] for sets, which in self._prefixes]
        return _plain(np.maximum.reduce(bounds))

    @cached_property
    def _chosen(self) -> Integers:
        """The places of each ranking's answers in the list."""
        choose = permutations if self.in_order else combinations
        return np.array(list(choose(range(len(self.among)), self.first)), dtype=np.int64)

    @cached_property
    def _prefixes(self) -> list[tuple[Integers, Integers]]:
        """The first two, three, … of all rankings as sets, and which of them each ranking has."""
        found = []
        for length in range(2, min(self.first, len(self.among) - 1) + 1):
            prefixes = np.sort(self._chosen[:, :length], axis=1)
            sets, which = np.unique(prefixes, axis=0, return_inverse=True)
            found.append((sets, which.reshape(-1)))
        return found


def _plain(distances: Integers) -> list[int]:
    return [int(distance) for distance in distances.tolist()]


def _must_fit(size: int, first: int, in_order: bool) -> None:
    """Refuse a length that leaves nothing to ask, or more rankings than are listed."""
    if first > size:
        raise InvalidQuestion(f"first must be at most {size}, how many are ranked, got {first=}")
    if first == size and not in_order:
        raise InvalidQuestion(
            f"all {size} are always the first {size} as a set: ask for fewer, or in order"
        )
    many = rankings(size, first, in_order)
    if many <= MOST_RANKINGS:
        return
    fits = [k for k in range(1, first) if rankings(size, k, in_order) <= MOST_RANKINGS]
    remedies = [f"ask for the first {max(fits)}"] if fits else ["list fewer"]
    if in_order and math.comb(size, first) <= MOST_RANKINGS and first < size:
        remedies.append("as a set")
    raise InvalidQuestion(
        f"there are {many:,} rankings of the first {first} of {size}, more than the limit of "
        f"{MOST_RANKINGS:,}: {', or '.join(remedies)}"
    )


def rankings(size: int, first: int, in_order: bool) -> int:
    """How many rankings of the first so many there are.

    >>> rankings(10, 3, in_order=True), rankings(10, 3, in_order=False)
    (720, 120)
    """
    return math.perm(size, first) if in_order else math.comb(size, first)

"""Which of the listed bins holds the quantile?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, SupportsIndex, TypeAlias

import numpy as np

from rainbowdp.aliases import Integers
from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief, expect
from rainbowdp.numeric.quantity import Number, exact
from rainbowdp.questions.base import CountQuestion, checked_counts
from rainbowdp.questions.ends import End, GivenEnd, described, end, kind_of, less
from rainbowdp.questions.functions import check_applied
from rainbowdp.questions.groups import Between, Group
from rainbowdp.questions.relations import Neighbors, PersonRule
from rainbowdp.questions.weights import Weight

Bin: TypeAlias = tuple[End | None, End | None]
_INFINITE = ("inf", "infinity")
_MANY = 24  # bins that are quicker to look at all at once
_LARGEST = 1 << 62  # what 64 bits hold


@dataclass(frozen=True, init=False)
class Quantile(CountQuestion):
    """Which of the listed bins holds the q-quantile?

    With N counted records and rank r = max(1, ⌈qN⌉) the answer is the first bin whose cumulative
    count reaches r; for an empty table it is the first bin. Every value is in some bin: the first
    and the last are open, ``< 10`` and ``≥ 20``, wherever the outer edges are.

    The margins have closed forms, proved in ``docs/margins.md`` (The margins of a quantile). Cost:
    O(q) for q bins, whatever the counts.

    Parameters
    ----------
    q
        Strictly between 0 and 1, taken exactly: write ``"0.9"`` rather than 0.9, which is a little
        more than nine tenths.
    bins
        Rising edges, ``[0, 10, 20, 50]``, or pairs (low, high) that touch: numbers, or dates and
        times. A bin holds low ≤ x < high. ``None``, -inf or inf may stand for an outer edge.
    column
        The column with the values; None if counts are given.
    closed_ends
        End the outer bins at their edges, ``[0, 10)`` and ``[20, 50]`` with 50 included, and do not
        count values beyond them.
    neighbors
        What one change is: ``"substituted"`` or ``"added or removed"``.
    person
        The column that says whose record it is.
    rows_per_person
        How many records of one person count.
    person_rule
        Which of them: a random ``"sample"``, or ``"one vote"`` per person, the bin of that person's
        median.
    where
        A condition that a record must meet to be counted: ``"age > 65 and ward = 'X'"``.
    apply
        A function of the column's values to ask about: year, month, day, hour, lower, floor, round.
    weight
        ``rb.Weight(column, limit)``, if records weigh more or less than one.

    Raises
    ------
    InvalidQuestion
        If ``q`` or the bins make no sense.

    Examples
    --------
    >>> Quantile("1/2", [0, 10, 20, 50]).margins({"< 10": 4, "[10, 20)": 1, "≥ 20": 2})
    {'< 10': 0, '[10, 20)': 1, '≥ 20': 2}
    >>> Quantile("1/2", ["2024-01-01", "2024-04-01", "2024-07-01"], closed_ends=True).answers
    ('[2024-01-01, 2024-04-01)', '[2024-04-01, 2024-07-01]')

    """

    q: Fraction
    bins: tuple[Bin, ...]
    closed_ends: bool  # that the first bin has a low end, or the last a high one
    answers: tuple[str, ...] = field(init=False)  # the names of the bins

    def __init__(
        self,
        q: Number,
        bins: Iterable[GivenEnd | Sequence[GivenEnd | None] | None],
        column: str | None = None,
        *,
        closed_ends: bool = False,
        neighbors: str = Neighbors.SUBSTITUTED,
        person: str | None = None,
        rows_per_person: int = 1,
        person_rule: str = PersonRule.SAMPLE,
        where: str | None = None,
        apply: str | None = None,
        weight: Weight | None = None,
    ) -> None:
        share = exact(q, "q", InvalidQuestion)
        if not 0 < share < 1:
            raise InvalidQuestion(f"q must be strictly between 0 and 1, got q={q}")
        checked = checked_bins(bins, closed_ends)
        closed = checked[0][0] is not None or checked[-1][1] is not None
        names = [str(rule) for rule in ranges_of(checked)]
        self._set_shared(
            names, column, neighbors, person, rows_per_person, person_rule, where, apply, weight
        )
        self._set(q=share, bins=checked, closed_ends=closed)
        check_applied(self.apply, self.groups)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group for each bin, named as its answer."""
        return tuple(zip(self.answers, ranges_of(self.bins), strict=True))

    def leads(self, counts: Mapping[str, SupportsIndex], /) -> tuple[int, ...]:
        """The count below each edge between two bins less the rank ⌈qN⌉.

        They rise, and the true bin is the first whose upper edge has a lead of at least 0. One
        record, substituted, added or removed, moves the leads of a run of edges by one, all in one
        direction: between bins i and k the edges there; into bin i all edges above it, or if that
        raises the rank, all edges below it.

        Parameters
        ----------
        counts
            A whole number for each bin; a bin that is left out has none.

        Returns
        -------
        tuple of int
            A lead for each edge between two bins.

        Examples
        --------
        >>> halves = Quantile("1/2", [0, 10, 20, 50])
        >>> halves.leads({"< 10": 4, "[10, 20)": 1, "≥ 20": 2})
        (0, 1)

        """
        checked = checked_counts(counts, [name for name, _ in self.groups])
        rank = -(-self.q.numerator * sum(checked.values()) // self.q.denominator)
        return tuple(below - rank for below in list(accumulate(checked.values()))[:-1])

    def _parameters(self) -> dict[str, Any]:
        return {
            "kind": "quantile",
            "q": str(self.q),
            "bins": [[described(low), described(high)] for low, high in self.bins],
            "closed_ends": self.closed_ends,
        }

    def _distances(self, counts: Sequence[int]) -> list[int]:
        return margins_of_a_quantile(self.q, counts, self.neighbors)

    def _distances_together(self, counts: Sequence[int]) -> Integers | None:
        return many_margins_of_a_quantile(self.q, counts, self.neighbors)


def margins_of_a_quantile(q: Fraction, counts: Sequence[int], neighbors: Neighbors) -> list[int]:
    """How many records must change before each bin holds the quantile.

    >>> margins_of_a_quantile(Fraction(1, 2), [4, 1, 2], Neighbors.SUBSTITUTED)
    [0, 1, 2]
    """
    together = many_margins_of_a_quantile(q, counts, neighbors)
    if together is not None:
        listed: list[int] = together.tolist()
        return listed
    total = sum(counts)
    if total == 0:
        return [min(j, 1) for j in range(len(counts))]
    p, d = q.numerator, q.denominator
    rank = -(-p * total // d)
    ends = list(accumulate(counts))
    if neighbors == Neighbors.SUBSTITUTED:  # as many as the rank is away from the bin
        true = bisect_left(ends, rank)
        below, above = ends[:true], ends[true:-1]
        return [*(rank - end for end in below), 0, *(start - rank + 1 for start in above)]
    distances = []
    for own, upto in zip(counts, ends, strict=True):
        left, right = upto - own, total - upto
        if left < rank <= upto:
            distances.append(0)
        elif upto < rank:
            distances.append(_from_below(p, d, left, own, right))
        else:
            distances.append(_from_above(p, d, left, own, right))
    distances[0] = min(distances[0], total)  # an empty table answers with the first bin
    return distances


def _from_below(p: int, d: int, left: int, own: int, right: int) -> int:
    """The least a + b: a records added to a bin below the rank, b removed from its right; q = p/d.

    They must close the gap q·R − (1−q)(L+M) > 0, to which an added record gives 1−q and a removed
    one q; the weaker kind is never needed, except for the one record that an empty bin must
    get. The last step overshoots by less than 1 ≤ M + a, which is what
    (1−q)L < q(M+a+R−b) asks for. Removing the whole right side always closes the gap.
    """
    first = 0 if own else 1
    gap = p * right - (d - p) * (left + own + first)
    return first + -(-max(0, gap) // max(p, d - p))


def _from_above(p: int, d: int, left: int, own: int, right: int) -> int:
    """The least a + b: a records added to a bin above the rank, b removed from its left; q = p/d.

    They must turn the gap (1−q)L − q(M+R) ≥ 0 negative, to which an added record gives q and a
    removed one 1−q; otherwise as ``_from_below``.
    """
    first = 0 if own else 1
    gap = (d - p) * left - p * (own + first + right)
    return first + max(0, gap // max(p, d - p) + 1)


def many_margins_of_a_quantile(
    q: Fraction, counts: Sequence[int], neighbors: Neighbors
) -> Integers | None:
    """The same in 64 bits, all at once; none where that is slower or a table empty or too large.

    >>> many_margins_of_a_quantile(Fraction(1, 2), [2] * 30, Neighbors.SUBSTITUTED)[12:17].tolist()
    [4, 2, 0, 1, 3]
    """
    if len(counts) < _MANY:
        return None
    total, p, d = sum(counts), q.numerator, q.denominator
    if total == 0 or d * (total + 1) >= _LARGEST:
        return None
    ends = np.array(counts, dtype=np.int64).cumsum()
    rank = -(-p * total // d)
    true = int(ends.searchsorted(rank))
    away = np.empty_like(ends)
    if neighbors == Neighbors.SUBSTITUTED:
        away[:true] = rank - ends[:true]
        away[true + 1 :] = ends[true:-1] + (1 - rank)
    else:
        _added_or_removed_together(p, d, counts, ends, true, away)
    away[true] = 0
    return away


def _added_or_removed_together(
    p: int, d: int, counts: Sequence[int], ends: Integers, true: int, away: Integers
) -> None:
    """Both for many bins at once, into ``away``; what that has at the true bin means nothing.

    With N records and T up to the end of a bin, q·R − (1−q)(L+M) = qN − T, and from above
    (1−q)L − q(M+R) = L − qN.
    """
    total, most = int(ends[-1]), max(p, d - p)
    away[true] = 0
    away[:true] = p * total + most - 1 - d * ends[:true]  # times most, before rounding down
    away[true + 1 :] = d * ends[true:-1] + (most - p * total)
    empty = 0 in counts
    if empty:
        first = np.array(counts) == 0
        away[:true] -= (d - p) * first[:true]
        away[true + 1 :] -= p * first[true + 1 :]
    if most > 1:
        away //= most
    np.maximum(away, 0, out=away)
    if empty:
        away += first
    away[0] = min(int(away[0]), total)  # an empty table answers with the first bin


def ranges_of(bins: Sequence[Bin]) -> list[Between]:
    """What each bin holds: the last one its high end too."""
    last = len(bins) - 1
    return [
        Between(low, high, closed=place == last and high is not None)
        for place, (low, high) in enumerate(bins)
    ]


def checked_bins(bins: Iterable[Any], closed_ends: bool) -> tuple[Bin, ...]:
    """Bins as pairs that rise, touch and do not overlap, the outer ones open unless closed."""
    rule = "bins must be rising edges or pairs (low, high)"
    if isinstance(bins, str) or not isinstance(bins, Iterable):
        raise InvalidQuestion(f"{rule}, got bins={brief(bins)}")
    given: list[Any] = list(bins)
    pairs = [isinstance(item, Sequence) and not isinstance(item, str) for item in given]
    if any(pairs) and not all(pairs):
        raise InvalidQuestion(f"{rule}, got both: {brief(given)}")
    found = [_checked_bin(ends) for ends in (given if any(pairs) else pairwise(given))]
    if len(found) < 2:
        raise InvalidQuestion(
            f"a quantile needs at least two bins, got bins={brief(given)}; "
            "to split at 5 and 10 write [None, 5, 10, None]"
        )
    kind_of(*(edge for ends in found for edge in ends))
    for low, high in found:
        if low is not None and high is not None and not less(low, high):
            raise InvalidQuestion(f"a bin must have low < high, got {Between(low, high)}")
    for one, other in pairwise(found):
        _check_touching(one, other)
    if not expect(closed_ends, bool, "closed_ends", InvalidQuestion):
        found[0] = None, found[0][1]
        found[-1] = found[-1][0], None
    return tuple(found)


def _checked_bin(ends: object) -> Bin:
    """The two ends of a bin; the low one may be -inf and the high one inf."""
    if not isinstance(ends, Sequence) or len(ends) != 2:
        raise InvalidQuestion(f"a bin must be a pair (low, high), got {brief(ends)}")
    low, high = ends
    return _edge(low, "-"), _edge(high, "")


def _edge(given: Any, sign: str) -> End | None:
    word = brief(given, str).strip().lower()
    if given is None or word in {sign + name for name in _INFINITE}:
        return None
    return end(given, "a bin edge")


def _check_touching(one: Bin, other: Bin) -> None:
    """Raise unless ``other`` begins where ``one`` ends."""
    ends, starts = one[1], other[0]
    if ends is not None and ends == starts:
        return
    got = f"{Between(*one)} and {Between(*other)}"
    if ends is None or starts is None or less(starts, ends):
        backwards = one[0] is not None and other[1] is not None and not less(one[0], other[1])
        raise InvalidQuestion(
            f"bins must be listed in rising order, got {got}"
            if backwards
            else f"bins must not overlap, got {got}: let one begin where the other ends"
        )
    raise InvalidQuestion(f"bins must leave no gap, got {got}: let one begin where the other ends")

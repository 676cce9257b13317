"""Which of the listed bins hold several quantiles?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, pairwise
from math import comb
from typing import Any

import numpy as np

from rainbowdp.aliases import Integers
from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief
from rainbowdp.numeric.quantity import Number, exact
from rainbowdp.questions.alternations import margins_of_quantiles
from rainbowdp.questions.base import CountQuestion
from rainbowdp.questions.ends import GivenEnd, described
from rainbowdp.questions.functions import check_applied
from rainbowdp.questions.groups import Group
from rainbowdp.questions.quantile import Bin, checked_bins, ranges_of
from rainbowdp.questions.relations import Neighbors, PersonRule
from rainbowdp.questions.weights import Weight

MOST_TUPLES = 20_000
_MOST_QUANTILES = 9  # deciles; all sequences of rises and falls are tried


@dataclass(frozen=True, init=False)
class Quantiles(CountQuestion):
    """Which of the listed bins hold the quantiles, all of them in one answer?

    An answer names a bin for each quantile, in rising order: ``< 10 | [10, 20) | ≥ 20``. The
    true one holds what ``Quantile`` answers for each. The margin of an answer is at least the
    largest of its bins' margins, and more where one quantile must rise and another fall; it is 0
    exactly at the truth and never changes by more than one (``docs/rankings.md`` has the proof).

    Parameters
    ----------
    qs
        One to nine quantiles strictly between 0 and 1, in rising order, taken exactly: write
        ``["1/4", "1/2", "3/4"]``.
    bins
        Rising edges, ``[0, 10, 20, 50]``, or pairs (low, high) that touch: numbers, or dates and
        times. A bin holds low ≤ x < high. ``None``, -inf or inf may stand for an outer edge.
    column
        The column with the values; None if counts are given.
    closed_ends
        End the outer bins at their edges, and do not count values beyond them.
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
        If the quantiles or the bins make no sense, or there are more than 20,000 answers.

    Examples
    --------
    >>> halves = Quantiles(["1/4", "3/4"], [0, 10, 20, 50])
    >>> margins = halves.margins({"< 10": 4, "[10, 20)": 1, "≥ 20": 2})
    >>> {answer: margins[answer] for answer in list(margins)[:3]}
    {'< 10 | < 10': 2, '< 10 | [10, 20)': 1, '< 10 | ≥ 20': 0}

    """

    qs: tuple[Fraction, ...]
    bins: tuple[Bin, ...]
    closed_ends: bool  # that the first bin has a low end, or the last a high one
    answers: tuple[str, ...] = field(init=False)  # the names of the bins, one for each quantile

    def __init__(
        self,
        qs: Iterable[Number],
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
        shares = _checked_shares(qs)
        checked = checked_bins(bins, closed_ends)
        closed = checked[0][0] is not None or checked[-1][1] is not None
        _must_fit(len(checked), len(shares))
        names = [str(rule) for rule in ranges_of(checked)]
        tuples = [
            " | ".join(chosen) for chosen in combinations_with_replacement(names, len(shares))
        ]
        self._set_shared(
            tuples, column, neighbors, person, rows_per_person, person_rule, where, apply, weight
        )
        self._set(qs=shares, bins=checked, closed_ends=closed)
        check_applied(self.apply, self.groups)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group for each bin."""
        return tuple((str(rule), rule) for rule in ranges_of(self.bins))

    def _parameters(self) -> dict[str, Any]:
        return {
            "kind": "quantiles",
            "qs": [str(share) for share in self.qs],
            "bins": [[described(low), described(high)] for low, high in self.bins],
            "closed_ends": self.closed_ends,
        }

    def _distances(self, counts: Sequence[int]) -> list[int]:
        return margins_of_quantiles(self.qs, counts, self._tuples, self.neighbors)

    @cached_property
    def _tuples(self) -> Integers:
        """The bins of each answer by their places."""
        every = combinations_with_replacement(range(len(self.bins)), len(self.qs))
        return np.array(list(every), dtype=np.int64)


def _checked_shares(qs: Iterable[Number]) -> tuple[Fraction, ...]:
    """One to nine numbers strictly between 0 and 1 that rise."""
    if isinstance(qs, str) or not isinstance(qs, Iterable):
        raise InvalidQuestion(
            f'qs must be a list of quantiles such as ["1/4", "3/4"], got {brief(qs)}'
        )
    shares = tuple(exact(q, "a quantile", InvalidQuestion) for q in qs)
    if not 1 <= len(shares) <= _MOST_QUANTILES:
        raise InvalidQuestion(f"qs must hold one to {_MOST_QUANTILES} quantiles, got {len(shares)}")
    for share in shares:
        if not 0 < share < 1:
            raise InvalidQuestion(f"a quantile must be strictly between 0 and 1, got {share}")
    for one, other in pairwise(shares):
        if other <= one:
            raise InvalidQuestion(
                f"qs must rise, got {other} after {one}: list each once, in order"
            )
    return shares


def _must_fit(bins: int, quantiles: int) -> None:
    many = comb(bins + quantiles - 1, quantiles)
    if many > MOST_TUPLES:
        most = max(b for b in range(1, bins) if comb(b + quantiles - 1, quantiles) <= MOST_TUPLES)
        raise InvalidQuestion(
            f"{quantiles} quantiles in {bins} bins have {many:,} answers, more than the limit of "
            f"{MOST_TUPLES:,}: use at most {most} bins, or ask for fewer quantiles"
        )

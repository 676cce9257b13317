"""What a crowd table is about and where it has rows.

A row is found by how many rivals there are at each gap, never by which ones: ``knots`` gaps, 0 to
``knots`` − 1 records behind the leader (one less for those listed before it, where ties go to the
first listed). A rival that is farther tosses a coin: with heads it counts at the last of these
gaps, with tails it is out. The chance of heads falls by ``ratio`` a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from rainbowdp.aliases import Integers
from rainbowdp.errors import InvalidMechanism
from rainbowdp.questions.relations import Neighbors, Ties, one_of

# A file may claim anything, and must not keep us busy for ever.
_MOST_ANSWERS, _MOST_KNOTS = 12, 64
_MOST_CORNERS = 1 << 24


@dataclass(frozen=True)
class CrowdShape:
    """What a crowd table is about and where it has rows.

    Parameters
    ----------
    answers
        How many answers the vote has.
    neighbors
        What one change is.
    ties
        Who is right in a tie.
    knots
        How many gaps have rows.
    ratio
        By which the chance of heads falls for each record behind the last of them.

    """

    answers: int
    neighbors: str
    ties: str
    knots: int
    ratio: Fraction

    def __post_init__(self) -> None:
        for name, least in (("answers", 2), ("knots", 3)):
            number = getattr(self, name)
            if type(number) is not int or number < least:
                raise InvalidMechanism(
                    f"the {name} of a crowd table must be a whole number from {least}, "
                    f"got {number!r}"
                )
        moves, free = 2 * self.knots, max(0, self.answers - 3)
        if self.answers > _MOST_ANSWERS or self.knots > _MOST_KNOTS:
            corners = _MOST_CORNERS + 1
        else:  # where the leader changes and a third one moves
            corners = moves * comb(moves + free, free)
        if corners > _MOST_CORNERS:
            raise InvalidMechanism(
                f"a crowd table must have at most {_MOST_ANSWERS} answers, and few gaps where "
                f"answers are many, got {self.answers} answers and {self.knots} gaps"
            )
        if not 0 < self.ratio < 1:
            raise InvalidMechanism(
                f"the ratio of a crowd table must be between 0 and 1, got {self.ratio}"
            )
        ties = one_of(Ties, self.ties, "ties", InvalidMechanism)
        neighbors = one_of(Neighbors, self.neighbors, "neighbors", InvalidMechanism)
        object.__setattr__(self, "ties", ties)
        object.__setattr__(self, "neighbors", neighbors)

    @cached_property
    def crowds(self) -> Integers:
        """How many rivals are at each gap, for every row."""
        return crowds_up_to(self.answers - 1, self.knots)

    @cached_property
    def numbers(self) -> dict[tuple[int, ...], int]:
        """The number of the row for each crowd."""
        return {tuple(crowd): number for number, crowd in enumerate(self.crowds.tolist())}


def crowds_up_to(rivals: int, places: int) -> Integers:
    """All ways to have up to ``rivals`` in ``places``, in a fixed order.

    >>> crowds_up_to(1, 2).tolist()
    [[0, 0], [0, 1], [1, 0]]
    """
    if places == 0:
        return np.zeros((1, 0), dtype=np.int64)
    bars = np.array(list(combinations(range(rivals + places), places)), dtype=np.int64)
    crowds: Integers = np.diff(bars, axis=1, prepend=-1) - 1
    return crowds

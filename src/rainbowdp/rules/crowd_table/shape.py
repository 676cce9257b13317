"""What a crowd table is about and where it has rows.

A row is found by how many rivals there are at each gap: ``knots`` gaps, 0 to ``knots`` − 1 records
behind the leader (one less for those listed before it, where ties go to the first listed). At the
first ``ordered`` of them it also matters in which order rivals follow the leader round the list:
their gaps in that order are the *word* of a crowd. A rival that is farther than all these gaps
tosses a coin: with heads it counts at the last of them, with tails it is out. The chance of heads
falls by ``ratio`` a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import comb

import numpy as np

from rainbowdp.aliases import Integers
from rainbowdp.errors import InvalidMechanism
from rainbowdp.expecting import brief
from rainbowdp.questions.relations import Neighbors, Ties, one_of

# A file may claim anything, and must not keep us busy for ever.
_MOST_ANSWERS, _MOST_KNOTS = 12, 64
_MOST_CROWDS = 1 << 15


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
    ordered
        At how many of them, the first ones, the order of the list matters.
    ratio
        By which the chance of heads falls for each record behind the last of them.

    """

    answers: int
    neighbors: str
    ties: str
    knots: int
    ordered: int
    ratio: Fraction

    def __post_init__(self) -> None:
        for name, least in (("answers", 2), ("knots", 3), ("ordered", 0)):
            number = getattr(self, name)
            if type(number) is not int or number < least:
                raise InvalidMechanism(
                    f"the {name} of a crowd table must be a whole number from {least}, "
                    f"got {brief(number)}"
                )
        ties = one_of(Ties, self.ties, "ties", InvalidMechanism)
        neighbors = one_of(Neighbors, self.neighbors, "neighbors", InvalidMechanism)
        object.__setattr__(self, "ties", ties)
        object.__setattr__(self, "neighbors", neighbors)
        if self.ordered >= self.knots or (self.ordered and ties == Ties.ANY_LEADER):
            raise InvalidMechanism(
                "the gaps at which the order of the list matters must be fewer than all gaps, and "
                f"none where any leader is right, got {self.ordered} of {self.knots}"
            )
        if self.answers > _MOST_ANSWERS or self.knots > _MOST_KNOTS:
            many = _MOST_CROWDS + 1
        else:  # as the proof has them, up to two records behind the last knot
            many = Crowds(self.answers - 1, self.ordered, self.knots - self.ordered + 2).size
        if many > _MOST_CROWDS:
            raise InvalidMechanism(
                f"a crowd table must have at most {_MOST_ANSWERS} answers, and few gaps where "
                f"answers are many, got {self.answers} answers and {self.knots} gaps"
            )
        if not 0 < self.ratio < 1:
            raise InvalidMechanism(
                f"the ratio of a crowd table must be between 0 and 1, got {self.ratio}"
            )

    @property
    def places(self) -> int:
        """How many gaps are counted, whatever the order."""
        return self.knots - self.ordered

    @cached_property
    def crowds(self) -> Crowds:
        """The rows."""
        return Crowds(self.answers - 1, self.ordered, self.places)


@dataclass(frozen=True)
class Crowds:
    """All crowds of up to so many rivals, in a fixed order.

    A crowd is a word over ``letters`` gaps and how many rivals there are at each of the ``places``
    gaps that follow. In the row of a crowd the leader comes first, then the letters of the word in
    their order, then one rival of each place: these are its *seats*.
    """

    rivals: int
    letters: int
    places: int

    def __post_init__(self) -> None:
        # Codes are 64 bits. Two crowds with one code would have one row in the proof, and the
        # other crowd's row would be compared with nothing.
        if (self.letters + 1) ** self.rivals * (self.rivals + 1) ** self.places >= 1 << 63:
            raise InvalidMechanism(
                f"a crowd table must have fewer gaps for {self.rivals + 1} answers, as crowds "
                "cannot be told apart by a number of 63 bits"
            )

    @property
    def size(self) -> int:
        """How many there are."""
        longest = self.rivals if self.letters else 0
        return sum(
            self.letters**length * comb(self.rivals - length + self.places, self.places)
            for length in range(longest + 1)
        )

    @property
    def seats(self) -> int:
        """How many seats a row has, taken or not."""
        return self.seat(self.letters + self.places)

    def seat(self, gap: int) -> int:
        """The seat of rivals at a gap that is not a letter."""
        return 1 + (self.rivals if self.letters else 0) + gap - self.letters

    @cached_property
    def _parts(self) -> tuple[Integers, Integers, Integers]:
        """Words, padded with −1, counts, and their codes, which rise."""
        words, counts = [], []
        for length in range(self.rivals + 1 if self.letters else 1):
            some = words_of(self.letters, length)
            padded = np.full((len(some), self.rivals), -1)
            padded[:, :length] = some
            rest = crowds_up_to(self.rivals - length, self.places)
            words.append(np.repeat(padded, len(rest), axis=0))
            counts.append(np.tile(rest, (len(some), 1)))
        word, count = np.concatenate(words), np.concatenate(counts)
        codes = self.word_codes(word) + self.count_codes(count)
        order = np.argsort(codes)
        return word[order], count[order], codes[order]

    @property
    def words(self) -> Integers:
        """The word of each crowd, padded with −1."""
        return self._parts[0]

    @property
    def counts(self) -> Integers:
        """How many rivals each crowd has at each place."""
        return self._parts[1]

    @cached_property
    def taken(self) -> Integers:
        """How many answers have each seat of each crowd."""
        words = [self.words >= 0] if self.letters else []
        ones = np.ones((len(self.counts), 1), dtype=np.int64)
        return np.concatenate([ones, *words, self.counts], axis=1)

    @cached_property
    def gaps(self) -> Integers:
        """The gap of each seat, where somebody has it, and −1 for the leader and elsewhere."""
        places = np.arange(self.letters, self.letters + self.places)
        words = [self.words] if self.letters else []
        leader = np.full((len(self.counts), 1), -1)
        return np.concatenate([leader, *words, np.where(self.counts > 0, places, -1)], axis=1)

    def word_codes(self, words: Integers) -> Integers:
        """A number for each word, which may be shorter than the number of rivals."""
        spots = np.arange(words.shape[1], dtype=np.int64)
        codes: Integers = self.letter_codes(words, spots).sum(axis=1)
        return codes

    def letter_codes(self, letters: Integers, spots: Integers) -> Integers:
        """What letters at these spots of a word add to its code; −1 is no letter."""
        powers = (self.letters + 1) ** spots * (self.rivals + 1) ** self.places
        codes: Integers = (letters + 1) * powers
        return codes

    def count_codes(self, counts: Integers) -> Integers:
        """A number for the counts at each place; the codes of both parts add up."""
        codes: Integers = counts @ self.digits
        return codes

    @cached_property
    def digits(self) -> Integers:
        """What one rival more at each place adds to the code."""
        return (self.rivals + 1) ** np.arange(self.places, dtype=np.int64)

    def numbers(self, codes: Integers) -> Integers:
        """The numbers of the crowds with these codes."""
        known = self._parts[2]
        found = np.searchsorted(known, codes)
        if (found >= len(known)).any() or (known[found] != codes).any():
            raise InvalidMechanism("a crowd table must have a row for every crowd, one is missing")
        return found


def words_of(letters: int, length: int) -> Integers:
    """All words of a length.

    >>> words_of(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    words = list(product(range(letters), repeat=length))
    return np.array(words, dtype=np.int64).reshape(len(words), length)


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

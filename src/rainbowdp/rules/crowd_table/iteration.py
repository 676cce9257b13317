"""Making a crowd table without a solver: what rivals need, and the rest for the leader.

Every comparison of ``proof`` says that an answer has at least 1/E of what it has at a neighboring
corner. Given the chances of leaders, rivals are best given as little as that asks for; then leaders
have the rest, which they share where several are tied and any of them is right. The two are
repeated, with leaders moving a part of the way, until nothing changes: the fixed point of lifted
proximity (docs/true-answer.md), on crowds in place of datasets.

At a corner with rivals behind the last knot a chance is a mean over several crowds. What it needs
more, or could do without, they share in proportion; they then settle slowly, always downwards, so
that now and then a step is taken many times as far. Leaders are not asked whether they have enough
beside other leaders: for an ε that is not small they do, and else the proof fails. Nothing here is
trusted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.exact.rule import Progress
from rainbowdp.rules.crowd_table.problem import Problem
from rainbowdp.rules.crowd_table.proof import cases

_CYCLES, _STEPS = 14, 22
_LAST = 2  # cycles without a leap at the end
_LOOK = 5  # steps of a cycle that a leap repeats
_LEAP, _FARTHEST = 20.0, 0.5  # times as far, and at most by so much in the logarithm
_ASTRAY = 1e-3  # a need that is left after a cycle, relatively, if a leap went too far
_TOWARDS_REST = 0.4  # part of the way that a leader moves
_TINY = 1e-300
_MENDS, _SETTLED = 30, 1e-9


def iterated(problem: Problem, progress: Progress | None = None) -> Floats:
    """The chances that repeat themselves, starting from permute-and-flip."""
    needs = Needs(problem)
    values, leaping, left = problem.flipped(), True, np.inf
    settled = values
    for number in range(_CYCLES):
        if progress is not None:
            progress(f"cycle {number + 1}, {problem.width} columns, {len(needs.givers)} needs")
        earlier = values
        for step in range(_STEPS):
            if step == _STEPS - _LOOK:
                earlier = values
            values = needs.step(values)
        left, before = needs.left(values), left
        if left > max(_ASTRAY, 2 * before):  # back to where it was, and no more leaps
            values, leaping = settled, False
            left = needs.left(values)
            continue
        settled = values
        if leaping and number < _CYCLES - _LAST:
            values = needs.leap(earlier, values)
    return settled


def with_needs(problem: Problem, values: Floats) -> Floats:
    """Values in which a few rivals have too little, with as much as these need.

    What they get more leaders lose, who may then have too little themselves: nothing asks for that.
    """
    needs = Needs(problem)
    for _ in range(_MENDS):
        with np.errstate(over="ignore", invalid="ignore"):  # far from settling
            mended = np.maximum(values, values * needs.shares(values))
        if not np.isfinite(mended).all():
            break
        mended[problem.leaders] = problem.rest(mended)
        if np.abs(mended - values).max() < _SETTLED:
            break
        values = mended
    return values


@dataclass(frozen=True)
class Needs:
    """What every seat at every corner needs, from what it has at neighboring ones."""

    problem: Problem

    @cached_property
    def _links(self) -> tuple[Integers, Integers, Floats]:
        """Who gives, who needs at least a part of that, and which part; by who needs."""
        corners, count = self.problem.corners, self.problem.chances.shape[0]
        found: dict[float, list[Integers]] = {}
        for case in cases(self.problem.shape):
            for pair in corners.pairs(case):
                both = [(pair.here, pair.there, 1.0), (pair.there, pair.here, 1.0)]
                if corners.may_stay(*pair.gaps):
                    mine, theirs = (corners.coin(gap) for gap in pair.gaps)
                    both += [(pair.here, pair.there, theirs / mine)]
                    both += [(pair.there, pair.here, mine / theirs)]
                for giver, needer, part in both:
                    if part >= 1.0:  # or else the comparison with coins asks for more
                        found.setdefault(part, []).append(np.unique(needer * count + giver))
        codes = {part: np.unique(np.concatenate(some)) for part, some in found.items()}
        every = np.concatenate(list(codes.values()))
        parts = np.repeat(list(codes), [len(some) for some in codes.values()])
        order = np.argsort(every, kind="stable")
        needers, givers = np.divmod(every[order], count)
        return givers, needers, parts[order] / self.problem.allowed

    @property
    def givers(self) -> Integers:
        """The seats whose chances others need a part of."""
        return self._links[0]

    @cached_property
    def _needers(self) -> tuple[Integers, Integers]:
        """Where each needer begins in the links, and its seat."""
        needers = self._links[1]
        starts = np.flatnonzero(np.append(True, needers[1:] != needers[:-1]))
        return starts, needers[starts]

    @cached_property
    def _of_columns(self) -> tuple[Integers, Integers]:
        """The seats at corners that each column is part of, and where those of a column begin."""
        by_column = self.problem.chances.tocsc()
        return by_column.indices, by_column.indptr[:-1]

    def shares(self, values: Floats) -> Floats:
        """For each column the most that a seat it is part of needs, beside what that seat has."""
        chances = self.problem.chances @ values
        givers, _, parts = self._links
        starts, needers = self._needers
        shares = np.zeros(len(chances))
        needed = np.maximum.reduceat(chances[givers] * parts, starts)
        shares[needers] = needed / np.maximum(chances[needers], _TINY)
        seats, begins = self._of_columns
        most: Floats = np.maximum.reduceat(shares[seats], begins)
        return most

    def step(self, values: Floats) -> Floats:
        """Rivals with what they need, and leaders nearer to the rest."""
        needed = values * self.shares(values)
        leaders = self.problem.leaders
        had = values[leaders]
        needed[leaders] = had + _TOWARDS_REST * (self.problem.rest(needed) - had)
        return needed

    def left(self, values: Floats) -> float:
        """How much more than it has some seat needs, relatively."""
        return float(self.shares(values).max()) - 1

    def leap(self, earlier: Floats, values: Floats) -> Floats:
        """Rivals that sank since ``earlier``, many times as far."""
        sunk = _LEAP * np.log(np.maximum(values, _TINY) / np.maximum(earlier, _TINY))
        farther: Floats = values * np.exp(np.clip(sunk, -_FARTHEST, 0.0))
        farther[self.problem.leaders] = values[self.problem.leaders]
        return farther

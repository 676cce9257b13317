"""Proving a crowd table: every pair of neighboring votes, in finitely many comparisons.

**Moves.** A change moves one or two rivals by themselves, may make one of them the leader, and
moves the gap of every other rival, a *bystander*, by a constant, or, where ties go to the first
listed and the leader changes, by one of two constants that differ by 1: which one depends on its
place in the list. ``cases`` lists them. Which bystander moves how is left open, so that a case
covers all lists.

**Corners.** A row is the mean over the coins of the rivals behind the last knot, hence affine in
the chance z of each. Where a rival stays behind the last knot, z becomes z·ratio^c for a constant
c, so a comparison P ≤ E·Q is affine along it, and holds from 0 to 1 if it holds at the ends: the
rival is out on both sides, or at the last knot on one. All others start or end at a knot.

**Coins.** Those that are tossed are whole numbers and stop falling at some 2^-120, where z may
stay instead of moving. For a bystander that is less than the room that each comparison leaves. For
the rival itself P ≤ E·Q is also compared with its own coins left out, that is, as if they stayed.

**Doubles.** Rows and their means are sums of non-negative products with fewer than 128 roundings,
so right to a relative 2^-45. What is clear by a relative 2^-40 is proved; anything else is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rainbowdp.aliases import Floats, Integers, Weights
from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.falling_proof import Chances, must_fall
from rainbowdp.guarantees.closeness import lines_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.crowd_table.shape import CrowdShape, crowds_up_to

LEADS = -1  # in the place of a gap: the rival becomes the leader
_CLEAR = 2.0**-40
_LEAST_SHARE = 64  # bits: no weight is less than this part of a row


@dataclass(frozen=True)
class Case:
    """Neighbors that differ by one kind of change; a move is a pair of gaps, here and there.

    ``alone`` are the rivals that move by themselves, ``leader`` is the gap there of the leader
    here, or none if it stays, and ``bystanders`` the moves that any other rival may make.
    """

    alone: tuple[tuple[int, int], ...]
    leader: int | None
    bystanders: tuple[tuple[int, int], ...]


def cases(shape: CrowdShape) -> Iterator[Case]:
    """Every kind of change, for one end of every pair of neighbors.

    A rival that is out stays out, so it is in no list of moves. One that overtakes from a gap of 1
    is seen from the other end: there the former leader overtakes from 0, or, where any leader is
    right, gains two.
    """
    stay, fall, gain, gain_two = (moves_by(shift, shape.knots) for shift in (0, 1, -1, -2))
    first_listed = shape.ties == Ties.FIRST_LISTED
    yield Case((), None, fall)  # the leader has a record more
    for rival in gain:  # another answer has, and does not overtake
        yield Case((rival,), None, stay)
    if first_listed:  # or it does; where any leader is right that is the first case
        yield Case(((0, LEADS),), 0, (*fall, *stay))
    if shape.neighbors != Neighbors.SUBSTITUTED:
        return
    for alone in ((), *((rival,) for rival in gain_two)):  # the leader gives a record, and stays
        yield Case(alone, None, gain)
    for loser in fall:  # a rival gives a record to one that is out, or to another
        for others in ((), *((rival,) for rival in gain)):
            yield Case((loser, *others), None, stay)
    if first_listed:  # the leader gives a record, and the rival that has it leads, or a third one
        yield Case(((0, LEADS),), 1, (*fall, *stay))
        for others in ((), *((rival,) for rival in (*gain, *gain_two))):
            yield Case(((0, LEADS), *others), 0, (*stay, *gain))
    else:  # the rival leads; where another is tied with the leader, that is a rival giving
        yield Case(((1, LEADS),), 1, stay)


def moves_by(shift: int, knots: int) -> tuple[tuple[int, int], ...]:
    """The moves by so many records that start or end at a knot, and end behind the leader."""
    least = max(0, -shift)
    return tuple((gap, gap + shift) for gap in range(least, least + knots))


def prove_crowds(
    guarantee: Guarantee, shape: CrowdShape, total: int, rows: tuple[Weights, ...], coins: Chances
) -> Check:
    """The rows keep ε for votes of every size, or ``InvalidMechanism``; a δ is not needed."""
    if not isinstance(guarantee, DP):
        raise InvalidMechanism(f"a crowd table needs an (ε,δ) guarantee, got {guarantee}")
    _must_be_rows(shape, total, rows)
    _must_be_fine(shape, total, coins)
    must_fall(coins)
    ((allowed, _),) = lines_of(guarantee)
    corners = Corners(shape)
    shares = np.array(rows, dtype=np.float64) / float(total)
    chances = [mean @ shares[:, place] for mean, place in corners.means]
    compared = 0
    for case in cases(shape):
        for here, there in corners.pairs(case):
            p, q = chances[here.place][here.crowds], chances[there.place][there.crowds]
            _must_be_close(p, q, float(allowed), case)
            compared += 2 * len(p)
            if corners.may_stay(here.place, there.place):
                p, q = p / corners.coin(here.place), q / corners.coin(there.place)
                _must_be_close(p, q, float(allowed), case)
                compared += 2 * len(p)
    statement = f"{compared} comparisons of a crowd table with total weight {total}"
    return Check.proved(guarantee, compared, statement)


def _must_be_rows(shape: CrowdShape, total: int, rows: tuple[Weights, ...]) -> None:
    """A row for each crowd: the leader, then one rival at each gap, and all sum to the total."""
    numbers = [total, *(weight for row in rows for weight in row)]
    if any(type(number) is not int for number in numbers) or not 0 < total < 1 << _LEAST_SHARE:
        raise InvalidMechanism("the weights of a crowd table must be whole numbers below 2^64")
    if len(rows) != len(shape.crowds) or any(len(row) != shape.knots + 1 for row in rows):
        raise InvalidMechanism(
            f"a crowd table must have {len(shape.crowds)} rows of {shape.knots + 1} weights"
        )
    for crowd, (leader, *rivals) in zip(shape.crowds.tolist(), rows, strict=True):
        shared = shape.ties == Ties.ANY_LEADER and crowd[0] > 0
        present = [(some, weight) for some, weight in zip(crowd, rivals, strict=True) if some]
        if leader < 1 or any(weight < 1 for _, weight in present):
            raise InvalidMechanism("every answer at a gap of a crowd table must have some weight")
        if sum(rivals) != sum(weight for _, weight in present):
            raise InvalidMechanism(f"a gap without a rival must have no weight, got {rivals}")
        if leader + sum(some * weight for some, weight in present) != total:
            raise InvalidMechanism(f"the rows of a crowd table must sum to {total}")
        if shared and rivals[0] != leader:
            raise InvalidMechanism("leaders that are tied must have equal weights")


def _must_be_fine(shape: CrowdShape, total: int, coins: Chances) -> None:
    """Coins that fall by the ratio, from certainty, and stop where no comparison can tell."""
    if coins.ratio != shape.ratio or coins.top != coins.total:
        raise InvalidMechanism("the coins of a crowd table must fall from 1 by its ratio")
    # A coin is off its power of the ratio by less than twice the least; that moves a mean of rows
    # by at most as much of the total, and no weight is below 1.
    off = 4 * shape.answers * coins.at(coins.farthest) * total
    if off << 44 > coins.total:
        raise InvalidMechanism("the coins of a crowd table must be finer for this total")


def _must_be_close(p: Floats, q: Floats, allowed: float, case: Case) -> None:
    if (p > allowed * (1 - _CLEAR) * q).any() or (q > allowed * (1 - _CLEAR) * p).any():
        excess = max(float((p / q).max()), float((q / p).max())) / allowed - 1
        raise InvalidMechanism(
            "neighboring rows of a crowd table must be close, but where rivals move by "
            f"{case.alone} and {case.bystanders} they exceed by a factor of {excess:.3g}"
        )


@dataclass(frozen=True)
class Seat:
    """An answer in many crowds: 0 is the leader's place, and 1, 2, … those of gaps 0, 1, …"""

    crowds: Integers
    place: int


@dataclass(frozen=True)
class Corners:
    """The corners of all cases: crowds with rivals up to two records behind the last knot."""

    shape: CrowdShape

    @cached_property
    def crowds(self) -> Integers:
        """How many rivals are at each gap, at most one of them two records behind the last knot."""
        crowds = crowds_up_to(self.shape.answers - 1, self.shape.knots + 2)
        return crowds[crowds[:, -1] <= 1]

    def pairs(self, case: Case) -> Iterator[tuple[Seat, Seat]]:
        """For each answer its seats at all corners of a case, here and there."""
        moved = crowds_up_to(self.shape.answers - 1 - len(case.alone), len(case.bystanders))
        sides = []
        for side in (0, 1):
            at = np.zeros((len(moved), self.shape.knots + 2), dtype=np.int64)
            for number, move in enumerate(case.bystanders):
                at[:, move[side]] += moved[:, number]
            for move in case.alone:
                if move[side] != LEADS:
                    at[:, move[side]] += 1
            if side and case.leader is not None:
                at[:, case.leader] += 1
            sides.append(_found(at, self.crowds))
        here, there = sides
        yield Seat(here, 0), Seat(there, 0 if case.leader is None else case.leader + 1)
        for mine, theirs in case.alone:
            yield Seat(here, mine + 1), Seat(there, theirs + 1)
        for number, (mine, theirs) in enumerate(case.bystanders):
            some = moved[:, number] > 0
            yield Seat(here[some], mine + 1), Seat(there[some], theirs + 1)

    def coin(self, place: int) -> float:
        """The chance of a rival's own coin."""
        return float(self.shape.ratio ** max(0, place - self.shape.knots))

    def may_stay(self, here: int, there: int) -> bool:
        """Whether a rival moves where coins decide, so that far behind it may also stay."""
        return here != there and min(here, there) >= self.shape.knots

    @cached_property
    def means(self) -> list[tuple[Any, int]]:
        """For each place a sparse matrix and a column of the rows: their product is its chances.

        The matrix takes the mean over the coins of the rivals behind the last knot, times the
        chance of one's own. An answer that is not there has the chance 0.
        """
        knots = self.shape.knots
        far = self.crowds[:, knots:]
        all_of_them = self._mean(self.crowds[:, :knots], far, np.ones(len(far)))
        means = [(all_of_them, place) for place in range(knots + 1)]
        beside = self.crowds[:, :knots] + (np.arange(knots) == knots - 1)
        for steps in (1, 2):
            there = far[:, steps - 1] > 0
            others = far - (there[:, None] & (np.arange(2) == steps - 1))
            own: Floats = self.coin(knots + steps) * there.astype(np.float64)
            means.append((self._mean(np.where(there[:, None], beside, 0), others, own), knots))
        return means

    def _mean(self, near: Integers, far: Integers, own: Floats) -> Any:
        """The mean over the coins of the rivals behind the last knot, times ``own``."""
        from scipy import sparse

        size = self.shape.answers
        ways = np.zeros((len(near), size))  # of so many heads
        ways[:, 0] = own
        for steps, many in enumerate(far.T, 1):
            heads = self._heads(steps)[many]
            ways = np.stack(
                [(ways[:, : k + 1] * heads[:, k::-1]).sum(axis=1) for k in range(size)], axis=1
            )
        rows, columns, shares = [], [], []
        for heads_up in range(size):
            some = np.flatnonzero(ways[:, heads_up])
            crowds = near[some].copy()
            crowds[:, -1] += heads_up
            rows.append(some)
            columns.append(_found(crowds, self.shape.crowds))
            shares.append(ways[some, heads_up])
        where = np.concatenate(rows), np.concatenate(columns)
        return sparse.csr_array(
            (np.concatenate(shares), where), shape=(len(near), len(self.shape.crowds))
        )

    def _heads(self, steps: int) -> Floats:
        """The chance of so many heads among so many coins of rivals so far behind the last knot."""
        size, power = self.shape.answers, self.shape.ratio**steps
        heads, tails = float(power), float(1 - power)
        return np.array(
            [
                [math.comb(n, k) * heads**k * tails ** max(0, n - k) for k in range(size)]
                for n in range(size)
            ]
        )


def _found(crowds: Integers, among: Integers) -> Integers:
    """The numbers of crowds in a list of all there are."""
    marks = np.random.default_rng(0).integers(1 << 62, size=crowds.shape[1])  # sums may wrap around
    known = among @ marks
    order = np.argsort(known)
    numbers: Integers = order[np.searchsorted(known, crowds @ marks, sorter=order)]
    if (among[numbers] != crowds).any():
        raise InvalidMechanism("a crowd table must have a row for every crowd, but one is missing")
    return numbers

"""Proving a crowd table: every pair of neighboring votes, in finitely many comparisons.

**Moves.** A change moves one or two rivals by themselves, may make one of them the leader, and
moves the gap of every other rival, a *bystander*, by a constant, or, where ties go to the first
listed and the leader changes, by one of two constants that differ by 1: which one depends on its
place in the list. ``cases`` lists them. Where a bystander has no letter in the word of its crowd,
here nor there, its place in the list is left open, so that a case covers all lists.

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

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from rainbowdp.aliases import Floats, Integers, Weights
from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.falling_proof import Chances, must_fall
from rainbowdp.guarantees.closeness import lines_of
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.rules.crowd_table.shape import Crowds, CrowdShape, crowds_up_to, words_of

Token: TypeAlias = int | str | tuple[int, int, str]  # a bystander, a leader, or one alone
Tokens: TypeAlias = list[tuple[Token, Integers]]  # with their gaps

LEADS = -1  # in the place of a gap: is the leader
LEADER, LEAD = "the leader here", "the leader there"
BEFORE, AFTER, ANYWHERE = "before", "after", "anywhere"  # seen from the leader there
_CLEAR = 2.0**-40
_remembered: dict[str, int] = {}  # how many comparisons rows were proved by, by their digest
_LEAST_SHARE = 64  # bits: no weight is less than this part of a row


@dataclass(frozen=True)
class Case:
    """Neighbors that differ by one kind of change; a move is a pair of gaps, here and there.

    ``alone`` are the rivals that move by themselves, each with where it has to be listed; the gaps
    of all others, the *bystanders*, change by ``shift``. Where a rival takes the lead, ``lead`` has
    its gap here and the gap there of the leader here, and the gaps of bystanders listed before it
    (from the leader on, round the list) change by one less than ``shift``.
    """

    alone: tuple[tuple[int, int, str], ...]
    shift: int
    lead: tuple[int, int] | None = None


def cases(shape: CrowdShape) -> Iterator[Case]:
    """Every kind of change, for one end of every pair of neighbors.

    A rival that is out stays out, so it is in no list of moves. One that overtakes from a gap of 1
    is seen from the other end: there the former leader overtakes from 0, or, where any leader is
    right, gains two.
    """
    fall, gain, gain_two = (moves_by(shift, shape.knots) for shift in (1, -1, -2))
    first_listed = shape.ties == Ties.FIRST_LISTED
    yield Case((), 1)  # the leader has a record more
    for rival in gain:  # another answer has, and does not overtake
        yield Case(((*rival, ANYWHERE),), 0)
    if first_listed:  # or it does; where any leader is right that is the first case
        yield Case((), 1, (0, 0))
    if shape.neighbors != Neighbors.SUBSTITUTED:
        return
    for alone in ((), *(((*rival, ANYWHERE),) for rival in gain_two)):
        yield Case(alone, -1)  # the leader gives a record, and stays
    for loser in fall:  # a rival gives a record to one that is out, or to another
        for others in ((), *(((*rival, ANYWHERE),) for rival in gain)):
            yield Case(((*loser, ANYWHERE), *others), 0)
    if first_listed:  # the leader gives a record, and the rival that has it leads, or a third one
        yield Case((), 1, (0, 1))
        moved = [(*rival, AFTER) for rival in gain] + [(*rival, BEFORE) for rival in gain_two]
        for others in ((), *((rival,) for rival in moved)):
            yield Case(others, 0, (0, 0))
    else:  # the rival leads; where another is tied with the leader, that is a rival giving
        yield Case((), 0, (1, 1))


def moves_by(shift: int, knots: int, first: int = 0) -> tuple[tuple[int, int], ...]:
    """The moves by so many records whose nearer end is one of the knots from the first on."""
    least = max(0, -shift)
    return tuple((gap + least, gap + least + shift) for gap in range(first, knots))


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
    digest = hashlib.sha256(repr((allowed, shape, total, rows)).encode()).hexdigest()
    if digest not in _remembered:
        _remembered[digest] = _compared(float(allowed), shape, total, rows)
    compared = _remembered[digest]
    statement = f"{compared} comparisons of a crowd table with total weight {total}"
    return Check.proved(guarantee, compared, statement)


def _compared(allowed: float, shape: CrowdShape, total: int, rows: tuple[Weights, ...]) -> int:
    """How many comparisons hold, if all do."""
    corners = Corners(shape)
    shares = np.array(rows, dtype=np.float64) / float(total)
    chances = corners.means @ shares.T.ravel()
    compared = 0
    for case in cases(shape):
        for pair in corners.pairs(case):
            p, q = chances[pair.here], chances[pair.there]
            _must_be_close(p, q, allowed, case)
            compared += 2 * len(p)
            if corners.may_stay(*pair.gaps):
                mine, theirs = (corners.coin(gap) for gap in pair.gaps)
                _must_be_close(p / mine, q / theirs, allowed, case)
                compared += 2 * len(p)
    return compared


def _must_be_rows(shape: CrowdShape, total: int, rows: tuple[Weights, ...]) -> None:
    """A row for each crowd: the leader, then the others by seat, and all sum to the total."""
    numbers = [total, *(weight for row in rows for weight in row)]
    if any(type(number) is not int for number in numbers) or not 0 < total < 1 << _LEAST_SHARE:
        raise InvalidMechanism("the weights of a crowd table must be whole numbers below 2^64")
    crowds = shape.crowds
    if len(rows) != crowds.size or any(len(row) != crowds.seats for row in rows):
        raise InvalidMechanism(
            f"a crowd table must have {crowds.size} rows of {crowds.seats} weights"
        )
    for taken, row in zip(crowds.taken.tolist(), rows, strict=True):
        if any(weight < 1 for many, weight in zip(taken, row, strict=True) if many):
            raise InvalidMechanism("every answer at a gap of a crowd table must have some weight")
        if any(weight for many, weight in zip(taken, row, strict=True) if not many):
            raise InvalidMechanism(f"a seat that nobody has must have no weight, got {row}")
        if sum(many * weight for many, weight in zip(taken, row, strict=True)) != total:
            raise InvalidMechanism(f"the rows of a crowd table must sum to {total}")
        if shape.ties == Ties.ANY_LEADER and taken[1] and row[1] != row[0]:
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
            f"{case.alone} and {case.shift} they exceed by a factor of {excess:.3g}"
        )


@dataclass(frozen=True)
class Pair:
    """One answer at many corners: its seats here and there, and its gaps, or 0 where these differ.

    All seats are numbered: the leader's in every crowd, then the next seat's in every crowd, …
    """

    here: Integers
    there: Integers
    gaps: tuple[int, int]


@dataclass(frozen=True)
class Corners:
    """The corners of all cases: crowds with rivals up to two records behind the last knot."""

    shape: CrowdShape

    @cached_property
    def crowds(self) -> Crowds:
        """The crowds at both ends of the corners."""
        return Crowds(self.shape.answers - 1, self.shape.ordered, self.shape.places + 2)

    def pairs(self, case: Case) -> Iterator[Pair]:
        """Every answer at all corners of a case.

        A corner is an order of those who have a letter here or there, and how many of the others
        make each of the moves that are open to them.
        """
        knots, ordered, size = self.shape.knots, self.shape.ordered, self.crowds.size
        free = self.shape.answers - 1 - len(case.alone) - (case.lead is not None)
        moves = [move for shift in self._shifts(case) for move in moves_by(shift, knots, ordered)]
        for length in range(free + 1 if ordered else 1):
            words = words_of(ordered, length)
            moved = crowds_up_to(free - length, len(moves))
            more = [self._counted(moved, [move[end] for move in moves]) for end in (0, 1)]
            for order in _orders(length, case, ordered):
                ends = _ends(order, words, case)
                (codes, mine), (other_codes, theirs) = (self._seated(end) for end in ends)
                here = self.crowds.numbers(codes[:, None] + more[0])
                there = self.crowds.numbers(other_codes[:, None] + more[1])
                for name, seat in mine.items():
                    yield Pair(
                        (here + size * seat[:, None]).ravel(),
                        (there + size * theirs[name][:, None]).ravel(),
                        name[:2] if isinstance(name, tuple) else (0, 0),
                    )
                for number, (gap, moved_to) in enumerate(moves):
                    some = moved[:, number] > 0
                    yield Pair(
                        (here[:, some] + size * self.crowds.seat(gap)).ravel(),
                        (there[:, some] + size * self.crowds.seat(moved_to)).ravel(),
                        (gap, moved_to),
                    )

    def _shifts(self, case: Case) -> tuple[int, ...]:
        """By how much the gaps of bystanders may change."""
        if case.lead is None or self.shape.ties == Ties.ANY_LEADER:
            return (case.shift,)
        return (case.shift, case.shift - 1)

    def _counted(self, moved: Integers, gaps: list[int]) -> Integers:
        """The codes of those who are at these gaps, so many at each of them."""
        codes = np.zeros(len(moved), dtype=np.int64)
        for number, gap in enumerate(gaps):
            codes += moved[:, number] * self.crowds.digits[gap - self.shape.ordered]
        return codes

    def _seated(self, tokens: Tokens) -> tuple[Integers, dict[Token, Integers]]:
        """The codes of those who stand in this order, at many gaps at once, and their seats."""
        crowds, ordered = self.crowds, self.shape.ordered
        many = len(tokens[0][1])
        codes = np.zeros(many, dtype=np.int64)
        written = np.zeros(many, dtype=np.int64)  # letters so far
        seats = {}
        for name, gaps in tokens:
            leads, near = gaps == LEADS, (gaps != LEADS) & (gaps < ordered)
            letters = crowds.letter_codes(gaps, written)
            counted = crowds.digits[np.maximum(gaps - ordered, 0)]
            codes = codes + np.where(leads, 0, np.where(near, letters, counted))
            seats[name] = np.where(leads, 0, np.where(near, 1 + written, crowds.seat(0) + gaps))
            written = written + near
        return codes, seats

    @cached_property
    def means(self) -> Any:
        """A sparse matrix from the weights of all rows, seat by seat, to the chances of all seats.

        It takes the mean over the coins of the rivals behind the last knot, times the chance of
        one's own. An answer that is not there has the chance 0.
        """
        from scipy import sparse

        crowds, places, seats = self.crowds, self.shape.places, self.shape.crowds.seats
        words, near, far = crowds.words, crowds.counts[:, :places], crowds.counts[:, places:]
        all_of_them = self._mean(words, near, far, np.ones(len(far)))
        blocks = [sparse.kron(sparse.eye_array(seats), all_of_them)]
        beside = near + (np.arange(places) == places - 1)
        last = sparse.csr_array(([1.0], ([0], [seats - 1])), shape=(1, seats))
        for steps in (1, 2):
            there = far[:, steps - 1] > 0
            others = far - (there[:, None] & (np.arange(2) == steps - 1))
            own: Floats = self.coin(self.shape.knots - 1 + steps) * there.astype(np.float64)
            mean = self._mean(words, np.where(there[:, None], beside, near), others, own)
            blocks.append(sparse.kron(last, mean))
        return sparse.vstack(blocks, format="csr")

    def coin(self, gap: int) -> float:
        """The chance of a rival's own coin."""
        return float(self.shape.ratio ** max(0, gap - self.shape.knots + 1))

    def may_stay(self, here: int, there: int) -> bool:
        """Whether a rival moves where coins decide, so that far behind it may also stay."""
        return here != there and min(here, there) >= self.shape.knots - 1

    def _mean(self, words: Integers, near: Integers, far: Integers, own: Floats) -> Any:
        """The mean over the coins of the rivals behind the last knot, times ``own``."""
        from scipy import sparse

        size, known = self.shape.answers, self.shape.crowds
        ways = np.zeros((len(near), size))  # of so many heads
        ways[:, 0] = own
        for steps, many in enumerate(far.T, 1):
            heads = self._heads(steps)[many]
            ways = np.stack(
                [(ways[:, : k + 1] * heads[:, k::-1]).sum(axis=1) for k in range(size)], axis=1
            )
        codes = known.word_codes(words) + known.count_codes(near)
        rows, columns, shares = [], [], []
        for heads_up in range(size):
            some = np.flatnonzero(ways[:, heads_up])
            rows.append(some)
            columns.append(known.numbers(codes[some] + heads_up * known.digits[-1]))
            shares.append(ways[some, heads_up])
        where = np.concatenate(rows), np.concatenate(columns)
        return sparse.csr_array((np.concatenate(shares), where), shape=(len(near), known.size))

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


def _orders(length: int, case: Case, ordered: int) -> list[tuple[Token, ...]]:
    """All orders of so many bystanders, of the rival that takes the lead and of those alone.

    One alone that never has a letter comes last, as its place in the order does not matter.
    """
    orders: list[tuple[Token, ...]] = [tuple(range(length))]
    if case.lead is not None:
        orders = [(*one[:spot], LEAD, *one[spot:]) for one in orders for spot in range(length + 1)]
    for mover in case.alone:
        longer: list[tuple[Token, ...]] = []
        for one in orders:
            if min(mover[:2]) >= ordered:
                longer.append((*one, mover))
                continue
            first = one.index(LEAD) + 1 if mover[2] == AFTER else 0
            last = one.index(LEAD) if mover[2] == BEFORE else len(one)
            longer += [(*one[:spot], mover, *one[spot:]) for spot in range(first, last + 1)]
        orders = longer
    return orders


def _ends(order: tuple[Token, ...], words: Integers, case: Case) -> tuple[Tokens, Tokens]:
    """Everybody in the order in which they follow the leader, with their gaps, here and there."""
    one = np.ones(len(words), dtype=np.int64)
    here: Tokens = [(LEADER, LEADS * one)]
    there: Tokens = []
    ahead = order.index(LEAD) if case.lead is not None else 0
    for spot, token in enumerate(order):
        if isinstance(token, int):
            shift = case.shift - (spot < ahead)
            here.append((token, words[:, token] + max(0, -shift)))
            there.append((token, words[:, token] + max(0, shift)))
        elif isinstance(token, str):
            assert case.lead is not None
            here.append((token, case.lead[0] * one))
            there.append((token, LEADS * one))
        else:
            here.append((token, token[0] * one))
            there.append((token, token[1] * one))
    if case.lead is None:
        return here, [(LEADER, LEADS * one), *there]
    return here, [*there[ahead:], (LEADER, case.lead[1] * one), *there[:ahead]]

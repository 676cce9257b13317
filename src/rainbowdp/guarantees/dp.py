"""Guarantees as trade-off curves, and (ε,δ)-differential privacy.

A guarantee is a trade-off curve f: any test that guesses which of two neighboring datasets an
answer came from, with false alarms at rate x, misses at a rate of at least f(x). The code keeps
φ(s) = 1 − f(s), which is concave and increasing, because of what φ does to a mechanism: if a set
of answers has probability s on a dataset, it has at most φ(s) on a neighbor, and the best
distribution one step deeper has prefix sums φ(s_1), …, φ(s_q). ``docs/theory.md`` has the proofs.

======================  ==========================================================
``step(s)``             φ(s)
``grow(s, depth)``      φ applied ``depth`` times
``ungrow(s, depth)``    the least prefix sum that grows to ``s``
``rows(row, depth)``    the best distribution ``depth`` steps away from ``row``
``excess(p, q)``        how far two distributions are from being close
``best_guess()``        how often telling two neighbors apart can succeed
======================  ==========================================================
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rainbowdp.aliases import Floats
from rainbowdp.display import cards
from rainbowdp.errors import InvalidDistribution, InvalidGuarantee, RainbowError
from rainbowdp.guarantees.growth import SATURATED, Coefficients, Line, advance, rows
from rainbowdp.guarantees.worth import guess_in_words
from rainbowdp.numeric.quantity import (
    Number,
    ball,
    exact,
    exact_distribution,
    first_integer_above,
    refine,
)

if TYPE_CHECKING:
    from flint import arb

ROUNDING = 1e-12  # the relative accuracy of every probability this package computes
UNDERFLOW = 2.3e-308  # a smaller float may stand for anything up to this
SMALLEST_EPSILON = Fraction(1, 10**100)
LARGEST_EPSILON = 700  # e^700 is the last round number that a float can hold
SMALLEST_DELTA = Fraction(1, 10**300)

FloatOrArray: TypeAlias = Any  # a float for scalar input, otherwise an array


class Excess(float):
    """By how much two distributions break a guarantee: 0.0 when they are close.

    The number is the largest P(S) − φ(Q(S)) over all sets S of answers and both directions; for
    (ε,δ) that is P(S) − e^ε·Q(S) − δ. ``answers`` are the indices of the answers in the set that
    attains it, and ``first`` says whether the first distribution is the one with too much mass
    there.
    """

    answers: tuple[int, ...]
    first: bool

    def __new__(cls, value: float, answers: Iterable[int] = (), first: bool = True) -> Excess:
        """The number ``value`` together with the set that proves it."""
        self = super().__new__(cls, value)
        self.answers = tuple(int(a) for a in answers)
        self.first = first
        return self

    def __repr__(self) -> str:
        if not self:
            return "Excess(0.0)"
        return f"Excess({float(self):.6g}, answers={self.answers}, first={self.first})"


class Guarantee(ABC):
    """A symmetric trade-off curve; use ``DP``, ``GaussianDP`` or ``TradeOff``."""

    @abstractmethod
    def _advance(self, s: Floats, r: Floats, depth: Floats) -> tuple[Floats, Floats]:
        """(φ^depth(s), 1 − φ^depth(s)) where r = 1 − s; all arrays have the same shape."""

    @abstractmethod
    def _rows(self, row: Sequence[Fraction], depths: Floats) -> Floats:
        """The rows at finite whole ``depths``, each entry right to a relative 1e-12."""

    @property
    @abstractmethod
    def moves(self) -> bool:
        """Whether φ differs from the identity."""

    @property
    @abstractmethod
    def _lifts_zero(self) -> bool:
        """Whether φ(0) > 0."""

    def __getstate__(self) -> dict[str, Any]:
        """Pickle only the defining parameters; everything else is computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        level = np.linspace(0.0, 1.0, 65)
        points = zip(level.tolist(), (1.0 - self.step(level)).tolist(), strict=True)
        return cards.card(
            self, cards.curve(points), f"misses by false alarms; {self.in_words('one change')}"
        )

    @abstractmethod
    def _violations(
        self, p: Floats, q: Floats, rounding: float
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """For each pair the largest p(S) − φ(q(S)), zero within rounding, and the set S."""

    def step(self, s: ArrayLike) -> FloatOrArray:
        """φ(s): the largest probability that a set of probability ``s`` may have on a neighbor.

        Parameters
        ----------
        s
            A prefix sum in [0, 1], or an array of them.

        Returns
        -------
        float or array
            φ(s), of the shape of ``s``.

        Examples
        --------
        >>> DP.from_ratio(2, 1).step([0.25, 0.5])
        array([0.5 , 0.75])

        """
        return self.grow(s, 1)

    def grow(self, s: ArrayLike, depth: ArrayLike) -> FloatOrArray:
        """φ applied ``depth`` times to the prefix sums ``s``, in closed form.

        Parameters
        ----------
        s
            A prefix sum in [0, 1], or an array of them.
        depth
            A whole number from 0, infinity (for the limit), or an array of these. Broadcasts with
            ``s``.

        Returns
        -------
        float or array
            The grown prefix sums. Cost: a few operations per entry, whatever the depth.

        Examples
        --------
        >>> DP.from_ratio(2, 1).grow(0.25, [0, 1, 2, 1_000_000])
        array([0.25, 0.5 , 0.75, 1.  ])

        """
        prefix, depths, scalar = _prefix_and_depth(s, depth)
        grown, _ = self._advance(prefix, 1.0 - prefix, depths)
        return grown.item() if scalar else grown

    def ungrow(self, s: ArrayLike, depth: ArrayLike) -> FloatOrArray:
        """The least u with ``grow(u, depth) >= s``: the generalized inverse of ``grow``.

        Because a trade-off curve is its own inverse, this is 1 − grow(1 − s, depth).

        Parameters
        ----------
        s
            A prefix sum in [0, 1], or an array of them.
        depth
            A whole number from 0, infinity, or an array of these. Broadcasts with ``s``.

        Returns
        -------
        float or array
            The least prefix sums that grow to ``s``.

        Examples
        --------
        >>> DP.from_ratio(2, 1).ungrow([0.75, 1.0], 2)
        array([0.25, 1.  ])

        """
        prefix, depths, scalar = _prefix_and_depth(s, depth)
        _, shrunk = self._advance(1.0 - prefix, prefix, depths)
        return shrunk.item() if scalar else shrunk

    def rows(self, row: Sequence[Number] | NDArray[Any], depth: ArrayLike) -> Floats:
        """The greatest distribution that the guarantee allows ``depth`` steps away from ``row``.

        Greatest in the dominance order: no distribution reachable under the guarantee has a larger
        prefix sum anywhere (theory, Theorem 2).

        Parameters
        ----------
        row
            Probabilities in preference order, most preferred first.
        depth
            A whole number from 0, infinity, or an array of these.

        Returns
        -------
        array
            A row for each depth, in preference order. Every entry above 1e-300 is right to a
            relative error of 1e-12.

        Raises
        ------
        InvalidDistribution
            If ``row`` is not a distribution.

        Examples
        --------
        >>> DP.from_ratio(2, 1).rows([0.2, 0.3, 0.5], [0, 1, 2])
        array([[0.2  , 0.3  , 0.5  ],
               [0.4  , 0.35 , 0.25 ],
               [0.7  , 0.175, 0.125]])

        """
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise InvalidDistribution(f"a row must be a sequence of probabilities, got {row!r}")
        depths, start = _depths(depth), exact_distribution(list(row))
        distinct, inverse = np.unique(depths.reshape(-1), return_inverse=True)
        found = np.empty((len(distinct), len(start)))
        endless = np.isinf(distinct)
        found[~endless] = self._rows(start, distinct[~endless])
        if endless.any():
            limits = [self._limit(s) for s in itertools.accumulate(start)]
            ends = itertools.pairwise([Fraction(0), *limits])
            found[endless] = [float(high - low) for low, high in ends]
        return found[inverse].reshape(*depths.shape, len(start))

    def _limit(self, s: Fraction) -> Fraction:
        """φ applied forever: a point that moves at all ends at 1, since φ is concave."""
        return Fraction(1) if self.moves and (s > 0 or self._lifts_zero) else s

    def excess(self, p: ArrayLike, q: ArrayLike, *, rounding: float = ROUNDING) -> Excess:
        """The largest violation over all sets of answers in both directions, with its set.

        Parameters
        ----------
        p, q
            Two distributions over the same answers.
        rounding
            The relative error to which probabilities are assumed to be known; what rounding alone
            could explain is no violation. 0 takes floats at face value.

        Returns
        -------
        Excess
            0.0 if the distributions are close, otherwise by how much and on which answers they are
            not.

        Raises
        ------
        InvalidDistribution
            If ``p`` or ``q`` is not a distribution, or they differ in length.

        Examples
        --------
        >>> DP.from_ratio(2, 1).excess([0.5, 0.5], [0.25, 0.75])
        Excess(0.0)
        >>> DP.from_ratio(2, 1).excess([0.5, 0.5], [0.85, 0.15])
        Excess(0.2, answers=(1,), first=True)

        """
        if not 0 <= rounding < 1:
            raise RainbowError(f"rounding must be in [0, 1), got rounding={rounding!r}")
        first, second = _float_distribution(p), _float_distribution(q)
        if first.shape != second.shape:
            raise InvalidDistribution(
                "two distributions must be over the same answers, "
                f"got {first.size} and {second.size} probabilities"
            )
        pair = first[None, :], second[None, :]
        forth, forth_set = self._violations(*pair, rounding)
        back, back_set = self._violations(*pair[::-1], rounding)
        if max(forth[0], back[0]) == 0:
            return Excess(0.0)
        if forth[0] >= back[0]:
            return Excess(forth[0], np.flatnonzero(forth_set[0]))
        return Excess(back[0], np.flatnonzero(back_set[0]), first=False)

    def best_guess(self) -> float:
        """The largest chance to guess which of two neighboring datasets an answer came from.

        Both are taken to be equally likely before. It is 1 − s where φ(s) = 1 − s:
        (e^ε + δ)/(e^ε + 1) under (ε,δ), Φ(μ/2) under μ-Gaussian privacy. The proof is in
        ``docs/how-to/choose.md``.

        Returns
        -------
        float
            From 1/2, for a guarantee that lets nothing out, to 1, for one that promises nothing.

        Examples
        --------
        >>> round(DP(1).best_guess(), 4)
        0.7311

        """

        def misses(alarms: float) -> float:
            level = np.array([alarms])
            return float(self._advance(level, 1.0 - level, np.ones(1))[1][0])

        high = 0.5  # f(s) − s falls, and is at most 0 at one half
        if misses(0.0) == 0:
            return 1.0
        while misses(high / 2) < high / 2:
            high /= 2
        low = high / 2
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if misses(middle) >= middle else (low, middle)
        return min(1.0 - low, 1.0 - 2.0**-53)  # certain only where nothing is promised

    def in_words(self, about: str = "one record") -> str:
        """What the guarantee is worth to whom it protects.

        Parameters
        ----------
        about
            What neighboring datasets differ in.

        Returns
        -------
        str
            How often a fifty-fifty guess about it can be right.

        Examples
        --------
        >>> DP(5).in_words()
        'a fifty-fifty guess about one record can become nearly certain once the answer is out'

        """
        return guess_in_words(self.best_guess(), about)

    def excesses(self, p: Floats, q: Floats, *, rounding: float = ROUNDING) -> Floats:
        """``excess`` for each pair of rows of two arrays of valid distributions."""
        forth, _ = self._violations(p, q, rounding)
        back, _ = self._violations(q, p, rounding)
        return np.maximum(forth, back)


class PiecewiseLinear(Guarantee):
    """A guarantee whose φ is the minimum of finitely many lines."""

    @property
    def moves(self) -> bool:
        """Whether φ differs from the identity."""
        line = self.lines[0]
        return line.slope_less_one != 0 or line.rises

    @property
    def _lifts_zero(self) -> bool:
        return self.lines[0].rises

    @property
    @abstractmethod
    def lines(self) -> tuple[Line, ...]:
        """The pieces of φ from left to right, with falling slopes."""

    def _advance(self, s: Floats, r: Floats, depth: Floats) -> tuple[Floats, Floats]:
        return advance(self.lines, s, r, depth)

    def _rows(self, row: Sequence[Fraction], depths: Floats) -> Floats:
        return rows(self.lines, row, depths)

    def _violations(
        self, p: Floats, q: Floats, rounding: float
    ) -> tuple[Floats, NDArray[np.bool_]]:
        # A line of slope below one says of S what its mirror image says of the complement, the
        # other way round; so the steep lines suffice, and for each the best set is explicit.
        worst = np.zeros(len(p))
        sets = np.zeros(p.shape, dtype=np.bool_)
        for line in self.lines:
            if line.slope < 1:
                continue
            gap = p - line.slope * q
            noise = rounding * (p + line.slope * q) + (line.slope * UNDERFLOW if rounding else 0.0)
            chosen = gap > noise  # term by term: rounding in one must not hide another
            violation = np.where(chosen, gap, 0.0).sum(axis=1) - line.rise
            doubt = np.where(chosen, noise, 0.0).sum(axis=1) if line.rise else 0.0
            larger = (violation > doubt) & (violation > worst)
            worst[larger] = violation[larger]
            sets[larger] = chosen[larger]
        return worst, sets


@dataclass(frozen=True, repr=False)
class DP(PiecewiseLinear):
    """(ε,δ)-differential privacy: P(S) ≤ e^ε·Q(S) + δ for all sets S, in both directions.

    φ(s) = min{1, e^ε·s + δ, 1 − (1 − s − δ)/e^ε}; the two slopes meet at θ = (1 − δ)/(e^ε + 1).
    (The paper prints another operator, which breaks the promise when δ > 0; see
    ``docs/theory.md``, Erratum.)

    A float is taken as exactly the binary fraction it is; give a string, ``Decimal`` or
    ``Fraction`` for an exact decimal, and ``DP.from_ratio(6, 5)`` for e^ε = 6/5.

    Parameters
    ----------
    epsilon
        0, or a number in [1e-100, 700].
    delta
        0, or a number in [1e-300, 1].

    Raises
    ------
    InvalidGuarantee
        If ``epsilon`` or ``delta`` is out of range.

    Examples
    --------
    >>> DP(1), DP("0.1", delta=1e-6), DP.from_ratio(6, 5)
    (DP(epsilon=1), DP(epsilon=0.1, delta=1e-06), DP.from_ratio(6, 5))

    """

    exact_epsilon: Fraction | None
    exact_delta: Fraction
    exact_ratio: Fraction | None

    def __init__(self, epsilon: Number, delta: Number = 0) -> None:
        value = exact(epsilon, "epsilon", InvalidGuarantee)
        if not 0 <= value <= LARGEST_EPSILON:
            raise InvalidGuarantee(
                f"epsilon must be in [0, {LARGEST_EPSILON}], got epsilon={epsilon}"
            )
        if 0 < value < SMALLEST_EPSILON:
            raise InvalidGuarantee(
                f"epsilon must be 0 or at least 1e-100, got epsilon={epsilon}; use 0"
            )
        self._fill(value, delta, Fraction(1) if value == 0 else None)

    @classmethod
    def from_ratio(cls, numerator: Number, denominator: Number = 1, *, delta: Number = 0) -> DP:
        """The guarantee with e^ε = numerator/denominator, exactly.

        Parameters
        ----------
        numerator, denominator
            Their quotient is e^ε: 1, or from 1 + 1e-100 to e^700.
        delta
            0, or a number in [1e-300, 1].

        Returns
        -------
        DP
            The guarantee.

        Raises
        ------
        InvalidGuarantee
            If the ratio or ``delta`` is out of range.

        Examples
        --------
        >>> DP.from_ratio(3).epsilon
        1.0986122886681098

        """
        top = exact(numerator, "numerator", InvalidGuarantee)
        bottom = exact(denominator, "denominator", InvalidGuarantee)
        if bottom <= 0 or not _is_ratio(top / bottom):
            raise InvalidGuarantee(
                "the ratio e^epsilon must be 1 or in [1 + 1e-100, e^700], "
                f"got {numerator if denominator == 1 else f'{numerator}/{denominator}'}"
            )
        self = object.__new__(cls)
        ratio = top / bottom
        self._fill(Fraction(0) if ratio == 1 else None, delta, ratio)
        return self

    def _fill(self, epsilon: Fraction | None, delta: Number, ratio: Fraction | None) -> None:
        exact_delta = exact(delta, "delta", InvalidGuarantee)
        if not 0 <= exact_delta <= 1:
            raise InvalidGuarantee(f"delta must be in [0, 1], got delta={delta}")
        if 0 < exact_delta < SMALLEST_DELTA:
            raise InvalidGuarantee(f"delta must be 0 or at least 1e-300, got delta={delta}; use 0")
        object.__setattr__(self, "exact_epsilon", epsilon)
        object.__setattr__(self, "exact_delta", exact_delta)
        object.__setattr__(self, "exact_ratio", ratio)

    def __repr__(self) -> str:
        delta = f"delta={float(self.delta):.12g}" if self.delta else ""
        if self.exact_ratio is not None and self.exact_ratio != 1:
            inside = f"{self.exact_ratio.numerator}, {self.exact_ratio.denominator}"
            return f"DP.from_ratio({inside}{', ' + delta if delta else ''})"
        return f"DP(epsilon={self.epsilon:.12g}{', ' + delta if delta else ''})"

    def __str__(self) -> str:
        if self.exact_ratio is not None and self.exact_ratio != 1:
            epsilon = f"log({self.exact_ratio})"
        else:
            epsilon = f"{self.epsilon:.12g}"
        return f"({epsilon}, {self.delta:.12g})-DP" if self.delta else f"{epsilon}-DP"

    @cached_property
    def epsilon(self) -> float:
        """ε as the nearest float."""
        if self.exact_epsilon is not None:
            return float(self.exact_epsilon)
        return refine(lambda: self.ratio_ball().log())

    @cached_property
    def delta(self) -> float:
        """δ as the nearest float."""
        return float(self.exact_delta)

    @cached_property
    def ratio(self) -> float:
        """e^ε as the nearest float."""
        return refine(self.ratio_ball)

    def ratio_ball(self) -> arb:
        """e^ε as a ball of the current precision."""
        if self.exact_ratio is not None:
            return ball(self.exact_ratio)
        assert self.exact_epsilon is not None
        return ball(self.exact_epsilon).exp()

    @property
    def threshold(self) -> float:
        """θ = (1 − δ)/(e^ε + 1), where growth turns into saturation."""
        return (1 - self.delta) / (self.ratio + 1)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """φ as lines: growth below θ, saturation above it, then certainty."""
        delta = self.exact_delta
        if delta == 1:
            return (SATURATED,)

        def flat() -> Coefficients:
            return Coefficients(ball(Fraction(1)), *map(ball, (delta, delta, 1 - delta, delta)))

        def low() -> Coefficients:
            e, d = self.ratio_ball(), ball(delta)
            return Coefficients(e, d, e - 1 + d, (1 - d) / (e + 1), (e + d) / (e + 1))

        def high() -> Coefficients:
            e, d = self.ratio_ball(), ball(delta)
            return Coefficients(1 / e, (e - 1 + d) / e, d / e, ball(1 - delta), d)

        moving = (Line(flat),) if self.exact_ratio == 1 else (Line(low), Line(high))
        return (*moving, SATURATED) if delta else moving

    def phase_change(self, s: ArrayLike) -> FloatOrArray:
        """τ: the first depth at which a prefix sum that starts at ``s`` exceeds θ.

        Parameters
        ----------
        s
            A prefix sum in [0, 1], or an array of them.

        Returns
        -------
        float or array
            The depths, decided exactly, ties included; infinite where θ is never exceeded (s = 0
            and δ = 0).

        Examples
        --------
        >>> DP.from_ratio(6, 5).phase_change([0.0005, 0.0086, 0.145, 0.4177, 1.0])
        array([38., 22.,  7.,  1.,  0.])

        """
        prefix, _, scalar = _prefix_and_depth(s, 0)
        change = np.array([self._phase_change(Fraction(float(x))) for x in prefix.reshape(-1)])
        return change.item() if scalar else change.reshape(prefix.shape)

    def _phase_change(self, s: Fraction) -> float:
        delta = self.exact_delta
        if self.exact_ratio == 1:
            if s > (1 - delta) / 2:
                return 0.0
            return math.inf if delta == 0 else float(((1 - delta) / 2 - s) // delta + 1)
        if s == 0 and delta == 0:
            return math.inf

        def crossing() -> arb:
            e, d = self.ratio_ball(), ball(delta)
            start = ball(s) + d / (e - 1)
            return (((1 - d) / (e + 1) - ball(s)) / start).log1p() / e.log()

        return float(max(0, first_integer_above(crossing)))


def _is_ratio(ratio: Fraction) -> bool:
    largest = Fraction(math.exp(LARGEST_EPSILON))
    return ratio == 1 or 1 + SMALLEST_EPSILON <= ratio <= largest


def _float_distribution(values: ArrayLike) -> Floats:
    row = np.asarray(values)
    if row.ndim != 1:
        raise InvalidDistribution(
            f"a distribution must be one row of probabilities, got {row.ndim} dimensions"
        )
    return np.array([float(p) for p in exact_distribution(row.tolist())])


def _depths(depth: ArrayLike) -> Floats:
    depths = np.asarray(depth)
    try:
        if depths.dtype == object:  # integers beyond every float are as good as infinite
            whole = [math.inf if abs(n) > 10**300 else float(n) for n in depths.reshape(-1)]
            depths = np.array(whole).reshape(depths.shape)
        depths = depths.astype(np.float64)
    except (TypeError, ValueError):
        raise RainbowError(
            f"depth must be a whole number from 0 or infinity, got depth={depth!r}"
        ) from None
    wrong = ~((depths >= 0) & (np.floor(depths) == depths))
    if wrong.any():
        value = depths[wrong].flat[0]
        raise RainbowError(
            f"depth must be a whole number from 0 or infinity, got depth={value:.17g}"
        )
    return depths


def _prefix_and_depth(s: ArrayLike, depth: ArrayLike) -> tuple[Floats, Floats, bool]:
    try:
        prefix = np.asarray(s, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidDistribution(f"a prefix sum must be a number in [0, 1], got {s!r}") from None
    depths = _depths(depth)
    wrong = ~((prefix >= 0) & (prefix <= 1))
    if wrong.any():
        value = prefix[wrong].flat[0]
        raise InvalidDistribution(f"a prefix sum must be in [0, 1], got {value:.17g}")
    scalar = prefix.ndim == 0 and depths.ndim == 0
    try:
        prefix, depths = np.broadcast_arrays(prefix, depths)
    except ValueError:
        raise RainbowError(
            f"the shapes of s and depth must broadcast, got {prefix.shape} and {depths.shape}"
        ) from None
    return np.ascontiguousarray(prefix), np.ascontiguousarray(depths), scalar

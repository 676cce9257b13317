"""Guarantees that are trade-off curves, and what follows from a curve.

A trade-off curve f is a promise about tests: whoever guesses which of two neighboring datasets an
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
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rainbowdp.aliases import Floats
from rainbowdp.display import cards
from rainbowdp.errors import InvalidDistribution, InvalidGuarantee, RainbowError
from rainbowdp.expecting import brief
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.quantity import Number, exact_distribution

ROUNDING = 1e-12  # the relative accuracy of every probability this package computes
UNDERFLOW = 2.3e-308  # a smaller float may stand for anything up to this

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


class TradeOffCurve(Guarantee):
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
        >>> from rainbowdp import DP
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
        >>> from rainbowdp import DP
        >>> DP.from_ratio(2, 1).grow(0.25, [0, 1, 2, 1_000_000])
        array([0.25, 0.5 , 0.75, 1.  ])

        """
        prefix, depths, scalar = prefix_and_depth(s, depth)
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
        >>> from rainbowdp import DP
        >>> DP.from_ratio(2, 1).ungrow([0.75, 1.0], 2)
        array([0.25, 1.  ])

        """
        prefix, depths, scalar = prefix_and_depth(s, depth)
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
        >>> from rainbowdp import DP
        >>> DP.from_ratio(2, 1).rows([0.2, 0.3, 0.5], [0, 1, 2])
        array([[0.2  , 0.3  , 0.5  ],
               [0.4  , 0.35 , 0.25 ],
               [0.7  , 0.175, 0.125]])

        """
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise InvalidDistribution(
                f"a row must be a sequence of probabilities, got {brief(row)}"
            )
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
        >>> from rainbowdp import DP
        >>> DP.from_ratio(2, 1).excess([0.5, 0.5], [0.25, 0.75])
        Excess(0.0)
        >>> DP.from_ratio(2, 1).excess([0.5, 0.5], [0.85, 0.15])
        Excess(0.2, answers=(1,), first=True)

        """
        if not 0 <= rounding < 1:
            raise RainbowError(f"rounding must be in [0, 1), got rounding={brief(rounding)}")
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
        >>> from rainbowdp import DP
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

    def excesses(self, p: Floats, q: Floats, *, rounding: float = ROUNDING) -> Floats:
        """``excess`` for each pair of rows of two arrays of valid distributions."""
        forth, _ = self._violations(p, q, rounding)
        back, _ = self._violations(q, p, rounding)
        return np.maximum(forth, back)


def curve_of(guarantee: object, what: str) -> TradeOffCurve:
    """The guarantee, if it is a curve; ``what`` names in the message who goes by it.

    >>> from rainbowdp import DP
    >>> curve_of(DP(1), "optimal")
    DP(epsilon=1)
    """
    if isinstance(guarantee, TradeOffCurve):
        return guarantee
    if isinstance(guarantee, Guarantee):
        raise InvalidGuarantee(
            f"{what} goes by a trade-off curve, and {guarantee} has none; use DP, GaussianDP or "
            "TradeOff, or ask a question with rb.best"
        )
    got = type(guarantee).__name__
    raise InvalidGuarantee(f"{what} needs a DP, GaussianDP or TradeOff, got {got}")


def _float_distribution(values: ArrayLike) -> Floats:
    try:
        row = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise InvalidDistribution("a distribution must be one row of probabilities") from None
    if row.ndim != 1:
        raise InvalidDistribution(
            f"a distribution must be one row of probabilities, got {row.ndim} dimensions"
        )
    return np.array([float(p) for p in exact_distribution(row.tolist())])


def _depths(depth: ArrayLike) -> Floats:
    try:
        depths = np.asarray(depth)
        if depths.dtype == object:  # integers beyond every float are as good as infinite
            whole = [math.inf if abs(n) > 10**300 else float(n) for n in depths.reshape(-1)]
            depths = np.array(whole).reshape(depths.shape)
        depths = depths.astype(np.float64)
    except (TypeError, ValueError, ArithmeticError):
        raise RainbowError(
            f"depth must be a whole number from 0 or infinity, got depth={brief(depth)}"
        ) from None
    wrong = ~((depths >= 0) & (np.floor(depths) == depths))
    if wrong.any():
        value = depths[wrong].flat[0]
        raise RainbowError(
            f"depth must be a whole number from 0 or infinity, got depth={value:.17g}"
        )
    return depths


def prefix_and_depth(s: ArrayLike, depth: ArrayLike) -> tuple[Floats, Floats, bool]:
    """Both as arrays of one shape, checked, and whether both were single numbers."""
    try:
        prefix = np.asarray(s, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidDistribution(
            f"a prefix sum must be a number in [0, 1], got {brief(s)}"
        ) from None
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

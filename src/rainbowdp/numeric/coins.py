"""Permute-and-flip in floats: the chances of coins turned into the chances of answers."""

from __future__ import annotations

from functools import lru_cache
from math import lgamma, log, log1p

import numpy as np

from rainbowdp.aliases import Floats

_MANY = 200  # answers from which on all nodes would take long to find
_EACH = 24  # nodes of a part


def first_heads(chances: Floats) -> Floats:
    """The rows of permute-and-flip, in floats, from rows of chances whose largest is 1.

    The integrand is a polynomial of degree q − 1, so Gauss–Legendre quadrature with ⌈q/2⌉ nodes is
    exact; and since every term is positive, the result is right to a few ulps. Its derivative of
    order k is at most s^k, where s is the sum of the chances, so that fewer nodes are as good where
    most coins are small. For hundreds of likely answers the interval is halved towards 0, where the
    integrand falls like an exponential at most that steep, and each part has a few nodes: right to
    a relative 1e-12.
    """
    size = chances.shape[1]
    enough = min((size + 1) // 2, _enough(float(chances.sum(axis=1).max(initial=0.0))))
    nodes, shares = _nodes(enough) if enough <= _MANY // 2 else _halved(size)
    rows = np.zeros_like(chances)
    for node, share in zip(nodes, shares, strict=True):
        factors = 1 - node * chances
        rows += share * factors.prod(axis=1, keepdims=True) / factors
    return chances * rows


def heads_of_a_crowd(near: Floats, far: Floats, rivals: int) -> Floats:
    """What ``rivals`` coins of one chance have together, beside a nearer one and one of 1.

    Row by row, ``near`` and ``far`` are the chances; a near coin of 0 is none.

    >>> heads_of_a_crowd(np.array([0.0]), np.array([0.5]), 1)
    array([0.25])
    """
    size = rivals + 2
    nodes, shares = _nodes((size + 1) // 2) if size <= _MANY else _halved(size)
    x = nodes[:, None]
    others = (1 - x) * (1 - x * near) * (1 - x * far) ** max(rivals - 1, 0)
    together: Floats = rivals * far * (shares[:, None] * others).sum(axis=0)
    return together


@lru_cache(maxsize=16)
def _nodes(count: int) -> tuple[Floats, Floats]:
    """Nodes and shares on [0, 1]."""
    nodes, shares = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, shares / 2


@lru_cache(maxsize=16)
def _halved(size: int) -> tuple[Floats, Floats]:
    """Nodes and shares on [½, 1], [¼, ½], … and what is left above 0."""
    nodes, shares = _nodes(_EACH)
    widths = 0.5 ** np.arange(1, size.bit_length() + 1)
    starts = np.append(widths, 0.0)
    widths = np.append(widths, widths[-1])
    placed = (starts[:, None] + widths[:, None] * nodes).ravel()
    return placed, (widths[:, None] * shares).ravel()


def _enough(total: float) -> int:
    """How many nodes are right to 1e-17 of 1/(1 + total), which every integral is at least.

    The error of m nodes on [0, 1] is the derivative of order 2m, at most total^2m, times
    (m!)^4 / ((2m + 1)·(2m)!^3).
    """
    for m in range(1, _MANY):
        fact = 4 * lgamma(m + 1) - 3 * lgamma(2 * m + 1) - log(2 * m + 1)
        if 2 * m * log(max(total, 1.0)) + fact + log1p(total) < log(1e-17):
            return m
    return _MANY

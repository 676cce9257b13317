"""Permute-and-flip in floats: the chances of coins turned into the chances of answers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rainbowdp.aliases import Floats


def first_heads(chances: Floats) -> Floats:
    """The rows of permute-and-flip, in floats, from rows of chances whose largest is 1.

    The integrand is a polynomial of degree q − 1, so Gauss–Legendre quadrature with ⌈q/2⌉ nodes is
    exact; and since every term is positive, the result is right to a few ulps for any number of
    answers.
    """
    size = chances.shape[1]
    nodes, shares = _nodes((size + 1) // 2)
    rows = np.zeros_like(chances)
    for node, share in zip((nodes + 1) / 2, shares / 2, strict=True):
        rows += share * _product_of_others(1 - node * chances)
    return chances * rows


@lru_cache(maxsize=16)
def _nodes(count: int) -> tuple[Floats, Floats]:
    nodes, shares = np.polynomial.legendre.leggauss(count)
    return nodes, shares


def _product_of_others(factors: Floats) -> Floats:
    """Π_{i≠v} of each row, as products from both sides, so that nothing tiny is divided by."""
    ones = np.ones((len(factors), 1))
    before = np.cumprod(np.concatenate([ones, factors[:, :-1]], axis=1), axis=1)
    after = np.cumprod(np.concatenate([ones, factors[:, :0:-1]], axis=1), axis=1)[:, ::-1]
    return before * after

"""Permute-and-flip in floats, beside integrals with many digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from rainbowdp.numeric.coins import first_heads


@pytest.mark.parametrize("size", [2, 7, 200, 201, 900])
@pytest.mark.parametrize("fall", [0.0, 0.01, 3.0])
def test_rows_are_the_integrals(size: int, fall: float) -> None:
    """With every rival alike but one, the product of the others is a power."""
    rival, near = float(np.exp(-fall)), 0.9
    chances = np.full((1, size), rival)
    chances[0, 0], chances[0, -1] = 1.0, near
    row = first_heads(chances)[0]
    assert row.sum() == pytest.approx(1, abs=1e-12)
    with mp.workdps(30):
        for answer in (0, size - 1):
            own, beside = (1.0, near) if answer == 0 else (near, 1.0)

            def product(t: mp.mpf, beside: float = beside) -> mp.mpf:
                return (1 - t * beside) * (1 - t * mp.mpf(rival)) ** (size - 2)

            parts = [0, *(mp.mpf(2) ** -power for power in range(12, -1, -1))]
            assert row[answer] == pytest.approx(float(own * mp.quad(product, parts)), rel=1e-10)

"""Permute-and-flip: the first heads in a random order of coins, exactly.

With the chances z_v of heads, of which one is 1, and a draw among all heads alike,

    p_v = z_v · ∫₀¹ Π_{i≠v} (1 − t·z_i) dt.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rainbowdp.aliases import Weights


def row_of_coins(chances: Sequence[int], bits: int) -> Weights:
    """The row of these chances, of 2^bits: integers of the total lcm(1, …, q)·2^(bits·q).

    Π (T − t·c_i) over all answers is divided by each factor T − t·c_v in turn and integrated.
    """
    product = [1]
    for chance in chances:
        longer = [*(coefficient << bits for coefficient in product), 0]
        for power, coefficient in enumerate(product, 1):
            longer[power] -= chance * coefficient
        product = longer
    whole = math.lcm(*range(1, len(chances) + 1))
    row = []
    for chance in chances:
        integral = coefficient = 0
        for power in range(len(chances)):
            coefficient = (product[power] + chance * coefficient) >> bits  # no rest
            integral += whole // (power + 1) * coefficient
        row.append(chance * integral)
    return tuple(row)

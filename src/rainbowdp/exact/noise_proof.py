"""Proving noise for counts: one pair of rows stands for all counts and all changes.

Let one person change a count by at most k, and let Z be noise whose weights do not grow with the
distance from 0. The answers for counts n and n + s, s ≤ k, are Z and Z + s in a window of whole
numbers, moved by n. A window inside a larger one is post-processing, so the widest one decides; and
the sum of max(0, P_v − α·Q_v), α ≥ 1, of Z and Z + s is at most that of Z and Z + k, term by term.
So the pair Z, Z + k, both clamped to the widest window, covers them all (``docs/counts.md``).

Zero-concentrated privacy is proved through Gaussian privacy: μ implies ρ = μ²/2.
"""

from __future__ import annotations

from itertools import pairwise

from rainbowdp.aliases import Weights
from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.noise import NoiseRow
from rainbowdp.guarantees.closeness import (
    BITS,
    GaussianPromise,
    Promise,
    first_violation,
    promise_of,
)
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.quantity import root_below

# As many as are made; a file may claim anything.
_LONGEST = 1 << 18
_LONGEST_CURVE = 1 << 15


def has_balls(guarantee: Guarantee) -> bool:
    """Whether rows are held against a curve without lines, which takes longer."""
    return isinstance(guarantee, GaussianDP | ZeroConcentrated)


def prove_noise(guarantee: Guarantee, row: NoiseRow, change: int, at_most: int) -> Check:
    """Counts up to ``at_most`` with this noise keep the guarantee where they change so much."""
    if row.reach < at_most:
        raise InvalidMechanism(
            f"noise for counts up to {at_most} must reach as far, got a reach of {row.reach}"
        )
    if row.reach <= row.farthest + change:
        raise InvalidMechanism(
            f"noise for changes of {change} must have a reach above {row.farthest + change}, "
            f"got {row.reach}"
        )
    longest = _LONGEST_CURVE if has_balls(guarantee) else _LONGEST
    if len(row.half) > longest + 1:
        raise InvalidMechanism(
            f"noise can be proved with at most {longest:,} weights on a side for {guarantee}, "
            f"got {len(row.half):,}"
        )
    must_not_grow(row)
    one, other = widest_pair(row, change)
    if first_violation(promise_for_numbers(guarantee, row.total), one, other) is not None:
        raise InvalidMechanism(
            f"noise must be close to itself moved by {change}, but exceeds {guarantee}"
        )
    moved = "one record" if change == 1 else f"{change} records"
    return Check.proved(
        guarantee,
        len(one),
        f"noise of total weight 2^{row.total.bit_length() - 1} and more beside itself moved by "
        f"{moved}, {len(one)} weights compared",
    )


def must_not_grow(row: NoiseRow) -> None:
    """Refuse weights that grow with the distance from 0, below the ends."""
    if any(near < far for near, far in pairwise((*row.half, row.tail))):
        raise InvalidMechanism("weights of noise must not grow with the distance from 0, but do")


def widest_pair(row: NoiseRow, change: int) -> tuple[Weights, Weights]:
    """Z and Z + k, both clamped to the window from −(reach − k) to the reach, place by place.

    Places where both have the weight of the tail count together as one.

    >>> widest_pair(NoiseRow((4, 2, 1), 0, 0, 9), 1)
    ((0, 0, 1, 2, 4, 2, 1, 0, 0, 0), (0, 0, 0, 1, 2, 4, 2, 1, 0, 0))
    """
    far, reach = row.farthest, row.reach
    places = range(-far, far + change + 1)
    crowd = change * row.tail
    left = (reach - change - 1 - far) * row.tail  # from the lower end up to −far
    right = (reach - 1 - far - change) * row.tail
    z = [row.end + crowd, left, *(row.weight(place) for place in places), right, row.end]
    moved = [row.end, left, *(row.weight(place - change) for place in places), right]
    return tuple(z), (*moved, row.end + crowd)


def promise_for_numbers(guarantee: Guarantee, total: int) -> Promise:
    """The promise as rows are held against it; ρ is kept by the curve of μ = √(2ρ)."""
    if isinstance(guarantee, ZeroConcentrated):
        return GaussianPromise(root_below(2 * guarantee.exact_rho, BITS))
    return promise_of(guarantee, total)

"""The compared datasets, and which ε makes another mechanism as good on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from rainbowdp.aliases import Dataset, Floats
from rainbowdp.answering.distance import MeanOff
from rainbowdp.baselines import (
    exponential,
    inverse_sensitivity,
    permute_and_flip,
    randomized_response,
)
from rainbowdp.baselines.base import World, with_epsilon
from rainbowdp.errors import InvalidGuarantee, RainbowError
from rainbowdp.expecting import expect
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.guarantee import Guarantee

Maker: TypeAlias = Callable[[Any, Any], Any]  # a world and a guarantee to a mechanism
SURE = 0.99
_FARTHEST = 10**9  # a margin beyond which nobody asks
_LARGEST_EPSILON = 64.0
OTHERS: Mapping[str, Maker] = {
    "textbook exponential": exponential,
    "textbook permute-and-flip": permute_and_flip,
    "randomized response": randomized_response,
    "inverse sensitivity": inverse_sensitivity,
}


class Places:
    """The compared datasets: where the true answer is and how near the rivals are."""

    def __init__(self, margins: Floats, over: str) -> None:
        self.margins, self.over = margins, over
        self.true = margins.argmin(axis=1)
        rivals = margins.copy()
        rivals[np.arange(len(margins)), self.true] = math.inf
        self.margin = rivals.min(axis=1)

    def truth(self, mechanism: Any) -> Floats:
        """P(true answer) at each dataset."""
        raise NotImplementedError

    def error(self, chance: Floats) -> float:
        """The mean error over the datasets as they count, if ``chance`` are those of the truth."""
        return float((1 - chance).mean())

    def off(self, mechanism: Any) -> MeanOff | None:
        """How far off answers are in the mean; none where answers have no order."""
        return None

    def show(self, place: int) -> Dataset:
        """The dataset at ``place``."""
        raise NotImplementedError

    def least(self, chance: Floats) -> dict[int, float]:
        """The least of ``chance`` at each finite margin."""
        finite = np.unique(self.margin[np.isfinite(self.margin)])
        return {int(m): float(chance[self.margin == m].min()) for m in finite}

    def _picked(self, rows: Floats) -> Floats:
        picked: Floats = rows[np.arange(len(rows)), self.true]
        return picked


def named_makers(mechanisms: Mapping[str, Maker] | Sequence[Maker]) -> Mapping[str, Maker]:
    """Makers by name; those of a list have the names of their functions."""
    if isinstance(mechanisms, Mapping):
        named = dict(mechanisms)
    else:
        listed = expect(mechanisms, Iterable, "compare")
        named = {getattr(one, "__name__", str(one)).replace("_", " "): one for one in listed}
    for maker in named.values():
        if not callable(maker):
            raise RainbowError(
                "mechanisms must be functions of a world and a guarantee, such as rb.best, "
                f"got {type(maker).__name__}"
            )
    return named


def least_at(mechanism: Any, margin: int) -> float:
    """The least probability of the true answer over all tables of this margin."""
    return float(mechanism.by_margin([margin])[0][1])


def sure_from(mechanism: Any, places: Places, chance: Floats) -> int | None:
    """The margin from which the true answer has 99 %, by doubling and bisection."""
    told = hasattr(mechanism, "by_margin") and getattr(mechanism, "knows_margins", True)
    if not told:
        least = places.least(chance)
        short = [margin for margin, p in least.items() if p < SURE]
        after = [margin for margin in least if not short or margin > max(short)]
        return min(after, default=None)
    high = 1
    while least_at(mechanism, high) < SURE:
        high *= 2
        if high > _FARTHEST:
            return None
    low = high // 2  # not enough, or no margin at all
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if least_at(mechanism, middle) >= SURE else (middle, high)
    return high


def epsilon_to_match(
    maker: Maker,
    world: World,
    guarantee: Guarantee,
    places: Places,
    target: float,
    chance: Floats,
    reference: bool,
) -> float | None:
    """The least ε whose mean error is at most ``target``, by bisection; None if there is none."""
    if not isinstance(guarantee, DP):
        return None
    if reference or abs(places.error(chance) - target) <= 1e-12:
        return guarantee.epsilon

    def enough(epsilon: float) -> bool:
        try:
            found = places.truth(maker(world, with_epsilon(guarantee, epsilon)))
        except InvalidGuarantee:
            return False
        return places.error(found) <= target

    high = max(guarantee.epsilon, 1e-3)
    while not enough(high):
        high *= 2
        if high > _LARGEST_EPSILON:
            return None
    low = 0.0 if enough(high / 2) else high / 2
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high

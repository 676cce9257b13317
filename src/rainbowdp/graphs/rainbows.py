"""Preference orders, and what it means for one distribution to be better than another.

A *rainbow* lists all answers, most preferred first. Two distributions written in one rainbow's
order are compared by their prefix sums:

* dominance: every prefix sum is at least as large (a partial order);
* lexicographic: the first prefix sum that differs is larger (a total order, implied by dominance);
* utility: the expected worth is larger, for a worth that never rises along the rainbow.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Floats, Rainbow
from rainbowdp.errors import InvalidDistribution, InvalidRainbow, RainbowError
from rainbowdp.expecting import brief, expect
from rainbowdp.guarantees.curve import ROUNDING
from rainbowdp.numeric.quantity import exact_distribution

Order: TypeAlias = Literal["dominance", "lexicographic"]
Verdict: TypeAlias = Literal["equal", "dominates", "dominated", "incomparable"]


def as_rainbow(order: Iterable[Answer], answers: Sequence[Answer] | None = None) -> Rainbow:
    """``order`` as a tuple, checked to be a permutation of ``answers`` (or to have no repeats).

    >>> as_rainbow(["blue", "red"], answers=["red", "blue"])
    ('blue', 'red')
    """
    if isinstance(order, str | Set) or not isinstance(order, Iterable):
        raise InvalidRainbow(
            f"a rainbow must be a sequence of answers, most preferred first, got {brief(order)}"
        )
    rainbow = tuple(order)
    if not rainbow:
        raise InvalidRainbow("a rainbow must list at least one answer, got none")
    try:
        known = set(rainbow)
    except TypeError:
        raise InvalidRainbow(f"answers must be hashable, got {brief(rainbow)}") from None
    if len(known) != len(rainbow):
        twice = next(a for a in rainbow if rainbow.count(a) > 1)
        raise InvalidRainbow(
            f"a rainbow must list each answer once, got {brief(twice)} twice in {show(rainbow)}"
        )
    if answers is not None and known != set(answers):
        missing = [a for a in answers if a not in known]
        if missing:
            raise InvalidRainbow(
                f"a rainbow must list every answer, got {show(rainbow)} without {brief(missing[0])}"
            )
        unknown = next(a for a in rainbow if a not in set(answers))
        raise InvalidRainbow(
            f"a rainbow must be a permutation of the answers {show(answers)}, "
            f"got the unknown answer {brief(unknown)} in {show(rainbow)}"
        )
    return rainbow


def show(rainbow: Iterable[Answer]) -> str:
    """A rainbow for a message: ``blue > red > green``."""
    return " > ".join(brief(answer, str) for answer in rainbow)


def in_order(condition: Any, rainbow: Rainbow) -> tuple[Fraction, ...]:
    """A distribution in the order of ``rainbow``, from a mapping or a sequence."""
    if isinstance(condition, Mapping):
        unknown = next((answer for answer in condition if answer not in rainbow), None)
        if unknown is not None:
            raise InvalidDistribution(
                f"a distribution must be over the answers {', '.join(map(str, rainbow))}, "
                f"got the unknown answer {brief(unknown)}"
            )
        return exact_distribution([condition.get(answer, 0) for answer in rainbow])
    if isinstance(condition, str | Set) or not hasattr(condition, "__len__"):
        raise InvalidDistribution(
            f"a distribution must be a mapping or a sequence, got {brief(condition)}"
        )
    return exact_distribution(list(condition), len(rainbow))


def prefix_signs(a: Floats, b: Floats) -> NDArray[np.int8]:
    """The sign of (prefix sum of a) − (prefix sum of b), for each row and proper prefix.

    Rows are in preference order. Each difference is taken between prefix sums or between tails,
    whichever are smaller, and is zero within the rounding of the probabilities.
    """
    sums = np.cumsum(a, axis=1)[:, :-1], np.cumsum(b, axis=1)[:, :-1]
    tails = tuple(np.cumsum(x[:, ::-1], axis=1)[:, -2::-1] for x in (a, b))
    by_sums = sums[0] + sums[1] <= tails[0] + tails[1]
    difference = np.where(by_sums, sums[0] - sums[1], tails[1] - tails[0])
    size = np.where(by_sums, sums[0] + sums[1], tails[0] + tails[1])
    return np.where(np.abs(difference) > ROUNDING * size, np.sign(difference), 0).astype(np.int8)


def compare_rows(a: Floats, b: Floats, order: Order = "dominance") -> NDArray[np.int8]:
    """``prefix_signs`` as the order reads them: all of them, or only the first that differs."""
    signs = prefix_signs(np.atleast_2d(a), np.atleast_2d(b))
    expect(order, str, "an order of mechanisms")
    if order == "dominance":
        return signs
    if order == "lexicographic":
        earlier = np.cumsum(np.abs(signs), axis=1) - np.abs(signs)
        return np.where(earlier == 0, signs, 0).astype(np.int8)
    raise RainbowError(
        f"order must be 'dominance', 'lexicographic' or a Utility, got order={brief(order)}"
    )


def verdict(better: bool, worse: bool) -> Verdict:
    """The relation of the first to the second, given where the first is better and where worse."""
    if better and worse:
        return "incomparable"
    if better:
        return "dominates"
    return "dominated" if worse else "equal"


@dataclass(frozen=True)
class Utility:
    """An order-reasonable utility U = Σ_d E[u_d(answer)].

    Worth must never rise along a rainbow; then a mechanism that dominates another never has less
    utility.

    Parameters
    ----------
    worth
        A function ``worth(dataset, answer)``.
    places
        Instead of a function: the worth of the first, second, … choice, the same for every dataset.

    Raises
    ------
    RainbowError
        If both or neither are given, or a worth rises from one choice to the next.

    Examples
    --------
    >>> Utility(places=(1, 0, 0)).places              # the chance of the first choice
    (1.0, 0.0, 0.0)

    """

    places: tuple[float, ...] | None = None
    worth: Callable[[Dataset, Answer], float] | None = None

    def __init__(
        self,
        worth: Callable[[Dataset, Answer], float] | None = None,
        *,
        places: Sequence[float] | None = None,
    ) -> None:
        if (worth is None) == (places is None):
            raise RainbowError(
                "a utility is either a function worth(dataset, answer) or places; give one of them"
            )
        if places is not None:
            places = check_worths(places, "places")
        object.__setattr__(self, "worth", worth)
        object.__setattr__(self, "places", places)

    def worths(self, dataset: Dataset, rainbow: Rainbow) -> tuple[float, ...]:
        """The worth of each answer of ``rainbow``, in its order.

        Parameters
        ----------
        dataset
            The dataset whose answers are valued.
        rainbow
            Its preference order.

        Returns
        -------
        tuple of float
            The worths, which never rise.

        """
        if self.places is not None:
            if len(self.places) != len(rainbow):
                raise RainbowError(
                    f"places must give a worth for each of the {len(rainbow)} answers, "
                    f"got {len(self.places)}"
                )
            return self.places
        assert self.worth is not None
        return check_worths([self.worth(dataset, a) for a in rainbow], f"dataset {dataset!r}")


def check_worths(worths: Sequence[float], where: str) -> tuple[float, ...]:
    """The worths of answers in preference order; raises if they are not order-reasonable."""
    try:
        worths = [float(worth) for worth in worths]
    except (TypeError, ValueError):
        raise RainbowError(f"worths must be numbers, got {tuple(worths)} for {where}") from None
    if not all(np.isfinite(worths)):
        raise RainbowError(f"worths must be finite, got {tuple(worths)} for {where}")
    if any(second > first for first, second in itertools.pairwise(worths)):
        raise RainbowError(
            f"worth must never rise from one choice to the next, got {tuple(worths)} for {where}"
        )
    return tuple(worths)

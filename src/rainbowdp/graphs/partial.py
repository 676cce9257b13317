"""Rainbows with ties, or that list only the first few answers.

A *partial* rainbow is a sequence of tiers, best first. A tier is one answer, or several that are
as good as each other; answers that are not listed share the last tier. A mechanism needs one whole
order for each region, so tiers are written out in the order of the answers, and the ties go into a
utility by which every answer of a tier is worth the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rainbowdp.aliases import Answer, Label, Rainbow
from rainbowdp.errors import InvalidRainbow
from rainbowdp.expecting import brief
from rainbowdp.graphs.rainbows import as_rainbow


@dataclass(frozen=True)
class PartialRainbows:
    """Partial rainbows written out; made by ``rb.partial_rainbows``.

    Attributes
    ----------
    answers
        All answers.
    rainbows
        For each label a whole order of them: what ``RainbowGraph`` takes.
    utility
        For each label what an answer is worth: 1 in the first tier, else 0. This is what
        ``rb.best``, ``rb.design``, ``rb.program`` and ``rb.compare`` take.
    tiers
        For each label the number of each answer's tier, from 0.

    """

    answers: tuple[Answer, ...]
    rainbows: Mapping[Label, Rainbow]
    utility: Mapping[Label, Mapping[Answer, float]]
    tiers: Mapping[Label, Mapping[Answer, int]]

    @property
    def tied(self) -> bool:
        """Whether any rainbow has two first choices."""
        return any(sum(row.values()) > 1 for row in self.utility.values())


def partial_rainbows(
    given: Mapping[Label, Sequence[Answer | Iterable[Answer]]],
    answers: Sequence[Answer] | None = None,
) -> PartialRainbows:
    """Write partial rainbows out as whole ones, with a utility that knows their ties.

    Parameters
    ----------
    given
        For each label its tiers, best first: an answer, or a list or set of answers that are as
        good as each other. What is not listed shares the last tier.
    answers
        All answers; by default those that occur, in order of appearance.

    Returns
    -------
    PartialRainbows
        Whole rainbows for ``RainbowGraph``, and a utility by label for ``rb.best`` and its like.

    Raises
    ------
    InvalidRainbow
        If a rainbow lists an answer twice or an unknown one, or lists none.

    Examples
    --------
    >>> found = partial_rainbows({"north": ["a", "b"], "south": [["b", "c"]]})
    >>> found.rainbows
    {'north': ('a', 'b', 'c'), 'south': ('b', 'c', 'a')}
    >>> found.utility["south"]
    {'a': 0.0, 'b': 1.0, 'c': 1.0}

    """
    tiers = {label: [_tier(part) for part in order] for label, order in given.items()}
    seen = dict.fromkeys(a for order in tiers.values() for tier in order for a in tier)
    everything = as_rainbow(answers if answers is not None else seen)
    rainbows, worth, numbers = {}, {}, {}
    for label, order in tiers.items():
        listed = [answer for tier in order for answer in tier]
        stray = next((answer for answer in listed if answer not in everything), None)
        if stray is not None or not listed:
            fault = "none" if not listed else f"the unknown answer {stray!r}"
            raise InvalidRainbow(
                f"the rainbow of {brief(label)} must list at least one of the answers, got {fault}"
            )
        place = {answer: number for number, tier in enumerate(order) for answer in tier}
        if len(place) < len(listed):
            twice = next(answer for answer in listed if listed.count(answer) > 1)
            raise InvalidRainbow(
                f"the rainbow of {brief(label)} must list each answer once, got {brief(twice)} "
                "twice"
            )
        numbers[label] = {answer: place.get(answer, len(order)) for answer in everything}
        rainbows[label] = tuple(sorted(everything, key=numbers[label].__getitem__))
        worth[label] = {answer: float(place.get(answer) == 0) for answer in everything}
    return PartialRainbows(everything, rainbows, worth, numbers)


def tied_rainbows(orders: Mapping[Label, Sequence[Answer]], ties: str | None) -> PartialRainbows:
    """Rainbows as a file has them, in which ``ties`` joins answers that are as good: ``"a|b"``."""
    return partial_rainbows(
        {
            label: [cell.split(ties) if ties and isinstance(cell, str) else cell for cell in order]
            for label, order in orders.items()
        }
    )


def _tier(part: Answer | Iterable[Answer]) -> tuple[Answer, ...]:
    """The answers of a tier in a fixed order; a tuple is one answer, as it may be a name."""
    if isinstance(part, list):
        return tuple(part)
    if isinstance(part, set | frozenset):
        return tuple(sorted(part, key=str))
    return (part,)

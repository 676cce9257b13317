"""One color for each answer, distinguishable by everyone and in print.

The eight colors stay at least 20 apart (CIE76) for people with any of the three kinds of color
blindness, and the first five differ in lightness by at least 14, so that they remain
distinguishable on a black-and-white printer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

BLUE, ORANGE, GREEN, YELLOW = "#0a4aa6", "#d1560f", "#45c490", "#f4dc3d"
PLUM, LILAC, PINK, BROWN = "#4a1446", "#a3a4f7", "#d58fbf", "#75624f"
PALETTE = (BLUE, ORANGE, GREEN, YELLOW, PLUM, LILAC, PINK, BROWN)

_NAMED = {
    "blue": BLUE,
    "red": ORANGE,
    "orange": ORANGE,
    "green": GREEN,
    "yellow": YELLOW,
    "gold": YELLOW,
    "purple": PLUM,
    "violet": LILAC,
    "pink": PINK,
    "brown": BROWN,
}


def colors(answers: Sequence[Any]) -> dict[Any, str]:
    """A color for each answer: its own if it is named after one, otherwise the next free one.

    After eight answers the colors repeat.

    >>> colors(["green", "yes"])
    {'green': '#45c490', 'yes': '#0a4aa6'}
    """
    found: dict[Any, str] = {}
    for answer in answers:
        own = _NAMED.get(str(answer).lower())
        if own is not None and own not in found.values():
            found[answer] = own
    free = [color for color in PALETTE if color not in found.values()]
    for answer in answers:
        if answer not in found:
            taken = len(found)
            found[answer] = free.pop(0) if free else PALETTE[taken % len(PALETTE)]
    return {answer: found[answer] for answer in answers}

"""What was spent when, as a picture: steps in an SVG, their labels in HTML around it.

The SVG is stretched to the width there is, so no text is in it; what is drawn is also in words, in
its label and in the list of entries.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

_WIDE, _HIGH = 1000, 240  # of the drawing, in its own units
_MOST_STEPS = 600  # that a line has; more would not be seen
_MOST_MARKS = 400


@dataclass(frozen=True, slots=True)
class Point:
    """One moment: what was spent and what the budget was after it."""

    time: float
    spent: float
    total: float
    asked: bool


def picture(points: Sequence[Point], symbol: str, words: str) -> str:
    """The figure: what was spent below the budget, from the first point to the last."""
    places = _places(points)
    top = max((point.total for point in points), default=0) or 1.0
    spent = _steps(places, [point.spent for point in points], top)
    total = _steps(places, [point.total for point in points], top)
    asked = [x for x, point in zip(places, points, strict=True) if point.asked]
    marks = "".join(f"M{x:.1f} {_HIGH}v-7" for x in _thinned(asked, _MOST_MARKS))
    ticks = _ticks(top)
    grid = "".join(f'<path class="grid" d="M0 {_y(t, top):.1f}H{_WIDE}"/>' for t in ticks)
    labels = "".join(
        f'<span class="tick" aria-hidden="true" style="bottom:{100 * t / top:.2f}%">'
        f"{symbol}&nbsp;{t:g}</span>"
        for t in ticks
    )
    days = "".join(f"<span>{html.escape(day)}</span>" for day in _days(points))
    return (
        f'<figure><div class="plot">{labels}<svg viewBox="0 0 {_WIDE} {_HIGH}" '
        f'preserveAspectRatio="none" role="img" aria-label="{html.escape(words)}">{grid}'
        f'<path class="area" d="{spent}V{_HIGH}H0Z"/><path class="spent" d="{spent}"/>'
        f'<path class="total" d="{total}"/><path class="asked" d="{marks}"/></svg></div>'
        f'<div class="days" aria-hidden="true">{days}</div>'
        f"<figcaption>{_key()}</figcaption></figure>"
    )


def _key() -> str:
    drawn = {
        "spent": '<path class="spent" d="M0 5H28"/>',
        "budget": '<path class="total" d="M0 5H28"/>',
        "a question": '<path class="asked" d="M14 10v-7"/>',
    }
    rows = "".join(
        f'<li><svg viewBox="0 0 28 10" aria-hidden="true">{shape}</svg>{name}</li>'
        for name, shape in drawn.items()
    )
    return f'<ul class="key">{rows}</ul>'


def _places(points: Sequence[Point]) -> list[float]:
    """Where each point stands from left to right: by its time, or in order where all are at once.

    A clock may go back; the order of the records does not.
    """
    latest, times = -math.inf, []
    for point in points:
        latest = max(latest, point.time)
        times.append(latest)
    if not times:
        return []
    span = times[-1] - times[0]
    if span <= 0:
        last = max(len(times) - 1, 1)
        return [_WIDE * place / last for place in range(len(times))]
    return [_WIDE * (time - times[0]) / span for time in times]


def _steps(places: Sequence[float], values: Sequence[float], top: float) -> str:
    """A line that changes only at its points, of which those too near to be told apart are one."""
    kept: list[tuple[float, float]] = []
    for place, value in zip(places, values, strict=True):
        if len(kept) > 1 and place - kept[-1][0] < _WIDE / _MOST_STEPS:
            kept[-1] = kept[-1][0], _y(value, top)
        else:
            kept.append((place, _y(value, top)))
    if not kept:
        return f"M0 {_HIGH}H{_WIDE}"
    start, *rest = kept
    steps = "".join(f"H{x:.1f}V{y:g}" for x, y in rest)
    return f"M{start[0]:.1f} {start[1]:g}{steps}H{_WIDE}"


def _y(value: float, top: float) -> float:
    return round(_HIGH * (1 - value / top), 1)


def _thinned(places: Sequence[float], most: int) -> list[float]:
    """At most so many places, no two of them nearer than can be seen."""
    found: list[float] = []
    for place in places:
        if not found or place - found[-1] >= _WIDE / most:
            found.append(place)
    return found


def _ticks(top: float) -> list[float]:
    """Two to five round numbers from 0 up to the top.

    >>> _ticks(3), _ticks(0.7)
    ([0.0, 1.0, 2.0, 3.0], [0.0, 0.2, 0.4, 0.6])
    """
    power = 10.0 ** math.floor(math.log10(top))
    step = next(s * power for s in (0.1, 0.2, 0.5, 1, 2, 5) if top / (s * power) <= 4)
    return [float(f"{step * n:.12g}") for n in range(math.floor(top / step + 1e-9) + 1)]


def _days(points: Sequence[Point]) -> list[str]:
    """Three dates, or times where it is all within two days."""
    if not points:
        return []
    first, last = points[0].time, max(point.time for point in points)
    form = "%Y-%m-%d %H:%M" if last - first < 2 * 86400 else "%Y-%m-%d"
    moments = [first] if last <= first else [first, (first + last) / 2, last]
    return [datetime.fromtimestamp(moment, UTC).strftime(form) for moment in moments]

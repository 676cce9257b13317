"""How values show themselves in a notebook: small cards of plain HTML.

There are no scripts, no style sheets and no fixed background: styles are inline and inherit the
notebook's colors, so a card is readable in light and dark mode. Everything that comes from users
is escaped; only an ``Html``, which this module made itself, is passed through as it is.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rainbowdp.display.colors import colors
from rainbowdp.display.numbers import percent

LONGEST = 80  # characters of one text
MOST_ROWS = 8  # of one table

_CARD = (
    "display:inline-block;max-width:100%;overflow:auto;box-sizing:border-box;padding:8px 14px;"
    "border:1px solid rgba(128,128,128,.45);border-radius:6px;font:13px/1.5 sans-serif;"
    "color:inherit;text-align:left"
)
_CELL = (
    "padding:1px 14px 1px 0;border:0;background:none;color:inherit;font:inherit;text-align:left;"
    "vertical-align:middle;white-space:nowrap"
)
_TABLE = "border:0;border-collapse:collapse;margin:2px 0;color:inherit;font:inherit"
_RIM = "box-shadow:0 0 0 1px rgba(128,128,128,.6)"  # dark colors on dark pages
_QUIET = "opacity:.7"


class Html(str):
    """A piece of HTML that is safe as it is."""

    __slots__ = ()


def text(value: object, longest: int = LONGEST) -> Html:
    """Any value as escaped text of bounded length; an ``Html`` stays what it is.

    >>> text("<b>5 > 3</b>")
    '&lt;b&gt;5 &gt; 3&lt;/b&gt;'
    """
    if isinstance(value, Html):
        return value
    words = str(value).encode("utf-8", "replace").decode("utf-8")
    if len(words) > longest:
        words = words[: longest - 1] + "…"
    return Html(html.escape(words))


def card(title: object, *parts: object) -> str:
    """A frame with a title and, below it, one line for each part."""
    inside = "".join(f"<div>{text(part, 400)}</div>" for part in parts)
    return f'<div style="{_CARD}"><div><strong>{text(title, 160)}</strong></div>{inside}</div>'


def facts(named: Mapping[str, object]) -> Html:
    """A table with one line for each fact, names in a quiet color."""
    rows = "".join(
        f'<tr style="background:none"><td style="{_CELL};{_QUIET}">{text(name)}</td>'
        f'<td style="{_CELL}">{text(value)}</td></tr>'
        for name, value in named.items()
    )
    return Html(f'<table style="{_TABLE}">{rows}</table>')


def table(head: Sequence[object], rows: Iterable[Sequence[object]], total: int) -> Html:
    """The first few of ``total`` rows under a header, and how many more there are."""
    shown = [row for row, _ in zip(rows, range(MOST_ROWS), strict=False)]
    cells = "".join(f'<th style="{_CELL};{_QUIET}">{text(h)}</th>' for h in head)
    body = "".join(
        '<tr style="background:none">'
        + "".join(f'<td style="{_CELL}">{text(cell)}</td>' for cell in row)
        + "</tr>"
        for row in shown
    )
    more = total - len(shown)
    rest = f'<div style="{_QUIET}">and {more:,} more</div>' if more > 0 else ""
    return Html(
        f'<table style="{_TABLE}">'
        f'<thead><tr style="background:none;border:0">{cells}</tr></thead>'
        f"<tbody>{body}</tbody></table>{rest}"
    )


def rainbow(order: Sequence[Any], answers: Sequence[Any]) -> Html:
    """A preference order with a dot in the answer's color before each answer."""
    palette = colors(answers)
    parts = [
        '<span style="display:inline-block;width:9px;height:9px;border-radius:5px;'
        f'{_RIM};background:{palette[answer]}"></span> {text(answer, 24)}'
        for answer in order[:MOST_ROWS]
    ]
    more = " &gt; …" if len(order) > MOST_ROWS else ""
    return Html(" &gt; ".join(parts) + more)


def bar(row: Mapping[Any, float], answers: Sequence[Any]) -> Html:
    """A distribution as one bar of colored segments, each with its probability as a tooltip."""
    palette = colors(answers)
    parts = "".join(
        f'<span title="{text(answer)}: {percent(p)}" '
        f'style="width:{100 * float(p):.2f}%;background:{palette[answer]}"></span>'
        for answer, p in row.items()
    )
    return Html(
        '<span style="display:inline-flex;width:140px;height:10px;border-radius:3px;'
        f'overflow:hidden;vertical-align:middle;{_RIM}">{parts}</span>'
    )


def row(distribution: Mapping[Any, float], answers: Sequence[Any]) -> tuple[Html, str]:
    """A distribution in preference order as two cells: its bar, and its first answer."""
    first, chance = next(iter(distribution.items()))
    return bar(distribution, answers), f"{first}: {percent(chance)}"


def badge(holds: bool, words: object) -> Html:
    """A verdict: a check mark or a cross, and the reason."""
    mark, color = ("✓", "#1a8f62") if holds else ("✗", "#d1560f")
    return Html(f'<span style="color:{color};font-weight:bold">{mark}</span> {text(words, 400)}')


def curve(points: Iterable[tuple[float, float]]) -> Html:
    """A curve in the unit square as a small picture, with the diagonal."""
    size = 72.0
    path = " ".join(f"{size * x:.1f},{size * (1 - y):.1f}" for x, y in points)
    return Html(
        f'<svg viewBox="-2 -2 {size + 4:g} {size + 4:g}" width="{size:g}" height="{size:g}" '
        'role="img" aria-label="trade-off curve" style="display:block;margin:4px 0">'
        '<g fill="none" stroke="currentColor">'
        f'<path d="M0 0V{size:g}H{size:g}" opacity=".5"/>'
        f'<path d="M0 0L{size:g} {size:g}" opacity=".35" stroke-dasharray="3 3"/>'
        f'<polyline points="{path}" stroke-width="1.8"/></g></svg>'
    )

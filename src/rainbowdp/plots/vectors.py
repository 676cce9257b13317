"""Matplotlib's SVG made small, and readable on light and dark pages.

Coordinates get two decimals and are written as steps, which no eye can tell from the original;
paths that look alike and follow each other become one. The background is transparent: a file
follows the reader's color scheme, and a picture in a notebook takes the color of its text.
"""

from __future__ import annotations

import hashlib
import re
from itertools import groupby

from matplotlib.colors import to_hex, to_rgb

INK, SOFT, FAINT, PAPER = "#1f1f1f", "#6f6f6f", "#d4d4d4", "#ffffff"

_DARK = {INK: "#eceef4", SOFT: "#a3abbd", FAINT: "#3a4050", PAPER: "#14161c"}
_INHERITED = {
    INK: "currentColor",
    SOFT: "color-mix(in srgb, currentColor 68%, transparent)",
    FAINT: "color-mix(in srgb, currentColor 20%, transparent)",
    PAPER: "var(--jp-layout-color0, var(--vscode-editor-background, transparent))",
}
_DIMMEST = 0.14  # luminance that stands out from white and from black alike, three to one
_PATH = re.compile(r'<path (?:id="([^"]*)" )?d="([^"]*)"([^>]*?)/>')
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_LEADING = re.compile(r"(?<![\d.])0(?=\.\d)")
_POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3}


def compact(svg: str) -> str:
    """The same picture in fewer bytes."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r">\s+<", "><", svg)
    svg = _merged(svg)
    parts = re.split(r"(<text.*?</text>|<image.*?>|scale\([^)]*\))", svg, flags=re.DOTALL)
    parts[::2] = [_NUMBER.sub(lambda found: _short(float(found[0])), part) for part in parts[::2]]
    return _renamed("".join(parts))


def _renamed(svg: str) -> str:
    """Glyphs by a letter and a number, in the order in which they come."""
    names = dict.fromkeys(re.findall(r'<path id="([^"]*)"', svg))
    for number, name in enumerate(names):
        svg = svg.replace(f'id="{name}"', f'id="g{number}"').replace(f'"#{name}"', f'"#g{number}"')
    return svg


def _merged(svg: str) -> str:
    """Shorter paths, and one for all that look alike and follow each other."""
    found = list(_PATH.finditer(svg))
    runs: list[list[re.Match[str]]] = []
    for match in found:
        last = runs[-1][-1] if runs else None
        alike = last is not None and last.end() == match.start() and last[3] == match[3]
        if alike and match[1] is None and last is not None and last[1] is None:
            runs[-1].append(match)
        else:
            runs.append([match])
    pieces, end = [], 0
    for run in runs:
        pieces.append(svg[end : run[0].start()])
        name = "" if run[0][1] is None else f'id="{run[0][1]}" '
        glyph = "scale(0.015625)" in run[0][3]
        drawn = "".join(_steps(match[2], 0 if glyph else 2) for match in run)
        pieces.append(f'<path {name}d="{drawn}"{run[0][3]}/>')
        end = run[-1].end()
    return "".join([*pieces, svg[end:]])


def _steps(path: str, digits: int) -> str:
    """A path of absolute coordinates as steps; rounded places, so no error adds up."""
    tokens = path.split()
    place, written = 0, []
    here = (0.0, 0.0)
    while place < len(tokens):
        command = tokens[place]
        if command.lower() == "z":
            written.append("z")
            place += 1
            continue
        if command not in _POINTS:
            return path  # arcs and the like stay as they are
        size = _POINTS[command]
        numbers = [float(number) for number in tokens[place + 1 : place + 1 + 2 * size]]
        points = [
            (round(x, digits), round(y, digits))
            for x, y in zip(numbers[::2], numbers[1::2], strict=True)
        ]
        if command == "M":
            written.append("M" + _joined(points[0]))
        else:
            steps = [offset for x, y in points for offset in (x - here[0], y - here[1])]
            written.append(command.lower() + _joined(steps))
        here = points[-1]
        place += 1 + 2 * size
    runs = [(kind, list(run)) for kind, run in groupby(written, key=lambda word: word[0])]
    return "".join(
        kind + _together([word[1:] for word in run]) if kind in "lqc" else "".join(run)
        for kind, run in runs
    )


def _together(words: list[str]) -> str:
    """Numbers one after the other: a minus needs no space before it."""
    later = (word if word[0] == "-" else f" {word}" for word in words[1:])
    return "".join([*words[:1], *later])


def _joined(numbers: tuple[float, float] | list[float]) -> str:
    return _together([_short(number) for number in numbers])


def _short(number: float) -> str:
    text = f"{number:.2f}".rstrip("0").rstrip(".")
    text = _LEADING.sub("", text)
    return "0" if text in ("-0", "", "-") else text


def for_files(svg: str) -> str:
    """A picture that follows the color scheme of whoever looks at it."""
    rules = [f"svg{{fill:{_DARK[INK]}}}"]
    for color, other in (_DARK | _dim(svg)).items():
        rules.append(f'[style*="stroke: {color}"]{{stroke:{other}!important}}')
        shape = "" if color in _DARK else "g"  # of the palette: words, not areas
        rules.append(f'{shape}[style*="fill: {color}"]{{fill:{other}!important}}')
    style = f"<style>@media(prefers-color-scheme:dark){{{''.join(rules)}}}</style>"
    return '<?xml version="1.0" encoding="utf-8"?>\n' + svg.replace("<defs>", f"{style}<defs>", 1)


def for_notebooks(svg: str) -> str:
    """A picture that takes the color of the text around it, with names of its own on the page."""
    own = hashlib.sha256(svg.encode()).hexdigest()[:10]
    svg = re.sub(r'(id="|"#|url\(#)', rf"\g<1>r{own}-", svg)
    svg = svg.replace("<svg ", '<svg fill="currentColor" ', 1)
    for color, other in _dim(svg).items():
        svg = svg.replace(f"stroke: {color}", f"stroke: {other}")
        svg = svg.replace(f'<g style="fill: {color}"', f'<g style="fill: {other}"')
    for color, other in _INHERITED.items():
        svg = svg.replace(f"stroke: {color}", f"stroke: {other}")
        svg = svg.replace(f"fill: {color}", f"fill: {other}")
    return svg


def _dim(svg: str) -> dict[str, str]:
    """Colors of lines and words that could not be told from a dark page, and what could."""
    used = set(re.findall(r'(?:stroke: |<g style="fill: )(#[0-9a-f]{6})', svg)) - set(_DARK)
    return {color: lifted(color) for color in sorted(used) if lifted(color) != color}


def lifted(color: str) -> str:
    """The color, lightened until it stands out from black and white alike."""
    channels = to_rgb(color)
    while luminance(*channels) < _DIMMEST:
        channels = tuple(c + 0.03 * (1 - c) for c in channels)  # type: ignore[assignment]
    return to_hex(channels)


def luminance(*channels: float) -> float:
    """The relative luminance of red, green and blue from 0 to 1."""
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

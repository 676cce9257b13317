"""Figures as SVG: small, the same picture, readable on every page."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import rainbowdp as rb
from rainbowdp import paper, plots
from rainbowdp.display.colors import PALETTE
from rainbowdp.plots import vectors
from rainbowdp.plots.style import as_svg, darker

SVG = "{http://www.w3.org/2000/svg}"


def corners(path: str) -> list[tuple[float, float]]:
    """The places that an absolute or a relative path goes through."""
    words = re.findall(r"[MLQCZmlqcz]|-?(?:\d*\.\d+|\d+)", path)
    found, here, command, at = [], (0.0, 0.0), "M", 0
    sizes = {"m": 1, "l": 1, "q": 2, "c": 3}
    while at < len(words):
        if words[at].isalpha():
            command = words[at]
            at += 1
            continue
        size = sizes[command.lower()]
        numbers = [float(word) for word in words[at : at + 2 * size]]
        x, y = numbers[-2:]
        here = (here[0] + x, here[1] + y) if command.islower() else (x, y)
        found.append(here)
        at += 2 * size
    return found


def test_the_small_picture_goes_through_the_same_places() -> None:
    ax = plots.graph(rb.optimal(paper.figure_one(), rb.DP(1)))
    before = as_svg(ax.figure, "x")  # type: ignore[arg-type]
    after = vectors.compact(before)
    assert len(after) < 0.55 * len(before)
    outside = re.sub(r"<defs>.*?</defs>", "", before, flags=re.DOTALL)
    shrunk = re.sub(r"<defs>.*?</defs>", "", after, flags=re.DOTALL)
    old, new = (
        np.array([c for path in re.findall(r' d="([^"]*)"', text) for c in corners(path)])
        for text in (outside, shrunk)
    )
    assert old.shape == new.shape
    assert np.abs(old - new).max() < 0.011
    scales = re.findall(r"scale\([^)]*\)", before)
    assert scales == re.findall(r"scale\([^)]*\)", after)  # of which letters are made


@pytest.mark.slow
def test_a_file_follows_the_color_scheme(tmp_path: Path) -> None:
    file = plots.save(plots.growth(rb.DP(1), [0.2, 0.8]), tmp_path / "growth.svg")
    tree = ElementTree.parse(file).getroot()
    style = tree.findtext(f".//{SVG}style") or ""
    assert "prefers-color-scheme:dark" in style
    assert vectors.INK in style
    before = file.read_bytes()
    plots.save(plots.growth(rb.DP(1), [0.2, 0.8]), file)
    assert file.read_bytes() == before


@pytest.mark.slow
def test_figures_show_themselves_in_a_notebook() -> None:
    world = paper.figure_one()
    shown = [
        ax._repr_html_()  # type: ignore[attr-defined]
        for ax in (plots.graph(world), plots.boundary_graph(world), plots.trade_off(rb.DP(1)))
    ]
    known: set[str] = set()
    for picture in shown:
        assert ElementTree.fromstring(picture).tag == f"{SVG}svg"
        assert "currentColor" in picture
        assert vectors.INK not in picture
        assert "<script" not in picture
        names = set(re.findall(r'id="([^"]*)"', picture))
        assert not names & known  # a page has many figures
        assert {name[1:] for name in re.findall(r'(?:"|url\()(#[^")]*)', picture)} <= names
        known |= names


@pytest.mark.parametrize("color", PALETTE)
def test_lines_and_words_stand_out_from_light_and_dark(color: str) -> None:
    from matplotlib.colors import to_rgb

    light = vectors.luminance(*to_rgb(vectors.lifted(darker(color, 2.2))))
    assert 1.05 / (light + 0.05) >= 2.2
    assert (light + 0.05) / (0.0077 + 0.05) >= 3  # on #14161c

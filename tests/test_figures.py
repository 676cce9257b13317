"""The pictures of the README are made by a script that still runs."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest

FOLDER = Path(__file__).parent.parent / "docs"
NAMES = ["gain.svg", "idea.svg"]


def pinned(package: str) -> str:
    text = (FOLDER.parent / "constraints.txt").read_text()
    return next(line.split("==")[1] for line in text.split() if line.startswith(f"{package}=="))


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / "figures.py"))


@pytest.mark.slow
def test_the_script_draws_the_pictures_that_are_kept(
    script: dict[str, Any], tmp_path: Path
) -> None:
    figures = tmp_path / "figures"
    script["main"](figures)
    assert sorted(path.name for path in figures.iterdir()) == NAMES
    assert (tmp_path / "_static" / "story" / "index.html").is_file()
    for name in NAMES:
        for folder in (figures, FOLDER / "figures"):
            assert ElementTree.parse(folder / name).getroot().tag.endswith("svg")
            assert (folder / name).stat().st_size < 100_000
        if matplotlib.__version__ == pinned("matplotlib"):  # make docs leaves the tree as it is
            assert (figures / name).read_bytes() == (FOLDER / "figures" / name).read_bytes()


def test_the_gain_is_ours(script: dict[str, Any]) -> None:
    ax = script["gain"]().axes[0]
    heights = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    for other in ("inverse sensitivity", "permute-and-flip", "exponential"):
        assert np.less(heights["rainbowdp"], heights[other]).all()
